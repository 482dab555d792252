/* study/layouts/coarse.c - a pipelined layout from prices: one task an action.
 *
 * Time. The schedule is replayed with what its stages take (lowering/schedules/replay.c),
 * messages between ranks at what they take. Passes that overlap are run beside each other task by
 * task (pair.c). A schedule of many micro-batches is periodic after it
 * is filled: two shorter ones, a turn of the pipeline apart, give the time of a turn. Then
 * gradients leave in buckets beside the last backward pass of each stage, both ends sum what they
 * share, parameters are updated and gathered.
 * Bytes: coarse_bytes.c.
 *
 * Ignores:  that messages of several kinds share links; jitter; hosts that fall behind between
 *           stages; how an allocator cuts memory up.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"
#include "lowering/schedules/schedule.h"

#include <math.h>
#include <stdlib.h>

enum { FULL_TURNS = 2 }; /* of the pipeline, after which a schedule repeats itself */

/* ---- stages ---- */

struct stages {
    uint32_t n;
    struct fr_pass_times *times;               /* [n] */
    double *forward_s, *backward_s, *weight_s; /* [n] */
    double *busy_s[2];                         /* [n] of the forward, the backward pass */
    double *hidden_s;                          /* [n] as in a block */
    double *pair_s;                            /* [n] of a forward pass with the one beside it */
    bool has_pairs;                            /* pair_s is set */
};

static void sum_stages(const struct fr__coarse *c, struct stages *s)
{
    const struct fr__block *b = c->block;

    for (size_t i = 0; i < b->n_items; i++) {
        uint32_t k = fr__stage_of_item(i, b->n_items, s->n);

        s->forward_s[k] += b->forward_s[i];
        s->backward_s[k] += b->backward_s[i];
        s->weight_s[k] += b->weight_s[i];
        s->hidden_s[k] += b->hidden_s[i];
        s->busy_s[0][k] += fmin(b->busy_s[0][i], b->forward_s[i]);
        s->busy_s[1][k] += fmin(b->busy_s[1][i], b->backward_s[i]);
    }
    for (uint32_t k = 0; k < s->n; k++)
        s->times[k] =
            (struct fr_pass_times){.forward = s->forward_s[k],
                                   .input = s->backward_s[k] - s->weight_s[k] + s->hidden_s[k],
                                   .weight = s->weight_s[k],
                                   .backward = s->backward_s[k],
                                   .forward_idle = s->forward_s[k] - s->busy_s[0][k],
                                   .backward_idle = s->backward_s[k] - s->busy_s[1][k]};
}

static enum fr_status make_stages(const struct fr__coarse *c, struct stages *out,
                                  struct fr_error *err)
{
    uint32_t n = c->layout->pp * c->layout->n_virtual;
    double *sums = calloc(7 * (size_t)n, sizeof(*sums));
    struct fr_pass_times *times = calloc(n, sizeof(*times));

    if (!sums || !times) {
        free(sums);
        free(times);
        return fr__fail_nomem(err);
    }
    *out = (struct stages){.n = n,
                           .times = times,
                           .forward_s = sums,
                           .backward_s = sums + n,
                           .weight_s = sums + 2 * n,
                           .busy_s = {sums + 3 * n, sums + 4 * n},
                           .hidden_s = sums + 5 * n,
                           .pair_s = sums + 6 * n};
    sum_stages(c, out);
    return FR_OK;
}

static void free_stages(struct stages *s)
{
    free(s->forward_s);
    free(s->times);
}

enum fr_status fr__coarse_schedule(const struct fr_search_layout *l, uint32_t n_micros,
                                   struct fr_schedule **out, struct fr_error *err)
{
    const struct fr_schedule_spec spec = {
        .name = l->schedule, .n_ranks = l->pp, .n_micros = n_micros, .n_virtual = l->n_virtual};

    return fr_schedule_make(out, &spec, err);
}

uint32_t fr__coarse_fewer_micros(const struct fr_search_layout *l)
{
    uint32_t few = l->n_micros % l->pp + FULL_TURNS * l->pp;

    return few + l->pp < l->n_micros ? few : l->n_micros;
}

/* ---- time ---- */

/* The stage whose gradients an action completes if it is the stage's last; FR_NONE: none. */
static uint32_t completes(const struct fr_action *a)
{
    unsigned kind = a->with == FR_ACTION_NONE ? a->kind : a->with;

    if (kind != FR_ACTION_B && kind != FR_ACTION_W)
        return FR_NONE;
    return a->with == FR_ACTION_NONE ? a->stage : a->with_stage;
}

