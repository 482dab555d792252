/* results/pipelines.c - explained pipelines: their stages, and their schedules over time.
 *
 * It is separate from the other explanations, which tell of operations. The times are sums of what
 * ops cost, so that transfers and their waits are missing; a run has them.
 */
#include "config.h"

#include "results/explain.h"

#include "base/error.h"
#include "results/parts/explanation.h"
#include "results/parts/number.h"
#include "results/schedules.h"
#include "results/text/table.h"

#include <stdlib.h>

bool fr_explanation_is_pipeline(const struct fr_explanation *e)
{
    return e->decisions->pipeline != NULL;
}

bool fr_explanation_is_layout(const struct fr_explanation *e)
{
    return e->decisions->layout != NULL;
}

/* ---- replays in milliseconds ---- */

static enum fr_status replay(struct fr_timed_schedule *out, const struct fr_decided_pipeline *line,
                             struct fr_error *err)
{
    const struct fr_schedule *s = line->schedule;
    struct fr_pass_times *of_stage = calloc(s->n_stages, sizeof(*of_stage));
    const struct fr_schedule_times t = {.of_stage = of_stage, .pair = -1};
    enum fr_status st;

    if (!of_stage)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < s->n_stages; i++)
        of_stage[i] = (struct fr_pass_times){.forward = 1e3 * line->of_stage[i].forward,
                                             .input = 1e3 * line->of_stage[i].input,
                                             .weight = 1e3 * line->of_stage[i].weight,
                                             .backward = -1};
    st = fr_schedule_replay(&out->replay, s, &t, err);
    free(of_stage);
    out->unit = "ms";
    return st;
}

static void release(struct fr_timed_schedule *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fr_replay_fini(&all[i].replay);
    free(all);
}

/* The schedules stay the explanations'. */
static enum fr_status replay_all(struct fr_timed_schedule **out,
                                 const struct fr_explanation *const es[], size_t n,
                                 struct fr_error *err)
{
    struct fr_timed_schedule *all = calloc(n, sizeof(*all));
    enum fr_status st = all ? FR_OK : fr__fail_nomem(err);

    for (size_t i = 0; i < n && st == FR_OK; i++) {
        const struct fr_decided_pipeline *line = es[i]->decisions->pipeline;

        if (!line)
            st = fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                          "strategy '%s' is no pipeline: only pipelines are explained side by side",
                          es[i]->question.strategy);
        else
            st = replay(&all[i], line, err);
        if (st == FR_OK)
            all[i].schedule = line->schedule;
    }
    if (st != FR_OK) {
        if (all)
            release(all, n);
        return st;
    }
    *out = all;
    return FR_OK;
}

/* ---- text ---- */

static void fill_stage(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_explanation *e = user;
    const struct fr_decided_pipeline *line = e->decisions->pipeline;
    const struct fr_pass_times *t = &line->of_stage[i];

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i);
    fr__table_text(row->cell[1], e->problem.topo->devices[line->device_of[i]].name);
    fr__table_text(row->cell[2], line->first_op[i]);
    fr__fixed(1e3 * t->forward, 3, row->cell[3], FR__TABLE_CELL);
    fr__fixed(1e3 * t->input, 3, row->cell[4], FR__TABLE_CELL);
    fr__fixed(1e3 * t->weight, 3, row->cell[5], FR__TABLE_CELL);
}

static void print_stages(FILE *f, const struct fr_explanation *e)
{
    static const struct fr__table_column columns[] = {
        {"stage", true},   {"device", false},         {"begins with", false},
        {"forward", true}, {"input gradients", true}, {"weight gradients", true}};
    const struct fr_decided_pipeline *line = e->decisions->pipeline;
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 6,
                                    .n_rows = line->schedule->n_stages,
                                    .fill = fill_stage,
                                    .user = e};

    fprintf(f, "%s: %u pipeline%s of %u ranks, micro-batches of %u samples; ms of each\n\n",
            e->question.strategy, line->n_pipelines, line->n_pipelines == 1 ? "" : "s",
            line->schedule->n_ranks, line->micro_batch);
    fr__table_print(f, &table);
}

enum fr_status fr_explanation_print_pipelines(FILE *f, const struct fr_explanation *const es[],
                                              size_t n, bool is_json, struct fr_error *err)
{
    struct fr_timed_schedule *all;
    enum fr_status st = FR_OK;

    FR_TRY(replay_all(&all, es, n, err));
    if (is_json) {
        fr_schedules_print_json(f, all, n);
    } else {
        for (size_t i = 0; i < n; i++) {
            print_stages(f, es[i]);
            putc('\n', f);
        }
        st = fr_schedules_print_boxes(f, all, n, err);
        fputs(
            "\nTimes are sums of what ops cost, without transfers; 'forerun simulate' has both.\n",
            f);
    }
    release(all, n);
    return st;
}

enum fr_status fr_explanation_write_pipelines(const struct fr_explanation *const es[], size_t n,
                                              const char *path, const struct fr_context *ctx,
                                              struct fr_error *err)
{
    struct fr_timed_schedule *all;
    enum fr_status st;

    FR_TRY(replay_all(&all, es, n, err));
    st = fr_schedules_write(all, n, path, ctx, err);
    release(all, n);
    return st;
}
