/* calibrate/files/system_file.c - reads and writes a system as a YAML file (doc/collectives.md). */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "calibrate/files/fields.h"
#include "calibrate/files/shipped.h"
#include "calibrate/messages/model.h"
#include "calibrate/messages/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20, MOST_CORRECTION = 5000 /* thousandths */ };

/* ---- reading ---- */

static const uint64_t MAX_COUNT = UINT64_C(1) << 48;

static enum fr_status read_gpus(const struct fr__yaml *map, const char *key, unsigned *out,
                                struct fr_error *err)
{
    uint64_t n;

    FR_TRY(fr__fit_count(map, key, 1000000, &n, err));
    if (n == 0)
        return fr__fail(err, FR_ERANGE, map->loc, "'%s' is 0, of which nothing was measured", key);
    *out = (unsigned)n;
    return FR_OK;
}

/* Reads the value and the error of a parameter under its name. */
static enum fr_status read_parameter(const struct fr__yaml *map, const char *name, double *value,
                                     double *error, struct fr_error *err)
{
    struct fr__range range = fr__system_range(name);

    return fr__fit_pair(map, name, range.low, range.high, value, error, err);
}

static enum fr_status read_held_out(struct fr_misses held_out[FR_N_SYSTEM_OPS],
                                    const struct fr__yaml *node, struct fr_error *err)
{
    const char *known[FR_N_SYSTEM_OPS + 1] = {NULL};
    const struct fr__yaml *map, *of_op;

    FR_TRY(fr__fit_child(node, "held_out", FR__YAML_MAP, &map, err));
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        known[op] = fr_system_op_name((enum fr_system_op)op);
    FR_TRY(fr__yaml_only(map, known, err));
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        if (!fr__yaml_get(map, known[op]))
            continue;
        FR_TRY(fr__fit_child(map, known[op], FR__YAML_MAP, &of_op, err));
        FR_TRY(fr__fit_misses(of_op, &held_out[op], err));
    }
    return FR_OK;
}

/* ---- reading: inside a node ---- */

static enum fr_status read_parameters(struct fr_system_info *info, const struct fr__yaml *node,
                                      struct fr_error *err)
{
    const char *known[FR_SYSTEM_PARAMETERS + 1] = {NULL};
    const struct fr__yaml *map;

    FR_TRY(fr__fit_child(node, "parameters", FR__YAML_MAP, &map, err));
    for (size_t i = 0; i < FR_SYSTEM_PARAMETERS; i++)
        known[i] = fr_system_parameter_name(i);
    FR_TRY(fr__yaml_only(map, known, err));
    info->has_rings = fr__yaml_get(map, known[0]) != NULL;
    info->has_nvls = fr__yaml_get(map, known[FR__RINGS_END]) != NULL;
    info->has_all_to_all = fr__yaml_get(map, known[FR__NVLS_END]) != NULL;
    if (!info->has_rings && (info->has_nvls || !info->has_all_to_all))
        return fr__fail(err, FR_EPARSE, map->loc, "'%s' is missing", known[0]);
    for (size_t i = 0; i < FR_SYSTEM_PARAMETERS; i++)
        if (fr__system_has_parameter(info, i))
            FR_TRY(read_parameter(map, known[i], &info->parameters[i], &info->errors[i], err));
    return FR_OK;
}

/* An operation that was compared with rows must have constants. */
static enum fr_status require_models(const struct fr_misses held_out[FR_N_SYSTEM_OPS],
                                     const bool has_model[FR_N_SYSTEM_OPS], struct fr_loc loc,
                                     struct fr_error *err)
{
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        if (held_out[op].n > 0 && !has_model[op])
            return fr__fail(err, FR_EPARSE, loc,
                            "'held_out' has misses of %s, but there are no parameters for it",
                            fr_system_op_name((enum fr_system_op)op));
    return FR_OK;
}

/* "gpu_counts: [2, 4, 8]"; files before it have none. */
static enum fr_status read_gpu_counts(struct fr_system_info *info, const struct fr__yaml *map,
                                      struct fr_error *err)
{
    const struct fr__yaml *list;

    if (!fr__yaml_get(map, "gpu_counts"))
        return FR_OK;
    FR_TRY(fr__fit_child(map, "gpu_counts", FR__YAML_LIST, &list, err));
    for (size_t i = 0; i < list->n; i++) {
        double n = 0;

        FR_TRY(fr__fit_item(list->items[i], "a number of GPUs", 1, 64, &n, err));
        if (n > info->most_gpus || n != (unsigned)n)
            return fr__fail(err, FR_ERANGE, list->items[i]->loc,
                            "%s is no number of GPUs up to 'gpus', which is %u",
                            list->items[i]->text, info->most_gpus);
        info->gpu_counts |= UINT64_C(1) << ((unsigned)n - 1);
    }
    return FR_OK;
}

