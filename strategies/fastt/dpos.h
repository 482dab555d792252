/* strategies/fastt/dpos.h - DPOS: which device runs each operation of a dag, and in which order.
 *
 * 1. Ranks. w_i = max_d cost(i, d) is the time of operation i, c_ij the slowest pair's time for the
 * bytes of an edge, and rank_i = w_i + max_j (c_ij + rank_j) over the readers j of i. 2. The
 * critical path begins at the source with the highest rank and goes on to the reader with the
 * highest rank. 3. The path is bound to devices, in rounds. In each round every device that has no
 * part of the path yet is tried with the longest prefix of the rest of the path that fits into its
 * memory. The device with the smallest mean cost for it takes its prefix. When no such device has
 * room for the next operation, the rest of the path is not bound. 4. All operations, by falling
 * rank, are put on a device: a bound operation on its device, any other where it ends first. It is
 * inserted into the first gap that is long enough.
 *
 * Ties:    on the path the lower index; among devices of the path the longer prefix, then the lower
 *          device; at equal ranks the lower index; at equal ends the lower device. The execution
 *          list is in the order of starts. At equal starts, an operation that takes no time comes
 *          first (otherwise it would have to wait), then the higher rank, then the lower index.
 *
 * Groups: all operations of a group are on the device of the one that is placed first, which must
 * have room for all. A variable takes no time on any device. One that replicas share goes to the
 * device with most room; one of a single model waits for the first of its readers and goes to its
 * device.
 *
 * Memory is a sum, as in the paper: what is resident, and outputs that are held for long. We add
 * copies that readers on other devices hold for long. An operation of the path whose device has no
 * room for such copies goes where it ends first.
 *
 * Makespan: at most twice the optimum without communication, plus the longest chain of
 * communication, if devices are identical and memory is ample (Theorem 1 of FastT).
 *
 * Source:  X. Yi et al., "Fast Training of Deep Learning Models over Multiple GPUs" (FastT),
 *          Middleware 2020, Algorithm 1. Its line 20 prints FT <- EST; it must be EFT, for
 *          operations of the path too. HEFT (H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE TPDS 13(3),
 *          2002) has ranks of means, no path, and no memory.
 * Ignores: contention, unless the machine has links that messages share; and memory that is freed
 *          before the end of the step.
 */
#ifndef FR_STRATEGIES_FASTT_DPOS_H
#define FR_STRATEGIES_FASTT_DPOS_H

#include "base/base.h"
#include "lowering/dag/dag.h"
#include "lowering/dag/shared_links.h"

/* Arrays belong to the caller. A message of b bytes takes latency_s + b * s_per_byte, which is zero
 * on the diagonal. Nothing moves along an edge that only orders. */
struct fr__dpos_machine {
    size_t n_devices;                     /* > 0 */
    const uint32_t *type;                 /* [n_devices] column of the dag's cost_s */
    const uint64_t *room_bytes;           /* [n_devices] */
    const double *latency_s, *s_per_byte; /* [n_devices][n_devices], of source and destination */
    /* Messages wait for free slots of their links (lowering/dag/shared_links.h), as an option
     * that the paper does not have. Ranks, and what is looked ahead to, stay those of messages
     * alone. Not together with `since`. NULL: each message has its links to itself. */
    const struct fr__link_map *links;
    const struct fr_context *ctx; /* looked at now and then, whether to stop; may be NULL */
};

/* Seconds that the edge's bytes take from device to device. */
double fr__dpos_move_s(const struct fr__dpos_machine *m, const struct fr__dag_edge *e, uint32_t src,
                       uint32_t dst);

/* Why an operation is on its device. */
enum fr__dpos_why {
    FR__DPOS_WITH_READER, /* a variable that waited for the first of its readers */
    FR__DPOS_OF_PATH,     /* bound with the critical path */
    FR__DPOS_OF_GROUP,    /* one of its group stands there */
    FR__DPOS_MOST_ROOM,   /* a variable that replicas share */
    FR__DPOS_ENDS_FIRST,
    FR__DPOS_PLACED /* the caller placed it */
};

