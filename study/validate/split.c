/* study/validate/split.c - which part of a step is off.
 *
 * Rows are sorted so that those which differ in one thing stand together: in the batch, they are a
 * line; in the number of GPUs or in the precision, they are pairs. It is separate from the summary,
 * which takes each row by itself.
 */
#include "config.h"

#include "study/validate/split.h"

#include "base/error.h"
#include "base/names.h"
#include "strategies/strategies.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double repeat_scatter = 0.007; /* struct fr_validation_line */
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

static const char *const change_names[FR_N_CHANGES] = {"gpus", "precision"};
static const struct fr__name_list changes = FR__NAMES(change_names);

const char *fr_validation_change_name(enum fr_validation_change_of of)
{
    return fr__name_of(&changes, of);
}

/* ---- rows ---- */

struct item {
    const struct fr_validation_row *row;
    const char *source, *software; /* of the arena */
    double batch;                  /* of a GPU */
};

struct pair {
    struct item a, b; /* b has more GPUs, or a narrower format */
    enum fr_validation_change_of of;
};

struct splitting {
    struct fr_validation *v;
    struct fr__arena *arena;
    struct item *items; /* of predicted rows */
    size_t n_items;
    struct pair *pairs; /* heap */
    size_t n_pairs, cap;
    double *x, *y; /* [n_items] scratch */
};

static const char *software_of(const struct fr_validation_row *r, struct fr__arena *arena)
{
    const char *recipe = strstr(r->options, "--recipe ");
    size_t n = strcspn(r->notes, "|");

    if (r->notes[n] == '|')
        return fr__arena_strndup(arena, r->notes, n);
    if (recipe) {
        recipe += strlen("--recipe ");
        return fr__arena_strndup(arena, recipe, strcspn(recipe, " "));
    }
    return fr__arena_strndup(arena, r->id, strspn(r->id, letters));
}

static enum fr_status take_items(struct splitting *s, struct fr_error *err)
{
    for (size_t i = 0; i < s->v->n_rows; i++) {
        const struct fr_validation_row *r = &s->v->rows[i];
        struct item *x = &s->items[s->n_items];

        if (r->why_not)
            continue;
        *x = (struct item){.row = r,
                           .source = fr__arena_strndup(s->arena, r->id, strspn(r->id, letters)),
                           .software = software_of(r, s->arena),
                           .batch = (double)r->global_batch / (double)r->gpus};
        if (!x->source || !x->software)
            return fr__fail_nomem(err);
        s->n_items++;
    }
    return FR_OK;
}

/* ---- order ---- */

static int of_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

/* As they stand in the file. */
static int of_rows(const struct fr_validation_row *a, const struct fr_validation_row *b)
{
    return (a > b) - (a < b);
}

/* The first that is not 0, of n. */
static int first_of(const int orders[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (orders[i] != 0)
            return orders[i];
    return 0;
}
#define FIRST_OF(...)                                                                              \
    first_of((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static int by_question(const struct item *a, const struct item *b)
{
    return FIRST_OF(strcmp(a->source, b->source), strcmp(a->software, b->software),
                    strcmp(a->row->workload, b->row->workload),
                    strcmp(a->row->options, b->row->options));
}

static int by_place(const struct item *a, const struct item *b)
{
    return FIRST_OF(of_numbers((double)a->row->gpus, (double)b->row->gpus),
                    strcmp(a->row->strategy, b->row->strategy),
                    strcmp(a->row->topology, b->row->topology));
}

static int by_software(const struct item *a, const struct item *b)
{
    return FIRST_OF(by_question(a, b), strcmp(a->row->precision, b->row->precision),
                    strcmp(a->row->notes, b->row->notes));
}

/* Alike in all but the batch. */
static int by_line(const struct item *a, const struct item *b)
{
    return FIRST_OF(by_software(a, b), by_place(a, b));
}

/* Alike in all but the number of GPUs and how they are used. */
static int by_batch(const struct item *a, const struct item *b)
{
    return FIRST_OF(by_software(a, b), of_numbers(a->batch, b->batch));
}

/* Alike in all but the precision. */
static int by_shape(const struct item *a, const struct item *b)
{
    return FIRST_OF(by_question(a, b), by_place(a, b), of_numbers(a->batch, b->batch));
}

/* Wider formats first. */
static int width_of(const char *precision)
{
    static const char *const narrower[] = {"fp32", "tf32", "amp", "fp16", "bf16"};
    int i = 0;

    while (i < (int)(sizeof(narrower) / sizeof(narrower[0])) && strcmp(precision, narrower[i]) != 0)
        i++;
    return i;
}

static int lines_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return FIRST_OF(by_line(x, y), of_numbers(x->batch, y->batch), of_rows(x->row, y->row));
}

static int batches_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return FIRST_OF(by_batch(x, y), of_numbers((double)x->row->gpus, (double)y->row->gpus),
                    of_rows(x->row, y->row));
}

static int shapes_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return FIRST_OF(by_shape(x, y), width_of(x->row->precision) - width_of(y->row->precision),
                    strcmp(x->row->precision, y->row->precision), of_rows(x->row, y->row));
}

