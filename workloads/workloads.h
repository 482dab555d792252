/* workloads/workloads.h - what is trained: a graph of ops, one training step long.
 *
 * A training graph holds forward, backward and update ops. An op reads tensors (its in-edges) and
 * writes tensors (its outputs). Everything is stated at the graph's batch; what "scales" is
 * proportional to the batch, the rest is fixed (parameters, updates).
 *
 * A tensor that a backward op reads is an activation that stays alive until then: there is no
 * other rule for activation memory. So the edges from forward to backward ops are the
 * saved-for-backward list.
 */
#ifndef FORERUN_WORKLOADS_H
#define FORERUN_WORKLOADS_H

#include "base/base.h"
#include "topo/topo.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_phase {
    FR_PHASE_INPUT,
    FR_PHASE_FORWARD,
    FR_PHASE_BACKWARD_DATA,
    FR_PHASE_BACKWARD_WEIGHT,
    FR_PHASE_UPDATE,
    FR_N_PHASES
};

/* clang-format off */
/* All op kinds: FR_OP_<first>, written <second> in files. */
#define FR_OP_KINDS(X)                                                                             \
    X(INPUT, "input", UNKNOWN) X(CONV2D, "conv2d", CONV) X(MATMUL, "matmul", PRODUCT)              \
    X(BATCH_MATMUL, "batch_matmul", PRODUCT) X(BIAS, "bias", ELEMENTS) X(RELU, "relu", ELEMENTS)   \
    X(GELU, "gelu", ELEMENTS) X(SILU, "silu", ELEMENTS) X(TANH, "tanh", ELEMENTS)                  \
    X(SIGMOID, "sigmoid", ELEMENTS) X(SOFTMAX, "softmax", ROWS)                                    \
    X(LOG_SOFTMAX, "log_softmax", ROWS) X(DROPOUT, "dropout", ELEMENTS) X(ADD, "add", ELEMENTS)    \
    X(MUL, "mul", ELEMENTS) X(SCALE, "scale", ELEMENTS) X(MASK, "mask", ELEMENTS)                  \
    X(BATCHNORM, "batchnorm", ELEMENTS) X(LAYERNORM, "layernorm", ROWS)                            \
    X(RMSNORM, "rmsnorm", ROWS) X(MAXPOOL, "maxpool", POOL) X(AVGPOOL, "avgpool", POOL)            \
    X(EMBEDDING, "embedding", EMBEDDING) X(LSTM, "lstm", UNKNOWN)                                  \
    X(ATTENTION, "attention", ATTENTION) X(CONCAT, "concat", UNKNOWN) X(SPLIT, "split", UNKNOWN)   \
    X(RESHAPE, "reshape", UNKNOWN) X(TRANSPOSE, "transpose", UNKNOWN) X(LOSS, "loss", ROWS)        \
    X(CAST, "cast", ELEMENTS) X(GRAD_ADD, "grad_add", ELEMENTS) X(UPDATE, "update", ELEMENTS)      \
    X(ROTARY, "rotary", ELEMENTS) X(GATHER, "gather", ROWS) X(SCATTER, "scatter", ROWS)            \
    X(TOPK, "topk", ROWS) X(ALL_REDUCE, "all_reduce", UNKNOWN)                                     \
    X(ALL_GATHER, "all_gather", UNKNOWN) X(REDUCE_SCATTER, "reduce_scatter", UNKNOWN)              \
    X(ALL_TO_ALL, "all_to_all", UNKNOWN) X(SLICE, "slice", UNKNOWN) X(LAYER, "layer", UNKNOWN)     \
    X(CONV1D, "conv1d", ELEMENTS) X(SCAN, "scan", UNKNOWN) X(OTHER, "other", UNKNOWN)
/* clang-format on */

#define FR_OP_ENUM(name, text, shape) FR_OP_##name,
enum fr_op_kind { FR_OP_KINDS(FR_OP_ENUM) FR_N_OP_KINDS };
#undef FR_OP_ENUM

