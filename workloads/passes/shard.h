/* workloads/passes/shard.h - splits the ops of a training graph over the axes of a mesh.
 *
 * A mesh axis is a number of ranks that work on the same samples together. Each tensor has one
 * placement an axis: replicated (R), split along a dimension (S(d)), or partial (P: every rank
 * holds a term of the sum). How an axis divides an op is one word, its split: the loop of the op
 * that is divided. From it follow the placements of all that the forward op and both of its
 * backward ops read and write (shard/rules.c): a tensor that has the loop is split along it, one
 * that has not is replicated, a result that sums over it is partial. Where a reader needs another
 * placement than the writer gives, a redistribution is added as an op of the graph:
 *
 *     S -> R all_gather   P -> R all_reduce   P -> S reduce_scatter   S(i) -> S(j) all_to_all
 *     R -> S slice (no message)               and in the backward pass their mirror images
 *
 * The result is the graph of one rank: local shapes, FLOPs, bytes and parameters. Ops that are not
 * annotated follow what they read. A vocabulary is split unevenly where it must be, and the rank
 * with the largest part is taken; all else is split alike or refused.
 *
 * Source:  M. Shoeybi et al., Megatron-LM, 2019; V. Korthikanti et al., MLSys 2023 (sequence
 *          parallelism); N. Shazeer et al., Mesh-TensorFlow, NeurIPS 2018 (splits by name of a
 *          dimension); the messages are those of Megatron-LM's code.
 * Ignores: halos of convolutions that are split along an image; the hidden width of LSTMs; padding
 *          of a vocabulary to a multiple of more than the ranks.
 */
#ifndef FR_WORKLOADS_PASSES_SHARD_H
#define FR_WORKLOADS_PASSES_SHARD_H

#include "workloads/workloads.h"

enum fr__split {
    FR__SPLIT_DERIVED,  /* not annotated: follows what the op reads */
    FR__SPLIT_NONE,     /* every rank does all of it */
    FR__SPLIT_SAMPLES,  /* the batch */
    FR__SPLIT_SEQUENCE, /* positions */
    FR__SPLIT_COLUMNS,  /* what it writes for each position: columns of a product, channels that a
                           convolution writes, heads of attention, width of an embedding, features
                           of an elementwise op */
    FR__SPLIT_DEPTH,    /* what it sums over: depth of a product, channels that a convolution reads,
                           vocabulary of an embedding, classes of a loss */
    FR__N_SPLITS
};
const char *fr__split_name(enum fr__split s); /* "samples", ... */

struct fr__shard_axis {
    const char *name; /* "tp" */
    uint32_t size;    /* >= 1 */
    /* What a partial sum becomes where nothing else is asked for: split along the sequence
     * (sequence parallelism of Megatron-LM) or replicated. */
    bool partial_to_sequence;
    bool keeps_gathered;  /* what is gathered in the forward pass is kept for the backward pass;
                             else it is gathered again there, once the gradient is there that it is
                             multiplied with */
    bool refuses_copies;  /* heads of keys and values are not held by several ranks */
    const uint8_t *split; /* [n_ops] enum fr__split of forward ops (others are not looked at);
                             NULL: all derived */
};

/* Expert parallelism. Experts are the ops between a dispatch (gather with one output an expert) and
 * its combine. ep ranks hold n_experts/ep of them each and exchange tokens by all-to-all. With ep
 * and etp 1 experts are ops like others. */
struct fr__shard_experts {
    uint32_t ep;      /* 1: every rank holds all experts */
    uint32_t etp;     /* expert tensor parallelism: columns and depth of experts' products */
    uint32_t coord;   /* which experts this rank holds: those of [coord n/ep, (coord+1) n/ep) */
    bool is_balanced; /* tokens are shared evenly; else as the graph's dispatch has them */
    double skew; /* 1..ep: rows of coord 0's experts over the mean, the others share the rest */
    const double *shares; /* [n_shares] of each expert's rows in those of all, sum 1, instead of
                             is_balanced and skew; NULL. Every layer has n_shares experts */
    uint32_t n_shares;
};

/* Numbers of further axes in fr__comm. Over the replicas go the parameters and gradients of a
 * sharded optimizer (workloads/passes/gather.h): of all, and of those that hold the same
 * experts; over the copies its parts of gradients, where groups of replicas share alike. */
enum {
    FR__AXIS_COPIES = 27,
    FR__AXIS_REPLICAS = 28,
    FR__AXIS_EXPERT_REPLICAS = 29,
    FR__AXIS_EXPERTS = 30,
    FR__AXIS_EXPERT_TENSOR = 31
};

/* A redistribution that is a message. Its op in the graph has kind all_reduce, all_gather,
 * reduce_scatter or all_to_all, no FLOPs, no memory traffic. */
