/* results/data/search.c - a search as CSV, a line a layout, and as JSON. */
#include "config.h"

#include "results/data/search.h"

#include "base/csv.h"
#include "base/json.h"
#include "base/units.h"
#include "results/parts/search_price.h"

static const char *const recompute_names[FR_N_LAYOUT_RECOMPUTES] = {"none", "selective", "full"};

/* A cell in quotes. */
static void put_text(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', f);
        putc(*text, f);
    }
    putc('"', f);
}

/* 0: not worked out, an empty cell. */
static void put_number(FILE *f, double x)
{
    char text[40];

    fprintf(f, ",%s", x > 0 ? fr__format_double(x, text, sizeof(text)) : "");
}

static void put_row(FILE *f, const struct fr_search_row *x)
{
    const struct fr_search_layout *l = &x->layout;
    char text[FR_LAYOUT_TEXT], why[FR_SEARCH_REASON];

    put_text(f, fr_layout_text(l, text));
    fprintf(f, ",%u,%u,%u,%u,%u,%u,%u,%u,%u,%s,%u,%s,%s,", l->dp, l->tp, l->pp, l->cp, l->ep,
            l->etp ? l->etp : 1, l->micro, l->n_micros, l->n_virtual,
            l->pp > 1 ? l->schedule : "none", l->zero, recompute_names[l->recompute],
            l->map ? l->map : "megatron");
    put_text(f, fr_layout_fate_name(x->fate));
    putc(',', f);
    put_text(f, fr_search_reason(x, why));
    put_number(f, x->over_bytes);
    put_number(f, x->bound_s);
    put_number(f, x->coarse_s);
    put_number(f, x->coarse_bytes);
    put_number(f, x->exact_s);
    put_number(f, x->exact_bytes);
    put_number(f, x->low_s);
    put_number(f, x->high_s);
    putc('\n', f);
}

static void put_heading(FILE *f)
{
    fputs(
        "strategy,dp,tp,pp,cp,ep,etp,micro,micro_batches,virtual,schedule,zero,recompute,map,fate,"
        "reason,over_bytes,bound_s,coarse_s,coarse_bytes,iteration_s,peak_bytes,"
        "low_s,high_s\n",
        f);
}

void fr__search_write_csv(FILE *f, const struct fr_search_results *r)
{
    const struct fr_search_row *x;

    put_heading(f);
    for (size_t i = 0; (x = fr_search_row(r->search, i)); i++)
        put_row(f, x);
}

void fr__search_write_clusters_csv(FILE *f, size_t n, const struct fr_search_results r[])
{
    const struct fr_search_row *x;

    fputs("topology,gpus,", f);
    put_heading(f);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; (x = fr_search_row(r[k].search, i)); i++) {
            const struct fr_search_summary *m = fr_search_summary(r[k].search);

            put_text(f, m->topology);
            fprintf(f, ",%zu,", m->n_gpus);
            put_row(f, x);
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
    char text[FR_LAYOUT_TEXT];

    fr__json_open(j, NULL, '{', true);
    fr__json_string(j, "strategy", fr_layout_text(&x->layout, text));
    if (x->exact_s > 0) {
        fr__json_number(j, "iteration_s", x->exact_s);
        fr__json_number(j, "peak_bytes", x->exact_bytes);
    }
    if (x->low_s > 0) {
        fr__json_number(j, "low_s", x->low_s);
        fr__json_number(j, "high_s", x->high_s);
    }
    fr__json_number(j, "coarse_s", x->coarse_s);
    fr__json_number(j, "coarse_bytes", x->coarse_bytes);
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
}

void fr_search_print_json(FILE *f, const struct fr_search_results *r)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    json_members(&j, r);
    fr__json_close(&j, '}');
}

void fr_search_print_clusters_json(FILE *f, size_t n, const struct fr_search_results r[])
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_open(&j, "clusters", '[', false);
    for (size_t i = 0; i < n; i++) {
        fr__json_open(&j, NULL, '{', false);
        json_members(&j, &r[i]);
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
}
