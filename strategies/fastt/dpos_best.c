/* strategies/fastt/dpos_best.c - the best of several plans of one dag, as the planner believes: by
 * DPOS, by HEFT, looking ahead, on one device alone; and what moving single operations makes of the
 * best of them. */
#include "config.h"

#include "strategies/fastt/dpos.h"

#include "base/arena.h"
#include "base/error.h"
#include "strategies/fastt/dpos_moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Operations are moved one by one where trying each on each device plans at most so many
 * operations, some tenths of a second. */
static const double MOST_PLACED = 2e6;

/* Ways are tried until about so many devices were looked at for operations, some seconds; the first
 * way always. With slots of links a look takes about as long as eight without. */
static const double MOST_LOOKS = 2e7, LOOKS_WITH_LINKS = 8;

struct trying {
    struct fr__dpos *p;
    const struct fr__dag *dag;
    const struct fr__dpos_machine *m;
    struct fr__dpos_options base;
    uint32_t *device, *placed; /* [n_ops] of the best so far; scratch */
    double best_s;             /* infinite: none fits */
    double n_looks;
    struct fr__dpos_options won;
};

/* Plans in one way and keeps where operations are, if it is the best so far. */
static enum fr_status try_one(struct trying *t, const struct fr__dpos_options *how, bool *is_better,
                              struct fr_error *err)
{
    struct fr__dpos_options o = *how;
    struct fr__dpos_result r;

    o.stop_s = isfinite(t->best_s) ? t->best_s : 0;
    t->n_looks +=
        (double)t->dag->n_ops * (double)t->m->n_devices * (t->m->links ? LOOKS_WITH_LINKS : 1);
    FR_TRY(fr__dpos_run(t->p, t->dag, &o, &r, err));
    *is_better = r.outcome == FR__DPOS_DONE && r.makespan_s < t->best_s;
    if (!*is_better)
        return FR_OK;
    t->best_s = r.makespan_s;
    t->won = *how;
    memcpy(t->device, r.device, t->dag->n_ops * sizeof(*t->device));
    return FR_OK;
}

/* As asked for; looking ahead; by HEFT, which has means for ranks and no path; both. Then with all
 * groups free. */
static enum fr_status try_ways(struct trying *t, struct fr_error *err)
{
    unsigned n = t->base.groups ? 8 : 4;
    bool is_better;

    for (unsigned k = 0; k < n && t->n_looks < MOST_LOOKS; k++) {
        struct fr__dpos_options o = t->base;

        o.looks_ahead = o.looks_ahead || k % 2;
        o.ranks_of_means = o.ignores_path = k / 2 % 2;
        if (k >= 4)
            o.groups = NULL;
        FR_TRY(try_one(t, &o, &is_better, err));
    }
    return FR_OK;
}

/* All on one device, for the first device of each type. */
static enum fr_status try_alone(struct trying *t, struct fr_error *err)
{
    struct fr__dpos_options o = t->base;
    bool is_better;

    o.placed = t->placed;
    for (uint32_t d = 0; d < t->m->n_devices; d++) {
        uint32_t first = 0;

        while (t->m->type[first] != t->m->type[d])
            first++;
        if (first < d)
            continue;
        for (size_t i = 0; i < t->dag->n_ops; i++)
            t->placed[i] = d;
        FR_TRY(try_one(t, &o, &is_better, err));
    }
    return FR_OK;
}

/* A move of each operation to each device, where these moves were not tried since the last gain. */
struct climb {
    struct fr__dpos_moves *moves;
    size_t n_gains;
    size_t *tried; /* [n_ops] gains, and one, before an operation's moves were all tried; 0: never.
                    * One entry a group, of the operation that was looked at first */
    uint32_t *first_of; /* [n_groups] that operation; FR_NONE: none yet */
};

static enum fr_status try_moves(struct climb *c, struct trying *t, uint32_t op,
                                struct fr_error *err)
{
    const uint32_t *device = fr__dpos_moves_device(c->moves);
    uint32_t g = t->dag->ops[op].group, key = op;
    size_t n_before = c->n_gains;

