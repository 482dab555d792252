/* workloads/passes/shard/gradients.c - backward ops: in which placement they read and write.
 *
 * A backward op reads gradients in the placement that is the mirror image of the forward tensor's:
 * split where that is split, whole where it is whole, and whole where it is partial, for each
 * rank's term has the gradient of the sum (M. Shoeybi et al., Megatron-LM, 2019, section 3: the
 * functions f and g). What it reads of the forward pass has the placement that its forward op reads
 * or writes.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

/* Whether o only passes on what belongs to parameters: sums and updates, and the backward of a
 * cast. */
static bool is_of_parameters(const struct fr__sharding *s, uint32_t o)
{
    const struct fr_op *op = &s->g->ops[o];

    return op->phase == FR_PHASE_UPDATE || (op->phase == FR_PHASE_BACKWARD_WEIGHT &&
                                            (op->kind == FR_OP_GRAD_ADD || op->kind == FR_OP_CAST));
}

/* Where o wants gradient t of what its forward op f writes. A gradient whose extent is not the
 * output's is that of a broadcast, which each rank sums up for itself. */
static void want_gradient(const struct fr__sharding *s, uint32_t o, uint32_t f, uint32_t t,
                          int8_t want[])
{
    const int8_t *has = s->versions[s->first_version[t]].at;
    const struct fr_op *forward = &s->g->ops[f];
    const struct fr_tensor *gy = &s->g->tensors[t];
    const struct fr_tensor *y = &s->g->tensors[forward->first_tensor];

    for (size_t a = 0; a < s->n_axes; a++) {
        int8_t at = forward->n_tensors ? s->written[(size_t)forward->first_tensor * s->n_axes + a]
                                       : FR__WHOLE;

        want[a] = at == FR__PARTIAL ? FR__WHOLE : at;
        if (is_of_parameters(s, o) || (a == s->etp_axis && fr__sharding_receives(s, o)) ||
            (has[a] >= 0 && forward->n_tensors && gy->n_dims == y->n_dims &&
             gy->dims[has[a]] != y->dims[has[a]]))
            want[a] = has[a];
    }
}

/* Whether f multiplies terms of a sum with something else: that has a gradient which is a sum. */
static bool f_writes_terms(const struct fr__sharding *s, uint32_t f)
{
    return s->written[(size_t)s->g->ops[f].first_tensor * s->n_axes + s->etp_axis] == FR__PARTIAL &&
           fr__sharding_split(s, f, s->etp_axis) <= FR__SPLIT_NONE;
}

/* Where o leaves its output t. */
static void place_gradient(const struct fr__sharding *s, uint32_t o, uint32_t f, uint32_t t,
                           int8_t at[])
{
    const struct fr_op *op = &s->g->ops[o];
    uint32_t input = s->twin[t] == FR_NONE ? FR_NONE : fr__sharding_input_of(s, f, t);

    for (size_t a = 0; a < s->n_axes; a++) {
        at[a] = FR__WHOLE;
        if (input == FR_NONE || op->phase > FR_PHASE_BACKWARD_WEIGHT)
            continue;
        at[a] = fr__sharding_wants(s, f, input, a);
        if (a == s->etp_axis && at[a] == FR__PARTIAL) { /* each term has the sum's gradient */
            at[a] = FR__WHOLE;
            continue;
        }
        if (a == s->etp_axis && f_writes_terms(s, f))
            at[a] = FR__PARTIAL;
        if (at[a] == FR__WHOLE && fr__sharding_split(s, f, a) > FR__SPLIT_NONE)
            at[a] = FR__PARTIAL;
    }
}

static uint32_t bit_of(const struct fr__sharding *s, size_t a)
{
    return UINT32_C(1) << (a == s->etp_axis ? (size_t)FR__AXIS_EXPERT_TENSOR : a);
}

/* Notes whether f's split over axis a divides the owner's parameters; returns it. */
static bool note_division(struct fr__sharding *s, uint32_t f, uint32_t owner, size_t a)
{
    enum fr__split split = fr__sharding_split(s, f, a);
    uint64_t parts;

    if (split <= FR__SPLIT_NONE || !fr__shard_params_carry(s->g, f, split))
        return false;
    parts = fr__sharding_cut(s, f, a).parts;
    s->divided[owner] |= bit_of(s, a);
    if (parts < s->axes[a].size) {
        s->partial[owner] |= bit_of(s, a);
        s->replicas[owner] = s->axes[a].size / (uint32_t)parts;
    }
    return true;
}

