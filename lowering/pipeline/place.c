/* lowering/pipeline/place.c - the actions of a schedule become tasks, in an order in which
 * they can run.
 *
 * Most micro-batches are copies: once a block of a stage and kind has been made with care, the next
 * micro-batches repeat it (plan/pattern.h). A copy refers to other blocks of its micro-batch by
 * their place, so a micro-batch is either made whole or repeated whole.
 */
#include "config.h"

#include "lowering/pipeline/pipeline.h"

#include "base/error.h"
#include "lowering/replica/group_ops.h"
#include "lowering/log.h"
#include "lowering/schedules/passes.h"

#include <string.h>

struct placing {
    const struct fr__pipeline *p;
    const struct fr_schedule *s;
    struct fr__replica *copies;
    const uint32_t *devices; /* [n_ranks] */
    struct fr__passes passes;
    struct fr__arena *scratch;
    size_t *at;          /* [n_ranks] next action */
    uint32_t *marker;    /* [n_ranks] end of the action before, FR_NONE */
    bool *is_placed;     /* [n_actions] */
    bool *is_repeated;   /* [n_micros] */
    bool *has_gradients; /* [n_copies][n_stages] a micro-batch of it has made gradients */
    /* blocks of a micro-batch are numbered 4 stage + kind */
    uint32_t n_blocks;
    uint32_t *template_of;  /* [n_blocks] micro-batch from which the others are repeated */
    uint32_t *rank_of;      /* [n_blocks] */
    uint32_t *next_on_rank; /* [n_blocks] rings of the blocks of a rank */
    uint32_t *at_rank;      /* [n_ranks] scratch */
    uint32_t *turn;         /* [n_micros][n_blocks] greater for what comes later; 0: not there */
    uint32_t n_turns;
    struct fr__begin *begin;       /* [n_micros][n_blocks] */
    struct fr__begin *size;        /* [n_blocks] of whole micro-batches */
    struct fr__begin *size_so_far; /* [n_blocks] scratch */
    struct fr__pattern **pattern;  /* [n_blocks] */
};

/* One pass of an action. */
struct pass {
    uint32_t rank, kind, stage, micro;
};

static struct fr__replica *copy_of(const struct placing *g, const struct pass *k, uint32_t *local)
{
    uint32_t first = 0, copy = 0;

    if (g->p->n_copies > 1) {
        (void)fr__pipeline_micros(g->p, g->s, 1, &first);
        copy = k->micro >= first;
    }
    *local = copy ? k->micro - first : k->micro;
    return &g->copies[copy];
}

static uint32_t block_of(const struct pass *k)
{
    return 4 * k->stage + k->kind;
}

/* ---- which micro-batches are repeated ---- */

static void each_pass(const struct placing *g, size_t action, uint32_t rank,
                      void (*fn)(struct placing *g, const struct pass *k), struct placing *user)
{
    const struct fr_action *a = &g->s->actions[action];
    struct pass k = {rank, a->kind, a->stage, a->micro};

    fn(user, &k);
    if (a->with == FR_ACTION_NONE)
        return;
    k = (struct pass){rank, a->with, a->with_stage, a->with_micro};
    fn(user, &k);
}

/* The second micro-batch in a block is the pattern, since the first may come after nothing. */
static void choose_template(struct placing *g, const struct pass *k)
{
    uint32_t b = block_of(k);

    if (k->micro + 1 == g->s->n_micros) /* it may be smaller */
        return;
    if (g->template_of[b] == FR_NONE)
        g->template_of[b] = FR_NONE - 1; /* seen once */
    else if (g->template_of[b] == FR_NONE - 1)
        g->template_of[b] = k->micro;
}

/* Repeated are those all of whose blocks come after the pattern. */
static void rule_out(struct placing *g, const struct pass *k)
{
    uint32_t b = block_of(k);

    if (g->template_of[b] == k->micro)
        g->size_so_far[b].task = 1; /* the pattern is there from here on */
    if (g->size_so_far[b].task == 0 || g->template_of[b] == k->micro)
        g->is_repeated[k->micro] = false;
}

static void note_turn(struct placing *g, const struct pass *k)
{
    g->rank_of[block_of(k)] = k->rank;
    g->turn[(size_t)k->micro * g->n_blocks + block_of(k)] = ++g->n_turns;
}

/* Whether a micro-batch has the blocks that another has. */
static bool has_same_blocks(const struct placing *g, uint32_t micro, uint32_t other)
{
    const uint32_t *here = g->turn + (size_t)micro * g->n_blocks;
    const uint32_t *there = g->turn + (size_t)other * g->n_blocks;

    for (uint32_t i = 0; i < g->n_blocks; i++)
        if ((here[i] == 0) != (there[i] == 0))
            return false;
    return true;
}

