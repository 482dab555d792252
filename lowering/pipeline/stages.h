/* lowering/pipeline/stages.h - cuts the forward ops into contiguous parts, one for each device.
 *
 * The ops form a chain of items. An item is a forward op, in graph order; or a layer that is
 * unrolled in time (some of its ops share parameters), because parts of a pipeline are layers, not
 * time steps. Backward and update ops are on the device of their forward op, so an item's time is
 * forward plus backward. Its fixed memory is parameters, gradients and optimizer state. Its live
 * memory is what it saves for the backward pass, for each micro-batch in flight.
 *
 * Where a schedule is known, the cut is the best for it (lowering/partition/choose.h): transfers
 * at the cuts, updates, unequal devices and several stages on a device count. Without one, the cut
 * ignores transfers. Both ignore memory of tensors received from earlier parts and of gradients of
 * activations.
 */
#ifndef FR_LOWERING_PIPELINE_STAGES_H
#define FR_LOWERING_PIPELINE_STAGES_H

#include "lowering/placer.h"
#include "lowering/partition/choose.h"

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
    /* What an iteration takes of a replica by the schedule, with transfers, updates and sums of
     * gradients among replicas; 0: no schedule was given. */
    double planned_s;
    const struct fr__choice
        *choice; /* how the cut was chosen; NULL: it was given, or no schedule */
};

/* Weights that both ends of a model have, on two stages, and whose gradients these sum once an
 * iteration. */
struct fr__ends_sum {
    const bool *is_end; /* [n_ops] forward ops that own them; NULL: there are none */
    double sum_s;
};

/* What to cut: stage s stands on devices[s] and holds in_flight[s] micro-batches of `batch`
 * samples. Of a device that has several stages, each takes its share of the memory. */
struct fr__stages_problem {
    size_t n_stages;
    const uint32_t *devices;           /* [n_stages] */
    const double *in_flight;           /* [n_stages] */
    const struct fr__moments *moments; /* [ranks of the schedule]; NULL: by in_flight */
    double batch;
    unsigned stages_a_device;
    const uint32_t
        *unit_of_layer; /* [n_layers] layers of a unit stay together, and so do the ops of
                                      a layer of none (FR_NONE); NULL: cut anywhere */
    bool is_by_count;   /* as many units a stage, whatever they take: with one stage a rank, stage s
                         ends before unit (s + 1) n / n_stages, rounded down; with several, what does
                         not come out even goes to the last stages of all ranks; what stands before the first unit is of
                         the first stage, after the last of the last. Where n_stages divides n + 2
                         and not n, these two count as a unit each (Megatron-LM's
                         get_num_layers_to_build with account_for_embedding_in_pipeline_split and
                         ..loss..). Needs unit_of_layer */
    /* The schedule that will run: NULL, or with the rank of each stage (of two copies, the
     * first's). */
    const struct fr_schedule *schedule;
    const uint32_t *rank_of; /* [n_stages] */
    /* [n_ops] what messages among the replicas of a stage take, which are ops of the graph, at the
     * graph's own batch; NULL: there are none */
    const double *message_s;
    struct fr__stage_sums sums; /* of gradients, by rank of the schedule */
    struct fr__ends_sum ends;
    const char *given; /* where stages begin, by name (stages_given.h); NULL or "": chosen */
};

/* Cuts the placer's graph. Logs each stage. Memory comes from the placer's arena.
 * FR_EUSAGE: fewer items, or by count fewer units, than stages; as fr__stages_given. */
enum fr_status fr__stages_cut(struct fr__stages *out, struct fr__placer *pl,
                              const struct fr__stages_problem *in, struct fr_error *err);

#endif
