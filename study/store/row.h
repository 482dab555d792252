/* study/store/row.h - one row of a sweep: made from an answer, and as CSV. */
#ifndef FR_STUDY_STORE_ROW_H
#define FR_STUDY_STORE_ROW_H

#include "base/arena.h"
#include "base/figures.h"
#include "study/sweep/sweep.h"

#include <stdio.h>

/* The figures of a row: the columns of stores and of CSV, in their order; the first is "key", the
 * last "record". A figure whose `from` is set is read from the record that answers; a new one is a
 * member of struct fr_sweep_row and a line of this table. */
extern const struct fr_figure fr__row_figures[];
enum { FR__N_ROW_FIGURES = 61 };

/* The columns of one store. It keeps figures by key: what it was begun with is what it has, in that
 * order. So a store that is older than a figure still opens: its rows do not know that figure, and
 * rows that are added leave it out. */
struct fr__row_columns {
    const struct fr_figure *figures[FR__N_ROW_FIGURES];
    size_t n;
};
void fr__row_columns_init(struct fr__row_columns *c); /* all there are */
/* Adds the figure with that name. FR_EPARSE: there is none, or it is there. path: the store's. */
enum fr_status fr__row_columns_add(struct fr__row_columns *c, const char *path, const char *name,
                                   struct fr_error *err);

typedef enum fr_status (*fr__take_row)(void *user, const struct fr_sweep_row *row,
                                       struct fr_error *err);

/* A row in which nothing is known. */
void fr__row_init(struct fr_sweep_row *row);
/* Copies the row's texts into the arena. false: out of memory. */
bool fr__row_keep(struct fr_sweep_row *row, struct fr__arena *arena);
enum fr_outcome fr__outcome_parse(const char *name); /* FR_N_OUTCOMES: unknown */

/* Digest of all cells but the record, which is large and not always read. */
uint64_t fr__row_digest(const struct fr_sweep_row *row, const struct fr__row_columns *c);
bool fr__rows_equal(const struct fr_sweep_row *a, const struct fr_sweep_row *b,
                    const struct fr__row_columns *c);

/* Names, or the row's cells, with commas between, without an end of line. */
void fr__row_write_names(FILE *f, const struct fr__row_columns *c);
void fr__row_write_cells(FILE *f, const struct fr__row_columns *c, const struct fr_sweep_row *row);
/* CSV with its line of names. */
enum fr_status fr__rows_read(const char *text, size_t length, const char *path, fr__take_row take,
                             void *user, struct fr_error *err);

typedef void (*fr__print_record)(FILE *f, const struct fr_record *r);

/* The answer's row. Texts are the record's, or in the arena. print: writes the record down on
 * one line, for the row's text of it; NULL: none is wanted. */
enum fr_status fr__row_of_record(struct fr_sweep_row *row, const struct fr_question *q,
                                 const struct fr_setting *setting, const struct fr_record *r,
                                 fr__print_record print, struct fr__arena *arena,
                                 struct fr_error *err);
/* The row of a question without an answer, and why. */
enum fr_status fr__row_of_failure(struct fr_sweep_row *row, const struct fr_question *q,
                                  const struct fr_error *why, struct fr__arena *arena,
                                  struct fr_error *err);
#endif
