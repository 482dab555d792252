/* strategies/pipedream/cuts.c - the places where a model can be cut through a single tensor.
 *
 * A model with wide branches has too many states to plan among (Inception-v3: 221 564). Those whose
 * layers on the near side are read across the cut from one layer alone are few, and found without
 * the others: for a layer u, all that it needs and all that hangs on these without passing through
 * u. What is left then falls into parts that only u joins; any of them but not all may stand before
 * the cut as well.
 */
#include "config.h"

#include "strategies/pipedream/pipedream.h"

#include "base/bits.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BRANCHES = 20 };

struct cuts {
    const struct fr__pd_layers *l;
    size_t n_words, n, cap, most;
    uint64_t *sets;  /* [n][n_words] */
    uint64_t *whole; /* what the last state holds */
    uint64_t *near, *branch, *far;
    uint32_t *stack, *in_first, *ins; /* [n layers]; who is read by each */
    uint64_t *branches;               /* [MAX_BRANCHES][n_words] */
};

static enum fr_status add(struct cuts *c, const uint64_t *set, struct fr_error *err)
{
    if (c->n >= c->most)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "over %zu places to cut at, even through a single tensor; 'max-states' "
                        "allows more",
                        c->most);
    if (!fr__grow(&c->sets, &c->cap, (c->n + 1) * c->n_words, sizeof(*c->sets)))
        return fr__fail_nomem(err);
    memcpy(c->sets + c->n++ * c->n_words, set, c->n_words * sizeof(*set));
    return FR_OK;
}

/* What the source leads to, and all that this needs. */
static void find_whole(struct cuts *c)
{
    const struct fr__pd_layers *l = c->l;
    const uint64_t *after = l->after + l->source * c->n_words;

    fr__pd_add(c->whole, l->source);
    fr__pd_unite(c->whole, after, c->n_words);
    for (uint32_t v = 0; v < l->n; v++)
        if (fr__pd_has(after, v))
            fr__pd_unite(c->whole, l->before + v * c->n_words, c->n_words);
}

/* Adds layer v and all that it needs to c->near; what is new goes on the stack. */
static size_t pull(struct cuts *c, uint32_t v, size_t n_stack)
{
    const uint64_t *before = c->l->before + v * c->n_words;

    for (size_t w = 0; w < c->n_words; w++)
        for (uint64_t left = before[w] & ~c->near[w]; left; left &= left - 1)
            c->stack[n_stack++] = (uint32_t)(w * 64 + fr__lowest_bit(left));
    fr__pd_unite(c->near, before, c->n_words);
    if (!fr__pd_has(c->near, v)) {
        fr__pd_add(c->near, v);
        c->stack[n_stack++] = v;
    }
    return n_stack;
}

/* c->near: the least set with u in it that only u leads out of. */
static void find_near(struct cuts *c, uint32_t u)
{
    const struct fr__pd_layers *l = c->l;
    size_t n_stack;

    memset(c->near, 0, c->n_words * sizeof(*c->near));
    n_stack = pull(c, u, 0);
    while (n_stack > 0) {
        uint32_t v = c->stack[--n_stack];

        for (uint32_t e = l->out_first[v]; v != u && e < l->out_first[v + 1]; e++)
            if (fr__pd_has(c->whole, l->outs[e]) && !fr__pd_has(c->near, l->outs[e]))
                n_stack = pull(c, l->outs[e], n_stack);
    }
}

static size_t reach(struct cuts *c, uint32_t v, size_t n_stack)
{
    if (!fr__pd_has(c->far, v))
        return n_stack;
    c->far[v / 64] &= ~(UINT64_C(1) << v % 64);
    fr__pd_add(c->branch, v);
    c->stack[n_stack] = v;
    return n_stack + 1;
}

/* c->branch: layers of c->far joined to v over any edges; they leave c->far. */
static void find_branch(struct cuts *c, uint32_t v)
{
    const struct fr__pd_layers *l = c->l;
    size_t n_stack;

    memset(c->branch, 0, c->n_words * sizeof(*c->branch));
    n_stack = reach(c, v, 0);
    while (n_stack > 0) {
        uint32_t w = c->stack[--n_stack];

        for (uint32_t e = l->out_first[w]; e < l->out_first[w + 1]; e++)
            n_stack = reach(c, l->outs[e], n_stack);
        for (uint32_t e = c->in_first[w]; e < c->in_first[w + 1]; e++)
            n_stack = reach(c, c->ins[e], n_stack);
    }
}

/* The parts that u joins to c->near, into c->branches. */
static enum fr_status find_branches(struct cuts *c, uint32_t u, unsigned *n, struct fr_error *err)
{
    const struct fr__pd_layers *l = c->l;

    *n = 0;
    for (size_t w = 0; w < c->n_words; w++)
        c->far[w] = c->whole[w] & ~c->near[w];
    for (uint32_t e = l->out_first[u]; e < l->out_first[u + 1]; e++) {
        if (!fr__pd_has(c->far, l->outs[e]))
            continue;
        if (*n == MAX_BRANCHES)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "a layer leads into over %d parts that nothing else joins",
                            MAX_BRANCHES);
        find_branch(c, l->outs[e]);
        memcpy(c->branches + (size_t)*n * c->n_words, c->branch, c->n_words * sizeof(*c->branch));
        ++*n;
    }
    return FR_OK;
}

