/* lowering/schedules/replay.c - when each action runs, if only waits and the order of ranks
 * count. */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/passes.h"

#include <stdlib.h>
#include <string.h>

struct fr_schedule_times fr_schedule_unit_times(void)
{
    return (struct fr_schedule_times){
        .pass = {.forward = 1, .input = 1, .weight = 1, .backward = -1}, .pair = -1};
}

struct replay {
    struct fr_replay *out;
    const struct fr_schedule *s;
    const struct fr__passes *p;
    const struct fr_schedule_times *t;
    double *end; /* [n_ranks] of the last action so far */
};

static double length_of(const struct fr_schedule_times *t, unsigned kind, uint32_t stage)
{
    const struct fr_pass_times *p = t->of_stage ? &t->of_stage[stage] : &t->pass;

    switch (kind) {
    case FR_ACTION_F:
        return p->forward;
    case FR_ACTION_I:
        return p->input;
    case FR_ACTION_W:
        return p->weight;
    case FR_ACTION_B:
        return p->backward < 0 ? p->input + p->weight : p->backward;
    default:
        return 0;
    }
}

static const struct fr_pass_times *times_of(const struct fr_schedule_times *t, uint32_t stage)
{
    return t->of_stage ? &t->of_stage[stage] : &t->pass;
}

/* Each pass computes while the other one waits, and neither is shorter than alone. */
static double length_of_pair(const struct fr_schedule_times *t, const struct fr_action *a)
{
    double one = length_of(t, a->kind, a->stage), other = length_of(t, a->with, a->with_stage);
    double idle = times_of(t, a->stage)->forward_idle + times_of(t, a->with_stage)->backward_idle;
    double both = one + other - idle, longer = one > other ? one : other;
    double known = t->pair_of_stage ? t->pair_of_stage[a->stage] : 0;

    longer = known > longer ? known : longer;
    return both > longer ? both : longer;
}

static double length(const struct fr_schedule_times *t, const struct fr_action *a)
{
    if (a->with == FR_ACTION_NONE)
        return length_of(t, a->kind, a->stage);
    return t->pair >= 0 ? t->pair : length_of_pair(t, a);
}

/* Between two ranks; neighbours may have a time of their own. */
static double comm_between(const struct replay *x, uint32_t a, uint32_t b)
{
    uint32_t n = x->s->n_ranks;

    if (a == b)
        return 0;
    if (x->t->comm_of_rank && (a + 1) % n == b)
        return x->t->comm_of_rank[a];
    if (x->t->comm_of_rank && (b + 1) % n == a)
        return x->t->comm_of_rank[b];
    return x->t->comm;
}

static void run(void *user, size_t action, const uint32_t waits[], unsigned n_waits)
{
    struct replay *x = user;
    uint32_t rank = x->p->rank_of[action];
    double start = x->end[rank], time = length(x->t, &x->s->actions[action]);

    for (unsigned i = 0; i < n_waits; i++) {
        double there = x->out->finish[waits[i]];

        there += comm_between(x, x->p->rank_of[waits[i]], rank);
        start = there > start ? there : start;
    }
    x->out->start[action] = start;
    x->out->finish[action] = x->end[rank] = start + time;
    x->out->busy[rank] += time;
}

static void sum_up(const struct replay *x)
{
    struct fr_replay *out = x->out;
    double busy = 0;

    out->makespan = out->longest_span = 0;
    for (uint32_t r = 0; r < x->s->n_ranks; r++) {
        size_t first = x->s->first[r], past = x->s->first[r + 1];
        double span = past > first ? out->finish[past - 1] - out->start[first] : 0;

        out->makespan = x->end[r] > out->makespan ? x->end[r] : out->makespan;
        out->longest_span = span > out->longest_span ? span : out->longest_span;
        busy += out->busy[r];
    }
    out->bubble_frac = out->makespan > 0 ? 1 - busy / x->s->n_ranks / out->makespan : 0;
}

/* ---- what is held ---- */

/* A forward holds its activations until W or B, and until I or B. */
static void count_live(const struct replay *x, uint32_t rank)
{
    uint32_t weight = 0, input = 0;

    for (size_t i = x->s->first[rank]; i < x->s->first[rank + 1]; i++) {
        const struct fr_action *a = &x->s->actions[i];
        unsigned backward = a->with == FR_ACTION_NONE ? a->kind : a->with;

        weight += a->kind == FR_ACTION_F;
        input += a->kind == FR_ACTION_F;
        if (weight > x->out->live_weight[rank])
            x->out->live_weight[rank] = weight;
        if (input > x->out->live_input[rank])
            x->out->live_input[rank] = input;
        weight -= backward == FR_ACTION_B || backward == FR_ACTION_W;
        input -= backward == FR_ACTION_B || backward == FR_ACTION_I;
    }
}

/* Where there is an update after each backward: the version that the forward of a micro-batch
 * reads is the number of updates before it, on its own rank or on that of the first stage. In
 * these kinds a rank has one stage, and its backwards come in the order of its forwards. */
