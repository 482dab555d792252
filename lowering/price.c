/* lowering/price.c - what ops, updates, sums and collectives cost, and what they hold.
 *
 * All rules about a replica's share of the batch, about precision and about optimizers stand here,
 * apart from the code that adds tasks and buffers (placer.c, replica*.c), which asks.
 */
#include "config.h"

#include "lowering/price.h"

#include "base/bytes.h"
#include "calibrate/cost/memo.h"
#include "calibrate/power/clocks.h"
#include "sim/collectives/equal_groups.h"
#include "lowering/optimizer.h"
#include "lowering/placer.h"
#include "lowering/products.h"
#include "lowering/update.h"
#include "workloads/graph/formats.h"

#include <math.h>

enum { FP32_BYTES = 4 };

/* ---- what the optimizer keeps and moves ---- */

/* Products of the step that are there before its gradients: beta 1 m, beta 2 v, decay w. */
static unsigned n_products(const struct fr_problem *in)
{
    return in->steps_by_ops && in->optimizer == FR_ADAM ? 3 : 0;
}

/* The share of an owner's parameters that so many bytes are. */
static double part_of(const struct fr__owner *w, uint64_t param_bytes)
{
    return (double)param_bytes / (double)w->bytes;
}

/* A format of at least 32 bits. */
static unsigned state_bytes(const struct fr_problem *in)
{
    unsigned elem_bytes = in->graph->param_elem_bytes;

    return elem_bytes >= FP32_BYTES ? elem_bytes : FP32_BYTES;
}

uint64_t fr__optimizer_bytes(const struct fr_problem *in, const struct fr__owner *w,
                             uint64_t param_bytes)
{
    unsigned elem_bytes = in->graph->param_elem_bytes;
    double states = fr__states_bytes(in->optimizer, &w->weights, state_bytes(in));
    uint64_t bytes = fr__to_bytes(states * (double)param_bytes / (double)w->bytes);

    if (elem_bytes >= FP32_BYTES)
        return bytes + param_bytes * n_products(in);
    return bytes + param_bytes / elem_bytes * FP32_BYTES * (1 + n_products(in));
}

/* Bytes of states for each parameter of an owner; NULL: of large tensors. */
static double states_each(enum fr_optimizer o, const struct fr__owner *w, unsigned elem_bytes,
                          double of_state)
{
    if (!w)
        return fr__large_state_bytes(o, of_state);
    return fr__states_bytes(o, &w->weights, of_state) / ((double)w->bytes / elem_bytes);
}

/* Memory traffic of one update: gradient read, parameter read and written, each state read and
 * written; with a master copy that is read and written and the parameter only written. Under `amp`
 * the gradient is read and written once more, to undo the loss scale and look for overflow (PyTorch
 * 1.13, torch/cuda/amp/grad_scaler.py, unscale_). Gradients that are kept are set to zero, and the
 * new ones added to them. */
static double update_traffic_bytes(const struct fr_problem *in, const struct fr__owner *w,
                                   uint64_t param_bytes)
{
    unsigned elem_bytes = in->graph->param_elem_bytes;
    double elements = (double)param_bytes / elem_bytes, kept_bytes = 0;
    double states_bytes = states_each(in->optimizer, w, elem_bytes, state_bytes(in));

    if (in->keeps_gradients) /* zeroed; the new ones and the kept ones read, the sum written */
        kept_bytes = elements * elem_bytes * 4;
    if (in->graph->dtype == FR_AMP) /* every gradient is read, unscaled and written once more */
        return kept_bytes + elements * (FP32_BYTES * 5 + 2 * states_bytes);
    if (elem_bytes >= FP32_BYTES)
        return kept_bytes + elements * (elem_bytes * 3 + 2 * states_bytes);
    return kept_bytes + elements * (2 * elem_bytes + 2 * FP32_BYTES + 2 * states_bytes);
}

