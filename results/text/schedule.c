/* results/text/schedule.c - pipeline schedules for a terminal: figures, and boxes over time. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 400, MAX_REAL_COLUMNS = 60 }; /* of boxes: more cannot be read */

static void print_live(FILE *f, const char *what, const uint32_t counts[], uint32_t n)
{
    fprintf(f, "  %-40s", what);
    for (uint32_t r = 0; r < n; r++)
        fprintf(f, " %u", counts[r]);
    putc('\n', f);
}

static void print_caption(FILE *f, const struct fr_timed_schedule *x)
{
    const struct fr_schedule *s = x->schedule;
    char time[40], span[40], bubble[40];

    fprintf(f, "%s: %u ranks, %u stages, %u micro-batches; makespan %s, bubble %s %%", s->name,
            s->n_ranks, s->n_stages, s->n_micros,
            fr__schedule_time(x, x->replay.makespan, time, sizeof(time)),
            fr__fixed(100 * x->replay.bubble_frac, 1, bubble, sizeof(bubble)));
    if (x->replay.longest_span < x->replay.makespan)
        fprintf(f, ", no rank longer than %s",
                fr__schedule_time(x, x->replay.longest_span, span, sizeof(span)));
    putc('\n', f);
}

void fr_schedule_print_check(FILE *f, const struct fr_timed_schedule *x)
{
    const struct fr_schedule *s = x->schedule;
    bool is_asynchronous = s->weights != FR_WEIGHTS_FLUSH;

    print_caption(f, x);
    fprintf(f, "  nothing wrong with %zu actions: every pass once, no circle of waits\n",
            s->n_actions);
    print_live(f, "live until the weight gradient, by rank", x->replay.live_weight, s->n_ranks);
    print_live(f, "live until the input gradient, by rank", x->replay.live_input, s->n_ranks);
    if (is_asynchronous) {
        print_live(f, "versions of the weights, by rank", x->replay.versions, s->n_ranks);
        print_live(f, "updates that weights are behind", x->replay.staleness, s->n_ranks);
    }
    if (s->weights == FR_WEIGHTS_CURRENT) {
        fputs("  steps from forward to backward          ", f);
        for (uint32_t r = 0; r < s->n_ranks; r++)
            fprintf(f, " %.4g", x->replay.delay_steps[r]);
        putc('\n', f);
    }
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

static void print_lines(FILE *f, struct grid *g, const struct fr_timed_schedule *x)
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
        fprintf(f, "%-*s  %s\n", (int)g->name_width, name, g->line);
    }
}

enum fr_status fr_schedules_print_boxes(FILE *f, const struct fr_timed_schedule all[], size_t n,
                                        struct fr_error *err)
{
    struct grid g;

    measure(&g, all, n);
    g.line = malloc(g.n_columns * g.cell + 1);
    if (!g.line)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            putc('\n', f);
        print_caption(f, &all[i]);
        print_lines(f, &g, &all[i]);
    }
    free(g.line);
    return FR_OK;
}
