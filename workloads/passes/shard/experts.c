/* workloads/passes/shard/experts.c - experts on ranks of their own, and the tokens' way there.
 *
 * A rank holds n/ep of a layer's n experts; the ops of the others are left out of its graph. After
 * the dispatch one all-to-all brings each expert the rows that all ranks have for it, before the
 * combine another brings them back, and the backward pass mirrors both: four of tokens a layer, and
 * two of the weights that the router gave them (Megatron-LM, transformer/moe/token_dispatcher.py).
 * etp ranks share each expert, as one more axis that exists between the two all-to-alls only: the
 * rows of its ranks are gathered before the first products, and what the last products leave is
 * summed and scattered again, all experts of a rank in one message.
 *
 * Where tokens are not shared evenly, the busiest rank sets the time of an all-to-all, so its bytes
 * are what that rank receives.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const struct fr__shard_experts *experts(const struct fr__sharding *s)
{
    return &s->in->experts;
}

static bool is_dispatch(const struct fr_op *op)
{
    return op->kind == FR_OP_GATHER && op->n_tensors > 1;
}

/* ---- which experts ---- */

static const struct fr_op *forward_of(const struct fr__sharding *s, uint32_t op)
{
    const struct fr_op *o = &s->g->ops[op];

    return o->phase <= FR_PHASE_FORWARD || o->forward == FR_NONE ? o : &s->g->ops[o->forward];
}

/* The expert whose rows tensor t holds, also on the way to it and from it; FR_NONE. */
static uint32_t expert_of_tensor(const struct fr__sharding *s, uint32_t t)
{
    uint32_t like = s->twin[t];
    const struct fr_op *op;

    if (!s->expert_of || like == FR_NONE)
        return FR_NONE;
    op = &s->g->ops[s->g->tensors[like].op];
    return is_dispatch(op) ? like - op->first_tensor : s->expert_of[s->g->tensors[like].op];
}

/* Experts of the layer, and rows of them all, by a tensor of one of them: from the dispatch that it
 * comes from. */
static uint32_t dispatch_of(const struct fr__sharding *s, uint32_t op)
{
    while (!is_dispatch(&s->g->ops[op])) {
        uint32_t next = s->dispatch_of[op];

        if (next == op || next == FR_NONE)
            return FR_NONE;
        op = next;
    }
    return op;
}

bool fr__sharding_is_elsewhere(const struct fr__sharding *s, uint32_t op)
{
    uint32_t f = (uint32_t)(forward_of(s, op) - s->g->ops), expert, n;

    if (!s->expert_of || s->expert_of[f] == FR_NONE)
        return false;
    expert = s->expert_of[f];
    n = s->g->ops[dispatch_of(s, f)].n_tensors / experts(s)->ep;
    return expert / n != experts(s)->coord;
}

/* ---- how many rows ---- */

/* Rows that expert `e` of the dispatch gets, over those of the given graph. */
static double share(const struct fr__sharding *s, uint32_t dispatch, uint32_t e)
{
    const struct fr_op *op = &s->g->ops[dispatch];
    const struct fr_tensor *t = &s->g->tensors[op->first_tensor];
    uint32_t ep = experts(s)->ep;
    double rows = 0, ratio = 1;

    for (uint32_t k = 0; k < op->n_tensors; k++)
        rows += t[k].dims[1];
    if (experts(s)->is_balanced && t[e].dims[1])
        ratio = rows / op->n_tensors / t[e].dims[1];
    if (ep > 1)
        ratio *=
            e / (op->n_tensors / ep) == 0 ? experts(s)->skew : (ep - experts(s)->skew) / (ep - 1);
    return ratio;
}

double fr__sharding_rows(const struct fr__sharding *s, uint32_t t)
{
    uint32_t e = expert_of_tensor(s, t), op;
    double all = s->is_raw ? 1 : (double)experts(s)->ep * experts(s)->etp;

    if (e == FR_NONE)
        return 1;
    op = dispatch_of(s, s->g->tensors[s->twin[t]].op);
    return op == FR_NONE ? 1 : share(s, op, e) * all;
}

