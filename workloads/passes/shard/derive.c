/* workloads/passes/shard/derive.c - how each forward op is split over each axis.
 *
 * Ops are visited in order. An annotated op takes its split if it can; another one follows what it
 * reads: of the loops along which its inputs are split already, and of none at all, it takes the
 * one that moves the fewest bytes. Axes are decided one after the other, since the rules of several
 * axes are the product of those of one (torch.distributed.tensor does the same).
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int8_t *written(const struct fr__sharding *s, uint32_t t)
{
    return &s->written[(size_t)t * s->n_axes];
}

static int8_t *rest(const struct fr__sharding *s, uint32_t t)
{
    return &s->rest[(size_t)t * s->n_axes];
}

static int8_t at_dim(int dim)
{
    return dim == FR__LACKS ? FR__WHOLE : (int8_t)dim;
}

/* Ranks that share an expert keep its sums partial until they leave it: an op that is linear in
 * what it reads does not mind. */
static bool is_partial_sum(const struct fr__sharding *s, uint32_t op, uint32_t input)
{
    uint32_t t = s->g->edges[s->g->in_edges[input]].tensor;

    return t != FR_NONE && rest(s, t)[s->etp_axis] == FR__PARTIAL && fr__shard_is_linear(s->g, op);
}

static bool reads_partial_sum(const struct fr__sharding *s, uint32_t op)
{
    for (uint32_t i = s->g->in_first[op]; i < s->g->in_first[op + 1]; i++)
        if (is_partial_sum(s, op, i))
            return true;
    return false;
}

/* Rows of tokens on their way to experts need not be shared alike. */
static bool are_rows(const struct fr__sharding *s, uint32_t t)
{
    uint32_t op = s->g->tensors[t].op;

    return s->expert_of && (s->expert_of[op] != FR_NONE || s->dispatch_of[op] == op);
}

int8_t fr__sharding_wants(const struct fr__sharding *s, uint32_t op, uint32_t input, size_t a)
{
    enum fr__split loop = fr__sharding_split(s, op, a);

    if (a == s->etp_axis && is_partial_sum(s, op, input))
        return FR__PARTIAL;
    if (loop <= FR__SPLIT_NONE)
        return FR__WHOLE;
    return at_dim(fr__shard_input_dim(s->g, op, input, loop));
}

/* ---- whether an op can be split so ---- */

/* What stands in the way of a split. */
struct misfit {
    uint64_t units, ranks;
};

static bool fits_operand(const struct fr__sharding *s, uint32_t t, int d, uint64_t ranks,
                         bool refuses_copies, struct misfit *m)
{
    struct fr__extent e;

    if (d < 0 || (d == 1 && are_rows(s, t)))
        return true;
    e = fr__sharding_extent(s, t, d);
    *m = (struct misfit){e.units, ranks};
    if (refuses_copies && e.is_shared && e.units % ranks)
        return false;
    return fr__parts_of(&e, ranks) > 0;
}

/* Ranks of axis a, and of the axes before it that divide the same loop of the op. */
static uint64_t ranks_of_loop(const struct fr__sharding *s, uint32_t op, size_t a,
                              enum fr__split loop)
{
    uint64_t ranks = s->axes[a].size;

    for (size_t b = 0; b < a; b++)
        if (fr__sharding_split(s, op, b) == loop)
            ranks *= s->axes[b].size;
    return ranks;
}

static bool fits(const struct fr__sharding *s, uint32_t op, size_t a, enum fr__split loop,
                 struct misfit *m)
{
    const struct fr_graph *g = s->g;
    const struct fr_op *o = &g->ops[op];
    uint64_t ranks = ranks_of_loop(s, op, a, loop);
    bool refuses_copies = s->axes[a].refuses_copies;

    if (o->kind == FR_OP_EMBEDDING && loop == FR__SPLIT_DEPTH) {
        *m = (struct misfit){fr__sharding_loop(s, op, loop).units, ranks};
        return m->units > ranks;
    }
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;

        if (t != FR_NONE && g->tensors[t].n_dims > 1 &&
            !fits_operand(s, t, fr__shard_input_dim(g, op, i, loop), ranks, refuses_copies, m))
            return false;
    }
    for (uint32_t k = 0; k < o->n_tensors; k++)
        if (!fits_operand(s, o->first_tensor + k, fr__shard_output_dim(g, op, k, loop), ranks,
                          refuses_copies, m))
            return false;
    return true;
}

