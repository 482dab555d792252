/* collectives/algorithms/hierarchical.c - collectives in phases: inside the machines and across
 * them.
 *
 * M machines of m ranks. Two kinds of all-reduce (P. Goyal et al., Accurate, Large Minibatch SGD,
 * arXiv:1706.02677, section 4; NVIDIA's and Horovod's hierarchical all-reduce):
 *   two-level     one rank of each machine sums its machine (binomial tree), these sum among each
 *                 other, and hand the result out: t = 2 ceil(log2 m) (a + S b) + A(M, S);
 *   hierarchical  reduce-scatter in each machine, m all-reduces of S/m side by side, one a rail,
 *                 all-gather in each machine:
 *                 t = 2 (m - 1) (a1 + S b1 / m) + A(M, S/m).
 * A is halving-doubling (halving.c), or in the variants "-ring" rings: 2 (M - 1) (a + S b / M).
 * An all-gather goes across first and then inside, a reduce-scatter the other way, both by rings.
 *
 * Each phase is a schedule of its own on part of the ranks, whose steps follow those of the phase
 * before.
 */
#include "config.h"

#include "collectives/algorithms/schedule.h"

enum { MOST_PHASES = 3 };

struct phase {
    struct fr__schedule sub; /* on the ranks of one group */
    uint32_t first_step;
    bool is_inside;  /* a group is a machine; else the ranks of one number in all machines */
    bool is_leaders; /* only those of number 0 */
};

static bool is_two_level(const struct fr__schedule *s)
{
    return s->algorithm == &fr__two_level_algorithm ||
           s->algorithm == &fr__two_level_ring_algorithm;
}

static const struct fr__algorithm *across(const struct fr__schedule *s)
{
    bool is_ring = s->kind != FR_ALL_REDUCE || s->algorithm == &fr__two_level_ring_algorithm ||
                   s->algorithm == &fr__hierarchical_ring_algorithm;

    return is_ring ? &fr__ring_algorithm : &fr__halving_algorithm;
}

static struct phase phase_of(const struct fr__algorithm *a, enum fr_collective_kind kind,
                             uint32_t n, double bytes, bool is_inside)
{
    struct phase p = {.is_inside = is_inside};

    p.sub = (struct fr__schedule){.algorithm = a, .kind = kind, .n = n, .bytes = bytes};
    p.sub.per_node = p.sub.n_chunks = p.sub.n_slots = 1;
    p.sub.n_entities = n;
    a->shape(&p.sub);
    if (n < 2)
        p.sub.n_steps = 0;
    return p;
}

static uint32_t phases_of(const struct fr__schedule *s, struct phase out[MOST_PHASES])
{
    uint32_t m = s->per_node, n_nodes = s->n / m, n = 0, step = 0;
    const struct fr__algorithm *ring = &fr__ring_algorithm, *tree = &fr__binomial_algorithm;

    if (is_two_level(s)) {
        out[n++] = phase_of(tree, FR_REDUCE, m, s->bytes, true);
        out[n++] = phase_of(across(s), FR_ALL_REDUCE, n_nodes, s->bytes, false);
        out[n - 1].is_leaders = true;
        out[n++] = phase_of(tree, FR_BROADCAST, m, s->bytes, true);
    } else if (s->kind == FR_ALL_REDUCE) {
        out[n++] = phase_of(ring, FR_REDUCE_SCATTER, m, s->bytes, true);
        out[n++] = phase_of(across(s), FR_ALL_REDUCE, n_nodes, s->bytes / m, false);
        out[n++] = phase_of(ring, FR_ALL_GATHER, m, s->bytes, true);
    } else if (s->kind == FR_ALL_GATHER) {
        out[n++] = phase_of(ring, FR_ALL_GATHER, n_nodes, s->bytes / m, false);
        out[n++] = phase_of(ring, FR_ALL_GATHER, m, s->bytes, true);
    } else {
        out[n++] = phase_of(ring, FR_REDUCE_SCATTER, m, s->bytes, true);
        out[n++] = phase_of(ring, FR_REDUCE_SCATTER, n_nodes, s->bytes / m, false);
    }
    for (uint32_t i = 0; i < n; i++) {
        out[i].first_step = step;
        step += out[i].sub.n_steps;
    }
    return n;
}

/* Pieces of what goes across: those of one rail, or of all data where leaders alone go. */
static uint32_t across_pieces(const struct phase p[], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!p[i].is_inside)
            return p[i].sub.n_pieces;
    return 1;
}

