/* results/pictures/curves.c - a collective's bus bandwidth and time over the size, a line for each
 * algorithm.
 *
 * Both axes are logarithmic. Sizes stand at powers of two. What NCCL's tuner estimates is dashed.
 */
#include "config.h"

#include "results/pictures/pictures.h"

#include "results/parts/colours.h"
#include "results/parts/palette.h"

#include <math.h>

enum { MOST_TICKS = 9 };

struct range {
    double low, high;
};

static void widen(struct range *r, double x)
{
    if (!(x > 0) || !isfinite(x))
        return;
    r->low = r->low > 0 ? fmin(r->low, x) : x;
    r->high = fmax(r->high, x);
}

static double us_of(const struct fr_comm_row *r)
{
    return r->time_s * 1e6;
}

static double GBps_of(const struct fr_comm_row *r)
{
    return r->bus_Bps / 1e9;
}

/* A size in a few characters, "64K". */
static const char *short_size(double bytes, char *buf, size_t n)
{
    static const char *const UNITS[] = {"", "K", "M", "G", "T"};
    size_t u = 0;

    while (bytes >= 1024 && u < 4) {
        bytes /= 1024;
        u++;
    }
    snprintf(buf, n, "%.0f%s", bytes, UNITS[u]);
    return buf;
}

static void put_sizes(struct fr__panel *p, struct range r)
{
    int first = (int)ceil(log2(r.low) - 1e-9), last = (int)floor(log2(r.high) + 1e-9);
    int every = 1;
    char text[32];

    while ((last - first) / every > MOST_TICKS)
        every++;
    for (int k = first; k <= last; k++)
        fr__axis_tick(p, &p->x, ldexp(1, k),
                      (k - first) % every == 0 ? short_size(ldexp(1, k), text, sizeof(text)) : "");
}

static const char *name_of(const struct fr_comm_table *t)
{
    for (size_t i = 0; !t->way && i < t->n_rows; i++)
        if (t->rows[i].source != FR_COMM_FITTED && t->rows[i].source != FR_COMM_TRANSFERRED)
            return "NCCL's choice, simulated";
    return t->way ? t->way : "fitted to measurements";
}

/* GB/s, or us; of the curve itself, or of NCCL's estimate. NAN: none. */
static double value_of(const struct fr_comm_row *r, bool is_time, bool is_nccl)
{
    if (is_nccl && !(r->nccl_s > 0 && r->time_s > 0))
        return NAN;
    if (is_time)
        return is_nccl ? r->nccl_s * 1e6 : us_of(r);
    return is_nccl ? GBps_of(r) * r->time_s / r->nccl_s : GBps_of(r);
}

static void put_curve(struct fr__panel *p, const struct fr_comm_table *t, bool is_time,
                      bool is_nccl, struct fr__chart_style style)
{
    struct fr__chart_series *s = fr__panel_series(p, style);

    for (size_t i = 0; i < t->n_rows; i++)
        fr__series_point(s, (double)t->rows[i].bytes, value_of(&t->rows[i], is_time, is_nccl));
}

static void put_panel(struct fr__chart *c, struct fr_comm_table *const t[], size_t n, bool is_time,
                      struct range sizes)
{
    struct fr__panel *p =
        fr__chart_panel(c, is_time ? 0.57 : 0.07, is_time ? 0.98 : 0.48, 0.1, 0.88);
    struct range range = {0, 0};

    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < t[k]->n_rows; i++) {
            widen(&range, value_of(&t[k]->rows[i], is_time, false));
            if (k == 0)
                widen(&range, value_of(&t[k]->rows[i], is_time, true));
        }
    if (!(range.low > 0))
        range = (struct range){1, 10};
    p->x = (struct fr__chart_axis){.low = sizes.low / 1.2,
                                   .high = sizes.high * 1.2,
                                   .log = 10,
                                   .has_grid = true,
                                   .label = "size, bytes"};
    p->y = (struct fr__chart_axis){.low = range.low / 1.25,
                                   .high = range.high * 1.25,
                                   .log = 10,
                                   .has_grid = true,
                                   .label = is_time ? "time, us" : "bus bandwidth, GB/s"};
    put_sizes(p, sizes);
    if (!is_time)
        p->key = FR__KEY_BELOW;
    for (size_t k = 0; k < n; k++)
        put_curve(p, t[k], is_time, false,
                  (struct fr__chart_style){.mark = FR__LINE_POINTS,
                                           .colour = fr__palette(k % FR__PALETTE),
                                           .width = 2,
                                           .size = 0.4,
                                           .title = name_of(t[k])});
    put_curve(p, t[0], is_time, true,
              (struct fr__chart_style){.mark = FR__LINE,
                                       .colour = FR__COLOUR_QUIET,
                                       .is_dashed = true,
                                       .title = "NCCL's estimate"});
}

static void describe(struct fr__chart *c, struct fr_comm_table *const t[], size_t n)
{
    struct range sizes = {0, 0};

    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < t[k]->n_rows; i++)
            widen(&sizes, (double)t[k]->rows[i].bytes);
    if (!(sizes.low > 0))
        sizes = (struct range){1, 10};
    c->title = fr__chart_text(c, "%s on %zu GPUs of %zu machine%s of %s",
                              fr_collective_kind_name(t[0]->kind), t[0]->n_gpus, t[0]->n_machines,
                              t[0]->n_machines == 1 ? "" : "s", t[0]->topology);
    c->subtitle = fr__chart_text(c, "%s, %s; dashed: what NCCL's tuner estimates", t[0]->type->name,
                                 t[0]->op);
    put_panel(c, t, n, false, sizes);
    put_panel(c, t, n, true, sizes);
}

enum fr_status fr__chart_of_curves(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_curves_answer *a = what;

    (void)err;
    describe(c, a->tables, a->n);
    return FR_OK;
}