const char *fr_op_kind_name(enum fr_op_kind kind);
enum fr_op_kind fr_op_kind_parse(const char *name); /* FR_N_OP_KINDS: unknown */
/* Whether such an op is a message between the ranks of a sharded graph (workloads/passes/shard.h):
 * it has no FLOPs and no memory traffic of its own. A slice is none: it takes a rank's part of a
 * tensor that the rank has. */
bool fr_op_kind_is_message(enum fr_op_kind kind);
/* Whether ops of the kind are matrix products, or mostly so: what GPUs have matrix units for. */
bool fr_op_kind_is_product(enum fr_op_kind kind);
const char *fr_phase_name(enum fr_phase phase); /* "forward", "backward-data", ... */
enum fr_phase fr_phase_parse(const char *name); /* FR_N_PHASES: unknown */

#define FR_MAX_DIMS 6

struct fr_tensor {
    uint64_t bytes;             /* at the graph's batch */
    uint32_t op;                /* who writes it */
    uint32_t alias;             /* tensor whose storage it shares (in place, view), or FR_NONE */
    uint32_t dims[FR_MAX_DIMS]; /* [n_dims]; empty when not known */
    uint8_t n_dims;
    uint8_t split_mask; /* bit d: dimension d may be split over devices (bit 0: the batch) */
    bool scales;        /* bytes are proportional to the batch */
};

/* ---- what an op works on ---- */

/* Which sizes a shape has; the op's kind says it (fr_shape_class_of). */
enum fr_shape_class {
    FR_SHAPE_UNKNOWN, /* copies, views, inputs, whole layers; and ops that never had a shape */
    FR_SHAPE_PRODUCT,
    FR_SHAPE_CONV,
    FR_SHAPE_POOL,
    FR_SHAPE_ATTENTION,
    FR_SHAPE_ROWS,
    FR_SHAPE_EMBEDDING,
    FR_SHAPE_ELEMENTS,
    FR_N_SHAPE_CLASSES
};

/* What a matrix product gives: the result, or the gradient of one of its operands. */
enum fr_operand { FR_OPERAND_NONE, FR_OPERAND_LEFT, FR_OPERAND_RIGHT, FR_N_OPERANDS };

/* The sizes of an op, at the graph's batch. A backward op has those of its forward op, so that one
 * decision (half of the columns, a fourth of the heads) divides the same size in all ops that
 * derive from it. One exception: where one op adds up what several forward ops give (the weight
 * gradient of a recurrent layer), its samples are those of all of them. All at least 1 but for
 * paddings. */
struct fr_shape {
    enum fr_shape_class of;
    union {
        /* `batch` products of [rows][depth] and [depth][columns]. matmul: the samples are in the
         * rows; batch_matmul: in the batch. */
        struct {
            uint64_t batch, rows, columns, depth;
            enum fr_operand gradient_of; /* FR_OPERAND_NONE: the product itself */
            bool is_transposed;          /* the right operand is stored as [columns][depth] */
            uint64_t epilogue; /* bytes that ops fused behind it move beside operands and result */
            bool is_wide;      /* of fp8 training: a linear layer whose operands keep 16 bits */
        } product;
        struct {
            uint64_t images, in_channels, out_channels, groups; /* groups divide both channels */
            uint64_t in_height, in_width, out_height, out_width;
            uint64_t filter_height, filter_width, stride_height, stride_width;
            uint64_t pad_height, pad_width; /* on each side */
            uint64_t dilation_height, dilation_width;
        } conv;
        struct {
            uint64_t images, channels;
            uint64_t in_height, in_width, out_height, out_width;
            uint64_t window_height, window_width, stride_height, stride_width;
            uint64_t pad_height, pad_width;
        } pool;
        /* Fused attention. kv_heads divides heads: so many have keys and values of their own. */
        struct {
            uint64_t batch, heads, kv_heads, head_width, query_len, key_len;
            bool is_causal;       /* a query sees the keys up to its own position */
            uint64_t generation;  /* of FlashAttention: 1, 2, 3; 0: the newest for the device */
            bool is_8_bit;        /* of fp8 training: operands of 8 bits, not of 16 */
            uint64_t value_width; /* of a head's values; 0: head_width */
            uint64_t window;      /* a query sees so many neighbours at most; 0: all */
            bool is_chunked;      /* of its own piece of `window` positions only */
        } attention;
        /* Softmax and norms work on each row by itself. A loss: the classes of each row. gather,
         * scatter: the rows that are copied or added up. topk: the candidates of each row. */
        struct {
            uint64_t rows, columns;
        } rows;
        struct {
            uint64_t rows, width,
                vocabulary; /* rows that are looked up; of a table of `vocabulary` */
        } embedding;
        /* Elementwise ops, batch norms (one mean a channel), sums of gradients, updates. Images:
         * positions are pixels; scores: channels are heads; sequences: channels are the width;
         * parameters: all are channels. */
        struct {
            uint64_t batch, channels, positions;
        } elements;
    };
};

