/* results/document/document.c - collects what builders say into blocks.
 *
 * Prose comes as a stream of characters, as builders put sentences together of pieces. It is cut
 * into lines here, and lines into blocks at empty ones, so that renderers see whole sentences.
 */
#include "config.h"

#include "results/document/document.h"

#include "base/arena.h"
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fr__document {
    struct fr__arena *arena;
    struct fr__block *first, *last;
    struct fr__block *open; /* of lines, which takes the next one; NULL: none */
    enum fr__block_kind kind_of_lines;
    unsigned n_gaps; /* since the last block */
    char *line;      /* [cap] the characters of a line that has not ended */
    size_t used, cap;
    size_t width;
    bool has_failed, is_page;
};

struct fr__document *fr__document_new(enum fr__document_use use, size_t width)
{
    struct fr__document *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->arena = fr__arena_new();
    d->kind_of_lines = FR__BLOCK_SENTENCES;
    d->has_failed = !d->arena;
    d->is_page = use == FR__FOR_PAGE;
    d->width = width;
    return d;
}

bool fr__is_page(const struct fr__document *d)
{
    return d && d->is_page;
}

size_t fr__document_width(const struct fr__document *d)
{
    return d ? d->width : 0;
}

void fr__document_free(struct fr__document *d)
{
    if (!d)
        return;
    fr__arena_free(d->arena);
    free(d->line);
    free(d);
}

enum fr_status fr__document_check(const struct fr__document *d, struct fr_error *err)
{
    return !d || d->has_failed ? fr__fail_nomem(err) : FR_OK;
}

const struct fr__block *fr__document_first(const struct fr__document *d)
{
    return d->first;
}

unsigned fr__document_gaps_at_end(const struct fr__document *d)
{
    return d->n_gaps;
}

static void *take(struct fr__document *d, size_t n, size_t size)
{
    void *p = fr__arena_alloc(d->arena, n, size);

    d->has_failed = d->has_failed || !p;
    return p;
}

static const char *copy(struct fr__document *d, const char *text, size_t n)
{
    const char *s = fr__arena_strndup(d->arena, text, n);

    d->has_failed = d->has_failed || !s;
    return s;
}

/* NULL: out of memory. */
static struct fr__block *add_block(struct fr__document *d, enum fr__block_kind kind)
{
    struct fr__block *b = take(d, 1, sizeof(*b));

    if (!b)
        return NULL;
    b->kind = kind;
    b->n_gaps = d->n_gaps;
    d->n_gaps = 0;
    d->open = NULL;
    if (d->last)
        d->last->next = b;
    else
        d->first = b;
    d->last = b;
    return b;
}

static void add_line(struct fr__document *d, struct fr__block *b, const char *text, size_t n)
{
    if (b->n_lines == b->cap_lines) {
        size_t cap = b->cap_lines ? 2 * b->cap_lines : 4;
        const char **lines = take(d, cap, sizeof(*lines));

        if (!lines)
            return;
        if (b->n_lines > 0)
            memcpy(lines, b->lines, b->n_lines * sizeof(*lines));
        b->lines = lines;
        b->cap_lines = cap;
    }
    b->lines[b->n_lines++] = copy(d, text, n);
}

static void end_line(struct fr__document *d)
{
    if (d->used == 0) {
        d->open = NULL;
        d->n_gaps++;
        return;
    }
    if (!d->open)
        d->open = add_block(d, d->kind_of_lines);
    if (d->open)
        add_line(d, d->open, d->line, d->used);
    d->used = 0;
}

static void add_text(struct fr__document *d, const char *text, size_t n)
{
    if (n == 0)
        return; /* the line may not be there */
    if (!fr__grow(&d->line, &d->cap, d->used + n, 1)) {
        d->has_failed = true;
        return;
    }
    memcpy(d->line + d->used, text, n);
    d->used += n;
}

static void add_stream(struct fr__document *d, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        if (n > 0)
            add_text(d, text, n);
        text += n;
        if (*text == '\n') {
            end_line(d);
            text++;
        }
    }
}

/* The text of a format, in `buf` where it fits and else on the arena. */
static const char *put_together(struct fr__document *d, char *buf, size_t size, const char *format,
                                va_list args) FR_PRINTF(4, 0);

