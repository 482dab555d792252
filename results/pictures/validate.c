/* results/pictures/validate.c - draws predicted against measured times by gnuplot.
 *
 * It is separate because it has one series a source and both axes are logarithmic. A bar is the
 * range that the prediction claims for 90 % of measured steps.
 */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"
#include "results/results.h"

#include <math.h>
#include <string.h>

enum { MAX_SOURCES = 7 };
static const double MARGIN = 1.2; /* beyond the outermost point or end of a range */

static const char *const colours[MAX_SOURCES] = {
    FR__COLOUR_FORWARD,       FR__COLOUR_BACKWARD_WEIGHT, FR__COLOUR_UPDATE,
    FR__COLOUR_COMMUNICATION, FR__COLOUR_BACKWARD_DATA,   FR__COLOUR_COPY,
    FR__COLOUR_OTHER};

static bool is_from(const struct fr_validation_row *r, const char *source)
{
    size_t n = strlen(source);

    return strncmp(r->id, source, n) == 0 &&
           strspn(r->id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") == n;
}

static void write_source(FILE *f, const struct fr_validation *v, const char *source, size_t i,
                         double factor)
{
    fprintf(f, "$source%zu << FORERUN_END\n", i);
    for (size_t k = 0; k < v->n_rows; k++) {
        const struct fr_validation_row *r = &v->rows[k];

        if (r->why_not || !is_from(r, source))
            continue;
        fr__plot_number(f, factor * r->measured_s);
        fr__plot_number(f, factor * r->predicted_s);
        putc(' ', f);
        fr__plot_number(f, factor * (isnan(r->low_s) ? r->predicted_s : r->low_s));
        putc(' ', f);
        fr__plot_number(f, factor * (isnan(r->high_s) ? r->predicted_s : r->high_s));
        putc('\n', f);
    }
    fputs("FORERUN_END\n", f);
}

/* Writes the data of all sources; returns how many. */
static size_t write_data(FILE *f, const struct fr_validation *v, double factor,
                         const char *sources[MAX_SOURCES])
{
    size_t n = 0;

    for (size_t g = 0; g < v->n_groups && n < MAX_SOURCES; g++)
        if (v->groups[g].by == FR_BY_SOURCE) {
            write_source(f, v, v->groups[g].name, n, factor);
            sources[n++] = v->groups[g].name;
        }
    return n;
}

static void write_script(FILE *f, const struct fr_validation *v)
{
    const char *sources[MAX_SOURCES], *unit;
    double low_s = INFINITY, high_s = 0, factor;
    size_t n;

    for (size_t i = 0; i < v->n_rows; i++) {
        const struct fr_validation_row *r = &v->rows[i];

        if (r->why_not)
            continue;
        /* fmin and fmax pass over the NaN of a row without a range */
        low_s = fmin(low_s, fmin(fmin(r->measured_s, r->predicted_s), r->low_s));
        high_s = fmax(high_s, fmax(fmax(r->measured_s, r->predicted_s), r->high_s));
    }
    factor = fr__time_unit(high_s, &unit);
    n = write_data(f, v, factor, sources);
    fputs("set border 3 lc rgb '#BBBBBB'\nset grid lt 1 lc rgb '#E6E6E6'\nset logscale xy\n"
          "set tics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT "'\nset size ratio 0.8\n"
          "set key top left Left reverse samplen 1.2 font ',11' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    fprintf(f, "set xlabel 'measured iteration (%s)' tc rgb '" FR__COLOUR_TEXT "'\n", unit);
    fprintf(f, "set ylabel 'predicted iteration (%s)' tc rgb '" FR__COLOUR_TEXT "'\n", unit);
    for (unsigned axis = 0; axis < 2; axis++) {
        fprintf(f, "set %srange [", axis ? "y" : "x");
        fr__plot_number(f, factor * low_s / MARGIN);
        putc(':', f);
        fr__plot_number(f, factor * high_s * MARGIN);
        fputs("]\n", f);
    }
    fputs("plot x lw 1.5 lc rgb '" FR__COLOUR_TEXT "' title 'as measured', "
          "1.1 * x dt 2 lc rgb '" FR__COLOUR_QUIET "' title '10 % off', "
          "x / 1.1 dt 2 lc rgb '" FR__COLOUR_QUIET "' notitle",
          f);
    for (size_t i = 0; i < n; i++)
        fprintf(f,
                ", $source%zu using 1:2:3:4 with yerrorbars ps 0 lw 0.5 lc rgb '" FR__COLOUR_QUIET
                "' %s",
                i, i ? "notitle" : "title '90 % of measured steps'");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, ", $source%zu using 1:2 with points pt 7 ps 0.8 lc rgb '%s' title ", i,
                colours[i]);
        fr__gnuplot_string(f, sources[i], 40);
    }
    putc('\n', f);
}

enum fr_status fr_validation_draw(const struct fr_validation *v, const char *path,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    const char *dot = strrchr(path, '.');
    const struct fr__plot_frame *frame = dot ? fr__plot_frame(dot) : NULL;
    struct fr__out out;
    FILE *script = NULL;
    enum fr_status st;

    if (!frame)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': a picture's name ends in .png, .svg or .pdf", path);
    if (v->n_predicted == 0)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE, "there is no predicted row to draw");
    FR_TRY(fr__out_open(&out, path, err));
    st = fr__gnuplot_script(&script, err);
    if (st == FR_OK) {
        fputs(frame->terminal, script);
        write_script(script, v);
        st = fr__gnuplot_run(script, out.f, ctx, err);
        fclose(script);
    }
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}
