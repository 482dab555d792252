/* workloads/zoo/nn_tf1.c - layer norm and GELU out of smaller ops; see nn_tf1.h. */
#include "config.h"

#include "workloads/zoo/nn_tf1.h"

#include <stdio.h>

/* Arithmetic per element, as nn.c counts it. erf: as one function, then a sum and a product. */
static const double cdf_flops = 3, mul_flops = 1, shift_flops = 2, add_flops = 1;

static struct fr__value add(struct fr__net *net, const char *name, const char *part,
                            enum fr_op_kind kind, double flops, const struct fr__value in[],
                            size_t n_in)
{
    char full[64];
    const struct fr__op_spec spec = {.name = full,
                                     .kind = kind,
                                     .flops = flops * (double)fr__nn_elements(net, &in[0].t),
                                     .is_in_place = kind == FR_OP_ADD};
    struct fr_tensor out = fr__nn_like(net, &in[0].t, net->elem_bytes, in[0].t.split_mask);

    snprintf(full, sizeof(full), "%s.%s", name, part);
    return fr__nn_op(net, &spec, in, n_in, &out, 1);
}

struct fr__value fr__nn_tf1_gelu(struct fr__net *net, const char *name, struct fr__value x)
{
    struct fr__value factors[2] = {x, x}, scaled;

    scaled = add(net, name, "scaled", FR_OP_SCALE, mul_flops, &x, 1);
    factors[1] = add(net, name, "cdf", FR_OP_GELU, cdf_flops, &scaled, 1);
    return add(net, name, "mul", FR_OP_MUL, mul_flops, factors, 2);
}

struct fr__value fr__nn_tf1_layernorm(struct fr__net *net, const char *name, struct fr__value x,
                                      struct fr__value inv)
{
    const struct fr__value factors[2] = {x, inv};
    struct fr__value sum[2];

    sum[1] = add(net, name, "shift", FR_OP_SCALE, shift_flops, &inv, 1);
    sum[0] = add(net, name, "mul", FR_OP_MUL, mul_flops, factors, 2);
    return add(net, name, "add", FR_OP_ADD, add_flops, sum, 2);
}
