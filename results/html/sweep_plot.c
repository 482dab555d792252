/* results/html/sweep_plot.c - the points of a workload of a sweep, cost against time, on its page.
 *
 * It is separate from the points (charts/cost.c): here are the figure and its key.
 */
#include "config.h"

#include "base/error.h"
#include "results/charts/cost.h"
#include "results/html/html.h"
#include "results/html/inline.h"
#include "results/parts/sweep_names.h"
#include "study/sweep/state.h"

enum { HEIGHT = 300, TOP = 30, MOST_POINTS = 3000 };

static void write_key(FILE *f, const struct fr__cost *c)
{
    const struct fr__axis *axis;

    fputs("<ul class=\"key\">\n", f);
    if (c->n_settings > 0) {
        axis = &c->sweep->axes[c->settings[0]];
        fprintf(f, "<li>%s:</li>\n", fr__sweep_setting_title(c->settings[0]));
        for (size_t i = 0; i < axis->n && i < FR__PALETTE; i++) {
            fprintf(f, "<li><i style=\"background:%s\"></i>", fr__palette(i));
            fr__markup_text(f, i + 1 == FR__PALETTE && axis->n > FR__PALETTE ? "others"
                                                                             : axis->values[i]);
            fputs("</li>\n", f);
        }
    }
    fputs("</ul>\n<figcaption>The line joins the points that none beats in both time and "
          "cost.</figcaption>\n",
          f);
}

enum fr_status fr__html_sweep_plot(FILE *f, const struct fr_sweep *s,
                                   const struct fr_sweep_summary *m, size_t group,
                                   struct fr_error *err)
{
    struct fr__cost cost = {.sweep = s, .summary = m};
    struct fr__chart *c = fr__inline_new(TOP, HEIGHT, 46);
    size_t n;

    if (!c)
        return fr__fail_nomem(err);
    fr__cost_begin(&cost, group, &c->panels[0]);
    if (cost.n_points == 0) {
        fr__chart_free(c);
        return FR_OK;
    }
    fr__cost_widen(&c->panels[0].x, 1);
    fr__cost_widen(&c->panels[0].y, 1);
    n = fr__cost_put(&cost, &c->panels[0], MOST_POINTS, 1, NULL);
    fputs(
        "<figure class=\"points\" tabindex=\"0\" role=\"group\" aria-label=\"Cost against time; n "
        "and p step through the points\">\n",
        f);
    FR_TRY(fr__inline_finish(c, f, "Cost against time", err));
    write_key(f, &cost);
    if (cost.n_points > n)
        fprintf(f, "<p class=\"note\">The first %zu of %zu points.</p>\n", n, cost.n_points);
    fputs("</figure>\n", f);
    return FR_OK;
}
