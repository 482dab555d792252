/* strategies/pipedream/lists.c - one forward, one backward, round robin over replicas. */
#include "config.h"

#include "strategies/pipedream/lists.h"

#include "base/error.h"
#include "lowering/log.h"

#include <stdlib.h>

/* ---- lists ---- */

struct making {
    struct fr__pd_list *list;
    uint32_t q, n_replicas; /* of the seat, of its stage */
    bool has_updates;
};

static void add(struct making *m, uint32_t k, enum fr__pd_pass pass)
{
    m->list->slots[m->list->n++] = (struct fr__pd_slot){k * m->n_replicas + m->q, pass};
}

/* n micro-batches of the seat, of which so many may be on their way; each is the k-th of the seat.
 */
static void list_passes(struct making *m, uint32_t depth, uint32_t n)
{
    uint32_t warm = n < depth ? n : depth;

    for (uint32_t k = 0; k < warm; k++)
        add(m, k, FR__PD_FORWARD);
    for (uint32_t k = 0; k < n; k++) {
        add(m, k, FR__PD_BACKWARD);
        if (m->has_updates && m->n_replicas == 1)
            add(m, k, FR__PD_UPDATE);
        if (warm + k < n)
            add(m, warm + k, FR__PD_FORWARD);
        if (m->has_updates && m->n_replicas > 1)
            add(m, k, FR__PD_UPDATE);
    }
}

static enum fr_status make_list(struct fr__pd_lists *l, uint32_t stage, uint32_t q,
                                uint32_t n_devices, bool has_updates, struct fr__arena *arena,
                                struct fr_error *err)
{
    uint32_t r = l->seats->replicas_of[stage], n = (l->n_micros - q + r - 1) / r;
    struct making m = {.list = &l->of[(size_t)stage * l->seats->most + q],
                       .q = q,
                       .n_replicas = r,
                       .has_updates = has_updates};

    m.list->slots = fr__arena_alloc(arena, 3 * (size_t)n, sizeof(*m.list->slots));
    if (!m.list->slots)
        return fr__fail_nomem(err);
    list_passes(&m, (n_devices + r - 1) / r, n);
    return FR_OK;
}

enum fr_status fr__pd_lists_make(struct fr__pd_lists *out, const struct fr__pd_seats *seats,
                                 uint32_t n_micros, bool has_updates, struct fr__arena *arena,
                                 struct fr_error *err)
{
    struct fr__pd_lists l = {.seats = seats, .n_micros = n_micros};
    uint32_t n_devices = 0; /* from the stage on */

    l.of = fr__arena_alloc(arena, seats->n_stages * seats->most, sizeof(*l.of));
    if (!l.of)
        return fr__fail_nomem(err);
    for (uint32_t s = (uint32_t)seats->n_stages; s-- > 0;) {
        n_devices += seats->replicas_of[s];
        for (uint32_t q = 0; q < seats->replicas_of[s]; q++)
            FR_TRY(make_list(&l, s, q, n_devices, has_updates, arena, err));
    }
    *out = l;
    return FR_OK;
}

/* ---- an order in which all can run ---- */

struct walk {
    const struct fr__pd_lists *l;
    size_t *at;    /* [n_stages][most] next slot */
    bool *is_done; /* [n_stages][2][n_micros] */
};

static bool *done(const struct walk *w, uint32_t stage, enum fr__pd_pass pass, uint32_t micro)
{
    return &w->is_done[((size_t)stage * 2 + (pass == FR__PD_BACKWARD)) * w->l->n_micros + micro];
}

/* Stages between may hold no op of one way, and skip connections may lead over stages: so all
 * stages before must have been there. */
static bool can_run(const struct walk *w, uint32_t stage, const struct fr__pd_slot *k)
{
    switch (k->pass) {
    case FR__PD_FORWARD:
        return stage == 0 || *done(w, stage - 1, FR__PD_FORWARD, k->micro);
    case FR__PD_BACKWARD:
        return *done(w, stage, FR__PD_FORWARD, k->micro) &&
               (stage + 1 == w->l->seats->n_stages ||
                *done(w, stage + 1, FR__PD_BACKWARD, k->micro));
    case FR__PD_UPDATE:
        break;
    }
    return true;
}

