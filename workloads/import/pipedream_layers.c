/* workloads/import/pipedream_layers.c - what the description of a profiled layer tells.
 *
 * Descriptions are PyTorch's repr of a module, "Linear(in_features=9216, out_features=4096,
 * bias=True)"; sizes are of 4-byte floats (PipeDream profiles in fp32).
 */
#include "config.h"

#include "workloads/import/pipedream.h"

#include "base/units.h"

#include <string.h>

enum { ELEM_BYTES = 4 };

static const struct {
    const char *word;
    enum fr_op_kind kind;
    enum fr__profile_role role;
} words[] = {
    {"Conv2d", FR_OP_CONV2D, FR__PROFILE_LAYER},
    {"Linear", FR_OP_MATMUL, FR__PROFILE_LAYER},
    {"LSTM", FR_OP_LSTM, FR__PROFILE_LAYER},
    {"Embedding", FR_OP_EMBEDDING, FR__PROFILE_LAYER},
    {"BatchNorm2d", FR_OP_BATCHNORM, FR__PROFILE_LAYER},
    {"LayerNorm", FR_OP_LAYERNORM, FR__PROFILE_LAYER},
    {"ReLU", FR_OP_RELU, FR__PROFILE_LAYER},
    {"Sigmoid", FR_OP_SIGMOID, FR__PROFILE_LAYER},
    {"Tanh", FR_OP_TANH, FR__PROFILE_LAYER},
    {"Softmax", FR_OP_SOFTMAX, FR__PROFILE_LAYER},
    {"LogSoftmax", FR_OP_LOG_SOFTMAX, FR__PROFILE_LAYER},
    {"Dropout", FR_OP_DROPOUT, FR__PROFILE_LAYER},
    {"MaxPool2d", FR_OP_MAXPOOL, FR__PROFILE_LAYER},
    {"AvgPool2d", FR_OP_AVGPOOL, FR__PROFILE_LAYER},
    {"AdaptiveAvgPool2d", FR_OP_AVGPOOL, FR__PROFILE_LAYER},
    {"Add", FR_OP_ADD, FR__PROFILE_LAYER},
    {"Concat", FR_OP_CONCAT, FR__PROFILE_LAYER},
    {"__getitem__", FR_OP_SPLIT, FR__PROFILE_VIEW},
    {"View", FR_OP_RESHAPE, FR__PROFILE_VIEW},
    {"Size", FR_OP_OTHER, FR__PROFILE_NUMBER},
    {"hidden", FR_OP_OTHER, FR__PROFILE_LAYER},
};

void fr__profile_classify(struct fr__profile_node *node)
{
    size_t len = strcspn(node->desc, "( ");

    node->kind = FR_OP_LAYER;
    node->role = FR__PROFILE_LAYER;
    /* "Input", "Input0", ...: what PipeDream's optimizer takes for inputs too */
    if (strncmp(node->desc, "Input", 5) == 0) {
        node->kind = FR_OP_INPUT;
        node->role = FR__PROFILE_INPUT;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == len && memcmp(node->desc, words[i].word, len) == 0) {
            node->kind = words[i].kind;
            node->role = words[i].role;
        }
}

bool fr__profile_is_in_place(const struct fr__profile_node *node)
{
    return strstr(node->desc, "inplace") && !strstr(node->desc, "inplace=False");
}

/* The count that starts at text, up to nine digits; 0 when there is none. */
static uint32_t count_at(const char *text)
{
    char digits[10];
    size_t len = strspn(text, "0123456789");
    uint64_t x;

    if (len == 0 || len >= sizeof(digits))
        return 0;
    memcpy(digits, text, len);
    digits[len] = '\0';
    if (fr__parse_count(digits, "count", (struct fr_loc){0}, 0, UINT32_MAX, &x, NULL) != FR_OK)
        return 0;
    return (uint32_t)x;
}

/* The count after `key` ("stride=(", first of a pair), or fallback when the key is not there. */
static uint32_t count_after(const char *desc, const char *key, uint32_t fallback)
{
    const char *at = strstr(desc, key);

    return at ? count_at(at + strlen(key)) : fallback;
}

uint32_t fr__profile_item(const struct fr__profile_node *node)
{
    return count_after(node->desc, "__getitem__(", 0);
}

/* Size of the last dimension of what the layer writes, 0 when the description does not tell. */
static uint32_t n_features(const struct fr__profile_node *node)
{
    if (node->kind == FR_OP_CONV2D || node->kind == FR_OP_LSTM)
        return count_after(node->desc, ", ", 0);
    if (node->kind == FR_OP_MATMUL)
        return count_after(node->desc, "out_features=", 0);
    return 0;
}

/* A square image of one of the usual sizes that explains both the bytes of the input and the bytes
 * after the first convolution: input = batch * in * side^2 * 4 and output = batch * out * side'^2 *
 * 4, side' = (side + 2 * padding - kernel) / stride + 1. 224, 299 and 331 are the sizes of ImageNet
 * models, 32 that of CIFAR. Returns the batch, 0 when none fits. */
