/* workloads/passes/shard_walk.h - what the files of the sharding pass share.
 *
 *     shard.c           the walk over the given graph, op by op
 *     shard_rules.c     loops and layouts of each kind
 *     shard_derive.c    how each forward op is split, and what it writes
 *     shard_backward.c  which forward tensor each tensor of the backward pass belongs to
 *     shard_local.c     what is left of an op and a tensor on one rank
 *     shard_move.c      redistributions
 *     shard_sum.c       sums of gradients
 *
 * Placements are one signed number for each tensor and axis: a dimension, or one of the names
 * below. "Rest" is the placement in which a forward tensor waits for its readers: as it is written,
 * but a partial sum is resolved.
 */
#ifndef FR_WORKLOADS_PASSES_SHARD_WALK_H
#define FR_WORKLOADS_PASSES_SHARD_WALK_H

#include "base/arena.h"
#include "workloads/passes/shard.h"
#include "workloads/passes/shard_rules.h"

enum {
    FR__WHOLE = -1, /* R */
    /* FR__PACKED = -2: packed queries, keys and values, the queries split along dimension 1 and the
     * others whole; of a gradient: the queries split, the others partial */
    FR__PARTIAL = -3,
    FR__UNDECIDED = -4 /* what the data loader brings, until somebody reads it */
};

enum { FR__MAX_AXES = 8 };

/* How finely a forward tensor's columns can be split: heads, else every number is a unit. */
struct fr__grain {
    uint64_t units;
    int8_t dim;         /* the dimension; -1: none */
    bool is_shared;     /* keys or values: more ranks than units share them */
    bool may_be_uneven; /* words of a vocabulary */
};

/* What pass of the plan a redistribution is made in. */
enum fr__pass { FR__PASS_FORWARD, FR__PASS_AGAIN, FR__PASS_BACKWARD };

/* A tensor of the given graph in one placement. */
struct fr__version {
    uint32_t op, tensor; /* of the new graph */
    uint64_t bytes;
    uint32_t next; /* of the same tensor; FR_NONE */
    enum fr__pass pass;
    bool is_gathered; /* larger than it must be kept: another pass gathers it again */
    int8_t at[FR__MAX_AXES];
};

/* Gradients that wait to be added up until all have come. */
struct fr__sum {
    uint32_t *leaves, *ops; /* given tensors; given ops that add them */
    uint32_t n_leaves, n_ops;
};

struct fr__sharding {
    const struct fr__shard_problem *in;
    const struct fr_graph *g;
    size_t n_axes;
    const struct fr__shard_axis *axes;
    struct fr__arena *arena; /* scratch of the pass */
    /* forward ops */
    uint8_t *split;    /* [n_axes * n_ops] enum fr__split */
    uint32_t *tied_to; /* [n_ops] whose parameters it uses, FR_NONE */
    /* tensors */
    int8_t *written, *rest;   /* [n_tensors * n_axes] */
    struct fr__grain *grains; /* [n_tensors] of forward tensors */
    uint32_t *twin; /* [n_tensors] forward tensor of which it is the gradient or a copy; itself;
                       FR_NONE: of parameters */
    /* the walk */
    struct fr_graph_builder *b;
    uint32_t n_ops, n_tensors; /* made so far */
    uint32_t *new_op;          /* [n_ops]; FR_NONE: not made */
    uint32_t *first_version;   /* [n_tensors]; the base; FR_NONE */
    unsigned *n_moves;         /* [n_ops] redistributions of its outputs so far */
    struct fr__sum **sums;     /* [n_ops] of the op whose output's gradients wait; NULL */
    struct fr__version *versions;
    size_t n_versions, cap_versions;
    uint32_t *from; /* [n_ops made] */
    size_t cap_from;
    struct fr__comm *comms;
    size_t n_comms, cap_comms;
    uint32_t *partial, *divided, *replicas; /* [n_ops] bits of given forward ops */
    char *name;
    size_t cap_name;
    bool is_out_of_memory;
};

/* ---- shard_annotate.c ---- */

/* expert_of: [n_ops] which expert a forward op belongs to, FR_NONE. Experts are the ops between a
 * dispatch (a gather with one output an expert) and its combine. */
