/* results/document/sweep_points.c - points of a sweep as a table, a row each.
 *
 * It is separate because its columns depend on which settings vary and on what was asked for.
 */
#include "config.h"

#include "results/document/sweep_points.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/sweep_names.h"
#include "results/parts/cells.h"
#include "study/answer/figures.h"
#include "study/store/row.h"
#include "study/sweep/state.h"

#include <math.h>
#include <string.h>

enum {
    MAX_SETTING_COLUMNS = 6, /* one for the label and the rest for measures */
    MAX_MEASURES = FR__TABLE_MAX_COLUMNS - 1 - MAX_SETTING_COLUMNS,
    NUMBER = 32
};

_Static_assert((int)FR_SWEEP_MAX_COLUMNS == (int)MAX_MEASURES, "as many columns as a table has");

/* What a table of points is printed from. */
struct listing {
    const struct fr__sweep_points *of;
    size_t settings[FR_N_SETTINGS], n_settings, n_columns_of_settings;
    enum fr_sweep_column measures[MAX_MEASURES];
    size_t n_measures;
};

static const struct fr_sweep_row *row_of(const struct listing *l, size_t i)
{
    return l->of->sweep->rows[l->of->points[i]];
}

/* ---- the label and the settings ---- */

/* Settings without a column of their own stand together in the last one. */
static void rest_cell(char cell[FR__TABLE_CELL], const struct listing *l, size_t point, size_t from)
{
    char text[FR__TABLE_CELL] = "", value[64];
    size_t used = 0;

    for (size_t i = from; i < l->n_settings && used < sizeof(text) - 1; i++) {
        fr__sweep_value_text(l->of->sweep, point, l->settings[i], value, sizeof(value));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s=%s", i > from ? " " : "",
                                 fr_question_setting(l->settings[i]), value);
    }
    fr__table_text(cell, text);
}

static void setting_cells(struct fr__table_row *row, const struct listing *l, size_t point)
{
    size_t n = l->n_columns_of_settings;
    char value[FR__TABLE_CELL];

    for (size_t i = 0; i < n; i++) {
        fr__sweep_value_text(l->of->sweep, point, l->settings[i], value, sizeof(value));
        if (i + 1 == n && l->n_settings > n)
            rest_cell(row->cell[1 + i], l, point, i);
        else
            fr__table_text(row->cell[1 + i], value);
    }
}

static void label_cell(char cell[FR__TABLE_CELL], const struct listing *l, size_t i)
{
    fr__table_text(cell, l->of->labels ? l->of->labels[i] : row_of(l, i)->workload);
}

static void columns_of(const struct listing *l, struct fr__table_column columns[])
{
    columns[0] = (struct fr__table_column){l->of->label_title, false};
    for (size_t i = 0; i < l->n_columns_of_settings; i++) {
        bool is_rest = i + 1 == l->n_columns_of_settings && l->n_settings > i + 1;
        const char *name = fr__sweep_setting_title(l->settings[i]);
        bool is_number = strcmp(name, "GPUs") == 0 || strncmp(name, "batch", 5) == 0;

        columns[1 + i] = (struct fr__table_column){is_rest ? "with" : name, !is_rest && is_number};
    }
}

/* ---- measures ---- */

/* Names for --columns, in the order of enum fr_sweep_column, and the figure of a row, whose title
 * stands over the column; or a title of one that is worked out. */
