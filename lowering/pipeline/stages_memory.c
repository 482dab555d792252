/* lowering/pipeline/stages_memory.c - storages from the op that fills them to the last that reads
 * them, summed by item. */
#include "config.h"

#include "lowering/pipeline/stages_memory.h"

#include "base/error.h"
#include "base/units.h"
#include "workloads/graph/elements.h"

#include <math.h>
#include <stdio.h>

/* Of each storage: who reads it. */
struct readers {
    uint32_t *last_forward, *last_backward; /* [n_tensors] op, FR_NONE: none */
    uint32_t *low, *high;                   /* [n_tensors] items of its backward readers */
    uint32_t *weight; /* [n_tensors] the first item of those that make weight gradients */
};

struct counting {
    struct fr__placer *pl;
    const struct fr__items *items;
    double batch;
    struct fr__stages_memory *out;
    struct readers by;
    double *now_bytes[2];  /* [n] alive in an item's forward, backward pass, from its begin on */
    double *most_bytes[2]; /* [n] so at most */
};

static double bytes_of(const struct counting *x, uint32_t tensor)
{
    const struct fr_tensor *t = &x->pl->graph->tensors[tensor];

    return (double)fr__bytes_at(x->pl, t->bytes, t->scales, x->batch);
}

/* ---- parameters ---- */

static void sum_kept(struct counting *x)
{
    const struct fr__params *p = &x->pl->params;

    for (size_t i = 0; i < p->n_owners; i++) {
        const struct fr__owner *w = &p->owners[i];
        double bytes = (double)fr_op_stored_bytes(x->pl->graph, &x->pl->graph->ops[w->op]);

        if (w->ready != FR_NONE)
            bytes += (double)w->bytes + (double)fr__optimizer_bytes(x->pl->in, w, w->bytes);
        if (x->pl->keeping) {
            bytes = 0;
            for (int part = 0; part < FR__N_PARTS; part++)
                bytes += (double)fr__kept_bytes(x->pl, (enum fr__recipe_part)part, w->op, w->bytes);
        }
        x->out->fixed_bytes[x->items->item_of[w->op] + 1] += bytes;
    }
}

/* ---- tensors that the backward pass reads ---- */

static void find_readers(struct counting *x)
{
    const struct fr_graph *g = x->pl->graph;
    const enum fr__role *roles = x->pl->params.roles;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t t, item = x->items->item_of[e->dst], *last;

        if (e->tensor == FR_NONE ||
            (roles[e->dst] != FR__ROLE_FORWARD && roles[e->dst] != FR__ROLE_BACKWARD))
            continue;
        t = fr__tensor_storage(g, e->tensor);
        last = roles[e->dst] == FR__ROLE_FORWARD ? &x->by.last_forward[t] : &x->by.last_backward[t];
        if (*last == FR_NONE || e->dst > *last)
            *last = e->dst;
        if (roles[e->dst] == FR__ROLE_FORWARD)
            continue;
        if (x->by.low[t] == FR_NONE || item < x->by.low[t])
            x->by.low[t] = item;
        if (x->by.high[t] == FR_NONE || item > x->by.high[t])
            x->by.high[t] = item;
    }
}

static bool is_saved(const struct counting *x, uint32_t storage)
{
    uint32_t op = x->pl->graph->tensors[storage].op;

    return x->pl->params.roles[op] == FR__ROLE_FORWARD && x->by.last_backward[storage] != FR_NONE;
}

/* A stage that ends before a tensor's first backward reader need not keep it; one that begins after
 * its maker and no later than its last one has a copy. */
static void sum_saved(struct counting *x)
{
    const struct fr_graph *g = x->pl->graph;

    for (uint32_t t = 0; t < g->n_tensors; t++) {
        uint32_t maker;
        double bytes;

        if (fr__tensor_storage(g, t) != t || !is_saved(x, t))
            continue;
        maker = x->items->item_of[g->tensors[t].op];
        bytes = bytes_of(x, t);
        x->out->live_bytes[maker + 1] += bytes;
        if (x->by.high[t] > maker) { /* at maker + 1 .. high */
            x->out->enter_bytes[maker + 1] += bytes;
            x->out->enter_bytes[x->by.high[t] + 1] -= bytes;
        }
        if (x->by.low[t] > maker) {
            x->out->leave_bytes[maker + 1] += bytes;
            x->out->leave_bytes[x->by.low[t] + 1] -= bytes;
        }
    }
}

