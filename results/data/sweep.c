/* results/data/sweep.c - a sweep as JSON and as CSV, for programs.
 *
 * Both stand in one file because both give each row the same run time and cost.
 */
#include "config.h"

#include "base/units.h"
#include "results/data/data.h"
#include "study/store/row.h"
#include "study/sweep/state.h"

#include <math.h>

static const char *cost_name(const struct fr_sweep_terms *terms)
{
    return fr_prices_any(&terms->prices) ? "cost_usd" : "gpu_hours";
}

/* ---- JSON ---- */

/* A row without a record: nothing ran, so the question stands alone. */
static void write_question(struct fr__json *j, const struct fr_sweep_row *r)
{
    static const char *const asked[] = {
        "iteration_s", "samples_per_s",     "low_s",   "high_s",       "strategy",
        "workload",    "topology",          "gpus",    "global_batch", "precision",
        "optimizer",   "order=ready_order", "network", "seed",         NULL};

    fr__figures_json_of(j, fr__row_figures, asked, r);
    fr__json_bool(j, "oom", r->outcome == FR_OOM);
    if (r->peak_bytes > 0)
        fr__json_count(j, "peak_bytes", r->peak_bytes);
}

static void write_result(struct fr__json *j, const struct fr_sweep *s,
                         const struct fr_sweep_summary *m, size_t point)
{
    const struct fr_sweep_row *r = s->rows[point];
    const struct fr_sweep_value v = fr_sweep_value(r, &m->terms);

    fr__json_open(j, NULL, '{', true);
    if (r->record[0])
        fr__json_splice(j, r->record);
    else
        write_question(j, r);
    fr__json_string(j, "outcome", fr_outcome_name(r->outcome));
    fr__json_string(j, "reason", r->reason[0] ? r->reason : NULL);
    fr__json_string(j, "gpu_types", r->gpu_types);
    if (r->machines && r->machines[0])
        fr__json_string(j, "machines", r->machines);
    fr__json_number(j, "run_s", v.time_s);
    fr__json_number(j, cost_name(&m->terms), v.cost);
    if (m->scaling)
        fr__json_number(j, "scaling", m->scaling[point]);
    if (!isnan(r->low_s))
        fr__json_bool(j, "like_best", m->is_like_best[point]);
    fr__json_close(j, '}');
}

/* The index of a point in the array of results; null for SIZE_MAX. */
static void write_place(struct fr__json *j, const char *key, const struct fr_sweep *s, size_t point)
{
    uint64_t place = 0;

    if (point == SIZE_MAX) {
        fr__json_null(j, key);
        return;
    }
    for (size_t i = 0; i < point; i++)
        place += s->rows[i] != NULL;
    fr__json_count(j, key, place);
}

static void write_group(struct fr__json *j, const struct fr_sweep *s,
                        const struct fr_sweep_group *g)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_string(j, "workload", g->workload);
    if (g->shape)
        fr__json_string(j, "shape", g->shape);
    fr__json_count(j, "points", g->n_points);
    fr__json_count(j, "fit", g->n_fits);
    fr__json_count(j, "in_time", g->n_in_time);
    write_place(j, "best_by_time", s, g->best_time);
    write_place(j, "best_by_memory", s, g->best_memory);
    write_place(j, "best_by_cost", s, g->best_cost);
    fr__json_open(j, "frontier", '[', true);
    for (size_t i = 0; i < g->n_frontier; i++)
        write_place(j, NULL, s, g->frontier[i]);
    fr__json_close(j, ']');
    fr__json_close(j, '}');
}

static void write_summary(struct fr__json *j, const struct fr_sweep *s,
                          const struct fr_sweep_summary *m)
{
    fr__json_open(j, "summary", '{', false);
    for (unsigned o = 0; o < FR_N_OUTCOMES; o++)
        fr__json_count(j, fr_outcome_name((enum fr_outcome)o), m->n[o]);
    if (m->terms.tokens > 0)
        fr__json_number(j, "tokens", m->terms.tokens);
    else
        fr__json_number(j, "samples", m->terms.samples > 0 ? m->terms.samples : 1e6);
    fr__json_number(j, "deadline_s", m->terms.deadline_s > 0 ? m->terms.deadline_s : NAN);
    fr__json_string(j, "cost", cost_name(&m->terms));
    fr__json_open(j, "workloads", '[', false);
    for (size_t i = 0; i < m->n_groups; i++)
        write_group(j, s, &m->groups[i]);
    fr__json_close(j, ']');
    fr__json_close(j, '}');
}

void fr__sweep_json(FILE *f, const void *what)
{
    const struct fr_sweep_answer *a = what;
    const struct fr_sweep *s = a->sweep;
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_open(&j, "results", '[', false);
    for (size_t i = 0; i < s->n_points; i++)
        if (s->rows[i])
            write_result(&j, s, a->summary, i);
    fr__json_close(&j, ']');
    write_summary(&j, s, a->summary);
    fr__json_close(&j, '}');
}

/* ---- CSV: the figures of stored rows, then run time and cost ---- */

static void write_number_cell(FILE *f, double x)
{
    char text[FR_FIGURE_CELL];

    fprintf(f, "%s", isnan(x) ? "" : fr__format_double(x, text, sizeof(text)));
}

void fr__sweep_csv(FILE *f, const void *what)
{
    static const char *const none[] = {NULL};
    const struct fr_sweep_answer *a = what;
    const struct fr_sweep *s = a->sweep;
    const struct fr_sweep_summary *m = a->summary;

    fr__figures_csv_names(f, fr__row_figures, none);
    fprintf(f, ",run_s,%s,scaling,like_best\n", cost_name(&m->terms));
    for (size_t i = 0; i < s->n_points; i++) {
        struct fr_sweep_value v;

        if (!s->rows[i])
            continue;
        fr__figures_csv(f, fr__row_figures, none, s->rows[i]);
        putc(',', f);
        v = fr_sweep_value(s->rows[i], &m->terms);
        write_number_cell(f, v.time_s);
        putc(',', f);
        write_number_cell(f, v.cost);
        putc(',', f);
        write_number_cell(f, m->scaling ? m->scaling[i] : NAN);
        fprintf(f, ",%s\n", m->is_like_best[i] ? "1" : "");
    }
}
