/* tests/strategies/test_torch_parallel.c - what a rank holds, keeps and sends against PyTorch.
 *
 * tests/oracles/torch/parallel.csv holds what PyTorch's DistributedDataParallel, fully_shard
 * (FSDP2) and DTensor tensor parallelism do in a step of a small GPT and BERT, counted by
 * tests/oracles/torch_parallel.py. Here the same models are planned with the same degrees, and all
 * counts must be equal, to the byte, after three rules that say where both differ by intent:
 *
 * 1. Under sequence parallelism DTensor sums the words' rows over the tensor group (all_reduce),
 *    adds the positions and then takes its part; here the rows are summed and split at once
 *    (reduce_scatter of as many bytes), as Megatron-LM does where no positions are added.
 * 2. DTensor adds the bias of a row-parallel product to one rank's term before the sum, so its
 *    gradient is whole. Here it is added to each rank's positions after the sum, as in Megatron-LM,
 *    so its gradient is summed with those of the norms, in one message. With fully_shard DTensor
 *    sums them before they are scattered over the replicas, here after it.
 * 3. fully_shard shares out whole rows of each parameter, and pads to as many for each rank; here
 *    parts are even. Only BERT's two rows of segments on four ranks show it.
 */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "calibrate/calibrate.h"
#include "strategies/strategies.h"
#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"
#include "workloads/graph/builder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the models in the table. */
enum { LAYERS = 2, HIDDEN = 64, ELEM_BYTES = 4, N_SEGMENTS = 2 };

struct count {
    char what[20]; /* "parameters", "saved", "sum", or a kind of collective */
    double bytes;  /* of one */
    unsigned n;
};

struct counts {
    struct count of[24];
    size_t n;
};

struct step {
    char model[100], strategy[100];
    uint32_t batch, ranks, replicas; /* replicas: ranks that work on other samples */
    bool is_split, is_sharded;       /* tp over 1; zero=3 */
    struct counts torch, ours;
};

static void add(struct counts *c, const char *what, double bytes, unsigned n)
{
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->of[i].what, what) == 0 && c->of[i].bytes == bytes) {
            c->of[i].n += n;
            return;
        }
    }
    ck_assert_uint_lt(c->n, sizeof(c->of) / sizeof(c->of[0]));
    snprintf(c->of[c->n].what, sizeof(c->of[c->n].what), "%s", what);
    c->of[c->n].bytes = bytes;
    c->of[c->n++].n = n;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *op_name(const struct fr_plan_view *v, uint32_t op)
{
    return op == FR_NONE ? "" : v->graph->ops[op].name;
}

/* Bytes that fully_shard pads the segments' rows with, in all. */
static double padding(const struct step *s)
{
    uint32_t over = N_SEGMENTS % s->replicas;

    if (!begins(s->model, "bert") || !s->is_sharded || over == 0)
        return 0;
    return (double)(s->replicas - over) * HIDDEN * ELEM_BYTES;
}

static void add_message(struct step *s, const struct fr_plan_view *v, const struct fr_task *t)
{
    const struct fr_collective *c = &v->collectives[t->collective];
    const char *kind = fr_collective_kind_name(c->kind), *op = op_name(v, t->op);
    bool is_root = begins(op, "embed.") && (strstr(op, "_parameters") || strstr(op, "_gradients"));

    if (t->op == FR_NONE && s->is_split) { /* rule 2: two row-parallel products a layer */
        double biases = 2.0 * LAYERS * HIDDEN * ELEM_BYTES;

        add(&s->ours, "sum", c->bytes * (s->is_sharded ? s->replicas : 1) - biases, 1);
    } else if (strcmp(op, "embed.words.tp.reduce_scatter") == 0 ||
               strcmp(op, "embed.tokens.tp.reduce_scatter") == 0) { /* rule 1 */
        add(&s->ours, "all-reduce", c->bytes, 1);
    } else {
        add(&s->ours, kind, c->bytes + (is_root ? padding(s) : 0), 1); /* rule 3 */
    }
}

/* Storages that backward ops read, but gathered parameters, which are no activations. */
static double saved_bytes(const struct fr_graph *g)
{
    bool *is_saved = calloc(g->n_tensors + 1, sizeof(*is_saved));
    double bytes = 0;

    ck_assert_ptr_nonnull(is_saved);
    fr__mark_saved(g, is_saved);
    for (size_t i = 0; i < g->n_tensors; i++)
        if (is_saved[i] && !strstr(g->ops[g->tensors[i].op].name, "gather_parameters"))
            bytes += (double)g->tensors[i].bytes;
    free(is_saved);
    return bytes;
}

static void count_ours(struct step *s, const struct fr_plan *p)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    double held = 0;

    for (size_t i = 0; i < v->n_tasks; i++)
        if (v->tasks[i].kind == FR_TASK_COLLECTIVE && v->tasks[i].device == 0)
            add_message(s, v, &v->tasks[i]);
    for (size_t i = 0; i < v->n_buffers; i++)
        if (v->buffers[i].device == 0 && v->buffers[i].kind == FR_BUFFER_PARAMETER)
            held += (double)v->buffers[i].bytes;
    /* rule 3: the first rank has a whole row of segments */
    add(&s->ours, "parameters", held + padding(s) / s->replicas, 1);
}