/* Whether the block comes before and after the same blocks of its rank as in the micro-batch from
 * which it would be repeated, where one of the two is of weight gradients. */
static bool has_same_order(const struct placing *g, uint32_t block, uint32_t micro)
{
    const uint32_t *here = g->turn + (size_t)micro * g->n_blocks;
    const uint32_t *there = g->turn + (size_t)g->template_of[block] * g->n_blocks;

    for (uint32_t i = g->next_on_rank[block]; i != block; i = g->next_on_rank[i])
        if ((block % 4 == FR_ACTION_W || i % 4 == FR_ACTION_W) && here[i] != 0 &&
            (here[i] < here[block]) != (there[i] < there[block]))
            return false;
    return true;
}

static bool is_like_templates(const struct placing *g, uint32_t micro)
{
    const uint32_t *here = g->turn + (size_t)micro * g->n_blocks;
    uint32_t compared = FR_NONE;

    for (uint32_t b = 0; b < g->n_blocks; b++) {
        if (here[b] == 0 || g->template_of[b] >= g->s->n_micros)
            continue;
        if (g->template_of[b] != compared && !has_same_blocks(g, micro, g->template_of[b]))
            return false;
        compared = g->template_of[b];
        if (!has_same_order(g, b, micro))
            return false;
    }
    return true;
}

/* Chains the blocks of each rank to rings. */
static void chain_ranks(struct placing *g)
{
    uint32_t *last = g->at_rank; /* [n_ranks] block + 1 */

    for (uint32_t b = 0; b < g->n_blocks; b++) {
        uint32_t *l = &last[g->rank_of[b]];

        g->next_on_rank[b] = *l == 0 ? b : g->next_on_rank[*l - 1];
        if (*l > 0)
            g->next_on_rank[*l - 1] = b;
        *l = b + 1;
    }
}

/* Of two blocks on a rank that read a tensor of another, the first brings it there. Forward and
 * backward blocks of a micro-batch have one order, but weight gradients come early or late, and
 * some backward passes are cut and others not: only a micro-batch with the blocks of its patterns,
 * in their order, can be repeated. */
static void rule_out_other_orders(struct placing *g)
{
    chain_ranks(g);
    for (uint32_t m = 0; m < g->s->n_micros; m++)
        g->is_repeated[m] = g->is_repeated[m] && is_like_templates(g, m);
}

/* Gradients are looked for in the last micro-batch of a stage, so that one is made whole. */
static void make_last_whole(struct placing *g)
{
    const uint32_t *last = g->copies[0].last_micro;

    for (size_t o = 0; last && o < g->p->pl->graph->n_ops; o++)
        if (g->p->pl->params.roles[o] == FR__ROLE_BACKWARD)
            g->is_repeated[last[o]] = false;
}

static void choose_repeated(struct placing *g)
{
    const struct fr_schedule *s = g->s;

    memset(g->template_of, 0xff, g->n_blocks * sizeof(*g->template_of));
    memset(g->size_so_far, 0, g->n_blocks * sizeof(*g->size_so_far));
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++)
            if (fr_action_computes(&s->actions[i]))
                each_pass(g, i, r, choose_template, g);
    for (uint32_t m = 0; m < s->n_micros; m++)
        g->is_repeated[m] = g->p->n_copies == 1 && m + 1 < s->n_micros;
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++)
            if (fr_action_computes(&s->actions[i]))
                each_pass(g, i, r, rule_out, g);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++)
            if (fr_action_computes(&s->actions[i]))
                each_pass(g, i, r, note_turn, g);
    rule_out_other_orders(g);
    make_last_whole(g);
}

/* ---- blocks ---- */

/* Another micro-batch's backward pass of the stage may be cut in two where this one's is not. */
static bool is_there(const struct placing *g, uint32_t block, uint32_t micro)
{
    size_t cell = (size_t)(block / 4) * g->s->n_micros + micro;
    uint32_t action = FR_NONE, kind = block % 4;

    if (g->turn[(size_t)micro * g->n_blocks + block] == 0)
        return false;
    if (kind == FR_ACTION_F)
        action = g->passes.forward[cell];
    else if (kind == FR_ACTION_W)
        action = g->passes.weight[cell];
    else
        action = g->passes.backward[cell];
    return action != FR_NONE && g->is_placed[action] && g->size[block].task > 0;
}

static void learn_block(struct placing *g, const struct pass *k, struct fr__pattern_source *s,
                        struct fr__replica *r)
{
    uint32_t b = block_of(k);

