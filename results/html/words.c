/* results/html/words.c - the answer in sentences, and how far to trust it, in the report.
 *
 * It is separate because it chooses what is worth a sentence; the tables show all.
 */
#include "config.h"

#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/nics.h"
#include "results/parts/number.h"
#include "results/parts/rows.h"
#include "results/parts/speed_up.h"
#include "results/parts/times.h"

#include <math.h>
#include <string.h>

static const double LEAST_NAMED = 0.0005; /* of a whole: 0.1 % when rounded */

static const double LEAST_LEVER = 0.005;

enum { MOST_LEVERS = 3, MOST_NAMED = 6 };

static void put_time(FILE *f, const struct fr_record *r, double s)
{
    char text[FR__HTML_TEXT];

    fputs(fr__record_time(r, s, text, sizeof(text)), f);
}

static void put_bytes(FILE *f, double bytes)
{
    char text[FR__HTML_TEXT];

    fputs(fr__format_bytes(bytes, text, sizeof(text)), f);
}

static void put_percent(FILE *f, double frac)
{
    char text[FR__HTML_TEXT];

    fputs(fr__html_percent(frac, text, sizeof(text)), f);
}

/* Four digits, more only before the point. */
static void put_rate(FILE *f, double per_s)
{
    char text[FR__HTML_TEXT];

    fputs(fr__fixed(per_s,
                    per_s >= 1000  ? 0
                    : per_s >= 100 ? 1
                    : per_s >= 10  ? 2
                                   : 3,
                    text, sizeof(text)),
          f);
}

/* ---- one run ---- */

static void write_parts(FILE *f, const struct fr_record *r)
{
    double whole_s = r->compute_s + r->exposed_comm_s + r->bubble_s;

    if (!(whole_s > 0))
        return;
    fprintf(f, "<p>%s %s computes for ", r->n_gpus_used == 1 ? "The" : "On average a",
            fr__record_device_title(r));
    put_percent(f, r->compute_s / whole_s);
    fputs(" of that time", f);
    if (r->exposed_comm_s >= LEAST_NAMED * whole_s) {
        fputs(r->bubble_s >= LEAST_NAMED * whole_s ? ", " : " and ", f);
        fputs("communicates with nothing to compute beside it for ", f);
        put_percent(f, r->exposed_comm_s / whole_s);
    }
    if (r->bubble_s >= LEAST_NAMED * whole_s) {
        fputs(", and waits for ", f);
        put_percent(f, r->bubble_s / whole_s);
    }
    fputs(". ", f);
    if (r->lower_bound_s > 0) {
        fputs("No order of the same tasks takes less than ", f);
        put_time(f, r, r->lower_bound_s);
        fputs(".", f);
    }
    fputs("</p>\n", f);
}

/* Tokens, and how much of the peak that takes, of sequence models. */
static void write_rates(FILE *f, const struct fr_record *r)
{
    if (r->tokens_per_sample == 0 || r->oom)
        return;
    fputs("<p>That is ", f);
    put_rate(f, r->tokens_per_s);
    fputs(" tokens a second, ", f);
    put_rate(f, r->tokens_per_s / (double)r->n_gpus);
    fputs(" a GPU", f);
    if (r->mfu > 0) {
        fputs("; the model needs ", f);
        put_percent(f, r->mfu);
        fputs(" of the GPUs' peak for it (MFU)", f);
    }
    fputs(".</p>\n", f);
}

static void write_warnings(FILE *f, const struct fr_record *r)
{
    for (size_t i = 0; i < r->n_warnings; i++) {
        fputs("<p>Warning: ", f);
        fr__html_text(f, r->warnings[i]);
        fputs(".</p>\n", f);
    }
}

