/* study/sweep/inputs.c - digests of a sweep's workloads, topologies and costs, before any point is
 * answered. A store uses them to notice changed inputs. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "calibrate/files/data_version.h"
#include "calibrate/messages/system.h"
#include "strategies/plugin.h"
#include "study/store/digest.h"
#include "study/answer/record.h"
#include "study/sweep/state.h"
#include "topo/plausible.h"
#include "workloads/graph/shape.h"
#include "workloads/graph/totals.h"
#include "workloads/zoo/zoo.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- digests of files: every byte, so that nothing a reader learns to read can be forgotten
 * here ---- */

static enum fr_status digest_file(uint64_t *d, const char *path, struct fr_error *err)
{
    char block[16384];
    uint64_t len;
    size_t n;
    bool is_broken;
    FILE *f;

    FR_TRY(fr__file_open(path, &f, &len, err));
    while ((n = fread(block, 1, sizeof(block), f)) > 0)
        *d = fr__fnv(*d, block, n);
    is_broken = ferror(f) != 0;
    fclose(f);
    if (is_broken)
        return fr__fail(err, FR_EIO, (struct fr_loc){path, 0, 0}, "cannot be read");
    *d = fr__fnv_word(*d, len);
    return FR_OK;
}

/* A missing file is noted too: it may appear later. */
static enum fr_status digest_if_there(uint64_t *d, const char *path, struct fr_error *err)
{
    if (fr__exists(path) && !fr__is_folder(path))
        return digest_file(d, path, err);
    *d = fr__digest_text(*d, "none");
    return FR_OK;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);

    return n > k && strcmp(name + n - k, ending) == 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* names: files of a folder that may be part of a workload, sorted; in the arena. */
static enum fr_status list_parts(struct fr__arena *arena, const char *folder, char ***names,
                                 size_t *n, struct fr_error *err)
{
    DIR *d = opendir(folder);
    enum fr_status st = FR_OK;
    const struct dirent *e;
    size_t cap = 0;

    *names = NULL;
    *n = 0;
    if (!d)
        return fr__fail(err, FR_EIO, (struct fr_loc){folder, 0, 0}, "cannot open: %s",
                        strerror(errno));
    while (st == FR_OK && (e = readdir(d)) != NULL) {
        size_t length = strlen(folder) + strlen(e->d_name) + 2;
        char *path;

        if (!has_ending(e->d_name, ".csv") && !has_ending(e->d_name, ".yaml"))
            continue;
        path = fr__arena_alloc(arena, length, 1);
        if (path && fr__grow(names, &cap, *n + 1, sizeof(**names))) {
            snprintf(path, length, "%s/%s", folder, e->d_name);
            (*names)[(*n)++] = path;
        } else {
            st = fr__fail_nomem(err);
        }
    }
    closedir(d);
    if (*n > 0)
        qsort(*names, *n, sizeof(**names), compare_names);
    return st;
}

static enum fr_status digest_folder(struct fr__arena *arena, uint64_t *d, const char *folder,
                                    struct fr_error *err)
{
    char **names;
    size_t n;
    enum fr_status st = list_parts(arena, folder, &names, &n, err);

    for (size_t i = 0; i < n && st == FR_OK; i++) {
        *d = fr__digest_text(*d, names[i]);
        st = digest_file(d, names[i], err);
    }
    free(names);
    return st;
}

/* ---- digests of what was loaded: a store must not mix answers about different things ---- */

static uint64_t digest_type(uint64_t d, const struct fr_device_type *type)
{
    d = fr__digest_text(d, type->name);
    d = fr__fnv_word(d, type->is_gpu);
    d = fr__fnv_word(d, type->mem_bytes);
    d = fr__digest_number(d, type->mem_Bps);
    for (unsigned k = 0; k < FR_N_DTYPES; k++)
        if (k != FR_FP4 || type->flops_per_s[k] > 0) /* older stores know no fp4 */
            d = fr__digest_number(d, type->flops_per_s[k]);
    if (type->units != FR_UNITS_ANY)
        d = fr__fnv_word(d, type->units);
    d = fr__digest_number(d, type->vector_flops_per_s);
    d = fr__fnv_word(d, type->n_sms);
    d = fr__digest_number(d, type->launch_s);
    d = fr__fnv_word(d, type->context_bytes);
    return fr__digest_number(d, type->board_W);
}

static uint64_t digest_machines(uint64_t d, const struct fr_topo *t)
{
    for (size_t i = 0; i < t->n_types; i++)
        d = digest_type(d, &t->types[i]);
    for (size_t i = 0; i < t->n_vertices; i++) {
        d = fr__digest_text(d, t->vertices[i].name);
        d = fr__fnv_word(d, (uint64_t)t->vertices[i].kind);
        d = fr__fnv_word(d, t->vertices[i].machine);
        d = fr__fnv_word(d, t->vertices[i].device);
    }
    for (size_t i = 0; i < t->n_devices; i++) {
        d = fr__digest_text(d, t->devices[i].name);
        d = fr__fnv_word(d, t->devices[i].type);
        d = fr__fnv_word(d, t->devices[i].machine);
    }
    for (uint32_t i = 0; i < t->n_links; i++) {
        char name[FR_LINK_NAME];

        d = fr__digest_text(d, fr_topo_link_name(t, i, name));
        d = fr__fnv_word(d, (uint64_t)t->links[i].kind);
        d = fr__fnv_word(d, t->links[i].src);
        d = fr__fnv_word(d, t->links[i].dst);
        d = fr__digest_number(d, t->links[i].bw_Bps);
        d = fr__digest_number(d, t->links[i].latency_s);
        d = fr__fnv_word(d, t->links[i].message);
    }
    return d;
}

