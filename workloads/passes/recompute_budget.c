/* workloads/passes/recompute_budget.c - the search of recompute_budget.h, and the items of a
 * unit. */
#include "config.h"

#include "workloads/passes/recompute_budget.h"

#include "base/arena.h"
#include "base/error.h"
#include "workloads/graph/elements.h"
#include "workloads/graph/experts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the search ---- */

struct search {
    size_t n;
    const struct fr__budget_item *items;
    const uint32_t *first, *readers;
    double budget;
    uint32_t by_ratio[FR__MOST_BUDGET_ITEMS]; /* those that may free bytes, cheapest a byte first */
    size_t n_by_ratio;
    bool runs[FR__MOST_BUDGET_ITEMS], best[FR__MOST_BUDGET_ITEMS];
    double best_s;
    bool is_found;
};

/* What an item frees at most when it runs again. */
static double freed(const struct fr__budget_item *item)
{
    return item->is_fixed ? 0 : item->bytes;
}

static void sort_by_ratio(struct search *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        size_t k = s->n_by_ratio;

        if (!(freed(&s->items[i]) > 0))
            continue;
        for (; k > 0; k--) {
            const struct fr__budget_item *a = &s->items[s->by_ratio[k - 1]], *b = &s->items[i];

            if (a->cost_s * b->bytes <= b->cost_s * a->bytes)
                break;
            s->by_ratio[k] = s->by_ratio[k - 1];
        }
        s->by_ratio[k] = i;
        s->n_by_ratio++;
    }
}

/* The least time that frees so many bytes of items 0 .. left - 1, were they divisible; below 0:
 * they have not so many. */
static double least_s(const struct search *s, size_t left, double bytes)
{
    double sum_s = 0;

    for (size_t k = 0; k < s->n_by_ratio && bytes > 0; k++) {
        const struct fr__budget_item *item = &s->items[s->by_ratio[k]];

        if (s->by_ratio[k] >= left)
            continue;
        sum_s += item->cost_s * (item->bytes < bytes ? 1 : bytes / item->bytes);
        bytes -= item->bytes;
    }
    return bytes > 0 ? -1 : sum_s;
}

static bool has_reader_again(const struct search *s, size_t i)
{
    for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++)
        if (s->runs[s->readers[k]])
            return true;
    return false;
}

/* Decides items left - 1 .. 0. kept: bytes so far; rest: that items 0 .. left - 1 keep at least if
 * none of them runs again. */
static void decide(struct search *s, size_t left, double kept, double rest, double sum_s)
{
    const struct fr__budget_item *item = left > 0 ? &s->items[left - 1] : NULL;
    double bound_s = least_s(s, left, kept + rest - s->budget);
    bool is_read_again;

    if (bound_s < 0 || (s->is_found && sum_s + bound_s >= s->best_s))
        return;
    if (!item) {
        s->is_found = true;
        s->best_s = sum_s;
        memcpy(s->best, s->runs, s->n * sizeof(*s->best));
        return;
    }
    rest -= item->bytes;
    is_read_again = has_reader_again(s, left - 1);
    s->runs[left - 1] = false;
    decide(s, left - 1, kept + item->bytes + (is_read_again ? item->more : 0), rest, sum_s);
    if ((!is_read_again && !(item->bytes > 0)) || item->is_fixed)
        return;
    s->runs[left - 1] = true;
    decide(s, left - 1, kept, rest, sum_s + item->cost_s);
    s->runs[left - 1] = false;
}

bool fr__budget_solve(size_t n, const struct fr__budget_item items[], const uint32_t first[],
                      const uint32_t readers[], double budget_bytes, bool runs_again[])
{
    struct search s = {
        .n = n, .items = items, .first = first, .readers = readers, .budget = budget_bytes};
    double rest = 0;

    assert(n <= FR__MOST_BUDGET_ITEMS);
    for (size_t i = 0; i < n; i++)
        rest += items[i].bytes;
    sort_by_ratio(&s);
    decide(&s, n, 0, rest, 0);
    for (size_t i = 0; s.is_found && i < n; i++)
        runs_again[i] = s.best[i];
    return s.is_found;
}

/* ---- the items of a unit ---- */

/* Ops of a unit as items: experts alike, op by op; views and what is written in place with the op
 * whose storage it is. */
struct choosing {
    const struct fr_graph *g;
    const struct fr__units *units;
    const double *cost_s;
    const uint32_t *expert_of;
    uint32_t *item_of;             /* [n_ops] of the unit that is being looked at */
    uint32_t *n_of_expert;         /* [n_ops] by expert: ops so far */
    bool *is_backward, *is_inside; /* [n_tensors] storages: read so */
    struct fr__budget_item items[FR__MOST_BUDGET_ITEMS];
    uint32_t of_experts[FR__MOST_BUDGET_ITEMS]; /* item of the k-th op of each expert */
    bool reads[FR__MOST_BUDGET_ITEMS][FR__MOST_BUDGET_ITEMS]; /* [writer][reader] */
    uint32_t first[FR__MOST_BUDGET_ITEMS + 1];
    uint32_t readers[FR__MOST_BUDGET_ITEMS * FR__MOST_BUDGET_ITEMS];
    size_t n, n_of_experts;
};

static bool is_of_unit(const struct choosing *c, uint32_t o, uint32_t unit)
{
    return c->g->ops[o].phase == FR_PHASE_FORWARD &&
           c->units->unit_of_layer[c->g->ops[o].layer] == unit;
}

static uint32_t owner_of_storage(const struct fr_graph *g, uint32_t tensor)
{
    return g->tensors[fr__tensor_storage(g, tensor)].op;
}

