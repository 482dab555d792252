/* workloads/import/pipedream_graph.c - from a profile to a training graph.
 *
 * Node X gives a forward op X, a backward op X.backward with the whole measured backward time and,
 * where it has parameters, an op X.update. The backward op reads what the layer wrote and, for the
 * gradient of its parameters, what the layer read; it writes the gradients of its inputs, then that
 * of its parameters. This keeps every activation from forward to backward, as PipeDream's memory
 * model does (Harlap et al., SOSP 2019, section 3.3), with views and in-place layers counted once.
 * Inputs, shapes (Size) and views that nobody reads have no gradient, so no backward op.
 */
#include "config.h"

#include "workloads/import/pipedream.h"

#include "base/error.h"
#include "workloads/graph/builder.h"
#include "workloads/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY_DEVICE "*"
enum { ELEM_BYTES = 4, MAX_NAME = 300 };

/* What a node's backward pass adds: numbers of ops and tensors. */
struct backward {
    uint32_t op;          /* FR_NONE: it has none */
    uint32_t first_grad;  /* the op's first output */
    uint32_t weight_grad; /* its last one, FR_NONE: no parameters */
    uint32_t lone_grad;   /* the only gradient of the node's outputs, else FR_NONE */
    uint32_t n_grads;     /* how many gradients of its outputs there are */
    uint64_t grad_bytes;  /* and their bytes */
};

struct conversion {
    const struct fr__profile *p;
    struct fr__profile_shape shape;
    struct fr_graph_builder *b;
    struct fr_tensor *outputs; /* room for the op with the most */
    struct backward *back;     /* [nodes] */
};

/* All outputs that nodes read, counted once a reader; keeps numbers of tensors in 32 bits. */
#define MAX_READS (FR__MAX_EDGES / 8)

/* The outputs of node src that node v reads: one item for __getitem__, else all of them. */
struct reading {
    uint32_t src, first, n; /* tensors first .. first + n - 1 */
};

static struct reading reading_of(const struct conversion *c, uint32_t v, uint32_t i)
{
    uint32_t src = c->p->in_src[i];
    const struct fr__profile_node *from = &c->p->nodes[src], *node = &c->p->nodes[v];
    uint32_t item;

    if (node->kind != FR_OP_SPLIT)
        return (struct reading){src, from->first_size, from->n_sizes};
    item = fr__profile_item(node);
    return (struct reading){src, from->first_size + (item < from->n_sizes ? item : 0), 1};
}

/* Whether a gradient flows back over in-edge i of node v. */
static bool has_gradient(const struct conversion *c, uint32_t v, uint32_t i)
{
    return c->back[v].op != FR_NONE && c->back[c->p->in_src[i]].op != FR_NONE;
}

static uint64_t output_bytes(const struct conversion *c, uint32_t v)
{
    const struct fr__profile_node *node = &c->p->nodes[v];
    uint64_t sum = 0;

    for (uint32_t k = 0; k < node->n_sizes; k++)
        sum += c->p->sizes[node->first_size + k];
    return sum;
}

static uint64_t input_bytes(const struct conversion *c, uint32_t v)
{
    uint64_t sum = 0;

    for (uint32_t i = c->p->in_first[v]; i < c->p->in_first[v + 1]; i++) {
        struct reading r = reading_of(c, v, i);

        for (uint32_t t = r.first; t < r.first + r.n; t++)
            sum += c->p->sizes[t];
    }
    return sum;
}

/* Makes room for the op with the most outputs, counting what each node reads. */
static enum fr_status make_room(struct conversion *c, struct fr__arena *scratch,
                                struct fr_error *err)
{
    const struct fr__profile *p = c->p;
    size_t most = 1, n_reads = 0;

