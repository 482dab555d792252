/* strategies/fastt/dpos.h - DPOS: which device runs each operation of a dag, and in which order.
 *
 * w_i = max_d cost(i, d), c_ij = the slowest pair's time for the bytes of the edge;
 * rank_i = w_i + max_j (c_ij + rank_j) over the readers j of i.
 * The critical path begins at the source of the highest rank and steps to the reader of the highest
 * rank. Its operations are bound first: the device, not used for the path before, that runs the
 * longest prefix of the path that fits into its memory at the smallest mean cost, takes that prefix,
 * and so on; from the first operation on that no such device has room for, the path is bound no
 * further. Then all operations, by falling rank: one that is bound to its device, another to where it ends
 * first, inserted into the first gap that is long enough.
 *
 * Ties: on the path, lower index; devices of the path, longer prefix, then lower device; equal ranks,
 * lower index; equal ends, lower device. The execution list is in order of starts; of equal starts,
 * what takes no time comes first (it would have to wait otherwise), then higher rank, lower index.
 * Operations of a group stand where the first of them is put, which must have room for all. A variable
 * takes no time anywhere: one that replicas share goes where most room is left, one of a single model
 * waits for the first of its readers and stands there.
 * Memory is a sum, as in the paper: what is resident and what outputs hold for long; and, beyond the
 * paper, the copies that readers on other devices hold for long. An operation of the path whose device
 * has no room for such copies goes where it ends first.
 *
 * Source: X. Yi et al., "Fast Training of Deep Learning Models over Multiple GPUs" (FastT), Middleware
 *         2020, Algorithm 1. Line 20 there prints FT <- EST; it must be EFT, for operations of the path
 *         as well. HEFT: H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE TPDS 13(3), 2002: ranks of means, no
 *         path, no memory.
 * Guarantee: makespan <= 2 optimum without communication + longest chain of communication, where
 *         devices are identical and memory is ample (Theorem 1 of FastT).
 * Ignores: contention; what is freed before the end of the step.
 */
#ifndef FR_STRATEGIES_FASTT_DPOS_H
#define FR_STRATEGIES_FASTT_DPOS_H

#include "base/base.h"
#include "strategies/fastt/dag.h"

/* The caller's arrays. A message of b bytes takes latency_s + b * s_per_byte; zero on the diagonal.
 * Nothing moves along an edge that only orders. */
struct fr__dpos_machine {
    size_t n_devices;                     /* > 0 */
    const uint32_t *type;                 /* [n_devices] column of the dag's cost_s */
    const uint64_t *room_bytes;           /* [n_devices] */
    const double *latency_s, *s_per_byte; /* [n_devices][n_devices], of source and destination */
};

/* Seconds that the edge's bytes take from device to device. */
double fr__dpos_move_s(const struct fr__dpos_machine *m, const struct fr__dag_edge *e, uint32_t src,
                       uint32_t dst);

/* Why an operation stands where it does. */
enum fr__dpos_why {
    FR__DPOS_WITH_READER, /* a variable that waited for the first of its readers */
    FR__DPOS_OF_PATH,     /* bound with the critical path */
    FR__DPOS_OF_GROUP,    /* one of its group stands there */
    FR__DPOS_MOST_ROOM,   /* a variable that replicas share */
    FR__DPOS_ENDS_FIRST,
    FR__DPOS_PLACED /* it was said where */
};

/* How much of the path's rest [from, end) would fit on a device, and its mean cost there. */
struct fr__dpos_prefix {
    size_t from, end; /* equal: nothing fits, or the device has its part already */
    double mean_s;
};

/* What the planner saw at the moment of each decision. The caller's arrays, none NULL; an
 * operation that waited for its reader decided nothing, and its values stay. */
struct fr__dpos_record {
    /* [n_ops] the cost that ranks count; the edge that the rank comes through (of equal ones
     * that to the higher rank), FR_NONE where nobody reads, and the longest that it may take */
    double *longest_s, *via_s;
    uint32_t *via;
    /* [n_ops][n_devices]: when all inputs could be there; earliest start and end, infinite where
     * there was no room, NaN where the operation was bound to another device; what was left. */
    double *ready_s, *est_s, *eft_s;
    uint64_t *left_bytes;
    uint64_t *needs_bytes;            /* [n_ops] with what must stand beside it; 0: it is bound */
    uint8_t *why;                     /* [n_ops] */
    struct fr__dpos_prefix *prefixes; /* [n_devices][n_devices]: round, device */
    uint32_t *round_device;           /* [n_devices] that takes its prefix, a round each */
    size_t n_rounds;
    unsigned spare_eighths; /* of every room were kept for copies: without, some had no room */
};

