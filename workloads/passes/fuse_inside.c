/* workloads/passes/fuse_inside.c - which tensors stay inside a fused op, and which of them the ops
 * outside make again; the rules are in fuse.h.
 */
#include "config.h"

#include "workloads/passes/fuse_parts.h"

/* How many tensors are looked at to find what one is made of: nothing made of more is cheap. */
enum { MOST_LOOKS = 16 };

struct counting {
    const struct fr__fusing *f;
    uint64_t bytes;
};

static void count(void *user, uint32_t tensor)
{
    struct counting *c = user;

    c->bytes += c->f->g->tensors[tensor].bytes;
}

/* Whether what an op writes can be made again number by number: dropout would draw others, and XLA
 * does not compute a function twice that it counts as expensive. */
static bool is_cheap(const struct fr__fusing *f, const struct fr_op *o)
{
    bool is_function = o->kind == FR_OP_GELU || o->kind == FR_OP_SILU || o->kind == FR_OP_TANH ||
                       o->kind == FR_OP_SIGMOID;

    return fr__fusing_is_elementwise(o->kind) &&
           !(o->kind == FR_OP_DROPOUT && fr_op_runs_forward(o)) &&
           !(is_function && fr__fusing_splits_rows(f));
}

static bool walk(const struct fr__fusing *f, uint32_t tensor, unsigned *n_looks,
                 fr__fusing_input call, void *user)
{
    const struct fr_graph *g = f->g;
    uint32_t o = g->tensors[tensor].op;

    if (!is_cheap(f, &g->ops[o]))
        return false;
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE)
            continue;
        if (++*n_looks > MOST_LOOKS)
            return false;
        if (!f->is_internal[e->tensor])
            call(user, e->tensor);
        else if (!walk(f, e->tensor, n_looks, call, user))
            return false;
    }
    return true;
}

bool fr__fusing_inputs(const struct fr__fusing *f, uint32_t tensor, fr__fusing_input call,
                       void *user)
{
    unsigned n_looks = 0;

    return walk(f, tensor, &n_looks, call, user);
}

/* Whether an op outside of the group that wrote a tensor may make it again: a gradient of an op of
 * the group, or of a norm's or a bias's parameters. */
static bool may_make(const struct fr__fusing *f, uint32_t writer, uint32_t reader)
{
    const struct fr_graph *g = f->g;
    const struct fr_op *w = &g->ops[writer], *r = &g->ops[reader];
    bool crosses = w->phase == FR_PHASE_FORWARD;
    uint32_t group = fr__fusing_group(f, writer);

    if (r->forward == FR_NONE || w->forward == FR_NONE || r->phase <= FR_PHASE_FORWARD ||
        r->phase == FR_PHASE_UPDATE)
        return false;
    if (crosses)
        return fr__fusing_group(f, r->forward) == group;
    return r->phase == FR_PHASE_BACKWARD_WEIGHT &&
           (fr__fusing_is_elementwise(r->kind) || r->kind == FR_OP_BATCHNORM ||
            r->kind == FR_OP_LAYERNORM || r->kind == FR_OP_RMSNORM);
}

/* Readers of a tensor, inside and outside of its writer's group. */
struct readers {
    size_t inside, outside;
    bool all_may_make;
};

static struct readers readers_of(const struct fr__fusing *f, uint32_t tensor)
{
    const struct fr_graph *g = f->g;
    uint32_t o = g->tensors[tensor].op, group = fr__fusing_group(f, o);
    struct readers r = {.all_may_make = true};

    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (e->tensor != tensor)
            continue;
        if (fr__fusing_group(f, e->dst) == group) {
            r.inside++;
            continue;
        }
        r.outside++;
        r.all_may_make = r.all_may_make && may_make(f, o, e->dst);
    }
    return r;
}

/* Whether a tensor is made of others number by number, and to read these moves no more bytes than
 * to write and read it. */
static bool is_worth_it(const struct fr__fusing *f, uint32_t tensor, size_t n_readers)
{
    struct counting c = {.f = f};
    double bytes = (double)f->g->tensors[tensor].bytes;

    if (!fr__fusing_inputs(f, tensor, count, &c))
        return false;
    return c.bytes > 0 && (double)n_readers * (double)c.bytes <= (double)(n_readers + 1) * bytes;
}

bool fr__fusing_look_inside(struct fr__fusing *f)
{
    const struct fr_graph *g = f->g;

    f->is_internal = fr__arena_alloc(f->scratch, g->n_tensors, sizeof(*f->is_internal));
    if (!f->is_internal)
        return false;
    /* in the order in which they run: what a tensor is made of is settled before */
    for (uint32_t t = 0; t < g->n_tensors; t++) {
        uint32_t o = g->tensors[t].op;
        struct readers r;

        if (f->size[fr__fusing_group(f, o)] == 1)
            continue;
        r = readers_of(f, t);
        if (r.inside > 0)
            f->is_internal[t] = r.outside == 0 || (r.all_may_make && is_worth_it(f, t, r.outside));
    }
    return true;
}
