/* study/store/row.h - one row of a sweep: made from an answer, and as CSV. */
#ifndef FR_STUDY_STORE_ROW_H
#define FR_STUDY_STORE_ROW_H

#include "base/arena.h"
#include "study/sweep/sweep.h"

#include <stdio.h>

enum fr__column_type {
    FR__COLUMN_TEXT,   /* const char * */
    FR__COLUMN_COUNT,  /* uint64_t */
    FR__COLUMN_NUMBER, /* double; NAN is an empty cell */
    FR__COLUMN_OUTCOME
};

/* A column of stores and of CSV, and where in the row it is. */
struct fr__row_column {
    const char *name;
    enum fr__column_type type;
    size_t offset;
};
/* Ends with a NULL name; the first is "key", the last "record". */
extern const struct fr__row_column fr__row_columns[];
enum { FR__N_ROW_COLUMNS = 60 };

typedef enum fr_status (*fr__take_row)(void *user, const struct fr_sweep_row *row,
                                       struct fr_error *err);

/* The member at a column. */
const char **fr__row_text(struct fr_sweep_row *row, const struct fr__row_column *c);
uint64_t *fr__row_count(struct fr_sweep_row *row, const struct fr__row_column *c);
double *fr__row_number(struct fr_sweep_row *row, const struct fr__row_column *c);
enum fr_outcome fr__outcome_parse(const char *name); /* FR_N_OUTCOMES: unknown */

/* The cell's text; buf: for numbers. */
enum { FR__ROW_CELL = 40 };
const char *fr__row_cell(const struct fr_sweep_row *row, const struct fr__row_column *c,
                         char buf[FR__ROW_CELL]);
/* Digest of all cells but the record, which is large and not always read. */
uint64_t fr__row_digest(const struct fr_sweep_row *row);
bool fr__rows_equal(const struct fr_sweep_row *a, const struct fr_sweep_row *b);

/* Names with commas between, without an end of line. */
void fr__row_write_names(FILE *f);
/* CSV with its line of names, and perhaps a first column `before` that is read over (NULL:
 * none). */
enum fr_status fr__rows_read(const char *text, size_t length, const char *path, const char *before,
                             fr__take_row take, void *user, struct fr_error *err);

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
