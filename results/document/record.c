/* results/document/record.c - a record as a table for people.
 *
 * It is separate from what stands above and below the table (record_question.c, record_run.c,
 * record_memory.c, record_details.c) and from the table of several (comparison.c).
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/cells.h"
#include "results/document/record.h"

#include <math.h>
#include <string.h>

enum { NUMBER = 32, MOST_HOLDERS = 5 };

/* ---- one result ---- */

enum summary_row {
    ROW_ITERATION,
    ROW_THROUGHPUT,
    ROW_TOKENS, /* these three of sequence models */
    ROW_MODEL,
    ROW_HARDWARE,
    ROW_POWER,
    ROW_COMPUTE,
    ROW_EXPOSED,
    ROW_BUBBLE,
    ROW_BOUND,
    ROW_PEAK,
    ROW_RESERVED,
    ROW_HELD,
    N_SUMMARY_ROWS
};

static void part_cells(struct fr__table_row *row, const char *title, double part_s,
                       const struct fr_record *r)
{
    double whole_s = r->compute_s + r->exposed_comm_s + r->bubble_s;

    fr__table_text(row->cell[0], title);
    fr__record_time(r, part_s, row->cell[1], NUMBER);
    fr__percent(whole_s > 0 ? part_s / whole_s : 0, row->cell[2], NUMBER);
}

static void memory_cells(struct fr__table_row *row, const struct fr_record *r)
{
    char capacity[NUMBER];

    fr__table_text(row->cell[0], "peak memory");
    fr__format_bytes((double)r->peak_bytes, row->cell[1], NUMBER);
    if (r->peak_capacity_bytes > 0)
        fr__percent((double)r->peak_bytes / (double)r->peak_capacity_bytes, row->cell[2], NUMBER);
    snprintf(row->cell[3], FR__TABLE_CELL, "of the %s of %.100s",
             fr__format_bytes((double)r->peak_capacity_bytes, capacity, sizeof(capacity)),
             r->peak_device ? r->peak_device : "no GPU");
}

/* What the products of an iteration come to, a GPU and second. */
static void flops_cells(struct fr__table_row *row, const struct fr_record *r, double flops,
                        double of_peak_frac)
{
    char text[NUMBER];

    snprintf(row->cell[1], FR__TABLE_CELL, "%s/s",
             fr__format_flops(r->iteration_s > 0 ? flops / r->iteration_s / (double)r->n_gpus : 0,
                              text, sizeof(text)));
    if (r->peak_flops_per_s > 0)
        fr__percent(of_peak_frac, row->cell[2], NUMBER);
}

struct summary {
    const struct fr_record *record;
    enum summary_row rows[N_SUMMARY_ROWS]; /* [n] */
    size_t n;
};

static bool has_row(const struct fr_record *r, enum summary_row row)
{
    switch (row) {
    case ROW_THROUGHPUT: /* these of training, which tasks are not */
    case ROW_PEAK:
    case ROW_RESERVED:
        return !r->is_plain;
    case ROW_TOKENS:
        return r->tokens_per_sample > 0;
    case ROW_MODEL:
        return r->tokens_per_sample > 0 && r->model_flops > 0;
    case ROW_HARDWARE: /* more than 1 % apart */
        return r->tokens_per_sample > 0 && r->hardware_flops > 1.01 * r->model_flops;
    case ROW_POWER:
        return r->asks_power_limit || r->is_power_limited;
    case ROW_HELD:
        return r->peak.device != NULL && !r->is_plain;
    default:
        return true;
    }
}

static void fill_rates(const struct fr_record *r, enum summary_row which, struct fr__table_row *row)
{
    char text[FR__TABLE_CELL];

    switch (which) {
    case ROW_TOKENS:
        fr__table_text(row->cell[0], "tokens per second");
        fr__rate_cell(row->cell[1], r->tokens_per_s);
        fr__rate_cell(text, r->tokens_per_s / (double)r->n_gpus);
        snprintf(row->cell[3], FR__TABLE_CELL, "%.32s a GPU", text);
        break;
    case ROW_MODEL:
        fr__table_text(row->cell[0], "model FLOP/s");
        flops_cells(row, r, r->model_flops, r->mfu);
        snprintf(row->cell[3], FR__TABLE_CELL, "a GPU; MFU, of the %s/s of its matrix products",
                 fr__format_flops(r->peak_flops_per_s / (double)r->n_gpus, text, sizeof(text)));
        break;
    default:
        fr__table_text(row->cell[0], "hardware FLOP/s");
        flops_cells(row, r, r->hardware_flops, r->hfu);
        fr__table_text(row->cell[3], "a GPU; HFU, with what is computed again");
        break;
    }
}

