/* lowering/partition/timed.c - a schedule with times of stages and of the links between them. */
#include "config.h"

#include "lowering/partition/timed.h"

#include "base/error.h"
#include "lowering/schedules/passes.h"

#include <stdlib.h>
#include <string.h>

/* A pass of one action. In there_s a cell is what crosses one border for one micro-batch: forward,
 * then backward; one more is always 0, and one more is never read. */
struct step {
    size_t reads, writes; /* cells */
    uint32_t rank, stage;
    uint8_t kind;    /* of enum fr_action_kind */
    bool leads_pair; /* overlaps with the step after it */
};

/* What the passes of a kind take on a stage. */
struct took {
    double pass_s, launches_s;
    double send_s; /* of what the pass hands to another rank */
};

struct fr__timed {
    const struct fr_schedule *s;
    struct step *steps; /* in an order in which all can run: no time changes it */
    size_t n_steps;
    struct took *took;                /* [n_stages][FR_N_ACTIONS] */
    double *there_s;                  /* [2 n_stages n_micros + 2] when it is at the other rank */
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

/* ---- the passes ---- */

static void add_step(struct fr__timed *t, uint32_t rank, unsigned kind, uint32_t stage,
                     uint32_t micro)
{
    size_t n_cells = (size_t)t->s->n_stages * t->s->n_micros;
    struct step *p = &t->steps[t->n_steps++];

    *p = (struct step){.reads = 2 * n_cells,
                       .writes = 2 * n_cells + 1,
                       .rank = rank,
                       .stage = stage,
                       .kind = (uint8_t)kind};
    if (kind == FR_ACTION_F) {
        if (stage > 0)
            p->reads = cell(t, stage - 1, micro);
        if (stage + 1 < t->s->n_stages)
            p->writes = cell(t, stage, micro);
    } else if (kind == FR_ACTION_B || kind == FR_ACTION_I) {
        if (stage + 1 < t->s->n_stages)
            p->reads = n_cells + cell(t, stage + 1, micro);
        if (stage > 0)
            p->writes = n_cells + cell(t, stage, micro);
    }
}

struct adding {
    struct fr__timed *t;
    const struct fr__passes *passes;
};

static void add_action(void *user, size_t action, const uint32_t waits[], unsigned n_waits)
{
    const struct adding *x = user;
    const struct fr_action *a = &x->t->s->actions[action];
    uint32_t rank = x->passes->rank_of[action];

    (void)waits;
    (void)n_waits;
    add_step(x->t, rank, a->kind, a->stage, a->micro);
    if (a->with == FR_ACTION_NONE)
        return;
    x->t->steps[x->t->n_steps - 1].leads_pair = true;
    add_step(x->t, rank, a->with, a->with_stage, a->with_micro);
}

static void set_took(struct fr__timed *t)
{
    for (uint32_t k = 0; k < t->s->n_stages; k++) {
        const struct fr__timed_stage *p = &t->of[k];
        struct took *w = t->took + (size_t)k * FR_N_ACTIONS;

        w[FR_ACTION_F] = (struct took){.pass_s = p->forward_s, .launches_s = p->forward_host_s};
        w[FR_ACTION_I] = (struct took){.pass_s = p->input_s, .launches_s = p->input_host_s};
        w[FR_ACTION_W] = (struct took){.pass_s = p->weight_s, .launches_s = p->weight_host_s};
        w[FR_ACTION_B] = (struct took){.pass_s = p->input_s + p->weight_s,
                                       .launches_s = p->input_host_s + p->weight_host_s};
        if (k + 1 < t->s->n_stages)
            w[FR_ACTION_F].send_s = p[1].send_s;
        if (k > 0)
            w[FR_ACTION_B].send_s = w[FR_ACTION_I].send_s = p->back_s;
    }
}

/* When the rank is free and what the pass reads is there. */
static double ready_s(const struct fr__timed *t, const struct step *p)
{
    return later(t->rank_s[p->rank], t->there_s[p->reads]);
}

/* What a rank sends takes turns, whoever gets it: a device has one stream for that. */
static void run_pass(struct fr__timed *t, const struct step *p, double from_s)
{
    const struct took *w = &t->took[(size_t)p->stage * FR_N_ACTIONS + p->kind];
    double end_s = later(t->rank_s[p->rank], from_s) + w->pass_s;

    t->host_s[p->rank] += w->launches_s;
    end_s = later(end_s, t->host_s[p->rank]);
    t->rank_s[p->rank] = end_s;
    if (p->kind != FR_ACTION_F)
        t->end_s[p->stage] = later(t->end_s[p->stage], end_s);
    if (w->send_s > 0)
        end_s = t->out_s[p->rank] = later(end_s, t->out_s[p->rank]) + w->send_s;
    t->there_s[p->writes] = end_s;
}

/* Of an overlapped pair the pass goes first whose inputs are there first, the forward if both are.
 */
static void run_passes(struct fr__timed *t)
{
    for (const struct step *p = t->steps, *end = p + t->n_steps; p < end; p++) {
        double from_s = ready_s(t, p), with_s;

        if (!p->leads_pair) {
            run_pass(t, p, from_s);
            continue;
        }
        with_s = ready_s(t, p + 1);
        if (from_s <= with_s)
            run_pass(t, p, from_s);
        run_pass(t, p + 1, with_s);
        if (!(from_s <= with_s))
            run_pass(t, p, from_s);
        p++;
    }
}

/* ---- what comes after them ---- */

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

double fr__timed_run(struct fr__timed *t, const struct fr__timed_stage stages[],
                     const double tail_s[])
{
    const struct fr_schedule *s = t->s;
    double makespan_s = 0;

    t->of = stages;
    memset(t->rank_s, 0, s->n_ranks * sizeof(*t->rank_s));
    memset(t->host_s, 0, s->n_ranks * sizeof(*t->host_s));
    memset(t->end_s, 0, s->n_stages * sizeof(*t->end_s));
    memset(t->out_s, 0, s->n_ranks * sizeof(*t->out_s));
    memset(t->whole_s, 0, s->n_stages * sizeof(*t->whole_s));
    set_took(t);
    run_passes(t);
    send_ties(t);
    run_sums(t);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        t->ends_s[r] = t->rank_s[r] + (tail_s ? tail_s[r] : 0);
    end_ties(t);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        makespan_s = later(makespan_s, t->ends_s[r]);
    return makespan_s;
}

/* ---- life ---- */

static bool make_room(struct fr__timed *t)
{
    size_t n_cells = (size_t)t->s->n_stages * t->s->n_micros;

    t->steps = calloc(2 * t->s->n_actions, sizeof(*t->steps));
    t->took = calloc((size_t)t->s->n_stages * FR_N_ACTIONS, sizeof(*t->took));
    t->there_s = calloc(2 * n_cells + 2, sizeof(*t->there_s));
    t->rank_s = calloc(t->s->n_ranks, sizeof(double));
    t->host_s = calloc(t->s->n_ranks, sizeof(double));
    t->first_rank = malloc(t->s->n_stages * sizeof(*t->first_rank));
    t->last_rank = malloc(t->s->n_stages * sizeof(*t->last_rank));
    t->end_s = calloc(t->s->n_stages, sizeof(double));
    t->by_end = malloc(t->s->n_stages * sizeof(*t->by_end));
    t->out_s = calloc(t->s->n_ranks, sizeof(double));
    t->whole_s = calloc(t->s->n_stages, sizeof(double));
    t->ends_s = calloc(t->s->n_ranks, sizeof(double));
    return t->steps && t->took && t->there_s && t->rank_s && t->host_s && t->first_rank &&
           t->last_rank && t->end_s && t->by_end && t->out_s && t->whole_s && t->ends_s;
}

/* What depends on the schedule alone. */
static enum fr_status set_steps(struct fr__timed *t, const struct fr__passes *passes,
                                struct fr_error *err)
{
    struct adding x = {.t = t, .passes = passes};
    const struct fr_schedule *s = t->s;

    for (uint32_t k = 0; k < s->n_stages; k++) {
        t->by_end[k] = k;
        t->first_rank[k] = passes->rank_of[passes->forward[cell(t, k, 0)]];
        t->last_rank[k] = passes->rank_of[passes->forward[cell(t, k, s->n_micros - 1)]];
    }
    return fr__passes_walk(passes, s, add_action, &x, err);
}

enum fr_status fr__timed_new(struct fr__timed **out, const struct fr_schedule *s,
                             struct fr_error *err)
{
    struct fr__timed *t = calloc(1, sizeof(*t));
    struct fr__passes passes;
    enum fr_status st;

    if (!t)
        return fr__fail_nomem(err);
    t->s = s;
    st = fr__passes_init(&passes, s, err);
    if (st == FR_OK)
        st = make_room(t) ? set_steps(t, &passes, err) : fr__fail_nomem(err);
    fr__passes_fini(&passes);
    if (st == FR_OK)
        *out = t;
    else
        fr__timed_free(t);
    return st;
}

void fr__timed_free(struct fr__timed *t)
{
    if (!t)
        return;
    free(t->steps);
    free(t->took);
    free(t->there_s);
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
