/* lowering/pipeline/stages.c - the chain of forward ops: times, memory, and which op stands
 * where. */
#include "config.h"

#include "lowering/pipeline/stages.h"

#include "base/error.h"
#include "base/units.h"
#include "lowering/log.h"
#include "lowering/partition/kinds.h"
#include "lowering/pipeline/stages_given.h"
#include "lowering/pipeline/stages_memory.h"
#include "lowering/pipeline/stages_price.h"

#include <assert.h>

struct chain {
    struct fr__placer *pl;
    size_t n;
    uint32_t *items;    /* [n] first forward op of each */
    uint32_t *n_before; /* [n + 1] forward ops before it */
    uint32_t *item_of;  /* [n_ops] */
    struct fr__stages_memory memory;
};

/* ---- which item an op belongs to ---- */

/* Inputs stand with their first reader. */
static uint32_t first_reader(const struct chain *c, uint32_t op)
{
    const struct fr_graph *g = c->pl->graph;
    uint32_t item = FR_NONE;

    for (uint32_t i = g->out_first[op]; i < g->out_first[op + 1]; i++) {
        uint32_t reader = c->item_of[g->edges[i].dst];

        if (reader < item)
            item = reader;
    }
    return item == FR_NONE ? 0 : item;
}

/* A sum of gradients of one tensor stands with the first of those who feed it, so that a boundary
 * between them and who reads the sum is crossed once. */
static uint32_t first_feeder(const struct chain *c, uint32_t op)
{
    const struct fr_graph *g = c->pl->graph;
    uint32_t first = FR_NONE;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        uint32_t item = c->item_of[g->edges[g->in_edges[i]].src];

        first = item < first ? item : first;
    }
    return first;
}

/* Whether it makes gradients of inputs, and does not run a forward op again. */
static bool passes_gradients_on(const struct fr_op *op)
{
    return op->phase == FR_PHASE_BACKWARD_DATA && !op->is_recomputed;
}

/* Gradients go from the last stage to the first. A kernel into which such a sum is fused reads what
 * an earlier item made: it stands there, too. item: its forward op's. */
static uint32_t first_before(const struct chain *c, uint32_t op, uint32_t item)
{
    const struct fr_graph *g = c->pl->graph;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor != FR_NONE && passes_gradients_on(&g->ops[e->src]) &&
            c->item_of[e->src] < item)
            item = c->item_of[e->src];
    }
    return item;
}

/* Other ops stand with the forward op they derive from, or with who feeds them. */
static uint32_t item_of_derived(const struct chain *c, uint32_t op)
{
    const struct fr_graph *g = c->pl->graph;
    uint32_t forward = g->ops[op].forward, first;

    if (g->ops[op].kind == FR_OP_GRAD_ADD && g->ops[op].phase == FR_PHASE_BACKWARD_DATA) {
        first = first_feeder(c, op);
        if (first != FR_NONE)
            return first;
    }
    if (forward != FR_NONE && c->item_of[forward] != FR_NONE)
        return passes_gradients_on(&g->ops[op]) ? first_before(c, op, c->item_of[forward])
                                                : c->item_of[forward];
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        uint32_t item = c->item_of[g->edges[g->in_edges[i]].src];

        if (item != FR_NONE)
            return item;
    }
    return (uint32_t)c->n - 1;
}

/* Layers some of whose ops share parameters: steps of a recurrence. */
static void find_unrolled(const struct fr_graph *g, bool is_unrolled[])
{
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_op *src = &g->ops[g->edges[i].src], *dst = &g->ops[g->edges[i].dst];

        if (g->edges[i].tensor == FR_NONE && g->edges[i].bytes > 0 && src->layer == dst->layer &&
            src->phase == FR_PHASE_FORWARD && dst->phase == FR_PHASE_FORWARD)
            is_unrolled[src->layer] = true;
    }
}

/* Whether an op belongs to the item of the forward op before it, of that layer. */
static bool goes_on(const struct fr_op *op, uint32_t layer, const bool is_unrolled[],
                    const uint32_t unit_of_layer[])
{
    if (layer == FR_NONE)
        return false;
    if (op->layer == layer)
        return unit_of_layer || is_unrolled[layer];
    return unit_of_layer && unit_of_layer[layer] != FR_NONE &&
           unit_of_layer[op->layer] == unit_of_layer[layer];
}

