/* strategies/fastt/dpos_best.c - the best of several plans of one dag, as the planner believes: by
 * DPOS, by HEFT, looking ahead, on one device alone; and what moving single operations makes of the
 * best of them. */
#include "config.h"

#include "strategies/fastt/dpos.h"

#include "base/error.h"

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

/* Puts an operation, with all of its group, on a device. */
static void move(struct trying *t, uint32_t op, uint32_t device)
{
    uint32_t g = t->dag->ops[op].group;

    t->placed[op] = device;
    for (size_t i = 0; g != FR_NONE && i < t->dag->n_ops; i++)
        if (t->dag->ops[i].group == g)
            t->placed[i] = device;
}

/* Moves single operations as long as that makes the best plan shorter. */
static enum fr_status climb(struct trying *t, struct fr_error *err)
{
    double n = (double)t->dag->n_ops, left = MOST_PLACED;
    double pass = n * n * (double)(t->m->n_devices - 1);
    struct fr__dpos_options o = t->base;
    bool gains = isfinite(t->best_s);

    o.placed = t->placed;
    for (; gains && left >= pass; left -= pass) {
        gains = false;
        for (uint32_t op = 0; op < t->dag->n_ops; op++)
            for (uint32_t d = 0; d < t->m->n_devices; d++) {
                bool is_better = false;

                if (d == t->device[op])
                    continue;
                memcpy(t->placed, t->device, t->dag->n_ops * sizeof(*t->placed));
                move(t, op, d);
                FR_TRY(try_one(t, &o, &is_better, err));
                gains = gains || is_better;
            }
    }
    return FR_OK;
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
