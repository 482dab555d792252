/* lowering/schedules/passes.c - every pass once, and an order in which all can run. */
#include "config.h"

#include "lowering/schedules/passes.h"

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- every pass once ---- */

static enum fr_status set_pass(uint32_t *cells, const struct fr_schedule *s, size_t action,
                               uint32_t stage, uint32_t micro, struct fr_error *err)
{
    uint32_t *cell;
    char text[FR_ACTION_TEXT];

    if (stage >= s->n_stages || micro >= s->n_micros)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "'%s' of schedule '%s' is outside its %u stages and %u micro-batches",
                        fr_action_text(&s->actions[action], text), s->name, s->n_stages,
                        s->n_micros);
    cell = &cells[(size_t)stage * s->n_micros + micro];
    if (*cell != FR_NONE)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "schedule '%s' runs '%s' twice", s->name,
                        fr_action_text(&s->actions[action], text));
    *cell = (uint32_t)action;
    return FR_OK;
}

static enum fr_status set_passes(struct fr__passes *p, const struct fr_schedule *s, size_t i,
                                 struct fr_error *err)
{
    const struct fr_action *a = &s->actions[i];
    uint32_t *cells = a->kind == FR_ACTION_F   ? p->forward
                      : a->kind == FR_ACTION_W ? p->weight
                                               : p->backward;

    FR_TRY(set_pass(cells, s, i, a->stage, a->micro, err));
    if (a->with != FR_ACTION_NONE)
        FR_TRY(set_pass(p->backward, s, i, a->with_stage, a->with_micro, err));
    return FR_OK;
}

/* Whether the action that runs the backward of the cell makes its weight gradients too. */
static bool is_whole(const struct fr_schedule *s, size_t action)
{
    const struct fr_action *a = &s->actions[action];

    return (a->with == FR_ACTION_NONE ? a->kind : a->with) == FR_ACTION_B;
}

static enum fr_status check_cell(const struct fr__passes *p, const struct fr_schedule *s,
                                 uint32_t stage, uint32_t micro, struct fr_error *err)
{
    size_t c = (size_t)stage * s->n_micros + micro;
    uint32_t f = p->forward[c], b = p->backward[c], w = p->weight[c];
    const char *missing = NULL;

    if (f == FR_NONE)
        missing = "F";
    else if (b == FR_NONE)
        missing = w == FR_NONE ? "B" : "I";
    else if (w == FR_NONE && !is_whole(s, b))
        missing = "W";
    if (missing)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "schedule '%s' has no '%u%s%u'", s->name, stage,
                        missing, micro);
    if (w != FR_NONE && is_whole(s, b))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "schedule '%s' runs '%uW%u' beside '%uB%u', which includes it", s->name,
                        stage, micro, stage, micro);
    if (p->rank_of[b] != p->rank_of[f] || (w != FR_NONE && p->rank_of[w] != p->rank_of[f])) {
        uint32_t other = p->rank_of[b] != p->rank_of[f] ? b : w;

        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "schedule '%s' runs the forward of micro-batch %u on stage %u on rank %u, "
                        "but its backward on rank %u",
                        s->name, micro, stage, p->rank_of[f], p->rank_of[other]);
    }
    return FR_OK;
}

/* A rank without a pass would hold a device that idles: its number was skipped, or only
 * communication is left of it. */
static enum fr_status check_rank(const struct fr_schedule *s, uint32_t rank, struct fr_error *err)
{
    for (size_t i = s->first[rank]; i < s->first[rank + 1]; i++)
        if (fr_action_computes(&s->actions[i]))
            return FR_OK;
    return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                    "schedule '%s' has no pass on rank %u: ranks count up from 0, and each runs at "
                    "least one forward and its backward",
                    s->name, rank);
}

enum fr_status fr__passes_init(struct fr__passes *p, const struct fr_schedule *s,
                               struct fr_error *err)
{
    uint64_t n = (uint64_t)s->n_stages * s->n_micros;

    *p = (struct fr__passes){0};
    if (n > s->n_actions) /* then most are missing, and the tables would be too large */
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "schedule '%s' has %zu actions, too few for %u stages and %u micro-batches",
                        s->name, s->n_actions, s->n_stages, s->n_micros);
    p->forward = fr__nones_new((size_t)n);
    p->backward = fr__nones_new((size_t)n);
    p->weight = fr__nones_new((size_t)n);
    p->rank_of = fr__nones_new(s->n_actions);
    if (!p->forward || !p->backward || !p->weight || !p->rank_of)
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            p->rank_of[i] = r;
            if (fr_action_computes(&s->actions[i]))
                FR_TRY(set_passes(p, s, i, err));
        }
    for (uint32_t stage = 0; stage < s->n_stages; stage++)
        for (uint32_t micro = 0; micro < s->n_micros; micro++)
            FR_TRY(check_cell(p, s, stage, micro, err));
    for (uint32_t r = 0; r < s->n_ranks; r++)
        FR_TRY(check_rank(s, r, err));
    return FR_OK;
}

void fr__passes_fini(struct fr__passes *p)
{
    free(p->forward);
    free(p->backward);
    free(p->weight);
    free(p->rank_of);
    *p = (struct fr__passes){0};
}

/* ---- waits ---- */