static bool is_shipped(const char *(*name_at)(size_t i), const char *name)
{
    const char *shipped;

    for (size_t i = 0; (shipped = name_at(i)) != NULL; i++)
        if (strcmp(shipped, name) == 0)
            return true;
    return false;
}

/* Adds the systems of its collectives and messages, with the files that define them. */
static enum fr_status digest_systems(uint64_t *d, const struct fr_topo *t, struct fr_error *err)
{
    for (size_t i = 0; i < t->n_systems; i++) {
        const char *name = t->systems[i].name;

        *d = fr__digest_text(*d, name);
        if (!is_shipped(fr_system_shipped, name))
            FR_TRY(digest_if_there(d, name, err));
    }
    for (size_t i = 0; i < t->n_machines && t->n_systems > 0; i++)
        *d = fr__fnv_word(*d, t->system_of[i]);
    for (size_t i = 0; i < t->n_messages; i++) {
        *d = fr__fnv_word(*d, t->messages[i].system);
        *d = fr__digest_text(*d, t->messages[i].link);
    }
    *d = fr__fnv_word(*d, t->network_system);
    return FR_OK;
}

static uint64_t digest_ops(uint64_t d, const struct fr_graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *o = &g->ops[i];

        d = fr__digest_text(d, o->name);
        d = fr__fnv_word(d, (uint64_t)o->kind);
        d = fr__fnv_word(d, (uint64_t)o->phase);
        d = fr__digest_number(d, o->flops);
        d = fr__digest_number(d, o->bytes);
        d = fr__fnv_word(d, o->param_bytes);
        d = fr__fnv_word(d, o->workspace_bytes);
        d = fr__fnv_word(d, o->layer);
        for (const struct fr__size *s = fr__shape_sizes(o->shape.of); s->name; s++)
            d = fr__fnv_word(d, fr__size_get(&o->shape, s));
    }
    for (size_t i = 0; i < g->n_tensors; i++)
        d = fr__fnv_word(d, g->tensors[i].bytes);
    return d;
}