    s->n_blocks = g->n_blocks;
    s->row = g->begin + (size_t)k->micro * g->n_blocks;
    s->size = g->size_so_far;
    for (uint32_t i = 0; i < g->n_blocks; i++)
        g->size_so_far[i] = is_there(g, i, k->micro) ? g->size[i] : (struct fr__begin){0};
    g->pattern[b] = fr__pattern_new(g->p->pl->plan, s);
    r->is_out_of_memory |= !g->pattern[b];
}

static uint32_t make_block(struct placing *g, const struct pass *k)
{
    const struct fr__block_ops *ops = &g->p->blocks[k->stage][k->kind];
    struct fr__placer *pl = g->p->pl;
    uint32_t local, b = block_of(k), marker;
    struct fr__replica *r = copy_of(g, k, &local);
    struct fr__pattern_source s = {.from = fr__placer_mark(pl), .after = g->marker[k->rank]};

    fr__place_ops(r, local, ops->ops, ops->n, g->marker[k->rank]);
    marker = fr__place_join(r, local, ops->ops, ops->n, g->devices[k->rank]);
    if (k->micro + 1 == g->s->n_micros)
        return marker;
    s.to = fr__placer_mark(pl);
    g->size[b] = (struct fr__begin){.task = s.to.n_tasks - s.from.n_tasks,
                                    .buffer = s.to.n_buffers - s.from.n_buffers,
                                    .priority = s.to.priority - s.from.priority};
    if (k->micro == g->template_of[b] && g->p->n_copies == 1)
        learn_block(g, k, &s, r);
    return marker;
}

static uint32_t repeat_block(struct placing *g, const struct pass *k)
{
    const struct fr__pattern *pattern = g->pattern[block_of(k)];
    struct fr__placer *pl = g->p->pl;
    const struct fr__pattern_place place = {
        .row = g->begin + (size_t)k->micro * g->n_blocks,
        .after = g->marker[k->rank],
        .microbatch = k->micro,
        .device = FR_NONE,
        .rank = FR_NONE,
        .collective_by = (k->micro - g->template_of[block_of(k)]) * /* modulo 2^32 */
                         fr__group_ops_stride(pl->group_ops)};

    if (!pattern)
        return g->marker[k->rank]; /* out of memory */
    fr__placer_repeat(pl, pattern, &place);
    return pl->n_tasks - 1;
}

/* Where the pass made gradients of weights, and an earlier micro-batch some: they are added up. It
 * stands apart from the block, so that the first micro-batch's may be repeated. */
static uint32_t add_up(struct placing *g, const struct pass *k, uint32_t after)
{
    const struct fr__block_ops *forward = &g->p->blocks[k->stage][FR_ACTION_F];
    uint32_t local;
    struct fr__replica *r = copy_of(g, k, &local);
    bool *has = &g->has_gradients[(size_t)(r - g->copies) * g->p->n_stages + k->stage];
    bool is_first = !*has;

    if (k->kind != FR_ACTION_B && k->kind != FR_ACTION_W)
        return after;
    *has = true;
    return is_first ? after
                    : fr__place_adds_of(r, g->devices[k->rank], k->micro, forward->ops, forward->n,
                                        after);
}

/* Its tasks; the marker at its end, or the one before if there are none. */
static uint32_t place_pass(struct placing *g, const struct pass *k)
{
    struct fr__plan_mark here = fr__placer_mark(g->p->pl);

    g->begin[(size_t)k->micro * g->n_blocks + block_of(k)] =
        (struct fr__begin){here.n_tasks, here.n_buffers, here.priority};
    if (g->p->blocks[k->stage][k->kind].n == 0)
        return g->marker[k->rank];
    return add_up(g, k, g->is_repeated[k->micro] ? repeat_block(g, k) : make_block(g, k));
}

static void place_action(struct placing *g, uint32_t rank, size_t action)
{
    const struct fr_action *a = &g->s->actions[action];
    struct pass k = {rank, a->kind, a->stage, a->micro};
    uint32_t first, second;
    struct fr__placer *pl = g->p->pl;

    g->is_placed[action] = true;
    if (!fr_action_computes(a))
        return;
    first = place_pass(g, &k);
    if (a->with != FR_ACTION_NONE) {
        k = (struct pass){rank, a->with, a->with_stage, a->with_micro};
        second = place_pass(g, &k);
        if (first != second && first != FR_NONE) {
            uint32_t both = fr__add_marker(pl, g->devices[rank], FR_PHASE_BACKWARD_DATA, a->micro);

            fr_plan_add_dep(pl->plan, first, both);
            fr_plan_add_dep(pl->plan, second, both);
            second = both;
        }
        first = second;
    }
    g->marker[rank] = first;
}

