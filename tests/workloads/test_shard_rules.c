/* tests/workloads/test_shard_rules.c - the table of loops against placements that were found by
 * execution (../shared/data/sharding/placement_rules.csv): what the table allows is there, and what
 * is there and useful, the table allows.
 *
 * Theirs are sequence first, [s, b, h], ours batch first; a case says which of our dimensions is
 * which of theirs.
 */
#include "config.h"

#include "base/csv.h"
#include "tests/support/base_check.h"
#include "workloads/passes/shard/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the file ---- */

enum { MAX_RULES = 400, MAX_TEXT = 96 };

struct found {
    char op[MAX_TEXT], in[MAX_TEXT], out[MAX_TEXT];
    bool is_seen;
};

struct file {
    struct found rules[MAX_RULES];
    size_t n;
};

static enum fr_status keep(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct file *f = user;
    struct found *r;

    (void)err;
    ck_assert_uint_lt(f->n, MAX_RULES);
    r = &f->rules[f->n++];
    snprintf(r->op, sizeof(r->op), "%s", cells[0].text);
    snprintf(r->in, sizeof(r->in), "%s", cells[1].text);
    snprintf(r->out, sizeof(r->out), "%s", cells[2].text);
    return FR_OK;
}

/* NULL: the file is not there. */
static struct file *load(void)
{
    static const struct fr__csv_column columns[] = {
        {"op", true},      {"in_placements", true}, {"out_placements", true},
        {"inputs", false}, {"outputs", false},      {0}};
    const char *srcdir = getenv("srcdir");
    struct file *f;
    struct fr_error err;
    char path[1024];

    snprintf(path, sizeof(path), "%s/../shared/data/sharding/placement_rules.csv",
             srcdir ? srcdir : ".");
    if (access(path, R_OK) != 0) {
        printf("SKIPPED: %s is not there\n", path);
        return NULL;
    }
    f = calloc(1, sizeof(*f));
    ck_assert_ptr_nonnull(f);
    ck_assert_msg(fr__csv_read(path, columns, keep, f, &err) == FR_OK, "%s", err.text);
    return f;
}

/* ---- cases ---- */

enum what { INPUT, OUTPUT, PARAMS, GRADIENT /* of the output */, INPUT_GRADIENT, PARAMS_GRADIENT };

/* An operand of theirs. dims: for each of our dimensions theirs, '-' none; of parameters, the loop
 * that each of their dimensions carries. */
struct operand {
    enum what what;
    uint32_t number;
    const char *dims;
};

enum { MAX_OPERANDS = 4 };

struct tensor {
    const char *dims; /* one digit each */
    bool are_indices;
};

struct rule_case {
    const char *theirs;
    enum fr_op_kind kind;
    struct tensor in[3], out[3];
    struct operand operands[MAX_OPERANDS], results[3];
    const char *also;        /* loops that the table has beyond theirs */
    const char *not_ours[4]; /* their inputs' placements that the table leaves out */
    bool is_backward;
};

#define SBH                                                                                        \
    {                                                                                              \
        "864", false                                                                               \
    }
#define NCHW                                                                                       \
    {                                                                                              \
        "8464", false                                                                              \
    }
#define X                                                                                          \
    {                                                                                              \
        INPUT, 0, "102"                                                                            \
    }
#define W(letters)                                                                                 \
    {                                                                                              \
        PARAMS, 0, letters                                                                         \
    }

