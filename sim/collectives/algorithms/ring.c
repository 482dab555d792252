/* sim/collectives/algorithms/ring.c - rings: all-reduce, all-gather, reduce-scatter.
 *
 * P. Patarasuk and X. Yuan, J. Parallel Distrib. Comput. 69(2), 2009. Each lane is a ring over all
 * ranks with its share of the bytes, cut into n blocks. Reduce-scatter and all-gather take n - 1
 * rounds, an all-reduce does both. Position p of a ring ends the reduce-scatter with block p.
 * With equal rings and hops: t = 2 (n - 1) (a + S b / (n lanes)) of an all-reduce, half of it of
 * the others.
 */
#include "config.h"

#include "sim/collectives/algorithms/schedule.h"

#include <math.h>

static uint32_t place_of(const struct fr__schedule *s, uint32_t lane, uint32_t rank)
{
    return s->order ? s->place[(size_t)lane * s->n + rank] : rank;
}

static uint32_t rank_at(const struct fr__schedule *s, uint32_t lane, uint32_t place)
{
    return s->order ? s->order[(size_t)lane * s->n + place % s->n] : place % s->n;
}

static void shape(struct fr__schedule *s)
{
    s->n_lanes = s->n_lanes ? s->n_lanes : 1;
    s->n_slots = s->n_lanes;
    s->n_steps = (s->kind == FR_ALL_REDUCE ? 2 : 1) * (s->n - 1);
    s->n_pieces = s->n_lanes * s->n;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    (void)s, (void)slot, (void)i;
    out->n_sends = out->n_recvs = 1;
}

static bool is_scatter(const struct fr__schedule *s, uint32_t i)
{
    return s->kind == FR_REDUCE_SCATTER || (s->kind == FR_ALL_REDUCE && i < s->n - 1);
}

static double piece_bytes(const struct fr__schedule *s, uint32_t piece)
{
    return s->bytes * fr__lane_frac(s, piece / s->n) / s->n;
}

static uint32_t owner(const struct fr__schedule *s, uint32_t piece)
{
    return rank_at(s, piece / s->n, piece % s->n);
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    uint32_t lane = fr__slot_lane(s, slot), at = place_of(s, lane, fr__slot_entity(s, slot));

    (void)k;
    out->to = rank_at(s, lane, at + 1) * s->n_slots + lane;
    out->to_step = i;
    out->bytes = piece_bytes(s, lane * s->n);
    out->is_sum = is_scatter(s, i);
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    uint32_t lane = fr__slot_lane(s, slot), n = s->n;
    uint32_t at = place_of(s, lane, fr__slot_entity(s, slot));
    uint32_t round = i % (n - 1), back = is_scatter(s, i) ? round + 1 : round;

    (void)k;
    fn(user, lane * n + (at + n - back) % n);
}

static double alone(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user)
{
    uint32_t n = s->period ? s->period : s->n;
    double most_s = 0;

    for (uint32_t lane = 0; lane < s->n_lanes; lane++)
        for (uint32_t i = 0; i < n; i++)
            most_s = fmax(most_s, hop(user, rank_at(s, lane, i), rank_at(s, lane, i + 1),
                                      piece_bytes(s, lane * s->n)));
    return s->n_steps * most_s;
}

/* The same to the next rank in every step. */
static void traffic(const struct fr__schedule *s, uint32_t rank, fr__traffic_fn *fn, void *user)
{
    for (uint32_t lane = 0; lane < s->n_lanes; lane++)
        fn(user, rank, rank_at(s, lane, place_of(s, lane, rank) + 1), s->n_steps,
           piece_bytes(s, lane * s->n));
}

const struct fr__algorithm fr__ring_algorithm = {
    .name = "ring",
    .summary = "rings over all ranks, each with its share of the bytes",
    .source = "P. Patarasuk and X. Yuan, J. Parallel Distrib. Comput. 69(2), 2009",
    .kinds = FR__FOR_ALL_REDUCE | FR__FOR_ALL_GATHER | FR__FOR_REDUCE_SCATTER,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
    .piece_bytes = piece_bytes,
    .owner = owner,
    .alone = alone,
    .traffic = traffic,
};