static enum fr_status read_knots(struct fr_system_correction *c, const struct fr__yaml *map,
                                 struct fr_error *err)
{
    const struct fr__yaml *list;

    FR_TRY(fr__fit_child(map, "thousandths", FR__YAML_LIST, &list, err));
    if (list->n == 0 || list->n > FR_SYSTEM_KNOTS)
        return fr__fail(err, FR_ERANGE, list->loc, "'thousandths' has %zu items, expected 1 to %d",
                        list->n, FR_SYSTEM_KNOTS);
    for (size_t i = 0; i < list->n; i++) {
        double x;

        FR_TRY(fr__fit_item(list->items[i], "a correction", -MOST_CORRECTION, MOST_CORRECTION, &x,
                            err));
        c->thousandths[i] = (int16_t)x;
    }
    c->n_knots = (unsigned)list->n;
    return FR_OK;
}

/* "{op: all-reduce, gpus: 8, first: 10, thousandths: [...]}" */
static enum fr_status read_correction(struct fr_system_info *info, const struct fr__yaml *map,
                                      struct fr_error *err)
{
    static const char *const known[] = {"op", "gpus", "first", "thousandths", NULL};
    struct fr_system_correction *c = &info->corrections[info->n_corrections];
    unsigned op = 0;
    char name[32];
    uint64_t first;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "a correction", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__fit_text(map, "op", name, sizeof(name), err));
    while (op < FR_N_SYSTEM_OPS && strcmp(name, fr_system_op_name((enum fr_system_op)op)) != 0)
        op++;
    if (op == FR_N_SYSTEM_OPS)
        return fr__fail(err, FR_EPARSE, map->loc, "no operation '%s'", name);
    FR_TRY(read_gpus(map, "gpus", &c->n_gpus, err));
    FR_TRY(fr__fit_count(map, "first", FR_SYSTEM_KNOTS, &first, err));
    FR_TRY(read_knots(c, map, err));
    c->op = (enum fr_system_op)op;
    c->first = (unsigned)first;
    info->n_corrections++;
    return FR_OK;
}

/* Files before them have none. */
static enum fr_status read_corrections(struct fr_system_info *info, const struct fr__yaml *map,
                                       struct fr_error *err)
{
    const struct fr__yaml *list;

    if (!fr__yaml_get(map, "corrections"))
        return FR_OK;
    FR_TRY(fr__fit_child(map, "corrections", FR__YAML_LIST, &list, err));
    if (list->n > FR_SYSTEM_CORRECTIONS)
        return fr__fail(err, FR_ERANGE, list->loc,
                        "'corrections' has %zu items, at most %d are read", list->n,
                        FR_SYSTEM_CORRECTIONS);
    for (size_t i = 0; i < list->n; i++)
        FR_TRY(read_correction(info, list->items[i], err));
    return FR_OK;
}

static enum fr_status read_one_node(struct fr_system_info *info, const struct fr__yaml *root,
                                    struct fr_error *err)
{
    static const char *const known[] = {"gpus",       "gpu_counts",  "rows_fitted", "held_out",
                                        "parameters", "corrections", NULL};
    const struct fr__yaml *map = fr__yaml_get(root, "one_node");
    bool has[FR_N_SYSTEM_OPS];

    if (!map)
        return FR_OK;
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "one_node", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(read_gpus(map, "gpus", &info->most_gpus, err));
    FR_TRY(read_gpu_counts(info, map, err));
    FR_TRY(fr__fit_count(map, "rows_fitted", MAX_COUNT, &info->n_fitted, err));
    FR_TRY(read_held_out(info->held_out, map, err));
    FR_TRY(read_parameters(info, map, err));
    FR_TRY(read_corrections(info, map, err));
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        has[op] = op == FR_SYSTEM_ALL_TO_ALL ? info->has_all_to_all : info->has_rings;
    return require_models(info->held_out, has, map->loc, err);
}

/* ---- reading: several nodes ---- */

static enum fr_status read_choice(struct fr_system_choice *c, const struct fr__yaml *node,
                                  struct fr_error *err)
{
    static const char *const known[] = {"near_Bps", "tree_near_Bps", "far_Bps", "ll128", NULL};
    struct fr__range range = fr__system_range("near_Bps");
    const struct fr__yaml *map;