enum fr_shape_class fr_shape_class_of(enum fr_op_kind kind);
const char *fr_shape_class_name(enum fr_shape_class c); /* "product"; "unknown" */
/* The sizes as ops.csv has them, "rows=32;columns=256;...", without those that have their
 * default. Cut off at n - 1 bytes; FR_SHAPE_TEXT is enough for any shape. "" where the shape is not
 * known. Returns text. */
enum { FR_SHAPE_TEXT = 640 };
const char *fr_shape_format(const struct fr_shape *shape, char *text, size_t n);

/* How parameters that are not trained are stored: as the graph's are, or in 4 bits (T. Dettmers et
 * al., QLoRA, 2023, section 3): NF4 with an fp32 constant for each block of 64, or with constants
 * that are quantised in turn, to 8 bits with an fp32 constant for each 256 of them. */
enum fr_packing { FR_PACK_NONE, FR_PACK_NF4, FR_PACK_NF4_DOUBLE, FR_N_PACKINGS };
const char *fr_packing_name(enum fr_packing packing); /* "none", "nf4", "nf4-double" */
enum fr_packing fr_packing_parse(const char *name);   /* FR_N_PACKINGS: unknown */

struct fr_graph;

struct fr_op {
    const char *name;         /* begins with the layer's name */
    struct fr_loc loc;        /* where it was read, or zero */
    double flops;             /* 2 per multiply-add */
    double bytes;             /* memory traffic: tensors read and written, without parameters */
    uint64_t param_bytes;     /* parameters it owns (forward) or reads and writes (others): traffic
                              that does not scale; owned only where phase is forward */
    uint64_t workspace_bytes; /* scratch while it runs */
    enum fr_op_kind kind;
    enum fr_phase phase;
    uint32_t layer;   /* dense number of the layer, in forward order */
    uint32_t forward; /* the forward op it derives from; itself for forward ops; FR_NONE */
    uint32_t first_tensor, n_tensors; /* its outputs */
    uint32_t n_params;       /* parameter tensors it owns (weight, bias: 2), forward only */
    bool scales;             /* flops and bytes are proportional to the batch */
    bool is_in_place;        /* its output reuses its first input's storage */
    bool is_recomputed;      /* runs its forward op again for the backward pass; phase is
                           backward-data */
    bool is_frozen;          /* its parameters are not trained: no gradient, no update */
    bool is_adapter;         /* of LoRA: it works beside a frozen layer and is added to it */
    enum fr_packing packing; /* how its parameters are stored; param_bytes are those of the graph's
                                format all the same */
    struct fr_shape shape;
};