/* Whether an op reads parameters alone, as a cast of weights: it belongs to who reads it. A cut
 * between them would send weights forward and their gradient back. */
static bool reads_weights_alone(const struct fr_graph *g, uint32_t op)
{
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++)
        if (g->edges[g->in_edges[i]].tensor != FR_NONE)
            return false;
    return g->ops[op].kind == FR_OP_CAST;
}

static void assign_items(struct chain *c, const bool is_unrolled[], const uint32_t unit_of_layer[])
{
    const struct fr_graph *g = c->pl->graph;
    uint32_t layer = FR_NONE, n_forward = 0;
    bool is_bare = false; /* the item is casts of weights until now */

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];

        c->item_of[o] = FR_NONE;
        if (op->phase != FR_PHASE_FORWARD)
            continue;
        if (!is_bare && !goes_on(op, layer, is_unrolled, unit_of_layer)) {
            c->n_before[c->n] = n_forward;
            c->items[c->n++] = o;
            is_bare = true;
        }
        is_bare = is_bare && reads_weights_alone(g, o);
        layer = op->layer;
        n_forward++;
        c->item_of[o] = (uint32_t)c->n - 1;
    }
    c->n_before[c->n] = n_forward;
    for (uint32_t o = (uint32_t)g->n_ops; c->n > 0 && o-- > 0;)
        if (g->ops[o].phase == FR_PHASE_INPUT)
            c->item_of[o] = first_reader(c, o);
    for (uint32_t o = 0; c->n > 0 && o < g->n_ops; o++)
        if (c->item_of[o] == FR_NONE)
            c->item_of[o] = item_of_derived(c, o);
}

/* ---- times ---- */

/* Prefix sums of forward and backward times on one type of device. NULL: out of memory. */
static const double *sum_times(struct chain *c, uint32_t type, double batch)
{
    const struct fr_part part = {.batch = batch};
    const struct fr_graph *g = c->pl->graph;
    double *sum_s = fr__arena_alloc(c->pl->arena, c->n + 1, sizeof(*sum_s));

    if (!sum_s)
        return NULL;
    for (uint32_t o = 0; o < g->n_ops; o++) {
        enum fr__role role = c->pl->params.roles[o];
        struct fr_cost cost;

        if (role != FR__ROLE_FORWARD && role != FR__ROLE_BACKWARD)
            continue;
        fr__price_by_model(c->pl->in, type, o, &part, &cost);
        sum_s[c->item_of[o] + 1] += cost.mean_s;
    }
    for (size_t i = 0; i < c->n; i++)
        sum_s[i + 1] += sum_s[i];
    return sum_s;
}