void fr__shard_find_experts(const struct fr_graph *g, uint32_t expert_of[]);

/* ---- shard_derive.c ---- */

/* Fills split, written, rest and grains. FR_EUSAGE: see fr__shard. */
enum fr_status fr__sharding_derive(struct fr__sharding *s, struct fr_error *err);
/* The placement that forward op `op` asks of its input (index into in_edges) over axis a. */
int8_t fr__sharding_wants(const struct fr__sharding *s, uint32_t op, uint32_t input, size_t a);
/* Over how many different parts the ranks of axis a hold forward tensor t split along dimension
 * d. */
uint64_t fr__sharding_parts(const struct fr__sharding *s, uint32_t t, size_t a, int d);
/* Units of the loop of a forward op (heads, columns, words, positions), at least 1, and over how
 * many parts axis a divides it. */
struct fr__cut {
    uint64_t units, parts;
};
struct fr__cut fr__sharding_cut(const struct fr__sharding *s, uint32_t op, size_t a);

/* ---- shard_backward.c ---- */

/* Fills twin and tied_to. */
enum fr_status fr__sharding_pair(struct fr__sharding *s, struct fr_error *err);
/* Whether op runs a forward op, now or again; the forward op then. */
bool fr__sharding_runs_forward(const struct fr_op *op);
bool fr__sharding_is_gradient(const struct fr_graph *g, uint32_t tensor);

/* ---- shard_local.c ---- */

/* Tensor t as one rank has it in placement at[n_axes]. */
struct fr_tensor fr__sharding_local_tensor(const struct fr__sharding *s, uint32_t t,
                                           const int8_t at[]);
/* Sets FLOPs, parameters, workspace and shape of op o on one rank, not its bytes. out: its first
 * output there, or NULL. */
void fr__sharding_local_op(const struct fr__sharding *s, uint32_t o, const struct fr_tensor *out,
                           struct fr_op *op);
/* Bytes of the parameters of forward op `op` (or of their gradient) on one rank. */
uint64_t fr__sharding_local_params(const struct fr__sharding *s, uint32_t op, uint64_t bytes);

/* ---- shard_move.c ---- */

/* Adds an op of the new graph that comes from given op `from`; returns its number. */
uint32_t fr__sharding_add_op(struct fr__sharding *s, uint32_t from, const struct fr_op *op,
                             const struct fr_tensor outputs[], size_t n_outputs);
/* Says that the op added last writes tensor t, its k-th of n outputs, in placement at. */
void fr__sharding_add_version(struct fr__sharding *s, uint32_t t, uint32_t n_back, uint64_t bytes,
                              const int8_t at[], enum fr__pass pass, bool is_gathered);
/* Who reads, for redistributions on its behalf. */
struct fr__reader {
    uint32_t op; /* given */
    enum fr__pass pass;
    const uint32_t *after; /* [n_after] new ops after which a tensor is gathered again */
    size_t n_after;
};
/* Tensor t in placement want[n_axes]; redistributed where nobody has done so in that pass. Valid
 * until the next call. */
struct fr__version fr__sharding_get(struct fr__sharding *s, uint32_t t, const int8_t want[],
                                    const struct fr__reader *reader);
/* Adds a message over axis a that reads `in` and writes a tensor in its own right, on behalf of
 * given op `from`. Returns the version it makes, which belongs to no tensor. */
struct fr__version fr__sharding_add_message(struct fr__sharding *s, uint32_t from,
                                            enum fr_op_kind kind, uint32_t axis, const char *name,
                                            const struct fr__version *in,
                                            const struct fr_tensor *out, double bytes,
                                            enum fr__pass pass);

/* ---- shard_sum.c ---- */

/* Adds the sum of gradients `o`, or keeps it until its chain of sums is complete. */
void fr__sharding_add_sum(struct fr__sharding *s, uint32_t o);

/* ---- shard.c ---- */

/* Adds given op o, which reads in[n_in] (given tensors and their versions) and writes in placement
 * at[n_tensors of o][n_axes]. */
struct fr__input {
    uint32_t edge; /* given edge */
    struct fr__version v;
};
void fr__sharding_emit(struct fr__sharding *s, uint32_t o, const struct fr__input in[], size_t n_in,
                       const int8_t *at);
#endif
