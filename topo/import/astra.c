/* topo/import/astra.c - machines of an ASTRA-sim network file (analytical back end).
 *
 * The file gives dimensions, the innermost first, each a Ring, FullyConnected or Switch of so many
 * NPUs with a link's bandwidth (GB/s) and latency (ns). NPU numbers count with dimension 0 fastest.
 * The NPUs of dimension 0 are one machine here; the other dimensions join machines. In a Ring or in
 * several dimensions NPUs forward for others there, GPUs never do here: each then has a router of
 * its own, on a link that is as wide as all of its others together and takes no time.
 *
 * Source: astra-sim/astra-network-analytical, NetworkParser; a Switch's latency counts once on the
 *         way to it and once from it.
 * Ignores: system and workload files; other keys, as ASTRA-sim does.
 */
#include "config.h"

#include "topo/gpus/gpus.h"
#include "topo/import/import.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DIMENSIONS = 8, MAX_CABLES = 1 << 18 };

enum shape { RING, FULL, SWITCH };

struct dimension {
    enum shape shape;
    uint32_t n;
    double bw_Bps, latency_s;
};

struct reader {
    struct fr__sketch *s;
    const struct fr__yaml *root;
    struct dimension d[MAX_DIMENSIONS];
    size_t n_dimensions;
    uint32_t n_npus;
    bool has_routers;
};

static const char SOURCE[] = "the file's bandwidth and latency of that dimension";

/* ---- reading ---- */

static enum fr_status list_of(struct reader *r, const char *key, const struct fr__yaml **out)
{
    const struct fr__yaml *list = fr__yaml_get(r->root, key);
    char what[32];

    snprintf(what, sizeof(what), "'%s'", key);
    if (!list)
        return fr__fail(r->s->err, FR_EPARSE, r->root->loc, "key %s is missing", what);
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, what, r->s->err));
    if (list->n == 0 || list->n > MAX_DIMENSIONS)
        return fr__fail(r->s->err, FR_ERANGE, list->loc, "%zu dimensions, 1 to %d expected",
                        list->n, MAX_DIMENSIONS);
    if (r->n_dimensions && list->n != r->n_dimensions)
        return fr__fail(r->s->err, FR_EPARSE, list->loc,
                        "%s has %zu values, %zu expected, one a dimension", what, list->n,
                        r->n_dimensions);
    r->n_dimensions = list->n;
    *out = list;
    return FR_OK;
}

static enum fr_status read_shape(const struct fr__yaml *node, enum shape *out, struct fr_error *err)
{
    static const char *const names[] = {"Ring", "FullyConnected", "Switch", NULL};
    char excerpt[FR__EXCERPT], hint[128];

    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, "a topology", err));
    for (unsigned i = 0; names[i]; i++)
        if (strcmp(node->text, names[i]) == 0) {
            *out = (enum shape)i;
            return FR_OK;
        }
    return fr__fail(err, FR_EPARSE, node->loc,
                    "topology '%s', one of Ring, FullyConnected, Switch expected%s",
                    fr__excerpt(node->text, excerpt),
                    fr__did_you_mean(node->text, names, SIZE_MAX, hint, sizeof(hint)));
}

/* Links that a dimension needs, all its groups together. */
static uint64_t cables_of(const struct reader *r, const struct dimension *d)
{
    uint64_t groups = r->n_npus / d->n;

    return groups * (d->shape == FULL ? (uint64_t)d->n * (d->n - 1) / 2 : d->n);
}

static enum fr_status read_file(struct reader *r)
{
    const struct fr__yaml *shapes, *counts, *rates, *latencies;
    uint64_t n_npus = 1, n_cables = 0;

    FR_TRY(fr__yaml_expect(r->root, FR__YAML_MAP, "a network file", r->s->err));
    FR_TRY(list_of(r, "topology", &shapes));
    FR_TRY(list_of(r, "npus_count", &counts));
    FR_TRY(list_of(r, "bandwidth", &rates));
    FR_TRY(list_of(r, "latency", &latencies));
    for (size_t i = 0; i < r->n_dimensions; i++) {
        struct dimension *d = &r->d[i];
        double GBps = 0, ns = 0;

        FR_TRY(read_shape(shapes->items[i], &d->shape, r->s->err));
        FR_TRY(fr__import_count(counts->items[i], "npus_count", 2, FR__MAX_GPUS, &d->n, r->s->err));
        FR_TRY(fr__import_number(rates->items[i], "bandwidth", 1e-6, 1e6, &GBps, r->s->err));
        FR_TRY(fr__import_number(latencies->items[i], "latency", 0, 1e12, &ns, r->s->err));
        d->bw_Bps = GBps * 1e9;
        d->latency_s = ns * 1e-9;
        n_npus *= d->n;
        if (n_npus > FR__MAX_GPUS)
            return fr__fail(r->s->err, FR_ERANGE, counts->items[i]->loc,
                            "more than %d NPUs in all dimensions", (int)FR__MAX_GPUS);
        r->has_routers |= d->shape == RING || r->n_dimensions > 1;
    }
    r->n_npus = (uint32_t)n_npus;
    for (size_t i = 0; i < r->n_dimensions; i++)
        n_cables += cables_of(r, &r->d[i]);
    if (n_cables > MAX_CABLES)
        return fr__fail(r->s->err, FR_ERANGE, counts->loc, "%llu links, at most %d expected",
                        (unsigned long long)n_cables, MAX_CABLES);
    return FR_OK;
}

/* ---- one machine: dimension 0 ---- */

/* What all links of an NPU carry together. */
static double width(const struct reader *r)
{
    double sum = 0;

    for (size_t i = 0; i < r->n_dimensions; i++) {
        const struct dimension *d = &r->d[i];
        uint32_t n = d->shape == SWITCH ? 1 : d->shape == FULL || d->n == 2 ? d->n - 1 : 2;

        sum += n * d->bw_Bps;
    }
    return sum;
}