/* The last backward passes of a rank's stages, the latest first, into last[most]. */
static size_t find_last(const struct fr_schedule *s, uint32_t rank, size_t most, size_t last[])
{
    size_t n = 0;

    for (size_t i = s->first[rank + 1]; i-- > s->first[rank] && n < most;) {
        uint32_t stage = completes(&s->actions[i]);
        bool is_known = stage == FR_NONE;

        for (size_t k = 0; k < n; k++)
            is_known = is_known || completes(&s->actions[last[k]]) == stage;
        if (!is_known)
            last[n++] = i;
    }
    return n;
}

/* When the gradients of a rank are summed: its stages' last backward passes in their order. */
static double reduced_at(const struct fr__coarse *c, const struct fr_schedule *s,
                         const struct fr_replay *r, uint32_t rank, size_t last[])
{
    uint32_t v = c->layout->n_virtual;
    double part_s = c->mesh->reduce_s[rank] / v;
    double bucket = fmin(1, c->mesh->bucket_frac[rank] * v), end = 0;

    for (size_t n = find_last(s, rank, v, last); n-- > 0;) {
        double start = r->start[last[n]], finish = r->finish[last[n]];

        end = fmax(fmax(end, start + (finish - start) * bucket) + part_s, finish + part_s * bucket);
    }
    return end;
}

/* By how much the gradient of a tied weight, which the last rank sends when its last backward pass
 * has begun with the head, holds up what that pass hands on: messages leave one after another. */
static double tied_delay_s(const struct fr__coarse *c, const struct fr_schedule *s,
                           const struct fr_replay *r)
{
    uint32_t last = s->n_stages - 1;
    double rest_s = 0, head_s = c->block->backward_s[c->block->n_items - 1];

    for (size_t i = s->first[s->n_ranks - 1]; i < s->first[s->n_ranks]; i++)
        if (completes(&s->actions[i]) == last)
            rest_s = fmax(0, r->finish[i] - r->start[i] - head_s);
    return fmax(0, c->mesh->tied_gradient_s - rest_s);
}

/* Both ends of the model on one rank exchange nothing. */
static bool ends_meet(const struct fr_search_layout *l)
{
    return fr__coarse_rank_of_stage(l, 0) == fr__coarse_rank_of_stage(l, l->pp * l->n_virtual - 1);
}

static double finish_at(const struct fr__coarse *c, const struct fr_schedule *s,
                        const struct fr_replay *r, size_t scratch[])
{
    const struct fr__mesh_price *m = c->mesh;
    bool has_ends = !ends_meet(c->layout);
    double end = 0, delay_s = 0, first = reduced_at(c, s, r, 0, scratch);
    double last = reduced_at(c, s, r, s->n_ranks - 1, scratch);
    double ends_s = m->ends_s > 0 ? fmax(first, last) + m->ends_s : 0;

    if (has_ends && m->tied_gradient_s > 0)
        delay_s = tied_delay_s(c, s, r);
    for (uint32_t k = 0; k < s->n_ranks; k++) {
        double at = k == 0 ? first : k + 1 == s->n_ranks ? last : reduced_at(c, s, r, k, scratch);

        if (k + 1 < s->n_ranks || c->layout->n_virtual > 1)
            at += delay_s;
        if (has_ends && (k == 0 || k + 1 == s->n_ranks))
            at = fmax(at, ends_s);
        end = fmax(end, at + m->update_s[k] + m->gather_s[k]);
        if (has_ends && k == 0 && m->tied_weight_s > 0)
            end = fmax(end, at + m->update_s[0] * m->tied_update_frac + m->tied_weight_s);
    }
    return end;
}

/* The passes that the schedule overlaps: a forward pass is always beside that of the same stage. */
static enum fr_status price_pairs(const struct fr__coarse *c, const struct fr_schedule *s,
                                  struct stages *st, struct fr_error *err)
{
    uint32_t *beside = malloc(((size_t)st->n + 1) * sizeof(*beside));
    enum fr_status status;

    if (!beside)
        return fr__fail_nomem(err);
    for (uint32_t k = 0; k < st->n; k++)
        beside[k] = FR_NONE;
    for (size_t i = 0; i < s->n_actions; i++)
        if (s->actions[i].with == FR_ACTION_B)
            beside[s->actions[i].stage] = s->actions[i].with_stage;
    status = fr__block_pairs(c->block, st->n, beside, st->pair_s, err);
    st->has_pairs = status == FR_OK;
    free(beside);
    return status;
}

