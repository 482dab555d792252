/* study/collective_time.h - what one collective takes on a cluster alone, worked out in every
 * way there is: message by message through the network, by the closed form, and at the time
 * fitted to such machines.
 *
 * Bus bandwidth is nccl-tests' (doc/PERFORMANCE.md): bytes / time, times 2 (n - 1) / n for an
 * all-reduce, (n - 1) / n for an all-gather, a reduce-scatter and an all-to-all, 1 for a
 * broadcast and a reduce: what a GPU's links carry one way, whatever n.
 */
#ifndef FORERUN_COLLECTIVE_TIME_H
#define FORERUN_COLLECTIVE_TIME_H

#include "sim/sim.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fr_collective_question {
    const char *topology;
    const char *kind;         /* "all-reduce", ... */
    const char *const *sizes; /* [n_sizes] "64MiB", what `bytes` of struct fr_collective means */
    size_t n_sizes;
    size_t n_gpus;       /* 0: all */
    bool is_spread;      /* taken evenly over the machines */
    const char *devices; /* by their names instead, as of a struct fr_question; NULL: not so */
    const char *costs;   /* as of a struct fr_question */
};

/* Of one size. NaN: not known. */
struct fr_collective_row {
    uint64_t bytes;
    double expanded_s; /* not of more than five million messages */
    double closed_s;   /* not of all-to-alls of more than that */
    double fitted_s;
    double fitted_error;  /* standard deviation of ln(true / fitted_s) */
    bool is_extrapolated; /* over more machines than were measured */
};

struct fr_collective_times {
    char *topology; /* normalised name */
    enum fr_collective_kind kind;
    size_t n_gpus, n_gpus_total, n_machines; /* that the GPUs are on */
    double bus_factor;
    char *system; /* that the fitted times are of, or NULL: */
    char *why;    /* there are none */
    size_t n_rows;
    struct fr_collective_row *rows; /* [n_rows] */
};

/* The caller frees *out. The root of a broadcast and a reduce is the first GPU. FR_EUSAGE with the
 * nearest known kind; FR_EPARSE, FR_ERANGE of a size; errors of fr_topo_load, fr_topo_select,
 * fr_topo_select_named, fr_cost_model_new and fr_simulate; FR_EUSAGE when GPUs are both named and
 * counted. */
enum fr_status fr_collective_times(struct fr_collective_times **out,
                                   const struct fr_collective_question *q,
                                   const struct fr_context *ctx, struct fr_error *err);
void fr_collective_times_free(struct fr_collective_times *t);

#ifdef __cplusplus
}
#endif
#endif
