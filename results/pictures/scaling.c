/* results/pictures/scaling.c - strong or weak scaling of a sweep's questions.
 *
 * It is separate from sweep.c, which shows what is fast and cheap and not how it got there.
 */
#include "config.h"

#include "base/error.h"
#include "results/parts/palette.h"
#include "results/parts/sweep_names.h"
#include "results/pictures/pictures.h"
#include "study/sweep/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* MOST_LABEL characters of a name are shown. */
enum { MAX_LINES = FR__PALETTE, LABEL = 160, MOST_LABEL = 60 };

struct point {
    char label[LABEL]; /* of its line: all that varies but the GPUs */
    double gpus, samples_per_s, efficiency;
};

static int compare(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int order = strcmp(x->label, y->label);

    return order ? order : x->gpus < y->gpus ? -1 : x->gpus > y->gpus;
}

static void name_line(const struct fr_sweep *s, size_t point, bool has_workloads, char label[LABEL])
{
    size_t settings[FR_N_SETTINGS], n = fr__sweep_varying(s, settings), used = 0;
    char value[LABEL];

    label[0] = '\0';
    if (has_workloads)
        used = (size_t)snprintf(label, LABEL, "%.60s", s->rows[point]->workload);
    for (size_t i = 0; i < n && used < LABEL; i++) {
        if (strcmp(fr_question_setting(settings[i]), "gpus") == 0)
            continue;
        fr__sweep_value_text(s, point, settings[i], value, sizeof(value));
        used += (size_t)snprintf(label + used, LABEL - used, "%s%s", used ? ", " : "", value);
    }
}

/* [n] points that fit and whose questions fit on several numbers of GPUs, line by line. */
static struct point *collect(const struct fr_sweep *s, const struct fr_sweep_summary *m, size_t *n)
{
    struct point *list = calloc(s->n_points + 1, sizeof(*list));

    *n = 0;
    for (size_t i = 0; list && m->scaling && i < s->n_points; i++) {
        if (!s->rows[i] || isnan(m->scaling[i]))
            continue;
        name_line(s, i, m->n_groups > 1, list[*n].label);
        list[*n].gpus = (double)s->rows[i]->gpus;
        list[*n].samples_per_s = s->rows[i]->samples_per_s;
        list[(*n)++].efficiency = m->scaling[i];
    }
    if (list && *n > 1)
        qsort(list, *n, sizeof(*list), compare);
    return list;
}

static double most_efficient(const struct point list[], size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, list[i].efficiency);
    return most;
}

static int by_gpus(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* A tick for each number of GPUs; they are few, or powers of something. */
static bool put_gpus(struct fr__panel *p, const struct point list[], size_t n)
{
    double *gpus = calloc(n + 1, sizeof(*gpus)), last, least;

    if (!gpus)
        return false;
    for (size_t i = 0; i < n; i++)
        gpus[i] = list[i].gpus;
    qsort(gpus, n, sizeof(*gpus), by_gpus);
    last = gpus[0];
    least = 0.05 * log(gpus[n - 1] / gpus[0]);
    /* room at both ends, so that their ticks are drawn */
    p->x = (struct fr__chart_axis){.low = 0.95 * gpus[0],
                                   .high = 1.05 * gpus[n - 1],
                                   .log = 2,
                                   .has_grid = true,
                                   .label = "GPUs"};
    for (size_t i = 0; i < n; i++) {
        /* labels apart from each other, and from the last one */
        bool is_apart = i == 0 || gpus[i] >= gpus[n - 1] ||
                        (log(gpus[i] / last) > least && log(gpus[n - 1] / gpus[i]) > least);

        if (i > 0 && gpus[i] <= gpus[i - 1])
            continue;
        fr__axis_tick(p, &p->x, gpus[i], is_apart ? fr__chart_text(p->chart, "%.0f", gpus[i]) : "");
        last = is_apart ? gpus[i] : last;
    }
    free(gpus);
    return true;
}

/* From the slowest to the fastest that there could be. */
static void set_throughput(struct fr__panel *p, const struct point list[], size_t n)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < n; i++) {
        low = fmin(low, list[i].samples_per_s);
        high = fmax(high, fmax(list[i].samples_per_s, list[i].samples_per_s / list[i].efficiency));
    }
    p->y = (struct fr__chart_axis){.low = low / 1.25,
                                   .high = 1.25 * high,
                                   .log = 10,
                                   .has_grid = true,
                                   .label = "samples a second"};
}

