/* results/document/search.c - the answer of a search as a table for people: the best layouts, the
 * frontier of time and memory, and why the others were left out. */
#include "config.h"

#include "results/document/builders.h"
#include "results/document/search.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/search_price.h"
#include "results/document/record.h"

#include <math.h>
#include <string.h>

/* ---- the best ---- */

static const struct fr_search_row *ranked(const struct fr_search_results *r, size_t i)
{
    return fr_search_row(r->search, fr_search_summary(r->search)->ranked[i]);
}

static void price_cell(char cell[FR__TABLE_CELL], const struct fr_search_results *r, double s)
{
    fr__search_price_cell(cell, fr__search_price(r, s));
}

/* Whether the length of the run was said, so that its time means something. */
static bool has_run(const struct fr_search_results *r)
{
    return r->terms->tokens > 0 || r->terms->samples > 0;
}

/* Whether the best is done by the deadline. */
static void print_deadline(struct fr__document *doc, const struct fr_search_results *r)
{
    double run_s = fr__search_run_s(r, ranked(r, 0)->exact_s), deadline_s = r->terms->deadline_s;
    const struct fr_search_summary *m = fr_search_summary(r->search);
    char run[40], deadline[40];
    size_t n = 0;

    if (!(deadline_s > 0))
        return;
    for (size_t i = 0; i < m->n_ranked; i++)
        n += fr__search_run_s(r, ranked(r, i)->exact_s) <= deadline_s;
    fr__say(doc, "deadline %s: ", fr__format_time(deadline_s, deadline, sizeof(deadline)));
    if (n > 0)
        fr__say(doc, "%zu of the %zu layouts that were run op by op meet%s it\n", n, m->n_ranked,
                n == 1 ? "s" : "");
    else
        fr__say(doc, "no layout meets it, the best takes %s\n",
                fr__format_time(run_s, run, sizeof(run)));
}

static void fill_best(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_search_results *r = user;
    const struct fr_search_row *x = ranked(r, i), *best = ranked(r, 0);
    char text[FR_LAYOUT_TEXT], number[40];

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i + 1);
    fr__format_time(x->exact_s, row->cell[1], FR__TABLE_CELL);
    snprintf(row->cell[2], FR__TABLE_CELL, "%s%s %%", i ? "+" : "",
             fr__fixed(100 * (x->exact_s / best->exact_s - 1), 1, number, sizeof(number)));
    fr__format_time(x->coarse_s, row->cell[3], FR__TABLE_CELL);
    fr__format_bytes(x->exact_bytes, row->cell[4], FR__TABLE_CELL);
    price_cell(row->cell[5], r, x->exact_s);
    if (has_run(r)) {
        fr__search_days_cell(row->cell[6], r, x->exact_s);
        fr__table_text(row->cell[7], fr_layout_text(&x->layout, text));
        return;
    }
    fr__table_text(row->cell[6], fr_layout_text(&x->layout, text));
}

/* The range of the best, and how many layouts cannot be told from it. */
static void print_range(struct fr__document *doc, const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);
    const struct fr_search_row *best = ranked(r, 0);
    char low[40], high[40];

    if (!(best->low_s > 0))
        return;
    fr__say(doc, "90 %% of measured steps like the best lie between %s and %s",
            fr__format_time(best->low_s, low, sizeof(low)),
            fr__format_time(best->high_s, high, sizeof(high)));
    if (m->n_like_best > 0)
        fr__say(doc, "; %zu more layout%s cannot be told from it", m->n_like_best,
                m->n_like_best == 1 ? "" : "s");
    fr__say(doc, ".\n");
}

