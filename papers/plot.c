/* papers/plot.c - tables of a reproduction as groups of bars. */
#include "config.h"

#include "base/error.h"
#include "papers/papers.h"
#include "results/charts/chart.h"
#include "results/parts/colours.h"
#include "results/parts/palette.h"

#include <math.h>
#include <string.h>

enum { MOST_SERIES = 6 };

static size_t column_of(const struct fr_repro_table *t, const char *name)
{
    size_t c = 0;

    while (c < t->n_columns && strcmp(t->columns[c].name, name) != 0)
        c++;
    return c;
}

static const struct fr_repro_cell *cell(const struct fr_repro_table *t, size_t row, size_t column)
{
    return &t->cells[row * t->n_columns + column];
}

/* Groups of bars: of `gain`, a group a value of the first column and a bar a value of the second;
 * or a group a row and a bar a column, over the row's value in the column that the table calls its
 * base. */
struct bars {
    const struct fr_repro_table *table;
    size_t n_groups, n_series, base;
    size_t column[MOST_SERIES]; /* of each series */
};

/* How many rows the first group has: series of the same length everywhere. */
static size_t count_rows_of_group(const struct fr_repro_table *t)
{
    size_t n = 1;

    while (n < t->n_rows && n < MOST_SERIES &&
           strcmp(cell(t, n, 0)->text, cell(t, 0, 0)->text) == 0)
        n++;
    return n;
}

static struct bars bars_of(const struct fr_repro_table *t)
{
    struct bars b = {.table = t};

    if (!t->base) {
        b.n_series = count_rows_of_group(t);
        b.n_groups = t->n_rows / b.n_series;
        return b;
    }
    b.n_groups = t->n_rows;
    b.base = column_of(t, t->base);
    for (size_t c = 0; c < t->n_columns && b.n_series < MOST_SERIES; c++)
        if (t->columns[c].unit == t->columns[b.base].unit)
            b.column[b.n_series++] = c;
    return b;
}

/* In percent; NaN: no bar. */
static double height(const struct bars *b, size_t group, size_t series)
{
    const struct fr_repro_table *t = b->table;

    if (!t->base)
        return 100 * cell(t, group * b->n_series + series, column_of(t, "gain"))->value;
    return 100 * cell(t, group, b->column[series])->value / cell(t, group, b->base)->value;
}

/* Bars of a group share 0.8 of its width. */
static double place(const struct bars *b, size_t group, size_t series)
{
    double width = 0.8 / (double)b->n_series;

    return (double)group + width * ((double)series - 0.5 * (double)(b->n_series - 1));
}

static void put_bars(struct fr__panel *p, const struct bars *b)
{
    double half = 0.36 / (double)b->n_series;

    for (size_t s = 0; s < b->n_series; s++) {
        struct fr__chart_series *bars = fr__panel_series(
            p, (struct fr__chart_style){
                   .mark = FR__BOXES,
                   .colour = fr__palette(s),
                   .title = b->table->base
                                ? b->table->columns[b->column[s]].title
                                : fr__chart_text(p->chart, "%s GPUs", cell(b->table, s, 1)->text)});

        for (size_t g = 0; g < b->n_groups; g++) {
            double x = place(b, g, s), y = height(b, g, s);

            if (isnan(y))
                continue;
            fr__series_box(bars, x - half, x + half, fmin(y, 0), fmax(y, 0));
            p->y.low = fmin(p->y.low, 1.1 * y);
            p->y.high = fmax(p->y.high, 1.12 * y);
        }
    }
}

static void put_published(struct fr__panel *p, const struct bars *b)
{
    size_t published = column_of(b->table, "published");
    struct fr__chart_series *s =
        fr__panel_series(p, (struct fr__chart_style){.mark = FR__POINTS,
                                                     .colour = FR__COLOUR_LIMIT,
                                                     .shape = FR__CIRCLE,
                                                     .size = 1.6,
                                                     .width = 2,
                                                     .title = "published"});

    for (size_t i = 0; i < b->table->n_rows; i++) {
        double y = 100 * cell(b->table, i, published)->value;

        if (isnan(y))
            continue;
        fr__series_point(s, place(b, i / b->n_series, i % b->n_series), y);
        p->y.low = fmin(p->y.low, 1.1 * y);
        p->y.high = fmax(p->y.high, 1.12 * y);
    }
}

static void describe(struct fr__chart *c, const struct fr_repro_table *t)
{
    const struct bars b = bars_of(t);
    struct fr__panel *p = fr__chart_panel(c, 0.08, 0.97, 0.08, 0.86);

    c->title = fr__chart_text(c, "%s", t->title);
    if (t->published)
        c->subtitle = fr__chart_text(c, "the paper: %s", t->published);
    p->x = (struct fr__chart_axis){.low = -0.6, .high = (double)b.n_groups - 0.4, .is_named = true};
    for (size_t g = 0; g < b.n_groups; g++)
        fr__axis_tick(p, &p->x, (double)g, cell(t, t->base ? g : g * b.n_series, 0)->text);
    p->y.has_grid = true;
    p->y.label = t->base ? fr__chart_text(c, "%% of '%s'", t->columns[b.base].title)
                         : "speed over data parallelism (%)";
    p->key = FR__KEY_BELOW;
    put_bars(p, &b);
    if (!t->base)
        put_published(p, &b);
    if (!(p->y.high > p->y.low))
        p->y.high = 1; /* an axis needs a length */
    fr__panel_line(p, (struct fr__chart_line){
                          .x1 = 1, .x_by = FR__BY_PANEL, .width = 1.5, .colour = FR__COLOUR_QUIET});
}

static bool can_be_drawn(const struct fr_repro_table *t)
{
    return t->n_rows > 0 && (t->base || column_of(t, "gain") < t->n_columns);
}

/* "gains.order.png": the table that the word before the ending names, else the first. */
static const struct fr_repro_table *table_of(const struct fr_reproduction *r, const char *path)
{
    const char *dot = strrchr(path, '.'), *word = dot;

    while (word > path && word[-1] != '.' && word[-1] != '/')
        word--;
    for (size_t k = 0; k < r->n_tables; k++)
        if (word > path && word[-1] == '.' && strlen(r->tables[k].name) == (size_t)(dot - word) &&
            strncmp(r->tables[k].name, word, (size_t)(dot - word)) == 0)
            return &r->tables[k];
    return &r->tables[0];
}

enum fr_status fr_reproduction_draw(const struct fr_reproduction *r, const char *path,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    const char *dot = strrchr(path, '.');
    const struct fr_repro_table *t = dot ? table_of(r, path) : NULL;
    struct fr__chart *c;

    if (!t || !fr__chart_has_ending(dot))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': expected a name that ends in .csv, .png, .svg or .pdf", path);
    if (!can_be_drawn(t))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s': there is no picture of table '%s'", path,
                        t->name);
    c = fr__chart_new();
    if (c)
        describe(c, t);
    return fr__chart_save(c, path, ctx, err);
}
