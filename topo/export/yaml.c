/* topo/export/yaml.c - writes a topology as a file of our own format.
 *
 * Equal machines that follow each other are written once, with a count. Links between machines, and
 * switches that belong to none, keep their whole names.
 */
#include "config.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "base/yaml.h"
#include "topo/internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const vertex_kinds[FR_N_VERTEX_KINDS] = {
    [FR_VERTEX_GPU] = "gpu",   [FR_VERTEX_CPU] = "cpu", [FR_VERTEX_NVSWITCH] = "nvswitch",
    [FR_VERTEX_PCIE] = "pcie", [FR_VERTEX_NIC] = "nic", [FR_VERTEX_SWITCH] = "switch",
};

static const char *const link_kinds[FR_N_LINK_KINDS] = {
    [FR_LINK_NVLINK] = "nvlink",
    [FR_LINK_PCIE] = "pcie",
    [FR_LINK_CPU] = "cpu",
    [FR_LINK_NET] = "net",
};

/* Links of each machine, in order: the first of machine m is order[first[m]]; those between
 * machines come last, as machine n_machines. */
struct writer {
    const struct fr_topo *t;
    uint32_t *vertex_first, *vertex_order, *link_first, *link_order;
    unsigned char *is_back; /* [n_links] written with the link before it */
};

static void put_number(FILE *f, double x, const char *unit)
{
    char text[32];

    fprintf(f, "%s%s", fr__format_double(x, text, sizeof(text)), unit);
}

/* The vertex's name inside its machine: what follows "n<machine>.". */
static const char *local_name(const struct fr_vertex *v)
{
    const char *dot = v->machine == FR_NONE ? NULL : strchr(v->name, '.');

    return dot ? dot + 1 : v->name;
}

static void write_types(FILE *f, const struct fr_topo *t)
{
    const char *title = "types:\n";

    for (size_t i = 0; i < t->n_types; i++) {
        const struct fr_device_type *type = &t->types[i];

        if (fr_device_type_find(type->name))
            continue;
        fprintf(f, "%s  - name: ", title);
        title = "";
        fr__json_write_string(f, type->name);
        fprintf(f, "\n    kind: %s\n    memory: %lluB\n    memory_bandwidth: ",
                type->is_gpu ? "gpu" : "cpu", (unsigned long long)type->mem_bytes);
        put_number(f, type->mem_Bps, "B/s\n    vector: ");
        put_number(f, type->vector_flops_per_s, "flop/s\n    flops: {");
        for (unsigned d = 0, n = 0; d < FR_AMP; d++)
            if (type->flops_per_s[d] > 0) {
                fprintf(f, "%s%s: ", n++ ? ", " : "", fr_dtype_name((enum fr_dtype)d));
                put_number(f, type->flops_per_s[d], "flop/s");
            }
        fputs("}\n", f);
        if (type->units != FR_UNITS_ANY)
            fprintf(f, "    units: %s\n", type->units == FR_UNITS_MX ? "mx" : "mx-nv");
        fprintf(f, "    sms: %u\n    launch: ", type->n_sms);
        put_number(f, type->launch_s, "s\n");
        fprintf(f, "    context: %lluB\n    source: ", (unsigned long long)type->context_bytes);
        fr__json_write_string(f, type->source ? type->source : "");
        putc('\n', f);
    }
}

static void write_link(FILE *f, const struct fr_topo *t, uint32_t i, bool is_duplex, bool is_local,
                       const char *indent)
{
    const struct fr_link *l = &t->links[i];
    const struct fr_vertex *src = &t->vertices[l->src], *dst = &t->vertices[l->dst];

    fprintf(f, "%s- {from: ", indent);
    fr__json_write_string(f, is_local ? local_name(src) : src->name);
    fputs(", to: ", f);
    fr__json_write_string(f, is_local ? local_name(dst) : dst->name);
    fprintf(f, ", kind: %s, bandwidth: ", link_kinds[l->kind]);
    put_number(f, l->bw_Bps, "B/s, latency: ");
    put_number(f, l->latency_s, "s");
    if (!is_duplex)
        fputs(", duplex: false", f);
    if (l->message != FR_NONE) {
        fputs(", messages: {system: ", f);
        fr__json_write_string(f, t->systems[t->messages[l->message].system].name);
        fputs(", link: ", f);
        fr__json_write_string(f, t->messages[l->message].link);
        putc('}', f);
    }
    if (l->source) {
        fputs(", source: ", f);
        fr__json_write_string(f, l->source);
    }
    fputs("}\n", f);
}

