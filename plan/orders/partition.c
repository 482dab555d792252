/* plan/orders/partition.c - a device's receives, and the sets of them that its ops need. */
#include "config.h"

#include "plan/orders/order.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All of a partition's times together are under 2^TICK_BITS ticks, so integers hold any sum of
 * them. */
enum { TICK_BITS = 58, LEAST_EXPONENT = -200 };

struct maker {
    struct fr__partition *k;
    const struct fr__receives *r;
    struct fr__arena *arena;
    uint32_t *class_of; /* [n_tasks of the device] by its place; FR_NONE: needs no receive */
    uint32_t *place_of; /* [n_tasks] of the device's tasks */
    uint32_t *n_ops;    /* [n_classes] */
    uint64_t *scratch;  /* [n_words] */
    size_t cap_sets, cap_work, cap_ops;
};

/* ---- receives ---- */

struct keyed {
    uint32_t wave, transfer, send;
    int32_t priority;
};

static int by_wave_and_plan(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->wave != y->wave)
        return x->wave < y->wave ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->send > y->send) - (x->send < y->send);
}

static bool is_ordered_receive(const struct fr__receives *r, uint32_t task)
{
    const struct fr_task *k = &r->v->tasks[task];

    return k->kind == FR_TASK_RECV && r->is_ordered[k->transfer];
}

static enum fr_status list_receives(struct maker *m, uint32_t first, uint32_t end,
                                    struct fr_error *err)
{
    const struct fr__receives *r = m->r;
    struct fr__partition *k = m->k;
    struct keyed *keyed;
    uint32_t n = 0;

    for (uint32_t i = first; i < end; i++)
        k->n += is_ordered_receive(r, r->tasks[i]);
    keyed = fr__arena_take(m->arena, k->n, sizeof(*keyed));
    k->transfers = fr__arena_take(m->arena, k->n, sizeof(*k->transfers));
    k->wave = fr__arena_take(m->arena, k->n, sizeof(*k->wave));
    k->ticks = fr__arena_take(m->arena, k->n, sizeof(*k->ticks));
    if (!keyed || !k->transfers || !k->wave || !k->ticks)
        return fr__fail_nomem(err);
    for (uint32_t i = first; i < end; i++) {
        uint32_t x, send;

        if (!is_ordered_receive(r, r->tasks[i]))
            continue;
        x = r->v->tasks[r->tasks[i]].transfer;
        send = r->v->transfers[x].send;
        keyed[n++] = (struct keyed){r->wave[x], x, send, r->v->tasks[send].priority};
    }
    qsort(keyed, n, sizeof(*keyed), by_wave_and_plan);
    for (uint32_t i = 0; i < n; i++) {
        k->transfers[i] = keyed[i].transfer;
        k->wave[i] = keyed[i].wave;
    }
    return FR_OK;
}

/* ---- times ---- */

static double op_s(const struct fr__receives *r, uint32_t task)
{
    const struct fr_task *k = &r->v->tasks[task];

    if (k->kind != FR_TASK_COMPUTE)
        return 0;
    return r->compute_s ? r->compute_s[task] : r->v->costs[k->cost_id].mean_s;
}

/* A power of two, so that times lose nothing but what lies below it. */
static void choose_tick(struct maker *m, uint32_t first, uint32_t end, const double time_s[])
{
    double total_s = 0;
    int exponent = 0;

    for (uint32_t i = 0; time_s && i < m->k->n; i++)
        total_s += time_s[m->k->transfers[i]];
    for (uint32_t i = first; i < end; i++)
        total_s += op_s(m->r, m->r->tasks[i]);
    (void)frexp(total_s, &exponent);
    if (exponent < LEAST_EXPONENT)
        exponent = LEAST_EXPONENT;
    m->k->tick_s = ldexp(1, exponent - TICK_BITS);
    for (uint32_t i = 0; i < m->k->n; i++)
        m->k->ticks[i] = time_s ? (int64_t)(time_s[m->k->transfers[i]] / m->k->tick_s + 0.5) : 0;
}

/* ---- classes ---- */

static uint64_t *set_of(const struct maker *m, uint32_t c)
{
    return m->k->sets + (size_t)c * m->k->n_words;
}

/* A new class with the scratch as its set; FR_NONE: out of memory. */
static uint32_t add_class(struct maker *m)
{
    struct fr__partition *k = m->k;
    size_t need = (size_t)(k->n_classes + 1) * k->n_words;

    if (!fr__grow(&k->sets, &m->cap_sets, need, sizeof(*k->sets)) ||
        !fr__grow(&k->work, &m->cap_work, k->n_classes + 1, sizeof(*k->work)) ||
        !fr__grow(&m->n_ops, &m->cap_ops, k->n_classes + 1, sizeof(*m->n_ops)))
        return FR_NONE;
    memcpy(set_of(m, k->n_classes), m->scratch, k->n_words * sizeof(*k->sets));
    k->work[k->n_classes] = 0;
    m->n_ops[k->n_classes] = 0;
    return k->n_classes++;
}

