/* results/render/table.c - aligned columns of text.
 *
 * It is separate because every table as text is printed by it.
 */
#include "config.h"

#include "results/render/render.h"

#include <math.h>
#include <string.h>

/* Characters of UTF-8 text: bytes that do not continue one. */
static size_t width_of(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void print_spaces(FILE *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        putc(' ', f);
}

/* A part of a table that fits the width: these columns, side by side. */
struct part {
    size_t columns[FR__TABLE_MAX_COLUMNS], n;
    size_t number_width; /* of the rows' numbers before them; 0: none */
};

/* number: of the row, printed where the part has numbers. */
static void print_row(FILE *f, const struct fr__table *t, const struct fr__table_row *row,
                      const struct part *part, const size_t width[], const char *number)
{
    size_t owed = 0; /* blanks are written only when something follows */

    if (part->number_width > 0)
        fprintf(f, "  %*s", (int)part->number_width, number);
    for (size_t i = 0; i < part->n; i++) {
        size_t c = part->columns[i], n = width_of(row->cell[c]), pad = width[c] - n;

        owed += 2;
        if (t->columns[c].is_right)
            owed += pad;
        if (n > 0) {
            print_spaces(f, owed);
            fputs(row->cell[c], f);
            owed = 0;
        } else {
            owed += n;
        }
        if (!t->columns[c].is_right)
            owed += pad;
    }
    putc('\n', f);
}

/* width: [n_columns] characters of the widest cell of each column, its title included. Returns
 * whether any column has a title. */
static bool measure(const struct fr__table *t, size_t width[])
{
    struct fr__table_row row;
    bool has_titles = false;

    for (size_t c = 0; c < t->n_columns; c++) {
        width[c] = width_of(t->columns[c].title);
        has_titles = has_titles || width[c] > 0;
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        memset(&row, 0, sizeof(row));
        t->fill(t->user, i, &row);
        for (size_t c = 0; c < t->n_columns; c++)
            if (width_of(row.cell[c]) > width[c])
                width[c] = width_of(row.cell[c]);
    }
    return has_titles;
}

static void print_part(FILE *f, const struct fr__table *t, const struct part *part,
                       const size_t width[], bool has_titles)
{
    struct fr__table_row row;
    char number[24];

    if (has_titles) {
        memset(&row, 0, sizeof(row));
        for (size_t c = 0; c < t->n_columns; c++)
            fr__table_text(row.cell[c], t->columns[c].title);
        print_row(f, t, &row, part, width, "");
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        memset(&row, 0, sizeof(row));
        t->fill(t->user, i, &row);
        snprintf(number, sizeof(number), "%zu", i + 1);
        print_row(f, t, &row, part, width, number);
    }
}

/* How a table is cut. */
struct cut {
    const size_t *widths; /* [columns] */
    size_t width, n_keys;
    size_t number_width; /* where the names of rows take over half of a line, their numbers stand
                            for them below the first part; 0: they do not */
};

static void cut_init(struct cut *cut, const struct fr__table *t)
{
    size_t keys = 0, whole = 0;
    char number[24];

    for (size_t c = 0; c < t->n_columns; c++) {
        whole += 2 + cut->widths[c];
        keys += c < cut->n_keys ? 2 + cut->widths[c] : 0;
    }
    if (cut->width > 0 && whole > cut->width && 2 * keys > cut->width)
        cut->number_width = (size_t)snprintf(number, sizeof(number), "%zu", t->n_rows);
}

/* The columns or the numbers that name a row, and then as many from *next on as fit; at least
 * one. */
static void take_part(const struct fr__table *t, const struct cut *cut, size_t *next,
                      struct part *part)
{
    bool has_keys = *next == 0 || cut->number_width == 0;
    size_t used = cut->number_width ? 2 + cut->number_width : 0;
    size_t first = *next > cut->n_keys ? *next : cut->n_keys;

    part->number_width = cut->number_width;
    for (part->n = 0; has_keys && part->n < cut->n_keys && part->n < t->n_columns; part->n++) {
        part->columns[part->n] = part->n;
        used += 2 + cut->widths[part->n];
    }
    for (*next = first; *next < t->n_columns; ++*next) {
        used += 2 + cut->widths[*next];
        if (cut->width > 0 && *next > first && used > cut->width)
            return;
        part->columns[part->n++] = *next;
    }
}

void fr__table_print_within(FILE *f, const struct fr__table *t, size_t width, size_t n_keys)
{
    size_t widths[FR__TABLE_MAX_COLUMNS] = {0}, next = 0;
    bool has_titles = measure(t, widths);
    struct cut cut = {.widths = widths, .width = width, .n_keys = n_keys};
    struct part part;

    cut_init(&cut, t);
    take_part(t, &cut, &next, &part);
    print_part(f, t, &part, widths, has_titles);
    while (next < t->n_columns) {
        take_part(t, &cut, &next, &part);
        putc('\n', f);
        print_part(f, t, &part, widths, has_titles);
    }
}

void fr__table_print(FILE *f, const struct fr__table *t)
{
    fr__table_print_within(f, t, 0, 0);
}
