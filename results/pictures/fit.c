/* results/pictures/fit.c - a fit against its data: two squares side by side.
 *
 * It is separate from what is drawn, which fit_kernels.c and fit_systems.c put together.
 */
#include "config.h"

#include "base/error.h"
#include "results/charts/scatter.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/palette.h"
#include "results/pictures/fit.h"

#include <inttypes.h>
#include <math.h>

void fr__fit_say_misses(struct fr__fit_picture *p, const struct fr_misses *m, const char *whence)
{
    snprintf(p->subheading, sizeof(p->subheading),
             "%" PRIu64
             " rows to judge by: median %.1f %%, 90th percentile %.1f %%, worst %.1f %%, "
             "bias %+.1f %%; %.300s",
             m->n, 100 * m->median, 100 * m->p90, 100 * m->worst, 100 * m->bias, whence);
}

/* ---- left: predicted against measured ---- */

/* The two kinds of rows; those that a fit has used are behind. */
static void put_rows(struct fr__panel *p, const struct fr__fit_picture *fit, double factor,
                     bool is_ratio)
{
    double size = fit->n_points < 300 ? 0.65 : 0.4;
    struct fr__chart_series *s[2];

    for (unsigned is_judged = 0; is_judged < 2; is_judged++)
        s[is_judged] = fr__panel_series(
            p, (struct fr__chart_style){.mark = FR__POINTS,
                                        .colour = is_judged ? FR__COLOUR_FORWARD : FR__COLOUR_SEEN,
                                        .size = size,
                                        .title = is_judged ? "row to judge by"
                                                           : "row that a fit may have seen"});
    for (size_t i = 0; i < fit->n_points; i++) {
        const struct fr__fit_point *at = &fit->points[i];

        fr__series_point(s[at->is_judged], is_ratio ? at->work : factor * at->measured_s,
                         is_ratio ? at->predicted_s / at->measured_s : factor * at->predicted_s);
    }
}

static void put_scatter(struct fr__panel *p, const struct fr__fit_picture *fit)
{
    double low_s = INFINITY, high_s = 0, factor;
    const char *unit;

    for (size_t i = 0; i < fit->n_points; i++) {
        const struct fr__fit_point *at = &fit->points[i];

        low_s = fmin(low_s, fmin(at->measured_s, at->predicted_s));
        high_s = fmax(high_s, fmax(at->measured_s, at->predicted_s));
    }
    factor = fr__time_unit(sqrt(low_s * high_s), &unit);
    fr__scatter_begin(p, factor * low_s / 1.3, factor * high_s * 1.3,
                      fr__chart_text(p->chart, "measured (%s)", unit),
                      fr__chart_text(p->chart, "predicted (%s)", unit));
    p->key = FR__KEY_INSIDE;
    put_rows(p, fit, factor, false);
}

/* ---- right: rates along a size ---- */

static void put_xy(struct fr__panel *p, struct fr__chart_style style, const struct fr__fit_xy xy[],
                   size_t n, bool takes_seen, bool takes_judged)
{
    struct fr__chart_series *s = fr__panel_series(p, style);

    for (size_t i = 0; i < n; i++)
        if (xy[i].is_judged ? takes_judged : takes_seen)
            fr__series_point(s, xy[i].x, xy[i].y);
}

/* The highest rate of all slices, and the smallest and largest size. */
static double find_ranges(const struct fr__fit_picture *p, double *low, double *high)
{
    double top = 0;

    *low = INFINITY;
    *high = 0;
    for (size_t s = 0; s < p->n_slices; s++) {
        const struct fr__fit_slice *slice = &p->slices[s];

        for (size_t k = 0; k < slice->n_measured; k++) {
            *low = fmin(*low, slice->measured[k].x);
            *high = fmax(*high, slice->measured[k].x);
            top = fmax(top, slice->measured[k].y);
        }
        for (size_t k = 0; k < slice->n_curve; k++)
            top = fmax(top, fmax(slice->curve[k].y, slice->form ? slice->form[k].y : 0));
    }
    return top;
}