unsigned fr__optimizer_tensors(const struct fr_problem *in, const struct fr__owner *w)
{
    const struct fr__optimizer *o = fr__optimizer_at(in->optimizer);
    unsigned n = o->states + o->packed;

    if (o->rule != FR__RULE_NONE && o->rule != FR__RULE_MUON)
        n++; /* what the rule adds, together */
    if (o->rule == FR__RULE_MUON && !fr__rule_holds(in->optimizer, &w->weights, true))
        n = o->other_states;
    return n + n_products(in) + (in->graph->param_elem_bytes < FP32_BYTES);
}

unsigned fr__update_temporaries(const struct fr_problem *in)
{
    if (in->steps_by_ops && in->optimizer == FR_ADAM)
        return 1;
    return fr__optimizer_at(in->optimizer)->temporaries;
}

uint64_t fr__update_workspace_bytes(const struct fr_problem *in, uint64_t param_bytes)
{
    unsigned elem_bytes = in->graph->param_elem_bytes;

    return fr__update_temporaries(in) *
           (elem_bytes >= FP32_BYTES ? param_bytes : param_bytes / elem_bytes * FP32_BYTES);
}

/* Whether an owner's master weights stand for its weights. */
static bool is_cast(const struct fr__keeping *k, uint32_t owner)
{
    return k->casts_gathered && k->shards[owner] > 1 && k->recipe->bytes[FR__PART_MASTER] > 0;
}

/* Whether another owner on its device holds an owner's parameters. */
static bool is_second(const struct fr__keeping *k, uint32_t owner)
{
    return k->is_second && k->is_second[owner];
}

/* Bytes of the narrow copies of an owner's weights, beside the weights themselves. Weights that are
 * kept in 8 bits are the copy by rows. */
static uint64_t copies_of_weights(const struct fr__placer *pl, uint32_t owner)
{
    const struct fr_problem *in = pl->in;
    const struct fr_device_type *type = &in->topo->types[in->topo->devices[in->devices[0]].type];
    const struct fr_op *o = &pl->graph->ops[owner];
    double weight = pl->keeping->recipe->bytes[FR__PART_WEIGHT], numbers;
    double bytes = fr__formats_weight_bytes(pl->graph->formats, pl->graph, owner,
                                            fr__units_take_columns(type->units));

    numbers = (double)o->param_bytes / pl->graph->param_elem_bytes;
    return fr__to_bytes(weight < 2 ? fmax(bytes - weight * numbers, 0) : bytes);
}

/* Whether products with an owner's weights have operands of fewer than 16 bits. */
static bool is_narrow(const struct fr__placer *pl, uint32_t owner)
{
    return fr__formats_bits(pl->graph->formats, pl->graph, owner) < 16;
}

/* Bytes of a frozen owner's weights on a rank, which are so many in the graph's format: as they are
 * stored, and no wider than the graph's, for no master weight stands for them. */
static double frozen_bytes(const struct fr__placer *pl, uint32_t owner, uint64_t param_bytes)
{
    const struct fr__keeping *k = pl->keeping;
    const struct fr_op *op = &pl->graph->ops[owner];
    double each = k->recipe->bytes[FR__PART_WEIGHT] / pl->graph->param_elem_bytes, bytes;

    bytes = (double)param_bytes * (each < 1 ? each : 1);
    if (op->packing != FR_PACK_NONE)
        bytes = (double)fr_op_stored_bytes(pl->graph, op) *
                ((double)param_bytes / (double)op->param_bytes);
    return fr__recipe_is_sharded(FR__PART_WEIGHT, k->zero) ? bytes / k->shards[owner] : bytes;
}

/* What the fullest rank has of a part, over the mean, where whole tensors are shared out. */
static double fullness(const struct fr__placer *pl, const struct fr__owner *w,
                       enum fr__recipe_part part)
{
    const struct fr__keeping *k = pl->keeping;
    bool is_shared = part == FR__PART_STATES || part == FR__PART_MASTER;

    if (!k->busiest || !is_shared || !fr__rule_holds(pl->in->optimizer, &w->weights, true))
        return 1;
    return k->busiest[w->op].held;
}