/* Bytes of the op's parameters as they are stored. */
uint64_t fr_op_stored_bytes(const struct fr_graph *g, const struct fr_op *op);
/* Whether it does what a forward op does: it is one, or it runs one again. */
bool fr_op_runs_forward(const struct fr_op *op);
/* FLOPs of an op by its shape: of products, convolutions and fused attention, forward or backward.
 * 0: the shape does not say. */
double fr_op_shape_flops(const struct fr_op *op);
/* Of fused attention: how many keys a query sees on average, and numbers of a head's values. */
double fr_shape_keys(const struct fr_shape *shape);
uint64_t fr_shape_value_width(const struct fr_shape *shape);

/* src's tensor is read by dst. bytes: what must move when the two stand on different devices (the
 * tensor's size unless only a part is read). tensor FR_NONE, bytes 0: order only. tensor FR_NONE
 * and bytes: no dependency, but tied weights (fr_graph_builder_tie): forward op dst uses the
 * parameters that forward op src owns, and bytes is their size. */
struct fr_edge {
    uint32_t src, dst, tensor;
    uint64_t bytes;
};

/* One measured sample. device: a device type's name, or "*": nobody says which. */
struct fr_sample {
    uint32_t op;
    const char *device;
    uint32_t batch;
    double time_s;
};

/* How the numbers of images lie in memory: channel by channel (NCHW), or pixel by pixel (NHWC), in
 * which matrix units take them. Default: as what convolutions cost was measured. */
enum fr_image_layout { FR_LAYOUT_DEFAULT, FR_LAYOUT_NCHW, FR_LAYOUT_NHWC, FR_N_LAYOUTS };
const char *fr_image_layout_name(enum fr_image_layout layout); /* "default", "nchw", "nhwc" */
enum fr_image_layout fr_image_layout_parse(const char *name);  /* FR_N_LAYOUTS: unknown */

/* A number-format recipe: workloads/graph/formats.h. */
struct fr_formats;

/* Read-only once made. Ops are in a topological order. */
struct fr_graph {
    const char *name, *source;
    uint32_t batch;      /* samples a step, everything below is at this batch */
    uint32_t seq_len;    /* 0: not a sequence model */
    enum fr_dtype dtype; /* of activations and arithmetic */
    /* How operands of 8 or 4 bits are made. NULL: their casts cost nothing, and what is saved
     * has 16 bits */
    const struct fr_formats *formats;
    enum fr_image_layout layout; /* of images */
    unsigned param_elem_bytes;   /* bytes of one parameter element as stored in param_bytes */
    bool is_tasks; /* a task graph: its times are given, not measured, and those of device "*" hold
                      on every device that has none of its own */
    size_t n_ops, n_tensors, n_edges, n_samples, n_layers;
    const struct fr_op *ops;
    const struct fr_tensor *tensors;     /* grouped by op */
    const struct fr_edge *edges;         /* sorted by (src, dst, tensor) */
    const uint32_t *out_first;           /* [n_ops + 1]: edges of src o are out_first[o] .. */
    const uint32_t *in_first, *in_edges; /* [n_ops + 1], [n_edges]: edges into o, by edge index */
    const struct fr_sample *samples;     /* sorted by (op, device, batch) */
    const char *const *layer_names;      /* [n_layers] */
    void *priv;
};

struct fr_workload_options {
    uint32_t batch;                   /* 0: the workload's own */
    uint32_t seq_len;                 /* 0: the model's own */
    enum fr_dtype dtype;              /* FR_N_DTYPES: the workload's own */
    const struct fr_formats *formats; /* of that dtype, copied; NULL: none */
    uint32_t image_size;              /* side of square images in pixels; 0: the model's own */
    const char
        *profile_device; /* device type of the measured times that name none; NULL: not known */
    bool is_tf1;      /* models of the zoo: ops as TensorFlow 1 runs them, workloads/zoo/nn_tf1.h */
    unsigned fusions; /* bit 1 << f for each fr_fusion that the training graph goes through */
    enum fr_image_layout layout; /* of images; default: the workload's own */
    const char *tune; /* what of it is trained and how (workloads/passes/tune.h): "lora:rank=16";
                         NULL: all */
};

