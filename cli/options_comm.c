/* cli/options_comm.c - the options of forerun comm. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "cli/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A size as nccl-tests takes it: bytes, or with K, M, G behind of 1024, 1024^2, 1024^3. */
static enum fr_status parse_size(const char *value, const char *what, uint64_t *out,
                                 struct fr_error *err)
{
    static const char UNITS[] = "KMG";
    size_t n = strlen(value);
    const char *unit = n > 0 ? strchr(UNITS, toupper((unsigned char)value[n - 1])) : NULL;
    unsigned shift = unit && *unit ? 10 * (unsigned)(unit - UNITS + 1) : 0;
    char digits[32];
    uint64_t bytes = 0;

    if (n >= sizeof(digits))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is too long", what);
    snprintf(digits, sizeof(digits), "%.*s", (int)(shift ? n - 1 : n), value);
    FR_TRY(fr__parse_count(digits, what, FR_NOWHERE, 1, (uint64_t)1 << (50 - shift), &bytes, err));
    *out = bytes << shift;
    return FR_OK;
}

enum fr_status cli_set_comm_min(struct options *o, const char *value, struct fr_error *err)
{
    return parse_size(value, "option '--minbytes'", &o->comm_min_bytes, err);
}

enum fr_status cli_set_comm_max(struct options *o, const char *value, struct fr_error *err)
{
    return parse_size(value, "option '--maxbytes'", &o->comm_max_bytes, err);
}

enum fr_status cli_set_comm_factor(struct options *o, const char *value, struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(value, "option '--stepfactor'", FR_NOWHERE, 2, 1 << 20, &n, err));
    o->comm_factor = (uint32_t)n;
    return FR_OK;
}