/* What a weight gradient reads stays for it, where the gradient of the input comes first: with the
 * first item whose weights need it. */
static void sum_half(struct counting *x)
{
    const struct fr_graph *g = x->pl->graph;
    const enum fr__role *roles = x->pl->params.roles;
    uint32_t *first = x->by.weight;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t t, item = x->items->item_of[e->dst];

        if (e->tensor == FR_NONE || roles[e->dst] != FR__ROLE_BACKWARD ||
            g->ops[e->dst].phase != FR_PHASE_BACKWARD_WEIGHT)
            continue;
        t = fr__tensor_storage(g, e->tensor);
        if (first[t] == FR_NONE || item < first[t])
            first[t] = item;
    }
    for (uint32_t t = 0; t < g->n_tensors; t++) {
        uint32_t op = g->tensors[t].op;

        if (first[t] != FR_NONE && !x->pl->params.is_gradient[t] &&
            (roles[op] == FR__ROLE_FORWARD || roles[op] == FR__ROLE_BACKWARD) &&
            g->ops[op].phase != FR_PHASE_BACKWARD_WEIGHT)
            x->out->half_bytes[first[t] + 1] += bytes_of(x, t);
    }
}

/* ---- the fullest moment of a pass ---- */

/* What an op makes, and works with; a storage that another item reads last is there when that
 * item's pass begins. */
static void make_outputs(struct counting *x, uint32_t o, unsigned pass)
{
    const struct fr_graph *g = x->pl->graph;
    const struct fr_op *op = &g->ops[o];
    uint32_t item = x->items->item_of[o];
    double *now = &x->now_bytes[pass][item], at_once = 0;

    for (uint32_t t = op->first_tensor; t < op->first_tensor + op->n_tensors; t++) {
        uint32_t last = pass == 0 ? x->by.last_forward[t] : x->by.last_backward[t];

        if (g->tensors[t].alias != FR_NONE)
            continue;
        if (x->pl->params.is_gradient[t]) {
            at_once += x->pl->in->keeps_gradients ? bytes_of(x, t) : 0;
            continue;
        }
        if (!x->pl->params.is_read[t])
            at_once += bytes_of(x, t);
        else
            *now += bytes_of(x, t);
        if (last != FR_NONE && x->items->item_of[last] != item && !is_saved(x, t))
            x->now_bytes[pass][x->items->item_of[last]] += bytes_of(x, t);
    }
    at_once += (double)fr__bytes_at(x->pl, op->workspace_bytes, op->scales, x->batch);
    x->most_bytes[pass][item] = fmax(x->most_bytes[pass][item], *now + at_once);
}

/* What it is the last to read goes. A tensor that the backward pass reads stays in the forward one.
 */
static void drop_inputs(struct counting *x, uint32_t o, unsigned pass)
{
    const struct fr_graph *g = x->pl->graph;
    uint32_t item = x->items->item_of[o], before = FR_NONE;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        uint32_t t = e->tensor == FR_NONE ? FR_NONE : fr__tensor_storage(g, e->tensor);

        if (t == FR_NONE || t == before || x->pl->params.is_gradient[t])
            continue;
        before = t;
        if (pass == 0 ? x->by.last_forward[t] == o && !is_saved(x, t)
                      : x->by.last_backward[t] == o &&
                            (!is_saved(x, t) || x->items->item_of[g->tensors[t].op] == item))
            x->now_bytes[pass][item] -= bytes_of(x, t);
    }
}

static void find_bursts(struct counting *x)
{
    const struct fr_graph *g = x->pl->graph;
    const double *live = x->out->live_bytes;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        enum fr__role role = x->pl->params.roles[o];

        if (role != FR__ROLE_FORWARD && role != FR__ROLE_BACKWARD)
            continue;
        make_outputs(x, o, role == FR__ROLE_BACKWARD);
        drop_inputs(x, o, role == FR__ROLE_BACKWARD);
    }
    for (size_t i = 0; i < x->items->n; i++)
        x->out->burst_bytes[i] =
            fmax(live[i] + x->most_bytes[0][i], live[i + 1] + x->most_bytes[1][i]);
}

/* ---- all of it ---- */