static const struct {
    const char *name, *key, *title;
} columns_known[FR_N_SWEEP_COLUMNS] = {
    [FR_SWEEP_GPUS] = {"gpus", "gpus", NULL},
    [FR_SWEEP_ITERATION] = {"iteration", "iteration_s", NULL},
    [FR_SWEEP_STANDARD_ERROR] = {"standard-error", "standard_error_s", NULL},
    [FR_SWEEP_MIN] = {"min", "min_s", NULL},
    [FR_SWEEP_MAX] = {"max", "max_s", NULL},
    [FR_SWEEP_RANGE] = {"range", NULL, "90 %"},
    [FR_SWEEP_SAMPLES] = {"samples", "samples_per_s", NULL},
    [FR_SWEEP_TOKENS] = {"tokens", "tokens_per_s", NULL},
    [FR_SWEEP_TOKENS_PER_GPU] = {"tokens-per-gpu", NULL, "tokens/s/GPU"},
    [FR_SWEEP_TFLOPS] = {"tflops", NULL, "TFLOP/s/GPU"},
    [FR_SWEEP_MFU] = {"mfu", "mfu", NULL},
    [FR_SWEEP_HFU] = {"hfu", "hfu", NULL},
    [FR_SWEEP_EFFICIENCY] = {"efficiency", NULL, "scaling"},
    [FR_SWEEP_COMPUTE] = {"compute", "compute_s", NULL},
    [FR_SWEEP_EXPOSED] = {"exposed", "exposed_comm_s", NULL},
    [FR_SWEEP_BUBBLE] = {"bubble", "bubble_s", NULL},
    [FR_SWEEP_MEMORY] = {"memory", "peak_bytes", NULL},
    [FR_SWEEP_TIME] = {"time", NULL, NULL}, /* these two as the terms have it */
    [FR_SWEEP_COST] = {"cost", NULL, NULL},
};

const char *fr_sweep_column_name(size_t i)
{
    return i < FR_N_SWEEP_COLUMNS ? columns_known[i].name : NULL;
}

static enum fr_status add_column(struct fr_sweep_table *t, const char *name, struct fr_error *err)
{
    const char *names[FR_N_SWEEP_COLUMNS], *near;

    for (unsigned c = 0; c < FR_N_SWEEP_COLUMNS; c++) {
        names[c] = columns_known[c].name;
        if (strcmp(names[c], name) != 0)
            continue;
        if (t->n_columns == FR_SWEEP_MAX_COLUMNS)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--columns' has over %d columns",
                            (int)FR_SWEEP_MAX_COLUMNS);
        t->columns[t->n_columns++] = (enum fr_sweep_column)c;
        return FR_OK;
    }
    near = fr__nearest(name, names, FR_N_SWEEP_COLUMNS);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--columns': no column '%s'%s%s%s", name,
                    near ? ", did you mean '" : "; 'forerun help sweep' lists them",
                    near ? near : "", near ? "'?" : "");
}

enum fr_status fr_sweep_table_columns(struct fr_sweep_table *t, const char *list,
                                      struct fr_error *err)
{
    char name[32];

    for (;;) {
        size_t n = strcspn(list, ",");

        snprintf(name, sizeof(name), "%.*s", (int)(n < 31 ? n : 31), list);
        FR_TRY(add_column(t, name, err));
        if (!list[n])
            return FR_OK;
        list += n + 1;
    }
}

static bool some_row(const struct fr_sweep *s, bool (*holds)(const struct fr_sweep_row *r))
{
    for (size_t i = 0; i < s->n_points; i++)
        if (s->rows[i] && holds(s->rows[i]))
            return true;
    return false;
}

static bool has_range(const struct fr_sweep_row *r)
{
    return !isnan(r->low_s);
}

static bool has_seeds(const struct fr_sweep_row *r)
{
    return !isnan(r->standard_error_s);
}

/* Whether rows have different numbers of GPUs that no column of a setting shows. */
static bool gpus_differ(const struct listing *l)
{
    const struct fr_sweep *s = l->of->sweep;
    uint64_t first = 0;

    for (size_t i = 0; i < l->n_settings; i++)
        if (strcmp(fr_question_setting(l->settings[i]), "gpus") == 0 ||
            strcmp(fr_question_setting(l->settings[i]), "devices") == 0)
            return false;
    for (size_t i = 0; i < s->n_points; i++) {
        uint64_t gpus = s->rows[i] ? s->rows[i]->gpus : 0;

        if (gpus > 0 && first > 0 && gpus != first)
            return true;
        first = gpus > 0 ? gpus : first;
    }
    return false;
}