static const struct rule_case cases[] = {
    {"linear y=x.w (x[s,b,h] w[h,f])",
     FR_OP_MATMUL,
     {SBH},
     {SBH},
     {X, W("kc")},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"linear backward",
     FR_OP_MATMUL,
     {SBH},
     {SBH},
     {{GRADIENT, 0, "102"}, X, W("kc")},
     {{INPUT_GRADIENT, 0, "102"}, {PARAMS_GRADIENT, 0, "kc"}},
     .is_backward = true},
    {"bias add (y[s,b,f]+bias[f])",
     FR_OP_BIAS,
     {SBH},
     {SBH},
     {X, W("c")},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"bias backward (gbias)",
     FR_OP_BIAS,
     {SBH},
     {SBH},
     {{GRADIENT, 0, "102"}},
     {{PARAMS_GRADIENT, 0, "c"}},
     .is_backward = true},
    {"batched matmul",
     FR_OP_BATCH_MATMUL,
     {{"8464", false}, {"8449", false}},
     {{"8469", false}},
     {{INPUT, 0, "-012"}, {INPUT, 1, "-012"}},
     {{OUTPUT, 0, "-012"}},
     .not_ours = {"R S(2)", "S(2) S(1)"}},
    {"layernorm (x[s,b,h])",
     FR_OP_LAYERNORM,
     {SBH},
     {SBH, {"86", false}},
     {X, W(""), W("")},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"layernorm backward",
     FR_OP_LAYERNORM,
     {SBH},
     {SBH, {"86", false}},
     {{GRADIENT, 0, "102"}, X, W(""), W("")},
     {{INPUT_GRADIENT, 0, "102"}, {PARAMS_GRADIENT, 0, ""}, {PARAMS_GRADIENT, 0, ""}},
     .is_backward = true},
    {"rmsnorm (x[s,b,h])",
     FR_OP_RMSNORM,
     {SBH},
     {SBH, {"86", false}},
     {X, W("")},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"rmsnorm backward",
     FR_OP_RMSNORM,
     {SBH},
     {SBH, {"86", false}},
     {{GRADIENT, 0, "102"}, X, W("")},
     {{INPUT_GRADIENT, 0, "102"}, {PARAMS_GRADIENT, 0, ""}},
     .is_backward = true},
    {"softmax last dim", FR_OP_SOFTMAX, {SBH}, {SBH}, {X}, {{OUTPUT, 0, "102"}}, .also = ""},
    {"softmax backward",
     FR_OP_SOFTMAX,
     {SBH},
     {SBH},
     {{GRADIENT, 0, "102"}, X},
     {{INPUT_GRADIENT, 0, "102"}},
     .is_backward = true},
    {"attention full, MHA (q,k,v[b,a,s,d])",
     FR_OP_ATTENTION,
     {SBH, SBH, SBH},
     {SBH, {"846", false}},
     {{INPUT, 0, "021"}, {INPUT, 1, "021"}, {INPUT, 2, "021"}},
     {{OUTPUT, 0, "021"}},
     .not_ours = {"R R S(3)"}},
    {"attention causal, MHA",
     FR_OP_ATTENTION,
     {SBH, SBH, SBH},
     {SBH, {"846", false}},
     {{INPUT, 0, "021"}, {INPUT, 1, "021"}, {INPUT, 2, "021"}},
     {{OUTPUT, 0, "021"}},
     .also = "s", /* where the mask knows which queries a rank has, as ours does */
     .not_ours = {"R R S(3)"}},
    {"attention full, GQA (q 4 heads, kv 2)",
     FR_OP_ATTENTION,
     {SBH, {"862", false}, {"862", false}},
     {SBH, {"846", false}},
     {{INPUT, 0, "021"}, {INPUT, 1, "021"}, {INPUT, 2, "021"}},
     {{OUTPUT, 0, "021"}},
     .not_ours = {"R R S(3)"},
     .also = ""},
    {"attention full backward, MHA",
     FR_OP_ATTENTION,
     {SBH, SBH, SBH},
     {SBH, {"846", false}},
     {{GRADIENT, 0, "021"}, {INPUT, 0, "021"}, {INPUT, 1, "021"}, {INPUT, 2, "021"}},
     {{INPUT_GRADIENT, 0, "021"}, {INPUT_GRADIENT, 1, "021"}, {INPUT_GRADIENT, 2, "021"}},
     .not_ours = {"S(3) R R S(3)"},
     .is_backward = true},
    {"dropout with a given mask",
     FR_OP_DROPOUT,
     {SBH},
     {SBH, SBH},
     {X, {OUTPUT, 1, "102"}},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"elementwise nonlinear (gelu, silu)",
     FR_OP_GELU,
     {SBH},
     {SBH},
     {X},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"elementwise nonlinear backward",
     FR_OP_SILU,
     {SBH},
     {SBH},
     {{GRADIENT, 0, "102"}, X},
     {{INPUT_GRADIENT, 0, "102"}},
     .is_backward = true},
    {"elementwise add",
     FR_OP_ADD,
     {SBH, SBH},
     {SBH},
     {X, {INPUT, 1, "102"}},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"elementwise mul",
     FR_OP_MUL,
     {SBH, SBH},
     {SBH},
     {X, {INPUT, 1, "102"}},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"swiglu, gate and up separate",
     FR_OP_MUL,
     {SBH, SBH},
     {SBH},
     {X, {INPUT, 1, "102"}},
     {{OUTPUT, 0, "102"}},
     .also = ""},
    {"embedding (ids[s,b], w[V,h])",
     FR_OP_EMBEDDING,
     {{"86", true}},
     {SBH},
     {{INPUT, 0, "10"}, W("kc")},
     {{OUTPUT, 0, "102"}},
     .also = "k"},
    {"embedding backward",
     FR_OP_EMBEDDING,
     {{"86", true}},
     {SBH},
     {{GRADIENT, 0, "102"}, {INPUT, 0, "10"}},
     {{PARAMS_GRADIENT, 0, "kc"}},
     .also = "k",
     .is_backward = true},
    {"cross entropy sum (logits[n,V])",
     FR_OP_LOSS,
     {{"84", false}, {"8", true}},
     {{"1", false}},
     {{INPUT, 0, "01"}, {INPUT, 1, "0"}},
     {{OUTPUT, 0, ""}},
     .also = "k"},
    {"cross entropy sum backward",
     FR_OP_LOSS,
     {{"84", false}, {"8", true}},
     {{"1", false}},
     {{GRADIENT, 0, ""}, {INPUT, 0, "01"}, {INPUT, 1, "0"}},
     {{INPUT_GRADIENT, 0, "01"}},
     .also = "k",
     .is_backward = true},
    {"conv2d 3x3 stride 1 (NCHW, w[O,C,kh,kw])",
     FR_OP_CONV2D,
     {NCHW},
     {NCHW},
     {{INPUT, 0, "0123"}, W("ck")},
     {{OUTPUT, 0, "0123"}},
     .also = ""},
    {"conv2d 3x3 backward",
     FR_OP_CONV2D,
     {NCHW},
     {NCHW},
     {{GRADIENT, 0, "0123"}, {INPUT, 0, "0123"}, W("ck")},
     {{INPUT_GRADIENT, 0, "0123"}, {PARAMS_GRADIENT, 0, "ck"}},
     .is_backward = true},
    {"conv2d 2x2 stride 2 (patches)",
     FR_OP_CONV2D,
     {NCHW},
     {NCHW},
     {{INPUT, 0, "0123"}, W("ck")},
     {{OUTPUT, 0, "0123"}},
     .not_ours = {"S(2) R", "S(3) R"}},
    {"conv2d bias",
     FR_OP_BIAS,
     {NCHW},
     {NCHW},
     {{INPUT, 0, "0123"}, W("c")},
     {{OUTPUT, 0, "0123"}},
     .not_ours = {"S(3) R"}},
    {"max pool 2x2",
     FR_OP_MAXPOOL,
     {NCHW},
     {NCHW, {"8464", true}},
     {{INPUT, 0, "0123"}},
     {{OUTPUT, 0, "0123"}},
     .not_ours = {"S(2)", "S(3)"}},
    {"max pool 3x3 stride 2 pad 1",
     FR_OP_MAXPOOL,
     {NCHW},
     {NCHW, {"8464", true}},
     {{INPUT, 0, "0123"}},
     {{OUTPUT, 0, "0123"}},
     .also = ""},
    {"avg pool 2x2",
     FR_OP_AVGPOOL,
     {NCHW},
     {NCHW},
     {{INPUT, 0, "0123"}},
     {{OUTPUT, 0, "0123"}},
     .not_ours = {"S(2)", "S(3)"}},
    {"global avg pool",
     FR_OP_AVGPOOL,
     {NCHW},
     {{"8411", false}},
     {{INPUT, 0, "0123"}},
     {{OUTPUT, 0, "0123"}},
     .not_ours = {"S(2)", "S(3)"}},
    {"flatten NCHW to [N,C*H*W]",
     FR_OP_RESHAPE,
     {{"8423", false}},
     {{"89", false}},
     {{INPUT, 0, "0123"}},
     {{OUTPUT, 0, "01"}},
     .also = ""},
    {"batchnorm train (true batch statistics)",
     FR_OP_BATCHNORM,
     {NCHW},
     {NCHW, {"8", false}},
     {{INPUT, 0, "0123"}, W("c"), W("c")},
     {{OUTPUT, 0, "0123"}},
     .also = "b"},
    {"top-k over experts",
     FR_OP_TOPK,
     {{"864", false}},
     {{"862", false}, {"862", true}},
     {{INPUT, 0, "-01"}},
     {{OUTPUT, 0, "-01"}, {OUTPUT, 1, "-01"}},
     .also = ""},
    {"split heads [s,b,a*d] to [s,b,a,d] (d fixed)",
     FR_OP_RESHAPE,
     {{"868", false}},
     {{"8642", false}},
     {X},
     {{OUTPUT, 0, "1023"}},
     .also = ""},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/* ---- one op ---- */

static struct fr_tensor tensor_of(const struct tensor *t)
{
    struct fr_tensor out = {.alias = FR_NONE, .bytes = t->are_indices ? 8 : 4, .scales = true};

    for (const char *d = t->dims; *d; d++) {
        out.dims[out.n_dims++] = (uint32_t)(*d - '0');
        out.bytes *= (uint64_t)(*d - '0');
    }
    return out;
}

static struct fr_graph *graph_of(const struct rule_case *c, uint32_t *op)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_op o = {.name = "op", .kind = c->kind, .phase = FR_PHASE_FORWARD, .flops = 1};
    struct fr_tensor out[3];
    struct fr_graph *g = NULL;
    const struct fr_graph info = {
        .name = "case", .batch = 8, .dtype = FR_FP32, .param_elem_bytes = 4};
    struct fr_error err;
    uint32_t n_in = 0, n_out = 0;

    for (; n_in < 3 && c->in[n_in].dims; n_in++) {
        char name[8];
        struct fr_op in = {.name = name, .kind = FR_OP_INPUT, .phase = FR_PHASE_INPUT};
        struct fr_tensor t = tensor_of(&c->in[n_in]);

        snprintf(name, sizeof(name), "in%u", (unsigned)n_in);
        fr_graph_builder_op(b, &in, NULL, &t, 1);
    }
    for (; n_out < 3 && c->out[n_out].dims; n_out++)
        out[n_out] = tensor_of(&c->out[n_out]);
    if (c->kind == FR_OP_BATCH_MATMUL) {
        o.shape.of = FR_SHAPE_PRODUCT;
        o.shape.product.batch = 32;
        o.shape.product.rows = 6;
        o.shape.product.columns = 9;
        o.shape.product.depth = 4;
        o.flops = 0;
    }
    *op = fr_graph_builder_op(b, &o, NULL, out, n_out);
    for (uint32_t i = 0; i < n_in; i++)
        fr_graph_builder_edge(b, i, *op, i, 4);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    return g;
}

