/* study/layouts/block_bytes.c - what each layer of a model holds for one micro-batch, from who
 * makes and who reads each tensor in a run of one stage.
 *
 * Two timelines. In the run as it is, the backward pass of a layer is one. Where a schedule cuts it
 * in two, all gradients of weights come after all other backward work: the same tasks, those of
 * weights moved behind the rest. For each pass of each layer the most that is held is noted over
 * what the other layers of the stage hold meanwhile: those before it what they keep for the
 * backward pass, those behind it what still waits for gradients of weights.
 *
 * A tensor that waits for the backward pass is the layer's that reads it there, not the one's that
 * made it: where a stage begins with that layer, it is the message that came in.
 *
 * What the training loop holds to the end of the step, which it does without micro-batches only,
 * stands apart (lowering/replica/tail.c).
 */
#include "config.h"

#include "study/layouts/block.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

struct life {
    double bytes;
    double from_s, until_s; /* in the run */
    double made_s, read_s;  /* with gradients of weights behind the rest */
    double end_of_alloc_s;
    size_t owner;        /* item that reads it last of those before it in the model */
    size_t weight_owner; /* item whose gradients of weights read it */
    bool is_used;        /* on the probe's device, and comes and goes */
    bool is_gradient, is_forward, is_read_back, is_held;
};

struct lives {
    struct life *of; /* [n_buffers] */
    double shift_s;  /* by which gradients of weights are late */
};

static uint32_t root_of(const struct fr_plan_view *v, uint32_t b)
{
    while (v->buffers[b].alias != FR_NONE)
        b = v->buffers[b].alias;
    return b;
}

static bool is_weight(const struct fr__block_reading *x, size_t t)
{
    return x->v->tasks[t].phase == FR_PHASE_BACKWARD_WEIGHT;
}

static double later(const struct fr__block_reading *x, const struct lives *l, size_t t, double at_s)
{
    return at_s + (is_weight(x, t) ? l->shift_s : 0);
}

static void begin(const struct fr__block_reading *x, struct lives *l)
{
    for (size_t b = 0; b < x->v->n_buffers; b++) {
        const struct fr_buffer *f = &x->v->buffers[b];
        struct life *a = &l->of[b];

        a->is_used = f->device == x->device && f->alias == FR_NONE && f->alloc != FR_NONE &&
                     fr__is_block_pass(x, f->alloc);
        if (!a->is_used)
            continue;
        a->bytes = (double)f->bytes;
        a->is_gradient = f->kind == FR_BUFFER_GRADIENT;
        a->is_forward = x->v->tasks[f->alloc].phase == FR_PHASE_FORWARD;
        a->owner = a->weight_owner = x->item_of[x->v->tasks[f->alloc].op];
        a->from_s = x->run->start_s[f->alloc];
        a->made_s = later(x, l, f->alloc, a->from_s);
        a->until_s = x->run->end_s[f->alloc];
        a->read_s = later(x, l, f->alloc, a->until_s);
    }
}

static void note_reader(const struct fr__block_reading *x, struct lives *l, struct life *a,
                        size_t t)
{
    const struct fr_task *k = &x->v->tasks[t];
    size_t item;

    if (!fr__is_block_pass(x, t)) {
        a->is_held = true;
        return;
    }
    item = x->item_of[k->op];
    a->until_s = fmax(a->until_s, x->run->end_s[t]);
    a->read_s = fmax(a->read_s, later(x, l, t, x->run->end_s[t]));
    if (k->phase == FR_PHASE_FORWARD)
        return;
    if (a->is_forward && (!a->is_read_back || item > a->owner))
        a->owner = item;
    a->is_read_back = true;
    if (is_weight(x, t))
        a->weight_owner = item;
}

static void read_lives(const struct fr__block_reading *x, struct lives *l)
{
    begin(x, l);
    for (size_t t = 0; t < x->v->n_tasks; t++)
        for (uint32_t k = x->v->free_first[t]; k < x->v->free_first[t + 1]; k++) {
            struct life *a = &l->of[root_of(x->v, x->v->free[k])];

            if (a->is_used)
                note_reader(x, l, a, t);
        }
}

/* ---- what items keep ---- */

static void sum_kept(const struct fr__block_reading *x, const struct lives *l)
{
    struct fr__block *b = x->b;

    for (size_t i = 0; i < x->v->n_buffers; i++) {
        const struct life *a = &l->of[i];

        if (!a->is_used || a->is_gradient)
            continue;
        if (a->is_forward && a->is_read_back)
            b->kept_bytes[a->owner] += a->bytes;
        else if (a->is_held)
            b->held_bytes[a->owner] += a->bytes;
        if (a->made_s < l->shift_s && a->read_s >= l->shift_s)
            b->between_bytes[a->weight_owner] += a->bytes;
    }
}

/* ---- what is held while they run ---- */

struct moment {
    double at_s, bytes, gradient;
};

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* frees first */
}

static size_t list_moments(const struct fr__block_reading *x, const struct lives *l, bool is_cut,
                           struct moment m[])
{
    size_t n = 0;