static uint32_t image_batch(const struct fr__profile_node *conv, uint64_t in_bytes,
                            uint64_t out_bytes)
{
    static const uint32_t sides[] = {224, 299, 331, 32};
    uint64_t in = count_after(conv->desc, "Conv2d(", 0), out = n_features(conv);
    uint64_t kernel = count_after(conv->desc, "kernel_size=(", 0);
    uint64_t stride = count_after(conv->desc, "stride=(", 1);
    uint64_t padding = count_after(conv->desc, "padding=(", 0);

    if (in == 0 || in > 4096 || out == 0 || out > 65536 || kernel == 0 || kernel > 32 ||
        stride == 0 || padding > 32 || in_bytes == 0)
        return 0;
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        uint64_t side = sides[i], image_bytes = in * side * side * ELEM_BYTES;
        uint64_t after = (side + 2 * padding - kernel) / stride + 1;
        uint64_t batch = in_bytes / image_bytes;

        if (in_bytes % image_bytes == 0 && batch <= UINT32_C(1) << 20 &&
            batch * out * after * after * ELEM_BYTES == out_bytes)
            return (uint32_t)batch;
    }
    return 0;
}

static bool infer_from_image(const struct fr__profile *p, struct fr__profile_shape *out)
{
    for (size_t v = 0; v < p->n_nodes; v++)
        for (uint32_t i = p->in_first[v]; i < p->in_first[v + 1]; i++) {
            const struct fr__profile_node *conv = &p->nodes[v], *in = &p->nodes[p->in_src[i]];

            if (conv->kind != FR_OP_CONV2D || in->role != FR__PROFILE_INPUT)
                continue;
            out->batch = image_batch(conv, p->sizes[in->first_size], p->sizes[conv->first_size]);
            if (out->batch)
                return true;
        }
    return false;
}

/* An LSTM writes [all steps; last hidden state; last cell state]: a state is batch * hidden * 4
 * bytes, all steps together seq_len times as much. */
static bool infer_from_lstm(const struct fr__profile *p, struct fr__profile_shape *out)
{
    for (size_t v = 0; v < p->n_nodes; v++) {
        const uint64_t *sizes = &p->sizes[p->nodes[v].first_size];
        uint64_t sample_bytes;

        if (p->nodes[v].kind != FR_OP_LSTM || p->nodes[v].n_sizes != 3 || sizes[1] != sizes[2])
            continue;
        sample_bytes = (uint64_t)ELEM_BYTES * n_features(&p->nodes[v]);
        if (sample_bytes == 0 || sizes[1] == 0 || sizes[1] % sample_bytes || sizes[0] % sizes[1] ||
            sizes[1] / sample_bytes > UINT32_C(1) << 20 || sizes[0] / sizes[1] > UINT32_C(1) << 20)
            continue;
        out->batch = (uint32_t)(sizes[1] / sample_bytes);
        out->seq_len = (uint32_t)(sizes[0] / sizes[1]);
        return true;
    }
    return false;
}

void fr__profile_infer(const struct fr__profile *p, struct fr__profile_shape *out)
{
    enum { USUAL_BATCH = 64 }; /* per GPU, most models of the PipeDream paper (SOSP 2019) */

    *out = (struct fr__profile_shape){0};
    if (infer_from_image(p, out) || infer_from_lstm(p, out))
        return;
    out->batch = USUAL_BATCH;
    out->is_batch_assumed = true;
}

double fr__profile_flops(const struct fr__profile *p, const struct fr__profile_node *node,
                         const struct fr__profile_shape *shape)
{
    uint64_t n_out = p->sizes[node->first_size] / ELEM_BYTES;
    uint64_t weights = node->param_bytes / ELEM_BYTES, features = n_features(node), biases;

    /* a composed layer of a sequence model: one matrix product a token with all its parameters */
    if (node->kind == FR_OP_LAYER)
        return 2.0 * (double)weights * shape->batch * shape->seq_len;
    if (features == 0)
        return 0;
    biases = strstr(node->desc, "bias=False") ? 0 : features;
    if (node->kind == FR_OP_LSTM)
        biases *= 8; /* of four gates, for the input and for the state */
    return weights > biases ? 2.0 * (double)(weights - biases) * (double)(n_out / features) : 0;
}

uint32_t fr__profile_n_params(const struct fr__profile_node *node)
{
    bool has_bias = !strstr(node->desc, "bias=False");

    if (node->param_bytes == 0)
        return 0;
    switch (node->kind) {
    case FR_OP_CONV2D:
    case FR_OP_MATMUL:
        return has_bias ? 2 : 1;
    case FR_OP_BATCHNORM:
    case FR_OP_LAYERNORM:
        return 2;
    case FR_OP_LSTM:
        return has_bias ? 4 : 2;
    default:
        return 1;
    }
}
