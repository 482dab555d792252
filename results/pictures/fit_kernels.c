/* results/pictures/fit_kernels.c - what the picture of a cost curve of kernels shows.
 *
 * It is separate from systems (fit_systems.c), whose rows have bytes and GPUs and no shapes.
 */
#include "config.h"

#include "base/error.h"
#include "results/pictures/fit.h"
#include "results/pictures/fit_axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SLICES = 3, SAMPLES = 500 };

/* A row and its shape, with 0 for the size that the axis is about. */
struct place {
    struct fr_kernel_shape rest;
    double x;
    size_t row;
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

struct scratch {
    struct place *sorted;         /* [n] */
    struct fr__fit_place *places; /* [n] */
};

/* Sorts the rows by their other sizes and finds the longest runs; returns how many points they
 * have. */
static size_t find_runs(const struct fr_check_row rows[], size_t n, unsigned axis,
                        const struct scratch *t, struct fr__fit_run best[MAX_SLICES])
{
    uint64_t group = 0;

    for (size_t k = 0; k < n; k++) {
        double *x;

        t->sorted[k] = (struct place){.rest = rows[k].shape, .row = k};
        x = fr__fit_axis(&t->sorted[k].rest, axis, NULL);
        t->sorted[k].x = *x;
        *x = 0;
    }
    qsort(t->sorted, n, sizeof(*t->sorted), by_rest);
    for (size_t k = 0; k < n; k++) {
        group += k > 0 && fr__fit_compare(&t->sorted[k].rest, &t->sorted[k - 1].rest) != 0;
        t->places[k] = (struct fr__fit_place){group, t->sorted[k].x, t->sorted[k].row};
    }
    return fr__fit_longest(t->places, n, MAX_SLICES, best);
}

/* The measured points of a run and the curve through them. */
static bool take_run(struct fr__arena *a, const struct fr_calibration *c, size_t i,
                     const struct fr_check_row rows[], const struct fr__fit_place places[],
                     const struct fr__fit_run *r, unsigned axis, bool is_all, double unit,
                     struct fr__fit_slice *out)
{
    enum fr_dtype dtype = fr_calibration_curve(c, i)->dtype;
    const struct fr__fit_place *first = &places[r->first];
    struct fr__fit_xy *measured = fr__arena_alloc(a, r->n, sizeof(*measured));
    struct fr__fit_xy *curve = fr__arena_alloc(a, SAMPLES, sizeof(*curve));
    struct fr__fit_xy *form = fr__arena_alloc(a, SAMPLES, sizeof(*form));
    struct fr_kernel_shape shape = rows[first->row].shape;
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

/* The slices along the axis that has most points in them. */
static bool take_slices(struct fr__arena *a, const struct fr_calibration *c, size_t i,
                        const struct fr_check_row rows[], size_t n, bool is_all,
                        const struct scratch *t, struct fr__fit_picture *out)
{
    double unit = fr__fit_is_arithmetic(rows[0].shape.op_class) ? 1e12 : 1e9;
    struct fr_kernel_shape shape = rows[0].shape;
    struct fr__fit_run best[MAX_SLICES];
    unsigned axis = 0;
    size_t most = 0;

    for (unsigned k = 0; fr__fit_axis(&shape, k, NULL); k++) {
        size_t n_points = find_runs(rows, n, k, t, best);

        if (n_points > most) {
            most = n_points;
            axis = k;
        }
    }
    fr__fit_axis(&shape, axis, &out->x_name);
    find_runs(rows, n, axis, t, best);
    for (size_t s = 0; s < MAX_SLICES && best[s].n > 0; s++)
        if (!take_run(a, c, i, rows, t->places, &best[s], axis, is_all, unit,
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
    struct scratch t = {fr__arena_alloc(a, n, sizeof(*t.sorted)),
                        fr__arena_alloc(a, n, sizeof(*t.places))};

    memset(out, 0, sizeof(*out));
    if (!points || !t.sorted || !t.places)
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
    if (!take_slices(a, c, i, rows, n, is_all, &t, out))
        return fr__fail_nomem(err);
    return FR_OK;
}