/* The part [from, end) of the path that would fit on a device, and its mean cost there. */
struct fr__dpos_prefix {
    size_t from, end; /* from = end: nothing fits, or the device has a part of the path already */
    double mean_s;
};

/* What the planner saw when it made each decision. The caller's arrays, none NULL. For an operation
 * that waited for its reader nothing was decided, and its values are not written. */
struct fr__dpos_record {
    /* [n_ops] the cost that ranks use; the edge that the rank comes through (of equal ones the edge
     * to the higher rank; FR_NONE if nobody reads) and the longest time of that edge */
    double *longest_s, *via_s;
    uint32_t *via;
    /* [n_ops][n_devices]: when all inputs could be there; earliest start and end (infinite: there
     * was no room; NaN: the operation was bound to another device); memory that was left */
    double *ready_s, *est_s, *eft_s;
    double *ahead_s; /* [n_ops][n_devices] what was looked ahead to; NULL: not wanted */
    uint64_t *left_bytes;
    uint64_t *needs_bytes;            /* [n_ops] with what must be on the same device; 0: it is
                                       * bound */
    uint8_t *why;                     /* [n_ops] */
    struct fr__dpos_prefix *prefixes; /* [n_devices][n_devices]: round, device */
    uint32_t *round_device; /* [n_devices] the device that takes its prefix in each round */
    size_t n_rounds;
    /* Eighths of every device's room that were kept for copies, because some copies had no room
     * without them. */
    unsigned spare_eighths;
};

/* Room for all but ahead_s and the prefixes with their devices, which stay NULL. false: out of
 * memory. */
bool fr__dpos_record_make(struct fr__dpos_record *r, struct fr__arena *a, size_t n_ops,
                          size_t n_devices);

/* How a dag was made from the one whose plan is kept. Operation `at` became n_new operations, later
 * ones moved up by n_new - 1, and no other operation has other edges into it or another cost. at
 * FR_NONE: it is the same dag. */
struct fr__dpos_change {
    uint32_t at, n_new;
};

struct fr__dpos_options {
    bool ranks_of_means; /* ranks use means over devices and pairs, as in HEFT */
    bool ignores_path;   /* every operation goes where it ends first */
    bool appends;        /* after the last operation of a device: no insertion */
    /* An operation that reads nothing and takes no time (an input) waits for the first of its
     * readers and goes to that reader's device, as a variable of a single model does. The paper
     * places it like any other: all inputs then tie to device 0 and hold their readers there. */
    bool inputs_wait;
    /* An operation goes where its end, plus the longest move from there to readers whose device is
     * known, comes first: the paper counts the end alone. Not together with `since`. */
    bool looks_ahead;
    const uint32_t *placed; /* [n_ops] devices of all operations, so that only the order is planned;
                             * or NULL */
    const uint32_t *list; /* [n_ops] the list L, in which nothing comes before what it reads; NULL:
                             * by falling rank */
    const uint32_t *groups; /* [n_groups] devices of groups, as far as they have room; FR_NONE: as
                             * the planner sees fit; or NULL. Not together with `since` */
    double stop_s;          /* stop when the makespan is known to reach this; 0: never */
    /* Does not stop the first plan; only a second one, made if the first reached stop_s and had no
     * room. */
    bool goes_on;
    struct fr__dpos_record *record; /* filled in, or NULL */
    /* These two do not change the answer. keeps: the planner keeps this whole plan in place of the
     * one kept before, for later runs on dags that differ in one operation. since: not NULL for
     * such a later run; it takes over the decisions of the kept plan up to the first that
     * differs. */
    bool keeps;
    const struct fr__dpos_change *since;
};

enum fr__dpos_outcome { FR__DPOS_DONE, FR__DPOS_NO_ROOM, FR__DPOS_STOPPED };

