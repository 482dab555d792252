/* results/pictures/curves.c - a collective's bus bandwidth and time over the size, a line for each
 * algorithm.
 *
 * Both axes are logarithmic. Sizes stand at powers of two, the others at 1, 2 and 5 of each decade
 * where there is room, else at decades. What NCCL's tuner estimates is dashed.
 */
#include "config.h"

#include "results/pictures/curves.h"

#include "base/error.h"
#include "results/parts/colours.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <math.h>
#include <string.h>

enum { N_COLOURS = 8, MOST_TICKS = 9 };

static const char *const COLOURS[N_COLOURS] = {FR__COLOUR_FORWARD,       FR__COLOUR_BACKWARD_WEIGHT,
                                               FR__COLOUR_UPDATE,        FR__COLOUR_COMMUNICATION,
                                               FR__COLOUR_BACKWARD_DATA, FR__COLOUR_COPY,
                                               FR__COLOUR_OTHER,         FR__COLOUR_TEXT};

struct range {
    double low, high;
};

static void widen(struct range *r, double x)
{
    if (!(x > 0) || !isfinite(x))
        return;
    r->low = r->low > 0 ? fmin(r->low, x) : x;
    r->high = fmax(r->high, x);
}

static double us_of(const struct fr_comm_row *r)
{
    return r->time_s * 1e6;
}

static double GBps_of(const struct fr_comm_row *r)
{
    return r->bus_Bps / 1e9;
}

/* Columns: bytes, GB/s, us, NCCL's GB/s and us. */
static void write_data(FILE *f, struct fr_comm_table *const t[], size_t n)
{
    for (size_t k = 0; k < n; k++) {
        fprintf(f, "$curve%zu << FORERUN_END\n", k);
        for (size_t i = 0; i < t[k]->n_rows; i++) {
            const struct fr_comm_row *r = &t[k]->rows[i];

            fr__plot_number(f, (double)r->bytes);
            fr__plot_number(f, GBps_of(r));
            fr__plot_number(f, us_of(r));
            if (r->nccl_s > 0 && r->time_s > 0) {
                fr__plot_number(f, GBps_of(r) * r->time_s / r->nccl_s);
                fr__plot_number(f, r->nccl_s * 1e6);
            } else {
                fputs("NaN NaN ", f);
            }
            putc('\n', f);
        }
        fputs("FORERUN_END\n", f);
    }
}

/* A size in a few characters, "64K". */
static const char *short_size(double bytes, char *buf, size_t n)
{
    static const char *const UNITS[] = {"", "K", "M", "G", "T"};
    size_t u = 0;

    while (bytes >= 1024 && u < 4) {
        bytes /= 1024;
        u++;
    }
    snprintf(buf, n, "%.0f%s", bytes, UNITS[u]);
    return buf;
}

static void write_sizes(FILE *f, struct range r)
{
    int first = (int)ceil(log2(r.low) - 1e-9), last = (int)floor(log2(r.high) + 1e-9);
    int every = 1;
    const char *comma = "";
    char text[32];

    while ((last - first) / every > MOST_TICKS)
        every++;
    fputs("set xtics (", f);
    for (int p = first; p <= last; p++) {
        fprintf(f, "%s'%s' ", comma,
                (p - first) % every == 0 ? short_size(ldexp(1, p), text, sizeof(text)) : "");
        fr__plot_number(f, ldexp(1, p));
        fputs((p - first) % every == 0 ? "" : " 1", f);
        comma = ", ";
    }
    fputs(")\n", f);
}

/* Labels at 1, 2, 5 of each decade where it has few, else at 1. */
static void write_ticks(FILE *f, struct range r)
{
    int first = (int)floor(log10(r.low)), last = (int)ceil(log10(r.high));
    bool is_fine = last - first <= 3;
    const char *comma = "";

    fputs("set ytics (", f);
    for (int p = first; p <= last; p++)
        for (int m = 1; m < 10; m++) {
            double x = m * pow(10, p);
            bool is_labelled = m == 1 || (is_fine && (m == 2 || m == 5));

            if (x < r.low / 1.001 || x > r.high * 1.001)
                continue;
            fprintf(f, is_labelled ? "%s'%g' " : "%s'' ", comma, x);
            fr__plot_number(f, x);
            fputs(is_labelled ? "" : " 1", f);
            comma = ", ";
        }
    fputs(")\n", f);
}

