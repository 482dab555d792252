/* results/pictures/fit_systems.c - what the picture of a system's collective or link shows.
 *
 * It is separate from kernels (fit_kernels.c), whose rows have shapes.
 */
#include "config.h"

#include "base/error.h"
#include "results/pictures/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 300 };

/* What nccl-tests calls the bus bandwidth of an operation, over bytes / time: the traffic of each
 * GPU (NVIDIA nccl-tests, doc/PERFORMANCE.md). A message: 1. */
static double bus_factor(const struct fr_system_call *call)
{
    double n = call->n_gpus;

    if (call->n_gpus < 2)
        return 1;
    return (call->op == FR_SYSTEM_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
}

/* Rows of the same GPUs can be compared along their bytes. */
static uint64_t group_of(const struct fr_system_call *call)
{
    return (uint64_t)call->n_nodes << 33 | (uint64_t)call->n_gpus << 1 | call->is_summed_in_switch;
}

static int by_group(const void *a, const void *b)
{
    const struct fr__fit_place *p = a, *q = b;

    if (p->group != q->group)
        return p->group < q->group ? -1 : 1;
    if (p->x < q->x || p->x > q->x)
        return p->x < q->x ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static void write_label(const struct fr_system *s, size_t i, const struct fr_system_call *call,
                        char *text, size_t n)
{
    char class_name[FR__FIT_HEADING];

    if (i >= 2 * FR_N_SYSTEM_OPS)
        snprintf(text, n, "%s", fr_system_class_name(s, i, class_name, sizeof(class_name)));
    else if (call->n_nodes > 1)
        snprintf(text, n, "%u GPUs on %u nodes", call->n_gpus, call->n_nodes);
    else
        snprintf(text, n, "%u GPUs%s", call->n_gpus,
                 call->is_summed_in_switch ? "" : ", a format that the switch cannot add");
}

/* Bus bandwidth in GB/s of `bytes` as predicted. */
static double predicted(const struct fr_system *s, size_t i, struct fr_system_call call,
                        double bytes)
{
    double time_s;

    call.bytes = bytes;
    time_s = i < 2 * FR_N_SYSTEM_OPS ? fr_system_time_s(s, &call)
                                     : fr_system_send_s(s, i - 2 * FR_N_SYSTEM_OPS, bytes);
    return time_s > 0 ? bus_factor(&call) * bytes / time_s / 1e9 : 0;
}

static bool take_run(struct fr__arena *a, const struct fr_system *s, size_t i,
                     const struct fr_system_row rows[], const struct fr__fit_place places[],
                     const struct fr__fit_run *r, bool is_all, struct fr__fit_slice *out)
{
    const struct fr__fit_place *first = &places[r->first];
    const struct fr_system_call *call = &rows[first->row].call;
    struct fr__fit_xy *measured = fr__arena_alloc(a, r->n, sizeof(*measured));
    struct fr__fit_xy *curve = fr__arena_alloc(a, SAMPLES, sizeof(*curve));
    double low = first->x, high = first[r->n - 1].x;

    if (!measured || !curve)
        return false;
    write_label(s, i, call, out->label, sizeof(out->label));
    for (size_t k = 0; k < r->n; k++) {
        const struct fr_system_row *row = &rows[first[k].row];

        measured[k] = (struct fr__fit_xy){
            first[k].x, bus_factor(&row->call) * row->call.bytes / row->measured_s / 1e9,
            is_all || row->is_held_out};
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        curve[k].x = low * pow(high / low, (double)k / (SAMPLES - 1));
        curve[k].y = predicted(s, i, *call, curve[k].x);
    }
    out->measured = measured;
    out->n_measured = r->n;
    out->curve = curve;
    out->n_curve = SAMPLES;
    return true;
}

enum fr_status fr__fit_of_system(struct fr__arena *a, const struct fr_system *s, size_t i,
                                 const struct fr_system_row rows[], size_t n, bool is_all,
                                 struct fr__fit_picture *out, struct fr_error *err)
{
    struct fr__fit_point *points = fr__arena_alloc(a, n, sizeof(*points));
    struct fr__fit_place *places = fr__arena_alloc(a, n, sizeof(*places));
    struct fr__fit_run best[FR__FIT_SLICES];
    char class_name[FR__FIT_HEADING];

    memset(out, 0, sizeof(*out));
    if (!points || !places)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < n; k++) {
        points[k] = (struct fr__fit_point){rows[k].measured_s, rows[k].predicted_s,
                                           rows[k].call.bytes, is_all || rows[k].is_held_out};
        places[k] = (struct fr__fit_place){group_of(&rows[k].call), rows[k].call.bytes, k};
    }
    out->points = points;
    out->n_points = n;
    out->x_name = out->work_name = "bytes";
    out->y_name = i < 2 * FR_N_SYSTEM_OPS ? "bus bandwidth, GB/s" : "GB/s";
    snprintf(out->heading, sizeof(out->heading), "%.200s: %.200s", fr_system_info(s)->name,
             fr_system_class_name(s, i, class_name, sizeof(class_name)));
    qsort(places, n, sizeof(*places), by_group);
    fr__fit_longest(places, n, FR__FIT_SLICES, best);
    for (size_t k = 0; k < FR__FIT_SLICES && best[k].n > 0; k++)
        if (!take_run(a, s, i, rows, places, &best[k], is_all, &out->slices[out->n_slices++]))
            return fr__fail_nomem(err);
    return FR_OK;
}
