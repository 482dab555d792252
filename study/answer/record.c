/* study/answer/record.c - condenses a plan and its run into the values that people ask for. */
#include "config.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "study/question/interference.h"
#include "study/interval/interval.h"
#include "study/answer/record.h"
#include "study/owned_record.h"
#include "study/question/variation.h"
#include "study/question/host.h"
#include "workloads/graph/formats.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fill_memory(struct fr_record_device *d, const struct fr_device_result *r,
                        bool is_device)
{
    uint64_t context_bytes = r->peak_by_kind[FR_BUFFER_CONTEXT];

    memcpy(d->memory_bytes, r->peak_by_kind, sizeof(d->memory_bytes));
    d->peak_allocated_bytes = d->peak_reserved_bytes = d->peak_bytes =
        fr__take_bytes(r->peak_bytes, context_bytes);
    if (!is_device) {
        d->memory_bytes[FR_BUFFER_CONTEXT] = 0;
    } else if (d->is_gpu) {
        d->peak_allocated_bytes = r->peak_allocated_bytes;
        d->peak_reserved_bytes = r->peak_reserved_bytes;
        d->memory_bytes[FR_BUFFER_CONTEXT] = fr__add_bytes(context_bytes, r->left_bytes);
        d->peak_bytes = fr__add_bytes(r->peak_reserved_bytes, d->memory_bytes[FR_BUFFER_CONTEXT]);
    }
}

/* After what it runs, every device is idle while software or the input takes its time. */
static void fill_device(struct fr_record_device *d, const struct fr__making *m, uint32_t device,
                        const struct fr_record *of)
{
    const struct fr_topo *t = m->setting->topo;
    const struct fr_device_result *r = &m->run->devices[device];
    const struct fr_device_type *type = &t->types[t->devices[device].type];

    d->name = t->devices[device].name;
    d->device = device;
    if (m->cut_memory.believed_bytes)
        d->believed_bytes = m->cut_memory.believed_bytes[device];
    d->count = 1;
    if (fr_plan_view(m->plan)->device_counts && fr_plan_view(m->plan)->device_counts[device] > 0)
        d->count = fr_plan_view(m->plan)->device_counts[device];
    d->is_gpu = type->is_gpu;
    d->compute_s = r->iteration.compute_s;
    d->comm_s = r->iteration.comm_s + of->added_exchange_s;
    d->exposed_comm_s = r->iteration.exposed_comm_s + of->added_exchange_s;
    d->idle_s = r->iteration.idle_s + of->input_wait_s + of->software_s;
    d->busy_s = d->compute_s + d->exposed_comm_s;
    d->capacity_bytes = type->mem_bytes;
    fill_memory(d, r, m->options.memory != FR_MEMORY_LIVENESS);
}

/* is_working: [n_devices of the topology] the device has a task that takes time. */
static void mark_working(const struct fr__making *m, bool is_working[])
{
    const struct fr_plan_view *v = fr_plan_view(m->plan);

    for (size_t i = 0; i < v->n_tasks; i++)
        if (v->tasks[i].kind != FR_TASK_MARKER)
            is_working[v->tasks[i].device] = true;
}

/* list: [n] rows. Finds how long the critical path computes on each device, which a faster device
 * would shorten. */
static enum fr_status fill_critical_work(struct fr__owned_record *box,
                                         struct fr_record_device list[], size_t n,
                                         struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(box->plan);
    const struct fr_run *run = box->run;
    double *work_s = fr__arena_alloc(box->arena, v->topo->n_devices, sizeof(*work_s));

    if (!work_s)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < run->n_critical; i++) {
        uint32_t t = run->critical[i];

        if (v->tasks[t].kind == FR_TASK_COMPUTE)
            work_s[v->tasks[t].device] += run->end_s[t] - run->start_s[t];
    }
    for (size_t i = 0; i < n; i++)
        list[i].critical_s = work_s[list[i].device] / run->n_iterations;
    return FR_OK;
}

/* Another device does what this one does. */
static bool is_stood_for(const struct fr__making *m, uint32_t device)
{
    const uint32_t *counts = fr_plan_view(m->plan)->device_counts;

    return counts && counts[device] == 0;
}

