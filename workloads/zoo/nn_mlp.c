/* workloads/zoo/nn_mlp.c - products, activation and gate of a feed-forward layer. */
#include "config.h"

#include "workloads/zoo/nn_mlp.h"

#include "workloads/zoo/nn_attention.h"

#include <stdio.h>

const char *const fr__activations[] = {[FR__ACT_SILU] = "silu",
                                       [FR__ACT_GELU] = "gelu",
                                       [FR__ACT_RELU] = "relu",
                                       [FR__ACT_RELU2] = "relu2",
                                       NULL};

/* ReLU works in place: "relu"; what squares it is "square". */
static struct fr__value activate(struct fr__net *net, const struct fr__mlp *m, struct fr__value x)
{
    const char *word = m->act == FR__ACT_RELU2 ? "relu" : fr__activations[m->act];
    char name[48];

    snprintf(name, sizeof(name), "%s%s", m->inside_prefix, word);
    if (m->act == FR__ACT_SILU)
        return fr__nn_silu(net, name, x);
    if (m->act == FR__ACT_GELU)
        return fr__nn_gelu(net, name, x);
    x = fr__nn_relu(net, name, x);
    if (m->act == FR__ACT_RELU)
        return x;
    snprintf(name, sizeof(name), "%ssquare", m->inside_prefix);
    return fr__nn_square(net, name, x);
}

static struct fr__value product(struct fr__net *net, const struct fr__mlp *m, const char *name,
                                struct fr__value x, uint32_t n_out)
{
    return m->has_bias ? fr__nn_dense(net, name, x, n_out) : fr__nn_linear(net, name, x, n_out);
}

static struct fr__value gated(struct fr__net *net, const struct fr__mlp *m, struct fr__value x)
{
    const uint32_t widths[] = {m->width, m->width};
    struct fr__value gate, half[2];
    char name[48];

    if (m->is_fused) {
        x = product(net, m, "gate_up", x, 2 * m->width);
        fr__nn_split_columns(net, "split", x, widths, 2, half);
        gate = activate(net, m, half[0]);
    } else {
        gate = activate(net, m, product(net, m, m->gate, x, m->width));
        half[1] = product(net, m, m->up, x, m->width);
    }
    snprintf(name, sizeof(name), "%smul", m->inside_prefix);
    return fr__nn_mul(net, name, gate, half[1]);
}

struct fr__value fr__nn_mlp_inside(struct fr__net *net, const struct fr__mlp *m, struct fr__value x)
{
    return m->is_plain ? activate(net, m, product(net, m, m->up, x, m->width)) : gated(net, m, x);
}

struct fr__value fr__nn_mlp(struct fr__net *net, const struct fr__mlp *m, struct fr__value x)
{
    return product(net, m, m->down, fr__nn_mlp_inside(net, m, x), x.t.dims[2]);
}
