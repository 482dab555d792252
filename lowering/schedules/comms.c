/* lowering/schedules/comms.c - a schedule with PyTorch's communication between its passes.
 *
 * Parameters of a stage are gathered (UNSHARD) before the pass that needs them: a rank keeps the
 * three stages that it meets next, and drops the others (RESHARD). After the last weight gradient
 * of a stage its gradients are reduced (REDUCE_GRAD), and waited for where its parameters are
 * dropped. What another rank needs is sent after the pass; the sender also puts the receive into
 * the other rank's list, where that stands at that moment, so that sends and receives of two ranks
 * meet in one order. A stage's backward waits until its activations are sent, and the end of the
 * list until all gradients are.
 * Source: PyTorch, torch/distributed/pipelining/schedules.py, _add_unshard_reshard,
 * _add_reduce_grad and _add_send_recv (2.15; the rule is theirs, the code is not).
 */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/maker.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ACTIVE = 3 }; /* stages of a rank whose parameters are whole */

struct list {
    struct fr_action *actions;
    size_t n, cap;
};

struct lowering {
    const struct fr_schedule *s;
    uint32_t *home;      /* [n_stages] its rank */
    uint32_t *n_weights; /* [n_stages] weight gradients so far */
    bool *is_active;     /* [n_stages] its parameters are whole */
    bool *is_reducing;   /* [n_stages] its gradients are under way */
    uint32_t *active;    /* [n_stages] those of the rank, in the order in which they came */
    uint32_t n_active;
    size_t *use;         /* [n_stages] the next action of its rank that needs it, SIZE_MAX */
    size_t *following;   /* [2 n_actions] of each half of an action: the next of its stage */
    bool *has_forward;   /* [n_stages n_micros] the rank has it: made there, or received */
    bool *has_backward;  /* of a stage: what its backward needs from the next one */
    struct list *passes; /* [n_ranks] with UNSHARD to WAIT_REDUCE_GRAD */
    struct list *all;    /* [n_ranks] */
    struct list *waits;  /* [n_ranks] for gradients sent */
    bool is_out_of_memory;
};

static void append(struct lowering *g, struct list *l, const struct fr_action *a)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 64;
        struct fr_action *more = realloc(l->actions, cap * sizeof(*more));

        if (!more) {
            g->is_out_of_memory = true;
            return;
        }
        l->actions = more;
        l->cap = cap;
    }
    l->actions[l->n++] = *a;
}

static void add(struct lowering *g, struct list *l, enum fr_action_kind kind, uint32_t stage,
                uint32_t micro)
{
    append(g, l,
           &(struct fr_action){
               .kind = (uint8_t)kind, .with = FR_ACTION_NONE, .stage = stage, .micro = micro});
}

/* The passes of an action: one, or the two of a pair. */
struct pass {
    unsigned kind;
    uint32_t stage, micro;
};

static unsigned passes_of(const struct fr_action *a, struct pass out[2])
{
    out[0] = (struct pass){a->kind, a->stage, a->micro};
    out[1] = (struct pass){a->with, a->with_stage, a->with_micro};
    return a->with == FR_ACTION_NONE ? 1 : 2;
}

static enum fr_status find_homes(struct lowering *g, struct fr_error *err)
{
    for (uint32_t r = 0; r < g->s->n_ranks; r++)
        for (size_t i = g->s->first[r]; i < g->s->first[r + 1]; i++) {
            struct pass k[2];
            unsigned n = passes_of(&g->s->actions[i], k);

            if (!fr_action_computes(&g->s->actions[i]))
                return fr__fail(err, FR_EUNSUPPORTED, FR_NOWHERE,
                                "schedule '%s' has actions of communication already", g->s->name);
            for (unsigned h = 0; h < n; h++) {
                uint32_t *home = &g->home[k[h].stage];

                if (*home != FR_NONE && *home != r)
                    return fr__fail(err, FR_EUNSUPPORTED, FR_NOWHERE,
                                    "communication is added to schedules of one direction, and "
                                    "'%s' has stage %u on ranks %u and %u",
                                    g->s->name, k[h].stage, *home, r);
                *home = r;
            }
        }
    return FR_OK;
}

/* ---- parameters and their gradients ---- */

static void drop(struct lowering *g, struct list *l, uint32_t i)
{
    uint32_t stage = g->active[i];

    memmove(&g->active[i], &g->active[i + 1], (--g->n_active - i) * sizeof(*g->active));
    g->is_active[stage] = false;
    if (g->is_reducing[stage])
        add(g, l, FR_ACTION_WAIT_REDUCE_GRAD, stage, FR_NONE);
    g->is_reducing[stage] = false;
    add(g, l, FR_ACTION_RESHARD, stage, FR_NONE);
}

/* Fills next with the rank's stages that are needed first from now on; returns how many. */
static unsigned find_next(const struct lowering *g, uint32_t rank, uint32_t next[MOST_ACTIVE])
{
    unsigned n = 0;

    for (uint32_t stage = 0; stage < g->s->n_stages; stage++) {
        unsigned at = n < MOST_ACTIVE ? n : MOST_ACTIVE - 1;

        if (g->home[stage] != rank || g->use[stage] == SIZE_MAX ||
            (n == MOST_ACTIVE && g->use[stage] >= g->use[next[at]]))
            continue;
        n += n < MOST_ACTIVE;
        for (; at > 0 && g->use[stage] < g->use[next[at - 1]]; at--)
            next[at] = next[at - 1];
        next[at] = stage;
    }
    return n;
}