    for (uint32_t v = 0; v < p->n_nodes; v++) {
        size_t before = n_reads;

        for (uint32_t i = p->in_first[v]; i < p->in_first[v + 1]; i++) {
            n_reads += reading_of(c, v, i).n;
            c->back[p->in_src[i]].n_grads++; /* for now: how many nodes read it */
        }
        if (n_reads - before + 1 > most)
            most = n_reads - before + 1;
        if (p->nodes[v].n_sizes > most)
            most = p->nodes[v].n_sizes;
        if (n_reads > MAX_READS)
            return fr__fail(err, FR_ERANGE, p->nodes[v].loc,
                            "the nodes read more than %zu activations", MAX_READS);
    }
    c->outputs = fr__arena_alloc(scratch, most, sizeof(*c->outputs));
    return c->outputs ? FR_OK : fr__fail_nomem(err);
}

/* Decides which nodes have a backward op and numbers these after the forward ops. */
static void number_backward_ops(struct conversion *c)
{
    uint32_t n_ops = (uint32_t)c->p->n_nodes;

    for (uint32_t v = 0; v < c->p->n_nodes; v++) {
        enum fr__profile_role role = c->p->nodes[v].role;
        bool is_unread_view = role == FR__PROFILE_VIEW && c->back[v].n_grads == 0;
        bool has_none = role == FR__PROFILE_INPUT || role == FR__PROFILE_NUMBER || is_unread_view;

        c->back[v] = (struct backward){
            .op = has_none ? FR_NONE : n_ops++, .weight_grad = FR_NONE, .lone_grad = FR_NONE};
    }
}

/* Numbers the gradients after the activations. */
static void number_gradients(struct conversion *c)
{
    const struct fr__profile *p = c->p;
    uint32_t n = (uint32_t)p->n_sizes;

    for (uint32_t v = 0; v < p->n_nodes; v++) {
        c->back[v].first_grad = n;
        for (uint32_t i = p->in_first[v]; i < p->in_first[v + 1]; i++) {
            struct reading r = reading_of(c, v, i);
            struct backward *of = &c->back[r.src];

            for (uint32_t t = r.first; has_gradient(c, v, i) && t < r.first + r.n; t++) {
                of->lone_grad = of->n_grads++ ? FR_NONE : n;
                of->grad_bytes += p->sizes[t];
                n++;
            }
        }
        if (c->back[v].op != FR_NONE && p->nodes[v].param_bytes)
            c->back[v].weight_grad = n++;
    }
}

static enum fr_status add_op(struct conversion *c, const struct fr_op *op, const char *layer,
                             size_t n_outputs, struct fr_error *err)
{
    /* the builder says at the end what it did not like; only it knows when memory is short */
    if (fr_graph_builder_op(c->b, op, layer, c->outputs, n_outputs) == FR_NONE)
        return fr__fail_nomem(err);
    return FR_OK;
}

/* The first input tensor that has as many bytes as the node's only output, or FR_NONE. */
static uint32_t same_input(const struct conversion *c, uint32_t v)
{
    const struct fr__profile *p = c->p;

    for (uint32_t i = p->in_first[v]; i < p->in_first[v + 1]; i++) {
        struct reading r = reading_of(c, v, i);

        if (p->nodes[v].n_sizes == 1 && r.n == 1 &&
            p->sizes[r.first] == p->sizes[p->nodes[v].first_size])
            return r.first;
    }
    return FR_NONE;
}

static enum fr_status add_forward(struct conversion *c, uint32_t v, struct fr_error *err)
{
    const struct fr__profile_node *node = &c->p->nodes[v];
    bool is_layer = node->role == FR__PROFILE_LAYER;
    bool is_in_place = is_layer && fr__profile_is_in_place(node);
    uint32_t shared = FR_NONE;
    struct fr_op op = {.name = node->id,
                       .loc = node->loc,
                       .kind = node->kind,
                       .phase = FR_PHASE_FORWARD,
                       .param_bytes = node->param_bytes,
                       .n_params = fr__profile_n_params(node),
                       .scales = true};