static void write_heading(FILE *f, const struct fr_comm_table *t)
{
    char text[512];

    snprintf(text, sizeof(text), "%s on %zu GPUs of %zu machine%s of %s",
             fr_collective_kind_name(t->kind), t->n_gpus, t->n_machines,
             t->n_machines == 1 ? "" : "s", t->topology);
    fputs("set label 1 ", f);
    fr__gnuplot_string(f, text, 110);
    fputs(" at screen 0.03, screen 0.965 left font ',17' tc rgb '" FR__COLOUR_TEXT "'\n", f);
    snprintf(text, sizeof(text), "%s, %s; dashed: what NCCL's tuner estimates", t->type->name,
             t->op);
    fputs("set label 2 ", f);
    fr__gnuplot_string(f, text, 140);
    fputs(" at screen 0.03, screen 0.928 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n", f);
}

static const char *name_of(const struct fr_comm_table *t)
{
    for (size_t i = 0; !t->way && i < t->n_rows; i++)
        if (t->rows[i].source != FR_COMM_FITTED && t->rows[i].source != FR_COMM_TRANSFERRED)
            return "NCCL's choice, simulated";
    return t->way ? t->way : "fitted to measurements";
}

static void write_panel(FILE *f, struct fr_comm_table *const t[], size_t n, unsigned column,
                        struct range range)
{
    const char *comma = "";

    range.low /= 1.25;
    range.high *= 1.25;
    write_ticks(f, range);
    fputs("set yrange [", f);
    fr__plot_number(f, range.low);
    putc(':', f);
    fr__plot_number(f, range.high);
    fputs("]\nplot ", f);
    for (size_t k = 0; k < n; k++) {
        fprintf(f, "%s$curve%zu using 1:%u with linespoints lw 2 pt 7 ps 0.4 lc rgb '%s' title ",
                comma, k, column, COLOURS[k % N_COLOURS]);
        fr__gnuplot_string(f, name_of(t[k]), 40);
        comma = ", ";
    }
    fprintf(f,
            ", $curve0 using 1:%u with lines dt 2 lw 1.5 lc rgb '" FR__COLOUR_QUIET
            "' title \"NCCL's estimate\"\n",
            column + 2);
}

static void write_script(FILE *f, struct fr_comm_table *const t[], size_t n)
{
    struct range sizes = {0, 0}, GBps = {0, 0}, us = {0, 0};

    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < t[k]->n_rows; i++) {
            const struct fr_comm_row *r = &t[k]->rows[i];

            widen(&sizes, (double)r->bytes);
            widen(&GBps, GBps_of(r));
            widen(&us, us_of(r));
            if (k == 0 && r->nccl_s > 0) {
                widen(&us, r->nccl_s * 1e6);
                widen(&GBps, GBps_of(r) * r->time_s / r->nccl_s);
            }
        }
    if (!(sizes.low > 0) || !(us.low > 0))
        sizes = us = GBps = (struct range){1, 10};
    if (!(GBps.low > 0))
        GBps = (struct range){1, 10};
    write_data(f, t, n);
    fputs("set border 3 lc rgb '#BBBBBB'\nset grid lt 1 lc rgb '#E6E6E6'\n"
          "set tics nomirror scale 0.5, 0.25 tc rgb '" FR__COLOUR_TEXT "'\nset logscale xy\n"
          "set key top left Left reverse samplen 2 font ',11' tc rgb '" FR__COLOUR_TEXT "'\n"
          "set multiplot\nset tmargin at screen 0.88\nset bmargin at screen 0.1\n"
          "set xlabel 'size, bytes' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    write_heading(f, t[0]);
    write_sizes(f, sizes);
    fputs("set xrange [", f);
    fr__plot_number(f, sizes.low / 1.2);
    putc(':', f);
    fr__plot_number(f, sizes.high * 1.2);
    fputs("]\nset lmargin at screen 0.07\nset rmargin at screen 0.48\n"
          "set ylabel 'bus bandwidth, GB/s' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    write_panel(f, t, n, 2, GBps);
    fputs("unset label 1\nunset label 2\nset lmargin at screen 0.57\nset rmargin at screen 0.98\n"
          "set ylabel 'time, us' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    write_panel(f, t, n, 3, us);
    fputs("unset multiplot\n", f);
}

enum fr_status fr__draw_curves(FILE *picture, struct fr_comm_table *const t[], size_t n,
                               const char *ending, const struct fr_context *ctx,
                               struct fr_error *err)
{
    FILE *script;
    enum fr_status st;

    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(fr__plot_frame(ending)->terminal, script);
    write_script(script, t, n);
    st = fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}