/* Whether a column is shown where none is asked for by name. */
static bool is_default(const struct listing *l, enum fr_sweep_column c)
{
    switch (c) {
    case FR_SWEEP_GPUS:
        return gpus_differ(l);
    case FR_SWEEP_STANDARD_ERROR:
    case FR_SWEEP_MIN:
    case FR_SWEEP_MAX:
        return some_row(l->of->sweep, has_seeds);
    case FR_SWEEP_RANGE:
        return some_row(l->of->sweep, has_range) && !some_row(l->of->sweep, has_seeds);
    case FR_SWEEP_TOKENS_PER_GPU:
    case FR_SWEEP_MFU:
        return l->of->summary->has_tokens;
    case FR_SWEEP_EFFICIENCY:
        return l->of->summary->scaling != NULL;
    case FR_SWEEP_ITERATION:
        return true;
    case FR_SWEEP_SAMPLES:
    case FR_SWEEP_MEMORY:
    case FR_SWEEP_TIME:
    case FR_SWEEP_COST:
        return l->of->sweep->has_training;
    default:
        return false;
    }
}

static void listing_init(struct listing *l, const struct fr__sweep_points *p)
{
    *l = (struct listing){.of = p};
    l->n_settings = fr__sweep_varying(p->sweep, l->settings);
    l->n_columns_of_settings =
        l->n_settings > MAX_SETTING_COLUMNS ? MAX_SETTING_COLUMNS : l->n_settings;
    for (size_t i = 0; i < p->wanted->n_columns; i++)
        l->measures[l->n_measures++] = p->wanted->columns[i];
    for (unsigned c = 0; p->wanted->n_columns == 0 && c < FR_N_SWEEP_COLUMNS; c++)
        if (is_default(l, (enum fr_sweep_column)c) && l->n_measures < MAX_MEASURES)
            l->measures[l->n_measures++] = (enum fr_sweep_column)c;
}

static void figure_cell(char cell[FR__TABLE_CELL], const struct fr_sweep *s,
                        const struct fr_sweep_row *r, const char *key)
{
    const struct fr_figure *f = fr__figure_find(fr__row_figures, key);
    struct fr_value v;

    fr__figure_value(f, r, &v);
    fr__figure_cell(cell, f, &v, !s->has_training);
}

/* What the row says, or what is worked out from it. */
static void fill_measure(const struct listing *l, size_t point, enum fr_sweep_column c,
                         char cell[FR__TABLE_CELL])
{
    const struct fr_sweep_row *r = l->of->sweep->rows[point];
    const struct fr_sweep_summary *m = l->of->summary;
    const struct fr_sweep_value v = fr_sweep_value(r, &m->terms);
    char text[NUMBER];

    if (columns_known[c].key)
        figure_cell(cell, l->of->sweep, r, columns_known[c].key);
    else if (c == FR_SWEEP_RANGE)
        fr__range_cell(cell, r->low_s, r->high_s);
    else if (c == FR_SWEEP_TOKENS_PER_GPU && !isnan(r->tokens_per_s))
        fr__rate_cell(cell, r->tokens_per_s / (double)r->gpus);
    else if (c == FR_SWEEP_TFLOPS && !isnan(r->model_flops_per_s_per_gpu))
        fr__rate_cell(cell, 1e-12 * r->model_flops_per_s_per_gpu);
    else if (c == FR_SWEEP_EFFICIENCY && m->scaling && !isnan(m->scaling[point]))
        fr__percent(m->scaling[point], cell, NUMBER);
    else if (c == FR_SWEEP_TIME)
        snprintf(cell, FR__TABLE_CELL, "%s%s", v.is_late ? "late: " : "",
                 fr__format_time(v.time_s, text, sizeof(text)));
    else if (c == FR_SWEEP_COST)
        fr__table_text(cell, fr__sweep_cost_text(v.cost, text, sizeof(text)));
}

