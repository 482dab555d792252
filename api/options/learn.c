/* api/options/learn.c - the options of learning. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/options/options.h"

#include <string.h>

static enum fr_status set_count(const char *value, const char *what, uint64_t min, uint64_t max,
                                uint32_t *out, struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(value, what, FR_NOWHERE, min, max, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

enum fr_status fr__set_rounds(struct fr__options *o, const char *value, struct fr_error *err)
{
    return set_count(value, "option '--rounds'", 0, 100000, &o->learning.rounds, err);
}

enum fr_status fr__set_measured(struct fr__options *o, const char *value, struct fr_error *err)
{
    return set_count(value, "option '--iterations'", 1, 1000000, &o->learning.iterations, err);
}

enum fr_status fr__set_profiles(struct fr__options *o, const char *value, struct fr_error *err)
{
    return set_count(value, "option '--profiles'", 0, 100000, &o->learning.profiles, err);
}

enum fr_status fr__set_every(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr__parse_count(value, "option '--every'", FR_NOWHERE, 0, 1000000000000,
                           &o->learning.period, err);
}

enum fr_status fr__set_eps(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr__parse_number(value, "option '--eps'", FR_NOWHERE, 1e-9, 10, &o->learning.eps, err);
}

enum fr_status fr__set_activation(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr__parse_time(value, "option '--activation'", FR_NOWHERE, &o->learning.activation_s,
                          err);
}

/* "1:2@500": GPU 1 takes twice as long from iteration 500 on. */
enum fr_status fr__set_drift(struct fr__options *o, const char *value, struct fr_error *err)
{
    const char *colon = strchr(value, ':'), *at = strchr(value, '@');
    char gpu[16], factor[40];

    if (!colon || !at || at < colon || (size_t)(colon - value) >= sizeof(gpu) ||
        (size_t)(at - colon) > sizeof(factor))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--drift' is \"%s\", expected GPU:FACTOR@ITERATION, such as "
                        "1:2@500",
                        value);
    snprintf(gpu, sizeof(gpu), "%.*s", (int)(colon - value), value);
    snprintf(factor, sizeof(factor), "%.*s", (int)(at - colon - 1), colon + 1);
    FR_TRY(set_count(gpu, "option '--drift': the GPU", 0, UINT32_MAX, &o->learning.drift_gpu, err));
    FR_TRY(fr__parse_number(factor, "option '--drift': the factor", FR_NOWHERE, 1e-3, 1e6,
                            &o->learning.drift_factor, err));
    return fr__parse_count(at + 1, "option '--drift': the iteration", FR_NOWHERE, 0, UINT64_MAX,
                           &o->learning.drift_from, err);
}
