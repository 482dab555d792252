/* results/pictures/steps.c - the messages of a collective, round by round.
 *
 * A column is a rank, or a switch that sums, and time goes down. An arrow is a message, with the
 * number of the piece of data that it carries where there are several. What the receiver adds to
 * its own is blue, what it keeps orange.
 */
#include "config.h"

#include "results/pictures/curves.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

enum { MOST_RANKS = 33, MOST_ROUNDS = 80, MOST_LABELS = 260 };

/* Columns: where it begins, how far it goes, where its label stands (near its sender, above the
 * arrow), and the label. */
static void write_message(FILE *f, const struct fr_collective_message *m)
{
    const double down = 0.86, label = 0.16;
    double far = (double)m->to - m->from, part = label / (far < 0 ? -far : far);

    fprintf(f, "%u %u %g %g %g %g ", m->from, m->round, far, down, m->from + part * far,
            m->round + part * down - 0.07);
    if (m->n_pieces > 1)
        fprintf(f, "%ux%u\n", m->first_piece, m->n_pieces);
    else
        fprintf(f, "%u\n", m->first_piece);
}

/* Returns whether there are any: gnuplot takes no empty block. */
static bool write_messages(FILE *f, const struct fr_collective_rounds *t, const char *name,
                           bool is_sum)
{
    size_t n = 0;

    fprintf(f, "$%s << FORERUN_END\n", name);
    for (size_t i = 0; i < t->n_messages; i++) {
        const struct fr_collective_message *m = &t->messages[i];

        if (m->is_sum != is_sum)
            continue;
        n++;
        write_message(f, m);
    }
    fputs("FORERUN_END\n", f);
    return n > 0;
}

static void plot_messages(FILE *f, const char *before, const char *name, const char *colour,
                          const char *title, bool has_labels)
{
    fprintf(f,
            "%s$%s using 1:2:3:4 with vectors filled head size graph 0.008, 20 lw 1.6 lc rgb '%s' "
            "title '%s'",
            before, name, colour, title);
    if (has_labels)
        fprintf(f, ", $%s using 5:6:7 with labels font ',10' tc rgb '" FR__COLOUR_TEXT "' notitle",
                name);
}

static void write_heading(FILE *f, const struct fr_comm_story *s)
{
    const struct fr_collective_rounds *t = s->steps;
    char text[512], bytes[32], most[32];

    snprintf(text, sizeof(text), "%s of %s on %u GPUs: %s, %u rounds",
             fr_collective_kind_name(s->table->kind),
             fr__format_bytes((double)s->table->rows[0].bytes, bytes, sizeof(bytes)), t->n_ranks,
             t->algorithm, t->n_rounds);
    fputs("set label 1 ", f);
    fr__gnuplot_string(f, text, 110);
    fputs(" at screen 0.03, screen 0.965 left font ',17' tc rgb '" FR__COLOUR_TEXT "'\n", f);
    snprintf(text, sizeof(text), "each rank sends at most %s%s; %s",
             fr__format_bytes(t->most_sent_bytes, most, sizeof(most)),
             t->n_lanes > 1 ? " of the first part of the data" : "", t->source);
    fputs("set label 2 ", f);
    fr__gnuplot_string(f, text, 150);
    fputs(" at screen 0.03, screen 0.928 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n", f);
}

static void write_axes(FILE *f, const struct fr_collective_rounds *t)
{
    uint32_t n = t->n_ranks + t->n_switches;

    fputs("unset border\nset tics scale 0 tc rgb '" FR__COLOUR_TEXT "'\nset yrange [", f);
    fr__plot_number(f, t->n_rounds + 0.1);
    fputs(":-0.35]\nset xrange [-0.6:", f);
    fr__plot_number(f, n - 0.4);
    fputs("]\nset x2range [-0.6:", f);
    fr__plot_number(f, n - 0.4);
    fputs("]\nunset xtics\nset x2tics (", f);
    for (uint32_t e = 0; e < n; e++)
        fprintf(f, "%s'%s%u' %u", e ? ", " : "", e < t->n_ranks ? "" : "switch ",
                e < t->n_ranks ? e : e - t->n_ranks, e);
    fputs(")\nset ytics (", f);
    for (uint32_t r = 0; r < t->n_rounds; r++)
        fprintf(f, "%s'%u' %g", r ? ", " : "", r + 1, r + 0.45);
    fputs(")\nset ylabel 'round' tc rgb '" FR__COLOUR_TEXT "'\n"
          "set x2label 'rank' tc rgb '" FR__COLOUR_TEXT "'\n",
          f);
    for (uint32_t e = 0; e < n; e++)
        fprintf(f,
                "set arrow from %u, 0 to %u, %u nohead lw %d lc rgb '" FR__COLOUR_IDLE "' back\n",
                e, e, t->n_rounds, e < t->n_ranks ? 1 : 3);
}

static void write_script(FILE *f, const struct fr_comm_story *s)
{
    const struct fr_collective_rounds *t = s->steps;
    bool has_labels = t->n_messages <= MOST_LABELS && t->n_pieces / t->n_lanes > 1;
    bool has_sums, has_copies;

    has_sums = write_messages(f, t, "sums", true);
    has_copies = write_messages(f, t, "copies", false);
    write_heading(f, s);
    write_axes(f, t);
    fputs("set tmargin at screen 0.82\nset bmargin at screen 0.04\n"
          "set lmargin at screen 0.06\nset rmargin at screen 0.98\n"
          "set key at screen 0.98, screen 0.965 right top horizontal samplen 3 font ',12' tc rgb "
          "'" FR__COLOUR_TEXT "'\n",
          f);
    if (has_sums)
        plot_messages(f, "plot ", "sums", FR__COLOUR_FORWARD, "added by the receiver", has_labels);
    if (has_copies)
        plot_messages(f, has_sums ? ", " : "plot ", "copies", FR__COLOUR_BACKWARD_WEIGHT,
                      "kept by the receiver", has_labels);
    putc('\n', f);
}

enum fr_status fr__draw_steps(FILE *picture, const struct fr_comm_story *s, const char *ending,
                              const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_collective_rounds *t = s->steps;
    FILE *script;
    enum fr_status st;

    if (!t || t->n_messages == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no messages to draw%s%s", t ? "" : ": ",
                        t ? "" : s->why_no_steps);
    if (t->n_ranks + t->n_switches > MOST_RANKS || t->n_rounds > MOST_ROUNDS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%u ranks in %u rounds are too many to draw, up to %d in %d can be: take "
                        "fewer GPUs (-g)",
                        t->n_ranks, t->n_rounds, MOST_RANKS, MOST_ROUNDS);
    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(fr__plot_frame(ending)->terminal, script);
    write_script(script, s);
    st = fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}
