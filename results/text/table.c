/* results/text/table.c - aligned columns of text.
 *
 * It is separate because every table as text is printed by it.
 */
#include "config.h"

#include "results/text/table.h"
#include "base/units.h"

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

/* Which columns of a table are printed beside one another. */
struct part {
    size_t columns[FR__TABLE_MAX_COLUMNS], n;
};

static void print_row(FILE *f, const struct fr__table *t, const struct fr__table_row *row,
                      const struct part *part, const size_t width[])
{
    size_t owed = 0; /* blanks are written only when something follows */

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

    if (has_titles) {
        memset(&row, 0, sizeof(row));
        for (size_t c = 0; c < t->n_columns; c++)
            fr__table_text(row.cell[c], t->columns[c].title);
        print_row(f, t, &row, part, width);
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        memset(&row, 0, sizeof(row));
        t->fill(t->user, i, &row);
        print_row(f, t, &row, part, width);
    }
}

/* The columns that name a row, and then as many from *next on as fit; at least one. */
static void take_part(const struct fr__table *t, const size_t widths[], size_t width, size_t n_keys,
                      size_t *next, struct part *part)
{
    size_t used = 0, first = *next > n_keys ? *next : n_keys;

    for (part->n = 0; part->n < n_keys && part->n < t->n_columns; part->n++) {
        part->columns[part->n] = part->n;
        used += 2 + widths[part->n];
    }
    for (*next = first; *next < t->n_columns; ++*next) {
        used += 2 + widths[*next];
        if (width > 0 && *next > first && used > width)
            return;
        part->columns[part->n++] = *next;
    }
}

void fr__table_print_within(FILE *f, const struct fr__table *t, size_t width, size_t n_keys)
{
    size_t widths[FR__TABLE_MAX_COLUMNS] = {0}, next = 0;
    bool has_titles = measure(t, widths);
    struct part part;

    take_part(t, widths, width, n_keys, &next, &part);
    print_part(f, t, &part, widths, has_titles);
    while (next < t->n_columns) {
        take_part(t, widths, width, n_keys, &next, &part);
        putc('\n', f);
        print_part(f, t, &part, widths, has_titles);
    }
}

void fr__table_print(FILE *f, const struct fr__table *t)
{
    fr__table_print_within(f, t, 0, 0);
}

void fr__table_text(char cell[FR__TABLE_CELL], const char *text)
{
    size_t n = strlen(text), room = FR__TABLE_CELL - 1;
    bool is_cut = n > room;

    if (is_cut) {
        n = room - 3;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--; /* not in the middle of a character */
    }
    for (size_t i = 0; i < n; i++)
        cell[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
    memcpy(cell + n, is_cut ? "..." : "", is_cut ? 4 : 1);
}
