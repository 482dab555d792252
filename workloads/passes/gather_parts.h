/* workloads/passes/gather_parts.h - what the files of the gathering pass share; others use
 * gather.h. */
#ifndef FR_WORKLOADS_PASSES_GATHER_PARTS_H
#define FR_WORKLOADS_PASSES_GATHER_PARTS_H

#include "workloads/passes/gather.h"
#include "workloads/passes/sharded.h"

enum fr__gather_side { FR__SIDE_FORWARD, FR__SIDE_BACKWARD, FR__N_SIDES };

/* A message: op and output in the new graph; FR_NONE: there is none. */
struct fr__gather_message {
    uint32_t op, tensor;
};

/* Parameters of a unit that travel together. */
struct fr__gather_set {
    uint64_t bytes;         /* of the parameters in the given graph */
    double kept_bytes;      /* of the gathered ones in memory */
    uint64_t trained_bytes; /* of those that have an update */
    uint64_t packed_bytes;  /* of those that are stored in 4 bits, */
    uint64_t stored_bytes;  /* and what these take so: they are gathered as they are */
    uint32_t owner;         /* the first of them; FR_NONE */
    uint32_t ready;         /* the last op that writes a gradient of them; FR_NONE */
    uint32_t reader;        /* the last op noted as a reader; FR_NONE */
    struct fr__gather_message gather[FR__N_SIDES], scatter;
    uint32_t unpack[FR__N_SIDES], pack; /* copies, ops in the new graph; FR_NONE */
    struct fr__gather_message sum; /* of the part over the copies; the scatter: there is one copy */
};

struct fr__gather_unit {
    struct fr__gather_set sets[FR__N_GATHER_SETS];
    uint32_t first[FR__N_SIDES]; /* ops of the given graph; FR_NONE */
    uint32_t last[FR__N_SIDES];
    uint32_t next_at[FR__N_SIDES]; /* the next unit whose gather stands before the same op */
    uint32_t next_scatter;         /* likewise, after the same op */
    bool is_root;
};

struct fr__gathering {
    const struct fr__gather_problem *in;
    const struct fr_graph *g;
    struct fr__rewriter w;
    struct fr__gather_unit *units; /* [n_units] */
    size_t n_units;
    uint32_t *order[FR__N_SIDES]; /* [n_ordered] units in the order of their first ops */
    size_t n_ordered[FR__N_SIDES];
    uint32_t *gather_at[FR__N_SIDES]; /* [n_ops] first unit gathered before the op; FR_NONE */
    uint32_t *scatter_at;             /* [n_ops] first unit scattered after the op; FR_NONE */
    uint32_t *bucket_of; /* [n_ops] of owners, where parameters stay whole; NULL: units count */
    struct fr__messages messages;
};

static inline uint32_t fr__gather_unit_of(const struct fr__gathering *x, uint32_t op)
{
    const struct fr__units *u = x->in->units;
    uint32_t layer = x->g->ops[op].layer;
    uint32_t unit = u->unit_of_op ? u->unit_of_op[op] : u->unit_of_layer[layer];
    uint32_t root = (uint32_t)x->in->units->n_units;

    return unit != FR_NONE ? unit : root + (x->in->is_cut ? layer : 0);
}

static inline bool fr__gather_is_backward(const struct fr_op *op)
{
    return op->phase == FR_PHASE_BACKWARD_DATA || op->phase == FR_PHASE_BACKWARD_WEIGHT;
}

/* The set that a parameter's owner belongs to. */
static inline uint32_t fr__gather_set_of(const struct fr__gathering *x, uint32_t owner)
{
    const struct fr__sharded *s = x->in->sharded;

    return s && s->divided[owner] >> FR__AXIS_EXPERTS & 1 ? FR__GATHER_EXPERTS : FR__GATHER_DENSE;
}

static inline bool fr__gather_owns(const struct fr_op *op)
{
    return op->phase == FR_PHASE_FORWARD && op->param_bytes > 0;
}

static inline bool fr__gather_is_shared(const struct fr__gathering *x, uint32_t owner)
{
    return x->in->ranks[fr__gather_set_of(x, owner)] > 1;
}

/* The unit with which an owner's gradient leaves. */
static inline uint32_t fr__gather_unit_from(const struct fr__gathering *x, uint32_t owner)
{
    return x->bucket_of ? x->bucket_of[owner] : fr__gather_unit_of(x, owner);
}

/* The unit whose gather brings an owner's parameters to an op. */
static inline uint32_t fr__gather_unit_for(const struct fr__gathering *x, uint32_t owner,
                                           uint32_t op)
{
    return fr__gather_unit_of(x, x->in->is_cut ? op : owner);
}

/* ---- gather_buckets.c ---- */

/* Buckets for units, where parameters stay whole and the graph is not cut. false: out of memory. */
bool fr__gather_fill_buckets(struct fr__gathering *x);

/* ---- gather_sets.c ---- */

/* Whether edge i leads from a gradient to the update that reads it, and which set it is of. */
struct fr__gather_set *fr__gather_of_update(const struct fr__gathering *x, size_t i);

/* Calls with each (set, its unit) whose parameters op reads in the forward or backward pass. */
typedef void (*fr__gather_reader)(struct fr__gathering *x, uint32_t op, uint32_t unit,
                                  uint32_t set);
void fr__gather_for_sets(struct fr__gathering *x, uint32_t op, fr__gather_reader call);

/* ---- gather_emit.c ---- */

/* Adds all of the new graph once units, order and places are known. */
void fr__gather_emit(struct fr__gathering *x);

#endif