static const char *put_together(struct fr__document *d, char *buf, size_t size, const char *format,
                                va_list args)
{
    va_list again;
    char *text = buf;
    int n;

    va_copy(again, args);
    n = vsnprintf(buf, size, format, args);
    if (n >= 0 && (size_t)n >= size) {
        text = take(d, (size_t)n + 1, 1);
        if (text)
            vsnprintf(text, (size_t)n + 1, format, again);
    }
    va_end(again);
    return text ? text : "";
}

void fr__say(struct fr__document *d, const char *format, ...)
{
    char buf[512];
    va_list args;

    if (!d || d->has_failed)
        return;
    va_start(args, format);
    add_stream(d, put_together(d, buf, sizeof(buf), format, args));
    va_end(args);
}

void fr__say_name(struct fr__document *d, const char *text)
{
    char clean[FR__TABLE_CELL];

    if (!d || d->has_failed)
        return;
    fr__table_text(clean, text);
    add_text(d, clean, strlen(clean));
}

void fr__say_drawn(struct fr__document *d)
{
    if (!d || d->has_failed) /* part of a line may be left */
        return;
    assert(d->used == 0);
    d->open = NULL;
    d->kind_of_lines = FR__BLOCK_DRAWN;
}

void fr__say_plain(struct fr__document *d)
{
    if (!d || d->has_failed) /* part of a line may be left */
        return;
    assert(d->used == 0);
    d->open = NULL;
    d->kind_of_lines = FR__BLOCK_SENTENCES;
}

void fr__say_heading(struct fr__document *d, const char *text)
{
    char clean[FR__TABLE_CELL];
    struct fr__block *b;

    if (!d || d->has_failed)
        return;
    assert(d->used == 0);
    fr__table_text(clean, text);
    b = add_block(d, FR__BLOCK_PART);
    if (b)
        add_line(d, b, clean, strlen(clean));
}

/* Makes the last block the heading of the table that follows, if it is one. */
static void find_heading(struct fr__document *d)
{
    struct fr__block *b = d->last;
    size_t n = b && b->kind == FR__BLOCK_SENTENCES && b->n_lines == 1 ? strlen(b->lines[0]) : 0;

    if (n < 2 || b->lines[0][n - 1] != ':')
        return;
    b->kind = FR__BLOCK_HEADING;
    b->lines[0] = copy(d, b->lines[0], n - 1);
}

void fr__say_table(struct fr__document *d, const struct fr__table *t, size_t n_keys)
{
    struct fr__table_column *columns;
    struct fr__table_row row;
    struct fr__block *b;

    if (!d || d->has_failed)
        return;
    assert(d->used == 0);
    find_heading(d);
    b = add_block(d, FR__BLOCK_TABLE);
    columns = take(d, t->n_columns, sizeof(*columns));
    if (!b || !columns)
        return;
    b->cells = take(d, t->n_rows * t->n_columns, sizeof(*b->cells));
    for (size_t c = 0; c < t->n_columns && !d->has_failed; c++) {
        columns[c] = t->columns[c];
        columns[c].title = copy(d, t->columns[c].title, strlen(t->columns[c].title));
    }
    for (size_t i = 0; i < t->n_rows && !d->has_failed; i++) {
        for (size_t c = 0; c < t->n_columns; c++)
            row.cell[c][0] = '\0';
        t->fill(t->user, i, &row);
        for (size_t c = 0; c < t->n_columns; c++)
            b->cells[i * t->n_columns + c] = copy(d, row.cell[c], strlen(row.cell[c]));
    }
    b->columns = columns;
    b->n_columns = t->n_columns;
    b->n_rows = t->n_rows;
    b->n_keys = n_keys;
}

void fr__say_bars(struct fr__document *d, size_t first, size_t n, const char *const colours[])
{
    if (!d || d->has_failed)
        return;
    assert(d->last && d->last->kind == FR__BLOCK_TABLE && n <= FR__BARS);
    d->last->first_bar = first;
    d->last->n_bars = n;
    memcpy(d->last->bar_colours, colours, n * sizeof(*colours));
}

void fr__say_sum(struct fr__document *d)
{
    if (!d || d->has_failed)
        return;
    assert(d->last && d->last->kind == FR__BLOCK_TABLE);
    d->last->has_sum = true;
}

void fr__say_picture(struct fr__document *d, enum fr__page_picture picture, const void *of,
                     size_t number)
{
    struct fr__block *b;

    if (!d || d->has_failed || !d->is_page)
        return;
    assert(d->used == 0);
    b = add_block(d, FR__BLOCK_PICTURE);
    if (!b)
        return;
    b->picture = picture;
    b->of = of;
    b->number = number;
}