/* What the planner believed of it, where there is one. */
static void write_planned(FILE *f, const struct fr_record *r)
{
    const struct fr_decisions *d = r->decisions;
    bool is_promise = d && d->promise;

    if (!d || (!is_promise && !fr_decisions_plan(d)))
        return;
    fputs("<p>The planner believed in ", f);
    put_time(f, r, is_promise ? d->promise->planned_s : d->believed_s);
    if (d->n_splits > 0)
        fprintf(f, ", with %zu operation%s split", d->n_splits, d->n_splits == 1 ? "" : "s");
    fprintf(f, "; the %s network and %s order made it ", r->network, r->order);
    put_time(f, r, r->iteration_s);
    if (is_promise) {
        fprintf(f, ". Not planned: %s.</p>\n", d->promise->left_out);
        return;
    }
    fputs(". No placement of these operations takes less than ", f);
    put_time(f, r, fr_decisions_plan(d)->bounds.best_s);
    fputs(".</p>\n", f);
}

static void write_memory(FILE *f, const struct fr_record *r)
{
    if (!r->peak_device || r->is_plain)
        return;
    fputs("<p>The fullest GPU, ", f);
    fr__html_text(f, r->peak_device);
    fputs(", must hold ", f);
    put_bytes(f, (double)r->peak_bytes);
    fputs("; it has ", f);
    put_bytes(f, (double)r->peak_capacity_bytes);
    fputs(".</p>\n", f);
}

static void write_levers(FILE *f, const struct fr_record *r)
{
    size_t n = 0;

    if (r->is_rough && !r->has_reruns)
        return; /* not worth a headline */
    for (size_t i = 0; i < r->n_sensitivities && n < MOST_LEVERS; i++) {
        const struct fr_record_sensitivity *s = &r->sensitivities[i];
        double saved_frac = -(r->has_reruns ? s->rerun_faster_frac : s->faster_frac);

        if (saved_frac < LEAST_LEVER)
            continue;
        if (n++ == 0)
            fprintf(f,
                    "<p>A quarter faster, these would shorten the %s: ", fr__record_time_title(r));
        else
            fputs(", ", f);
        fr__html_text(f, s->resource);
        fputs(" by ", f);
        put_percent(f, saved_frac);
    }
    if (n > 0)
        fputs(".</p>\n", f);
}

static void write_oom(FILE *f, const struct fr_record *r)
{
    fputs("<p class=\"answer bad\">It does not fit: <b>", f);
    fr__html_text(f, r->oom_why.device);
    fputs("</b> lacks <b>", f);
    put_bytes(f, (double)r->oom_why.over_bytes);
    fputs("</b> of memory.</p>\n<p>", f);
    if (r->oom_why.task) {
        fputs("First to go over: ", f);
        fr__html_text(f, r->oom_why.task);
        fputs(". ", f);
    } else {
        fputs("What stays for the whole iteration alone is too much. ", f);
    }
    fputs("With enough memory an iteration would take ", f);
    put_time(f, r, r->iteration_s);
    fputs("; all times below are those.</p>\n", f);
}

static void write_interval(FILE *f, const struct fr_record *r)
{
    const struct fr_record_interval *i = &r->interval;

    if (!i->is_known)
        return;
    fputs(i->is_guess ? " Nobody published such steps; by a guess 90 % lie between "
                      : " Of measured steps 90 % lie between ",
          f);
    put_time(f, r, i->low_s);
    fputs(" and ", f);
    put_time(f, r, i->high_s);
    fputs(".", f);
}

static void write_answer(FILE *f, const struct fr_record *r)
{
    if (r->oom) {
        write_oom(f, r);
    } else if (r->is_plain) {
        fputs("<p class=\"answer\">The makespan is <b>", f);
        put_time(f, r, r->iteration_s);
        fputs("</b>.</p>\n", f);
    } else {
        fputs("<p class=\"answer\">One iteration takes <b>", f);
        put_time(f, r, r->iteration_s);
        fputs("</b>: <b>", f);
        put_rate(f, r->samples_per_s);
        fputs("</b> samples a second.", f);
        write_interval(f, r);
        fputs("</p>\n", f);
    }
    write_rates(f, r);
    write_parts(f, r);
    write_planned(f, r);
    write_memory(f, r);
    write_levers(f, r);
}

/* ---- several ---- */