/* The links of machine m, or between machines; two equal ones there and back are one. */
static void write_links(FILE *f, const struct writer *w, size_t m, const char *indent)
{
    bool is_local = m < w->t->n_machines;

    for (uint32_t i = w->link_first[m]; i < w->link_first[m + 1]; i++) {
        uint32_t link = w->link_order[i];

        if (i == w->link_first[m])
            fprintf(f, "%slinks:\n", is_local ? "    " : "");
        if (!w->is_back[link])
            write_link(f, w->t, link, link + 1 < w->t->n_links && w->is_back[link + 1], is_local,
                       indent);
    }
}

/* All of a machine below its count. */
static void write_machine(FILE *f, const struct writer *w, size_t m)
{
    const struct fr_topo *t = w->t;

    if (t->system_of[m] != FR_NONE) {
        fputs("    collectives: ", f);
        fr__json_write_string(f, t->systems[t->system_of[m]].name);
        putc('\n', f);
    }
    fputs("    vertices:\n", f);
    for (uint32_t i = w->vertex_first[m]; i < w->vertex_first[m + 1]; i++) {
        const struct fr_vertex *v = &t->vertices[w->vertex_order[i]];

        fputs("      - {name: ", f);
        fr__json_write_string(f, local_name(v));
        fprintf(f, ", kind: %s", vertex_kinds[v->kind]);
        if (v->device != FR_NONE) {
            fputs(", type: ", f);
            fr__json_write_string(f, t->types[t->devices[v->device].type].name);
        }
        if (v->network) {
            fputs(", network: ", f);
            fr__json_write_string(f, v->network);
        }
        fputs("}\n", f);
    }
    write_links(f, w, m, "      ");
}

/* Runs of machines whose text is the same. */
static enum fr_status write_machines(FILE *f, const struct writer *w, struct fr_error *err)
{
    char *before = NULL, *text = NULL;
    size_t count = 0, size;

    fputs("machines:\n", f);
    for (size_t m = 0; m <= w->t->n_machines; m++) {
        FILE *memory = m < w->t->n_machines ? fr__text_open(&text, &size) : NULL;

        if (memory) {
            write_machine(memory, w, m);
            if (!fr__text_close(memory, &text)) {
                free(before);
                return fr__fail_nomem(err);
            }
        } else if (m < w->t->n_machines) {
            free(before);
            return fr__fail_nomem(err);
        }
        if (before && memory && strcmp(before, text) == 0) {
            free(text);
            count++;
            continue;
        }
        if (before)
            fprintf(f, "  - count: %zu\n%s", count, before);
        free(before);
        before = memory ? text : NULL;
        count = 1;
    }
    return FR_OK;
}

/* ---- sorting by machine ---- */

static size_t machine_of(const struct fr_topo *t, uint32_t vertex)
{
    uint32_t m = t->vertices[vertex].machine;

    return m == FR_NONE ? t->n_machines : m;
}

static size_t machine_of_link(const struct fr_topo *t, size_t link)
{
    size_t m = machine_of(t, t->links[link].src);

    return m == machine_of(t, t->links[link].dst) ? m : t->n_machines;
}

/* A counting sort that keeps the order inside a machine. first: [n_machines + 2]. */
static void sort(struct writer *w)
{
    const struct fr_topo *t = w->t;

    for (size_t v = 0; v < t->n_vertices; v++)
        w->vertex_first[machine_of(t, (uint32_t)v) + 1]++;
    for (size_t l = 0; l < t->n_links; l++)
        w->link_first[machine_of_link(t, l) + 1]++;
    for (size_t m = 0; m <= t->n_machines; m++) {
        w->vertex_first[m + 1] += w->vertex_first[m];
        w->link_first[m + 1] += w->link_first[m];
    }
    for (size_t v = 0; v < t->n_vertices; v++)
        w->vertex_order[w->vertex_first[machine_of(t, (uint32_t)v)]++] = (uint32_t)v;
    for (size_t l = 0; l < t->n_links; l++)
        w->link_order[w->link_first[machine_of_link(t, l)]++] = (uint32_t)l;
    for (size_t m = t->n_machines + 1; m > 0; m--) {
        w->vertex_first[m] = w->vertex_first[m - 1];
        w->link_first[m] = w->link_first[m - 1];
    }
    w->vertex_first[0] = w->link_first[0] = 0;
    for (size_t l = 1; l < t->n_links; l++) {
        const struct fr_link *a = &t->links[l - 1], *b = &t->links[l];

        w->is_back[l] = !w->is_back[l - 1] && a->src == b->dst && a->dst == b->src &&
                        a->kind == b->kind && a->bw_Bps == b->bw_Bps &&
                        a->latency_s == b->latency_s && a->message == b->message &&
                        (a->source == b->source ||
                         (a->source && b->source && strcmp(a->source, b->source) == 0));
    }
}