    FR_TRY(fr__fit_child(node, "choice", FR__YAML_MAP, &map, err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__fit_number(map, "near_Bps", range.low, range.high, &c->near_Bps, err));
    FR_TRY(fr__fit_number(map, "tree_near_Bps", range.low, range.high, &c->tree_near_Bps, err));
    FR_TRY(fr__fit_number(map, "far_Bps", range.low, range.high, &c->far_Bps, err));
    return fr__fit_bool(map, "ll128", &c->has_ll128, err);
}

static enum fr_status read_way(struct fr_system_nodes *nodes, enum fr_system_way way,
                               const struct fr__yaml *node, struct fr_error *err)
{
    const char *known[FR_SYSTEM_WAY_PARAMETERS + 1] = {NULL};
    const struct fr__yaml *map;

    if (!fr__yaml_get(node, fr_system_way_name(way)))
        return FR_OK;
    nodes->has_way[way] = true;
    FR_TRY(fr__fit_child(node, fr_system_way_name(way), FR__YAML_MAP, &map, err));
    for (size_t i = 0; fr_system_way_parameter_name(way, i); i++)
        known[i] = fr_system_way_parameter_name(way, i);
    FR_TRY(fr__yaml_only(map, known, err));
    for (size_t i = 0; known[i]; i++)
        FR_TRY(
            read_parameter(map, known[i], &nodes->ways[way][i], &nodes->way_errors[way][i], err));
    return FR_OK;
}

static enum fr_status read_nodes_all_to_all(struct fr_system_nodes *nodes,
                                            const struct fr__yaml *node, struct fr_error *err)
{
    const char *known[FR_SYSTEM_NODES_ALL_TO_ALL + 1] = {NULL};
    const struct fr__yaml *map;

    if (!fr__yaml_get(node, "all_to_all"))
        return FR_OK;
    nodes->has_all_to_all = true;
    FR_TRY(fr__fit_child(node, "all_to_all", FR__YAML_MAP, &map, err));
    for (size_t i = 0; fr_system_nodes_all_to_all_name(i); i++)
        known[i] = fr_system_nodes_all_to_all_name(i);
    FR_TRY(fr__yaml_only(map, known, err));
    for (size_t i = 0; known[i]; i++)
        FR_TRY(read_parameter(map, known[i], &nodes->all_to_all[i], &nodes->all_to_all_errors[i],
                              err));
    return FR_OK;
}

/* Whether NCCL's choice can ever take this way. */
static bool can_choose(const struct fr_system_nodes *nodes, enum fr_system_op op)
{
    struct fr_system_call call = {.op = op, .n_gpus = 4, .n_nodes = 2, .bytes = 1};

    return op == FR_SYSTEM_ALL_TO_ALL ? nodes->has_all_to_all
                                      : fr__nodes_choose(nodes, &call) < FR_N_SYSTEM_WAYS;
}

static enum fr_status read_nodes(struct fr_system_nodes *nodes, const struct fr__yaml *root,
                                 struct fr_error *err)
{
    const char *known[FR_N_SYSTEM_WAYS + 7] = {"gpus",     "nodes",  "rows_fitted",
                                               "held_out", "choice", "all_to_all"};
    const struct fr__yaml *map = fr__yaml_get(root, "several_nodes");
    bool has[FR_N_SYSTEM_OPS];

    if (!map)
        return FR_OK;
    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        known[6 + w] = fr_system_way_name((enum fr_system_way)w);
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "several_nodes", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(read_gpus(map, "gpus", &nodes->most_gpus, err));
    FR_TRY(read_gpus(map, "nodes", &nodes->most_nodes, err));
    FR_TRY(fr__fit_count(map, "rows_fitted", MAX_COUNT, &nodes->n_fitted, err));
    FR_TRY(read_held_out(nodes->held_out, map, err));
    FR_TRY(read_nodes_all_to_all(nodes, map, err));
    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        FR_TRY(read_way(nodes, (enum fr_system_way)w, map, err));
    if (fr__yaml_get(map, "choice"))
        FR_TRY(read_choice(&nodes->choice, map, err));
    else
        memset(nodes->has_way, 0, sizeof(nodes->has_way));
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        has[op] = can_choose(nodes, (enum fr_system_op)op);
    return require_models(nodes->held_out, has, map->loc, err);
}

/* ---- reading: links ---- */

static enum fr_status read_link(struct fr_system_link *link, const struct fr__yaml *map,
                                struct fr_error *err)
{
    static const char *const known[] = {"link",     "source",     "data_hash", "rows_fitted",
                                        "held_out", "parameters", NULL};
    const char *names[FR_SYSTEM_LINK_PARAMETERS + 1] = {NULL};
    const struct fr__yaml *held_out, *parameters;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "a link", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__fit_text(map, "link", link->name, sizeof(link->name), err));
    FR_TRY(fr__fit_text(map, "source", link->source, sizeof(link->source), err));
    FR_TRY(fr__fit_hash(map, &link->data_hash, err));
    FR_TRY(fr__fit_count(map, "rows_fitted", MAX_COUNT, &link->n_fitted, err));
    FR_TRY(fr__fit_child(map, "held_out", FR__YAML_MAP, &held_out, err));
    FR_TRY(fr__fit_misses(held_out, &link->held_out, err));
    FR_TRY(fr__fit_child(map, "parameters", FR__YAML_MAP, &parameters, err));
    for (size_t i = 0; i < FR_SYSTEM_LINK_PARAMETERS; i++)
        names[i] = fr_system_link_parameter_name(i);
    FR_TRY(fr__yaml_only(parameters, names, err));
    for (size_t i = 0; i < FR_SYSTEM_LINK_PARAMETERS; i++)
        FR_TRY(read_parameter(parameters, names[i], &link->parameters[i], &link->errors[i], err));
    return FR_OK;
}

