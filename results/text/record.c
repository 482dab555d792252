/* results/text/record.c - records as tables for people. */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/speed_up.h"
#include "results/results.h"
#include "results/text/table.h"

#include <math.h>
#include <string.h>

enum { NUMBER = 32, MOST_HOLDERS = 5 };

static const char *percent(double frac, char *buf, size_t n)
{
    size_t used = strlen(fr__fixed(100 * frac, 1, buf, n));

    snprintf(buf + used, n - used, " %%");
    return buf;
}

/* How far above the lower bound, "+3.1 %"; nothing without a bound. */
static void gap_cell(char cell[FR__TABLE_CELL], const struct fr_record *r)
{
    if (r->lower_bound_s <= 0)
        return;
    cell[0] = '+';
    percent(r->iteration_s / r->lower_bound_s - 1, cell + 1, NUMBER);
}

/* Four digits, more only before the point. */
static void rate_cell(char cell[FR__TABLE_CELL], double per_s)
{
    fr__fixed(per_s, per_s >= 1000 ? 0 : per_s >= 100 ? 1 : per_s >= 10 ? 2 : 3, cell, NUMBER);
}

/* ---- what both tables begin with ---- */

static void print_clean(FILE *f, const char *text)
{
    char clean[FR__TABLE_CELL];

    fr__table_text(clean, text);
    fputs(clean, f);
}

/* ", collectives as a100-nvswitch", where they are no rings step by step. */
static void print_fitted(FILE *f, const struct fr_record *r)
{
    const char *by_formula = r->closed_form_collectives ? "collectives by formula" : "";

    if (r->n_fitted_collectives == 0) {
        fprintf(f, "%s%s", by_formula[0] ? ", " : "", by_formula);
        return;
    }
    fputs(", ", f);
    if (r->n_fitted_collectives < r->n_collectives)
        fprintf(f, "%zu of %zu ", r->n_fitted_collectives, r->n_collectives);
    fputs("collectives as ", f);
    print_clean(f, r->collective_systems);
    if (r->n_fitted_collectives < r->n_collectives && by_formula[0])
        fputs(", others by formula", f);
    if (r->n_extrapolated_collectives > 0)
        fprintf(f, ", %zu of them over more machines than it was measured on",
                r->n_extrapolated_collectives);
}

static void print_collectives(FILE *f, const struct fr_record *r)
{
    print_fitted(f, r);
    if (r->n_fitted_messages > 0)
        fputs(", copies between GPUs as measured", f);
    if (!r->network_system_why)
        return;
    fputs(", those over several machines as rings: ", f);
    print_clean(f, r->network_system_why);
}

/* "vgg19 on 4 of 8 GPUs of dgx1-v100" and the rest of the question, values as they were used. */
static void print_question(FILE *f, const struct fr_record *r, bool with_strategy)
{
    print_clean(f, r->workload);
    if (r->n_gpus == r->n_gpus_total)
        fprintf(f, " on all %zu GPUs of ", r->n_gpus);
    else
        fprintf(f, " on %zu of %zu GPUs of ", r->n_gpus, r->n_gpus_total);
    print_clean(f, r->topology);
    if (with_strategy) {
        fputs(", strategy ", f);
        print_clean(f, r->strategy);
    }
    fprintf(f, "\nglobal batch %u, %s, %s, order %s, network %s", r->global_batch, r->dtype,
            r->optimizer, r->order, r->network);
    print_collectives(f, r);
    if (r->interference) {
        fputs(", interference as on ", f);
        print_clean(f, r->interference);
    }
    fputs("\n\n", f);
}

static void print_cost_sources(FILE *f, const struct fr_record *r)
{
    const char *separator = "";
    char text[NUMBER];

    for (unsigned trust = 0; trust < FR_N_TRUSTS; trust++) {
        if (r->cost_frac[trust] < 0.0005) /* 0.0 % */
            continue;
        fprintf(f, "%s%s %s%s", separator, fr_trust_name((enum fr_trust)trust),
                percent(r->cost_frac[trust], text, sizeof(text)),
                fr_trust_note((enum fr_trust)trust));
        separator = ", ";
    }
    if (!separator[0])
        fputs("nothing computes", f);
    putc('\n', f);
}

