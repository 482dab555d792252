/* topo/import/sketch.c - collects the rows of an imported topology. */
#include "config.h"

#include "topo/import/sketch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fr__sketch_init(struct fr__sketch *s, struct fr__arena *a, const char *path,
                     struct fr_error *err)
{
    memset(s, 0, sizeof(*s));
    s->arena = a;
    s->err = err;
    s->path = fr__arena_strdup(a, path);
    s->fault = s->path ? FR_OK : fr__fail_nomem(err);
}

void fr__sketch_fini(struct fr__sketch *s)
{
    free(s->makes);
    free(s->vertices);
    free(s->links);
    free(s->switches);
    free(s->cables);
    fr__hash_fini(&s->pairs);
}

static void fail_nomem(struct fr__sketch *s)
{
    if (s->fault == FR_OK)
        s->fault = fr__fail_nomem(s->err);
}

/* Whether one more row fits; else the fault is kept. */
static bool has_room(struct fr__sketch *s, void *array, size_t *cap, size_t n, size_t size,
                     size_t max, const char *what, struct fr_loc loc)
{
    if (s->fault != FR_OK)
        return false;
    if (n == max) {
        s->fault = fr__fail(s->err, FR_ERANGE, loc, "more than %zu %s", max, what);
        return false;
    }
    if (fr__grow(array, cap, n + 1, size))
        return true;
    fail_nomem(s);
    return false;
}

/* The rows of the make drawn so far move to the arena. */
static void close_make(struct fr__sketch *s)
{
    struct fr__make *m;

    if (s->n_makes == 0 || s->fault != FR_OK)
        return;
    m = &s->makes[s->n_makes - 1];
    m->vertices = fr__arena_alloc(s->arena, s->n_vertices, sizeof(*m->vertices));
    m->links = fr__arena_alloc(s->arena, s->n_links, sizeof(*m->links));
    if (!m->vertices || !m->links) {
        fail_nomem(s);
        return;
    }
    if (s->n_vertices)
        memcpy(m->vertices, s->vertices, s->n_vertices * sizeof(*m->vertices));
    if (s->n_links)
        memcpy(m->links, s->links, s->n_links * sizeof(*m->links));
    m->n_vertices = s->n_vertices;
    m->n_links = s->n_links;
    s->n_vertices = s->n_links = 0;
    fr__hash_fini(&s->pairs);
}

void fr__sketch_machine(struct fr__sketch *s, uint32_t count, struct fr_loc loc)
{
    close_make(s);
    if (!has_room(s, &s->makes, &s->cap_makes, s->n_makes, sizeof(*s->makes),
                  FR__MAX_IMPORT_MACHINES, "machines", loc))
        return;
    if (count > FR__MAX_MACHINES - s->n_machines) {
        s->fault = fr__fail(s->err, FR_ERANGE, loc, "more than %d machines", (int)FR__MAX_MACHINES);
        return;
    }
    s->n_machines += count;
    s->makes[s->n_makes++] = (struct fr__make){.count = count};
}

uint32_t fr__sketch_vertex(struct fr__sketch *s, enum fr_vertex_kind kind, const char *name,
                           uint32_t number, const struct fr_device_type *type, struct fr_loc loc)
{
    char text[2 * FR__MAX_VERTEX_NAME];
    const char *copy;

    if (!has_room(s, &s->vertices, &s->cap_vertices, s->n_vertices, sizeof(*s->vertices),
                  FR__MAX_VERTICES, "vertices", loc))
        return 0;
    if (number == FR_NONE)
        snprintf(text, sizeof(text), "%s", name);
    else
        snprintf(text, sizeof(text), "%s%u", name, (unsigned)number);
    copy = fr__arena_strdup(s->arena, text);
    if (!copy) {
        fail_nomem(s);
        return 0;
    }
    s->vertices[s->n_vertices] =
        (struct fr__vertex_row){.kind = kind, .name = copy, .type = type, .loc = loc};
    return (uint32_t)s->n_vertices++;
}

/* Of a pair in either direction. */
static uint64_t hash_of(const struct fr__link_row *row)
{
    uint32_t low = row->src < row->dst ? row->src : row->dst;
    uint32_t high = row->src < row->dst ? row->dst : row->src;

    return fr__hash_id((uint64_t)high << 32 | low);
}

