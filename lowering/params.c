/* lowering/params.c - parameters, their gradients and updates, found in a training
 * graph. */
#include "config.h"

#include "lowering/params.h"

#include "base/error.h"

#include <stdlib.h>

static enum fr__role role_of(const struct fr_op *o)
{
    switch (o->phase) {
    case FR_PHASE_UPDATE:
        return FR__ROLE_UPDATE;
    case FR_PHASE_BACKWARD_WEIGHT:
        return o->kind == FR_OP_GRAD_ADD && !o->scales ? FR__ROLE_SUM : FR__ROLE_BACKWARD;
    case FR_PHASE_BACKWARD_DATA:
        return FR__ROLE_BACKWARD;
    default:
        return FR__ROLE_FORWARD;
    }
}

static bool is_body(enum fr__role role)
{
    return role == FR__ROLE_FORWARD || role == FR__ROLE_BACKWARD;
}

struct finding {
    const struct fr_graph *g;
    enum fr__role *roles;
    bool *is_gradient, *is_read, *is_held;
    struct fr__owner *owners;
    uint32_t *owner_of, *updates, *tail;
    size_t n_owners, n_tail;
};

static void find_roles(struct finding *f)
{
    const struct fr_graph *g = f->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        f->roles[o] = role_of(&g->ops[o]);
        f->owner_of[o] = FR_NONE;
        if (!is_body(f->roles[o]))
            f->tail[f->n_tail++] = o;
        if (g->ops[o].phase != FR_PHASE_FORWARD || g->ops[o].param_bytes == 0)
            continue;
        f->owner_of[o] = (uint32_t)f->n_owners;
        f->owners[f->n_owners++] =
            (struct fr__owner){.op = o,
                               .bytes = g->ops[o].param_bytes,
                               .n_tensors = g->ops[o].n_params > 0 ? g->ops[o].n_params : 1,
                               .ready = FR_NONE,
                               .weights = fr__weights_of(g, o)};
    }
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (e->tensor == FR_NONE)
            continue;
        if (is_body(f->roles[e->src]) == is_body(f->roles[e->dst]))
            f->is_read[e->tensor] = true;
        else if (f->roles[e->src] == FR__ROLE_BACKWARD)
            f->is_gradient[e->tensor] = true;
    }
}

static void find_held(struct finding *f, bool is_loss_layer[])
{
    const struct fr_graph *g = f->g;

    for (size_t o = 0; o < g->n_ops; o++) {
        if (g->ops[o].kind == FR_OP_LOSS && g->ops[o].phase == FR_PHASE_FORWARD)
            is_loss_layer[g->ops[o].layer] = true;
        for (uint32_t k = 0; g->ops[o].phase == FR_PHASE_INPUT && k < g->ops[o].n_tensors; k++)
            f->is_held[g->ops[o].first_tensor + k] = true;
    }
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (e->tensor != FR_NONE && g->ops[e->dst].phase == FR_PHASE_FORWARD &&
            is_loss_layer[g->ops[e->dst].layer] && !is_loss_layer[g->ops[e->src].layer])
            f->is_held[e->tensor] = true;
    }
}

/* Whether op o changes the parameters that it belongs to: what casts them afterwards does not. */
static bool updates(const struct finding *f, uint32_t o)
{
    return f->roles[o] == FR__ROLE_UPDATE && f->g->ops[o].kind != FR_OP_CAST;
}

/* Output layers: the products that a loss comes from with no other product between. `stack` and
 * `is_seen`: [n_ops], all zero. */
static void find_ends(struct finding *f, uint32_t stack[], bool is_seen[])
{
    const struct fr_graph *g = f->g;
    size_t n = 0;

    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].kind == FR_OP_LOSS && g->ops[o].phase == FR_PHASE_FORWARD) {
            is_seen[o] = true;
            stack[n++] = o;
        }
    while (n > 0) {
        uint32_t o = stack[--n];

        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            uint32_t src = g->edges[g->in_edges[i]].src;

            if (is_seen[src] || g->edges[g->in_edges[i]].tensor == FR_NONE)
                continue;
            is_seen[src] = true;
            if (!fr_op_kind_is_product(g->ops[src].kind))
                stack[n++] = src;
            else if (f->owner_of[src] != FR_NONE)
                f->owners[f->owner_of[src]].weights.is_end = true;
        }
    }
}

static struct fr__owner *owner_of_op(const struct finding *f, uint32_t op)
{
    uint32_t forward = f->g->ops[op].forward;

    if (forward == FR_NONE || f->owner_of[forward] == FR_NONE || f->g->ops[forward].is_frozen)
        return NULL;
    return &f->owners[f->owner_of[forward]];
}

static void note_ready(struct fr__owner *w, uint32_t op)
{
    if (w->ready == FR_NONE || w->ready < op)
        w->ready = op;
}