static void print_order(FILE *f, const struct fr_record *r)
{
    char efficiency[NUMBER], potential[NUMBER];

    if (r->oom)
        return;
    if (r->puts_in_order)
        fprintf(f, "%zu transfer%s in the order %s\n", r->n_ordered, r->n_ordered == 1 ? "" : "s",
                r->order);
    if (r->has_totals)
        fprintf(f,
                "order efficiency %s (0: one thing at a time, 1: no order is faster), speed-up "
                "potential %s\n",
                fr__fixed(r->order_efficiency, 3, efficiency, sizeof(efficiency)),
                percent(r->order_speedup_potential, potential, sizeof(potential)));
}

static void print_oom(FILE *f, const struct fr_record *r)
{
    char peak[NUMBER], capacity[NUMBER], over[NUMBER];

    fputs("out of memory: ", f);
    print_clean(f, r->oom_why.device);
    for (size_t i = 0; i < r->n_devices; i++) {
        const struct fr_record_device *d = &r->devices[i];

        if (strcmp(d->name, r->oom_why.device) != 0)
            continue;
        fprintf(f, " must hold %s, has %s (%s too little); ",
                fr__format_bytes((double)d->peak_bytes, peak, sizeof(peak)),
                fr__format_bytes((double)d->capacity_bytes, capacity, sizeof(capacity)),
                fr__format_bytes((double)r->oom_why.over_bytes, over, sizeof(over)));
    }
    if (r->oom_why.task) {
        fputs("first to go over: ", f);
        print_clean(f, r->oom_why.task);
        if (r->oom_why.phase)
            fprintf(f, " (%s), asking for %s", r->oom_why.phase,
                    fr__format_bytes((double)r->oom_why.asked_bytes, over, sizeof(over)));
        putc('\n', f);
    } else {
        fputs("what stays for the whole iteration alone is too much\n", f);
    }
}

/* "10.2 ms in fc6.wgrad" */
static void moment(const struct fr_record_peak *p, char *buf, size_t n)
{
    char time[NUMBER], task[FR__TABLE_CELL];

    fr__table_text(task, p->task ? p->task : "");
    fr__format_time(p->at_s, time, sizeof(time));
    snprintf(buf, n, "at %s%s%.60s%s%s%s", time, p->task ? " in " : "", task, p->phase ? " (" : "",
             p->phase ? p->phase : "", p->phase ? ")" : "");
}

static void fill_holder(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record_holder *h = &((const struct fr_record_peak *)user)->holders[i];

    fr__table_text(row->cell[0], h->name);
    fr__table_text(row->cell[1], fr_buffer_kind_name(h->kind));
    fr__format_bytes((double)h->bytes, row->cell[2], NUMBER);
    if (h->stays)
        fr__table_text(row->cell[3], "always");
    else
        fr__format_time(h->since_s, row->cell[3], NUMBER);
}

static void print_holders(FILE *f, const struct fr_record_peak *p, size_t most)
{
    static const struct fr__table_column columns[] = {
        {"held", false}, {"as", false}, {"size", true}, {"since", true}};
    size_t n = p->n_holders < most ? p->n_holders : most;
    char text[FR__TABLE_CELL];

    if (!p->device)
        return;
    moment(p, text, sizeof(text));
    fputs("\nmost is held on ", f);
    print_clean(f, p->device);
    fprintf(f, " %s:\n", text);
    fr__table_print(f, &(struct fr__table){columns, 4, n, fill_holder, p});
    if (p->holders_total > n)
        fprintf(f, "  and %zu more\n", p->holders_total - n);
}

static void fill_advice(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record_advice *a = &((const struct fr_record *)user)->advice[i];
    size_t used;

    fr__table_text(row->cell[0], a->change);
    fr__table_text(row->cell[1], a->options);
    rate_cell(row->cell[2], a->samples_per_s);
    used = strlen(fr__fixed(a->speed, 2, row->cell[3], NUMBER));
    snprintf(row->cell[3] + used, FR__TABLE_CELL - used, "x");
    fr__format_bytes((double)a->peak_bytes, row->cell[4], NUMBER);
    fr__table_text(row->cell[5], a->changes_training ? "changes the training" : "");
}

