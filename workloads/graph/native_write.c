/* workloads/graph/native_write.c - writes a native workload folder: everything a graph holds. */
#include "config.h"

#include "workloads/graph/native.h"

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_number(FILE *f, double x)
{
    char text[32];

    fputs(fr__format_double(x, text, sizeof(text)), f);
}

/* n: the first ones; FR_NONE: all. */
static void write_header(FILE *f, const struct fr__csv_column columns[], uint32_t n)
{
    for (size_t i = 0; columns[i].name && i < n; i++)
        fprintf(f, "%s%s", i ? "," : "", columns[i].name);
    putc('\n', f);
}

/* A double-quoted YAML scalar (YAML 1.1, section 5.7). A byte that is not UTF-8 becomes the
 * character of that number. */
static void write_quoted(FILE *f, const char *text)
{
    size_t left = strlen(text);

    putc('"', f);
    for (size_t len; left > 0; text += len, left -= len) {
        const unsigned char *s = (const unsigned char *)text;
        size_t valid = fr__utf8_length(text, left);
        bool is_c1 = valid == 2 && s[0] == 0xc2 && s[1] < 0xa0; /* U+0080 to U+009F */

        len = valid ? valid : 1;
        if (!valid || s[0] < ' ' || s[0] == 0x7f || is_c1)
            fprintf(f, "\\x%02x", s[len - 1]);
        else if (*text == '"' || *text == '\\')
            fprintf(f, "\\%c", *text);
        else
            fwrite(text, 1, len, f);
    }
    putc('"', f);
}

static bool write_info(FILE *f, const struct fr_graph *g)
{
    fputs("name: ", f);
    write_quoted(f, g->name);
    fprintf(f, "\nbatch: %" PRIu32 "\nprecision: %s\nsource: ", g->batch, fr_dtype_name(g->dtype));
    write_quoted(f, g->source);
    fprintf(f, "\nseq_len: %" PRIu32 "\nparam_elem_bytes: %u\n", g->seq_len, g->param_elem_bytes);
    if (g->layout != FR_LAYOUT_DEFAULT)
        fprintf(f, "layout: %s\n", fr_image_layout_name(g->layout));
    return true;
}

static void write_dims(FILE *f, const struct fr_tensor *t)
{
    if (t->n_dims == 0)
        putc('-', f);
    for (unsigned d = 0; d < t->n_dims; d++)
        fprintf(f, "%s%" PRIu32, d ? "x" : "", t->dims[d]);
}

static void write_split(FILE *f, const struct fr_tensor *t)
{
    if (t->split_mask == 0)
        putc('-', f);
    for (unsigned d = 0; d < FR_MAX_DIMS; d++)
        if (t->split_mask >> d & 1)
            fprintf(f, "%u", d);
}

/* "id:0;-" for the outputs that share another's storage. Names may need quotes, so the cell is put
 * together first. */
static bool write_aliases(FILE *f, const struct fr_graph *g, const struct fr_op *op)
{
    char *text = NULL;
    size_t len;
    FILE *cell = fr__text_open(&text, &len);
    bool is_good;

    if (!cell)
        return false;
    for (uint32_t i = 0; i < op->n_tensors; i++) {
        uint32_t alias = g->tensors[op->first_tensor + i].alias;
        const struct fr_op *owner = alias == FR_NONE ? NULL : &g->ops[g->tensors[alias].op];

        fputs(i ? ";" : "", cell);
        if (owner)
            fprintf(cell, "%s:%" PRIu32, owner->name, alias - owner->first_tensor);
        else
            putc('-', cell);
    }
    is_good = fr__text_close(cell, &text) && fr__csv_write_cell(f, text);
    free(text);
    return is_good;
}

/* The ops whose parameters it uses, separated by ';'. */
static bool write_ties(FILE *f, const struct fr_graph *g, const struct fr_op *op)
{
    size_t id = (size_t)(op - g->ops), len;
    const char *separator = "";
    char *text = NULL;
    FILE *cell = fr__text_open(&text, &len);
    bool is_good;

    if (!cell)
        return false;
    for (uint32_t i = g->in_first[id]; i < g->in_first[id + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor != FR_NONE || e->bytes == 0)
            continue;
        fprintf(cell, "%s%s", separator, g->ops[e->src].name);
        separator = ";";
    }
    is_good = fr__text_close(cell, &text) && fr__csv_write_cell(f, text);
    free(text);
    return is_good;
}

static bool write_shape(FILE *f, const struct fr_shape *shape)
{
    char text[FR_SHAPE_TEXT];

    return fputs(fr_shape_format(shape, text, sizeof(text)), f) >= 0;
}

static bool write_outputs(FILE *f, const struct fr_graph *g, const struct fr_op *op,
                          enum fr__op_column column)
{
    if (column == FR__COL_ALIAS)
        return write_aliases(f, g, op);
    for (uint32_t i = 0; i < op->n_tensors; i++) {
        const struct fr_tensor *t = &g->tensors[op->first_tensor + i];

        fputs(i ? ";" : "", f);
        if (column == FR__COL_DIMS)
            write_dims(f, t);
        else if (column == FR__COL_SPLIT)
            write_split(f, t);
        else if (column == FR__COL_OUT_SCALES)
            fprintf(f, "%d", t->scales);
        else
            fprintf(f, "%" PRIu64, t->bytes);
    }
    return true;
}

