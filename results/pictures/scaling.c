/* results/pictures/scaling.c - strong or weak scaling of a sweep's questions, by gnuplot.
 *
 * It is separate from sweep.c, which shows what is fast and cheap and not how it got there.
 */
#include "config.h"

#include "base/error.h"
#include "results/parts/colours.h"
#include "results/parts/palette.h"
#include "results/parts/sweep_names.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"
#include "results/pictures/scaling.h"
#include "study/sweep/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* MOST_LABEL characters of a name are shown; some KEY_CHARACTERS go into a line of the key. */
enum { MAX_LINES = FR__PALETTE, LABEL = 160, MOST_LABEL = 60, KEY_CHARACTERS = 170 };

struct point {
    char label[LABEL]; /* of its line: all that varies but the GPUs */
    double gpus, samples_per_s, efficiency;
};

static int compare(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int order = strcmp(x->label, y->label);

    return order ? order : x->gpus < y->gpus ? -1 : x->gpus > y->gpus;
}

static void name_line(const struct fr_sweep *s, size_t point, bool has_workloads, char label[LABEL])
{
    size_t settings[FR_N_SETTINGS], n = fr__sweep_varying(s, settings), used = 0;
    char value[LABEL];

    label[0] = '\0';
    if (has_workloads)
        used = (size_t)snprintf(label, LABEL, "%.60s", s->rows[point]->workload);
    for (size_t i = 0; i < n && used < LABEL; i++) {
        if (strcmp(fr_question_setting(settings[i]), "gpus") == 0)
            continue;
        fr__sweep_value_text(s, point, settings[i], value, sizeof(value));
        used += (size_t)snprintf(label + used, LABEL - used, "%s%s", used ? ", " : "", value);
    }
}

/* [n] points that fit and whose questions fit on several numbers of GPUs, line by line. */
static struct point *collect(const struct fr_sweep *s, const struct fr_sweep_summary *m, size_t *n)
{
    struct point *list = calloc(s->n_points + 1, sizeof(*list));

    *n = 0;
    for (size_t i = 0; list && m->scaling && i < s->n_points; i++) {
        if (!s->rows[i] || isnan(m->scaling[i]))
            continue;
        name_line(s, i, m->n_groups > 1, list[*n].label);
        list[*n].gpus = (double)s->rows[i]->gpus;
        list[*n].samples_per_s = s->rows[i]->samples_per_s;
        list[(*n)++].efficiency = m->scaling[i];
    }
    if (list && *n > 1)
        qsort(list, *n, sizeof(*list), compare);
    return list;
}

/* The axis of throughput, from the slowest to the fastest that there could be. */
static void put_throughput_axis(FILE *f, const struct point list[], size_t n)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < n; i++) {
        low = fmin(low, list[i].samples_per_s);
        high = fmax(high, fmax(list[i].samples_per_s, list[i].samples_per_s / list[i].efficiency));
    }
    low /= 1.25;
    high *= 1.25;
    fputs("set yrange [", f);
    fr__plot_number(f, low);
    putc(':', f);
    fr__plot_number(f, high);
    fputs("]\n", f);
    fr__plot_log_ticks(f, "y", low, high, 12);
}

static double most_efficient(const struct point list[], size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, list[i].efficiency);
    return most;
}

/* Blocks of data, an index a line. Returns how many lines; first: [MAX_LINES + 1]. */
static size_t put_data(FILE *f, const struct point list[], size_t n, size_t first[])
{
    size_t n_lines = 0;

    fputs("$points << FORERUN_END\n", f);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(list[i - 1].label, list[i].label) != 0) {
            if (n_lines == MAX_LINES)
                break;
            fputs(n_lines ? "\n\n" : "", f);
            first[n_lines++] = i;
        }
        fr__plot_number(f, list[i].gpus);
        fr__plot_number(f, list[i].samples_per_s);
        fr__plot_number(f, 100 * list[i].efficiency);
        /* what it would be without loss */
        fr__plot_number(f, list[i].samples_per_s / list[i].efficiency);
        putc('\n', f);
    }
    fputs("FORERUN_END\n", f);
    return n_lines;
}