static void put_slice(struct fr__panel *p, const struct fr__fit_slice *slice, const char *colour)
{
    if (slice->form)
        put_xy(p,
               (struct fr__chart_style){
                   .mark = FR__LINE, .colour = colour, .width = 1, .is_dashed = true},
               slice->form, slice->n_curve, true, true);
    put_xy(p,
           (struct fr__chart_style){
               .mark = FR__POINTS, .colour = colour, .size = 0.65, .shape = FR__CIRCLE},
           slice->measured, slice->n_measured, true, false);
    put_xy(p, (struct fr__chart_style){.mark = FR__POINTS, .colour = colour, .size = 0.65},
           slice->measured, slice->n_measured, false, true);
    put_xy(p, (struct fr__chart_style){.mark = FR__LINE, .colour = colour, .title = slice->label},
           slice->curve, slice->n_curve, true, true);
}

static void put_slices(struct fr__panel *p, const struct fr__fit_picture *fit)
{
    double low, high, top = find_ranges(fit, &low, &high);

    p->x = (struct fr__chart_axis){.low = low / 1.1,
                                   .high = high * 1.1,
                                   .log = 10,
                                   .has_grid = true,
                                   .has_si = true,
                                   .label = fit->x_name};
    p->y = (struct fr__chart_axis){.high = top * (1.12 + 0.055 * (double)(fit->n_slices + 2)),
                                   .has_grid = true,
                                   .label = fit->y_name};
    p->key = FR__KEY_INSIDE;
    for (size_t s = 0; s < fit->n_slices; s++)
        put_slice(p, &fit->slices[s], fr__palette(s));
    fr__panel_series(p,
                     (struct fr__chart_style){.mark = FR__POINTS,
                                              .colour = FR__COLOUR_QUIET,
                                              .size = 0.65,
                                              .is_key_alone = true,
                                              .title = "measured; hollow: a fit may have seen it"});
    if (fit->slices[0].form)
        fr__panel_series(p, (struct fr__chart_style){.mark = FR__LINE,
                                                     .colour = FR__COLOUR_QUIET,
                                                     .is_dashed = true,
                                                     .is_key_alone = true,
                                                     .title = "formula alone"});
}

/* ---- right: misses over the work ---- */

static void put_ratios(struct fr__panel *p, const struct fr__fit_picture *fit)
{
    static const double ticks[] = {0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.1, 1.4, 2, 3, 5, 10};
    double low = INFINITY, high = 0, most = 1.25;

    for (size_t i = 0; i < fit->n_points; i++) {
        double ratio = fit->points[i].predicted_s / fit->points[i].measured_s;

        low = fmin(low, fit->points[i].work);
        high = fmax(high, fit->points[i].work);
        most = fmax(most, fmax(ratio, 1 / ratio));
    }
    p->x = (struct fr__chart_axis){.low = low / 1.3,
                                   .high = high * 1.3,
                                   .log = 10,
                                   .has_grid = true,
                                   .has_si = true,
                                   .label = fit->work_name};
    p->y = (struct fr__chart_axis){.low = 1 / (1.1 * most),
                                   .high = 1.1 * most,
                                   .log = 10,
                                   .has_grid = true,
                                   .label = "predicted / measured"};
    for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
        fr__axis_tick(p, &p->y, ticks[i], fr__chart_text(p->chart, "%g", ticks[i]));
    fr__scatter_ratios(p);
    put_rows(p, fit, 1, true);
}

void fr__fit_chart(struct fr__chart *c, const struct fr__fit_picture *p)
{
    c->is_small = true;
    c->wide = 1020;
    c->high = 500;
    c->title = fr__chart_text(c, "%s", p->heading);
    c->subtitle = fr__chart_text(c, "%s", p->subheading);
    put_scatter(fr__chart_panel(c, 0.085, 0.475, 0.115, 0.86), p);
    if (p->n_slices > 0)
        put_slices(fr__chart_panel(c, 0.56, 0.985, 0.115, 0.86), p);
    else
        put_ratios(fr__chart_panel(c, 0.56, 0.985, 0.115, 0.86), p);
}

enum fr_status fr__fit_plot(const struct fr__fit_picture *p, const char *path,
                            const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__chart *c = fr__chart_new();

    if (c)
        fr__fit_chart(c, p);
    return fr__chart_save(c, path, ctx, err);
}