static enum fr_status read_links(struct fr_system_info *info, const struct fr__yaml *root,
                                 struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(root, "links");

    if (!list)
        return FR_OK;
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, "links", err));
    if (list->n > FR_SYSTEM_LINKS)
        return fr__fail(err, FR_ERANGE, list->loc, "'links' has %zu items, at most %d are read",
                        list->n, FR_SYSTEM_LINKS);
    for (size_t i = 0; i < list->n; i++)
        FR_TRY(read_link(&info->links[i], list->items[i], err));
    info->n_links = list->n;
    return FR_OK;
}

static enum fr_status read_root(struct fr_system_info *info, const struct fr__yaml *root,
                                struct fr_error *err)
{
    static const char *const known[] = {"system",        "source", "data_hash", "one_node",
                                        "several_nodes", "links",  NULL};

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a system file", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(fr__fit_text(root, "system", info->name, sizeof(info->name), err));
    if (fr__yaml_get(root, "one_node") || fr__yaml_get(root, "several_nodes")) {
        FR_TRY(fr__fit_text(root, "source", info->source, sizeof(info->source), err));
        FR_TRY(fr__fit_hash(root, &info->data_hash, err));
    } else if (!fr__yaml_get(root, "links")) {
        return fr__fail(err, FR_EPARSE, root->loc,
                        "a system has 'one_node', 'several_nodes' or 'links'");
    }
    FR_TRY(read_one_node(info, root, err));
    FR_TRY(read_nodes(&info->nodes, root, err));
    return read_links(info, root, err);
}

enum fr_status fr_system_read(struct fr_system **out, const char *text, size_t len,
                              const char *name, struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_system *s = calloc(1, sizeof(*s));
    const struct fr__yaml *root;
    enum fr_status st = arena && s ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK)
        st = fr__yaml_load_text(arena, text, len, name, &root, err);
    if (st == FR_OK)
        st = read_root(&s->info, root, err);
    if (st == FR_OK)
        *out = s;
    else
        fr_system_free(s);
    fr__arena_free(arena);
    return st;
}

/* ---- writing ---- */

static void put_held_out(FILE *f, const struct fr_misses held_out[FR_N_SYSTEM_OPS])
{
    bool is_empty = true;

    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        is_empty = is_empty && held_out[op].n == 0;
    fputs(is_empty ? "  held_out: {}\n" : "  held_out:\n", f);
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        if (held_out[op].n == 0)
            continue;
        fprintf(f, "    %s: ", fr_system_op_name((enum fr_system_op)op));
        fr__put_misses(f, &held_out[op]);
    }
}

static void put_gpu_counts(FILE *f, uint64_t counts)
{
    const char *comma = "";

    if (counts == 0)
        return;
    fputs("  gpu_counts: [", f);
    for (unsigned n = 1; n <= 64; n++)
        if (counts >> (n - 1) & 1) {
            fprintf(f, "%s%u", comma, n);
            comma = ", ";
        }
    fputs("]\n", f);
}

