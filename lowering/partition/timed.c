/* lowering/partition/timed.c - a schedule with times of stages and of the links between them. */
#include "config.h"

#include "lowering/partition/timed.h"

#include "base/error.h"
#include "lowering/schedules/passes.h"

#include <stdlib.h>
#include <string.h>

/* Both are [n_stages n_micros], cell stage n_micros + micro-batch. */
struct arrivals {
    double *forward_s;  /* when the output of a forward is at the next stage */
    double *backward_s; /* when the gradient of a stage's input is at the stage before */
};

struct fr__timed {
    const struct fr_schedule *s;
    struct fr__passes passes;
    struct arrivals there;
    double *rank_s;                   /* [n_ranks] end of the last action so far */
    double *host_s;                   /* [n_ranks] end of its launches */
    uint32_t *first_rank, *last_rank; /* [n_stages] of the first copy of a stage, of the last */
    double *end_s;                    /* [n_stages] of its last backward pass so far */
    uint32_t *by_end;                 /* [n_stages] as end_s rises */
    double *out_s;                    /* [n_ranks] end of its last transfer to another rank */
    double *whole_s;                  /* [n_stages] when gradients of its users are there */
    double *ends_s;                   /* [n_ranks] end of what a rank does, updates included */
    const struct fr__timed_stage *of;
    const struct fr__timed_tie *ties;
    size_t n_ties;
};

