/* workloads/graph/native_read.c - reads a native workload folder. */
#include "config.h"

#include "workloads/graph/native.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/yaml.h"
#include "workloads/graph/builder.h"
#include "workloads/graph/elements.h"

#include <stdlib.h>
#include <string.h>

const struct fr__csv_column fr__time_columns[] = {
    {"op", true}, {"device", true}, {"batch", true}, {"time_s", true}, {NULL, false}};

enum { TIME_OP, TIME_DEVICE, TIME_BATCH, TIME_TIME };

/* ---- workload.yaml ---- */

static enum fr_status yaml_count(const struct fr__yaml *map, const char *key, const char *fallback,
                                 uint64_t min, uint64_t max, uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc = map->loc;

    FR_TRY(fr__yaml_text(map, key, fallback, &text, &loc, err));
    return fr__parse_count(text, key, loc, min, max, out, err);
}

static enum fr_status read_precision(const struct fr__yaml *map, struct fr_graph *info,
                                     struct fr_error *err)
{
    const char *text;
    struct fr_loc loc = map->loc;
    char hint[96];

    FR_TRY(fr__yaml_text(map, "precision", "fp32", &text, &loc, err));
    info->dtype = fr_dtype_parse(text);
    if (info->dtype != FR_N_DTYPES)
        return FR_OK;
    return fr__fail(err, FR_EPARSE, loc, "'precision' is \"%.60s\", no known precision%s", text,
                    fr__name_hint(&fr__dtype_names, text, hint, sizeof(hint)));
}

static enum fr_status read_layout(const struct fr__yaml *map, struct fr_graph *info,
                                  struct fr_error *err)
{
    const char *text;
    struct fr_loc loc = map->loc;

    FR_TRY(fr__yaml_text(map, "layout", "default", &text, &loc, err));
    info->layout = fr_image_layout_parse(text);
    return info->layout != FR_N_LAYOUTS
               ? FR_OK
               : fr__fail(err, FR_EPARSE, loc, "'layout' is \"%.60s\", expected nchw or nhwc",
                          text);
}

static enum fr_status read_info(struct fr__native *n, const char *path, struct fr_error *err)
{
    static const char *const known[] = {"name",   "batch",   "precision",
                                        "source", "seq_len", "param_elem_bytes",
                                        "device", "layout",  NULL};
    const struct fr__yaml *map;
    struct fr_loc loc;
    uint64_t batch, seq_len, param_elem_bytes;
    const char *elem_bytes;

    FR_TRY(fr__yaml_load(n->arena, path, &map, err));
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "a workload", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__yaml_text(map, "name", NULL, &n->info.name, &loc, err));
    FR_TRY(fr__yaml_text(map, "source", "", &n->info.source, &loc, err));
    FR_TRY(read_precision(map, &n->info, err));
    FR_TRY(read_layout(map, &n->info, err));
    elem_bytes = fr__elem_bytes(n->info.dtype) == 2 && n->info.dtype != FR_AMP ? "2" : "4";
    FR_TRY(yaml_count(map, "batch", NULL, 1, FR__MAX_BATCH, &batch, err));
    FR_TRY(yaml_count(map, "seq_len", "0", 0, FR__MAX_SEQ_LEN, &seq_len, err));
    FR_TRY(yaml_count(map, "param_elem_bytes", elem_bytes, 1, FR__MAX_ELEM_BYTES, &param_elem_bytes,
                      err));
    FR_TRY(fr__yaml_text(map, "device", "*", &n->device, &loc, err));
    if (!n->device[0])
        return fr__fail(err, FR_EPARSE, loc, "'device' is empty, not a device type");
    n->info.batch = (uint32_t)batch;
    n->info.seq_len = (uint32_t)seq_len;
    n->info.param_elem_bytes = (unsigned)param_elem_bytes;
    return FR_OK;
}

/* ---- times.csv ---- */

