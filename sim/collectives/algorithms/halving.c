/* sim/collectives/algorithms/halving.c - recursive halving and doubling, for any number of ranks.
 *
 * R. Thakur, R. Rabenseifner and W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005;
 * R. Rabenseifner and J. L. Traeff, EuroPVM/MPI 2004 (other than powers of two). With q the largest
 * power of two <= n and r = n - q, q ranks halve the data with partners at distance q/2, q/4, ... 1
 * (reduce-scatter) and double it back (all-gather):
 *   t = 2 log2(q) a + 2 (q - 1)/q S b.
 * The other r ranks are folded into a neighbour before and get the result afterwards:
 *   halving-doubling  the even one of each pair sends all it has, and waits: + 2 a + 2 S b;
 *   rabenseifner      each of a pair sums one half and one of the halves then travels, so that the
 *                     two share the sums: + 3 a + 2 S b.
 * An all-gather and a reduce-scatter take half of it, among powers of two only.
 */
#include "config.h"

#include "sim/collectives/algorithms/schedule.h"

enum part { FOLD, FOLD_BACK, HALVE, DOUBLE, UNFOLD };

struct at {
    enum part part;
    uint32_t distance; /* of halving and doubling */
};

static uint32_t folds(const struct fr__schedule *s)
{
    if (s->power == s->n)
        return 0;
    return s->algorithm == &fr__rabenseifner_algorithm ? 2 : 1;
}

static void shape(struct fr__schedule *s)
{
    uint32_t l = fr__floor_log2(s->n);

    s->power = 1u << l;
    s->n_pieces = s->power;
    s->n_steps = s->kind == FR_ALL_REDUCE ? 2 * l + folds(s) + (folds(s) > 0) : l;
}

static struct at at_step(const struct fr__schedule *s, uint32_t i)
{
    uint32_t l = fr__floor_log2(s->power), n_folds = folds(s);

    if (i < n_folds)
        return (struct at){i == 0 ? FOLD : FOLD_BACK, 0};
    i -= n_folds;
    if (s->kind != FR_ALL_GATHER && i < l)
        return (struct at){HALVE, s->power >> (i + 1)};
    i -= s->kind == FR_ALL_GATHER ? 0 : l;
    if (i < l)
        return (struct at){DOUBLE, 1u << i};
    return (struct at){UNFOLD, 0};
}

/* Its number among the q, or FR_NONE of a folded rank. */
static uint32_t number_of(const struct fr__schedule *s, uint32_t rank)
{
    uint32_t r = s->n - s->power;

    if (rank >= 2 * r)
        return rank - r;
    return rank % 2 ? rank / 2 : FR_NONE;
}

static uint32_t rank_of(const struct fr__schedule *s, uint32_t v)
{
    uint32_t r = s->n - s->power;

    return v < r ? 2 * v + 1 : v + r;
}

static bool is_paired(const struct fr__schedule *s, uint32_t rank)
{
    return rank < 2 * (s->n - s->power);
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    struct at at = at_step(s, i);
    bool is_even = slot % 2 == 0;

    switch (at.part) {
    case FOLD:
        if (is_paired(s, slot)) {
            bool is_split = folds(s) == 2;

            out->n_sends = is_split || is_even;
            out->n_recvs = is_split || !is_even;
        }
        break;
    case FOLD_BACK:
        out->n_sends = is_paired(s, slot) && is_even;
        out->n_recvs = is_paired(s, slot) && !is_even;
        break;
    case UNFOLD:
        out->n_sends = is_paired(s, slot) && !is_even;
        out->n_recvs = is_paired(s, slot) && is_even;
        break;
    default:
        out->n_sends = out->n_recvs = number_of(s, slot) != FR_NONE;
        break;
    }
}

/* The pieces first .. first + n - 1 of a message. */
struct range {
    uint32_t first, n;
};

static struct range range_of(const struct fr__schedule *s, uint32_t slot, struct at at)
{
    uint32_t half = s->power / 2, v = number_of(s, slot), d = at.distance;
    bool is_even = slot % 2 == 0;

    switch (at.part) {
    case FOLD: /* split: the even one sends the lower half and keeps the upper one */
        if (folds(s) == 1)
            return (struct range){0, s->power};
        return (struct range){is_even ? 0 : half, half};
    case FOLD_BACK:
        return (struct range){half, half};
    case HALVE: /* the partner's half of what is left */
        return (struct range){((v ^ d) & ~(d - 1)), d};
    case DOUBLE:
        return (struct range){v & ~(d - 1), d};
    default:
        return (struct range){0, s->power};
    }
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    struct at at = at_step(s, i);

    (void)k;
    out->to = at.distance ? rank_of(s, number_of(s, slot) ^ at.distance) : slot ^ 1;
    out->to_step = i;
    out->bytes = s->bytes * range_of(s, slot, at).n / s->n_pieces;
    out->is_sum = at.part == FOLD || at.part == HALVE;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    struct range r = range_of(s, slot, at_step(s, i));

    (void)k;
    for (uint32_t p = 0; p < r.n; p++)
        fn(user, r.first + p);
}

static const char *refuse(const struct fr__schedule *s)
{
    if (s->kind != FR_ALL_REDUCE && (s->n & (s->n - 1)))
        return "an all-gather and a reduce-scatter need a power of two";
    return NULL;
}

const struct fr__algorithm fr__halving_algorithm = {
    .name = "halving-doubling",
    .summary = "halve the data with partners ever nearer, then double it back",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .kinds = FR__FOR_ALL_REDUCE | FR__FOR_ALL_GATHER | FR__FOR_REDUCE_SCATTER,
    .is_rendezvous = true,
    .refuse = refuse,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};

const struct fr__algorithm fr__rabenseifner_algorithm = {
    .name = "rabenseifner",
    .summary = "halving and doubling, where ranks beyond a power of two share the first sums",
    .source = "R. Rabenseifner, J. L. Traeff, EuroPVM/MPI 2004",
    .kinds = FR__FOR_ALL_REDUCE,
    .is_rendezvous = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
