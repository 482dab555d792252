/* results/text/sweep.c - a sweep as tables for people.
 *
 * It is separate because its columns depend on which settings vary.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/sweep_names.h"
#include "results/text/cells.h"
#include "study/sweep/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SETTING_COLUMNS = 6, /* one for the label and eight for measures are the rest */
    MAX_GROUPS = 4,          /* with a table each */
    MAX_LISTED = 10,         /* of what does not fit or cannot be, unless all are asked for */
    NUMBER = 32
};

/* What a table of points is printed from. */
struct listing {
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    const size_t *points;      /* [n] */
    const char *const *labels; /* [n]; NULL: the workloads */
    size_t settings[FR_N_SETTINGS], n_settings, n_columns_of_settings;
};

static void listing_init(struct listing *l, const struct fr_sweep *s,
                         const struct fr_sweep_summary *m)
{
    *l = (struct listing){.sweep = s, .summary = m};
    l->n_settings = fr__sweep_varying(s, l->settings);
    l->n_columns_of_settings =
        l->n_settings > MAX_SETTING_COLUMNS ? MAX_SETTING_COLUMNS : l->n_settings;
}

/* ---- cells ---- */

/* Settings without a column of their own stand together in the last one. */
static void rest_cell(char cell[FR__TABLE_CELL], const struct listing *l, size_t point, size_t from)
{
    char text[FR__TABLE_CELL] = "", value[64];
    size_t used = 0;

    for (size_t i = from; i < l->n_settings && used < sizeof(text) - 1; i++) {
        fr__sweep_value_text(l->sweep, point, l->settings[i], value, sizeof(value));
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
        fr__sweep_value_text(l->sweep, point, l->settings[i], value, sizeof(value));
        if (i + 1 == n && l->n_settings > n)
            rest_cell(row->cell[1 + i], l, point, i);
        else
            fr__table_text(row->cell[1 + i], value);
    }
}

static void label_cell(char cell[FR__TABLE_CELL], const struct listing *l, size_t i)
{
    fr__table_text(cell, l->labels ? l->labels[i] : l->sweep->rows[l->points[i]]->workload);
}

static void columns_of(const struct listing *l, struct fr__table_column columns[],
                       const char *label_title)
{
    columns[0] = (struct fr__table_column){label_title, false};
    for (size_t i = 0; i < l->n_columns_of_settings; i++) {
        bool is_rest = i + 1 == l->n_columns_of_settings && l->n_settings > i + 1;
        const char *name = fr__sweep_setting_title(l->settings[i]);
        bool is_number = strcmp(name, "GPUs") == 0 || strncmp(name, "batch", 5) == 0;

        columns[1 + i] = (struct fr__table_column){is_rest ? "with" : name, !is_rest && is_number};
    }
}

/* ---- rows that fit ---- */

enum measure {
    MEASURE_ITERATION,
    MEASURE_RANGE, /* where one is known */
    MEASURE_SAMPLES,
    MEASURE_TOKENS, /* these two where a workload has tokens */
    MEASURE_MFU,
    MEASURE_SCALING, /* where a question is asked of several numbers of GPUs */
    MEASURE_MEMORY,
    MEASURE_TIME,
    MEASURE_COST,
    N_MEASURES
};

static bool has_range(const struct fr_sweep *s)
{
    for (size_t i = 0; i < s->n_points; i++)
        if (s->rows[i] && !isnan(s->rows[i]->low_s))
            return true;
    return false;
}

static bool has_measure(const struct listing *l, enum measure m)
{
    return m == MEASURE_RANGE                        ? has_range(l->sweep)
           : m == MEASURE_TOKENS || m == MEASURE_MFU ? l->summary->has_tokens
           : m == MEASURE_SCALING                    ? l->summary->scaling != NULL
                                                     : true;
}

static void percent_cell(char cell[FR__TABLE_CELL], double frac)
{
    if (!isnan(frac))
        fr__percent(frac, cell, NUMBER);
}

