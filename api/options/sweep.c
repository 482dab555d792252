/* api/options/sweep.c - how a sweep is done: threads, store, shard; its prices and deadline. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/options/options.h"

#include <stdio.h>
#include <string.h>

enum fr_status fr__set_shard(struct fr__options *o, const char *value, struct fr_error *err)
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

enum fr_status fr__set_jobs(struct fr__options *o, const char *value, struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(value, "option '--jobs'", FR_NOWHERE, 1, 1024, &n, err));
    o->n_jobs = (unsigned)n;
    return FR_OK;
}

enum fr_status fr__set_store(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->store = value;
    return FR_OK;
}

enum fr_status fr__add_columns(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr_sweep_table_columns(&o->table, value, err);
}

enum fr_status fr__add_prices(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr_prices_parse(&o->terms.prices, value, err);
}

enum fr_status fr__set_samples(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr__parse_number(value, "option '--samples'", FR_NOWHERE, 1, 1e30, &o->terms.samples,
                            err);
}

/* "1T" or "300B": of language models people count so. */
enum fr_status fr__set_tokens(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr__parse_amount(value, "option '--tokens'", FR_NOWHERE, 1, 1e30, &o->terms.tokens, err);
}

enum fr_status fr__set_deadline(struct fr__options *o, const char *value, struct fr_error *err)
{
    double s;

    FR_TRY(fr__parse_time(value, "option '--deadline'", FR_NOWHERE, &s, err));
    if (!(s > 0))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "option '--deadline' is \"%s\", expected a time above 0", value);
    o->terms.deadline_s = s;
    return FR_OK;
}
