/* base/crew.c - threads that share one list of jobs behind one lock. */
#include "config.h"

#include "base/cancel.h"
#include "base/crew.h"

#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, DEFAULT_NAP_NS = 100000000, NS_A_SECOND = 1000000000 };

/* What the threads of one run share; all of it but `crew` behind the lock. */
struct shared {
    const struct fr__crew *crew;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a thread has */
    size_t next, n_done;
    unsigned n_begun, n_at_work;
    enum fr_status status; /* the first failure */
    struct fr_error err;
};

unsigned fr__crew_size(unsigned n_asked, size_t n_jobs)
{
    long n = n_asked ? (long)n_asked : sysconf(_SC_NPROCESSORS_ONLN);

    if (n > MAX_THREADS)
        n = MAX_THREADS;
    if (n > 1 && (size_t)n > n_jobs)
        n = (long)n_jobs;
    return n < 1 ? 1 : (unsigned)n;
}

/* Locked. */
static enum fr_status next_job(struct shared *s, size_t *job, struct fr_error *err)
{
    const struct fr__crew *c = s->crew;

    *job = SIZE_MAX;
    if (s->status != FR_OK)
        return FR_OK;
    if (fr__flag_is_set(c->cancel))
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    if (c->next)
        return c->next(c->user, job, err);
    if (s->next < c->n_jobs)
        *job = s->next++;
    return FR_OK;
}

static enum fr_status do_jobs(struct shared *s, unsigned thread, struct fr_error *err)
{
    const struct fr__crew *c = s->crew;
    enum fr_status st = FR_OK;
    size_t job = 0;

    for (;;) {
        pthread_mutex_lock(&s->lock);
        st = next_job(s, &job, err);
        pthread_mutex_unlock(&s->lock);
        if (st != FR_OK || job == SIZE_MAX)
            return st;
        FR_TRY(c->work(c->user, thread, job, err));
        pthread_mutex_lock(&s->lock);
        s->n_done++;
        pthread_mutex_unlock(&s->lock);
    }
}

static void *thread_main(void *arg)
{
    struct shared *s = arg;
    struct fr_error err = {.code = FR_OK};
    enum fr_status st;
    unsigned thread;

    pthread_mutex_lock(&s->lock);
    thread = s->n_begun++;
    pthread_mutex_unlock(&s->lock);
    st = do_jobs(s, thread, &err);
    pthread_mutex_lock(&s->lock);
    if (st != FR_OK && s->status == FR_OK) {
        s->status = st;
        s->err = err;
    }
    s->n_at_work--;
    pthread_cond_signal(&s->ended);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Until all threads have ended, and wait() has no more to do. */
static void wait_for_all(struct shared *s)
{
    const struct fr__crew *c = s->crew;
    const long nap_ns = c->nap_ns ? c->nap_ns : DEFAULT_NAP_NS;
    bool is_over = false;

    while (!is_over) {
        struct timespec until;
        bool has_more;
        size_t n_done;

        pthread_mutex_lock(&s->lock);
        n_done = s->n_done;
        pthread_mutex_unlock(&s->lock);
        has_more = c->wait && c->wait(c->user, n_done);
        pthread_mutex_lock(&s->lock);
        if (s->n_at_work > 0 || has_more) {
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += nap_ns;
            until.tv_sec += until.tv_nsec / NS_A_SECOND;
            until.tv_nsec %= NS_A_SECOND;
            (void)pthread_cond_timedwait(&s->ended, &s->lock, &until);
        }
        is_over = s->n_at_work == 0 && !has_more;
        pthread_mutex_unlock(&s->lock);
    }
}

static void run_threads(struct shared *s, pthread_t threads[], unsigned n)
{
    unsigned n_started = 0;

    pthread_mutex_lock(&s->lock);
    while (n_started < n && pthread_create(&threads[n_started], NULL, thread_main, s) == 0)
        s->n_at_work = ++n_started;
    if (n_started == 0)
        s->status = fr__fail(&s->err, FR_EIO, FR_NOWHERE,
                             "cannot start a thread: too little memory, or too many threads");
    pthread_mutex_unlock(&s->lock);
    wait_for_all(s);
    for (unsigned i = 0; i < n_started; i++)
        pthread_join(threads[i], NULL);
}

static void run_all(struct shared *s)
{
    const struct fr__crew *c = s->crew;
    pthread_t *threads;

    if (c->n_threads <= 1 && !c->wait) {
        s->status = do_jobs(s, 0, &s->err);
        return;
    }
    threads = calloc(c->n_threads, sizeof(*threads));
    if (threads)
        run_threads(s, threads, c->n_threads);
    else
        s->status = fr__fail_nomem(&s->err);
    free(threads);
}

enum fr_status fr__crew_run(const struct fr__crew *c, struct fr_error *err)
{
    struct shared s = {.crew = c, .status = FR_OK};

    if (pthread_mutex_init(&s.lock, NULL) != 0)
        return fr__fail_nomem(err);
    if (pthread_cond_init(&s.ended, NULL) != 0) {
        pthread_mutex_destroy(&s.lock);
        return fr__fail_nomem(err);
    }
    run_all(&s);
    pthread_cond_destroy(&s.ended);
    pthread_mutex_destroy(&s.lock);
    if (s.status != FR_OK && err)
        *err = s.err;
    return s.status;
}
