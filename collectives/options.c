/* collectives/options.c - see options.h. */
#include "config.h"

#include "collectives/options.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const char FILE_PREFIX[] = "file:";

const char *fr_collective_algorithm_name(size_t i)
{
    const struct fr__algorithm *a = fr__algorithm_at(i);

    return a ? a->name : NULL;
}

const char *fr_collective_algorithm_summary(size_t i)
{
    const struct fr__algorithm *a = fr__algorithm_at(i);

    return a ? a->summary : NULL;
}

static enum fr_status set_algorithm(struct fr_collective_way *w, const char *name,
                                    struct fr_error *err)
{
    const char *names[32];
    char hint[128];
    size_t n = 0;

    if (strncmp(name, FILE_PREFIX, sizeof(FILE_PREFIX) - 1) == 0) {
        w->algorithm = &fr__custom_algorithm;
        return fr__custom_load(&w->custom, name + sizeof(FILE_PREFIX) - 1, err);
    }
    w->is_nccl = strcmp(name, "nccl") == 0;
    if (w->is_nccl)
        return FR_OK;
    w->algorithm = fr__algorithm_find(name);
    if (w->algorithm)
        return FR_OK;
    names[n++] = "nccl";
    for (; n < 32 && fr__algorithm_at(n - 1); n++)
        names[n] = fr__algorithm_at(n - 1)->name;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no algorithm of collectives '%s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

static enum fr_status set_protocol(struct fr_collective_way *w,
                                   const struct fr_collective_options *o, struct fr_error *err)
{
    if (o->protocol)
        w->protocol = fr__nccl_protocol_parse(o->protocol);
    if (o->protocol && w->protocol == FR__NCCL_N_PROTOCOLS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "no protocol '%s'; known are LL, LL128 and Simple", o->protocol);
    w->version = fr__nccl_version_parse(o->nccl_version ? o->nccl_version : FR__NCCL_VERSION);
    if (w->version == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no NCCL '%s'; known are 2.5 and later",
                        o->nccl_version);
    return FR_OK;
}

enum fr_status fr_collective_way_new(struct fr_collective_way **out,
                                     const struct fr_collective_options *o, struct fr_error *err)
{
    struct fr_collective_way *w = calloc(1, sizeof(*w));
    enum fr_status st = w ? FR_OK : fr__fail_nomem(err);

    if (st != FR_OK)
        return st;
    w->protocol = FR__NCCL_N_PROTOCOLS;
    w->n_channels = o->nccl_channels;
    w->no_switch_sums = o->no_switch_sums;
    w->as_measured = o->as_measured;
    if (o->algorithm)
        st = set_algorithm(w, o->algorithm, err);
    if (st == FR_OK)
        st = set_protocol(w, o, err);
    if (st == FR_OK)
        *out = w;
    else
        fr_collective_way_free(w);
    return st;
}

void fr_collective_way_free(struct fr_collective_way *w)
{
    if (!w)
        return;
    fr__custom_free(w->custom);
    free(w);
}

bool fr_collective_way_has(const struct fr_collective_way *w, enum fr_collective_kind kind)
{
    if (w->is_nccl || !w->algorithm)
        return true;
    return (w->algorithm->kinds >> kind & 1) && (!w->custom || fr__custom_kind(w->custom) == kind);
}
