/* workloads/passes/training.h - what the files of the training pass share.
 *
 *     training.c          the walk over the forward graph; its head says which ops are added
 *     training_rules.c    the rule of each kind of op
 *     training_ops.c      makes an op: what it reads, its name, sums of gradients
 *     training_data.c     gradients of inputs
 *     training_weights.c  gradients of parameters, and updates
 *
 * In comments o is a forward op, dy the gradient of its outputs, dx of its inputs and dw of its
 * parameters. A ring is a circular list inside fr__expansion.reads: whoever holds the last element
 * has the first one too, and both appending and walking are cheap.
 */
#ifndef FR_WORKLOADS_PASSES_TRAINING_H
#define FR_WORKLOADS_PASSES_TRAINING_H

#include "workloads/graph/rewriter.h"

/* ---- rules ---- */

/* Which ops make the gradients of the inputs. */
enum fr__flow {
    FR__FLOW_REFUSED, /* such ops must not be in a forward graph */
    FR__FLOW_NONE,    /* none: inputs are data or indices */
    FR__FLOW_PASS,    /* none: they are the output's gradient itself */
    FR__FLOW_EACH,    /* one op for each input */
    FR__FLOW_ALL,     /* one op for all inputs */
    FR__FLOW_PARTS    /* one op; it writes views, each a part of the output's gradient */
};

/* Which forward tensors a backward op reads. */
enum {
    FR__READ_IN = 1,    /* the inputs */
    FR__READ_OUT = 2,   /* the output */
    FR__READ_EXTRA = 4, /* the further outputs: statistics, mask, indices */
    FR__READ_OTHERS =
        8, /* the inputs but the one whose gradient it is; a lone one is both operands */
    FR__READ_HELD =
        16, /* the inputs are kept alive but not read: PyTorch needs their shapes only */
    FR__READ_INDICES = 32 /* the inputs that have no gradient */
};

struct fr__rule {
    enum fr__flow flow;
    unsigned char data_reads,
        weight_reads; /* FR__READ_* of the gradient of inputs, of parameters */
    bool all_outputs; /* every output has a gradient, not only the first */
    /* FLOPs = _of_forward * FLOPs of the forward op + _of_element * elements of dy */
    double data_of_forward, data_of_element;
    double weight_of_forward, weight_of_element;
};

const struct fr__rule *fr__rule_of_kind(enum fr_op_kind kind);

/* ---- the graph being made ---- */

/* A tensor of the new graph that a backward op reads. */
struct fr__read {
    uint32_t op, tensor; /* who writes it */
    uint64_t bytes;
    bool scales;
    bool is_held;  /* kept alive only: no traffic */
    uint32_t next; /* of the same ring, in fr__expansion.reads */
};

struct fr__expansion {
    const struct fr_graph *f; /* the forward graph */
    struct fr__rewriter w;
    unsigned elem_bytes;
    bool *is_needed;        /* [ops]: it uses parameters, or reads what comes from some */
    uint32_t *tied_to;      /* [ops]: whose parameters it uses: its own, another's or FR_NONE */
    uint32_t *grads;        /* [tensors]: last of the ring of its gradients, or FR_NONE */
    uint32_t *weight_grads; /* [ops]: last of the ring of its parameters' gradients, or FR_NONE */
    uint32_t *step_reads;   /* [ops]: last of the ring of what its deferred gradients read */
    double *step_flops;     /* [ops]: FLOPs of its deferred gradients */
    uint64_t *step_samples; /* [ops]: sum of their sizes that grow with the batch */
    unsigned *n_sums;       /* [ops]: sums of gradients of its outputs, so far */
    uint32_t *cast_user;    /* [ops]: first user of the weights that it casts, or FR_NONE */
    struct fr__read *reads; /* elements of all rings, in the order they came */
    size_t n_reads, cap_reads;
    struct fr__read *now; /* what the next op will read */
    size_t n_now, cap_now;
};

/* The gradients of an op's outputs. */
struct fr__output_grads {
    struct fr__read *reads; /* [n] */
    size_t n;
    double elements; /* of all of them */
};

/* The sums of gradients that forward op `from` gets. */
struct fr__summing {
    uint32_t from;
    const char *suffix; /* of their names */
    enum fr_phase phase;
    unsigned n_sums; /* so far */
};