double fr__sharding_rows_of_op(const struct fr__sharding *s, uint32_t f)
{
    uint32_t dispatch;

    if (!s->expert_of || s->expert_of[f] == FR_NONE)
        return 1;
    dispatch = dispatch_of(s, f);
    return share(s, dispatch, s->expert_of[f]) * experts(s)->ep * experts(s)->etp;
}

/* ---- the way there and back ---- */

/* Whether op o (forward op f) writes what goes to experts: a dispatch, or the gradients of a
 * combine. */
bool fr__sharding_sends(const struct fr__sharding *s, uint32_t o)
{
    const struct fr_op *op = &s->g->ops[o], *f = forward_of(s, o);

    if (!s->expert_of)
        return false;
    if (fr__sharding_runs_forward(op))
        return is_dispatch(f);
    return op->phase == FR_PHASE_BACKWARD_DATA && f->kind == FR_OP_SCATTER &&
           op->kind == FR_OP_SCATTER;
}

bool fr__sharding_receives(const struct fr__sharding *s, uint32_t o)
{
    const struct fr_op *op = &s->g->ops[o], *f = forward_of(s, o);

    if (!s->expert_of)
        return false;
    if (fr__sharding_runs_forward(op))
        return f->kind == FR_OP_SCATTER;
    return op->phase == FR_PHASE_BACKWARD_DATA && is_dispatch(f) && op->kind == FR_OP_GATHER;
}

/* Rows of tensor t that a rank has on its own side of the messages (its tokens, for this expert); on
 * the way between two messages; and in the experts' ops. */
enum side { AT_HOME, BETWEEN, AT_EXPERT };

static struct fr_tensor on_side(struct fr__sharding *s, uint32_t t, const int8_t at[],
                                enum side side)
{
    int8_t there[FR__MAX_AXES];
    struct fr_tensor out;

    memcpy(there, at, s->n_axes);
    if (s->etp_axis < s->n_axes)
        there[s->etp_axis] = side == BETWEEN ? 1 : FR__WHOLE;
    s->is_raw = side == AT_HOME;
    out = fr__sharding_local_tensor(s, t, there);
    s->is_raw = false;
    out.alias = FR_NONE;
    return out;
}

static double sum_of(const struct fr_tensor t[], size_t n)
{
    double bytes = 0;

    for (size_t k = 0; k < n; k++)
        bytes += (double)t[k].bytes;
    return bytes;
}

/* What moves together: tensors of one op, in the placement `at` of their first. */
struct load {
    uint32_t *tensors;     /* [n] given */
    struct fr__version *v; /* [n] where they are now */
    struct fr_tensor *out; /* [n] room for what a message writes */
    size_t n;
};

static bool make_room(struct fr__sharding *s, struct load *l, size_t n)
{
    l->tensors = fr__arena_alloc(s->arena, n, sizeof(*l->tensors));
    l->v = fr__arena_alloc(s->arena, n, sizeof(*l->v));
    l->out = fr__arena_alloc(s->arena, n, sizeof(*l->out));
    if (!l->tensors || !l->v || !l->out)
        s->is_out_of_memory = true;
    return !s->is_out_of_memory;
}

/* One message on behalf of op o takes `from` to `to`, tensors that are on `side` then. bytes: 0: of
 * what it reads. */
