/* workloads/passes/ring_parts.h - what the files of the ring pass share; others use ring.h. */
#ifndef FR_WORKLOADS_PASSES_RING_PARTS_H
#define FR_WORKLOADS_PASSES_RING_PARTS_H

#include "workloads/passes/ring.h"
#include "workloads/passes/sharded.h"

struct fr__ring {
    const struct fr__ring_problem *in;
    const struct fr__sharded *s;
    const struct fr_graph *g;
    /* of the given graph */
    uint32_t *axis;    /* [n_ops] of an op or message that is cut; FR_NONE */
    uint32_t *lead;    /* [n_ops] of a gather that is cut: the last one of those that travel
                          together, where the steps stand; of a reduce-scatter: the op whose parts
                          it adds up */
    uint32_t *joined;  /* [n_ops] of a gather that is cut: the next one that travels with it */
    bool *reads_parts; /* [n_ops] an op that is cut reads gathers */
    bool *sums_parts;  /* [n_ops] an op that is cut writes to reduce-scatters */
    /* of the new one */
    struct fr__rewriter w;  /* the counterpart of an op is its first part or step, that of a tensor
                               is it when it is complete */
    uint32_t *last;         /* [n_ops] the last new op of a given one */
    uint32_t *part, *apart; /* [n_ops] of a gather that is cut: the tensor that its first step
                                 brings, and how far the next ones are apart */
    struct fr__messages messages;
};

static inline uint32_t fr__ring_ranks(const struct fr__ring *r, uint32_t op)
{
    return r->in->axes[r->axis[op]].ranks;
}

static inline const struct fr__comm *fr__ring_comm(const struct fr__ring *r, uint32_t op)
{
    uint32_t k = r->s->comm_of[op];

    return k == FR_NONE ? NULL : &r->s->comms[k];
}

/* Whether a reader of the op's is a message that is cut. */
static inline bool fr__ring_is_message(const struct fr__ring *r, uint32_t op)
{
    return r->axis[op] != FR_NONE && fr__ring_comm(r, op);
}

/* Whether an op keeps its own part for the end, or has it first: what it reads decides. */
static inline bool fr__ring_own_is_first(const struct fr__ring *r, uint32_t op)
{
    return r->reads_parts[op];
}

/* ---- ring_find.c ---- */

/* Fills what is cut. n_cut: [n_axes] ops. */
void fr__ring_find(struct fr__ring *r, size_t n_cut[]);
/* The reduce-scatter that is cut and takes tensor t; FR_NONE. */
uint32_t fr__ring_scatter_of(const struct fr__ring *r, uint32_t t);
/* The tensor that a gather takes in. */
uint32_t fr__ring_source(const struct fr__ring *r, uint32_t gather);

/* ---- ring_emit.c ---- */

/* Adds all of the new graph. */
void fr__ring_emit(struct fr__ring *r);

#endif
