/* workloads/passes/gather.c - which parameters are gathered together, and where; the rules are in
 * gather.h, gather_emit.c writes the new graph. */
#include "config.h"

#include "workloads/passes/gather_parts.h"

#include "base/error.h"

#include <stdlib.h>

/* ---- what belongs to a unit ---- */

static void add_owner(struct fr__gathering *x, uint32_t owner, uint32_t unit)
{
    struct fr__gather_set *s = &x->units[unit].sets[fr__gather_set_of(x, owner)];

    s->bytes += x->g->ops[owner].param_bytes;
    if (x->g->ops[owner].packing != FR_PACK_NONE) {
        const uint64_t stored = fr_op_stored_bytes(x->g, &x->g->ops[owner]);

        s->packed_bytes += x->g->ops[owner].param_bytes;
        s->stored_bytes += stored;
        s->kept_bytes += (double)stored;
    } else {
        s->kept_bytes += x->in->kept_of ? x->in->kept_of[owner]
                                        : (double)x->g->ops[owner].param_bytes * x->in->kept;
    }
    if (s->owner == FR_NONE)
        s->owner = owner;
}

/* Whether the tie is the first of its parameters in a unit that is not the owner's. */
static bool is_first_foreign(const struct fr__gathering *x, uint32_t tie)
{
    const struct fr_edge *e = &x->g->edges[tie];
    uint32_t unit = fr__gather_unit_for(x, e->src, e->dst);

    if (unit == fr__gather_unit_of(x, e->src))
        return false;
    for (uint32_t k = x->g->out_first[e->src]; k < tie; k++)
        if (fr__edge_is_tie(&x->g->edges[k]) &&
            fr__gather_unit_for(x, e->src, x->g->edges[k].dst) == unit)
            return false;
    return true;
}

static void add_parameters(struct fr__gathering *x)
{
    for (uint32_t o = 0; o < x->g->n_ops; o++) {
        if (!fr__gather_owns(&x->g->ops[o]) || !fr__gather_is_shared(x, o))
            continue;
        if (fr__gather_unit_from(x, o) == FR_NONE)
            continue; /* not trained: it stays whole */
        add_owner(x, o, fr__gather_unit_from(x, o));
        if (x->in->keeps_parameters)
            continue;
        for (uint32_t i = x->g->out_first[o]; i < x->g->out_first[o + 1]; i++)
            if (fr__edge_is_tie(&x->g->edges[i]) && is_first_foreign(x, i))
                add_owner(x, o, fr__gather_unit_for(x, o, x->g->edges[i].dst));
    }
}

/* ---- gradients ---- */

static void find_gradients(struct fr__gathering *x, bool is_trained[])
{
    for (size_t i = 0; i < x->g->n_edges; i++) {
        const struct fr_edge *e = &x->g->edges[i];
        struct fr__gather_set *s = fr__gather_of_update(x, i);
        uint32_t owner = x->g->ops[e->dst].forward;

        if (!s)
            continue;
        if (s->ready == FR_NONE || s->ready < e->src)
            s->ready = e->src;
        if (!is_trained[owner])
            s->trained_bytes += x->g->ops[owner].param_bytes;
        is_trained[owner] = true;
    }
}

/* ---- places ---- */

static void come_before(struct fr__gathering *x, uint32_t op, uint32_t unit, uint32_t set)
{
    unsigned side = fr__gather_is_backward(&x->g->ops[op]);

    (void)set;
    if (op < x->units[unit].first[side])
        x->units[unit].first[side] = op;
}

static void find_places(struct fr__gathering *x)
{
    for (uint32_t o = 0; o < x->g->n_ops; o++) {
        const struct fr_op *op = &x->g->ops[o];
        unsigned side = fr__gather_is_backward(op);
        struct fr__gather_unit *u = &x->units[fr__gather_unit_of(x, o)];

        if (op->phase != FR_PHASE_FORWARD && side == FR__SIDE_FORWARD)
            continue;
        if (o < u->first[side])
            u->first[side] = o;
        if (u->last[side] == FR_NONE || op->phase != FR_PHASE_BACKWARD_WEIGHT)
            u->last[side] = o;
        fr__gather_for_sets(x, o, come_before);
    }
}

struct place {
    uint32_t first, unit;
};

static int by_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* Whether it is the last unit of the forward pass, and stays for its backward pass. The forward
 * side has been ordered. */
static bool is_kept_last(const struct fr__gathering *x, const struct fr__gather_unit *u)
{
    size_t n = x->n_ordered[FR__SIDE_FORWARD];

    while (n > 0 && x->units[x->order[FR__SIDE_FORWARD][n - 1]].is_root)
        n--;
    return x->in->keeps_last && n > 0 && u == &x->units[x->order[FR__SIDE_FORWARD][n - 1]];
}

static bool is_gathered(const struct fr__gathering *x, const struct fr__gather_unit *u,
                        unsigned side)
{
    if (x->in->keeps_parameters ||
        u->sets[FR__GATHER_DENSE].bytes + u->sets[FR__GATHER_EXPERTS].bytes == 0 ||
        u->first[side] == FR_NONE)
        return false;
    return side == FR__SIDE_FORWARD || (!u->is_root && x->in->reshards && !is_kept_last(x, u));
}