static void fill_measure(const struct listing *l, size_t point, enum measure m,
                         char cell[FR__TABLE_CELL])
{
    const struct fr_sweep_row *r = l->sweep->rows[point];
    const struct fr_sweep_value v = fr_sweep_value(r, &l->summary->terms);
    char text[NUMBER];

    switch (m) {
    case MEASURE_ITERATION:
        fr__format_time(r->iteration_s, cell, NUMBER);
        break;
    case MEASURE_RANGE:
        fr__range_cell(cell, r->low_s, r->high_s);
        break;
    case MEASURE_SAMPLES:
        fr__rate_cell(cell, r->samples_per_s);
        break;
    case MEASURE_TOKENS:
        if (!isnan(r->tokens_per_s))
            fr__rate_cell(cell, r->tokens_per_s / (double)r->gpus);
        break;
    case MEASURE_MFU:
        if (!isnan(r->tokens_per_s))
            percent_cell(cell, r->mfu);
        break;
    case MEASURE_SCALING:
        percent_cell(cell, l->summary->scaling[point]);
        break;
    case MEASURE_MEMORY:
        fr__format_bytes((double)r->peak_bytes, cell, NUMBER);
        break;
    case MEASURE_TIME:
        snprintf(cell, FR__TABLE_CELL, "%s%s", v.is_late ? "late: " : "",
                 fr__format_time(v.time_s, text, sizeof(text)));
        break;
    case MEASURE_COST:
        fr__table_text(cell, fr__sweep_cost_text(v.cost, text, sizeof(text)));
        break;
    case N_MEASURES:
        break;
    }
}

static void fill_measures(const void *user, size_t i, struct fr__table_row *row)
{
    const struct listing *l = user;
    const struct fr_sweep_row *r = l->sweep->rows[l->points[i]];
    size_t at = 1 + l->n_columns_of_settings;

    label_cell(row->cell[0], l, i);
    setting_cells(row, l, l->points[i]);
    for (unsigned m = 0; m < N_MEASURES; m++) {
        if (!has_measure(l, (enum measure)m))
            continue;
        if (r->outcome == FR_FITS)
            fill_measure(l, l->points[i], (enum measure)m, row->cell[at]);
        else if (m == MEASURE_ITERATION)
            fr__table_text(row->cell[at],
                           r->outcome == FR_OOM ? "OOM" : fr_outcome_name(r->outcome));
        else if (m == MEASURE_MEMORY && r->outcome == FR_OOM)
            fr__format_bytes((double)r->peak_bytes, row->cell[at], NUMBER);
        at++;
    }
}

static void print_measures(FILE *f, const struct listing *l, size_t n, const char *label_title)
{
    const char *const titles[N_MEASURES] = {
        [MEASURE_ITERATION] = "iteration",
        [MEASURE_RANGE] = "90 %",
        [MEASURE_SAMPLES] = "samples/s",
        [MEASURE_TOKENS] = "tokens/s/GPU",
        [MEASURE_MFU] = "MFU",
        [MEASURE_SCALING] = "scaling",
        [MEASURE_MEMORY] = "peak memory",
        [MEASURE_TIME] = fr__sweep_time_title(&l->summary->terms),
        [MEASURE_COST] = fr__sweep_cost_title(&l->summary->terms),
    };
    struct fr__table_column columns[FR__TABLE_MAX_COLUMNS];
    struct fr__table t = {columns, 1 + l->n_columns_of_settings, n, fill_measures, l};

    columns_of(l, columns, label_title);
    for (unsigned m = 0; m < N_MEASURES; m++)
        if (has_measure(l, (enum measure)m))
            columns[t.n_columns++] = (struct fr__table_column){titles[m], true};
    fr__table_print(f, &t);
}

/* The points that are best by something, each once, and the words for it ("time, cost"). */
struct winners {
    size_t points[3], n;
    char words[3][32];
};