/* Whether parameters of forward op `owner` are trained; FR_NONE: there are none. */
static inline bool fr__expansion_is_trained(const struct fr__expansion *x, uint32_t owner)
{
    return owner != FR_NONE && !x->f->ops[owner].is_frozen;
}

/* ---- training_ops.c ---- */

const struct fr__rule *fr__expansion_rule(const struct fr__expansion *x, uint32_t o);
/* Whether the tensor of the forward edge has a gradient. */
bool fr__expansion_wants_gradient(const struct fr__expansion *x, const struct fr_edge *e);

/* The next op will read r; the forward tensor; what `mask` (FR__READ_*) names of o, where `input`
 * is the in-edge whose gradient is wanted or FR_NONE; the gradients dy. */
void fr__expansion_read(struct fr__expansion *x, struct fr__read r);
void fr__expansion_read_forward(struct fr__expansion *x, uint32_t tensor, bool is_held);
void fr__expansion_read_saved(struct fr__expansion *x, uint32_t o, unsigned mask, uint32_t input);
void fr__expansion_read_grads(struct fr__expansion *x, const struct fr__output_grads *dy);

/* Appends to the ring whose last element is *last. */
void fr__expansion_contribute(struct fr__expansion *x, uint32_t *last, struct fr__read grad);
/* The gradients of o's outputs that have come, in x->w.scratch. */
struct fr__output_grads fr__expansion_collect(struct fr__expansion *x, uint32_t o);
/* A gradient shaped like forward tensor t, in a storage of its own. */
struct fr_tensor fr__expansion_gradient_of(const struct fr_tensor *t);

/* Adds an op that derives from forward op `from`. It reads the list `now`, which is empty after.
 * op: kind, phase, flops, shape and param_bytes; the rest is filled in here. Its name is
 * "FROM.suffix", and then number unless that is FR_NONE. */
void fr__expansion_add_op(struct fr__expansion *x, uint32_t from, const char *suffix,
                          unsigned number, struct fr_op op, const struct fr_tensor outputs[],
                          size_t n_outputs);
/* Reads output t of the op added last; n_back: 1 for its last output, 2 for the one before, ... */
struct fr__read fr__expansion_made(const struct fr__expansion *x, uint32_t n_back,
                                   const struct fr_tensor *t);
/* Adds up a ring of gradients pairwise, in the order they came. Returns false if it is empty. */
bool fr__expansion_sum_up(struct fr__expansion *x, struct fr__summing *s, uint32_t last,
                          const struct fr_tensor *shape, struct fr__read *sum);

/* ---- training_data.c ---- */

/* Adds the gradients of o's inputs. dy has some, or o is a loss. */
void fr__expansion_add_data_ops(struct fr__expansion *x, uint32_t o,
                                const struct fr__output_grads *dy);
/* Adds up the gradients that each input of o has so far. */
void fr__expansion_sum_input_gradients(struct fr__expansion *x, uint32_t o);

/* ---- training_weights.c ---- */

/* Adds the gradient of o's parameters, if it uses any. has_part: o has a part of its own in it, not
 * only deferred ones of other ops. */
void fr__expansion_add_weight_op(struct fr__expansion *x, uint32_t o,
                                 const struct fr__output_grads *dy, bool has_part);
/* Whether the edge carries weights that a cast has made: under mixed precision the parameters of a
 * product are an input like any other. */
bool fr__expansion_is_cast_weight(const struct fr__expansion *x, const struct fr_edge *e);
/* Defers o's part of the gradient of cast weights, which edge e carries, until the cast's turn. The
 * list `now` is what that part reads. */
void fr__expansion_defer_to_cast(struct fr__expansion *x, uint32_t o, const struct fr_edge *e,
                                 const struct fr__output_grads *dy);
/* Adds one gradient for all that use the weights that `cast` has made, if any do. The cast's own
 * backward then gives the gradient of the parameters. */
void fr__expansion_add_cast_weight_op(struct fr__expansion *x, uint32_t cast);
/* Adds the update of o's parameters, if they have a gradient. */
void fr__expansion_add_update(struct fr__expansion *x, uint32_t o);
#endif
