/* study/comm/collective_time.h - the time of one collective alone on a cluster, computed in three
 * ways: simulated message by message, by the closed form, and as fitted to measurements on such
 * machines.
 *
 * Bus bandwidth is defined as in nccl-tests (doc/PERFORMANCE.md): bytes / time, times 2 (n - 1) / n
 * for an all-reduce, (n - 1) / n for an all-gather, a reduce-scatter and an all-to-all, 1 for a
 * broadcast and a reduce. It is what the links of a GPU carry in one direction, for any n.
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
    const char *devices; /* names of the GPUs, as in struct fr_question; NULL: n_gpus and is_spread
                          * choose them */
    const char *costs;   /* as of a struct fr_question */
    bool allow_implausible; /* likewise */
};

/* Times for one size. NaN: not known. */
struct fr_collective_row {
    uint64_t bytes;
    double expanded_s; /* NaN if it needs more than five million messages */
    double closed_s;   /* NaN for an all-to-all of more messages than that */
    double fitted_s;
    double fitted_error;  /* standard deviation of ln(true / fitted_s) */
    bool is_extrapolated; /* on more machines or another GPU count than measured */
};

struct fr_collective_times {
    char *topology; /* normalised name */
    enum fr_collective_kind kind;
    size_t n_gpus, n_gpus_total, n_machines; /* that the GPUs are on */
    double bus_factor;
    char *system; /* system of the fitted times; NULL: none, see why */
    char *why;    /* why there is no system */
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
