/* lowering/pipeline/ties.c - which items use the parameters of another, and what their stages
 * exchange for it.
 */
#include "config.h"

#include "lowering/pipeline/ties.h"

#include "base/error.h"
#include "lowering/pipeline/sums.h"

/* What goes between two items once an iteration. */
struct load {
    double send_bytes, n_sends; /* gradients to the owner */
    double back_bytes, n_backs; /* new parameters */
    uint32_t last;              /* the owning op that back_bytes has last counted */
};

struct finding {
    struct fr__placer *pl;
    const struct fr__stages_problem *in;
    const struct fr__items *items;
    struct fr__tie *ties; /* [room for all] */
    struct load *loads;   /* likewise */
    size_t n;
};

/* An op uses the parameters of another: see is_tied in lowering/replica/replica.c. */
static bool is_tied(const struct fr__placer *pl, const struct fr_edge *e)
{
    return e->tensor == FR_NONE && e->bytes > 0 && pl->params.roles[e->src] == FR__ROLE_FORWARD &&
           pl->params.roles[e->dst] == FR__ROLE_FORWARD;
}

static bool is_sent(const struct fr__placer *pl, const struct fr_edge *e)
{
    return e->tensor != FR_NONE && pl->params.roles[e->src] == FR__ROLE_BACKWARD &&
           pl->params.roles[e->dst] == FR__ROLE_SUM;
}

static size_t find(const struct finding *f, uint32_t owner, uint32_t user)
{
    size_t i = 0;

    while (i < f->n && (f->ties[i].owner != owner || f->ties[i].user != user))
        i++;
    return i;
}

static void note_tie(struct finding *f, const struct fr_edge *e)
{
    const struct fr__params *p = &f->pl->params;
    uint32_t owner = f->items->item_of[e->src], user = f->items->item_of[e->dst];
    size_t i = find(f, owner, user);
    const struct fr__owner *w;

    if (owner == user || p->owner_of[e->src] == FR_NONE)
        return;
    w = &p->owners[p->owner_of[e->src]];
    if (w->n_updates == 0)
        return;
    if (i == f->n) {
        f->ties[f->n] = (struct fr__tie){.owner = owner, .user = user};
        f->loads[f->n++] = (struct load){.last = FR_NONE};
    }
    if (f->loads[i].last == e->src)
        return;
    f->loads[i].last = e->src;
    f->loads[i].back_bytes += (double)fr__weight_bytes(f->pl, e->src, w->bytes);
    f->loads[i].n_backs++;
}

static void note_gradient(struct finding *f, const struct fr_edge *e)
{
    size_t i = find(f, f->items->item_of[e->dst], f->items->item_of[e->src]);

    if (i == f->n)
        return;
    f->loads[i].send_bytes += (double)fr__tensor_bytes(f->pl, e->tensor, e->bytes, f->in->batch);
    f->loads[i].n_sends++;
}

/* Edges of each kind in their order. */
static enum fr_status find_ties(struct finding *f, struct fr_error *err)
{
    const struct fr_graph *g = f->pl->graph;
    size_t n_most = 0;

    for (size_t i = 0; i < g->n_edges; i++)
        n_most += is_tied(f->pl, &g->edges[i]);
    f->ties = fr__arena_alloc(f->pl->arena, n_most + 1, sizeof(*f->ties)); /* 1: in->ends */
    f->loads = fr__arena_alloc(f->pl->arena, n_most + 1, sizeof(*f->loads));
    if (!f->ties || !f->loads)
        return fr__fail_nomem(err);
    for (size_t i = 0; n_most > 0 && i < g->n_edges; i++)
        if (is_tied(f->pl, &g->edges[i]))
            note_tie(f, &g->edges[i]);
    for (size_t i = 0; f->n > 0 && i < g->n_edges; i++)
        if (is_sent(f->pl, &g->edges[i]))
            note_gradient(f, &g->edges[i]);
    return FR_OK;
}

/* ---- what they take ---- */

/* Whether stage s of a cut can have that item. */
static bool can_have(const struct finding *f, size_t s, size_t item)
{
    return item >= s && f->items->n - 1 - item >= f->in->n_stages - 1 - s;
}

static double messages_s(struct fr__alone_line line, double bytes, double n)
{
    return bytes > 0 ? n * line.latency_s + bytes / line.Bps : 0;
}

static enum fr_status price_tie(struct finding *f, struct fr__routes *routes, size_t i,
                                struct fr_error *err)
{
    size_t k = f->in->n_stages;
    const struct load *load = &f->loads[i];
    struct fr__tie *tie = &f->ties[i];
    double *send_s = fr__arena_alloc(f->pl->arena, k * k, sizeof(*send_s));
    double *back_s = fr__arena_alloc(f->pl->arena, k * k, sizeof(*back_s));

    if (!send_s || !back_s)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < k; o++)
        for (size_t u = o; can_have(f, o, tie->owner) && u < k; u++) {
            uint32_t owner = f->in->devices[o], user = f->in->devices[u];

            if (!can_have(f, u, tie->user) || owner == user)
                continue;
            send_s[o * k + u] = messages_s(fr__message_line(f->pl, routes, user, owner),
                                           load->send_bytes, load->n_sends);
            back_s[o * k + u] = messages_s(fr__message_line(f->pl, routes, owner, user),
                                           load->back_bytes, load->n_backs);
        }
    tie->send_s = send_s;
    tie->back_s = back_s;
    return FR_OK;
}

/* Both ends sum: whatever their stages, it takes as long. */
static enum fr_status add_ends(struct finding *f, struct fr_error *err)
{
    const struct fr__ends_sum *ends = &f->in->ends;
    size_t k = f->in->n_stages, first = f->pl->graph->n_ops, last = first;
    double *send_s;

    for (size_t o = 0; ends->is_end && o < f->pl->graph->n_ops; o++)
        if (ends->is_end[o]) {
            first = o < first ? o : first;
            last = o;
        }
    if (first == last || !(ends->sum_s > 0))
        return FR_OK;
    send_s = fr__arena_alloc(f->pl->arena, k * k, sizeof(*send_s));
    if (!send_s)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < k * k; i++)
        send_s[i] = ends->sum_s;
    f->ties[f->n++] = (struct fr__tie){.owner = f->items->item_of[first],
                                       .user = f->items->item_of[last],
                                       .is_sum = true,
                                       .send_s = send_s,
                                       .back_s = send_s};
    return FR_OK;
}

enum fr_status fr__stages_ties(struct fr__choice_problem *out, struct fr__placer *pl,
                               const struct fr__stages_problem *in, const struct fr__items *items,
                               struct fr__routes *routes, struct fr_error *err)
{
    struct finding f = {.pl = pl, .in = in, .items = items};

    FR_TRY(find_ties(&f, err));
    for (size_t i = 0; i < f.n; i++)
        FR_TRY(price_tie(&f, routes, i, err));
    FR_TRY(add_ends(&f, err));
    out->ties = f.ties;
    out->n_ties = f.n;
    return FR_OK;
}
