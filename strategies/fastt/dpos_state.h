/* strategies/fastt/dpos_state.h - the state that the files of DPOS share. dpos.c has the main loop,
 * dpos_rank.c finds ranks, path and list, dpos_path.c binds the path to devices, dpos_kept.c
 * follows a kept plan, dpos_moves.c moves single operations of one. */
#ifndef FR_STRATEGIES_FASTT_DPOS_STATE_H
#define FR_STRATEGIES_FASTT_DPOS_STATE_H

#include "strategies/fastt/dpos.h"
#include "lowering/dag/slots.h"

#include <math.h>

struct fr__dpos_key {
    uint64_t key;
    uint32_t op;
};

/* The pairs of devices that are the slowest for some number of bytes, so that an edge need not ask
 * all pairs. Arrays of n_devices * n_devices. */
struct fr__dpos_classes {
    size_t n;
    double *latency_s, *s_per_byte;
    double mean_latency_s, mean_s_per_byte;
};

/* One decision of the kept plan, in the order of its list. A variable that waits for its reader is
 * no decision. A decision depends on where and when the operations before it are, and on which
 * devices have room. */
struct fr__dpos_decision {
    double start_s, end_s;
    uint64_t rooms; /* bit d: device d had room; of an op that was bound: 0 */
    uint32_t op, device;
};

/* n 0: no plan is kept. The first n_true adds of the slots are those of its first decisions. */
struct fr__dpos_kept {
    struct fr__dpos_decision *decisions; /* [cap_ops] */
    size_t n, n_true, n_made;            /* n_made: in this run */
    struct fr__dpos_change change;
    bool is_followed; /* so far */
    bool is_made;     /* this run's plan is being kept */
};

struct fr__dpos {
    struct fr__dpos_kept kept;
    struct fr__dpos_machine m;
    const struct fr__dag *dag;
    struct fr__dpos_classes classes;
    struct fr__slots *slots;
    size_t cap_ops, cap_rows, cap_groups;
    double *rank_s, *start_s, *end_s;
    double *tail_s; /* [n_ops] least time from an op's end to the end of the step */
    uint32_t *device, *order, *position, *priority, *path;
    uint8_t *is_on_path;
    struct fr__dpos_key *keys, *keys_of; /* [n_ops] keys to sort, and scratch */
    double *row_rank_s, *row_least_s;    /* [n_costs] the cost that ranks use; the smallest cost */
    uint64_t *group_bytes;               /* [n_groups] */
    uint32_t *group_device;              /* [n_groups] FR_NONE: not yet */
    uint64_t *used_bytes;                /* [n_devices] */
    uint64_t *copy_bytes; /* [n_devices] that the current op would have to receive and hold there */
    bool is_placed;       /* all operations are bound */
    bool inputs_wait;     /* as the options say */
    bool is_too_long;     /* the plan reaches stop_s */
    bool has_copies;      /* the dag has readers that would hold copies */
    unsigned spare_eighths; /* eighths of every room that are kept for copies */
    uint64_t along_bytes;   /* of the variables, with their groups, that wait for the current op */
    uint8_t *there;         /* [n_ops][n_devices] bit tensor % 8: its copy is held there */
    double *ready_s;        /* [n_devices] */
    struct fr__link_times *links; /* NULL: no links are shared */
    /* [n_edges] when what it carries is on its reader's device, and on the device that it goes by;
     * NAN: it is not sent there for this reader. With links alone. */
    double *there_s, *between_s;
    uint32_t *n_sent; /* [n_ops] how many of an op's edges have a there_s. With links alone */
    size_t cap_edges;
    bool *is_used; /* [n_devices] the device has a part of the path */
};

static inline uint64_t fr__dpos_op_bytes(const struct fr__dag_op *o)
{
    return o->resident_bytes + o->output_bytes;
}

/* Bytes that must be free on the device where the op goes, if it is the first of its group. */
static inline uint64_t fr__dpos_needs(const struct fr__dpos *p, uint32_t op)
{
    const struct fr__dag_op *o = &p->dag->ops[op];

    return o->group == FR_NONE ? fr__dpos_op_bytes(o) : p->group_bytes[o->group];
}

static inline bool fr__dpos_is_bound(const struct fr__dpos *p, uint32_t op)
{
    uint32_t g = p->dag->ops[op].group;

    return p->device[op] != FR_NONE || (g != FR_NONE && p->group_device[g] != FR_NONE);
}

