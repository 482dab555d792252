/* collectives/algorithms/bruck.c - Bruck's all-gather and all-to-all, for any number of ranks.
 *
 * J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, IEEE Trans. Parallel Distrib. Syst.
 * 8(11), 1997. Both take ceil(log2 n) rounds.
 * All-gather: in round i a rank sends the blocks that it has, at most n - 2^i, to the rank 2^i
 * before it: ceil(log2 n) a + (n - 1)/n S b.
 * All-to-all (S bytes a rank): a block that is to move by j ranks moves by 2^i in each round i
 * whose bit is set in j. Round i sends S/n times #{j < n: bit i of j is set}; of a power of two
 * S/2 each.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

static void shape(struct fr__schedule *s)
{
    s->n_steps = fr__ceil_log2(s->n);
    s->n_pieces = s->kind == FR_ALL_TO_ALL ? s->n * s->n : s->n;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    (void)s, (void)slot, (void)i;
    out->n_sends = out->n_recvs = 1;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    uint32_t n = s->n, d = 1u << i;

    (void)k;
    if (s->kind == FR_ALL_GATHER) {
        for (uint32_t p = 0; p < d && p < n - d; p++)
            fn(user, (slot + p) % n);
        return;
    }
    for (uint32_t j = d; j < n; j++)
        if (j & d) {
            uint32_t src = (slot + n - j % d) % n;

            fn(user, src * n + (src + j) % n);
        }
}

struct sum {
    const struct fr__schedule *s;
    double bytes;
};

static void add_piece(void *user, uint32_t piece)
{
    struct sum *sum = user;

    sum->bytes += fr__schedule_piece_bytes(sum->s, piece);
}

/* How many j < n have bit d set. */
static uint32_t n_with_bit(uint32_t n, uint32_t d)
{
    uint32_t rest = n % (2 * d);

    return n / (2 * d) * d + (rest > d ? rest - d : 0);
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    uint32_t n = s->n, d = 1u << i;
    struct sum sum = {.s = s};

    out->to_step = i;
    if (s->kind == FR_ALL_GATHER) {
        out->to = (slot + n - d) % n;
        out->bytes = s->bytes * (d < n - d ? d : n - d) / n;
        return;
    }
    out->to = (slot + d) % n;
    if (s->pair_bytes)
        carry(s, slot, i, k, add_piece, &sum);
    else
        sum.bytes = s->bytes * n_with_bit(n, d) / n;
    out->bytes = sum.bytes;
}

const struct fr__algorithm fr__bruck_algorithm = {
    .name = "bruck",
    .summary = "blocks travel together by powers of two: few rounds, more bytes",
    .source = "J. Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8(11), 1997",
    .kinds = FR__FOR_ALL_GATHER | FR__FOR_ALL_TO_ALL,
    .is_rendezvous = true,
    .is_symmetric = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
