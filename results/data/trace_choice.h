/* results/data/trace_choice.h - which tasks of a run a trace shows. */
#ifndef FR_RESULTS_DATA_TRACE_CHOICE_H
#define FR_RESULTS_DATA_TRACE_CHOICE_H

#include "results/results.h"

struct fr__trace_choice {
    bool *devices;      /* [devices of the topology] shown; the caller frees it */
    uint32_t micro, of; /* micro-batches from 0 on that are shown, of so many */
    /* where some are left out: from the end of those that are shown to the end of the others */
    double gap_start_s, gap_end_s;
};

/* o may be NULL: all devices, and as many micro-batches as make FR_TRACE_TASKS tasks, at least
 * one. FR_ENOENT: no such rank, or one that has no task of its own; FR_EPARSE, FR_ERANGE,
 * FR_ENOMEM. Cost: O(tasks + ranks * devices). */
enum fr_status fr__trace_choose(const struct fr_record *r, const struct fr_trace_options *o,
                                struct fr__trace_choice *out, struct fr_error *err);
bool fr__trace_shows(const struct fr__trace_choice *c, const struct fr_task *task);
#endif