static void print_best(struct fr__document *doc, const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);
    const struct fr__table_column columns[] = {
        {"", true},        {"time", true},   {"", true},
        {"coarse", true},  {"memory", true}, {fr__search_price_title(r), true},
        {"layout", false},
    };
    const struct fr__table_column with_run[] = {
        {"", true},       {"time", true},    {"", true},
        {"coarse", true}, {"memory", true},  {fr__search_price_title(r), true},
        {"run", true},    {"layout", false},
    };
    const size_t n = sizeof(columns) / sizeof(columns[0]);
    const struct fr__table t = {has_run(r) ? with_run : columns, has_run(r) ? n + 1 : n,
                                m->n_ranked < r->n_shown ? m->n_ranked : r->n_shown, fill_best, r};

    char text[40];

    if (m->n_ranked == 0 && r->is_interrupted) {
        fr__say(doc, "Nothing was simulated op by op before the interruption.\n");
        return;
    }
    if (m->n_ranked == 0) {
        fr__say(doc, "No layout of the space fits.\n");
        return;
    }
    fr__say_table(doc, &t, 2);
    fr__say(
        doc,
        "\ntime: an iteration op by op; coarse: one task an action of the schedule; %s%s: for %s "
        "samples\n",
        fr__search_price_title(r), has_run(r) ? " and run" : "",
        fr__format_count(fr__search_run_samples(r), text, sizeof(text)));
    print_deadline(doc, r);
    print_range(doc, r);
}

/* ---- the frontier ---- */

static void fill_frontier(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_search_results *r = user;
    const struct fr_search_summary *m = fr_search_summary(r->search);
    const struct fr_search_row *x = fr_search_row(r->search, m->frontier[i]);
    char text[FR_LAYOUT_TEXT];

    fr__format_time(x->coarse_s, row->cell[0], FR__TABLE_CELL);
    fr__format_bytes(x->coarse_bytes, row->cell[1], FR__TABLE_CELL);
    price_cell(row->cell[2], r, x->coarse_s);
    fr__table_text(row->cell[3], fr_layout_text(&x->layout, text));
}

static void print_frontier(struct fr__document *doc, const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);
    const struct fr__table_column columns[] = {
        {"coarse", true},
        {"memory", true},
        {fr__search_price_title(r), true},
        {"layout", false},
    };

    if (m->n_frontier < (r->is_interrupted && m->n_ranked == 0 ? 1 : 2))
        return;
    fr__say(doc, "\nLess memory for more time, of the layouts that were simulated coarsely:\n\n");
    fr__say_table(doc,
                  &(struct fr__table){columns, sizeof(columns) / sizeof(columns[0]),
                                      m->n_frontier < r->n_shown ? m->n_frontier : r->n_shown,
                                      fill_frontier, r},
                  1);
}

/* ---- what became of some ---- */

enum { MOST_TOLD = 100 };

struct told {
    const struct fr_search_results *r;
    size_t rows[MOST_TOLD];
};

/* Over the best at the same fidelity; a bound: at least so much. */
static void fill_told(const void *user, size_t i, struct fr__table_row *row)
{
    const struct told *t = user;
    const struct fr_search_summary *m = fr_search_summary(t->r->search);
    const struct fr_search_row *x = fr_search_row(t->r->search, t->rows[i]);
    double s = x->coarse_s > 0 ? x->coarse_s : x->bound_s;
    char text[FR_LAYOUT_TEXT], why[FR_SEARCH_REASON], number[40];

    if (s > 0 && m->best_coarse_s > 0)
        snprintf(row->cell[0], FR__TABLE_CELL, "%s+%s %%", x->coarse_s > 0 ? "" : "at least ",
                 fr__fixed(100 * (s / m->best_coarse_s - 1), 1, number, sizeof(number)));
    fr__table_text(row->cell[1], fr_layout_fate_name(x->fate));
    fr__table_text(row->cell[2], fr_search_reason(x, why));
    fr__table_text(row->cell[3], fr_layout_text(&x->layout, text));
}