static int by_gpus(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* A tick for each number of GPUs; they are few, or powers of something. */
static bool put_tics(FILE *f, const struct point list[], size_t n)
{
    double *gpus = calloc(n + 1, sizeof(*gpus));
    const char *comma = "";
    double last, least;
    bool is_apart;

    if (!gpus)
        return false;
    for (size_t i = 0; i < n; i++)
        gpus[i] = list[i].gpus;
    qsort(gpus, n, sizeof(*gpus), by_gpus);
    last = gpus[0];
    least = 0.05 * log(gpus[n - 1] / gpus[0]);
    fputs("set xtics (", f);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && gpus[i] <= gpus[i - 1])
            continue;
        /* labels apart from each other, and from the last one */
        is_apart = i == 0 || i + 1 == n || gpus[i] >= gpus[n - 1] ||
                   (log(gpus[i] / last) > least && log(gpus[n - 1] / gpus[i]) > least);
        if (is_apart)
            fprintf(f, "%s'%.0f' %.0f", comma, gpus[i], gpus[i]);
        else
            fprintf(f, "%s'' %.0f 1", comma, gpus[i]);
        comma = ",";
        last = is_apart ? gpus[i] : last;
    }
    /* room at both ends, so that their ticks are drawn */
    fprintf(f, ") nomirror scale 0.5\nset xrange [%.6f:%.6f]\n", 0.95 * gpus[0],
            1.05 * gpus[n - 1]);
    free(gpus);
    return true;
}

static void put_title(FILE *f, const char *label)
{
    fputs("title ", f);
    fr__gnuplot_string(f, label, MOST_LABEL);
}

static void put_lines(FILE *f, size_t n_lines, bool is_efficiency)
{
    fputs("plot ", f);
    for (size_t i = 0; i < n_lines; i++) {
        if (!is_efficiency)
            fprintf(f, "$points index %zu using 1:4 with lines dt 2 lw 1 lc rgb '%s' notitle, ", i,
                    fr__palette(i));
        fprintf(
            f, "$points index %zu using 1:%d with linespoints lw 2 pt 7 ps 0.9 lc rgb '%s' notitle",
            i, is_efficiency ? 3 : 2, fr__palette(i));
        fputs(i + 1 < n_lines ? ", \\\n " : "\n", f);
    }
}

/* How high the key is, of the whole picture's; *n_columns: names in a line of it. */
static double key_height(const struct point list[], const size_t first[], size_t n_lines,
                         size_t *n_columns)
{
    size_t longest = 0, n_rows;

    for (size_t i = 0; i < n_lines; i++)
        if (strlen(list[first[i]].label) > longest)
            longest = strlen(list[first[i]].label);
    longest = longest < MOST_LABEL ? longest : MOST_LABEL;
    *n_columns = KEY_CHARACTERS / (longest + 8);
    n_rows = (n_lines + *n_columns - 1) / *n_columns;
    return 0.022 * (double)(n_rows + 1) + 0.01;
}

/* The key is drawn as a plot without axes, as wide as the picture: gnuplot gives the key of a plot
 * with axes only their width, and leaves out the names that do not fit. */
static void put_key(FILE *f, const struct point list[], const size_t first[], size_t n_lines,
                    double height, size_t n_columns)
{
    if (!list[first[0]].label[0])
        return;
    fprintf(f,
            "unset xlabel\nunset ylabel\nunset tics\nunset border\nunset grid\nunset logscale\n"
            "set xrange [0:1]\nset yrange [0:1]\nset lmargin at screen 0.03\n"
            "set rmargin at screen 0.97\nset bmargin at screen 0\nset tmargin at screen %.3f\n"
            "set key center center horizontal maxcols %zu Left reverse samplen 1.5 width 1 "
            "tc rgb '" FR__COLOUR_TEXT "'\nplot ",
            height, n_columns);
    for (size_t i = 0; i < n_lines; i++) {
        fprintf(f, "NaN with linespoints lw 2 pt 7 ps 0.9 lc rgb '%s' ", fr__palette(i));
        put_title(f, list[first[i]].label);
        fputs(i + 1 < n_lines ? ", \\\n " : "\n", f);
    }
}

