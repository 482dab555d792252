/* cli/options_sweep.c - which part of a sweep a shard answers. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

enum fr_status cli_set_shard(struct options *o, const char *value, struct fr_error *err)
{
    const char *slash = strchr(value, '/');
    char first[32];
    uint64_t i = 0, n = 0;

    if (!slash || (size_t)(slash - value) >= sizeof(first))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--shard' is \"%s\", expected I/N, such as 1/4", value);
    snprintf(first, sizeof(first), "%.*s", (int)(slash - value), value);
    FR_TRY(fr__parse_count(slash + 1, "option '--shard': the number of shards", FR_NOWHERE, 1,
                           UINT32_MAX, &n, err));
    FR_TRY(fr__parse_count(first, "option '--shard': the shard", FR_NOWHERE, 1, n, &i, err));
    return fr_sweep_shard(o->sweep, (uint32_t)i, (uint32_t)n, err);
}