static bool write_op_cell(FILE *f, const struct fr_graph *g, const struct fr_op *op,
                          enum fr__op_column column)
{
    switch (column) {
    case FR__COL_ID:
    case FR__COL_NAME:
        return fr__csv_write_cell(f, op->name);
    case FR__COL_KIND:
        return fputs(fr_op_kind_name(op->kind), f) >= 0;
    case FR__COL_PHASE:
        return fputs(fr_phase_name(op->phase), f) >= 0;
    case FR__COL_FLOPS:
        write_number(f, op->flops);
        return true;
    case FR__COL_BYTES:
        write_number(f, op->bytes);
        return true;
    case FR__COL_PARAM_BYTES:
        return fprintf(f, "%" PRIu64, op->param_bytes) > 0;
    case FR__COL_WORKSPACE_BYTES:
        return fprintf(f, "%" PRIu64, op->workspace_bytes) > 0;
    case FR__COL_SCALES:
        return fprintf(f, "%d", op->scales) > 0;
    case FR__COL_LAYER:
        return fr__csv_write_cell(f, g->layer_names[op->layer]);
    case FR__COL_FORWARD:
        return op->forward == FR_NONE || fr__csv_write_cell(f, g->ops[op->forward].name);
    case FR__COL_N_PARAMS:
        return fprintf(f, "%" PRIu32, op->n_params) > 0;
    case FR__COL_IN_PLACE:
        return fprintf(f, "%d", op->is_in_place) > 0;
    case FR__COL_SHAPE:
        return write_shape(f, &op->shape);
    case FR__COL_TIED_TO:
        return write_ties(f, g, op);
    case FR__COL_TUNING:
        return fputs(fr__native_tuning(op), f) >= 0;
    default:
        return write_outputs(f, g, op, column);
    }
}

static bool write_ops(FILE *f, const struct fr_graph *g)
{
    unsigned n_columns = FR__COL_TUNING; /* the last one, where it says anything */

    for (size_t i = 0; i < g->n_ops; i++)
        if (*fr__native_tuning(&g->ops[i]))
            n_columns = FR__N_OP_COLUMNS;
    write_header(f, fr__op_columns, n_columns);
    for (size_t i = 0; i < g->n_ops; i++) {
        for (unsigned c = 0; c < n_columns; c++) {
            fputs(c ? "," : "", f);
            if (!write_op_cell(f, g, &g->ops[i], (enum fr__op_column)c))
                return false;
        }
        putc('\n', f);
    }
    return true;
}

static bool write_edges(FILE *f, const struct fr_graph *g)
{
    write_header(f, fr__edge_columns, FR_NONE);
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        const struct fr_op *src = &g->ops[e->src];

        if (e->tensor == FR_NONE && e->bytes > 0)
            continue; /* tied weights: in ops.csv */
        if (!fr__csv_write_cell(f, src->name) || putc(',', f) == EOF ||
            !fr__csv_write_cell(f, g->ops[e->dst].name))
            return false;
        if (e->tensor == FR_NONE)
            fputs(",0,-\n", f);
        else
            fprintf(f, ",%" PRIu64 ",%" PRIu32 "\n", e->bytes, e->tensor - src->first_tensor);
    }
    return true;
}

static bool write_times(FILE *f, const struct fr_graph *g)
{
    write_header(f, fr__time_columns, FR_NONE);
    for (size_t i = 0; i < g->n_samples; i++) {
        const struct fr_sample *s = &g->samples[i];

        if (!fr__csv_write_cell(f, g->ops[s->op].name) || putc(',', f) == EOF ||
            !fr__csv_write_cell(f, s->device))
            return false;
        fprintf(f, ",%" PRIu32 ",", s->batch);
        write_number(f, s->time_s);
        putc('\n', f);
    }
    return true;
}

/* Opens and writes one of the folder's files; it is not in its place yet. */
static enum fr_status write_part(struct fr__out *o, const struct fr_graph *g, const char *path,
                                 bool (*write)(FILE *, const struct fr_graph *),
                                 struct fr_error *err)
{
    FR_TRY(fr__out_open(o, path, err));
    errno = 0;
    if (write(o->f, g) && !ferror(o->f))
        return FR_OK;
    if (errno == ENOMEM)
        return fr__fail_nomem(err);
    return fr__fail(err, FR_EIO, (struct fr_loc){path, 0, 0}, "cannot write: %s", strerror(errno));
}

/* Only when all are written is the first one moved into its place, so that a full disk leaves the
 * folder of before. */
static enum fr_status write_parts(const struct fr_graph *g, const char *folder,
                                  struct fr_error *err)
{
    enum { N_PARTS = 4 };
    static const struct {
        const char *file;
        bool (*write)(FILE *, const struct fr_graph *);
    } parts[N_PARTS] = {{"workload.yaml", write_info},
                        {"ops.csv", write_ops},
                        {"edges.csv", write_edges},
                        {"times.csv", write_times}};
    struct fr__out outs[N_PARTS] = {{NULL, NULL, NULL}};
    enum fr_status st = FR_OK;

    for (size_t i = 0; i < N_PARTS && st == FR_OK; i++) {
        char *path = fr__path_join(folder, parts[i].file);

        st = path ? write_part(&outs[i], g, path, parts[i].write, err) : fr__fail_nomem(err);
        free(path);
    }
    for (size_t i = 0; i < N_PARTS && st == FR_OK; i++)
        st = fr__out_commit(&outs[i], err);
    for (size_t i = 0; i < N_PARTS; i++)
        fr__out_abort(&outs[i]);
    return st;
}

enum fr_status fr_graph_export(const struct fr_graph *g, const char *folder, struct fr_error *err)
{
    bool is_new = mkdir(folder, 0777) == 0;
    enum fr_status st;

    if (!is_new && errno != EEXIST)
        return fr__fail(err, FR_EIO, (struct fr_loc){folder, 0, 0}, "cannot make the folder: %s",
                        strerror(errno));
    st = write_parts(g, folder, err);
    if (st != FR_OK && is_new)
        (void)rmdir(folder); /* leaves it where something is in it */
    return st;
}