/* The class of what a task's predecessors need together; false: out of memory. */
static bool join_classes(struct maker *m, uint32_t task, uint32_t *out)
{
    const struct fr__receives *r = m->r;
    size_t bytes = m->k->n_words * sizeof(*m->scratch);
    uint32_t only = FR_NONE, i = r->pred_first[task], end = r->pred_first[task + 1];

    *out = FR_NONE;
    for (; i < end; i++) {
        uint32_t c = m->class_of[m->place_of[r->preds[i]]];

        if (c == FR_NONE || c == only)
            continue;
        if (only == FR_NONE) {
            only = *out = c;
            continue;
        }
        if (*out == only)
            memcpy(m->scratch, set_of(m, only), bytes);
        for (uint32_t w = 0; w < m->k->n_words; w++)
            m->scratch[w] |= set_of(m, c)[w];
        *out = c;
    }
    if (*out == only)
        return true;
    /* often one of them needs all that the others do */
    for (i = r->pred_first[task]; i < end; i++) {
        uint32_t c = m->class_of[m->place_of[r->preds[i]]];

        if (c != FR_NONE && memcmp(set_of(m, c), m->scratch, bytes) == 0) {
            *out = c;
            return true;
        }
    }
    *out = add_class(m);
    return *out != FR_NONE;
}

static bool class_of_receive(struct maker *m, uint32_t number, uint32_t *out)
{
    memset(m->scratch, 0, m->k->n_words * sizeof(*m->scratch));
    m->scratch[number / 64] |= UINT64_C(1) << number % 64;
    *out = add_class(m);
    return *out != FR_NONE;
}

static enum fr_status classify(struct maker *m, uint32_t first, uint32_t end,
                               const uint32_t number_of[], struct fr_error *err)
{
    const struct fr__receives *r = m->r;

    for (uint32_t i = first; i < end; i++) {
        uint32_t task = r->tasks[i], *c = &m->class_of[i - first];
        const struct fr_task *k = &r->v->tasks[task];

        *c = FR_NONE;
        m->place_of[task] = i - first;
        if (k->kind == FR_TASK_RECV) {
            if (r->is_ordered[k->transfer] && !class_of_receive(m, number_of[k->transfer], c))
                return fr__fail_nomem(err);
            continue;
        }
        if (!join_classes(m, task, c))
            return fr__fail_nomem(err);
        if (k->kind == FR_TASK_COMPUTE && *c != FR_NONE) {
            m->k->work[*c] += (int64_t)(op_s(r, task) / m->k->tick_s + 0.5);
            m->n_ops[*c]++;
        }
    }
    return FR_OK;
}

/* Moves those that have ops to the front, and all into the arena. */
static enum fr_status keep_used(struct maker *m, struct fr_error *err)
{
    struct fr__partition *k = m->k;
    size_t words = k->n_words;
    uint64_t *sets;
    int64_t *work;
    uint32_t n = 0;

    for (uint32_t c = 0; c < k->n_classes; c++) {
        if (m->n_ops[c] == 0)
            continue;
        memmove(k->sets + n * words, k->sets + c * words, words * sizeof(*k->sets));
        k->work[n++] = k->work[c];
    }
    k->n_classes = n;
    sets = fr__arena_take(m->arena, n * words, sizeof(*sets));
    work = fr__arena_take(m->arena, n, sizeof(*work));
    if (!sets || !work)
        return fr__fail_nomem(err);
    if (n > 0) {
        memcpy(sets, k->sets, n * words * sizeof(*sets));
        memcpy(work, k->work, n * sizeof(*work));
    }
    free(k->sets);
    free(k->work);
    k->sets = sets;
    k->work = work;
    return FR_OK;
}

static enum fr_status make_classes(struct maker *m, uint32_t first, uint32_t end,
                                   struct fr_error *err)
{
    struct fr__partition *k = m->k;
    const struct fr_plan_view *v = m->r->v;
    uint32_t *number_of = fr__arena_take(m->arena, v->n_transfers, sizeof(*number_of));
    enum fr_status st;

    k->n_words = (k->n + 63) / 64;
    m->class_of = fr__arena_take(m->arena, end - first, sizeof(*m->class_of));
    m->place_of = fr__arena_take(m->arena, v->n_tasks, sizeof(*m->place_of));
    m->scratch = fr__arena_take(m->arena, k->n_words, sizeof(*m->scratch));
    if (!number_of || !m->class_of || !m->place_of || !m->scratch)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < k->n; i++)
        number_of[k->transfers[i]] = i;
    st = classify(m, first, end, number_of, err);
    if (st == FR_OK)
        st = keep_used(m, err);
    if (st != FR_OK) {
        free(k->sets);
        free(k->work);
    }
    free(m->n_ops);
    return st;
}

enum fr_status fr__partition_make(struct fr__partition *out, const struct fr__receives *r,
                                  uint32_t device, const double time_s[], struct fr__arena *arena,
                                  struct fr_error *err)
{
    uint32_t first = r->task_first[device], end = r->task_first[device + 1];
    struct maker m = {.k = out, .r = r, .arena = arena};

    memset(out, 0, sizeof(*out));
    FR_TRY(list_receives(&m, first, end, err));
    if (out->n == 0)
        return FR_OK;
    choose_tick(&m, first, end, time_s);
    return make_classes(&m, first, end, err);
}
