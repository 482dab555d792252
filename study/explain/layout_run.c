/* study/explain/layout_run.c - kinds of layers and what they send: see layout_run.h. */
#include "config.h"

#include "study/explain/layout_run.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/explain/layout_parts.h"

#include <string.h>

/* ---- units that are equal ---- */

struct kinds {
    struct fr__layout_run *r;
    const struct fr_graph *g;
    size_t n_groups;   /* units and the root */
    uint32_t *first;   /* [n_groups + 1] into members */
    uint32_t *members; /* [n_ops] by group, in graph order */
    uint32_t *kind_of; /* [n_groups] */
};

static uint32_t group_of(const struct kinds *k, size_t op)
{
    uint32_t u = k->r->layout->unit_of[op];

    return u == FR_NONE ? (uint32_t)k->n_groups - 1 : u;
}

/* Forward ops and messages say what a layer is. How the rest of the backward pass adds up
 * gradients depends on the next layer too. */
static bool counts(const struct fr_op *op)
{
    return op->phase <= FR_PHASE_FORWARD || fr_op_kind_is_message(op->kind);
}

static bool sort_ops(struct kinds *k)
{
    size_t n = k->g->n_ops;
    uint32_t *next = fr__arena_alloc(k->r->arena, k->n_groups + 1, sizeof(*next));

    k->first = fr__arena_alloc(k->r->arena, k->n_groups + 1, sizeof(*k->first));
    k->members = fr__arena_alloc(k->r->arena, n + 1, sizeof(*k->members));
    k->kind_of = fr__arena_alloc(k->r->arena, k->n_groups + 1, sizeof(*k->kind_of));
    if (!next || !k->first || !k->members || !k->kind_of)
        return false;
    for (size_t o = 0; o < n; o++)
        k->first[group_of(k, o) + 1] += counts(&k->g->ops[o]);
    for (size_t u = 0; u < k->n_groups; u++)
        k->first[u + 1] += k->first[u];
    memcpy(next, k->first, k->n_groups * sizeof(*next));
    for (size_t o = 0; o < n; o++)
        if (counts(&k->g->ops[o]))
            k->members[next[group_of(k, o)]++] = (uint32_t)o;
    return true;
}

static bool are_equal_ops(const struct fr_graph *g, uint32_t a, uint32_t b)
{
    const struct fr_op *x = &g->ops[a], *y = &g->ops[b];
    const struct fr_tensor *s, *t;

    if (x->kind != y->kind || x->phase != y->phase || x->param_bytes != y->param_bytes ||
        x->n_tensors != y->n_tensors || x->flops < y->flops || x->flops > y->flops)
        return false;
    s = x->n_tensors ? &g->tensors[x->first_tensor] : NULL;
    t = y->n_tensors ? &g->tensors[y->first_tensor] : NULL;
    return !s || (s->bytes == t->bytes && s->n_dims == t->n_dims &&
                  memcmp(s->dims, t->dims, sizeof(s->dims)) == 0);
}

static bool are_equal(const struct kinds *k, uint32_t a, uint32_t b)
{
    uint32_t n = k->first[a + 1] - k->first[a];

    if (k->first[b + 1] - k->first[b] != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!are_equal_ops(k->g, k->members[k->first[a] + i], k->members[k->first[b] + i]))
            return false;
    return true;
}

/* The root is a kind of its own, the last one. */
static bool find_kinds(struct kinds *k)
{
    struct fr__layout_run *r = k->r;
    struct fr__layout_kind *kinds = fr__arena_alloc(r->arena, k->n_groups, sizeof(*kinds));

    if (!kinds)
        return false;
    for (uint32_t u = 0; u < k->n_groups; u++) {
        bool is_root = u + 1 == k->n_groups;
        size_t i = is_root ? r->n_kinds : 0;

        while (i < r->n_kinds && !are_equal(k, kinds[i].first, u))
            i++;
        k->kind_of[u] = (uint32_t)i;
        if (i == r->n_kinds)
            kinds[r->n_kinds++].first = u;
        kinds[i].n_units += !is_root;
    }
    r->kinds = kinds;
    return true;
}

/* ---- the ops of a kind ---- */

