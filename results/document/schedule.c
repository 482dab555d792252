/* results/document/schedule.c - pipeline schedules for a terminal: figures, and boxes over time. */
#include "config.h"

#include "results/document/builders.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 400, MAX_REAL_COLUMNS = 60 }; /* of boxes: more cannot be read */

static void print_live(struct fr__document *doc, const char *what, const uint32_t counts[],
                       uint32_t n)
{
    fr__say(doc, "  %-40s", what);
    for (uint32_t r = 0; r < n; r++)
        fr__say(doc, " %u", counts[r]);
    fr__say(doc, "\n");
}

static void print_caption(struct fr__document *doc, const struct fr_timed_schedule *x)
{
    const struct fr_schedule *s = x->schedule;
    char time[40], span[40], bubble[40];

    fr__say(doc, "%s: %u ranks, %u stages, %u micro-batches; makespan %s, bubble %s %%", s->name,
            s->n_ranks, s->n_stages, s->n_micros,
            fr__schedule_time(x, x->replay.makespan, time, sizeof(time)),
            fr__fixed(100 * x->replay.bubble_frac, 1, bubble, sizeof(bubble)));
    if (x->replay.longest_span < x->replay.makespan)
        fr__say(doc, ", no rank longer than %s",
                fr__schedule_time(x, x->replay.longest_span, span, sizeof(span)));
    fr__say(doc, "\n");
}

static void print_check(struct fr__document *doc, const struct fr_timed_schedule *x)
{
    const struct fr_schedule *s = x->schedule;
    bool is_asynchronous = s->weights != FR_WEIGHTS_FLUSH;

    print_caption(doc, x);
    fr__say(doc, "  nothing wrong with %zu actions: every pass once, no circle of waits\n",
            s->n_actions);
    fr__say_drawn(doc);
    print_live(doc, "live until the weight gradient, by rank", x->replay.live_weight, s->n_ranks);
    print_live(doc, "live until the input gradient, by rank", x->replay.live_input, s->n_ranks);
    if (is_asynchronous) {
        print_live(doc, "versions of the weights, by rank", x->replay.versions, s->n_ranks);
        print_live(doc, "updates that weights are behind", x->replay.staleness, s->n_ranks);
    }
    if (s->weights == FR_WEIGHTS_CURRENT) {
        fr__say(doc, "  steps from forward to backward          ");
        for (uint32_t r = 0; r < s->n_ranks; r++)
            fr__say(doc, " %.4g", x->replay.delay_steps[r]);
        fr__say(doc, "\n");
    }
    fr__say_plain(doc);
}

enum fr_status fr__document_of_checked(struct fr__document *doc, const void *what,
                                       struct fr_error *err)
{
    const struct fr_schedules_answer *a = what;

    for (size_t i = 0; i < a->n; i++)
        print_check(doc, &a->schedules[i]);
    return fr__document_check(doc, err);
}

/* ---- boxes ---- */

struct grid {
    double unit;       /* time of a column */
    size_t cell;       /* characters of a column */
    size_t n_columns;  /* of the longest schedule */
    size_t name_width; /* of "rank 12" */
    char *line;        /* [n_columns cell + 1] */
};

/* The shortest action of any schedule, but not so short that there are too many columns. */
static void measure(struct grid *g, const struct fr_timed_schedule all[], size_t n)
{
    uint32_t most_micros = 1, most_ranks = 1;
    double longest = 0;
    char text[40];

    g->unit = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const struct fr_schedule *s = all[i].schedule;
        const struct fr_replay *x = &all[i].replay;

        longest = fmax(longest, x->makespan);
        most_micros = s->n_micros > most_micros ? s->n_micros : most_micros;
        most_ranks = s->n_ranks > most_ranks ? s->n_ranks : most_ranks;
        for (size_t a = 0; a < s->n_actions; a++)
            if (x->finish[a] > x->start[a])
                g->unit = fmin(g->unit, x->finish[a] - x->start[a]);
    }
    g->unit = fmax(g->unit, longest / (all[0].unit ? MAX_REAL_COLUMNS : MAX_COLUMNS));
    g->cell = (size_t)snprintf(text, sizeof(text), "%u", most_micros - 1) + 2;
    g->n_columns = isfinite(g->unit) && longest > 0 ? (size_t)ceil(longest / g->unit - 1e-9) : 0;
    g->name_width = (size_t)snprintf(text, sizeof(text), "rank %u", most_ranks - 1);
}

/* "F3"; lower case where the pass is of a later stage of its rank, or of the other direction. A
 * pair is "F3+b1". */
static void box_text(const struct fr_schedule *s, const struct fr_action *a, char *buf, size_t n)
{
    static const char letters[2][5] = {"FBIW", "fbiw"};
    int used = snprintf(buf, n, "%c%u",
                        letters[fr_schedule_is_second(s, a->stage, a->micro)][a->kind], a->micro);

    if (a->with != FR_ACTION_NONE)
        snprintf(buf + used, n - (size_t)used, "+%c%u",
                 letters[fr_schedule_is_second(s, a->with_stage, a->with_micro)][a->with],
                 a->with_micro);
}

static void draw_box(struct grid *g, const struct fr_timed_schedule *x, size_t action)
{
    double start = x->replay.start[action] / g->unit, end = x->replay.finish[action] / g->unit;
    size_t from = (size_t)floor(start + 0.5) * g->cell, to = (size_t)floor(end + 0.5) * g->cell;
    char text[64];
    size_t n;

    if (to > g->n_columns * g->cell)
        to = g->n_columns * g->cell;
    if (!fr_action_computes(&x->schedule->actions[action]) || to <= from + 1)
        return;
    box_text(x->schedule, &x->schedule->actions[action], text, sizeof(text));
    n = strlen(text);
    memset(g->line + from, '-', to - from - 1);
    memcpy(g->line + from, text, n < to - from - 1 ? n : to - from - 1);
}

static void print_lines(struct fr__document *doc, struct grid *g, const struct fr_timed_schedule *x)
{
    const struct fr_schedule *s = x->schedule;

    for (uint32_t r = 0; r < s->n_ranks; r++) {
        size_t n = g->n_columns * g->cell;
        char name[24];

        memset(g->line, ' ', n);
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++)
            draw_box(g, x, i);
        while (n > 0 && g->line[n - 1] == ' ')
            n--;
        g->line[n] = '\0';
        snprintf(name, sizeof(name), "rank %u", r);
        fr__say(doc, "%-*s  %s\n", (int)g->name_width, name, g->line);
    }
}

enum fr_status fr__document_of_schedules(struct fr__document *doc, const void *what,
                                         struct fr_error *err)
{
    const struct fr_schedules_answer *x = what;
    const struct fr_timed_schedule *all = x->schedules;
    size_t n = x->n;
    struct grid g;

    measure(&g, all, n);
    g.line = malloc(g.n_columns * g.cell + 1);
    if (!g.line)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            fr__say(doc, "\n");
        print_caption(doc, &all[i]);
        fr__say_drawn(doc);
        print_lines(doc, &g, &all[i]);
        fr__say_plain(doc);
    }
    free(g.line);
    fr__say_picture(doc, FR__PICTURE_CHART, x, 0);
    return fr__document_check(doc, err);
}
