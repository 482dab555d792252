/* collectives/algorithms/pat.c - PAT: all-gather and reduce-scatter along binomial trees, for
 * any n.
 *
 * S. Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale,
 * arXiv:2506.20252, 2025; NCCL 2.30 src/include/collectives.h. Peers are at distances of powers of
 * two. In an all-gather a rank sends to rank - d. A block that has come s ranks far, s a multiple
 * of 2 d, goes on to s + d; the largest d comes first. A reduce-scatter is the same backwards.
 * Where a message holds at most f blocks (a buffer's worth; `aggregated` of the schedule), a
 * distance takes several messages. Without a limit: ceil(log2 n) a + (n - 1)/n S b; with f = 1: n -
 * 1 messages.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

static uint32_t most_in_message(const struct fr__schedule *s)
{
    return s->aggregated ? s->aggregated : s->n;
}

/* Blocks that go on by d: s = 0, 2 d, 4 d, ... with s + d < n. */
static uint32_t n_blocks(const struct fr__schedule *s, uint32_t d)
{
    return (s->n - d + 2 * d - 1) / (2 * d);
}

static uint32_t n_messages(const struct fr__schedule *s, uint32_t d)
{
    return (n_blocks(s, d) + most_in_message(s) - 1) / most_in_message(s);
}

static void shape(struct fr__schedule *s)
{
    s->n_steps = 0;
    for (uint32_t d = 1; d < s->n; d <<= 1)
        s->n_steps += n_messages(s, d);
}

/* A message: blocks first .. first + n - 1 of those of distance d. */
struct part {
    uint32_t d, first, n;
};

static struct part part_of(const struct fr__schedule *s, uint32_t i)
{
    uint32_t d = 1u << (fr__ceil_log2(s->n) - 1), most = most_in_message(s), left;

    if (s->kind == FR_REDUCE_SCATTER)
        i = s->n_steps - 1 - i;
    while (i >= n_messages(s, d)) {
        i -= n_messages(s, d);
        d >>= 1;
    }
    left = n_blocks(s, d) - i * most;
    return (struct part){d, i * most, left < most ? left : most};
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    (void)s, (void)slot, (void)i;
    out->n_sends = out->n_recvs = 1;
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    struct part p = part_of(s, i);
    bool is_sum = s->kind == FR_REDUCE_SCATTER;

    (void)k;
    out->to = (slot + (is_sum ? p.d : s->n - p.d)) % s->n;
    out->to_step = i;
    out->bytes = s->bytes * p.n / s->n;
    out->is_sum = is_sum;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    struct part p = part_of(s, i);
    uint32_t more = s->kind == FR_REDUCE_SCATTER ? p.d : 0;

    (void)k;
    for (uint32_t b = p.first; b < p.first + p.n; b++)
        fn(user, (slot + 2 * p.d * b + more) % s->n);
}

const struct fr__algorithm fr__pat_algorithm = {
    .name = "pat",
    .summary = "binomial trees of all ranks at once, as many blocks in a message as fit",
    .source = "S. Jeaugey, arXiv:2506.20252, 2025",
    .kinds = FR__FOR_ALL_GATHER | FR__FOR_REDUCE_SCATTER,
    .is_rendezvous = true,
    .is_symmetric = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
