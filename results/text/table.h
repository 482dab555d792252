/* results/text/table.h - aligned columns of text without allocating: rows are asked for twice. */
#ifndef FR_RESULTS_TEXT_TABLE_H
#define FR_RESULTS_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { FR__TABLE_MAX_COLUMNS = 24, FR__TABLE_CELL = 200 };

struct fr__table_column {
    const char *title;
    bool is_right; /* numbers */
};

struct fr__table_row {
    char cell[FR__TABLE_MAX_COLUMNS][FR__TABLE_CELL];
};

struct fr__table {
    const struct fr__table_column *columns; /* [n_columns] */
    size_t n_columns, n_rows;
    /* fills row i; cells come in empty */
    void (*fill)(const void *user, size_t i, struct fr__table_row *row);
    const void *user;
};

/* A title line (unless all titles are empty) and the rows, two spaces between columns and before
 * the first, no blanks at the end of a line. Characters are counted, not bytes. */
void fr__table_print(FILE *f, const struct fr__table *t);

/* The same on lines of `width` characters (0: any number). A wider table is printed in parts under
 * one another, each with the first n_keys columns, which name a row, and at least one more. Where
 * those take over half of a line, rows are numbered and the parts below have the numbers alone. */
void fr__table_print_within(FILE *f, const struct fr__table *t, size_t width, size_t n_keys);

/* Text from outside into a cell as it may be shown (base/printable.h); what is too long ends in
 * "...". */
void fr__table_text(char cell[FR__TABLE_CELL], const char *text);

#endif