/* Bytes that a device has left, without what is kept for copies. */
static inline uint64_t fr__dpos_left(const struct fr__dpos *p, uint32_t device)
{
    uint64_t room = p->m.room_bytes[device] - p->m.room_bytes[device] / 8 * p->spare_eighths;

    return room > p->used_bytes[device] ? room - p->used_bytes[device] : 0;
}

/* The bit of p->there for what an edge carries: an op has few tensors, with consecutive numbers. */
static inline uint8_t fr__dpos_tensor_bit(const struct fr__dag_edge *e)
{
    return (uint8_t)(1u << e->tensor % 8);
}

/* When what is ready at ready_s, and takes cost_s, starts on a device. */
static inline double fr__dpos_start_on(const struct fr__dpos *p, const struct fr__dpos_options *o,
                                       uint32_t device, double cost_s)
{
    if (o->appends)
        return fmax(p->ready_s[device], fr__slots_end(p->slots, device));
    return fr__slots_find(p->slots, device, p->ready_s[device], cost_s);
}

/* ---- dpos.c ---- */

/* The time above which a run with this stop_s stops. It has a margin: sums of the same times in
 * another order differ by roundings, at most one for each operation. */
double fr__dpos_stop_above(double stop_s, size_t n_ops);
/* Makes everything ready for putting operations that options->placed binds: ranks, the list, the
 * memory of what is placed, empty slots. false: out of memory. */
bool fr__dpos_begin_placed(struct fr__dpos *p, const struct fr__dag *dag,
                           const struct fr__dpos_options *options);

/* ---- dpos_rank.c, dpos_path.c ---- */

void fr__dpos_classify(struct fr__dpos_classes *c, const struct fr__dpos_machine *m);
/* Fills rank_s, tail_s and priority. */
void fr__dpos_rank(struct fr__dpos *p, bool of_means);
/* Fills longest_s, via and via_s of the record, from the ranks. */
void fr__dpos_record_ranks(const struct fr__dpos *p, bool of_means, struct fr__dpos_record *record);
/* Fills path and is_on_path; returns the length of the path. */
size_t fr__dpos_find_path(struct fr__dpos *p);
/* Binds the path to devices as long as devices that have no part of it yet have room for more of
 * it, and counts that memory. The rest goes where it ends first. */
void fr__dpos_bind_path(struct fr__dpos *p, size_t n_path, struct fr__dpos_record *record);
/* Fills order and position. */
void fr__dpos_list(struct fr__dpos *p);
/* ---- dpos_memory.c ---- */

/* Makes all arrays large enough for a dag. false: out of memory. */
bool fr__dpos_make_room(struct fr__dpos *p, const struct fr__dag *dag);

/* ---- dpos_inputs.c ---- */

/* Sums the copies that all inputs of op would leave on each device. has_times: also finds when they
 * could be there. */
void fr__dpos_find_inputs(struct fr__dpos *p, uint32_t op, bool has_times);

/* ---- dpos_links.c: where links are shared ---- */

/* Finds when the inputs of op could be on a device: ready_s. */
void fr__dpos_follow_links(struct fr__dpos *p, uint32_t op, uint32_t device);
/* Takes the slots of what op, which is placed, receives. */
void fr__dpos_take_links(struct fr__dpos *p, uint32_t op);
/* Counts the copies that op leaves on the device where it is put. */
void fr__dpos_keep_copies(struct fr__dpos *p, uint32_t op, uint32_t device);
/* ---- dpos_kept.c ---- */

/* Called before the first decision: restores the slots to the earliest place where the plans can
 * differ. */
void fr__dpos_kept_begin(struct fr__dpos *p, const struct fr__dpos_options *o);
/* Whether all decisions so far were those of the kept plan and its next one is for the same op,
 * d->op. If so, *d is that decision. */
bool fr__dpos_kept_follow(struct fr__dpos *p, struct fr__dpos_decision *d);
/* This run decides otherwise: undoes the rest of the kept plan in the slots. */
void fr__dpos_kept_leave(struct fr__dpos *p);
/* Notes a decision that the slots already have. */
void fr__dpos_kept_note(struct fr__dpos *p, const struct fr__dpos_decision *d);
void fr__dpos_kept_end(struct fr__dpos *p, bool is_done);

/* Binds op and its group; memory is counted once. */
void fr__dpos_bind(struct fr__dpos *p, uint32_t op, uint32_t device);
#endif
