/* results/pictures/schedule.c - pipeline schedules over time, as the papers draw them.
 *
 * A row is a rank and a box an action with its micro-batch's number. Later stages of a rank
 * are lighter. An overlapped pair stands in two halves of the row, the forward above. A whole
 * backward is both gradients at once: the colour of the input's, with a stripe in that of the
 * weights'.
 */
#include "config.h"

#include "results/pictures/pictures.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/schedule.h"

#include <math.h>

enum { MAX_ROWS = 200, MAX_PANELS = 12, DIGIT_PIXELS = 8 };

/* Shares of the picture's height: below the heading, above the axis, above a panel. */
static const double top = 0.86, bottom = 0.1, gap = 0.032;

static const struct {
    const char *title, *colours[2]; /* of the first stage of a rank, and of later ones */
} sorts[] = {
    [FR_ACTION_F] = {"forward", {FR__COLOUR_FORWARD, FR__COLOUR_FORWARD_LIGHT}},
    [FR_ACTION_B] = {"backward: both gradients",
                     {FR__COLOUR_BACKWARD_DATA, FR__COLOUR_BACKWARD_DATA_LIGHT}},
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
    struct fr__panel *panel;
    const struct fr_timed_schedule *x;
    struct fr__chart_series *series[N_SORTS][2], *stripes[2];
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

static void each_box(const struct panel *n, void (*use)(const struct panel *, const struct box *))
{
    const struct fr_schedule *s = n->x->schedule;

    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            struct box b;

            if (!fr_action_computes(&s->actions[i]))
                continue;
            b = make_box(n, r, i, false);
            use(n, &b);
            if (s->actions[i].with != FR_ACTION_NONE) {
                b = make_box(n, r, i, true);
                use(n, &b);
            }
        }
}

static void put_box(const struct panel *n, const struct box *b)
{
    fr__series_box(n->series[b->sort][b->shade], b->from, b->to, b->low, b->high);
    if (b->sort == FR_ACTION_B)
        fr__series_box(n->stripes[b->shade], b->from, b->to, b->low,
                       b->low + 0.2 * (b->high - b->low));
}