void fr__sharding_note_frozen(struct fr__sharding *s, uint32_t o)
{
    if (s->g->ops[o].phase != FR_PHASE_FORWARD || !s->g->ops[o].is_frozen ||
        s->g->ops[o].param_bytes == 0)
        return;
    for (size_t a = 0; a < s->n_axes; a++)
        if (s->axes[a].size > 1)
            note_division(s, o, o, a);
    s->partial[o] = 0; /* of gradients */
    if (s->expert_of && s->expert_of[o] != FR_NONE)
        s->divided[o] |= UINT32_C(1) << FR__AXIS_EXPERTS;
}

/* Notes over which axes the gradient of o's parameters is a sum, and over which they are split. */
static void note_parameters(struct fr__sharding *s, uint32_t o, uint32_t f,
                            const struct fr__input in[], size_t n_in)
{
    uint32_t owner = s->tied_to[f];

    if (s->g->ops[o].phase != FR_PHASE_BACKWARD_WEIGHT || owner == FR_NONE ||
        s->g->ops[o].kind == FR_OP_GRAD_ADD)
        return;
    for (size_t a = 0; a < s->n_axes; a++) {
        enum fr__split split = fr__sharding_split(s, f, a);
        uint32_t bit = bit_of(s, a);

        if (s->axes[a].size <= 1)
            continue;
        if (!note_division(s, f, owner, a) && split > FR__SPLIT_NONE)
            s->partial[owner] |= bit;
        for (size_t i = 0; i < n_in; i++) {
            bool is_gradient = fr__sharding_is_gradient(s->g, s->g->edges[in[i].edge].tensor);

            if (is_gradient &&
                (in[i].v.at[a] == FR__PARTIAL || (split <= FR__SPLIT_NONE && in[i].v.at[a] >= 0)))
                s->partial[owner] |= bit;
        }
    }
    if (s->expert_of && s->expert_of[owner] != FR_NONE) {
        s->divided[owner] |= UINT32_C(1) << FR__AXIS_EXPERTS;
        s->partial[owner] = 0;
    }
}

/* Gradients first: what is gathered for them starts once they are there. */
static size_t read_gradients(struct fr__sharding *s, uint32_t o, uint32_t f,
                             struct fr__reader *reader, uint32_t after[], struct fr__input in[])
{
    const struct fr_graph *g = s->g;
    int8_t want[FR__MAX_AXES];
    size_t n_in = 0;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t e = g->in_edges[i], t = g->edges[e].tensor;

        if (t == FR_NONE || !fr__sharding_is_gradient(g, t))
            continue;
        in[n_in] = (struct fr__input){.edge = e};
        if (s->first_version[t] != FR_NONE) {
            want_gradient(s, o, f, t, want);
            in[n_in].v = fr__sharding_get(s, t, want, reader);
            after[reader->n_after++] = in[n_in].v.op;
        }
        n_in += s->first_version[t] != FR_NONE || fr__sharding_receives(s, o);
    }
    return n_in;
}

void fr__sharding_walk_backward(struct fr__sharding *s, uint32_t o)
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];
    uint32_t f = op->forward, n_edges = g->in_first[o + 1] - g->in_first[o];
    struct fr__input *in = fr__arena_alloc(s->w.scratch, n_edges, sizeof(*in));
    int8_t *at = fr__arena_alloc(s->w.scratch, op->n_tensors * s->n_axes, sizeof(*at));
    struct fr__reader reader = {.op = o, .pass = FR__PASS_BACKWARD};
    int8_t want[FR__MAX_AXES];
    uint32_t *after;
    size_t n_in;

    reader.n_after = fr__sharding_order_before(s, o, &after);
    reader.after = after;
    if (!in || !at || fr__rewriter_has_failed(&s->w)) {
        fr__rewriter_fail(&s->w);
        return;
    }
    n_in = read_gradients(s, o, f, &reader, after, in);
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t e = g->in_edges[i], t = g->edges[e].tensor;

        if (t == FR_NONE || fr__sharding_is_gradient(g, t) || s->first_version[t] == FR_NONE)
            continue;
        fr__sharding_want_forward(s, f, t, want);
        in[n_in++] = (struct fr__input){e, fr__sharding_get(s, t, want, &reader)};
    }
    for (uint32_t k = 0; k < op->n_tensors; k++)
        place_gradient(s, o, f, op->first_tensor + k, &at[k * s->n_axes]);
    note_parameters(s, o, f, in, n_in);
    fr__sharding_make(s, o, in, n_in, at);
}
