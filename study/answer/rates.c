/* study/answer/rates.c - the figures that people compare systems by: tokens a second, FLOP/s and
 * how much of the peak that is, and what the GPUs may draw.
 *
 * Source:  A. Chowdhery et al., PaLM, 2022, appendix B (model FLOPs utilization, hardware FLOPs
 *          utilization).
 * FLOPs:   what the graph computes in matrix products (struct fr_graph_totals): attention that
 *          skips what a causal mask hides counts half of the scores, attention that does not counts
 *          all; an embedding's look-up counts nothing, the output layer all of its product. Papers
 *          count otherwise in places: doc/manual.md.
 * Ignores: that boards draw less than they may, and hosts, switches and cooling.
 */
#include "config.h"

#include "study/answer/record.h"

#include "base/error.h"
#include "base/text.h"
#include "workloads/graph/totals.h"

#include <stdio.h>
#include <stdlib.h>

/* What a strategy has run again is in its plan's graph. */
static void fill_flops(struct fr_record *r, const struct fr__making *m)
{
    const struct fr_graph *g = m->setting->graph, *planned = fr_plan_view(m->plan)->graph;
    struct fr__product_flops needed = fr__product_flops(g);
    struct fr__product_flops run = fr__product_flops(planned ? planned : g);
    double once = run.hardware - run.recomputed;
    double ratio = g->batch > 0 ? (double)m->global_batch / g->batch : 0;

    r->model_flops = needed.model * ratio;
    r->hardware_flops = needed.hardware * ratio * (once > 0 ? run.hardware / once : 1);
}

static void fill_peaks(struct fr_record *r, const struct fr__making *m)
{
    const struct fr_topo *t = m->setting->topo;
    bool is_known = true;

    for (size_t i = 0; i < m->n_devices; i++) {
        const struct fr_device_type *type = &t->types[t->devices[m->devices[i]].type];

        r->peak_flops_per_s += fr_device_type_peak_flops_per_s(type, m->setting->graph->dtype);
        r->board_W += type->board_W;
        is_known = is_known && type->board_W > 0;
    }
    if (!is_known)
        r->board_W = 0;
}

char *fr__gpu_types(const struct fr_topo *t, const uint32_t devices[], size_t n)
{
    size_t *count = calloc(t->n_types + 1, sizeof(*count)), length;
    const char *separator = "";
    char *text = NULL;
    FILE *f = fr__text_open(&text, &length);

    if (!f) {
        free(count);
        return NULL;
    }
    for (size_t i = 0; count && i < n; i++)
        count[t->devices[devices[i]].type]++;
    for (size_t i = 0; count && i < t->n_types; i++) {
        if (count[i] == 0)
            continue;
        fputs(separator, f);
        for (const char *c = t->types[i].name; *c; c++)
            putc(*c == ';' || (unsigned char)*c < 0x20 ? '_' : *c, f);
        fprintf(f, ":%zu", count[i]);
        separator = ";";
    }
    if (fr__text_close(f, &text) && !count) {
        free(text);
        text = NULL;
    }
    free(count);
    return text;
}

enum fr_status fr__fill_rates(struct fr_record *r, struct fr__arena *arena,
                              const struct fr__making *m, struct fr_error *err)
{
    double could_do;
    char *types;

    r->tokens_per_sample = m->setting->graph->seq_len;
    r->tokens_per_s = r->samples_per_s * r->tokens_per_sample;
    fill_flops(r, m);
    fill_peaks(r, m);
    could_do = r->peak_flops_per_s * r->iteration_s;
    r->mfu = could_do > 0 ? r->model_flops / could_do : 0;
    r->hfu = could_do > 0 ? r->hardware_flops / could_do : 0;
    types = fr__gpu_types(m->setting->topo, m->devices, m->n_devices);
    r->gpu_types = types ? fr__arena_strdup(arena, types) : NULL;
    free(types);
    return r->gpu_types ? FR_OK : fr__fail_nomem(err);
}
