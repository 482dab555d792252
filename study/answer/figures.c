/* study/answer/figures.c - the figures of a step's record, in the order of its JSON. The manual
 * promises the keys: one may be added and none renamed.
 *
 * A figure that is added here appears in JSON and, unless it is a detail, in CSV.
 */
#include "config.h"

#include "study/answer/figures.h"

#define R(m) FR_MEMBER(struct fr_record, m)
#define D(key_, m)                                                                                 \
    {                                                                                              \
        .key = key_, R(m), .is_detail = true                                                       \
    }

#define WITH(key_, m, condition)                                                                   \
    {                                                                                              \
        .key = key_, R(m), .when = condition, .is_detail = true                                    \
    }
#define OPTIONAL(key_, m)                                                                          \
    {                                                                                              \
        .key = key_, R(m), .is_optional = true, .is_detail = true                                  \
    }
#define WHEN(function, expression) FR_CONDITION(function, struct fr_record, r, expression)
#define OF(function, member, expression) FR_VALUE(function, struct fr_record, r, member, expression)

/* ---- what figures need to be there ---- */

WHEN(runs, !r->oom)
WHEN(takes_time, !r->oom && r->iteration_s > 0)
WHEN(has_range, r->interval.is_known)
WHEN(is_guess, r->interval.is_known && r->interval.is_guess)
WHEN(is_corrected, r->correction.is_asked)
WHEN(has_interference, r->interference != NULL)
WHEN(waits_for_slowest, r->wait_factor > 1)
WHEN(waits_for_longest, r->wait_factor > 1 && r->length_wait_frac > 0)
WHEN(has_warnings, r->n_warnings > 0 && r->warning_kinds)
WHEN(has_recipe, r->recipe != NULL)
WHEN(has_ideal, r->ideal_iteration_s > 0)
WHEN(waits_for_input, r->input_s > 0)
WHEN(has_nics, r->n_nics > 0)
WHEN(has_stand_ins, r->n_stands_for > 0)
WHEN(has_seeds, r->seeds.n > 0)
WHEN(has_settings, r->settings != NULL)
WHEN(has_tokens, r->tokens_per_sample > 0)
WHEN(has_flops, r->model_flops > 0)
WHEN(has_peak_rate, r->model_flops > 0 && r->peak_flops_per_s > 0)
WHEN(has_power, r->board_W > 0)
WHEN(knows_power, r->power_limit_W > 0)
WHEN(is_oom, r->oom)
WHEN(has_advice, r->has_advice)
WHEN(has_totals, r->has_totals)
WHEN(is_ordered, r->puts_in_order)
WHEN(has_peak, r->peak.device != NULL)
WHEN(has_sensitivities, r->n_sensitivities > 0)
WHEN(has_errors, r->has_interval)
WHEN(has_error_shares, r->has_interval && r->n_error_shares > 0)
WHEN(has_promise, r->decisions && r->decisions->promise)
WHEN(has_plan, r->decisions &&fr_decisions_plan(r->decisions))
WHEN(has_profiles_from_elsewhere, r->cost_frac[FR_TRUST_PROFILED_ELSEWHERE] > 0)
WHEN(has_short_list, r->n_sensitivities > 0 && !r->has_reruns)
WHEN(has_long_list, r->n_sensitivities > 0 && r->has_reruns)

/* ---- figures that are worked out ---- */

OF(collectives_of, text, fr_record_collectives(r))
OF(systems_of, text, r->collective_systems ? r->collective_systems : "")
OF(why_no_system_of, text, r->network_system_why ? r->network_system_why : "")
/* Tasks on machines without hardware: seconds stand for any unit. */
OF(unit_of, text, r->is_plain ? "none" : NULL)
OF(tokens_per_gpu_of, number, r->tokens_per_s / (double)r->n_gpus)
OF(model_rate_of, number, r->model_flops / r->iteration_s / (double)r->n_gpus)
OF(hardware_rate_of, number, r->hardware_flops / r->iteration_s / (double)r->n_gpus)
OF(peak_rate_of, number, r->peak_flops_per_s / (double)r->n_gpus)
OF(memory_model_of, text, fr_memory_model_name(r->memory_model))
OF(planned_of, number, r->decisions->promise->planned_s)
OF(planner_of, text, r->decisions->promise->by)
OF(not_planned_of, text, r->decisions->promise->left_out)