    if (g != FR_NONE) {
        if (c->first_of[g] == FR_NONE)
            c->first_of[g] = op;
        key = c->first_of[g];
    }
    if (c->tried[key] == n_before + 1)
        return FR_OK;
    for (uint32_t d = 0; d < t->m->n_devices; d++) {
        bool is_better;

        if (d == device[op])
            continue;
        FR_TRY(fr__dpos_moves_try(c->moves, op, d, &t->best_s, &is_better, err));
        c->n_gains += is_better;
    }
    if (c->n_gains == n_before)
        c->tried[key] = n_before + 1;
    return FR_OK;
}

/* As many times as MOST_PLACED allows, if every move planned every operation. */
static enum fr_status try_all_moves(struct climb *c, struct trying *t, struct fr_error *err)
{
    double n = (double)t->dag->n_ops, left = MOST_PLACED;
    double pass = n * n * (double)(t->m->n_devices - 1);
    bool gains = true;

    for (; gains && left >= pass; left -= pass) {
        size_t n_before = c->n_gains;

        for (uint32_t op = 0; op < t->dag->n_ops; op++)
            FR_TRY(try_moves(c, t, op, err));
        gains = c->n_gains > n_before;
    }
    return FR_OK;
}

/* Moves single operations as long as that makes the best plan shorter. */
static enum fr_status climb(struct trying *t, struct fr_error *err)
{
    double n = (double)t->dag->n_ops;
    struct fr__dpos_options o = t->base;
    struct climb c = {.n_gains = 0};
    enum fr_status st = FR_OK;

    if (!isfinite(t->best_s) || n * n * (double)(t->m->n_devices - 1) > MOST_PLACED)
        return FR_OK;
    o.placed = t->device;
    c.tried = calloc(t->dag->n_ops + 1, sizeof(*c.tried));
    c.first_of = fr__nones_new(t->dag->n_groups + 1);
    if (!c.tried || !c.first_of)
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        st = fr__dpos_moves_new(&c.moves, t->p, t->dag, &o, err);
    if (st == FR_OK)
        st = try_all_moves(&c, t, err);
    if (st == FR_OK && c.n_gains > 0) {
        memcpy(t->device, fr__dpos_moves_device(c.moves), t->dag->n_ops * sizeof(*t->device));
        t->won = o;
    }
    fr__dpos_moves_free(c.moves);
    free(c.tried);
    free(c.first_of);
    return st;
}

/* The plan of the best, once more. If none fits, the way that was asked for says what lacks. */
static enum fr_status plan_best(struct trying *t, struct fr__dpos_options *won,
                                struct fr__dpos_result *out, struct fr_error *err)
{
    struct fr__dpos_options o = t->base;

    *won = t->base;
    if (!isfinite(t->best_s))
        return fr__dpos_run(t->p, t->dag, &o, out, err);
    o.placed = t->device;
    FR_TRY(fr__dpos_run(t->p, t->dag, &o, out, err));
    *won = t->won;
    if (won->placed)
        won->placed = out->device;
    return FR_OK;
}

enum fr_status fr__dpos_best(struct fr__dpos *p, const struct fr__dag *dag,
                             const struct fr__dpos_machine *m, const struct fr__dpos_options *base,
                             struct fr__dpos_options *won, struct fr__dpos_result *out,
                             struct fr_error *err)
{
    struct trying t = {.p = p, .dag = dag, .m = m, .base = *base, .best_s = INFINITY};
    bool is_vain = fr__dpos_cannot_fit(dag, m);
    enum fr_status st = FR_OK;

    t.device = malloc((dag->n_ops + 1) * sizeof(*t.device));
    t.placed = malloc((dag->n_ops + 1) * sizeof(*t.placed));
    if (!t.device || !t.placed)
        st = fr__fail_nomem(err);
    if (st == FR_OK && !is_vain)
        st = try_ways(&t, err);
    if (st == FR_OK && !is_vain)
        st = try_alone(&t, err);
    if (st == FR_OK && !is_vain)
        st = climb(&t, err);
    if (st == FR_OK)
        st = plan_best(&t, won, out, err);
    free(t.device);
    free(t.placed);
    return st;
}
