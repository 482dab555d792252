/* workloads/passes/units.h - the units of a graph: the blocks that a model repeats, such as the
 * layers of a Transformer or the residual blocks of a ResNet.
 *
 * Recomputation keeps what enters a unit (workloads/passes/recompute.h), and a sharded optimizer
 * gathers the parameters of one unit at a time (Y. Zhao et al., PyTorch FSDP, VLDB 2023, section
 * 3.1: a unit for each Transformer layer, the rest in the root unit).
 *
 * Layers whose names begin alike up to a number are one block: "layer3.attn" and "layer3.mlp" are
 * "layer3", "layer2.0.conv1" is "layer2" or "layer2.0". Blocks are units if
 *   1. two that follow each other are equal: the same ops of the same sizes in the same order; of
 *      several such numbers in a name the first counts;
 *   2. else, two that follow each other have the same kinds of ops;
 *   3. else, where no name says it, they are the longest run of equal blocks of layers.
 * A block without parameters is no unit. Layers of no unit belong to the root.
 */
#ifndef FR_WORKLOADS_PASSES_UNITS_H
#define FR_WORKLOADS_PASSES_UNITS_H

#include "workloads/workloads.h"

struct fr__unit {
    const char *name; /* "layer3"; the name of its first layer where names do not say it */
    uint32_t first_layer, n_layers; /* its first one; how many it has */
    uint64_t param_bytes;           /* of its forward ops */
};

struct fr__units {
    size_t n_units;
    const struct fr__unit *units;  /* [n_units], in the order of their first layers */
    const uint32_t *unit_of_layer; /* [n_layers] of the graph; FR_NONE: the root */
    const uint32_t *unit_of_op;    /* [n_ops] where units are modules; NULL: by layer */
    uint64_t root_param_bytes;
    void *priv;
};

/* Finds the units of a graph; forward ops alone matter. The graph may go. FR_ENOMEM: *out
 * untouched. O(ops + edges + layers * numbers in a name), for rule 3 O(layers^2). */
enum fr_status fr__units_find(struct fr__units *out, const struct fr_graph *g,
                              struct fr_error *err);
/* The units of `model` in a graph that was made from it, such as one rank's: by the names of
 * layers. A rank's ops alone might be alike where the model's are not, or the other way round,
 * for messages stand among them. Layers that the model has not belong to the root. FR_ENOMEM:
 * *out untouched. As above, and O(layers). */
enum fr_status fr__units_within(struct fr__units *out, const struct fr_graph *g,
                                const struct fr_graph *model, struct fr_error *err);
void fr__units_free(struct fr__units *u);

/* Cuts units into their modules: each op of a unit with least_bytes of parameters or more begins a
 * unit of its own, to which the ops up to the next one belong, and those of the unit before the
 * first one to that. Sets unit_of_op. Names and unit_of_layer are those of *u, which must stay.
 * FR_ENOMEM: *out untouched. O(ops). */
enum fr_status fr__units_by_module(struct fr__units *out, const struct fr__units *u,
                                   const struct fr_graph *g, uint64_t least_bytes,
                                   struct fr_error *err);

#endif
