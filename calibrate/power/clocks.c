/* calibrate/power/clocks.c - the clocks of a question's GPUs under a power limit. */
#include "config.h"

#include "calibrate/power/clocks.h"

#include "base/arena.h"
#include "calibrate/cost/kernel.h"
#include "calibrate/cost/memo.h"
#include "calibrate/cost/model.h"
#include "calibrate/cost/samples.h"

#include <math.h>
#include <stdlib.h>

struct entry {
    uint32_t type;
    double batch;
    struct fr__clock clock;
};

struct fr_clocks {
    const struct fr_cost_model *costs;
    struct fr_cost_memo *memo;
    const struct fr_graph *graph;
    double limit_W;
    struct entry *entries;
    size_t n, cap;
};

struct fr_clocks *fr__clocks_new(const struct fr_cost_model *costs, struct fr_cost_memo *memo,
                                 const struct fr_graph *graph, double limit_W)
{
    struct fr_clocks *c = calloc(1, sizeof(*c));

    if (c)
        *c = (struct fr_clocks){.costs = costs, .memo = memo, .graph = graph, .limit_W = limit_W};
    return c;
}

void fr__clocks_free(struct fr_clocks *c)
{
    if (c)
        free(c->entries);
    free(c);
}

/* Energy of a FLOP of an op at the highest clock. */
static double flop_pJ(const struct fr__power *p, const struct fr_graph *g, const struct fr_op *o,
                      const struct fr__kernel *k)
{
    if (!fr_op_kind_is_product(o->kind))
        return p->vector_pJ;
    if (k->is_8_bit && g->dtype == FR_FP8)
        return p->tensor8_pJ;
    switch (g->dtype) {
    case FR_FP32:
        return p->vector_pJ;
    case FR_TF32:
        return p->tf32_pJ;
    default:
        return p->tensor16_pJ;
    }
}

/* What the body of a step computes and moves, and how long it takes by the curves. */
struct body {
    double flop_J, bytes, time_s;
};

static struct body body_of(const struct fr_clocks *c, const struct fr__power *p, uint32_t type,
                           double batch)
{
    const struct fr_part part = {.batch = batch};
    struct body b = {0, 0, 0};

    for (uint32_t i = 0; i < c->graph->n_ops; i++) {
        const struct fr_op *o = &c->graph->ops[i];
        struct fr__kernel k;
        struct fr_cost cost;
        double n;

        if (fr__op_is_free(o) || o->phase == FR_PHASE_UPDATE)
            continue;
        if (c->memo)
            fr__cost_memo_op(c->memo, type, i, &part, &cost);
        else
            fr_cost_op(c->costs, type, c->graph, i, &part, &cost);
        fr__kernel_of(c->graph, i, &part, &k);
        n = k.repeats * (k.is_pair ? 2 : 1);
        b.flop_J += 1e-12 * flop_pJ(p, c->graph, o, &k) * k.flops * n;
        b.bytes += k.bytes * n;
        b.time_s += cost.mean_s;
    }
    return b;
}

static struct fr__clock work_out(const struct fr_clocks *c, uint32_t type, double batch)
{
    const struct fr_device_type *d = fr__cost_model_type(c->costs, type);
    const struct fr__power *p = fr__power_of(d->name);
    double limit_W = d->board_W > 0 ? fmin(c->limit_W, d->board_W) : c->limit_W, measured = 1;
    struct fr__clock out = {.clock = 1, .slowdown = 1, .memory_slowdown = 1};
    struct fr__load load;
    struct body b;

    if (!p)
        return out;
    b = body_of(c, p, type, batch);
    load = fr__load_of(p, b.flop_J, b.bytes, b.time_s);
    if (!p->is_burst && d->board_W > 0) {
        /* the curves' times are those at the board's clock: at the highest one the same is done in
         * less time */
        measured = fr__clock_under(p, load, d->board_W);
        load = fr__load_of(p, b.flop_J, b.bytes, b.time_s * fr__clock_rate(measured));
        measured = fr__clock_under(p, load, d->board_W);
    }
    out.clock = fr__clock_under(p, load, limit_W);
    out.slowdown = fr__clock_rate(measured) / fr__clock_rate(out.clock);
    out.memory_slowdown = fr__memory_rate(p, measured) / fr__memory_rate(p, out.clock);
    out.idle_W = p->idle_W;
    out.working_W = fr__draw_W(p, load, out.clock);
    return out;
}

struct fr__clock fr__clock_at(struct fr_clocks *c, uint32_t type, double batch)
{
    struct entry e = {.type = type, .batch = batch};

    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].type == type && !(c->entries[i].batch < batch) &&
            !(c->entries[i].batch > batch))
            return c->entries[i].clock;
    e.clock = work_out(c, type, batch);
    if (fr__grow(&c->entries, &c->cap, c->n + 1, sizeof(*c->entries)))
        c->entries[c->n++] = e;
    return e.clock;
}

struct fr__clock fr__clock_of_type(struct fr_clocks *c, uint32_t type)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].type == type)
            return c->entries[i].clock;
    return fr__clock_at(c, type, c->graph->batch);
}

void fr__clock_apply(const struct fr__clock *clock, struct fr_cost *cost)
{
    bool is_whole = !(cost->flops_s > 0) && !(cost->bytes_s > 0);
    bool computes = is_whole ? fr_op_kind_is_product(cost->kind) : cost->flops_s > cost->bytes_s;

    cost->mean_s *= computes ? clock->slowdown : clock->memory_slowdown;
    cost->flops_s *= clock->slowdown;
    cost->bytes_s *= clock->memory_slowdown;
}