/* One row a stage; stages on the same type of device share it. */
static enum fr_status sum_all_times(struct chain *c, const uint32_t devices[], size_t n,
                                    double batch, const double *sum_s[], struct fr_error *err)
{
    const struct fr_topo *topo = c->pl->in->topo;

    for (size_t s = 0; s < n; s++) {
        size_t same = 0;

        while (topo->devices[devices[same]].type != topo->devices[devices[s]].type)
            same++;
        sum_s[s] = same < s ? sum_s[same] : sum_times(c, topo->devices[devices[s]].type, batch);
        if (!sum_s[s])
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

/* ---- the cut ---- */

static const struct fr_op *last_op(const struct chain *c, uint32_t item)
{
    const struct fr_graph *g = c->pl->graph;
    uint32_t o = item + 1 < c->n ? c->items[item + 1] : (uint32_t)g->n_ops;

    while (g->ops[--o].phase != FR_PHASE_FORWARD)
        continue;
    return &g->ops[o];
}

static void log_stages(const struct chain *c, const struct fr__cut_problem *p,
                       const uint32_t devices[], const uint32_t first[], bool fits)
{
    const struct fr__placer *pl = c->pl;
    char time[32], fixed[32], live[32];

    if (!fr__wants_log(pl->ctx))
        return;
    if (!fits)
        fr__log(pl->ctx,
                "no cut into %zu parts fits the devices' memory; the worst excess is as "
                "small as it can be",
                p->n_parts);
    for (size_t s = 0; s < p->n_parts; s++) {
        uint32_t i = first[s], j = first[s + 1];

        fr__log(pl->ctx,
                "part %zu on %s: %u forward ops, %s to %s, %s forward and backward; %s parameters "
                "with gradients and optimizer state, %s saved activations",
                s, pl->in->topo->devices[devices[s]].name, c->n_before[j] - c->n_before[i],
                pl->graph->ops[c->items[i]].name, last_op(c, j - 1)->name,
                fr__format_time(p->sum_s[s][j] - p->sum_s[s][i], time, sizeof(time)),
                fr__format_bytes(p->fixed_bytes[j] - p->fixed_bytes[i], fixed, sizeof(fixed)),
                fr__format_bytes(p->in_flight[s] * (p->live_bytes[j] - p->live_bytes[i]), live,
                                 sizeof(live)));
    }
}

static enum fr_status make_chain(struct chain *c, struct fr__placer *pl,
                                 const struct fr__stages_problem *in, struct fr_error *err)
{
    size_t n_ops = pl->graph->n_ops;
    bool *is_unrolled = fr__arena_alloc(pl->arena, pl->graph->n_layers, sizeof(*is_unrolled));

    *c = (struct chain){.pl = pl};
    c->items = fr__arena_alloc(pl->arena, n_ops, sizeof(*c->items));
    c->n_before = fr__arena_alloc(pl->arena, n_ops + 1, sizeof(*c->n_before));
    c->item_of = fr__arena_alloc(pl->arena, n_ops, sizeof(*c->item_of));
    if (!is_unrolled || !c->items || !c->n_before || !c->item_of)
        return fr__fail_nomem(err);
    find_unrolled(pl->graph, is_unrolled);
    assign_items(c, is_unrolled, in->unit_of_layer);
    if (c->n < in->n_stages)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has %zu %s, too few for %zu parts",
                        pl->graph->name, c->n,
                        in->unit_of_layer          ? "layers that can be cut apart"
                        : c->n < c->n_before[c->n] ? "forward ops or unrolled layers"
                                                   : "forward ops",
                        in->n_stages);
    return FR_OK;
}

enum fr_status fr__items_list(struct fr__items *out, struct fr__placer *pl, struct fr_error *err)
{
    struct chain c;

    FR_TRY(make_chain(&c, pl, &(struct fr__stages_problem){.n_stages = 1}, err));
    *out = (struct fr__items){.n = c.n, .first = c.items, .item_of = c.item_of};
    return FR_OK;
}

static bool is_unit(const struct chain *c, const struct fr__stages_problem *in, size_t item)
{
    return in->unit_of_layer[c->pl->graph->ops[c->items[item]].layer] != FR_NONE;
}

/* Of n layers, those before stage s of k on p ranks. Each rank has n / p of them, rounded up or
 * down: what n / k leaves over goes to the last stages of all ranks, then to some of those
 * before. */
static size_t layers_before(size_t s, size_t n, size_t k, size_t p)
{
    size_t over = n % k, around = s / p, last = k / p - over / p, rest = over % p;

    if (k % p != 0)
        return s * n / k;
    if (around >= last)
        return s * (n / k) + rest + (around - last) * p + s % p;
    return s * (n / k) + (around + 1 == last ? s % p * rest / p : 0);
}

static size_t count_units(const struct chain *c, const struct fr__stages_problem *in)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        n += is_unit(c, in, i);
    return n;
}

/* Whether embedding and head count as layers, since so the number of parts divides all. */
static bool counts_ends(size_t n_units, size_t n_parts)
{
    return n_units % n_parts != 0 && (n_units + 2) % n_parts == 0;
}

/* The same number of layers a part, or one less: see struct fr__stages_problem. */
static enum fr_status cut_by_count(const struct chain *c, const struct fr__stages_problem *in,
                                   uint32_t first[], struct fr_error *err)
{
    size_t k = in->n_stages, n_units = count_units(c, in), n, s = 1, passed = 0;
    size_t n_ranks = in->schedule ? in->schedule->n_ranks : k;
    bool with_ends = counts_ends(n_units, k);

    n = n_units + (with_ends ? 2 : 0);
    if (n < k || (with_ends && c->n < k))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has %zu layers, too few for %zu parts",
                        c->pl->graph->name, n_units, k);
    first[0] = 0;
    for (size_t i = 0; i < c->n; i++) {
        bool is_end = passed == n_units;

        if (!is_unit(c, in, i) && !is_end)
            continue;
        if (s < k && passed + (with_ends ? 1 : 0) >= layers_before(s, n, k, n_ranks) &&
            (!is_end || with_ends))
            first[s++] = (uint32_t)i;
        passed += is_unit(c, in, i);
    }
    first[k] = (uint32_t)c->n;
    return FR_OK;
}

