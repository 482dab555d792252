/* study/validate/summary.c - sums up the errors of a validation: by group, by rank, by scaling. */
#include "config.h"

#include "study/validate/summary.h"

#include "base/error.h"
#include "base/names.h"
#include "study/validate/split.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const by_names[FR_N_BYS] = {"all", "workload", "device", "strategy", "source"};
static const struct fr__name_list bys = FR__NAMES(by_names);

const char *fr_validation_by_name(enum fr_validation_by by)
{
    return fr__name_of(&bys, by);
}

/* ---- errors of some rows ---- */

/* errors: signed; sorted by absolute value afterwards. */
static struct fr_validation_errors errors_of(double errors[], size_t n)
{
    struct fr_validation_errors e = {.n = n};

    if (n == 0)
        return e;
    gsl_sort(errors, 1, n);
    e.bias = gsl_stats_quantile_from_sorted_data(errors, 1, n, 0.5);
    for (size_t i = 0; i < n; i++) {
        errors[i] = fabs(errors[i]);
        e.mean += errors[i] / (double)n;
    }
    gsl_sort(errors, 1, n);
    e.median = gsl_stats_quantile_from_sorted_data(errors, 1, n, 0.5);
    e.p90 = gsl_stats_quantile_from_sorted_data(errors, 1, n, 0.9);
    e.worst = errors[n - 1];
    return e;
}

/* ---- groups ---- */

/* The part of a row that its group shares: how many characters of which string. */
static size_t key_of(const struct fr_validation_row *r, enum fr_validation_by by, const char **text)
{
    switch (by) {
    case FR_BY_WORKLOAD:
        *text = r->workload;
        return strlen(*text);
    case FR_BY_DEVICE:
        *text = r->device;
        return strlen(*text);
    case FR_BY_STRATEGY:
        *text = r->strategy;
        return strcspn(*text, ":");
    case FR_BY_SOURCE:
        *text = r->id;
        return strspn(*text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
    default:
        *text = "all rows";
        return strlen(*text);
    }
}

static bool is_of(const struct fr_validation_row *r, enum fr_validation_by by, const char *name)
{
    const char *text;
    size_t n = key_of(r, by, &text);

    return strlen(name) == n && strncmp(name, text, n) == 0;
}

static int by_name(const void *a, const void *b)
{
    const struct fr_validation_group *x = a, *y = b;

    return strcmp(x->name, y->name);
}

struct making {
    struct fr_validation *v;
    struct fr__arena *arena;
    double *errors;                     /* [n_rows] scratch */
    struct fr_validation_group *groups; /* heap while it grows */
    size_t n, cap;
};

static enum fr_status add_group(struct making *m, enum fr_validation_by by, const char *name,
                                struct fr_error *err)
{
    size_t n = 0;

    if (!name || !fr__grow(&m->groups, &m->cap, m->n + 1, sizeof(*m->groups)))
        return fr__fail_nomem(err);
    for (size_t i = 0; i < m->v->n_rows; i++)
        if (!m->v->rows[i].why_not && is_of(&m->v->rows[i], by, name))
            m->errors[n++] = m->v->rows[i].error;
    m->groups[m->n++] = (struct fr_validation_group){by, name, errors_of(m->errors, n)};
    return FR_OK;
}

static enum fr_status add_groups(struct making *m, enum fr_validation_by by, struct fr_error *err)
{
    size_t first = m->n;

    for (size_t i = 0; i < m->v->n_rows; i++) {
        const char *text;
        size_t length, g = first;

        if (m->v->rows[i].why_not)
            continue;
        length = key_of(&m->v->rows[i], by, &text);
        while (g < m->n && !is_of(&m->v->rows[i], by, m->groups[g].name))
            g++;
        if (g == m->n)
            FR_TRY(add_group(m, by, fr__arena_strndup(m->arena, text, length), err));
    }
    if (m->n > first)
        qsort(&m->groups[first], m->n - first, sizeof(*m->groups), by_name);
    return FR_OK;
}

/* ---- pairs ---- */

static bool is_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool differ_in_strategy_only(const struct fr_validation_row *a,
                                    const struct fr_validation_row *b)
{
    const char *x, *y;
    size_t n = key_of(a, FR_BY_SOURCE, &x);

    return is_same(a->workload, b->workload) && is_same(a->topology, b->topology) &&
           a->gpus == b->gpus && a->global_batch == b->global_batch &&
           is_same(a->precision, b->precision) && is_same(a->options, b->options) &&
           key_of(b, FR_BY_SOURCE, &y) == n && strncmp(x, y, n) == 0;
}

/* Whether the two differ in the number of GPUs, one of them has one GPU, and the batch of each GPU
 * is the same. */
static bool is_scaled(const struct fr_validation_row *a, const struct fr_validation_row *b)
{
    const char *x, *y;
    size_t n = key_of(a, FR_BY_SOURCE, &x);

    return a->gpus == 1 && b->gpus > 1 && a->global_batch * b->gpus == b->global_batch &&
           is_same(a->workload, b->workload) && is_same(a->topology, b->topology) &&
           is_same(a->precision, b->precision) && is_same(a->options, b->options) &&
           is_same(a->notes, b->notes) && key_of(b, FR_BY_SOURCE, &y) == n && strncmp(x, y, n) == 0;
}

static void rank_pairs(struct fr_validation *v)
{
    uint64_t n = 0;
    double sum = 0;

    for (size_t i = 0; i < v->n_rows; i++)
        for (size_t j = i + 1; j < v->n_rows; j++) {
            const struct fr_validation_row *a = &v->rows[i], *b = &v->rows[j];
            double measured = a->measured_s - b->measured_s;
            double predicted = a->predicted_s - b->predicted_s;

            if (a->why_not || b->why_not || !differ_in_strategy_only(a, b) ||
                is_same(a->strategy, b->strategy))
                continue;
            n++;
            sum += measured * predicted > 0 ? 1 : measured * predicted < 0 ? -1 : 0;
        }
    v->n_tau_pairs = n;
    v->tau = n > 0 ? sum / (double)n : NAN;
}

static enum fr_status judge_scaling(struct making *m, struct fr_error *err)
{
    struct fr_validation *v = m->v;
    double *errors = NULL;
    size_t n = 0, cap = 0;

    for (size_t i = 0; i < v->n_rows; i++)
        for (size_t j = 0; j < v->n_rows; j++) {
            const struct fr_validation_row *a = &v->rows[i], *b = &v->rows[j];

            if (a->why_not || b->why_not || !is_scaled(a, b))
                continue;
            if (!fr__grow(&errors, &cap, n + 1, sizeof(*errors))) {
                free(errors);
                return fr__fail_nomem(err);
            }
            errors[n++] = (a->predicted_s / b->predicted_s) / (a->measured_s / b->measured_s) - 1;
        }
    v->n_scaling = n;
    v->scaling_median = n > 0 ? errors_of(errors, n).median : NAN;
    free(errors);
    return FR_OK;
}

static void judge_memory(struct making *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->v->n_rows; i++)
        if (!m->v->rows[i].why_not && !isnan(m->v->rows[i].memory_error))
            m->errors[n++] = m->v->rows[i].memory_error;
    m->v->memory = errors_of(m->errors, n);
}

