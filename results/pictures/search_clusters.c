/* results/pictures/search_clusters.c - draws searches on several clusters by gnuplot: the time of
 * an iteration against the price of the run, a colour a cluster; rings around what no layout of any
 * cluster beats in time, memory and price. */
#include "config.h"

#include "results/pictures/search.h"

#include "base/error.h"
#include "results/parts/colours.h"
#include "results/parts/search_price.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <stdlib.h>

static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                      "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"};
enum { N_COLOURS = sizeof(colours) / sizeof(colours[0]) };

static void put_point(FILE *f, double time_s, double price)
{
    fr__plot_number(f, time_s);
    fr__plot_number(f, price);
    putc('\n', f);
}

/* A block for each cluster, then the frontier of all. */
static void write_data(FILE *f, size_t n, const struct fr_search_results r[],
                       const struct fr__search_point points[], size_t n_points)
{
    for (size_t i = 0; i < n; i++) {
        const struct fr_search_summary *m = fr_search_summary(r[i].search);

        fprintf(f, "$cluster%zu << FORERUN_END\nNaN NaN\n", i);
        for (size_t k = 0; k < m->n_frontier; k++) {
            double s = fr_search_row(r[i].search, m->frontier[k])->coarse_s;

            put_point(f, s, fr__search_price(&r[i], s));
        }
        fputs("FORERUN_END\n", f);
    }
    fputs("$frontier << FORERUN_END\nNaN NaN\n", f);
    for (size_t i = 0; i < n_points; i++)
        put_point(f, points[i].time_s, points[i].price);
    fputs("FORERUN_END\n", f);
}

static void write_plot(FILE *f, size_t n, const struct fr_search_results r[])
{
    char text[200];

    snprintf(text, sizeof(text), "%s, global batch %u", fr_search_summary(r[0].search)->workload,
             fr_search_summary(r[0].search)->global_batch);
    fputs("set title ", f);
    fr__gnuplot_string(f, text, 110);
    fprintf(f,
            " font ',15' tc rgb '" FR__COLOUR_TEXT "'\nset xlabel 'time of an iteration, s'\n"
            "set ylabel '%s for the run'\nset grid lc rgb '#dddddd'\n"
            "set key outside right top\nset logscale xy\nplot ",
            fr__search_price_title(&r[0]));
    for (size_t i = 0; i < n; i++) {
        const struct fr_search_summary *m = fr_search_summary(r[i].search);

        fprintf(f, "$cluster%zu using 1:2 with linespoints pt 7 ps 0.7 lc rgb '%s' title ", i,
                colours[i % N_COLOURS]);
        snprintf(text, sizeof(text), "%zu GPUs of %s", m->n_gpus, m->topology);
        fr__gnuplot_string(f, text, 60);
        fputs(", ", f);
    }
    fputs("$frontier using 1:2 with points pt 6 ps 1.6 lw 1.5 lc rgb '" FR__COLOUR_TEXT
          "' title 'frontier of time, memory, price'\n",
          f);
}

enum fr_status fr__draw_search_clusters(FILE *picture, size_t n, const struct fr_search_results r[],
                                        const char *ending, const struct fr_context *ctx,
                                        struct fr_error *err)
{
    struct fr__search_point *points;
    size_t n_points;
    FILE *f;
    enum fr_status st;

    FR_TRY(fr__search_frontier(&points, &n_points, n, r, err));
    if (n_points == 0) {
        free(points);
        return fr__fail(err, FR_EIO, FR_NOWHERE, "no layout fits, so there is nothing to draw");
    }
    st = fr__gnuplot_script(&f, err);
    if (st == FR_OK) {
        fprintf(f, "%s\n", fr__plot_frame(ending)->terminal);
        write_data(f, n, r, points, n_points);
        write_plot(f, n, r);
        st = fr__gnuplot_run(f, picture, ctx, err);
        fclose(f);
    }
    free(points);
    return st;
}