static const char *title_of(const struct fr__sweep_points *p, enum fr_sweep_column c)
{
    const char *key = columns_known[c].key;

    if (c == FR_SWEEP_TIME)
        return fr__sweep_time_title(&p->summary->terms);
    if (c == FR_SWEEP_COST)
        return fr__sweep_cost_title(&p->summary->terms);
    if (c == FR_SWEEP_ITERATION && !p->sweep->has_training)
        return "makespan";
    if (!key)
        return columns_known[c].title;
    key = fr__figure_find(fr__row_figures, key)->from;
    return fr__figure_by_path(fr__record_figures, key, NULL)->title;
}

static void fill_measures(const void *user, size_t i, struct fr__table_row *row)
{
    const struct listing *l = user;
    const struct fr_sweep_row *r = row_of(l, i);
    size_t at = 1 + l->n_columns_of_settings;

    label_cell(row->cell[0], l, i);
    setting_cells(row, l, l->of->points[i]);
    for (size_t k = 0; k < l->n_measures; k++, at++) {
        enum fr_sweep_column c = l->measures[k];

        if ((c == FR_SWEEP_GPUS && r->gpus > 0) ||
            (c == FR_SWEEP_MEMORY && (r->outcome == FR_FITS || r->outcome == FR_OOM)))
            figure_cell(row->cell[at], l->of->sweep, r, columns_known[c].key);
        else if (r->outcome == FR_FITS)
            fill_measure(l, l->of->points[i], c, row->cell[at]);
        else if (c == FR_SWEEP_ITERATION || (k == 0 && l->of->wanted->n_columns > 0))
            fr__table_text(row->cell[at],
                           r->outcome == FR_OOM ? "OOM" : fr_outcome_name(r->outcome));
    }
    if (r->outcome != FR_FITS && at < FR__TABLE_MAX_COLUMNS)
        fr__table_text(row->cell[at], r->reason);
}

void fr__sweep_put_points(struct fr__document *doc, const struct fr__sweep_points *p)
{
    struct fr__table_column columns[FR__TABLE_MAX_COLUMNS];
    struct listing l;
    struct fr__table t = {columns, 0, p->n, fill_measures, &l};

    listing_init(&l, p);
    columns_of(&l, columns);
    t.n_columns = 1 + l.n_columns_of_settings;
    for (size_t k = 0; k < l.n_measures; k++)
        columns[t.n_columns++] = (struct fr__table_column){title_of(p, l.measures[k]), true};
    if (fr__is_page(doc) && !p->labels && t.n_columns < FR__TABLE_MAX_COLUMNS)
        columns[t.n_columns++] = (struct fr__table_column){"why not", false};
    fr__say_table(doc, &t, 1 + l.n_columns_of_settings);
}

/* ---- rows that do not fit ---- */

static void fill_oom(const void *user, size_t i, struct fr__table_row *row)
{
    const struct listing *l = user;
    const struct fr_sweep_row *r = row_of(l, i);
    size_t at = 1 + l->n_columns_of_settings;

    label_cell(row->cell[0], l, i);
    setting_cells(row, l, l->of->points[i]);
    fr__format_bytes((double)r->peak_bytes, row->cell[at], NUMBER);
    fr__format_bytes((double)r->capacity_bytes, row->cell[at + 1], NUMBER);
    fr__format_bytes((double)r->over_bytes, row->cell[at + 2], NUMBER);
}

void fr__sweep_put_oom(struct fr__document *doc, const struct fr__sweep_points *p)
{
    struct fr__table_column columns[FR__TABLE_MAX_COLUMNS];
    struct listing l;
    size_t at;

    listing_init(&l, p);
    at = 1 + l.n_columns_of_settings;
    columns_of(&l, columns);
    columns[at] = (struct fr__table_column){"needs", true};
    columns[at + 1] = (struct fr__table_column){"has", true};
    columns[at + 2] = (struct fr__table_column){"lacks", true};
    fr__say_table(doc, &(struct fr__table){columns, at + 3, p->n, fill_oom, &l}, at);
}
