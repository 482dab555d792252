/* study/sweep/state.h - what a sweep is made of, for the files that work on one. */
#ifndef FR_STUDY_SWEEP_STATE_H
#define FR_STUDY_SWEEP_STATE_H

#include "base/arena.h"
#include "study/question/loading.h"
#include "study/sweep/sweep.h"

#include <pthread.h>

/* The values of one setting, in the order they were given. */
struct fr__axis {
    const char **values;
    size_t n, cap;
};

/* A workload, topology, or costs, and what they held. */
struct fr__sweep_input {
    const char *name;
    char digest[17];
};

/* The NICs that join the machines of a topology that any question uses; n 0: no question uses
 * several. */
struct fr__sweep_nics {
    const char *topology;
    size_t n;
    struct fr_topo_nics kinds[FR_TOPO_NICS];
};

struct fr_sweep {
    struct fr__arena *arena; /* values, inputs, types */
    struct fr__axis axes[FR_N_SETTINGS];
    uint32_t shard, n_shards; /* shard from 0 */
    bool allow_implausible;
    bool has_training; /* a topology with hardware, or a workload that is no task graph */
    size_t n_points;   /* 0 until finished */
    struct fr__sweep_input *inputs;
    size_t n_inputs, cap_inputs;
    const char **types; /* GPU types of the topologies */
    size_t n_types, cap_types;
    struct fr_priced *clusters; /* each topology, all of it */
    size_t n_clusters, cap_clusters;
    struct fr__sweep_nics *nics; /* [n_nics] of each topology, in their order */
    size_t n_nics, cap_nics;

    pthread_mutex_t lock; /* of what follows, while threads run */
    struct fr__arena *row_arena;
    const struct fr_sweep_row **rows; /* [n_points] */
    const struct fr_sweep_options *options;
    size_t next, n_mine, n_found, n_done;
};

/* Copies a row, with its texts, into the sweep's memory. The sweep is locked, or not running. */
enum fr_status fr__sweep_keep(struct fr_sweep *s, size_t point, const struct fr_sweep_row *row,
                              struct fr_error *err);

/* Number of the point's group (struct fr_sweep_group). */
size_t fr__sweep_group_of(const struct fr_sweep *s, size_t point);

/* Fills struct fr_sweep_summary's scaling, frac: [n_points]. Returns whether any question fits on
 * several numbers of GPUs. */
bool fr__sweep_scaling(const struct fr_sweep *s, double frac[]);

/* Keeps the NICs of a topology by its name in the axis. FR_ENOMEM. */
enum fr_status fr__sweep_add_nics(struct fr_sweep *s, const struct fr_topo *t, const char *spec,
                                  struct fr_error *err);

/* Loads every workload and topology of the axes once, for their errors, digests and types;
 * digests the costs. */
enum fr_status fr__sweep_load_inputs(struct fr_sweep *s, struct fr_error *err);
#endif
