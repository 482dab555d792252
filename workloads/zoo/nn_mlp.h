/* workloads/zoo/nn_mlp.h - the feed-forward layer of a Transformer, gated or plain.
 *
 *     gated   down(act(gate(x)) up(x))   N. Shazeer, GLU Variants Improve Transformer, 2020
 *     plain   down(act(up(x)))           A. Vaswani et al., NeurIPS 2017, section 3.3
 *
 * The activation is SiLU (then a gated layer is SwiGLU), GELU (GeGLU), ReLU, or the square of ReLU
 * (D. So et al., Primer, NeurIPS 2021, section 3).
 */
#ifndef FR_WORKLOADS_ZOO_NN_MLP_H
#define FR_WORKLOADS_ZOO_NN_MLP_H

#include "workloads/zoo/nn.h"

enum fr__activation { FR__ACT_SILU, FR__ACT_GELU, FR__ACT_RELU, FR__ACT_RELU2 };
extern const char *const fr__activations[]; /* "silu", "gelu", "relu", "relu2"; ends with NULL */

struct fr__mlp {
    uint32_t width; /* between its products */
    enum fr__activation act;
    bool is_plain; /* no gate */
    bool has_bias;
    bool is_fused;             /* gate and up are one product, whose columns are then cut */
    const char *gate, *up;     /* names of the products; fused: "gate_up" */
    const char *down;          /* plain: up and down */
    const char *inside_prefix; /* of the names of the ops between, "shared." */
};

/* The layer of x up to what its last product reads, [batch, seq, width]; without that product. */
struct fr__value fr__nn_mlp_inside(struct fr__net *net, const struct fr__mlp *m,
                                   struct fr__value x);
/* The layer of x [batch, seq, hidden], in the net's layer. */
struct fr__value fr__nn_mlp(struct fr__net *net, const struct fr__mlp *m, struct fr__value x);
#endif