/* What follows "exact is the fastest: ": its time, and its rate where there is one. */
static void put_best(FILE *f, const struct fr_record *best)
{
    fputs(best->is_plain ? "its makespan is <b>" : "<b>", f);
    put_time(f, best, best->iteration_s);
    if (best->is_plain) {
        fputs("</b>", f);
        return;
    }
    fputs("</b> an iteration, ", f);
    put_rate(f, best->samples_per_s);
    fputs(" samples a second", f);
}

static void write_comparison(FILE *f, const struct fr_results *rs)
{
    const struct fr_record *best = NULL;
    char text[FR__HTML_TEXT], name[FR__ROW_NAME];
    size_t n_over = 0, at = 0, base = fr__row_base(rs);
    bool by_workload = fr__rows_differ(rs, FR__ROW_WORKLOAD);

    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];

        n_over += r->oom;
        if (!r->oom &&
            (!best || (fr__rows_differ(rs, FR__ROW_BATCH) ? r->samples_per_s > best->samples_per_s
                                                          : r->iteration_s < best->iteration_s))) {
            best = r;
            at = i;
        }
    }
    if (!best) {
        fprintf(f, "<p class=\"answer bad\">None of the %zu strategies fits in memory.</p>\n",
                rs->n);
        return;
    }
    if (by_workload) {
        fprintf(f, "<p class=\"answer\">%zu answers, of which %zu fit in memory.</p>\n", rs->n,
                rs->n - n_over);
        return;
    }
    fputs("<p class=\"answer\"><b>", f);
    fr__html_text(f, fr__row_name(rs, at, name));
    fprintf(f, "</b> is the fastest%s: ", n_over ? " that fits" : "");
    put_best(f, best);
    if (base != at && fr__row_speed_up(rs, at) > 0) {
        fputs(", ", f);
        fputs(fr__fixed(fr__row_speed_up(rs, at), 2, text, sizeof(text)), f);
        fputs(" times as fast as ", f);
        fr__html_text(f, fr__row_name(rs, base, name));
    }
    fputs(".</p>\n", f);
    if (n_over == 0)
        return;
    fprintf(f, "<p>%zu of %zu do%s not fit in memory: ", n_over, rs->n, n_over == 1 ? "es" : "");
    for (size_t i = 0, n = 0; i < rs->n; i++) {
        if (!rs->records[i]->oom || n++ >= MOST_NAMED)
            continue;
        fputs(n > 1 ? ", " : "", f);
        fr__html_text(f, fr__row_name(rs, i, name));
    }
    fputs(n_over > MOST_NAMED ? ", ….</p>\n" : ".</p>\n", f);
}

/* Of each cluster that is asked about, named where there are several. */
static void write_nics(FILE *f, const struct fr_results *rs)
{
    bool is_named = fr__rows_differ(rs, FR__ROW_TOPOLOGY) || fr__rows_differ(rs, FR__ROW_GPUS);
    char text[FR__NICS_TEXT];

    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];
        bool is_said = r->n_nics == 0;

        for (size_t k = 0; k < i && !is_said; k++)
            is_said = strcmp(rs->records[k]->topology, r->topology) == 0 &&
                      rs->records[k]->n_gpus == r->n_gpus;
        if (is_said)
            continue;
        fputs("<p class=\"sub\">NICs of a machine", f);
        if (is_named) {
            fprintf(f, " (%zu GPUs of ", r->n_gpus);
            fr__html_text(f, r->topology);
            fputs(")", f);
        }
        fprintf(f, ": %s</p>\n", fr__nics_text(r->nics, r->n_nics, text));
    }
}