static size_t cell(const struct fr__timed *t, uint32_t stage, uint32_t micro)
{
    return (size_t)stage * t->s->n_micros + micro;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* When what a pass reads is there. */
static double inputs_s(const struct fr__timed *t, unsigned kind, uint32_t stage, uint32_t micro)
{
    if (kind == FR_ACTION_F)
        return stage > 0 ? t->there.forward_s[cell(t, stage - 1, micro)] : 0;
    if ((kind == FR_ACTION_B || kind == FR_ACTION_I) && stage + 1 < t->s->n_stages)
        return t->there.backward_s[cell(t, stage + 1, micro)];
    return 0;
}

static double pass_s(const struct fr__timed *t, unsigned kind, uint32_t stage)
{
    const struct fr__timed_stage *p = &t->of[stage];

    switch (kind) {
    case FR_ACTION_F:
        return p->forward_s;
    case FR_ACTION_I:
        return p->input_s;
    case FR_ACTION_W:
        return p->weight_s;
    case FR_ACTION_B:
        return p->input_s + p->weight_s;
    default:
        return 0;
    }
}

static double launches_s(const struct fr__timed *t, unsigned kind, uint32_t stage)
{
    const struct fr__timed_stage *p = &t->of[stage];

    switch (kind) {
    case FR_ACTION_F:
        return p->forward_host_s;
    case FR_ACTION_I:
        return p->input_host_s;
    case FR_ACTION_W:
        return p->weight_host_s;
    case FR_ACTION_B:
        return p->input_host_s + p->weight_host_s;
    default:
        return 0;
    }
}

/* What a rank sends takes turns, whoever gets it: a device has one stream for that. */
static void hand_on(struct fr__timed *t, uint32_t rank, unsigned kind, uint32_t stage,
                    uint32_t micro, double end_s)
{
    double *there_s, took_s;

    if (kind == FR_ACTION_F && stage + 1 < t->s->n_stages) {
        there_s = &t->there.forward_s[cell(t, stage, micro)];
        took_s = t->of[stage + 1].send_s;
    } else if ((kind == FR_ACTION_B || kind == FR_ACTION_I) && stage > 0) {
        there_s = &t->there.backward_s[cell(t, stage, micro)];
        took_s = t->of[stage].back_s;
    } else {
        return;
    }
    *there_s = end_s;
    if (took_s > 0)
        *there_s = t->out_s[rank] = later(end_s, t->out_s[rank]) + took_s;
}

/* One pass from ready_s on, or when the rank is free. */
static void run_pass(struct fr__timed *t, uint32_t rank, unsigned kind, uint32_t stage,
                     uint32_t micro, double ready_s)
{
    double end_s = later(t->rank_s[rank], ready_s) + pass_s(t, kind, stage);

    t->host_s[rank] += launches_s(t, kind, stage);
    end_s = later(end_s, t->host_s[rank]);
    hand_on(t, rank, kind, stage, micro, end_s);
    t->rank_s[rank] = end_s;
    if (kind != FR_ACTION_F)
        t->end_s[stage] = later(t->end_s[stage], end_s);
}

/* Of an overlapped pair the pass goes first whose inputs are there first, the forward if both are.
 */
static void run(void *user, size_t action, const uint32_t waits[], unsigned n_waits)
{
    struct fr__timed *t = user;
    const struct fr_action *a = &t->s->actions[action];
    uint32_t rank = t->passes.rank_of[action];
    double ready_s = later(t->rank_s[rank], inputs_s(t, a->kind, a->stage, a->micro)), with_s = 0;
    bool is_pair = a->with != FR_ACTION_NONE, is_first = true;

    (void)waits;
    (void)n_waits;
    if (is_pair) {
        with_s = later(t->rank_s[rank], inputs_s(t, a->with, a->with_stage, a->with_micro));
        is_first = ready_s <= with_s;
    }
    if (!is_first)
        run_pass(t, rank, a->with, a->with_stage, a->with_micro, with_s);
    run_pass(t, rank, a->kind, a->stage, a->micro, ready_s);
    if (is_pair && is_first)
        run_pass(t, rank, a->with, a->with_stage, a->with_micro, with_s);
}

/* Stages in the order of their ends. That of the run before is a good beginning. */
static void sort_ends(struct fr__timed *t)
{
    for (uint32_t i = 1; i < t->s->n_stages; i++) {
        uint32_t stage = t->by_end[i], k = i;

        for (; k > 0 && t->end_s[t->by_end[k - 1]] > t->end_s[stage]; k--)
            t->by_end[k] = t->by_end[k - 1];
        t->by_end[k] = stage;
    }
}

/* A rank ends with its last sum: the first part of a stage's leaves before its last pass ends, the
 * last part after. Two copies of a stage sum together. */
static void run_sums(struct fr__timed *t)
{
    double *free_s = t->host_s; /* [n_ranks] end of the sums so far; hosts are through */

    memset(free_s, 0, t->s->n_ranks * sizeof(*free_s));
    sort_ends(t);
    for (uint32_t i = 0; i < t->s->n_stages; i++) {
        uint32_t stage = t->by_end[i], rank = t->first_rank[stage], other = t->last_rank[stage];
        const struct fr__timed_stage *p = &t->of[stage];
        double part, first_s;

        if (!(p->sum_s > 0))
            continue;
        part = 1 / p->n_sums;
        first_s = t->end_s[stage] - (1 - part) * (p->input_s + p->weight_s);
        first_s = later(first_s, later(free_s[rank], free_s[other]));
        free_s[rank] = free_s[other] =
            later(first_s + p->sum_s, later(t->end_s[stage], t->whole_s[stage]) + part * p->sum_s);
        t->rank_s[rank] = later(t->rank_s[rank], free_s[rank]);
        t->rank_s[other] = later(t->rank_s[other], free_s[other]);
    }
}

/* ---- parameters of two stages ---- */

void fr__timed_tie(struct fr__timed *t, const struct fr__timed_tie ties[], size_t n)
{
    t->ties = ties;
    t->n_ties = n;
}

/* Gradients of users go to the owners' ranks: before sums, which wait for them. */
static void send_ties(struct fr__timed *t)
{
    for (size_t i = 0; i < t->n_ties; i++) {
        const struct fr__timed_tie *k = &t->ties[i];
        uint32_t from = t->first_rank[k->user];
        double leaves_s = later(t->rank_s[from], t->out_s[from]);

        if (k->is_sum || t->first_rank[k->owner] == from)
            continue;
        if (k->send_s > 0)
            t->out_s[from] = leaves_s += k->send_s;
        t->whole_s[k->owner] = later(t->whole_s[k->owner], leaves_s);
    }
}

/* When a rank has updated what waits until ready_s, of its part_s. */
static double updated_s(struct fr__timed *t, uint32_t rank, double ready_s, double part_s)
{
    double end_s = later(t->rank_s[rank], ready_s) + part_s;

    t->ends_s[rank] = later(t->ends_s[rank], end_s);
    return end_s;
}

/* What comes after a rank's passes and sums. */
static void end_ties(struct fr__timed *t)
{
    for (size_t i = 0; i < t->n_ties; i++) {
        const struct fr__timed_tie *k = &t->ties[i];
        uint32_t owner = t->first_rank[k->owner], user = t->first_rank[k->user];
        double end_s;

        if (owner == user)
            continue;
        if (k->is_sum) {
            end_s = later(t->rank_s[owner], t->rank_s[user]) + k->send_s;
            (void)updated_s(t, owner, end_s, k->owner_s);
            (void)updated_s(t, user, end_s, k->user_s);
            continue;
        }
        end_s = updated_s(t, owner, t->whole_s[k->owner], k->owner_s);
        end_s = t->out_s[owner] = later(end_s, t->out_s[owner]) + k->back_s;
        t->ends_s[user] = later(t->ends_s[user], end_s);
    }
}

enum fr_status fr__timed_run(struct fr__timed *t, const struct fr__timed_stage stages[],
                             const double tail_s[], double *makespan_s, struct fr_error *err)
{
    const struct fr_schedule *s = t->s;

    t->of = stages;
    memset(t->rank_s, 0, s->n_ranks * sizeof(*t->rank_s));
    memset(t->host_s, 0, s->n_ranks * sizeof(*t->host_s));
    memset(t->end_s, 0, s->n_stages * sizeof(*t->end_s));
    memset(t->out_s, 0, s->n_ranks * sizeof(*t->out_s));
    memset(t->whole_s, 0, s->n_stages * sizeof(*t->whole_s));
    FR_TRY(fr__passes_walk(&t->passes, s, run, t, err));
    send_ties(t);
    run_sums(t);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        t->ends_s[r] = t->rank_s[r] + (tail_s ? tail_s[r] : 0);
    end_ties(t);
    *makespan_s = 0;
    for (uint32_t r = 0; r < s->n_ranks; r++)
        *makespan_s = later(*makespan_s, t->ends_s[r]);
    return FR_OK;
}

/* ---- life ---- */

static bool make_room(struct fr__timed *t)
{
    size_t n_cells = (size_t)t->s->n_stages * t->s->n_micros;

    t->there.forward_s = calloc(n_cells, sizeof(double));
    t->there.backward_s = calloc(n_cells, sizeof(double));
    t->rank_s = calloc(t->s->n_ranks, sizeof(double));
    t->host_s = calloc(t->s->n_ranks, sizeof(double));
    t->first_rank = malloc(t->s->n_stages * sizeof(*t->first_rank));
    t->last_rank = malloc(t->s->n_stages * sizeof(*t->last_rank));
    t->end_s = calloc(t->s->n_stages, sizeof(double));
    t->by_end = malloc(t->s->n_stages * sizeof(*t->by_end));
    t->out_s = calloc(t->s->n_ranks, sizeof(double));
    t->whole_s = calloc(t->s->n_stages, sizeof(double));
    t->ends_s = calloc(t->s->n_ranks, sizeof(double));
    return t->there.forward_s && t->there.backward_s && t->rank_s && t->host_s && t->first_rank &&
           t->last_rank && t->end_s && t->by_end && t->out_s && t->whole_s && t->ends_s;
}

enum fr_status fr__timed_new(struct fr__timed **out, const struct fr_schedule *s,
                             struct fr_error *err)
{
    struct fr__timed *t = calloc(1, sizeof(*t));
    enum fr_status st = FR_OK;

    if (!t)
        return fr__fail_nomem(err);
    t->s = s;
    st = make_room(t) ? fr__passes_init(&t->passes, s, err) : fr__fail_nomem(err);
    if (st != FR_OK) {
        fr__timed_free(t);
        return st;
    }
    for (uint32_t k = 0; k < s->n_stages; k++) {
        t->first_rank[k] = t->passes.rank_of[t->passes.forward[cell(t, k, 0)]];
        t->last_rank[k] = t->passes.rank_of[t->passes.forward[cell(t, k, s->n_micros - 1)]];
    }
    for (uint32_t k = 0; k < s->n_stages; k++)
        t->by_end[k] = k;
    *out = t;
    return FR_OK;
}

void fr__timed_free(struct fr__timed *t)
{
    if (!t)
        return;
    fr__passes_fini(&t->passes);
    free(t->there.forward_s);
    free(t->there.backward_s);
    free(t->rank_s);
    free(t->host_s);
    free(t->first_rank);
    free(t->last_rank);
    free(t->end_s);
    free(t->by_end);
    free(t->out_s);
    free(t->whole_s);
    free(t->ends_s);
    free(t);
}
