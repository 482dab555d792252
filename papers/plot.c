/* papers/plot.c - tables of a reproduction as groups of bars. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "results/parts/colours.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"
#include "papers/papers.h"

#include <math.h>
#include <string.h>

enum { MOST_SERIES = 6 };

static const char *const colours[MOST_SERIES] = {
    FR__COLOUR_COPY,          FR__COLOUR_FORWARD,         FR__COLOUR_UPDATE,
    FR__COLOUR_BACKWARD_DATA, FR__COLOUR_BACKWARD_WEIGHT, FR__COLOUR_OTHER};

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

static void write_point(FILE *f, double x, double y)
{
    if (isnan(y))
        return;
    fr__plot_number(f, x);
    fr__plot_number(f, y);
    putc('\n', f);
}

static void write_data(FILE *f, const struct bars *b)
{
    size_t published = column_of(b->table, "published");

    for (size_t s = 0; s < b->n_series; s++) {
        fprintf(f, "$series%zu << FORERUN_END\n", s);
        for (size_t g = 0; g < b->n_groups; g++)
            write_point(f, place(b, g, s), height(b, g, s));
        fputs("FORERUN_END\n", f);
    }
    fputs("$published << FORERUN_END\n", f);
    for (size_t i = 0; !b->table->base && i < b->table->n_rows; i++)
        write_point(f, place(b, i / b->n_series, i % b->n_series),
                    100 * cell(b->table, i, published)->value);
    fputs("FORERUN_END\n", f);
}

/* What is shown, and what the paper says of it. */
static void write_heading(FILE *f, const struct fr_repro_table *t)
{
    char text[256];

    fputs("set tmargin at screen 0.9\nset label 1 ", f);
    fr__gnuplot_string(f, t->title, 110);
    fputs(" at screen 0.03, screen 0.965 left font ',17' tc rgb '" FR__COLOUR_TEXT "'\n", f);
    if (!t->published)
        return;
    snprintf(text, sizeof(text), "the paper: %s", t->published);
    fputs("set label 2 ", f);
    fr__gnuplot_string(f, text, 160);
    fputs(" at screen 0.03, screen 0.928 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n", f);
}

static void write_axes(FILE *f, const struct bars *b)
{
    const struct fr_repro_table *t = b->table;
    char label[120] = "speed over data parallelism (%)";

    if (t->base)
        snprintf(label, sizeof(label), "%% of '%s'", t->columns[b->base].title);
    fputs(
        "set border 3 lc rgb '#BBBBBB'\nset grid y lt 1 lc rgb '#E6E6E6'\n"
        "set tics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT "'\n"
        "set style fill solid noborder\n"
        "set key top right horizontal Left reverse samplen 1.2 font ',11' tc rgb '" FR__COLOUR_TEXT
        "'\nset xzeroaxis lt 1 lw 1.5 lc rgb '" FR__COLOUR_QUIET "'\n"
        "set offsets 0, 0, graph 0.12, 0\nset ylabel ",
        f);
    fr__gnuplot_string(f, label, 100);
    fprintf(f, " tc rgb '%s'\nset boxwidth ", FR__COLOUR_TEXT);
    fr__plot_number(f, 0.72 / (double)b->n_series);
    if (t->base)
        fputs("\nset yrange [0:*]", f);
    fprintf(f, "\nset xrange [-0.6:%zu.6]\nset xtics scale 0 (", b->n_groups - 1);
    for (size_t g = 0; g < b->n_groups; g++) {
        fputs(g ? ", " : "", f);
        fr__gnuplot_string(f, cell(t, t->base ? g : g * b->n_series, 0)->text, 40);
        fprintf(f, " %zu", g);
    }
    fputs(")\n", f);
}

static void write_script(FILE *f, const struct fr_repro_table *t)
{
    const struct bars b = bars_of(t);

    write_data(f, &b);
    write_heading(f, t);
    write_axes(f, &b);
    fputs("plot ", f);
    for (size_t s = 0; s < b.n_series; s++) {
        char title[64];

        if (t->base)
            snprintf(title, sizeof(title), "%s", t->columns[b.column[s]].title);
        else
            snprintf(title, sizeof(title), "%s GPUs", cell(t, s, 1)->text);
        fprintf(f, "%s$series%zu using 1:2 with boxes lc rgb '%s' title ", s ? ", " : "", s,
                colours[s]);
        fr__gnuplot_string(f, title, 60);
    }
    if (!t->base)
        fputs(", $published using 1:2 with points pt 6 ps 1.6 lw 2 lc rgb '" FR__COLOUR_LIMIT
              "' title 'published'",
              f);
    putc('\n', f);
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
    const struct fr__plot_frame *frame = dot ? fr__plot_frame(dot) : NULL;
    const struct fr_repro_table *t = dot ? table_of(r, path) : NULL;
    struct fr__out out;
    FILE *script = NULL;
    enum fr_status st;

    if (!frame)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': expected a name that ends in .csv, .png, .svg or .pdf", path);
    if (!can_be_drawn(t))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s': there is no picture of table '%s'", path,
                        t->name);
    FR_TRY(fr__out_open(&out, path, err));
    st = fr__gnuplot_script(&script, err);
    if (st == FR_OK) {
        fputs(frame->terminal, script);
        write_script(script, t);
        st = fr__gnuplot_run(script, out.f, ctx, err);
        fclose(script);
    }
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}
