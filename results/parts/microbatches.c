/* results/parts/microbatches.c - finds the boxes of a timeline that carry a micro-batch's number.
 *
 * It is separate because the report and the picture by gnuplot must number the same boxes: all of
 * them, or none where one of them has no room.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "results/parts/microbatches.h"

#include <math.h>
#include <stdlib.h>

/* A run is left out when it is shorter than this part of the longest one: an op that stands alone
 * between two of another micro-batch. */
static const double LEAST_PART = 0.125;

struct found {
    struct fr__microbatch *list;
    size_t n, cap;
};

static bool is_numbered(const struct fr_task *t)
{
    return t->kind == FR_TASK_COMPUTE && t->microbatch != FR_NONE;
}

static bool is_same_run(const struct fr_task *a, const struct fr_task *b)
{
    bool a_forward = a->phase == FR_PHASE_FORWARD, b_forward = b->phase == FR_PHASE_FORWARD;

    return is_numbered(b) && a->device == b->device && a->stream == b->stream &&
           a->microbatch == b->microbatch && a_forward == b_forward;
}

static bool keep(struct found *f, struct fr__microbatch m)
{
    if (!(m.to_s > m.from_s))
        return true;
    if (!fr__grow(&f->list, &f->cap, f->n + 1, sizeof(*f->list)))
        return false;
    f->list[f->n++] = m;
    return true;
}

static void leave_out_short(struct found *f)
{
    double longest_s = 0;
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        longest_s = fmax(longest_s, f->list[i].to_s - f->list[i].from_s);
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].to_s - f->list[i].from_s >= LEAST_PART * longest_s)
            f->list[n++] = f->list[i];
    f->n = n;
}

enum fr_status fr__microbatches(const struct fr_record *r, const uint32_t order[],
                                const uint32_t shown[], size_t n_shown, double from_s, double to_s,
                                size_t most, struct fr__microbatch **out, size_t *n,
                                struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    struct found f = {NULL, 0, 0};

    for (size_t i = 0, past; i < v->n_tasks; i = past) {
        const struct fr_task *t = &v->tasks[order[i]];
        size_t lane = fr__lane_of(shown, n_shown, t->device), last = i;

        past = i + 1;
        if (lane == n_shown || !is_numbered(t))
            continue;
        /* markers take no time and stand between tasks of one run */
        for (; past < v->n_tasks && (is_same_run(t, &v->tasks[order[past]]) ||
                                     (v->tasks[order[past]].kind == FR_TASK_MARKER &&
                                      v->tasks[order[past]].device == t->device));
             past++)
            last = v->tasks[order[past]].kind == FR_TASK_MARKER ? last : past;
        if (!keep(&f, (struct fr__microbatch){fmax(r->run->start_s[order[i]], from_s),
                                              fmin(r->run->end_s[order[last]], to_s), lane,
                                              t->microbatch, fr__category_of(t)})) {
            free(f.list);
            return fr__fail_nomem(err);
        }
    }
    leave_out_short(&f);
    *out = f.list;
    *n = f.n <= most ? f.n : 0;
    return FR_OK;
}

static unsigned digits_of(uint32_t number)
{
    unsigned n = 1;

    for (; number > 9; number /= 10)
        n++;
    return n;
}

double fr__microbatches_zoom(const struct fr__microbatch list[], size_t n, double pixels_per_s,
                             double digit_pixels)
{
    double zoom = 0;

    for (size_t i = 0; i < n; i++)
        zoom = fmax(zoom, digit_pixels * (digits_of(list[i].microbatch) + 0.3) /
                              (pixels_per_s * (list[i].to_s - list[i].from_s)));
    return zoom;
}
