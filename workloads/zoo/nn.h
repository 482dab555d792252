/* workloads/zoo/nn.h - a forward graph written down op by op, as a framework would run it.
 *
 * A model file holds an fr__net and calls one function for each op. The function takes the values
 * that the op reads, computes shape, FLOPs and bytes, and returns the value that it writes. What an
 * op keeps for its backward is not said here but in workloads/passes/training_rules.c, one rule for
 * each kind.
 *
 * FLOPs: 2 per multiply-add of a convolution or matrix product; other ops count the arithmetic of
 * their formula per element (the table in nn.c). Bytes: each input read once, each output written
 * once; parameters apart. Images are [batch, channels, height, width], sequences
 * [batch, seq, hidden], attention scores [batch, heads, seq, seq].
 *
 * The net keeps its first fault (out of memory, a tensor too large, a window that does not fit),
 * and fr__nn_finish reports it. Until then the functions carry on; what they return means nothing.
 */
#ifndef FR_WORKLOADS_ZOO_NN_H
#define FR_WORKLOADS_ZOO_NN_H

#include "base/error.h"
#include "workloads/workloads.h"

struct fr__net {
    struct fr_graph_builder *b;
    uint32_t batch, seq_len;  /* seq_len 0: no sequence model */
    uint32_t image_size;      /* side of the square images; 0: no images */
    enum fr_dtype dtype;      /* of its numbers */
    enum fr_dtype trained_in; /* FR_AMP: casts are added later, and dtype is FR_FP32 */
    unsigned elem_bytes;
    uint32_t n_ops, n_tensors;
    char layer[64];
    bool is_wide; /* linear layers that follow keep operands of 16 bits in fp8 training: output
                     layers and routers (fr__nn_wide) */
    bool is_tf1;  /* norms and GELU as TensorFlow 1 runs them: nn_tf1.h */
    bool has_float_masks; /* and dropout */
    bool is_too_large, is_out_of_memory;
    struct fr_error fault; /* the first of fr__nn_fault; code FR_OK: none */
};

/* A tensor and who writes it. */
struct fr__value {
    uint32_t op, tensor;
    struct fr_tensor t;
};

/* FR_ENOMEM. */
enum fr_status fr__nn_init(struct fr__net *net, uint32_t batch, uint32_t seq_len,
                           enum fr_dtype dtype, struct fr_error *err);
void fr__nn_fini(struct fr__net *net);
/* Makes the forward graph. FR_ERANGE: a tensor of over 2^53 bytes; what fr__nn_fault noted. */
enum fr_status fr__nn_finish(struct fr__net *net, const char *name, const char *source,
                             struct fr_graph **out, struct fr_error *err);

/* The layer of the ops that follow: "conv1_1", "layer3.attn". An op's name is the layer's, then a
 * '.' and its own; with the own name "" it is the layer's. */
void fr__nn_layer(struct fr__net *net, const char *fmt, ...) FR_PRINTF(2, 3);

/* What the data loader brings: token numbers (int64) [batch, seq]; images:
 * workloads/zoo/nn_image.h. */
struct fr__value fr__nn_tokens(struct fr__net *net);
/* The same under that name, [batch, n]. */
struct fr__value fr__nn_indices(struct fr__net *net, const char *name, uint32_t n);
/* Positions 0 .. seq-1 (int64), the same for all samples. */
struct fr__value fr__nn_positions(struct fr__net *net, const char *name);

/* Whether the linear layers that follow keep operands of 16 bits where the others of a step in fp8
 * have 8. So do the output layer and a router in Megatron-LM, whose output layer and router are not
 * Transformer Engine's modules, in torchtitan (float8 with filter_fqns "output" and "router.gate")
 * and in DeepSeek-V3 (2024, section 3.3.1). */
void fr__nn_wide(struct fr__net *net, bool is_wide);
/* No bias inside: that is an op of its own. An image is flattened first (a view, no op); a sequence
 * is multiplied row by row. */
struct fr__value fr__nn_linear(struct fr__net *net, const char *name, struct fr__value x,
                               uint32_t n_out);
/* x times the transposed table of an embedding, which stays its owner (tied weights). */
struct fr__value fr__nn_tied_linear(struct fr__net *net, const char *name, struct fr__value x,
                                    struct fr__value embedded, uint32_t n_rows);
struct fr__value fr__nn_bias(struct fr__net *net, const char *name, struct fr__value x);