/* The format of gradients of so many bytes in a training of that precision; NULL: of none. Amp's 16
 * bits are fp16's, fp8's are bf16's. */
static const char *format_of(double bytes, enum fr_dtype dtype)
{
    if (!(bytes > 0))
        return NULL;
    if (bytes >= 4)
        return fr_dtype_name(FR_FP32);
    if (bytes < 2)
        return fr_dtype_name(FR_FP8);
    return fr_dtype_name(dtype == FR_AMP || dtype == FR_FP16 ? FR_FP16 : FR_BF16);
}

/* The GPUs asked for in rank order, of a folded plan those that stand for them, then every other
 * device that works or holds something. */
static enum fr_status fill_devices(struct fr__owned_record *box, const struct fr__making *m,
                                   struct fr_error *err)
{
    struct fr_record *r = &box->record;
    size_t n_all = m->setting->topo->n_devices, n_used = 0;
    struct fr_record_device *list = fr__arena_alloc(box->arena, n_all, sizeof(*list));
    bool *is_working = fr__arena_alloc(box->arena, n_all, sizeof(*is_working));
    bool *is_listed = fr__arena_alloc(box->arena, n_all, sizeof(*is_listed));

    if (!list || !is_working || !is_listed)
        return fr__fail_nomem(err);
    mark_working(m, is_working);
    for (size_t i = 0; i < m->n_devices; i++) {
        uint32_t device = m->devices[i];
        struct fr_record_device *d = &list[r->n_devices++];

        fill_device(d, m, device, r);
        is_listed[device] = true;
        r->n_devices -= is_stood_for(m, device);
        if (!is_working[device])
            continue;
        n_used += d->count;
        r->compute_s += d->count * d->compute_s;
        r->comm_s += d->count * d->comm_s;
        r->exposed_comm_s += d->count * d->exposed_comm_s;
        r->bubble_s += d->count * d->idle_s;
    }
    for (uint32_t device = 0; device < n_all; device++)
        if (!is_listed[device] && (is_working[device] || m->run->devices[device].peak_bytes > 0))
            fill_device(&list[r->n_devices++], m, device, r);
    if (n_used > 0) {
        r->compute_s /= (double)n_used;
        r->comm_s /= (double)n_used;
        r->exposed_comm_s /= (double)n_used;
        r->bubble_s /= (double)n_used;
    }
    r->n_gpus_used = n_used;
    r->folding = fr_plan_view(m->plan)->folding;
    r->gradient_dtype = format_of(fr_plan_view(m->plan)->gradient_bytes, m->setting->graph->dtype);
    r->sent_gradient_dtype =
        format_of(fr_plan_view(m->plan)->sent_gradient_bytes, m->setting->graph->dtype);
    r->devices = list;
    return fill_critical_work(box, list, r->n_devices, err);
}

static enum fr_status name_culprit(struct fr__owned_record *box, const struct fr_record_device *d,
                                   struct fr_error *err)
{
    const struct fr_device_result *result = &box->run->devices[d->device];
    uint32_t task = result->first_over_task;
    struct fr_record_oom *why = &box->record.oom_why;
    char label[256];

    why->device = d->name;
    why->over_bytes = d->peak_bytes - d->capacity_bytes;
    why->asked_bytes = result->first_over_bytes;
    why->capacity_bytes = d->capacity_bytes;
    if (task == FR_NONE)
        return FR_OK;
    why->phase = fr_phase_name((enum fr_phase)fr_plan_view(box->plan)->tasks[task].phase);
    why->task =
        fr__arena_strdup(box->arena, fr_plan_task_label(box->plan, task, label, sizeof(label)));
    return why->task ? FR_OK : fr__fail_nomem(err);
}

/* Finds the GPU that must hold most, and whether any memory is exceeded. */
static enum fr_status judge_memory(struct fr__owned_record *box, const struct fr__making *m,
                                   struct fr_error *err)
{
    struct fr_record *r = &box->record;
    const struct fr_record_device *worst = NULL, *most_over = NULL;
    uint64_t over_bytes = 0;

