/* base/crew.h - threads that do numbered jobs, one after another from a list.
 *
 * The only place that starts threads. What a job computes must not depend on which thread does
 * it or when, so that answers are the same for any number of threads.
 */
#ifndef FR_BASE_CREW_H
#define FR_BASE_CREW_H

#include "base/base.h"

struct fr__crew {
    size_t n_jobs;
    unsigned n_threads; /* of fr__crew_size */
    void *user;         /* passed to the functions below */
    /* The next job, SIZE_MAX when none is left. Called by one thread at a time. NULL: 0, 1, ...
     * n_jobs - 1. */
    enum fr_status (*next)(void *user, size_t *job, struct fr_error *err);
    /* Does one job. thread: 0 .. n_threads - 1, for what each thread has of its own. */
    enum fr_status (*work)(void *user, unsigned thread, size_t job, struct fr_error *err);
    /* Called by the calling thread while others work, with the number of jobs done; true: it has
     * more to do itself, so the crew is not finished yet. NULL: nothing. */
    bool (*wait)(void *user, size_t n_done);
    long nap_ns;                /* between two calls of wait; 0: a tenth of a second */
    const volatile int *cancel; /* non-zero: FR_ECANCELLED; may be NULL */
};

/* How many threads do n_jobs jobs: n_asked, or one a processor if that is 0; never more than
 * jobs, and at least one. */
unsigned fr__crew_size(unsigned n_asked, size_t n_jobs);

/* Does all jobs and returns when every thread has ended. The first failure ends it: no more jobs
 * are begun, and that failure is returned. One thread without `wait` is the caller's own.
 * FR_EIO: no thread can be started; fewer than asked for are enough. */
enum fr_status fr__crew_run(const struct fr__crew *c, struct fr_error *err);
#endif
