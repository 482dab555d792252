/* results/pictures/fit.c - draws a fit against its data by gnuplot.
 *
 * It is separate from what is drawn, which fit_kernels.c and fit_systems.c put together.
 */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "results/pictures/fit.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Two squares side by side. */
static const struct {
    const char *ending, *terminal;
} frames[] = {
    {".png", "set terminal pngcairo noenhanced size 1020,500 font 'Sans,10'\n"},
    {".svg", "set terminal svg noenhanced size 1020,500 font 'Arial,10' fontscale 1.35 background "
             "'#FFFFFF'\n"},
    {".pdf", "set terminal pdfcairo noenhanced size 27cm,13.2cm font 'Sans,10'\n"},
};

static const char *const colours[FR__FIT_SLICES] = {FR__COLOUR_FORWARD, FR__COLOUR_BACKWARD_WEIGHT,
                                                    FR__COLOUR_UPDATE, FR__COLOUR_COMMUNICATION};

#define COLOUR_SEEN "#BDC6CE" /* rows that a fit may have seen */

static void set_range(FILE *f, const char *axis, double low, double high)
{
    fprintf(f, "set %srange [", axis);
    fr__plot_number(f, low);
    putc(':', f);
    fr__plot_number(f, high);
    fputs("]\n", f);
}

static void set_label(FILE *f, const char *axis, const char *text)
{
    fprintf(f, "set %slabel ", axis);
    fr__gnuplot_string(f, text, 60);
    fputs(" tc rgb '" FR__COLOUR_TEXT "'\n", f);
}

/* A line of text above both panels; y: of the screen. */
static void write_line(FILE *f, unsigned id, const char *text, const char *y, const char *style)
{
    fprintf(f, "set label %u ", id);
    fr__gnuplot_string(f, text, 150);
    fprintf(f, " at screen 0.015, screen %s left %s\n", y, style);
}

static void write_setup(FILE *f, const struct fr__fit_picture *p)
{
    write_line(f, 1, p->heading, "0.955", "font ',15' tc rgb '" FR__COLOUR_TEXT "'");
    write_line(f, 2, p->subheading, "0.908", "font ',9' tc rgb '" FR__COLOUR_QUIET "'");
    fputs("set border 3 lc rgb '#BBBBBB'\nset grid lt 1 lc rgb '#ECECEC'\n"
          "set tics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT "'\n"
          "set tmargin at screen 0.86\nset bmargin at screen 0.115\n"
          "set format xy '%.10g'\n",
          f);
}

void fr__fit_say_misses(struct fr__fit_picture *p, const struct fr_misses *m, const char *whence)
{
    snprintf(p->subheading, sizeof(p->subheading),
             "%" PRIu64
             " rows to judge by: median %.1f %%, 90th percentile %.1f %%, worst %.1f %%, "
             "bias %+.1f %%; %.300s",
             m->n, 100 * m->median, 100 * m->p90, 100 * m->worst, 100 * m->bias, whence);
}

/* ---- left: predicted against measured ---- */

static void write_points(FILE *f, const struct fr__fit_picture *p, bool is_judged, double factor)
{
    fprintf(f, "$%s << FORERUN_END\n", is_judged ? "judged" : "seen");
    for (size_t i = 0; i < p->n_points; i++) {
        const struct fr__fit_point *at = &p->points[i];

        if (at->is_judged != is_judged)
            continue;
        fr__plot_number(f, factor * at->measured_s);
        fr__plot_number(f, factor * at->predicted_s);
        fr__plot_number(f, at->work);
        putc('\n', f);
    }
    fputs("FORERUN_END\n", f);
}

static bool has_seen(const struct fr__fit_picture *p)
{
    for (size_t i = 0; i < p->n_points; i++)
        if (!p->points[i].is_judged)
            return true;
    return false;
}

/* Plots the two kinds of rows; rows that a fit has used are behind. x and y: gnuplot's
 * expressions. */
