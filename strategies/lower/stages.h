/* strategies/lower/stages.h - cuts the forward ops into contiguous parts, one for each device.
 *
 * The ops form a chain of items. An item is a forward op, in graph order; or a layer that is
 * unrolled in time (some of its ops share parameters), because parts of a pipeline are layers, not
 * time steps. Backward and update ops are on the device of their forward op, so an item's time is
 * forward plus backward. Its fixed memory is parameters, gradients and optimizer state. Its live
 * memory is what it saves for the backward pass, for each micro-batch in flight.
 *
 * Ignores: transfers at the cuts, tensors received from earlier parts, gradients of activations.
 */
#ifndef FR_STRATEGIES_LOWER_STAGES_H
#define FR_STRATEGIES_LOWER_STAGES_H

#include "strategies/lower/placer.h"

/* A chain of n items to cut into n_parts contiguous parts of at least one item each. */
struct fr__cut_problem {
    size_t n, n_parts;
    const double *const *sum_s; /* [n_parts][n + 1] time of the first i items on part p's device */
    const double *fixed_bytes;  /* [n + 1] of the first i items */
    const double *live_bytes;   /* [n + 1] a micro-batch in flight */
    const double *in_flight;    /* [n_parts] micro-batches in flight at most */
    const double *capacity_bytes; /* [n_parts] */
};

/* Fills first[0 .. n_parts]: part p is items first[p] .. first[p + 1] - 1. Minimises the largest
 * part's time among cuts in which every part fits its memory (*fits true); if there is none, the
 * largest excess of a part over its capacity. Exact when all parts are alike (times, capacities) or
 * differ only in in_flight; else the best cut whose prefixes are best as well.
 * Dynamic program over (parts, items), crossing point of a rising and a falling function by
 * bisection. Cost: O(n_parts n log n) time, O(n_parts n) memory. FR_ENOMEM. */
enum fr_status fr__cut_chain(const struct fr__cut_problem *p, uint32_t first[], bool *fits,
                             struct fr_error *err);

/* Moves items between parts so that devices which have several parts take as long; part p is on
 * devices[p]. first: a cut that fits; the devices' memory still does afterwards. A local search:
 * see stages_even.c. Cost: O(n_parts^2) times the parts of a device, for each item that is moved.
 * FR_ENOMEM: a valid cut is left. */
enum fr_status fr__stages_even(const struct fr__cut_problem *p, const uint32_t devices[],
                               uint32_t first[], struct fr_error *err);

/* The items of the placer's graph, at least one; memory comes from its arena. An edge between ops
 * of two items leads to the later one. FR_EUSAGE: no forward op. */
struct fr__items {
    size_t n;
    const uint32_t *first;   /* [n] first forward op of each */
    const uint32_t *item_of; /* [n_ops] all ops */
};
enum fr_status fr__items_list(struct fr__items *out, struct fr__placer *pl, struct fr_error *err);

struct fr__stages {
    size_t n_stages, n_items;
    const uint32_t *items;    /* [n_items] first forward op of each */
    const uint32_t *stage_of; /* [n_ops] all ops */
    const uint32_t *first;    /* [n_stages + 1] into items */
};

/* What to cut: stage s stands on devices[s] and holds in_flight[s] micro-batches of `batch`
 * samples. Of a device that has several stages, each takes its share of the memory. */
struct fr__stages_problem {
    size_t n_stages;
    const uint32_t *devices; /* [n_stages] */
    const double *in_flight; /* [n_stages] */
    double batch;
    unsigned stages_a_device;
    const uint32_t
        *unit_of_layer; /* [n_layers] layers of a unit stay together, and so do the ops of
                                      a layer of none (FR_NONE); NULL: cut anywhere */
    bool is_by_count;   /* as many units a stage, whatever they take: stage s ends before unit
                         (s + 1) n / n_stages, rounded down; what stands before the first unit is of
                         the first stage, after the last of the last. Where n_stages divides n + 2
                         and not n, these two count as a unit each (Megatron-LM's
                         get_num_layers_to_build with account_for_embedding_in_pipeline_split and
                         ..loss..). Needs unit_of_layer */
};

/* Cuts the placer's graph. Logs each stage. Memory comes from the placer's arena.
 * FR_EUSAGE: fewer items, or by count fewer units, than stages. */
enum fr_status fr__stages_cut(struct fr__stages *out, struct fr__placer *pl,
                              const struct fr__stages_problem *in, struct fr_error *err);

#endif
