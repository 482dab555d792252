/* results/pictures/validate_split.c - step times over the batch, measured and predicted, as small
 * panels side by side: where a line begins is what does not grow with the batch.
 *
 * It is separate from the scatter of all rows, since here several rows make one line.
 */
#include "config.h"

#include "results/pictures/pictures.h"

#include "base/error.h"
#include "results/charts/chart.h"
#include "results/parts/number.h"
#include "results/parts/palette.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 4, ROWS = 3, MOST = COLUMNS * ROWS };

/* Lines of v->lines that share a panel: they differ in where they ran alone. */
struct place {
    size_t first, n;
    double miss; /* the largest part of a step that is missing or too much, of a line's middle */
};

static bool share_a_panel(const struct fr_validation_line *a, const struct fr_validation_line *b)
{
    return strcmp(a->software, b->software) == 0 && strcmp(a->workload, b->workload) == 0 &&
           strcmp(a->precision, b->precision) == 0 && strcmp(a->options, b->options) == 0 &&
           strcmp(a->notes, b->notes) == 0;
}

static double miss_of(const struct fr_validation_line *l)
{
    double batch = (l->least_batch + l->most_batch) / 2;
    double measured = l->measured_per_step_s + batch * l->measured_per_sample_s;

    return fabs(l->predicted_per_step_s + batch * l->predicted_per_sample_s - measured) / measured;
}

/* The panels that are furthest off, in the order of the lines; *n_all: of how many. */
static size_t choose(const struct fr_validation *v, struct place places[MOST], size_t *n_all)
{
    size_t n = 0, end;

    *n_all = 0;
    for (size_t i = 0; i < v->n_lines; i = end) {
        struct place p = {i, 0, 0};
        size_t least = 0;

        for (end = i; end < v->n_lines && share_a_panel(&v->lines[i], &v->lines[end]); end++)
            p.miss = fmax(p.miss, miss_of(&v->lines[end]));
        p.n = end - i;
        ++*n_all;
        if (n == MOST) {
            for (size_t k = 1; k < n; k++)
                least = places[k].miss < places[least].miss ? k : least;
            if (places[least].miss >= p.miss)
                continue;
            memmove(&places[least], &places[least + 1], (n - least - 1) * sizeof(*places));
            n--;
        }
        places[n++] = p;
    }
    return n;
}

/* The same colour for the same number of GPUs in each panel. */
static size_t rank_of(uint64_t gpus)
{
    size_t rank = 0;

    while (gpus >>= 1)
        rank++;
    return rank;
}

static void put_line(struct fr__panel *p, double per_step_s, double per_sample_s, double batch,
                     struct fr__chart_style style)
{
    struct fr__chart_series *s = fr__panel_series(p, style);

    fr__series_point(s, 0, 1e3 * per_step_s);
    fr__series_point(s, batch, 1e3 * (per_step_s + batch * per_sample_s));
    p->x.high = fmax(p->x.high, 1.05 * batch);
    p->y.low = fmin(p->y.low, 1e3 * per_step_s);
    p->y.high = fmax(p->y.high, 1.05e3 * (per_step_s + batch * per_sample_s));
}

static void put_panel(struct fr__chart *c, const struct fr_validation *v, const struct place *place,
                      size_t at)
{
    size_t column = at % COLUMNS, row = at / COLUMNS;
    double wide = 0.98 / COLUMNS, high = 0.88 / ROWS, left = 0.01 + wide * (double)column,
           top = 0.90 - high * (double)row;
    struct fr__panel *p =
        fr__chart_panel(c, left + 0.04, left + wide - 0.005, top - high + 0.06, top - 0.04);
    const struct fr_validation_line *l = &v->lines[place->first];

    p->caption = fr__chart_text(c, "%s, %s, %s", l->software, l->workload, l->precision);
    p->title_points = 12;
    p->key = at == 0 ? FR__KEY_BELOW : FR__KEY_NONE;
    p->has_key_of_all = true;
    p->x.label = row + 1 == ROWS ? "batch of a GPU" : NULL;
    p->y.label = column == 0 ? "step (ms)" : NULL;
    for (size_t i = 0; i < place->n; i++, l++) {
        struct fr__chart_style style = {
            .mark = FR__LINE, .colour = fr__palette(rank_of(l->gpus)), .width = 2};

        style.title = fr__chart_text(c, "%" PRIu64 " GPU%s", l->gpus, l->gpus == 1 ? "" : "s");
        put_line(p, l->measured_per_step_s, l->measured_per_sample_s, l->most_batch, style);
        style.title = NULL;
        style.is_dashed = true;
        put_line(p, l->predicted_per_step_s, l->predicted_per_sample_s, l->most_batch, style);
    }
}

enum fr_status fr__chart_of_split(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_validation *v = ((const struct fr_validation_answer *)what)->validation;
    struct place places[MOST];
    size_t n_all, n = choose(v, places, &n_all);

    if (n == 0)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no rows differ in their batch alone");
    c->title = "Step time over the batch: measured, and predicted (dashed)";
    c->subtitle =
        "where a line begins is what does not grow with the batch: work once a step, exchange";
    if (n < n_all)
        c->remark = fr__chart_text(c, "%zu of %zu, those furthest off", n, n_all);
    for (size_t i = 0; i < n; i++)
        put_panel(c, v, &places[i], i);
    return FR_OK;
}