/* "1, 5 or 25": the numbers of ranks that share `units` alike, as far as there is room. */
static const char *sizes_that_fit(uint64_t units, char *text, size_t n)
{
    uint64_t found[8] = {0};
    size_t n_found = 0, used = 0;

    for (uint64_t d = 1; d <= units && d <= 4096 && n_found < 8; d++)
        if (units % d == 0)
            found[n_found++] = d;
    text[0] = '\0';
    for (size_t i = 0; i < n_found && used < n; i++)
        used += (size_t)snprintf(text + used, n - used, "%s%" PRIu64,
                                 i == 0             ? ""
                                 : i + 1 == n_found ? " or "
                                                    : ", ",
                                 found[i]);
    return text;
}

static const char *unit_name(const struct fr__sharding *s, uint32_t op, enum fr__split loop,
                             uint64_t units)
{
    const struct fr_op *o = &s->g->ops[op];
    uint64_t width = 0;

    switch (loop) {
    case FR__SPLIT_SAMPLES:
        return "samples";
    case FR__SPLIT_SEQUENCE:
        return "positions";
    case FR__SPLIT_COLUMNS:
        for (uint32_t k = 0; k < o->n_tensors && k < 1; k++) {
            const struct fr_tensor *t = &s->g->tensors[o->first_tensor];

            width = t->n_dims == 3 ? t->dims[2] : t->n_dims == 2 ? t->dims[1] : 0;
        }
        return width > units || o->kind == FR_OP_ATTENTION ? "heads" : "columns";
    default:
        return "rows of depth";
    }
}

static enum fr_status refuse(const struct fr__sharding *s, uint32_t op, size_t a,
                             enum fr__split loop, const struct misfit *m, struct fr_error *err)
{
    const struct fr_op *o = &s->g->ops[op];
    char sizes[128];

    return fr__fail(err, FR_EUSAGE, o->loc,
                    "op '%s' cannot be split over '%s': its %" PRIu64 " %s are not shared alike by "
                    "%" PRIu64 " ranks, but by %s",
                    o->name, s->axes[a].name, m->units, unit_name(s, op, loop, m->units), m->ranks,
                    sizes_that_fit(m->units, sizes, sizeof(sizes)));
}

/* ---- what an op does without an annotation ---- */

/* Bytes that a rank moves to bring a tensor of `bytes` from one placement to the other. */
static double cost_of(int8_t from, int8_t to, double bytes, double ranks)
{
    if (from == to || from == FR__UNDECIDED || from == FR__WHOLE)
        return 0;
    if (to == FR__WHOLE)
        return bytes;
    return to == FR__PACKED ? 2.0 / 3 * bytes : bytes / ranks;
}

static double cost_of_loop(const struct fr__sharding *s, uint32_t op, size_t a, enum fr__split loop)
{
    const struct fr_graph *g = s->g;
    const struct fr_op *o = &g->ops[op];
    double cost = 0;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;
        int dim = loop == FR__SPLIT_NONE ? FR__LACKS : fr__shard_input_dim(g, op, i, loop);

        if (t != FR_NONE)
            cost += cost_of(rest(s, t)[a], at_dim(dim), (double)g->tensors[t].bytes,
                            (double)s->axes[a].size);
    }
    if (o->n_tensors && fr__shard_sums_over(g, op, loop))
        cost +=
            (double)g->tensors[o->first_tensor].bytes * (s->axes[a].partial_to_sequence ? 1 : 2);
    return cost;
}

/* The loop along which the op's input is split already; FR__SPLIT_NONE. */
static enum fr__split loop_of_input(const struct fr__sharding *s, uint32_t op, uint32_t input,
                                    size_t a)
{
    int8_t at = rest(s, s->g->edges[s->g->in_edges[input]].tensor)[a];

    if (at < 0)
        return FR__SPLIT_NONE;
    for (unsigned loop = FR__SPLIT_DEPTH; loop > FR__SPLIT_NONE; loop--) {
        int dim = fr__shard_input_dim(s->g, op, input, (enum fr__split)loop);

        if (dim == at || (dim == FR__PACKED && at == 1))
            return (enum fr__split)loop;
    }
    return FR__SPLIT_NONE;
}

/* Whether all that the op reads is data that nobody has read yet, but other data is split by
 * samples: then this is too. */
static bool reads_samples(const struct fr__sharding *s, uint32_t op, size_t a)
{
    const struct fr_graph *g = s->g;
    struct misfit m;
    bool has_any = false;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE)
            continue;
        if (rest(s, e->tensor)[a] != FR__UNDECIDED ||
            (g->ops[e->src].phase == FR_PHASE_INPUT && !g->tensors[e->tensor].scales))
            return false;
        has_any = has_any || g->ops[e->src].phase == FR_PHASE_INPUT;
    }
    return has_any && s->has_samples_split[a] && fr__shard_has_loop(g, op, FR__SPLIT_SAMPLES) &&
           fits(s, op, a, FR__SPLIT_SAMPLES, &m);
}

