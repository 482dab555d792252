/* topo/import/simgrid_parts.c - quantities with SimGrid's units, and hosts as machines.
 *
 * Apart from simgrid.c, which reads zones, since clusters need both.
 */
#include "config.h"

#include "base/units.h"
#include "topo/import/simgrid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- quantities ---- */

struct unit {
    const char *text;
    double factor;
};

/* SimGrid's: decimal k M G T, binary Ki Mi Gi Ti; B bytes, b bits; f flop/s. */
static enum fr_status read_quantity(const struct fr__xml *x, const char *key, const char *fallback,
                                    const struct unit units[], size_t n, double *out,
                                    struct fr_error *err)
{
    static const struct unit prefixes[] = {{"", 1},      {"k", 1e3},        {"K", 1e3},
                                           {"M", 1e6},   {"G", 1e9},        {"T", 1e12},
                                           {"Ki", 1024}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}};
    const char *text = fr__xml_get(x, key), *end;
    char excerpt[FR__EXCERPT];
    double value;

    if (!text && !fallback)
        FR_TRY(fr__xml_text(x, key, &text, err));
    text = text ? text : fallback;
    value = fr__strtod(text, &end);
    for (size_t i = 0; end != text && value >= 0 && i < n; i++)
        for (size_t k = 0; k < sizeof(prefixes) / sizeof(prefixes[0]); k++) {
            size_t len = strlen(prefixes[k].text);

            if (strncmp(end, prefixes[k].text, len) != 0 || strcmp(end + len, units[i].text) != 0)
                continue;
            value *= prefixes[k].factor * units[i].factor;
            if (!isfinite(value))
                break;
            *out = value;
            return FR_OK;
        }
    return fr__fail(err, FR_EPARSE, x->loc,
                    "'%s' of <%.40s> is \"%s\", a number with a unit like %s "
                    "expected",
                    key, x->name, fr__excerpt(text, excerpt), units[0].text);
}

enum fr_status fr__sg_rate(const struct fr__xml *x, const char *key, const char *fallback,
                           double *out_Bps, struct fr_error *err)
{
    static const struct unit units[] = {{"Bps", 1}, {"bps", 0.125}, {"", 1}};

    FR_TRY(read_quantity(x, key, fallback, units, 3, out_Bps, err));
    if (*out_Bps > 0)
        return FR_OK;
    return fr__fail(err, FR_ERANGE, x->loc, "'%s' of <%.40s> is 0", key, x->name);
}

enum fr_status fr__sg_time(const struct fr__xml *x, const char *key, const char *fallback,
                           double *out_s, struct fr_error *err)
{
    static const struct unit units[] = {{"us", 1e-6}, {"s", 1}, {"ms", 1e-3},
                                        {"ns", 1e-9}, {"", 1},  {"m", 60.0}};

    return read_quantity(x, key, fallback, units, 6, out_s, err);
}

enum fr_status fr__sg_read_policy(const struct fr__xml *x, const char *key,
                                  enum fr__sg_policy fallback, enum fr__sg_policy *out,
                                  struct fr_error *err)
{
    const char *text = fr__xml_get(x, key);
    char excerpt[FR__EXCERPT];

    *out = fallback;
    if (!text || strcmp(text, "SPLITDUPLEX") == 0 || strcmp(text, "FULLDUPLEX") == 0)
        return FR_OK;
    if (strcmp(text, "SHARED") == 0)
        *out = FR__SG_SHARED;
    else if (strcmp(text, "FATPIPE") == 0)
        *out = FR__SG_FATPIPE;
    else
        return fr__fail(err, FR_EPARSE, x->loc,
                        "'%s' of <%.40s> is \"%s\", one of SHARED, SPLITDUPLEX, FATPIPE expected",
                        key, x->name, fr__excerpt(text, excerpt));
    return FR_OK;
}

/* ---- hosts ---- */

/* A type of that many flop/s; its memory is an assumption. */
static const struct fr_device_type *make_type(struct fr__sketch *s, double flops_per_s)
{
    struct fr_device_type *type = fr__arena_alloc(s->arena, 1, sizeof(*type));
    char name[64], number[32];

    if (!type)
        return NULL;
    snprintf(name, sizeof(name), "host-%sgf",
             fr__format_double(flops_per_s / 1e9, number, sizeof(number)));
    *type = (struct fr_device_type){.name = fr__arena_strdup(s->arena, name),
                                    .is_gpu = true,
                                    .mem_bytes = (uint64_t)16 << 30,
                                    .mem_Bps = 25.6e9,
                                    .vector_flops_per_s = flops_per_s,
                                    .n_sms = 1,
                                    .source = "speed and cores of the SimGrid host"};
    type->flops_per_s[FR_FP32] = flops_per_s;
    fr__sketch_note(s, "a host counts as one GPU of its speed, with 16 GiB of memory at 25.6 GB/s");
    return type->name ? type : NULL;
}

enum fr_status fr__sg_hosts(struct fr__sg_reader *r, const struct fr__xml *x, uint32_t n,
                            uint32_t *first)
{
    static const struct unit units[] = {{"f", 1}, {"", 1}};
    const struct fr_device_type *type;
    int64_t cores;
    double speed;

    FR_TRY(read_quantity(x, "speed", NULL, units, 2, &speed, r->s->err));
    FR_TRY(fr__xml_integer(x, "core", 1, 1, 65536, &cores, r->s->err));
    if (!(speed > 0))
        return fr__fail(r->s->err, FR_ERANGE, x->loc, "'speed' of <%.40s> is 0", x->name);
    type = make_type(r->s, speed * (double)cores);
    if (!type)
        return fr__fail_nomem(r->s->err);
    *first = r->n_hosts;
    r->n_hosts += n;
    fr__sketch_machine(r->s, n, x->loc);
    fr__sketch_vertex(r->s, FR_VERTEX_GPU, "gpu", 0, type, x->loc);
    return FR_OK;
}

enum fr_status fr__sg_name_host(struct fr__sg_reader *r, uint32_t host, const char *id,
                                struct fr_loc loc, uint32_t *vertex)
{
    char global[32];

    snprintf(global, sizeof(global), "n%u.gpu0", (unsigned)host);
    return fr__sg_vertex(&r->graph, id, global, loc, vertex);
}