static void put_corrections(FILE *f, const struct fr_system_info *info)
{
    if (info->n_corrections > 0)
        fputs("  corrections: # ln(measured / model) at 2^first, 2^(first + 1), ... bytes\n", f);
    for (size_t i = 0; i < info->n_corrections; i++) {
        const struct fr_system_correction *c = &info->corrections[i];

        fprintf(f, "    - {op: %s, gpus: %u, first: %u, thousandths: [\n", fr_system_op_name(c->op),
                c->n_gpus, c->first);
        for (unsigned k = 0; k < c->n_knots; k++)
            fprintf(f, "%s%d",
                    k == 0        ? "       "
                    : k % 14 == 0 ? ",\n       "
                                  : ", ",
                    c->thousandths[k]);
        fputs("]}\n", f);
    }
}

static void put_one_node(FILE *f, const struct fr_system_info *info)
{
    if (info->n_fitted == 0)
        return;
    fprintf(f, "one_node:\n  gpus: %u\n", info->most_gpus);
    put_gpu_counts(f, info->gpu_counts);
    fprintf(f, "  rows_fitted: %" PRIu64 "\n", info->n_fitted);
    put_held_out(f, info->held_out);
    fputs("  parameters: # value, error\n", f);
    for (size_t i = 0; i < FR_SYSTEM_PARAMETERS; i++)
        if (fr__system_has_parameter(info, i))
            fr__put_pair(f, "    ", fr_system_parameter_name(i), info->parameters[i],
                         info->errors[i]);
    put_corrections(f, info);
}

static void put_way(FILE *f, const struct fr_system_nodes *nodes, enum fr_system_way way)
{
    if (!nodes->has_way[way])
        return;
    fprintf(f, "  %s:\n", fr_system_way_name(way));
    for (size_t i = 0; fr_system_way_parameter_name(way, i); i++)
        fr__put_pair(f, "    ", fr_system_way_parameter_name(way, i), nodes->ways[way][i],
                     nodes->way_errors[way][i]);
}

static void put_nodes(FILE *f, const struct fr_system_nodes *nodes)
{
    const struct fr_system_choice *c = &nodes->choice;

    if (nodes->n_fitted == 0)
        return;
    fprintf(f, "several_nodes:\n  gpus: %u\n  nodes: %u\n  rows_fitted: %" PRIu64 "\n",
            nodes->most_gpus, nodes->most_nodes, nodes->n_fitted);
    put_held_out(f, nodes->held_out);
    if (c->near_Bps > 0) {
        fr__put_number(f, "  choice: {near_Bps: ", c->near_Bps, "");
        fr__put_number(f, ", tree_near_Bps: ", c->tree_near_Bps, "");
        fr__put_number(f, ", far_Bps: ", c->far_Bps, "");
        fprintf(f, ", ll128: %s}\n", c->has_ll128 ? "true" : "false");
    }
    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        put_way(f, nodes, (enum fr_system_way)w);
    if (nodes->has_all_to_all)
        fputs("  all_to_all:\n", f);
    for (size_t i = 0; nodes->has_all_to_all && fr_system_nodes_all_to_all_name(i); i++)
        fr__put_pair(f, "    ", fr_system_nodes_all_to_all_name(i), nodes->all_to_all[i],
                     nodes->all_to_all_errors[i]);
}

static void put_link(FILE *f, const struct fr_system_link *link)
{
    fr__put_text(f, "  - ", "link", link->name);
    fr__put_text(f, "    ", "source", link->source);
    fprintf(f, "    data_hash: '%016" PRIx64 "'\n    rows_fitted: %" PRIu64 "\n    held_out: ",
            link->data_hash, link->n_fitted);
    fr__put_misses(f, &link->held_out);
    fputs("    parameters:\n", f);
    for (size_t i = 0; i < FR_SYSTEM_LINK_PARAMETERS; i++)
        fr__put_pair(f, "      ", fr_system_link_parameter_name(i), link->parameters[i],
                     link->errors[i]);
}

enum fr_status fr_system_write(const struct fr_system *s, const char *path, struct fr_error *err)
{
    const struct fr_system_info *info = &s->info;
    struct fr__out out;

    FR_TRY(fr__out_open(&out, path, err));
    fputs("# Written by 'forerun calibrate fit --system' (doc/collectives.md).\n", out.f);
    fr__put_text(out.f, "", "system", info->name);
    if (info->n_fitted + info->nodes.n_fitted > 0) {
        fr__put_text(out.f, "", "source", info->source);
        fprintf(out.f, "data_hash: '%016" PRIx64 "'\n", info->data_hash);
    }
    put_one_node(out.f, info);
    put_nodes(out.f, &info->nodes);
    if (info->n_links > 0)
        fputs("links:\n", out.f);
    for (size_t i = 0; i < info->n_links; i++)
        put_link(out.f, &info->links[i]);
    return fr__out_commit(&out, err);
}
