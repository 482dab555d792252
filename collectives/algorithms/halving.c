/* collectives/algorithms/halving.c - recursive halving and doubling, for any number of ranks.
 *
 * R. Thakur, R. Rabenseifner and W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005, section
 * 4.5. With q the largest power of two <= n and r = n - q, q ranks halve the data (reduce-scatter)
 * and double it back (all-gather):
 *   t = 2 log2(q) a + 2 (q - 1)/q S b.
 * The other r ranks are folded into a neighbour before and get the result afterwards:
 *   halving-doubling  the even one of each pair sends all it has, and waits: + 2 a + 2 S b, as
 *                     MPICH does (src/mpi/coll/allreduce);
 *   rabenseifner      each of a pair sums one half and one of the halves then travels, so that the
 *                     two share the sums: half of S each way, half of S back to the even rank, and
 *                     S when all is done, + 3 a + 2 S b. The paper has
 *                     (3 + 2 log2 q) a + (4 - 2/q) S b, which is the same.
 * With halving-doubling the first partner is the farthest, distance q/2, q/4, ... 1. Rabenseifner
 * halves the data and doubles the distance, 1, 2, ... q/2, so that the most bytes go to the nearest
 * rank, and the all-gather goes back the same way.
 * An all-gather and a reduce-scatter take half of it, among powers of two only. The algorithm with
 * fewer bytes, below 3 S b, of R. Rabenseifner and J. L. Traeff (EuroPVM/MPI 2004) is another one.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

enum part { FOLD, FOLD_BACK, HALVE, DOUBLE, UNFOLD };

struct at {
    enum part part;
    uint32_t distance; /* of halving and doubling: to the partner, */
    uint32_t n_pieces; /* and how much goes there */
};

static bool is_rabenseifner(const struct fr__schedule *s)
{
    return s->algorithm == &fr__rabenseifner_algorithm;
}

static uint32_t folds(const struct fr__schedule *s)
{
    if (s->power == s->n)
        return 0;
    return is_rabenseifner(s) ? 2 : 1;
}

static void shape(struct fr__schedule *s)
{
    uint32_t l = fr__floor_log2(s->n);

    s->power = 1u << l;
    s->n_pieces = s->power;
    s->n_steps = s->kind == FR_ALL_REDUCE ? 2 * l + folds(s) + (folds(s) > 0) : l;
}

/* Round i of the halving, which the doubling goes through backwards. */
static struct at at_halving(const struct fr__schedule *s, enum part part, uint32_t i)
{
    uint32_t n_pieces = s->power >> (i + 1);

    return (struct at){part, is_rabenseifner(s) ? 1u << i : n_pieces, n_pieces};
}

static struct at at_step(const struct fr__schedule *s, uint32_t i)
{
    uint32_t l = fr__floor_log2(s->power), n_folds = folds(s);

    if (i < n_folds)
        return (struct at){.part = i == 0 ? FOLD : FOLD_BACK};
    i -= n_folds;
    if (s->kind != FR_ALL_GATHER && i < l)
        return at_halving(s, HALVE, i);
    i -= s->kind == FR_ALL_GATHER ? 0 : l;
    if (i < l)
        return at_halving(s, DOUBLE, l - 1 - i);
    return (struct at){.part = UNFOLD};
}

/* Whether the even rank of a pair goes on, as Rabenseifner has it, or the odd one, as MPICH. */
static bool is_even_kept(const struct fr__schedule *s)
{
    return is_rabenseifner(s);
}

/* Its number among the q, or FR_NONE of a folded rank. */
static uint32_t number_of(const struct fr__schedule *s, uint32_t rank)
{
    uint32_t r = s->n - s->power;

    if (rank >= 2 * r)
        return rank - r;
    return (rank % 2 == 0) == is_even_kept(s) ? rank / 2 : FR_NONE;
}

static uint32_t rank_of(const struct fr__schedule *s, uint32_t v)
{
    uint32_t r = s->n - s->power;

    return v < r ? 2 * v + !is_even_kept(s) : v + r;
}

static bool is_paired(const struct fr__schedule *s, uint32_t rank)
{
    return rank < 2 * (s->n - s->power);
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    struct at at = at_step(s, i);
    bool is_kept = (slot % 2 == 0) == is_even_kept(s), is_split = folds(s) == 2;

    switch (at.part) {
    case FOLD:
        out->n_sends = is_paired(s, slot) && (is_split || !is_kept);
        out->n_recvs = is_paired(s, slot) && (is_split || is_kept);
        break;
    case FOLD_BACK:
        out->n_sends = is_paired(s, slot) && !is_kept;
        out->n_recvs = is_paired(s, slot) && is_kept;
        break;
    case UNFOLD:
        out->n_sends = is_paired(s, slot) && is_kept;
        out->n_recvs = is_paired(s, slot) && !is_kept;
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

/* What rank v of the q holds after the halving's round of that distance (whose turn sends so many
 * pieces): of each round so far the half that one bit of v says. */
static struct range held_after(const struct fr__schedule *s, uint32_t v, struct at at)
{
    struct range r = {0, s->power};

    for (uint32_t i = 0; r.n > at.n_pieces; i++) {
        struct at round = at_halving(s, HALVE, i);

        r.n /= 2;
        r.first += v & round.distance ? r.n : 0;
    }
    return r;
}

static struct range range_of(const struct fr__schedule *s, uint32_t slot, struct at at)
{
    uint32_t half = s->power / 2, v = number_of(s, slot);

    switch (at.part) {
    case FOLD: /* split: the even one sends the upper half and keeps the lower one */
        if (folds(s) == 1)
            return (struct range){0, s->power};
        return (struct range){slot % 2 == 0 ? half : 0, half};
    case FOLD_BACK: /* what the odd one has summed */
        return (struct range){half, half};
    case HALVE: /* the partner's half of what is left */
        return held_after(s, v ^ at.distance, at);
    case DOUBLE:
        return held_after(s, v, at);
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
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .kinds = FR__FOR_ALL_REDUCE,
    .is_rendezvous = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