/* For each parameter of an owner, on one of d ranks. */
static double part_each(const struct fr__placer *pl, enum fr__recipe_part part,
                        const struct fr__owner *w, double d)
{
    const struct fr__keeping *k = pl->keeping;
    double bytes = k->recipe->bytes[part];

    if (part == FR__PART_STATES)
        bytes = states_each(pl->in->optimizer, w, pl->graph->param_elem_bytes, bytes);
    return fr__recipe_sharded(k->recipe, part, bytes, d > 1 ? k->zero : 0, d);
}

uint64_t fr__kept_bytes(const struct fr__placer *pl, enum fr__recipe_part part, uint32_t owner,
                        uint64_t param_bytes)
{
    const struct fr__keeping *k = pl->keeping;
    const struct fr__owner *w = &pl->params.owners[pl->params.owner_of[owner]];
    double elements = (double)param_bytes / pl->graph->param_elem_bytes;

    if (pl->graph->ops[owner].is_frozen) {
        if (part == FR__PART_WEIGHT)
            return fr__to_bytes(frozen_bytes(pl, owner, param_bytes));
        if (part != FR__PART_CACHE || pl->graph->ops[owner].packing != FR_PACK_NONE)
            return 0;
    }
    if (part == FR__PART_WEIGHT && is_cast(k, owner))
        return 0;
    if (is_second(k, owner) && part != FR__PART_GRADIENT && part != FR__PART_MAIN_GRADIENT)
        return 0;
    if (part == FR__PART_CACHE && pl->graph->formats)
        return copies_of_weights(pl, owner);
    if (part == FR__PART_WEIGHT && pl->graph->formats && !is_narrow(pl, owner))
        elements *= fmax(2 / k->recipe->bytes[part], 1); /* what is not narrow has 16 bits */
    return (uint64_t)(elements * part_each(pl, part, w, k->shards[owner]) * fullness(pl, w, part) +
                      0.5);
}

uint64_t fr__whole_optimizer_bytes(const struct fr__placer *pl, const struct fr__owner *w,
                                   uint64_t param_bytes)
{
    static const enum fr__recipe_part parts[] = {FR__PART_MASTER, FR__PART_STEP_GRADIENT,
                                                 FR__PART_STATES};
    double bytes = 0;

    if (!pl->keeping)
        return fr__optimizer_bytes(pl->in, w, param_bytes);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        bytes += part_each(pl, parts[i], w, 1);
    return fr__to_bytes((double)param_bytes / pl->graph->param_elem_bytes * bytes);
}

uint64_t fr__variable_bytes(const struct fr__placer *pl, const struct fr__owner *w,
                            uint64_t param_bytes)
{
    uint64_t bytes = param_bytes + fr__whole_optimizer_bytes(pl, w, param_bytes);

    return pl->in->keeps_gradients ? bytes + fr__gradient_bytes(pl, param_bytes) : bytes;
}

uint64_t fr__gathered_bytes(const struct fr__placer *pl, const struct fr__owner *w)
{
    const struct fr_formats *f = pl->graph->formats;
    double bytes = pl->keeping ? pl->keeping->recipe->bytes[FR__PART_WEIGHT] : 2;

    if (pl->keeping && is_second(pl->keeping, w->op))
        return 0;
    if (f && bytes < 2 && fr__formats_send_copies(f) && is_narrow(pl, w->op))
        return fr__to_bytes((double)w->bytes / pl->graph->param_elem_bytes * bytes);
    return w->bytes;
}

uint64_t fr__weight_bytes(const struct fr__placer *pl, uint32_t owner, uint64_t param_bytes)
{
    const struct fr__keeping *k = pl->keeping;

    if (k && pl->graph->ops[owner].is_frozen)
        return fr__to_bytes(frozen_bytes(pl, owner, param_bytes));
    if (k && fr__recipe_is_sharded(FR__PART_WEIGHT, k->zero))
        return fr__to_bytes((double)param_bytes / pl->graph->param_elem_bytes *
                            fr__recipe_part_bytes(k->recipe, FR__PART_WEIGHT, pl->in->optimizer,
                                                  k->zero, k->shards[owner]));
    return param_bytes;
}

