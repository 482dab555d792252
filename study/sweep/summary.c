/* study/sweep/summary.c - the best rows of each workload, and the frontier of time and cost. */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/interval/terms.h"
#include "study/sweep/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the frontier ---- */

struct place {
    double time_s, cost;
    size_t i;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->time_s < y->time_s || x->time_s > y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    if (x->cost < y->cost || x->cost > y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* Sorts by rising time and keeps what is cheaper than everything faster. places: [n], sorted
 * here. */
static size_t walk(struct place places[], size_t n, size_t frontier[])
{
    double cheapest = INFINITY;
    size_t n_frontier = 0;

    qsort(places, n, sizeof(*places), compare_places);
    for (size_t k = 0; k < n; k++) {
        if (!(places[k].cost < cheapest))
            continue;
        cheapest = places[k].cost;
        frontier[n_frontier++] = places[k].i;
    }
    return n_frontier;
}

size_t fr_frontier(size_t n, const double time_s[], const double cost[], size_t frontier[])
{
    struct place *places = calloc(n + 1, sizeof(*places));
    size_t n_places = 0, n_frontier;

    if (!places)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(time_s[i]) && !isnan(cost[i]))
            places[n_places++] = (struct place){time_s[i], cost[i], i};
    n_frontier = walk(places, n_places, frontier);
    free(places);
    return n_frontier;
}

/* ---- groups ---- */

struct box {
    struct fr_sweep_summary summary;
    struct fr__arena *arena;
};

/* The settings that make a group, the outermost first. */
static const char *const group_settings[] = {"workload", "seq-len", "image-size"};

static size_t count_values(const struct fr_sweep *s, const char *setting)
{
    size_t n = s->axes[fr__setting_index(setting)].n;

    return n ? n : 1;
}

size_t fr__sweep_group_of(const struct fr_sweep *s, size_t point)
{
    size_t at[FR_N_SETTINGS], group = 0;

    for (size_t i = FR_N_SETTINGS; i-- > 0;) {
        size_t n = s->axes[i].n ? s->axes[i].n : 1;

        at[i] = point % n;
        point /= n;
    }
    for (size_t k = 0; k < 3; k++)
        group =
            group * count_values(s, group_settings[k]) + at[fr__setting_index(group_settings[k])];
    return group;
}

/* Names group number i; NULL shape when nothing of it varies. */
static enum fr_status name_group(const struct fr_sweep *s, size_t i, struct fr__arena *arena,
                                 struct fr_sweep_group *g, struct fr_error *err)
{
    char shape[128] = "";
    size_t rest = i, used = 0, at[3];