struct fr__value fr__nn_batchnorm(struct fr__net *net, const char *name, struct fr__value x);
struct fr__value fr__nn_layernorm(struct fr__net *net, const char *name, struct fr__value x);
/* In place, as torchvision has it. */
struct fr__value fr__nn_relu(struct fr__net *net, const char *name, struct fr__value x);
/* The tanh form of GPT-2, as one kernel. */
struct fr__value fr__nn_gelu(struct fr__net *net, const char *name, struct fr__value x);
struct fr__value fr__nn_tanh(struct fr__net *net, const char *name, struct fr__value x);
struct fr__value fr__nn_dropout(struct fr__net *net, const char *name, struct fr__value x);

/* x + y; in_place: into x's storage. y may lack the batch: it is then the same for all samples. */
struct fr__value fr__nn_add(struct fr__net *net, const char *name, struct fr__value x,
                            struct fr__value y, bool in_place);
/* x times a number. */
struct fr__value fr__nn_scale(struct fr__net *net, const char *name, struct fr__value x);
/* x where a constant mask is set, else minus infinity. */
struct fr__value fr__nn_mask(struct fr__net *net, const char *name, struct fr__value x);
struct fr__value fr__nn_softmax(struct fr__net *net, const char *name, struct fr__value x);

/* Rows of a table [n_rows, width], one for each index. */
struct fr__value fr__nn_embedding(struct fr__net *net, const char *name, struct fr__value indices,
                                  uint32_t n_rows, uint32_t width);
/* Looks rows up in the table of another embedding, which stays its owner. */
struct fr__value fr__nn_tied_embedding(struct fr__net *net, const char *name,
                                       struct fr__value indices, struct fr__value embedded,
                                       uint32_t n_rows);
/* a [batch, heads, m, k] times b, whose other extent is n, giving [batch, heads, m, n]. */
struct fr__value fr__nn_batch_matmul(struct fr__net *net, const char *name, struct fr__value a,
                                     struct fr__value b, uint32_t n);

/* Layer "loss": log-softmax over the last dimension, the targets (one int64 a row), and the
 * negative log-likelihood, whose mean is the scalar that training minimises; returns it. */
struct fr__value fr__nn_cross_entropy(struct fr__net *net, struct fr__value logits);
/* The same in a layer of that name, for a model with several losses. */
struct fr__value fr__nn_loss_of(struct fr__net *net, const char *layer, struct fr__value logits);
/* Several heads against the same targets, a loss each, in the layers of those names. [n] each. */
void fr__nn_losses_of(struct fr__net *net, const char *const layers[],
                      const struct fr__value logits[], size_t n);

/* ---- for building blocks in files of their own ---- */

/* An elementwise op that reads x and writes a tensor of its shape; ReLU does so in place. */
struct fr__value fr__nn_map(struct fr__net *net, const char *name, enum fr_op_kind kind,
                            struct fr__value x, double flops_per_element);

/* Notes what is wrong with the model as asked for (FR_ERANGE); the first one noted is reported. */
void fr__nn_fault(struct fr__net *net, const char *fmt, ...) FR_PRINTF(2, 3);

/* a times b, or the largest number with the fault noted in the net. */
uint64_t fr__nn_product(struct fr__net *net, uint64_t a, uint64_t b);
uint64_t fr__nn_elements(struct fr__net *net, const struct fr_tensor *t);
/* A tensor that scales with the batch, in a storage of its own. */
struct fr_tensor fr__nn_tensor(struct fr__net *net, unsigned elem_bytes, uint8_t n_dims,
                               const uint32_t dims[], uint8_t split_mask);
/* Like t, in a storage of its own, with elements of another size and other ways to split it. */
struct fr_tensor fr__nn_like(struct fr__net *net, const struct fr_tensor *t, unsigned elem_bytes,
                             uint8_t split_mask);

struct fr__op_spec {
    const char *name; /* after the layer's */
    enum fr_op_kind kind;
    double flops;
    double bytes;       /* traffic; 0: all inputs and outputs once */
    uint64_t n_weights; /* elements it owns, in n_params tensors */
    uint32_t n_params;
    bool is_input;         /* what the data loader brings: costs nothing */
    bool is_in_place;      /* its first output takes its first input's storage */
    bool is_view;          /* its outputs are parts of its input: costs nothing */
    struct fr_shape shape; /* unknown: what the first output says, of kinds where it says all */
};

/* rows of `depth` elements times a weight matrix, stored as [columns][depth] as PyTorch has it. */
struct fr_shape fr__shape_of_linear(uint64_t rows, uint64_t columns, uint64_t depth);

/* Adds an op that reads in[0 .. n_in) and writes out[0 .. n_out), whose alias is set as spec says.
 * Returns the first output; the number of its tensor runs on. */
struct fr__value fr__nn_op(struct fr__net *net, const struct fr__op_spec *spec,
                           const struct fr__value in[], size_t n_in, struct fr_tensor out[],
                           size_t n_out);
#endif