static enum fr__split follow(const struct fr__sharding *s, uint32_t op, size_t a)
{
    const struct fr_graph *g = s->g;
    enum fr__split best = FR__SPLIT_NONE;
    double least = cost_of_loop(s, op, a, best);
    struct misfit m;

    if (reads_samples(s, op, a))
        return FR__SPLIT_SAMPLES;
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        enum fr__split loop;
        double cost;

        if (g->edges[g->in_edges[i]].tensor == FR_NONE)
            continue;
        loop = loop_of_input(s, op, i, a);
        if (loop == FR__SPLIT_NONE || loop == best || !fits(s, op, a, loop, &m))
            continue;
        cost = cost_of_loop(s, op, a, loop);
        if (cost < least || (best == FR__SPLIT_NONE && cost <= least)) {
            best = loop;
            least = cost;
        }
    }
    return best;
}

/* ---- one op ---- */

static enum fr_status choose(struct fr__sharding *s, uint32_t op, size_t a, struct fr_error *err)
{
    const struct fr__shard_axis *axis = &s->axes[a];
    const struct fr_op *o = &s->g->ops[op];
    enum fr__split split = FR__SPLIT_NONE;
    struct misfit m = {0};

    if (axis->size > 1 && (a != s->etp_axis || s->expert_of[op] != FR_NONE)) {
        split = axis->split ? (enum fr__split)axis->split[op] : FR__SPLIT_DERIVED;
        if (split == FR__SPLIT_DERIVED)
            split = follow(s, op, a);
        else if (!fr__shard_has_loop(s->g, op, split))
            return fr__fail(err, FR_EUSAGE, o->loc, "op '%s' (%s) cannot be split by %s over '%s'",
                            o->name, fr_op_kind_name(o->kind), fr__split_name(split), axis->name);
        else if (split != FR__SPLIT_NONE && !fits(s, op, a, split, &m)) {
            if (!o->is_adapter) /* a rank that cannot be divided: each rank has all of it */
                return refuse(s, op, a, split, &m, err);
            split = FR__SPLIT_NONE;
        }
    }
    s->split[a * s->g->n_ops + op] = (uint8_t)split;
    return FR_OK;
}

/* The first reader of what waits for one decides how it is split: a part of the data costs no
 * message. Weights that a cast makes are split as their product is. */
static void decide_inputs(struct fr__sharding *s, uint32_t op, size_t a)
{
    const struct fr_graph *g = s->g;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        int8_t want = fr__sharding_wants(s, op, i, a);

        if (e->tensor == FR_NONE || rest(s, e->tensor)[a] != FR__UNDECIDED)
            continue;
        if (g->ops[e->src].kind == FR_OP_CAST && want == 0) {
            struct fr__cut cut = fr__sharding_cut(s, op, a);
            struct fr__extent x = fr__sharding_loop(s, op, fr__sharding_split(s, op, a));

            s->grains[e->tensor] = (struct fr__grain){cut.units, 0, x.is_shared, x.may_be_uneven};
            s->split[a * g->n_ops + e->src] = FR__SPLIT_COLUMNS;
        } else if (want >= 0) {
            s->has_samples_split[a] = s->has_samples_split[a] || want == 0;
            s->split[a * g->n_ops + e->src] = (uint8_t)(want == 0   ? FR__SPLIT_SAMPLES
                                                        : want == 1 ? FR__SPLIT_SEQUENCE
                                                                    : FR__SPLIT_COLUMNS);
        }
        if (want == FR__PACKED)
            want = FR__WHOLE;
        rest(s, e->tensor)[a] = written(s, e->tensor)[a] = want;
    }
}

/* It reads nothing but parameters: what a cast makes of weights, and what the data loader brings,
 * takes the placement that its reader wants. */
static bool is_lazy(const struct fr__sharding *s, uint32_t op)
{
    const struct fr_op *o = &s->g->ops[op];
    const struct fr_tensor *t = &s->g->tensors[o->first_tensor];

    if (o->phase == FR_PHASE_INPUT)
        return true;
    return o->kind == FR_OP_CAST && s->tied_to[op] != FR_NONE && o->n_tensors == 1 &&
           t->n_dims <= 1;
}

/* Where the sum over axis a waits for its readers. */
static enum fr_status set_rest(struct fr__sharding *s, uint32_t op, uint32_t k, size_t a,
                               struct fr_error *err)
{
    uint32_t t = s->g->ops[op].first_tensor + k;
    const struct fr_tensor *tensor = &s->g->tensors[t];
    int d = fr__shard_output_dim(s->g, op, k, FR__SPLIT_SEQUENCE);
    uint64_t ranks = s->axes[a].size;
    char sizes[128];