static void print_told(struct fr__document *doc, const struct fr_search_results *r)
{
    const struct fr__table_column columns[] = {
        {"over the best", true}, {"what became", false}, {"why", false}, {"layout", false}};
    struct told t = {.r = r};
    size_t n = 0, most = r->n_shown < MOST_TOLD ? r->n_shown : MOST_TOLD;
    struct fr_error err;

    if (!r->why)
        return;
    if (fr_search_match(r->search, r->why, most, t.rows, &n, &err) != FR_OK) {
        fr__say(doc, "\n%s\n", err.text);
        return;
    }
    fr__say(doc, "\n%zu layouts have %s%s\n", n, r->why,
            n == 0     ? "; the space has none"
            : n > most ? "; the fastest of them:"
                       : ":");
    if (n)
        fr__say_table(doc,
                      &(struct fr__table){columns, sizeof(columns) / sizeof(columns[0]),
                                          n < most ? n : most, fill_told, &t},
                      1);
}

/* ---- the others ---- */

/* The row that shows a fate: of those that do not fit the one that lacks least, else the first. */
static const struct fr_search_row *example_of(const struct fr_search *s, enum fr_layout_fate fate)
{
    const struct fr_search_row *best = NULL, *row;

    for (size_t i = 0; (row = fr_search_row(s, i)); i++)
        if (row->fate == fate && (!best || row->over_bytes < best->over_bytes))
            best = row;
    return best;
}

static void print_fates(struct fr__document *doc, const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);
    char text[FR_LAYOUT_TEXT], why[FR_SEARCH_REASON];

    fr__say(doc, "\n%zu layouts:\n", m->n_rows);
    fr__say_drawn(doc);
    for (int k = 0; k < FR_N_LAYOUT_FATES; k++) {
        enum fr_layout_fate fate = (enum fr_layout_fate)k;
        const struct fr_search_row *x = m->n[k] ? example_of(r->search, fate) : NULL;

        if (!x)
            continue;
        fr__say(doc, "%8zu  %s\n", m->n[k], fr_layout_fate_name(fate));
        if (fate < FR_LAYOUT_COARSE)
            fr__say(doc, "          such as %s: %s\n", fr_layout_text(&x->layout, text),
                    fr_search_reason(x, why));
    }
    fr__say_plain(doc);
}

static void print_proof(struct fr__document *doc, const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);
    char text[40];

    if (r->is_interrupted) {
        fr__say(doc, "\nInterrupted: these are the best so far, and nothing is proved of them.\n");
        return;
    }
    if (m->n_ranked == 0)
        return;
    fr__say(doc,
            "\n%s of the space at the coarse fidelity (%s): %s. Op by op it is the best of the %zu "
            "that were asked.\n",
            m->contradicted ? "Best by our prediction" : "Proved best",
            fr__format_time(m->best_coarse_s, text, sizeof(text)),
            r->is_exhaustive ? "all that fit were simulated"
                             : "those left out take longer by a lower bound",
            m->n_exact);
    if (m->contradicted)
        fr__say(doc, "Not proved: %s.\n", m->contradicted);
}

enum fr_status fr__document_of_search(struct fr__document *doc, const void *what,
                                      struct fr_error *err)
{
    const struct fr_search_answer *a = what;
    const struct fr_search_results *r = a->results;
    const struct fr_search_summary *m = fr_search_summary(r->search);
    char name[FR__TABLE_CELL];

    if (a->n > 0)
        return fr__document_of_clusters(doc, a, err);
    fr__put_job(doc, r->job);
    fr__table_text(name, m->workload);
    fr__say(doc, "%s on %zu GPUs of %s, global batch %u: the best of %zu layouts\n\n", name,
            m->n_gpus, m->topology, m->global_batch, m->n_rows);
    fr__put_nics(doc, m->nics, m->n_nics);
    fr__say(doc, "%s", m->n_nics > 0 ? "\n" : "");
    print_best(doc, r);
    fr__say_picture(doc, FR__PICTURE_CHART, a, 0);
    print_frontier(doc, r);
    print_told(doc, r);
    print_fates(doc, r);
    print_proof(doc, r);
    return fr__document_check(doc, err);
}
