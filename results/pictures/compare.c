/* results/pictures/compare.c - draws strategies side by side: parts of the time above, memory
 * below.
 *
 * It is separate from the timeline of one run, with which it shares neither axes nor data.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/rows.h"
#include "results/parts/times.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"
#include "results/pictures/record.h"

#include <math.h>
#include <string.h>

enum { ROW = 140, MAX_NAME = 72, MAX_UPRIGHT = 12 };

/* The length of the piece at s: names of strategies may break after ':' and ','. */
static size_t piece_length(const char *s)
{
    size_t n = strcspn(s, ":,");

    return n + (s[n] != '\0');
}

/* Characters in a line under a bar. */
static size_t line_width(const struct fr_results *rs)
{
    return rs->n > MAX_UPRIGHT ? MAX_NAME : ROW / rs->n;
}

/* Writes a strategy's name under its bar, in lines of at most that width if possible. Returns the
 * number of lines; f NULL: only counts. */
static size_t write_tic(FILE *f, const char *name, size_t width)
{
    char line[MAX_NAME + 1];
    size_t in_line = 0, n_lines = 1, total = 0;

    for (const char *s = name; *s && total < MAX_NAME; s += piece_length(s)) {
        size_t n = piece_length(s);

        if (n > MAX_NAME - total)
            n = MAX_NAME - total;
        total += n;
        if (in_line > 0 && in_line + n > width) {
            line[in_line] = '\0';
            if (f) {
                fr__gnuplot_string(f, line, MAX_NAME);
                fputs(".\"\\n\".", f);
            }
            in_line = 0;
            n_lines++;
        }
        memcpy(line + in_line, s, n);
        in_line += n;
    }
    line[in_line] = '\0';
    if (f)
        fr__gnuplot_string(f, line, MAX_NAME);
    return n_lines;
}

static void write_tics(FILE *f, const struct fr_results *rs)
{
    char name[FR__ROW_NAME];

    fputs("set xtics (", f);
    for (size_t i = 0; i < rs->n; i++) {
        if (i)
            putc(',', f);
        write_tic(f, fr__row_name(rs, i, name), line_width(rs));
        fprintf(f, " %zu", i);
    }
    fprintf(f, ") scale 0 nomirror %s tc rgb '" FR__COLOUR_TEXT "'\n",
            rs->n > MAX_UPRIGHT ? "rotate by 40 right font ',9'" : "font ',11'");
}

/* index, compute, exposed, bubble, top of the stack, memory in GiB */
static void write_data(FILE *f, const struct fr_results *rs, double factor)
{
    fputs("$bars << FORERUN_END\n", f);
    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];
        double compute = factor * r->compute_s, exposed = factor * r->exposed_comm_s;
        double bubble = factor * r->bubble_s;

        fprintf(f, "%zu ", i);
        fr__plot_number(f, compute);
        fr__plot_number(f, compute + exposed);
        fr__plot_number(f, compute + exposed + bubble);
        fr__plot_number(f, (double)r->peak_bytes / (1024.0 * 1024 * 1024));
        putc('\n', f);
    }
    fputs("FORERUN_END\n", f);
}

static double top_of(const struct fr_record *r)
{
    return r->compute_s + r->exposed_comm_s + r->bubble_s;
}

/* The iteration time above each bar. */
static void write_time_labels(FILE *f, const struct fr_results *rs, double factor)
{
    char text[64], time_text[32];

    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];

        snprintf(text, sizeof(text), "%s%s",
                 fr__record_time(r, r->iteration_s, time_text, sizeof(time_text)),
                 !r->oom     ? ""
                 : rs->n > 6 ? ", OOM"
                             : " (out of memory)");
        fputs("set label ", f);
        fr__gnuplot_string(f, text, 60);
        fprintf(f, " at %zu,", i);
        fr__plot_number(f, factor * top_of(r));
        fprintf(f, "center offset 0,0.7 font ',%d' tc rgb '%s' front\n", rs->n > 8 ? 10 : 13,
                r->oom ? FR__COLOUR_LIMIT : FR__COLOUR_TEXT);
    }
}

/* with_names: those of the bars stand below this panel. */
static void set_times_place(FILE *f, const struct fr_results *rs, double bottom, bool with_names)
{
    fputs("set tmargin at screen 0.85\nset bmargin at screen ", f);
    fr__plot_number(f, bottom);
    putc('\n', f);
    if (with_names)
        write_tics(f, rs);
    fputs(with_names ? "set format x '%s'\n" : "set format x ''\n", f);
}

static void write_times(FILE *f, const struct fr_results *rs, double factor, double max_s,
                        const char *unit)
{
    fputs(
        "set key at screen 0.97, screen 0.895 right horizontal Left reverse samplen 1.2 width 1\n",
        f);
    if (unit[0])
        fprintf(f, "set ylabel 'time of one iteration (%s)' tc rgb '" FR__COLOUR_TEXT "'\n", unit);
    else
        fputs("set ylabel 'makespan' tc rgb '" FR__COLOUR_TEXT "'\n", f);
    fputs("set yrange [0:", f);
    fr__plot_number(f, 1.15 * factor * max_s);
    fputs("]\n", f);
    write_time_labels(f, rs, factor);
    fputs("plot $bars using 1:4 with boxes lc rgb '" FR__COLOUR_IDLE "' title 'bubble', \\\n"
          " $bars using 1:3 with boxes lc rgb '" FR__COLOUR_COMMUNICATION
          "' title 'exposed communication', \\\n"
          " $bars using 1:2 with boxes lc rgb '" FR__COLOUR_FORWARD "' title 'compute'\n"
          "unset label\nunset key\n",
          f);
}

