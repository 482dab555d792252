/* results/html/sweep_plot.c - the points of a sweep, cost against time, in the report.
 *
 * It is separate from the picture by gnuplot (pictures/sweep.c), whose points have no hints. Both
 * axes are logarithmic.
 */
#include "config.h"

#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/number.h"
#include "results/parts/palette.h"
#include "results/parts/sweep_names.h"
#include "results/parts/ticks.h"
#include "study/sweep/state.h"

#include <math.h>

enum { HEIGHT = 300, TOP = 30, MOST_POINTS = 3000, TEXT = 256 };

struct plot {
    FILE *f;
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    size_t group, settings[FR_N_SETTINGS], n_settings;
    double low[2], high[2]; /* time, cost */
    double factor;          /* seconds to the unit of the axis */
    const char *unit;
};

static bool is_shown(const struct plot *p, size_t point)
{
    const struct fr_sweep_row *r = p->sweep->rows[point];

    return r && r->outcome == FR_FITS && fr__sweep_group_of(p->sweep, point) == p->group &&
           fr_sweep_value(r, &p->summary->terms).cost > 0;
}

static double x_of(const struct plot *p, double s)
{
    return FR__HTML_LEFT + FR__HTML_PLOT * log(s / p->low[0]) / log(p->high[0] / p->low[0]);
}

static double y_of(const struct plot *p, double cost)
{
    return TOP + HEIGHT * (1 - log(cost / p->low[1]) / log(p->high[1] / p->low[1]));
}

static size_t find_ranges(struct plot *p)
{
    size_t n = 0;

    for (unsigned k = 0; k < 2; k++) {
        p->low[k] = INFINITY;
        p->high[k] = 0;
    }
    for (size_t i = 0; i < p->sweep->n_points; i++) {
        struct fr_sweep_value v;

        if (!is_shown(p, i))
            continue;
        v = fr_sweep_value(p->sweep->rows[i], &p->summary->terms);
        p->low[0] = fmin(p->low[0], v.time_s);
        p->high[0] = fmax(p->high[0], v.time_s);
        p->low[1] = fmin(p->low[1], v.cost);
        p->high[1] = fmax(p->high[1], v.cost);
        n++;
    }
    for (unsigned k = 0; k < 2; k++) {
        double room = 1.1 * pow(p->high[k] / p->low[k], 0.05);

        p->low[k] /= room;
        p->high[k] *= room;
    }
    return n;
}

/* ---- axes ---- */

static void put_line(FILE *f, double x1, double y1, double x2, double y2)
{
    fputs("<line x1=\"", f);
    fr__html_number(f, x1);
    fputs("\" y1=\"", f);
    fr__html_number(f, y1);
    fputs("\" x2=\"", f);
    fr__html_number(f, x2);
    fputs("\" y2=\"", f);
    fr__html_number(f, y2);
    fputs("\"/>", f);
}

static void put_text(FILE *f, const char *class_name, double x, double y, const char *text)
{
    fprintf(f, "<text class=\"%s\" x=\"", class_name);
    fr__html_number(f, x);
    fputs("\" y=\"", f);
    fr__html_number(f, y);
    fputs("\">", f);
    fr__html_text(f, text);
    fputs("</text>\n", f);
}

static void write_axes(const struct plot *p)
{
    double ticks[FR__MAX_TICKS];
    unsigned n = fr__log_ticks(p->factor * p->low[0], p->factor * p->high[0], 12, ticks);
    char text[FR__HTML_TEXT], title[TEXT];

    fputs("<g class=\"g\">\n", p->f);
    for (unsigned i = 0; i < n; i++) {
        double x = x_of(p, ticks[i] / p->factor);

        put_line(p->f, x, TOP, x, TOP + HEIGHT);
        snprintf(text, sizeof(text), "%.6g", ticks[i]);
        put_text(p->f, "m q", x, TOP + HEIGHT + 16, text);
    }
    n = fr__log_ticks(p->low[1], p->high[1], 8, ticks);
    for (unsigned i = 0; i < n; i++) {
        double y = y_of(p, ticks[i]);

        put_line(p->f, FR__HTML_LEFT, y, FR__HTML_LEFT + FR__HTML_PLOT, y);
        snprintf(text, sizeof(text), "%.6g", ticks[i]);
        put_text(p->f, "r q", FR__HTML_LEFT - 8, y + 4, text);
    }
    fputs("</g>\n", p->f);
    snprintf(title, sizeof(title), "%s (%s)", fr__sweep_time_title(&p->summary->terms), p->unit);
    put_text(p->f, "m q", FR__HTML_LEFT + FR__HTML_PLOT / 2.0, TOP + HEIGHT + 38, title);
    put_text(p->f, "q", 4, TOP - 12, fr__sweep_cost_title(&p->summary->terms));
}

