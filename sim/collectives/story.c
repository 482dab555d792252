/* sim/collectives/story.c - runs a schedule in rounds, so that people can read it: see story.h.
 *
 * It is separate from run.c, which gives each message the time that its links take. */
#include "config.h"

#include "sim/story.h"

#include "base/arena.h"
#include "base/error.h"
#include "sim/collectives/algorithms/custom_file.h"
#include "sim/collectives/algorithms/schedule.h"

#include <stdlib.h>
#include <string.h>

static const char FILE_PREFIX[] = "file:";

struct slot {
    uint32_t step, sends_left, recvs_left;
    bool is_open, has_sent;
};

/* A message on its way, or come before the step that waits for it. */
struct flight {
    uint32_t from, to, to_step; /* slots; a step of the second */
    bool has_come;
};

struct run {
    const struct fr__schedule *s;
    struct fr_collective_story *story;
    struct slot *slots;     /* [n_entities * n_slots] */
    double *sent;           /* [n_entities] bytes */
    struct flight *flights; /* [n_flights] */
    size_t n_flights, cap_flights, cap_messages;
    uint32_t round;
    struct fr_error *err;
};

struct pieces {
    uint32_t first, n;
};

static void take_piece(void *user, uint32_t piece)
{
    struct pieces *p = user;

    p->first = p->n == 0 || piece < p->first ? piece : p->first;
    p->n++;
}

/* Keeps the message for people, if it is of the lane that is told. */
static enum fr_status tell(struct run *r, uint32_t slot, uint32_t step, uint32_t k,
                           const struct fr__send *m)
{
    struct fr_collective_story *t = r->story;
    uint32_t from = fr__slot_entity(r->s, slot), to = fr__slot_entity(r->s, m->to);
    struct pieces p = {.n = 0};

    r->s->algorithm->carry(r->s, slot, step, k, take_piece, &p);
    if (from == to || (t->n_lanes > 1 && p.first >= t->n_pieces / t->n_lanes))
        return FR_OK;
    if (t->n_messages == FR_STORY_MOST_MESSAGES)
        return fr__fail(r->err, FR_ERANGE, FR_NOWHERE, "more than %d messages",
                        FR_STORY_MOST_MESSAGES);
    if (!fr__grow(&t->messages, &r->cap_messages, t->n_messages + 1, sizeof(*t->messages)))
        return fr__fail_nomem(r->err);
    t->messages[t->n_messages++] = (struct fr_collective_message){.round = r->round,
                                                                  .from = from,
                                                                  .to = to,
                                                                  .bytes = m->bytes,
                                                                  .first_piece = p.first,
                                                                  .n_pieces = p.n,
                                                                  .is_sum = m->is_sum};
    r->sent[from] += m->bytes;
    return FR_OK;
}

static enum fr_status post(struct run *r, uint32_t slot)
{
    struct slot *k = &r->slots[slot];

    k->has_sent = true;
    for (uint32_t i = 0; i < k->sends_left; i++) {
        struct fr__send m;

        fr__schedule_send(r->s, slot, k->step, i, &m);
        FR_TRY(tell(r, slot, k->step, i, &m));
        if (!fr__grow(&r->flights, &r->cap_flights, r->n_flights + 1, sizeof(*r->flights)))
            return fr__fail_nomem(r->err);
        r->flights[r->n_flights++] = (struct flight){slot, m.to, m.to_step, false};
    }
    return FR_OK;
}

/* Takes what has come before the step began. */
static void take_early(struct run *r, uint32_t slot)
{
    struct slot *k = &r->slots[slot];

    for (size_t i = 0; i < r->n_flights;) {
        struct flight *f = &r->flights[i];

        if (f->has_come && f->to == slot && f->to_step == k->step && k->recvs_left > 0) {
            k->recvs_left--;
            *f = r->flights[--r->n_flights];
        } else {
            i++;
        }
    }
}

/* Goes on as far as the slot can in this round. */
static enum fr_status go_on(struct run *r, uint32_t slot)
{
    struct slot *k = &r->slots[slot];

