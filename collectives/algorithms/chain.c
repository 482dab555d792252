/* collectives/algorithms/chain.c - broadcast and reduce along a chain, chunk by chunk.
 *
 * A chain is a ring cut open at the root. A rank passes a chunk on once it has it and has sent the
 * one before. On equal hops, c chunks of a lane with S bytes take
 *   t = (n - 2 + c) (a + S b / c).
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

#include <math.h>

/* The rank `i` places behind the chain's first. */
static uint32_t rank_at(const struct fr__schedule *s, uint32_t lane, uint32_t i)
{
    const uint32_t *order = s->order ? s->order + (size_t)lane * s->n : NULL;
    uint32_t root = order ? s->place[(size_t)lane * s->n + s->root] : s->root;
    uint32_t at = (root + (s->kind == FR_REDUCE) + i) % s->n;

    return order ? order[at] : at;
}

static uint32_t place_of(const struct fr__schedule *s, uint32_t lane, uint32_t rank)
{
    const uint32_t *place = s->order ? s->place + (size_t)lane * s->n : NULL;
    uint32_t root = place ? place[s->root] : s->root, at = place ? place[rank] : rank;

    return (at + 2 * s->n - root - (s->kind == FR_REDUCE)) % s->n;
}

static void shape(struct fr__schedule *s)
{
    s->n_lanes = s->n_lanes ? s->n_lanes : 1;
    s->n_slots = s->n_lanes;
    s->n_steps = s->n_chunks;
    s->n_pieces = s->n_lanes * s->n_chunks;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    uint32_t at = place_of(s, fr__slot_lane(s, slot), fr__slot_entity(s, slot));

    (void)i;
    out->is_relay = true;
    out->n_recvs = at > 0;
    out->n_sends = at + 1 < s->n;
}

static double piece_bytes(const struct fr__schedule *s, uint32_t piece)
{
    return s->bytes * fr__lane_frac(s, piece / s->n_chunks) / s->n_chunks;
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    uint32_t lane = fr__slot_lane(s, slot);
    uint32_t at = place_of(s, lane, fr__slot_entity(s, slot));

    (void)k;
    out->to = rank_at(s, lane, at + 1) * s->n_slots + lane;
    out->to_step = i;
    out->bytes = piece_bytes(s, lane * s->n_chunks);
    out->is_sum = s->kind == FR_REDUCE;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    (void)k;
    fn(user, fr__slot_lane(s, slot) * s->n_chunks + i);
}

/* Hops whose times are kept while others take as long. */
enum { MOST_KEPT = 64 };

static double lane_alone(const struct fr__schedule *s, uint32_t lane, fr__alone_hop_fn *hop,
                         void *user)
{
    uint32_t period = s->period && s->period <= MOST_KEPT ? s->period : s->n;
    double bytes = piece_bytes(s, lane * s->n_chunks), sum_s = 0, most_s = 0, kept_s[MOST_KEPT];

    for (uint32_t i = 0; i + 1 < s->n; i++) {
        double hop_s = i < period ? hop(user, rank_at(s, lane, i), rank_at(s, lane, i + 1), bytes)
                                  : kept_s[i % period];

        if (i < period && i < MOST_KEPT)
            kept_s[i] = hop_s;
        sum_s += hop_s;
        most_s = fmax(most_s, hop_s);
    }
    return sum_s + (s->n_chunks - 1) * most_s;
}

static double alone(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user)
{
    double longest_s = 0;

    for (uint32_t lane = 0; lane < s->n_lanes; lane++)
        longest_s = fmax(longest_s, lane_alone(s, lane, hop, user));
    return longest_s;
}

static void traffic(const struct fr__schedule *s, uint32_t rank, fr__traffic_fn *fn, void *user)
{
    for (uint32_t lane = 0; lane < s->n_lanes; lane++) {
        uint32_t at = place_of(s, lane, rank);

        if (at + 1 < s->n)
            fn(user, rank, rank_at(s, lane, at + 1), s->n_chunks,
               piece_bytes(s, lane * s->n_chunks));
    }
}

const struct fr__algorithm fr__chain_algorithm = {
    .name = "chain",
    .summary = "one rank after the other, chunk by chunk",
    .source = "NCCL 2.30 src/device/broadcast.h, reduce.h (its ring, cut open at the root)",
    .kinds = FR__FOR_BROADCAST | FR__FOR_REDUCE,
    .is_pipeline = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
    .piece_bytes = piece_bytes,
    .alone = alone,
    .traffic = traffic,
};