/* ---- points ---- */

static size_t colour_of(const struct plot *p, size_t point)
{
    return p->n_settings > 0 ? fr__sweep_value_index(p->sweep, point, p->settings[0]) : 0;
}

static void write_frontier(const struct plot *p)
{
    const struct fr_sweep_group *g = &p->summary->groups[p->group];

    if (g->n_frontier < 2)
        return;
    fputs("<path class=\"front\" d=\"", p->f);
    for (size_t i = 0; i < g->n_frontier; i++) {
        struct fr_sweep_value v =
            fr_sweep_value(p->sweep->rows[g->frontier[i]], &p->summary->terms);

        fputs(i ? "H" : "M", p->f);
        fr__html_number(p->f, x_of(p, v.time_s));
        fputs(i ? "V" : " ", p->f);
        fr__html_number(p->f, y_of(p, v.cost));
    }
    fputs("\"/>\n", p->f);
}

static void write_point(const struct plot *p, size_t point)
{
    const struct fr_sweep_row *r = p->sweep->rows[point];
    struct fr_sweep_value v = fr_sweep_value(r, &p->summary->terms);
    char name[TEXT], text[FR__HTML_TEXT];

    fr__sweep_point_text(p->sweep, point, name, sizeof(name));
    fputs("<circle r=\"5\" cx=\"", p->f);
    fr__html_number(p->f, x_of(p, v.time_s));
    fputs("\" cy=\"", p->f);
    fr__html_number(p->f, y_of(p, v.cost));
    fprintf(p->f, "\" fill=\"%s\"><title>", fr__palette(colour_of(p, point)));
    fr__html_text(p->f, name[0] ? name : r->workload);
    fprintf(p->f, "\niteration %s", fr__format_time(r->iteration_s, text, sizeof(text)));
    fprintf(p->f, "\n%s %s", fr__sweep_time_title(&p->summary->terms),
            fr__format_time(v.time_s, text, sizeof(text)));
    fprintf(p->f, "\n%s %s", fr__sweep_cost_title(&p->summary->terms),
            fr__sweep_cost_text(v.cost, text, sizeof(text)));
    fprintf(p->f, "\npeak memory %s</title></circle>\n",
            fr__format_bytes((double)r->peak_bytes, text, sizeof(text)));
}

static void write_key(const struct plot *p)
{
    const struct fr__axis *axis;

    fputs("<ul class=\"key\">\n", p->f);
    if (p->n_settings > 0) {
        axis = &p->sweep->axes[p->settings[0]];
        fprintf(p->f, "<li>%s:</li>\n", fr__sweep_setting_title(p->settings[0]));
        for (size_t i = 0; i < axis->n && i < FR__PALETTE; i++) {
            fprintf(p->f, "<li><i style=\"background:%s\"></i>", fr__palette(i));
            fr__html_text(p->f, i + 1 == FR__PALETTE && axis->n > FR__PALETTE ? "others"
                                                                              : axis->values[i]);
            fputs("</li>\n", p->f);
        }
    }
    fputs("</ul>\n<figcaption>The line joins the points that none beats in both time and "
          "cost.</figcaption>\n",
          p->f);
}

void fr__html_sweep_plot(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m,
                         size_t group)
{
    struct plot p = {.f = f, .sweep = s, .summary = m, .group = group};
    size_t n_points = find_ranges(&p), n = 0;

    if (n_points == 0)
        return;
    p.n_settings = fr__sweep_varying(s, p.settings);
    p.factor = fr__long_time_unit(p.high[0], &p.unit);
    fprintf(
        f,
        "<figure class=\"points\" tabindex=\"0\" role=\"group\" aria-label=\"Cost against time; n "
        "and p step through the points\">\n<svg class=\"chart\" viewBox=\"0 0 %d %d\" "
        "role=\"img\" aria-label=\"Cost against time\">\n",
        FR__HTML_WIDTH, TOP + HEIGHT + 46);
    write_axes(&p);
    write_frontier(&p);
    for (size_t i = 0; i < s->n_points && n < MOST_POINTS; i++)
        if (is_shown(&p, i)) {
            write_point(&p, i);
            n++;
        }
    fputs("</svg>\n", f);
    write_key(&p);
    if (n_points > n)
        fprintf(f, "<p class=\"note\">The first %zu of %zu points.</p>\n", n, n_points);
    fputs("</figure>\n", f);
}
