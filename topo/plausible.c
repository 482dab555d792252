/* topo/plausible.c - limits of what a machine may be, in one table.
 *
 * Each limit is at least ten times beyond what has been built, so that machines to come and toys
 * pass, while a figure in the wrong unit (off by a thousand or more) does not.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "topo/plausible.h"

#include <stddef.h>

/* The most that a topology takes: links of toys, on which messages take no time. */
static const double UNLIMITED_Bps = 1e18;

enum unit { BYTES, RATE, FLOPS, TIME };

struct limit {
    const char *what;
    size_t offset; /* of a double in struct figures */
    enum unit unit;
    double least, most;
    const char *why;
};

/* Of a device type, as doubles. */
struct figures {
    double memory, memory_Bps, vector, launch_s;
};

static const struct limit of_types[] = {
    {"memory", offsetof(struct figures, memory), BYTES, 1 << 20, 1125899906842624.0,
     "from 1 MiB to 1 PiB; the largest accelerators have 0.3 TiB, the largest hosts 64 TiB"},
    {"memory bandwidth", offsetof(struct figures, memory_Bps), RATE, 1e7, 1e15,
     "from 10 MB/s to 1000 TB/s; a PC of 1990 had 30 MB/s, a B200 has 8 TB/s"},
    {"vector rate", offsetof(struct figures, vector), FLOPS, 1e6, 1e17,
     "from 1 Mflop/s to 100 Pflop/s; a B200 has 0.08 Pflop/s"},
    {"launch time", offsetof(struct figures, launch_s), TIME, 0, 1,
     "at most 1 s; frameworks take 1 to 100 us"},
};

static const char *format(enum unit unit, double x, char *buf, size_t n)
{
    char number[32];

    switch (unit) {
    case BYTES:
        return fr__format_bytes(x, buf, n);
    case RATE:
        return fr__format_rate(x, buf, n);
    case TIME:
        return fr__format_time(x, buf, n);
    case FLOPS:
        break;
    }
    snprintf(buf, n, "%s flop/s", fr__format_double(x, number, sizeof(number)));
    return buf;
}

static enum fr_status refuse(const char *whose, const char *name, const char *what, enum unit unit,
                             double x, const char *why, struct fr_error *err)
{
    char value[64];

    return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                    "%s '%.60s': a %s of %s is implausible (%s); --allow-implausible goes on",
                    whose, name, what, format(unit, x, value, sizeof(value)), why);
}

static enum fr_status check_type(const struct fr_device_type *t, struct fr_error *err)
{
    const struct figures f = {(double)t->mem_bytes, t->mem_Bps, t->vector_flops_per_s, t->launch_s};

    for (size_t i = 0; i < sizeof(of_types) / sizeof(of_types[0]); i++) {
        const struct limit *l = &of_types[i];
        double x = *(const double *)(const void *)((const char *)&f + l->offset);

        if (!(x >= l->least && x <= l->most))
            return refuse("device type", t->name, l->what, l->unit, x, l->why, err);
    }
    for (int d = 0; d < FR_N_DTYPES; d++) /* 0: the type has no units for the format */
        if (t->flops_per_s[d] > 0 && !(t->flops_per_s[d] >= 1e6 && t->flops_per_s[d] <= 1e18))
            return refuse("device type", t->name, "peak rate", FLOPS, t->flops_per_s[d],
                          "from 1 Mflop/s to 1000 Pflop/s; a B200 has 10 Pflop/s in fp4", err);
    if (t->context_bytes >= t->mem_bytes)
        return refuse("device type", t->name, "context", BYTES, (double)t->context_bytes,
                      "it must leave room in the memory", err);
    return FR_OK;
}

enum fr_status fr__topo_plausible(const struct fr_topo *t, struct fr_error *err)
{
    for (size_t i = 0; i < t->n_types; i++)
        FR_TRY(check_type(&t->types[i], err));
    for (size_t i = 0; i < t->n_links; i++) {
        const struct fr_link *l = &t->links[i];

        if (!(l->bw_Bps >= 1e3 && (l->bw_Bps <= 1e16 || l->bw_Bps >= UNLIMITED_Bps)))
            return refuse("a link from", t->vertices[l->src].name, "bandwidth", RATE, l->bw_Bps,
                          "from 1 kB/s to 10 PB/s; NVLink of a B200 has 0.9 TB/s", err);
        if (!(l->latency_s <= 10))
            return refuse("a link from", t->vertices[l->src].name, "latency", TIME, l->latency_s,
                          "at most 10 s; by satellite it is 0.3 s", err);
    }
    return FR_OK;
}