/* What the run takes beyond the planned time. */
static void planned_gap_of(const void *record, struct fr_value *v)
{
    const struct fr_record *r = record;
    double planned_s = r->decisions->promise->planned_s;

    v->number = planned_s > 0 ? r->iteration_s / planned_s - 1 : 0;
}

static const char *buffer_name(const void *object, size_t kind)
{
    (void)object;
    return fr_buffer_kind_name((enum fr_buffer_kind)kind);
}

static const char *setting_name(const void *record, size_t i)
{
    return ((const struct fr_record *)record)->is_set[i] ? fr_question_setting(i) : NULL;
}

static const void *setting_item(const void *record, size_t i, union fr_item *room)
{
    (void)room;
    return i < FR_N_SETTINGS ? &((const struct fr_record *)record)->settings[i] : NULL;
}

/* ---- what a record consists of ---- */

bool fr__nics_wait_for_pcie(const struct fr_topo_nics *k)
{
    return k->host_Bps > 0 && k->host_Bps < k->rate_Bps;
}

FR_CONDITION(has_pcie, struct fr_topo_nics, x, x->host_Bps > 0)
FR_VALUE(limit_of, struct fr_topo_nics, x, text, fr__nics_wait_for_pcie(x) ? "pcie" : "network")

const struct fr_figure fr__nics_figures[] = {
    {.key = "machines", FR_MEMBER(struct fr_topo_nics, n_machines)},
    {.key = "per_machine", FR_MEMBER(struct fr_topo_nics, n_a_machine)},
    {.key = "rate_Bps", FR_MEMBER(struct fr_topo_nics, rate_Bps)},
    {.key = "pcie_Bps", FR_MEMBER(struct fr_topo_nics, host_Bps), .known = has_pcie},
    {.key = "limited_by", FR_TEXT(limit_of)},
    FR_END_OF_FIGURES,
};

#define CONTRADICTION(m) FR_MEMBER(struct fr_record_contradiction, m)
static const struct fr_figure contradiction[] = {{.key = "gpus", CONTRADICTION(n_gpus)},
                                                 {.key = "batch", CONTRADICTION(batch)},
                                                 {.key = "measured_s", CONTRADICTION(measured_s)},
                                                 {.key = "expected_s", CONTRADICTION(expected_s)},
                                                 {.key = "low_s", CONTRADICTION(low_s)},
                                                 {.key = "high_s", CONTRADICTION(high_s)},
                                                 {.key = "measured_steps", CONTRADICTION(n_others)},
                                                 FR_END_OF_FIGURES};

FR_CONDITION(has_steps, struct fr_record_correction, x, x->n_steps > 0)
FR_CONDITION(has_parts, struct fr_record_correction, x, x->n_steps + x->n_recipe_steps > 0)
FR_CONDITION(has_fit, struct fr_record_correction, x, x->n_recipe_steps > 0)
FR_CONDITION(has_bytes, struct fr_record_correction, x, x->measured_bytes > 0)
FR_CONDITION(is_contradicted, struct fr_record_correction, x, x->contradiction.is_known)
#define CORRECTION(m) FR_MEMBER(struct fr_record_correction, m)
static const struct fr_figure correction[] = {
    {.key = "steps", CORRECTION(n_steps)},
    {.key = "recipe_steps", CORRECTION(n_recipe_steps), .when = has_fit},
    {.key = "compute_factor", CORRECTION(compute_factor), .when = has_parts},
    {.key = "host_factor", CORRECTION(host_factor), .when = has_parts},
    {.key = "exchange_factor", CORRECTION(exchange_factor), .when = has_parts},
    {.key = "copies_s", CORRECTION(copies_s), .when = has_parts},
    {.key = "exchange_s", CORRECTION(exchange_s), .when = has_parts},
    {.key = "step_s", CORRECTION(step_s), .when = has_parts},
    {.key = "gpus", CORRECTION(n_gpus), .when = has_steps},
    {.key = "batch", CORRECTION(batch), .when = has_steps},
    {.key = "predicted_s", CORRECTION(predicted_s), .when = has_steps},
    {.key = "measured_s", CORRECTION(measured_s), .when = has_steps},
    {.key = "predicted_bytes", CORRECTION(predicted_bytes), .when = has_steps},
    {.key = "measured_bytes", CORRECTION(measured_bytes), .when = has_steps, .known = has_bytes},
    {.key = "contradiction",
     FR_INSIDE(struct fr_record_correction, contradiction, contradiction),
     .when = is_contradicted},
    FR_END_OF_FIGURES,
};