static void move(struct fr__sharding *s, uint32_t o, enum fr_op_kind kind, uint32_t axis,
                 const struct load *from, struct load *to, enum side side)
{
    enum fr__pass pass = fr__sharding_pass(&s->g->ops[o]);
    struct fr_op op =
        fr__sharding_moving_op(s, o, kind, axis == FR__AXIS_EXPERTS ? "ep" : "etp", pass);
    double bytes = 0;
    uint32_t id;

    for (size_t k = 0; k < to->n; k++)
        to->out[k] = on_side(s, to->tensors[k], from->v[0].at, side);
    for (size_t k = 0; k < from->n; k++)
        bytes += (double)from->v[k].bytes;
    op.scales = to->n > 0 && to->out[0].scales;
    id = fr__sharding_add_op(s, o, &op, to->out, to->n);
    for (size_t k = 0; k < from->n && !s->is_out_of_memory; k++)
        fr_graph_builder_edge(s->b, from->v[k].op, id, from->v[k].tensor, from->v[k].bytes);
    if (kind == FR_OP_ALL_GATHER)
        bytes = sum_of(to->out, to->n);
    if (kind == FR_OP_ALL_TO_ALL)
        bytes = (side == AT_HOME ? sum_of(to->out, to->n) : bytes) * experts(s)->skew;
    if (kind != FR_OP_SLICE)
        fr__sharding_note_message(s, id, axis, bytes, op.scales);
    for (size_t k = 0; k < to->n; k++) {
        to->v[k] = from->v[0];
        to->v[k].op = id;
        to->v[k].tensor = s->n_tensors - (uint32_t)(to->n - k);
        to->v[k].bytes = to->out[k].bytes;
    }
}

static bool is_here(const struct fr__sharding *s, uint32_t t)
{
    uint32_t e = expert_of_tensor(s, t), op = dispatch_of(s, s->g->tensors[s->twin[t]].op);

    return e / (s->g->ops[op].n_tensors / experts(s)->ep) == experts(s)->coord;
}

void fr__sharding_send(struct fr__sharding *s, uint32_t o, const int8_t *at)
{
    const struct fr_op *op = &s->g->ops[o];
    struct load home = {.n = op->n_tensors}, here = {.n = 0};

    if (s->is_out_of_memory || !make_room(s, &home, home.n) || !make_room(s, &here, home.n))
        return;
    for (uint32_t k = 0; k < op->n_tensors; k++) {
        uint32_t t = op->first_tensor + k;

        home.tensors[k] = t;
        home.v[k] = (struct fr__version){.op = s->n_ops - 1,
                                         .tensor = s->n_tensors - op->n_tensors + k,
                                         .bytes = on_side(s, t, at, AT_HOME).bytes};
        memcpy(home.v[k].at, &at[k * s->n_axes], s->n_axes);
        if (is_here(s, t))
            here.tensors[here.n++] = t;
    }
    if (experts(s)->ep > 1)
        move(s, o, FR_OP_ALL_TO_ALL, FR__AXIS_EXPERTS, &home, &here, BETWEEN);
    else
        here = home;
    if (experts(s)->etp > 1)
        move(s, o, FR_OP_ALL_GATHER, (uint32_t)s->etp_axis, &here, &here, AT_EXPERT);
    for (size_t k = 0; k < here.n; k++)
        fr__sharding_add_version(s, here.tensors[k], s->n_tensors - here.v[k].tensor,
                                 here.v[k].bytes, home.v[k].at, fr__sharding_pass(op), false);
}

void fr__sharding_receive(struct fr__sharding *s, uint32_t o, struct fr__input in[], size_t n_in)
{
    const struct fr_graph *g = s->g;
    struct load here = {.n = 0}, home = {.n = 0};

    if (s->is_out_of_memory || !make_room(s, &here, n_in) || !make_room(s, &home, n_in))
        return;
    for (size_t i = 0; i < n_in; i++) {
        uint32_t t = g->edges[in[i].edge].tensor;

        if (expert_of_tensor(s, t) == FR_NONE)
            continue;
        home.tensors[home.n++] = t;
        if (is_here(s, t)) {
            here.tensors[here.n] = t;
            here.v[here.n++] = in[i].v;
        }
    }
    if (here.n == 0)
        return;
    if (experts(s)->etp > 1)
        move(s, o, here.v[0].at[s->etp_axis] == FR__PARTIAL ? FR_OP_REDUCE_SCATTER : FR_OP_SLICE,
             (uint32_t)s->etp_axis, &here, &here, BETWEEN);
    if (experts(s)->ep > 1)
        move(s, o, FR_OP_ALL_TO_ALL, FR__AXIS_EXPERTS, &here, &home, AT_HOME);
    else
        home = here;
    for (size_t i = 0, k = 0; i < n_in; i++)
        if (expert_of_tensor(s, g->edges[in[i].edge].tensor) != FR_NONE)
            in[i].v = home.v[k++];
}