static enum fr_status read_time(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct fr__native *n = user;
    uint64_t batch;
    uint32_t op;
    double time_s;

    FR_TRY(fr__native_find(n, cells[TIME_OP].text, cells[TIME_OP].loc, &op, err));
    FR_TRY(fr__cell_count(&cells[TIME_BATCH], "batch", 1, FR__MAX_BATCH, &batch, err));
    FR_TRY(fr__cell_number(&cells[TIME_TIME], "time_s", 0, FR__MAX_TIME_S, &time_s, err));
    if (!cells[TIME_DEVICE].text[0])
        return fr__fail(err, FR_EPARSE, cells[TIME_DEVICE].loc,
                        "'device' is empty, not a device type or '*'");
    fr_graph_builder_sample(n->b, op, cells[TIME_DEVICE].text, (uint32_t)batch, time_s);
    return FR_OK;
}

static enum fr_status read_times(struct fr__native *n, const char *path, struct fr_error *err)
{
    return fr__csv_read(path, fr__time_columns, read_time, n, err);
}

/* ---- the folder ---- */

/* Rows to builder ops; their numbers are those of the rows. */
static enum fr_status add_ops(struct fr__native *n, struct fr_error *err)
{
    for (size_t i = 0; i < n->n_rows; i++) {
        struct fr__native_row *row = &n->rows[i];
        const struct fr_tensor *outputs = row->n_outputs ? &n->outputs[row->first_output] : NULL;

        row->op.bytes = row->has_bytes ? row->op.bytes : row->read_bytes;
        for (uint32_t t = 0; !row->has_bytes && t < row->n_outputs; t++)
            row->op.bytes += (double)outputs[t].bytes;
        if (fr_graph_builder_op(n->b, &row->op, row->layer, outputs, row->n_outputs) == FR_NONE)
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

typedef enum fr_status (*read_fn)(struct fr__native *n, const char *path, struct fr_error *err);

/* Reads one file of the folder. The path lives in the arena, for the places kept in errors. */
static enum fr_status read_part(struct fr__native *n, const char *folder, const char *file,
                                bool is_required, read_fn read, struct fr_error *err)
{
    char *joined = fr__path_join(folder, file);
    const char *path = joined ? fr__arena_strdup(n->arena, joined) : NULL;

    free(joined);
    if (!path)
        return fr__fail_nomem(err);
    if (!fr__exists(path)) {
        if (!is_required)
            return FR_OK;
        return fr__fail(err, FR_ENOENT, (struct fr_loc){folder, 0, 0},
                        "no '%s' in the folder, so it is no workload", file);
    }
    return read(n, path, err);
}

static enum fr_status read_folder(struct fr__native *n, const char *folder, struct fr_graph **out,
                                  struct fr_error *err)
{
    struct fr_graph *g;
    enum fr_status st;

    if (!n->arena || !n->b)
        return fr__fail_nomem(err);
    FR_TRY(read_part(n, folder, "workload.yaml", true, read_info, err));
    FR_TRY(read_part(n, folder, "ops.csv", true, fr__native_read_ops, err));
    FR_TRY(read_part(n, folder, "edges.csv", true, fr__native_read_edges, err));
    FR_TRY(read_part(n, folder, "times.csv", false, read_times, err));
    FR_TRY(add_ops(n, err));
    FR_TRY(fr_graph_builder_finish(n->b, &n->info, &g, err));
    st = fr__graph_name_device(g, n->device, err);
    if (st == FR_OK)
        *out = g;
    else
        fr_graph_free(g);
    return st;
}

enum fr_status fr__native_load(struct fr_graph **out, const char *folder, struct fr_error *err)
{
    struct fr__native n = {.arena = fr__arena_new(), .b = fr_graph_builder_new()};
    enum fr_status st = read_folder(&n, folder, out, err);

    free(n.rows);
    free(n.outputs);
    free(n.aliases);
    fr__strings_fini(&n.ids);
    fr_graph_builder_free(n.b);
    fr__arena_free(n.arena);
    return st;
}
