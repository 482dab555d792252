/* results/document/validate.c - a validation as tables for people: rows, groups, reasons.
 *
 * It is separate because a row compares a measured time with a predicted one.
 */
#include "config.h"

#include "results/document/builders.h"

#include "results/document/validate_split.h"
#include "results/parts/number.h"
#include "results/results.h"
#include "results/parts/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_REASONS = 12 };

/* ---- tables ---- */

static void percent(char cell[FR__TABLE_CELL], double x, bool has_sign)
{
    char text[40];

    if (isnan(x))
        return;
    snprintf(cell, FR__TABLE_CELL, "%s%s %%", has_sign && x >= 0 ? "+" : "",
             fr__fixed(100 * x, 1, text, sizeof(text)));
}

static void fill_group(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_validation *v = user;
    const struct fr_validation_group *g = &v->groups[i];

    fr__table_text(row->cell[0], fr_validation_by_name(g->by));
    fr__table_text(row->cell[1], g->name);
    snprintf(row->cell[2], FR__TABLE_CELL, "%" PRIu64, g->errors.n);
    percent(row->cell[3], g->errors.median, false);
    percent(row->cell[4], g->errors.mean, false);
    percent(row->cell[5], g->errors.p90, false);
    percent(row->cell[6], g->errors.worst, false);
    percent(row->cell[7], g->errors.bias, true);
}

static void fill_row(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_validation_row *r = &((const struct fr_validation *)user)->rows[i];
    char text[40];

    fr__table_text(row->cell[0], r->id);
    fr__table_text(row->cell[1], r->workload);
    fr__table_text(row->cell[2], r->topology);
    fr__table_text(row->cell[3], r->strategy);
    snprintf(row->cell[4], FR__TABLE_CELL, "%s",
             fr__fixed(1e3 * r->measured_s, 3, text, sizeof(text)));
    if (r->why_not) {
        fr__table_text(row->cell[7], r->why_not);
        return;
    }
    snprintf(row->cell[5], FR__TABLE_CELL, "%s",
             fr__fixed(1e3 * r->predicted_s, 3, text, sizeof(text)));
    percent(row->cell[6], r->error, true);
}

static const struct fr__table_column row_columns[] = {
    {"id", false},         {"workload", false},    {"topology", false}, {"strategy", false},
    {"measured ms", true}, {"predicted ms", true}, {"error", true},     {"why not", false}};
static const struct fr__table_column group_columns[] = {
    {"by", false},  {"", false},   {"rows", true},  {"median", true},
    {"mean", true}, {"p90", true}, {"worst", true}, {"bias", true}};

static size_t count_why(const struct fr_validation *v, const char *why)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_rows; i++)
        n += v->rows[i].why_not && strcmp(v->rows[i].why_not, why) == 0;
    return n;
}

/* Each reason once, in the order of the rows, with how many rows share it. */
static void print_reasons(struct fr__document *doc, const struct fr_validation *v)
{
    size_t n_printed = 0;

    fr__say(doc, "\nnot predicted: %zu of %zu rows\n", v->n_rows - v->n_predicted, v->n_rows);
    for (size_t i = 0; i < v->n_rows; i++) {
        size_t first = 0;

        if (!v->rows[i].why_not)
            continue;
        while (!v->rows[first].why_not || strcmp(v->rows[first].why_not, v->rows[i].why_not) != 0)
            first++;
        if (first < i)
            continue;
        if (n_printed++ == MOST_REASONS) {
            fr__say(doc, "  and others (--json names each)\n");
            return;
        }
        fr__say(doc, "  %zu: %s\n", count_why(v, v->rows[i].why_not), v->rows[i].why_not);
    }
}

enum fr_status fr__document_of_validation(struct fr__document *doc, const void *what,
                                          struct fr_error *err)
{
    const struct fr_validation_answer *a = what;
    const struct fr_validation *v = a->validation;

    if (a->with_rows) {
        fr__say_table(doc, &(struct fr__table){row_columns, 8, v->n_rows, fill_row, v}, 0);
        fr__say(doc, "\n");
    }
    fr__say_table(doc, &(struct fr__table){group_columns, 8, v->n_groups, fill_group, v}, 0);
    fr__say_picture(doc, FR__PICTURE_CHART, a, 0);
    if (v->memory.n > 0)
        fr__say(doc,
                "\npeak memory: %" PRIu64 " rows, median %.1f %% off, p90 %.1f %%, bias %+.1f %%\n",
                v->memory.n, 100 * v->memory.median, 100 * v->memory.p90, 100 * v->memory.bias);
    if (v->n_ranges > 0)
        fr__say(doc,
                "\nin the range claimed for 90 %%: %" PRIu64 " of %" PRIu64
                " rows, %.1f %%; for 50 %%: %.1f %%\n",
                v->n_in_90, v->n_ranges, 100 * (double)v->n_in_90 / (double)v->n_ranges,
                100 * (double)v->n_in_50 / (double)v->n_ranges);
    if (v->n_tau_pairs > 0)
        fr__say(doc, "\norder of strategies: Kendall's tau %.2f over %" PRIu64 " pairs\n", v->tau,
                v->n_tau_pairs);
    if (v->n_scaling > 0)
        fr__say(doc, "\nscaling, N GPUs against 1: median %.1f %% off, %" PRIu64 " pairs\n",
                100 * v->scaling_median, v->n_scaling);
    fr__say_split(doc, v, a->with_rows);
    if (v->n_predicted < v->n_rows)
        print_reasons(doc, v);
    return fr__document_check(doc, err);
}
