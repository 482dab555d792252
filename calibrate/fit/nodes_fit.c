/* calibrate/fit/nodes_fit.c - fits collectives over several nodes (system_nodes.h).
 *
 * NCCL chooses a way (algorithm and protocol) for each row by its own model of the machine, which
 * we do not know. So a grid of such models is tried: bandwidths around the largest one measured,
 * with LL128 or without. Each model says which way each row took, and then each way is fitted to
 * its own rows alone, on the mean of |log(predicted / measured)|. The model under which these fits
 * miss least is kept.
 *
 * A constant of which the rows of a way say little is pulled towards NCCL's own value. A way that
 * would have fewer than MIN_OF_WAY rows is dropped.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "calibrate/fit/read/row_hash.h"
#include "calibrate/fit/system_fit.h"
#include "calibrate/messages/model.h"
#include "calibrate/messages/nodes.h"
#include "base/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_OF_WAY = 4, STEPS = 1000, MAX_P = FR_SYSTEM_WAY_PARAMETERS };
static const double PULL = 0.002;

/* ---- one way ---- */

struct way_fit {
    enum fr_system_way way;                 /* FR_N_SYSTEM_WAYS stands for all-to-all */
    const struct fr__collective_row **rows; /* [fit.n] */
    double centre[MAX_P];
    struct fr__rows_fit fit;
};

static double log_ratio(const void *user, const double p[], size_t k)
{
    const struct way_fit *f = user;
    const struct fr_system_call *call = &f->rows[k]->call;
    double t = f->way == FR_N_SYSTEM_WAYS ? fr__nodes_all_to_all_s(p, call)
                                          : fr__nodes_way_s(f->way, p, call);

    return log(t / f->rows[k]->time_s);
}

static uint64_t hash_of(const void *user, size_t k)
{
    return ((const struct way_fit *)user)->rows[k]->hash;
}

/* Sets the ranges of a fit whose way, rows and centre are set. */
static void set_range(struct way_fit *f)
{
    size_t n =
        f->way == FR_N_SYSTEM_WAYS ? FR_SYSTEM_NODES_ALL_TO_ALL : fr__nodes_n_parameters(f->way);

    for (size_t i = 0; i < n; i++) {
        struct fr__range range =
            fr__system_range(f->way == FR_N_SYSTEM_WAYS ? fr_system_nodes_all_to_all_name(i)
                                                        : fr_system_way_parameter_name(f->way, i));

        f->fit.low[i] = range.low;
        f->fit.high[i] = range.high;
    }
    f->fit.log_ratio = log_ratio;
    f->fit.hash = hash_of;
    f->fit.user = f;
    f->fit.simplex = (struct fr__simplex){.n = n, .centre = f->centre, .pull = PULL};
}

/* Finds the best parameters from n_starts places around the centre. Returns the miss, with the
 * pull, or NaN out of memory. */
static double find_parameters(struct way_fit *f, unsigned n_starts, double out[])
{
    static const double away[] = {1, 2, 0.5};
    double starts[3 * MAX_P];
    size_t n = f->fit.simplex.n;

    for (size_t i = 0; i < n_starts * n; i++)
        starts[i] =
            fmin(fmax(f->centre[i % n] * away[i / n], f->fit.low[i % n]), f->fit.high[i % n]);
    return fr__rows_fit_best(&f->fit, n_starts, starts, 0.5, STEPS, out);
}

/* The final fit of a way: from more starts, rounded, with standard errors. */
static enum fr_status fit_well(struct way_fit *f, double parameters[], double errors[],
                               struct fr_error *err)
{
    if (isnan(find_parameters(f, 3, parameters)))
        return fr__fail_nomem(err);
    for (size_t i = 0; i < f->fit.simplex.n; i++)
        parameters[i] = fr__round_digits(parameters[i]);
    return fr__rows_fit_errors(&f->fit, FR__SYSTEM_DRAWS, parameters, errors, err);
}

