/* collectives/algorithms/binomial.c - broadcast and reduce along a binomial tree.
 *
 * R. Thakur, R. Rabenseifner and W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005, section
 * 4. In round r of a broadcast the 2^r ranks that have the data send it to as many more; a reduce
 * is the same backwards. t = ceil(log2 n) (a + S b).
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

static void shape(struct fr__schedule *s)
{
    s->n_steps = fr__ceil_log2(s->n);
    s->n_pieces = 1;
}

/* The partner of rank v (counted from the root) in a step, or FR_NONE; *sends: of the two, v. */
static uint32_t partner(const struct fr__schedule *s, uint32_t v, uint32_t i, bool *sends)
{
    bool is_reduce = s->kind == FR_REDUCE;
    uint32_t d = 1u << (is_reduce ? s->n_steps - 1 - i : i);
    bool is_low = v < d;

    *sends = is_low != is_reduce;
    if (is_low)
        return v + d < s->n ? v + d : FR_NONE;
    return v < 2 * d ? v - d : FR_NONE;
}

static uint32_t from_root(const struct fr__schedule *s, uint32_t rank)
{
    return (rank + s->n - s->root) % s->n;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    bool sends;

    if (partner(s, from_root(s, slot), i, &sends) == FR_NONE)
        return;
    out->n_sends = sends;
    out->n_recvs = !sends;
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    bool sends;

    (void)k;
    out->to = (partner(s, from_root(s, slot), i, &sends) + s->root) % s->n;
    out->to_step = i;
    out->bytes = s->bytes;
    out->is_sum = s->kind == FR_REDUCE;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    (void)s, (void)slot, (void)i, (void)k;
    fn(user, 0);
}

const struct fr__algorithm fr__binomial_algorithm = {
    .name = "binomial",
    .summary = "a binomial tree: those who have the data double each round",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .kinds = FR__FOR_BROADCAST | FR__FOR_REDUCE,
    .is_rendezvous = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
