/* collectives/algorithms/schedule.c - what all algorithms share: making a schedule, walking its
 * steps, counting its messages and what it takes where no link is shared. */
#include "config.h"

#include "collectives/algorithms/schedule.h"

#include "base/error.h"

#include <math.h>

enum fr_status fr__schedule_make(struct fr__schedule *s, struct fr_error *err)
{
    const struct fr__algorithm *a = s->algorithm;
    const char *why = NULL;

    s->per_node = s->per_node ? s->per_node : 1;
    s->n_chunks = s->n_chunks ? s->n_chunks : 1;
    if (!(a->kinds & 1u << s->kind))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is no algorithm for %s", a->name,
                        fr_collective_kind_name(s->kind));
    if (s->n % s->per_node != 0)
        why = "the machines have different numbers of ranks";
    else if (a->refuse)
        why = a->refuse(s);
    if (why)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s on %u ranks: %s", a->name, s->n, why);
    s->n_entities = s->n;
    s->n_slots = 1;
    s->n_steps = 0;
    s->n_pieces = s->n;
    a->shape(s);
    if (s->n < 2)
        s->n_steps = 0;
    return FR_OK;
}

void fr__schedule_step(const struct fr__schedule *s, uint32_t slot, uint32_t step,
                       struct fr__step *out)
{
    *out = (struct fr__step){.n_sends = 0};
    s->algorithm->step(s, slot, step, out);
}

void fr__schedule_send(const struct fr__schedule *s, uint32_t slot, uint32_t step, uint32_t k,
                       struct fr__send *out)
{
    *out = (struct fr__send){.to = 0};
    s->algorithm->send(s, slot, step, k, out);
}

double fr__schedule_piece_bytes(const struct fr__schedule *s, uint32_t piece)
{
    if (s->algorithm->piece_bytes)
        return s->algorithm->piece_bytes(s, piece);
    if (s->kind == FR_ALL_TO_ALL && s->pair_bytes)
        return s->pair_bytes[piece];
    return s->bytes / (s->kind == FR_ALL_TO_ALL ? s->n : s->n_pieces);
}

double fr__lane_frac(const struct fr__schedule *s, uint32_t lane)
{
    return s->share_frac ? s->share_frac[lane] : 1.0 / s->n_lanes;
}

/* The sum over steps of the slowest message of each: exact where all ranks do each step together.
 * */
static double alone_by_steps(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user)
{
    uint32_t n_slots = (s->n_standing ? s->n_standing : s->n_entities) * s->n_slots;
    double sum_s = 0;

    for (uint32_t step = 0; step < s->n_steps; step++) {
        double most_s = 0;

        for (uint32_t slot = 0; slot < n_slots; slot++) {
            struct fr__step at;
            struct fr__send m;

            fr__schedule_step(s, slot, step, &at);
            for (uint32_t k = 0; k < at.n_sends; k++) {
                uint32_t from = fr__slot_entity(s, slot);

                fr__schedule_send(s, slot, step, k, &m);
                if (from != fr__slot_entity(s, m.to))
                    most_s = fmax(most_s, hop(user, from, fr__slot_entity(s, m.to), m.bytes));
            }
        }
        sum_s += most_s;
    }
    return sum_s;
}

double fr__schedule_alone(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user)
{
    if (s->n_steps == 0)
        return 0;
    return s->algorithm->alone ? s->algorithm->alone(s, hop, user) : alone_by_steps(s, hop, user);
}

static void step_traffic(const struct fr__schedule *s, uint32_t slot, uint32_t step, double times,
                         fr__traffic_fn *fn, void *user)
{
    uint32_t from = fr__slot_entity(s, slot);
    struct fr__step at;
    struct fr__send m;

    fr__schedule_step(s, slot, step, &at);
    for (uint32_t k = 0; k < at.n_sends; k++) {
        fr__schedule_send(s, slot, step, k, &m);
        if (fr__slot_entity(s, m.to) != from)
            fn(user, from, fr__slot_entity(s, m.to), times, m.bytes);
    }
}

void fr__schedule_traffic(const struct fr__schedule *s, uint32_t entity, fr__traffic_fn *fn,
                          void *user)
{
    uint32_t n_steps = s->n_steps / s->n_chunks; /* the same for each of its equal chunks */

    if (s->n_steps == 0)
        return;
    if (s->algorithm->traffic) {
        s->algorithm->traffic(s, entity, fn, user);
        return;
    }
    for (uint32_t lane = 0; lane < s->n_slots; lane++)
        for (uint32_t step = 0; step < n_steps; step++)
            step_traffic(s, entity * s->n_slots + lane, step, s->n_chunks, fn, user);
}

/* ---- counting ---- */

struct sent {
    double bytes, messages;
    uint32_t rounds;
};

/* What a slot sends to other entities. */
static struct sent count_slot(const struct fr__schedule *s, uint32_t slot)
{
    struct sent sum = {.bytes = 0};

    for (uint32_t step = 0; step < s->n_steps; step++) {
        struct fr__step at;
        struct fr__send m;
        bool is_any = false;

        fr__schedule_step(s, slot, step, &at);
        is_any = at.n_recvs > 0;
        for (uint32_t k = 0; k < at.n_sends; k++) {
            fr__schedule_send(s, slot, step, k, &m);
            if (fr__slot_entity(s, slot) == fr__slot_entity(s, m.to))
                continue;
            sum.bytes += m.bytes;
            sum.messages++;
            is_any = true;
        }
        sum.rounds += is_any;
    }
    return sum;
}

void fr__schedule_count(const struct fr__schedule *s, struct fr__schedule_totals *out)
{
    *out = (struct fr__schedule_totals){.messages = 0};
    for (uint32_t e = 0; e < s->n_entities; e++) {
        double bytes = 0;

        for (uint32_t lane = 0; lane < s->n_slots; lane++) {
            struct sent sent = count_slot(s, e * s->n_slots + lane);

            bytes += sent.bytes;
            out->messages += sent.messages;
            out->most_rounds = sent.rounds > out->most_rounds ? sent.rounds : out->most_rounds;
        }
        out->sent_bytes += bytes;
        out->most_sent_bytes = fmax(out->most_sent_bytes, bytes);
    }
}