static void find_winners(const struct fr_sweep_group *g, struct winners *w)
{
    static const char *const names[] = {"time", "memory", "cost"};
    const size_t best[] = {g->best_time, g->best_memory, g->best_cost};

    w->n = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t k = 0, used;

        if (best[i] == SIZE_MAX)
            continue;
        while (k < w->n && w->points[k] != best[i])
            k++;
        if (k == w->n) {
            w->points[w->n++] = best[i];
            w->words[k][0] = '\0';
        }
        used = strlen(w->words[k]);
        snprintf(w->words[k] + used, sizeof(w->words[k]) - used, "%s%s", used ? ", " : "",
                 names[i]);
    }
}

static void print_best(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m,
                       const struct fr_sweep_group *g)
{
    const char *labels[3];
    struct winners w;
    struct listing l;

    listing_init(&l, s, m);
    find_winners(g, &w);
    for (size_t i = 0; i < w.n; i++)
        labels[i] = w.words[i];
    l.points = w.points;
    l.labels = labels;
    print_measures(f, &l, w.n, "best by");
}

static void print_frontier(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m,
                           const struct fr_sweep_group *g)
{
    static const char *const nothing[MAX_LISTED] = {"", "", "", "", "", "", "", "", "", ""};
    bool is_cut = g->n_frontier > MAX_LISTED;
    struct listing l;

    if (g->n_frontier == 1) {
        fputs("\n  frontier: the fastest is the cheapest, too\n", f);
        return;
    }
    listing_init(&l, s, m);
    l.points = g->frontier;
    l.labels = nothing;
    fprintf(f, "\n  frontier: nothing is both faster and cheaper than one of these%s\n\n",
            is_cut ? " (the fastest ten)" : "");
    print_measures(f, &l, is_cut ? MAX_LISTED : g->n_frontier, "");
}

static void print_group(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m,
                        const struct fr_sweep_group *g)
{
    char name[FR__TABLE_CELL], clean[FR__TABLE_CELL], deadline[NUMBER], likeness[NUMBER];

    fr__sweep_group_text(g, name, sizeof(name));
    fr__table_text(clean, name);
    fprintf(f, "\n%s: %zu of %zu fit", clean, g->n_fits, g->n_points);
    if (m->terms.deadline_s > 0)
        fprintf(f, ", %zu of them within %s", g->n_in_time,
                fr__format_time(m->terms.deadline_s, deadline, sizeof(deadline)));
    fputs("\n", f);
    if (g->n_fits == 0)
        return;
    fputs("\n", f);
    print_best(f, s, m, g);
    if (g->n_like_best > 0)
        fprintf(
            f,
            "\n  not distinguishable from the fastest: %zu other%s (less than %s slower, which\n"
            "  measured pairs of one model and software do not show reliably)\n",
            g->n_like_best, g->n_like_best == 1 ? "" : "s",
            fr__percent(fr_sweep_least_difference(), likeness, sizeof(likeness)));
    if (g->n_frontier > 0)
        print_frontier(f, s, m, g);
}

/* ---- many workloads in one table ---- */

/* The best of all groups; arrays on the arena, [3 a group]. */
struct digest {
    size_t *points, n;
    const char **labels;
    char (*texts)[FR__TABLE_CELL];
};

/* "vgg19: time, cost", then "  memory" */
static void add_group(struct digest *d, const struct fr_sweep_group *g)
{
    struct winners w;
    char name[FR__TABLE_CELL];

    find_winners(g, &w);
    fr__sweep_group_text(g, name, sizeof(name));
    for (size_t i = 0; i < w.n; i++) {
        snprintf(d->texts[d->n], FR__TABLE_CELL, "%.150s%s%s", i ? "" : name, i ? "  " : ": ",
                 w.words[i]);
        d->labels[d->n] = d->texts[d->n];
        d->points[d->n++] = w.points[i];
    }
}

