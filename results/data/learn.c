/* results/data/learn.c - the rounds of learning costs as JSON and as CSV, for programs.
 *
 * It is separate from the table for people, which leaves out columns and rounds numbers.
 */
#include "config.h"

#include "base/csv.h"
#include "base/json.h"
#include "base/units.h"
#include "results/data/learn.h"

#include <inttypes.h>
#include <math.h>

/* ---- JSON ---- */

static void write_round(struct fr__json *j, const struct fr_learn_round *r)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_bool(j, "is_profile", r->is_profile);
    fr__json_count(j, "iteration", r->iteration);
    fr__json_count(j, "strategy", r->strategy);
    fr__json_string(j, "outcome", fr_learn_outcome_name(r->outcome));
    fr__json_count(j, "in_use", r->in_use);
    fr__json_number(j, "planned_s", r->planned_s);
    fr__json_number(j, "estimated_s", r->estimated_s);
    fr__json_number(j, "measured_s", r->measured_s);
    fr__json_bool(j, "oom", isinf(r->measured_s));
    fr__json_number(j, "activation_s", r->activation_s);
    fr__json_count(j, "ops", r->n_ops);
    fr__json_count(j, "splits", r->n_splits);
    fr__json_count(j, "gpus", r->n_gpus);
    fr__json_count(j, "costs_measured", r->n_measured);
    fr__json_count(j, "costs_new", r->n_new);
    fr__json_count(j, "costs_changed", r->n_changed);
    fr__json_number(j, "largest_change", r->change);
    fr__json_string(j, "largest_change_of", r->changed[0] ? r->changed : NULL);
    fr__json_close(j, '}');
}

void fr_learning_print_json(FILE *f, const struct fr_learning *l)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "workload", l->workload);
    fr__json_string(&j, "topology", l->topology);
    fr__json_string(&j, "strategy", l->strategy);
    fr__json_count(&j, "n_gpus", l->n_gpus);
    fr__json_count(&j, "global_batch", l->global_batch);
    fr__json_count(&j, "seed", l->seed);
    fr__json_string(&j, "start", l->start);
    fr__json_open(&j, "rounds", '[', false);
    for (size_t i = 0; i < l->n_rounds; i++)
        write_round(&j, &l->rounds[i]);
    fr__json_close(&j, ']');
    fr__json_bool(&j, "has_converged", l->has_converged);
    fr__json_count(&j, "rounds_of_pre_training", l->n_pre_training);
    fr__json_number(&j, "first_s", l->first_s);
    fr__json_number(&j, "in_use_s", l->in_use_s);
    fr__json_count(&j, "iterations", l->n_iterations);
    fr__json_number(&j, "training_s", l->training_s);
    fr__json_number(&j, "activation_s", l->activation_s);
    fr__json_count(&j, "activated", l->n_activated);
    fr__json_count(&j, "rolled_back", l->n_rolled_back);
    fr__json_open(&j, "placement", '{', true);
    for (size_t d = 0; d < l->n_gpus; d++)
        fr__json_count(&j, l->gpus[d].name, l->gpus[d].n_ops);
    fr__json_close(&j, '}');
    fr__json_open(&j, "splits", '[', false);
    for (size_t i = 0; i < l->n_splits; i++)
        fr__json_string(&j, NULL, l->splits[i]);
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
}

/* ---- CSV ---- */

/* A number that is not known leaves its cell empty. */
static void csv_number(FILE *f, double x)
{
    char text[40];

    putc(',', f);
    if (isfinite(x))
        fputs(fr__format_double(x, text, sizeof(text)), f);
}

void fr__learning_write_csv(FILE *f, const struct fr_learning *l)
{
    fputs("round,is_profile,iteration,strategy,outcome,in_use,planned_s,estimated_s,measured_s,"
          "activation_s,splits,gpus,costs_measured,costs_new,costs_changed,largest_change,"
          "largest_change_of\n",
          f);
    for (size_t i = 0; i < l->n_rounds; i++) {
        const struct fr_learn_round *r = &l->rounds[i];

        fprintf(f, "%zu,%d,%" PRIu64 ",%u,%s,%u", i, r->is_profile, r->iteration, r->strategy,
                fr_learn_outcome_name(r->outcome), r->in_use);
        csv_number(f, r->planned_s);
        csv_number(f, r->estimated_s);
        csv_number(f, r->measured_s);
        csv_number(f, r->activation_s);
        fprintf(f, ",%zu,%zu,%zu,%zu,%zu", r->n_splits, r->n_gpus, r->n_measured, r->n_new,
                r->n_changed);
        csv_number(f, r->change);
        putc(',', f);
        fr__csv_write_cell(f, r->changed);
        putc('\n', f);
    }
}