static struct fr_graph *load(const struct step *s, uint32_t batch)
{
    const struct fr_workload_options opt = {.batch = batch, .dtype = FR_FP32};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, s->model, &opt, &err) == FR_OK, "%s", err.text);
    return g;
}

static void plan_ours(struct step *s)
{
    struct fr_topo *t = case_topo(s->ranks, 1e9, (uint64_t)1 << 34);
    struct fr_graph *whole = load(s, s->batch), *own = load(s, s->batch / s->replicas);
    struct case_problem c = {.topo = t,
                             .graph = whole,
                             .n_devices = s->ranks,
                             .global_batch = s->batch,
                             .optimizer = FR_ADAM};
    struct fr_plan *p = case_plan(&c, s->strategy);

    count_ours(s, p);
    fr_plan_free(p);
    c.graph = own; /* a rank's samples alone, for what does not grow with them */
    p = case_plan(&c, s->strategy);
    add(&s->ours, "saved", saved_bytes(fr_plan_view(p)->graph), 1);
    fr_plan_free(p);
    fr_graph_free(whole);
    fr_graph_free(own);
    fr_topo_free(t);
}

/* All of a is in b, as often. */
static void expect_in(const struct step *s, const struct counts *a, const struct counts *b,
                      const char *whose)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct count *x = &a->of[i];
        bool is_found = false;

        for (size_t k = 0; k < b->n; k++)
            is_found = is_found || (strcmp(x->what, b->of[k].what) == 0 &&
                                    x->bytes == b->of[k].bytes && x->n == b->of[k].n);
        ck_assert_msg(is_found, "%s on %u ranks by %s: only %s has %u of %s with %.0f bytes",
                      s->model, s->ranks, s->strategy, whose, x->n, x->what, x->bytes);
    }
}

static void compare(struct step *s)
{
    if (s->torch.n == 0)
        return;
    plan_ours(s);
    expect_in(s, &s->torch, &s->ours, "PyTorch");
    expect_in(s, &s->ours, &s->torch, "our plan");
}

enum column { MODEL, BATCH, RANKS, STRATEGY, WHAT, BYTES, COUNT };

struct table {
    struct step step; /* the one whose rows are read */
    size_t n_rows, n_steps;
};

static void start(struct table *t, const struct fr__cell c[], uint32_t batch, uint32_t ranks)
{
    const char *tp = strstr(c[STRATEGY].text, "tp=");
    struct step *s = &t->step;

    compare(s);
    *s = (struct step){.batch = batch, .ranks = ranks, .replicas = ranks};
    if (tp)
        s->replicas = ranks / (uint32_t)strtoul(tp + 3, NULL, 10);
    s->is_split = tp;
    s->is_sharded = strstr(c[STRATEGY].text, "zero=3");
    snprintf(s->model, sizeof(s->model), "%s", c[MODEL].text);
    snprintf(s->strategy, sizeof(s->strategy), "%s", c[STRATEGY].text);
    t->n_steps++;
}

static enum fr_status read_row(void *user, const struct fr__cell c[], struct fr_error *err)
{
    struct table *t = user;
    uint64_t batch, ranks, bytes, n;

    FR_TRY(fr__cell_count(&c[BATCH], "batch", 1, UINT32_MAX, &batch, err));
    FR_TRY(fr__cell_count(&c[RANKS], "ranks", 1, 8, &ranks, err));
    FR_TRY(fr__cell_count(&c[BYTES], "bytes", 0, UINT64_MAX, &bytes, err));
    FR_TRY(fr__cell_count(&c[COUNT], "count", 1, UINT32_MAX, &n, err));
    if (strcmp(t->step.model, c[MODEL].text) != 0 ||
        strcmp(t->step.strategy, c[STRATEGY].text) != 0 || t->step.ranks != ranks)
        start(t, c, (uint32_t)batch, (uint32_t)ranks);
    add(&t->step.torch, c[WHAT].text, (double)bytes, (unsigned)n);
    t->n_rows++;
    return FR_OK;
}

TEST(ranks_hold_keep_and_send_what_they_do_in_pytorch)
{
    static const struct fr__csv_column columns[] = {
        [MODEL] = {"model", true}, [BATCH] = {"batch", true},
        [RANKS] = {"ranks", true}, [STRATEGY] = {"strategy", true},
        [WHAT] = {"what", true},   [BYTES] = {"bytes", true},
        [COUNT] = {"count", true}, {NULL, false}};
    const char *srcdir = getenv("srcdir");
    struct table t = {.n_rows = 0};
    struct fr_error err;
    char path[4096];

    snprintf(path, sizeof(path), "%s/tests/oracles/torch/parallel.csv", srcdir ? srcdir : ".");
    ck_assert_msg(fr__csv_read(path, columns, read_row, &t, &err) == FR_OK, "%s", err.text);
    compare(&t.step);
    ck_assert_uint_eq(t.n_steps, 20);
    ck_assert_uint_gt(t.n_rows, 100);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "strategies/torch_parallel");
}