    for (size_t i = 0; i < r->n_devices; i++) {
        const struct fr_record_device *d = &r->devices[i];

        if (d->is_gpu && (!worst || d->peak_bytes > worst->peak_bytes))
            worst = d;
        if (d->peak_bytes > d->capacity_bytes && d->peak_bytes - d->capacity_bytes > over_bytes) {
            over_bytes = d->peak_bytes - d->capacity_bytes;
            most_over = d;
        }
    }
    if (worst) {
        r->peak_bytes = worst->peak_bytes;
        r->peak_allocated_bytes = worst->peak_allocated_bytes;
        r->peak_reserved_bytes = worst->peak_reserved_bytes;
        r->peak_device = worst->name;
        r->peak_capacity_bytes = worst->capacity_bytes;
    }
    r->oom = most_over != NULL;
    if ((most_over || worst) && !m->question->is_brief)
        FR_TRY(fr__fill_peak(&r->peak, box->arena, m, most_over ? most_over : worst, err));
    return most_over ? name_culprit(box, most_over, err) : FR_OK;
}

/* Markers are left out: they take no time and tell a reader nothing. */
static enum fr_status fill_critical_path(struct fr__owned_record *box, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(box->plan);
    struct fr_record *r = &box->record;
    const struct fr_run *run = box->run;
    const char **labels = fr__arena_alloc(box->arena, FR_RECORD_MAX_CRITICAL, sizeof(*labels));
    double *times = fr__arena_alloc(box->arena, 2 * FR_RECORD_MAX_CRITICAL, sizeof(*times));
    char label[256];

    if (!labels || !times)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < run->n_critical; i++) {
        if (v->tasks[run->critical[i]].kind == FR_TASK_MARKER)
            continue;
        if (r->critical_total++ >= FR_RECORD_MAX_CRITICAL)
            continue;
        fr_plan_task_label(box->plan, run->critical[i], label, sizeof(label));
        labels[r->n_critical] = fr__arena_strdup(box->arena, label);
        times[r->n_critical] = run->start_s[run->critical[i]];
        times[FR_RECORD_MAX_CRITICAL + r->n_critical] = run->end_s[run->critical[i]];
        if (!labels[r->n_critical++])
            return fr__fail_nomem(err);
    }
    r->critical_path = labels;
    r->critical_start_s = times;
    r->critical_end_s = times + FR_RECORD_MAX_CRITICAL;
    return FR_OK;
}

static void fill_cost_sources(struct fr_record *r, const struct fr_plan *p,
                              const struct fr_run *run)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    double total_s = 0;

    for (size_t i = 0; i < v->n_tasks; i++) {
        double time_s = run->end_s[i] - run->start_s[i];

        if (v->tasks[i].kind != FR_TASK_COMPUTE)
            continue;
        r->cost_frac[v->costs[v->tasks[i].cost_id].trust] += time_s;
        total_s += time_s;
    }
    for (unsigned trust = 0; trust < FR_N_TRUSTS && total_s > 0; trust++)
        r->cost_frac[trust] /= total_s;
}

/* The names of the systems in use, in the topology's order. */
static const char *name_systems(struct fr__arena *arena, const struct fr_topo *t,
                                const bool is_used[])
{
    size_t size = 1, used = 0;
    char *text;

    for (size_t i = 0; i < t->n_systems; i++)
        size += strlen(t->systems[i].name) + 2;
    text = fr__arena_alloc(arena, size, 1);
    for (size_t i = 0; text && i < t->n_systems; i++)
        if (is_used[i])
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     t->systems[i].name);
    return text;
}

/* Why collectives over several machines take no fitted time, although such machines were measured;
 * NULL where they were not, or nobody asked. */
