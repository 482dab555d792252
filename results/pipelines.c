/* results/pipelines.c - tells of explained pipelines, one or several side by side.
 *
 * It is separate from the other explanations, which tell of operations.
 */
#include "config.h"

#include "results/explain.h"

#include "base/error.h"
#include "results/kinds.h"

enum fr_status fr_explanation_print_pipelines(FILE *f, const struct fr_explanation *const es[],
                                              size_t n, bool is_json, struct fr_error *err)
{
    struct fr_pipelines_answer a = {.explanations = es};
    struct fr_timed_schedule *all;
    enum fr_status st = FR_OK;

    FR_TRY(fr__replays_make(&all, es, n, err));
    a.schedules = (struct fr_schedules_answer){all, n};
    if (is_json)
        fr_show_json(f, fr_shown_schedules(&a.schedules));
    else
        st = fr_show_text(f, fr_shown_pipelines(&a), 0, err);
    fr__replays_free(all, n);
    return st;
}

enum fr_status fr_explanation_write_pipelines(const struct fr_explanation *const es[], size_t n,
                                              const char *path, const struct fr_context *ctx,
                                              struct fr_error *err)
{
    struct fr_pipelines_answer a = {.explanations = es};
    struct fr_timed_schedule *all;
    enum fr_status st;

    FR_TRY(fr__replays_make(&all, es, n, err));
    a.schedules = (struct fr_schedules_answer){all, n};
    st = fr_show_file(fr_shown_pipelines(&a), path, ctx, err);
    fr__replays_free(all, n);
    return st;
}
