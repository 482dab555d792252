/* results/data/csv.c - the CSV format: one row a record, units in the column names.
 *
 * It is separate from JSON, which also holds lists of devices, links and costs.
 */
#include "config.h"

#include "base/csv.h"
#include "base/units.h"
#include "results/formats.h"

#include <inttypes.h>
#include <math.h>

static void cell_text(FILE *f, const char *text)
{
    fr__csv_write_cell(f, text);
    putc(',', f);
}

static void cell_number(FILE *f, double x)
{
    char buf[40];

    fprintf(f, "%s,", fr__format_double(x, buf, sizeof(buf)));
}

static void cell_count(FILE *f, uint64_t x)
{
    fprintf(f, "%" PRIu64 ",", x);
}

/* Columns of many seeds stand there only if some record has them. */
static bool has_seeds(const struct fr_results *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        if (rs->records[i]->seeds.n > 0)
            return true;
    return false;
}

static void write_header(FILE *f, bool with_seeds)
{
    fputs("strategy,workload,topology,gpus,gpus_used,global_batch,precision,optimizer,oom,"
          "iteration_s,samples_per_s,compute_s,comm_s,exposed_comm_s,bubble_s,lower_bound_s,"
          "peak_bytes,peak_allocated_bytes,peak_reserved_bytes,capacity_bytes,memory_model,",
          f);
    for (unsigned trust = 0; trust < FR_N_TRUSTS; trust++)
        fprintf(f, "cost_%s_frac,",
                trust == FR_TRUST_PROFILED_ELSEWHERE ? "profiled_elsewhere"
                                                     : fr_trust_name((enum fr_trust)trust));
    fputs("plan_cpu_s,wall_s,tasks,tokens_per_s,tokens_per_s_per_gpu,model_flops_per_s_per_gpu,"
          "hardware_flops_per_s_per_gpu,mfu,hfu,low_s,high_s",
          f);
    if (with_seeds)
        fputs(",seeds,seeds_mean_s,seeds_standard_error_s,seeds_min_s,seeds_p50_s,seeds_p95_s,"
              "seeds_p99_s,seeds_max_s",
              f);
    putc('\n', f);
}

/* Empty where it does not run, or where the workload does not say. */
static void cell_rate(FILE *f, const struct fr_record *r, double x, bool is_last)
{
    char buf[40];

    fprintf(f, "%s%s", !r->oom && x > 0 ? fr__format_double(x, buf, sizeof(buf)) : "",
            is_last ? "" : ",");
}

/* Empty for a record of one seed. */
static void write_seeds(FILE *f, const struct fr_record_seeds *s)
{
    const double cells[] = {s->mean_s, s->standard_error_s, s->min_s, s->p50_s, s->p95_s, s->p99_s,
                            s->max_s};
    char buf[40];

    if (s->n > 0)
        fprintf(f, ",%u", (unsigned)s->n);
    else
        putc(',', f);
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
        fprintf(f, ",%s", s->n > 0 ? fr__format_double(cells[i], buf, sizeof(buf)) : "");
}

static void write_rates(FILE *f, const struct fr_record *r)
{
    double gpu_s = r->iteration_s > 0 ? r->iteration_s * (double)r->n_gpus : INFINITY;

    cell_rate(f, r, r->tokens_per_s, false);
    cell_rate(f, r, r->tokens_per_s / (double)r->n_gpus, false);
    cell_rate(f, r, r->model_flops / gpu_s, false);
    cell_rate(f, r, r->hardware_flops / gpu_s, false);
    cell_rate(f, r, r->mfu, false);
    cell_rate(f, r, r->hfu, false);
    cell_rate(f, r, r->interval.low_s, false);
    cell_rate(f, r, r->interval.high_s, true);
}

static void write_row(FILE *f, const struct fr_record *r, bool with_seeds)
{
    cell_text(f, r->strategy);
    cell_text(f, r->workload);
    cell_text(f, r->topology);
    cell_count(f, r->n_gpus);
    cell_count(f, r->n_gpus_used);
    cell_count(f, r->global_batch);
    cell_text(f, r->dtype);
    cell_text(f, r->optimizer);
    cell_count(f, r->oom);
    if (r->oom) {
        fputs(",,", f);
    } else {
        cell_number(f, r->iteration_s);
        cell_number(f, r->samples_per_s);
    }
    cell_number(f, r->compute_s);
    cell_number(f, r->comm_s);
    cell_number(f, r->exposed_comm_s);
    cell_number(f, r->bubble_s);
    cell_number(f, r->lower_bound_s);
    cell_count(f, r->peak_bytes);
    cell_count(f, r->peak_allocated_bytes);
    cell_count(f, r->peak_reserved_bytes);
    cell_count(f, r->peak_capacity_bytes);
    cell_text(f, fr_memory_model_name(r->memory_model));
    for (unsigned trust = 0; trust < FR_N_TRUSTS; trust++)
        cell_number(f, r->cost_frac[trust]);
    cell_number(f, r->plan_cpu_s);
    cell_number(f, r->wall_s);
    fprintf(f, "%zu,", r->n_tasks);
    write_rates(f, r);
    if (with_seeds)
        write_seeds(f, &r->seeds);
    putc('\n', f);
}

static enum fr_status write_csv(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                                struct fr_error *err)
{
    (void)ctx;
    (void)err;
    write_header(f, has_seeds(rs));
    for (size_t i = 0; i < rs->n; i++)
        write_row(f, rs->records[i], has_seeds(rs));
    return FR_OK;
}

const struct fr__format fr__format_csv = {
    .ending = ".csv",
    .summary = "one row a result, for spreadsheets",
    .takes_comparison = true,
    .write = write_csv,
};