void fr__html_answer(FILE *f, const struct fr_results *rs)
{
    const struct fr_record *r = rs->records[0];
    char text[FR__ROW_NAME];

    fputs("<h1>", f);
    fr__html_text(f, fr__rows_subject(rs, text));
    fputs("</h1>\n<p class=\"sub\">", f);
    if (!rs->is_comparison) {
        fputs("strategy ", f);
        fr__html_text(f, r->strategy);
        fputs(", ", f);
    }
    if (fr__rows_differ(rs, FR__ROW_BATCH) || fr__rows_differ(rs, FR__ROW_PRECISION) ||
        fr__rows_differ(rs, FR__ROW_OPTIMIZER))
        fprintf(f, "%s</p>\n", fr__rows_manner(rs, text));
    else if (r->is_plain)
        fprintf(f, "%s</p>\n", fr__rows_manner(rs, text));
    else
        fprintf(f, "global batch %u, %s%s, %s</p>\n", r->global_batch, r->dtype,
                r->is_dtype_default ? " by default" : "", r->optimizer);
    write_nics(f, rs);
    for (size_t i = 0; i < rs->n; i++)
        if (!fr__row_is_known(rs, i))
            write_warnings(f, rs->records[i]);
    if (rs->is_comparison)
        write_comparison(f, rs);
    else
        write_answer(f, r);
}

/* ---- how true it is ---- */

static const struct {
    const char *colour, *what;
} trusts[FR_N_TRUSTS] = {
    [FR_TRUST_PROFILED] = {FR__COLOUR_UPDATE,
                           "measured: this op, on this device type, at this batch"},
    [FR_TRUST_SCALED] = {FR__COLOUR_COPY, "measured at another batch, or on another device type, "
                                          "and carried over by curves"},
    [FR_TRUST_CALIBRATED] = {FR__COLOUR_FORWARD, "from curves fitted to measured kernels"},
    [FR_TRUST_TRANSFERRED] = {FR__COLOUR_BACKWARD_WEIGHT,
                              "from a relative's curves, rescaled by the data sheets"},
    [FR_TRUST_DATASHEET] =
        {FR__COLOUR_BACKWARD_DATA,
         "a guess: peak rates of the data sheet at typical efficiencies; a single "
         "kernel may be off by a factor of two and more, a sum over a model by less"},
    [FR_TRUST_PROFILED_ELSEWHERE] =
        {FR__COLOUR_OTHER,
         "measured on a device type that is not named, or from which no curves lead "
         "here, and taken as measured: kernels of two types of GPU differ by a "
         "median factor of 2.2"},
};

static void write_sources(FILE *f, const struct fr_record *r)
{
    struct fr__html_part parts[FR_N_TRUSTS];

    for (unsigned i = 0; i < FR_N_TRUSTS; i++) {
        parts[i] = (struct fr__html_part){fr_trust_name((enum fr_trust)i), trusts[i].colour,
                                          r->cost_frac[i], ""};
        fr__html_percent(r->cost_frac[i], parts[i].value, sizeof(parts[i].value));
    }
    fputs("<p>Where the compute times come from:</p>\n", f);
    fr__html_stack(f, parts, FR_N_TRUSTS);
    fputs("<ul>\n", f);
    for (unsigned i = 0; i < FR_N_TRUSTS; i++)
        if (r->cost_frac[i] >= LEAST_NAMED)
            fprintf(f, "<li><b>%s</b>: %s</li>\n", fr_trust_name((enum fr_trust)i), trusts[i].what);
    fputs("</ul>\n", f);
}

static void write_collective_assumptions(FILE *f, const struct fr_record *r)
{
    if (r->n_fitted_collectives > 0) {
        fprintf(f, "<li>%zu of %zu collectives take the time fitted to ", r->n_fitted_collectives,
                r->n_collectives);
        fr__html_text(f, r->collective_systems);
        fputs(": no contention with anything else</li>\n", f);
    }
    if (r->n_extrapolated_collectives > 0)
        fprintf(f, "<li>%zu of these are on more machines or other GPU counts than measured</li>\n",
                r->n_extrapolated_collectives);
    if (r->n_fitted_messages > 0)
        fputs("<li>copies between GPUs take, alone, the time fitted to their links</li>\n", f);
    if (r->network_system_why) {
        fprintf(f, "<li>collectives over several machines are %s: ",
                r->collective_way ? "not as measured" : "rings");
        fr__html_text(f, r->network_system_why);
        fputs("</li>\n", f);
    }
    if (r->n_fitted_collectives < r->n_collectives || r->n_collectives == 0)
        fprintf(
            f, "<li>%scollectives are %s%s, %s</li>\n", r->n_fitted_collectives > 0 ? "other " : "",
            r->collective_way ? "by " : "rings", r->collective_way ? r->collective_way : "",
            r->closed_form_collectives ? "from their closed form: no contention with anything else"
                                       : "step by step");
}