/* ---- the choice ---- */

/* A fit of a way to some of the rows; many choices need the same one. */
struct known {
    enum fr_system_way way;
    uint64_t rows; /* hash of the rows it was fitted to */
    double sum;    /* sum of |log| over these rows */
};

struct nodes_fit {
    const struct fr__collective_row *const *rows; /* [n] */
    size_t n;
    enum fr_system_way *way_of;            /* [n] */
    const struct fr__collective_row **own; /* [n] scratch for the rows of one way */
    double bus_Bps;
    struct known *known;
    size_t n_known, known_cap;
};

/* Sets has_way and way_of, without the ways that too few rows would take. */
static void settle_ways(struct nodes_fit *f, struct fr_system_nodes *nodes)
{
    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        nodes->has_way[w] = true;
    for (;;) {
        size_t counts[FR_N_SYSTEM_WAYS + 1] = {0};
        unsigned fewest = FR_N_SYSTEM_WAYS;

        for (size_t k = 0; k < f->n; k++) {
            f->way_of[k] = fr__nodes_choose(nodes, &f->rows[k]->call);
            counts[f->way_of[k]]++;
        }
        for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
            if (nodes->has_way[w] && counts[w] < MIN_OF_WAY &&
                (fewest == FR_N_SYSTEM_WAYS || counts[w] < counts[fewest]))
                fewest = w;
        if (fewest == FR_N_SYSTEM_WAYS)
            return;
        nodes->has_way[fewest] = false;
    }
}

static struct way_fit way_fit_of(struct nodes_fit *f, enum fr_system_way way)
{
    struct way_fit w = {.way = way, .rows = f->own};

    for (size_t k = 0; k < f->n; k++)
        if (f->way_of[k] == way)
            f->own[w.fit.n++] = f->rows[k];
    fr__nodes_start(way, f->bus_Bps, w.centre);
    return w;
}

static uint64_t hash_own(const struct nodes_fit *f, enum fr_system_way way)
{
    uint64_t h = FR__FNV_START;

    for (size_t k = 0; k < f->n; k++)
        if (f->way_of[k] == way)
            h = fr__fnv_word(h, k);
    return h;
}

/* Sum of |log(predicted / measured)| of the rows of one way at their best fit. */
static enum fr_status sum_of_way(struct nodes_fit *f, enum fr_system_way way, double *sum,
                                 struct fr_error *err)
{
    struct known now = {.way = way, .rows = hash_own(f, way)};
    struct way_fit w = way_fit_of(f, way);
    double p[MAX_P];

    for (size_t i = 0; i < f->n_known; i++)
        if (f->known[i].way == way && f->known[i].rows == now.rows) {
            *sum += f->known[i].sum;
            return FR_OK;
        }
    set_range(&w);
    if (isnan(find_parameters(&w, 1, p)) ||
        !fr__grow(&f->known, &f->known_cap, f->n_known + 1, sizeof(now)))
        return fr__fail_nomem(err);
    now.sum = fr__rows_miss(&w.fit, p) * (double)w.fit.n;
    f->known[f->n_known++] = now;
    *sum += now.sum;
    return FR_OK;
}

/* How much a choice misses. A row for which no way is left counts as wrong by a factor e. */
static enum fr_status judge_choice(struct nodes_fit *f, struct fr_system_nodes *nodes, double *sum,
                                   struct fr_error *err)
{
    *sum = 0;
    settle_ways(f, nodes);
    for (size_t k = 0; k < f->n; k++)
        *sum += f->way_of[k] == FR_N_SYSTEM_WAYS;
    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        if (nodes->has_way[w])
            FR_TRY(sum_of_way(f, (enum fr_system_way)w, sum, err));
    return FR_OK;
}

