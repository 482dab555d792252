/* results/pictures/validate.c - predicted against measured times.
 *
 * It is separate because it has one series a source and both axes are logarithmic. A bar is the
 * range that the prediction claims for 90 % of measured steps.
 */
#include "config.h"

#include "results/pictures/pictures.h"

#include "base/error.h"
#include "results/charts/scatter.h"
#include "results/parts/number.h"
#include "results/parts/palette.h"
#include "results/parts/colours.h"

#include <math.h>
#include <string.h>

enum { MAX_SOURCES = FR__PALETTE - 1 };

static bool is_from(const struct fr_validation_row *r, const char *source)
{
    size_t n = strlen(source);

    return strncmp(r->id, source, n) == 0 &&
           strspn(r->id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") == n;
}

static void put_source(struct fr__panel *p, const struct fr_validation *v, const char *source,
                       size_t i, double factor)
{
    struct fr__chart_series *ranges =
        fr__panel_series(p, (struct fr__chart_style){.mark = FR__RANGES,
                                                     .colour = FR__COLOUR_QUIET,
                                                     .width = 0.5,
                                                     .title = i ? NULL : "90 % of measured steps"});
    struct fr__chart_series *points = fr__panel_series(
        p, (struct fr__chart_style){.mark = FR__POINTS, .colour = fr__palette(i), .title = source});

    for (size_t k = 0; k < v->n_rows; k++) {
        const struct fr_validation_row *r = &v->rows[k];

        if (r->why_not || !is_from(r, source))
            continue;
        if (!isnan(r->low_s) && !isnan(r->high_s))
            fr__series_box(ranges, factor * r->measured_s, factor * r->low_s, factor * r->high_s,
                           0);
        fr__series_point(points, factor * r->measured_s, factor * r->predicted_s);
    }
}

static void describe(struct fr__chart *c, const struct fr_validation *v)
{
    struct fr__panel *p = fr__chart_panel(c, 0.09, 0.98, 0.1, 0.97);
    double low_s = INFINITY, high_s = 0, factor;
    const char *unit;
    size_t n = 0;

    for (size_t i = 0; i < v->n_rows; i++) {
        const struct fr_validation_row *r = &v->rows[i];

        if (r->why_not)
            continue;
        /* fmin and fmax pass over the NaN of a row without a range */
        low_s = fmin(low_s, fmin(fmin(r->measured_s, r->predicted_s), r->low_s));
        high_s = fmax(high_s, fmax(fmax(r->measured_s, r->predicted_s), r->high_s));
    }
    factor = fr__time_unit(high_s, &unit);
    fr__scatter_begin(p, factor * low_s / 1.2, factor * high_s * 1.2,
                      fr__chart_text(c, "measured iteration (%s)", unit),
                      fr__chart_text(c, "predicted iteration (%s)", unit));
    p->narrows_to = 1.25;
    p->key = FR__KEY_INSIDE;
    for (size_t g = 0; g < v->n_groups && n < MAX_SOURCES; g++)
        if (v->groups[g].by == FR_BY_SOURCE)
            put_source(p, v, v->groups[g].name, n++, factor);
}

enum fr_status fr__chart_of_validation(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_validation *v = ((const struct fr_validation_answer *)what)->validation;

    if (v->n_predicted == 0)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE, "there is no predicted row to draw");
    describe(c, v);
    return FR_OK;
}