#define SEEDS(m) FR_MEMBER(struct fr_record_seeds, m)
static const struct fr_figure seeds[] = {
    {.key = "first", SEEDS(first)},
    {.key = "n", SEEDS(n)},
    {.key = "mean_s", SEEDS(mean_s)},
    {.key = "standard_error_s", SEEDS(standard_error_s), .title = "std error"},
    {.key = "min_s", SEEDS(min_s), .title = "min"},
    {.key = "p50_s", SEEDS(p50_s)},
    {.key = "p95_s", SEEDS(p95_s)},
    {.key = "p99_s", SEEDS(p99_s)},
    {.key = "max_s", SEEDS(max_s), .title = "max"},
    FR_END_OF_FIGURES};
static const struct fr_figure oom_why[] = {
    {.key = "device", FR_MEMBER(struct fr_record_oom, device)},
    {.key = "task", FR_MEMBER(struct fr_record_oom, task)},
    {.key = "phase", FR_MEMBER(struct fr_record_oom, phase)},
    {.key = "asked_bytes", FR_MEMBER(struct fr_record_oom, asked_bytes)},
    {.key = "capacity_bytes", FR_MEMBER(struct fr_record_oom, capacity_bytes)},
    {.key = "over_bytes", FR_MEMBER(struct fr_record_oom, over_bytes)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure advice[] = {
    {.key = "change", FR_MEMBER(struct fr_record_advice, change)},
    {.key = "options", FR_MEMBER(struct fr_record_advice, options)},
    {.key = "changes_training", FR_MEMBER(struct fr_record_advice, changes_training)},
    {.key = "samples_per_s", FR_MEMBER(struct fr_record_advice, samples_per_s)},
    {.key = "speed", FR_MEMBER(struct fr_record_advice, speed)},
    {.key = "peak_bytes", FR_MEMBER(struct fr_record_advice, peak_bytes)},
    FR_END_OF_FIGURES,
};

static void warning_name_of(const void *object, struct fr_value *out)
{
    out->text = fr_warning_name(*(const enum fr_warning *)object);
}
static const struct fr_figure warning_kind[] = {{.kind = FR_FIGURE_TEXT, .of = warning_name_of},
                                                FR_END_OF_FIGURES};

FR_CONDITION(is_temporary, struct fr_record_holder, x, !x->stays)
FR_VALUE(holder_kind_of, struct fr_record_holder, x, text, fr_buffer_kind_name(x->kind))
static const struct fr_figure holders[] = {
    {.key = "name", FR_MEMBER(struct fr_record_holder, name)},
    {.key = "kind", FR_TEXT(holder_kind_of)},
    {.key = "bytes", FR_MEMBER(struct fr_record_holder, bytes)},
    {.key = "since_s", FR_MEMBER(struct fr_record_holder, since_s), .known = is_temporary},
    FR_END_OF_FIGURES,
};

#define PEAK struct fr_record_peak
static const struct fr_figure peak[] = {
    {.key = "device", FR_MEMBER(PEAK, device)},
    {.key = "at_s", FR_MEMBER(PEAK, at_s)},
    {.key = "task", FR_MEMBER(PEAK, task)},
    {.key = "phase", FR_MEMBER(PEAK, phase)},
    {.key = "bytes", FR_MEMBER(PEAK, bytes)},
    {.key = "memory", FR_ARRAY_MAP(PEAK, memory_bytes, fr__values_u64, buffer_name)},
    {.key = "holders", FR_ITEMS(PEAK, holders, n_holders, holders)},
    {.key = "holders_total", FR_MEMBER(PEAK, holders_total)},
    FR_END_OF_FIGURES,
};

#define DEVICE(m) FR_MEMBER(struct fr_record_device, m)
static const struct fr_figure devices[] = {
    {.key = "name", DEVICE(name)},
    {.key = "count", DEVICE(count)},
    {.key = "busy_s", DEVICE(busy_s)},
    {.key = "compute_s", DEVICE(compute_s)},
    {.key = "comm_s", DEVICE(comm_s)},
    {.key = "exposed_comm_s", DEVICE(exposed_comm_s)},
    {.key = "bubble_s", DEVICE(idle_s)},
    {.key = "critical_s", DEVICE(critical_s)},
    {.key = "peak_bytes", DEVICE(peak_bytes)},
    {.key = "peak_allocated_bytes", DEVICE(peak_allocated_bytes)},
    {.key = "peak_reserved_bytes", DEVICE(peak_reserved_bytes)},
    {.key = "capacity_bytes", DEVICE(capacity_bytes)},
    {.key = "memory",
     FR_ARRAY_MAP(struct fr_record_device, memory_bytes, fr__values_u64, buffer_name)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure links[] = {
    {.key = "name", FR_MEMBER(struct fr_record_link, name)},
    {.key = "count", FR_MEMBER(struct fr_record_link, count)},
    {.key = "bytes", FR_MEMBER(struct fr_record_link, bytes)},
    {.key = "utilisation", FR_MEMBER(struct fr_record_link, utilisation_frac)},
    FR_END_OF_FIGURES,
};

double fr__faster_change(const struct fr_record_sensitivity *s)
{
    return s->is_time ? -(FR_FASTER - 1) / FR_FASTER : FR_FASTER - 1;
}

FR_VALUE(faster_change_of, struct fr_record_sensitivity, x, number, fr__faster_change(x))

#define SENSITIVITY(m) FR_MEMBER(struct fr_record_sensitivity, m)
static const struct fr_figure sensitivities[] = {
    {.key = "resource", SENSITIVITY(resource)},
    {.key = "part_s", SENSITIVITY(part_s)},
    {.key = "elasticity", SENSITIVITY(elasticity)},
    {.key = "change", FR_NUMBER(faster_change_of)},
    {.key = "iteration_change", SENSITIVITY(faster_frac)},
    FR_END_OF_FIGURES,
};
static const struct fr_figure reruns[] = {
    {.kind = FR_FIGURE_GROUP, .figures = sensitivities},
    {.key = "rerun_elasticity", SENSITIVITY(rerun_elasticity)},
    {.key = "rerun_iteration_change", SENSITIVITY(rerun_faster_frac)},
    FR_END_OF_FIGURES,
};

FR_VALUE(error_share_name_of, struct fr_record_error_share, x, text, fr_record_error_share_name(x))

FR_VALUE(error_share_trust_of, struct fr_record_error_share, x, text, fr_trust_name(x->trust))
static const struct fr_figure error_shares[] = {
    {.key = "kind", FR_TEXT(error_share_name_of)},
    {.key = "trust", FR_TEXT(error_share_trust_of)},
    {.key = "error", FR_MEMBER(struct fr_record_error_share, error_frac)},
    {.key = "effect_s", FR_MEMBER(struct fr_record_error_share, effect_s)},
    {.key = "share", FR_MEMBER(struct fr_record_error_share, share)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure cost_sources[] = {
    {.key = "profiled", R(cost_frac[FR_TRUST_PROFILED])},
    {.key = "scaled", R(cost_frac[FR_TRUST_SCALED])},
    {.key = "calibrated", R(cost_frac[FR_TRUST_CALIBRATED])},
    {.key = "transferred", R(cost_frac[FR_TRUST_TRANSFERRED])},
    {.key = "datasheet", R(cost_frac[FR_TRUST_DATASHEET])},
    {.key = "profiled-elsewhere",
     R(cost_frac[FR_TRUST_PROFILED_ELSEWHERE]),
     .when = has_profiles_from_elsewhere},
    FR_END_OF_FIGURES,
};

/* A pipeline's planned time. */
static const struct fr_figure promised[] = {{.key = "planned_s", FR_NUMBER(planned_of)},
                                            {.key = "planned_by", FR_TEXT(planner_of)},
                                            {.key = "planned_gap_frac", FR_NUMBER(planned_gap_of)},
                                            {.key = "not_planned", FR_TEXT(not_planned_of)},
                                            FR_END_OF_FIGURES};

/* ---- the record ---- */

/* Null where nothing runs; the workload that does not say has no key. */
#define ITEMS(m, count, f) FR_ITEMS(struct fr_record, m, count, f)
#define RATE(condition) .when = condition, .known = takes_time

const struct fr_figure fr__record_asked_figures[] = {
    {.key = "iteration_s", R(iteration_s), .known = runs, .title = "iteration"},
    {.key = "samples_per_s", R(samples_per_s), .known = runs, .title = "samples/s"},
    {.key = "low_s", R(interval.low_s), .when = has_range, .known = runs},
    {.key = "high_s", R(interval.high_s), .when = has_range, .known = runs},
    {.key = "half_low_s", R(interval.half_low_s), .when = has_range, .known = runs, FR_DETAIL},
    {.key = "half_high_s", R(interval.half_high_s), .when = has_range, .known = runs, FR_DETAIL},
    WITH("interval_of", interval.of, has_range),
    WITH("interval_is_guess", interval.is_guess, is_guess),
    {.key = "measured", FR_INSIDE(struct fr_record, correction, correction), .when = is_corrected},
    {.key = "strategy", R(strategy)},
    {.key = "workload", R(workload)},
    {.key = "topology", R(topology)},
    {.key = "gpus", R(n_gpus), .title = "GPUs"},
    {.key = "gpus_used", R(n_gpus_used)},
    OPTIONAL("folded", folding),
    {.key = "global_batch", R(global_batch)},
    {.key = "precision", R(dtype)},
    {.key = "optimizer", R(optimizer)},
    D("gradient_dtype", gradient_dtype),
    D("sent_gradient_dtype", sent_gradient_dtype),
    D("order", order),
    D("network", network),
    {.key = "collectives", FR_TEXT(collectives_of), FR_DETAIL},
    {.key = "collective_systems", FR_TEXT(systems_of), FR_DETAIL},
    D("collective_way", collective_way),
    D("fitted_collectives", n_fitted_collectives),
    D("extrapolated_collectives", n_extrapolated_collectives),
    D("fitted_messages", n_fitted_messages),
    {.key = "network_system_why", FR_TEXT(why_no_system_of), FR_DETAIL},
    WITH("interference", interference, has_interference),
    WITH("interference_s", interference_s, has_interference),
    WITH("interference_low_s", interference_low_s, has_interference),
    WITH("interference_high_s", interference_high_s, has_interference),
    WITH("wait_factor", wait_factor, waits_for_slowest),
    WITH("length_wait_frac", length_wait_frac, waits_for_longest),
    OPTIONAL("recipe", recipe),
    OPTIONAL("tune", tune),
    WITH("recipe_assumed", is_recipe_assumed, has_recipe),
    WITH("ideal_iteration_s", ideal_iteration_s, has_ideal),
    WITH("input_s", input_s, waits_for_input),
    WITH("input_wait_s", input_wait_s, waits_for_input),
    OPTIONAL("slow", slow),
    {.key = "time_unit", FR_TEXT(unit_of), .is_optional = true, FR_DETAIL},
    {.key = "nics", ITEMS(nics, n_nics, fr__nics_figures), .when = has_nics},
    {.key = "stands_for",
     FR_WORDS(struct fr_record, stands_for, n_stands_for, fr__values_text),
     .when = has_stand_ins},
    D("seed", seed),
    {.key = "seeds", FR_INSIDE(struct fr_record, seeds, seeds), .when = has_seeds},
    {.key = "warnings", FR_WORDS(struct fr_record, warnings, n_warnings, fr__values_text)},
    {.key = "warning_kinds",
     FR_WORDS(struct fr_record, warning_kinds, n_warnings, warning_kind),
     .when = has_warnings},
    {.key = "question",
     .kind = FR_FIGURE_MAP,
     .figures = fr__values_text,
     .item = setting_item,
     .name = setting_name,
     .when = has_settings},
    WITH("tokens_per_sample", tokens_per_sample, has_tokens),
    {.key = "tokens_per_s", R(tokens_per_s), RATE(has_tokens), .title = "tokens/s"},
    {.key = "tokens_per_s_per_gpu",
     FR_NUMBER(tokens_per_gpu_of),
     RATE(has_tokens),
     .title = "tokens/s/GPU"},
    WITH("model_flops", model_flops, has_flops),
    WITH("hardware_flops", hardware_flops, has_flops),
    {.key = "model_flops_per_s_per_gpu", FR_NUMBER(model_rate_of), RATE(has_flops)},
    {.key = "hardware_flops_per_s_per_gpu", FR_NUMBER(hardware_rate_of), RATE(has_flops)},
    {.key = "peak_flops_per_s_per_gpu", FR_NUMBER(peak_rate_of), .when = has_peak_rate, FR_DETAIL},
    {.key = "mfu", R(mfu), RATE(has_peak_rate), .title = "MFU"},
    {.key = "hfu", R(hfu), RATE(has_peak_rate), .title = "HFU"},
    WITH("board_W", board_W, has_power),
    WITH("power_limit_W", power_limit_W, knows_power),
    WITH("average_power_w", gpu_W, knows_power),
    WITH("clock_frac", clock, knows_power),
    WITH("energy_j", step_J, knows_power),
    WITH("power_limited", is_power_limited, knows_power),
    FR_END_OF_FIGURES,
};

const struct fr_figure fr__record_found_figures[] = {
    {.key = "oom", R(oom)},
    {.key = "oom_why", FR_INSIDE(struct fr_record, oom_why, oom_why), .when = is_oom},
    {.key = "advice", ITEMS(advice, n_advice, advice), .when = has_advice},
    WITH("advice_tried", advice_tried, has_advice),
    WITH("advice_cut_short", is_advice_cut_short, has_advice),
    {.key = "compute_s", R(compute_s), .title = "compute"},
    {.key = "comm_s", R(comm_s)},
    {.key = "exposed_comm_s", R(exposed_comm_s), .title = "exposed comm"},
    {.key = "bubble_s", R(bubble_s), .title = "bubble"},
    {.key = "lower_bound_s", R(lower_bound_s)},
    WITH("order_efficiency", order_efficiency, has_totals),
    WITH("order_speedup_potential", order_speedup_potential, has_totals),
    WITH("ordered_transfers", n_ordered, is_ordered),
    D("iterations", n_iterations),
    {.key = "peak_bytes", R(peak_bytes), .title = "peak memory"},
    {.key = "peak_allocated_bytes", R(peak_allocated_bytes)},
    {.key = "peak_reserved_bytes", R(peak_reserved_bytes)},
    {.key = "capacity_bytes", R(peak_capacity_bytes), .is_column = true},
    {.key = "memory_model", FR_TEXT(memory_model_of)},
    {.key = "peak", FR_INSIDE(struct fr_record, peak, peak), .when = has_peak, .is_open = true},
    {.key = "devices", ITEMS(devices, n_devices, devices)},
    {.key = "links", ITEMS(links, n_links, links)},
    D("links_total", links_total),
    {.key = "critical_path", ITEMS(critical_path, n_critical, fr__values_text)},
    D("critical_path_total", critical_total),
    WITH("sensitivities_rough", is_rough, has_sensitivities),
    {.key = "sensitivities",
     ITEMS(sensitivities, n_sensitivities, sensitivities),
     .when = has_short_list},
    {.key = "sensitivities", ITEMS(sensitivities, n_sensitivities, reruns), .when = has_long_list},
    WITH("iteration_low_s", iteration_low_s, has_errors),
    WITH("iteration_high_s", iteration_high_s, has_errors),
    {.key = "uncertainty",
     ITEMS(error_shares, n_error_shares, error_shares),
     .when = has_error_shares},
    {.kind = FR_FIGURE_GROUP, .figures = promised, .when = has_promise, FR_DETAIL},
    {.kind = FR_FIGURE_GROUP,
     .figures = fr__decided_figures,
     .when = has_plan,
     .offset = offsetof(struct fr_record, decisions),
     .is_pointer = true},
    {.key = "cost_sources", .kind = FR_FIGURE_OBJECT, .figures = cost_sources},
    {.key = "cost_profiled_elsewhere_frac",
     R(cost_frac[FR_TRUST_PROFILED_ELSEWHERE]),
     .is_column = true},
    {.key = "tasks", R(n_tasks)},
    {.key = "wall_s", R(wall_s)},
    {.key = "plan_cpu_s", R(plan_cpu_s)},
    FR_END_OF_FIGURES,
};

const struct fr_figure fr__record_figures[] = {
    {.kind = FR_FIGURE_GROUP, .figures = fr__record_asked_figures},
    {.kind = FR_FIGURE_GROUP, .figures = fr__record_found_figures},
    FR_END_OF_FIGURES,
};