static void count_versions(const struct replay *x, uint32_t rank, uint32_t version_of[])
{
    bool is_vertical = x->s->weights == FR_WEIGHTS_VERTICAL;
    uint32_t n_updates = 0;

    for (size_t i = x->s->first[rank]; i < x->s->first[rank + 1]; i++) {
        const struct fr_action *a = &x->s->actions[i];
        uint32_t oldest = n_updates, behind;

        if (a->kind == FR_ACTION_F && (!is_vertical || rank == 0))
            version_of[a->micro] = n_updates;
        if (n_updates < x->s->n_micros && (a->kind == FR_ACTION_F || n_updates > 0))
            oldest = version_of[n_updates] < oldest ? version_of[n_updates] : oldest;
        behind = n_updates - oldest;
        if (x->s->weights != FR_WEIGHTS_CURRENT && behind + 1 > x->out->versions[rank])
            x->out->versions[rank] = behind + 1;
        if (a->kind != FR_ACTION_B)
            continue;
        behind = n_updates - version_of[a->micro];
        if (behind > x->out->staleness[rank])
            x->out->staleness[rank] = behind;
        n_updates++;
    }
}

/* In the order of the rank's list. at: [n_micros] scratch. */
static double delay_steps(const struct replay *x, uint32_t rank, uint32_t at[])
{
    size_t most = 0;

    for (size_t i = x->s->first[rank]; i < x->s->first[rank + 1]; i++) {
        const struct fr_action *a = &x->s->actions[i];

        if (a->kind == FR_ACTION_F)
            at[a->micro] = (uint32_t)i;
        else if (a->kind == FR_ACTION_B && i - at[a->micro] > most)
            most = i - at[a->micro];
    }
    return (double)most / x->s->n_micros;
}

static enum fr_status count_all_versions(const struct replay *x, struct fr_error *err)
{
    uint32_t *version_of = calloc(x->s->n_micros, sizeof(*version_of));

    if (!version_of)
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < x->s->n_ranks; r++) {
        bool is_double = x->s->weights == FR_WEIGHTS_DOUBLE;

        x->out->versions[r] = is_double ? 2 : 1;
        x->out->staleness[r] = is_double;
        if (!is_double && x->s->weights != FR_WEIGHTS_FLUSH)
            count_versions(x, r, version_of);
        if (x->s->weights == FR_WEIGHTS_CURRENT)
            x->out->delay_steps[r] = delay_steps(x, r, version_of);
    }
    free(version_of);
    return FR_OK;
}

/* ---- all of it ---- */

static enum fr_status allocate(struct fr_replay *out, const struct fr_schedule *s,
                               struct fr_error *err)
{
    *out = (struct fr_replay){0};
    out->start = calloc(s->n_actions + 1, sizeof(*out->start));
    out->finish = calloc(s->n_actions + 1, sizeof(*out->finish));
    out->busy = calloc((size_t)s->n_ranks + 1, sizeof(*out->busy));
    out->live_weight = calloc((size_t)s->n_ranks + 1, sizeof(*out->live_weight));
    out->live_input = calloc((size_t)s->n_ranks + 1, sizeof(*out->live_input));
    out->versions = calloc((size_t)s->n_ranks + 1, sizeof(*out->versions));
    out->staleness = calloc((size_t)s->n_ranks + 1, sizeof(*out->staleness));
    out->delay_steps = calloc((size_t)s->n_ranks + 1, sizeof(*out->delay_steps));
    if (!out->start || !out->finish || !out->busy || !out->live_weight || !out->live_input ||
        !out->versions || !out->staleness || !out->delay_steps)
        return fr__fail_nomem(err);
    return FR_OK;
}

static enum fr_status replay(struct replay *x, struct fr__passes *p, struct fr_error *err)
{
    FR_TRY(fr__passes_init(p, x->s, err));
    FR_TRY(fr__passes_walk(p, x->s, run, x, err));
    sum_up(x);
    for (uint32_t r = 0; r < x->s->n_ranks; r++)
        count_live(x, r);
    return count_all_versions(x, err);
}

enum fr_status fr_schedule_replay(struct fr_replay *out, const struct fr_schedule *s,
                                  const struct fr_schedule_times *t, struct fr_error *err)
{
    const struct fr_schedule_times unit = fr_schedule_unit_times();
    struct fr__passes p = {0};
    struct replay x = {.out = out, .s = s, .p = &p, .t = t ? t : &unit};
    enum fr_status st = allocate(out, s, err);

    x.end = calloc((size_t)s->n_ranks + 1, sizeof(*x.end));
    if (st == FR_OK)
        st = x.end ? replay(&x, &p, err) : fr__fail_nomem(err);
    free(x.end);
    fr__passes_fini(&p);
    if (st != FR_OK)
        fr_replay_fini(out);
    return st;
}

void fr_replay_fini(struct fr_replay *r)
{
    free(r->start);
    free(r->finish);
    free(r->busy);
    free(r->live_weight);
    free(r->live_input);
    free(r->versions);
    free(r->staleness);
    free(r->delay_steps);
    *r = (struct fr_replay){0};
}
