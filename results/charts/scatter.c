/* results/charts/scatter.c - the lines of agreement of predictions and measurements.
 *
 * It is separate because pictures of validations and of fits both have them.
 */
#include "config.h"

#include "results/charts/scatter.h"
#include "results/parts/colours.h"

static struct fr__chart_series *line_of(struct fr__panel *p, const char *title, bool is_off)
{
    return fr__panel_series(
        p, (struct fr__chart_style){.mark = FR__LINE,
                                    .colour = is_off ? FR__COLOUR_QUIET : FR__COLOUR_TEXT,
                                    .width = is_off ? 1 : 1.5,
                                    .is_dashed = is_off,
                                    .title = title});
}

static const struct {
    const char *title;
    double ratio; /* of predicted to measured */
} agreements[] = {{"as measured", 1}, {"10 % off", 1.1}, {NULL, 1 / 1.1}};

enum { N = sizeof(agreements) / sizeof(agreements[0]) };

void fr__scatter_begin(struct fr__panel *p, double low, double high, const char *x_label,
                       const char *y_label)
{
    p->x = p->y = (struct fr__chart_axis){.low = low, .high = high, .log = 10, .has_grid = true};
    p->x.label = x_label;
    p->y.label = y_label;
    for (unsigned i = 0; i < N; i++) {
        double ratio = agreements[i].ratio;
        struct fr__chart_series *s = line_of(p, agreements[i].title, i > 0);

        fr__series_point(s, ratio < 1 ? low / ratio : low, ratio < 1 ? low : low * ratio);
        fr__series_point(s, ratio > 1 ? high / ratio : high, ratio > 1 ? high : high * ratio);
    }
}

void fr__scatter_ratios(struct fr__panel *p)
{
    for (unsigned i = 0; i < N; i++) {
        struct fr__chart_series *s = line_of(p, NULL, i > 0);

        fr__series_point(s, p->x.low, agreements[i].ratio);
        fr__series_point(s, p->x.high, agreements[i].ratio);
    }
}