/* "90 %: 68.0 ms to 104 ms". */
static void interval_cell(struct fr__table_row *row, const struct fr_record *r)
{
    char range[FR__TABLE_CELL];

    fr__range_cell(range, r->interval.low_s, r->interval.high_s);
    snprintf(row->cell[3], FR__TABLE_CELL, "90 %%: %.60s", range);
}

static void bound_cells(struct fr__table_row *row, const struct fr_record *r)
{
    fr__table_text(row->cell[0], "lower bound");
    fr__record_time(r, r->lower_bound_s, row->cell[1], NUMBER);
    fr__gap_cell(row->cell[2], r->iteration_s, r->lower_bound_s);
    fr__table_text(row->cell[3], "gap: no order of this plan's tasks is faster than the bound");
}

static void power_cells(struct fr__table_row *row, const struct fr_record *r)
{
    char limit[NUMBER], step[NUMBER], clock[NUMBER], token[NUMBER] = "";
    double tokens = (double)r->global_batch * r->tokens_per_sample;

    fr__table_text(row->cell[0], "power of a GPU");
    snprintf(row->cell[1], FR__TABLE_CELL, "%s W", fr__fixed(r->gpu_W, 0, limit, NUMBER));
    fr__percent(r->gpu_W / r->power_limit_W, row->cell[2], NUMBER);
    fr__fixed(r->power_limit_W, 0, limit, NUMBER);
    fr__fixed(1e-3 * r->step_J, r->step_J < 1e5 ? 2 : 0, step, NUMBER);
    fr__percent(r->clock, clock, NUMBER);
    if (tokens > 0)
        fr__fixed(1e3 * r->step_J / tokens, 1, token, NUMBER);
    snprintf(row->cell[3], FR__TABLE_CELL, "of %s W, %s%s; %s kJ a step%s%s%s", limit,
             r->clock < 1 ? "clock down to " : "at the highest clock", r->clock < 1 ? clock : "",
             step, tokens > 0 ? ", " : "", token, tokens > 0 ? " mJ a token" : "");
}

static void bubble_cells(struct fr__table_row *row, const struct fr_record *r)
{
    char wait[NUMBER];

    part_cells(row, "bubble", r->bubble_s, r);
    if (r->input_wait_s > 0)
        snprintf(row->cell[3], FR__TABLE_CELL, "%s of it wait for the input",
                 fr__record_time(r, r->input_wait_s, wait, sizeof(wait)));
    else
        fr__table_text(row->cell[3], "neither computes nor communicates");
}

static void fill_summary(const void *user, size_t i, struct fr__table_row *row)
{
    const struct summary *s = user;
    const struct fr_record *r = s->record;
    char text[NUMBER], more[NUMBER];

    switch (s->rows[i]) {
    case ROW_ITERATION:
        fr__table_text(row->cell[0], r->is_plain ? "makespan" : "iteration time");
        fr__record_time(r, r->iteration_s, row->cell[1], NUMBER);
        if (r->oom)
            fr__table_text(row->cell[3], "if only it fitted in memory");
        else if (r->interval.is_known)
            interval_cell(row, r);
        break;
    case ROW_THROUGHPUT:
        fr__table_text(row->cell[0], "samples per second");
        fr__rate_cell(row->cell[1], r->samples_per_s);
        break;
    case ROW_TOKENS:
    case ROW_MODEL:
    case ROW_HARDWARE:
        fill_rates(r, s->rows[i], row);
        break;
    case ROW_POWER:
        power_cells(row, r);
        break;
    case ROW_COMPUTE:
        part_cells(row, "compute", r->compute_s, r);
        snprintf(row->cell[3], FR__TABLE_CELL, "mean over %zu %s%s", r->n_gpus_used,
                 r->is_plain ? "machine" : "GPU", r->n_gpus_used == 1 ? "" : "s");
        break;
    case ROW_EXPOSED:
        part_cells(row, "exposed communication", r->exposed_comm_s, r);
        snprintf(row->cell[3], FR__TABLE_CELL, "of %s of communication",
                 fr__record_time(r, r->comm_s, text, sizeof(text)));
        break;
    case ROW_BUBBLE:
        bubble_cells(row, r);
        break;
    case ROW_BOUND:
        bound_cells(row, r);
        break;
    case ROW_PEAK:
        memory_cells(row, r);
        break;
    case ROW_RESERVED:
        if (r->memory_model != FR_MEMORY_LIVENESS)
            snprintf(row->cell[3], FR__TABLE_CELL, "%s allocated, %s reserved; the rest is context",
                     fr__format_bytes((double)r->peak_allocated_bytes, text, sizeof(text)),
                     fr__format_bytes((double)r->peak_reserved_bytes, more, sizeof(more)));
        else
            fr__table_text(row->cell[3], "tensors alone: no allocator, no context");
        break;
    case ROW_HELD:
        fr__record_held_cell(row->cell[3], &r->peak);
        break;
    case N_SUMMARY_ROWS:
        break;
    }
}