static void shape(struct fr__schedule *s)
{
    struct phase p[MOST_PHASES];
    uint32_t n = phases_of(s, p);

    s->n_steps = p[n - 1].first_step + p[n - 1].sub.n_steps;
    s->n_pieces = across_pieces(p, n) * (is_two_level(s) ? 1 : s->per_node);
}

/* The phase of a step, and where the rank stands in it. */
struct at {
    struct phase p;
    uint32_t slot, step, pieces; /* of the phase's schedule; pieces that go across */
    bool is_in;
};

static struct at at_step(const struct fr__schedule *s, uint32_t rank, uint32_t i)
{
    struct phase p[MOST_PHASES];
    uint32_t n = phases_of(s, p), k = 0;
    struct at at;

    while (k + 1 < n && i >= p[k + 1].first_step)
        k++;
    at.p = p[k];
    at.slot = p[k].is_inside ? rank % s->per_node : rank / s->per_node;
    at.step = i - p[k].first_step;
    at.pieces = across_pieces(p, n);
    at.is_in = !p[k].is_leaders || rank % s->per_node == 0;
    return at;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    struct at at = at_step(s, slot, i);

    if (at.is_in)
        at.p.sub.algorithm->step(&at.p.sub, at.slot, at.step, out);
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    struct at at = at_step(s, slot, i);
    uint32_t m = s->per_node;

    at.p.sub.algorithm->send(&at.p.sub, at.slot, at.step, k, out);
    out->to = at.p.is_inside ? slot - slot % m + out->to : out->to * m + slot % m;
    out->to_step += at.p.first_step;
}

struct spread {
    const struct fr__schedule *s;
    const struct at *at;
    uint32_t rail;
    fr__piece_fn *fn;
    void *user;
};

/* A piece of the phase's schedule, as pieces of ours: piece = rail * pieces + piece across. */
static void spread_piece(void *user, uint32_t piece)
{
    const struct spread *to = user;
    uint32_t n = to->at->pieces;

    if (to->at->p.is_inside)
        for (uint32_t j = 0; j < n; j++)
            to->fn(to->user, piece * n + j);
    else
        to->fn(to->user, to->rail * n + piece);
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    struct at at = at_step(s, slot, i);
    struct spread to = {s, &at, is_two_level(s) ? 0 : slot % s->per_node, fn, user};

    at.p.sub.algorithm->carry(&at.p.sub, at.slot, at.step, k, spread_piece, &to);
}

static uint32_t owner(const struct fr__schedule *s, uint32_t piece)
{
    uint32_t n_nodes = s->n / s->per_node;

    return piece % n_nodes * s->per_node + piece / n_nodes;
}

#define PHASED(...)                                                                                \
    {                                                                                              \
        .is_rendezvous = true, .shape = shape, .step = step, .send = send, .carry = carry,         \
        .owner = owner, __VA_ARGS__                                                                \
    }

const struct fr__algorithm fr__hierarchical_algorithm =
    PHASED(.name = "hierarchical",
           .summary =
               "reduce-scatter inside machines, halving-doubling across on every rail, all-gather",
           .source = "P. Goyal et al., arXiv:1706.02677, section 4",
           .kinds = FR__FOR_ALL_REDUCE | FR__FOR_ALL_GATHER | FR__FOR_REDUCE_SCATTER);

const struct fr__algorithm fr__hierarchical_ring_algorithm =
    PHASED(.name = "hierarchical-ring",
           .summary = "reduce-scatter inside machines, rings across on every rail, all-gather",
           .source = "P. Goyal et al., arXiv:1706.02677, section 4", .kinds = FR__FOR_ALL_REDUCE);

const struct fr__algorithm fr__two_level_algorithm =
    PHASED(.name = "two-level",
           .summary = "sum to one rank a machine, halving-doubling among these, broadcast inside",
           .source = "P. Goyal et al., arXiv:1706.02677, section 4", .kinds = FR__FOR_ALL_REDUCE);

const struct fr__algorithm fr__two_level_ring_algorithm =
    PHASED(.name = "two-level-ring",
           .summary = "sum to one rank a machine, a ring of these, broadcast inside",
           .source = "P. Goyal et al., arXiv:1706.02677, section 4", .kinds = FR__FOR_ALL_REDUCE);
