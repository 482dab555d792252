/* workloads/passes/shard/walk.h - what the files of the sharding pass share.
 *
 *     shard.c      the steps in their order
 *     annotate.c   splits by structure
 *     rules.c      loops and layouts of each kind
 *     grains.c     how finely tensors and loops can be split
 *     derive.c     how each forward op is split, and what it writes
 *     backward.c   which forward tensor each tensor of the backward pass belongs to
 *     forward.c    forward ops, now or again: what they read
 *     gradients.c  backward ops: what they read, which gradients of parameters are sums
 *     sum.c        sums of gradients
 *     emit.c       one op of the new graph
 *     local.c      what is left of an op and a tensor on one rank
 *     move.c       redistributions
 *     experts.c    which experts a rank holds, and how many rows they get
 *     exchange.c   the way of tokens to experts and back
 *     read.c       layouts from a file
 *
 * Placements are one signed number for each tensor and axis: a dimension, or one of the names
 * below. "Rest" is the placement in which a forward tensor waits for its readers: as it is written,
 * but a partial sum is resolved.
 */
#ifndef FR_WORKLOADS_PASSES_SHARD_WALK_H
#define FR_WORKLOADS_PASSES_SHARD_WALK_H

#include "workloads/graph/experts.h"
#include "workloads/passes/shard/rules.h"
#include "workloads/passes/sharded.h"

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

/* What an op reads: a given edge, and the version of its tensor. */
struct fr__input {
    uint32_t edge;
    struct fr__version v;
};

/* Gradients that wait to be added up until all have come. */
struct fr__sum {
    uint32_t *leaves, *ops; /* given tensors; given ops that add them */
    uint32_t n_leaves, n_ops;
};

struct fr__sharding {
    const struct fr__shard_problem *in;
    const struct fr_graph *g;
    size_t n_axes; /* those of the problem, and one more where ranks share each expert */
    const struct fr__shard_axis *axes;
    size_t etp_axis; /* that one; n_axes: there is none */
    /* forward ops */
    uint8_t *split;    /* [n_axes * n_ops] enum fr__split */
    uint32_t *tied_to; /* [n_ops] whose parameters it uses, FR_NONE */
    /* tensors */
    int8_t *written, *rest;               /* [n_tensors * n_axes] */
    bool has_samples_split[FR__MAX_AXES]; /* some of the data is split by samples */
    struct fr__grain *grains;             /* [n_tensors] of forward tensors */
    uint32_t *twin; /* [n_tensors] forward tensor of which it is the gradient or a copy; itself;
                       FR_NONE: of parameters */
    /* experts; NULL where every rank has all of them */
    uint32_t *expert_of;   /* [n_ops] of a forward op; FR_NONE */
    uint32_t *dispatch_of; /* [n_ops] the dispatch that its rows come from; FR_NONE */
    bool is_raw;           /* sizes are asked for on this side of the all-to-all */
    /* the walk */
    struct fr__rewriter w;   /* of tensors the versions are kept instead of counterparts */
    uint32_t *first_version; /* [n_tensors]; the base; FR_NONE */
    unsigned *n_moves;       /* [n_ops] redistributions of its outputs so far */
    struct fr__sum **sums;   /* [n_ops] of the op whose output's gradients wait; NULL */
    struct fr__version *versions;
    size_t n_versions, cap_versions;
    struct fr__messages messages;
    uint32_t *partial, *divided, *replicas; /* [n_ops] bits of given forward ops */
};

static inline enum fr__split fr__sharding_split(const struct fr__sharding *s, uint32_t op, size_t a)
{
    return (enum fr__split)s->split[a * s->g->n_ops + op];
}

/* ---- annotate.c ---- */

/* The products of experts by columns and by depth. split: [n_ops], FR__SPLIT_DERIVED. FR_ENOMEM. */
enum fr_status fr__shard_annotate_experts(const struct fr_graph *g, const uint32_t expert_of[],
                                          uint8_t split[], struct fr_error *err);