/* ---- lines ---- */

/* Standard error of a line's value at 0, of times y that are each off by repeat_scatter. */
static double noise_at_zero(const double x[], const double y[], size_t n)
{
    double mean = gsl_stats_mean(x, 1, n), squares = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    for (size_t i = 0; i < n; i++) {
        double weight = 1 / (double)n - mean * (x[i] - mean) / squares;

        sum += weight * weight * y[i] * y[i];
    }
    return repeat_scatter * sqrt(sum);
}

static struct fr_validation_line line_of(const struct splitting *s, const struct item *x, size_t n)
{
    struct fr_validation_line line = {.software = x->software,
                                      .workload = x->row->workload,
                                      .precision = x->row->precision,
                                      .topology = x->row->topology,
                                      .options = x->row->options,
                                      .notes = x->row->notes,
                                      .gpus = x->row->gpus,
                                      .n = n,
                                      .least_batch = x->batch,
                                      .most_batch = x[n - 1].batch};
    double unused[4];

    for (size_t i = 0; i < n; i++) {
        s->x[i] = x[i].batch;
        s->y[i] = x[i].row->measured_s;
    }
    gsl_fit_linear(s->x, 1, s->y, 1, n, &line.measured_per_step_s, &line.measured_per_sample_s,
                   &unused[0], &unused[1], &unused[2], &unused[3]);
    line.noise_s = noise_at_zero(s->x, s->y, n);
    for (size_t i = 0; i < n; i++)
        s->y[i] = x[i].row->predicted_s;
    gsl_fit_linear(s->x, 1, s->y, 1, n, &line.predicted_per_step_s, &line.predicted_per_sample_s,
                   &unused[0], &unused[1], &unused[2], &unused[3]);
    return line;
}

static enum fr_status add_lines(struct splitting *s, struct fr_error *err)
{
    struct fr_validation_line *lines = fr__arena_alloc(s->arena, s->n_items, sizeof(*lines));
    size_t end;

    if (!lines)
        return fr__fail_nomem(err);
    qsort(s->items, s->n_items, sizeof(*s->items), lines_first);
    for (size_t i = 0; i < s->n_items; i = end) {
        for (end = i + 1; end < s->n_items && by_line(&s->items[i], &s->items[end]) == 0;)
            end++;
        if (s->items[end - 1].batch > s->items[i].batch)
            lines[s->v->n_lines++] = line_of(s, &s->items[i], end - i);
    }
    s->v->lines = lines;
    return FR_OK;
}

/* ---- pairs ---- */

static enum fr_status add_pair(struct splitting *s, struct pair p, struct fr_error *err)
{
    if (!fr__grow(&s->pairs, &s->cap, s->n_pairs + 1, sizeof(*s->pairs)))
        return fr__fail_nomem(err);
    s->pairs[s->n_pairs++] = p;
    return FR_OK;
}

/* Skips "dp=N", which says no more than how many GPUs there are. */
static const char *past_dp(const char *at)
{
    if (strncmp(at, "dp=", 3) != 0)
        return at;
    at += 3 + strspn(at + 3, "0123456789");
    return *at == ',' ? at + 1 : at;
}

/* Whether two strategies do the same on different numbers of GPUs. Any is compared with one GPU
 * alone. */
static bool are_alike(const char *a, const char *b)
{
    if (fr_strategy_is_baseline(a))
        return true;
    while (*a && *b) {
        a = past_dp(a);
        b = past_dp(b);
        if (*a != *b)
            return false;
        a += *a != '\0';
        b += *b != '\0';
    }
    return *past_dp(a) == *past_dp(b);
}

