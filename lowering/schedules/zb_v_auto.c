/* lowering/schedules/zb_v_auto.c - ZB-V with its weight gradients moved to where a rank would
 * wait.
 *
 * The forwards and input gradients of ZB-V keep their order. Time goes in steps of one pass: a
 * rank runs its next forward or input gradient as soon as its inputs are there; else a weight
 * gradient that is due; else it waits. A forward for which the memory of 2 p stage activations is
 * full waits for a weight gradient. From p micro-batches on this takes 6 m + p - 1 steps, as the
 * authors' search does; below 2 p micro-batches that is less than ZB-V takes.
 * Source: P. Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024 (their search
 * is zero-bubble-pipeline-parallelism, v_schedule.py; the rule here is our own).
 */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/maker.h"
#include "lowering/schedules/zb_v.h"

#include <stdlib.h>

/* What a rank has done. */
struct rank {
    const struct fr_action *todo, *end; /* of ZB-V */
    struct fr_action *list;             /* what it runs, in order */
    size_t n;
    size_t next_due; /* index in list from which to look for the next I without its W */
    uint32_t n_due, n_live;
};

struct search {
    uint32_t p, n_micros;
    struct rank *ranks;
    uint32_t *done[2]; /* [2 p n_micros] the step after which F, I is done; 0: not yet */
};

static uint32_t *done_at(const struct search *g, enum fr_action_kind kind, uint32_t stage,
                         uint32_t micro)
{
    return &g->done[kind == FR_ACTION_I][(size_t)stage * g->n_micros + micro];
}

static bool is_done(const struct search *g, enum fr_action_kind kind, uint32_t stage,
                    uint32_t micro, uint32_t step)
{
    uint32_t at = *done_at(g, kind, stage, micro);

    return at > 0 && at <= step;
}

static bool can_run(const struct search *g, const struct rank *k, const struct fr_action *a,
                    uint32_t step)
{
    if (a->kind == FR_ACTION_F)
        return (k->n_live < 2 * g->p || k->n_due == 0) &&
               (a->stage == 0 || is_done(g, FR_ACTION_F, a->stage - 1, a->micro, step));
    return is_done(g, FR_ACTION_F, a->stage, a->micro, step) &&
           (a->stage + 1 == 2 * g->p || is_done(g, FR_ACTION_I, a->stage + 1, a->micro, step));
}

/* The oldest I without its W. */
static struct fr_action take_due(struct rank *k)
{
    struct fr_action a;

    while (k->list[k->next_due].kind != FR_ACTION_I)
        k->next_due++;
    a = k->list[k->next_due++];
    a.kind = FR_ACTION_W;
    k->n_due--;
    k->n_live--;
    return a;
}

/* One step of one rank; whether anything is left for it to do. Step numbers count from 1 where they
 * are stored, so that 0 says not yet. */
static bool run_rank(struct search *g, struct rank *k, uint32_t step)
{
    while (k->todo < k->end && k->todo->kind == FR_ACTION_W)
        k->todo++;
    if (k->todo < k->end && can_run(g, k, k->todo, step)) {
        const struct fr_action *a = k->todo++;

        k->list[k->n++] = *a;
        *done_at(g, a->kind, a->stage, a->micro) = step + 1;
        k->n_live += a->kind == FR_ACTION_F;
        k->n_due += a->kind == FR_ACTION_I;
    } else if (k->n_due > 0) {
        struct fr_action a = take_due(k);

        k->list[k->n++] = a;
    }
    while (k->todo < k->end && k->todo->kind == FR_ACTION_W)
        k->todo++;
    return k->todo < k->end || k->n_due > 0;
}

static void run_search(struct search *g)
{
    bool is_busy = true;

    for (uint32_t step = 1; is_busy; step++) {
        is_busy = false;
        for (uint32_t r = 0; r < g->p; r++)
            is_busy |= run_rank(g, &g->ranks[r], step);
    }
}

static enum fr_status make_in(struct search *g, struct fr_schedule *base, struct fr_schedule *out,
                              const struct fr_schedule_spec *spec, struct fr_error *err)
{
    size_t n = 6 * (size_t)spec->n_micros; /* actions of a rank */

    if (!g->ranks || !g->done[0] || !g->done[1])
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < g->p; r++) {
        fr__schedule_rank(base, r);
        fr__zb_v_rank(base, spec, r);
        g->ranks[r] = (struct rank){.todo = base->actions + r * n,
                                    .end = base->actions + (r + 1) * n,
                                    .list = out->actions + r * n};
    }
    run_search(g);
    for (uint32_t r = 0; r < g->p; r++)
        out->first[r] = r * n;
    out->n_actions = g->p * n;
    return FR_OK;
}

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    size_t n = 2 * (size_t)spec->n_ranks * spec->n_micros;
    struct search g = {.p = spec->n_ranks, .n_micros = spec->n_micros};
    struct fr_schedule *base;
    enum fr_status st;

    FR_TRY(fr__schedule_new(&base, spec->n_ranks, 3 * n, err));
    g.ranks = calloc(spec->n_ranks, sizeof(*g.ranks));
    g.done[0] = calloc(n, sizeof(*g.done[0]));
    g.done[1] = calloc(n, sizeof(*g.done[1]));
    st = make_in(&g, base, out, spec, err);
    free(g.done[1]);
    free(g.done[0]);
    free(g.ranks);
    fr_schedule_free(base);
    return st;
}

const struct fr_schedule_kind fr__schedule_zb_v_auto = {
    .name = "zb-v-auto",
    .summary = "ZB-V that is shorter where there are few micro-batches",
    .source = "Qi et al., Controllable Memory, NeurIPS 2024",
    .placement = FR_STAGES_V,
    .least_virtual = 2,
    .most_virtual = 2,
    .make = make,
};
