/* workloads/graph/totals.c - sums over a graph and over its layers. */
#include "config.h"

#include "workloads/graph/builder.h"
#include "workloads/graph/totals.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_backward(enum fr_phase phase)
{
    return phase == FR_PHASE_BACKWARD_DATA || phase == FR_PHASE_BACKWARD_WEIGHT;
}

void fr__mark_saved(const struct fr_graph *g, bool is_saved[])
{
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (e->tensor == FR_NONE || g->ops[e->src].phase > FR_PHASE_FORWARD ||
            !is_backward(g->ops[e->dst].phase))
            continue;
        if (g->tensors[e->tensor].alias != FR_NONE)
            is_saved[g->tensors[e->tensor].alias] = true;
        else
            is_saved[e->tensor] = true;
    }
}

/* Mean of the op's samples at the graph's batch on the first device that has any. samples: the ones
 * from the op's first on; returns how many belong to the op. */
static size_t sample_time(const struct fr_graph *g, const struct fr_sample samples[], size_t n,
                          uint32_t op, double *time_s)
{
    const char *device = NULL;
    size_t i, n_used = 0;
    double sum_s = 0;

    for (i = 0; i < n && samples[i].op == op; i++) {
        if (samples[i].batch != g->batch || (device && strcmp(device, samples[i].device) != 0))
            continue;
        device = samples[i].device;
        sum_s += samples[i].time_s;
        n_used++;
    }
    *time_s = n_used ? sum_s / (double)n_used : 0;
    return i;
}

static double needed_flops(const struct fr_graph *g, const struct fr_op *op)
{
    const struct fr_op *forward = op->forward == FR_NONE ? op : &g->ops[op->forward];

    if (op->is_recomputed)
        return 0;
    return op->kind == FR_OP_ATTENTION && is_backward(op->phase) && op->flops > 2 * forward->flops
               ? 2 * forward->flops
               : op->flops;
}

struct fr__product_flops fr__product_flops(const struct fr_graph *g)
{
    struct fr__product_flops sum = {0};

    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *op = &g->ops[i];

        if (!fr_op_kind_is_product(op->kind) || op->phase == FR_PHASE_UPDATE)
            continue;
        sum.model += needed_flops(g, op);
        sum.hardware += op->flops;
        sum.recomputed += op->is_recomputed ? op->flops : 0;
    }
    return sum;
}

/* ---- parameters that a token meets ---- */

enum { LONGEST_EXPERT = 16 }; /* ops between a dispatch and the last product of an expert */

/* The experts of a layer, and of them those that a token visits. */
struct routing {
    uint64_t n_experts, n_chosen;
};

static bool is_dispatch(const struct fr_op *op)
{
    return op->kind == FR_OP_GATHER && op->n_tensors > 1;
}

/* Tokens are dispatched by their experts' numbers, 8 bytes each, [batch, seq, chosen]. */
static uint64_t chosen_of(const struct fr_graph *g, uint32_t dispatch)
{
    for (uint32_t i = g->in_first[dispatch]; i < g->in_first[dispatch + 1]; i++) {
        uint32_t tensor = g->edges[g->in_edges[i]].tensor;
        const struct fr_tensor *t = tensor == FR_NONE ? NULL : &g->tensors[tensor];

        if (t && t->n_dims == 3 && t->bytes == (uint64_t)8 * t->dims[0] * t->dims[1] * t->dims[2])
            return t->dims[2];
    }
    return g->ops[dispatch].n_tensors;
}

/* The expert layer that forward op o is in: the way back from it leads to a dispatch. Elsewhere all
 * of one expert is chosen. */
static struct routing routing_of(const struct fr_graph *g, uint32_t o)
{
    for (unsigned n = 0; n < LONGEST_EXPERT && g->ops[o].kind != FR_OP_SCATTER; n++) {
        uint32_t i = g->in_first[o], end = g->in_first[o + 1];

        while (i < end && g->edges[g->in_edges[i]].tensor == FR_NONE)
            i++;
        if (i == end)
            break;
        o = g->edges[g->in_edges[i]].src;
        if (is_dispatch(&g->ops[o]))
            return (struct routing){g->ops[o].n_tensors, chosen_of(g, o)};
    }
    return (struct routing){1, 1};
}

/* Bytes of parameters that a token meets. Experts of one layer are alike, so that a token meets
 * chosen / experts of them all; layers that follow each other are divided once. */
static uint64_t active_bytes(const struct fr_graph *g)
{
    struct routing now = {1, 1};
    uint64_t all = 0, bytes = 0;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];
        struct routing r;

        if (op->phase != FR_PHASE_FORWARD || op->param_bytes == 0)
            continue;
        r = routing_of(g, o);
        if (r.n_experts == 1) {
            all += op->param_bytes;
            continue;
        }
        if (r.n_experts != now.n_experts || r.n_chosen != now.n_chosen) {
            all += bytes / now.n_experts * now.n_chosen;
            bytes = 0;
            now = r;
        }
        bytes += op->param_bytes;
    }
    return all + bytes / now.n_experts * now.n_chosen;
}