/* Loads a training graph: a zoo model ("vgg19", "gpt:layers=2,hidden=64,heads=2,seq=16,vocab=100"),
 * a native folder, or a file that an importer recognises. A profile keeps its own batch; the
 * strategies rescale. The caller frees the graph. */
enum fr_status fr_workload_load(struct fr_graph **out, const char *spec,
                                const struct fr_workload_options *opt, struct fr_error *err);
void fr_graph_free(struct fr_graph *g);

/* Which model of the zoo a spec asks for: itself, or the model that a config.json describes. NULL:
 * another file or folder. */
const char *fr_workload_model(const char *spec);

/* A model's name, or the pattern of many ("wresnet-L-W"); NULL past the end. */
const char *fr_zoo_name(size_t i);
const char *fr_zoo_summary(size_t i);
const char *fr_zoo_group(size_t i); /* what kind of model; those of one group follow each other */

/* ---- fusions: several ops as one kernel; workloads/passes/fuse.h says which and how ---- */

enum fr_fusion {
    FR_FUSE_BIAS_ACTIVATION,
    FR_FUSE_GATED_ACTIVATION,
    FR_FUSE_DROPOUT_ADD,
    FR_FUSE_ACTIVATION_DROPOUT,
    FR_FUSE_SOFTMAX,
    FR_FUSE_BATCHNORM,
    FR_FUSE_PRODUCT_BIAS,
    FR_FUSE_PRODUCT_EPILOGUE,
    FR_FUSE_XLA,
    FR_FUSE_INDUCTOR,
    FR_FUSE_SMALL_OPS,   /* none: what an op is in a framework that fuses nothing */
    FR_FUSE_TORCH_NORMS, /* none: RMS norm and rotary positions as PyTorch models write them */
    FR_FUSE_TORCH_GELU,  /* none: GELU as PyTorch models of GPT-2 write it */
    FR_N_FUSIONS
};

const char *fr_fusion_name(enum fr_fusion f);    /* "bias-activation" */
const char *fr_fusion_summary(enum fr_fusion f); /* which ops become one */

/* What a fusion did to a graph: so many groups of ops became one op each. Ops and bytes are those
 * of the groups' forward and backward ops, before and after; bytes are memory traffic at the
 * graph's batch. */
struct fr_fusion_effect {
    size_t n_groups, ops_before, ops_after;
    double bytes_before, bytes_after;
};
/* All 0: the graph did not go through it, or nothing matched. */
struct fr_fusion_effect fr_graph_fusion_effect(const struct fr_graph *g, enum fr_fusion f);

/* Totals of a graph. forward_flops etc. at the graph's batch. */
struct fr_graph_totals {
    uint64_t params;         /* elements */
    uint64_t trained_params; /* of these, those that are trained */
    /* of these, those that a token meets: of experts as many as the router chooses, all else */
    uint64_t active_params;
    uint64_t param_bytes;
    uint64_t param_tensors;
    uint64_t saved_bytes; /* unique storages that backward ops read, parameters left out */
    /* by phase, without what runs again (workloads/passes/recompute.h) */
    double flops[FR_N_PHASES];
    size_t ops[FR_N_PHASES];
    double sample_s[FR_N_PHASES]; /* measured time by phase, 0 where there is none */
    double recomputed_flops, recomputed_sample_s;
    size_t recomputed_ops;
    /* Of the matrix products in the forward and backward pass (fr_op_kind_is_product), at the
     * graph's batch. The model's: what training needs; nothing counts that runs again, and the
     * backward pass of fused attention counts as twice the forward pass, though it computes the
     * scores once more. The hardware's: all of it (A. Chowdhery et al., PaLM, 2022, appendix B). */
    double model_flops, hardware_flops;
};
void fr_graph_totals(const struct fr_graph *g, struct fr_graph_totals *out);
/* Index of the first sample of an op >= op. Cost: O(log n_samples). */
size_t fr_graph_first_sample(const struct fr_graph *g, uint32_t op);

