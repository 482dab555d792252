/* results/text/comparison.c - several records as a table for people, a row each.
 *
 * It is separate because its columns depend on all of the records: tokens for sequence models, a
 * whole run where one is asked for.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/speed_up.h"
#include "results/text/cells.h"
#include "results/text/record.h"

enum { NUMBER = 32 };

enum column {
    COLUMN_STRATEGY,
    COLUMN_ITERATION,
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

static void fill_cell(const struct comparison *c, const struct fr_record *r, enum column column,
                      char cell[FR__TABLE_CELL])
{
    char text[FR__TABLE_CELL] = "";

    switch (column) {
    case COLUMN_STRATEGY:
        fr__table_text(cell, r->strategy);
        break;
    case COLUMN_ITERATION:
        fr__format_time(r->iteration_s, cell, NUMBER);
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
        if (r->iteration_s > 0)
            snprintf(cell, FR__TABLE_CELL, "%sx",
                     fr__fixed(c->base->iteration_s / r->iteration_s, 2, text, NUMBER));
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
    bool has_tokens = false, has_flops = false;

    for (size_t i = 0; i < rs->n; i++) {
        has_tokens = has_tokens || rs->records[i]->tokens_per_sample > 0;
        has_flops = has_flops || rs->records[i]->model_flops > 0;
    }
    switch (column) {
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

void fr__record_put_comparison(FILE *f, const struct fr_results *rs, bool is_verbose)
{
    struct fr__table_column titles[N_COLUMNS];
    struct comparison c = {.results = rs, .base = fr__speed_up_base(rs)};
    struct fr__table t = {titles, 0, rs->n, fill_comparison, &c};

    choose_columns(&c, titles);
    t.n_columns = c.n_columns;
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
