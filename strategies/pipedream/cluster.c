/* strategies/pipedream/cluster.c - the levels of a topology's machines, and where stages stand. */
#include "config.h"

#include "strategies/pipedream/cluster.h"

#include "base/error.h"
#include "lowering/replica/line_up.h"

#include <math.h>
#include <string.h>

/* ---- levels ---- */

/* GPUs in a row on each machine, where all have as many and none comes twice; else 0. */
static size_t gpus_a_machine(const struct fr_problem *in, const uint32_t line[])
{
    size_t n = 1;

    while (n < in->n_devices &&
           in->topo->devices[line[n]].machine == in->topo->devices[line[0]].machine)
        n++;
    if (in->n_devices % n)
        return 0;
    for (size_t i = 0; i < in->n_devices; i++) {
        uint32_t machine = in->topo->devices[line[i]].machine;

        if (machine != in->topo->devices[line[i / n * n]].machine)
            return 0;
        if (i % n == 0)
            for (size_t k = 0; k < i; k += n)
                if (in->topo->devices[line[k]].machine == machine)
                    return 0;
    }
    return n;
}

enum fr_status fr__pd_line(struct fr__placer *pl, uint32_t line[], struct fr_error *err)
{
    FR_TRY(fr__line_up(pl, line, err));
    if (gpus_a_machine(pl->in, line) != gpus_a_machine(pl->in, pl->in->devices))
        memcpy(line, pl->in->devices, pl->in->n_devices * sizeof(*line));
    return FR_OK;
}

/* The narrowest link between devices that are `step` apart, inside groups of `group`. */
static enum fr_status narrowest(const struct fr_problem *in, const uint32_t line[],
                                struct fr_router *router, size_t step, size_t group,
                                double *out_Bps, struct fr_error *err)
{
    double least_Bps = INFINITY;

    for (size_t i = 0; i + step < in->n_devices; i += step) {
        const uint32_t *links;
        size_t n;

        if (i / group != (i + step) / group)
            continue;
        FR_TRY(fr_router_path(router, line[i], line[i + step], &links, &n, err));
        for (size_t k = 0; k < n; k++)
            least_Bps = fmin(least_Bps, in->topo->links[links[k]].bw_Bps);
    }
    *out_Bps = isinf(least_Bps) ? 1e9 : least_Bps; /* one device: nothing goes anywhere */
    return FR_OK;
}

static enum fr_status measure(struct fr__pd_options *o, const struct fr_problem *in,
                              const uint32_t line[], struct fr_error *err)
{
    struct fr_router *router;
    enum fr_status st;
    size_t step = 1;

    FR_TRY(fr_router_new(&router, in->topo, err));
    st = FR_OK;
    for (size_t level = 0; level < o->n_levels && st == FR_OK; level++) {
        size_t group = step * o->levels[level].n;

        st = narrowest(in, line, router, step, group, &o->levels[level].bytes_per_s, err);
        step = group;
    }
    fr_router_free(router);
    return st;
}

enum fr_status fr__pd_levels_of(struct fr__pd_options *o, const struct fr_problem *in,
                                const uint32_t line[], struct fr_error *err)
{
    size_t product = 1, n = gpus_a_machine(in, line);

    if (o->n_levels == 0) {
        if (n > 1 && n < in->n_devices)
            o->levels[o->n_levels++].n = (uint32_t)n;
        else
            n = 1;
        o->levels[o->n_levels++].n = (uint32_t)(in->n_devices / n);
    }
    for (size_t level = 0; level < o->n_levels; level++)
        product *= product <= in->n_devices ? o->levels[level].n : 1;
    if (product != in->n_devices)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'machines' does not make %zu GPUs, the number of those to use",
                        in->n_devices);
    return o->has_bandwidths ? FR_OK : measure(o, in, line, err);
}

/* ---- seats ---- */

struct seating {
    const struct fr_stage_plan *plan;
    const uint32_t *line;
    struct fr__pd_seats *seats;
    size_t split, stage; /* that come next */
};

/* Where the groups of a part are: `n` copies of the same devices, `stride` apart. */
struct copies {
    const struct copies *outer;
    size_t n, stride;
};

/* Devices of a stage that begins at device `first` of its group and has r neighbours there, over
 * all copies of the group: the copies run fastest. */
static void seat_stage(struct seating *s, size_t first, uint32_t r, const struct copies *outer)
{
    uint32_t *devices = s->seats->devices + s->stage * s->seats->most;
    size_t n = 1;

    for (const struct copies *c = outer; c; c = c->outer)
        n *= c->n;
    for (size_t q = 0; q < n * r; q++) {
        size_t copy = q % n, at = first + q / n;

        for (const struct copies *c = outer; c; c = c->outer) {
            at += copy % c->n * c->stride;
            copy /= c->n;
        }
        devices[q] = s->line[at];
    }
    s->seats->replicas_of[s->stage++] = (uint32_t)(n * r);
}

/* The next split of the plan, whose groups begin at device `first`. Splits come in the order in
 * which they were made, outermost first. */
static void seat_split(struct seating *s, size_t first, const struct copies *outer)
{
    const struct fr_stage_split *split = &s->plan->splits[s->split++];
    size_t stride = 1;

    for (size_t level = 0; level < split->level; level++)
        stride *= s->plan->machines[level];
    for (size_t i = 0; i < split->n_parts; i++) {
        const struct copies copies = {outer, split->parts[i].replicas, stride};

        if (split->level == 0)
            seat_stage(s, first, split->parts[i].replicas, outer);
        else
            seat_split(s, first, &copies);
        first += split->parts[i].replicas * stride;
    }
}

enum fr_status fr__pd_seat(struct fr__pd_seats *out, const struct fr_stage_plan *plan,
                           const uint32_t line[], struct fr__arena *arena, struct fr_error *err)
{
    struct seating s = {.plan = plan, .line = line, .seats = out};

    *out = (struct fr__pd_seats){.n_stages = plan->n_stages};
    for (size_t i = 0; i < plan->n_stages; i++)
        if (plan->stages[i].replicas > out->most)
            out->most = plan->stages[i].replicas;
    out->replicas_of = fr__arena_alloc(arena, out->n_stages, sizeof(*out->replicas_of));
    out->devices = fr__arena_alloc(arena, out->n_stages * out->most, sizeof(*out->devices));
    if (!out->replicas_of || !out->devices)
        return fr__fail_nomem(err);
    seat_split(&s, 0, NULL);
    return FR_OK;
}