/* Pairs of each row with the nearest one of fewer GPUs; items: by batches_first. */
static enum fr_status pair_gpus(struct splitting *s, struct fr_error *err)
{
    qsort(s->items, s->n_items, sizeof(*s->items), batches_first);
    for (size_t i = 1; i < s->n_items; i++) {
        const struct item *b = &s->items[i];

        for (size_t k = i; k-- > 0 && by_batch(&s->items[k], b) == 0;) {
            const struct item *a = &s->items[k];

            if (a->row->gpus == b->row->gpus || !are_alike(a->row->strategy, b->row->strategy))
                continue;
            FR_TRY(add_pair(s, (struct pair){*a, *b, FR_CHANGE_GPUS}, err));
            break;
        }
    }
    return FR_OK;
}

/* Pairs of each row with the next narrower format; items: by shapes_first. */
static enum fr_status pair_precisions(struct splitting *s, struct fr_error *err)
{
    qsort(s->items, s->n_items, sizeof(*s->items), shapes_first);
    for (size_t i = 1; i < s->n_items; i++) {
        const struct item *a = &s->items[i - 1], *b = &s->items[i];

        if (by_shape(a, b) == 0 && strcmp(a->row->precision, b->row->precision) != 0)
            FR_TRY(add_pair(s, (struct pair){*a, *b, FR_CHANGE_PRECISION}, err));
    }
    return FR_OK;
}

/* ---- changes ---- */

/* Pairs that differ in nothing but the batch, and what else `of` leaves open. */
static int by_change(const void *left, const void *right)
{
    const struct pair *x = left, *y = right;
    int order = FIRST_OF((int)x->of - (int)y->of, by_question(&x->a, &y->a),
                         strcmp(x->a.row->precision, y->a.row->precision),
                         strcmp(x->b.row->precision, y->b.row->precision));

    if (order != 0 || x->of == FR_CHANGE_PRECISION)
        return order;
    return FIRST_OF(of_numbers((double)x->a.row->gpus, (double)y->a.row->gpus),
                    of_numbers((double)x->b.row->gpus, (double)y->b.row->gpus),
                    strcmp(x->b.row->strategy, y->b.row->strategy));
}

/* Then in the order of the file, so that every machine sorts alike. */
static int changes_first(const void *left, const void *right)
{
    const struct pair *x = left, *y = right;

    return FIRST_OF(by_change(x, y), of_rows(x->a.row, y->a.row), of_rows(x->b.row, y->b.row));
}

/* Of the n values in s->x, which it sorts. */
static double median(struct splitting *s, size_t n)
{
    gsl_sort(s->x, 1, n);
    return gsl_stats_median_from_sorted_data(s->x, 1, n);
}

enum { MEASURED_ADDED, PREDICTED_ADDED, MEASURED_RATIO, PREDICTED_RATIO, N_VALUES };

static double value_of(const struct pair *p, unsigned value)
{
    const struct fr_validation_row *a = p->a.row, *b = p->b.row;

    switch (value) {
    case MEASURED_ADDED:
        return b->measured_s - a->measured_s;
    case PREDICTED_ADDED:
        return b->predicted_s - a->predicted_s;
    case MEASURED_RATIO:
        return b->measured_s / a->measured_s;
    default:
        return b->predicted_s / a->predicted_s;
    }
}

static const char *end_text(struct splitting *s, const struct fr_validation_row *r,
                            enum fr_validation_change_of of)
{
    char text[24];

    if (of == FR_CHANGE_PRECISION)
        return r->precision;
    snprintf(text, sizeof(text), "%" PRIu64, r->gpus);
    return fr__arena_strdup(s->arena, text);
}

static enum fr_status change_of(struct splitting *s, const struct pair p[], size_t n,
                                struct fr_validation_change *c, struct fr_error *err)
{
    double values[N_VALUES];

