/* workloads/passes/shard/exchange.c - the way of tokens to experts and back.
 *
 * After the dispatch one all-to-all brings each expert the rows that all ranks have for it, before
 * the combine another brings them back, and the backward pass mirrors both: four of tokens a layer,
 * and two of the weights that the router gave them (Megatron-LM, transformer/moe/
 * token_dispatcher.py). etp ranks share each expert, as one more axis that exists between the two
 * all-to-alls only: the rows of its ranks are gathered before the first products, and what the last
 * products leave is summed and scattered again, all experts of a rank in one message.
 *
 * Where tokens are not shared evenly, the busiest rank sets the time of an all-to-all, so its bytes
 * are what that rank receives.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include <string.h>

static const struct fr__shard_experts *experts(const struct fr__sharding *s)
{
    return &s->in->experts;
}

/* Where the rows of an expert's tensor are: with the rank whose tokens they are; between the two
 * messages; in the expert's ops. */
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
    l->tensors = fr__arena_alloc(s->w.scratch, n, sizeof(*l->tensors));
    l->v = fr__arena_alloc(s->w.scratch, n, sizeof(*l->v));
    l->out = fr__arena_alloc(s->w.scratch, n, sizeof(*l->out));
    if (!l->tensors || !l->v || !l->out)
        fr__rewriter_fail(&s->w);
    return !fr__rewriter_has_failed(&s->w);
}

/* One message on behalf of op o takes `from` to `to`, tensors that are on `side` then. bytes: 0: of
 * what it reads. */
static void move(struct fr__sharding *s, uint32_t o, enum fr_op_kind kind, uint32_t axis,
                 const struct load *from, struct load *to, enum side side)
{
    enum fr__pass pass = fr__sharding_pass(&s->g->ops[o]);
    struct fr_op op =
        fr__sharding_moving_op(s, o, o, kind, axis == FR__AXIS_EXPERTS ? "ep" : "etp", pass);
    double bytes = 0;
    uint32_t id;

    for (size_t k = 0; k < to->n; k++)
        to->out[k] = on_side(s, to->tensors[k], from->v[0].at, side);
    for (size_t k = 0; k < from->n; k++)
        bytes += (double)from->v[k].bytes;
    op.scales = to->n > 0 && to->out[0].scales;
    id = fr__rewriter_add(&s->w, o, &op, to->out, to->n);
    for (size_t k = 0; k < from->n && !fr__rewriter_has_failed(&s->w); k++)
        fr__rewriter_edge(&s->w, from->v[k].op, id, from->v[k].tensor, from->v[k].bytes);
    if (kind == FR_OP_ALL_GATHER)
        bytes = sum_of(to->out, to->n);
    if (kind == FR_OP_ALL_TO_ALL)
        bytes = (side == AT_HOME ? sum_of(to->out, to->n) : bytes) *
                fr__sharding_load(s, from->tensors[0]);
    if (kind != FR_OP_SLICE)
        fr__sharding_note_message(s, id, axis, bytes, op.scales);
    for (size_t k = 0; k < to->n; k++) {
        to->v[k] = from->v[0];
        to->v[k].op = id;
        to->v[k].tensor = fr__rewriter_n_tensors(&s->w) - (uint32_t)(to->n - k);
        to->v[k].bytes = to->out[k].bytes;
    }
}

void fr__sharding_send(struct fr__sharding *s, uint32_t o, const int8_t *at)
{
    const struct fr_op *op = &s->g->ops[o];
    struct load home = {.n = op->n_tensors}, here = {.n = 0};

    if (fr__rewriter_has_failed(&s->w) || !make_room(s, &home, home.n) ||
        !make_room(s, &here, home.n))
        return;
    for (uint32_t k = 0; k < op->n_tensors; k++) {
        uint32_t t = op->first_tensor + k;

        home.tensors[k] = t;
        home.v[k] =
            (struct fr__version){.op = fr__rewriter_n_ops(&s->w) - 1,
                                 .tensor = fr__rewriter_n_tensors(&s->w) - op->n_tensors + k,
                                 .bytes = on_side(s, t, at, AT_HOME).bytes};
        memcpy(home.v[k].at, &at[k * s->n_axes], s->n_axes);
        if (fr__sharding_is_here(s, t))
            here.tensors[here.n++] = t;
    }
    if (experts(s)->ep > 1)
        move(s, o, FR_OP_ALL_TO_ALL, FR__AXIS_EXPERTS, &home, &here, BETWEEN);
    else
        here = home;
    if (experts(s)->etp > 1)
        move(s, o, FR_OP_ALL_GATHER, (uint32_t)s->etp_axis, &here, &here, AT_EXPERT);
    for (size_t k = 0; k < here.n; k++)
        fr__sharding_add_version(s, here.tensors[k],
                                 fr__rewriter_n_tensors(&s->w) - here.v[k].tensor, here.v[k].bytes,
                                 home.v[k].at, fr__sharding_pass(op), false);
}

void fr__sharding_receive(struct fr__sharding *s, uint32_t o, struct fr__input in[], size_t n_in)
{
    const struct fr_graph *g = s->g;
    struct load here = {.n = 0}, home = {.n = 0};

    if (fr__rewriter_has_failed(&s->w) || !make_room(s, &here, n_in) || !make_room(s, &home, n_in))
        return;
    for (size_t i = 0; i < n_in; i++) {
        uint32_t t = g->edges[in[i].edge].tensor;

        if (fr__sharding_expert(s, t) == FR_NONE)
            continue;
        home.tensors[home.n++] = t;
        if (fr__sharding_is_here(s, t)) {
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
        if (fr__sharding_expert(s, g->edges[in[i].edge].tensor) != FR_NONE)
            in[i].v = home.v[k++];
}
