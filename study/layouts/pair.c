/* study/layouts/pair.c - a forward and a backward pass that a schedule overlaps (DualPipe), run
 * task by task.
 *
 * Each pass computes while the other one waits for a message. How much of the waits that fills
 * depends on where they are: a message is hidden only if the other pass can compute just then, and
 * messages of both passes go one after another. So the tasks of both are run as the engine would
 * run them: a stream takes one task at a time, of those that are ready the first in the plan's
 * order, and the forward pass comes first (lowering/pipeline/place.c).
 *
 * Ignores:  hosts that launch too slowly; a forward pass whose input comes later than the backward
 *           pass could begin.
 */
#include "config.h"

#include "study/layouts/block.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- steps ---- */

static void copy_step(struct fr__block_step *s, const struct fr_record *r, size_t t,
                      const struct fr_task *k, const uint32_t item_of[])
{
    *s = (struct fr__block_step){.length_s = r->run->end_s[t] - r->run->start_s[t],
                                 .item = item_of[k->op],
                                 .priority = k->priority,
                                 .stream = k->stream,
                                 .is_backward = k->phase != FR_PHASE_FORWARD};
}

/* A forward pass that a backward pass waits for is of another micro-batch in a pair. */
static bool is_wait(const struct fr_plan_view *v, size_t t, uint32_t next, const uint32_t step_of[])
{
    return step_of[next] != FR_NONE &&
           (v->tasks[t].phase == FR_PHASE_FORWARD) == (v->tasks[next].phase == FR_PHASE_FORWARD);
}

/* step_of: [n_tasks] FR_NONE, or the number of its step. */
static void copy_steps(struct fr__block *b, const struct fr_record *r, const uint32_t item_of[],
                       const uint32_t step_of[])
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    uint32_t n = 0;

    for (size_t t = 0; t < v->n_tasks; t++) {
        if (step_of[t] == FR_NONE)
            continue;
        copy_step(&b->steps[step_of[t]], r, t, &v->tasks[t], item_of);
        b->succ_first[step_of[t]] = n;
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            if (is_wait(v, t, v->succ[i], step_of))
                b->succ[n++] = step_of[v->succ[i]];
    }
    b->succ_first[b->n_steps] = n;
}

enum fr_status fr__block_steps(struct fr__block *b, const struct fr_record *r, uint32_t device,
                               const uint32_t item_of[], struct fr__arena *arena,
                               struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    uint32_t *step_of = malloc((v->n_tasks + 1) * sizeof(*step_of));
    size_t n_succ = 0;

    if (!step_of)
        return fr__fail_nomem(err);
    b->n_steps = 0;
    for (size_t t = 0; t < v->n_tasks; t++) {
        bool is_step = fr__is_pass_task(&v->tasks[t], device);

        step_of[t] = is_step ? (uint32_t)b->n_steps++ : FR_NONE;
        n_succ += is_step ? v->succ_first[t + 1] - v->succ_first[t] : 0;
    }
    b->steps = fr__arena_alloc(arena, b->n_steps + 1, sizeof(*b->steps));
    b->succ_first = fr__arena_alloc(arena, b->n_steps + 1, sizeof(*b->succ_first));
    b->succ = fr__arena_alloc(arena, n_succ + 1, sizeof(*b->succ));
    if (b->steps && b->succ_first && b->succ)
        copy_steps(b, r, item_of, step_of);
    free(step_of);
    return b->steps && b->succ_first && b->succ ? FR_OK : fr__fail_nomem(err);
}

/* ---- a run of two passes ---- */

struct pair_run {
    const struct fr__block *b;
    uint32_t *waits;   /* [n_steps] predecessors that have not ended; FR_NONE: of no pass */
    uint32_t *ready;   /* [n_steps] that wait for their stream */
    uint32_t *running; /* [n_steps] */
    double *end_s;     /* [n_steps] */
    size_t n_ready, n_running;
    bool is_taken[FR_N_STREAMS];
    double now_s;
};

static bool is_serial(const struct fr__block_step *s)
{
    return s->stream < FR_N_STREAMS;
}

