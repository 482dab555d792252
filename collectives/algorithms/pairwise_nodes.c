/* collectives/algorithms/pairwise_nodes.c - all-to-all in two stages: inside machines, then
 * along rails.
 *
 * NVIDIA's PXN (NCCL 2.12) and DeepEP's dispatch. M machines of m ranks, S bytes a rank. First each
 * rank hands its machine's rank j all that goes to ranks of number j anywhere, in m - 1 rounds of
 * S/m. Then rank j sends to rank j of each other machine what its machine has for it, in M - 1
 * rounds of S/M. The network carries as many bytes as without the first stage, in M - 1 instead of
 * n - m messages a rank:
 *   t = (m - 1) (a1 + S b1 / m) + (M - 1) (a2 + S b2 / M).
 * The pairs may have bytes of their own.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

static void shape(struct fr__schedule *s)
{
    uint32_t m = s->per_node;

    s->n_steps = m - 1 + s->n / m - 1;
    s->n_pieces = s->n * s->n;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    (void)s, (void)slot, (void)i;
    out->n_sends = out->n_recvs = 1;
}

static bool is_inside(const struct fr__schedule *s, uint32_t i)
{
    return i < s->per_node - 1;
}

static uint32_t peer(const struct fr__schedule *s, uint32_t rank, uint32_t i)
{
    uint32_t m = s->per_node, node = rank / m, local = rank % m;

    if (is_inside(s, i))
        return node * m + (local + i + 1) % m;
    return (node + i - (m - 1) + 1) % (s->n / m) * m + local;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    uint32_t m = s->per_node, to = peer(s, slot, i);

    (void)k;
    if (is_inside(s, i))
        for (uint32_t node = 0; node < s->n / m; node++)
            fn(user, slot * s->n + node * m + to % m);
    else
        for (uint32_t local = 0; local < m; local++)
            fn(user, (slot / m * m + local) * s->n + to);
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

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    struct sum sum = {.s = s};
    uint32_t m = s->per_node;

    out->to = peer(s, slot, i);
    out->to_step = i;
    if (s->pair_bytes)
        carry(s, slot, i, k, add_piece, &sum);
    else
        sum.bytes = is_inside(s, i) ? s->bytes / m : s->bytes * m / s->n;
    out->bytes = sum.bytes;
}

const struct fr__algorithm fr__pairwise_nodes_algorithm = {
    .name = "hierarchical-pairwise",
    .summary = "inside machines to the rank of the right rail, then one message a machine",
    .source = "NVIDIA, NCCL 2.12 release notes (PXN); DeepSeek, DeepEP",
    .kinds = FR__FOR_ALL_TO_ALL,
    .is_rendezvous = true,
    .is_symmetric = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