static void log_choice(const struct fr__placer *pl, const struct fr__choice *c)
{
    static const char *const by[] = {[FR__CHOSEN_GIVEN] = "the least largest passes",
                                     [FR__CHOSEN_FORM] = "the dynamic program",
                                     [FR__CHOSEN_REPLAY] = "replays of the schedule"};
    char given[32], planned[32];

    if (!fr__wants_log(pl->ctx))
        return;
    fr__log(pl->ctx,
            "cut by %s, planned %s with transfers and updates (%s where only passes count), %s%zu "
            "cuts tried%s",
            by[c->by], fr__format_time(c->planned_s, planned, sizeof(planned)),
            fr__format_time(c->given_s, given, sizeof(given)), c->tried_all ? "all " : "",
            c->n_tried, c->best.is_exact ? "" : "; the program was not searched to its end");
}

/* Prices a cut by count, and says so where a rank's several stages have unlike numbers of
 * layers. */
static enum fr_status plan_count(struct fr__stages *out, const struct chain *c,
                                 const struct fr__stages_problem *in,
                                 const struct fr__choice_problem *p, const uint32_t first[],
                                 struct fr_error *err)
{
    size_t n = count_units(c, in), k = in->n_stages;
    double even_s = 0;

    FR_TRY(fr__cut_planned(p, first, &out->planned_s, err));
    if (k <= in->schedule->n_ranks || n % k == 0 || counts_ends(n, k))
        return FR_OK;
    FR_TRY(fr__cut_even(p, first, &even_s, err));
    fr__stages_tell_layers(c->pl, n, k, out->planned_s, even_s);
    return FR_OK;
}

/* FNV-1a, 64 bits, of the borders (G. Fowler, L. C. Noll, K.-P. Vo, RFC 9923). */
static uint64_t signature(const uint32_t first[], size_t n)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++)
        for (unsigned shift = 0; shift < 32; shift += 8)
            sum = (sum ^ (first[i] >> shift & 0xff)) * UINT64_C(0x100000001b3);
    return sum;
}

/* Whether nobody would run a plan of that cut, so that none need be made. */
static bool is_useless(const struct fr_cut_choice *c)
{
    for (unsigned i = 0; i < c->n_seen; i++)
        if (c->seen[i] == c->signature)
            return true;
    return c->n_seen > 0 && !c->fits;
}

/* The best cut, or one of the kind that was asked for. */
static enum fr_status choose(const struct fr__placer *pl, const struct fr__choice_problem *p,
                             uint32_t first[], struct fr__choice *choice, struct fr_error *err)
{
    struct fr_cut_choice *cut = pl->in->cut;

    static_assert((int)FR__N_CUT_KINDS == (int)FR_CUT_KINDS,
                  "lowering.h knows how many kinds there are");
    if (!cut || cut->kind == FR__CUT_BY_REPLAY)
        FR_TRY(fr__cut_choose(p, first, choice, err));
    else
        FR_TRY(fr__cut_choose_kind(p, (enum fr__cut_kind)cut->kind, first, choice, err));
    if (!cut)
        return FR_OK;
    cut->is_chosen = p->chain->n_stages > 1;
    cut->fits = choice->fits;
    cut->signature = signature(first, p->chain->n_stages);
    cut->planned_s = choice->planned_s;
    cut->n_tasks = (double)pl->graph->n_ops * p->schedule->n_micros * (double)pl->in->n_devices /
                   p->schedule->n_ranks;
    cut->is_useless = is_useless(cut);
    return cut->is_useless
               ? fr__fail(err, FR_ENOROOM, FR_NOWHERE, "that cut was run, or does not fit")
               : FR_OK;
}

/* By the schedule: chosen, or only priced where somebody else has cut. */
static enum fr_status plan_cut(struct fr__stages *out, struct chain *c,
                               const struct fr__stages_problem *in, uint32_t first[],
                               bool is_chosen, struct fr_error *err)
{
    const struct fr__items items = {.n = c->n, .first = c->items, .item_of = c->item_of};
    struct fr__choice *choice = fr__arena_alloc(c->pl->arena, 1, sizeof(*choice));
    struct fr__choice_problem p;

    if (!choice)
        return fr__fail_nomem(err);
    FR_TRY(fr__stages_price(&p, c->pl, in, &items, &c->memory, err));
    if (!is_chosen && in->is_by_count)
        return plan_count(out, c, in, &p, first, err);
    if (!is_chosen)
        return fr__cut_planned(&p, first, &out->planned_s, err);
    FR_TRY(choose(c->pl, &p, first, choice, err));
    out->planned_s = choice->planned_s;
    out->choice = choice;
    log_choice(c->pl, choice);
    fr__stages_tell(c->pl, in, p.chain, first, choice);
    return FR_OK;
}