    for (;;) {
        struct fr__step at;

        if (k->is_open) {
            if (!k->has_sent && k->recvs_left == 0)
                FR_TRY(post(r, slot));
            if (k->sends_left > 0 || k->recvs_left > 0)
                return FR_OK;
            k->is_open = false;
            k->step++;
        }
        if (k->step == r->s->n_steps)
            return FR_OK;
        fr__schedule_step(r->s, slot, k->step, &at);
        *k = (struct slot){k->step, at.n_sends, at.n_recvs, true, false};
        take_early(r, slot);
        if (!at.is_relay)
            FR_TRY(post(r, slot));
    }
}

/* The round is over: what left in it has come. only_own: what a rank or switch passes on to itself,
 * from one of its slots to another, which takes no round. Returns whether there was any. */
static bool arrive(struct run *r, bool only_own)
{
    bool is_any = false;

    for (size_t i = 0; i < r->n_flights;) {
        struct flight *f = &r->flights[i];
        struct slot *to = &r->slots[f->to];

        if (only_own && fr__slot_entity(r->s, f->from) != fr__slot_entity(r->s, f->to)) {
            i++;
            continue;
        }
        if (!f->has_come) {
            is_any = true;
            r->slots[f->from].sends_left--;
            f->has_come = true;
        }
        if (to->is_open && to->step == f->to_step && to->recvs_left > 0) {
            to->recvs_left--;
            *f = r->flights[--r->n_flights];
        } else {
            i++;
        }
    }
    return is_any;
}

static enum fr_status run_rounds(struct run *r)
{
    uint32_t n = r->s->n_entities * r->s->n_slots;

    do {
        size_t before = r->story->n_messages;

        do
            for (uint32_t slot = 0; slot < n; slot++)
                FR_TRY(go_on(r, slot));
        while (arrive(r, true));
        if (r->story->n_messages > before)
            r->story->n_rounds = r->round + 1;
        r->round++;
    } while (arrive(r, false));
    for (uint32_t slot = 0; slot < n; slot++)
        if (r->slots[slot].step < r->s->n_steps)
            return fr__fail(r->err, FR_ECHECK, FR_NOWHERE, "%s never ends", r->s->algorithm->name);
    return FR_OK;
}

static enum fr_status tell_schedule(struct fr_collective_story *t, const struct fr__schedule *s,
                                    struct fr_error *err)
{
    size_t n = (size_t)s->n_entities * s->n_slots;
    struct run r = {.s = s, .story = t, .err = err};
    enum fr_status st;

    r.slots = calloc(n + 1, sizeof(*r.slots));
    r.sent = calloc((size_t)s->n_entities + 1, sizeof(*r.sent));
    st = r.slots && r.sent ? run_rounds(&r) : fr__fail_nomem(err);
    for (uint32_t i = 0; st == FR_OK && i < s->n; i++) {
        t->sent_bytes += r.sent[i];
        t->most_sent_bytes = r.sent[i] > t->most_sent_bytes ? r.sent[i] : t->most_sent_bytes;
    }
    free(r.slots);
    free(r.sent);
    free(r.flights);
    return st;
}

/* ---- what is told ---- */

static const struct fr__algorithm *usual_for(enum fr_collective_kind kind)
{
    if (kind == FR_ALL_TO_ALL)
        return &fr__pairwise_algorithm;
    return kind == FR_BROADCAST || kind == FR_REDUCE ? &fr__chain_algorithm : &fr__ring_algorithm;
}

/* By NCCL's name or ours; NULL: no such. */
static const struct fr__algorithm *named(const char *name, enum fr_collective_kind kind)
{
    if (!name || strcmp(name, "nccl") == 0 || strcmp(name, "Ring") == 0)
        return usual_for(kind);
    if (strcmp(name, "Tree") == 0)
        return &fr__tree_algorithm;
    if (strcmp(name, "NVLS") == 0 || strcmp(name, "NVLSTree") == 0)
        return &fr__nvls_algorithm;
    if (strcmp(name, "PAT") == 0)
        return &fr__pat_algorithm;
    return fr__algorithm_find(name);
}

/* Ranks of a machine stand one after the other, as many in each; else 1. */
static uint32_t ranks_a_machine(const struct fr_topo *t, const uint32_t devices[], uint32_t n)
{
    uint32_t each = 1;

    while (each < n && t->devices[devices[each]].machine == t->devices[devices[0]].machine)
        each++;
    for (uint32_t i = 0; i < n; i++)
        if (n % each != 0 ||
            t->devices[devices[i]].machine != t->devices[devices[i / each * each]].machine)
            return 1;
    return each;
}