static unsigned add_waits(const struct fr__passes *p, const struct fr_schedule *s, unsigned kind,
                          uint32_t stage, uint32_t micro, uint32_t waits[])
{
    size_t c = (size_t)stage * s->n_micros + micro;
    unsigned n = 0;

    if (kind == FR_ACTION_F) {
        if (stage > 0)
            waits[n++] = p->forward[c - s->n_micros];
    } else if (kind == FR_ACTION_W) {
        waits[n++] = p->backward[c];
    } else {
        waits[n++] = p->forward[c];
        if (stage + 1 < s->n_stages)
            waits[n++] = p->backward[c + s->n_micros];
    }
    return n;
}

unsigned fr__action_waits(const struct fr__passes *p, const struct fr_schedule *s, size_t action,
                          uint32_t waits[FR__MOST_WAITS])
{
    const struct fr_action *a = &s->actions[action];
    unsigned n;

    if (!fr_action_computes(a))
        return 0;
    n = add_waits(p, s, a->kind, a->stage, a->micro, waits);
    if (a->with != FR_ACTION_NONE)
        n += add_waits(p, s, a->with, a->with_stage, a->with_micro, waits + n);
    return n;
}

/* ---- an order in which all can run ---- */

struct walk {
    const struct fr__passes *p;
    const struct fr_schedule *s;
    size_t *at;        /* [n_ranks] the next action */
    uint32_t *blocker; /* [n_ranks] what it waits for */
    uint32_t *next;    /* [n_ranks] of a list: ranks that wait for the same, and ranks to run */
    uint32_t *waiters; /* [n_actions] first of such a list, FR_NONE */
};

/* "rank 0 at '0B0' waits for '1B0' of rank 1; rank 1 at ...": the circle that rank is in. */
static enum fr_status fail_circle(const struct walk *w, uint32_t rank, struct fr_error *err)
{
    char text[400], at[FR_ACTION_TEXT], for_what[FR_ACTION_TEXT];
    uint32_t first;
    size_t used = 0;

    for (uint32_t i = 0; i < w->s->n_ranks; i++) /* leads into the circle */
        rank = w->p->rank_of[w->blocker[rank]];
    first = rank;
    do {
        uint32_t other = w->p->rank_of[w->blocker[rank]];

        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "%srank %u at '%s' waits for '%s' of rank %u", used ? "; " : "",
                                 rank, fr_action_text(&w->s->actions[w->at[rank]], at),
                                 fr_action_text(&w->s->actions[w->blocker[rank]], for_what), other);
        rank = other;
    } while (rank != first && used < sizeof(text) - 1);
    return fr__fail(err, FR_EPARSE, FR_NOWHERE, "schedule '%.64s' cannot end: %s%s", w->s->name,
                    text, rank != first ? " ..." : "");
}

/* Runs the rank as far as it goes. Ranks that it wakes go to the front of the list *ready. */
static void run_rank(struct walk *w, uint32_t rank, bool is_done[], uint32_t *ready,
                     void (*run)(void *, size_t, const uint32_t[], unsigned), void *user)
{
    for (; w->at[rank] < w->s->first[rank + 1]; w->at[rank]++) {
        uint32_t waits[FR__MOST_WAITS], woken;
        size_t i = w->at[rank];
        unsigned n = fr__action_waits(w->p, w->s, i, waits);

        for (unsigned k = 0; k < n; k++)
            if (!is_done[waits[k]]) {
                w->blocker[rank] = waits[k];
                w->next[rank] = w->waiters[waits[k]];
                w->waiters[waits[k]] = rank;
                return;
            }
        if (run)
            run(user, i, waits, n);
        is_done[i] = true;
        while ((woken = w->waiters[i]) != FR_NONE) {
            w->waiters[i] = w->next[woken];
            w->next[woken] = *ready;
            *ready = woken;
        }
    }
}

static enum fr_status walk(struct walk *w, bool is_done[],
                           void (*run)(void *, size_t, const uint32_t[], unsigned), void *user,
                           struct fr_error *err)
{
    uint32_t ready = FR_NONE;

    for (uint32_t r = w->s->n_ranks; r-- > 0;) {
        w->at[r] = w->s->first[r];
        w->next[r] = ready;
        ready = r;
    }
    while (ready != FR_NONE) {
        uint32_t rank = ready;

        ready = w->next[rank];
        run_rank(w, rank, is_done, &ready, run, user);
    }
    for (uint32_t r = 0; r < w->s->n_ranks; r++)
        if (w->at[r] < w->s->first[r + 1])
            return fail_circle(w, r, err);
    return FR_OK;
}

enum fr_status fr__passes_walk(const struct fr__passes *p, const struct fr_schedule *s,
                               void (*run)(void *user, size_t action, const uint32_t waits[],
                                           unsigned n_waits),
                               void *user, struct fr_error *err)
{
    struct walk w = {.p = p, .s = s};
    bool *is_done = calloc(s->n_actions + 1, sizeof(*is_done));
    enum fr_status st;

    w.at = calloc((size_t)s->n_ranks + 1, sizeof(*w.at));
    w.blocker = fr__nones_new(s->n_ranks);
    w.next = fr__nones_new(s->n_ranks);
    w.waiters = fr__nones_new(s->n_actions);
    st = is_done && w.at && w.blocker && w.next && w.waiters ? walk(&w, is_done, run, user, err)
                                                             : fr__fail_nomem(err);
    free(w.waiters);
    free(w.next);
    free(w.blocker);
    free(w.at);
    free(is_done);
    return st;
}

enum fr_status fr_schedule_check(const struct fr_schedule *s, struct fr_error *err)
{
    struct fr__passes p;
    enum fr_status st = fr__passes_init(&p, s, err);

    if (st == FR_OK)
        st = fr__passes_walk(&p, s, NULL, NULL, err);
    fr__passes_fini(&p);
    return st;
}