/* How a dag came of the one whose plan was kept: operation `at` of that became n_new operations, what
 * came later moved up by n_new - 1, and no other operation has other edges into it or another cost. at
 * FR_NONE: it is the same. */
struct fr__dpos_change {
    uint32_t at, n_new;
};

struct fr__dpos_options {
    bool ranks_of_means;    /* over devices and pairs, as HEFT does */
    bool ignores_path;      /* every operation goes where it ends first */
    bool appends;           /* behind the last operation of a device: no insertion */
    const uint32_t *placed; /* [n_ops] devices to keep to: order alone is planned; NULL */
    double stop_s;          /* give up when the makespan can be shown to reach this; 0: never */
    bool
        goes_on; /* gives up nothing but a second plan, where the first had no room but reached stop_s */
    struct fr__dpos_record *record; /* filled in, or NULL */
    /* The answer is that of a run without these. keeps: a whole plan is kept by the planner, for
     * later runs of dags that differ in one operation, instead of the one kept before. since:
     * not NULL: such a run; takes over what the kept plan decided as far as the two have made
     * the same decisions. */
    bool keeps;
    const struct fr__dpos_change *since;
};

enum fr__dpos_outcome { FR__DPOS_DONE, FR__DPOS_NO_ROOM, FR__DPOS_STOPPED };

/* Views of the planner's arrays, [n_ops] unless told, until its next run. */
struct fr__dpos_result {
    enum fr__dpos_outcome outcome;
    double makespan_s; /* FR__DPOS_DONE */
    const double *rank_s, *start_s, *end_s;
    const uint32_t *device, *order, *position; /* order: the execution list; position: in it */
    const uint32_t *priority;                  /* the list L: by falling rank */
    const uint32_t *path;                      /* [n_path] */
    const uint8_t *is_on_path;
    const uint64_t *used_bytes; /* [n_devices] */
    size_t n_path;
    size_t n_decided, n_kept; /* operations; those taken over from the kept plan */
    /* FR__DPOS_NO_ROOM: this operation (with its group) needs lack_bytes; lack_device has most
     * left. */
    uint32_t lack_op, lack_device;
    uint64_t lack_bytes, left_bytes;
};

struct fr__dpos;

/* Keeps a copy of *m, not of its arrays. NULL: out of memory. */
struct fr__dpos *fr__dpos_new(const struct fr__dpos_machine *m);
void fr__dpos_free(struct fr__dpos *p);

/* Plans the dag. FR_ENOMEM; that it does not fit is an outcome, not an error.
 * Cost: O(ops log ops + ops devices + edges devices) and the searches of dpos_slots.h; of what is
 * taken over, a few reads an edge; nothing is allocated when a dag as large was planned before. */
enum fr_status fr__dpos_run(struct fr__dpos *p, const struct fr__dag *dag,
                            const struct fr__dpos_options *options, struct fr__dpos_result *out,
                            struct fr_error *err);

/* FR_ENOROOM, from a result that has no room: which operation, how much it needs with its group,
 * the device with most left. */
enum fr_status fr__dpos_fail_no_room(const struct fr__dpos_result *r, const char *op_name,
                                     const char *device_name, struct fr_error *err);

/* The longest path of the plan: costs where operations stand and moves between devices, without the
 * time that devices were busy with others. ops: [n_ops] of the caller, *n of them filled in
 * order; of equal paths that of the lower index. Cost: O(ops + edges). FR_ENOMEM. */
enum fr_status fr__dpos_placed_path(const struct fr__dag *dag, const struct fr__dpos_machine *m,
                                    const uint32_t device[], uint32_t ops[], size_t *n,
                                    struct fr_error *err);

/* No plan can be shorter, wherever operations stand. */
struct fr__dpos_bounds {
    double path_s;  /* the longest chain, each operation on the device that is fastest for it */
    double work_s;  /* the same costs shared evenly */
    double cross_s; /* memory needs more than one device and the dag is connected: the best chain
                     * through one edge that crosses; else 0 */
    uint64_t bytes; /* of the dag, which must not pass the devices' room */
    double best_s;  /* the largest of them */
};
enum fr_status fr__dpos_bounds(struct fr__dpos_bounds *b, const struct fr__dag *dag,
                               const struct fr__dpos_machine *m, struct fr_error *err);
#endif