bool fr__has_main_gradients(const struct fr__placer *pl)
{
    return pl->keeping && !(pl->keeping->recipe->bytes[FR__PART_GRADIENT] > 0);
}

bool fr__adds_to_main(const struct fr__placer *pl)
{
    return fr__has_main_gradients(pl) && !pl->keeping->is_whole_first;
}

bool fr__gradient_leaves(const struct fr__placer *pl, uint32_t owner)
{
    const struct fr__keeping *k = pl->keeping;

    return k && k->zero == 2 && !k->is_scattered && owner != FR_NONE &&
           pl->params.owner_of[owner] != FR_NONE && k->shards[owner] > 1 && !fr__adds_to_main(pl);
}

/* What the rule of the optimizer moves beside that, for each parameter of an owner: a number of
 * 4 bytes each of what it works on. */
static double more_each(const struct fr__placer *pl, const struct fr__owner *w)
{
    enum fr_optimizer o = pl->in->optimizer;

    return w && fr__rule_holds(o, &w->weights, w->weights.matrices.n > 0)
               ? fr__optimizer_at(o)->more_bytes
               : 0;
}

/* Memory traffic of an update op: a rank updates its share. w NULL: nobody owns its parameters. */
static double update_bytes(const struct fr__placer *pl, const struct fr_op *o,
                           const struct fr__owner *w)
{
    const struct fr__keeping *k = pl->keeping;
    double elements = (double)o->param_bytes / pl->graph->param_elem_bytes, bytes, gradient;

    if (!k)
        return update_traffic_bytes(pl->in, w, o->param_bytes) + elements * more_each(pl, w);
    gradient = fr__recipe_reduced_bytes(k->recipe);
    if (is_second(k, o->forward)) /* it is added to the first one's: two are read, one is written */
        return elements / k->shards[o->forward] * 3 * gradient;
    bytes = fr__recipe_update_bytes(k->recipe,
                                    states_each(pl->in->optimizer, w, pl->graph->param_elem_bytes,
                                                k->recipe->bytes[FR__PART_STATES]));
    if (is_cast(k, o->forward))
        bytes -= k->recipe->bytes[FR__PART_WEIGHT]; /* no weight in 16 bits is written */
    if (pl->graph->dtype == FR_AMP)                 /* as update_traffic_bytes */
        bytes += 2 * gradient;
    if (pl->in->keeps_gradients && !fr__has_main_gradients(pl))
        bytes += 4 * gradient;
    bytes += more_each(pl, w);
    return elements / k->shards[o->forward] * bytes * (w ? fullness(pl, w, FR__PART_STATES) : 1);
}

uint64_t fr__gradient_bytes(const struct fr__placer *pl, uint64_t param_bytes)
{
    return fr__to_bytes((double)param_bytes * pl->gradient_factor);
}

uint64_t fr__tensor_bytes(const struct fr__placer *pl, uint32_t tensor, uint64_t bytes,
                          double batch)
{
    const struct fr_tensor *t = &pl->graph->tensors[tensor];

    return fr__bytes_at(pl, pl->params.is_gradient[tensor] ? fr__gradient_bytes(pl, bytes) : bytes,
                        t->scales, batch);
}

/* ---- ops ---- */

void fr__price_by_model(const struct fr_problem *in, uint32_t type, uint32_t op,
                        const struct fr_part *part, struct fr_cost *cost)
{
    if (in->memo)
        fr__cost_memo_op(in->memo, type, op, part, cost);
    else
        fr_cost_op(in->costs, type, in->graph, op, part, cost);
    if (in->clocks) {
        const struct fr__clock clock = fr__clock_at(in->clocks, type, part->batch);

        fr__clock_apply(&clock, cost);
    }
}

void fr__price_bytes(const struct fr_problem *in, uint32_t type, double bytes, enum fr_op_kind kind,
                     struct fr_cost *cost)
{
    if (in->memo)
        fr__cost_memo_bytes(in->memo, type, bytes, kind, cost);
    else
        fr_cost_bytes(in->costs, type, bytes, kind, cost);
    if (in->clocks) {
        const struct fr__clock clock = fr__clock_of_type(in->clocks, type);

        fr__clock_apply(&clock, cost);
    }
}

