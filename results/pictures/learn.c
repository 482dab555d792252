/* results/pictures/learn.c - draws the rounds of learning costs by gnuplot: a line for each time.
 *
 * It is separate because the axis is rounds, which no other picture has.
 */
#include "config.h"

#include "results/pictures/learn.h"

#include "base/error.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <math.h>

static double longest_s(const struct fr_learning *l)
{
    double most = 0;

    for (size_t i = 0; i < l->n_rounds; i++) {
        if (isfinite(l->rounds[i].measured_s))
            most = fmax(most, l->rounds[i].measured_s);
        if (isfinite(l->rounds[i].estimated_s))
            most = fmax(most, l->rounds[i].estimated_s);
    }
    return most > 0 ? most : 1;
}

static void put(FILE *f, double x)
{
    if (isfinite(x))
        fr__plot_number(f, x);
    else
        fputs("NaN ", f);
}

/* Columns: round, estimated, measured, in use, rolled back, kept, out of memory. */
static void write_data(FILE *f, const struct fr_learning *l, double factor, double top)
{
    double in_use_s = NAN;

    fputs("$rounds << FORERUN_END\n", f);
    for (size_t i = 0; i < l->n_rounds; i++) {
        const struct fr_learn_round *r = &l->rounds[i];
        bool is_back = r->outcome == FR_LEARN_ROLLED_BACK;
        bool is_new = r->outcome == FR_LEARN_KEPT || r->outcome == FR_LEARN_FIRST;

        if (!is_back)
            in_use_s = r->measured_s;
        fr__plot_number(f, (double)i);
        put(f, factor * r->estimated_s);
        put(f, factor * r->measured_s);
        put(f, factor * in_use_s);
        put(f, is_back ? factor * r->measured_s : NAN);
        put(f, is_new ? factor * r->measured_s : NAN);
        put(f, isinf(r->measured_s) ? top : NAN);
        putc('\n', f);
    }
    fputs("FORERUN_END\n", f);
}

static void write_heading(FILE *f, const struct fr_learning *l)
{
    char text[512];

    snprintf(text, sizeof(text), "%s on %zu of %zu GPUs of %s: %s learns its costs", l->workload,
             l->n_gpus, l->n_gpus_total, l->topology, l->strategy);
    fputs("set label 1 ", f);
    fr__gnuplot_string(f, text, 110);
    fputs(" at screen 0.03, screen 0.965 left font ',17' tc rgb '" FR__COLOUR_TEXT "'\n", f);
    snprintf(text, sizeof(text),
             "global batch %u, %zu strategies tried, %zu of them left again; pre-training %s "
             "round %zu",
             l->global_batch, l->n_activated - l->n_rolled_back, l->n_rolled_back,
             l->has_converged ? "ended with" : "was cut short after", l->n_pre_training - 1);
    fputs("set label 2 ", f);
    fr__gnuplot_string(f, text, 140);
    fputs(" at screen 0.03, screen 0.928 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n", f);
}

static bool has_oom(const struct fr_learning *l)
{
    for (size_t i = 0; i < l->n_rounds; i++)
        if (isinf(l->rounds[i].measured_s))
            return true;
    return false;
}

static void shade_profiles(FILE *f, const struct fr_learning *l)
{
    if (l->n_pre_training == l->n_rounds)
        return;
    fputs("set object 1 rect from ", f);
    fr__plot_number(f, (double)l->n_pre_training - 0.5);
    fputs(", graph 0 to ", f);
    fr__plot_number(f, (double)l->n_rounds - 0.5);
    fputs(", graph 1 behind fc rgb '#F3F3F3' fs solid noborder\n"
          "set label 3 'profiles, after pre-training' at ",
          f);
    fr__plot_number(f, (double)l->n_pre_training - 0.4);
    fputs(", graph 0.03 left font ',11' tc rgb '" FR__COLOUR_QUIET "'\n", f);
}

static void write_script(FILE *f, const struct fr_learning *l)
{
    const char *unit;
    double longest = longest_s(l), factor = fr__time_unit(longest, &unit);
    double top = factor * longest * 1.15;

    write_data(f, l, factor, top);
    write_heading(f, l);
    shade_profiles(f, l);
    fputs("set border 3 lc rgb '#BBBBBB'\nset grid ytics lt 1 lc rgb '#E6E6E6'\n"
          "set tics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT "'\nset tmargin at screen 0.85\n"
          "set key at screen 0.97, screen 0.905 right horizontal Left reverse samplen 2 font ',12' "
          "tc rgb '" FR__COLOUR_TEXT "'\n"
          "set xlabel 'round' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    fprintf(f, "set ylabel 'iteration (%s)' tc rgb '" FR__COLOUR_TEXT "'\nset xrange [-0.5:", unit);
    fr__plot_number(f, (double)l->n_rounds - 0.5);
    fputs("]\nset yrange [0:", f);
    fr__plot_number(f, top * 1.04);
    fputs("]\nplot $rounds using 1:4 with steps lw 6 lc rgb '" FR__COLOUR_IDLE "' title 'in use', "
          "'' using 1:2 with linespoints dt 2 lw 1.5 pt 6 ps 0.7 lc rgb '" FR__COLOUR_BACKWARD_DATA
          "' title 'estimated', "
          "'' using 1:3 with linespoints lw 1.5 pt 7 ps 0.5 lc rgb '" FR__COLOUR_FORWARD
          "' title 'measured', "
          "'' using 1:6 with points pt 7 ps 1.3 lc rgb '" FR__COLOUR_UPDATE
          "' title 'taken into use', "
          "'' using 1:5 with points pt 2 ps 1.5 lw 2.5 lc rgb '" FR__COLOUR_LIMIT
          "' title 'rolled back'",
          f);
    if (has_oom(l))
        fputs(", '' using 1:7 with points pt 9 ps 1.5 lc rgb '" FR__COLOUR_LIMIT
              "' title 'out of memory'",
              f);
    putc('\n', f);
}

enum fr_status fr__draw_learning(FILE *picture, const struct fr_learning *l, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    FILE *script;
    enum fr_status st;

    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(fr__plot_frame(ending)->terminal, script);
    write_script(script, l);
    st = fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}
