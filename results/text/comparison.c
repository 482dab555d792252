/* results/text/comparison.c - several records as a table for people, a row each.
 *
 * It is separate because its columns depend on all of the records: tokens for sequence models, a
 * whole run where one is asked for. What does not fit on the lines goes into another table below,
 * with the strategies once more: first what decides, then what explains it.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/speed_up.h"
#include "results/text/cells.h"
#include "results/text/record.h"

#include <string.h>

enum { NUMBER = 32 };

enum column {
    COLUMN_STRATEGY,
    COLUMN_ITERATION,
    COLUMN_STANDARD_ERROR, /* these three of several seeds */
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_RANGE, /* where one is known, of one seed */
    COLUMN_THROUGHPUT,
    COLUMN_TOKENS, /* these two of sequence models */
    COLUMN_MFU,
    COLUMN_SPEED_UP,
    COLUMN_COMPUTE,
    COLUMN_EXPOSED,
    COLUMN_BUBBLE,
    COLUMN_GAP,
    COLUMN_RUN, /* these two where a whole run is asked for */
    COLUMN_COST,
    COLUMN_MEMORY,
    COLUMN_FITS,
    N_COLUMNS
};

struct comparison {
    const struct fr_results *results;
    const struct fr_record *base; /* of speed-ups */
    enum column columns[N_COLUMNS];
    size_t n_columns;
    char run_title[FR__TABLE_CELL];
};

static void fits_cell(char cell[FR__TABLE_CELL], const struct fr_record *r)
{
    char text[NUMBER];

    if (r->oom)
        snprintf(cell, FR__TABLE_CELL, "OUT OF MEMORY by %s",
                 fr__format_bytes((double)r->oom_why.over_bytes, text, sizeof(text)));
    else
        snprintf(cell, FR__TABLE_CELL, "fits in %s",
                 fr__format_bytes((double)r->peak_capacity_bytes, text, sizeof(text)));
}

static void speed_up_cell(char cell[FR__TABLE_CELL], double base_s, double iteration_s)
{
    char text[NUMBER];

    if (iteration_s > 0)
        snprintf(cell, FR__TABLE_CELL, "%sx", fr__fixed(base_s / iteration_s, 2, text, NUMBER));
}

/* The time of an iteration, or a figure of it over several seeds. */
static void time_cell(char cell[FR__TABLE_CELL], const struct fr_record *r, enum column column)
{
    double time_s = column == COLUMN_STANDARD_ERROR ? r->seeds.standard_error_s
                    : column == COLUMN_MIN          ? r->seeds.min_s
                    : column == COLUMN_MAX          ? r->seeds.max_s
                                                    : r->iteration_s;

    fr__format_time(time_s, cell, NUMBER);
}

static void fill_cell(const struct comparison *c, const struct fr_record *r, enum column column,
                      char cell[FR__TABLE_CELL])
{
    char text[FR__TABLE_CELL] = "";

    switch (column) {
    case COLUMN_STRATEGY:
        fr__table_text(cell, r->strategy);
        break;
    case COLUMN_ITERATION:
    case COLUMN_STANDARD_ERROR:
    case COLUMN_MIN:
    case COLUMN_MAX:
        time_cell(cell, r, column);
        break;
    case COLUMN_RANGE:
        if (!r->oom)
            fr__range_cell(cell, r->interval.low_s, r->interval.high_s);
        break;
    case COLUMN_THROUGHPUT:
        fr__rate_cell(cell, r->samples_per_s);
        break;
    case COLUMN_TOKENS:
        fr__rate_cell(cell, r->tokens_per_s / (double)r->n_gpus);
        break;
    case COLUMN_MFU:
        fr__percent(r->mfu, cell, NUMBER);
        break;
    case COLUMN_SPEED_UP:
        speed_up_cell(cell, c->base->iteration_s, r->iteration_s);
        break;
    case COLUMN_COMPUTE:
        fr__format_time(r->compute_s, cell, NUMBER);
        break;
    case COLUMN_EXPOSED:
        fr__format_time(r->exposed_comm_s, cell, NUMBER);
        break;
    case COLUMN_BUBBLE:
        fr__format_time(r->bubble_s, cell, NUMBER);
        break;
    case COLUMN_GAP:
        fr__gap_cell(cell, r->iteration_s, r->lower_bound_s);
        break;
    case COLUMN_RUN:
        fr__record_run_cells(cell, text, r, c->results->terms);
        break;
    case COLUMN_COST:
        fr__record_run_cells(text, cell, r, c->results->terms);
        break;
    case COLUMN_MEMORY:
        fr__format_bytes((double)r->peak_bytes, cell, NUMBER);
        break;
    case COLUMN_FITS:
        fits_cell(cell, r);
        break;
    case N_COLUMNS:
        break;
    }
}