static uint64_t digest_graph(const struct fr_graph *g)
{
    uint64_t d = fr__digest_text(FR__FNV_START, g->name);

    d = fr__fnv_word(d, g->batch);
    d = fr__fnv_word(d, (uint64_t)g->dtype);
    d = digest_ops(d, g);
    for (size_t i = 0; i < g->n_edges; i++) {
        d = fr__fnv_word(d, g->edges[i].src);
        d = fr__fnv_word(d, g->edges[i].dst);
        d = fr__fnv_word(d, g->edges[i].bytes);
    }
    for (size_t i = 0; i < g->n_samples; i++) {
        d = fr__fnv_word(d, g->samples[i].op);
        d = fr__digest_text(d, g->samples[i].device);
        d = fr__fnv_word(d, g->samples[i].batch);
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

/* Keeps what there is to pay for in a topology. */
static enum fr_status add_cluster(struct fr_sweep *s, const struct fr_topo *t, const char *spec,
                                  struct fr_error *err)
{
    struct fr_priced c = {.topology = fr__arena_strdup(s->arena, spec)};
    uint32_t *all = calloc(t->n_gpus + 1, sizeof(*all));
    char *machines, *types;

    for (uint32_t i = 0; all && i < t->n_gpus; i++)
        all[i] = i;
    machines = all ? fr__machines_in_use(t, all, t->n_gpus) : NULL;
    types = all ? fr__gpu_types(t, all, t->n_gpus) : NULL;
    c.machines = machines ? fr__arena_strdup(s->arena, machines) : NULL;
    c.gpu_types = types ? fr__arena_strdup(s->arena, types) : NULL;
    free(machines);
    free(types);
    free(all);
    if (!c.topology || !c.machines || !c.gpu_types ||
        !fr__grow(&s->clusters, &s->cap_clusters, s->n_clusters + 1, sizeof(*s->clusters)))
        return fr__fail_nomem(err);
    s->clusters[s->n_clusters++] = c;
    return FR_OK;
}

/* Also for presets, which may differ in the next build of the same version. */
static enum fr_status load_topo(struct fr_sweep *s, const char *spec, struct fr_error *err)
{
    enum fr_status st = FR_OK;
    struct fr_topo *t;
    uint64_t d;

    FR_TRY(fr_topo_load(&t, spec, err));
    if (!s->allow_implausible)
        st = fr__topo_plausible(t, err);
    for (size_t i = 0; i < t->n_types && st == FR_OK; i++)
        st = add_type(s, &t->types[i], err);
    if (st == FR_OK)
        st = add_cluster(s, t, spec, err);
    if (st == FR_OK)
        st = fr__sweep_add_nics(s, t, spec, err);
    s->has_training = s->has_training || !t->is_plain;
    d = digest_machines(FR__FNV_START, t);
    if (st == FR_OK)
        st = digest_systems(&d, t, err);
    if (st == FR_OK)
        st = add_input(s, spec, d, err);
    fr_topo_free(t);
    return st;
}

/* The effect of sequence length or precision on a zoo model shows in its rows. */
static enum fr_status load_graph(struct fr_sweep *s, const char *spec, struct fr_error *err)
{
    const struct fr_workload_options own = {.dtype = FR_N_DTYPES};
    uint64_t d = FR__FNV_START;
    enum fr_status st = FR_OK;
    struct fr_graph *g;

    FR_TRY(fr_workload_load(&g, spec, &own, err));
    s->has_training = s->has_training || !fr__graph_is_tasks(g);
    if (fr__zoo_find(spec))
        d = digest_graph(g);
    else if (fr__is_folder(spec))
        st = digest_folder(s->arena, &d, spec, err);
    else
        st = digest_file(&d, spec, err);
    if (st == FR_OK)
        st = add_input(s, spec, d, err);
    fr_graph_free(g);
    return st;
}

/* Words for costs, and shipped files, are part of digest_own_data(). */
static enum fr_status load_costs(struct fr_sweep *s, const char *costs, struct fr_error *err)
{
    uint64_t d = FR__FNV_START;

    if (strcmp(costs, "calibrated") == 0 || strcmp(costs, "datasheet") == 0 ||
        is_shipped(fr_calibration_shipped, costs))
        return FR_OK;
    FR_TRY(digest_if_there(&d, costs, err));
    return add_input(s, costs, d, err);
}

/* A number-format recipe of a file; those that have a name are the program's. */
static enum fr_status load_formats(struct fr_sweep *s, const char *precision, struct fr_error *err)
{
    uint64_t d = FR__FNV_START;

    if (fr_dtype_parse(precision) != FR_N_DTYPES || strcmp(precision, "default") == 0 ||
        !fr__exists(precision))
        return FR_OK;
    FR_TRY(digest_if_there(&d, precision, err));
    return add_input(s, precision, d, err);
}

/* The shared object that a strategy comes from, and the files that its options name: placements,
 * and texts such as "file:PATH". */
static enum fr_status load_strategy(struct fr_sweep *s, const char *spec, struct fr_error *err)
{
    static const char prefix[] = "file:";
    const struct fr_strategy *strategy;
    char path_text[FR__PLUGIN_PATH];
    struct fr_option_values values;

    FR_TRY(fr_strategy_parse(spec, &strategy, &values, err));
    if (fr__plugin_path(spec, path_text, sizeof(path_text))) {
        uint64_t d = FR__FNV_START;

        FR_TRY(digest_file(&d, path_text, err));
        FR_TRY(add_input(s, path_text, d, err));
    }
    for (size_t i = 0; strategy->options[i].name; i++) {
        enum fr_option_type type = strategy->options[i].type;
        const char *path;
        uint64_t d = FR__FNV_START;

        if (type != FR_OPTION_TEXT && type != FR_OPTION_FILE)
            continue;
        path = fr_option_text(&values, i);
        if (type == FR_OPTION_TEXT) {
            if (strncmp(path, prefix, sizeof(prefix) - 1) != 0)
                continue;
            path += sizeof(prefix) - 1;
        }
        if (!path[0])
            continue;
        FR_TRY(digest_if_there(&d, path, err));
        FR_TRY(add_input(s, path, d, err));
    }
    return FR_OK;
}

/* The measured costs of this build: a store's version does not tell one build from the next. */
static uint64_t digest_own_data(void)
{
    return fr__digest_text(FR__FNV_START, fr__data_version);
}

enum fr_status fr__sweep_load_inputs(struct fr_sweep *s, struct fr_error *err)
{
    const struct fr__axis *topologies = &s->axes[fr__setting_index("topology")];
    const struct fr__axis *workloads = &s->axes[fr__setting_index("workload")];
    const struct fr__axis *costs = &s->axes[fr__setting_index("costs")];
    const struct fr__axis *strategies = &s->axes[fr__setting_index("strategy")];
    const struct fr__axis *precisions = &s->axes[fr__setting_index("precision")];

    for (size_t i = 0; i < precisions->n; i++)
        FR_TRY(load_formats(s, precisions->values[i], err));
    for (size_t i = 0; i < topologies->n; i++)
        FR_TRY(load_topo(s, topologies->values[i], err));
    for (size_t i = 0; i < workloads->n; i++)
        FR_TRY(load_graph(s, workloads->values[i], err));
    for (size_t i = 0; i < costs->n; i++)
        FR_TRY(load_costs(s, costs->values[i], err));
    for (size_t i = 0; i < strategies->n; i++)
        FR_TRY(load_strategy(s, strategies->values[i], err));
    return add_input(s, "forerun's measured costs", digest_own_data(), err);
}
