/* results/document/comparison.c - answers: one record, or several as a table, a row each.
 *
 * It is separate because its columns depend on all of the records: tokens for sequence models, a
 * whole run where one is asked for, workloads and clusters where there are several. What does not
 * fit on the lines goes into another table below, with the names of the rows once more: first what
 * decides, then what explains it.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/rows.h"
#include "results/parts/cells.h"
#include "results/parts/colours.h"
#include "results/document/record.h"
#include "study/answer/figures.h"

#include <string.h>

enum { NUMBER = 32, MOST_PARTS = 16 /* of a page */ };

enum column {
    COLUMN_WORKLOAD, /* these where rows differ in them, in the order of enum fr__row_part */
    COLUMN_TOPOLOGY,
    COLUMN_GPUS,
    COLUMN_BATCH,
    COLUMN_PRECISION,
    COLUMN_OPTIMIZER,
    COLUMN_STRATEGY, /* the last of what names a row */
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
    enum column columns[N_COLUMNS];
    size_t n_columns;
    size_t width; /* of a line; 0: any */
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

static void speed_up_cell(char cell[FR__TABLE_CELL], double times)
{
    char text[NUMBER];

    if (times > 0)
        snprintf(cell, FR__TABLE_CELL, "%sx", fr__fixed(times, 2, text, NUMBER));
}

/* A title, or the figure of a record that says it. */
static const struct {
    struct fr__table_column title;
    const char *path;
} all[N_COLUMNS] = {
    [COLUMN_WORKLOAD] = {.title = {"workload", false}},
    [COLUMN_TOPOLOGY] = {.title = {"cluster", false}},
    [COLUMN_GPUS] = {.title = {"GPUs", true}},
    [COLUMN_BATCH] = {.title = {"batch", true}},
    [COLUMN_PRECISION] = {.title = {"precision", false}},
    [COLUMN_OPTIMIZER] = {.title = {"optimizer", false}},
    [COLUMN_STRATEGY] = {.title = {"strategy", false}},
    [COLUMN_ITERATION] = {.path = "iteration_s"},
    [COLUMN_STANDARD_ERROR] = {.path = "seeds.standard_error_s"},
    [COLUMN_MIN] = {.path = "seeds.min_s"},
    [COLUMN_MAX] = {.path = "seeds.max_s"},
    [COLUMN_RANGE] = {.title = {"90 %", true}},
    [COLUMN_THROUGHPUT] = {.path = "samples_per_s"},
    [COLUMN_TOKENS] = {.path = "tokens_per_s_per_gpu"},
    [COLUMN_MFU] = {.path = "mfu"},
    [COLUMN_SPEED_UP] = {.title = {"speed-up", true}},
    [COLUMN_COMPUTE] = {.path = "compute_s"},
    [COLUMN_EXPOSED] = {.path = "exposed_comm_s"},
    [COLUMN_BUBBLE] = {.path = "bubble_s"},
    [COLUMN_GAP] = {.title = {"over bound", true}},
    [COLUMN_RUN] = {.title = {"", true}},
    [COLUMN_COST] = {.title = {"", true}},
    [COLUMN_MEMORY] = {.path = "peak_bytes"},
    [COLUMN_FITS] = {.title = {"", false}},
};

/* The figure as it would be with more memory, where there is too little. */
static void figure_cell(char cell[FR__TABLE_CELL], const struct fr_record *r, const char *path)
{
    const void *object = r;
    const struct fr_figure *f = fr__figure_by_path(fr__record_figures, path, &object);
    struct fr_value v;

    fr__figure_read(f, object, &v);
    fr__figure_cell(cell, f, &v, r->is_plain);
}

/* Of record i. */
static void fill_cell(const struct comparison *c, size_t i, enum column column,
                      char cell[FR__TABLE_CELL])
{
    const struct fr_record *r = c->results->records[i];
    char text[FR__TABLE_CELL] = "", name[FR__ROW_NAME];

    switch (column) {
    case COLUMN_WORKLOAD:
    case COLUMN_TOPOLOGY:
    case COLUMN_GPUS:
    case COLUMN_BATCH:
    case COLUMN_PRECISION:
    case COLUMN_OPTIMIZER:
        fr__table_text(cell, fr__row_part_text(r, (enum fr__row_part)column, name));
        break;
    case COLUMN_STRATEGY:
        fr__table_text(cell, r->strategy);
        break;
    case COLUMN_RANGE:
        if (!r->oom)
            fr__range_cell(cell, r->interval.low_s, r->interval.high_s);
        break;
    case COLUMN_SPEED_UP:
        speed_up_cell(cell, fr__row_speed_up(c->results, i));
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
    case COLUMN_FITS:
        fits_cell(cell, r);
        break;
    default:
        figure_cell(cell, r, all[column].path);
        break;
    }
}

static void fill_comparison(const void *user, size_t i, struct fr__table_row *row)
{
    const struct comparison *c = user;

    for (size_t k = 0; k < c->n_columns; k++)
        fill_cell(c, i, c->columns[k], row->cell[k]);
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
    case COLUMN_WORKLOAD:
    case COLUMN_TOPOLOGY:
    case COLUMN_GPUS:
    case COLUMN_BATCH:
    case COLUMN_PRECISION:
    case COLUMN_OPTIMIZER:
        return fr__rows_differ(rs, (enum fr__row_part)column);
    case COLUMN_THROUGHPUT: /* these of training, which tasks are not */
    case COLUMN_MEMORY:
    case COLUMN_FITS:
        return !rs->records[0]->is_plain;
    case COLUMN_SPEED_UP: /* of one workload over another means nothing */
        return !fr__rows_differ(rs, FR__ROW_WORKLOAD);
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
    fr__record_run_title(c->run_title, c->results->terms);
    for (unsigned column = 0; column < N_COLUMNS; column++) {
        struct fr__table_column *title = &titles[c->n_columns];

        if (!has_column(c, (enum column)column))
            continue;
        *title = all[column].title;
        if (all[column].path)
            *title = (struct fr__table_column){
                fr__figure_by_path(fr__record_figures, all[column].path, NULL)->title, true};
        if (column == COLUMN_ITERATION && c->results->records[0]->is_plain)
            title->title = "makespan";
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

        fill_cell(c, i, column, cell);
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

/* Takes as many of the columns from *next on as fit beside the names of rows; at least one. What
 * fits says goes with the memory. Returns how many columns name rows. */
static size_t take_columns(struct comparison *part, const struct comparison *c,
                           const struct fr__table_column titles[], struct fr__table_column taken[],
                           size_t *next)
{
    size_t n_all = sizeof(by_weight) / sizeof(by_weight[0]), n_names = 0, width = 0;

    for (; n_names <= index_of(c, COLUMN_STRATEGY); n_names++) {
        part->columns[n_names] = c->columns[n_names];
        taken[n_names] = titles[n_names];
        width += width_of(c, c->columns[n_names], titles[n_names].title);
    }
    part->n_columns = n_names;
    for (; *next < n_all; (*next)++) {
        size_t k = index_of(c, by_weight[*next]), w;

        if (k == c->n_columns)
            continue;
        w = width_of(c, by_weight[*next], titles[k].title);
        if (by_weight[*next] == COLUMN_MEMORY)
            w += width_of(c, COLUMN_FITS, "");
        if (part->n_columns > n_names && width + w > c->width && by_weight[*next] != COLUMN_FITS)
            break;
        width += by_weight[*next] == COLUMN_FITS ? 0 : w;
        part->columns[part->n_columns] = by_weight[*next];
        taken[part->n_columns++] = titles[k];
    }
    return n_names;
}

static void put_table(struct fr__document *doc, const struct comparison *c,
                      const struct fr__table_column titles[])
{
    static const char *const bars[] = {FR__COLOUR_FORWARD, FR__COLOUR_COMMUNICATION,
                                       FR__COLOUR_IDLE};

    fr__say_table(doc, &(struct fr__table){titles, c->n_columns, c->results->n, fill_comparison, c},
                  0);
    if (fr__is_page(doc)) /* compute, exposed, bubble; on pages they stand side by side */
        fr__say_bars(doc, index_of(c, COLUMN_COMPUTE), FR__BARS, bars);
}

static void put_tables(struct fr__document *doc, const struct comparison *c,
                       const struct fr__table_column titles[])
{
    size_t n_all = sizeof(by_weight) / sizeof(by_weight[0]), width = 0;

    for (size_t k = 0; k < c->n_columns; k++)
        width += width_of(c, c->columns[k], titles[k].title);
    if (c->width == 0 || width <= c->width) {
        put_table(doc, c, titles);
        return;
    }
    for (size_t next = 0, n = 0; next < n_all; n++) {
        struct fr__table_column taken[N_COLUMNS];
        struct comparison part = *c;
        size_t n_names = take_columns(&part, c, titles, taken, &next);

        if (part.n_columns == n_names ||
            (part.n_columns == n_names + 1 && part.columns[n_names] == COLUMN_GAP))
            return; /* not worth a table */
        if (n > 0)
            fr__say(doc, "\n");
        put_table(doc, &part, taken);
    }
}

/* What speed-ups are against, and where costs are from. */
static void put_base(struct fr__document *doc, const struct fr_results *rs)
{
    size_t at = fr__row_base(rs);
    const struct fr_record *base = rs->records[at];
    bool by_workload = fr__rows_differ(rs, FR__ROW_WORKLOAD);
    char name[FR__ROW_NAME];

    if (base->seeds.n > 0)
        fr__say(doc, "\niteration: mean of seeds %llu to %llu; other parts are of the first",
                (unsigned long long)base->seeds.first,
                (unsigned long long)(base->seeds.first + base->seeds.n - 1));
    fr__say(doc, "%s", by_workload ? "\ncosts of " : "\nspeed-up against ");
    fr__say_name(doc, fr__row_name(rs, at, name));
    if (by_workload)
        fr__say(doc, " from ");
    else
        fr__say(doc, "%s",
                fr__rows_differ(rs, FR__ROW_BATCH) ? " in samples a second; costs from "
                                                   : "; costs from ");
    fr__record_put_cost_sources(doc, base);
}

/* The answer in a sentence: what is the fastest of those that fit. */
static void put_fastest(struct fr__document *doc, const struct fr_results *rs)
{
    bool by_rate = fr__rows_differ(rs, FR__ROW_BATCH);
    const struct fr_record *best = NULL;
    size_t n_over = 0, at = 0;
    char text[NUMBER], name[FR__ROW_NAME];

    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];

        n_over += r->oom;
        if (r->oom || (best && (by_rate ? r->samples_per_s <= best->samples_per_s
                                        : r->iteration_s >= best->iteration_s)))
            continue;
        best = r;
        at = i;
    }
    if (best && !fr__rows_differ(rs, FR__ROW_WORKLOAD)) {
        fr__say_name(doc, fr__row_name(rs, at, name));
        fr__say(doc, " is the fastest%s: %s", n_over ? " that fits" : "",
                fr__record_time(best, best->iteration_s, text, sizeof(text)));
        if (fr__row_base(rs) != at && fr__row_speed_up(rs, at) > 0) {
            fr__say(doc, ", %s times as fast as ",
                    fr__fixed(fr__row_speed_up(rs, at), 2, text, sizeof(text)));
            fr__say_name(doc, fr__row_name(rs, fr__row_base(rs), name));
        }
        fr__say(doc, ".\n");
    }
    if (n_over)
        fr__say(doc, "%zu of %zu do%s not fit in memory.\n", n_over, rs->n,
                n_over == 1 ? "es" : "");
}

/* A part of the page, or of a terminal's lines, a record. */
static void put_records(struct fr__document *doc, const struct fr_results *rs)
{
    bool is_page = fr__is_page(doc), is_verbose = rs->is_verbose || is_page;
    size_t n = is_page && rs->n > MOST_PARTS ? MOST_PARTS : rs->n;
    char name[FR__ROW_NAME];

    for (size_t i = 0; i < n; i++) {
        const struct fr_record *r = rs->records[i];

        if (!is_verbose && r->n_sensitivities == 0)
            continue;
        fr__say(doc, "\n");
        fr__say_heading(doc, fr__row_name(rs, i, name));
        if (is_page)
            fr__record_put_figures(doc, r);
        if (is_verbose && r->oom)
            fr__record_put_oom(doc, r);
        fr__say_picture(doc, FR__PICTURE_TIMELINE, r, n);
        fr__say_picture(doc, FR__PICTURE_MEMORY, r, n);
        if (is_page && !r->is_plain)
            fr__record_put_holders(doc, &r->peak, FR_RECORD_MAX_HOLDERS);
        fr__record_put_sensitivities(doc, r);
        if (is_verbose)
            fr__record_put_details(doc, r);
    }
    if (n < rs->n)
        fr__say(doc, "Details of the first %zu of %zu strategies.\n", n, rs->n);
}

static void put_comparison(struct fr__document *doc, const struct fr_results *rs)
{
    struct fr__table_column titles[N_COLUMNS];
    struct comparison c = {.results = rs, .width = fr__document_width(doc)};
    char name[FR__ROW_NAME];

    choose_columns(&c, titles);
    if (fr__is_page(doc) &&
        (fr__rows_differ(rs, FR__ROW_WORKLOAD) || fr__rows_differ(rs, FR__ROW_TOPOLOGY) ||
         fr__rows_differ(rs, FR__ROW_GPUS))) {
        fr__say_name(doc, fr__rows_subject(rs, name));
        fr__say(doc, "\n\n");
    }
    for (size_t i = 0; i < rs->n; i++)
        if (!fr__row_is_known(rs, i)) {
            if (i > 0)
                fr__say(doc, "\n");
            fr__record_put_question(doc, rs->records[i], false);
        }
    fr__record_put_warnings(doc, rs);
    if (fr__is_page(doc))
        put_fastest(doc, rs);
    put_tables(doc, &c, titles);
    put_base(doc, rs);
    if (fr__is_page(doc))
        fr__say(
            doc,
            "Means over the %ss in use; over bound: how far above the time that no order of the "
            "same tasks beats.\n",
            fr__record_device_title(rs->records[0]));
    fr__say_picture(doc, FR__PICTURE_RUNS, rs, rs->n);
    put_records(doc, rs);
    if (fr__is_page(doc))
        fr__record_put_trust(doc, rs, rs->records[fr__row_base(rs)]);
}

enum fr_status fr__document_of_results(struct fr__document *doc, const void *what,
                                       struct fr_error *err)
{
    const struct fr_results *rs = what;

    if (rs->is_comparison && rs->n > 0)
        put_comparison(doc, rs);
    for (size_t i = 0; i < rs->n_differences; i++) {
        fr__say(doc, "\n");
        FR_TRY(fr__document_of_difference(
            doc, &(struct fr_difference_answer){rs->differences[i], rs->is_verbose}, err));
    }
    fr__put_job(doc, rs->job);
    for (size_t i = 0; !rs->is_comparison && i < rs->n; i++)
        fr__record_put(doc, rs->records[i], rs);
    return fr__document_check(doc, err);
}