static void fill_comparison(const void *user, size_t i, struct fr__table_row *row)
{
    const struct comparison *c = user;

    for (size_t k = 0; k < c->n_columns; k++)
        fill_cell(c, c->results->records[i], c->columns[k], row->cell[k]);
}

static bool has_column(const struct comparison *c, enum column column)
{
    const struct fr_results *rs = c->results;
    bool has_tokens = false, has_flops = false, has_range = false, has_seeds = false;

    for (size_t i = 0; i < rs->n; i++) {
        has_tokens = has_tokens || rs->records[i]->tokens_per_sample > 0;
        has_flops = has_flops || rs->records[i]->model_flops > 0;
        has_range = has_range || rs->records[i]->interval.is_known;
        has_seeds = has_seeds || rs->records[i]->seeds.n > 0;
    }
    switch (column) {
    case COLUMN_STANDARD_ERROR:
    case COLUMN_MIN:
    case COLUMN_MAX:
        return has_seeds;
    case COLUMN_RANGE:
        return has_range && !has_seeds;
    case COLUMN_TOKENS:
        return has_tokens;
    case COLUMN_MFU:
        return has_tokens && has_flops;
    case COLUMN_RUN:
    case COLUMN_COST:
        return c->run_title[0] != '\0';
    default:
        return true;
    }
}

/* Chooses the columns and names them: titles [N_COLUMNS]. */
static void choose_columns(struct comparison *c, struct fr__table_column titles[])
{
    static const struct fr__table_column all[N_COLUMNS] = {
        [COLUMN_STRATEGY] = {"strategy", false},
        [COLUMN_ITERATION] = {"iteration", true},
        [COLUMN_STANDARD_ERROR] = {"std error", true},
        [COLUMN_MIN] = {"min", true},
        [COLUMN_MAX] = {"max", true},
        [COLUMN_RANGE] = {"90 %", true},
        [COLUMN_THROUGHPUT] = {"samples/s", true},
        [COLUMN_TOKENS] = {"tokens/s/GPU", true},
        [COLUMN_MFU] = {"MFU", true},
        [COLUMN_SPEED_UP] = {"speed-up", true},
        [COLUMN_COMPUTE] = {"compute", true},
        [COLUMN_EXPOSED] = {"exposed comm", true},
        [COLUMN_BUBBLE] = {"bubble", true},
        [COLUMN_GAP] = {"over bound", true},
        [COLUMN_RUN] = {"", true},
        [COLUMN_COST] = {"", true},
        [COLUMN_MEMORY] = {"peak memory", true},
        [COLUMN_FITS] = {"", false},
    };

    fr__record_run_title(c->run_title, c->results->terms);
    for (unsigned column = 0; column < N_COLUMNS; column++) {
        struct fr__table_column *title = &titles[c->n_columns];

        if (!has_column(c, (enum column)column))
            continue;
        *title = all[column];
        if (column == COLUMN_RUN)
            title->title = c->run_title;
        if (column == COLUMN_COST)
            title->title = fr__record_cost_title(c->results->terms);
        c->columns[c->n_columns++] = (enum column)column;
    }
}

/* ---- narrow lines ---- */

