/* workloads/passes/shard/rules.c - the table of loops, and which row an op follows.
 *
 * A layout has a letter for each dimension: b samples, s sequence, c columns, k depth, q the
 * sequence of packed queries, keys and values, . no loop that may be divided. A row lists the
 * layouts of an operand for each number of dimensions that it may have. '*' is the weights that a
 * cast has made: one dimension, which stands for columns and depth alike.
 */
#include "config.h"

#include "workloads/passes/shard/rules.h"

#include "workloads/graph/elements.h"

#include <string.h>

struct rule {
    const char *in;         /* the first input, and others where `second` is NULL */
    const char *second;     /* weights made by a cast; right operand; keys and values; indices */
    const char *out, *more; /* the first output; further ones (NULL: like the first) */
    const char *params;     /* loops that the parameters carry */
    const char *sums;       /* loops over which the first output is a sum */
    bool is_linear;
};

enum row {
    WHOLE,
    SAMPLES_ONLY,
    MATMUL,
    MATMUL_NARROW, /* [batch, seq, depth] to [batch, seq], one column */
    CONV,
    CONV_GROUPED,
    BATCH_MATMUL,
    ATTENTION,
    ATTENTION_PACKED,
    MAP,        /* elementwise */
    LINEAR_MAP, /* elementwise and linear */
    BIAS,
    CONV1D, /* depthwise over positions, which stay whole */
    SCAN,   /* a state a head runs over positions, which stay whole */
    NORM,
    NORM_OF_HEADS,  /* each head a row of its own */
    NORM_OF_GROUPS, /* with weights of its own for each group */
    SOFTMAX,
    LOG_SOFTMAX,
    BATCHNORM,
    MAXPOOL,
    AVGPOOL,
    EMBEDDING,
    LOSS,         /* of classes and targets: the sum over classes is made in messages of its own */
    SUM_LOSS,     /* of all elements */
    HEADS_FIRST,  /* [batch, seq, width] to [batch, heads, seq, width of a head] */
    HEADS_LAST,   /* and back */
    REPEAT_HEADS, /* [batch, heads, ...] to more heads */
    ONE_POSITION, /* [batch, seq, width] to [batch, width], one or more */
    ROWS_JOINED,  /* positions of several sequences, behind each other, and cut again */
    HEADS_JOINED, /* each head, and behind it one part that all heads share */
    STACK,        /* [batch, width], several, to [batch, seq, width] */
    VIEW,         /* the last dimension cut or joined behind a sequence, also into several */
    FLATTEN,      /* all dimensions behind the first joined or cut */
    GATHER,
    DISPATCH, /* tokens copied out to experts */
    COMBINE,
    TOPK,
    INDICES, /* whole numbers sorted, token by token */
    N_ROWS
};