static void plot_rows(FILE *f, const struct fr__fit_picture *p, const char *x_and_y, bool with_key)
{
    const char *size = p->n_points < 300 ? "0.65" : "0.4"; /* of a point */

    if (has_seen(p))
        fprintf(f, ", $seen using %s with points pt 7 ps %s lc rgb '" COLOUR_SEEN "' %s", x_and_y,
                size, with_key ? "title 'row that a fit may have seen'" : "notitle");
    fprintf(f, ", $judged using %s with points pt 7 ps %s lc rgb '" FR__COLOUR_FORWARD "' %s\n",
            x_and_y, size, with_key ? "title 'row to judge by'" : "notitle");
}

static void write_scatter(FILE *f, const struct fr__fit_picture *p)
{
    double low_s = INFINITY, high_s = 0, factor;
    const char *unit;

    for (size_t i = 0; i < p->n_points; i++) {
        const struct fr__fit_point *at = &p->points[i];

        low_s = fmin(low_s, fmin(at->measured_s, at->predicted_s));
        high_s = fmax(high_s, fmax(at->measured_s, at->predicted_s));
    }
    factor = fr__time_unit(sqrt(low_s * high_s), &unit);
    write_points(f, p, false, factor);
    write_points(f, p, true, factor);
    fputs("set lmargin at screen 0.085\nset rmargin at screen 0.475\nset logscale xy\n"
          "set key top left Left reverse samplen 1.2 font ',9' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    fprintf(f, "set xlabel 'measured (%s)' tc rgb '" FR__COLOUR_TEXT "'\n", unit);
    fprintf(f, "set ylabel 'predicted (%s)' tc rgb '" FR__COLOUR_TEXT "'\n", unit);
    set_range(f, "x", factor * low_s / 1.3, factor * high_s * 1.3);
    set_range(f, "y", factor * low_s / 1.3, factor * high_s * 1.3);
    fputs("plot x lw 1.5 lc rgb '" FR__COLOUR_TEXT "' title 'as measured', "
          "1.1 * x dt 2 lc rgb '" FR__COLOUR_QUIET "' title '10 % off', "
          "x / 1.1 dt 2 lc rgb '" FR__COLOUR_QUIET "' notitle",
          f);
    plot_rows(f, p, "1:2", true);
}

/* ---- right: rates along a size ---- */

static void write_xy(FILE *f, const char *name, size_t slice, const struct fr__fit_xy xy[],
                     size_t n, bool only_judged)
{
    fprintf(f, "$%s%zu << FORERUN_END\n", name, slice);
    for (size_t i = 0; i < n; i++) {
        if (only_judged && !xy[i].is_judged)
            continue;
        fr__plot_number(f, xy[i].x);
        fr__plot_number(f, xy[i].y);
        putc('\n', f);
    }
    fputs("FORERUN_END\n", f);
}

/* The highest rate of all slices, and the smallest and largest size. */
static double find_ranges(const struct fr__fit_picture *p, double *low, double *high)
{
    double top = 0;

    *low = INFINITY;
    *high = 0;
    for (size_t s = 0; s < p->n_slices; s++) {
        const struct fr__fit_slice *slice = &p->slices[s];

        for (size_t k = 0; k < slice->n_measured; k++) {
            *low = fmin(*low, slice->measured[k].x);
            *high = fmax(*high, slice->measured[k].x);
            top = fmax(top, slice->measured[k].y);
        }
        for (size_t k = 0; k < slice->n_curve; k++)
            top = fmax(top, fmax(slice->curve[k].y, slice->form ? slice->form[k].y : 0));
    }
    return top;
}

static bool has_form(const struct fr__fit_picture *p)
{
    return p->n_slices > 0 && p->slices[0].form;
}

static void write_slices(FILE *f, const struct fr__fit_picture *p)
{
    double low, high, top = find_ranges(p, &low, &high);

    for (size_t s = 0; s < p->n_slices; s++) {
        const struct fr__fit_slice *slice = &p->slices[s];

        write_xy(f, "rows", s, slice->measured, slice->n_measured, false);
        write_xy(f, "held", s, slice->measured, slice->n_measured, true);
        write_xy(f, "curve", s, slice->curve, slice->n_curve, false);
        if (slice->form)
            write_xy(f, "form", s, slice->form, slice->n_curve, false);
    }
    fputs("unset logscale y\nset format x '%.0s%c'\n", f);
    set_range(f, "x", low / 1.1, high * 1.1);
    set_range(f, "y", 0, top * (1.12 + 0.055 * (double)(p->n_slices + 2)));
    set_label(f, "x", p->x_name);
    set_label(f, "y", p->y_name);
    fputs("plot ", f);
    for (size_t s = 0; s < p->n_slices; s++)
        if (p->slices[s].form)
            fprintf(f, "$form%zu using 1:2 with lines dt 3 lc rgb '%s' notitle, ", s, colours[s]);
    for (size_t s = 0; s < p->n_slices; s++) {
        fprintf(f,
                "$rows%zu using 1:2 with points pt 6 ps 0.65 lc rgb '%s' notitle, "
                "$held%zu using 1:2 with points pt 7 ps 0.65 lc rgb '%s' notitle, "
                "$curve%zu using 1:2 with lines lw 1.6 lc rgb '%s' title ",
                s, colours[s], s, colours[s], s, colours[s]);
        fr__gnuplot_string(f, p->slices[s].label, 60);
        fputs(", ", f);
    }
    fputs("NaN with points pt 7 ps 0.65 lc rgb '" FR__COLOUR_QUIET
          "' title 'measured; hollow: a fit may have seen it'",
          f);
    if (has_form(p))
        fputs(", NaN dt 3 lc rgb '" FR__COLOUR_QUIET "' title 'formula alone'", f);
    putc('\n', f);
}

/* ---- right: misses over the work ---- */

static void write_ratios(FILE *f, const struct fr__fit_picture *p)
{
    double low = INFINITY, high = 0, most = 1.25;

    for (size_t i = 0; i < p->n_points; i++) {
        double ratio = p->points[i].predicted_s / p->points[i].measured_s;

        low = fmin(low, p->points[i].work);
        high = fmax(high, p->points[i].work);
        most = fmax(most, fmax(ratio, 1 / ratio));
    }
    fputs("unset key\n", f);
    fputs("set format x '%.0s%c'\n", f);
    set_range(f, "x", low / 1.3, high * 1.3);
    set_range(f, "y", 1 / (1.1 * most), 1.1 * most);
    set_label(f, "x", p->work_name);
    set_label(f, "y", "predicted / measured");
    fputs("set ytics (0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.1, 1.4, 2, 3, 5, 10)\n"
          "plot 1 lw 1.5 lc rgb '" FR__COLOUR_TEXT "', "
          "1.1 dt 2 lc rgb '" FR__COLOUR_QUIET "', 1 / 1.1 dt 2 lc rgb '" FR__COLOUR_QUIET "'",
          f);
    plot_rows(f, p, "3:($2 / $1)", false);
}

void fr__fit_script(FILE *f, const struct fr__fit_picture *p)
{
    write_setup(f, p);
    fputs("set multiplot\n", f);
    write_scatter(f, p);
    fputs("unset label\nset lmargin at screen 0.56\nset rmargin at screen 0.985\n", f);
    if (p->n_slices > 0)
        write_slices(f, p);
    else
        write_ratios(f, p);
    fputs("unset multiplot\n", f);
}

enum fr_status fr__fit_plot(const struct fr__fit_picture *p, const char *path,
                            const struct fr_context *ctx, struct fr_error *err)
{
    const char *dot = strrchr(path, '.');
    struct fr__out out;
    FILE *script;
    enum fr_status st;

    FR_TRY(fr__out_open(&out, path, err));
    st = fr__gnuplot_script(&script, err);
    if (st == FR_OK) {
        for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
            if (dot && strcmp(frames[i].ending, dot) == 0)
                fputs(frames[i].terminal, script);
        fr__fit_script(script, p);
        st = fr__gnuplot_run(script, out.f, ctx, err);
        fclose(script);
    }
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}