    for (unsigned value = 0; value < N_VALUES; value++) {
        for (size_t i = 0; i < n; i++)
            s->x[i] = value_of(&p[i], value);
        values[value] = median(s, n);
    }
    *c = (struct fr_validation_change){
        .of = p->of,
        .software = p->a.software,
        .workload = p->a.row->workload,
        .precision = p->of == FR_CHANGE_GPUS ? p->a.row->precision : "",
        .options = p->a.row->options,
        .strategy = p->of == FR_CHANGE_GPUS ? p->b.row->strategy : "",
        .from = end_text(s, p->a.row, p->of),
        .to = end_text(s, p->b.row, p->of),
        .n = n,
        .measured_added_s = values[MEASURED_ADDED],
        .predicted_added_s = values[PREDICTED_ADDED],
        .measured_ratio = values[MEASURED_RATIO],
        .predicted_ratio = values[PREDICTED_RATIO]};
    return c->from && c->to ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status add_changes(struct splitting *s, struct fr_error *err)
{
    struct fr_validation_change *list = fr__arena_alloc(s->arena, s->n_pairs, sizeof(*list));
    size_t end;

    if (!list)
        return fr__fail_nomem(err);
    if (s->n_pairs > 0)
        qsort(s->pairs, s->n_pairs, sizeof(*s->pairs), changes_first);
    for (size_t i = 0; i < s->n_pairs; i = end) {
        for (end = i + 1; end < s->n_pairs && by_change(&s->pairs[i], &s->pairs[end]) == 0;)
            end++;
        FR_TRY(change_of(s, &s->pairs[i], end - i, &list[s->v->n_changes++], err));
    }
    s->v->changes = list;
    return FR_OK;
}

/* ---- software ---- */

static double line_error(struct splitting *s, const char *software, bool is_step, uint64_t *n)
{
    size_t k = 0;

    for (size_t i = 0; i < s->v->n_lines; i++) {
        const struct fr_validation_line *l = &s->v->lines[i];

        if (strcmp(l->software, software) == 0)
            s->x[k++] = is_step ? l->measured_per_step_s - l->predicted_per_step_s
                                : l->predicted_per_sample_s / l->measured_per_sample_s - 1;
    }
    *n = k;
    return k > 0 ? median(s, k) : NAN;
}

static double change_error(struct splitting *s, const char *software, uint64_t *n)
{
    size_t k = 0;

    for (size_t i = 0; i < s->v->n_changes; i++) {
        const struct fr_validation_change *c = &s->v->changes[i];

        if (c->of == FR_CHANGE_GPUS && strcmp(c->software, software) == 0)
            s->x[k++] = c->measured_added_s - c->predicted_added_s;
    }
    *n = k;
    return k > 0 ? median(s, k) : NAN;
}

static int by_software_name(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->software, ((const struct item *)b)->software);
}

static enum fr_status add_software(struct splitting *s, struct fr_error *err)
{
    struct fr_validation_software *list = fr__arena_alloc(s->arena, s->n_items, sizeof(*list));

    if (!list)
        return fr__fail_nomem(err);
    qsort(s->items, s->n_items, sizeof(*s->items), by_software_name);
    for (size_t i = 0; i < s->n_items; i++) {
        struct fr_validation_software *w = &list[s->v->n_software];

        if (i > 0 && by_software_name(&s->items[i - 1], &s->items[i]) == 0)
            continue;
        *w = (struct fr_validation_software){.software = s->items[i].software};
        w->per_sample_error = line_error(s, w->software, false, &w->n_lines);
        w->per_step_missing_s = line_error(s, w->software, true, &w->n_lines);
        w->per_change_missing_s = change_error(s, w->software, &w->n_changes);
        s->v->n_software += w->n_lines + w->n_changes > 0;
    }
    s->v->software = list;
    return FR_OK;
}

static enum fr_status split(struct splitting *s, struct fr_error *err)
{
    if (!s->items || !s->x || !s->y)
        return fr__fail_nomem(err);
    FR_TRY(take_items(s, err));
    FR_TRY(add_lines(s, err));
    FR_TRY(pair_gpus(s, err));
    FR_TRY(pair_precisions(s, err));
    FR_TRY(add_changes(s, err));
    return add_software(s, err);
}

enum fr_status fr__validation_split(struct fr_validation *v, struct fr__arena *arena,
                                    struct fr_error *err)
{
    struct splitting s = {.v = v, .arena = arena};
    enum fr_status st;

    s.items = calloc(v->n_rows + 1, sizeof(*s.items));
    s.x = calloc(2 * v->n_rows + 1, sizeof(*s.x));
    s.y = calloc(v->n_rows + 1, sizeof(*s.y));
    st = split(&s, err);
    free(s.items);
    free(s.x);
    free(s.y);
    free(s.pairs);
    return st;
}
