/* papers/papers.h - a paper's experiments run again: the published figure, ours, the difference.
 *
 * A reproduction is tables. A cell is a number or a word; a number that the paper does not give,
 * or that does not exist, is NaN. Misses are shown like hits: nothing is fitted to the figures.
 */
#ifndef FORERUN_REPRODUCE_H
#define FORERUN_REPRODUCE_H

#include "results/results.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_unit {
    FR_UNIT_TEXT,
    FR_UNIT_COUNT,
    FR_UNIT_SECONDS,
    FR_UNIT_FRACTION,
    FR_UNIT_BYTES,
    FR_UNIT_TIMES
};

struct fr_repro_column {
    const char *name; /* "iteration_s" in JSON and CSV */
    const char *title;
    enum fr_unit unit;
};

struct fr_repro_cell {
    const char *text; /* FR_UNIT_TEXT, or instead of a number: "out of memory"; NULL */
    double value;
};

struct fr_repro_table {
    const char *name, *title;
    const char *published; /* what the paper says of it, with the place */
    const char *found;     /* what came out, in a sentence; NULL */
    const char
        *base; /* pictures: the column that others of its unit are drawn against; NULL: gains */
    size_t n_columns, n_rows;
    const struct fr_repro_column *columns; /* [n_columns] */
    const struct fr_repro_cell *cells;     /* [n_rows][n_columns] */
};

/* All of it belongs to the reproduction. */
struct fr_reproduction {
    const char *paper, *source, *setting; /* a name, the reference, how it was run */
    size_t n_tables;
    const struct fr_repro_table *tables;
    void *priv;
};

enum { FR_REPRO_PICTURES = 16 };

/* The experiments of a paper: papers/NAME/experiments.yaml, compiled in. */
struct fr_repro_paper {
    const char *name, *summary, *source;
    const char *data; /* what a folder of the authors' data is, for help; NULL: takes none */
    /* Names of the tables that can be drawn, the first table's among them if it can. */
    const char *pictures[FR_REPRO_PICTURES]; /* ends with NULL */
    const char *text;                        /* the file */
};
const struct fr_repro_paper *fr_repro_paper_at(size_t i); /* NULL past the end */

/* Runs all experiments of a paper, or those that a file of one's own describes, whose name ends in
 * .yaml (papers/runner/runner.h). data: a folder of published data, or NULL; FR_EUSAGE where the
 * paper takes none; FR_EPARSE, FR_ERANGE: a file that is wrong. FR_ENOENT with the nearest known
 * name; FR_ECANCELLED; as fr_answer. The caller frees it. */
enum fr_status fr_reproduce(struct fr_reproduction **out, const char *paper, const char *data,
                            const struct fr_context *ctx, struct fr_error *err);
void fr_reproduction_free(struct fr_reproduction *r);

void fr_reproduction_print(FILE *f, const struct fr_reproduction *r);
void fr_reproduction_print_json(FILE *f, const struct fr_reproduction *r);
/* A line a cell: table, row, column, value. FR_EIO. */
enum fr_status fr_reproduction_write(const struct fr_reproduction *r, const char *path,
                                     struct fr_error *err);
/* Its tables as a page of Markdown. FR_EIO. */
enum fr_status fr_reproduction_write_markdown(const struct fr_reproduction *r, const char *path,
                                              struct fr_error *err);
/* What fr_reproduction_print_json prints. FR_EIO. */
enum fr_status fr_reproduction_write_json(const struct fr_reproduction *r, const char *path,
                                          struct fr_error *err);
/* Before the work: FR_EUSAGE unless the paper's reproduction can be written there (.csv, .json,
 * .md) or drawn (.png, .svg, .pdf); FR_EIO: no file can be made there; FR_ENOENT: no such paper. */
enum fr_status fr_reproduction_check_path(const char *paper, const char *path,
                                          struct fr_error *err);
/* Bars, a group a row or a model, of the table that path names before its ending
 * ("x.order.png"), else of the first. FR_EUSAGE: no picture by its ending, or of that table; as
 * fr_show_file. */
enum fr_status fr_reproduction_draw(const struct fr_reproduction *r, const char *path,
                                    const struct fr_context *ctx, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
