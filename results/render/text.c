/* results/render/text.c - documents as text.
 *
 * It is separate from table.c, whose tables are printed without a document, too.
 */
#include "config.h"

#include "results/render/render.h"

#include <string.h>

static void put_gaps(FILE *f, unsigned n)
{
    while (n-- > 0)
        putc('\n', f);
}

static void fill(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__block *b = user;

    for (size_t c = 0; c < b->n_columns; c++) {
        const char *cell = b->cells[i * b->n_columns + c];

        memcpy(row->cell[c], cell, strlen(cell) + 1);
    }
}

static void put_table(FILE *f, const struct fr__block *b, size_t width)
{
    const struct fr__table t = {b->columns, b->n_columns, b->n_rows, fill, b};

    fr__table_print_within(f, &t, b->n_keys > 0 ? width : 0, b->n_keys);
}

static void put_heading(FILE *f, const struct fr__block *b)
{
    if (b->kind == FR__BLOCK_PART)
        fprintf(f, "-- %s\n", b->lines[0]);
    else
        fprintf(f, "%s:\n", b->lines[0]);
}

void fr__text_render(FILE *f, const struct fr__document *d)
{
    for (const struct fr__block *b = fr__document_first(d); b; b = b->next) {
        put_gaps(f, b->n_gaps);
        if (b->kind == FR__BLOCK_TABLE)
            put_table(f, b, fr__document_width(d));
        else if (b->kind == FR__BLOCK_HEADING || b->kind == FR__BLOCK_PART)
            put_heading(f, b);
        else
            for (size_t i = 0; i < b->n_lines; i++)
                fprintf(f, "%s\n", b->lines[i]);
    }
    put_gaps(f, fr__document_gaps_at_end(d));
}