/* The first link of the make that goes where this one does, or NULL. */
static struct fr__link_row *find_link(const struct fr__sketch *s, const struct fr__link_row *row)
{
    uint64_t hash = hash_of(row);
    uint32_t found = FR_NONE;
    size_t at = 0;

    for (uint32_t i = fr__hash_first(&s->pairs, hash, &at); i != FR_NONE;
         i = fr__hash_next(&s->pairs, hash, &at)) {
        const struct fr__link_row *old = &s->links[i];

        if (i < found && ((old->src == row->src && old->dst == row->dst) ||
                          (old->is_duplex && old->src == row->dst && old->dst == row->src)))
            found = i;
    }
    return found == FR_NONE ? NULL : &s->links[found];
}

static void put_link(struct fr__sketch *s, const struct fr__link_row *row)
{
    if (!has_room(s, &s->links, &s->cap_links, s->n_links, sizeof(*s->links), FR__MAX_LINKS,
                  "links", row->loc))
        return;
    if (!fr__hash_add(&s->pairs, hash_of(row), (uint32_t)s->n_links)) {
        fail_nomem(s);
        return;
    }
    s->links[s->n_links++] = *row;
}

static void add_link(struct fr__sketch *s, const struct fr__link_row *row)
{
    struct fr__link_row *old = find_link(s, row);

    if (!old)
        put_link(s, row);
    else if (row->bw_Bps > old->bw_Bps)
        *old = *row;
}

void fr__sketch_link(struct fr__sketch *s, enum fr_link_kind kind, uint32_t src, uint32_t dst,
                     double bw_Bps, double latency_s, bool is_duplex, const char *source,
                     struct fr_loc loc)
{
    add_link(s, &(struct fr__link_row){.kind = kind,
                                       .src = src,
                                       .dst = dst,
                                       .bw_Bps = bw_Bps,
                                       .latency_s = latency_s,
                                       .is_duplex = is_duplex,
                                       .source = source,
                                       .loc = loc});
}

void fr__sketch_wire(struct fr__sketch *s, enum fr_link_kind kind, uint32_t src, uint32_t dst,
                     double bw_Bps, double latency_s, const char *source, struct fr_loc loc)
{
    put_link(s, &(struct fr__link_row){.kind = kind,
                                       .src = src,
                                       .dst = dst,
                                       .bw_Bps = bw_Bps,
                                       .latency_s = latency_s,
                                       .is_duplex = true,
                                       .source = source,
                                       .loc = loc});
}

void fr__sketch_message(struct fr__sketch *s, const char *system, const char *message)
{
    if (s->fault != FR_OK || s->n_links == 0)
        return;
    s->links[s->n_links - 1].system = system;
    s->links[s->n_links - 1].message = message;
}

void fr__sketch_system(struct fr__sketch *s, const char *system)
{
    if (s->fault == FR_OK && s->n_makes > 0)
        s->makes[s->n_makes - 1].system = system;
}

void fr__sketch_network_system(struct fr__sketch *s, const char *system, const char *network)
{
    s->network_system = system;
    s->measured_on = network;
}

void fr__sketch_network(struct fr__sketch *s, uint32_t nic, const char *network)
{
    if (s->fault == FR_OK && nic < s->n_vertices)
        s->vertices[nic].network = network;
}