    for (size_t b = 0; b < x->v->n_buffers; b++) {
        const struct life *a = &l->of[b];

        if (!a->is_used)
            continue;
        if (a->is_gradient) {
            m[n++] = (struct moment){is_cut ? a->made_s : a->from_s, 0, a->bytes};
            continue;
        }
        m[n++] = (struct moment){is_cut ? a->made_s : a->from_s, a->bytes, 0};
        m[n++] = (struct moment){is_cut ? a->read_s : a->until_s, -a->bytes, 0};
    }
    qsort(m, n, sizeof(*m), by_time);
    return n;
}

/* Passes in their order: forward up, backward down, and where it is cut, weights down. */
enum part { FORWARD, BACKWARD, WEIGHT };

struct sweep {
    const struct fr__block_reading *x;
    bool is_cut;
    double *ends_s;           /* [3 n_items] of the passes */
    double *before, *between; /* [n_items + 1] sums up to an item of what is kept, is between */
    double *gradients;        /* [n_items] made so far */
    double live;
};

static size_t item_of_pass(size_t pass, size_t n)
{
    return pass < n ? pass : pass < 2 * n ? 2 * n - 1 - pass : 3 * n - 1 - pass;
}

static void note_most(struct sweep *w, size_t pass)
{
    struct fr__block *b = w->x->b;
    size_t n = b->n_items, i = item_of_pass(pass, n);
    double *most, *own = NULL, other = w->before[i];

    if (pass < n) {
        most = &b->forward_bytes[i];
    } else if (!w->is_cut) {
        most = &b->backward_bytes[i];
        own = &b->backward_own[i];
    } else if (pass < 2 * n) {
        most = &b->input_bytes[i];
        other += w->between[n] - w->between[i + 1];
    } else {
        most = &b->weight_bytes[i];
        own = &b->weight_own[i];
        other = w->between[i];
    }
    if (w->live - other <= *most)
        return;
    *most = w->live - other;
    if (own)
        *own = w->gradients[i];
}

static void sweep(struct sweep *w, const struct lives *l, struct moment m[])
{
    size_t n = w->x->b->n_items, n_passes = (w->is_cut ? 3 : 2) * n, pass = 0;
    size_t n_moments = list_moments(w->x, l, w->is_cut, m);

    for (size_t i = 0; i < n_moments; i++) {
        while (pass + 1 < n_passes && m[i].at_s >= w->ends_s[pass])
            pass++;
        w->live += m[i].bytes;
        w->gradients[item_of_pass(pass, n)] += m[i].gradient;
        note_most(w, pass);
    }
}

/* When the passes of the cut timeline end: those without work where the one before them did. */
static void find_cut_ends(const struct fr__block_reading *x, const struct lives *l, double ends_s[])
{
    size_t n = x->b->n_items;

    for (size_t t = 0; t < x->v->n_tasks; t++) {
        size_t item, pass;

        if (!fr__is_block_pass(x, t))
            continue;
        item = x->item_of[x->v->tasks[t].op];
        pass = x->v->tasks[t].phase == FR_PHASE_FORWARD ? item
               : is_weight(x, t)                        ? 3 * n - 1 - item
                                                        : 2 * n - 1 - item;
        ends_s[pass] = fmax(ends_s[pass], later(x, l, t, x->run->end_s[t]));
    }
    for (size_t i = 1; i < 3 * n; i++)
        ends_s[i] = fmax(ends_s[i], ends_s[i - 1]);
}

static void find_most(const struct fr__block_reading *x, const struct lives *l, struct moment m[],
                      double scratch[])
{
    size_t n = x->b->n_items;
    struct sweep w = {.x = x, .ends_s = scratch, .before = scratch + 3 * n};

    w.between = w.before + n + 1;
    w.gradients = w.between + n + 1;
    for (size_t i = 0; i < n; i++) {
        w.before[i + 1] = w.before[i] + x->b->kept_bytes[i];
        w.between[i + 1] = w.between[i] + x->b->between_bytes[i];
        w.ends_s[i] = x->ends_s[0][i];
        w.ends_s[2 * n - 1 - i] = x->ends_s[1][i];
    }
    sweep(&w, l, m);
    for (size_t i = 0; i < 3 * n; i++)
        w.ends_s[i] = 0;
    for (size_t i = 0; i < n; i++)
        w.gradients[i] = 0;
    w.live = 0;
    w.is_cut = true;
    find_cut_ends(x, l, w.ends_s);
    sweep(&w, l, m);
}

enum fr_status fr__block_bytes(struct fr__block_reading *x, struct fr_error *err)
{
    size_t n = x->b->n_items;
    struct lives l = {.of = calloc(x->v->n_buffers + 1, sizeof(*l.of))};
    struct moment *m = malloc((2 * x->v->n_buffers + 1) * sizeof(*m));
    double *scratch = calloc(6 * n + 2, sizeof(*scratch));
    enum fr_status st = FR_OK;

    for (size_t t = 0; t < x->v->n_tasks; t++)
        l.shift_s = fmax(l.shift_s, 1 + x->run->end_s[t]);
    if (!l.of || !m || !scratch) {
        st = fr__fail_nomem(err);
    } else {
        read_lives(x, &l);
        sum_kept(x, &l);
        find_most(x, &l, m, scratch);
    }
    free(l.of);
    free(m);
    free(scratch);
    return st;
}