    if (node->role == FR__PROFILE_INPUT)
        op.phase = FR_PHASE_INPUT;
    if (is_in_place || node->role == FR__PROFILE_VIEW)
        shared = same_input(c, v);
    op.is_in_place = is_in_place && shared != FR_NONE;
    if (is_layer) {
        op.flops = fr__profile_flops(c->p, node, &c->shape);
        op.bytes = (double)input_bytes(c, v) + (double)output_bytes(c, v);
    }
    for (uint32_t k = 0; k < node->n_sizes; k++)
        c->outputs[k] = (struct fr_tensor){.bytes = c->p->sizes[node->first_size + k],
                                           .alias = shared,
                                           .split_mask = 1,
                                           .scales = node->role != FR__PROFILE_NUMBER};
    FR_TRY(add_op(c, &op, node->id, node->n_sizes, err));
    /* an input's time is loading and warm-up (635 ms in AlexNet's profile), no work of the model */
    fr_graph_builder_sample(c->b, v, ANY_DEVICE, c->shape.batch,
                            node->role == FR__PROFILE_INPUT ? 0 : node->forward_s);
    for (uint32_t i = c->p->in_first[v]; i < c->p->in_first[v + 1]; i++) {
        struct reading r = reading_of(c, v, i);

        if (node->role == FR__PROFILE_NUMBER)
            fr_graph_builder_edge(c->b, r.src, v, FR_NONE, 0);
        for (uint32_t t = r.first; node->role != FR__PROFILE_NUMBER && t < r.first + r.n; t++)
            fr_graph_builder_edge(c->b, r.src, v, t, c->p->sizes[t]);
    }
    return FR_OK;
}

/* Fills c->outputs with the gradients that v's backward op writes and joins them to the backward
 * ops that read them; returns how many there are. */
static uint32_t write_gradients(struct conversion *c, uint32_t v)
{
    const struct fr__profile_node *node = &c->p->nodes[v];
    uint32_t n = 0;

    for (uint32_t i = c->p->in_first[v]; i < c->p->in_first[v + 1]; i++) {
        struct reading r = reading_of(c, v, i);

        for (uint32_t t = r.first; has_gradient(c, v, i) && t < r.first + r.n; t++) {
            /* a view's gradient is the gradient of what it shows, under another shape */
            bool is_same = node->role == FR__PROFILE_VIEW && c->back[v].lone_grad != FR_NONE &&
                           c->back[v].grad_bytes == c->p->sizes[t];

            fr_graph_builder_edge(c->b, c->back[v].op, c->back[r.src].op, c->back[v].first_grad + n,
                                  c->p->sizes[t]);
            c->outputs[n++] = (struct fr_tensor){.bytes = c->p->sizes[t],
                                                 .alias = is_same ? c->back[v].lone_grad : FR_NONE,
                                                 .split_mask = 1,
                                                 .scales = true};
        }
    }
    return n;
}

/* Joins the activations that v's backward op needs; returns their bytes. */
static uint64_t read_activations(struct conversion *c, uint32_t v)
{
    const struct fr__profile_node *node = &c->p->nodes[v];
    uint64_t bytes = output_bytes(c, v);

    if (node->role == FR__PROFILE_VIEW) {
        fr_graph_builder_edge(c->b, v, c->back[v].op, FR_NONE, 0);
        return 0;
    }
    for (uint32_t t = node->first_size; t < node->first_size + node->n_sizes; t++)
        fr_graph_builder_edge(c->b, v, c->back[v].op, t, c->p->sizes[t]);
    if (node->param_bytes == 0)
        return bytes;
    for (uint32_t i = c->p->in_first[v]; i < c->p->in_first[v + 1]; i++) {
        struct reading r = reading_of(c, v, i);

        for (uint32_t t = r.first; t < r.first + r.n; t++)
            fr_graph_builder_edge(c->b, r.src, c->back[v].op, t, c->p->sizes[t]);
    }
    return bytes + input_bytes(c, v);
}

static enum fr_status add_backward(struct conversion *c, uint32_t v, struct fr_error *err)
{
    const struct fr__profile_node *node = &c->p->nodes[v];
    uint32_t n = write_gradients(c, v);
    uint64_t read_bytes = read_activations(c, v) + c->back[v].grad_bytes, written_bytes = 0;
    char name[MAX_NAME];
    /* a product has two in its backward pass, for its input and for its parameters, and each moves
     * the parameters or their gradient once */
    struct fr_op op = {.name = name,
                       .loc = node->loc,
                       .flops = 2 * fr__profile_flops(c->p, node, &c->shape),
                       .param_bytes = 2 * node->param_bytes,
                       .kind = node->kind,
                       .phase = FR_PHASE_BACKWARD_DATA,
                       .forward = v,
                       .scales = true};