static void print_advice(FILE *f, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {{"what would fit", false}, {"options", false},
                                                      {"samples/s", true},       {"speed", true},
                                                      {"peak memory", true},     {"", false}};

    if (!r->has_advice)
        return;
    putc('\n', f);
    if (r->n_advice > 0)
        fr__table_print(f, &(struct fr__table){columns, 6, r->n_advice, fill_advice, r});
    else if (r->advice_tried > 0)
        fprintf(f, "no single change fits: %u were simulated\n", r->advice_tried);
    if (r->is_advice_cut_short)
        fputs("not everything was tried: simulations of this size take too long\n", f);
}

/* ---- one result ---- */

enum summary_row {
    ROW_ITERATION,
    ROW_THROUGHPUT,
    ROW_COMPUTE,
    ROW_EXPOSED,
    ROW_BUBBLE,
    ROW_BOUND,
    ROW_PEAK,
    ROW_RESERVED,
    ROW_HELD, /* the last: a record may lack it */
    N_SUMMARY_ROWS
};

static void part_cells(struct fr__table_row *row, const char *title, double part_s,
                       const struct fr_record *r)
{
    double whole_s = r->compute_s + r->exposed_comm_s + r->bubble_s;

    fr__table_text(row->cell[0], title);
    fr__format_time(part_s, row->cell[1], NUMBER);
    percent(whole_s > 0 ? part_s / whole_s : 0, row->cell[2], NUMBER);
}

static void memory_cells(struct fr__table_row *row, const struct fr_record *r)
{
    char capacity[NUMBER];

    fr__table_text(row->cell[0], "peak memory");
    fr__format_bytes((double)r->peak_bytes, row->cell[1], NUMBER);
    if (r->peak_capacity_bytes > 0)
        percent((double)r->peak_bytes / (double)r->peak_capacity_bytes, row->cell[2], NUMBER);
    snprintf(row->cell[3], FR__TABLE_CELL, "of the %s of %.100s",
             fr__format_bytes((double)r->peak_capacity_bytes, capacity, sizeof(capacity)),
             r->peak_device ? r->peak_device : "no GPU");
}

/* When it is, and the three kinds that hold most. */
static void held_cell(char cell[FR__TABLE_CELL], const struct fr_record_peak *p)
{
    bool is_told[FR_N_BUFFER_KINDS] = {false};
    char text[NUMBER];
    size_t used;

    moment(p, cell, FR__TABLE_CELL);
    for (int i = 0; i < 3; i++) {
        unsigned most = 0;

        for (unsigned kind = 1; kind < FR_N_BUFFER_KINDS; kind++)
            if (is_told[most] || (!is_told[kind] && p->memory_bytes[kind] > p->memory_bytes[most]))
                most = kind;
        if (is_told[most] || p->memory_bytes[most] == 0)
            return;
        is_told[most] = true;
        used = strlen(cell);
        snprintf(cell + used, FR__TABLE_CELL - used, "%s%s %s", i == 0 ? ": " : ", ",
                 fr_buffer_kind_name((enum fr_buffer_kind)most),
                 fr__format_bytes((double)p->memory_bytes[most], text, sizeof(text)));
    }
}

