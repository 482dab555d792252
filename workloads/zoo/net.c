/* workloads/zoo/net.c - a model while it is built: its layer, its faults, its tensors, one op. */
#include "config.h"

#include "workloads/zoo/nn.h"

#include "workloads/graph/elements.h"
#include "workloads/graph/shape.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#define MAX_TENSOR_BYTES (UINT64_C(1) << 53) /* exact in a double, as the builder asks */

enum fr_status fr__nn_init(struct fr__net *net, uint32_t batch, uint32_t seq_len,
                           enum fr_dtype dtype, struct fr_error *err)
{
    *net =
        (struct fr__net){.batch = batch, .seq_len = seq_len, .dtype = dtype, .trained_in = dtype};
    net->elem_bytes = fr__elem_bytes(dtype);
    net->b = fr_graph_builder_new();
    return net->b ? FR_OK : fr__fail_nomem(err);
}

void fr__nn_fini(struct fr__net *net)
{
    fr_graph_builder_free(net->b);
    net->b = NULL;
}

enum fr_status fr__nn_finish(struct fr__net *net, const char *name, const char *source,
                             struct fr_graph **out, struct fr_error *err)
{
    struct fr_graph info = {.name = name,
                            .source = source,
                            .batch = net->batch,
                            .seq_len = net->seq_len,
                            .dtype = net->dtype,
                            .param_elem_bytes = net->elem_bytes};

    if (net->is_out_of_memory)
        return fr__fail_nomem(err);
    if (net->is_too_large)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "'%s' at batch %u has a tensor of over 2^53 bytes", name, net->batch);
    if (net->fault.code != FR_OK) {
        if (err)
            *err = net->fault;
        return net->fault.code;
    }
    return fr_graph_builder_finish(net->b, &info, out, err);
}

void fr__nn_layer(struct fr__net *net, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(net->layer, sizeof(net->layer), fmt, ap);
    va_end(ap);
    assert(n >= 0 && (size_t)n < sizeof(net->layer));
    (void)n;
}

void fr__nn_fault(struct fr__net *net, const char *fmt, ...)
{
    char text[sizeof(net->fault.text)];
    va_list ap;

    if (net->fault.code != FR_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fr__fail(&net->fault, FR_ERANGE, FR_NOWHERE, "%s", text);
}

/* ---- tensors and ops ---- */

uint64_t fr__nn_product(struct fr__net *net, uint64_t a, uint64_t b)
{
    if (b != 0 && a > MAX_TENSOR_BYTES / b) {
        net->is_too_large = true;
        return MAX_TENSOR_BYTES;
    }
    return a * b;
}

uint64_t fr__nn_elements(struct fr__net *net, const struct fr_tensor *t)
{
    uint64_t n = 1;

    for (unsigned d = 0; d < t->n_dims; d++)
        n = fr__nn_product(net, n, t->dims[d]);
    return n;
}

struct fr_tensor fr__nn_tensor(struct fr__net *net, unsigned elem_bytes, uint8_t n_dims,
                               const uint32_t dims[], uint8_t split_mask)
{
    struct fr_tensor t = {
        .alias = FR_NONE, .n_dims = n_dims, .split_mask = split_mask, .scales = true};

    for (unsigned d = 0; d < n_dims; d++)
        t.dims[d] = dims[d];
    t.bytes = fr__nn_product(net, fr__nn_elements(net, &t), elem_bytes);
    return t;
}

struct fr_tensor fr__nn_like(struct fr__net *net, const struct fr_tensor *t, unsigned elem_bytes,
                             uint8_t split_mask)
{
    struct fr_tensor copy = fr__nn_tensor(net, elem_bytes, t->n_dims, t->dims, split_mask);

    copy.scales = t->scales;
    return copy;
}

/* What scales with the batch, or what does not. */
static double traffic(const struct fr__value in[], size_t n_in, const struct fr_tensor out[],
                      size_t n_out, bool scales)
{
    double bytes = 0;

    for (size_t i = 0; i < n_in; i++)
        if (in[i].t.scales == scales)
            bytes += (double)in[i].t.bytes;
    for (size_t i = 0; i < n_out; i++)
        if (out[i].scales == scales)
            bytes += (double)out[i].bytes;
    return bytes;
}

struct fr__value fr__nn_op(struct fr__net *net, const struct fr__op_spec *spec,
                           const struct fr__value in[], size_t n_in, struct fr_tensor out[],
                           size_t n_out)
{
    struct fr__value first = {.op = net->n_ops, .tensor = net->n_tensors};
    char name[2 * sizeof(net->layer)];
    struct fr_op op = {.name = name, .kind = spec->kind, .flops = spec->flops};

    snprintf(name, sizeof(name), "%s%s%s", net->layer, spec->name[0] ? "." : "", spec->name);
    for (size_t i = 0; i < n_in; i++)
        op.scales = op.scales || in[i].t.scales;
    for (size_t i = 0; i < n_out; i++)
        op.scales = op.scales || out[i].scales;
    op.phase = spec->is_input ? FR_PHASE_INPUT : FR_PHASE_FORWARD;
    op.forward = net->n_ops;
    if (!spec->is_input && !spec->is_view)
        op.bytes = spec->bytes > 0 ? spec->bytes : traffic(in, n_in, out, n_out, op.scales);
    op.param_bytes = fr__nn_product(net, spec->n_weights, net->elem_bytes);
    op.n_params = spec->n_params;
    op.is_in_place = spec->is_in_place;
    op.shape = spec->shape;
    if (op.shape.of == FR_SHAPE_UNKNOWN && n_out > 0)
        op.shape = fr__shape_of_output(spec->kind, &out[0]);
    for (size_t i = 0; i < n_out; i++)
        if (spec->is_view || (spec->is_in_place && i == 0))
            out[i].alias = in[0].tensor;
    if (fr_graph_builder_op(net->b, &op, net->layer, out, n_out) == FR_NONE)
        net->is_out_of_memory = true;
    for (size_t i = 0; i < n_in; i++)
        fr_graph_builder_edge(net->b, in[i].op, net->n_ops, in[i].tensor, in[i].t.bytes);
    net->n_ops++;
    net->n_tensors += (uint32_t)n_out;
    if (n_out > 0)
        first.t = out[0];
    return first;
}