static void gather(struct lowering *g, struct list *l, uint32_t rank)
{
    uint32_t next[MOST_ACTIVE];
    unsigned n = find_next(g, rank, next);

    for (uint32_t i = 0; i < g->n_active;) {
        bool stays = false;

        for (unsigned k = 0; k < n; k++)
            stays |= next[k] == g->active[i];
        if (stays)
            i++;
        else
            drop(g, l, i);
    }
    for (unsigned k = 0; k < n; k++)
        if (!g->is_active[next[k]]) {
            g->is_active[next[k]] = true;
            g->active[g->n_active++] = next[k];
            add(g, l, FR_ACTION_UNSHARD, next[k], FR_NONE);
        }
}

/* use: twice the index of the action, plus one for the second pass of a pair. */
static void find_uses(struct lowering *g, uint32_t rank)
{
    for (size_t i = g->s->first[rank + 1]; i-- > g->s->first[rank];) {
        struct pass k[2];

        for (unsigned h = passes_of(&g->s->actions[i], k); h-- > 0;) {
            g->following[2 * i + h] = g->use[k[h].stage];
            g->use[k[h].stage] = 2 * i + h;
        }
    }
}

static void lower_rank(struct lowering *g, uint32_t rank)
{
    struct list *l = &g->passes[rank];

    find_uses(g, rank);
    for (size_t i = g->s->first[rank]; i < g->s->first[rank + 1]; i++) {
        struct pass k[2];
        unsigned n = passes_of(&g->s->actions[i], k);

        gather(g, l, rank);
        append(g, l, &g->s->actions[i]);
        for (unsigned h = 0; h < n; h++) {
            bool makes_weights = k[h].kind == FR_ACTION_B || k[h].kind == FR_ACTION_W;

            g->use[k[h].stage] = g->following[2 * i + h];
            if (makes_weights && ++g->n_weights[k[h].stage] == g->s->n_micros) {
                add(g, l, FR_ACTION_REDUCE_GRAD, k[h].stage, FR_NONE);
                g->is_reducing[k[h].stage] = true;
            }
        }
    }
    while (g->n_active > 0)
        drop(g, l, 0);
}

/* ---- sends and receives ---- */

static size_t cell(const struct lowering *g, uint32_t stage, uint32_t micro)
{
    return (size_t)stage * g->s->n_micros + micro;
}

static bool is_ready(const struct lowering *g, const struct pass *k)
{
    if (k->kind == FR_ACTION_F)
        return k->stage == 0 || g->has_forward[cell(g, k->stage, k->micro)];
    if (k->kind == FR_ACTION_W)
        return true;
    return k->stage + 1 == g->s->n_stages || g->has_backward[cell(g, k->stage, k->micro)];
}

/* Hands a pass's result on; to another rank by a message. */
static void hand_on(struct lowering *g, uint32_t rank, const struct pass *k)
{
    bool is_forward = k->kind == FR_ACTION_F;
    uint32_t other = is_forward ? k->stage + 1 : k->stage - 1;

    if (k->kind == FR_ACTION_W || (is_forward ? other == g->s->n_stages : k->stage == 0))
        return;
    (is_forward ? g->has_forward : g->has_backward)[cell(g, other, k->micro)] = true;
    if (g->home[other] == rank)
        return;
    add(g, &g->all[rank], is_forward ? FR_ACTION_SEND_F : FR_ACTION_SEND_B, k->stage, k->micro);
    add(g, &g->all[g->home[other]], is_forward ? FR_ACTION_RECV_F : FR_ACTION_RECV_B, other,
        k->micro);
    if (!is_forward)
        add(g, &g->waits[rank], FR_ACTION_WAIT_SEND_B, k->stage, k->micro);
}

/* The backward of what was sent forward waits until that is gone. */
static void wait_sent(struct lowering *g, uint32_t rank, const struct pass *k)
{
    bool is_backward = k->kind == FR_ACTION_B || k->kind == FR_ACTION_I;

    if (is_backward && k->stage + 1 < g->s->n_stages && g->home[k->stage + 1] != rank)
        add(g, &g->all[rank], FR_ACTION_WAIT_SEND_F, k->stage, k->micro);
}

/* The next action of the rank, if it can run. */
static bool run_next(struct lowering *g, uint32_t rank, size_t *at)
{
    const struct fr_action *a = &g->passes[rank].actions[*at];
    struct pass k[2];
    unsigned n = passes_of(a, k);

    if (fr_action_computes(a))
        for (unsigned h = 0; h < n; h++)
            if (!is_ready(g, &k[h]))
                return false;
    append(g, &g->all[rank], a);
    (*at)++;
    if (!fr_action_computes(a))
        return true;
    for (unsigned h = 0; h < n; h++)
        wait_sent(g, rank, &k[h]);
    for (unsigned h = 0; h < n; h++)
        hand_on(g, rank, &k[h]);
    return true;
}