/* A note where not every line has room. */
static void put_rest(FILE *f, const struct point list[], size_t n, size_t n_lines)
{
    size_t n_all = 0;

    for (size_t i = 0; i < n; i++)
        n_all += i == 0 || strcmp(list[i - 1].label, list[i].label) != 0;
    if (n_all > n_lines)
        fprintf(f,
                "set label 3 'the first %zu of %zu lines' at screen 0.97, screen 0.928 right font "
                "',12' tc rgb '" FR__COLOUR_QUIET "'\n",
                n_lines, n_all);
}

static void put_heading(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m)
{
    bool is_strong = s->axes[fr__setting_index("batch-per-gpu")].n == 0;
    char text[300], group[200] = "";

    if (m->n_groups == 1)
        fr__sweep_group_text(&m->groups[0], group, sizeof(group));
    snprintf(text, sizeof(text), "%s%s%s", group, group[0] ? ": " : "",
             is_strong ? "strong scaling, one batch on more GPUs"
                       : "weak scaling, a batch on each GPU");
    fputs("set label 1 ", f);
    fr__gnuplot_string(f, text, 120);
    fputs(" at screen 0.03, screen 0.965 left font ',17' tc rgb '" FR__COLOUR_TEXT "'\n", f);
    fr__sweep_fixed_text(s, group, sizeof(group));
    snprintf(text, sizeof(text), "%s%sdashed: as on the fewest GPUs that fit, without any loss",
             group, group[0] ? "; " : "");
    fputs("set label 2 ", f);
    fr__gnuplot_string(f, text, 150);
    fputs(" at screen 0.03, screen 0.928 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n", f);
    fr__sweep_varying_text(s, "gpus", group, sizeof(group));
    if (!group[0] && m->n_groups <= 1)
        return;
    fputs("set key title ", f);
    fr__gnuplot_string(f,
                       m->n_groups <= 1 ? group
                       : group[0]       ? "workload and settings"
                                        : "workload",
                       100);
    fputs(" font ',12'\n", f);
}

static enum fr_status write_script(FILE *f, const struct fr_sweep *s,
                                   const struct fr_sweep_summary *m, const struct point list[],
                                   size_t n, struct fr_error *err)
{
    size_t first[MAX_LINES + 1], n_lines = put_data(f, list, n, first), n_columns;
    double height = key_height(list, first, n_lines, &n_columns);

    fputs("set multiplot\nset border 3 lc rgb '#BBBBBB'\nset grid lt 1 lc rgb '#E6E6E6'\n"
          "set tics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT "'\nset logscale x 2\n"
          "set xlabel 'GPUs' tc rgb '" FR__COLOUR_TEXT "'\n"
          "set tmargin at screen 0.86\n"
          "set lmargin at screen 0.08\nset rmargin at screen 0.49\n"
          "set logscale y\n"
          "set ylabel 'samples a second' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    fprintf(f, "set bmargin at screen %.3f\n", 0.11 + height);
    put_rest(f, list, n, n_lines);
    put_heading(f, s, m);
    fputs("unset key\n", f); /* its title stays */
    if (!put_tics(f, list, n))
        return fr__fail_nomem(err);
    put_throughput_axis(f, list, n);
    put_lines(f, n_lines, false);
    fprintf(f,
            "unset label\nunset logscale y\nset yrange [0:%.0f]\nset ytics auto\nset "
            "ytics 20\n",
            fmax(110, 105 * most_efficient(list, n)));
    fputs("set lmargin at screen 0.57\nset rmargin at screen 0.97\n"
          "set ylabel 'efficiency (%)' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    put_lines(f, n_lines, true);
    put_key(f, list, first, n_lines, height, n_columns);
    fputs("unset multiplot\n", f);
    return FR_OK;
}

enum fr_status fr__draw_scaling(FILE *picture, const struct fr_sweep *s,
                                const struct fr_sweep_summary *m, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    FILE *script;
    size_t n;
    struct point *list = collect(s, m, &n);
    enum fr_status st;

    if (!list)
        return fr__fail_nomem(err);
    if (n == 0) {
        free(list);
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "no question fits on several numbers of GPUs: there is no scaling to draw");
    }
    st = fr__gnuplot_script(&script, err);
    if (st == FR_OK) {
        fputs(fr__plot_frame(ending)->terminal, script);
        st = write_script(script, s, m, list, n, err);
        if (st == FR_OK)
            st = fr__gnuplot_run(script, picture, ctx, err);
        fclose(script);
    }
    free(list);
    return st;
}