/* Columns in the order in which tables that were cut have them. */
static const enum column by_weight[] = {
    COLUMN_ITERATION,  COLUMN_STANDARD_ERROR, COLUMN_MIN,     COLUMN_MAX,
    COLUMN_RANGE,      COLUMN_TOKENS,         COLUMN_MFU,     COLUMN_SPEED_UP,
    COLUMN_RUN,        COLUMN_COST,           COLUMN_MEMORY,  COLUMN_FITS,
    COLUMN_THROUGHPUT, COLUMN_COMPUTE,        COLUMN_EXPOSED, COLUMN_BUBBLE,
    COLUMN_GAP};

static size_t width_of(const struct comparison *c, enum column column, const char *title)
{
    size_t most = strlen(title);

    for (size_t i = 0; i < c->results->n; i++) {
        char cell[FR__TABLE_CELL] = "";

        fill_cell(c, c->results->records[i], column, cell);
        most = strlen(cell) > most ? strlen(cell) : most;
    }
    return 2 + most;
}

/* The index of a column among those that are shown; n_columns: it is not. */
static size_t index_of(const struct comparison *c, enum column column)
{
    size_t k = 0;

    while (k < c->n_columns && c->columns[k] != column)
        k++;
    return k;
}

/* Takes as many of the columns from *next on as fit beside the strategies; at least one. What
 * fits says goes with the memory. */
static void take_columns(struct comparison *part, const struct comparison *c,
                         const struct fr__table_column titles[], struct fr__table_column taken[],
                         size_t *next)
{
    size_t n_all = sizeof(by_weight) / sizeof(by_weight[0]);
    size_t width = width_of(c, COLUMN_STRATEGY, titles[0].title);

    part->columns[0] = COLUMN_STRATEGY;
    taken[0] = titles[0];
    part->n_columns = 1;
    for (; *next < n_all; (*next)++) {
        size_t k = index_of(c, by_weight[*next]), w;

        if (k == c->n_columns)
            continue;
        w = width_of(c, by_weight[*next], titles[k].title);
        if (by_weight[*next] == COLUMN_MEMORY)
            w += width_of(c, COLUMN_FITS, "");
        if (part->n_columns > 1 && width + w > c->results->width && by_weight[*next] != COLUMN_FITS)
            return;
        width += by_weight[*next] == COLUMN_FITS ? 0 : w;
        part->columns[part->n_columns] = by_weight[*next];
        taken[part->n_columns++] = titles[k];
    }
}

static void put_table(FILE *f, const struct comparison *c, const struct fr__table_column titles[])
{
    fr__table_print(f,
                    &(struct fr__table){titles, c->n_columns, c->results->n, fill_comparison, c});
}

static void put_tables(FILE *f, const struct comparison *c, const struct fr__table_column titles[])
{
    size_t n_all = sizeof(by_weight) / sizeof(by_weight[0]), width = 0;

    for (size_t k = 0; k < c->n_columns; k++)
        width += width_of(c, c->columns[k], titles[k].title);
    if (c->results->width == 0 || width <= c->results->width) {
        put_table(f, c, titles);
        return;
    }
    for (size_t next = 0, n = 0; next < n_all; n++) {
        struct fr__table_column taken[N_COLUMNS];
        struct comparison part = *c;

        take_columns(&part, c, titles, taken, &next);
        if (part.n_columns == 1 || (part.n_columns == 2 && part.columns[1] == COLUMN_GAP))
            return; /* not worth a table */
        if (n > 0)
            putc('\n', f);
        put_table(f, &part, taken);
    }
}

void fr__record_put_comparison(FILE *f, const struct fr_results *rs, bool is_verbose)
{
    struct fr__table_column titles[N_COLUMNS];
    struct comparison c = {.results = rs, .base = fr__speed_up_base(rs)};

    choose_columns(&c, titles);
    fr__record_put_question(f, rs->records[0], false);
    fr__record_put_warnings(f, rs);
    put_tables(f, &c, titles);
    if (c.base->seeds.n > 0)
        fprintf(f, "\niteration: mean of seeds %llu to %llu; other parts are of the first",
                (unsigned long long)c.base->seeds.first,
                (unsigned long long)(c.base->seeds.first + c.base->seeds.n - 1));
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
            fr__record_put_details(f, rs->records[i], rs->width);
    }
}
