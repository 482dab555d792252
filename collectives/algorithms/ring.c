/* collectives/algorithms/ring.c - rings: all-reduce, all-gather, reduce-scatter.
 *
 * P. Patarasuk and X. Yuan, J. Parallel Distrib. Comput. 69(2), 2009. Each lane is a ring over all
 * ranks with its share of the bytes, cut into n blocks. Reduce-scatter and all-gather take n - 1
 * rounds, an all-reduce does both. Position p of a ring ends the reduce-scatter with block p.
 * With equal rings and hops: t = 2 (n - 1) (a + S b / (n lanes)) of an all-reduce, half of it of
 * the others.
 *
 * Where messages may be ahead (n_ahead, k for short) a sender does not wait for the latency of its
 * own hop. Place p begins to send its message of round r at
 *   x(p, r) = max(x(p, r-1) + g_p, x(p, r-k) + g_p + a_p, x(p-1, r-1) + g_p-1 + a_p-1)
 * with g the time of the bytes and a the latency of the hop from p: its own last bytes have left,
 * the message k rounds ago has come, and so has what it passes on. So a block pays each hop's
 * latency once a turn. A slow hop between machines costs all rounds only a k-th of its latency
 * each, or what a turn of the ring takes for each round.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

#include <math.h>
#include <stdlib.h>

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

/* A hop's latency and bytes, and when its place began to send in the last rounds. */
struct place {
    double latency_s, bytes_s, came_s; /* came_s: the last message from the place before */
    double began_s[FR__MOST_AHEAD];    /* by round mod n_ahead */
};

/* The rounds of one lane by the recurrence above. at: [n], of which n places stand for all. */
static double rounds_ahead(const struct fr__schedule *s, struct place at[], uint32_t n)
{
    uint32_t k = s->n_ahead;
    double end_s = 0;

    for (uint32_t r = 0; r < s->n_steps; r++) {
        for (uint32_t p = 0; p < n; p++) {
            struct place *q = &at[p];
            double begin_s = q->came_s;

            if (r > 0)
                begin_s = fmax(begin_s, q->began_s[(r - 1) % k] + q->bytes_s);
            if (r >= k)
                begin_s = fmax(begin_s, q->began_s[r % k] + q->bytes_s + q->latency_s);
            q->began_s[r % k] = begin_s;
        }
        for (uint32_t p = 0; p < n; p++) {
            double came_s = at[p].began_s[r % k] + at[p].bytes_s + at[p].latency_s;

            at[(p + 1) % n].came_s = came_s;
            end_s = fmax(end_s, came_s);
        }
    }
    return end_s;
}

/* Beyond so many times x(p, r) their growth by round, without what the first turn takes more. */
enum { MOST_BEGINNINGS = 1 << 22 };

static double rounds_about(const struct fr__schedule *s, const struct place at[], uint32_t n)
{
    double turn_s = 0, most_s = 0;

    for (uint32_t p = 0; p < n; p++) {
        double whole_s = at[p].latency_s + at[p].bytes_s;

        turn_s += whole_s;
        most_s = fmax(most_s, fmax(at[p].bytes_s, whole_s / s->n_ahead));
    }
    return s->n_steps * fmax(turn_s / n, most_s);
}

/* NAN: no memory. */
static double lane_ahead(const struct fr__schedule *s, uint32_t lane, fr__alone_hop_fn *hop,
                         void *user)
{
    uint32_t n = s->period ? s->period : s->n;
    struct place *at = calloc(n, sizeof(*at));
    double end_s;

    if (!at)
        return NAN;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t from = rank_at(s, lane, p), to = rank_at(s, lane, p + 1);

        at[p].latency_s = hop(user, from, to, 0);
        at[p].bytes_s = hop(user, from, to, piece_bytes(s, lane * s->n)) - at[p].latency_s;
    }
    end_s =
        (double)n * s->n_steps <= MOST_BEGINNINGS ? rounds_ahead(s, at, n) : rounds_about(s, at, n);
    free(at);
    return end_s;
}

static double alone(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user)
{
    uint32_t n = s->period ? s->period : s->n;
    double most_s = 0;

    for (uint32_t lane = 0; s->n_ahead && lane < s->n_lanes; lane++) {
        double lane_s = lane_ahead(s, lane, hop, user);

        if (!(lane_s <= most_s)) /* NAN stays */
            most_s = lane_s;
        if (isnan(most_s))
            break;
    }
    if (s->n_ahead)
        return most_s;
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