static unsigned most_nodes(const struct nodes_fit *f)
{
    unsigned most = 0;

    for (size_t k = 0; k < f->n; k++)
        most = f->rows[k]->call.n_nodes > most ? f->rows[k]->call.n_nodes : most;
    return most;
}

static enum fr_status find_choice(struct nodes_fit *f, struct fr_system_nodes *nodes,
                                  struct fr_error *err)
{
    static const double near[] = {0.25, 0.35, 0.5, 0.7, 1, 1.4, 2}, tree[] = {1, 2},
                        far[] = {1, 0.7, 0.5};
    enum { N = 7 * 2 * 3 * 2 };
    double best = INFINITY;
    struct fr_system_choice kept = {0};

    for (unsigned i = 0; i < N; i++) {
        double near_Bps = f->bus_Bps * near[i / 12], sum;
        unsigned which_far = i / 2 % 3;

        if (which_far > 0 && most_nodes(f) <= 2)
            continue;
        nodes->choice =
            (struct fr_system_choice){.near_Bps = fr__round_digits(near_Bps),
                                      .tree_near_Bps = fr__round_digits(near_Bps * tree[i / 6 % 2]),
                                      .far_Bps = fr__round_digits(f->bus_Bps * far[which_far]),
                                      .has_ll128 = i % 2};
        FR_TRY(judge_choice(f, nodes, &sum, err));
        if (sum < best) {
            best = sum;
            kept = nodes->choice;
        }
    }
    nodes->choice = kept;
    settle_ways(f, nodes);
    return FR_OK;
}

/* ---- together ---- */

/* The greatest bandwidth of a GPU in a ring that any row reaches. */
static double greatest_bus_Bps(const struct fr__collective_row *const rows[], size_t n)
{
    double most = 0;

    for (size_t k = 0; k < n; k++) {
        const struct fr_system_call *c = &rows[k]->call;
        double steps = (c->op == FR_SYSTEM_ALL_REDUCE ? 2 : 1) * (double)(c->n_gpus - 1);

        most = fmax(most, c->bytes * steps / c->n_gpus / rows[k]->time_s);
    }
    return fr__round_digits(most);
}

enum fr_status fr__fit_nodes(struct fr_system_nodes *nodes,
                             const struct fr__collective_row *const rows[], size_t n,
                             struct fr_error *err)
{
    struct nodes_fit f = {.rows = rows,
                          .n = n,
                          .way_of = calloc(n + 1, sizeof(*f.way_of)),
                          .own = calloc(n + 1, sizeof(*f.own)),
                          .bus_Bps = greatest_bus_Bps(rows, n)};
    enum fr_status st = f.way_of && f.own ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK)
        st = find_choice(&f, nodes, err);
    for (unsigned w = 0; st == FR_OK && w < FR_N_SYSTEM_WAYS; w++) {
        struct way_fit way;

        if (!nodes->has_way[w])
            continue;
        way = way_fit_of(&f, (enum fr_system_way)w);
        set_range(&way);
        st = fit_well(&way, nodes->ways[w], nodes->way_errors[w], err);
    }
    free(f.known);
    free(f.own);
    free(f.way_of);
    return st;
}

enum fr_status fr__fit_nodes_all_to_all(struct fr_system_nodes *nodes,
                                        const struct fr__collective_row *const rows[], size_t n,
                                        struct fr_error *err)
{
    struct way_fit f = {.way = FR_N_SYSTEM_WAYS,
                        .rows = calloc(n + 1, sizeof(*f.rows)),
                        .fit = {.n = n},
                        .centre = {20e-6, 1e-6, greatest_bus_Bps(rows, n), 64e3, 0.5}};
    enum fr_status st = FR_OK;

    if (!f.rows)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < n; k++)
        f.rows[k] = rows[k];
    set_range(&f);
    nodes->has_all_to_all = true;
    st = fit_well(&f, nodes->all_to_all, nodes->all_to_all_errors, err);
    free(f.rows);
    return st;
}