/* Whether whoever runs the plan wants to know how a cut by count does. */
static bool asks_for_count(const struct chain *c, const struct fr__stages_problem *in)
{
    const struct fr_cut_choice *cut = c->pl->in->cut;

    return cut && cut->kind == FR__CUT_BY_COUNT && in->unit_of_layer &&
           count_units(c, in) >= in->n_stages;
}

/* The cut, whoever makes it. fits: by the memory that passes alone leave. */
static enum fr_status find_cut(struct fr__stages *out, struct chain *c,
                               const struct fr__stages_problem *in, const struct fr__cut_problem *p,
                               uint32_t first[], bool *fits, struct fr_error *err)
{
    const struct fr__items items = {.n = c->n, .first = c->items, .item_of = c->item_of};
    bool is_given = in->given && *in->given;

    *fits = true;
    if (is_given)
        FR_TRY(fr__stages_given(first, in->n_stages, in->given, c->pl->graph, &items, err));
    else if (in->is_by_count || asks_for_count(c, in))
        FR_TRY(cut_by_count(c, in, first, err));
    else
        FR_TRY(fr__cut_chain(p, first, fits, err));
    if (!in->schedule)
        return FR_OK;
    return plan_cut(out, c, in, first, !is_given && !in->is_by_count, err);
}

static enum fr_status cut(struct fr__stages *out, struct chain *c,
                          const struct fr__stages_problem *in, struct fr_error *err)
{
    const struct fr__items items = {.n = c->n, .first = c->items, .item_of = c->item_of};
    struct fr__placer *pl = c->pl;
    size_t k = out->n_stages;
    const double **sum_s = fr__arena_alloc(pl->arena, k, sizeof(*sum_s));
    double *capacity = fr__arena_alloc(pl->arena, k, sizeof(*capacity));
    uint32_t *first = fr__arena_alloc(pl->arena, k + 1, sizeof(*first));
    struct fr__cut_problem p = {.n = c->n,
                                .n_parts = k,
                                .sum_s = sum_s,
                                .in_flight = in->in_flight,
                                .capacity_bytes = capacity};
    bool fits;

    if (!sum_s || !capacity || !first)
        return fr__fail_nomem(err);
    FR_TRY(sum_all_times(c, in->devices, k, in->batch, sum_s, err));
    for (size_t s = 0; s < k; s++) {
        const struct fr_device_type *type = fr__type_of(pl, in->devices[s]);

        capacity[s] = ((double)type->mem_bytes - (double)type->context_bytes -
                       fr__stages_more_bytes(pl, in->devices[s])) /
                      in->stages_a_device;
    }
    FR_TRY(fr__stages_memory(&c->memory, pl, &items, in->batch, err));
    p.fixed_bytes = c->memory.fixed_bytes;
    p.live_bytes = c->memory.live_bytes;
    FR_TRY(find_cut(out, c, in, &p, first, &fits, err));
    log_stages(c, &p, in->devices, first, fits);
    out->first = first;
    return FR_OK;
}

enum fr_status fr__stages_cut(struct fr__stages *out, struct fr__placer *pl,
                              const struct fr__stages_problem *in, struct fr_error *err)
{
    struct chain c;
    uint32_t *stage_of, *stage_of_item;

    FR_TRY(make_chain(&c, pl, in, err));
    *out = (struct fr__stages){.n_stages = in->n_stages, .n_items = c.n, .items = c.items};
    FR_TRY(cut(out, &c, in, err));
    stage_of = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*stage_of));
    stage_of_item = fr__arena_alloc(pl->arena, c.n, sizeof(*stage_of_item));
    if (!stage_of || !stage_of_item)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < in->n_stages; s++)
        for (uint32_t i = out->first[s]; i < out->first[s + 1]; i++)
            stage_of_item[i] = s;
    for (size_t o = 0; o < pl->graph->n_ops; o++)
        stage_of[o] = stage_of_item[c.item_of[o]];
    out->stage_of = stage_of;
    return FR_OK;
}
