/* collectives/algorithms/bucket.c - the bucket algorithm: rings along every dimension of a
 * torus, both ways.
 *
 * E. Chan, M. Heimlich, A. Purkayastha and R. van de Geijn, Concurrency and Computation 19(13),
 * 2007 (bucket algorithms on meshes). Ranks stand in a torus of D dimensions. The data are cut into
 * 2 D parts, for each first dimension and each direction one. Part p reduce-scatters along
 * dimension p, then p + 1, ..., and all-gathers back, so that all links carry data all the time.
 * Equal sides a, N = a^D:
 *   t = 2 D (a - 1) a' + 2 (N - 1)/N S b / (2 D),   a' the latency of a hop;
 * with other sides each step takes as long as the slowest part. One dimension: a ring both ways.
 * The sides are those of the links (collectives/grid.h), and a machine's ranks one more.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

static uint32_t n_dims(const struct fr__schedule *s)
{
    return s->n_dims ? s->n_dims : 1;
}

static uint32_t side(const struct fr__schedule *s, uint32_t dim)
{
    return s->n_dims ? s->dims[dim] : s->n;
}

static uint32_t stride(const struct fr__schedule *s, uint32_t dim)
{
    uint32_t stride = 1;

    for (uint32_t i = 0; i < dim; i++)
        stride *= side(s, i);
    return stride;
}

static const char *refuse(const struct fr__schedule *s)
{
    uint32_t n = 1;

    if (s->n_dims > FR__MOST_DIMS)
        return "too many dimensions";
    for (uint32_t i = 0; i < s->n_dims; i++) {
        if (s->dims[i] == 0 || s->dims[i] > s->n / n)
            return "the sides of the torus do not multiply to the ranks";
        n *= s->dims[i];
    }
    return s->n_dims && n != s->n ? "the sides of the torus do not multiply to the ranks" : NULL;
}

static void shape(struct fr__schedule *s)
{
    uint32_t rounds = 0;

    for (uint32_t i = 0; i < n_dims(s); i++)
        rounds += side(s, i) - 1;
    s->n_slots = 2 * n_dims(s);
    s->n_steps = (s->kind == FR_ALL_REDUCE ? 2 : 1) * rounds;
    s->n_pieces = s->n_slots * s->n;
}

/* What a part does in a step. */
struct at {
    uint32_t part, turn, dim, round; /* turn: of the part's dimensions, this one */
    bool is_up, is_sum;
};

static struct at at_step(const struct fr__schedule *s, uint32_t slot, uint32_t i)
{
    uint32_t lane = fr__slot_lane(s, slot), d = n_dims(s);
    uint32_t rounds = s->n_steps / (s->kind == FR_ALL_REDUCE ? 2 : 1);
    struct at at = {.part = lane / 2, .is_up = lane % 2 == 0};

    at.is_sum = s->kind == FR_REDUCE_SCATTER || (s->kind == FR_ALL_REDUCE && i < rounds);
    i %= rounds;
    for (uint32_t j = 0; j < d; j++) {
        at.turn = at.is_sum ? j : d - 1 - j;
        at.dim = (at.part + at.turn) % d;
        if (i < side(s, at.dim) - 1)
            break;
        i -= side(s, at.dim) - 1;
    }
    at.round = i;
    return at;
}

static uint32_t coordinate(const struct fr__schedule *s, uint32_t rank, uint32_t dim)
{
    return rank / stride(s, dim) % side(s, dim);
}

static uint32_t moved(const struct fr__schedule *s, uint32_t rank, uint32_t dim, uint32_t to)
{
    return rank + (to - coordinate(s, rank, dim)) * stride(s, dim); /* modulo 2^32: exact */
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    (void)s, (void)slot, (void)i;
    out->n_sends = out->n_recvs = 1;
}

/* Whether a message has blocks of all coordinates in the dimension of that turn: those still whole
 * before a reduce-scatter, or whole again after an all-gather. */
static bool is_whole(const struct at *at, uint32_t turn)
{
    return turn > at->turn;
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    struct at at = at_step(s, slot, i);
    uint32_t rank = fr__slot_entity(s, slot), a = side(s, at.dim), d = n_dims(s);
    uint32_t c = coordinate(s, rank, at.dim);
    double n_blocks = 1;

    (void)k;
    for (uint32_t turn = 0; turn < d; turn++)
        n_blocks *= is_whole(&at, turn) ? side(s, (at.part + turn) % d) : 1;
    out->to = moved(s, rank, at.dim, (c + (at.is_up ? 1 : a - 1)) % a) * s->n_slots +
              fr__slot_lane(s, slot);
    out->to_step = i;
    out->bytes = s->bytes * n_blocks / s->n_pieces;
    out->is_sum = at.is_sum;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    struct at at = at_step(s, slot, i);
    uint32_t rank = fr__slot_entity(s, slot), a = side(s, at.dim), d = n_dims(s);
    uint32_t back = at.round + at.is_sum, c = coordinate(s, rank, at.dim);
    uint32_t first = moved(s, rank, at.dim, at.is_up ? (c + a - back) % a : (c + back) % a);

    (void)k;
    for (uint32_t block = 0; block < s->n; block++) {
        bool is_ours = true;

        for (uint32_t turn = 0; turn < d && is_ours; turn++) {
            uint32_t dim = (at.part + turn) % d;

            is_ours = is_whole(&at, turn) || coordinate(s, block, dim) == coordinate(s, first, dim);
        }
        if (is_ours)
            fn(user, fr__slot_lane(s, slot) * s->n + block);
    }
}

const struct fr__algorithm fr__bucket_algorithm = {
    .name = "bucket",
    .summary = "rings along every dimension, both ways, all at once",
    .source = "E. Chan et al., Concurrency and Computation 19(13), 2007",
    .kinds = FR__FOR_ALL_REDUCE | FR__FOR_ALL_GATHER | FR__FOR_REDUCE_SCATTER,
    .is_rendezvous = true,
    .is_symmetric = true,
    .is_on_grid = true,
    .refuse = refuse,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
};