static const struct rule rules[N_ROWS] = {
    [WHOLE] = {"", NULL, "", NULL, "", "", false},
    [SAMPLES_ONLY] = {"b b. b.. b... b....", NULL, "b b. b.. b... b....", NULL, "", "", false},
    [MATMUL] = {"bk bsk bk..", "*", "bc bsc", NULL, "ck", "k", true},
    [MATMUL_NARROW] = {"b..", "*", "b.", NULL, "", "", true},
    [CONV] = {"bk..", "*", "bc..", NULL, "ck", "k", true},
    [CONV_GROUPED] = {"b...", NULL, "b...", NULL, "", "", true},
    [BATCH_MATMUL] = {"b. b.. bcs.", "b. b.. bc..", "b. b.. bcs.", NULL, "", "", true},
    [ATTENTION] = {"bsc", "b.c", "bsc", "bcs", "c", "", false},
    [ATTENTION_PACKED] = {"bqc", NULL, "bsc", "bcs", "", "", false},
    [MAP] = {"c bc bsc bcs.", NULL, "c bc bsc bcs.", NULL, "c", "", false},
    [LINEAR_MAP] = {"c bc bsc bcs.", NULL, "c bc bsc bcs.", NULL, "c", "", true},
    [BIAS] = {"c bc bsc bcs.", NULL, "c bc bsc bcs.", NULL, "c", "", false},
    [CONV1D] = {"b.c", NULL, "b.c", NULL, "c", "", false},
    [SCAN] = {"b.c", NULL, "b.c", "b.c b.c.", "c", "", false},
    [NORM] = {"b. bs. bcs.", NULL, "b. bs. bcs.", "b bs bcs", "", "", false},
    [NORM_OF_HEADS] = {"bsc", NULL, "bsc", "bsc", "", "", false},
    [NORM_OF_GROUPS] = {"bsc", NULL, "bsc", "bsc", "c", "", false},
    [SOFTMAX] = {"b. bs. bcs.", NULL, "b. bs. bcs.", NULL, "", "", false},
    [LOG_SOFTMAX] = {"bk bsk bcs.", NULL, "bk bsk bcs.", NULL, "", "", false},
    [BATCHNORM] = {"bc bc. bc..", NULL, "bc bc. bc..", "c", "c", "", false},
    [MAXPOOL] = {"bc..", NULL, "bc..", NULL, "", "", false},
    [AVGPOOL] = {"bc..", NULL, "bc..", NULL, "", "", true},
    [EMBEDDING] = {"b bs", NULL, "bc bsc", NULL, "ck", "k", false},
    [LOSS] = {"bk bsk", "b bs", "", NULL, "", "bs", false},
    [SUM_LOSS] = {"bk bsk", NULL, "", NULL, "", "bsk", true},
    [HEADS_FIRST] = {"bsc", NULL, "bcs.", NULL, "", "", true},
    [HEADS_LAST] = {"bcs.", NULL, "bsc", NULL, "", "", true},
    [REPEAT_HEADS] = {"bcs.", NULL, "bcs.", NULL, "", "", true},
    [ONE_POSITION] = {"b.c", NULL, "bc", NULL, "", "", true},
    [ROWS_JOINED] = {"b.c", NULL, "b.c", NULL, "", "", true},
    [HEADS_JOINED] = {"bsc", "bs.", "bsc", NULL, "", "", true},
    [STACK] = {"bc", NULL, "b.c", NULL, "", "", true},
    [VIEW] = {"bc bsc bsc.", NULL, "bc bsc bsc.", NULL, "", "", true},
    [FLATTEN] = {"bc bc. bc..", NULL, "bc bc. bc..", NULL, "", "", true},
    [GATHER] = {"b.c", "bs", "bsc", NULL, "", "", true},
    [DISPATCH] = {"bsc", "bs.", "bsc", NULL, "", "", true},
    [COMBINE] = {"bsc", "bs.", "bsc", NULL, "", "", true},
    [TOPK] = {"bs.", NULL, "bs.", NULL, "", "", false},
    [INDICES] = {"bs.", NULL, "bs.", NULL, "", "", false},
};

/* ---- which row ---- */

static const struct fr_tensor *output(const struct fr_graph *g, uint32_t op)
{
    return g->ops[op].n_tensors ? &g->tensors[g->ops[op].first_tensor] : NULL;
}

/* The tensor of the n-th input that carries one; NULL. */
static const struct fr_tensor *input(const struct fr_graph *g, uint32_t op, uint32_t n)
{
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;

        if (t != FR_NONE && n-- == 0)
            return &g->tensors[t];
    }
    return NULL;
}

/* Whole numbers take 8 bytes each. */
static bool are_indices(const struct fr_tensor *t)
{
    double bytes = 8 * fr__tensor_elements(t);

    return t->n_dims > 0 && bytes >= (double)t->bytes && bytes <= (double)t->bytes;
}

static enum row row_of_transpose(const struct fr_tensor *x, const struct fr_tensor *y)
{
    if (x->n_dims == 3 && y->n_dims == 4 && x->dims[0] == y->dims[0] && x->dims[1] == y->dims[2])
        return HEADS_FIRST;
    if (x->n_dims == 4 && y->n_dims == 3 && x->dims[0] == y->dims[0] && x->dims[2] == y->dims[1])
        return HEADS_LAST;
    return x->n_dims > 0 && y->n_dims > 0 && x->dims[0] == y->dims[0] ? SAMPLES_ONLY : WHOLE;
}