static bool make_room(struct counting *x)
{
    struct fr__arena *arena = x->pl->arena;
    size_t n = x->items->n, n_tensors = x->pl->graph->n_tensors;
    double **rows[] = {&x->out->fixed_bytes, &x->out->half_bytes,  &x->out->live_bytes,
                       &x->out->enter_bytes, &x->out->leave_bytes, &x->out->burst_bytes,
                       &x->now_bytes[0],     &x->now_bytes[1],     &x->most_bytes[0],
                       &x->most_bytes[1]};
    uint32_t **ids[] = {&x->by.last_forward, &x->by.last_backward, &x->by.low, &x->by.high,
                        &x->by.weight};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!(*rows[i] = fr__arena_alloc(arena, n + 2, sizeof(double))))
            return false;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (!(*ids[i] = fr__arena_nones(arena, n_tensors)))
            return false;
    return true;
}

enum fr_status fr__stages_memory(struct fr__stages_memory *out, struct fr__placer *pl,
                                 const struct fr__items *items, double batch, struct fr_error *err)
{
    struct counting x = {.pl = pl, .items = items, .batch = batch, .out = out};

    if (!make_room(&x))
        return fr__fail_nomem(err);
    sum_kept(&x);
    find_readers(&x);
    sum_saved(&x);
    sum_half(&x);
    for (size_t i = 0; i < items->n; i++) {
        out->fixed_bytes[i + 1] += out->fixed_bytes[i];
        out->live_bytes[i + 1] += out->live_bytes[i];
        out->enter_bytes[i + 1] += out->enter_bytes[i];
        out->leave_bytes[i + 1] += out->leave_bytes[i];
        out->half_bytes[i + 1] += out->half_bytes[i];
    }
    find_bursts(&x);
    return FR_OK;
}

/* ---- what is told of it ---- */

double fr__stages_more_bytes(const struct fr__placer *pl, uint32_t device)
{
    const struct fr_cut_memory *m = pl->in->memory;

    return m && m->more_bytes ? m->more_bytes[device] : 0;
}

/* Less is no difference worth a sentence. A choice of ours. */
static const double WORTH_SAYING = 1.01;

static void note(char text[], size_t size, const struct fr__chain *c, const struct fr__choice *k)
{
    char planned[32], other[32];

    fr__format_time(k->planned_s, planned, sizeof(planned));
    text[0] = '\0';
    if (k->fits && k->planned_s > k->free_s * WORTH_SAYING)
        snprintf(
            text, size,
            "memory says where the stages are cut: an iteration is planned at %s, and at %s if "
            "every cut fitted",
            planned, fr__format_time(k->free_s, other, sizeof(other)));
    else if (k->fits && k->even_s > 0 && k->planned_s > k->even_s * WORTH_SAYING)
        snprintf(
            text, size,
            "%zu layers or parts of them do not make %zu stages alike: an iteration is planned "
            "at %s, and at %s if they did",
            c->n, c->n_stages, planned, fr__format_time(k->even_s, other, sizeof(other)));
}

void fr__stages_tell_layers(const struct fr__placer *pl, size_t n_layers, size_t n_stages,
                            double planned_s, double even_s)
{
    struct fr_cut_memory *m = pl->in->memory;
    char planned[32], other[32];

    if (m && even_s > 0 && planned_s > even_s * WORTH_SAYING)
        snprintf(m->note, sizeof(m->note),
                 "%zu layers do not make %zu stages alike: an iteration is planned at %s, and at "
                 "%s if they did",
                 n_layers, n_stages, fr__format_time(planned_s, planned, sizeof(planned)),
                 fr__format_time(even_s, other, sizeof(other)));
}

void fr__stages_tell(const struct fr__placer *pl, const struct fr__stages_problem *in,
                     const struct fr__chain *c, const uint32_t first[],
                     const struct fr__choice *choice)
{
    struct fr_cut_memory *m = pl->in->memory;

    if (!m)
        return;
    note(m->note, sizeof(m->note), c, choice);
    for (size_t s = 0; s < in->n_stages; s++) {
        const struct fr_device_type *type = fr__type_of(pl, in->devices[s]);

        m->believed_bytes[in->devices[s]] =
            (double)type->context_bytes + fr__cut_rank_bytes(c, in->rank_of[s], first);
    }
}