static void fill_summary(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record *r = user;
    char text[NUMBER], more[NUMBER];

    switch ((enum summary_row)i) {
    case ROW_ITERATION:
        fr__table_text(row->cell[0], "iteration time");
        fr__format_time(r->iteration_s, row->cell[1], NUMBER);
        if (r->oom)
            fr__table_text(row->cell[3], "if only it fitted in memory");
        break;
    case ROW_THROUGHPUT:
        fr__table_text(row->cell[0], "samples per second");
        rate_cell(row->cell[1], r->samples_per_s);
        break;
    case ROW_COMPUTE:
        part_cells(row, "compute", r->compute_s, r);
        snprintf(row->cell[3], FR__TABLE_CELL, "mean over %zu GPU%s", r->n_gpus_used,
                 r->n_gpus_used == 1 ? "" : "s");
        break;
    case ROW_EXPOSED:
        part_cells(row, "exposed communication", r->exposed_comm_s, r);
        snprintf(row->cell[3], FR__TABLE_CELL, "of %s of communication",
                 fr__format_time(r->comm_s, text, sizeof(text)));
        break;
    case ROW_BUBBLE:
        part_cells(row, "bubble", r->bubble_s, r);
        fr__table_text(row->cell[3], "neither computes nor communicates");
        break;
    case ROW_BOUND:
        fr__table_text(row->cell[0], "lower bound");
        fr__format_time(r->lower_bound_s, row->cell[1], NUMBER);
        gap_cell(row->cell[2], r);
        fr__table_text(row->cell[3], "gap: no order of this plan's tasks is faster than the bound");
        break;
    case ROW_PEAK:
        memory_cells(row, r);
        break;
    case ROW_RESERVED:
        if (r->memory_model == FR_MEMORY_DEVICE)
            snprintf(row->cell[3], FR__TABLE_CELL, "%s allocated, %s reserved; the rest is context",
                     fr__format_bytes((double)r->peak_allocated_bytes, text, sizeof(text)),
                     fr__format_bytes((double)r->peak_reserved_bytes, more, sizeof(more)));
        else
            fr__table_text(row->cell[3], "tensors alone: no allocator, no context");
        break;
    case ROW_HELD:
        held_cell(row->cell[3], &r->peak);
        break;
    case N_SUMMARY_ROWS:
        break;
    }
}

/* ---- details of one result ---- */

static void fill_device(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record_device *d = &((const struct fr_record *)user)->devices[i];

    fr__table_text(row->cell[0], d->name);
    fr__format_time(d->compute_s, row->cell[1], NUMBER);
    fr__format_time(d->exposed_comm_s, row->cell[2], NUMBER);
    fr__format_time(d->idle_s, row->cell[3], NUMBER);
    fr__format_time(d->critical_s, row->cell[4], NUMBER);
    fr__format_bytes((double)d->peak_bytes, row->cell[5], NUMBER);
    fr__format_bytes((double)d->memory_bytes[FR_BUFFER_PARAMETER], row->cell[6], NUMBER);
    fr__format_bytes((double)d->memory_bytes[FR_BUFFER_GRADIENT], row->cell[7], NUMBER);
    fr__format_bytes((double)d->memory_bytes[FR_BUFFER_OPTIMIZER], row->cell[8], NUMBER);
    fr__format_bytes((double)d->memory_bytes[FR_BUFFER_ACTIVATION], row->cell[9], NUMBER);
    fr__format_bytes((double)(d->memory_bytes[FR_BUFFER_WORKSPACE] +
                              d->memory_bytes[FR_BUFFER_COMMUNICATION] +
                              d->memory_bytes[FR_BUFFER_WEIGHT_VERSION]),
                     row->cell[10], NUMBER);
}

static void fill_link(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record_link *l = &((const struct fr_record *)user)->links[i];

    fr__table_text(row->cell[0], l->name);
    fr__format_bytes(l->bytes, row->cell[1], NUMBER);
    percent(l->utilisation_frac, row->cell[2], NUMBER);
}

static void print_details(FILE *f, const struct fr_record *r)
{
    static const struct fr__table_column devices[] = {
        {"device", false},   {"compute", true},     {"exposed", true},    {"bubble", true},
        {"critical", true},  {"peak", true},        {"parameters", true}, {"gradients", true},
        {"optimizer", true}, {"activations", true}, {"other", true},
    };
    static const struct fr__table_column links[] = {
        {"link", false}, {"bytes", true}, {"busy", true}};
    struct fr__table t = {devices, 11, r->n_devices, fill_device, r};

    putc('\n', f);
    fr__table_print(f, &t);
    if (r->n_links > 0) {
        t = (struct fr__table){links, 3, r->n_links, fill_link, r};
        putc('\n', f);
        fr__table_print(f, &t);
        if (r->links_total > r->n_links)
            fprintf(f, "  and %zu more links\n", r->links_total - r->n_links);
    }
    fprintf(f, "\ncritical path (%zu tasks):\n", r->critical_total);
    for (size_t i = 0; i < r->n_critical; i++) {
        fputs("  ", f);
        print_clean(f, r->critical_path[i]);
        putc('\n', f);
    }
    if (r->critical_total > r->n_critical)
        fprintf(f, "  and %zu more\n", r->critical_total - r->n_critical);
}