void fr_graph_totals(const struct fr_graph *g, struct fr_graph_totals *out)
{
    const struct fr__product_flops products = fr__product_flops(g);
    uint64_t bytes = 0, trained = 0;
    size_t at = 0;

    *out = (struct fr_graph_totals){.model_flops = products.model,
                                    .hardware_flops = products.hardware};
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *op = &g->ops[i];
        double time_s;

        at += sample_time(g, g->samples + at, g->n_samples - at, (uint32_t)i, &time_s);
        if (op->is_recomputed) {
            out->recomputed_ops++;
            out->recomputed_flops += op->flops;
            out->recomputed_sample_s += time_s;
            continue;
        }
        out->ops[op->phase]++;
        out->flops[op->phase] += op->flops;
        out->sample_s[op->phase] += time_s;
        if (op->phase != FR_PHASE_FORWARD)
            continue;
        bytes += op->param_bytes;
        trained += op->is_frozen ? 0 : op->param_bytes;
        out->param_bytes += fr_op_stored_bytes(g, op);
        out->param_tensors += op->n_params;
    }
    out->params = bytes / g->param_elem_bytes;
    out->trained_params = trained / g->param_elem_bytes;
    out->active_params = active_bytes(g) / g->param_elem_bytes;
    out->saved_bytes = ((const struct fr__graph_priv *)g->priv)->saved_bytes;
}

static void add_kind(struct fr_layer_totals *layer, enum fr_op_kind kind)
{
    for (unsigned i = 0; i < layer->n_kinds; i++)
        if (layer->kinds[i] == kind)
            return;
    if (layer->n_kinds < FR_MAX_LAYER_KINDS)
        layer->kinds[layer->n_kinds++] = kind;
}

/* Adds what op says of its layer, but for what is saved. */
static void add_to_layer(const struct fr_graph *g, const struct fr_op *op,
                         struct fr_layer_totals *layer)
{
    if (is_backward(op->phase) && !op->is_recomputed)
        layer->backward_flops += op->flops;
    if (op->phase != FR_PHASE_FORWARD && op->phase != FR_PHASE_INPUT)
        return;
    layer->forward_flops += op->flops;
    layer->n_ops++;
    add_kind(layer, op->kind);
    if (op->n_tensors)
        layer->output = op->first_tensor;
    if (op->phase == FR_PHASE_FORWARD) {
        layer->param_bytes += fr_op_stored_bytes(g, op);
        layer->param_tensors += op->n_params;
        layer->params += op->param_bytes / g->param_elem_bytes;
    }
}

enum fr_status fr_graph_layer_totals(const struct fr_graph *g, struct fr_layer_totals out[],
                                     struct fr_error *err)
{
    bool *is_saved = calloc(g->n_tensors + 1, sizeof(*is_saved));

    if (!is_saved)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < g->n_layers; i++)
        out[i] = (struct fr_layer_totals){.output = FR_NONE};
    for (size_t i = 0; i < g->n_ops; i++)
        add_to_layer(g, &g->ops[i], &out[g->ops[i].layer]);
    fr__mark_saved(g, is_saved);
    for (size_t t = 0; t < g->n_tensors; t++)
        if (is_saved[t])
            out[g->ops[g->tensors[t].op].layer].saved_bytes += g->tensors[t].bytes;
    free(is_saved);
    return FR_OK;
}

enum fr_status fr__graph_kept_bytes(const struct fr_graph *g, double batch, double *bytes,
                                    struct fr_error *err)
{
    bool *is_saved = calloc(g->n_tensors + 1, sizeof(*is_saved));
    size_t n_losses = 0;

    *bytes = 0;
    if (!is_saved)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *op = &g->ops[i];

        if (op->phase != FR_PHASE_FORWARD)
            continue;
        n_losses += op->kind == FR_OP_LOSS;
        *bytes += (double)fr_op_stored_bytes(g, op); /* those that it owns */
    }
    if (n_losses == 1)
        fr__mark_saved(g, is_saved);
    for (size_t t = 0; t < g->n_tensors; t++)
        if (is_saved[t])
            *bytes +=
                floor((double)g->tensors[t].bytes * (g->tensors[t].scales ? batch / g->batch : 1));
    free(is_saved);
    return FR_OK;
}

bool fr__graph_is_tasks(const struct fr_graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].flops > 0 || g->ops[i].param_bytes > 0 || g->ops[i].phase != FR_PHASE_FORWARD)
            return false;
    return true;
}