static void draw_machine(struct reader *r, uint32_t ends[])
{
    const struct dimension *d = &r->d[0];
    const struct fr_device_type *type = fr__gpu_facts_type(fr__import_gpu(r->s, "h100-sxm5-80gb"));
    struct fr_loc loc = r->root->loc;
    uint32_t hub;

    fr__sketch_machine(r->s, r->n_npus / d->n, loc);
    for (uint32_t i = 0; i < d->n; i++)
        ends[i] = fr__sketch_vertex(r->s, FR_VERTEX_GPU, "gpu", i, type, loc);
    for (uint32_t i = 0; i < d->n && r->has_routers; i++) {
        uint32_t router = fr__sketch_vertex(r->s, FR_VERTEX_NVSWITCH, "router", i, NULL, loc);

        fr__sketch_wire(r->s, FR_LINK_NVLINK, ends[i], router, width(r), 0,
                        "all links of the NPU together: it forwards itself", loc);
        ends[i] = router;
    }
    if (d->shape == SWITCH) {
        hub = fr__sketch_vertex(r->s, FR_VERTEX_NVSWITCH, "nvswitch", FR_NONE, NULL, loc);
        for (uint32_t i = 0; i < d->n; i++)
            fr__sketch_wire(r->s, FR_LINK_NVLINK, ends[i], hub, d->bw_Bps, d->latency_s, SOURCE,
                            loc);
    }
    for (uint32_t i = 0; i < d->n && d->shape == RING; i++)
        if (i + 1 < d->n || d->n > 2)
            fr__sketch_wire(r->s, FR_LINK_NVLINK, ends[i], ends[(i + 1) % d->n], d->bw_Bps,
                            d->latency_s, SOURCE, loc);
    for (uint32_t i = 0; i < d->n && d->shape == FULL; i++)
        for (uint32_t k = i + 1; k < d->n; k++)
            fr__sketch_wire(r->s, FR_LINK_NVLINK, ends[i], ends[k], d->bw_Bps, d->latency_s, SOURCE,
                            loc);
}

/* ---- between machines: the other dimensions ---- */

static const char *name_of(const struct reader *r, uint32_t npu, char buf[FR__MAX_VERTEX_NAME])
{
    snprintf(buf, FR__MAX_VERTEX_NAME, "n%u.router%u", (unsigned)(npu / r->d[0].n),
             (unsigned)(npu % r->d[0].n));
    return buf;
}

static void join(struct reader *r, const struct dimension *d, uint32_t one, uint32_t other)
{
    char from[FR__MAX_VERTEX_NAME], to[FR__MAX_VERTEX_NAME];

    fr__sketch_cable(r->s, FR_LINK_NET, name_of(r, one, from), name_of(r, other, to), d->bw_Bps,
                     d->latency_s, true, SOURCE, r->root->loc);
}

/* The NPUs base, base + step, ... of one group of a dimension. */
static void draw_group(struct reader *r, size_t dimension, uint32_t base, uint32_t step)
{
    const struct dimension *d = &r->d[dimension];
    char hub[FR__MAX_VERTEX_NAME], name[FR__MAX_VERTEX_NAME];

    if (d->shape == SWITCH) {
        snprintf(hub, sizeof(hub), "dim%zu.switch%u", dimension, (unsigned)base);
        fr__sketch_switch(r->s, hub, r->root->loc);
    }
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->shape == SWITCH)
            fr__sketch_cable(r->s, FR_LINK_NET, name_of(r, base + i * step, name), hub, d->bw_Bps,
                             d->latency_s, true, SOURCE, r->root->loc);
        else if (d->shape == RING && (i + 1 < d->n || d->n > 2))
            join(r, d, base + i * step, base + (i + 1) % d->n * step);
        for (uint32_t k = i + 1; k < d->n && d->shape == FULL; k++)
            join(r, d, base + i * step, base + k * step);
    }
}

static enum fr_status read(struct fr__sketch *s, const char *text, size_t len)
{
    struct reader r = {.s = s};
    uint32_t *ends, step;

    FR_TRY(fr__yaml_load_text(s->arena, text, len, s->path, &r.root, s->err));
    FR_TRY(read_file(&r));
    ends = fr__arena_alloc(s->arena, r.d[0].n, sizeof(*ends));
    if (!ends)
        return fr__fail_nomem(s->err);
    draw_machine(&r, ends);
    step = r.d[0].n;
    for (size_t i = 1; i < r.n_dimensions; i++) {
        for (uint32_t base = 0; base < r.n_npus; base++)
            if (base / step % r.d[i].n == 0)
                draw_group(&r, i, base, step);
        step *= r.d[i].n;
    }
    fr__sketch_note(s, "GB/s are taken for 10^9 bytes a second");
    if (r.has_routers)
        fr__sketch_note(s, "each NPU has a router of its own that forwards for others at no cost");
    return FR_OK;
}

/* Whether a line begins with the key. */
static bool has_key(const char *text, const char *key)
{
    size_t n = strlen(key);

    for (const char *line = text; line;) {
        if (strncmp(line, key, n) == 0 && (line[n] == ':' || line[n] == ' '))
            return true;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

static bool is(const char *text, size_t len)
{
    (void)len;
    return has_key(text, "npus_count") && has_key(text, "topology");
}

const struct fr__importer fr__importer_astra = {
    .name = "astra-sim",
    .summary = "ASTRA-sim's network YAML (analytical)",
    .source = "astra-sim/astra-network-analytical, NetworkParser",
    .is = is,
    .read = read,
};
