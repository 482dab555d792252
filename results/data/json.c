/* results/data/json.c - the JSON format: every value of a record. The manual promises the keys.
 *
 * It is separate because programs read it: a key may be added here and never renamed.
 */
#include "config.h"

#include "base/json.h"
#include "results/data/difference.h"
#include "results/formats.h"
#include "results/parts/nics.h"
#include "results/parts/speed_up.h"

#include <math.h>

static void write_memory(struct fr__json *j, const uint64_t memory_bytes[FR_N_BUFFER_KINDS])
{
    fr__json_open(j, "memory", '{', true);
    for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++)
        fr__json_count(j, fr_buffer_kind_name((enum fr_buffer_kind)kind), memory_bytes[kind]);
    fr__json_close(j, '}');
}

static void write_devices(struct fr__json *j, const struct fr_record *r)
{
    fr__json_open(j, "devices", '[', false);
    for (size_t i = 0; i < r->n_devices; i++) {
        const struct fr_record_device *d = &r->devices[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", d->name);
        fr__json_count(j, "count", d->count);
        fr__json_number(j, "busy_s", d->busy_s);
        fr__json_number(j, "compute_s", d->compute_s);
        fr__json_number(j, "comm_s", d->comm_s);
        fr__json_number(j, "exposed_comm_s", d->exposed_comm_s);
        fr__json_number(j, "bubble_s", d->idle_s);
        fr__json_number(j, "critical_s", d->critical_s);
        fr__json_count(j, "peak_bytes", d->peak_bytes);
        fr__json_count(j, "peak_allocated_bytes", d->peak_allocated_bytes);
        fr__json_count(j, "peak_reserved_bytes", d->peak_reserved_bytes);
        fr__json_count(j, "capacity_bytes", d->capacity_bytes);
        write_memory(j, d->memory_bytes);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_links(struct fr__json *j, const struct fr_record *r)
{
    fr__json_open(j, "links", '[', false);
    for (size_t i = 0; i < r->n_links; i++) {
        const struct fr_record_link *l = &r->links[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", l->name);
        fr__json_count(j, "count", l->count);
        fr__json_number(j, "bytes", l->bytes);
        fr__json_number(j, "utilisation", l->utilisation_frac);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__json_count(j, "links_total", r->links_total);
}

static void write_sensitivities(struct fr__json *j, const struct fr_record *r)
{
    if (r->n_sensitivities == 0)
        return;
    fr__json_bool(j, "sensitivities_rough", r->is_rough);
    fr__json_open(j, "sensitivities", '[', false);
    for (size_t i = 0; i < r->n_sensitivities; i++) {
        const struct fr_record_sensitivity *s = &r->sensitivities[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "resource", s->resource);
        fr__json_number(j, "part_s", s->part_s);
        fr__json_number(j, "elasticity", s->elasticity);
        fr__json_number(j, "change", fr__faster_change(s));
        fr__json_number(j, "iteration_change", s->faster_frac);
        if (r->has_reruns) {
            fr__json_number(j, "rerun_elasticity", s->rerun_elasticity);
            fr__json_number(j, "rerun_iteration_change", s->rerun_faster_frac);
        }
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_uncertainty(struct fr__json *j, const struct fr_record *r)
{
    if (!r->has_interval)
        return;
    fr__json_number(j, "iteration_low_s", r->iteration_low_s);
    fr__json_number(j, "iteration_high_s", r->iteration_high_s);
    if (r->n_doubts == 0)
        return;
    fr__json_open(j, "uncertainty", '[', false);
    for (size_t i = 0; i < r->n_doubts; i++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "kind", fr_record_doubt_name(&r->doubts[i]));
        fr__json_string(j, "trust", fr_trust_name(r->doubts[i].trust));
        fr__json_number(j, "error", r->doubts[i].error_frac);
        fr__json_number(j, "effect_s", r->doubts[i].effect_s);
        fr__json_number(j, "share", r->doubts[i].share);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_seeds(struct fr__json *j, const struct fr_record_seeds *s)
{
    if (s->n == 0)
        return;
    fr__json_open(j, "seeds", '{', true);
    fr__json_count(j, "first", s->first);
    fr__json_count(j, "n", s->n);
    fr__json_number(j, "mean_s", s->mean_s);
    fr__json_number(j, "standard_error_s", s->standard_error_s);
    fr__json_number(j, "min_s", s->min_s);
    fr__json_number(j, "p50_s", s->p50_s);
    fr__json_number(j, "p95_s", s->p95_s);
    fr__json_number(j, "p99_s", s->p99_s);
    fr__json_number(j, "max_s", s->max_s);
    fr__json_close(j, '}');
}

static void write_oom(struct fr__json *j, const struct fr_record *r)
{
    fr__json_bool(j, "oom", r->oom);
    if (!r->oom)
        return;
    fr__json_open(j, "oom_why", '{', true);
    fr__json_string(j, "device", r->oom_why.device);
    fr__json_string(j, "task", r->oom_why.task);
    fr__json_string(j, "phase", r->oom_why.phase);
    fr__json_count(j, "asked_bytes", r->oom_why.asked_bytes);
    fr__json_count(j, "capacity_bytes", r->oom_why.capacity_bytes);
    fr__json_count(j, "over_bytes", r->oom_why.over_bytes);
    fr__json_close(j, '}');
}

static void write_advice(struct fr__json *j, const struct fr_record *r)
{
    if (!r->has_advice)
        return;
    fr__json_open(j, "advice", '[', false);
    for (size_t i = 0; i < r->n_advice; i++) {
        const struct fr_record_advice *a = &r->advice[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "change", a->change);
        fr__json_string(j, "options", a->options);
        fr__json_bool(j, "changes_training", a->changes_training);
        fr__json_number(j, "samples_per_s", a->samples_per_s);
        fr__json_number(j, "speed", a->speed);
        fr__json_count(j, "peak_bytes", a->peak_bytes);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__json_count(j, "advice_tried", r->advice_tried);
    fr__json_bool(j, "advice_cut_short", r->is_advice_cut_short);
}

static void write_peak(struct fr__json *j, const struct fr_record_peak *p)
{
    if (!p->device)
        return;
    fr__json_open(j, "peak", '{', false);
    fr__json_string(j, "device", p->device);
    fr__json_number(j, "at_s", p->at_s);
    fr__json_string(j, "task", p->task);
    fr__json_string(j, "phase", p->phase);
    fr__json_count(j, "bytes", p->bytes);
    write_memory(j, p->memory_bytes);
    fr__json_open(j, "holders", '[', false);
    for (size_t i = 0; i < p->n_holders; i++) {
        const struct fr_record_holder *h = &p->holders[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", h->name);
        fr__json_string(j, "kind", fr_buffer_kind_name(h->kind));
        fr__json_count(j, "bytes", h->bytes);
        if (h->stays)
            fr__json_null(j, "since_s");
        else
            fr__json_number(j, "since_s", h->since_s);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__json_count(j, "holders_total", p->holders_total);
    fr__json_close(j, '}');
}

/* A pipeline's planned time; the gap is what the run takes beyond it. */
static void write_promise(struct fr__json *j, const struct fr_record *r)
{
    const struct fr_decided_promise *p = r->decisions->promise;

    fr__json_number(j, "planned_s", p->planned_s);
    fr__json_string(j, "planned_by", p->by);
    fr__json_number(j, "planned_gap_frac",
                    p->planned_s > 0 ? r->iteration_s / p->planned_s - 1 : 0);
    fr__json_string(j, "not_planned", p->left_out);
}

static void write_time(struct fr__json *j, const char *key, double s)
{
    if (isfinite(s))
        fr__json_number(j, key, s);
    else
        fr__json_null(j, key);
}

/* Whose plan it is, where the engine was asked: the strategy's own, or that of another strategy
 * that was faster. own_gap_s: what the engine made of the own plan beyond what was planned. */
static void write_own(struct fr__json *j, const struct fr_record *r)
{
    const struct fr_decisions *d = r->decisions;
    double contention_s, launch_s;

    if (!(d->own_s > 0))
        return;
    fr_decisions_gap(d, &contention_s, &launch_s);
    fr__json_string(j, "plan_of", d->plan_of);
    write_time(j, "own_s", d->own_s);
    fr__json_string(j, "own_rule", d->rule);
    fr__json_open(j, "own_gap_s", '{', true);
    write_time(j, "contention", contention_s);
    write_time(j, "launch_and_order", launch_s);
    fr__json_close(j, '}');
    fr__json_string(j, "gap_cause", fr_decisions_gap_cause(d));
    fr__json_open(j, "plain_s", '{', true);
    for (size_t i = 0; i < d->n_plain; i++)
        write_time(j, d->plain[i].name, d->plain[i].made_s);
    fr__json_close(j, '}');
    fr__json_count(j, "plans_run", d->n_asked);
    fr__json_count(j, "plans_given_up", d->n_given_up);
}

/* In the order of execution. */
static void write_decisions(struct fr__json *j, const struct fr_record *r)
{
    const struct fr_decisions *d = r->decisions;
    const struct fr_decided_plan *p = fr_decisions_plan(d);

    fr__json_number(j, "planned_s", d->believed_s);
    fr__json_number(j, "planned_before_splits_s", d->start_s);
    fr__json_number(j, "planned_bound_s", p->bounds.best_s);
    fr__json_open(j, "planned_bounds", '{', true);
    fr__json_number(j, "chain_s", p->bounds.path_s);
    fr__json_number(j, "work_s", p->bounds.work_s);
    fr__json_number(j, "crossing_s", p->bounds.cross_s);
    if (p->bounds.search_s > 0)
        fr__json_number(j, "search_s", p->bounds.search_s);
    fr__json_close(j, '}');
    fr__json_string(j, "planned_from", d->start);
    fr__json_bool(j, "keeps_replicas", d->keeps_replicas);
    write_own(j, r);
    fr__json_open(j, "placement", '{', false);
    for (size_t i = 0; i < p->n_ops; i++)
        fr__json_string(j, p->ops[p->order[i]].name, d->devices[p->ops[p->order[i]].device].name);
    fr__json_close(j, '}');
    fr__json_open(j, "planned_order", '[', false);
    for (size_t i = 0; i < p->n_ops; i++)
        fr__json_string(j, NULL, p->ops[p->order[i]].name);
    fr__json_close(j, ']');
    fr__json_open(j, "splits", '[', false);
    for (size_t i = 0; i < d->n_splits; i++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "op", d->splits[i].op);
        fr__json_string(j, "dim", d->splits[i].dim);
        fr__json_count(j, "n", d->splits[i].n);
        fr__json_number(j, "before_s", d->splits[i].before_s);
        fr__json_number(j, "after_s", d->splits[i].after_s);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__json_count(j, "splits_tried", d->n_tried);
    fr__json_count(j, "evaluations", d->n_whole);
    fr__json_count(j, "evaluations_stopped", d->n_stopped);
}

static void write_question(struct fr__json *j, const struct fr_record *r)
{
    fr__json_string(j, "strategy", r->strategy);
    fr__json_string(j, "workload", r->workload);
    fr__json_string(j, "topology", r->topology);
    fr__json_count(j, "gpus", r->n_gpus);
    fr__json_count(j, "gpus_used", r->n_gpus_used);
    if (r->folding)
        fr__json_string(j, "folded", r->folding);
    fr__json_count(j, "global_batch", r->global_batch);
    fr__json_string(j, "precision", r->dtype);
    fr__json_string(j, "optimizer", r->optimizer);
    fr__json_string(j, "gradient_dtype", r->gradient_dtype);
    fr__json_string(j, "sent_gradient_dtype", r->sent_gradient_dtype);
    fr__json_string(j, "order", r->order);
    fr__json_string(j, "network", r->network);
    fr__json_string(j, "collectives", fr_record_collectives(r));
    fr__json_string(j, "collective_systems", r->collective_systems ? r->collective_systems : "");
    fr__json_string(j, "collective_way", r->collective_way);
    fr__json_count(j, "fitted_collectives", r->n_fitted_collectives);
    fr__json_count(j, "extrapolated_collectives", r->n_extrapolated_collectives);
    fr__json_count(j, "fitted_messages", r->n_fitted_messages);
    fr__json_string(j, "network_system_why", r->network_system_why ? r->network_system_why : "");
    if (r->interference)
        fr__json_string(j, "interference", r->interference);
    if (r->interference) {
        fr__json_number(j, "interference_s", r->interference_s);
        fr__json_number(j, "interference_low_s", r->interference_low_s);
        fr__json_number(j, "interference_high_s", r->interference_high_s);
    }
    if (r->wait_factor > 1)
        fr__json_number(j, "wait_factor", r->wait_factor);
    if (r->wait_factor > 1 && r->length_wait_frac > 0)
        fr__json_number(j, "length_wait_frac", r->length_wait_frac);
    if (r->recipe)
        fr__json_string(j, "recipe", r->recipe);
    if (r->input_s > 0) {
        fr__json_number(j, "input_s", r->input_s);
        fr__json_number(j, "input_wait_s", r->input_wait_s);
    }
    if (r->slow)
        fr__json_string(j, "slow", r->slow);
    if (r->is_plain) /* tasks on machines without hardware: seconds stand for any unit */
        fr__json_string(j, "time_unit", "none");
    fr__nics_json(j, r->nics, r->n_nics);
    if (r->n_stands_for > 0) {
        fr__json_open(j, "stands_for", '[', true);
        for (size_t i = 0; i < r->n_stands_for; i++)
            fr__json_string(j, NULL, r->stands_for[i]);
        fr__json_close(j, ']');
    }
    fr__json_count(j, "seed", r->seed);
    write_seeds(j, &r->seeds);
    fr__json_open(j, "warnings", '[', true);
    for (size_t i = 0; i < r->n_warnings; i++)
        fr__json_string(j, NULL, r->warnings[i]);
    fr__json_close(j, ']');
}

/* What was asked, as 'forerun diff' asks it again. */
static void write_settings(struct fr__json *j, const struct fr_record *r)
{
    if (!r->settings)
        return;
    fr__json_open(j, "question", '{', true);
    for (size_t i = 0; i < FR_N_SETTINGS; i++)
        if (r->is_set[i])
            fr__json_string(j, fr_question_setting(i), r->settings[i]);
    fr__json_close(j, '}');
}

static void write_order(struct fr__json *j, const struct fr_record *r)
{
    if (r->has_totals) {
        fr__json_number(j, "order_efficiency", r->order_efficiency);
        fr__json_number(j, "order_speedup_potential", r->order_speedup_potential);
    }
    if (r->puts_in_order)
        fr__json_count(j, "ordered_transfers", r->n_ordered);
}

/* Of an answer that takes time; null where it does not. */
static void write_rate(struct fr__json *j, const struct fr_record *r, const char *key, double x)
{
    if (r->oom || r->iteration_s <= 0)
        fr__json_null(j, key);
    else
        fr__json_number(j, key, x);
}

/* What the workload does not say has no key. */
static void write_rates(struct fr__json *j, const struct fr_record *r)
{
    double gpus = (double)r->n_gpus;

    if (r->tokens_per_sample > 0) {
        fr__json_count(j, "tokens_per_sample", r->tokens_per_sample);
        write_rate(j, r, "tokens_per_s", r->tokens_per_s);
        write_rate(j, r, "tokens_per_s_per_gpu", r->tokens_per_s / gpus);
    }
    if (r->model_flops > 0) {
        fr__json_number(j, "model_flops", r->model_flops);
        fr__json_number(j, "hardware_flops", r->hardware_flops);
        write_rate(j, r, "model_flops_per_s_per_gpu", r->model_flops / r->iteration_s / gpus);
        write_rate(j, r, "hardware_flops_per_s_per_gpu", r->hardware_flops / r->iteration_s / gpus);
    }
    if (r->model_flops > 0 && r->peak_flops_per_s > 0) {
        fr__json_number(j, "peak_flops_per_s_per_gpu", r->peak_flops_per_s / gpus);
        write_rate(j, r, "mfu", r->mfu);
        write_rate(j, r, "hfu", r->hfu);
    }
    if (r->board_W > 0)
        fr__json_number(j, "board_W", r->board_W);
}

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
    if (terms->prices.n > 0)
        fr__json_number(j, "cost_usd", run.cost_usd);
    if (r->board_W > 0)
        fr__json_number(j, "energy_J", run.energy_J);
}

/* Left out where nothing was predicted. */
static void write_interval(struct fr__json *j, const struct fr_record *r)
{
    const struct fr_record_interval *i = &r->interval;

    if (!i->is_known)
        return;
    fr__json_number(j, "low_s", r->oom ? NAN : i->low_s);
    fr__json_number(j, "high_s", r->oom ? NAN : i->high_s);
    fr__json_number(j, "half_low_s", r->oom ? NAN : i->half_low_s);
    fr__json_number(j, "half_high_s", r->oom ? NAN : i->half_high_s);
    fr__json_string(j, "interval_of", i->of);
    if (i->is_guess)
        fr__json_bool(j, "interval_is_guess", true);
}

static void write_contradiction(struct fr__json *j, const struct fr_record_contradiction *x)
{
    fr__json_open(j, "contradiction", '{', true);
    fr__json_count(j, "gpus", x->n_gpus);
    fr__json_count(j, "batch", x->batch);
    fr__json_number(j, "measured_s", x->measured_s);
    fr__json_number(j, "expected_s", x->expected_s);
    fr__json_number(j, "low_s", x->low_s);
    fr__json_number(j, "high_s", x->high_s);
    fr__json_count(j, "measured_steps", x->n_others);
    fr__json_close(j, '}');
}

static void write_correction(struct fr__json *j, const struct fr_record_correction *c)
{
    if (!c->is_asked)
        return;
    fr__json_open(j, "measured", '{', true);
    fr__json_count(j, "steps", c->n_steps);
    if (c->n_steps > 0) {
        fr__json_number(j, "compute_factor", c->compute_factor);
        fr__json_number(j, "host_factor", c->host_factor);
        fr__json_count(j, "gpus", c->n_gpus);
        fr__json_count(j, "batch", c->batch);
        fr__json_number(j, "predicted_s", c->predicted_s);
        fr__json_number(j, "measured_s", c->measured_s);
        fr__json_number(j, "predicted_bytes", c->predicted_bytes);
        fr__json_number(j, "measured_bytes", c->measured_bytes > 0 ? c->measured_bytes : NAN);
    }
    if (c->contradiction.is_known)
        write_contradiction(j, &c->contradiction);
    fr__json_close(j, '}');
}

static void write_record(struct fr__json *j, const struct fr_record *r,
                         const struct fr_sweep_terms *terms, bool is_compact)
{
    fr__json_open(j, NULL, '{', is_compact);
    if (r->oom) { /* it does not run, so it takes no time */
        fr__json_null(j, "iteration_s");
        fr__json_null(j, "samples_per_s");
    } else {
        fr__json_number(j, "iteration_s", r->iteration_s);
        fr__json_number(j, "samples_per_s", r->samples_per_s);
    }
    write_interval(j, r);
    write_correction(j, &r->correction);
    write_question(j, r);
    write_settings(j, r);
    write_rates(j, r);
    write_run(j, r, terms);
    write_oom(j, r);
    write_advice(j, r);
    fr__json_number(j, "compute_s", r->compute_s);
    fr__json_number(j, "comm_s", r->comm_s);
    fr__json_number(j, "exposed_comm_s", r->exposed_comm_s);
    fr__json_number(j, "bubble_s", r->bubble_s);
    fr__json_number(j, "lower_bound_s", r->lower_bound_s);
    write_order(j, r);
    fr__json_count(j, "iterations", r->n_iterations);
    fr__json_count(j, "peak_bytes", r->peak_bytes);
    fr__json_count(j, "peak_allocated_bytes", r->peak_allocated_bytes);
    fr__json_count(j, "peak_reserved_bytes", r->peak_reserved_bytes);
    fr__json_string(j, "memory_model", fr_memory_model_name(r->memory_model));
    write_peak(j, &r->peak);
    write_devices(j, r);
    write_links(j, r);
    fr__json_open(j, "critical_path", '[', false);
    for (size_t i = 0; i < r->n_critical; i++)
        fr__json_string(j, NULL, r->critical_path[i]);
    fr__json_close(j, ']');
    fr__json_count(j, "critical_path_total", r->critical_total);
    write_sensitivities(j, r);
    write_uncertainty(j, r);
    if (r->decisions && r->decisions->promise)
        write_promise(j, r);
    if (r->decisions && fr_decisions_plan(r->decisions))
        write_decisions(j, r);
    fr__json_open(j, "cost_sources", '{', true);
    for (unsigned trust = 0; trust < FR_N_TRUSTS; trust++)
        if (trust != FR_TRUST_PROFILED_ELSEWHERE || r->cost_frac[trust] > 0)
            fr__json_number(j, fr_trust_name((enum fr_trust)trust), r->cost_frac[trust]);
    fr__json_close(j, '}');
    fr__json_count(j, "tasks", r->n_tasks);
    fr__json_number(j, "wall_s", r->wall_s);
    fr__json_number(j, "plan_cpu_s", r->plan_cpu_s);
    fr__json_close(j, '}');
}

static void write_differences(struct fr__json *j, const struct fr_results *rs)
{
    fr__json_open(j, "differences", '[', false);
    for (size_t i = 0; i < rs->n_differences; i++)
        fr__difference_write_json(j, rs->differences[i]);
    fr__json_close(j, ']');
}

void fr_results_print_json(FILE *f, const struct fr_results *rs)
{
    struct fr__json j;

    fr__json_init(&j, f);
    if (rs->is_comparison) {
        fr__json_open(&j, NULL, '{', false);
        fr__json_open(&j, "results", '[', false);
    }
    for (size_t i = 0; i < rs->n; i++)
        write_record(&j, rs->records[i], rs->terms, false);
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
    write_record(&j, r, NULL, true);
}

static enum fr_status write_json(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                                 struct fr_error *err)
{
    (void)ctx;
    (void)err;
    fr_results_print_json(f, rs);
    return FR_OK;
}

const struct fr__format fr__format_json = {
    .ending = ".json",
    .summary = "every value, as 'forerun simulate --json' prints it",
    .takes_comparison = true,
    .write = write_json,
};
