/* collectives/algorithms/in_switch.c - all-reduce with sums made in switches: NVLS and SHARP.
 *
 * The switch is an entity behind the ranks. It waits for all contributions of a chunk and sends on
 * their sum, or sends what it gets to all.
 *
 * NVLS (NCCL 2.17 and later, src/transport/nvls.cc). Each rank of a machine is the head of a lane
 * with S/m bytes. All m ranks send the lane's chunk to the machine's NVSwitch, which hands the sum
 * to the head. The head sends the result back, and the switch hands it to all. Each rank sends and
 * receives S (1 + 1/m). On several machines each head has two lanes of
 * half the bytes, whose heads are joined by the first and by the second tree of nccl/trees.h
 * (NVLSTree).
 *
 * SHARP (R. Graham et al., COMHPC 2016): one network switch sums for all ranks. Each sends S once
 * and receives S once: t = 2 a + (1 + 1/c) S b with c chunks, a to or from the switch.
 */
#include "config.h"

#include "collectives/nccl/trees.h"
#include "collectives/algorithms/schedule.h"

#include <math.h>

/* Slots of a lane. Of a rank: its contribution, what it gets in the end, and of a head its way up
 * and down the tree. Of a switch: the sum, and what goes to all. */
enum { GIVE, GET, UP, DOWN, SLOTS_A_LANE };
enum { SUM = GIVE, SPREAD = GET };

static bool is_sharp(const struct fr__schedule *s)
{
    return s->algorithm == &fr__sharp_algorithm;
}

/* On several machines a head has a lane of each tree. */
static uint32_t lanes_a_head(const struct fr__schedule *s)
{
    return s->n > s->per_node ? 2 : 1;
}

static void shape(struct fr__schedule *s)
{
    s->n_lanes = is_sharp(s) ? 1 : s->per_node * lanes_a_head(s);
    s->n_entities = s->n + (is_sharp(s) ? 1 : s->n / s->per_node);
    s->n_slots = SLOTS_A_LANE * s->n_lanes;
    s->n_steps = 2 * s->n_chunks; /* a head waits for its switch, then for its children */
    s->n_pieces = s->n_lanes * s->n_chunks;
}

struct place {
    uint32_t entity, lane, what, node, n_summed;
    uint32_t first; /* rank of those that its switch sums */
    uint32_t head;  /* rank of the lane, in the same machine */
    bool is_switch, is_head;
    struct fr__tree_node tree; /* of a head's machine */
};

static struct place place_of(const struct fr__schedule *s, uint32_t slot)
{
    struct place p = {.entity = fr__slot_entity(s, slot)};
    uint32_t m = is_sharp(s) ? s->n : s->per_node;

    p.lane = fr__slot_lane(s, slot) / SLOTS_A_LANE;
    p.what = fr__slot_lane(s, slot) % SLOTS_A_LANE;
    p.is_switch = p.entity >= s->n;
    p.node = p.is_switch ? p.entity - s->n : p.entity / m;
    p.first = p.node * m;
    p.n_summed = m;
    p.head = p.first + (is_sharp(s) ? 0 : p.lane / lanes_a_head(s));
    p.is_head = !p.is_switch && !is_sharp(s) && p.entity == p.head;
    if (p.is_head)
        p.tree = fr__nccl_tree(s->n / m, p.lane % 2, p.node);
    return p;
}

static uint32_t n_children(const struct place *p)
{
    uint32_t n = p->tree.child[0] != FR__NO_NODE;

    return n + (p->tree.child[1] != FR__NO_NODE);
}

static void switch_step(const struct fr__schedule *s, const struct place *p, struct fr__step *out)
{
    out->is_relay = true;
    if (p->what == SUM) {
        out->n_recvs = p->n_summed;
        out->n_sends = 1;
    } else if (p->what == SPREAD) {
        out->n_recvs = 1;
        out->n_sends = p->n_summed;
    }
    (void)s;
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    struct place p = place_of(s, slot);

    if (p.what == UP && p.is_head) {
        out->is_relay = true;
        out->n_recvs = i % 2 ? n_children(&p) : 1;
        out->n_sends = i % 2;
    } else if (i % 2) {
        return;
    } else if (p.is_switch) {
        switch_step(s, &p, out);
    } else if (p.what == GIVE) {
        out->n_sends = 1;
    } else if (p.what == GET) {
        out->n_recvs = 1;
    } else if (p.is_head) {
        out->is_relay = true;
        out->n_recvs = 1;
        out->n_sends = 1 + n_children(&p);
    }
}

static uint32_t slot_of(const struct fr__schedule *s, uint32_t entity, const struct place *p,
                        uint32_t what)
{
    return entity * s->n_slots + p->lane * SLOTS_A_LANE + what;
}

static uint32_t switch_of(const struct fr__schedule *s, const struct place *p)
{
    return s->n + p->node;
}

/* Child k of a head, of those that it has. */
static uint32_t child(const struct fr__schedule *s, const struct place *p, uint32_t k)
{
    uint32_t node = p->tree.child[0] != FR__NO_NODE && k == 0 ? p->tree.child[0] : p->tree.child[1];

    return node * s->per_node + p->head % s->per_node;
}