/* One action a rank in turn, as PyTorch does: it fixes where receives stand. */
static enum fr_status send(struct lowering *g, size_t at[], struct fr_error *err)
{
    bool has_moved = true;

    while (has_moved && !g->is_out_of_memory) {
        has_moved = false;
        for (uint32_t r = 0; r < g->s->n_ranks; r++)
            if (at[r] < g->passes[r].n)
                has_moved |= run_next(g, r, &at[r]);
    }
    for (uint32_t r = 0; r < g->s->n_ranks; r++) {
        if (at[r] < g->passes[r].n && !g->is_out_of_memory)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "schedule '%s' cannot end: its ranks wait for each other", g->s->name);
        for (size_t i = 0; i < g->waits[r].n; i++)
            append(g, &g->all[r], &g->waits[r].actions[i]);
    }
    return g->is_out_of_memory ? fr__fail_nomem(err) : FR_OK;
}

/* ---- all of it ---- */

static enum fr_status collect(struct fr_schedule **out, const struct lowering *g,
                              struct fr_error *err)
{
    struct fr_schedule *s;
    uint64_t n = 0;

    for (uint32_t r = 0; r < g->s->n_ranks; r++)
        n += g->all[r].n;
    FR_TRY(fr__schedule_new(&s, g->s->n_ranks, n, err));
    memcpy(s->name, g->s->name, sizeof(s->name));
    s->weights = g->s->weights;
    s->n_stages = g->s->n_stages;
    s->n_micros = g->s->n_micros;
    s->n_virtual = g->s->n_virtual;
    for (uint32_t r = 0; r < g->s->n_ranks; r++) {
        fr__schedule_rank(s, r);
        memcpy(s->actions + s->n_actions, g->all[r].actions, g->all[r].n * sizeof(*s->actions));
        s->n_actions += g->all[r].n;
    }
    s->first[s->n_ranks] = s->n_actions;
    *out = s;
    return FR_OK;
}

static enum fr_status lower(struct fr_schedule **out, struct lowering *g, struct fr_error *err)
{
    size_t *at = calloc((size_t)g->s->n_ranks + 1, sizeof(*at));
    enum fr_status st = at ? find_homes(g, err) : fr__fail_nomem(err);

    for (uint32_t r = 0; r < g->s->n_ranks && st == FR_OK; r++)
        lower_rank(g, r);
    if (st == FR_OK)
        st = send(g, at, err);
    if (st == FR_OK)
        st = collect(out, g, err);
    free(at);
    return st;
}

static bool allocate(struct lowering *g)
{
    size_t n_stages = (size_t)g->s->n_stages + 1, n_ranks = (size_t)g->s->n_ranks + 1;
    size_t n_cells = (size_t)g->s->n_stages * g->s->n_micros + 1;

    g->home = malloc(n_stages * sizeof(*g->home));
    g->n_weights = calloc(n_stages, sizeof(*g->n_weights));
    g->is_active = calloc(n_stages, sizeof(*g->is_active));
    g->is_reducing = calloc(n_stages, sizeof(*g->is_reducing));
    g->active = calloc(n_stages, sizeof(*g->active));
    g->use = malloc(n_stages * sizeof(*g->use));
    g->following = calloc(2 * g->s->n_actions + 1, sizeof(*g->following));
    g->has_forward = calloc(n_cells, sizeof(*g->has_forward));
    g->has_backward = calloc(n_cells, sizeof(*g->has_backward));
    g->passes = calloc(n_ranks, sizeof(*g->passes));
    g->all = calloc(n_ranks, sizeof(*g->all));
    g->waits = calloc(n_ranks, sizeof(*g->waits));
    if (!g->home || !g->n_weights || !g->is_active || !g->is_reducing || !g->active || !g->use ||
        !g->following || !g->has_forward || !g->has_backward || !g->passes || !g->all || !g->waits)
        return false;
    for (size_t i = 0; i < n_stages; i++) {
        g->home[i] = FR_NONE;
        g->use[i] = SIZE_MAX;
    }
    return true;
}

static void release(struct lowering *g)
{
    for (uint32_t r = 0; r < g->s->n_ranks; r++) {
        if (g->passes)
            free(g->passes[r].actions);
        if (g->all)
            free(g->all[r].actions);
        if (g->waits)
            free(g->waits[r].actions);
    }
    free(g->home);
    free(g->n_weights);
    free(g->is_active);
    free(g->is_reducing);
    free(g->active);
    free(g->use);
    free(g->following);
    free(g->has_forward);
    free(g->has_backward);
    free(g->passes);
    free(g->all);
    free(g->waits);
}

enum fr_status fr_schedule_add_comms(struct fr_schedule **out, const struct fr_schedule *s,
                                     struct fr_error *err)
{
    struct lowering g = {.s = s};
    enum fr_status st;

    FR_TRY(fr_schedule_check(s, err));
    st = allocate(&g) ? lower(out, &g, err) : fr__fail_nomem(err);
    release(&g);
    return st;
}
