/* results/html/pictures.c - finds the picture that a page asks for.
 *
 * It is separate from the pictures, each of which knows its own answer alone.
 */
#include "config.h"

#include "base/error.h"
#include "results/html/html.h"
#include "results/parts/output.h"
#include "results/parts/rows.h"

/* The strategies' iterations under one another, each with a link to its own part. */
static enum fr_status put_runs(FILE *f, const struct fr_results *rs, struct fr_error *err)
{
    struct fr__html_run runs[FR__HTML_SCALED];
    char links[FR__HTML_SCALED][32], names[FR__HTML_SCALED][FR__ROW_NAME];
    size_t n = 0;

    for (; n < rs->n && n < FR__HTML_SCALED; n++) {
        snprintf(links[n], sizeof(links[n]), "#part%zu", n + 1);
        runs[n] = (struct fr__html_run){rs->records[n], fr__row_name(rs, n, names[n]), links[n]};
    }
    return fr__html_scale(f, runs, n, false, err);
}

static enum fr_status put_both(FILE *f, const struct fr_difference *d, struct fr_error *err)
{
    char a[FR__TABLE_CELL + 4], b[FR__TABLE_CELL + 4];
    const struct fr__html_run runs[2] = {{d->a, a, NULL}, {d->b, b, NULL}};

    snprintf(a, sizeof(a), "A: %.200s", d->a->strategy);
    snprintf(b, sizeof(b), "B: %.200s", d->b->strategy);
    return fr__html_scale(f, runs, 2, true, err);
}

enum fr_status fr__html_picture(FILE *f, const struct fr__block *b, fr__chart_fn *chart,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_sweep_answer *sweep = b->of;

    FR_TRY(fr__check_cancel(ctx, err));
    switch (b->picture) {
    case FR__PICTURE_TIMELINE:
        return fr__html_timeline(f, b->of, b->number, err);
    case FR__PICTURE_MEMORY:
        return fr__html_memory(f, b->of, b->number, err);
    case FR__PICTURE_RUNS:
        return put_runs(f, b->of, err);
    case FR__PICTURE_BOTH:
        return put_both(f, b->of, err);
    case FR__PICTURE_BEST:
        return fr__html_best(f, sweep, ctx, err);
    case FR__PICTURE_CHART:
        return chart ? fr__html_chart(f, chart, b->of, ctx, err) : FR_OK;
    case FR__PICTURE_COST:
        return fr__html_sweep_plot(f, sweep->sweep, sweep->summary, b->number, err);
    }
    return FR_OK;
}