void fr__sketch_host(struct fr__sketch *s, const struct fr__host *host, size_t n,
                     const uint32_t numbers[], uint32_t sockets[], struct fr_loc loc)
{
    const struct fr_device_type *type = fr_device_type_find(host->cpu);
    uint32_t cpu = fr__sketch_vertex(s, FR_VERTEX_CPU, "cpu", 0, type, loc);
    double share = n > 2 ? 2.0 / (double)n : 1;

    for (size_t i = 0; i < n; i++) {
        sockets[i] = fr__sketch_vertex(s, FR_VERTEX_PCIE, "socket", numbers[i], NULL, loc);
        fr__sketch_link(s, FR_LINK_CPU, cpu, sockets[i], host->memory.bw_Bps * share,
                        host->memory.latency_s, true, host->memory.source, loc);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            fr__sketch_link(s, FR_LINK_CPU, sockets[i], sockets[j], host->to_socket.bw_Bps,
                            host->to_socket.latency_s, true, host->to_socket.source, loc);
}

void fr__sketch_switch(struct fr__sketch *s, const char *name, struct fr_loc loc)
{
    const char *copy;

    if (!has_room(s, &s->switches, &s->cap_switches, s->n_switches, sizeof(*s->switches),
                  FR__MAX_VERTICES, "switches", loc))
        return;
    copy = fr__arena_strdup(s->arena, name);
    if (!copy)
        fail_nomem(s);
    else
        s->switches[s->n_switches++] =
            (struct fr__vertex_row){.kind = FR_VERTEX_SWITCH, .name = copy, .loc = loc};
}

void fr__sketch_cable(struct fr__sketch *s, enum fr_link_kind kind, const char *from,
                      const char *to, double bw_Bps, double latency_s, bool is_duplex,
                      const char *source, struct fr_loc loc)
{
    const char *one, *other;

    if (!has_room(s, &s->cables, &s->cap_cables, s->n_cables, sizeof(*s->cables), FR__MAX_LINKS,
                  "links", loc))
        return;
    one = fr__arena_strdup(s->arena, from);
    other = fr__arena_strdup(s->arena, to);
    if (!one || !other)
        fail_nomem(s);
    else
        s->cables[s->n_cables++] = (struct fr__link_row){.kind = kind,
                                                         .from = one,
                                                         .to = other,
                                                         .bw_Bps = bw_Bps,
                                                         .latency_s = latency_s,
                                                         .is_duplex = is_duplex,
                                                         .source = source,
                                                         .loc = loc};
}

void fr__sketch_note(struct fr__sketch *s, const char *fmt, ...)
{
    char text[512];
    va_list args;
    const char *copy;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    for (size_t i = 0; i < s->n_notes; i++)
        if (strcmp(s->notes[i], text) == 0)
            return;
    if (s->n_notes == FR__MAX_IMPORT_NOTES || s->fault != FR_OK)
        return;
    copy = fr__arena_strdup(s->arena, text);
    if (copy)
        s->notes[s->n_notes++] = copy;
    else
        fail_nomem(s);
}

/* A copy in the arena; NULL: out of memory. */
static void *settle(struct fr__sketch *s, const void *from, size_t n, size_t size)
{
    void *to = fr__arena_alloc(s->arena, n, size);

    if (to && n)
        memcpy(to, from, n * size);
    return to;
}

/* What all NICs of the file speak, or NULL: none, or not all the same. */
static const char *common_network(const struct fr__sketch *s)
{
    const char *network = NULL;

    for (size_t i = 0; i < s->n_makes; i++)
        for (size_t v = 0; v < s->makes[i].n_vertices; v++) {
            const struct fr__vertex_row *row = &s->makes[i].vertices[v];

            if (row->kind != FR_VERTEX_NIC)
                continue;
            if (!row->network || (network && strcmp(network, row->network) != 0))
                return NULL;
            network = row->network;
        }
    return network;
}

enum fr_status fr__sketch_finish(struct fr__sketch *s, struct fr__topo_file **out)
{
    struct fr__topo_file *f = fr__arena_alloc(s->arena, 1, sizeof(*f));

    close_make(s);
    if (s->fault != FR_OK)
        return s->fault;
    if (!f)
        return fr__fail_nomem(s->err);
    f->arena = s->arena;
    f->path = s->path;
    f->name = "";
    f->source = s->path;
    f->makes = settle(s, s->makes, s->n_makes, sizeof(*s->makes));
    f->switches = settle(s, s->switches, s->n_switches, sizeof(*s->switches));
    f->links = settle(s, s->cables, s->n_cables, sizeof(*s->cables));
    f->notes = settle(s, s->notes, s->n_notes, sizeof(s->notes[0]));
    f->network = common_network(s);
    if (f->network && s->network_system && strcmp(f->network, s->measured_on) == 0)
        f->system = s->network_system;
    f->n_makes = s->n_makes;
    f->n_switches = s->n_switches;
    f->n_links = s->n_cables;
    f->n_notes = s->n_notes;
    if (!f->makes || !f->switches || !f->links || !f->notes)
        return fr__fail_nomem(s->err);
    *out = f;
    return FR_OK;
}
