/* tests/support/profile_case.c - PipeDream profiles made by hand, as text, and plans of them. */
#include "config.h"

#include "tests/support/profile_case.h"

#include "base/error.h"
#include "tests/support/native_case.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say(struct profile_case *c, const char *fmt, ...) FR_PRINTF(2, 3);
static void say(struct profile_case *c, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    c->n += (size_t)vsnprintf(c->text + c->n, PROFILE_CASE_BYTES - c->n, fmt, args);
    va_end(args);
    ck_assert_uint_lt(c->n, PROFILE_CASE_BYTES);
}

void profile_case_layer(struct profile_case *c, const char *name, const char *description,
                        double both_ms, double activation_bytes, double param_bytes)
{
    say(c,
        "%s -- %s -- forward_compute_time=%.6f, backward_compute_time=%.6f, activation_size=%.1f, "
        "parameter_size=%.1f\n",
        name, description, both_ms / 4, both_ms * 3 / 4, activation_bytes, param_bytes);
}

void profile_case_edge(struct profile_case *c, const char *from, const char *to)
{
    say(c, "\t%s -- %s\n", from, to);
}

struct fr_profile *profile_case_load(const struct profile_case *c)
{
    struct fr_profile *p = NULL;
    struct fr_error err;
    char line[800];

    ck_assert_msg(fr_profile_load_text(&p, c->text, c->n, "my/graph.txt", &err) == FR_OK, "%s",
                  fr_error_string(&err, line, sizeof(line)));
    return p;
}

struct fr_profile *profile_case_shared(const char *name)
{
    struct fr_profile *p = NULL;
    char file[128], path[1024];
    struct fr_error err;

    snprintf(file, sizeof(file), "../shared/data/pipedream-profiles/%s/graph.txt", name);
    native_case_source(file, path, sizeof(path));
    if (access(path, R_OK) != 0) {
        printf("SKIPPED: %s is not there\n", path);
        return NULL;
    }
    ck_assert_int_eq(fr_profile_load(&p, path, &err), FR_OK);
    return p;
}

enum fr_status profile_case_try(const struct fr_profile *p, const char *spec,
                                struct fr_stage_plan **out, struct fr_error *err)
{
    const struct fr_strategy *strategy;
    struct fr_option_values values;

    FR_TRY(fr_strategy_parse(spec, &strategy, &values, err));
    return strategy->plan_stages(p, &values, NULL, out, err);
}

struct fr_stage_plan *profile_case_plan(const struct fr_profile *p, const char *spec)
{
    struct fr_stage_plan *plan = NULL;
    struct fr_error err;
    char line[800];

    ck_assert_msg(profile_case_try(p, spec, &plan, &err) == FR_OK, "%s: %s", spec,
                  fr_error_string(&err, line, sizeof(line)));
    return plan;
}