/* ---- all of them ---- */

static bool can_place(const struct placing *g, size_t action)
{
    uint32_t waits[FR__MOST_WAITS];
    unsigned n = fr__action_waits(&g->passes, g->s, action, waits);

    for (unsigned i = 0; i < n; i++)
        if (!g->is_placed[waits[i]] && waits[i] != action)
            return false;
    return true;
}

/* Sweeps over the ranks, each time one action a rank where its inputs are there: about the order in
 * which they will run. */
static enum fr_status place_all(struct placing *g, struct fr_error *err)
{
    const struct fr_schedule *s = g->s;
    size_t left = s->n_actions, before;

    for (uint32_t r = 0; r < s->n_ranks; r++)
        g->at[r] = s->first[r];
    while (left > 0) {
        if (fr__is_cancelled(g->p->pl->ctx))
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        before = left;
        for (uint32_t r = 0; r < s->n_ranks; r++) {
            if (g->at[r] == s->first[r + 1] || !can_place(g, g->at[r]))
                continue;
            place_action(g, r, g->at[r]++);
            left--;
        }
        if (left == before)
            return fr_schedule_check(s, err);
    }
    return FR_OK;
}

static enum fr_status make_room(struct placing *g, struct fr_error *err)
{
    const struct fr_schedule *s = g->s;

    g->n_blocks = 4 * g->p->n_stages;
    g->at = fr__arena_alloc(g->scratch, s->n_ranks, sizeof(*g->at));
    g->marker = fr__arena_alloc(g->scratch, s->n_ranks, sizeof(*g->marker));
    g->is_placed = fr__arena_alloc(g->scratch, s->n_actions, sizeof(bool));
    g->is_repeated = fr__arena_alloc(g->scratch, s->n_micros, sizeof(bool));
    g->has_gradients =
        fr__arena_alloc(g->scratch, (size_t)g->p->n_copies * g->p->n_stages, sizeof(bool));
    g->template_of = fr__arena_alloc(g->scratch, g->n_blocks, sizeof(*g->template_of));
    g->rank_of = fr__arena_alloc(g->scratch, g->n_blocks, sizeof(*g->rank_of));
    g->next_on_rank = fr__arena_alloc(g->scratch, g->n_blocks, sizeof(*g->next_on_rank));
    g->at_rank = fr__arena_alloc(g->scratch, s->n_ranks, sizeof(*g->at_rank));
    g->turn = fr__arena_alloc(g->scratch, (size_t)s->n_micros * g->n_blocks, sizeof(*g->turn));
    g->begin = fr__arena_alloc(g->scratch, (size_t)s->n_micros * g->n_blocks, sizeof(*g->begin));
    g->size = fr__arena_alloc(g->scratch, g->n_blocks, sizeof(*g->size));
    g->size_so_far = fr__arena_alloc(g->scratch, g->n_blocks, sizeof(*g->size_so_far));
    g->pattern = fr__arena_alloc(g->scratch, g->n_blocks, sizeof(struct fr__pattern *));
    if (!g->at || !g->marker || !g->is_placed || !g->is_repeated || !g->has_gradients ||
        !g->template_of || !g->rank_of || !g->turn || !g->begin || !g->size || !g->size_so_far ||
        !g->pattern)
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        g->marker[r] = FR_NONE;
    return FR_OK;
}

static enum fr_status place_in(struct placing *g, struct fr_error *err)
{
    enum fr_status st;

    FR_TRY(make_room(g, err));
    FR_TRY(fr__passes_init(&g->passes, g->s, err));
    choose_repeated(g);
    st = place_all(g, err);
    for (uint32_t b = 0; b < g->n_blocks; b++)
        fr__pattern_free(g->pattern[b]);
    for (uint32_t r = 0; r < g->s->n_ranks; r++)
        for (uint32_t c = 0; c < g->p->n_copies; c++)
            g->copies[c].done_of[g->devices[r]] = g->marker[r];
    return st;
}

enum fr_status fr__pipeline_place(const struct fr__pipeline *p, const struct fr_schedule *schedule,
                                  struct fr__replica copies[], const uint32_t devices[],
                                  struct fr_error *err)
{
    struct placing g = {.p = p, .s = schedule, .copies = copies, .devices = devices};
    enum fr_status st;

    g.scratch = fr__arena_new();
    st = g.scratch ? place_in(&g, err) : fr__fail_nomem(err);
    fr__passes_fini(&g.passes);
    fr__arena_free(g.scratch);
    return st;
}
