/* results/pictures/schedule.c - pipeline schedules over time, as the papers draw them.
 *
 * A row is a rank and a box an action with its micro-batch's number. Later stages of a rank are
 * lighter. An overlapped pair stands in two halves of the row, the forward above.
 */
#include "config.h"

#include "results/pictures/schedule.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/number.h"
#include "results/parts/schedule.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <math.h>

enum { MAX_ROWS = 200, MAX_PANELS = 12, HIGH = 900, DIGIT_PIXELS = 8 };

/* Shares of the picture's height: below the heading, above the axis. */
static const double top = 0.86, bottom = 0.07;

static const struct {
    const char *title, *colours[2]; /* of the first stage of a rank, and of later ones */
} sorts[] = {
    [FR_ACTION_F] = {"forward", {FR__COLOUR_FORWARD, FR__COLOUR_FORWARD_LIGHT}},
    [FR_ACTION_B] = {"backward", {FR__COLOUR_UPDATE, FR__COLOUR_UPDATE_LIGHT}},
    [FR_ACTION_I] = {"gradient of the input",
                     {FR__COLOUR_BACKWARD_DATA, FR__COLOUR_BACKWARD_DATA_LIGHT}},
    [FR_ACTION_W] = {"gradient of the weights",
                     {FR__COLOUR_BACKWARD_WEIGHT, FR__COLOUR_BACKWARD_WEIGHT_LIGHT}},
};

enum { N_SORTS = sizeof(sorts) / sizeof(sorts[0]) };

/* One pass of an action: half of a pair, or all of another. */
struct box {
    double from, to, low, high;
    unsigned sort, shade;
    uint32_t micro;
    uint32_t other; /* the backward's micro-batch beside a forward's, else FR_NONE */
    bool is_half;
};

/* Whether all boxes of all panels have room for their numbers: then they are written, else none
 * is. A box that is shorter than LEAST_PART of the longest one has its number where it fits, but
 * does not cost the others theirs. */
struct room {
    double longest;
    bool is_there;
};
static const double LEAST_PART = 0.125;

struct panel {
    FILE *f;
    const struct fr_timed_schedule *x;
    double length;     /* of the time axis */
    double pixel;      /* time of one */
    double row_pixels; /* height of a row */
    struct room *room; /* shared by all panels */
};

static double floor_of(const struct panel *n, uint32_t rank)
{
    return (double)(n->x->schedule->n_ranks - 1 - rank);
}

static struct box make_box(const struct panel *n, uint32_t rank, size_t i, bool is_with)
{
    const struct fr_schedule *s = n->x->schedule;
    const struct fr_action *a = &s->actions[i];
    uint32_t stage = is_with ? a->with_stage : a->stage;
    uint32_t micro = is_with ? a->with_micro : a->micro;
    double low = floor_of(n, rank) + 0.06;
    struct box b = {.from = n->x->replay.start[i],
                    .to = n->x->replay.finish[i],
                    .low = low,
                    .high = low + 0.88,
                    .sort = is_with ? a->with : a->kind,
                    .shade = fr_schedule_is_second(s, stage, micro),
                    .micro = micro,
                    .other = FR_NONE,
                    .is_half = a->with != FR_ACTION_NONE};

    if (b.is_half && !is_with)
        b.other = a->with_micro;
    if (b.is_half)
        *(is_with ? &b.high : &b.low) = low + 0.44;
    return b;
}

static void each_box(const struct panel *n, void (*draw)(const struct panel *, const struct box *))
{
    const struct fr_schedule *s = n->x->schedule;

    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            struct box b;

            if (!fr_action_computes(&s->actions[i]))
                continue;
            b = make_box(n, r, i, false);
            draw(n, &b);
            if (s->actions[i].with != FR_ACTION_NONE) {
                b = make_box(n, r, i, true);
                draw(n, &b);
            }
        }
}

static void write_box(const struct panel *n, const struct box *b)
{
    fr__plot_number(n->f, b->from);
    fr__plot_number(n->f, b->low);
    fr__plot_number(n->f, b->from);
    fr__plot_number(n->f, b->to);
    fr__plot_number(n->f, b->low);
    fr__plot_number(n->f, b->high);
    fprintf(n->f, "%u\n", 2 * b->sort + b->shade);
}