static enum fr_status replay_one(const struct fr__coarse *c, const struct fr_schedule *s,
                                 struct stages *st, const struct fr_schedule_times *times,
                                 size_t scratch[], double *time_s, struct fr_error *err)
{
    const struct fr_schedule_kind *kind = fr_schedule_kind_find(c->layout->schedule);
    struct fr_replay r;

    if (kind && kind->has_pairs && !st->has_pairs)
        FR_TRY(price_pairs(c, s, st, err));
    FR_TRY(fr_schedule_replay(&r, s, times, err));
    *time_s = finish_at(c, s, &r, scratch);
    fr_replay_fini(&r);
    return FR_OK;
}

static enum fr_status replay_at(const struct fr__coarse *c, struct stages *st, uint32_t n_micros,
                                double *time_s, struct fr_error *err)
{
    struct fr_schedule_times times = {
        .of_stage = st->times, .pair = -1, .pair_of_stage = st->pair_s};
    struct fr_schedule *s;
    double *comm = calloc(c->layout->pp, sizeof(*comm));
    size_t *scratch = calloc(c->layout->n_virtual, sizeof(*scratch));
    enum fr_status status;

    if (!comm || !scratch) {
        free(comm);
        free(scratch);
        return fr__fail_nomem(err);
    }
    for (uint32_t k = 0; k < c->layout->pp; k++)
        comm[k] = c->mesh->message_s[k] * c->layout->micro;
    times.comm_of_rank = comm;
    times.comm = comm[c->layout->pp - 1];
    status = fr__coarse_schedule(c->layout, n_micros, &s, err);
    if (status == FR_OK) {
        status = replay_one(c, s, st, &times, scratch, time_s, err);
        fr_schedule_free(s);
    }
    free(comm);
    free(scratch);
    return status;
}

enum fr_status fr__coarse_time(const struct fr__coarse *c, double *time_s, struct fr_error *err)
{
    uint32_t few = fr__coarse_fewer_micros(c->layout), turn = c->layout->pp;
    double short_s = 0, long_s = 0;
    struct stages s;
    enum fr_status st;

    FR_TRY(make_stages(c, &s, err));
    st = replay_at(c, &s, few, &short_s, err);
    *time_s = short_s;
    if (st == FR_OK && few < c->layout->n_micros) {
        st = replay_at(c, &s, few + turn, &long_s, err);
        *time_s = long_s + (long_s - short_s) * ((c->layout->n_micros - few) / turn - 1);
    }
    free_stages(&s);
    return st;
}

/* ---- the bound ---- */

uint32_t fr__coarse_rank_of_stage(const struct fr_search_layout *l, uint32_t stage)
{
    const struct fr_schedule_kind *k = fr_schedule_kind_find(l->schedule);

    if (k && k->placement == FR_STAGES_V)
        return stage < l->pp ? stage : 2 * l->pp - 1 - stage;
    return stage % l->pp;
}

/* A rank cannot begin before the first micro-batch has come to it, does all its passes one after
 * another, and then either its own update follows or what the last micro-batch still has to do on
 * the way back. */
enum fr_status fr__coarse_bound(const struct fr__coarse *c, double *bound_s, struct fr_error *err)
{
    const struct fr_search_layout *l = c->layout;
    const struct fr_schedule_kind *kind = fr_schedule_kind_find(l->schedule);
    bool has_pairs = kind && kind->has_pairs;
    double most = 0, before_s = 0, after_s = 0;
    struct stages s;

    FR_TRY(make_stages(c, &s, err));
    for (uint32_t r = 0; r < l->pp; r++) {
        double work_s = 0, tail_s = c->mesh->update_s[r] + c->mesh->gather_s[r];

        for (uint32_t k = 0; k < s.n; k++)
            if (fr__coarse_rank_of_stage(l, k) == r)
                work_s +=
                    has_pairs ? s.busy_s[0][k] + s.busy_s[1][k] : s.forward_s[k] + s.backward_s[k];
        tail_s +=
            c->mesh->reduce_s[r] * fmin(1, c->mesh->bucket_frac[r] * l->n_virtual) / l->n_virtual;
        most = fmax(most, before_s + l->n_micros * work_s + fmax(after_s, tail_s));
        before_s += s.forward_s[r] + c->mesh->message_s[r] * l->micro;
        after_s += s.backward_s[r] - s.weight_s[r];
    }
    free_stages(&s);
    *bound_s = most;
    return FR_OK;
}