static enum row row_of_split(const struct fr_tensor *x, const struct fr_tensor *y)
{
    if (x->n_dims == 3 && y->n_dims == 4)
        return row_of_transpose(x, y);
    if (x->n_dims == 3 && y->n_dims == 2 && x->dims[0] == y->dims[0] && x->dims[2] == y->dims[1])
        return ONE_POSITION;
    if (x->n_dims == 3 && y->n_dims == 3 && x->dims[0] == y->dims[0] && x->dims[1] == y->dims[1])
        return VIEW;
    if (x->n_dims == 3 && y->n_dims == 3 && x->dims[0] == y->dims[0] && x->dims[2] == y->dims[2])
        return ROWS_JOINED;
    return SAMPLES_ONLY;
}

static enum row row_of_concat(const struct fr_graph *g, uint32_t op, const struct fr_tensor *x,
                              const struct fr_tensor *y)
{
    if (x->n_dims == 2 && y->n_dims == 3)
        return STACK;
    if (x->n_dims == 4 && y->n_dims == 4 && !input(g, op, 1) && x->dims[2] == y->dims[2] &&
        x->dims[3] == y->dims[3])
        return REPEAT_HEADS;
    if (x->n_dims == 3 && y->n_dims == 3 && x->dims[1] == y->dims[1] && input(g, op, 1) &&
        input(g, op, 1)->n_dims == 3 && input(g, op, 1)->dims[1] == y->dims[1])
        return x->dims[2] + input(g, op, 1)->dims[2] == y->dims[2] ? VIEW : HEADS_JOINED;
    if (x->n_dims == 3 && y->n_dims == 3 && x->dims[2] == y->dims[2] && input(g, op, 1) &&
        input(g, op, 1)->n_dims == 3)
        return ROWS_JOINED;
    return SAMPLES_ONLY;
}

/* A view that keeps the dimensions in front of the last one of the shorter side. */
static enum row row_of_reshape(const struct fr_tensor *x, const struct fr_tensor *y)
{
    unsigned n = x->n_dims < y->n_dims ? x->n_dims : y->n_dims;

    if (n < 2 || x->dims[0] != y->dims[0])
        return n > 0 && x->dims[0] == y->dims[0] ? SAMPLES_ONLY : WHOLE;
    if (n == 2)
        return FLATTEN;
    return n == 3 && x->dims[1] == y->dims[1] && x->n_dims + y->n_dims <= 7 ? VIEW : SAMPLES_ONLY;
}

static enum row row_of_layouts(const struct fr_graph *g, uint32_t op, const struct fr_tensor *x,
                               const struct fr_tensor *y)
{
    switch (g->ops[op].kind) {
    case FR_OP_TRANSPOSE:
        return row_of_transpose(x, y);
    case FR_OP_SPLIT:
        return row_of_split(x, y);
    case FR_OP_CONCAT:
        return row_of_concat(g, op, x, y);
    case FR_OP_RESHAPE:
        return row_of_reshape(x, y);
    case FR_OP_GATHER:
        return g->ops[op].n_tensors > 1 ? DISPATCH : GATHER;
    case FR_OP_OTHER:
        return are_indices(x) && are_indices(y) ? INDICES : SAMPLES_ONLY;
    case FR_OP_MATMUL:
        return x->n_dims == 3 && y->n_dims == 2 ? MATMUL_NARROW : MATMUL;
    default:
        return WHOLE;
    }
}

static enum row row_of(const struct fr_graph *g, uint32_t op)
{
    static const unsigned char of_kind[FR_N_OP_KINDS] = {
        [FR_OP_BATCH_MATMUL] = BATCH_MATMUL,
        [FR_OP_BIAS] = BIAS,
        [FR_OP_RELU] = MAP,
        [FR_OP_GELU] = MAP,
        [FR_OP_SILU] = MAP,
        [FR_OP_TANH] = MAP,
        [FR_OP_SIGMOID] = MAP,
        [FR_OP_SOFTMAX] = SOFTMAX,
        [FR_OP_LOG_SOFTMAX] = LOG_SOFTMAX,
        [FR_OP_DROPOUT] = LINEAR_MAP,
        [FR_OP_ADD] = LINEAR_MAP,
        [FR_OP_MUL] = LINEAR_MAP,
        [FR_OP_SCALE] = LINEAR_MAP,
        [FR_OP_MASK] = MAP,
        [FR_OP_CAST] = LINEAR_MAP,
        [FR_OP_ROTARY] = LINEAR_MAP,
        [FR_OP_BATCHNORM] = BATCHNORM,
        [FR_OP_LAYERNORM] = NORM,
        [FR_OP_RMSNORM] = NORM,
        [FR_OP_MAXPOOL] = MAXPOOL,
        [FR_OP_AVGPOOL] = AVGPOOL,
        [FR_OP_EMBEDDING] = EMBEDDING,
        [FR_OP_LSTM] = SAMPLES_ONLY,
        [FR_OP_CONV1D] = CONV1D,
        [FR_OP_SCAN] = SCAN,
        [FR_OP_SCATTER] = COMBINE,
        [FR_OP_TOPK] = TOPK,
        [FR_OP_LAYER] = SAMPLES_ONLY,
    };
    const struct fr_tensor *x = input(g, op, 0), *y = output(g, op);
    const struct fr_op *o = &g->ops[op];

