/* workloads/passes/recompute.h - runs parts of the forward pass again just before the backward pass
 * reads them, instead of keeping what they made (T. Chen et al., Training Deep Nets with Sublinear
 * Memory Cost, 2016; V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer
 * Models, 2022, sections 4 and 5).
 *
 * It rewrites a training graph. Ops are taken in groups:
 *
 *     selective   the attention core: from the product of queries and keys to the product with the
 *                 values. Fused attention has none of these ops, so nothing changes.
 *     modules     parts of a layer that are named, each by itself (Megatron-LM,
 *                 --recompute-modules, megatron/core/transformer/transformer_config.py):
 *                     core_attn       attention: the core, or the fused op
 *                     layernorm *     the norms in front of attention and of the feed-forward layer
 *                     mla_up_proj *   of latent attention: what makes queries, keys and values of
 *                                     the latents, and turns them
 *                     mlp             a feed-forward layer that has no experts: from the products
 *                                     that read its input to the one behind the activation (also
 *                                     OLMo-core, selected_modules, feed_forward)
 *                     moe             a layer of experts: from the router to the sum of all experts
 *                     shared_experts  the feed-forward layer that all tokens pass beside experts
 *                     moe_act *       the activations of experts
 *                 Those with a star hand on what they made as well: the next op's backward reads
 *                 the copy, so that their outputs are not kept (tensor_parallel/random.py,
 *                 CheckpointWithoutOutput). They run again when that backward begins.
 *     full        units (workloads/passes/units.h), n of them a group: what enters a group is kept
 *     budget      the units, but what is_kept says stays kept
 *     some        the first n units of each pipeline stage, each a group of its own
 *
 * The backward ops of a group read copies of its forward ops, NAME.again, with is_recomputed set.
 * A copy has the price of its forward op and owns no parameters. The copies of a group wait for the
 * gradient that reaches the group's end, so none runs early. A tensor of the group that a backward
 * op outside reads stays kept: what enters the next group, unless the group's outputs are
 * discarded.
 *
 * Only what a backward op of the group needs runs again, directly or through another copy, as with
 * PyTorch's checkpoint that stops early (torch.utils.checkpoint without reentry, from 2.1 on). With
 * runs_all the whole group runs again before its backward pass begins, as with Megatron-LM's
 * checkpoint, which calls the forward function once more (tensor_parallel/random.py).
 *
 * Random numbers: a mask of dropout is drawn again from the saved state of the generator, so it is
 * not kept either (both implementations).
 *
 * Convolutional networks: the units are their blocks, so a ResNet keeps the inputs of its residual
 * blocks. Ignores: that batch norm's running means are updated twice, which frameworks avoid.
 */
#ifndef FR_WORKLOADS_PASSES_RECOMPUTE_H
#define FR_WORKLOADS_PASSES_RECOMPUTE_H

#include "workloads/passes/units.h"

enum fr__recompute {
    FR__RECOMPUTE_NONE,
    FR__RECOMPUTE_SELECTIVE,
    FR__RECOMPUTE_FULL,
    FR__RECOMPUTE_MODULES,
    FR__RECOMPUTE_SOME,
    FR__RECOMPUTE_BUDGET
};

enum fr__module {
    FR__MODULE_CORE_ATTN,
    FR__MODULE_LAYERNORM,
    FR__MODULE_MLA_UP_PROJ,
    FR__MODULE_MLP,
    FR__MODULE_MOE,
    FR__MODULE_SHARED_EXPERTS,
    FR__MODULE_MOE_ACT,
    FR__N_MODULES
};
const char *fr__module_name(enum fr__module m); /* "core_attn" */
/* "core_attn+layernorm" as bits 1 << module; 0: a word is no module. */
unsigned fr__modules_read(const char *text);

struct fr__recompute_problem {
    const struct fr_graph *graph; /* a training graph without recomputed ops */
    const struct fr__units *units;
    enum fr__recompute how;
    /* [n_units] group of each unit, FR_NONE: keeps everything; fr__recompute_groups() fills it.
     * NULL: each unit is a group. Selective, modules: units with FR_NONE keep what would run
     * again. */
    const uint32_t *group_of;
    unsigned modules; /* bits 1 << enum fr__module */
    /* [n_tensors] kept though their op's group runs again (budget: workloads/passes/
     * recompute_budget.h); NULL: none */
    const bool *is_kept;
    bool runs_all;
};

/* Fills group_of as the mode says. n: units a group (full; 0 is taken as 1) or units a stage
 * (some). stage_of: [n_units] pipeline stage of each unit, those of one stage one after another;
 * NULL: there is one stage. A group has units of one stage only. */
void fr__recompute_groups(enum fr__recompute how, uint32_t n, size_t n_units,
                          const uint32_t stage_of[], uint32_t group_of[]);

struct fr__recomputed {
    struct fr_graph *graph;
    const uint32_t
        *from; /* [n_ops] op of the given graph: itself, or the forward op that is copied */
    void *priv;
};

/* Makes the graph; the caller frees it with fr__recomputed_free(), or the graph alone with
 * fr_graph_free() after it has set out->graph to NULL here. Layers, samples and the order of the
 * given graph's ops stay.
 * FR_EUSAGE: there are no units to recompute; the model has nothing of a module; an op of a
 * group writes over what enters the group; a forward op of a group comes after the group's
 * backward pass. FR_ENOMEM. O((ops + edges) log). */
enum fr_status fr__recompute(struct fr__recomputed *out, const struct fr__recompute_problem *in,
                             struct fr_error *err);
void fr__recomputed_free(struct fr__recomputed *r);

#endif