#define FR_MAX_LAYER_KINDS 8

/* The same for one layer; what is counted in both sums up to the graph's over all layers. */
struct fr_layer_totals {
    uint64_t params, param_bytes, param_tensors;
    uint64_t saved_bytes; /* of the storages that its ops fill first */
    double forward_flops, backward_flops;
    size_t n_ops;    /* forward ops and inputs */
    uint32_t output; /* tensor: the first output of the last of them; FR_NONE: there is none */
    /* [n_kinds]: what kinds they are of, in the order of their first ones; further ones are left
     * out */
    enum fr_op_kind kinds[FR_MAX_LAYER_KINDS];
    unsigned n_kinds;
};
/* out: [n_layers].  FR_ENOMEM: out untouched.  O(ops + edges). */
enum fr_status fr_graph_layer_totals(const struct fr_graph *g, struct fr_layer_totals out[],
                                     struct fr_error *err);

/* Reports everything odd (dangling outputs, zero-cost ops, forward ops without backward), one line
 * each; returns how many, SIZE_MAX when out of memory. Loading has already refused what is
 * wrong. */
size_t fr_graph_check(const struct fr_graph *g, void (*say)(void *user, const char *line),
                      void *user);

/* Writes the native folder (workload.yaml, ops.csv, edges.csv, times.csv); each file appears whole
 * or not at all. */
enum fr_status fr_graph_export(const struct fr_graph *g, const char *folder, struct fr_error *err);

/* A graph of one rank with a number-format recipe, and the ops that cast its operands
 * (workloads/passes/quantise.h), for units that take them by columns. The caller frees it. */
enum fr_status fr_graph_add_casts(const struct fr_graph *g, struct fr_graph **out,
                                  struct fr_error *err);

/* ---- building one by hand ---- */

struct fr_graph_builder;
struct fr_graph_builder *fr_graph_builder_new(void); /* NULL: out of memory */
void fr_graph_builder_free(struct fr_graph_builder *b);
/* Copies op (name too) and its outputs; tensor ids run on. op->first_tensor, n_tensors and layer
 * are set here; layer may be named, NULL: the op's name up to the last '.'. Returns the op's id,
 * FR_NONE when out of memory. alias in tensors is an id already given. */
uint32_t fr_graph_builder_op(struct fr_graph_builder *b, const struct fr_op *op, const char *layer,
                             const struct fr_tensor outputs[], size_t n_outputs);
/* dst depends on src. tensor FR_NONE: order only, and bytes is 0. */
void fr_graph_builder_edge(struct fr_graph_builder *b, uint32_t src, uint32_t dst, uint32_t tensor,
                           uint64_t bytes);
/* Forward op `user` uses the parameters that forward op `owner` owns (tied weights). */
void fr_graph_builder_tie(struct fr_graph_builder *b, uint32_t owner, uint32_t user);
void fr_graph_builder_sample(struct fr_graph_builder *b, uint32_t op, const char *device,
                             uint32_t batch, double time_s);
/* Checks (ids, cycles, duplicates), sorts the ops topologically (stable) and makes the graph.
 * info: name, source, batch, seq_len, dtype, param_elem_bytes are taken from it. */
enum fr_status fr_graph_builder_finish(struct fr_graph_builder *b, const struct fr_graph *info,
                                       struct fr_graph **out, struct fr_error *err);

/* Adds backward (data and weight gradients apart), gradient sums where an output is read more than
 * once, and update ops to a forward graph. workloads/passes/training.c says which ops these are and
 * how they are named, training_rules.c has the rule of each kind. */
enum fr_status fr_graph_expand_training(const struct fr_graph *forward, struct fr_graph **out,
                                        struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
