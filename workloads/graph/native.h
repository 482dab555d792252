/* workloads/graph/native.h - files and columns of a native workload folder.
 *
 * doc/workloads.md describes them for users. The reader and the writer share these lists, so that
 * what is written reads back.
 *
 *     native_read.c   the folder, workload.yaml, times.csv     native_items.c  lists in a cell
 *     native_ops.c    ops.csv                                  native_shape.c  its column `shape`
 *     native_edges.c  edges.csv                                native_write.c  writes all of them
 */
#ifndef FR_WORKLOADS_GRAPH_NATIVE_H
#define FR_WORKLOADS_GRAPH_NATIVE_H

#include "base/arena.h"
#include "base/csv.h"
#include "workloads/graph/builder.h"

/* clang-format off */
/* Columns of ops.csv: FR__COL_<first>, spelt <second>, required? */
#define FR__OP_COLUMNS(X) \
    X(ID, "id", true) \
    X(NAME, "name", false) \
    X(KIND, "kind", true) \
    X(PHASE, "phase", false) \
    X(FLOPS, "flops", false) \
    X(BYTES, "bytes", false) \
    X(PARAM_BYTES, "param_bytes", false) \
    X(WORKSPACE_BYTES, "workspace_bytes", false) \
    X(DIMS, "dims", false) \
    X(OUT_BYTES, "out_bytes", false) \
    X(SCALES, "scales", false) \
    X(OUT_SCALES, "out_scales", false) \
    X(SPLIT, "split", false) \
    X(ALIAS, "alias", false) \
    X(LAYER, "layer", false) \
    X(FORWARD, "forward", false) \
    X(N_PARAMS, "n_params", false) \
    X(IN_PLACE, "in_place", false) \
    X(SHAPE, "shape", false) \
    X(TIED_TO, "tied_to", false) \
    X(TUNING, "tuning", false)
/* clang-format on */

#define FR__COLUMN_ENUM(id, text, required) FR__COL_##id,
enum fr__op_column { FR__OP_COLUMNS(FR__COLUMN_ENUM) FR__N_OP_COLUMNS };
#undef FR__COLUMN_ENUM

extern const struct fr__csv_column fr__op_columns[FR__N_OP_COLUMNS + 1];
extern const struct fr__csv_column fr__edge_columns[]; /* src, dst, bytes, tensor */
extern const struct fr__csv_column fr__time_columns[]; /* op, device, batch, time_s */

/* A row of ops.csv. Outputs are numbered through all rows, as the builder numbers them. */
struct fr__native_row {
    struct fr_op op;             /* name may be NULL: the id */
    const char *layer, *forward; /* NULL when not given; forward is an id */
    struct fr_loc forward_loc;
    const char *tied_to; /* ids separated by ';', NULL when not given */
    struct fr_loc tied_to_loc;
    uint32_t first_output, n_outputs;
    bool has_bytes;    /* op.bytes is given; else it is what the op reads and writes */
    double read_bytes; /* of its in-edges */
};

/* An output that shares the storage of another. The other's name is looked up when all rows are
 * read. */
struct fr__native_alias {
    uint32_t output;
    const char *target; /* "id:0" */
    struct fr_loc loc;
};

struct fr__native {
    struct fr__arena *arena;
    struct fr_graph info;
    const char *device; /* type of the samples whose device is "*"; "*": not known */
    struct fr__native_row *rows;
    struct fr_tensor *outputs;
    struct fr__native_alias *aliases;
    size_t n_rows, n_outputs, n_aliases, cap_rows, cap_outputs, cap_aliases;
    struct fr__strings ids; /* of rows */
    struct fr_graph_builder *b;
};

/* An item of a cell that holds a list, separated by ';'. */
struct fr__item {
    const char *text;
    size_t len;
    struct fr_loc loc;
};
/* A cursor before the first item of the text, for fr__next_item. */
struct fr__item fr__first_item(const char *text, struct fr_loc loc);
/* The item at the cursor; moves the cursor to the next one. Past the end, items are empty. */
struct fr__item fr__next_item(struct fr__item *cursor);
uint32_t fr__n_items(const char *text);

/* Reads the cell into the op's shape. The op's kind, phase and FLOPs must be there; where has_flops
 * is false, FLOPs are set to those of the shape, if it has any. */
enum fr_status fr__native_read_shape(const struct fr__cell *cell, bool has_flops, struct fr_op *op,
                                     struct fr_error *err);

/* The word of the column `tuning` for an op; "": it is trained like any. Back: false: no such word,
 * *op untouched. */
const char *fr__native_tuning(const struct fr_op *op);
bool fr__native_set_tuning(struct fr_op *op, const char *word);

/* Reads ops.csv: fills rows, outputs and ids, and resolves what refers to other rows. */
enum fr_status fr__native_read_ops(struct fr__native *n, const char *path, struct fr_error *err);
/* Reads edges.csv into the builder. */
enum fr_status fr__native_read_edges(struct fr__native *n, const char *path, struct fr_error *err);
/* The row of ops.csv with that id. FR_EPARSE: there is none; loc is where the id was read. */
enum fr_status fr__native_find(const struct fr__native *n, const char *id, struct fr_loc loc,
                               uint32_t *row, struct fr_error *err);

/* Reads a folder, without adding backward and update ops where it has none. The caller frees the
 * graph. FR_ENOENT: a file is missing. */
enum fr_status fr__native_load(struct fr_graph **out, const char *folder, struct fr_error *err);
#endif
