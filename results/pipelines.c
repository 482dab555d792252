/* results/pipelines.c - replays explained pipelines, and has them told or drawn.
 *
 * It is separate from the other explanations, which tell of operations. The times are sums of what
 * ops cost, so that transfers and their waits are missing; a run has them.
 */
#include "config.h"

#include "results/explain.h"

#include "base/error.h"
#include "results/kinds.h"
#include "results/parts/explanation.h"
#include "results/parts/output.h"
#include "results/results.h"

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

enum fr_status fr_explanation_print_pipelines(FILE *f, const struct fr_explanation *const es[],
                                              size_t n, bool is_json, struct fr_error *err)
{
    struct fr_timed_schedule *all;
    enum fr_status st = FR_OK;

    FR_TRY(replay_all(&all, es, n, err));
    if (is_json)
        fr_show_json(f, fr_shown_schedules(&(struct fr_schedules_answer){all, n}));
    else
        st = fr_show_text(f, fr_shown_pipelines(&(struct fr_pipelines_answer){es, {all, n}}), 0,
                          err);
    release(all, n);
    return st;
}

enum fr_status fr_explanation_write_pipelines(const struct fr_explanation *const es[], size_t n,
                                              const char *path, const struct fr_context *ctx,
                                              struct fr_error *err)
{
    struct fr_pipelines_answer a = {.explanations = es};
    struct fr_timed_schedule *all;
    enum fr_status st;

    FR_TRY(replay_all(&all, es, n, err));
    a.schedules = (struct fr_schedules_answer){all, n};
    st = fr_show_file(fr__kind_find(fr__kind(FR_KIND_PIPELINES), path)
                          ? fr_shown_pipelines(&a)
                          : fr_shown_schedules(&a.schedules),
                      path, ctx, err);
    release(all, n);
    return st;
}
