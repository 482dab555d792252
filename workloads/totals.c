/* workloads/totals.c - sums over a graph, and what looks odd in it. */
#include "config.h"

#include "workloads/builder.h"

#include <stdlib.h>
#include <string.h>

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

void fr_graph_totals(const struct fr_graph *g, struct fr_graph_totals *out)
{
    size_t at = 0;

    *out = (struct fr_graph_totals){0};
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *op = &g->ops[i];
        double time_s;

        out->ops[op->phase]++;
        out->flops[op->phase] += op->flops;
        at += sample_time(g, g->samples + at, g->n_samples - at, (uint32_t)i, &time_s);
        out->sample_s[op->phase] += time_s;
        if (op->phase != FR_PHASE_FORWARD)
            continue;
        out->param_bytes += op->param_bytes;
        out->param_tensors += op->n_params;
    }
    out->params = out->param_bytes / g->param_elem_bytes;
    out->saved_bytes = ((const struct fr__graph_priv *)g->priv)->saved_bytes;
}