static enum fr_status add_cuts_of(struct cuts *c, uint32_t u, struct fr_error *err)
{
    unsigned n;

    find_near(c, u);
    FR_TRY(find_branches(c, u, &n, err));
    for (uint64_t chosen = 0; n > 0 && chosen + 1 < UINT64_C(1) << n; chosen++) {
        memcpy(c->branch, c->near, c->n_words * sizeof(*c->near));
        for (uint64_t left = chosen; left; left &= left - 1)
            fr__pd_unite(c->branch, c->branches + fr__lowest_bit(left) * c->n_words, c->n_words);
        FR_TRY(add(c, c->branch, err));
    }
    return FR_OK;
}

static enum fr_status find_cuts(struct cuts *c, struct fr_error *err)
{
    const struct fr__pd_layers *l = c->l;
    const uint64_t *after = l->after + l->source * c->n_words;

    find_whole(c);
    for (uint32_t u = 0; u < l->n; u++)
        if (u == l->source || fr__pd_has(after, u))
            FR_TRY(add_cuts_of(c, u, err));
    return add(c, c->whole, err);
}

/* ---- into states ---- */

struct sized {
    uint32_t size, index;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Bytes of the layers that PipeDream holds open at that state; scratch: [n_words]. */
static double out_bytes(const struct fr__pd_layers *l, const uint64_t *set, uint64_t *scratch)
{
    double sum = 0;

    memset(scratch, 0, l->n_words * sizeof(*scratch));
    for (size_t w = 0; w < l->n_words; w++)
        for (uint64_t left = set[w]; left; left &= left - 1) {
            size_t v = w * 64 + fr__lowest_bit(left);

            if (fr__pd_meets(l->after + v * l->n_words, set, l->n_words))
                continue;
            fr__pd_unite(scratch, l->open + v * l->n_words, l->n_words);
            fr__pd_add(scratch, (uint32_t)v);
        }
    for (size_t w = 0; w < l->n_words; w++)
        for (uint64_t left = scratch[w]; left; left &= left - 1)
            sum += l->activation_bytes[w * 64 + fr__lowest_bit(left)];
    return sum;
}

static enum fr_status take(struct fr__arena *a, struct cuts *c, struct fr__pd_states *out,
                           struct fr_error *err)
{
    struct sized *order = fr__arena_alloc(a, c->n, sizeof(*order));

    out->n = c->n;
    out->sets = fr__arena_take(a, c->n * c->n_words, sizeof(*out->sets));
    out->out_bytes = fr__arena_alloc(a, c->n, sizeof(*out->out_bytes));
    if (!order || !out->sets || !out->out_bytes)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < c->n; i++) {
        order[i] = (struct sized){0, i};
        for (size_t w = 0; w < c->n_words; w++)
            for (uint64_t left = c->sets[i * c->n_words + w]; left; left &= left - 1)
                order[i].size++;
    }
    qsort(order, c->n, sizeof(*order), by_size);
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t *set = c->sets + order[i].index * c->n_words;

        memcpy(out->sets + i * c->n_words, set, c->n_words * sizeof(*set));
        out->out_bytes[i] = out_bytes(c->l, set, c->near);
    }
    return FR_OK;
}

static enum fr_status list_ins(struct fr__arena *a, struct cuts *c, struct fr_error *err)
{
    const struct fr__pd_layers *l = c->l;
    uint32_t *fill = fr__arena_alloc(a, l->n, sizeof(*fill));

    c->in_first = fr__arena_alloc(a, l->n + 1, sizeof(*c->in_first));
    c->ins = fr__arena_alloc(a, l->out_first[l->n], sizeof(*c->ins));
    if (!fill || !c->in_first || !c->ins)
        return fr__fail_nomem(err);
    for (uint32_t e = 0; e < l->out_first[l->n]; e++)
        c->in_first[l->outs[e] + 1]++;
    for (size_t v = 0; v < l->n; v++)
        c->in_first[v + 1] += c->in_first[v];
    for (uint32_t v = 0; v < l->n; v++)
        for (uint32_t e = l->out_first[v]; e < l->out_first[v + 1]; e++)
            c->ins[c->in_first[l->outs[e]] + fill[l->outs[e]]++] = v;
    return FR_OK;
}

enum fr_status fr__pd_cuts_make(struct fr__arena *a, const struct fr__pd_layers *l,
                                size_t max_states, struct fr__pd_states *out, struct fr_error *err)
{
    struct cuts c = {.l = l, .n_words = l->n_words, .most = max_states};
    enum fr_status st;

    c.whole = fr__arena_alloc(a, l->n_words, sizeof(*c.whole));
    c.near = fr__arena_alloc(a, l->n_words, sizeof(*c.near));
    c.branch = fr__arena_alloc(a, l->n_words, sizeof(*c.branch));
    c.far = fr__arena_alloc(a, l->n_words, sizeof(*c.far));
    c.stack = fr__arena_alloc(a, l->n, sizeof(*c.stack));
    c.branches = fr__arena_alloc(a, MAX_BRANCHES * l->n_words, sizeof(*c.branches));
    if (!c.whole || !c.near || !c.branch || !c.far || !c.stack || !c.branches)
        return fr__fail_nomem(err);
    FR_TRY(list_ins(a, &c, err));
    st = find_cuts(&c, err);
    if (st == FR_OK)
        st = take(a, &c, out, err);
    free(c.sets);
    return st;
}
