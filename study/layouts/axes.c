/* study/layouts/axes.c - the names of a layout's axes, as a person writes them. */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"

#include <string.h>

/* With the sign that follows them in what a person writes. */
static const char *const names[FR__N_SEARCH_AXES] = {
    "dp=",    "tp=",      "pp=",   "cp=",       "ep=",        "etp=",
    "micro=", "virtual=", "zero=", "schedule=", "recompute=", "map=",
};

const char *fr__search_axis_name(enum fr__axis a, char buf[FR__AXIS_NAME])
{
    snprintf(buf, FR__AXIS_NAME, "%.*s", (int)(strlen(names[a]) - 1), names[a]);
    return buf;
}

enum fr_status fr__search_axis_find(const char *part, size_t length, enum fr__axis *out,
                                    struct fr_error *err)
{
    char name[64], hint[128];

    for (int a = 0; a < FR__N_SEARCH_AXES; a++)
        if (strlen(names[a]) == length && strncmp(names[a], part, length) == 0) {
            *out = (enum fr__axis)a;
            return FR_OK;
        }
    snprintf(name, sizeof(name), "%.*s", length < 40 ? (int)length : 40, part);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a layout has no axis '%s'%s", name,
                    fr__did_you_mean(name, names, FR__N_SEARCH_AXES, hint, sizeof(hint)));
}