    if (o->kind == FR_OP_RMSNORM && x && x->n_dims == 3 && o->shape.of == FR_SHAPE_ROWS &&
        o->shape.rows.columns < x->dims[2])
        return o->param_bytes / g->param_elem_bytes < x->dims[2] ? NORM_OF_HEADS : NORM_OF_GROUPS;
    if (o->kind == FR_OP_ATTENTION)
        return input(g, op, 1) ? ATTENTION : ATTENTION_PACKED;
    if (o->kind == FR_OP_LOSS)
        return input(g, op, 1) ? LOSS : SUM_LOSS;
    if (o->kind == FR_OP_CONV2D)
        return o->shape.of == FR_SHAPE_CONV && o->shape.conv.groups > 1 ? CONV_GROUPED : CONV;
    if (of_kind[o->kind] != WHOLE || !x || !y)
        return (enum row)of_kind[o->kind];
    return row_of_layouts(g, op, x, y);
}

/* ---- which operand ---- */

/* The left operand has `rows` rows of `depth`. Edges do not say which operand they carry. Where
 * both could be it, it is the one that comes from weights of attention, else the first. */
static bool is_left(const struct fr_graph *g, uint32_t op, uint32_t at)
{
    const struct fr_shape *s = &g->ops[op].shape;
    uint32_t first = FR_NONE, weights = FR_NONE;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        const struct fr_tensor *t;
        enum fr_op_kind kind = g->ops[e->src].kind;

        if (e->tensor == FR_NONE)
            continue;
        t = &g->tensors[e->tensor];
        if (t->n_dims == 4 && s->of == FR_SHAPE_PRODUCT &&
            (t->dims[2] != s->product.rows || t->dims[3] != s->product.depth))
            continue;
        first = first == FR_NONE ? i : first;
        if (weights == FR_NONE && (kind == FR_OP_SOFTMAX || kind == FR_OP_DROPOUT))
            weights = i;
    }
    return at == (weights == FR_NONE ? first : weights);
}

/* How wide the queries of an op that writes y are: a head's values may have another width. */
static uint64_t query_width(const struct fr_shape *s, const struct fr_tensor *y)
{
    return s->of == FR_SHAPE_ATTENTION
               ? y->dims[2] / fr_shape_value_width(s) * s->attention.head_width
               : y->dims[2];
}

/* Queries are as long as the output and have as many heads. Where keys or values are too, they are
 * the first that are turned by positions, else the first. */
static bool are_queries(const struct fr_graph *g, uint32_t op, uint32_t at)
{
    const struct fr_tensor *y = output(g, op);
    uint32_t first = FR_NONE, turned = FR_NONE;

    for (uint32_t i = g->in_first[op]; y && i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        const struct fr_tensor *t;

        if (e->tensor == FR_NONE)
            continue;
        t = &g->tensors[e->tensor];
        if (t->n_dims != 3 || y->n_dims != 3 || t->dims[1] != y->dims[1] ||
            t->dims[2] != query_width(&g->ops[op].shape, y))
            continue;
        first = first == FR_NONE ? i : first;
        if (turned == FR_NONE && g->ops[e->src].kind == FR_OP_ROTARY)
            turned = i;
    }
    return at == (turned == FR_NONE ? first : turned);
}