/* ---- what the table says ---- */

static const char letters[] = {[FR__SPLIT_SAMPLES] = 'b',
                               [FR__SPLIT_SEQUENCE] = 's',
                               [FR__SPLIT_COLUMNS] = 'c',
                               [FR__SPLIT_DEPTH] = 'k'};

/* Their name of the placement; "" where they do not have the dimension. */
static void name_dim(const struct operand *x, int dim, bool is_sum, char text[8])
{
    if (dim < 0)
        snprintf(text, 8, "%s", is_sum ? "P" : "R");
    else if (x->dims[dim] == '-')
        text[0] = '\0';
    else
        snprintf(text, 8, "S(%c)", x->dims[dim]);
}

static void place(const struct fr_graph *g, uint32_t op, const struct operand *x,
                  enum fr__split loop, char text[8])
{
    const char *at =
        x->what == PARAMS || x->what == PARAMS_GRADIENT ? strchr(x->dims, letters[loop]) : NULL;
    uint32_t input = g->in_first[op] + x->number;

    switch (x->what) {
    case INPUT:
    case INPUT_GRADIENT:
        name_dim(x, fr__shard_input_dim(g, op, input, loop), x->what == INPUT_GRADIENT, text);
        return;
    case OUTPUT:
        name_dim(x, fr__shard_output_dim(g, op, x->number, loop),
                 x->number == 0 && fr__shard_sums_over(g, op, loop), text);
        return;
    case GRADIENT:
        name_dim(x, fr__shard_output_dim(g, op, 0, loop), false, text);
        return;
    default:
        ck_assert_msg((at != NULL) == fr__shard_params_carry(g, op, loop), "%s of %s",
                      fr__split_name(loop), fr_op_kind_name(g->ops[op].kind));
        if (at)
            snprintf(text, 8, "S(%d)", (int)(at - x->dims));
        else
            snprintf(text, 8, "%s", x->what == PARAMS_GRADIENT ? "P" : "R");
    }
}