    for (size_t k = 3; k-- > 1;) {
        at[k] = rest % count_values(s, group_settings[k]);
        rest /= count_values(s, group_settings[k]);
    }
    for (size_t k = 1; k < 3; k++) {
        const struct fr__axis *axis = &s->axes[fr__setting_index(group_settings[k])];

        if (count_values(s, group_settings[k]) > 1 && used < sizeof(shape))
            used += (size_t)snprintf(shape + used, sizeof(shape) - used, "%s%s %.20s",
                                     used ? ", " : "", group_settings[k], axis->values[at[k]]);
    }
    g->workload =
        fr__arena_strdup(arena, s->axes[fr__setting_index(group_settings[0])].values[rest]);
    if (shape[0])
        g->shape = fr__arena_strdup(arena, shape);
    return g->workload && (g->shape || !shape[0]) ? FR_OK : fr__fail_nomem(err);
}

static bool is_better(double x, double y)
{
    return !isnan(x) && (isnan(y) || x < y);
}

/* The best rows so far while a group's rows are visited. */
struct best {
    double time_s, memory_bytes;
    struct fr_sweep_value cheapest;
};

/* Order: within the deadline before late, then by cost, then by time. */
static bool is_cheaper(struct fr_sweep_value v, struct fr_sweep_value than)
{
    if (isnan(v.cost) || isnan(than.cost))
        return !isnan(v.cost);
    if (v.is_late != than.is_late)
        return than.is_late;
    if (v.cost < than.cost || v.cost > than.cost)
        return v.cost < than.cost;
    return v.time_s < than.time_s;
}

static void consider(struct fr_sweep_group *g, struct best *best, size_t point,
                     const struct fr_sweep_row *row, struct fr_sweep_value v)
{
    double bytes = (double)row->peak_bytes;

    g->n_fits++;
    g->n_in_time += !v.is_late;
    if (is_better(v.time_s, best->time_s)) {
        best->time_s = v.time_s;
        g->best_time = point;
    }
    if (is_better(bytes, best->memory_bytes)) {
        best->memory_bytes = bytes;
        g->best_memory = point;
    }
    if (is_cheaper(v, best->cheapest)) {
        best->cheapest = v;
        g->best_cost = point;
    }
}

static void go_through(const struct fr_sweep *s, struct fr_sweep_summary *m,
                       struct fr_sweep_group groups[], struct best best[])
{
    for (size_t point = 0; point < s->n_points; point++) {
        const struct fr_sweep_row *row = s->rows[point];
        size_t i = fr__sweep_group_of(s, point);

        if (!row) {
            m->n_missing += fr_sweep_is_mine(s, point);
            continue;
        }
        m->n[row->outcome]++;
        groups[i].n_points++;
        if (row->outcome == FR_FITS)
            consider(&groups[i], &best[i], point, row, fr_sweep_value(row, &m->terms));
    }
}

/* Which rows of a group are on its frontier; places and found: [n_points]. */
static enum fr_status find_frontier(const struct fr_sweep *s, const struct fr_sweep_summary *m,
                                    struct fr__arena *arena, struct fr_sweep_group *g,
                                    const size_t points[], struct place places[], size_t found[],
                                    struct fr_error *err)
{
    size_t n = 0, *frontier;

    for (size_t k = 0; k < g->n_points; k++) {
        const struct fr_sweep_row *row = s->rows[points[k]];
        struct fr_sweep_value v = fr_sweep_value(row, &m->terms);

        if (!isnan(v.time_s) && !isnan(v.cost))
            places[n++] = (struct place){v.time_s, v.cost, points[k]};
    }
    g->n_frontier = walk(places, n, found);
    frontier = fr__arena_alloc(arena, g->n_frontier, sizeof(*frontier));
    if (!frontier)
        return fr__fail_nomem(err);
    if (g->n_frontier > 0)
        memcpy(frontier, found, g->n_frontier * sizeof(*frontier));
    g->frontier = frontier;
    return FR_OK;
}

/* Fills the points that have rows, group by group: [n_points]. */
static void deal_out(const struct fr_sweep *s, const struct fr_sweep_group groups[],
                     size_t n_groups, size_t next[], size_t points[])
{
    size_t at = 0;

    for (size_t i = 0; i < n_groups; i++) {
        next[i] = at;
        at += groups[i].n_points;
    }
    for (size_t point = 0; point < s->n_points; point++)
        if (s->rows[point])
            points[next[fr__sweep_group_of(s, point)]++] = point;
}

static enum fr_status find_frontiers(const struct fr_sweep *s, struct box *box,
                                     struct fr_sweep_group groups[], size_t n_groups,
                                     struct fr_error *err)
{
    struct place *places = calloc(s->n_points + 1, sizeof(*places));
    size_t *points = calloc(s->n_points + 1, sizeof(*points)), at = 0;
    size_t *found = calloc(s->n_points + 1, sizeof(*found));
    size_t *next = calloc(n_groups + 1, sizeof(*next));
    enum fr_status st = FR_OK;

