/* results/data/search.c - a search as CSV, a line a layout, and as JSON. */
#include "config.h"

#include "results/data/data.h"

#include "base/csv.h"
#include "results/parts/search_price.h"
#include "study/layouts/figures.h"

static const char *const as_in_table[] = {NULL};

static void put_row(FILE *f, const struct fr_search_row *x)
{
    fr__figures_csv(f, fr__layout_figures, as_in_table, x);
    putc('\n', f);
}

static void put_heading(FILE *f)
{
    fr__figures_csv_names(f, fr__layout_figures, as_in_table);
    putc('\n', f);
}

void fr__search_csv(FILE *f, const void *what)
{
    const struct fr_search_answer *a = what;
    const struct fr_search_row *x;

    fputs(a->n > 0 ? "topology,gpus," : "", f);
    put_heading(f);
    for (size_t k = 0; k < (a->n > 0 ? a->n : 1); k++) {
        const struct fr_search *search = a->results[k].search;
        const struct fr_search_summary *m = fr_search_summary(search);

        for (size_t i = 0; (x = fr_search_row(search, i)); i++) {
            if (a->n > 0) {
                fr__csv_write_quoted(f, m->topology);
                fprintf(f, ",%zu,", m->n_gpus);
            }
            put_row(f, x);
        }
    }
}

/* ---- JSON ---- */

/* What the whole run takes, where its length was said. */
static void json_run(struct fr__json *j, const struct fr_search_results *r,
                     const struct fr_search_row *x)
{
    double s = x->exact_s > 0 ? x->exact_s : x->coarse_s;

    if (!(r->terms->tokens > 0 || r->terms->samples > 0) || !(s > 0))
        return;
    fr__json_number(j, "run_s", fr__search_run_s(r, s));
    fr__json_number(j, fr__search_has_price(r) ? "cost_usd" : "gpu_hours", fr__search_price(r, s));
    if (r->terms->deadline_s > 0)
        fr__json_bool(j, "late", fr__search_run_s(r, s) > r->terms->deadline_s);
}

static void json_row(struct fr__json *j, const struct fr_search_results *r,
                     const struct fr_search_row *x)
{
    static const char *const keys[] = {"strategy", "iteration_s", "peak_bytes",   "low_s",
                                       "high_s",   "coarse_s",    "coarse_bytes", NULL};

    fr__json_open(j, NULL, '{', true);
    fr__figures_json_of(j, fr__layout_figures, keys, x);
    json_run(j, r, x);
    fr__json_close(j, '}');
}

static void json_rows(struct fr__json *j, const char *key, const struct fr_search_results *r,
                      size_t n, const size_t rows[])
{
    fr__json_open(j, key, '[', false);
    for (size_t i = 0; i < n; i++)
        json_row(j, r, fr_search_row(r->search, rows[i]));
    fr__json_close(j, ']');
}

void fr__search_write_ranked(struct fr__json *j, const char *key, const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);

    json_rows(j, key, r, m->n_ranked, m->ranked);
}

static void json_members(struct fr__json *j, const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);

    fr__json_string(j, "workload", m->workload);
    fr__json_string(j, "topology", m->topology);
    fr__json_count(j, "gpus", m->n_gpus);
    fr__json_count(j, "global_batch", m->global_batch);
    fr__json_count(j, "layouts", m->n_rows);
    fr__json_open(j, "fates", '{', false);
    for (int k = 0; k < FR_N_LAYOUT_FATES; k++)
        if (m->n[k])
            fr__json_count(j, fr_layout_fate_name((enum fr_layout_fate)k), m->n[k]);
    fr__json_close(j, '}');
    fr__json_count(j, "priced", m->n_priced);
    fr__json_count(j, "simulated_coarsely", m->n_replayed);
    fr__json_count(j, "simulated_op_by_op", m->n_exact);
    fr__json_bool(j, "exhaustive", r->is_exhaustive);
    fr__json_count(j, "like_best", m->n_like_best);
    fr__json_string(j, "contradicted", m->contradicted);
    if (r->is_interrupted)
        fr__json_bool(j, "interrupted", true);
    if (r->terms->deadline_s > 0)
        fr__json_number(j, "deadline_s", r->terms->deadline_s);
    json_rows(j, "results", r, m->n_ranked, m->ranked);
    json_rows(j, "frontier", r, m->n_frontier, m->frontier);
    fr__job_write_json(j, r->job);
}

void fr__search_json(FILE *f, const void *what)
{
    const struct fr_search_answer *a = what;
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    if (a->n == 0)
        json_members(&j, a->results);
    else
        fr__json_open(&j, "clusters", '[', false);
    for (size_t i = 0; i < a->n; i++) {
        fr__json_open(&j, NULL, '{', false);
        json_members(&j, &a->results[i]);
        fr__json_close(&j, '}');
    }
    if (a->n > 0)
        fr__json_close(&j, ']');
    fr__json_close(&j, '}');
}