/* ---- experts.c ---- */

/* Fills expert_of and dispatch_of where experts are split. FR_EUSAGE: see fr__shard. */
enum fr_status fr__sharding_find_experts(struct fr__sharding *s, struct fr_error *err);
/* Refuses experts whose tokens would come in copies; after the splits are derived. */
enum fr_status fr__sharding_check_tokens(const struct fr__sharding *s, struct fr_error *err);
/* Whether the op belongs to an expert that another rank holds. */
bool fr__sharding_is_elsewhere(const struct fr__sharding *s, uint32_t op);
/* Rows that a rank has of an expert's tensor, or works on in an expert's forward op, over those of
 * the given graph, before axes divide them; 1 outside of experts. */
double fr__sharding_rows(const struct fr__sharding *s, uint32_t t);
double fr__sharding_rows_of_op(const struct fr__sharding *s, uint32_t f);
/* Rows that the busiest group of experts gets, over the mean, by a tensor of an expert. */
double fr__sharding_load(const struct fr__sharding *s, uint32_t t);
/* Whether op o writes what goes to experts, reads what comes from them. */
bool fr__sharding_sends(const struct fr__sharding *s, uint32_t o);
bool fr__sharding_receives(const struct fr__sharding *s, uint32_t o);
/* The expert whose rows tensor t holds, also on the way to it and from it; FR_NONE. Whether this
 * rank holds that expert. */
uint32_t fr__sharding_expert(const struct fr__sharding *s, uint32_t t);
bool fr__sharding_is_here(const struct fr__sharding *s, uint32_t t);

/* ---- exchange.c ---- */

/* Sends the outputs of op o, made last, to the experts. at: [n_tensors of o][n_axes] where they are
 * then. */
void fr__sharding_send(struct fr__sharding *s, uint32_t o, const int8_t *at);
/* Brings what op o reads of experts back to where their tokens came from: in[n_in] are its inputs
 * from experts here and elsewhere; all get a version. */
void fr__sharding_receive(struct fr__sharding *s, uint32_t o, struct fr__input in[], size_t n_in);

/* ---- derive.c ---- */

/* Fills split, written, rest and grains. FR_EUSAGE: see fr__shard. */
enum fr_status fr__sharding_derive(struct fr__sharding *s, struct fr_error *err);
/* The placement that forward op `op` asks of its input (index into in_edges) over axis a. */
int8_t fr__sharding_wants(const struct fr__sharding *s, uint32_t op, uint32_t input, size_t a);
/* ---- grains.c ---- */

void fr__sharding_find_grains(struct fr__sharding *s);
/* Units along dimension d of forward tensor t, or of a loop of a forward op; at least 1. */
struct fr__extent {
    uint64_t units;
    bool is_shared, may_be_uneven; /* as struct fr__grain */
};
struct fr__extent fr__sharding_extent(const struct fr__sharding *s, uint32_t t, int d);
struct fr__extent fr__sharding_loop(const struct fr__sharding *s, uint32_t op, enum fr__split loop);
/* Over how many different parts so many ranks hold the units; 0: they cannot. */
uint64_t fr__parts_of(const struct fr__extent *e, uint64_t ranks);
/* Over how many different parts the ranks of axis a hold forward tensor t split along dimension
 * d. */
uint64_t fr__sharding_parts(const struct fr__sharding *s, uint32_t t, size_t a, int d);
/* Units of the loop of a forward op (heads, columns, words, positions), at least 1, and over how
 * many parts axis a divides it. */
struct fr__cut {
    uint64_t units, parts;
};
struct fr__cut fr__sharding_cut(const struct fr__sharding *s, uint32_t op, size_t a);

/* ---- backward.c ---- */

/* Fills twin and tied_to. */
enum fr_status fr__sharding_pair(struct fr__sharding *s, struct fr_error *err);
/* Refuses gradients that belong to no forward tensor, of ops that are split. After the splits are
 * derived. */
