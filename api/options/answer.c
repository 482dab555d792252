/* api/options/answer.c - the options that ask an answer for more than the time (statistics over
 * seeds, sensitivities, uncertainty), and how much memory it may take. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/options/options.h"

#include <math.h>
#include <string.h>

/* With less the program itself does not fit. */
static const uint64_t LEAST_MEMORY = 64 << 20;

enum fr_status fr__set_seeds(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr_question_set(&o->question, "seed", value, err);
}

enum fr_status fr__set_sensitivity(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    if (o->question.sensitivity == FR_SENSITIVITY_NONE)
        o->question.sensitivity = FR_SENSITIVITY_RUN;
    return FR_OK;
}

enum fr_status fr__set_uncertainty(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    if (o->question.uncertainty == FR_UNCERTAINTY_NONE)
        o->question.uncertainty = FR_UNCERTAINTY_INTERVAL;
    return FR_OK;
}

enum fr_status fr__set_why_uncertain(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    o->question.uncertainty = FR_UNCERTAINTY_WHY;
    return FR_OK;
}

enum fr_status fr__set_sensitivity_rerun(struct fr__options *o, const char *value,
                                         struct fr_error *err)
{
    (void)value;
    (void)err;
    o->question.sensitivity = FR_SENSITIVITY_RERUN;
    return FR_OK;
}

enum fr_status fr__set_trace_ranks(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->trace.ranks = value;
    return FR_OK;
}

enum fr_status fr__set_trace_micro(struct fr__options *o, const char *value, struct fr_error *err)
{
    uint64_t n;

    FR_TRY(fr__parse_count(value, "option '--trace-micro-batches'", FR_NOWHERE, 1, UINT32_MAX, &n,
                           err));
    o->trace.micro_batches = (uint32_t)n;
    return FR_OK;
}

enum fr_status fr__options_note(struct fr__options *o, const char *name, const char *value,
                                bool is_of_run, struct fr_error *err)
{
    struct fr__variation *v = o->variations;

    while (v < o->variations + o->n_variations && strcmp(v->name, name) != 0)
        v++;
    if (v == o->variations + o->n_variations)
        o->n_variations++;
    if (v->n == FR__MOST_FILES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--%s' is given over %d times", name,
                        FR__MOST_FILES);
    v->name = name;
    v->is_of_run = is_of_run;
    v->values[v->n++] = value;
    return FR_OK;
}

enum fr_status fr__set_memory_limit(struct fr__options *o, const char *value, struct fr_error *err)
{
    uint64_t bytes;

    if (strcmp(value, "none") == 0) {
        o->memory_bytes = INFINITY;
        return FR_OK;
    }
    FR_TRY(fr__parse_bytes(value, "option '--memory-limit'", FR_NOWHERE, &bytes, err));
    if (bytes < LEAST_MEMORY)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "option '--memory-limit' is \"%s\", expected 64MiB or more, or none",
                        value);
    o->memory_bytes = (double)bytes;
    return FR_OK;
}

enum fr_status fr__set_manifest(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->manifest = value;
    return FR_OK;
}