static bool begins_line(const struct point list[], size_t i)
{
    return i == 0 || strcmp(list[i - 1].label, list[i].label) != 0;
}

/* Lines of throughput with what it would be without loss, or of efficiency. Returns how many lines
 * there are, also of those without room. */
static size_t put_lines(struct fr__panel *p, const struct point list[], size_t n,
                        bool is_efficiency)
{
    struct fr__chart_series *ideal = NULL, *line = NULL;
    size_t n_lines = 0;

    for (size_t i = 0; i < n; i++) {
        if (begins_line(list, i) && n_lines++ < MAX_LINES) {
            const char *colour = fr__palette(n_lines - 1);
            const char *title = fr__chart_text(p->chart, "%.*s", MOST_LABEL, list[i].label);

            ideal = is_efficiency
                        ? NULL
                        : fr__panel_series(p, (struct fr__chart_style){.mark = FR__LINE,
                                                                       .colour = colour,
                                                                       .width = 1,
                                                                       .is_dashed = true});
            line = fr__panel_series(
                p, (struct fr__chart_style){.mark = FR__LINE_POINTS,
                                            .colour = colour,
                                            .width = 2,
                                            .size = 0.9,
                                            .title = title && title[0] ? title : NULL});
        }
        if (n_lines > MAX_LINES)
            continue;
        fr__series_point(ideal, list[i].gpus, list[i].samples_per_s / list[i].efficiency);
        fr__series_point(line, list[i].gpus,
                         is_efficiency ? 100 * list[i].efficiency : list[i].samples_per_s);
    }
    return n_lines;
}

static void set_heading(struct fr__chart *c, struct fr__panel *p, const struct fr_sweep *s,
                        const struct fr_sweep_summary *m)
{
    bool is_strong = s->axes[fr__setting_index("batch-per-gpu")].n == 0;
    char group[200] = "";

    if (m->n_groups == 1)
        fr__sweep_group_text(&m->groups[0], group, sizeof(group));
    c->title = fr__chart_text(c, "%s%s%s", group, group[0] ? ": " : "",
                              is_strong ? "strong scaling, one batch on more GPUs"
                                        : "weak scaling, a batch on each GPU");
    fr__sweep_fixed_text(s, group, sizeof(group));
    c->subtitle = fr__chart_text(c, "%s%sdashed: as on the fewest GPUs that fit, without any loss",
                                 group, group[0] ? "; " : "");
    fr__sweep_varying_text(s, "gpus", group, sizeof(group));
    if (group[0] || m->n_groups > 1)
        p->key_title = m->n_groups <= 1 ? fr__chart_text(c, "%s:", group)
                       : group[0]       ? "workload and settings:"
                                        : "workload:";
}

static enum fr_status describe(struct fr__chart *c, const struct fr_sweep *s,
                               const struct fr_sweep_summary *m, const struct point list[],
                               size_t n, struct fr_error *err)
{
    struct fr__panel *left = fr__chart_panel(c, 0.08, 0.49, 0.11, 0.86);
    struct fr__panel *right = fr__chart_panel(c, 0.57, 0.97, 0.11, 0.86);
    size_t n_lines;

    if (!put_gpus(left, list, n) || !put_gpus(right, list, n))
        return fr__fail_nomem(err);
    set_heading(c, left, s, m);
    set_throughput(left, list, n);
    left->key = FR__KEY_BELOW;
    right->y = (struct fr__chart_axis){.high = fmax(110, 105 * most_efficient(list, n)),
                                       .has_grid = true,
                                       .label = "efficiency (%)"};
    n_lines = put_lines(left, list, n, false);
    put_lines(right, list, n, true);
    if (n_lines > MAX_LINES)
        c->remark = fr__chart_text(c, "the first %d of %zu lines", MAX_LINES, n_lines);
    return FR_OK;
}

enum fr_status fr__chart_of_scaling(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_sweep_answer *a = what;
    size_t n;
    struct point *list = collect(a->sweep, a->summary, &n);
    enum fr_status st;

    if (!list)
        return fr__fail_nomem(err);
    if (n == 0)
        st = fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                      "no question fits on several numbers of GPUs: there is no scaling to draw");
    else
        st = describe(c, a->sweep, a->summary, list, n, err);
    free(list);
    return st;
}