/* Forward passes first, then as in the plan. */
static bool goes_before(const struct fr__block *b, uint32_t a, uint32_t other)
{
    const struct fr__block_step *x = &b->steps[a], *y = &b->steps[other];

    if (x->is_backward != y->is_backward)
        return y->is_backward;
    return x->priority != y->priority ? x->priority < y->priority : a < other;
}

static void start(struct pair_run *r, uint32_t s)
{
    r->end_s[s] = r->now_s + r->b->steps[s].length_s;
    r->running[r->n_running++] = s;
    if (is_serial(&r->b->steps[s]))
        r->is_taken[r->b->steps[s].stream] = true;
}

/* The first in order of those whose stream is free; false: none. */
static bool start_one(struct pair_run *r)
{
    size_t best = r->n_ready;
    uint32_t step;

    for (size_t i = 0; i < r->n_ready; i++) {
        const struct fr__block_step *s = &r->b->steps[r->ready[i]];

        if ((is_serial(s) && r->is_taken[s->stream]) ||
            (best < r->n_ready && !goes_before(r->b, r->ready[i], r->ready[best])))
            continue;
        best = i;
    }
    if (best == r->n_ready)
        return false;
    step = r->ready[best];
    r->ready[best] = r->ready[--r->n_ready];
    start(r, step);
    return true;
}

static void end_next(struct pair_run *r)
{
    size_t best = 0;
    uint32_t step;

    for (size_t i = 1; i < r->n_running; i++)
        if (r->end_s[r->running[i]] < r->end_s[r->running[best]])
            best = i;
    step = r->running[best];
    r->running[best] = r->running[--r->n_running];
    r->now_s = r->end_s[step];
    if (is_serial(&r->b->steps[step]))
        r->is_taken[r->b->steps[step].stream] = false;
    for (uint32_t i = r->b->succ_first[step]; i < r->b->succ_first[step + 1]; i++) {
        uint32_t next = r->b->succ[i];

        if (r->waits[next] != FR_NONE && --r->waits[next] == 0)
            r->ready[r->n_ready++] = next;
    }
}

static bool is_of_pair(const struct fr__block *b, uint32_t n_stages, uint32_t step,
                       const uint32_t stage[2])
{
    const struct fr__block_step *s = &b->steps[step];

    return fr__stage_of_item(s->item, b->n_items, n_stages) == stage[s->is_backward];
}

/* stage: of the forward, of the backward pass. The time of both. */
static double run_pair(struct pair_run *r, uint32_t n_stages, const uint32_t stage[2])
{
    const struct fr__block *b = r->b;
    uint32_t n = (uint32_t)b->n_steps;

    r->n_ready = r->n_running = 0;
    r->now_s = 0;
    memset(r->is_taken, 0, sizeof(r->is_taken));
    for (uint32_t s = 0; s < n; s++)
        r->waits[s] = is_of_pair(b, n_stages, s, stage) ? 0 : FR_NONE;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t i = b->succ_first[s]; r->waits[s] != FR_NONE && i < b->succ_first[s + 1]; i++)
            r->waits[b->succ[i]] += r->waits[b->succ[i]] != FR_NONE;
    for (uint32_t s = 0; s < n; s++)
        if (r->waits[s] == 0)
            r->ready[r->n_ready++] = s;
    while (r->n_ready > 0 || r->n_running > 0) {
        while (start_one(r))
            ;
        end_next(r);
    }
    return r->now_s;
}

enum fr_status fr__block_pairs(const struct fr__block *b, uint32_t n_stages,
                               const uint32_t beside[], double out[], struct fr_error *err)
{
    struct pair_run r = {.b = b};
    uint32_t *room = calloc(3 * b->n_steps + 1, sizeof(*room));

    r.end_s = calloc(b->n_steps + 1, sizeof(*r.end_s));
    if (!room || !r.end_s) {
        free(room);
        free(r.end_s);
        return fr__fail_nomem(err);
    }
    r.waits = room;
    r.ready = room + b->n_steps;
    r.running = room + 2 * b->n_steps;
    for (uint32_t k = 0; k < n_stages; k++)
        if (beside[k] != FR_NONE)
            out[k] = run_pair(&r, n_stages, (const uint32_t[]){k, beside[k]});
    free(room);
    free(r.end_s);
    return FR_OK;
}