/* Halves of a row that are too low share a label, "3+5". */
static bool shares_label(const struct panel *n, const struct box *b)
{
    return b->is_half && fr__panel_high(n->panel, b->high - b->low) < 10;
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

    return fr__panel_wide(n->panel, b->to - b->from) >= digits * DIGIT_PIXELS &&
           fr__panel_high(n->panel, 1) >= 11;
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

static void put_label(const struct panel *n, const struct box *b)
{
    bool shares = shares_label(n, b);
    char text[32];

    if (!n->room->is_there || !has_room(n, b) || label_of(n, b, text) == 0)
        return;
    fr__panel_note(n->panel, (struct fr__chart_note){.text = text,
                                                     .x = (b->from + b->to) / 2,
                                                     .y = shares ? b->low : (b->low + b->high) / 2,
                                                     .points = 10,
                                                     .on = sorts[b->sort].colours[b->shade]});
}

static void put_ranks(const struct panel *n)
{
    struct fr__panel *p = n->panel;
    uint32_t n_ranks = n->x->schedule->n_ranks;
    double high;

    p->y = (struct fr__chart_axis){.high = n_ranks, .is_named = true, .points = 9};
    high = fr__panel_high(p, 1);
    for (uint32_t r = 0, step = high < 9 ? (uint32_t)ceil(9 / high) : 1; r < n_ranks; r += step)
        fr__axis_tick(p, &p->y, floor_of(n, r) + 0.5, fr__chart_text(p->chart, "%u", r));
}

static void set_caption(const struct panel *n)
{
    const struct fr_schedule *s = n->x->schedule;
    const struct fr_replay *x = &n->x->replay;
    uint32_t most = 0;
    char time[40], bubble[40];

    for (uint32_t r = 0; r < s->n_ranks; r++)
        most = x->live_weight[r] > most ? x->live_weight[r] : most;
    n->panel->caption =
        fr__chart_text(n->panel->chart, "%s: %s long, bubble %s %%, %u passes live at most",
                       s->name, fr__schedule_time(n->x, x->makespan, time, sizeof(time)),
                       fr__fixed(100 * x->bubble_frac, 1, bubble, sizeof(bubble)), most);
    n->panel->title_points = 12;
}

static void put_series(struct panel *n)
{
    for (unsigned k = 0; k < N_SORTS; k++)
        for (unsigned shade = 0; shade < 2; shade++)
            n->series[k][shade] = fr__panel_series(
                n->panel, (struct fr__chart_style){
                              .mark = FR__BOXES,
                              .colour = sorts[k].colours[shade],
                              .stripe = k == FR_ACTION_B ? sorts[FR_ACTION_W].colours[0] : NULL,
                              .edge = "#FFFFFF",
                              .title = sorts[k].title});
    for (unsigned shade = 0; shade < 2; shade++)
        n->stripes[shade] = fr__panel_series(
            n->panel, (struct fr__chart_style){.mark = FR__BOXES,
                                               .colour = sorts[FR_ACTION_W].colours[shade]});
}

static void put_panels(struct fr__chart *c, struct panel panels[],
                       const struct fr_timed_schedule all[], size_t n, double length, double row)
{
    double y = top;

    for (size_t i = 0; i < n; i++) {
        double low = y - row * all[i].schedule->n_ranks;

        panels[i].x = &all[i];
        panels[i].panel = fr__chart_panel(c, 0.05, 0.98, low, y);
        panels[i].panel->frame = FR__FRAME_BELOW;
        panels[i].panel->x =
            (struct fr__chart_axis){.high = length, .has_grid = true, .hides_numbers = i + 1 < n};
        put_ranks(&panels[i]);
        set_caption(&panels[i]);
        put_series(&panels[i]);
        each_box(&panels[i], put_box);
        y = low - gap;
    }
}

static void describe(struct fr__chart *c, const struct fr_timed_schedule all[], size_t n,
                     size_t n_rows, double length)
{
    struct room room = {0, true};
    struct panel panels[MAX_PANELS];
    struct fr__panel *last;

    for (size_t i = 0; i < n; i++)
        panels[i].room = &room;
    c->title = fr__chart_text(c,
                              "%u ranks, %u micro-batches; a lighter box is of a later stage of "
                              "its rank, or of the other direction",
                              all[0].schedule->n_ranks, all[0].schedule->n_micros);
    put_panels(c, panels, all, n, length, (top - bottom - gap * (double)(n - 1)) / (double)n_rows);
    for (size_t i = 0; i < n; i++)
        each_box(&panels[i], find_longest);
    for (size_t i = 0; i < n; i++)
        each_box(&panels[i], look_for_room);
    for (size_t i = 0; i < n; i++)
        each_box(&panels[i], put_label);
    last = &c->panels[c->n_panels - 1];
    if (all[n - 1].unit)
        last->x.label = fr__chart_text(c, "time (%s)", all[n - 1].unit);
    c->panels[0].key = FR__KEY_ABOVE;
    c->panels[0].has_key_of_all = true;
}

enum fr_status fr__chart_of_schedules(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_schedules_answer *a = what;
    size_t n_rows = 0;
    double length = 0;

    for (size_t i = 0; i < a->n; i++) {
        n_rows += a->schedules[i].schedule->n_ranks;
        length = fmax(length, a->schedules[i].replay.makespan);
    }
    if (a->n > MAX_PANELS || n_rows > MAX_ROWS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%zu schedules of %zu ranks together cannot be read: at most %d and %d",
                        a->n, n_rows, MAX_PANELS, MAX_ROWS);
    if (!(length > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "nothing takes time: there is nothing to draw");
    describe(c, a->schedules, a->n, n_rows, length);
    return FR_OK;
}

enum fr_status fr__chart_of_pipelines(struct fr__chart *c, const void *what, struct fr_error *err)
{
    return fr__chart_of_schedules(c, &((const struct fr_pipelines_answer *)what)->schedules, err);
}