/* Views of the planner's arrays, valid until its next run; [n_ops] unless stated. */
struct fr__dpos_result {
    enum fr__dpos_outcome outcome;
    double makespan_s; /* FR__DPOS_DONE */
    const double *rank_s, *start_s, *end_s;
    const uint32_t *device, *order, *position; /* order: the execution list; position: in it */
    const uint32_t *priority;                  /* the list L: by falling rank */
    const uint32_t *path;                      /* [n_path] */
    const uint8_t *is_on_path;
    const uint64_t *used_bytes; /* [n_devices] */
    /* [n_edges] when what an edge carries is on its reader's device, NAN if that is the maker's;
     * NULL: no links are shared */
    const double *there_s;
    /* [n_edges] the same of the device that it goes by, NAN where it goes straight or was there */
    const double *between_s;
    size_t n_path;
    size_t n_decided, n_kept; /* decisions made; decisions taken over from the kept plan */
    /* FR__DPOS_NO_ROOM: this operation (with its group) needs lack_bytes; lack_device has most
     * left. */
    uint32_t lack_op, lack_device;
    uint64_t lack_bytes, left_bytes;
};

struct fr__dpos;

/* Keeps a copy of *m, not of its arrays. NULL: out of memory. */
struct fr__dpos *fr__dpos_new(const struct fr__dpos_machine *m);
void fr__dpos_free(struct fr__dpos *p);

/* Plans the dag. FR_ENOMEM, FR_ECANCELLED. A dag that does not fit is an outcome, not an error.
 * Cost: O(ops log ops + ops devices + edges devices) and the searches of dpos_slots.h; for what
 * is taken over, a few reads for each edge. Nothing is allocated if a dag as large was planned
 * before. */
enum fr_status fr__dpos_run(struct fr__dpos *p, const struct fr__dag *dag,
                            const struct fr__dpos_options *options, struct fr__dpos_result *out,
                            struct fr_error *err);

/* Whether the memory of the dag's operations is more than the room of all devices together, so that
 * no run can place them all. Cost: O(ops + devices). */
bool fr__dpos_cannot_fit(const struct fr__dag *dag, const struct fr__dpos_machine *m);

/* The best plan of several, as the planner believes (dpos_best.c): by DPOS with these options; also
 * looking ahead; by HEFT's ranks without a path; the same without base->groups, if there are any;
 * all on one device; and the best of these with single operations moved as long as that makes it
 * shorter, if the dag is small. m: the planner's. The paper has only the first. *won: the options
 * that make this plan again; `placed`, which lives as long as *out, where operations were put or
 * moved one by one. Errors as fr__dpos_run. */
enum fr_status fr__dpos_best(struct fr__dpos *p, const struct fr__dag *dag,
                             const struct fr__dpos_machine *m, const struct fr__dpos_options *base,
                             struct fr__dpos_options *won, struct fr__dpos_result *out,
                             struct fr_error *err);

/* Fails with FR_ENOROOM for a result without room: says which operation does not fit, how much it
 * needs with its group, and the device that has most left. */
enum fr_status fr__dpos_fail_no_room(const struct fr__dpos_result *r, const char *op_name,
                                     const char *device_name, struct fr_error *err);

/* The longest path of the plan: costs on the chosen devices, and moves between devices, without the
 * time that operations wait for a busy device. ops: [n_ops] of the caller, of which *n are filled
 * in order; of equal paths the one with the lower index. Cost: O(ops + edges). FR_ENOMEM. */
enum fr_status fr__dpos_placed_path(const struct fr__dag *dag, const struct fr__dpos_machine *m,
                                    const uint32_t device[], uint32_t ops[], size_t *n,
                                    struct fr_error *err);

/* Lower bounds of the makespan, wherever operations are. */
struct fr__dpos_bounds {
    double path_s; /* the longest chain, each operation on the device that is fastest for it */
    double work_s; /* the same costs shared evenly */
    /* The best chain through an edge that crosses devices, if memory needs more than one device and
     * the dag is connected; otherwise 0. */
    double cross_s;
    double search_s; /* what another planner's search proved; 0: nothing */
    uint64_t bytes;  /* memory of the dag; it must not exceed the room of all devices */
    double best_s;   /* the largest of them */
};
enum fr_status fr__dpos_bounds(struct fr__dpos_bounds *b, const struct fr__dag *dag,
                               const struct fr__dpos_machine *m, struct fr_error *err);
#endif