static void write_fabric(FILE *f, const struct writer *w)
{
    const struct fr_topo *t = w->t;
    uint32_t first = w->vertex_first[t->n_machines], past = w->vertex_first[t->n_machines + 1];

    if (first < past)
        fputs("switches:\n", f);
    for (uint32_t i = first; i < past; i++) {
        const struct fr_vertex *v = &t->vertices[w->vertex_order[i]];

        fputs("  - {name: ", f);
        fr__json_write_string(f, v->name);
        fprintf(f, ", kind: %s}\n", vertex_kinds[v->kind]);
    }
    write_links(f, w, t->n_machines, "  ");
    if (t->network_system != FR_NONE) {
        fputs("collectives: ", f);
        fr__json_write_string(f, t->systems[t->network_system].name);
        putc('\n', f);
    }
}

static enum fr_status write_all(FILE *f, const struct fr_topo *t, struct fr_error *err)
{
    struct fr__arena *a = fr__arena_new();
    struct writer w = {.t = t};
    enum fr_status status;

    if (a) {
        w.vertex_first = fr__arena_alloc(a, t->n_machines + 2, sizeof(uint32_t));
        w.vertex_order = fr__arena_alloc(a, t->n_vertices, sizeof(uint32_t));
        w.link_first = fr__arena_alloc(a, t->n_machines + 2, sizeof(uint32_t));
        w.link_order = fr__arena_alloc(a, t->n_links, sizeof(uint32_t));
        w.is_back = fr__arena_alloc(a, t->n_links, 1);
    }
    if (!w.vertex_first || !w.vertex_order || !w.link_first || !w.link_order || !w.is_back) {
        fr__arena_free(a);
        return fr__fail_nomem(err);
    }
    sort(&w);
    fputs("name: ", f);
    fr__json_write_string(f, t->name);
    putc('\n', f);
    for (size_t i = 0; i < t->n_notes; i++)
        fprintf(f, "# assumed: %s\n", t->notes[i]);
    if (t->has_relays)
        fputs("relays: yes\n", f);
    if (t->has_hash)
        fputs("routing: hash\n", f);
    write_types(f, t);
    status = write_machines(f, &w, err);
    if (status == FR_OK)
        write_fabric(f, &w);
    fr__arena_free(a);
    return status;
}

/* A text that no reader of ours would take is not written. Short ones hold too few values to be
 * looked at. */
static enum fr_status check_text(const struct fr_topo *t, const char *text, size_t len,
                                 struct fr_error *err)
{
    enum { SURELY_FINE_BYTES = 1 << 20 };
    const struct fr__yaml *root;
    struct fr__arena *a = len > SURELY_FINE_BYTES ? fr__arena_new() : NULL;
    struct fr_error why;
    enum fr_status st = FR_OK;

    if (len <= SURELY_FINE_BYTES)
        return FR_OK;
    if (!a)
        return fr__fail_nomem(err);
    if (fr__yaml_load_text(a, text, len, "it", &root, &why) != FR_OK)
        st = why.code == FR_ENOMEM
                 ? fr__fail_nomem(err)
                 : fr__fail(
                       err, FR_ERANGE, FR_NOWHERE,
                       "%zu vertices and %zu links are too many for a topology file, which "
                       "has at most 16 MiB and a million values; \"%.60s\" names them in a line",
                       t->n_vertices, t->n_links, t->name);
    fr__arena_free(a);
    return st;
}

enum fr_status fr_topo_write_yaml(FILE *f, const struct fr_topo *t, struct fr_error *err)
{
    char *text = NULL;
    size_t len;
    FILE *whole = fr__text_open(&text, &len);
    enum fr_status st = whole ? write_all(whole, t, err) : fr__fail_nomem(err);

    if (whole && !fr__text_close(whole, &text) && st == FR_OK)
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        st = check_text(t, text, len, err);
    if (st == FR_OK)
        fwrite(text, 1, len, f);
    free(text);
    return st;
}
