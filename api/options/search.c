/* api/options/search.c - setters of the options of a search. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/options/options.h"

#include <stdlib.h>
#include <string.h>

enum fr_status fr__set_top(struct fr__options *o, const char *value, struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(value, "option '--top'", FR_NOWHERE, 1, 1000, &n, err));
    o->n_best = (size_t)n;
    return FR_OK;
}

/* "5%" or "5": per cent of the best time. */
enum fr_status fr__set_within(struct fr__options *o, const char *value, struct fr_error *err)
{
    char text[32];
    size_t n = strlen(value);
    double percent;

    if (n > 0 && value[n - 1] == '%')
        n--;
    if (n == 0 || n >= sizeof(text))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--within' is \"%.40s\", expected per cent, such as 5%%", value);
    memcpy(text, value, n);
    text[n] = '\0';
    FR_TRY(fr__parse_number(text, "option '--within'", FR_NOWHERE, 0, 1000, &percent, err));
    o->within_frac = percent / 100;
    return FR_OK;
}

enum fr_status fr__add_axis(struct fr__options *o, const char *value, struct fr_error *err)
{
    if (o->n_axes == FR__MOST_AXES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d axes of a space", FR__MOST_AXES);
    o->axes[o->n_axes++] = value;
    return FR_OK;
}

enum fr_status fr__set_why_layout(struct fr__options *o, const char *value, struct fr_error *err)
{
    o->why_layout = value;
    return fr_search_check_match(value, err);
}

enum fr_status fr__set_exhaustive(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    o->exhaustive = true;
    return FR_OK;
}

enum fr_status fr__set_flags_of(struct fr__options *o, const char *value, struct fr_error *err)
{
    o->flags_of = fr_framework_parse(value);
    if (o->flags_of == FR_N_FRAMEWORKS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--print-flags' is \"%.40s\", expected megatron, deepspeed or "
                        "torchtitan",
                        value);
    return FR_OK;
}