enum fr_status fr__sharding_check_pairs(const struct fr__sharding *s, struct fr_error *err);
/* Whether op runs a forward op, now or again; the forward op then. */
bool fr__sharding_runs_forward(const struct fr_op *op);
enum fr__pass fr__sharding_pass(const struct fr_op *op);
bool fr__sharding_is_gradient(const struct fr_graph *g, uint32_t tensor);

/* ---- local.c ---- */

/* Tensor t as one rank has it in placement at[n_axes]. */
struct fr_tensor fr__sharding_local_tensor(const struct fr__sharding *s, uint32_t t,
                                           const int8_t at[]);
/* Sets FLOPs, parameters, workspace and shape of op o on one rank, not its bytes. out: its first
 * output there, or NULL. */
void fr__sharding_local_op(const struct fr__sharding *s, uint32_t o, const struct fr_tensor *out,
                           struct fr_op *op);
/* Bytes of the parameters of forward op `op` (or of their gradient) on one rank. */
uint64_t fr__sharding_local_params(const struct fr__sharding *s, uint32_t op, uint64_t bytes);

/* ---- move.c ---- */

/* An op that moves what given op `from` writes, with its name, in the layer of given op `beside`;
 * backward it derives from what that derives from. The note that it is a message. */
struct fr_op fr__sharding_moving_op(struct fr__sharding *s, uint32_t from, uint32_t beside,
                                    enum fr_op_kind kind, const char *axis, enum fr__pass pass);
void fr__sharding_note_message(struct fr__sharding *s, uint32_t op, uint32_t axis, double bytes,
                               bool scales);
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
 * given op `from`, in the layer of `beside`. Returns the version it makes, which belongs to no
 * tensor. */
struct fr__version fr__sharding_add_message(struct fr__sharding *s, uint32_t from, uint32_t beside,
                                            enum fr_op_kind kind, uint32_t axis, const char *name,
                                            const struct fr__version *in,
                                            const struct fr_tensor *out, double bytes,
                                            enum fr__pass pass);

/* ---- sum.c ---- */

/* Adds the sum of gradients `o`, or keeps it until its chain of sums is complete. */
void fr__sharding_add_sum(struct fr__sharding *s, uint32_t o);

/* ---- emit.c ---- */

/* Adds given op o, which reads in[n_in] (given tensors and their versions) and writes in placement
 * at[n_tensors of o][n_axes]. */
void fr__sharding_emit(struct fr__sharding *s, uint32_t o, const struct fr__input in[], size_t n_in,
                       const int8_t *at);

/* ---- forward.c ---- */

/* Adds a forward op, or one that runs a forward op again. */
void fr__sharding_walk_forward(struct fr__sharding *s, uint32_t o);
/* Where forward op f wants its input t, or leaves its output t, or a copy of either. */
void fr__sharding_want_forward(const struct fr__sharding *s, uint32_t f, uint32_t t, int8_t want[]);
/* The in-edge of forward op f that carries tensor t or what t is a copy or gradient of; FR_NONE. */
uint32_t fr__sharding_input_of(const struct fr__sharding *s, uint32_t f, uint32_t t);
/* The new ops that o waits for without reading anything of them, *after[n] with room for one for
 * each in-edge, in the scratch arena. Returns n. */
size_t fr__sharding_order_before(struct fr__sharding *s, uint32_t o, uint32_t **after);

/* Adds op o once its inputs are there, with the messages that stand right before it. */
void fr__sharding_make(struct fr__sharding *s, uint32_t o, struct fr__input in[], size_t n_in,
                       const int8_t *at);

/* ---- gradients.c ---- */

/* Adds a backward op or an update, not a sum of gradients of tensors. */
/* Notes over which axes the parameters of forward op o are split, where no gradient says it. */
void fr__sharding_note_frozen(struct fr__sharding *s, uint32_t o);
void fr__sharding_walk_backward(struct fr__sharding *s, uint32_t o);
#endif
