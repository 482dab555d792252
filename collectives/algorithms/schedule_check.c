/* collectives/algorithms/schedule_check.c - proves that a schedule moves the right data.
 *
 * The schedule runs without time. What an entity holds of a piece is the set of ranks whose
 * contribution is in it. A message takes the sender's sets with it when it leaves. A sum must join
 * sets that have no rank in common, so that nothing counts twice. At the end the sets must be those
 * of the collective. Messages arrive in an order drawn from the seed, so an answer that depends on
 * the order shows.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    uint32_t step, sends_left, recvs_left;
    bool is_open, has_sent;
};

struct flight {
    uint32_t from, step, k; /* message k of that step of that slot */
    struct fr__send m;
    uint64_t *sets; /* of its pieces, in the order of carry; owned */
    bool is_gone;   /* from its sender, who has done with it */
};

struct run {
    const struct fr__schedule *s;
    size_t n_words;     /* of a set of ranks */
    uint64_t *held;     /* [n_entities][n_pieces][n_words] */
    struct slot *slots; /* [n_entities * n_slots] */
    struct flight *flights;
    size_t n_flights, cap;
    uint64_t random;
    struct fr_error *err;
};

static uint64_t *held(const struct run *r, uint32_t entity, uint32_t piece)
{
    return r->held + ((size_t)entity * r->s->n_pieces + piece) * r->n_words;
}

static bool has(const uint64_t set[], uint32_t rank)
{
    return set[rank / 64] >> rank % 64 & 1;
}

static void put(uint64_t set[], uint32_t rank)
{
    set[rank / 64] |= (uint64_t)1 << rank % 64;
}

/* ---- what the ranks begin and end with ---- */

static uint32_t owner_of(const struct fr__schedule *s, uint32_t piece)
{
    return s->algorithm->owner ? s->algorithm->owner(s, piece) : piece % s->n;
}

static bool begins_with(const struct fr__schedule *s, uint32_t rank, uint32_t piece)
{
    switch (s->kind) {
    case FR_ALL_GATHER:
        return owner_of(s, piece) == rank;
    case FR_ALL_TO_ALL:
        return piece / s->n == rank;
    case FR_BROADCAST:
        return rank == s->root;
    default:
        return true;
    }
}

/* Whether the rank must end with contribution `from` in the piece; *matters: whether anyone looks
 * at the piece there. */
static bool ends_with(const struct fr__schedule *s, uint32_t rank, uint32_t piece, uint32_t from,
                      bool *matters)
{
    *matters = true;
    switch (s->kind) {
    case FR_ALL_REDUCE:
        return true;
    case FR_REDUCE:
        *matters = rank == s->root;
        return true;
    case FR_REDUCE_SCATTER:
        *matters = owner_of(s, piece) == rank;
        return true;
    case FR_ALL_TO_ALL:
        *matters = piece % s->n == rank;
        return from == piece / s->n;
    case FR_BROADCAST:
        return from == s->root;
    default:
        return from == owner_of(s, piece);
    }
}

/* ---- messages ---- */

struct taking {
    struct run *r;
    struct flight *f;
    uint32_t entity;
    size_t n;
    double bytes;
    enum fr_status st;
};

static void count_piece(void *user, uint32_t piece)
{
    struct taking *t = user;

    t->n++;
    t->bytes += piece < t->r->s->n_pieces ? fr__schedule_piece_bytes(t->r->s, piece) : NAN;
}

static void take_piece(void *user, uint32_t piece)
{
    struct taking *t = user;

    memcpy(t->f->sets + t->n++ * t->r->n_words, held(t->r, t->entity, piece),
           t->r->n_words * sizeof(*t->f->sets));
}