/* Halves of a row that are too low share a label, "3+5". */
static bool shares_label(const struct panel *n, const struct box *b)
{
    return b->is_half && (b->high - b->low) * n->row_pixels < 10;
}

/* The label of a box; "": another one stands for it. Returns its length. */
static int label_of(const struct panel *n, const struct box *b, char text[32])
{
    if (!shares_label(n, b))
        return snprintf(text, 32, "%u", b->micro);
    text[0] = '\0';
    return b->other == FR_NONE ? 0 : snprintf(text, 32, "%u+%u", b->micro, b->other);
}

static bool has_room(const struct panel *n, const struct box *b)
{
    char text[32];
    int digits = label_of(n, b, text);

    return (b->to - b->from) / n->pixel >= digits * DIGIT_PIXELS && n->row_pixels >= 11;
}

static void find_longest(const struct panel *n, const struct box *b)
{
    n->room->longest = fmax(n->room->longest, b->to - b->from);
}

static void look_for_room(const struct panel *n, const struct box *b)
{
    if (b->to - b->from >= LEAST_PART * n->room->longest && !has_room(n, b))
        n->room->is_there = false;
}

static void write_label(const struct panel *n, const struct box *b)
{
    bool shares = shares_label(n, b);
    char text[32];

    if (!n->room->is_there || !has_room(n, b) || label_of(n, b, text) == 0)
        return;
    fr__plot_number(n->f, (b->from + b->to) / 2);
    fr__plot_number(n->f, shares ? b->low : (b->low + b->high) / 2);
    fprintf(n->f, "%s 0x%s\n", text, fr__ink_on(sorts[b->sort].colours[b->shade]) + 1);
}

static void write_rows(const struct panel *n)
{
    uint32_t n_ranks = n->x->schedule->n_ranks;
    uint32_t step = n->row_pixels < 9 ? (uint32_t)ceil(9 / n->row_pixels) : 1;

    fprintf(n->f, "set yrange [0:%u]\nset ytics (", n_ranks);
    for (uint32_t r = 0; r < n_ranks; r += step) {
        fprintf(n->f, "%s'%u' ", r ? "," : "", r);
        fr__plot_number(n->f, floor_of(n, r) + 0.5);
    }
    fputs(") scale 0 font ',9' tc rgb '" FR__COLOUR_TEXT "'\n", n->f);
}

static void write_caption(const struct panel *n)
{
    const struct fr_schedule *s = n->x->schedule;
    const struct fr_replay *x = &n->x->replay;
    uint32_t most = 0;
    char text[256], time[40], bubble[40];

    for (uint32_t r = 0; r < s->n_ranks; r++)
        most = x->live_weight[r] > most ? x->live_weight[r] : most;
    snprintf(text, sizeof(text), "%s: %s long, bubble %s %%, %u passes live at most", s->name,
             fr__schedule_time(n->x, x->makespan, time, sizeof(time)),
             fr__fixed(100 * x->bubble_frac, 1, bubble, sizeof(bubble)), most);
    fputs("set label 3 ", n->f);
    fr__gnuplot_string(n->f, text, 120);
    fputs(" at graph 0, graph 1 left offset 0,0.6 font ',12' tc rgb '" FR__COLOUR_TEXT "'\n", n->f);
}

static void write_panel(const struct panel *n, double high, double low)
{
    fputs("set tmargin at screen ", n->f);
    fr__plot_number(n->f, high);
    fputs("\nset bmargin at screen ", n->f);
    fr__plot_number(n->f, low);
    putc('\n', n->f);
    write_caption(n);
    write_rows(n);
    fputs("$boxes << FORERUN_END\nNaN NaN NaN NaN NaN NaN 0\n", n->f); /* never empty */
    each_box(n, write_box);
    fputs("FORERUN_END\n$labels << FORERUN_END\nNaN NaN 0 0\n", n->f);
    each_box(n, write_label);
    fputs("FORERUN_END\nplot ", n->f);
    for (unsigned k = 0; k < 2 * N_SORTS; k++)
        fprintf(n->f,
                "$boxes using ($7==%u?$1:NaN):2:3:4:5:6 with boxxyerror fc rgb '%s' fs solid 1 "
                "border lc rgb '#FFFFFF' notitle, \\\n ",
                k, sorts[k / 2].colours[k % 2]);
    fputs(n->room->is_there
              ? "$labels using 1:2:3:4 with labels font ',10' tc rgb variable notitle\n"
              : "NaN notitle\n",
          n->f);
}

