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
    bool is_worked_out;
};

struct fr_clocks {
    const struct fr_cost_model *costs;
    struct fr_cost_memo *memo;
    const struct fr_graph *graph;
    double limit_W;
    bool *is_as_measured; /* [types]: the limit changes no time on that type */
    struct entry *entries;
    size_t n, cap;
};

/* Whether the limit changes no time on this type: it is the board's own or more, and the curves
 * were measured under that. */
static bool is_as_measured(const struct fr_device_type *d, double limit_W)
{
    const struct fr__power *p = fr__power_of(d->name);

    return !p || (!p->is_burst && limit_W >= (d->board_W > 0 ? d->board_W : INFINITY));
}

struct fr_clocks *fr__clocks_new(const struct fr_cost_model *costs, struct fr_cost_memo *memo,
                                 const struct fr_graph *graph, double limit_W)
{
    uint32_t n = fr__cost_model_n_types(costs);
    struct fr_clocks *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    *c = (struct fr_clocks){.costs = costs, .memo = memo, .graph = graph, .limit_W = limit_W};
    c->is_as_measured = calloc(n, sizeof(*c->is_as_measured));
    if (!c->is_as_measured) {
        free(c);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        c->is_as_measured[i] = is_as_measured(fr__cost_model_type(costs, i), limit_W);
    return c;
}

void fr__clocks_free(struct fr_clocks *c)
{
    if (c) {
        free(c->is_as_measured);
        free(c->entries);
    }
    free(c);
}

/* Energy of a FLOP of an op at the highest clock. */
static double flop_pJ(const struct fr__power *p, const struct fr_graph *g, const struct fr_op *o,
                      const struct fr__kernel *k)
{
    if (!fr_op_kind_is_product(o->kind))
        return p->vector_pJ;
    if (k->is_8_bit && (g->dtype == FR_FP8 || g->dtype == FR_FP4))
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

static const struct fr__clock unchanged = {
    .clock = 1, .slowdown = 1, .memory_slowdown = 1, .measured_slowdown = 1};

/* Of the clocks at which the curves hold and at which the limit keeps the GPU. */
static struct fr__clock work_out(const struct fr_clocks *c, uint32_t type, double batch)
{
    const struct fr_device_type *d = fr__cost_model_type(c->costs, type);
    const struct fr__power *p = fr__power_of(d->name);
    double board_W = d->board_W > 0 ? d->board_W : INFINITY, at_board, measured;
    struct fr__clock out = unchanged;
    struct fr__load load;
    struct body b;

    if (!p)
        return out;
    b = body_of(c, p, type, batch);
    load = fr__load_of(p, b.flop_J, b.bytes, b.time_s);
    at_board = fr__clock_under(p, load, board_W);
    if (!p->is_burst) {
        /* the curves' times are those at the board's clock: at the highest one the same is done in
         * less time */
        load = fr__load_of(p, b.flop_J, b.bytes, b.time_s * fr__clock_rate(at_board));
        at_board = fr__clock_under(p, load, board_W);
    }
    measured = p->is_burst ? 1 : at_board;
    out.clock = fr__clock_under(p, load, fmin(c->limit_W, board_W));
    out.slowdown = fr__clock_rate(measured) / fr__clock_rate(out.clock);
    out.memory_slowdown = fr__memory_rate(p, measured) / fr__memory_rate(p, out.clock);
    out.measured_slowdown = fr__clock_rate(at_board) / fr__clock_rate(out.clock);
    out.idle_W = p->idle_W;
    out.working_W = fr__draw_W(p, load, out.clock);
    return out;
}

/* The entry of a batch on a type, made if it is not there; NULL: out of memory. */
static struct entry *entry_of(struct fr_clocks *c, uint32_t type, double batch)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].type == type &&
            (c->is_as_measured[type] ||
             (!(c->entries[i].batch < batch) && !(c->entries[i].batch > batch))))
            return &c->entries[i];
    if (!fr__grow(&c->entries, &c->cap, c->n + 1, sizeof(*c->entries)))
        return NULL;
    c->entries[c->n] = (struct entry){.type = type, .batch = batch, .clock = unchanged};
    return &c->entries[c->n++];
}

static struct fr__clock worked_out(const struct fr_clocks *c, struct entry *e)
{
    if (!e->is_worked_out)
        e->clock = work_out(c, e->type, e->batch);
    e->is_worked_out = true;
    return e->clock;
}

struct fr__clock fr__clock_at(struct fr_clocks *c, uint32_t type, double batch)
{
    struct entry *e = entry_of(c, type, batch);

    if (c->is_as_measured[type])
        return unchanged;
    return e ? worked_out(c, e) : work_out(c, type, batch);
}

struct fr__clock fr__clock_of_type(struct fr_clocks *c, uint32_t type)
{
    struct entry *e;

    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].type == type)
            return worked_out(c, &c->entries[i]);
    e = entry_of(c, type, c->graph->batch);
    return e ? worked_out(c, e) : work_out(c, type, c->graph->batch);
}

void fr__clock_apply(const struct fr__clock *clock, struct fr_cost *cost)
{
    bool is_whole = !(cost->flops_s > 0) && !(cost->bytes_s > 0);
    bool computes = is_whole ? fr_op_kind_is_product(cost->kind) : cost->flops_s > cost->bytes_s;
    double slowdown =
        fr_trust_is_measured(cost->trust) ? clock->measured_slowdown : clock->slowdown;

    cost->mean_s *= computes ? slowdown : clock->memory_slowdown;
    cost->flops_s *= slowdown;
    cost->bytes_s *= clock->memory_slowdown;
}