static void change_cell(char cell[FR__TABLE_CELL], double frac)
{
    cell[0] = '+';
    percent(frac, frac < 0 ? cell : cell + 1, NUMBER);
}

static void fill_sensitivity(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record *r = user;
    const struct fr_record_sensitivity *s = &r->sensitivities[i];

    fr__table_text(row->cell[0], s->resource);
    percent(r->iteration_s > 0 ? s->part_s / r->iteration_s : 0, row->cell[1], NUMBER);
    change_cell(row->cell[2], fr__faster_change(s));
    change_cell(row->cell[3], s->faster_frac);
    if (r->has_reruns)
        change_cell(row->cell[4], s->rerun_faster_frac);
}

/* Those that show in the tenths of a percent. */
static void print_sensitivities(FILE *f, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {{"resource", false},
                                                      {"of the time", true},
                                                      {"change", true},
                                                      {"iteration time", true},
                                                      {"run again", true}};
    size_t n = 0;

    while (n < r->n_sensitivities && fabs(r->sensitivities[n].part_s) >= 0.0005 * r->iteration_s)
        n++;
    if (n == 0)
        return;
    fputs("\nsensitivities:\n", f);
    fr__table_print(f, &(struct fr__table){columns, r->has_reruns ? 5 : 4, n, fill_sensitivity, r});
    if (r->is_rough)
        fputs("  rough: messages share links so that small changes have large effects\n", f);
}

static void fill_doubt(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record *r = user;
    const struct fr_record_doubt *d = &r->doubts[i];

    fr__table_text(row->cell[0], fr_record_doubt_name(d));
    fr__table_text(row->cell[1], fr_trust_name(d->trust));
    percent(d->error_frac, row->cell[2], NUMBER);
    percent(r->iteration_s > 0 ? fabs(d->effect_s) / r->iteration_s : 0, row->cell[3], NUMBER);
    percent(d->share, row->cell[4], NUMBER);
}

/* Those that make at least half a percent of it. */
static void print_uncertainty(FILE *f, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {{"ops", false},
                                                      {"costs", false},
                                                      {"their error", true},
                                                      {"of the time", true},
                                                      {"share", true}};
    char low[NUMBER], high[NUMBER];
    size_t n = 0;

    if (!r->has_interval)
        return;
    fr__format_time(r->iteration_low_s, low, sizeof(low));
    fr__format_time(r->iteration_high_s, high, sizeof(high));
    fprintf(
        f,
        "\nuncertainty: with op costs drawn from their errors, 90 %% of iterations take %s to %s\n",
        low, high);
    while (n < r->n_doubts && r->doubts[n].share >= 0.005)
        n++;
    if (n > 0)
        fr__table_print(f, &(struct fr__table){columns, 5, n, fill_doubt, r});
}

/* What the planner believed, what came of it, and how much better any placement could be. */
static void print_planned(FILE *f, const struct fr_record *r)
{
    const struct fr_decisions *d = r->decisions;
    const struct fr_decided_bounds *b = d ? &fr_decisions_plan(d)->bounds : NULL;
    char planned[NUMBER], before[NUMBER], made[NUMBER], bound[NUMBER];
    char off[FR__TABLE_CELL], gap[FR__TABLE_CELL];

    if (!d)
        return;
    fprintf(f, "\nplanned: %s, ", fr__format_time(d->believed_s, planned, sizeof(planned)));
    if (d->n_splits > 0)
        fprintf(f, "%s before it split %zu operation%s, ",
                fr__format_time(d->start_s, before, sizeof(before)), d->n_splits,
                d->n_splits == 1 ? "" : "s");
    change_cell(off, d->believed_s > 0 ? r->iteration_s / d->believed_s - 1 : 0);
    fprintf(f, "from %s; the %s network and %s order made it %s, %s\n", d->start_words, r->network,
            r->order, fr__format_time(r->iteration_s, made, sizeof(made)), off);
    change_cell(gap, b->best_s > 0 ? d->believed_s / b->best_s - 1 : 0);
    fprintf(f, "no placement of these operations takes less than %s (%s): planned %s\n",
            fr__format_time(b->best_s, bound, sizeof(bound)),
            b->best_s <= b->path_s   ? "their longest chain"
            : b->best_s <= b->work_s ? "their work shared evenly"
                                     : "what must cross between devices",
            gap);
}

