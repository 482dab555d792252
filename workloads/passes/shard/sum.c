/* workloads/passes/shard/sum.c - sums of gradients.
 *
 * All that a sum adds must be placed alike. Partial gradients stay partial, and their sum is
 * redistributed once: so the inputs of three products that read the same tensor cost one message,
 * as those of Megatron-LM's one wide product. Sums are made pairwise, in the order in which
 * gradients come. Where a partial one comes after one that is not (the residual's, of a norm that
 * comes last), the pairs are chosen anew once all are there: the partial ones first, then the
 * others.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include <string.h>

static const int8_t *placement(const struct fr__sharding *s, uint32_t t)
{
    return s->versions[s->first_version[t]].at;
}

static bool is_sum(const struct fr_op *op)
{
    return op->kind == FR_OP_GRAD_ADD && op->phase == FR_PHASE_BACKWARD_DATA;
}

/* The next sum of the same chain: the only reader of what o writes. FR_NONE. */
static uint32_t next_sum(const struct fr_graph *g, uint32_t o)
{
    uint32_t first = g->out_first[o], next;

    if (g->out_first[o + 1] != first + 1)
        return FR_NONE;
    next = g->edges[first].dst;
    return is_sum(&g->ops[next]) && g->ops[next].forward == g->ops[o].forward ? next : FR_NONE;
}

static bool has_partial(const struct fr__sharding *s, uint32_t t)
{
    for (size_t a = 0; a < s->n_axes; a++)
        if (placement(s, t)[a] == FR__PARTIAL)
            return true;
    return false;
}

/* Where both are alike over an axis, they stay so; else they go where the forward tensor waits. */
static void common(const struct fr__sharding *s, uint32_t like, const int8_t x[], const int8_t y[],
                   int8_t at[])
{
    for (size_t a = 0; a < s->n_axes; a++)
        at[a] = x[a] == y[a] ? x[a] : s->rest[(size_t)like * s->n_axes + a];
}

/* The edge over which op o reads tensor t; if it does not, some edge that carries t. */
static uint32_t edge_of(const struct fr_graph *g, uint32_t o, uint32_t t)
{
    uint32_t writer = g->tensors[t].op, some = FR_NONE;

    for (uint32_t e = g->out_first[writer]; e < g->out_first[writer + 1]; e++)
        if (g->edges[e].tensor == t) {
            if (g->edges[e].dst == o)
                return e;
            some = e;
        }
    return some;
}

/* Adds op o, which adds up given tensors x and y (FR_NONE: x alone). What it writes stands for its
 * own output. */
static void add(struct fr__sharding *s, uint32_t o, uint32_t x, uint32_t y)
{
    uint32_t out = s->g->ops[o].first_tensor;
    const struct fr__reader reader = {.op = o, .pass = FR__PASS_BACKWARD};
    struct fr__input in[2];
    int8_t at[FR__MAX_AXES] = {0};
    size_t n = 0;

    common(s, s->twin[out], placement(s, x), placement(s, y == FR_NONE ? x : y), at);
    in[n++] = (struct fr__input){edge_of(s->g, o, x), fr__sharding_get(s, x, at, &reader)};
    if (y != FR_NONE)
        in[n++] = (struct fr__input){edge_of(s->g, o, y), fr__sharding_get(s, y, at, &reader)};
    fr__sharding_emit(s, o, in, n, at);
}

/* ---- waiting sums ---- */

static struct fr__sum *start(struct fr__sharding *s, uint32_t o)
{
    struct fr__sum *sum = fr__arena_alloc(s->w.scratch, 1, sizeof(*sum));
    size_t n = 2;

    for (uint32_t at = o; at != FR_NONE; at = next_sum(s->g, at))
        n++;
    if (sum) {
        sum->leaves = fr__arena_alloc(s->w.scratch, n, sizeof(*sum->leaves));
        sum->ops = fr__arena_alloc(s->w.scratch, n, sizeof(*sum->ops));
    }
    if (!sum || !sum->leaves || !sum->ops) {
        fr__rewriter_fail(&s->w);
        return NULL;
    }
    return sum;
}

/* Adds up what has waited, partial gradients first. */
static void finish(struct fr__sharding *s, const struct fr__sum *sum)
{
    uint32_t so_far = FR_NONE, n = 0;

    for (unsigned is_whole = 0; is_whole < 2; is_whole++)
        for (uint32_t i = 0; i < sum->n_leaves; i++) {
            if (has_partial(s, sum->leaves[i]) == (is_whole != 0))
                continue;
            if (so_far == FR_NONE) {
                so_far = sum->leaves[i];
                continue;
            }
            add(s, sum->ops[n], so_far, sum->leaves[i]);
            if (fr__rewriter_has_failed(&s->w))
                return;
            so_far = s->g->ops[sum->ops[n++]].first_tensor;
        }
}

void fr__sharding_add_sum(struct fr__sharding *s, uint32_t o)
{
    const struct fr_graph *g = s->g;
    struct fr__sum *sum = s->sums[o];
    uint32_t leaves[2] = {FR_NONE, FR_NONE}, n = 0, next = next_sum(g, o);

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1] && n < 2; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor != FR_NONE && s->first_version[e->tensor] != FR_NONE)
            leaves[n++] = e->tensor;
    }
    if (!sum && n == 2 && next != FR_NONE &&
        has_partial(s, leaves[0]) != has_partial(s, leaves[1]) && !(sum = start(s, o)))
        return;
    if (!sum) {
        if (n > 0)
            add(s, o, leaves[0], leaves[1]);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        sum->leaves[sum->n_leaves++] = leaves[i];
    sum->ops[sum->n_ops++] = o;
    if (next != FR_NONE)
        s->sums[next] = sum;
    else
        finish(s, sum);
}
