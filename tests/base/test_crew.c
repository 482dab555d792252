/* Threads that share a list of jobs: every job once, the first failure ends it. */
#include "config.h"

#include "base/crew.h"
#include "base/error.h"
#include "tests/support/base_check.h"

#include <pthread.h>

enum { N_JOBS = 1000 };

struct jobs {
    int n_times[N_JOBS];
    unsigned most_thread;
    size_t fails_at; /* SIZE_MAX: never */
    pthread_mutex_t lock;
    int n_waits, n_waits_wanted;
    volatile int cancel;
};

static enum fr_status work(void *user, unsigned thread, size_t job, struct fr_error *err)
{
    struct jobs *j = user;

    pthread_mutex_lock(&j->lock);
    j->n_times[job]++;
    if (thread > j->most_thread)
        j->most_thread = thread;
    pthread_mutex_unlock(&j->lock);
    if (job == j->fails_at)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "job %zu fails", job);
    return FR_OK;
}

static bool wait_some(void *user, size_t n_done)
{
    struct jobs *j = user;

    ck_assert_uint_le(n_done, N_JOBS);
    return ++j->n_waits < j->n_waits_wanted;
}

static void init(struct jobs *j)
{
    *j = (struct jobs){.fails_at = SIZE_MAX};
    pthread_mutex_init(&j->lock, NULL);
}

TEST(every_job_is_done_once_by_any_number_of_threads)
{
    for (unsigned n = 1; n <= 8; n *= 2) {
        struct jobs j;
        const struct fr__crew c = {.n_jobs = N_JOBS, .n_threads = n, .user = &j, .work = work};
        struct fr_error err;

        init(&j);
        ck_assert_int_eq(fr__crew_run(&c, &err), FR_OK);
        for (size_t i = 0; i < N_JOBS; i++)
            ck_assert_int_eq(j.n_times[i], 1);
        ck_assert_uint_lt(j.most_thread, n);
    }
}

TEST(the_first_failure_ends_it)
{
    for (unsigned n = 1; n <= 4; n++) {
        struct jobs j;
        const struct fr__crew c = {.n_jobs = N_JOBS, .n_threads = n, .user = &j, .work = work};
        struct fr_error err;
        int n_done = 0;

        init(&j);
        j.fails_at = 3;
        ck_assert_int_eq(fr__crew_run(&c, &err), FR_ERANGE);
        ck_assert_str_eq(err.text, "job 3 fails");
        for (size_t i = 0; i < N_JOBS; i++)
            n_done += j.n_times[i];
        ck_assert_int_ge(n_done, 4);
        if (n == 1)
            ck_assert_int_eq(n_done, 4);
    }
}

TEST(nothing_to_do_is_done)
{
    struct jobs j;
    const struct fr__crew c = {.n_threads = fr__crew_size(4, 0), .user = &j, .work = work};
    struct fr_error err;

    init(&j);
    ck_assert_uint_eq(c.n_threads, 1);
    ck_assert_int_eq(fr__crew_run(&c, &err), FR_OK);
    ck_assert_int_eq(j.n_times[0], 0);
}

TEST(a_cancelled_crew_begins_no_job)
{
    struct jobs j;
    struct fr__crew c = {.n_jobs = N_JOBS, .n_threads = 2, .user = &j, .work = work};
    struct fr_error err;

    init(&j);
    j.cancel = 1;
    c.cancel = &j.cancel;
    ck_assert_int_eq(fr__crew_run(&c, &err), FR_ECANCELLED);
    for (size_t i = 0; i < N_JOBS; i++)
        ck_assert_int_eq(j.n_times[i], 0);
}

TEST(the_caller_waits_until_it_has_no_more_to_do_itself)
{
    struct jobs j;
    const struct fr__crew c = {.n_jobs = N_JOBS,
                               .n_threads = 1,
                               .user = &j,
                               .work = work,
                               .wait = wait_some,
                               .nap_ns = 1000};
    struct fr_error err;

    init(&j);
    j.n_waits_wanted = 5;
    ck_assert_int_eq(fr__crew_run(&c, &err), FR_OK);
    ck_assert_int_ge(j.n_waits, 5);
}

TEST(a_crew_is_never_larger_than_its_work)
{
    ck_assert_uint_eq(fr__crew_size(8, 3), 3);
    ck_assert_uint_eq(fr__crew_size(2, 100), 2);
    ck_assert_uint_ge(fr__crew_size(0, 100), 1);
    ck_assert_uint_eq(fr__crew_size(100000, 100000), 1024);
}

int main(void)
{
    TCase *tc = tcase_create("crew");

    add_tests(tc);
    return run_case(tc, "crew");
}
