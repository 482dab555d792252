/* results/fit_kernels.c - the picture of a cost curve of kernels. */
#include "config.h"

#include "base/error.h"
#include "results/fit_axis.h"
#include "results/fit_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_POINTS = 5, MAX_SLICES = 3, SAMPLES = 500 };

/* A row among those of the same sizes but that of the axis: `rest` has 0 there. */
struct place {
    struct fr_shape rest;
    double x;
    size_t row;
};

struct run {
    size_t first, n, n_distinct;
};

static int by_rest(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    int order = fr__fit_compare(&p->rest, &q->rest);

    if (order != 0)
        return order;
    if (p->x < q->x || p->x > q->x)
        return p->x < q->x ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Puts the run among the longest ones, longest first, of equals the first. */
static void keep_run(struct run best[MAX_SLICES], const struct run *r)
{
    size_t at = MAX_SLICES;

    if (r->n_distinct < MIN_POINTS)
        return;
    while (at > 0 && r->n_distinct > best[at - 1].n_distinct)
        at--;
    if (at == MAX_SLICES)
        return;
    memmove(&best[at + 1], &best[at], (MAX_SLICES - 1 - at) * sizeof(*best));
    best[at] = *r;
}

/* Sorts the rows by their other sizes and finds the longest runs; returns how many points they have. */
static size_t find_runs(const struct fr_check_row rows[], size_t n, unsigned axis,
                        struct place places[], struct run best[MAX_SLICES])
{
    struct run r = {0, 0, 0};
    size_t n_points = 0;

    for (size_t k = 0; k < n; k++) {
        double *x;

        places[k] = (struct place){.rest = rows[k].shape, .row = k};
        x = fr__fit_axis(&places[k].rest, axis, NULL);
        places[k].x = *x;
        *x = 0;
    }
    qsort(places, n, sizeof(*places), by_rest);
    memset(best, 0, MAX_SLICES * sizeof(*best));
    for (size_t k = 0; k < n; k++) {
        if (k > 0 && fr__fit_compare(&places[k].rest, &places[k - 1].rest) != 0) {
            keep_run(best, &r);
            r = (struct run){k, 0, 0};
        }
        r.n_distinct += r.n == 0 || places[k].x > places[k - 1].x;
        r.n++;
    }
    keep_run(best, &r);
    for (size_t s = 0; s < MAX_SLICES; s++)
        n_points += best[s].n_distinct;
    return n_points;
}

/* The measured points of a run and the curve through them. */
static bool take_run(struct fr__arena *a, const struct fr_calibration *c, size_t i,
                     const struct fr_check_row rows[], const struct place places[],
                     const struct run *r, unsigned axis, bool is_all, double unit,
                     struct fr__fit_slice *out)
{
    enum fr_dtype dtype = fr_calibration_curve(c, i)->dtype;
    const struct place *first = &places[r->first];
    struct fr__fit_xy *measured = fr__arena_alloc(a, r->n, sizeof(*measured));
    struct fr__fit_xy *curve = fr__arena_alloc(a, SAMPLES, sizeof(*curve));
    struct fr__fit_xy *form = fr__arena_alloc(a, SAMPLES, sizeof(*form));
    struct fr_shape shape = rows[first->row].shape;
    double *x = fr__fit_axis(&shape, axis, NULL);
    double low = first->x, high = first[r->n - 1].x;

    if (!measured || !curve || !form)
        return false;
    fr__fit_label(&shape, axis, out->label, sizeof(out->label));
    for (size_t k = 0; k < r->n; k++) {
        const struct fr_check_row *row = &rows[first[k].row];

        measured[k].x = first[k].x;
        measured[k].y = fr__fit_work(&row->shape, dtype) / row->measured_s / unit;
        measured[k].is_judged = is_all || row->is_held_out;
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        double at = round(low * pow(high / low, (double)k / (SAMPLES - 1)));

        if (out->n_curve > 0 && !(at > curve[out->n_curve - 1].x))
            continue; /* small sizes: the same whole number again */
        *x = at;
        curve[out->n_curve].x = form[out->n_curve].x = at;
        curve[out->n_curve].y =
            fr__fit_work(&shape, dtype) / fr_calibration_time_s(c, i, &shape) / unit;
        form[out->n_curve++].y =
            fr__fit_work(&shape, dtype) / fr_calibration_form_s(c, i, &shape) / unit;
    }
    out->measured = measured;
    out->n_measured = r->n;
    out->curve = curve;
    out->form = form;
    return true;
}

/* The slices along the axis that has most points in them; places: [n], scratch. */
static bool take_slices(struct fr__arena *a, const struct fr_calibration *c, size_t i,
                        const struct fr_check_row rows[], size_t n, bool is_all,
                        struct place places[], struct fr__fit_picture *out)
{
    double unit = fr__fit_is_arithmetic(rows[0].shape.op_class) ? 1e12 : 1e9;
    struct fr_shape shape = rows[0].shape;
    struct run best[MAX_SLICES];
    unsigned axis = 0;
    size_t most = 0;

    for (unsigned k = 0; fr__fit_axis(&shape, k, NULL); k++) {
        size_t n_points = find_runs(rows, n, k, places, best);

        if (n_points > most) {
            most = n_points;
            axis = k;
        }
    }
    fr__fit_axis(&shape, axis, &out->x_name);
    find_runs(rows, n, axis, places, best);
    for (size_t s = 0; s < MAX_SLICES && best[s].n > 0; s++)
        if (!take_run(a, c, i, rows, places, &best[s], axis, is_all, unit,
                      &out->slices[out->n_slices++]))
            return false;
    return true;
}

enum fr_status fr__fit_of_kernels(struct fr__arena *a, const struct fr_calibration *c, size_t i,
                                  const struct fr_check_row rows[], size_t n, bool is_all,
                                  struct fr__fit_picture *out, struct fr_error *err)
{
    const struct fr_curve_info *info = fr_calibration_curve(c, i);
    struct fr__fit_point *points = fr__arena_alloc(a, n, sizeof(*points));
    struct place *places = fr__arena_alloc(a, n, sizeof(*places));

    memset(out, 0, sizeof(*out));
    if (!points || !places)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < n; k++)
        points[k] = (struct fr__fit_point){rows[k].measured_s, rows[k].predicted_s,
                                           fr__fit_work(&rows[k].shape, info->dtype),
                                           is_all || rows[k].is_held_out};
    out->points = points;
    out->n_points = n;
    out->y_name = fr__fit_is_arithmetic(info->op_class) ? "Tflop/s" : "GB/s";
    out->work_name = fr__fit_is_arithmetic(info->op_class) ? "floating-point operations" : "bytes";
    snprintf(out->heading, sizeof(out->heading), "%.200s: %s %s", fr_calibration_device(c),
             fr_curve_class_name(info->op_class), fr_dtype_name(info->dtype));
    if (!take_slices(a, c, i, rows, n, is_all, places, out))
        return fr__fail_nomem(err);
    return FR_OK;
}
