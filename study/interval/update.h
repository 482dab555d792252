/* study/interval/update.h - what a correction by measured steps is made with: shared by the fit
 * (anchor.c) and by the search for steps that contradict it (contradiction.c). */
#ifndef FR_STUDY_INTERVAL_UPDATE_H
#define FR_STUDY_INTERVAL_UPDATE_H

#include "study/interval/anchor.h"
#include "study/interval/measured.h"
#include "study/interval/most_likely.h"

struct fr__update {
    /* Runs a measured step with the correction so far: its time, the slopes of its logarithm, and
     * the most that a GPU holds. Errors as fr_answer. */
    enum fr_status (*run)(const struct fr__update *u, const struct fr__measured_step *m,
                          double *time_s, double slope[FR__N_MOVED], double *bytes,
                          struct fr_error *err);
    const struct fr_setting *setting;
    struct fr_setting grown; /* for steps on more GPUs than that has; topo NULL: none is */
    const struct fr_question *question;
    const struct fr_context *context;
    const struct fr__asking *asking;
    const struct fr__measured *measured;
    double *parts_s;         /* [fr_n_resources] of the larger setting; scratch */
    const uint32_t *devices; /* [n_devices] of the question */
    size_t n_devices;
    char *names; /* scratch for the names of as many of them as were measured */
    uint32_t type;
    const struct fr__believed *believed; /* what the question's recipe says; NULL: nothing */
    double freedom;                      /* of the misses, normal.h */
    struct fr__correction *c;
    uint64_t *n_events; /* simulated so far */
};

#endif
