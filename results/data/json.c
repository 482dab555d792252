/* results/data/json.c - the JSON format: every figure of a record.
 *
 * It is separate because the whole run's figures, which no record knows, stand among the record's.
 */
#include "config.h"

#include "base/json.h"
#include "results/data/data.h"
#include "study/answer/figures.h"

static void write_run(struct fr__json *j, const struct fr_record *r,
                      const struct fr_sweep_terms *terms)
{
    struct fr_record_run run;

    if (!terms || !(terms->tokens > 0 || terms->samples > 0))
        return;
    if (terms->tokens > 0)
        fr__json_number(j, "run_tokens", terms->tokens);
    else
        fr__json_number(j, "run_samples", terms->samples);
    if (!fr_record_run_of(r, terms, &run)) {
        fr__json_null(j, "run_s");
        return;
    }
    fr__json_number(j, "run_s", run.time_s);
    fr__json_number(j, "gpu_hours", run.gpu_hours);
    if (fr_prices_any(&terms->prices))
        fr__json_number(j, "cost_usd", run.cost_usd);
    if (r->board_W > 0)
        fr__json_number(j, "energy_J", run.energy_J);
    if (terms->prices.has_energy)
        fr__json_number(j, "energy_usd", run.energy_usd);
}

static void write_record(struct fr__json *j, const char *key, const struct fr_record *r,
                         const struct fr_sweep_terms *terms, const struct fr_job *job,
                         bool is_compact)
{
    fr__json_open(j, key, '{', is_compact);
    fr__figures_json(j, fr__record_asked_figures, r);
    write_run(j, r, terms);
    fr__figures_json(j, fr__record_found_figures, r);
    fr__job_write_json(j, job);
    fr__json_close(j, '}');
}

static void write_differences(struct fr__json *j, const struct fr_results *rs)
{
    fr__json_open(j, "differences", '[', false);
    for (size_t i = 0; i < rs->n_differences; i++)
        fr__difference_write_json(j, rs->differences[i]);
    fr__json_close(j, ']');
}

void fr__results_json(FILE *f, const void *what)
{
    const struct fr_results *rs = what;
    struct fr__json j;

    fr__json_init(&j, f);
    if (rs->is_comparison) {
        fr__json_open(&j, NULL, '{', false);
        fr__json_open(&j, "results", '[', false);
    }
    for (size_t i = 0; i < rs->n; i++)
        write_record(&j, NULL, rs->records[i], rs->terms, rs->job, false);
    if (rs->is_comparison) {
        fr__json_close(&j, ']');
        if (rs->n_differences > 0)
            write_differences(&j, rs);
        fr__json_close(&j, '}');
    }
    putc('\n', f);
}

void fr_record_print_json(FILE *f, const struct fr_record *r)
{
    struct fr__json j;

    fr__json_init(&j, f);
    write_record(&j, NULL, r, NULL, NULL, true);
}

void fr__record_write_json(struct fr__json *j, const char *key, const struct fr_record *r,
                           const struct fr_sweep_terms *terms)
{
    write_record(j, key, r, terms, NULL, false);
}