static void give_piece(void *user, uint32_t piece)
{
    struct taking *t = user;
    const uint64_t *set = t->f->sets + t->n++ * t->r->n_words;
    uint64_t *own = held(t->r, t->entity, piece);
    bool is_empty = true;

    for (size_t w = 0; w < t->r->n_words; w++) {
        is_empty &= set[w] == 0;
        if (t->f->m.is_sum && (own[w] & set[w]) && t->st == FR_OK)
            t->st = fr__fail(t->r->err, FR_ECHECK, FR_NOWHERE,
                             "rank %u adds piece %u from rank %u, and some of it counts twice",
                             t->entity, piece, fr__slot_entity(t->r->s, t->f->from));
        own[w] = t->f->m.is_sum ? own[w] | set[w] : set[w];
    }
    if (is_empty && t->st == FR_OK)
        t->st = fr__fail(t->r->err, FR_ECHECK, FR_NOWHERE,
                         "rank %u sends piece %u to rank %u and does not have it",
                         fr__slot_entity(t->r->s, t->f->from), piece, t->entity);
}

/* The message takes with it what its sender holds now, before anything of the same step comes. */
static enum fr_status leave(struct run *r, struct flight *f)
{
    const struct fr__schedule *s = r->s;
    struct taking t = {.r = r, .f = f, .entity = fr__slot_entity(s, f->from)};

    s->algorithm->carry(s, f->from, f->step, f->k, count_piece, &t);
    if (!(fabs(t.bytes - f->m.bytes) <= 1e-9 * (t.bytes + 1)))
        return fr__fail(r->err, FR_ECHECK, FR_NOWHERE,
                        "message %u of step %u of rank %u has %.17g bytes, its pieces %.17g", f->k,
                        f->step, t.entity, f->m.bytes, t.bytes);
    f->sets = calloc(t.n * r->n_words + 1, sizeof(*f->sets));
    if (!f->sets)
        return fr__fail_nomem(r->err);
    t.n = 0;
    s->algorithm->carry(s, f->from, f->step, f->k, take_piece, &t);
    return FR_OK;
}

static enum fr_status post(struct run *r, uint32_t slot)
{
    struct slot *k = &r->slots[slot];

    k->has_sent = true;
    for (uint32_t i = 0; i < k->sends_left; i++) {
        struct flight *f;

        if (r->n_flights == r->cap) {
            size_t cap = 2 * r->cap + 64;
            struct flight *more = realloc(r->flights, cap * sizeof(*more));

            if (!more)
                return fr__fail_nomem(r->err);
            r->flights = more;
            r->cap = cap;
        }
        f = &r->flights[r->n_flights++];
        *f = (struct flight){.from = slot, .step = k->step, .k = i};
        fr__schedule_send(r->s, slot, k->step, i, &f->m);
        if (f->m.to >= r->s->n_entities * r->s->n_slots || f->m.to_step >= r->s->n_steps)
            return fr__fail(r->err, FR_ECHECK, FR_NOWHERE, "a message of rank %u goes nowhere",
                            fr__slot_entity(r->s, slot));
        FR_TRY(leave(r, f));
    }
    return FR_OK;
}

/* Goes on as far as the slot can. */
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
        k->is_open = true;
        k->has_sent = false;
        k->sends_left = at.n_sends;
        k->recvs_left = at.n_recvs;
        if (!at.is_relay)
            FR_TRY(post(r, slot));
    }
}

/* Whether the receiver waits for it now. */
static bool is_expected(const struct run *r, const struct flight *f)
{
    const struct slot *to = &r->slots[f->m.to];

    return to->is_open && to->step == f->m.to_step;
}

static bool can_move(const struct run *r, const struct flight *f)
{
    return is_expected(r, f) || (!r->s->algorithm->is_rendezvous && !f->is_gone);
}

/* The receiver takes the message; the sender has done with it now, if not before. */
static enum fr_status deliver(struct run *r, size_t i)
{
    struct flight f = r->flights[i];
    struct slot *to = &r->slots[f.m.to];
    struct taking t = {.r = r, .f = &f, .entity = fr__slot_entity(r->s, f.m.to)};

