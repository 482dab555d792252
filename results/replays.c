/* results/replays.c - replays explained pipelines.
 *
 * The times are sums of what ops cost, so that transfers and their waits are missing; a run has
 * them.
 */
#include "config.h"

#include "base/error.h"
#include "results/kinds.h"
#include "results/parts/explanation.h"

#include <stdlib.h>

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

void fr__replays_free(struct fr_timed_schedule *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fr_replay_fini(&all[i].replay);
    free(all);
}

enum fr_status fr__replays_make(struct fr_timed_schedule **out,
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
            fr__replays_free(all, n);
        return st;
    }
    *out = all;
    return FR_OK;
}
