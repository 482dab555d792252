/* results/text/record.c - records as tables for people: a summary of one, a row each of several.
 *
 * It is separate from what stands above and below both tables (record_question.c, record_memory.c,
 * record_details.c).
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/speed_up.h"
#include "results/text/cells.h"
#include "results/text/record.h"

enum { NUMBER = 32, MOST_HOLDERS = 5 };

/* How far above the lower bound, "+3.1 %"; nothing without a bound. */
static void gap_cell(char cell[FR__TABLE_CELL], const struct fr_record *r)
{
    if (r->lower_bound_s <= 0)
        return;
    cell[0] = '+';
    fr__percent(r->iteration_s / r->lower_bound_s - 1, cell + 1, NUMBER);
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
        fr__rate_cell(row->cell[1], r->samples_per_s);
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
        fr__record_held_cell(row->cell[3], &r->peak);
        break;
    case N_SUMMARY_ROWS:
        break;
    }
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
                fr__percent(r->order_speedup_potential, potential, sizeof(potential)));
}

/* The time that the planner believed, the time of the run, and the bound of any placement. */
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
    fr__change_cell(off, d->believed_s > 0 ? r->iteration_s / d->believed_s - 1 : 0);
    fprintf(f, "from %s; the %s network and %s order made it %s, %s\n", d->start_words, r->network,
            r->order, fr__format_time(r->iteration_s, made, sizeof(made)), off);
    fr__change_cell(gap, b->best_s > 0 ? d->believed_s / b->best_s - 1 : 0);
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

    fr__record_put_question(f, r, true);
    fr__table_print(f, &t);
    fputs("\ncosts from ", f);
    fr__record_put_cost_sources(f, r);
    print_planned(f, r);
    print_order(f, r);
    if (r->oom)
        fr__record_put_oom(f, r);
    if (r->oom || is_verbose)
        fr__record_put_holders(f, &r->peak, is_verbose ? FR_RECORD_MAX_HOLDERS : MOST_HOLDERS);
    fr__record_put_advice(f, r);
    fr__record_put_sensitivities(f, r);
    fr__record_put_uncertainty(f, r);
    if (is_verbose)
        fr__record_put_details(f, r);
}

/* ---- several results ---- */

struct comparison {
    const struct fr_results *results;
    const struct fr_record *base; /* of speed-ups */
};

static void fill_comparison(const void *user, size_t i, struct fr__table_row *row)
{
    const struct comparison *c = user;
    const struct fr_record *r = c->results->records[i];
    char text[NUMBER];

    fr__table_text(row->cell[0], r->strategy);
    fr__format_time(r->iteration_s, row->cell[1], NUMBER);
    fr__rate_cell(row->cell[2], r->samples_per_s);
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

    fr__record_put_question(f, rs->records[0], false);
    fr__table_print(f, &t);
    fputs("\nspeed-up against ", f);
    fr__put_clean(f, c.base->strategy);
    fputs("; costs from ", f);
    fr__record_put_cost_sources(f, c.base);
    for (size_t i = 0; i < rs->n; i++) {
        if (!is_verbose && rs->records[i]->n_sensitivities == 0)
            continue;
        fputs("\n-- ", f);
        fr__put_clean(f, rs->records[i]->strategy);
        putc('\n', f);
        if (is_verbose && rs->records[i]->oom)
            fr__record_put_oom(f, rs->records[i]);
        fr__record_put_sensitivities(f, rs->records[i]);
        if (is_verbose)
            fr__record_put_details(f, rs->records[i]);
    }
}

void fr_results_print_table(FILE *f, const struct fr_results *rs, bool is_verbose)
{
    if (rs->is_comparison && rs->n > 0)
        print_comparison(f, rs, is_verbose);
    for (size_t i = 0; !rs->is_comparison && i < rs->n; i++)
        print_one(f, rs->records[i], is_verbose);
}
