/* results/document/pipelines.c - explained pipelines: what their stages take, and their schedules
 * over time.
 *
 * It is separate from the other explanations, which tell of operations.
 */
#include "config.h"

#include "results/document/builders.h"

#include "results/parts/explanation.h"
#include "results/parts/number.h"

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

static void tell_stages(struct fr__document *doc, const struct fr_explanation *e)
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

    fr__say(doc, "%s: %u pipeline%s of %u ranks, micro-batches of %u samples; ms of each\n\n",
            e->question.strategy, line->n_pipelines, line->n_pipelines == 1 ? "" : "s",
            line->schedule->n_ranks, line->micro_batch);
    fr__say_table(doc, &table, 0);
}

enum fr_status fr__document_of_pipelines(struct fr__document *doc, const void *what,
                                         struct fr_error *err)
{
    const struct fr_pipelines_answer *a = what;

    for (size_t i = 0; i < a->schedules.n; i++) {
        tell_stages(doc, a->explanations[i]);
        fr__say(doc, "\n");
    }
    FR_TRY(fr__document_of_schedules(doc, &a->schedules, err));
    fr__say(doc,
            "\nTimes are sums of what ops cost, without transfers; 'forerun simulate' has both.\n");
    return fr__document_check(doc, err);
}