/* ---- making ready ---- */

static enum fr_status check_layer(const struct fr__sharding *s, uint32_t o, struct fr_error *err)
{
    const struct fr_op *op = &s->g->ops[o];
    const struct fr__shard_experts *x = experts(s);

    if (op->n_tensors % x->ep)
        return fr__fail(err, FR_EUSAGE, op->loc,
                        "the %u experts of op '%s' are not shared alike by %u ranks",
                        (unsigned)op->n_tensors, op->name, (unsigned)x->ep);
    for (uint32_t k = 0; k < op->n_tensors; k++)
        if (s->g->tensors[op->first_tensor + k].n_dims != 3)
            return fr__fail(err, FR_EUSAGE, op->loc,
                            "the outputs of op '%s' are no rows of tokens, so its experts cannot "
                            "be split",
                            op->name);
    return FR_OK;
}

/* Which dispatch the rows of each op of an expert come from, step by step. */
static void find_dispatches(struct fr__sharding *s)
{
    const struct fr_graph *g = s->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        s->dispatch_of[o] = FR_NONE;
        if (is_dispatch(&g->ops[o]) && g->ops[o].phase == FR_PHASE_FORWARD)
            s->dispatch_of[o] = o;
        if (s->expert_of[o] == FR_NONE)
            continue;
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];

            if (e->tensor != FR_NONE && s->dispatch_of[e->src] != FR_NONE)
                s->dispatch_of[o] = s->dispatch_of[e->src];
        }
    }
}

enum fr_status fr__sharding_find_experts(struct fr__sharding *s, struct fr_error *err)
{
    const struct fr__shard_experts *x = experts(s);
    bool has_any = false;

    if (x->ep <= 1 && x->etp <= 1)
        return FR_OK;
    if (x->coord >= x->ep || !(x->skew >= 1 && x->skew <= x->ep))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a skew of %g among %u groups of experts, not 1 to %u", x->skew,
                        (unsigned)x->ep, (unsigned)x->ep);
    s->expert_of = fr__arena_alloc(s->arena, s->g->n_ops, sizeof(*s->expert_of));
    s->dispatch_of = fr__arena_alloc(s->arena, s->g->n_ops, sizeof(*s->dispatch_of));
    if (!s->expert_of || !s->dispatch_of)
        return fr__fail_nomem(err);
    fr__shard_find_experts(s->g, s->expert_of);
    find_dispatches(s);
    for (uint32_t o = 0; o < s->g->n_ops; o++)
        if (s->dispatch_of[o] == o) {
            has_any = true;
            FR_TRY(check_layer(s, o, err));
        }
    if (!has_any)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no layer of experts to share among ranks", s->g->name);
    return FR_OK;
}

/* All ranks of the other axes have tokens of their own, else experts would get copies. */
enum fr_status fr__sharding_check_tokens(const struct fr__sharding *s, struct fr_error *err)
{
    for (uint32_t o = 0; s->expert_of && o < s->g->n_ops; o++)
        for (size_t a = 0; s->dispatch_of[o] == o && a < s->n_axes; a++) {
            uint8_t split = s->split[a * s->g->n_ops + o];

            if (a != s->etp_axis && s->axes[a].size > 1 && split != FR__SPLIT_SAMPLES &&
                split != FR__SPLIT_SEQUENCE)
                return fr__fail(err, FR_EUSAGE, s->g->ops[o].loc,
                                "the ranks of '%s' have the same tokens at op '%s', so experts "
                                "would get copies of them: with experts on ranks of their own, "
                                "split the sequence over '%s' too",
                                s->axes[a].name, s->g->ops[o].name, s->axes[a].name);
        }
    return FR_OK;
}
