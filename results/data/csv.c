/* results/data/csv.c - the CSV format: one row a record, units in the column names.
 *
 * It is separate from JSON, which also holds lists of devices, links and costs.
 */
#include "config.h"

#include "results/data/data.h"
#include "study/answer/figures.h"

#include <string.h>

/* Figures that are not named follow these. */
static const char *const always[] = {"strategy",
                                     "workload",
                                     "topology",
                                     "gpus",
                                     "gpus_used",
                                     "global_batch",
                                     "precision",
                                     "optimizer",
                                     "oom",
                                     "iteration_s",
                                     "samples_per_s",
                                     "compute_s",
                                     "comm_s",
                                     "exposed_comm_s",
                                     "bubble_s",
                                     "lower_bound_s",
                                     "peak_bytes",
                                     "peak_allocated_bytes",
                                     "peak_reserved_bytes",
                                     "capacity_bytes",
                                     "memory_model",
                                     "cost_profiled_frac=cost_sources.profiled",
                                     "cost_scaled_frac=cost_sources.scaled",
                                     "cost_calibrated_frac=cost_sources.calibrated",
                                     "cost_transferred_frac=cost_sources.transferred",
                                     "cost_datasheet_frac=cost_sources.datasheet",
                                     "cost_profiled_elsewhere_frac",
                                     "plan_cpu_s",
                                     "wall_s",
                                     "tasks",
                                     "tokens_per_s",
                                     "tokens_per_s_per_gpu",
                                     "model_flops_per_s_per_gpu",
                                     "hardware_flops_per_s_per_gpu",
                                     "mfu",
                                     "hfu",
                                     "low_s",
                                     "high_s",
                                     NULL};
/* Columns of many seeds stand there only if some record has them. */
static const char *const of_seeds[] = {"seeds=seeds.n",
                                       "seeds_mean_s=seeds.mean_s",
                                       "seeds_standard_error_s=seeds.standard_error_s",
                                       "seeds_min_s=seeds.min_s",
                                       "seeds_p50_s=seeds.p50_s",
                                       "seeds_p95_s=seeds.p95_s",
                                       "seeds_p99_s=seeds.p99_s",
                                       "seeds_max_s=seeds.max_s",
                                       NULL};
static bool has_seeds(const struct fr_results *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        if (rs->records[i]->seeds.n > 0)
            return true;
    return false;
}

void fr__results_csv(FILE *f, const void *what)
{
    const struct fr_results *rs = what;
    const char *order[(sizeof(always) + sizeof(of_seeds)) / sizeof(always[0])];
    const size_t n = sizeof(always) / sizeof(always[0]) - 1;

    memcpy(order, always, sizeof(always));
    if (has_seeds(rs))
        memcpy(order + n, of_seeds, sizeof(of_seeds));
    fr__figures_csv_names(f, fr__record_figures, order);
    putc('\n', f);
    for (size_t i = 0; i < rs->n; i++) {
        fr__figures_csv(f, fr__record_figures, order, rs->records[i]);
        putc('\n', f);
    }
}