/* What the colours mean, a square and its word, in the order of the sorts that are there. */
static void write_key(FILE *f, const struct fr_timed_schedule all[], size_t n)
{
    double x = 0.03;

    for (unsigned k = 0; k < N_SORTS; k++) {
        bool is_there = false;

        for (size_t i = 0; i < n; i++)
            for (size_t a = 0; a < all[i].schedule->n_actions; a++)
                is_there |=
                    all[i].schedule->actions[a].kind == k || all[i].schedule->actions[a].with == k;
        if (!is_there)
            continue;
        for (unsigned part = 0; part < 2; part++) { /* the square, the word */
            fprintf(f, "set label %u '%s' at screen ", 10 + 2 * k + part,
                    part ? sorts[k].title : "■");
            fr__plot_number(f, x + 0.012 * part);
            fprintf(f, ", screen 0.925 left font ',12' tc rgb '%s'\n",
                    part ? FR__COLOUR_TEXT : sorts[k].colours[0]);
        }
        x += 0.05 + 0.008 * (double)(k == FR_ACTION_F || k == FR_ACTION_B ? 8 : 21);
    }
}

static void write_heading(FILE *f, const struct fr_timed_schedule all[], size_t n)
{
    const struct fr_schedule *s = all[0].schedule;

    fprintf(f,
            "set multiplot\nset lmargin at screen 0.05\nset rmargin at screen 0.98\n"
            "set border 1 lc rgb '#BBBBBB'\nset xtics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT
            "'\nset grid xtics lt 1 lc rgb '#E6E6E6'\nunset key\n"
            "set label 1 '%u ranks, %u micro-batches; a lighter box is of a later stage of its "
            "rank, or of the other direction' at screen 0.03, screen 0.965 left font ',15' tc rgb "
            "'" FR__COLOUR_TEXT "'\n",
            s->n_ranks, s->n_micros);
    write_key(f, all, n);
}

static void plot(FILE *script, const struct fr_timed_schedule all[], size_t n, size_t n_rows,
                 double length, double pixels_wide)
{
    double gap = 0.032, row = (top - bottom - gap * (double)n) / (double)n_rows, y = top;
    struct room room = {0, true};

    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++)
            each_box(&(struct panel){.x = &all[i],
                                     .pixel = length / (0.93 * pixels_wide),
                                     .row_pixels = row * HIGH,
                                     .room = &room},
                     pass ? look_for_room : find_longest);
    write_heading(script, all, n);
    fputs("set xrange [0:", script);
    fr__plot_number(script, length);
    fputs("]\n", script);
    for (size_t i = 0; i < n; i++) {
        double low = y - row * all[i].schedule->n_ranks;
        struct panel p = {.f = script,
                          .x = &all[i],
                          .length = length,
                          .pixel = length / (0.93 * pixels_wide),
                          .row_pixels = row * HIGH,
                          .room = &room};

        fputs(i + 1 == n ? "set format x\n" : "set format x ''\n", script);
        if (i + 1 == n && all[i].unit)
            fprintf(script, "set xlabel 'time (%s)' tc rgb '" FR__COLOUR_TEXT "'\n", all[i].unit);
        write_panel(&p, y, low);
        fputs("unset label\n", script);
        y = low - gap;
    }
    fputs("unset multiplot\n", script);
}

enum fr_status fr__schedules_draw(FILE *picture, const struct fr_timed_schedule all[], size_t n,
                                  const char *ending, const struct fr_context *ctx,
                                  struct fr_error *err)
{
    const struct fr__plot_frame *frame = fr__plot_frame(ending);
    size_t n_rows = 0;
    double length = 0;
    FILE *script;
    enum fr_status st;

    for (size_t i = 0; i < n; i++) {
        n_rows += all[i].schedule->n_ranks;
        length = fmax(length, all[i].replay.makespan);
    }
    if (n > MAX_PANELS || n_rows > MAX_ROWS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%zu schedules of %zu ranks together cannot be read: at most %d and %d", n,
                        n_rows, MAX_PANELS, MAX_ROWS);
    if (!(length > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "nothing takes time: there is nothing to draw");
    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(frame->terminal, script);
    plot(script, all, n, n_rows, length, frame->pixels_wide);
    st = fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}
