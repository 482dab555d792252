/* papers/pipedream/stages.c - PipeDream's planner on a profile that its authors measured. */
#include "config.h"

#include "papers/runner/asks.h"

#include "base/error.h"
#include "base/file.h"
#include "lowering/stage_plan.h"
#include "study/answer/staging.h"

#include <math.h>
#include <stdio.h>

/* "3-1": the replicas of each stage. */
static void list_stages(char *out, size_t n, const struct fr_stage_plan *p)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < p->n_stages && used + 8 < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%u", i ? "-" : "",
                                 (unsigned)p->stages[i].replicas);
}

enum fr_status fr__ask_stages(const struct fr__ask *a, const struct fr__field **out,
                              struct fr_error *err)
{
    struct fr__field fields[] = {{"pipeline_s", {.number = NAN}},
                                 {"per_dp", {.number = NAN}},
                                 {"stages", {.number = NAN, .text = ""}}};
    char path[1024] = "", spec[256], stages[96];
    const char *profile, *options;
    struct fr_staging s;
    struct fr_question q;

    FR_TRY(fr__ask_text(a, "profile", &profile, err));
    FR_TRY(fr__ask_text(a, "options", &options, err));
    if (a->data && profile[0])
        snprintf(path, sizeof(path), "%s/%s/graph.txt", a->data, profile);
    if (path[0] && fr__exists(path)) {
        snprintf(spec, sizeof(spec), "pipedream:%s", options);
        fr_question_init(&q);
        q.workload = path;
        q.strategy = spec;
        FR_TRY(fr_staging_make(&s, &q, a->ctx, err));
        fields[0].value.number = s.plan->pipeline_time_s;
        fields[1].value.number = s.plan->dp_time_s / s.plan->pipeline_time_s;
        list_stages(stages, sizeof(stages), s.plan);
        fr_staging_fini(&s);
        fields[2].value.text = fr__arena_strdup(a->arena, stages);
        if (!fields[2].value.text)
            return fr__fail_nomem(err);
    }
    return fr__ask_answer(a, fields, sizeof(fields) / sizeof(fields[0]), out, err);
}