struct fr__comm {
    uint32_t op;   /* of the sharded graph */
    uint32_t axis; /* index of axes[], or FR__AXIS_* */
    double bytes;  /* at the graph's batch; as struct fr_collective (plan/plan.h) counts them:
                      all_gather: the whole result; reduce_scatter: the whole input; all_reduce: the
                      tensor; all_to_all: what each rank has (of experts: the busiest one) */
    bool scales;   /* with the batch */
    bool is_step;  /* one step around a ring: bytes are what each rank sends to the next */
};

struct fr__sharded {
    struct fr_graph *graph; /* one rank's */
    const uint32_t *from;   /* [n_ops] op of the given graph; for an added op the one whose tensor
                               it moves; never FR_NONE. Sums belong to the layer of that op,
                               what is gathered, sliced or exchanged to that of its first reader,
                               and so do their `forward` */
    size_t n_comms;
    const struct fr__comm *comms; /* in graph order */
    const uint32_t *comm_of;      /* [n_ops] index into comms; FR_NONE */
    /* [n_ops] of forward ops with parameters: bit a set: its gradient is partial over axis a and
     * has to be summed there once a step (norms under sequence parallelism, everything under
     * context parallelism, replicated key and value heads). 0 for what belongs to an expert (see
     * divided). */
    const uint32_t *partial;
    /* [n_ops] of forward ops with parameters: bit a set: they are split over the axis. Bit
     * FR__AXIS_EXPERTS: they belong to an expert, and their gradient is summed over the ranks that
     * hold the same experts, wherever on the mesh. Bit FR__AXIS_EXPERT_TENSOR: split over etp. */
    const uint32_t *divided;
    /* [n_ops] of forward ops with parameters: how many ranks of an axis hold the same part (1:
     * none; heads of keys and values that are fewer than the ranks). Where bit a of divided and of
     * partial are both set, the gradient is summed in groups of so many neighbours along axis a. */
    const uint32_t *replicas;
    /* [n_ops] chosen splits, for explanations: split[a * n_ops + o], forward ops */
    const uint8_t *split;
    void *priv;
};

struct fr__shard_problem {
    const struct fr_graph *graph;      /* a training graph */
    size_t n_axes;                     /* at most 7 */
    const struct fr__shard_axis *axes; /* all of size 1: the graph is copied as it is */
    struct fr__shard_experts experts;
};

/* Experts of the graph's first layer of experts; 0: it has none. */
uint32_t fr__shard_n_experts(const struct fr_graph *g);

/* FR_EUSAGE: an op cannot be split so (named, with the reason and the sizes that would do);
 * FR_ENOMEM; *out untouched. O(ops + edges) times axes. */
enum fr_status fr__shard(struct fr__sharded *out, const struct fr__shard_problem *in,
                         struct fr_error *err);
void fr__sharded_free(struct fr__sharded *s); /* the graph too, unless it was taken (set NULL) */

/* ---- annotations ---- */

/* Splits by structure as Megatron-LM has them (M. Shoeybi et al., 2019): products are split by
 * columns where what reads their columns leads to products only, and those by depth; the embedding
 * and the head by vocabulary. What stands between, attention and the loss too, follows. Experts'
 * products and the steps of recurrences are left to be derived. split: [n_ops]. vocab_parallel
 * false: the embedding and the head are whole. FR_ENOMEM. */
enum fr_status fr__shard_megatron(const struct fr_graph *g, bool vocab_parallel, uint8_t split[],
                                  struct fr_error *err);
/* Context parallelism: the embeddings by positions, and all that reads them follows. Attention
 * gathers keys and values, or all ranks exchange positions for heads in front of it and back behind
 * it (S. A. Jacobs et al., DeepSpeed Ulysses, 2023). Of a causal mask each rank has the same share
 * (rank i of c: the chunks i and 2c-1-i of 2c). split: [n_ops]. */
enum fr__context { FR__CONTEXT_GATHER, FR__CONTEXT_HEADS };
void fr__shard_context(const struct fr_graph *g, enum fr__context how, uint8_t split[]);
/* A user's file: CSV with the columns op,axis,placement. op: a pattern for names of forward ops
 * ('*' any characters, '?' one); placement: R, P or S(dimension) of the op's first output, or a
 * split's name. The last line that matches an op counts. split: [n_axes][n_ops], FR__SPLIT_DERIVED
 * where no line says it; untouched on failure. FR_EPARSE, FR_EUSAGE with line and column; FR_EIO,
 * FR_ENOMEM. O(lines * ops). */
enum fr_status fr__shard_read(const char *path, const struct fr_graph *g, const char *const axes[],
                              size_t n_axes, uint8_t *const split[], struct fr_error *err);
/* The same from memory; name stands for the path in messages. */
enum fr_status fr__shard_read_text(const char *text, size_t len, const char *name,
                                   const struct fr_graph *g, const char *const axes[],
                                   size_t n_axes, uint8_t *const split[], struct fr_error *err);
#endif