/* The widest ring over the links; ranks as they stand in it and where each stands. */
static enum fr_status find_ring(const struct fr_topo *t, const uint32_t devices[], uint32_t n,
                                uint32_t order[], uint32_t place[], struct fr_error *err)
{
    struct fr_router *router = NULL;
    double share;
    size_t n_rings = 0;
    enum fr_status st;

    FR_TRY(fr_router_new(&router, t, err));
    st = fr_topo_rings(router, devices, n, 1, order, &share, &n_rings, err);
    fr_router_free(router);
    for (uint32_t i = 0; st == FR_OK && i < n; i++)
        for (uint32_t rank = 0; rank < n; rank++)
            if (devices[rank] == order[i]) {
                order[i] = rank;
                place[rank] = i;
                break;
            }
    return st;
}

/* *owned: what the schedule borrows, which the caller frees; also after an error. */
static enum fr_status make_schedule(struct fr__schedule *s, const struct fr_topo *t,
                                    const uint32_t devices[], uint32_t **owned,
                                    struct fr_error *err)
{
    enum fr_status st = FR_OK;
    bool is_ring = s->algorithm == &fr__ring_algorithm || s->algorithm == &fr__chain_algorithm;

    s->per_node = ranks_a_machine(t, devices, s->n);
    s->dims[0] = s->per_node;
    s->dims[1] = s->n / s->per_node;
    s->n_dims = s->dims[0] > 1 && s->dims[1] > 1 ? 2 : 0;
    s->n_lanes = s->n_chunks = 1;
    if (is_ring && s->n > 1) {
        *owned = calloc(2 * (size_t)s->n, sizeof(**owned));
        if (!*owned)
            return fr__fail_nomem(err);
        st = find_ring(t, devices, s->n, *owned, *owned + s->n, err);
        s->order = *owned;
        s->place = *owned + s->n;
    }
    return st == FR_OK ? fr__schedule_make(s, err) : st;
}

enum fr_status fr_collective_story_new(struct fr_collective_story **out, const struct fr_topo *t,
                                       const uint32_t devices[], uint32_t n,
                                       enum fr_collective_kind kind, double bytes,
                                       const char *algorithm, struct fr_error *err)
{
    struct fr__schedule s = {.kind = kind, .n = n, .bytes = bytes};
    struct fr_collective_story *story;
    struct fr__custom *custom = NULL;
    uint32_t *order = NULL;
    enum fr_status st = FR_OK;

    if (n > FR_STORY_MOST_RANKS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %d ranks", FR_STORY_MOST_RANKS);
    if (algorithm && strncmp(algorithm, FILE_PREFIX, sizeof(FILE_PREFIX) - 1) == 0) {
        FR_TRY(fr__custom_load(&custom, algorithm + sizeof(FILE_PREFIX) - 1, err));
        s.algorithm = &fr__custom_algorithm;
        s.custom = custom;
    } else {
        s.algorithm = named(algorithm, kind);
    }
    story = calloc(1, sizeof(*story));
    if (!story)
        st = fr__fail_nomem(err);
    else if (!s.algorithm)
        st = fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no algorithm of collectives '%s'", algorithm);
    if (st == FR_OK)
        st = make_schedule(&s, t, devices, &order, err);
    if (st == FR_OK) {
        *story = (struct fr_collective_story){.algorithm = s.algorithm->name,
                                              .summary = s.algorithm->summary,
                                              .source = s.algorithm->source,
                                              .n_ranks = n,
                                              .n_switches = s.n_entities - n,
                                              .n_pieces = s.n_pieces,
                                              .n_lanes = s.n_entities > n ? s.n_lanes : 1};
        st = tell_schedule(story, &s, err);
    }
    fr__custom_free(custom);
    free(order);
    if (st == FR_OK)
        *out = story;
    else
        fr_collective_story_free(story);
    return st;
}

void fr_collective_story_free(struct fr_collective_story *s)
{
    if (!s)
        return;
    free(s->messages);
    free(s);
}
