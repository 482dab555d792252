/* workloads/graph/builder.c - takes the ops, tensors, edges and samples of a graph in any order. */
#include "config.h"

#include "workloads/graph/builder.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct fr_graph_builder *fr_graph_builder_new(void)
{
    struct fr_graph_builder *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->arena = fr__arena_new();
    if (!b->arena) {
        free(b);
        return NULL;
    }
    return b;
}

void fr_graph_builder_free(struct fr_graph_builder *b)
{
    if (!b)
        return;
    fr__arena_free(b->arena);
    free(b->ops);
    free(b->tensors);
    free(b->edges);
    free(b->samples);
    fr__strings_fini(&b->names);
    fr__strings_fini(&b->layers);
    fr__strings_fini(&b->devices);
    free(b);
}

/* Keeps the first fault for fr_graph_builder_finish. */
#define FAULT(b, ...)                                                                              \
    do {                                                                                           \
        if (!(b)->has_fault)                                                                       \
            fr__fail(&(b)->fault, __VA_ARGS__);                                                    \
        (b)->has_fault = true;                                                                     \
    } while (0)

static uint32_t out_of_memory(struct fr_graph_builder *b)
{
    b->is_out_of_memory = true;
    return FR_NONE;
}

/* The number of a copy of text[0..len) in m. */
static uint32_t intern(struct fr_graph_builder *b, struct fr__strings *m, const char *text,
                       size_t len)
{
    struct fr__mark mark = fr__arena_mark(b->arena);
    char *copy = fr__arena_strndup(b->arena, text, len);
    bool is_new;
    uint32_t id;

    if (!copy)
        return out_of_memory(b);
    id = fr__strings_add(m, copy, &is_new);
    if (!is_new)
        fr__arena_rewind(b->arena, mark);
    return id == FR_NONE ? out_of_memory(b) : id;
}

static bool copy_loc(struct fr_graph_builder *b, struct fr_loc *loc)
{
    if (!loc->file)
        return true;
    if (!b->last_file || strcmp(b->last_file, loc->file) != 0)
        b->last_file = fr__arena_strdup(b->arena, loc->file);
    loc->file = b->last_file;
    return loc->file != NULL;
}

static void say_named_twice(struct fr_graph_builder *b, const struct fr_op *op, uint32_t earlier)
{
    const struct fr_loc *at = &b->ops[earlier].loc;

    if (at->line)
        FAULT(b, FR_EPARSE, op->loc, "op '%s' is named twice, first at %s:%u:%u", op->name,
              at->file ? at->file : "", at->line, at->col);
    else
        FAULT(b, FR_EPARSE, op->loc, "op '%s' is named twice, as op %u and as op %zu", op->name,
              earlier, b->n_ops);
}

static bool add_name(struct fr_graph_builder *b, struct fr_op *op)
{
    bool is_new;
    uint32_t id;

    op->name = fr__arena_strdup(b->arena, op->name);
    if (!op->name)
        return false;
    id = fr__strings_add(&b->names, op->name, &is_new);
    if (id == FR_NONE)
        return false;
    if (!is_new)
        say_named_twice(b, op, id);
    return true;
}

static bool add_outputs(struct fr_graph_builder *b, uint32_t op, const struct fr_tensor outputs[],
                        size_t n)
{
    if (!fr__grow(&b->tensors, &b->cap_tensors, b->n_tensors + n, sizeof(*b->tensors)))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct fr_tensor *t = &b->tensors[b->n_tensors++];

        *t = outputs[i];
        t->op = op;
        /* dims beyond n_dims mean nothing; zero, they compare and export alike */
        for (unsigned d = t->n_dims; d < FR_MAX_DIMS; d++)
            t->dims[d] = 0;
    }
    return true;
}

uint32_t fr_graph_builder_op(struct fr_graph_builder *b, const struct fr_op *op, const char *layer,
                             const struct fr_tensor outputs[], size_t n_outputs)
{
    struct fr_op copy = *op;
    const char *dot;
    uint32_t id;

    if (b->n_ops >= FR__MAX_OPS || n_outputs > FR__MAX_TENSORS - b->n_tensors) {
        FAULT(b, FR_ERANGE, op->loc, "more than %zu ops or %zu tensors", FR__MAX_OPS,
              FR__MAX_TENSORS);
        return FR_NONE;
    }
    id = (uint32_t)b->n_ops;
    if (!fr__grow(&b->ops, &b->cap_ops, b->n_ops + 1, sizeof(*b->ops)) || !copy_loc(b, &copy.loc) ||
        !add_name(b, &copy))
        return out_of_memory(b);
    dot = strrchr(copy.name, '.');
    if (layer)
        copy.layer = intern(b, &b->layers, layer, strlen(layer));
    else
        copy.layer =
            intern(b, &b->layers, copy.name, dot ? (size_t)(dot - copy.name) : strlen(copy.name));
    if (copy.layer == FR_NONE)
        return FR_NONE;
    if (copy.phase == FR_PHASE_FORWARD || copy.phase == FR_PHASE_INPUT)
        copy.forward = id;
    copy.first_tensor = (uint32_t)b->n_tensors;
    copy.n_tensors = (uint32_t)n_outputs;
    if (!add_outputs(b, id, outputs, n_outputs))
        return out_of_memory(b);
    b->ops[b->n_ops++] = copy;
    return id;
}

static void add_edge(struct fr_graph_builder *b, uint32_t src, uint32_t dst, uint32_t tensor,
                     uint64_t bytes)
{
    if (b->n_edges >= FR__MAX_EDGES)
        FAULT(b, FR_ERANGE, FR_NOWHERE, "more than %zu edges", FR__MAX_EDGES);
    else if (!fr__grow(&b->edges, &b->cap_edges, b->n_edges + 1, sizeof(*b->edges)))
        b->is_out_of_memory = true;
    else
        b->edges[b->n_edges++] = (struct fr_edge){src, dst, tensor, bytes};
}

void fr_graph_builder_edge(struct fr_graph_builder *b, uint32_t src, uint32_t dst, uint32_t tensor,
                           uint64_t bytes)
{
    if (tensor == FR_NONE && bytes > 0)
        FAULT(b, FR_EPARSE, FR_NOWHERE,
              "the edge from op %u to op %u moves %" PRIu64 " bytes, but carries no tensor", src,
              dst, bytes);
    else
        add_edge(b, src, dst, tensor, bytes);
}

void fr_graph_builder_tie(struct fr_graph_builder *b, uint32_t owner, uint32_t user)
{
    add_edge(b, owner, user, FR_NONE, FR__TIE);
}

void fr_graph_builder_sample(struct fr_graph_builder *b, uint32_t op, const char *device,
                             uint32_t batch, double time_s)
{
    uint32_t id;

    if (b->n_samples >= FR__MAX_SAMPLES) {
        FAULT(b, FR_ERANGE, FR_NOWHERE, "more than %zu samples", FR__MAX_SAMPLES);
        return;
    }
    id = intern(b, &b->devices, device, strlen(device));
    if (id == FR_NONE ||
        !fr__grow(&b->samples, &b->cap_samples, b->n_samples + 1, sizeof(*b->samples))) {
        b->is_out_of_memory = true;
        return;
    }
    b->samples[b->n_samples++] = (struct fr_sample){op, b->devices.keys[id], batch, time_s};
}