static bool list_ops(struct kinds *k)
{
    struct fr__layout_run *r = k->r;
    const struct fr_layout *l = r->layout;
    uint32_t *ops = fr__arena_alloc(r->arena, l->n_ops + 1, sizeof(*ops));
    struct fr__layout_kind *kinds = r->kinds;
    size_t n = 0;

    for (size_t i = 0; ops && i < r->n_kinds; i++) {
        kinds[i].first_op = n;
        for (size_t o = 0; o < l->n_ops; o++)
            if (group_of(k, l->ops[o].op) == kinds[i].first)
                ops[n++] = (uint32_t)o;
        kinds[i].n_ops = n - kinds[i].first_op;
    }
    r->ops = ops;
    return ops;
}

/* For each forward op and message the one that stands in its place in its kind's first unit. */
static uint32_t *list_twins(const struct kinds *k)
{
    uint32_t *twin = fr__arena_alloc(k->r->arena, k->g->n_ops + 1, sizeof(*twin));

    for (uint32_t u = 0; twin && u < k->n_groups; u++) {
        uint32_t first = k->r->kinds[k->kind_of[u]].first;

        for (uint32_t i = 0; i < k->first[u + 1] - k->first[u]; i++)
            twin[k->members[k->first[u] + i]] = k->members[k->first[first] + i];
    }
    return twin;
}

/* ---- messages of a kind ---- */

static bool list_messages(struct kinds *k, const struct fr__layout_message of_op[])
{
    struct fr__layout_run *r = k->r;
    struct fr__layout_kind *kinds = r->kinds;
    struct fr__layout_message *all;
    size_t n = 0;

    for (size_t o = 0; o < k->g->n_ops; o++)
        n += of_op[o].n > 0;
    all = fr__arena_alloc(r->arena, n + 1, sizeof(*all));
    for (size_t i = 0; all && i < r->n_kinds; i++) {
        uint32_t u = kinds[i].first;

        kinds[i].first_message = r->n_messages;
        for (uint32_t m = k->first[u]; m < k->first[u + 1]; m++)
            if (of_op[k->members[m]].n > 0)
                all[r->n_messages++] = of_op[k->members[m]];
        kinds[i].n_messages = r->n_messages - kinds[i].first_message;
    }
    for (size_t i = 0; all && i < r->n_messages; i++) {
        all[i].time_s /= (double)all[i].n;
        all[i].exposed_s /= (double)all[i].n;
        all[i].bytes /= (double)all[i].n;
        all[i].wire_bytes /= (double)all[i].n;
    }
    r->messages = all;
    return all;
}

static enum fr_status make(struct fr__layout_run *r, const struct fr_explanation *e,
                           struct fr_error *err)
{
    struct kinds k = {.r = r, .g = r->graph, .n_groups = r->layout->n_units + 1};
    struct fr__layout_message *of_op =
        fr__arena_alloc(r->arena, r->graph->n_ops + 1, sizeof(*of_op));
    uint32_t *twin;

    if (!of_op || !sort_ops(&k) || !find_kinds(&k) || !list_ops(&k))
        return fr__fail_nomem(err);
    twin = list_twins(&k);
    if (!twin)
        return fr__fail_nomem(err);
    FR_TRY(fr__layout_watch(r, e->record, twin, of_op, err));
    if (!list_messages(&k, of_op))
        return fr__fail_nomem(err);
    fr__layout_count(r);
    return fr__layout_find_links(r, e->problem.topo, err);
}

enum fr_status fr__layout_run_make(struct fr__layout_run *out, const struct fr_explanation *e,
                                   struct fr_error *err)
{
    struct fr__layout_run r = {.layout = e->decisions->layout,
                               .graph = fr_plan_view(e->record->plan)->graph,
                               .arena = fr__arena_new()};
    enum fr_status st;

    if (!r.arena)
        return fr__fail_nomem(err);
    r.n_stage_ranks = 1;
    for (size_t a = 0; a < r.layout->n_axes; a++)
        if (r.layout->axes[a].is_stages)
            r.n_stage_ranks = r.layout->axes[a].size;
    st = make(&r, e, err);
    if (st == FR_OK)
        st = fr__step_rows(&r.step_rows, &r.n_step_rows, &e->problem, r.graph, r.arena, err);
    if (st == FR_OK)
        *out = r;
    else
        fr__layout_run_fini(&r);
    return st;
}

void fr__layout_run_fini(struct fr__layout_run *r)
{
    fr__arena_free(r->arena);
}