static void print_order(struct fr__document *doc, const struct fr_record *r)
{
    char efficiency[NUMBER], potential[NUMBER];

    if (r->oom)
        return;
    if (r->puts_in_order)
        fr__say(doc, "%zu transfer%s in the order %s\n", r->n_ordered, r->n_ordered == 1 ? "" : "s",
                r->order);
    if (r->has_totals)
        fr__say(doc,
                "order efficiency %s (0: one thing at a time, 1: no order is faster), speed-up "
                "potential %s\n",
                fr__fixed(r->order_efficiency, 3, efficiency, sizeof(efficiency)),
                fr__percent(r->order_speedup_potential, potential, sizeof(potential)));
}

/* The GPU that computes most; NULL: there is none. */
static const struct fr_record_device *busiest(const struct fr_record *r)
{
    const struct fr_record_device *most = NULL;

    for (size_t i = 0; i < r->n_devices; i++)
        if (r->devices[i].is_gpu && (!most || r->devices[i].compute_s > most->compute_s))
            most = &r->devices[i];
    return most;
}

/* A pipeline's planned time beside the run's, and where the difference may come from. */
static void print_promise(struct fr__document *doc, const struct fr_record *r)
{
    const struct fr_decided_promise *p = r->decisions ? r->decisions->promise : NULL;
    const struct fr_record_device *d = busiest(r);
    char planned[NUMBER], made[NUMBER], off[FR__TABLE_CELL], share[NUMBER], waits[NUMBER];

    if (!p || r->iteration_s <= 0)
        return;
    fr__change_cell(off, p->planned_s > 0 ? r->iteration_s / p->planned_s - 1 : 0);
    fr__say(doc, "\nplanned: %s by the %s; the run made it %s, %s\n",
            fr__record_time(r, p->planned_s, planned, sizeof(planned)), p->by,
            fr__record_time(r, r->iteration_s, made, sizeof(made)), off);
    fr__say(doc, "not planned: %s", p->left_out);
    if (d)
        fr__say(doc, "; the busiest GPU, %s, computes %s and waits for messages %s", d->name,
                fr__record_time(r, d->compute_s, share, sizeof(share)),
                fr__record_time(r, d->exposed_comm_s, waits, sizeof(waits)));
    fr__say(doc, "\n");
}

/* The plan that was handed over, and what the planner's own lacked. */
static void print_lack(struct fr__document *doc, const struct fr_record *r,
                       const struct fr_decisions *d)
{
    double waits_s = d->own_s - d->own_alone_s;
    char made[NUMBER], waits[NUMBER], alone[NUMBER];

    fr__say(doc, "handed over: the plan of %s, made %s", d->plan_of,
            fr__record_time(r, r->iteration_s, made, sizeof(made)));
    if (!isfinite(d->own_s))
        fr__say(doc, "; the planner's own has no room");
    else if (waits_s > 0 && d->own_alone_s < r->iteration_s)
        fr__say(
            doc,
            "; the planner's own would be faster, %s, but for %s of messages that wait for each "
            "other's links",
            fr__record_time(r, d->own_alone_s, alone, sizeof(alone)),
            fr__record_time(r, waits_s, waits, sizeof(waits)));
    else
        fr__say(doc, "; the planner's own takes %s even with each message alone on its links",
                fr__record_time(r, d->own_alone_s, alone, sizeof(alone)));
    fr__say(doc, "\n");
}

