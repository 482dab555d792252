/* collectives/algorithms/tree.c - double binary trees over the machines, a chain inside each,
 * pipelined.
 *
 * As NCCL does (src/graph/connect.cc, src/device/all_reduce.h): sums go up a tree and come down it,
 * chunk by chunk. Each lane has a tree: even lanes the first, odd lanes the second of nccl/trees.h.
 * Lane l of per_node ranks has its chain begin at rank l/2 mod per_node of each machine, or goes in
 * the order that it is given (NCCL's searched channels). The chain's first rank has the parent and
 * the second child, its second rank the first child (NCCL's pattern BALANCED). A broadcast and a
 * reduce use one tree, from or to their root.
 *
 * Closed form, D edges from the deepest rank to the root, c chunks, where no two messages share a
 * link: an all-reduce of a lane with S bytes takes
 *   t = (2 D + c - 1) (a + S b / c),
 * a broadcast and a reduce D instead of 2 D. D <= ceil(log2 machines) (+ 1 for each turn into the
 * chain) + per_node - 1: it grows as the logarithm of the machines.
 */
#include "config.h"

#include "collectives/nccl/trees.h"
#include "collectives/algorithms/schedule.h"

#include <math.h>

enum { MOST_CHILDREN = 3 };

struct links {
    uint32_t parent; /* rank, or FR_NONE */
    uint32_t child[MOST_CHILDREN], n_children;
};

/* The tree of a lane stands on ranks as they are numbered from the root of a broadcast. */
struct frame {
    uint32_t lane, m, n_nodes, shift_node, shift_local;
    const uint32_t *order, *place; /* [m] of the lane's chain; NULL: by number from shift_local */
    bool is_one;                   /* a single tree, from the root */
};

static struct frame frame_of(const struct fr__schedule *s, uint32_t lane)
{
    struct frame f = {.lane = lane, .m = s->per_node, .n_nodes = s->n / s->per_node};

    f.is_one = s->kind != FR_ALL_REDUCE;
    f.shift_node = f.is_one ? s->root / f.m : 0;
    f.shift_local = f.is_one ? s->root % f.m : lane / 2 % f.m;
    f.order = s->order && !f.is_one ? s->order + (size_t)lane * f.m : NULL;
    f.place = f.order ? s->place + (size_t)lane * f.m : NULL;
    return f;
}

static uint32_t rank_at(const struct frame *f, uint32_t node, uint32_t in_chain)
{
    uint32_t local = f->order ? f->order[in_chain] : (in_chain + f->shift_local) % f->m;

    return (node + f->shift_node) % f->n_nodes * f->m + local;
}

/* Where in the chain a child of the tree over machines hangs. */
static uint32_t hook(const struct frame *f, uint32_t child_no)
{
    return child_no == 0 && f->m > 1 ? 1 : 0;
}

static struct links links_of(const struct frame *f, uint32_t rank)
{
    uint32_t node = (rank / f->m + f->n_nodes - f->shift_node) % f->n_nodes;
    uint32_t k = f->place ? f->place[rank % f->m] : (rank % f->m + f->m - f->shift_local) % f->m;
    struct fr__tree_node t = fr__nccl_tree(f->n_nodes, f->is_one ? 0 : f->lane % 2, node);
    struct links l = {.parent = FR_NONE};

    if (k > 0)
        l.parent = rank_at(f, node, k - 1);
    else if (t.parent != FR__NO_NODE)
        l.parent = rank_at(f, t.parent, hook(f, t.child_no));
    for (uint32_t c = 0; c < 2; c++)
        if (t.child[c] != FR__NO_NODE && k == hook(f, c))
            l.child[l.n_children++] = rank_at(f, t.child[c], 0);
    if (k + 1 < f->m)
        l.child[l.n_children++] = rank_at(f, node, k + 1);
    return l;
}

static void shape(struct fr__schedule *s)
{
    if (s->kind != FR_ALL_REDUCE)
        s->n_lanes = 1;
    s->n_lanes = s->n_lanes ? s->n_lanes : 2;
    s->n_slots = (s->kind == FR_ALL_REDUCE ? 2 : 1) * s->n_lanes;
    s->n_steps = s->n_chunks;
    s->n_pieces = s->n_lanes * s->n_chunks;
}

/* Slots of an all-reduce: lane by lane, up and then down. */
static bool is_down(const struct fr__schedule *s, uint32_t slot)
{
    if (s->kind != FR_ALL_REDUCE)
        return s->kind == FR_BROADCAST;
    return fr__slot_lane(s, slot) % 2 == 1;
}

