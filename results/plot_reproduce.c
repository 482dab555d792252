/* results/plot_reproduce.c - the gains of a reproduction's first table as groups of bars. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "results/gnuplot.h"
#include "results/plot.h"
#include "results/reproduce.h"

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

/* How many rows the first group has: series of the same length everywhere. */
static size_t count_series(const struct fr_repro_table *t)
{
    size_t n = 1;

    while (n < t->n_rows && n < MOST_SERIES &&
           strcmp(cell(t, n, 0)->text, cell(t, 0, 0)->text) == 0)
        n++;
    return n;
}

static void write_data(FILE *f, const struct fr_repro_table *t, size_t n_series)
{
    size_t gain = column_of(t, "gain"), published = column_of(t, "published");

    for (size_t s = 0; s < n_series; s++) {
        fprintf(f, "$series%zu << FORERUN_END\n", s);
        for (size_t i = s; i < t->n_rows; i += n_series)
            if (!isnan(cell(t, i, gain)->value)) {
                fr__plot_number(f, (double)(i / n_series) + 0.2 * ((double)s - 1.5));
                fr__plot_number(f, 100 * cell(t, i, gain)->value);
                putc('\n', f);
            }
        fputs("FORERUN_END\n", f);
    }
    fputs("$published << FORERUN_END\n", f);
    for (size_t i = 0; i < t->n_rows; i++)
        if (!isnan(cell(t, i, published)->value)) {
            fr__plot_number(f, (double)(i / n_series) + 0.2 * ((double)(i % n_series) - 1.5));
            fr__plot_number(f, 100 * cell(t, i, published)->value);
            putc('\n', f);
        }
    fputs("FORERUN_END\n", f);
}

static void write_script(FILE *f, const struct fr_repro_table *t)
{
    size_t n_series = count_series(t), n_groups = t->n_rows / n_series;

    write_data(f, t, n_series);
    fputs(
        "set border 3 lc rgb '#BBBBBB'\nset grid y lt 1 lc rgb '#E6E6E6'\n"
        "set tics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT "'\n"
        "set boxwidth 0.18\nset style fill solid noborder\n"
        "set key top right horizontal Left reverse samplen 1.2 font ',11' tc rgb '" FR__COLOUR_TEXT
        "'\nset xzeroaxis lt 1 lw 1.5 lc rgb '" FR__COLOUR_QUIET "'\n"
        "set ylabel 'speed over data parallelism (%)' tc rgb '" FR__COLOUR_TEXT "'\n"
        "set offsets 0, 0, graph 0.12, 0\n",
        f);
    fprintf(f, "set xrange [-0.6:%zu.6]\nset xtics scale 0 (", n_groups - 1);
    for (size_t i = 0; i < n_groups; i++) {
        fputs(i ? ", " : "", f);
        fr__gnuplot_string(f, cell(t, i * n_series, 0)->text, 40);
        fprintf(f, " %zu", i);
    }
    fputs(")\nplot ", f);
    for (size_t s = 0; s < n_series; s++) {
        char title[64];

        snprintf(title, sizeof(title), "%s GPUs", cell(t, s, 1)->text);
        fprintf(f, "$series%zu using 1:2 with boxes lc rgb '%s' title ", s, colours[s]);
        fr__gnuplot_string(f, title, 60);
        fputs(", ", f);
    }
    fputs("$published using 1:2 with points pt 6 ps 1.6 lw 2 lc rgb '" FR__COLOUR_LIMIT
          "' title 'published'\n",
          f);
}

enum fr_status fr_reproduction_draw(const struct fr_reproduction *r, const char *path,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    const char *dot = strrchr(path, '.');
    const struct fr__plot_frame *frame = dot ? fr__plot_frame(dot) : NULL;
    struct fr__out out;
    FILE *script = NULL;
    enum fr_status st;

    if (!frame)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': expected a name that ends in .csv, .png, .svg or .pdf", path);
    FR_TRY(fr__out_open(&out, path, err));
    st = fr__gnuplot_script(&script, err);
    if (st == FR_OK) {
        fputs(frame->terminal, script);
        write_script(script, &r->tables[0]);
        st = fr__gnuplot_run(script, out.f, ctx, err);
        fclose(script);
    }
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}