    if (!places || !points || !found || !next)
        st = fr__fail_nomem(err);
    else
        deal_out(s, groups, n_groups, next, points);
    for (size_t i = 0; i < n_groups && st == FR_OK; i++) {
        st = find_frontier(s, &box->summary, box->arena, &groups[i], points + at, places, found,
                           err);
        at += groups[i].n_points;
    }
    free(places);
    free(points);
    free(found);
    free(next);
    return st;
}

/* Rows of a group ask for the same model, so what its software adds is in all of them alike, and
 * does not hinder their order. What does is how much further one is off than another: see
 * fr__pair_error. */
static enum fr_status compare_with_best(struct box *box, const struct fr_sweep *s,
                                        struct fr_sweep_group groups[], struct fr_error *err)
{
    bool *is_like = fr__arena_alloc(box->arena, s->n_points + 1, sizeof(*is_like));

    if (!is_like)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < s->n_points; i++) {
        const struct fr_sweep_row *row = s->rows[i], *best;
        struct fr_sweep_group *g = &groups[fr__sweep_group_of(s, i)];

        if (!row || row->outcome != FR_FITS || !(row->low_s > 0) || g->best_time == SIZE_MAX ||
            g->best_time == i)
            continue;
        best = s->rows[g->best_time];
        is_like[i] = best->samples_per_s <= row->samples_per_s * exp(fr__pair_error());
        g->n_like_best += is_like[i];
        is_like[g->best_time] = is_like[g->best_time] || is_like[i];
    }
    box->summary.is_like_best = is_like;
    return FR_OK;
}

static enum fr_status fill(struct box *box, const struct fr_sweep *s, struct fr_error *err)
{
    struct fr_sweep_summary *m = &box->summary;
    struct fr_sweep_group *groups;
    struct best *best;
    size_t n = 1;

    for (size_t k = 0; k < 3; k++)
        n *= count_values(s, group_settings[k]);
    groups = fr__arena_alloc(box->arena, n, sizeof(*groups));
    best = fr__arena_alloc(box->arena, n, sizeof(*best));
    if (!groups || !best)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        FR_TRY(name_group(s, i, box->arena, &groups[i], err));
        groups[i].best_time = groups[i].best_memory = groups[i].best_cost = SIZE_MAX;
        best[i] = (struct best){NAN, NAN, {NAN, NAN, false}};
    }
    go_through(s, m, groups, best);
    m->groups = groups;
    m->n_groups = n;
    FR_TRY(compare_with_best(box, s, groups, err));
    return find_frontiers(s, box, groups, n, err);
}

static enum fr_status fill_scaling(struct box *box, const struct fr_sweep *s, struct fr_error *err)
{
    double *frac = fr__arena_alloc(box->arena, s->n_points, sizeof(*frac));

    if (!frac)
        return fr__fail_nomem(err);
    if (fr__sweep_scaling(s, frac))
        box->summary.scaling = frac;
    for (size_t i = 0; i < s->n_points; i++)
        if (s->rows[i] && !isnan(s->rows[i]->tokens_per_s))
            box->summary.has_tokens = true;
    return FR_OK;
}

double fr_sweep_least_difference(void)
{
    return exp(fr__pair_error()) - 1;
}

enum fr_status fr_sweep_summarise(const struct fr_sweep *s, const struct fr_sweep_terms *terms,
                                  struct fr_sweep_summary **out, struct fr_error *err)
{
    struct box *box = calloc(1, sizeof(*box));
    enum fr_status st;

    if (!box)
        return fr__fail_nomem(err);
    box->arena = fr__arena_new();
    box->summary.terms = *terms;
    box->summary.priv = box;
    st = box->arena ? fill(box, s, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        st = fill_scaling(box, s, err);
    if (st == FR_OK)
        *out = &box->summary;
    else
        fr_sweep_summary_free(&box->summary);
    return st;
}

void fr_sweep_summary_free(struct fr_sweep_summary *m)
{
    struct box *box = m ? m->priv : NULL;

    if (!box)
        return;
    fr__arena_free(box->arena);
    free(box);
}