/* Some four marks at 1, 2 or 5 times a power of ten: the panel is low. */
static void write_memory_tics(FILE *f, double high_GiB)
{
    double least = high_GiB / 5, power = pow(10, floor(log10(least)));

    fputs("set ytics ", f);
    fr__plot_number(f, power * (least <= power       ? 1
                                : least <= 2 * power ? 2
                                : least <= 5 * power ? 5
                                                     : 10));
    putc('\n', f);
}

/* Writes the line of available memory, if it is the same for all results. */
static void write_capacity(FILE *f, const struct fr_results *rs, double max_GiB)
{
    double capacity_GiB = (double)rs->records[0]->peak_capacity_bytes / (1024.0 * 1024 * 1024);
    char text[32], label[64];

    fputs("set yrange [0:", f);
    fr__plot_number(f, 1.25 * fmax(max_GiB, capacity_GiB));
    fputs("]\n", f);
    if (fmax(max_GiB, capacity_GiB) > 0)
        write_memory_tics(f, 1.25 * fmax(max_GiB, capacity_GiB));
    if (capacity_GiB <= 0)
        return;
    snprintf(label, sizeof(label), "capacity %s",
             fr__format_bytes((double)rs->records[0]->peak_capacity_bytes, text, sizeof(text)));
    fputs("set label ", f);
    fr__gnuplot_string(f, label, 60);
    fputs(" at graph 0.995, first ", f);
    fr__plot_number(f, capacity_GiB);
    fputs("right offset 0,0.6 font ',11' tc rgb '" FR__COLOUR_LIMIT "'\nset arrow from graph 0, "
          "first ",
          f);
    fr__plot_number(f, capacity_GiB);
    fputs("to graph 1, first ", f);
    fr__plot_number(f, capacity_GiB);
    fputs("nohead dt 2 lw 1.5 lc rgb '" FR__COLOUR_LIMIT "' front\n", f);
}

static void write_memory(FILE *f, const struct fr_results *rs, double bottom)
{
    double max_GiB = 0;
    char text[32];

    for (size_t i = 0; i < rs->n; i++)
        max_GiB = fmax(max_GiB, (double)rs->records[i]->peak_bytes / (1024.0 * 1024 * 1024));
    fputs("set tmargin at screen 0.36\nset bmargin at screen ", f);
    fr__plot_number(f, bottom);
    putc('\n', f);
    write_tics(f, rs);
    fputs("set format x '%s'\nset ylabel 'peak memory (GiB)'\n", f);
    write_capacity(f, rs, max_GiB);
    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];

        fputs("set label ", f);
        fr__gnuplot_string(f, fr__format_bytes((double)r->peak_bytes, text, sizeof(text)), 30);
        fprintf(f, " at %zu,", i);
        fr__plot_number(f, (double)r->peak_bytes / (1024.0 * 1024 * 1024));
        fprintf(f, "center offset 0,0.6 font ',11' tc rgb '%s' front\n",
                r->oom ? FR__COLOUR_LIMIT : FR__COLOUR_TEXT);
    }
    fputs("plot $bars using 1:5 with boxes lc rgb '" FR__COLOUR_UPDATE "' notitle\n", f);
}

enum fr_status fr__plot_comparison(FILE *script, const struct fr_results *rs, struct fr_error *err)
{
    char name[FR__ROW_NAME];
    const char *unit;
    double factor, max_s = 0, bottom;
    size_t n_lines = 1;
    bool is_plain = fr__results_are_plain(rs);

    (void)err;
    for (size_t i = 0; i < rs->n; i++) {
        size_t lines;

        max_s = fmax(max_s, top_of(rs->records[i]));
        lines = write_tic(NULL, fr__row_name(rs, i, name), line_width(rs));
        n_lines = lines > n_lines ? lines : n_lines;
    }
    if (!(max_s > 0))
        max_s = 1; /* an axis needs a length */
    factor =
        is_plain ? fr__record_time_unit(rs->records[0], max_s, &unit) : fr__time_unit(max_s, &unit);
    fputs("set multiplot\nset lmargin at screen 0.09\nset rmargin at screen 0.97\n"
          "set border 3 lc rgb '#BBBBBB'\nset boxwidth 0.6\nset style fill solid 1.0 noborder\n"
          "set grid ytics lt 1 lc rgb '#E6E6E6'\nset ytics nomirror scale 0.5 tc rgb "
          "'" FR__COLOUR_TEXT "'\nset xtics scale 0\n",
          script);
    fprintf(script, "set xrange [-0.6:%zu.6]\n", rs->n - 1);
    fr__plot_comparison_heading(script, rs);
    write_data(script, rs, factor);
    bottom = rs->n > MAX_UPRIGHT ? 0.2 : 0.05 + 0.022 * (double)n_lines;
    set_times_place(script, rs, is_plain ? bottom : 0.41, is_plain);
    write_times(script, rs, factor, max_s, unit);
    if (!is_plain) /* machines without hardware have no memory */
        write_memory(script, rs, bottom);
    fputs("unset multiplot\n", script);
    return FR_OK;
}