/* ---- steps as software runs them ---- */

/* A bias, or what a norm has: left out of weight decay. */
static bool is_small(enum fr_op_kind kind)
{
    return kind == FR_OP_BIAS || kind == FR_OP_BATCHNORM || kind == FR_OP_LAYERNORM ||
           kind == FR_OP_RMSNORM;
}

static double bytes_of(const struct fr__placer *pl, const struct fr__update *u,
                       enum fr_op_kind kind)
{
    const unsigned fp32_bytes = 4;

    if (kind == FR_OP_EMBEDDING && u->table_bytes > 0)
        return u->table_bytes;
    if (pl->graph->param_elem_bytes < fp32_bytes && u->narrow_bytes > 0)
        return u->narrow_bytes;
    return u->bytes;
}

/* The first tensor has nearly all parameters. The others are biases, unless the owner is a norm,
 * whose tensors are all small. */
static void price_chain(const struct fr__placer *pl, uint32_t type, const struct fr__update *u,
                        bool is_norm, double n_tensors, double bytes, struct fr_cost *cost)
{
    double of_small = u->small_kernels > 0 ? u->small_kernels : u->kernels;
    double of_first = is_norm ? of_small : u->kernels, n_small = of_small * (n_tensors - 1);
    struct fr_cost small;

    fr__price_bytes(pl->in, type, bytes / of_first, FR_OP_GRAD_ADD, cost);
    fr__price_bytes(pl->in, type, 1, FR_OP_GRAD_ADD, &small);
    cost->mean_s = of_first * cost->mean_s + n_small * small.mean_s;
    cost->launch_s *= of_first + n_small;
}

void fr__price_update(const struct fr__placer *pl, uint32_t type, const struct fr__update *u,
                      const struct fr__owner *w, uint64_t param_bytes, double shards,
                      struct fr_cost *cost)
{
    const double many_bytes = 1e9, list_tensors = 36, drain_s = 30e-6;
    enum fr_op_kind kind = pl->graph->ops[w->op].kind;
    double part = (double)param_bytes / (double)w->bytes, n_tensors = part * w->n_tensors;
    double bytes =
        (double)param_bytes / pl->graph->param_elem_bytes / shards * bytes_of(pl, u, kind);

    if (u->kernels > 0) {
        price_chain(pl, type, u, is_small(kind), n_tensors, bytes, cost);
    } else {
        fr__price_bytes(pl->in, type, many_bytes, FR_OP_GRAD_ADD, cost);
        cost->mean_s *= bytes / many_bytes;
        cost->launch_s *= n_tensors / list_tensors;
    }
    cost->kind = FR_OP_UPDATE;
    cost->mean_s += u->drains * n_tensors * drain_s;
    cost->flops_s = 0;
    cost->bytes_s = cost->mean_s;
}

/* As software runs it, if the question says how. */
static bool price_as_software(const struct fr__placer *pl, uint32_t type, const struct fr_op *o,
                              struct fr_cost *cost)
{
    const struct fr__update *u = fr__update_of(pl->in->updates, pl->in->optimizer);
    const struct fr__keeping *k = pl->keeping;
    uint32_t owner = pl->params.owner_of[o->forward];
    double shards = k ? k->shards[o->forward] : 1;

    if (!u || owner == FR_NONE || (k && is_second(k, o->forward)))
        return false;
    fr__price_update(pl, type, u, &pl->params.owners[owner], o->param_bytes, shards, cost);
    if (pl->in->keeps_gradients && !fr__has_main_gradients(pl)) { /* as update_traffic_bytes */
        struct fr_cost zeroing;

        fr__price_bytes(pl->in, type, 4 * (double)fr__gradient_bytes(pl, o->param_bytes) / shards,
                        FR_OP_GRAD_ADD, &zeroing);
        cost->mean_s += zeroing.mean_s;
        cost->bytes_s += zeroing.mean_s;
    }
    return true;
}

