/* collectives/algorithms/neighbour.c - all-gather by neighbour exchange, of an even number of
 * ranks.
 *
 * J. Chen, L. Zhang, Y. Zhang and W. Yuan, HPC Asia 2005. Neighbours in pairs exchange their
 * blocks; then each rank exchanges in turn with its other and its first neighbour the two blocks
 * that came last. n/2 rounds: t = n/2 a + (n - 1)/n S b. All messages go to neighbours.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

static const char *refuse(const struct fr__schedule *s)
{
    return s->n % 2 && s->n > 1 ? "neighbour exchange needs an even number of ranks" : NULL;
}

static void shape(struct fr__schedule *s)
{
    s->n_steps = s->n / 2;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    (void)s, (void)slot, (void)i;
    out->n_sends = out->n_recvs = 1;
}

static uint32_t peer(const struct fr__schedule *s, uint32_t rank, uint32_t i)
{
    bool is_right = (rank % 2 == 0) == (i % 2 == 0);

    return (rank + (is_right ? 1 : s->n - 1)) % s->n;
}

/* The pair of blocks that a rank gets in step i: in step 0 its own; an even rank then gets from the
 * left pair by pair in odd steps, from the right in even ones, an odd rank the other way round. */
static uint32_t pair_got(const struct fr__schedule *s, uint32_t rank, uint32_t i)
{
    uint32_t n_pairs = s->n / 2, far = (i + 1) / 2;
    bool is_left = (rank % 2 == 0) == (i % 2 == 1);

    return (rank / 2 + (is_left ? n_pairs - far : far)) % n_pairs;
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    (void)k;
    out->to = peer(s, slot, i);
    out->to_step = i;
    out->bytes = s->bytes * (i == 0 ? 1 : 2) / s->n;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    uint32_t pair;

    (void)k;
    if (i == 0) {
        fn(user, slot);
        return;
    }
    pair = pair_got(s, slot, i - 1);
    fn(user, 2 * pair);
    fn(user, 2 * pair + 1);
}

const struct fr__algorithm fr__neighbour_algorithm = {
    .name = "neighbour-exchange",
    .summary = "two blocks a round with the left and the right neighbour in turn",
    .source = "J. Chen, L. Zhang, Y. Zhang, W. Yuan, HPC Asia 2005",
    .kinds = FR__FOR_ALL_GATHER,
    .is_rendezvous = true,
    .refuse = refuse,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