static void print_digest(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m)
{
    size_t n = 3 * m->n_groups;
    struct digest d = {.points = calloc(n, sizeof(*d.points)),
                       .labels = calloc(n, sizeof(*d.labels)),
                       .texts = calloc(n, sizeof(*d.texts))};
    struct listing l;

    if (d.points && d.labels && d.texts) {
        for (size_t i = 0; i < m->n_groups; i++)
            add_group(&d, &m->groups[i]);
        listing_init(&l, s, m);
        l.points = d.points;
        l.labels = d.labels;
        fputs("\n", f);
        print_measures(f, &l, d.n, "best by");
    } else {
        fputs("\nout of memory for a table\n", f);
    }
    free(d.points);
    free(d.labels);
    free(d.texts);
}

static void print_nothing_fits(FILE *f, const struct fr_sweep_summary *m)
{
    const char *separator = "\nnothing fits: ";
    char name[FR__TABLE_CELL], clean[FR__TABLE_CELL];

    for (size_t i = 0; i < m->n_groups; i++) {
        if (m->groups[i].n_points == 0 || m->groups[i].n_fits > 0)
            continue;
        fr__sweep_group_text(&m->groups[i], name, sizeof(name));
        fr__table_text(clean, name);
        fprintf(f, "%s%s", separator, clean);
        separator = ", ";
    }
    if (separator[0] == ',')
        fputs("\n", f);
}

/* ---- rows that do not fit ---- */

static void fill_oom(const void *user, size_t i, struct fr__table_row *row)
{
    const struct listing *l = user;
    const struct fr_sweep_row *r = l->sweep->rows[l->points[i]];
    size_t at = 1 + l->n_columns_of_settings;

    label_cell(row->cell[0], l, i);
    setting_cells(row, l, l->points[i]);
    fr__format_bytes((double)r->peak_bytes, row->cell[at], NUMBER);
    fr__format_bytes((double)r->capacity_bytes, row->cell[at + 1], NUMBER);
    fr__format_bytes((double)r->over_bytes, row->cell[at + 2], NUMBER);
}

static void print_oom(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m)
{
    struct fr__table_column columns[FR__TABLE_MAX_COLUMNS];
    size_t points[MAX_LISTED], n = 0, at;
    struct listing l;

    for (size_t i = 0; i < s->n_points && n < MAX_LISTED; i++)
        if (s->rows[i] && s->rows[i]->outcome == FR_OOM)
            points[n++] = i;
    if (n == 0)
        return;
    listing_init(&l, s, m);
    l.points = points;
    at = 1 + l.n_columns_of_settings;
    columns_of(&l, columns, "workload");
    columns[at] = (struct fr__table_column){"needs", true};
    columns[at + 1] = (struct fr__table_column){"has", true};
    columns[at + 2] = (struct fr__table_column){"lacks", true};
    fprintf(f, "\nout of memory: %zu\n\n", m->n[FR_OOM]);
    fr__table_print(f, &(struct fr__table){columns, at + 3, n, fill_oom, &l});
    if (m->n[FR_OOM] > n)
        fprintf(f, "  and %zu more (--all)\n", m->n[FR_OOM] - n);
}

/* Each reason once, with how often it is given. */
static void print_reasons(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m,
                          enum fr_outcome outcome)
{
    const struct fr_sweep_row *first[MAX_LISTED];
    size_t count[MAX_LISTED] = {0}, n = 0, n_others = 0;
    char clean[FR__TABLE_CELL];

    for (size_t i = 0; i < s->n_points; i++) {
        const struct fr_sweep_row *r = s->rows[i];
        size_t k = 0;

        if (!r || r->outcome != outcome)
            continue;
        while (k < n && strcmp(first[k]->reason, r->reason) != 0)
            k++;
        if (k == MAX_LISTED) {
            n_others++;
            continue;
        }
        if (k == n)
            first[n++] = r;
        count[k]++;
    }
    if (n == 0)
        return;
    fprintf(f, "\n%s: %zu\n\n", fr_outcome_name(outcome), m->n[outcome]);
    for (size_t k = 0; k < n; k++) {
        fr__table_text(clean, first[k]->reason);
        fprintf(f, "  %6zu  %s\n", count[k], clean);
    }
    if (n_others > 0)
        fprintf(f, "  %6zu  for other reasons (--all)\n", n_others);
}