/* "S(0) R"; false: they do not have that loop. */
static bool describe(const struct fr_graph *g, uint32_t op, const struct operand x[], size_t most,
                     enum fr__split loop, char text[MAX_TEXT])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < most && x[i].dims; i++) {
        char one[8];

        place(g, op, &x[i], loop, one);
        if (!one[0])
            return false;
        used += (size_t)snprintf(text + used, MAX_TEXT - used, "%s%s", i ? " " : "", one);
    }
    return true;
}

static struct found *look_up(struct file *f, const char *op, const char *in, const char *out)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->rules[i].op, op) == 0 && strcmp(f->rules[i].in, in) == 0 &&
            strcmp(f->rules[i].out, out) == 0)
            return &f->rules[i];
    return NULL;
}

static void check_loops(struct file *f, const struct rule_case *c, const struct fr_graph *g,
                        uint32_t op)
{
    for (unsigned i = FR__SPLIT_SAMPLES; i < FR__N_SPLITS; i++) {
        enum fr__split loop = (enum fr__split)i;
        char in[MAX_TEXT], out[MAX_TEXT];
        struct found *rule;

        if (!fr__shard_has_loop(g, op, loop) || (c->also && strchr(c->also, letters[loop])) ||
            !describe(g, op, c->operands, MAX_OPERANDS, loop, in) ||
            !describe(g, op, c->results, 3, loop, out))
            continue;
        rule = look_up(f, c->theirs, in, out);
        ck_assert_msg(rule != NULL, "%s by %s: %s -> %s is not legal", c->theirs,
                      fr__split_name(loop), in, out);
        rule->is_seen = true;
    }
}