static void send_from_switch(const struct fr__schedule *s, const struct place *p, uint32_t k,
                             struct fr__send *out)
{
    if (p->what == SPREAD)
        out->to = slot_of(s, p->first + k, p, GET);
    else if (is_sharp(s))
        out->to = slot_of(s, p->entity, p, SPREAD);
    else
        out->to = slot_of(s, p->head, p, UP);
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    struct place p = place_of(s, slot);

    out->bytes = s->bytes / s->n_pieces;
    out->to_step = i;
    if (p.is_switch) {
        send_from_switch(s, &p, k, out);
    } else if (p.what == GIVE) {
        out->to = slot_of(s, switch_of(s, &p), &p, SUM);
        out->is_sum = true;
    } else if (p.what == UP && p.tree.parent == FR__NO_NODE) {
        out->to = slot_of(s, p.entity, &p, DOWN);
        out->to_step = i - 1;
    } else if (p.what == UP) {
        out->to = slot_of(s, p.tree.parent * s->per_node + p.head % s->per_node, &p, UP);
        out->is_sum = true;
    } else if (k == 0) {
        out->to = slot_of(s, switch_of(s, &p), &p, SPREAD);
    } else {
        out->to = slot_of(s, child(s, &p, k - 1), &p, DOWN);
    }
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    (void)k;
    fn(user, place_of(s, slot).lane * s->n_chunks + i / 2);
}

/* Up to the switch and down, the way of the first chunk; then the slowest hop a chunk. */
static double alone(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user)
{
    double bytes = s->bytes / s->n_pieces, up_s = 0, down_s = 0, across_s = 0, most_s;
    uint32_t m = is_sharp(s) ? s->n : s->per_node, deepest = 0;

    for (uint32_t rank = 0; rank < s->n; rank++) {
        up_s = fmax(up_s, hop(user, rank, s->n + rank / m, bytes));
        down_s = fmax(down_s, hop(user, s->n + rank / m, rank, bytes));
    }
    most_s = fmax(up_s, down_s);
    if (is_sharp(s))
        return up_s + down_s + (s->n_chunks - 1) * most_s;
    for (uint32_t node = 1; node < s->n / m; node++)
        across_s = fmax(across_s, hop(user, node * m, 0, bytes));
    for (uint32_t tree = 0; tree < 2 && s->n > m; tree++) {
        uint32_t depth = fr__nccl_tree_depth(s->n / m, tree);

        deepest = depth > deepest ? depth : deepest;
    }
    most_s = fmax(most_s, across_s);
    return 2 * (up_s + down_s) + 2 * deepest * across_s + (s->n_chunks - 1) * most_s;
}

/* To each rank: of its own lanes the sums, of all lanes the results. */
static void switch_traffic(const struct fr__schedule *s, uint32_t entity, fr__traffic_fn *fn,
                           void *user)
{
    uint32_t m = is_sharp(s) ? s->n : s->per_node, first = (entity - s->n) * m;
    double n = s->n_lanes + (is_sharp(s) ? 0 : lanes_a_head(s));

    for (uint32_t i = 0; i < m; i++)
        fn(user, entity, first + i, n * s->n_chunks, s->bytes / s->n_pieces);
}

static void traffic(const struct fr__schedule *s, uint32_t entity, fr__traffic_fn *fn, void *user)
{
    uint32_t m = s->per_node, heads = is_sharp(s) ? 0 : lanes_a_head(s);
    double bytes = s->bytes / s->n_pieces;

    if (entity >= s->n) {
        switch_traffic(s, entity, fn, user);
        return;
    }
    fn(user, entity, s->n + (is_sharp(s) ? 0 : entity / m), (s->n_lanes + heads) * s->n_chunks,
       bytes);
    for (uint32_t lane = 0; lane < heads; lane++) {
        struct fr__tree_node t = fr__nccl_tree(s->n / m, lane % 2, entity / m);

        if (t.parent != FR__NO_NODE)
            fn(user, entity, t.parent * m + entity % m, s->n_chunks, bytes);
        for (uint32_t c = 0; c < 2; c++)
            if (t.child[c] != FR__NO_NODE)
                fn(user, entity, t.child[c] * m + entity % m, s->n_chunks, bytes);
    }
}

const struct fr__algorithm fr__nvls_algorithm = {
    .name = "nvls",
    .summary = "sums in the NVSwitch, double binary trees over the machines",
    .source = "NCCL 2.30 src/transport/nvls.cc, src/device/all_reduce.h",
    .kinds = FR__FOR_ALL_REDUCE,
    .is_pipeline = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
    .alone = alone,
    .traffic = traffic,
};

const struct fr__algorithm fr__sharp_algorithm = {
    .name = "sharp",
    .summary = "sums in one network switch",
    .source = "R. Graham et al., COMHPC 2016",
    .kinds = FR__FOR_ALL_REDUCE,
    .is_pipeline = true,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
    .alone = alone,
    .traffic = traffic,
};
