/* workloads/passes/shard/move.c - brings tensors from the placement they have to the one that is
 * wanted.
 *
 * One axis changes at a time, by one op; first those changes that make a tensor smaller. All
 * readers in the same pass of the plan share the result. What is gathered in the forward pass is
 * gathered again for the backward pass, since keeping the part is why it was split (V. Korthikanti
 * et al., Reducing activation recomputation in large transformer models, MLSys 2023, section
 * 4.2.2), unless the axis says that the gathered tensor is kept.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include <string.h>

/* ---- ops and versions ---- */

static struct fr__version *new_version(struct fr__sharding *s)
{
    if (!fr__grow(&s->versions, &s->cap_versions, s->n_versions + 1, sizeof(*s->versions))) {
        fr__rewriter_fail(&s->w);
        return NULL;
    }
    s->versions[s->n_versions] = (struct fr__version){.next = FR_NONE};
    return &s->versions[s->n_versions++];
}

void fr__sharding_add_version(struct fr__sharding *s, uint32_t t, uint32_t n_back, uint64_t bytes,
                              const int8_t at[], enum fr__pass pass, bool is_gathered)
{
    struct fr__version *v = fr__rewriter_has_failed(&s->w) ? NULL : new_version(s);
    uint32_t *last = &s->first_version[t];

    if (!v)
        return;
    v->op = fr__rewriter_n_ops(&s->w) - 1;
    v->tensor = fr__rewriter_n_tensors(&s->w) - n_back;
    v->bytes = bytes;
    v->pass = pass;
    v->is_gathered = is_gathered;
    memcpy(v->at, at, s->n_axes);
    while (*last != FR_NONE)
        last = &s->versions[*last].next;
    *last = (uint32_t)(s->n_versions - 1);
}

/* A version in that placement that a reader in `pass` may use; FR_NONE. */
static uint32_t find(const struct fr__sharding *s, uint32_t t, const int8_t at[],
                     enum fr__pass pass)
{
    for (uint32_t v = s->first_version[t]; v != FR_NONE; v = s->versions[v].next)
        if (memcmp(s->versions[v].at, at, s->n_axes) == 0 &&
            (s->versions[v].pass == pass || !s->versions[v].is_gathered))
            return v;
    return FR_NONE;
}

/* ---- one step ---- */

/* From one placement to the other over one axis. */
struct step {
    uint32_t tensor; /* given */
    size_t axis;
    int8_t from, to;
};

static enum fr_op_kind kind_of(const struct step *st)
{
    if (st->from == FR__PARTIAL || st->from == FR__PACKED)
        return st->to == FR__WHOLE && st->from == FR__PARTIAL ? FR_OP_ALL_REDUCE
                                                              : FR_OP_REDUCE_SCATTER;
    if (st->from == FR__WHOLE)
        return FR_OP_SLICE;
    return st->to < 0 ? FR_OP_ALL_GATHER : FR_OP_ALL_TO_ALL;
}

/* Bytes as struct fr_collective counts them. Of packed queries, keys and values only the keys and
 * values are moved. */
static double message_bytes(const struct fr__sharding *s, const struct step *st,
                            const struct fr__version *in, const struct fr_tensor *out)
{
    enum fr_op_kind kind = kind_of(st);
    double ranks = (double)s->axes[st->axis].size;

    if (st->from == FR__PACKED)
        return 2.0 / 3 * (double)out->bytes * ranks;
    if (st->to == FR__PACKED)
        return 2.0 / 3 * (double)in->bytes * ranks;
    return kind == FR_OP_ALL_GATHER ? (double)out->bytes : (double)in->bytes;
}

/* A part is a view where the dimensions in front of it have one element. Who splits a sequence
 * stores it in front of the samples (Megatron-LM). */
static bool is_view(const struct fr_tensor *t, int d)
{
    if (d == 1 && t->n_dims == 3)
        return true;
    for (int i = 0; i < d; i++)
        if (t->dims[i] > 1)
            return false;
    return true;
}

/* "LAYER.op.tp.all_gather2", unlike any other. */
static const char *name_move(struct fr__sharding *s, uint32_t from, const char *axis,
                             const char *kind)
{
    unsigned number = ++s->n_moves[from];
    const char *name = fr__rewriter_name(&s->w, s->g->ops[from].name, axis, FR_NONE);

    return fr__rewriter_name(&s->w, name, kind, number == 1 ? FR_NONE : number);
}

struct fr_op fr__sharding_moving_op(struct fr__sharding *s, uint32_t from, uint32_t beside,
                                    enum fr_op_kind kind, const char *axis, enum fr__pass pass)
{
    const struct fr_graph *g = s->g;
    uint32_t f = g->ops[beside].forward;
    struct fr_op op = {.kind = kind,
                       .loc = g->ops[from].loc,
                       .layer = g->ops[beside].layer,
                       .phase =
                           pass == FR__PASS_FORWARD ? FR_PHASE_FORWARD : FR_PHASE_BACKWARD_DATA,
                       .forward = f == FR_NONE ? FR_NONE : s->w.now.op[f],
                       .is_recomputed = pass == FR__PASS_AGAIN};

    op.name = name_move(s, from, axis, fr_op_kind_name(kind));
    return op;
}

void fr__sharding_note_message(struct fr__sharding *s, uint32_t op, uint32_t axis, double bytes,
                               bool scales)
{
    if (s->etp_axis < s->n_axes && axis == s->etp_axis)
        axis = FR__AXIS_EXPERT_TENSOR;
    fr__messages_add(&s->messages, &s->w,
                     (struct fr__comm){.op = op, .axis = axis, .bytes = bytes, .scales = scales});
}

