/* results/document/collectives.c - times of collectives as a table for people.
 *
 * It is separate because its columns compare three models of the same collective.
 */
#include "config.h"

#include "results/document/builders.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/results.h"
#include "results/parts/table.h"

#include <math.h>
#include <string.h>

/* How it goes; sim/collectives/form.c. */
static const char *algorithm_of(enum fr_collective_kind kind)
{
    switch (kind) {
    case FR_ALL_REDUCE:
        return "rings: 2 (n - 1) rounds of S / n bytes";
    case FR_ALL_TO_ALL:
        return "shifts: n - 1 rounds of S / n bytes, to another rank in each";
    case FR_BROADCAST:
        return "chains: pieces of at most 512 KiB, passed on over n - 1 hops";
    case FR_REDUCE:
        return "chains: pieces of at most 512 KiB, summed over n - 1 hops";
    default:
        return "rings: n - 1 rounds of S / n bytes";
    }
}

static void time_cell(char *cell, double s)
{
    if (isnan(s))
        memcpy(cell, "-", 2);
    else
        fr__format_time(s, cell, FR__TABLE_CELL);
}

static void bus_cell(char *cell, const struct fr_collective_times *t, uint64_t bytes, double s)
{
    if (isnan(s) || !(s > 0))
        memcpy(cell, "-", 2);
    else
        fr__format_rate((double)bytes / s * t->bus_factor, cell, FR__TABLE_CELL);
}

static void fill_row(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_collective_times *t = user;
    const struct fr_collective_row *r = &t->rows[i];

    fr__format_bytes((double)r->bytes, row->cell[0], FR__TABLE_CELL);
    time_cell(row->cell[1], r->expanded_s);
    time_cell(row->cell[2], r->closed_s);
    time_cell(row->cell[3], r->fitted_s);
    bus_cell(row->cell[4], t, r->bytes, r->expanded_s);
    bus_cell(row->cell[5], t, r->bytes, r->fitted_s);
}

static void print_fit(struct fr__document *doc, const struct fr_collective_times *t)
{
    char text[FR__TABLE_CELL], number[32];

    if (!t->system) {
        fr__table_text(text, t->why);
        fr__say(doc, "fitted: none, %s\n", text);
        return;
    }
    fr__table_text(text, t->system);
    fr__say(doc, "fitted: as %s", text);
    if (t->n_rows > 0 && t->rows[0].fitted_error > 0)
        fr__say(doc, ", true times within %s %% of it two times in three",
                fr__fixed(100 * (exp(t->rows[0].fitted_error) - 1), 1, number, sizeof(number)));
    fr__say(doc, "%s",
            t->n_rows > 0 && t->rows[0].is_extrapolated
                ? "; on more machines or another GPU count than measured\n"
                : "\n");
}

enum fr_status fr__document_of_collectives(struct fr__document *doc, const void *what,
                                           struct fr_error *err)
{
    const struct fr_collective_times *t = what;
    static const struct fr__table_column columns[] = {
        {"bytes", true},  {"expanded", true},     {"closed", true},
        {"fitted", true}, {"expanded bus", true}, {"fitted bus", true},
    };
    const struct fr__table table = {.columns = columns,
                                    .n_columns = sizeof(columns) / sizeof(columns[0]),
                                    .n_rows = t->n_rows,
                                    .fill = fill_row,
                                    .user = t};
    char name[FR__TABLE_CELL];

    fr__table_text(name, t->topology);
    fr__say(doc, "%s of S bytes on n = %zu of %zu GPUs of %s, %zu machine%s\n\n",
            fr_collective_kind_name(t->kind), t->n_gpus, t->n_gpus_total, name, t->n_machines,
            t->n_machines == 1 ? "" : "s");
    fr__say_table(doc, &table, 0);
    fr__say(doc,
            "\nexpanded: message by message, which share links; %s\n"
            "closed: by formula, the slowest link alone\n",
            algorithm_of(t->kind));
    for (size_t i = 0; i < t->n_rows; i++)
        if (isnan(t->rows[i].expanded_s)) {
            fr__say(doc, "-: more than five million messages\n");
            break;
        }
    print_fit(doc, t);
    return fr__document_check(doc, err);
}
