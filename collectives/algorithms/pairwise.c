/* collectives/algorithms/pairwise.c - pairwise exchange: all-to-all and reduce-scatter.
 *
 * R. Thakur, R. Rabenseifner and W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005. In
 * round r = 1 .. n - 1 a rank sends to rank + r and receives from rank - r; of a power of two the
 * partner is rank xor r. t = (n - 1) (a + S/n b), S the bytes of a rank. The pairs of an all-to-all
 * may have bytes of their own.
 *
 * Shift is the same to rank + r of any n. With several machines each of its rounds crosses the
 * network somewhere, so that it takes n - 1 times what a message over the network takes, where xor
 * keeps m - 1 of the rounds inside machines of m ranks.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

static void shape(struct fr__schedule *s)
{
    s->n_steps = s->n - 1;
    s->n_pieces = s->kind == FR_ALL_TO_ALL ? s->n * s->n : s->n;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    (void)s, (void)slot, (void)i;
    out->n_sends = out->n_recvs = 1;
}

static uint32_t peer(const struct fr__schedule *s, uint32_t rank, uint32_t i)
{
    if (s->algorithm == &fr__shift_algorithm || s->n & (s->n - 1))
        return (rank + i + 1) % s->n;
    return rank ^ (i + 1);
}

static uint32_t piece_of(const struct fr__schedule *s, uint32_t rank, uint32_t i)
{
    return (s->kind == FR_ALL_TO_ALL ? rank * s->n : 0) + peer(s, rank, i);
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    (void)k;
    out->to = peer(s, slot, i);
    out->to_step = i;
    out->bytes = fr__schedule_piece_bytes(s, piece_of(s, slot, i));
    out->is_sum = s->kind == FR_REDUCE_SCATTER;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    (void)k;
    fn(user, piece_of(s, slot, i));
}

#define EXCHANGE(text, words)                                                                      \
    {                                                                                              \
        .name = text, .summary = words,                                                            \
        .source = "R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. "     \
                  "19(1), 2005",                                                                   \
        .kinds = FR__FOR_ALL_TO_ALL | FR__FOR_REDUCE_SCATTER, .is_rendezvous = true,               \
        .is_symmetric = true, .shape = shape, .step = step, .send = send, .carry = carry,          \
    }

const struct fr__algorithm fr__pairwise_algorithm = EXCHANGE("pairwise", "one partner a round");
const struct fr__algorithm fr__shift_algorithm =
    EXCHANGE("shift", "one partner a round, in round r the r-th rank on");