    r->flights[i] = r->flights[--r->n_flights];
    r->s->algorithm->carry(r->s, f.from, f.step, f.k, give_piece, &t);
    free(f.sets);
    FR_TRY(t.st);
    if (to->recvs_left == 0)
        return fr__fail(r->err, FR_ECHECK, FR_NOWHERE,
                        "rank %u gets more messages in step %u than it waits for", t.entity,
                        to->step);
    to->recvs_left--;
    if (!f.is_gone)
        r->slots[f.from].sends_left--;
    FR_TRY(go_on(r, f.m.to));
    return go_on(r, f.from);
}

/* It has left its sender and waits for its receiver. */
static enum fr_status arrive_early(struct run *r, struct flight *f)
{
    f->is_gone = true;
    r->slots[f->from].sends_left--;
    return go_on(r, f->from);
}

/* ---- the run ---- */

static enum fr_status judge(const struct run *r)
{
    const struct fr__schedule *s = r->s;

    for (uint32_t slot = 0; slot < s->n_entities * s->n_slots; slot++)
        if (r->slots[slot].step < s->n_steps)
            return fr__fail(r->err, FR_ECHECK, FR_NOWHERE,
                            "rank %u waits in step %u for a message that nobody sends",
                            fr__slot_entity(s, slot), r->slots[slot].step);
    for (uint32_t rank = 0; rank < s->n; rank++)
        for (uint32_t piece = 0; piece < s->n_pieces; piece++)
            for (uint32_t from = 0; from < s->n; from++) {
                bool matters, wanted = ends_with(s, rank, piece, from, &matters);

                if (matters && has(held(r, rank, piece), from) != wanted)
                    return fr__fail(r->err, FR_ECHECK, FR_NOWHERE,
                                    "rank %u ends %s rank %u's part of piece %u", rank,
                                    wanted ? "without" : "with", from, piece);
            }
    return FR_OK;
}

static enum fr_status play(struct run *r)
{
    const struct fr__schedule *s = r->s;

    for (uint32_t slot = 0; s->n_steps > 0 && slot < s->n_entities * s->n_slots; slot++)
        FR_TRY(go_on(r, slot));
    for (;;) {
        size_t first = 0, i;

        if (r->random && r->n_flights > 0) { /* xorshift64, G. Marsaglia, J. Stat. Softw. 2003 */
            r->random ^= r->random << 13;
            r->random ^= r->random >> 7;
            r->random ^= r->random << 17;
            first = (size_t)(r->random % r->n_flights);
        }
        for (i = 0; i < r->n_flights; i++)
            if (can_move(r, &r->flights[(first + i) % r->n_flights]))
                break;
        if (i == r->n_flights)
            return judge(r);
        i = (first + i) % r->n_flights;
        if (is_expected(r, &r->flights[i]))
            FR_TRY(deliver(r, i));
        else
            FR_TRY(arrive_early(r, &r->flights[i]));
    }
}

enum fr_status fr__schedule_check(const struct fr__schedule *s, uint64_t seed, struct fr_error *err)
{
    size_t n_slots = (size_t)s->n_entities * s->n_slots;
    struct run r = {.s = s, .n_words = (s->n + 63) / 64, .random = seed, .err = err};
    enum fr_status st;

    r.held = calloc((size_t)s->n_entities * s->n_pieces * r.n_words + 1, sizeof(*r.held));
    r.slots = calloc(n_slots + 1, sizeof(*r.slots));
    if (r.held && r.slots) {
        for (uint32_t rank = 0; rank < s->n; rank++)
            for (uint32_t piece = 0; piece < s->n_pieces; piece++)
                if (begins_with(s, rank, piece))
                    put(held(&r, rank, piece), rank);
        st = play(&r);
    } else {
        st = fr__fail_nomem(err);
    }
    for (size_t i = 0; i < r.n_flights; i++)
        free(r.flights[i].sets);
    free(r.flights);
    free(r.held);
    free(r.slots);
    return st;
}