static bool is_second(const struct fr_graph *g, uint32_t op, enum row row, uint32_t at,
                      const struct fr_tensor *t)
{
    switch (row) {
    case MATMUL:
    case MATMUL_NARROW:
    case CONV:
        return t->n_dims == 1;
    case BATCH_MATMUL:
        return !is_left(g, op, at);
    case ATTENTION:
        return !are_queries(g, op, at);
    case HEADS_JOINED: /* the narrower one */
        return t->dims[2] <= input(g, op, 0)->dims[2] && t->dims[2] <= input(g, op, 1)->dims[2];
    case GATHER:
    case DISPATCH:
    case COMBINE:
    case LOSS:
        return are_indices(t);
    default:
        return false;
    }
}

/* ---- loops ---- */

static const char *const split_names[FR__N_SPLITS] = {
    [FR__SPLIT_DERIVED] = "derived", [FR__SPLIT_NONE] = "none",
    [FR__SPLIT_SAMPLES] = "samples", [FR__SPLIT_SEQUENCE] = "sequence",
    [FR__SPLIT_COLUMNS] = "columns", [FR__SPLIT_DEPTH] = "depth",
};

const char *fr__split_name(enum fr__split split)
{
    return (unsigned)split < FR__N_SPLITS ? split_names[split] : "unknown";
}

static char letter_of(enum fr__split loop)
{
    static const char letters[FR__N_SPLITS] = {'\0', '\0', 'b', 's', 'c', 'k'};

    return letters[loop];
}

/* Where the layout for n_dims dimensions has the loop. */
static int find(const char *layouts, const struct fr_tensor *t, enum fr__split loop)
{
    char letter = letter_of(loop);

    if (layouts[0] == '*')
        return t->n_dims == 1 && (loop == FR__SPLIT_COLUMNS || loop == FR__SPLIT_DEPTH) ? 0
                                                                                        : FR__LACKS;
    while (*layouts) {
        size_t n = strcspn(layouts, " ");

        if (n == t->n_dims)
            for (int d = 0; d < (int)n; d++) {
                if (t->dims[d] > 1 && layouts[d] == letter)
                    return d;
                if (t->dims[d] > 1 && layouts[d] == 'q' && loop == FR__SPLIT_SEQUENCE)
                    return FR__PACKED;
            }
        layouts += n + (layouts[n] == ' ');
    }
    return FR__LACKS;
}

/* An operand that is broadcast has another extent than the output, or fewer dimensions. */
static bool is_elementwise(enum row row)
{
    return row == MAP || row == LINEAR_MAP || row == BIAS;
}

int fr__shard_input_dim(const struct fr_graph *g, uint32_t op, uint32_t at, enum fr__split loop)
{
    enum row row = row_of(g, op);
    const struct rule *r = &rules[row];
    uint32_t tensor = g->edges[g->in_edges[at]].tensor;
    const struct fr_tensor *t, *y = output(g, op);

    if (tensor == FR_NONE)
        return FR__LACKS;
    t = &g->tensors[tensor];
    if (r->second && is_second(g, op, row, at, t))
        return find(r->second, t, loop);
    if (is_elementwise(row) && y && t->n_dims != y->n_dims) /* one step's part of a sequence */
        return loop == FR__SPLIT_SAMPLES && t->n_dims > 1 && t->dims[0] == y->dims[0] ? 0
                                                                                      : FR__LACKS;
    return find(r->in, t, loop);
}

int fr__shard_output_dim(const struct fr_graph *g, uint32_t op, uint32_t k, enum fr__split loop)
{
    const struct rule *r = &rules[row_of(g, op)];
    const struct fr_tensor *t = &g->tensors[g->ops[op].first_tensor + k];

    return find(k > 0 && r->more ? r->more : r->out, t, loop);
}

bool fr__shard_params_carry(const struct fr_graph *g, uint32_t op, enum fr__split loop)
{
    char letter = letter_of(loop);

    return letter && strchr(rules[row_of(g, op)].params, letter);
}

bool fr__shard_sums_over(const struct fr_graph *g, uint32_t op, enum fr__split loop)
{
    char letter = letter_of(loop);

    return letter && strchr(rules[row_of(g, op)].sums, letter);
}