/* The item of op o; FR_NONE: there are too many. */
static uint32_t place(struct choosing *c, uint32_t o, uint32_t unit)
{
    const struct fr_op *op = &c->g->ops[o];
    uint32_t expert = c->expert_of[o], owner = o, k;

    if (op->n_tensors > 0)
        owner = owner_of_storage(c->g, op->first_tensor);
    if (owner != o && is_of_unit(c, owner, unit))
        return c->item_of[owner];
    if (expert != FR_NONE && expert < c->g->n_ops) {
        k = c->n_of_expert[expert]++;
        if (k < c->n_of_experts)
            return c->of_experts[k];
        if (c->n < FR__MOST_BUDGET_ITEMS)
            c->of_experts[c->n_of_experts++] = (uint32_t)c->n;
    }
    return c->n < FR__MOST_BUDGET_ITEMS ? (uint32_t)c->n++ : FR_NONE;
}

/* Who reads what op o wrote. */
static void note_readers(struct choosing *c, uint32_t o, uint32_t unit)
{
    const struct fr_graph *g = c->g;

    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t owner, storage, item;

        if (e->tensor == FR_NONE)
            continue;
        storage = fr__tensor_storage(g, e->tensor);
        owner = g->tensors[storage].op;
        if (!is_of_unit(c, owner, unit))
            continue;
        item = c->item_of[owner];
        if (g->ops[e->dst].phase > FR_PHASE_FORWARD)
            c->is_backward[storage] = true;
        else if (!is_of_unit(c, e->dst, unit))
            c->items[item].is_fixed = true;
        else if (c->item_of[e->dst] > item) {
            c->is_inside[storage] = true;
            c->reads[item][c->item_of[e->dst]] = true;
        }
    }
}

/* Adds up what op o takes and wrote. */
static void count(struct choosing *c, uint32_t o)
{
    const struct fr_op *op = &c->g->ops[o];
    struct fr__budget_item *item = &c->items[c->item_of[o]];

    item->cost_s += c->cost_s[o];
    for (uint32_t t = op->first_tensor; t < op->first_tensor + op->n_tensors; t++) {
        if (c->g->tensors[t].alias != FR_NONE)
            continue;
        if (c->is_backward[t])
            item->bytes += (double)c->g->tensors[t].bytes;
        else if (c->is_inside[t])
            item->more += (double)c->g->tensors[t].bytes;
    }
}

static void list_readers(struct choosing *c)
{
    uint32_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        c->first[i] = n;
        for (uint32_t k = 0; k < c->n; k++)
            if (c->reads[i][k])
                c->readers[n++] = k;
    }
    c->first[c->n] = n;
}

static enum fr_status choose(struct choosing *c, uint32_t unit, double part, bool is_kept[],
                             struct fr_error *err)
{
    const struct fr_graph *g = c->g;
    bool runs[FR__MOST_BUDGET_ITEMS] = {false};
    double bytes = 0;

    c->n = c->n_of_experts = 0;
    memset(c->items, 0, sizeof(c->items));
    memset(c->reads, 0, sizeof(c->reads));
    memset(c->n_of_expert, 0, g->n_ops * sizeof(*c->n_of_expert));
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (is_of_unit(c, o, unit) && (c->item_of[o] = place(c, o, unit)) == FR_NONE)
            return fr__fail(err, FR_ERANGE, g->ops[o].loc,
                            "layer '%s' has over %d ops to choose from, too many for a budget",
                            c->units->units[unit].name, FR__MOST_BUDGET_ITEMS);
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (is_of_unit(c, o, unit))
            note_readers(c, o, unit);
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (is_of_unit(c, o, unit))
            count(c, o);
    list_readers(c);
    for (size_t i = 0; i < c->n; i++)
        bytes += c->items[i].bytes;
    if (!fr__budget_solve(c->n, c->items, c->first, c->readers, part * bytes, runs))
        for (size_t i = 0; i < c->n; i++)
            runs[i] = !c->items[i].is_fixed;
    for (uint32_t o = 0; o < g->n_ops; o++)
        for (uint32_t k = 0; is_of_unit(c, o, unit) && k < g->ops[o].n_tensors; k++)
            is_kept[g->ops[o].first_tensor + k] = !runs[c->item_of[o]];
    return FR_OK;
}

enum fr_status fr__budget_keep(const struct fr_graph *g, const struct fr__units *units,
                               const double cost_s[], double part, bool is_kept[],
                               struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct choosing *c = arena ? fr__arena_alloc(arena, 1, sizeof(*c)) : NULL;
    uint32_t *expert_of = c ? fr__arena_nones(arena, g->n_ops) : NULL;
    enum fr_status st = FR_OK;

    if (expert_of) {
        *c = (struct choosing){.g = g, .units = units, .cost_s = cost_s, .expert_of = expert_of};
        c->item_of = fr__arena_nones(arena, g->n_ops);
        c->n_of_expert = fr__arena_alloc(arena, g->n_ops, sizeof(*c->n_of_expert));
        c->is_backward = fr__arena_alloc(arena, g->n_tensors, sizeof(bool));
        c->is_inside = fr__arena_alloc(arena, g->n_tensors, sizeof(bool));
    }
    if (!expert_of || !c->item_of || !c->n_of_expert || !c->is_backward || !c->is_inside) {
        fr__arena_free(arena);
        return fr__fail_nomem(err);
    }
    fr__graph_experts(g, expert_of);
    for (uint32_t u = 0; u < units->n_units && st == FR_OK; u++)
        st = choose(c, u, part, is_kept, err);
    fr__arena_free(arena);
    return st;
}
