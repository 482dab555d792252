/* collectives/algorithms/direct.c - direct: every rank sends to all others at once.
 *
 * Source: S. Rashidi et al., ASTRA-SIM, ISPASS 2020 (its "direct" collectives). All-to-all,
 * reduce-scatter and all-gather are one step, an all-reduce the latter two. Where each rank has one
 * full-duplex port and the messages share it evenly: t = a + (n - 1)/n S b a step.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

static void shape(struct fr__schedule *s)
{
    s->n_steps = s->kind == FR_ALL_REDUCE ? 2 : 1;
    s->n_pieces = s->kind == FR_ALL_TO_ALL ? s->n * s->n : s->n;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    (void)slot, (void)i;
    out->n_sends = out->n_recvs = s->n - 1;
}

static bool is_sum(const struct fr__schedule *s, uint32_t i)
{
    return s->kind == FR_REDUCE_SCATTER || (s->kind == FR_ALL_REDUCE && i == 0);
}

static uint32_t peer(const struct fr__schedule *s, uint32_t rank, uint32_t k)
{
    return (rank + 1 + k) % s->n;
}

static uint32_t piece_of(const struct fr__schedule *s, uint32_t rank, uint32_t i, uint32_t k)
{
    if (s->kind == FR_ALL_TO_ALL)
        return rank * s->n + peer(s, rank, k);
    return is_sum(s, i) ? peer(s, rank, k) : rank;
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    out->to = peer(s, slot, k);
    out->to_step = i;
    out->bytes = fr__schedule_piece_bytes(s, piece_of(s, slot, i, k));
    out->is_sum = is_sum(s, i);
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    fn(user, piece_of(s, slot, i, k));
}

const struct fr__algorithm fr__direct_algorithm = {
    .name = "direct",
    .summary = "to all peers at once",
    .source = "S. Rashidi et al., ASTRA-SIM, ISPASS 2020",
    .kinds = FR__FOR_ALL_REDUCE | FR__FOR_ALL_GATHER | FR__FOR_REDUCE_SCATTER | FR__FOR_ALL_TO_ALL,
    .is_symmetric = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
