/* results/pictures/learn.c - the rounds of learning costs: a line for each time.
 *
 * It is separate because the axis is rounds, which no other picture has.
 */
#include "config.h"

#include "results/pictures/pictures.h"

#include "results/parts/colours.h"
#include "results/parts/number.h"

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

static double or_none(double x)
{
    return isfinite(x) ? x : NAN;
}

static void put_rounds(struct fr__panel *p, const struct fr_learning *l, double factor, double top)
{
    static const struct fr__chart_style styles[] = {
        {.mark = FR__STEPS, .colour = FR__COLOUR_IDLE, .width = 6, .title = "in use"},
        {.mark = FR__LINE_POINTS,
         .colour = FR__COLOUR_BACKWARD_DATA,
         .is_dashed = true,
         .shape = FR__CIRCLE,
         .size = 0.7,
         .title = "estimated"},
        {.mark = FR__LINE_POINTS, .colour = FR__COLOUR_FORWARD, .size = 0.5, .title = "measured"},
        {.mark = FR__POINTS, .colour = FR__COLOUR_UPDATE, .size = 1.3, .title = "taken into use"},
        {.mark = FR__POINTS,
         .colour = FR__COLOUR_LIMIT,
         .shape = FR__CROSS,
         .size = 1.5,
         .width = 2.5,
         .title = "rolled back"},
        {.mark = FR__POINTS,
         .colour = FR__COLOUR_LIMIT,
         .shape = FR__TRIANGLE,
         .size = 1.5,
         .title = "out of memory"},
    };
    enum { IN_USE, ESTIMATED, MEASURED, TAKEN, BACK, OOM, N };
    struct fr__chart_series *s[N];
    double in_use_s = NAN;

    for (unsigned k = 0; k < N; k++)
        s[k] = fr__panel_series(p, styles[k]);
    for (size_t i = 0; i < l->n_rounds; i++) {
        const struct fr_learn_round *r = &l->rounds[i];
        double x = (double)i, y = or_none(factor * r->measured_s);

        if (r->outcome != FR_LEARN_ROLLED_BACK)
            in_use_s = r->measured_s;
        fr__series_point(s[IN_USE], x, or_none(factor * in_use_s));
        fr__series_point(s[ESTIMATED], x, or_none(factor * r->estimated_s));
        fr__series_point(s[MEASURED], x, y);
        if (r->outcome == FR_LEARN_KEPT || r->outcome == FR_LEARN_FIRST)
            fr__series_point(s[TAKEN], x, y);
        if (r->outcome == FR_LEARN_ROLLED_BACK)
            fr__series_point(s[BACK], x, y);
        if (isinf(r->measured_s))
            fr__series_point(s[OOM], x, top);
    }
}

static void set_heading(struct fr__chart *c, const struct fr_learning *l)
{
    c->title = fr__chart_text(c, "%s on %zu of %zu GPUs of %s: %s learns its costs", l->workload,
                              l->n_gpus, l->n_gpus_total, l->topology, l->strategy);
    c->subtitle = fr__chart_text(
        c,
        "global batch %u, %zu strategies tried, %zu of them left again; pre-training %s "
        "round %zu",
        l->global_batch, l->n_activated - l->n_rolled_back, l->n_rolled_back,
        l->has_converged ? "ended with" : "was cut short after", l->n_pre_training - 1);
}

/* Profiles after pre-training have a grey ground. */
static void put_ground(struct fr__panel *p, const struct fr_learning *l)
{
    double from = (double)l->n_pre_training - 0.5;

    if (l->n_pre_training == l->n_rounds)
        return;
    fr__series_box(
        fr__panel_series(p, (struct fr__chart_style){.mark = FR__BOXES, .colour = "#F3F3F3"}), from,
        p->x.high, p->y.low, p->y.high);
    fr__panel_note(p, (struct fr__chart_note){.text = "profiles, after pre-training",
                                              .x = from + 0.1,
                                              .y = 0.03,
                                              .y_by = FR__BY_PANEL,
                                              .align = FR__FROM,
                                              .points = 11,
                                              .colour = FR__COLOUR_QUIET});
}

enum fr_status fr__chart_of_learning(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_learning *l = ((const struct fr_learning_answer *)what)->learning;
    struct fr__panel *p = fr__chart_panel(c, 0.07, 0.97, 0.09, 0.85);
    const char *unit;
    double longest = longest_s(l), factor = fr__time_unit(longest, &unit);
    double top = factor * longest * 1.15;

    (void)err;
    set_heading(c, l);
    p->x =
        (struct fr__chart_axis){.low = -0.5, .high = (double)l->n_rounds - 0.5, .label = "round"};
    p->y = (struct fr__chart_axis){
        .high = top * 1.04, .has_grid = true, .label = fr__chart_text(c, "iteration (%s)", unit)};
    p->key = FR__KEY_ABOVE;
    put_ground(p, l);
    put_rounds(p, l, factor, top);
    return FR_OK;
}
