/* lowering/recipe.h - precision recipes: which bytes a parameter has on a rank, and which
 * of them ZeRO shards. One table, so that every strategy that shards counts alike.
 *
 * A recipe says how a framework trains in a precision:
 *
 *     weight      what the forward and backward pass read
 *     cache       further copies of the weight that they keep: an fp8 cast, its transpose
 *     gradient    what the backward pass writes; 0 where it adds to the main gradient at once
 *     main        main gradient, which micro-batches are added up in; 0: in `gradient`
 *     step        copy of the gradient in fp32 that is made for the optimizer's step
 *     master      master weight, which the optimizer updates; 0: the weight itself
 *     states      each state of the optimizer: none for SGD, 1 for momentum, 2 for Adam
 *
 * ZeRO's levels (S. Rajbhandari et al., ZeRO, SC 2020, section 5) shard over d ranks: 1 states,
 * master weights and step copies; 2 also gradients; 3 also weights. Level 1 is Megatron-LM's
 * distributed optimizer, level 3 is FSDP. A cache is never sharded: it is made of gathered weights,
 * so at level 3 it is there for the units that are gathered only. Under automatic casts nothing is
 * cached: a cast is an op of the graph, whose output lives from its forward pass to its backward
 * pass (workloads/passes/autocast.h); autocast drops its own table of casts when the forward pass
 * is over (PyTorch, aten/src/ATen/autocast_mode.cpp, clear_cache).
 *
 * Sources:  those of recipes.yaml; of fp8 the scales, one fp32 a tensor, are left out.
 * Ignores:  padding of buckets; scaling factors and step counts, a few bytes a tensor.
 */
#ifndef FR_LOWERING_RECIPE_H
#define FR_LOWERING_RECIPE_H

#include "lowering/lowering.h"

enum fr__recipe_part {
    FR__PART_WEIGHT,
    FR__PART_CACHE,
    FR__PART_GRADIENT,
    FR__PART_MAIN_GRADIENT,
    FR__PART_STEP_GRADIENT,
    FR__PART_MASTER,
    FR__PART_STATES, /* all of the optimizer's together */
    FR__N_PARTS
};

struct fr__recipe {
    const char *name, *summary;
    enum fr_dtype dtype;       /* of matrix products */
    double bytes[FR__N_PARTS]; /* of one parameter; FR__PART_STATES: of each state */
};

/* Made of recipes.yaml. */
extern const struct fr__recipe fr__recipes[];
extern const size_t fr__n_recipes;

/* By name; NULL: unknown. fr__recipe_at(): the i-th, NULL past the end. */
const struct fr__recipe *fr__recipe_named(const char *name);
const struct fr__recipe *fr__recipe_at(size_t i);
/* What is usual in a precision: "fp32" for fp32 and tf32, "amp", and Megatron-LM's for fp16, bf16
 * and fp8. */
const struct fr__recipe *fr__recipe_of(enum fr_dtype dtype);

/* The option of strategies that names one; its text goes to fr__recipe_read(). */
#define FR__RECIPE_OPTION                                                                          \
    {                                                                                              \
        .name = "recipe", .type = FR_OPTION_TEXT, .fallback = "usual",                             \
        .help = "what is kept of a parameter beside its weight: usual in the precision "           \
                "(Megatron-LM's: under bf16 and fp8 gradients in fp32), or master16 (gradients "   \
                "in 16 bits), pure-bf16, bf16-moments, fp8-weights, fp8-nemo"                      \
    }
/* *out: NULL where text is "usual". FR_EUSAGE: there is none of that name, with the nearest; it is
 * for another precision than the graph's, or trains nothing. */
enum fr_status fr__recipe_read(const struct fr__recipe **out, const char *text,
                               const struct fr_graph *g, struct fr_error *err);

/* Whether ZeRO's level 0..3 shards the part. */
bool fr__recipe_is_sharded(enum fr__recipe_part part, unsigned zero);
/* So many bytes of a part for each parameter, sharded over d >= 1 ranks where the level says so; no
 * states where nothing is trained. */
double fr__recipe_sharded(const struct fr__recipe *r, enum fr__recipe_part part, double bytes,
                          unsigned zero, double d);
/* Bytes of one parameter's part on a rank. Of states the least, as large tensors have them. */
double fr__recipe_part_bytes(const struct fr__recipe *r, enum fr__recipe_part part,
                             enum fr_optimizer optimizer, unsigned zero, double d);
/* All parts but the cache. */
double fr__recipe_bytes(const struct fr__recipe *r, enum fr_optimizer optimizer, unsigned zero,
                        double d);

/* Bytes of one parameter in a message: of a gradient that is summed over ranks, of a weight that is
 * gathered. */
double fr__recipe_reduced_bytes(const struct fr__recipe *r);
double fr__recipe_gathered_bytes(const struct fr__recipe *r);

/* Memory traffic of a fused optimizer step for one parameter that the rank updates: it reads the
 * gradient, reads and writes the states, of so many bytes, and the master weight, and writes the
 * weight. */
double fr__recipe_update_bytes(const struct fr__recipe *r, double states_bytes);

#endif