bool fr__shard_has_loop(const struct fr_graph *g, uint32_t op, enum fr__split loop)
{
    const struct fr_op *o = &g->ops[op];

    if (loop == FR__SPLIT_NONE)
        return true;
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++)
        if (fr__shard_input_dim(g, op, i, loop) != FR__LACKS)
            return true;
    for (uint32_t k = 0; k < o->n_tensors; k++)
        if (fr__shard_output_dim(g, op, k, loop) != FR__LACKS)
            return true;
    return o->kind == FR_OP_EMBEDDING && loop == FR__SPLIT_DEPTH;
}

bool fr__shard_is_linear(const struct fr_graph *g, uint32_t op)
{
    return rules[row_of(g, op)].is_linear;
}

bool fr__shard_is_product(const struct fr_op *op)
{
    return op->kind == FR_OP_MATMUL || op->kind == FR_OP_CONV2D;
}

/* ---- shapes ---- */

static void divide(uint64_t *size, uint64_t parts)
{
    *size = (*size + parts - 1) / parts;
}

/* Norms, softmax and losses work row by row: depth is their columns, all else their rows; what is
 * gathered has its width in the columns. */
static void divide_rows(struct fr_shape *s, enum fr_op_kind kind, enum fr__split loop,
                        uint64_t parts)
{
    bool is_copy = kind == FR_OP_GATHER || kind == FR_OP_SCATTER;

    if (loop == FR__SPLIT_DEPTH || (is_copy && loop == FR__SPLIT_COLUMNS))
        divide(&s->rows.columns, parts);
    else
        divide(&s->rows.rows, parts);
}

static void divide_attention(struct fr_shape *s, enum fr__split loop, uint64_t parts)
{
    if (loop == FR__SPLIT_SAMPLES)
        divide(&s->attention.batch, parts);
    else if (loop == FR__SPLIT_SEQUENCE)
        divide(&s->attention.query_len, parts);
    else if (loop == FR__SPLIT_COLUMNS) {
        divide(&s->attention.heads, parts);
        divide(&s->attention.kv_heads, parts); /* at least one, shared by several ranks */
    }
}

static void divide_product(struct fr_shape *s, enum fr_op_kind kind, enum fr__split loop,
                           uint64_t parts)
{
    bool is_batched = kind == FR_OP_BATCH_MATMUL;

    if (loop == FR__SPLIT_DEPTH)
        divide(&s->product.depth, parts);
    else if (loop == FR__SPLIT_COLUMNS)
        divide(is_batched ? &s->product.batch : &s->product.columns, parts);
    else if (loop == FR__SPLIT_SAMPLES && is_batched)
        divide(&s->product.batch, parts);
    else
        divide(&s->product.rows, parts);
    if (loop != FR__SPLIT_DEPTH && s->product.epilogue > 0)
        divide(&s->product.epilogue, parts);
}

static void divide_conv(struct fr_shape *s, enum fr__split loop, uint64_t parts)
{
    if (loop == FR__SPLIT_DEPTH)
        divide(&s->conv.in_channels, parts);
    else if (loop == FR__SPLIT_COLUMNS)
        divide(&s->conv.out_channels, parts);
    else
        divide(&s->conv.images, parts);
}

void fr__shape_divide(struct fr_shape *s, enum fr_op_kind kind, enum fr__split loop, uint64_t parts)
{
    switch (s->of) {
    case FR_SHAPE_PRODUCT:
        divide_product(s, kind, loop, parts);
        return;
    case FR_SHAPE_CONV:
        divide_conv(s, loop, parts);
        return;
    case FR_SHAPE_POOL:
        divide(loop == FR__SPLIT_COLUMNS ? &s->pool.channels : &s->pool.images, parts);
        return;
    case FR_SHAPE_ATTENTION:
        divide_attention(s, loop, parts);
        return;
    case FR_SHAPE_ROWS:
        divide_rows(s, kind, loop, parts);
        return;
    case FR_SHAPE_EMBEDDING:
        divide(loop == FR__SPLIT_COLUMNS ? &s->embedding.width
               : loop == FR__SPLIT_DEPTH ? &s->embedding.vocabulary
                                         : &s->embedding.rows,
               parts);
        return;
    case FR_SHAPE_ELEMENTS:
        divide(loop == FR__SPLIT_COLUMNS    ? &s->elements.channels
               : loop == FR__SPLIT_SEQUENCE ? &s->elements.positions
                                            : &s->elements.batch,
               parts);
        return;
    default:
        return;
    }
}