/* ---- each row ---- */

static void print_all(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m)
{
    size_t *points = calloc(s->n_points, sizeof(*points)), n = 0;
    struct listing l;

    if (!points) {
        fputs("\nout of memory for a table\n", f);
        return;
    }
    for (size_t i = 0; i < s->n_points; i++)
        if (s->rows[i])
            points[n++] = i;
    listing_init(&l, s, m);
    l.points = points;
    fprintf(f, "\nall points: %zu\n\n", n);
    print_measures(f, &l, n, "workload");
    free(points);
}

/* ---- the whole ---- */

/* What was given with one value, so that the table need not repeat it. */
static void print_fixed(FILE *f, const struct fr_sweep *s)
{
    const char *separator = "";
    char clean[FR__TABLE_CELL];

    for (size_t i = 0; i < FR_N_SETTINGS; i++) {
        if (s->axes[i].n != 1 || strcmp(fr_question_setting(i), "workload") == 0)
            continue;
        fr__table_text(clean, s->axes[i].values[0]);
        fprintf(f, "%s%s %s", separator, fr_question_setting(i), clean);
        separator = ", ";
    }
    if (separator[0])
        fputs("\n", f);
}

/* Shares over what fits, each point weighing the same. */
static void print_cost_sources(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m)
{
    double sum[FR_N_TRUSTS] = {0};
    const char *separator = " ";
    char text[NUMBER];

    for (size_t i = 0; i < s->n_points; i++)
        for (unsigned t = 0; t < FR_N_TRUSTS && s->rows[i]; t++)
            if (s->rows[i]->outcome == FR_FITS)
                sum[t] += s->rows[i]->cost_frac[t];
    if (m->n[FR_FITS] == 0)
        return;
    fputs("\ntimes of ops from", f);
    for (unsigned t = 0; t < FR_N_TRUSTS; t++) {
        double frac = sum[t] / (double)m->n[FR_FITS];

        if (frac < 0.0005)
            continue;
        fprintf(f, "%s%s %s %%%s", separator, fr_trust_name((enum fr_trust)t),
                fr__fixed(100 * frac, 1, text, sizeof(text)), fr_trust_note((enum fr_trust)t));
        separator = ", ";
    }
    fputs(separator[0] == ' ' ? " nothing\n" : "\n", f);
}

void fr_sweep_print_table(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m,
                          bool all_rows)
{
    static const char *const words[FR_N_OUTCOMES] = {"fit", "out of memory", "impossible",
                                                     "failed"};
    size_t n = 0;

    for (unsigned o = 0; o < FR_N_OUTCOMES; o++)
        n += m->n[o];
    fprintf(f, "%zu point%s", n, n == 1 ? "" : "s");
    if (s->n_shards > 1)
        fprintf(f, " of %zu, shard %u of %u", s->n_points, s->shard + 1, s->n_shards);
    for (unsigned o = 0; o < FR_N_OUTCOMES; o++)
        if (m->n[o] > 0)
            fprintf(f, "%s %zu %s", o ? "," : ":", m->n[o], words[o]);
    fputs("\n", f);
    print_fixed(f, s);
    if (m->n_groups > MAX_GROUPS && !all_rows) {
        print_digest(f, s, m);
        print_nothing_fits(f, m);
    }
    for (size_t i = 0; i < m->n_groups && (m->n_groups <= MAX_GROUPS || all_rows); i++)
        if (m->groups[i].n_points > 0)
            print_group(f, s, m, &m->groups[i]);
    if (all_rows)
        print_all(f, s, m);
    print_oom(f, s, m);
    print_reasons(f, s, m, FR_IMPOSSIBLE);
    print_reasons(f, s, m, FR_FAILED);
    print_cost_sources(f, s, m);
}