/* The gradient is ready when the last op that an update waits for is done. */
static void find_gradients(struct finding *f)
{
    const struct fr_graph *g = f->g;

    for (uint32_t u = 0; u < g->n_ops; u++) {
        struct fr__owner *w = updates(f, u) ? owner_of_op(f, u) : NULL;

        if (!w)
            continue;
        w->n_updates++;
        for (uint32_t i = g->in_first[u]; i < g->in_first[u + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];

            if (f->roles[e->src] != FR__ROLE_BACKWARD && f->roles[e->src] != FR__ROLE_SUM)
                continue;
            note_ready(w, e->src);
            w->has_tensor |= e->tensor != FR_NONE;
        }
    }
}

/* Where no edge says it: the gradient comes from the op's backward-weight ops, or lacking these
 * from its last backward op. */
static void find_unlinked_gradients(struct finding *f)
{
    static const enum fr_phase phases[] = {FR_PHASE_BACKWARD_WEIGHT, FR_PHASE_BACKWARD_DATA};
    const struct fr_graph *g = f->g;

    for (size_t k = 0; k < 2; k++)
        for (uint32_t o = (uint32_t)g->n_ops; o-- > 0;) {
            struct fr__owner *w = g->ops[o].phase == phases[k] ? owner_of_op(f, o) : NULL;

            if (w && w->ready == FR_NONE && f->roles[o] == FR__ROLE_BACKWARD)
                w->ready = o;
        }
}

static size_t group_updates(struct finding *f)
{
    const struct fr_graph *g = f->g;
    uint32_t n = 0;

    for (size_t i = 0; i < f->n_owners; i++) {
        f->owners[i].first_update = n;
        n += f->owners[i].n_updates;
        f->owners[i].n_updates = 0;
    }
    for (uint32_t u = 0; u < g->n_ops; u++) {
        struct fr__owner *w = updates(f, u) ? owner_of_op(f, u) : NULL;

        if (w)
            f->updates[w->first_update + w->n_updates++] = u;
    }
    return n;
}

enum fr_status fr__params_find(struct fr__params *out, const struct fr_graph *g,
                               struct fr__arena *arena, struct fr_error *err)
{
    struct finding f = {.g = g};
    bool *is_loss_layer = fr__arena_alloc(arena, g->n_layers, sizeof(*is_loss_layer));
    bool *is_seen = fr__arena_alloc(arena, g->n_ops, sizeof(*is_seen));
    uint32_t *stack = fr__arena_alloc(arena, g->n_ops, sizeof(*stack));

    f.roles = fr__arena_alloc(arena, g->n_ops, sizeof(*f.roles));
    f.is_gradient = fr__arena_alloc(arena, g->n_tensors, sizeof(*f.is_gradient));
    f.is_read = fr__arena_alloc(arena, g->n_tensors, sizeof(*f.is_read));
    f.is_held = fr__arena_alloc(arena, g->n_tensors, sizeof(*f.is_held));
    f.owners = fr__arena_alloc(arena, g->n_ops, sizeof(*f.owners));
    f.owner_of = fr__arena_alloc(arena, g->n_ops, sizeof(*f.owner_of));
    f.updates = fr__arena_alloc(arena, g->n_ops, sizeof(*f.updates));
    f.tail = fr__arena_alloc(arena, g->n_ops, sizeof(*f.tail));
    if (!is_loss_layer || !is_seen || !stack || !f.is_held || !f.roles || !f.is_gradient ||
        !f.is_read || !f.owners || !f.owner_of || !f.updates || !f.tail)
        return fr__fail_nomem(err);
    find_roles(&f);
    find_held(&f, is_loss_layer);
    find_ends(&f, stack, is_seen);
    find_gradients(&f);
    find_unlinked_gradients(&f);
    *out = (struct fr__params){.roles = f.roles,
                               .is_gradient = f.is_gradient,
                               .is_read = f.is_read,
                               .is_held = f.is_held,
                               .n_owners = f.n_owners,
                               .n_updates = group_updates(&f),
                               .n_tail = f.n_tail,
                               .owners = f.owners,
                               .owner_of = f.owner_of,
                               .updates = f.updates,
                               .tail = f.tail};
    return FR_OK;
}

/* ---- kept ---- */

struct fr_kept_params {
    const struct fr_graph *graph;
    struct fr__arena *arena;
    struct fr__params params;
};

struct fr_kept_params *fr__kept_params_new(const struct fr_graph *g)
{
    struct fr_kept_params *k = calloc(1, sizeof(*k));
    struct fr_error ignored; /* the memory alone can fail */

    if (!k)
        return NULL;
    k->graph = g;
    k->arena = fr__arena_new();
    if (k->arena && fr__params_find(&k->params, g, k->arena, &ignored) == FR_OK)
        return k;
    fr__kept_params_free(k);
    return NULL;
}

void fr__kept_params_free(struct fr_kept_params *k)
{
    if (k)
        fr__arena_free(k->arena);
    free(k);
}

bool fr__kept_params_of(const struct fr_kept_params *k, const struct fr_graph *g,
                        struct fr__params *out)
{
    if (!k || k->graph != g)
        return false;
    *out = k->params;
    return true;
}