/* One round over all seats, a slot each. *n: slots run. */
static enum fr_status walk_once(const struct walk *w,
                                enum fr_status (*run)(void *user, uint32_t stage, uint32_t q,
                                                      const struct fr__pd_slot *slot,
                                                      struct fr_error *err),
                                void *user, size_t *n, struct fr_error *err)
{
    const struct fr__pd_seats *seats = w->l->seats;

    for (uint32_t s = 0; s < seats->n_stages; s++)
        for (uint32_t q = 0; q < seats->replicas_of[s]; q++) {
            const struct fr__pd_list *list = fr__pd_list_at(w->l, s, q);
            size_t *at = &w->at[(size_t)s * seats->most + q];

            if (*at == list->n || !can_run(w, s, &list->slots[*at]))
                continue;
            if (list->slots[*at].pass != FR__PD_UPDATE)
                *done(w, s, list->slots[*at].pass, list->slots[*at].micro) = true;
            FR_TRY(run(user, s, q, &list->slots[(*at)++], err));
            (*n)++;
        }
    return FR_OK;
}

static enum fr_status walk_all(const struct walk *w, const struct fr_context *ctx,
                               enum fr_status (*run)(void *user, uint32_t stage, uint32_t q,
                                                     const struct fr__pd_slot *slot,
                                                     struct fr_error *err),
                               void *user, struct fr_error *err)
{
    const struct fr__pd_seats *seats = w->l->seats;
    size_t n = 0, n_all = 0, before = SIZE_MAX;

    for (size_t i = 0; i < seats->n_stages * seats->most; i++)
        n_all += w->l->of[i].n;
    while (n < n_all && n != before) {
        before = n;
        if (fr__is_cancelled(ctx))
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        FR_TRY(walk_once(w, run, user, &n, err));
    }
    if (n < n_all)
        return fr__fail(err, FR_ECHECK, FR_NOWHERE, "stages wait for each other in a circle");
    return FR_OK;
}

enum fr_status fr__pd_lists_walk(const struct fr__pd_lists *l, const struct fr_context *ctx,
                                 enum fr_status (*run)(void *user, uint32_t stage, uint32_t q,
                                                       const struct fr__pd_slot *slot,
                                                       struct fr_error *err),
                                 void *user, struct fr_error *err)
{
    struct walk w = {.l = l};
    enum fr_status st;

    w.at = calloc(l->seats->n_stages * l->seats->most, sizeof(*w.at));
    w.is_done = calloc(2 * l->seats->n_stages * l->n_micros, sizeof(*w.is_done));
    st = w.at && w.is_done ? walk_all(&w, ctx, run, user, err) : fr__fail_nomem(err);
    free(w.at);
    free(w.is_done);
    return st;
}

/* ---- ops ---- */

enum fr_status fr__pd_blocks_make(struct fr__pd_block (**out)[2], struct fr__placer *pl,
                                  const uint32_t stage_of[], size_t n_stages, struct fr_error *err)
{
    const enum fr__role *roles = pl->params.roles;
    size_t n_ops = pl->graph->n_ops;
    struct fr__pd_block(*blocks)[2] = fr__arena_alloc(pl->arena, n_stages, sizeof(*blocks));

    if (!blocks)
        return fr__fail_nomem(err);
    for (uint32_t o = 0; o < n_ops; o++)
        blocks[stage_of[o]][roles[o] == FR__ROLE_BACKWARD].n++;
    for (size_t s = 0; s < n_stages; s++)
        for (int pass = 0; pass < 2; pass++) {
            struct fr__pd_block *b = &blocks[s][pass];

            b->ops = fr__arena_alloc(pl->arena, b->n, sizeof(*b->ops));
            if (!b->ops)
                return fr__fail_nomem(err);
            b->n = 0;
        }
    for (uint32_t o = 0; o < n_ops; o++) {
        struct fr__pd_block *b = &blocks[stage_of[o]][roles[o] == FR__ROLE_BACKWARD];

        if (roles[o] == FR__ROLE_FORWARD || roles[o] == FR__ROLE_BACKWARD)
            b->ops[b->n++] = o;
    }
    *out = blocks;
    return FR_OK;
}
