/* Simulations in several threads at once give the same bytes as one after another: the library
 * keeps no state behind its functions. Run under ThreadSanitizer, this also shows that none is
 * touched. */
#include "config.h"

#include "results/results.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_THREADS = 8 };

static const struct {
    const char *workload, *strategy;
    uint32_t n_gpus;
} asked[N_THREADS] = {
    {"lenet", "single", 1},
    {"alexnet", "dp", 4},
    {"alexnet", "dp:sync=ps-gpu0", 4},
    {"vgg16", "mp", 4},
    {"alexnet", "pp:schedule=gpipe", 2},
    {"vgg16", "pp:schedule=1f1b", 4},
    {"lenet", "dp:sync=ps-sharded", 8},
    {"resnet50", "dp", 2},
};

/* One thread's work: a question, perhaps on a setting shared with others, and its answer's text. */
struct job {
    struct fr_question question;
    const struct fr_setting *setting; /* NULL: loads its own */
    char *text;
    size_t len;
    struct fr_error err;
};

static void job_init(struct job *j, size_t i)
{
    *j = (struct job){.setting = NULL};
    fr_question_init(&j->question);
    j->question.topology = "dgx1-v100";
    j->question.workload = asked[i].workload;
    j->question.strategy = asked[i].strategy;
    j->question.n_gpus = asked[i].n_gpus;
    j->question.global_batch = 64;
    j->question.no_timing = true;
    j->question.run.jitter_cv = 0.05; /* draws random numbers, too */
    j->question.run.seed = i;
}

static void *job_run(void *arg)
{
    struct job *j = arg;
    struct fr_record *record = NULL;
    enum fr_status st = j->setting ? fr_answer_on(j->setting, &j->question, NULL, &record, &j->err)
                                   : fr_answer(&j->question, NULL, &record, &j->err);
    if (st != FR_OK)
        return NULL;
    FILE *f = open_memstream(&j->text, &j->len);
    if (f) {
        const struct fr_record *one = record;
        fr_show_json(f, fr_shown_run(&(struct fr_results){.records = &one, .n = 1}));
        fclose(f);
    }
    fr_record_free(record);
    return NULL;
}

/* Runs the jobs in order, then again all at once, and compares. */
static void compare_with_threads(struct job jobs[N_THREADS])
{
    struct job again[N_THREADS];
    pthread_t threads[N_THREADS];
    memcpy(again, jobs, sizeof(again));
    for (size_t i = 0; i < N_THREADS; i++) {
        job_run(&jobs[i]);
        ck_assert_msg(jobs[i].text != NULL, "%s: %s", asked[i].strategy, jobs[i].err.text);
        ck_assert_uint_gt(jobs[i].len, 100);
    }
    for (size_t i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, job_run, &again[i]), 0);
    for (size_t i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        ck_assert_msg(again[i].text != NULL, "%s: %s", asked[i].strategy, again[i].err.text);
        ck_assert_str_eq(again[i].text, jobs[i].text);
        free(again[i].text);
        free(jobs[i].text);
    }
}

TEST(eight_questions_at_once_are_answered_as_one_after_another)
{
    struct job jobs[N_THREADS];
    for (size_t i = 0; i < N_THREADS; i++)
        job_init(&jobs[i], i);
    compare_with_threads(jobs);
}

TEST(threads_may_share_a_graph_and_a_topology)
{
    struct job jobs[N_THREADS];
    struct fr_setting setting;
    struct fr_error err;
    job_init(&jobs[3], 3);
    ck_assert_msg(fr_setting_load(&setting, &jobs[3].question, &err) == FR_OK, "%s", err.text);
    for (size_t i = 0; i < N_THREADS; i++) {
        job_init(&jobs[i], i);
        jobs[i].question.workload = asked[3].workload;
        jobs[i].setting = &setting;
    }
    compare_with_threads(jobs);
    fr_setting_fini(&setting);
}

int main(void)
{
    fr_init();
    TCase *tc = tcase_create("threads");
    tcase_set_timeout(tc, 120);
    add_tests(tc);
    return run_case(tc, "parallel");
}