struct fr__version fr__sharding_add_message(struct fr__sharding *s, uint32_t from, uint32_t beside,
                                            enum fr_op_kind kind, uint32_t axis, const char *name,
                                            const struct fr__version *in,
                                            const struct fr_tensor *out, double bytes,
                                            enum fr__pass pass)
{
    struct fr_op op = fr__sharding_moving_op(s, from, beside, kind, name, pass);
    struct fr__version v = {.bytes = out->bytes, .next = FR_NONE, .pass = pass};

    op.scales = out->scales;
    v.op = fr__rewriter_add(&s->w, from, &op, out, 1);
    v.tensor = fr__rewriter_n_tensors(&s->w) - 1;
    fr__rewriter_edge(&s->w, in->op, v.op, in->tensor, in->bytes);
    fr__sharding_note_message(s, v.op, axis, bytes, out->scales);
    return v;
}

/* Makes the version after the step and returns its number. */
static uint32_t take_step(struct fr__sharding *s, const struct step *st, uint32_t at_version,
                          enum fr__pass pass, const struct fr__reader *reader)
{
    struct fr__version in = s->versions[at_version], v;
    const struct fr_tensor *given = &s->g->tensors[st->tensor];
    uint32_t from = given->op;
    const char *axis = s->axes[st->axis].name;
    enum fr_op_kind kind = kind_of(st);
    bool is_sum = kind == FR_OP_ALL_REDUCE || kind == FR_OP_REDUCE_SCATTER;
    /* what crosses from stage to stage is sums, and parts of them */
    uint32_t beside = is_sum || reader->op == FR_NONE ? from : reader->op;
    bool is_gathered =
        in.is_gathered || (kind == FR_OP_ALL_GATHER && !s->axes[st->axis].keeps_gathered);
    struct fr_tensor out;

    in.at[st->axis] = st->to;
    out = fr__sharding_local_tensor(s, st->tensor, in.at);
    out.alias = FR_NONE;
    if (kind == FR_OP_SLICE) {
        struct fr_op op = fr__sharding_moving_op(s, from, beside, kind, axis, pass);

        op.scales = out.scales;
        if (st->to >= 0 && is_view(given, st->to))
            out.alias = in.tensor;
        else
            op.bytes = 2 * (double)out.bytes;
        v.op = fr__rewriter_add(&s->w, from, &op, &out, 1);
        fr__rewriter_edge(&s->w, in.op, v.op, in.tensor, in.bytes);
    } else
        v = fr__sharding_add_message(s, from, beside, kind, (uint32_t)st->axis, axis, &in, &out,
                                     message_bytes(s, st, &in, &out), pass);
    for (size_t i = 0; kind == FR_OP_ALL_GATHER && i < reader->n_after; i++)
        fr__rewriter_order(&s->w, reader->after[i], v.op);
    fr__sharding_add_version(s, st->tensor, 1, out.bytes, in.at, pass, is_gathered);
    return (uint32_t)s->n_versions - 1;
}

/* ---- all steps ---- */

/* The pass in which the tensor itself is made. */
static enum fr__pass own_pass(const struct fr_graph *g, uint32_t t)
{
    const struct fr_op *op = &g->ops[g->tensors[t].op];

    if (op->phase <= FR_PHASE_FORWARD)
        return FR__PASS_FORWARD;
    return op->is_recomputed ? FR__PASS_AGAIN : FR__PASS_BACKWARD;
}

/* Over axis a, from version `at` on; returns the version after it. */
static uint32_t change(struct fr__sharding *s, uint32_t t, uint32_t at, size_t a, int8_t to,
                       enum fr__pass pass, const struct fr__reader *reader)
{
    const struct step st = {t, a, s->versions[at].at[a], to};
    int8_t after[FR__MAX_AXES];
    uint32_t found;

    if (st.from == to || fr__rewriter_has_failed(&s->w))
        return at;
    memcpy(after, s->versions[at].at, sizeof(after));
    after[a] = to;
    found = find(s, t, after, pass);
    return found == FR_NONE ? take_step(s, &st, at, pass, reader) : found;
}

struct fr__version fr__sharding_get(struct fr__sharding *s, uint32_t t, const int8_t want[],
                                    const struct fr__reader *reader)
{
    static const struct fr__version none = {.next = FR_NONE};
    uint32_t at = s->first_version[t];
    bool is_forward = fr__sharding_runs_forward(&s->g->ops[s->g->tensors[t].op]);
    const struct fr__reader nobody = {.op = FR_NONE, .pass = own_pass(s->g, t)};
    uint32_t found;

    if (at == FR_NONE || fr__rewriter_has_failed(&s->w))
        return none;
    if (is_forward) /* a sum is resolved once, for all its readers in all passes */
        for (size_t a = 0; a < s->n_axes; a++)
            if (s->versions[at].at[a] == FR__PARTIAL && a != s->etp_axis)
                at = change(s, t, at, a, s->rest[(size_t)s->twin[t] * s->n_axes + a], nobody.pass,
                            &nobody);
    found = find(s, t, want, reader->pass);
    if (found != FR_NONE)
        return s->versions[found];
    for (size_t a = 0; a < s->n_axes; a++)
        if (want[a] >= 0)
            at = change(s, t, at, a, want[a], reader->pass, reader);
    for (size_t a = 0; a < s->n_axes; a++)
        at = change(s, t, at, a, want[a], reader->pass, reader);
    return fr__rewriter_has_failed(&s->w) ? none : s->versions[at];
}