static uint32_t lane_of(const struct fr__schedule *s, uint32_t slot)
{
    return s->kind == FR_ALL_REDUCE ? fr__slot_lane(s, slot) / 2 : fr__slot_lane(s, slot);
}

static struct links links_at(const struct fr__schedule *s, uint32_t slot)
{
    struct frame f = frame_of(s, lane_of(s, slot));

    return links_of(&f, fr__slot_entity(s, slot));
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    struct links l = links_at(s, slot);
    bool is_root = l.parent == FR_NONE;

    (void)i;
    out->is_relay = true;
    if (is_down(s, slot)) {
        out->n_recvs = !is_root || s->kind == FR_ALL_REDUCE;
        out->n_sends = l.n_children;
    } else {
        out->n_recvs = l.n_children;
        out->n_sends = !is_root || s->kind == FR_ALL_REDUCE;
    }
}

static double piece_bytes(const struct fr__schedule *s, uint32_t piece)
{
    return s->bytes * fr__lane_frac(s, piece / s->n_chunks) / s->n_chunks;
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    struct links l = links_at(s, slot);
    uint32_t in_entity = fr__slot_lane(s, slot);

    out->to_step = i;
    out->bytes = piece_bytes(s, lane_of(s, slot) * s->n_chunks);
    out->is_sum = !is_down(s, slot) && l.parent != FR_NONE;
    if (is_down(s, slot))
        out->to = l.child[k] * s->n_slots + in_entity;
    else if (l.parent != FR_NONE)
        out->to = l.parent * s->n_slots + in_entity;
    else /* the root turns */
        out->to = slot + 1;
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    (void)k;
    fn(user, lane_of(s, slot) * s->n_chunks + i);
}

/* Of a lane: the longest ways up and down, and the slowest hop. */
static double lane_alone(const struct fr__schedule *s, uint32_t lane, fr__alone_hop_fn *hop,
                         void *user)
{
    struct frame f = frame_of(s, lane);
    double bytes = piece_bytes(s, lane * s->n_chunks), up_s = 0, down_s = 0, most_s = 0;

    for (uint32_t rank = 0; rank < s->n; rank++) {
        double rise_s = 0, fall_s = 0;

        for (uint32_t at = rank, parent; (parent = links_of(&f, at).parent) != FR_NONE;
             at = parent) {
            double one_s = s->kind != FR_BROADCAST ? hop(user, at, parent, bytes) : 0;
            double other_s = s->kind != FR_REDUCE ? hop(user, parent, at, bytes) : 0;

            rise_s += one_s;
            fall_s += other_s;
            most_s = fmax(most_s, fmax(one_s, other_s));
        }
        up_s = fmax(up_s, rise_s);
        down_s = fmax(down_s, fall_s);
    }
    return up_s + down_s + (s->n_chunks - 1) * most_s;
}

static double alone(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user)
{
    double most_s = 0;

    for (uint32_t lane = 0; lane < s->n_lanes; lane++)
        most_s = fmax(most_s, lane_alone(s, lane, hop, user));
    return most_s;
}

static void traffic(const struct fr__schedule *s, uint32_t rank, fr__traffic_fn *fn, void *user)
{
    for (uint32_t lane = 0; lane < s->n_lanes; lane++) {
        struct frame f = frame_of(s, lane);
        struct links l = links_of(&f, rank);
        double bytes = piece_bytes(s, lane * s->n_chunks);

        if (s->kind != FR_BROADCAST && l.parent != FR_NONE)
            fn(user, rank, l.parent, s->n_chunks, bytes);
        for (uint32_t c = 0; s->kind != FR_REDUCE && c < l.n_children; c++)
            fn(user, rank, l.child[c], s->n_chunks, bytes);
    }
}

const struct fr__algorithm fr__tree_algorithm = {
    .name = "tree",
    .summary = "double binary trees over the machines, a chain inside each, chunk by chunk",
    .source = "P. Sanders, J. Speck, J. L. Traeff, Parallel Computing 35(12), 2009; NCCL 2.30 "
              "src/graph/trees.cc, connect.cc",
    .kinds = FR__FOR_ALL_REDUCE | FR__FOR_BROADCAST | FR__FOR_REDUCE,
    .is_pipeline = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
    .piece_bytes = piece_bytes,
    .alone = alone,
    .traffic = traffic,
};