/* What the engine said to a planner that asked it: of its own plan and of others. */
static void print_own(struct fr__document *doc, const struct fr_record *r,
                      const struct fr_decisions *d)
{
    const char *cause = fr_decisions_gap_cause(d);
    char own[NUMBER];

    if (isfinite(d->own_s))
        fr__say(doc, "own plan, rule %s (%s): made %s", d->rule, d->rule_words,
                fr__record_time(r, d->own_s, own, sizeof(own)));
    else
        fr__say(doc, "own plan: out of memory");
    if (isfinite(d->own_s) && strcmp(cause, "none") != 0)
        fr__say(doc, ", not as planned because of %s", cause);
    fr__say(doc, "\n");
    if (d->is_handed_over)
        print_lack(doc, r, d);
}

/* The time that the planner believed, the time of the run, and the bound of any placement. */
static void print_planned(struct fr__document *doc, const struct fr_record *r)
{
    const struct fr_decisions *d = r->decisions;
    const struct fr_decided_plan *p = d ? fr_decisions_plan(d) : NULL;
    const struct fr_decided_bounds *b = p ? &p->bounds : NULL;
    char planned[NUMBER], before[NUMBER], made[NUMBER], bound[NUMBER];
    char off[FR__TABLE_CELL], gap[FR__TABLE_CELL];

    if (!p)
        return;
    fr__say(doc, "\nplanned: %s, ", fr__record_time(r, d->believed_s, planned, sizeof(planned)));
    if (d->n_splits > 0)
        fr__say(doc, "%s before it split %zu operation%s, ",
                fr__record_time(r, d->start_s, before, sizeof(before)), d->n_splits,
                d->n_splits == 1 ? "" : "s");
    fr__change_cell(off, d->believed_s > 0 ? r->iteration_s / d->believed_s - 1 : 0);
    if (d->is_handed_over)
        fr__say(doc, "from %s; its own plan takes longer than that of %s\n", d->start_words,
                d->plan_of);
    else
        fr__say(doc, "from %s; the %s network and %s order made it %s, %s\n", d->start_words,
                r->network, r->order, fr__record_time(r, r->iteration_s, made, sizeof(made)), off);
    if (d->own_s > 0)
        print_own(doc, r, d);
    fr__change_cell(gap, b->best_s > 0 ? d->believed_s / b->best_s - 1 : 0);
    fr__say(doc, "no placement of these operations takes less than %s (%s): planned %s\n",
            fr__record_time(r, b->best_s, bound, sizeof(bound)),
            b->best_s <= b->search_s ? "what the search proved"
            : b->best_s <= b->path_s ? "their longest chain"
            : b->best_s <= b->work_s ? "their work shared evenly"
                                     : "what must cross between devices",
            gap);
}

void fr__record_put_figures(struct fr__document *doc, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {
        {"", false}, {"", true}, {"", true}, {"", false}};
    struct summary s = {.record = r};

    for (unsigned row = 0; row < N_SUMMARY_ROWS; row++)
        if (has_row(r, (enum summary_row)row))
            s.rows[s.n++] = (enum summary_row)row;
    fr__say_table(doc, &(struct fr__table){columns, 4, s.n, fill_summary, &s}, 0);
}

void fr__record_put(struct fr__document *doc, const struct fr_record *r,
                    const struct fr_results *rs)
{
    bool is_verbose = rs->is_verbose || fr__is_page(doc);

    fr__record_put_question(doc, r, true);
    fr__record_put_figures(doc, r);
    fr__say(doc, "\ncosts from ");
    fr__record_put_cost_sources(doc, r);
    fr__record_put_interval(doc, r);
    fr__record_put_run(doc, r, rs->terms);
    fr__record_put_seeds(doc, r);
    print_planned(doc, r);
    print_promise(doc, r);
    print_order(doc, r);
    if (r->oom)
        fr__record_put_oom(doc, r);
    fr__say_picture(doc, FR__PICTURE_TIMELINE, r, 1);
    fr__say_picture(doc, FR__PICTURE_MEMORY, r, 1);
    if (r->oom || (is_verbose && !r->is_plain))
        fr__record_put_holders(doc, &r->peak, is_verbose ? FR_RECORD_MAX_HOLDERS : MOST_HOLDERS);
    fr__record_put_advice(doc, r);
    fr__record_put_sensitivities(doc, r);
    fr__record_put_uncertainty(doc, r);
    if (is_verbose)
        fr__record_put_details(doc, r);
    if (fr__is_page(doc))
        fr__record_put_trust(doc, rs, r);
}