    rest(s, t)[a] = written(s, t)[a];
    if (written(s, t)[a] != FR__PARTIAL || a == s->etp_axis)
        return FR_OK;
    rest(s, t)[a] = FR__WHOLE;
    if (!s->axes[a].partial_to_sequence || d < 0)
        return FR_OK;
    for (size_t b = 0; b < s->n_axes; b++)
        if (b != a && (b < a ? rest(s, t)[b] : written(s, t)[b]) == d)
            ranks *= s->axes[b].size;
    if (tensor->dims[d] % ranks && !are_rows(s, t))
        return fr__fail(err, FR_EUSAGE, s->g->ops[op].loc,
                        "the sums of op '%s' over '%s' cannot be split along the sequence: its "
                        "%" PRIu32 " positions are not shared alike by %" PRIu64 " ranks, but by "
                        "%s",
                        s->g->ops[op].name, s->axes[a].name, tensor->dims[d], ranks,
                        sizes_that_fit(tensor->dims[d], sizes, sizeof(sizes)));
    rest(s, t)[a] = (int8_t)d;
    return FR_OK;
}

static enum fr_status derive_op(struct fr__sharding *s, uint32_t op, struct fr_error *err)
{
    const struct fr_op *o = &s->g->ops[op];

    for (size_t a = 0; a < s->n_axes; a++) {
        FR_TRY(choose(s, op, a, err));
        decide_inputs(s, op, a);
    }
    for (uint32_t k = 0; k < o->n_tensors; k++) {
        uint32_t t = o->first_tensor + k;

        for (size_t a = 0; a < s->n_axes; a++) {
            enum fr__split split = fr__sharding_split(s, op, a);

            written(s, t)[a] = FR__WHOLE;
            if (split > FR__SPLIT_NONE)
                written(s, t)[a] = at_dim(fr__shard_output_dim(s->g, op, k, split));
            if (a == s->etp_axis && s->expert_of[op] != FR_NONE && reads_partial_sum(s, op))
                written(s, t)[a] = FR__PARTIAL;
            if (k == 0 && fr__shard_sums_over(s->g, op, split))
                written(s, t)[a] = FR__PARTIAL;
        }
        for (size_t a = 0; a < s->n_axes; a++)
            FR_TRY(set_rest(s, op, k, a, err));
    }
    return FR_OK;
}

/* ---- tied parameters ---- */

/* How op's split over axis a divides its parameters: along rows of the table that both may share,
 * along columns, or not at all. An embedding's table is a product's weights transposed. */
static int division(const struct fr__sharding *s, uint32_t op, size_t a)
{
    enum fr__split split = fr__sharding_split(s, op, a);
    bool is_table = s->g->ops[op].kind == FR_OP_EMBEDDING;

    if (split <= FR__SPLIT_NONE || !fr__shard_params_carry(s->g, op, split))
        return 0;
    if (s->g->ops[op].kind == FR_OP_CAST) /* divided as its reader says */
        return -1;
    return (split == FR__SPLIT_COLUMNS) == is_table ? 2 : 1;
}

static enum fr_status check_ties(const struct fr__sharding *s, struct fr_error *err)
{
    for (uint32_t o = 0; o < s->g->n_ops; o++) {
        uint32_t owner = s->tied_to[o];

        if (s->g->ops[o].phase != FR_PHASE_FORWARD || owner == FR_NONE || owner == o)
            continue;
        for (size_t a = 0; a < s->n_axes; a++) {
            int x = division(s, o, a), y = division(s, owner, a);

            if (x != y && x >= 0 && y >= 0)
                return fr__fail(err, FR_EUSAGE, s->g->ops[o].loc,
                                "op '%s' uses the parameters of '%s', but over '%s' they are split "
                                "by %s there and by %s here",
                                s->g->ops[o].name, s->g->ops[owner].name, s->axes[a].name,
                                fr__split_name(fr__sharding_split(s, owner, a)),
                                fr__split_name(fr__sharding_split(s, o, a)));
        }
    }
    return FR_OK;
}

enum fr_status fr__sharding_derive(struct fr__sharding *s, struct fr_error *err)
{
    const struct fr_graph *g = s->g;

    fr__sharding_find_grains(s);
    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];

        if (op->phase > FR_PHASE_FORWARD)
            continue;
        if (!is_lazy(s, o)) {
            FR_TRY(derive_op(s, o, err));
            continue;
        }
        for (size_t a = 0; a < s->n_axes; a++)
            s->split[a * g->n_ops + o] = FR__SPLIT_NONE;
        memset(written(s, op->first_tensor), FR__UNDECIDED, op->n_tensors * s->n_axes);
        memset(rest(s, op->first_tensor), FR__UNDECIDED, op->n_tensors * s->n_axes);
    }
    for (size_t i = 0; i < g->n_tensors * s->n_axes; i++)
        if (s->written[i] == FR__UNDECIDED)
            s->written[i] = s->rest[i] = FR__WHOLE;
    return check_ties(s, err);
}