static void judge_ranges(struct fr_validation *v)
{
    for (size_t i = 0; i < v->n_rows; i++) {
        const struct fr_validation_row *r = &v->rows[i];

        if (r->why_not || isnan(r->low_s))
            continue;
        v->n_ranges++;
        v->n_in_90 += r->measured_s >= r->low_s && r->measured_s <= r->high_s;
        v->n_in_50 += r->measured_s >= r->half_low_s && r->measured_s <= r->half_high_s;
    }
}

static enum fr_status make_all(struct making *m, struct fr_error *err)
{
    struct fr_validation_group *groups;

    FR_TRY(add_group(m, FR_BY_ALL, "all rows", err));
    for (unsigned by = FR_BY_ALL + 1; by < FR_N_BYS; by++)
        FR_TRY(add_groups(m, (enum fr_validation_by)by, err));
    groups = fr__arena_alloc(m->arena, m->n, sizeof(*groups));
    if (!groups)
        return fr__fail_nomem(err);
    memcpy(groups, m->groups, m->n * sizeof(*groups));
    m->v->groups = groups;
    m->v->n_groups = m->n;
    m->v->n_predicted = groups[0].errors.n;
    judge_memory(m);
    judge_ranges(m->v);
    rank_pairs(m->v);
    FR_TRY(judge_scaling(m, err));
    return fr__validation_split(m->v, m->arena, err);
}

enum fr_status fr__validation_summarise(struct fr_validation *v, struct fr__arena *arena,
                                        struct fr_error *err)
{
    struct making m = {.v = v, .arena = arena};
    enum fr_status st;

    m.errors = calloc(v->n_rows + 1, sizeof(*m.errors));
    st = m.errors ? make_all(&m, err) : fr__fail_nomem(err);
    free(m.errors);
    free(m.groups);
    return st;
}
