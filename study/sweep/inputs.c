/* study/sweep/inputs.c - what a sweep's workloads and topologies are, before any point is asked. */
#include "config.h"

#include "base/error.h"
#include "study/store/digest.h"
#include "study/sweep/state.h"
#include "workloads/zoo/zoo.h"

#include <string.h>

/* ---- digests of what was loaded: a store must not mix answers about different files ---- */

static uint64_t digest_topo(const struct fr_topo *t)
{
    uint64_t d = FR__DIGEST_START;

    for (size_t i = 0; i < t->n_types; i++) {
        const struct fr_device_type *type = &t->types[i];

        d = fr__digest_text(d, type->name);
        d = fr__digest_count(d, type->mem_bytes);
        d = fr__digest_number(d, type->mem_Bps);
        for (unsigned k = 0; k < FR_N_DTYPES; k++)
            d = fr__digest_number(d, type->flops_per_s[k]);
        d = fr__digest_number(d, type->vector_flops_per_s);
        d = fr__digest_count(d, type->n_sms);
        d = fr__digest_number(d, type->launch_s);
        d = fr__digest_count(d, type->context_bytes);
    }
    for (size_t i = 0; i < t->n_devices; i++) {
        d = fr__digest_text(d, t->devices[i].name);
        d = fr__digest_count(d, t->devices[i].type);
        d = fr__digest_count(d, t->devices[i].machine);
    }
    for (size_t i = 0; i < t->n_links; i++) {
        d = fr__digest_text(d, t->links[i].name);
        d = fr__digest_count(d, t->links[i].src);
        d = fr__digest_count(d, t->links[i].dst);
        d = fr__digest_number(d, t->links[i].bw_Bps);
        d = fr__digest_number(d, t->links[i].latency_s);
    }
    return d;
}

static uint64_t digest_ops(uint64_t d, const struct fr_graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *o = &g->ops[i];

        d = fr__digest_text(d, o->name);
        d = fr__digest_count(d, (uint64_t)o->kind);
        d = fr__digest_count(d, (uint64_t)o->phase);
        d = fr__digest_number(d, o->flops);
        d = fr__digest_number(d, o->bytes);
        d = fr__digest_count(d, o->param_bytes);
        d = fr__digest_count(d, o->workspace_bytes);
        d = fr__digest_count(d, o->layer);
    }
    for (size_t i = 0; i < g->n_tensors; i++)
        d = fr__digest_count(d, g->tensors[i].bytes);
    return d;
}

static uint64_t digest_graph(const struct fr_graph *g)
{
    uint64_t d = fr__digest_text(FR__DIGEST_START, g->name);

    d = fr__digest_count(d, g->batch);
    d = fr__digest_count(d, (uint64_t)g->dtype);
    d = digest_ops(d, g);
    for (size_t i = 0; i < g->n_edges; i++) {
        d = fr__digest_count(d, g->edges[i].src);
        d = fr__digest_count(d, g->edges[i].dst);
        d = fr__digest_count(d, g->edges[i].bytes);
    }
    for (size_t i = 0; i < g->n_samples; i++) {
        d = fr__digest_count(d, g->samples[i].op);
        d = fr__digest_text(d, g->samples[i].device);
        d = fr__digest_count(d, g->samples[i].batch);
        d = fr__digest_number(d, g->samples[i].time_s);
    }
    return d;
}

static enum fr_status add_input(struct fr_sweep *s, const char *name, uint64_t digest,
                                struct fr_error *err)
{
    struct fr__sweep_input *in;
    char *copy = fr__arena_strdup(s->arena, name);

    if (!copy || !fr__grow(&s->inputs, &s->cap_inputs, s->n_inputs + 1, sizeof(*s->inputs)))
        return fr__fail_nomem(err);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    in = &s->inputs[s->n_inputs++];
    in->name = copy;
    fr__digest_hex(digest, in->digest);
    return FR_OK;
}

/* ---- GPU types, for prices ---- */

static enum fr_status add_type(struct fr_sweep *s, const struct fr_device_type *type,
                               struct fr_error *err)
{
    char *name;

    if (!type->is_gpu)
        return FR_OK;
    for (size_t i = 0; i < s->n_types; i++)
        if (strcmp(s->types[i], type->name) == 0)
            return FR_OK;
    name = fr__arena_strdup(s->arena, type->name);
    if (!name || !fr__grow(&s->types, &s->cap_types, s->n_types + 1, sizeof(*s->types)))
        return fr__fail_nomem(err);
    s->types[s->n_types++] = name;
    return FR_OK;
}

static bool is_preset(const char *spec)
{
    const char *name;

    for (size_t i = 0; (name = fr_topo_preset_name(i)) != NULL; i++)
        if (strcmp(name, spec) == 0)
            return true;
    return false;
}

static enum fr_status load_topo(struct fr_sweep *s, const char *spec, struct fr_error *err)
{
    enum fr_status st = FR_OK;
    struct fr_topo *t;

    FR_TRY(fr_topo_load(&t, spec, err));
    for (size_t i = 0; i < t->n_types && st == FR_OK; i++)
        st = add_type(s, &t->types[i], err);
    if (st == FR_OK && !is_preset(spec))
        st = add_input(s, spec, digest_topo(t), err);
    fr_topo_free(t);
    return st;
}

/* A model of the zoo is this version's own; what a sequence length or precision does to it shows
 * in its rows. */
static enum fr_status load_graph(struct fr_sweep *s, const char *spec, struct fr_error *err)
{
    const struct fr_workload_options own = {.dtype = FR_N_DTYPES};
    enum fr_status st = FR_OK;
    struct fr_graph *g;

    FR_TRY(fr_workload_load(&g, spec, &own, err));
    if (!fr__zoo_find(spec))
        st = add_input(s, spec, digest_graph(g), err);
    fr_graph_free(g);
    return st;
}

enum fr_status fr__sweep_load_inputs(struct fr_sweep *s, struct fr_error *err)
{
    const struct fr__axis *topologies = &s->axes[fr__setting_index("topology")];
    const struct fr__axis *workloads = &s->axes[fr__setting_index("workload")];

    for (size_t i = 0; i < topologies->n; i++)
        FR_TRY(load_topo(s, topologies->values[i], err));
    for (size_t i = 0; i < workloads->n; i++)
        FR_TRY(load_graph(s, workloads->values[i], err));
    return FR_OK;
}