/* Of memory, GPUs and what a training run does beside its iterations. */
static void write_training_assumptions(FILE *f, const struct fr_record *r)
{
    fprintf(
        f, "<li>memory is %s</li>\n",
        r->memory_model == FR_MEMORY_DEVICE
            ? "what PyTorch's caching allocator reserves for the iteration, starting empty, and "
              "the CUDA context"
        : r->memory_model == FR_MEMORY_TF1
            ? "what TensorFlow 1's allocator uses of its pool, the CUDA context, and what is left "
              "to the system"
            : "that of the tensors alone, without the allocator's rounding and the context");
    if (r->interference) {
        fputs("<li>work side by side on a device slows each other down as was measured on ", f);
        fr__html_text(f, r->interference);
        fputs("</li>\n", f);
    } else {
        fputs("<li>kernels side by side on a device do not slow each other down</li>\n", f);
    }
    if (r->wait_factor > 1)
        fprintf(f,
                "<li>GPUs of one type differ: all wait for the slowest of %zu, whose compute takes "
                "%.1f %% longer</li>\n",
                r->n_gpus, 100 * (r->wait_factor - 1));
    if (r->wait_factor > 1 && r->length_wait_frac > 0)
        fprintf(f,
                "<li>batches differ in length: that is %.1f of the %.1f %% by which the slowest "
                "GPU's compute takes longer</li>\n",
                100 * (r->wait_factor - 1) * r->length_wait_frac, 100 * (r->wait_factor - 1));
    fputs("<li>reading data, checkpoints, logging, evaluation and failures are left out</li>\n", f);
}

static void write_assumptions(FILE *f, const struct fr_record *r)
{
    fprintf(f, "<p>What is assumed:</p>\n<ul>\n<li>%s</li>\n",
            fr_network_assumption(fr_network_parse(r->network)));
    if (!r->is_plain || r->n_collectives > 0)
        write_collective_assumptions(f, r);
    fprintf(f, "<li>%s in %s order",
            r->puts_in_order ? "what devices receive is sent" : "ready tasks go", r->order);
    if (r->is_plain)
        fputs("</li>\n", f);
    else
        fprintf(f, "; buffers come to be at %s</li>\n", r->alloc_at_start ? "start" : "dispatch");
    if (!r->is_plain)
        write_training_assumptions(f, r);
    fputs("</ul>\n", f);
}

void fr__html_trust(FILE *f, const struct fr_results *rs)
{
    const struct fr_record *r = rs->records[0];
    char text[FR__HTML_TEXT];

    fputs("<section>\n<h2>How far to trust this</h2>\n", f);
    if (r->is_plain)
        fputs("<p>The times of tasks are those of the task file.</p>\n", f);
    else
        write_sources(f, rs->is_comparison ? fr__speed_up_base(rs) : r);
    write_assumptions(f, r);
    fputs("</section>\n<section>\n<h2>The same again</h2>\n", f);
    if (r->command) {
        fputs("<pre>", f);
        fr__html_text(f, r->command);
        fputs("</pre>\n", f);
    }
    fprintf(f, "<p class=\"note\">forerun %s, seed %llu", fr_version(),
            (unsigned long long)r->seed);
    if (!rs->is_comparison)
        fprintf(f, ", %zu tasks", r->n_tasks);
    if (!rs->is_comparison && r->wall_s > 0) {
        fputs(", planned and simulated in ", f);
        fputs(fr__format_time(r->wall_s, text, sizeof(text)), f);
    }
    fputs(". The same input and seed give the same times.</p>\n</section>\n", f);
}
