/* results/parts/table.h - what a table is for whoever makes one: columns, and a function that fills
 * a row. */
#ifndef FR_RESULTS_PARTS_TABLE_H
#define FR_RESULTS_PARTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

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

/* Text from outside into a cell as it may be shown (base/printable.h); what is too long ends in
 * "...". */
void fr__table_text(char cell[FR__TABLE_CELL], const char *text);

#endif