/* Products on matrices, of which a rank has one of so many shares. */
static void add_products(const struct fr__placer *pl, uint32_t type, const struct fr_op *o,
                         const struct fr__owner *w, struct fr_cost *cost)
{
    const struct fr__keeping *k = pl->keeping;
    double share = part_of(w, o->param_bytes);

    if (k && is_second(k, o->forward))
        return;
    if (k && fr__recipe_is_sharded(FR__PART_STATES, k->zero))
        share /= k->shards[o->forward];
    if (k && k->busiest)
        share *= k->busiest[o->forward].worked;
    fr__price_products(pl->in, type, &w->weights, share, cost);
}

/* A measured update is taken as it is; else the optimizer decides what moves and is computed. */
void fr__price_op(const struct fr__placer *pl, uint32_t type, uint32_t op,
                  const struct fr_part *part, struct fr_cost *cost)
{
    const struct fr_op *o = &pl->graph->ops[op];
    const struct fr__owner *w = NULL;

    fr__price_by_model(pl->in, type, op, part, cost);
    if (pl->params.roles[op] != FR__ROLE_UPDATE || fr_trust_is_measured(cost->trust) ||
        o->param_bytes == 0)
        return;
    if (o->forward != FR_NONE && pl->params.owner_of[o->forward] != FR_NONE)
        w = &pl->params.owners[pl->params.owner_of[o->forward]];
    if (price_as_software(pl, type, o, cost))
        return;
    fr__price_bytes(pl->in, type, update_bytes(pl, o, w), FR_OP_UPDATE, cost);
    if (w)
        add_products(pl, type, o, w, cost);
}

void fr__price_sum(const struct fr__placer *pl, uint32_t type, uint64_t bytes, size_t n,
                   struct fr_cost *cost)
{
    fr__price_bytes(pl->in, type, (double)bytes * (double)(n + 1), FR_OP_GRAD_ADD, cost);
}

uint64_t fr__bytes_at(const struct fr__placer *pl, uint64_t bytes, bool scales, double batch)
{
    if (!scales)
        return bytes;
    return fr__to_bytes((double)bytes * (batch / pl->graph->batch));
}

/* ---- rows of the plan's cost table ---- */

struct fr__cost_rows {
    uint32_t type;
    double batch;
    uint32_t *ids; /* [n_ops]: row of the plan + 1; 0: not asked for yet */
    struct fr__cost_rows *next;
};

struct fr__cost_rows *fr__cost_rows(struct fr__placer *pl, uint32_t type, double batch)
{
    struct fr__cost_rows *r = pl->rows;

    while (r && (r->type != type || r->batch < batch || r->batch > batch))
        r = r->next;
    if (r)
        return r;
    r = fr__arena_alloc(pl->arena, 1, sizeof(*r));
    if (!r)
        return NULL;
    r->ids = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*r->ids));
    if (!r->ids)
        return NULL;
    r->type = type;
    r->batch = batch;
    r->next = pl->rows;
    pl->rows = r;
    return r;
}

uint32_t fr__op_cost(struct fr__placer *pl, struct fr__cost_rows *rows, uint32_t op)
{
    struct fr_cost cost;

    if (rows->ids[op] == 0) {
        const struct fr_part part = {.batch = rows->batch};

        fr__price_op(pl, rows->type, op, &part, &cost);
        rows->ids[op] = fr_plan_add_cost(pl->plan, &cost) + 1;
    }
    return rows->ids[op] - 1;
}

/* ---- collectives ---- */

/* A switch sums fp16, bf16 and fp32. Gradients are in the format of the arithmetic, but fp32 under
 * automatic casts. */
static bool is_summed_in_switch(enum fr_dtype dtype)
{
    return dtype != FR_FP8;
}

bool fr__price_collective(const struct fr__placer *pl, const struct fr_collective *c,
                          struct fr_cost *cost)
{
    return fr_plan_collective_cost(pl->plan, pl->in->costs, c,
                                   pl->graph->formats || is_summed_in_switch(pl->graph->dtype),
                                   cost);
}