static void order_side(struct fr__gathering *x, unsigned side, struct place places[])
{
    size_t n = 0;

    for (uint32_t u = 0; u < x->n_units; u++)
        if (is_gathered(x, &x->units[u], side))
            places[n++] = (struct place){x->units[u].first[side], u};
    qsort(places, n, sizeof(*places), by_first);
    for (size_t i = 0; i < n; i++)
        x->order[side][i] = places[i].unit;
    x->n_ordered[side] = n;
    while (n-- > 0) {
        uint32_t *at = &x->gather_at[side][places[n].first];

        x->units[places[n].unit].next_at[side] = *at;
        *at = places[n].unit;
    }
}

static void place_scatters(struct fr__gathering *x)
{
    for (uint32_t u = (uint32_t)x->n_units; u-- > 0;) {
        uint32_t ready = FR_NONE;

        for (unsigned k = 0; k < FR__N_GATHER_SETS; k++) {
            uint32_t r = x->units[u].sets[k].ready;

            if (r != FR_NONE && (ready == FR_NONE || r > ready))
                ready = r;
        }
        if (ready == FR_NONE)
            continue;
        x->units[u].next_scatter = x->scatter_at[ready];
        x->scatter_at[ready] = u;
    }
}

/* ---- the whole ---- */

static bool has_buckets(const struct fr__gathering *x)
{
    return x->in->keeps_parameters && !x->in->is_cut;
}

static void begin_units(struct fr__gathering *x)
{
    for (size_t u = 0; u < x->n_units; u++) {
        x->units[u] =
            (struct fr__gather_unit){.first = {FR_NONE, FR_NONE},
                                     .last = {FR_NONE, FR_NONE},
                                     .next_at = {FR_NONE, FR_NONE},
                                     .next_scatter = FR_NONE,
                                     .is_root = !has_buckets(x) && u >= x->in->units->n_units};
        for (unsigned k = 0; k < FR__N_GATHER_SETS; k++)
            x->units[u].sets[k] = (struct fr__gather_set){
                .owner = FR_NONE,
                .ready = FR_NONE,
                .reader = FR_NONE,
                .gather = {{FR_NONE, FR_NONE}, {FR_NONE, FR_NONE}},
                .scatter = {FR_NONE, FR_NONE},
                .unpack = {FR_NONE, FR_NONE},
                .pack = FR_NONE,
                .sum = {FR_NONE, FR_NONE},
            };
    }
}

/* At most. */
static size_t count_units(const struct fr__gathering *x)
{
    if (has_buckets(x))
        return x->g->n_ops;
    return x->in->units->n_units + (x->in->is_cut ? x->g->n_layers : 1);
}

static bool allocate(struct fr__gathering *x)
{
    size_t n_ops = x->g->n_ops;

    x->n_units = count_units(x);
    x->units = fr__arena_take(x->w.scratch, x->n_units, sizeof(*x->units));
    x->scatter_at = fr__arena_nones(x->w.scratch, n_ops);
    for (unsigned side = 0; side < FR__N_SIDES; side++) {
        x->order[side] = fr__arena_nones(x->w.scratch, x->n_units);
        x->gather_at[side] = fr__arena_nones(x->w.scratch, n_ops);
        if (!x->order[side] || !x->gather_at[side])
            return false;
    }
    return x->units && x->scatter_at;
}

static enum fr_status find(struct fr__gathering *x, struct fr_error *err)
{
    bool *is_trained = fr__arena_alloc(x->w.scratch, x->g->n_ops, sizeof(*is_trained));
    struct place *places = fr__arena_alloc(x->w.scratch, x->n_units, sizeof(*places));
    uint64_t trained = 0;

    if (!is_trained || !places)
        return fr__fail_nomem(err);
    begin_units(x);
    if (has_buckets(x) && !fr__gather_fill_buckets(x))
        return fr__fail_nomem(err);
    add_parameters(x);
    find_gradients(x, is_trained);
    for (size_t u = 0; u < x->n_units; u++)
        for (unsigned k = 0; k < FR__N_GATHER_SETS; k++)
            trained += x->units[u].sets[k].trained_bytes;
    if (trained == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "workload '%s' has no updates of parameters, so they cannot be shared out",
                        x->g->name);
    if (!has_buckets(x))
        find_places(x);
    for (unsigned side = 0; side < FR__N_SIDES; side++)
        order_side(x, side, places);
    place_scatters(x);
    return FR_OK;
}

/* The messages of the given graph stay. */
static void keep_messages(struct fr__gathering *x)
{
    const struct fr__sharded *s = x->in->sharded;

    for (size_t k = 0; s && k < s->n_comms; k++) {
        struct fr__comm comm = s->comms[k];

        comm.op = x->w.now.op[comm.op];
        fr__messages_add(&x->messages, &x->w, comm);
    }
}

static enum fr_status gather(struct fr__gathering *x, struct fr__sharded *out, struct fr_error *err)
{
    const struct fr__sharded_end end = {
        .given = x->in->sharded, .n_axes = x->in->n_axes, .messages = &x->messages};

    if (!allocate(x))
        return fr__fail_nomem(err);
    FR_TRY(find(x, err));
    fr__gather_emit(x);
    keep_messages(x);
    return fr__sharded_finish(out, &x->w, &end, err);
}

enum fr_status fr__gather(struct fr__sharded *out, const struct fr__gather_problem *in,
                          struct fr_error *err)
{
    struct fr__gathering x = {.in = in, .g = in->graph};
    enum fr_status st;

    FR_TRY(fr__rewriter_init(&x.w, in->graph, err));
    st = gather(&x, out, err);
    fr__rewriter_fini(&x.w);
    free(x.messages.comms);
    return st;
}