static void print_one(FILE *f, const struct fr_record *r, bool is_verbose)
{
    static const struct fr__table_column columns[] = {
        {"", false}, {"", true}, {"", true}, {"", false}};
    const struct fr__table t = {columns, 4, r->peak.device ? N_SUMMARY_ROWS : ROW_HELD,
                                fill_summary, r};

    print_question(f, r, true);
    fr__table_print(f, &t);
    fputs("\ncosts from ", f);
    print_cost_sources(f, r);
    print_planned(f, r);
    print_order(f, r);
    if (r->oom)
        print_oom(f, r);
    if (r->oom || is_verbose)
        print_holders(f, &r->peak, is_verbose ? FR_RECORD_MAX_HOLDERS : MOST_HOLDERS);
    print_advice(f, r);
    print_sensitivities(f, r);
    print_uncertainty(f, r);
    if (is_verbose)
        print_details(f, r);
}

/* ---- several ---- */

struct comparison {
    const struct fr_results *results;
    const struct fr_record *base; /* what speed-ups are against */
};

static void fill_comparison(const void *user, size_t i, struct fr__table_row *row)
{
    const struct comparison *c = user;
    const struct fr_record *r = c->results->records[i];
    char text[NUMBER];

    fr__table_text(row->cell[0], r->strategy);
    fr__format_time(r->iteration_s, row->cell[1], NUMBER);
    rate_cell(row->cell[2], r->samples_per_s);
    if (r->iteration_s > 0)
        snprintf(row->cell[3], FR__TABLE_CELL, "%sx",
                 fr__fixed(c->base->iteration_s / r->iteration_s, 2, text, sizeof(text)));
    fr__format_time(r->compute_s, row->cell[4], NUMBER);
    fr__format_time(r->exposed_comm_s, row->cell[5], NUMBER);
    fr__format_time(r->bubble_s, row->cell[6], NUMBER);
    gap_cell(row->cell[7], r);
    fr__format_bytes((double)r->peak_bytes, row->cell[8], NUMBER);
    if (r->oom)
        snprintf(row->cell[9], FR__TABLE_CELL, "OUT OF MEMORY by %s",
                 fr__format_bytes((double)r->oom_why.over_bytes, text, sizeof(text)));
    else
        snprintf(row->cell[9], FR__TABLE_CELL, "fits in %s",
                 fr__format_bytes((double)r->peak_capacity_bytes, text, sizeof(text)));
}

static void print_comparison(FILE *f, const struct fr_results *rs, bool is_verbose)
{
    static const struct fr__table_column columns[] = {
        {"strategy", false}, {"iteration", true},  {"samples/s", true},
        {"speed-up", true},  {"compute", true},    {"exposed comm", true},
        {"bubble", true},    {"over bound", true}, {"peak memory", true},
        {"", false},
    };
    struct comparison c = {rs, fr__speed_up_base(rs)};
    const struct fr__table t = {columns, 10, rs->n, fill_comparison, &c};

    print_question(f, rs->records[0], false);
    fr__table_print(f, &t);
    fputs("\nspeed-up against ", f);
    print_clean(f, c.base->strategy);
    fputs("; costs from ", f);
    print_cost_sources(f, c.base);
    for (size_t i = 0; i < rs->n; i++) {
        if (!is_verbose && rs->records[i]->n_sensitivities == 0)
            continue;
        fputs("\n-- ", f);
        print_clean(f, rs->records[i]->strategy);
        putc('\n', f);
        if (is_verbose && rs->records[i]->oom)
            print_oom(f, rs->records[i]);
        print_sensitivities(f, rs->records[i]);
        if (is_verbose)
            print_details(f, rs->records[i]);
    }
}

void fr_results_print_table(FILE *f, const struct fr_results *rs, bool is_verbose)
{
    if (rs->is_comparison && rs->n > 0)
        print_comparison(f, rs, is_verbose);
    for (size_t i = 0; !rs->is_comparison && i < rs->n; i++)
        print_one(f, rs->records[i], is_verbose);
}