    for (uint32_t k = 0; k < n; k++)
        written_bytes += c->outputs[k].bytes;
    if (node->role == FR__PROFILE_LAYER)
        op.bytes = (double)read_bytes + (double)written_bytes;
    if (node->param_bytes)
        c->outputs[n++] = (struct fr_tensor){.bytes = node->param_bytes, .alias = FR_NONE};
    snprintf(name, sizeof(name), "%s.backward", node->id);
    FR_TRY(add_op(c, &op, node->id, n, err));
    fr_graph_builder_sample(c->b, c->back[v].op, ANY_DEVICE, c->shape.batch, node->backward_s);
    return FR_OK;
}

static enum fr_status add_update(struct conversion *c, uint32_t v, uint32_t id,
                                 struct fr_error *err)
{
    const struct fr__profile_node *node = &c->p->nodes[v];
    char name[MAX_NAME];
    struct fr_op op = {.name = name,
                       .loc = node->loc,
                       .flops = 2 * (double)(node->param_bytes / ELEM_BYTES), /* w -= rate * g */
                       .param_bytes = node->param_bytes,
                       .kind = FR_OP_UPDATE,
                       .phase = FR_PHASE_UPDATE,
                       .forward = v};

    snprintf(name, sizeof(name), "%s.update", node->id);
    FR_TRY(add_op(c, &op, node->id, 0, err));
    fr_graph_builder_edge(c->b, c->back[v].op, id, c->back[v].weight_grad, node->param_bytes);
    return FR_OK;
}

static enum fr_status add_all(struct conversion *c, struct fr_error *err)
{
    uint32_t n_nodes = (uint32_t)c->p->n_nodes, n_ops = n_nodes;

    number_backward_ops(c);
    number_gradients(c);
    for (uint32_t v = 0; v < n_nodes; v++)
        FR_TRY(add_forward(c, v, err));
    for (uint32_t v = 0; v < n_nodes; v++)
        if (c->back[v].op != FR_NONE) {
            FR_TRY(add_backward(c, v, err));
            n_ops++;
        }
    for (uint32_t v = 0; v < n_nodes; v++)
        if (c->back[v].weight_grad != FR_NONE)
            FR_TRY(add_update(c, v, n_ops++, err));
    return FR_OK;
}

static enum fr_status convert(struct conversion *c, struct fr__arena *scratch,
                              struct fr_graph **out, struct fr_error *err)
{
    struct fr_graph info = {.dtype = FR_FP32, .param_elem_bytes = ELEM_BYTES};

    c->back = fr__arena_alloc(scratch, c->p->n_nodes, sizeof(*c->back));
    if (!c->back)
        return fr__fail_nomem(err);
    fr__profile_infer(c->p, &c->shape);
    FR_TRY(make_room(c, scratch, err));
    FR_TRY(add_all(c, err));
    FR_TRY(fr__profile_name(scratch, c->p->name, &info.name, err));
    info.batch = c->shape.batch;
    info.seq_len = c->shape.seq_len;
    info.source = c->shape.is_batch_assumed
                      ? "PipeDream profile; batch assumed 64: nothing in the file tells it"
                      : "PipeDream profile; batch worked out from the sizes of its activations";
    return fr_graph_builder_finish(c->b, &info, out, err);
}

enum fr_status fr__profile_to_graph(const struct fr__profile *p, struct fr_graph **out,
                                    struct fr_error *err)
{
    struct conversion c = {.p = p, .b = fr_graph_builder_new()};
    struct fr__arena *scratch = fr__arena_new();
    enum fr_status st = c.b && scratch ? convert(&c, scratch, out, err) : fr__fail_nomem(err);

    fr_graph_builder_free(c.b);
    fr__arena_free(scratch);
    return st;
}