/* What is there and the table does not say: placements with partial inputs (linear ops), and what
 * the case lists. */
static void check_rest(const struct file *f, const struct rule_case *c)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct found *r = &f->rules[i];
        bool is_known = r->is_seen || strchr(r->in, 'P');

        for (size_t k = 0; k < 4 && c->not_ours[k]; k++)
            is_known = is_known || strcmp(c->not_ours[k], r->in) == 0;
        ck_assert_msg(strcmp(r->op, c->theirs) != 0 || is_known, "%s: %s -> %s is missing",
                      c->theirs, r->in, r->out);
    }
}

/* A linear op passes partial inputs on: a sum if all are, others if the first one is. */
static void check_linear(struct file *f, const struct rule_case *c, const struct fr_graph *g,
                         uint32_t op)
{
    char in[MAX_TEXT] = "";
    size_t used = 0;

    if (c->is_backward || c->kind == FR_OP_LOSS || strncmp(c->theirs, "swiglu", 6) == 0)
        return; /* that one is two ops here */
    for (size_t i = 0; i < MAX_OPERANDS && c->operands[i].dims; i++)
        used += (size_t)snprintf(in + used, sizeof(in) - used, "%s%s", i ? " " : "",
                                 i == 0 || c->kind == FR_OP_ADD ? "P" : "R");
    ck_assert_msg((look_up(f, c->theirs, in, "P") != NULL) == fr__shard_is_linear(g, op), "%s",
                  c->theirs);
}

TEST(the_table_allows_what_was_found_legal_and_nothing_else)
{
    struct file *f = load();
    size_t n_seen = 0;

    for (size_t i = 0; f && i < N_CASES; i++) {
        uint32_t op;
        struct fr_graph *g = graph_of(&cases[i], &op);

        for (size_t k = 0; k < f->n; k++)
            f->rules[k].is_seen = false;
        check_loops(f, &cases[i], g, op);
        check_rest(f, &cases[i]);
        check_linear(f, &cases[i], g, op);
        for (size_t k = 0; k < f->n; k++)
            n_seen += f->rules[k].is_seen;
        fr_graph_free(g);
    }
    ck_assert(!f || n_seen > 80);
    free(f);
}

int main(void)
{
    TCase *c = tcase_create("shard_rules");

    add_tests(c);
    return run_case(c, "workloads/shard_rules");
}
