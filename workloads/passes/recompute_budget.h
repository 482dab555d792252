/* workloads/passes/recompute_budget.h - the cheapest ops of a layer to run again, so that it keeps
 * no more than a part of its bytes.
 *
 *     min  sum of the times of what runs again
 *     s.t. bytes of what is kept <= budget
 *
 * What an op wrote is kept where the op does not run again and a backward op reads it, or another
 * op that runs again does. Solved exactly, by depth first search from the last op to the first, so
 * that who reads an op's result is decided before the op; a branch ends where its time and that of
 * the fractional knapsack over what is left reach the best so far.
 *
 * Source:  what PyTorch's compiler does by torch._functorch.config.activation_memory_budget, there
 *          with a min-cut before (torch/_functorch/partitioners.py, choose_saved_values_set).
 */
#ifndef FR_WORKLOADS_PASSES_RECOMPUTE_BUDGET_H
#define FR_WORKLOADS_PASSES_RECOMPUTE_BUDGET_H

#include "workloads/passes/units.h"

struct fr__budget_item {
    double cost_s; /* of running it again, >= 0 */
    double bytes;  /* that it wrote and backward ops read */
    double more;   /* that it wrote and others of the layer read, but no backward op */
    bool is_fixed; /* it does not run again: others than the layer read what it wrote */
};

/* readers: items that read what item i wrote, readers[first[i]] .. readers[first[i + 1] - 1], all
 * greater than i. Fills runs_again [n]. false: no choice keeps that little. At most
 * FR__MOST_BUDGET_ITEMS items. */
enum { FR__MOST_BUDGET_ITEMS = 128 };
bool fr__budget_solve(size_t n, const struct fr__budget_item items[], const uint32_t first[],
                      const uint32_t readers[], double budget_bytes, bool runs_again[]);

/* Says of each tensor whether it is kept where each unit of a training graph keeps at most `part`
 * (0 to 1) of the bytes that its backward pass reads, or as little as it can. Experts are treated
 * alike. cost_s: [n_ops] of forward ops. is_kept: [n_tensors]. FR_ERANGE: a unit of more ops than
 * can be chosen from. FR_ENOMEM. */
enum fr_status fr__budget_keep(const struct fr_graph *g, const struct fr__units *units,
                               const double cost_s[], double part, bool is_kept[],
                               struct fr_error *err);

#endif
