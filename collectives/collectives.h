/* collectives/collectives.h - how collectives are done: by which algorithm, in which messages, and
 * what NCCL would choose. Nothing here runs anything; the engine (sim/sim.h) does.
 *
 * An algorithm says which ranks exchange which part of the data in which round
 * (collectives/algorithms/schedule.h), for any number of ranks, and a checker proves that every
 * rank ends with what the kind of collective promises. NCCL's tuner is rebuilt from its source:
 * paths, graphs, channels and its table of costs (collectives/nccl/tuner.h).
 */
#ifndef FORERUN_COLLECTIVES_H
#define FORERUN_COLLECTIVES_H

#include "base/base.h"
#include "plan/plan.h"
#include "topo/topo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How collectives without a cost of their own are done. */
struct fr_collective_options {
    const char *algorithm;  /* of fr_collective_algorithm_name; "nccl": what NCCL's tuner would take
                                 for each collective; or "file:PATH"; NULL: rings for
                                 all-reduce, all-gather, reduce-scatter, chains for broadcast and
                                 reduce, a shift for all-to-all; also for a kind that the algorithm
                                 does not have */
    const char *protocol;   /* of NCCL: "LL", "LL128", "Simple"; NULL: messages as the links are */
    unsigned nccl_channels; /* most trees at the same time; 0: as the algorithm likes */
    const char *nccl_version; /* whose constants a protocol has, "2.21"; NULL: the newest known */
    /* A protocol is as much slower than NCCL's constants as measured systems were
     * (collectives/nccl/measured.h). */
    bool as_measured;
    bool no_switch_sums; /* of a number format that NVSwitches cannot add up: NCCL takes no NVLS */
};
/* The version whose constants one has: "2.5" for "2.7.3"; of static storage. NULL: not known. */
const char *fr_nccl_version_name(const char *version);
struct fr_collective_way;
/* Immutable, so that threads may share it. The caller frees it. FR_EUSAGE with the nearest known
 * name; errors of reading a file (collectives/algorithms/custom.h); FR_ENOMEM. */
enum fr_status fr_collective_way_new(struct fr_collective_way **out,
                                     const struct fr_collective_options *o, struct fr_error *err);
void fr_collective_way_free(struct fr_collective_way *w);
/* Whether collectives of that kind go by the algorithm that was asked for, or by any of NCCL. */
bool fr_collective_way_has(const struct fr_collective_way *w, enum fr_collective_kind kind);
/* NULL past the end. */
const char *fr_collective_algorithm_name(size_t i);
const char *fr_collective_algorithm_summary(size_t i);

/* What NCCL's tuner makes of some GPUs (collectives/nccl/tuner.h): its graphs, searched on the
 * topology's links, and its table of costs. Immutable. */
struct fr_nccl_model;
struct fr_nccl_choice {
    const char *algorithm, *protocol; /* "Tree", "LL128" */
    unsigned channels, threads;
    double time_s; /* its own estimate */
};
/* devices: [n] rank by rank. version: "2.21"; NULL: the newest known. The caller frees *out.
 * FR_EUSAGE: no such version, or NCCL would not run on these GPUs (err says why); FR_ERANGE;
 * FR_ENOMEM. Cost: up to 1 s. */
enum fr_status fr_nccl_model_new(struct fr_nccl_model **out, const struct fr_topo *t,
                                 const uint32_t devices[], uint32_t n, const char *version,
                                 struct fr_error *err);
void fr_nccl_model_free(struct fr_nccl_model *m);
/* o: only its protocol (NULL: any), and whether switches can sum. false: NCCL's table has none
 * (all-to-all). */
bool fr_nccl_model_choose(const struct fr_nccl_model *m, enum fr_collective_kind kind, double bytes,
                          const struct fr_collective_options *o, struct fr_nccl_choice *out);

#ifdef __cplusplus
}
#endif

#endif
