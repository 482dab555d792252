/* results/html/sweep.c - the best points of a sweep over time, on its page.
 *
 * It is separate from the pictures of records: a sweep keeps figures of its points and no runs, so
 * its caller lends a function that asks those that are shown once more.
 */
#include "config.h"

#include "base/error.h"
#include "results/html/html.h"
#include "results/parts/output.h"
#include "results/parts/sweep_names.h"
#include "study/sweep/state.h"

enum { MOST_RUNS = 4, MOST_TASKS = 400000, TEXT = 256 };

struct runs {
    size_t points[MOST_RUNS], n;
    size_t n_large; /* left out */
    struct fr_record *records[MOST_RUNS];
    char titles[MOST_RUNS][2 * TEXT + 4];
};

static void add_run(const struct fr_sweep_answer *a, struct runs *runs, size_t point)
{
    if (point == SIZE_MAX || runs->n == MOST_RUNS)
        return;
    for (size_t i = 0; i < runs->n; i++)
        if (runs->points[i] == point)
            return;
    if (a->sweep->rows[point]->tasks > MOST_TASKS)
        runs->n_large++;
    else
        runs->points[runs->n++] = point;
}

/* The fastest of each group, then the cheapest and the smallest ones. */
static void choose_runs(const struct fr_sweep_answer *a, struct runs *runs)
{
    const struct fr_sweep_group *groups = a->summary->groups;

    for (size_t i = 0; i < a->summary->n_groups; i++)
        add_run(a, runs, groups[i].best_time);
    for (size_t i = 0; i < a->summary->n_groups; i++)
        add_run(a, runs, groups[i].best_cost);
    for (size_t i = 0; i < a->summary->n_groups; i++)
        add_run(a, runs, groups[i].best_memory);
}

static void name_run(const struct fr_sweep_answer *a, size_t point, char title[2 * TEXT + 4])
{
    char name[TEXT], group[TEXT];

    fr__sweep_group_text(&a->summary->groups[fr__sweep_group_of(a->sweep, point)], group,
                         sizeof(group));
    fr__sweep_point_text(a->sweep, point, name, sizeof(name));
    snprintf(title, 2 * TEXT + 4, "%s%s%s", group, name[0] ? ", " : "", name);
}

/* Only cancelling is an error: a point that cannot be asked again, as its files are gone, is left
 * out. */
static enum fr_status ask_runs(const struct fr_sweep_answer *a, struct runs *runs,
                               const struct fr_context *ctx, struct fr_error *err)
{
    size_t n = 0;

    for (size_t i = 0; a->ask && i < runs->n; i++) {
        FR_TRY(fr__check_cancel(ctx, err));
        if (a->ask(a->sweep, runs->points[i], ctx, &runs->records[n], NULL) != FR_OK)
            continue;
        name_run(a, runs->points[i], runs->titles[n++]);
    }
    runs->n = n;
    return FR_OK;
}

enum fr_status fr__html_best(FILE *f, const struct fr_sweep_answer *a, const struct fr_context *ctx,
                             struct fr_error *err)
{
    struct runs runs = {.n = 0};
    struct fr__html_run shown[MOST_RUNS];
    enum fr_status st;

    choose_runs(a, &runs);
    st = ask_runs(a, &runs, ctx, err);
    for (size_t i = 0; i < runs.n && st == FR_OK; i++)
        shown[i] = (struct fr__html_run){runs.records[i], runs.titles[i], NULL};
    if (st == FR_OK)
        st = fr__html_scale(f, shown, runs.n, true, err);
    if (st == FR_OK && runs.n_large > 0)
        fprintf(f, "<p class=\"note\">%zu of the best %s too many tasks to be shown.</p>\n",
                runs.n_large, runs.n_large == 1 ? "has" : "have");
    for (size_t i = 0; i < MOST_RUNS; i++)
        fr_record_free(runs.records[i]);
    return st;
}
