/* api/options/schedule.c - the options of pipeline schedules. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/options/options.h"

#include <string.h>

static enum fr_status set_count(const char *value, const char *what, uint64_t max, uint32_t *out,
                                struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(value, what, FR_NOWHERE, 1, max, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

enum fr_status fr__set_ranks(struct fr__options *o, const char *value, struct fr_error *err)
{
    return set_count(value, "option '--ranks'", FR_SCHEDULE_MOST_RANKS, &o->schedule.n_ranks, err);
}

enum fr_status fr__set_virtual(struct fr__options *o, const char *value, struct fr_error *err)
{
    return set_count(value, "option '--virtual'", FR_SCHEDULE_MOST_RANKS, &o->schedule.n_virtual,
                     err);
}

enum fr_status fr__set_micros(struct fr__options *o, const char *value, struct fr_error *err)
{
    return set_count(value, "option '--micro-batches'", FR_SCHEDULE_MOST_MICROS,
                     &o->schedule.n_micros, err);
}

enum fr_status fr__set_group(struct fr__options *o, const char *value, struct fr_error *err)
{
    return set_count(value, "option '--group'", FR_SCHEDULE_MOST_MICROS, &o->schedule.group, err);
}

static const char *order_name(unsigned i)
{
    return i == 0 ? "descending" : "ascending";
}

enum fr_status fr__set_backward(struct fr__options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(fr__parse_choice(value, "option '--backward'", 2, order_name, &i, err));
    o->schedule.backward = i == 0 ? FR_BACKWARD_DESCENDING : FR_BACKWARD_ASCENDING;
    return FR_OK;
}

enum fr_status fr__set_vertical_sync(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    o->schedule.vertical_sync = true;
    return FR_OK;
}

enum fr_status fr__set_comms(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    o->has_comms = true;
    return FR_OK;
}

enum fr_status fr__set_one_model(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    o->is_one_model = true;
    return FR_OK;
}

/* Copies the next part of a list, which *text moves past; false: there is none left. */
static bool next_part(const char **text, char part[64])
{
    size_t n = strcspn(*text, ",");

    if (**text == '\0')
        return false;
    snprintf(part, 64, "%.*s", (int)(n < 63 ? n : 63), *text);
    *text += n;
    *text += **text == ',';
    return true;
}

/* Times are in any unit; longer ones than this say nothing, and their sums must stay exact. */
static enum fr_status set_time(struct fr_schedule_times *t, unsigned *seen, char part[64],
                               struct fr_error *err)
{
    const struct {
        const char *name;
        double *time;
    } times[] = {{"F", &t->pass.forward},  {"I", &t->pass.input}, {"W", &t->pass.weight},
                 {"B", &t->pass.backward}, {"FB", &t->pair},      {"comm", &t->comm}};
    char *value = strchr(part, '=');

    if (value)
        *value++ = '\0';
    for (size_t i = 0; value && i < sizeof(times) / sizeof(times[0]); i++)
        if (strcmp(part, times[i].name) == 0) {
            if (*seen & 1u << i)
                return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--times' has %s twice", part);
            *seen |= 1u << i;
            return fr__parse_number(value, "option '--times'", FR_NOWHERE, 0, 1e9, times[i].time,
                                    err);
        }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "option '--times' has \"%s\", expected F, I, W, B, FB or comm with a number, "
                    "such as F=1,I=1,W=1,comm=0",
                    part);
}

enum fr_status fr__set_times(struct fr__options *o, const char *value, struct fr_error *err)
{
    char part[64];
    unsigned seen = 0;

    o->times = fr_schedule_unit_times();
    o->has_times = true;
    while (next_part(&value, part))
        FR_TRY(set_time(&o->times, &seen, part, err));
    return FR_OK;
}

enum fr_status fr__set_stage_scale(struct fr__options *o, const char *value, struct fr_error *err)
{
    char part[64];

    o->n_stage_scale = 0;
    while (next_part(&value, part)) {
        if (o->n_stage_scale == FR__MOST_STAGES)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d stages", FR__MOST_STAGES);
        FR_TRY(fr__parse_number(part, "option '--stages'", FR_NOWHERE, 0, 1e9,
                                &o->stage_scale[o->n_stage_scale++], err));
    }
    return FR_OK;
}