static enum fr_status fill_network_why(struct fr__owned_record *box,
                                       const struct fr_setting *setting, struct fr_error *err)
{
    const struct fr_topo *t = setting->topo;
    const char *why = t->network_system_why;
    char text[256];

    if (t->network_system != FR_NONE) {
        snprintf(text, sizeof(text), "%.128s does not cover these",
                 t->systems[t->network_system].name);
        why = text;
    }
    box->record.network_system_why = why ? fr__arena_strdup(box->arena, why) : NULL;
    return !why || box->record.network_system_why ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status fill_collectives(struct fr__owned_record *box, const struct fr__making *m,
                                       struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    const struct fr_plan_view *v = fr_plan_view(m->plan);
    struct fr_record *r = &box->record;
    bool *is_used = fr__arena_alloc(box->arena, t->n_systems + 1, sizeof(*is_used));

    if (!is_used)
        return fr__fail_nomem(err);
    r->closed_form_collectives = m->options.closed_form_collectives;
    r->n_collectives = v->n_collectives;
    if (m->way && m->run->stats.by_schedule > 0)
        r->collective_way = m->question->way.algorithm  ? m->question->way.algorithm
                            : m->question->way.protocol ? m->question->way.protocol
                                                        : "NCCL's choice";
    for (size_t c = 0; c < v->n_collectives && !m->options.rings_only; c++) {
        const struct fr_collective *k = &v->collectives[c];
        uint32_t system = fr_plan_group_system(m->plan, k->group);

        if (!k->has_cost) {
            r->n_network_rings += fr_plan_group_machines(m->plan, k->group) != 1;
            continue;
        }
        if (system != FR_NONE)
            is_used[system] = true;
        r->n_fitted_collectives++;
        r->n_extrapolated_collectives += v->costs[k->cost_id].trust == FR_TRUST_TRANSFERRED;
    }
    if (r->n_network_rings > 0)
        FR_TRY(fill_network_why(box, m->setting, err));
    r->collective_systems = name_systems(box->arena, t, is_used);
    return r->collective_systems ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status fill_settings(struct fr_record *r, struct fr__arena *arena,
                                    const struct fr_question *q, struct fr_error *err)
{
    const char **texts = fr__arena_alloc(arena, FR_N_SETTINGS, sizeof(*texts));
    bool *is_set = fr__arena_alloc(arena, FR_N_SETTINGS, sizeof(*is_set));
    bool is_there = texts && is_set;
    struct fr_question unset;

    fr_question_init(&unset);
    for (size_t i = 0; is_there && i < FR_N_SETTINGS; i++) {
        char *text = fr_question_text(q, i), *usual = fr_question_text(&unset, i);

        texts[i] = text ? fr__arena_strdup(arena, text) : NULL;
        is_there = texts[i] && usual;
        is_set[i] = is_there && strcmp(text, usual) != 0;
        free(text);
        free(usual);
    }
    r->settings = texts;
    r->is_set = is_set;
    return is_there ? FR_OK : fr__fail_nomem(err);
}

/* A copy of a text, which may be NULL. */
static enum fr_status copy_text(struct fr__owned_record *box, const char **out, const char *text,
                                struct fr_error *err)
{
    *out = text ? fr__arena_strdup(box->arena, text) : NULL;
    return text && !*out ? fr__fail_nomem(err) : FR_OK;
}

static enum fr_status fill_texts(struct fr__owned_record *box, const struct fr__making *m,
                                 struct fr_error *err)
{
    struct fr_record *r = &box->record;
    const struct fr_question *q = m->question;

    FR_TRY(copy_text(box, &r->workload, m->setting->graph->name, err));
    FR_TRY(copy_text(box, &r->topology, m->setting->topo->name, err));
    FR_TRY(copy_text(box, &r->strategy, q->strategy, err));
    FR_TRY(copy_text(box, &r->command, q->command, err));
    r->is_recipe_assumed = q->is_recipe_assumed;
    FR_TRY(copy_text(box, &r->recipe, q->recipe, err));
    FR_TRY(copy_text(box, &r->dtype,
                     m->setting->graph->formats ? m->setting->graph->formats->name
                                                : fr_dtype_name(m->setting->graph->dtype),
                     err));
    FR_TRY(copy_text(box, &r->tune, q->tune, err));
    return copy_text(box, &r->slow, q->slow, err);
}

/* The time of an iteration: simulated, corrected by measured steps, with its wait for input. */
static enum fr_status fill_time(struct fr_record *r, const struct fr__making *m,
                                struct fr__step_units *units, struct fr_error *err)
{
    r->iteration_s = r->seeds.n > 0 ? r->seeds.mean_s : m->run->iteration_s;
    if (fr__is_corrected(&m->correction))
        FR_TRY(fr__step_units(units, m->plan, m->run, err));
    r->software_s = fr__correction_step_s(&m->correction, units);
    r->added_exchange_s = fr__correction_exchange_s(&m->correction, units);
    r->iteration_s += r->software_s + r->added_exchange_s;
    r->input_s = fr__input_s(m);
    r->input_wait_s = fmax(r->input_s - r->iteration_s, 0);
    r->iteration_s += r->input_wait_s;
    r->samples_per_s = r->iteration_s > 0 ? r->global_batch / r->iteration_s : 0;
    r->lower_bound_s =
        fmax(m->run->lower_bound_s + r->software_s + r->added_exchange_s, r->input_s);
    return FR_OK;
}

static enum fr_status fill(struct fr__owned_record *box, const struct fr__making *m,
                           struct fr_error *err)
{
    struct fr_record *r = &box->record;
    struct fr__step_units units = {.step_s = 0};
    const struct fr_question *q = m->question;

    FR_TRY(fill_texts(box, m, err));
    r->is_dtype_default = q->dtype == FR_N_DTYPES && m->setting->graph->dtype != FR_FP32;
    r->optimizer = fr_optimizer_name(q->optimizer);
    r->order = fr_order_name(q->run.order);
    r->network = fr_network_name(q->run.network);
    r->n_gpus = m->n_devices;
    r->n_gpus_total = m->setting->topo->n_gpus;
    r->global_batch = m->global_batch;
    r->seed = q->run.seed;
    r->alloc_at_start = q->run.alloc_at_start;
    r->memory_model = q->run.memory;
    r->n_tasks = fr_plan_view(m->plan)->n_tasks;
    r->n_iterations = m->run->n_iterations;
    r->n_fitted_messages = m->run->stats.fitted_messages;
    FR_TRY(fr__fill_seeds(r, m, err));
    r->cut_kind = m->cut.is_chosen ? m->cut.kind : 0;
    FR_TRY(fill_time(r, m, &units, err));
    r->has_totals = (m->options.want & FR_WANT_TOTALS) != 0;
    r->order_efficiency = r->has_totals ? fr_run_efficiency(m->run) : 0;
    r->order_speedup_potential = r->has_totals ? fr_run_speedup_potential(m->run) : 0;
    r->puts_in_order = q->run.order > FR_ORDER_CONTROL;
    r->n_ordered = m->n_ordered;
    r->wall_s = m->wall_s;
    r->plan_cpu_s = m->plan_cpu_s;
    r->wait_factor = fr__wait_factor(m);
    r->length_wait_frac = fr__length_wait_frac(m);
    FR_TRY(fr__fill_interference(r, box->arena, m, err));
    fill_cost_sources(r, m->plan, m->run);
    FR_TRY(fill_collectives(box, m, err));
    FR_TRY(fill_devices(box, m, err));
    FR_TRY(fr__fill_rates(r, box->arena, m, err));
    fr__fill_power(r, m);
    FR_TRY(fr__fill_cluster(r, box->arena, m, err));
    FR_TRY(fr__fill_interval(r, box->arena, m, &units, err));
    FR_TRY(fr__fill_warnings(r, box->arena, m, err));
    FR_TRY(judge_memory(box, m, err));
    if (!q->is_brief) {
        FR_TRY(fr__fill_links(&box->record, box->arena, m, err));
        FR_TRY(fill_critical_path(box, err));
        FR_TRY(fill_settings(r, box->arena, q, err));
    }
    FR_TRY(fr__fill_sensitivities(r, box->arena, m, err));
    return fr__fill_uncertainty(r, box->arena, m, err);
}

enum fr_status fr__record_make(const struct fr__making *m, struct fr_record **out,
                               struct fr_error *err)
{
    struct fr__owned_record *box = fr__owned_record_new(m->plan, m->run);
    enum fr_status st;

    if (!box)
        return fr__fail_nomem(err);
    st = fill(box, m, err);
    if (st != FR_OK) {
        fr__owned_record_drop(box);
        return st;
    }
    box->record.plan = box->plan;
    box->record.run = box->run;
    box->record.decisions = box->decisions = m->decisions;
    *out = &box->record;
    return FR_OK;
}

const char *fr_record_collectives(const struct fr_record *r)
{
    if (r->n_collectives > 0 && r->n_fitted_collectives == r->n_collectives)
        return "fitted";
    return r->closed_form_collectives ? "closed" : "expanded";
}
