/* topo/builder/builder.c - collects device types, vertices and links, and checks each as it is
 * added. layout.c makes a topology of them.
 *
 * The first fault is kept, and later calls do nothing. So a caller may build without looking at
 * each result, and reads the message once, from fr_topo_builder_finish.
 */
#include "config.h"

#include "topo/builder/builder.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* far above any machine, and far below what overflows in a sum */
static const double MAX_BW_Bps = 1e18, MAX_LATENCY_s = 1e3;
#define MAX_MEMORY_BYTES (UINT64_C(1) << 53) /* a double holds it exactly */

/* ---- faults ---- */

static uint32_t fail(struct fr_topo_builder *b, enum fr_status code, struct fr_loc loc,
                     const char *fmt, ...) FR_PRINTF(4, 5);

static uint32_t fail(struct fr_topo_builder *b, enum fr_status code, struct fr_loc loc,
                     const char *fmt, ...)
{
    char text[sizeof(b->fault_error.text)];
    va_list ap;

    if (b->fault != FR_OK)
        return FR_NONE;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    b->fault = fr__fail(&b->fault_error, code, loc, "%s", text);
    return FR_NONE;
}

static uint32_t fail_nomem(struct fr_topo_builder *b)
{
    if (b->fault == FR_OK)
        b->fault = fr__fail_nomem(&b->fault_error);
    return FR_NONE;
}

/* ---- finding ---- */

static uint64_t hash_ends(uint32_t src, uint32_t dst)
{
    return fr__hash_id((uint64_t)src << 32 | dst);
}

static uint32_t find_link(const struct fr_topo_builder *b, uint32_t src, uint32_t dst)
{
    uint64_t hash = hash_ends(src, dst);
    size_t at;
    uint32_t l = fr__hash_first(&b->by_ends, hash, &at);

    while (l != FR_NONE && !(b->links[l].src == src && b->links[l].dst == dst))
        l = fr__hash_next(&b->by_ends, hash, &at);
    return l;
}

uint32_t fr__topo_builder_find(const struct fr_topo_builder *b, const char *name)
{
    uint64_t hash = fr__hash_string(name);
    size_t at;
    uint32_t v = fr__hash_first(&b->by_name, hash, &at);

    while (v != FR_NONE && strcmp(b->vertices[v].name, name) != 0)
        v = fr__hash_next(&b->by_name, hash, &at);
    return v;
}

/* Most links share the first few sources, which are compared faster than hashed. */
static uint32_t find_source(const struct fr_topo_builder *b, const char *text)
{
    for (uint32_t id = 0; id < b->sources.n && id < 8; id++)
        if (strcmp(b->sources.keys[id], text) == 0)
            return id;
    return fr__strings_find(&b->sources, text);
}

/* Stores a source text once and returns that copy. NULL: out of memory. */
static const char *keep_source(struct fr_topo_builder *b, const char *text)
{
    uint32_t id = find_source(b, text ? text : "");
    const char *copy;
    bool is_new;

    if (id == FR_NONE) {
        copy = fr__arena_strdup(b->arena, text ? text : "");
        id = copy ? fr__strings_add(&b->sources, copy, &is_new) : FR_NONE;
    }
    return id == FR_NONE ? NULL : b->sources.keys[id];
}

/* ---- life ---- */

struct fr_topo_builder *fr_topo_builder_new(void)
{
    struct fr_topo_builder *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->network_system = FR_NONE;
    b->arena = fr__arena_new();
    if (!b->arena) {
        free(b);
        return NULL;
    }
    return b;
}

void fr_topo_builder_free(struct fr_topo_builder *b)
{
    if (!b)
        return;
    fr__arena_free(b->arena);
    free(b->types);
    free(b->vertices);
    free(b->vertex_types);
    free(b->links);
    free(b->systems);
    free(b->messages);
    free(b->system_of);
    free(b->notes);
    free(b->parts);
    fr__strings_fini(&b->sources);
    fr__hash_fini(&b->by_name);
    fr__hash_fini(&b->by_ends);
    free(b);
}

size_t fr__topo_builder_n_vertices(const struct fr_topo_builder *b)
{
    return b->n_vertices;
}

bool fr__topo_builder_has_fault(const struct fr_topo_builder *b)
{
    return b->fault != FR_OK;
}

const struct fr_vertex *fr__topo_builder_get(const struct fr_topo_builder *b, uint32_t vertex)
{
    return &b->vertices[vertex];
}

/* ---- adding ---- */

static bool is_rate(double x)
{
    return isfinite(x) && x >= 0;
}

static bool is_same_type(const struct fr_device_type *a, const struct fr_device_type *b)
{
    for (int i = 0; i < FR_N_DTYPES; i++)
        if (a->flops_per_s[i] < b->flops_per_s[i] || a->flops_per_s[i] > b->flops_per_s[i])
            return false;
    return a->is_gpu == b->is_gpu && a->units == b->units && a->mem_bytes == b->mem_bytes &&
           a->n_sms == b->n_sms && a->context_bytes == b->context_bytes &&
           !(a->mem_Bps < b->mem_Bps) && !(a->mem_Bps > b->mem_Bps) &&
           !(a->vector_flops_per_s < b->vector_flops_per_s) &&
           !(a->vector_flops_per_s > b->vector_flops_per_s) && !(a->launch_s < b->launch_s) &&
           !(a->launch_s > b->launch_s) && !(a->board_W < b->board_W) && !(a->board_W > b->board_W);
}

/* There are few types, so a linear search is enough. */
static uint32_t find_type(const struct fr_topo_builder *b, const char *name)
{
    for (size_t i = 0; i < b->n_types; i++)
        if (strcmp(b->types[i].name, name) == 0)
            return (uint32_t)i;
    return FR_NONE;
}

uint32_t fr_topo_builder_type(struct fr_topo_builder *b, const struct fr_device_type *type)
{
    struct fr_device_type copy = *type;
    uint32_t known;
    bool is_sound = is_rate(type->mem_Bps) && is_rate(type->vector_flops_per_s) &&
                    is_rate(type->launch_s) && is_rate(type->board_W);

    if (b->fault != FR_OK)
        return FR_NONE;
    if (!type->name || !type->name[0])
        return fail(b, FR_ERANGE, FR_NOWHERE, "a device type has no name");
    for (int i = 0; i < FR_N_DTYPES; i++)
        is_sound = is_sound && is_rate(type->flops_per_s[i]);
    if (!is_sound)
        return fail(b, FR_ERANGE, FR_NOWHERE,
                    "device type '%s' has a rate or time that is negative or not finite",
                    type->name);
    if (type->mem_bytes > MAX_MEMORY_BYTES || type->context_bytes > MAX_MEMORY_BYTES)
        return fail(b, FR_ERANGE, FR_NOWHERE,
                    "device type '%s' has a memory or a context of more than 8 PiB", type->name);
    known = find_type(b, type->name);
    if (known != FR_NONE && is_same_type(&b->types[known], type))
        return known;
    if (known != FR_NONE)
        return fail(b, FR_ERANGE, FR_NOWHERE, "two different device types are named '%s'",
                    type->name);
    if (b->n_types >= FR__MAX_TYPES)
        return fail(b, FR_ERANGE, FR_NOWHERE, "more than %d device types", FR__MAX_TYPES);
    copy.name = fr__arena_strdup(b->arena, type->name);
    copy.source = fr__arena_strdup(b->arena, type->source ? type->source : "");
    if (!copy.name || !copy.source ||
        !fr__grow(&b->types, &b->cap_types, b->n_types + 1, sizeof(*b->types)))
        return fail_nomem(b);
    b->types[b->n_types] = copy;
    return (uint32_t)b->n_types++;
}

/* Names go into link names ("a>b"), tables and files: letters, digits and . _ - : only. */
static bool is_vertex_name(const char *s)
{
    size_t n = strlen(s);

    if (n == 0 || n > FR__MAX_VERTEX_NAME)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
              (s[i] >= '0' && s[i] <= '9') || strchr("._-:", s[i])))
            return false;
    return true;
}

/* Refuses a vertex that makes no sense; false: a fault was kept. */
static bool check_vertex(struct fr_topo_builder *b, enum fr_vertex_kind kind, const char *name,
                         uint32_t machine, uint32_t type, struct fr_loc loc)
{
    bool is_device = kind == FR_VERTEX_GPU || kind == FR_VERTEX_CPU;

    if (!name || !is_vertex_name(name))
        fail(b, FR_ERANGE, loc,
             "'%s' is no name for a vertex: 1 to %d letters, digits or . _ - : expected",
             name ? name : "", FR__MAX_VERTEX_NAME);
    else if (fr__topo_builder_find(b, name) != FR_NONE)
        fail(b, FR_ERANGE, loc, "two vertices are named '%s'", name);
    else if ((unsigned)kind >= FR_N_VERTEX_KINDS)
        fail(b, FR_ERANGE, loc, "vertex '%s' is of no known kind", name);
    else if (machine != FR_NONE && machine >= FR__MAX_MACHINES)
        fail(b, FR_ERANGE, loc, "vertex '%s' is on machine %u, more than %d machines", name,
             (unsigned)machine, FR__MAX_MACHINES);
    else if (is_device && machine == FR_NONE)
        fail(b, FR_ERANGE, loc, "device '%s' belongs to no machine", name);
    else if (is_device && type >= b->n_types)
        fail(b, FR_ERANGE, loc, "device '%s' has no type", name);
    else if (is_device && b->types[type].is_gpu != (kind == FR_VERTEX_GPU))
        fail(b, FR_ERANGE, loc, "device '%s' is a %s, but its type '%s' is not", name,
             kind == FR_VERTEX_GPU ? "GPU" : "CPU", b->types[type].name);
    else if (kind == FR_VERTEX_GPU && b->n_gpus >= FR__MAX_GPUS)
        fail(b, FR_ERANGE, loc, "more than %d GPUs", FR__MAX_GPUS);
    else if (b->n_vertices >= FR__MAX_VERTICES)
        fail(b, FR_ERANGE, loc, "more than %d vertices", FR__MAX_VERTICES);
    return b->fault == FR_OK;
}

uint32_t fr_topo_builder_vertex(struct fr_topo_builder *b, enum fr_vertex_kind kind,
                                const char *name, uint32_t machine, uint32_t type,
                                struct fr_loc loc)
{
    struct fr_vertex v = {NULL, kind, machine, FR_NONE, NULL};
    bool is_device = kind == FR_VERTEX_GPU || kind == FR_VERTEX_CPU;

    if (b->fault != FR_OK || !check_vertex(b, kind, name, machine, type, loc))
        return FR_NONE;
    v.name = fr__arena_strdup(b->arena, name);
    if (!v.name ||
        !fr__grow(&b->vertices, &b->cap_vertices, b->n_vertices + 1, sizeof(*b->vertices)) ||
        !fr__grow(&b->vertex_types, &b->cap_vertex_types, b->n_vertices + 1,
                  sizeof(*b->vertex_types)) ||
        !fr__hash_add(&b->by_name, fr__hash_string(name), (uint32_t)b->n_vertices))
        return fail_nomem(b);
    b->vertices[b->n_vertices] = v;
    b->vertex_types[b->n_vertices] = is_device ? type : FR_NONE;
    b->n_devices += is_device;
    b->n_gpus += kind == FR_VERTEX_GPU;
    if (machine != FR_NONE && machine >= b->n_machines)
        b->n_machines = (size_t)machine + 1;
    return (uint32_t)b->n_vertices++;
}

static bool check_link(struct fr_topo_builder *b, const struct fr_link *l, struct fr_loc loc)
{
    const char *src, *dst;

    if (l->src >= b->n_vertices || l->dst >= b->n_vertices) {
        fail(b, FR_ERANGE, loc, "a link leads to a vertex that does not exist");
        return false;
    }
    src = b->vertices[l->src].name;
    dst = b->vertices[l->dst].name;
    if (l->src == l->dst)
        fail(b, FR_ERANGE, loc, "a link leads from '%s' to itself", src);
    else if ((unsigned)l->kind >= FR_N_LINK_KINDS)
        fail(b, FR_ERANGE, loc, "link '%s>%s' is of no known kind", src, dst);
    else if (!(l->bw_Bps > 0 && l->bw_Bps <= MAX_BW_Bps))
        fail(b, FR_ERANGE, loc, "link '%s>%s': the bandwidth must be above 0 and at most 1e18 B/s",
             src, dst);
    else if (!(l->latency_s >= 0 && l->latency_s <= MAX_LATENCY_s))
        fail(b, FR_ERANGE, loc, "link '%s>%s': the latency must be from 0 to 1000 s", src, dst);
    else if (find_link(b, l->src, l->dst) != FR_NONE)
        fail(b, FR_ERANGE, loc,
             "two links lead from '%s' to '%s': write parallel cables as one link with their sum",
             src, dst);
    else if (b->n_links >= FR__MAX_LINKS)
        fail(b, FR_ERANGE, loc, "more than %d links", FR__MAX_LINKS);
    return b->fault == FR_OK;
}

static uint32_t add_link(struct fr_topo_builder *b, struct fr_link l, struct fr_loc loc)
{
    if (!check_link(b, &l, loc))
        return FR_NONE;
    if (!fr__grow(&b->links, &b->cap_links, b->n_links + 1, sizeof(*b->links)) ||
        !fr__hash_add(&b->by_ends, hash_ends(l.src, l.dst), (uint32_t)b->n_links))
        return fail_nomem(b);
    b->links[b->n_links] = l;
    return (uint32_t)b->n_links++;
}

uint32_t fr_topo_builder_link(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t src,
                              uint32_t dst, double bw_Bps, double latency_s, bool duplex,
                              const char *source, struct fr_loc loc)
{
    struct fr_link l = {kind, src, dst, FR_NONE, bw_Bps, latency_s, NULL};
    uint32_t first;

    if (b->fault != FR_OK)
        return FR_NONE;
    l.source = keep_source(b, source);
    if (!l.source)
        return fail_nomem(b);
    first = add_link(b, l, loc);
    if (first == FR_NONE || !duplex)
        return first;
    l.src = dst;
    l.dst = src;
    return add_link(b, l, loc) == FR_NONE ? FR_NONE : first;
}

uint32_t fr__topo_builder_add(struct fr_topo_builder *b, enum fr_vertex_kind kind, uint32_t machine,
                              const char *name, unsigned number, const char *type)
{
    char full[FR__MAX_VERTEX_NAME + 1];
    uint32_t t = FR_NONE;

    if (type) {
        const struct fr_device_type *known = fr_device_type_find(type);

        assert(known); /* presets use built-in types only */
        t = fr_topo_builder_type(b, known);
    }
    snprintf(full, sizeof(full), "n%u.%s%u", (unsigned)machine, name, number);
    return fr_topo_builder_vertex(b, kind, full, machine, t, FR_NOWHERE);
}

void fr__topo_builder_cable(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t one,
                            uint32_t other, double bw_Bps, double latency_s, const char *source)
{
    fr_topo_builder_link(b, kind, one, other, bw_Bps, latency_s, true, source, FR_NOWHERE);
}

/* ---- systems ---- */

/* There are few systems, so a linear search is enough. FR_NONE: a fault was kept. */
static uint32_t keep_system(struct fr_topo_builder *b, const char *name, struct fr_loc loc)
{
    struct fr_topo_system s = {.loc = loc};

    for (size_t i = 0; i < b->n_systems; i++)
        if (strcmp(b->systems[i].name, name) == 0)
            return (uint32_t)i;
    if (b->n_systems >= FR__MAX_TYPES)
        return fail(b, FR_ERANGE, loc, "more than %d systems of collectives", FR__MAX_TYPES);
    s.name = fr__arena_strdup(b->arena, name);
    s.loc.file = loc.file ? fr__arena_strdup(b->arena, loc.file) : NULL;
    if (!s.name || (loc.file && !s.loc.file) ||
        !fr__grow(&b->systems, &b->cap_systems, b->n_systems + 1, sizeof(*b->systems)))
        return fail_nomem(b);
    b->systems[b->n_systems] = s;
    return (uint32_t)b->n_systems++;
}

void fr_topo_builder_system(struct fr_topo_builder *b, uint32_t machine, const char *name,
                            struct fr_loc loc)
{
    uint32_t system;

    if (b->fault != FR_OK)
        return;
    if (machine >= FR__MAX_MACHINES || !name[0]) {
        fail(b, FR_ERANGE, loc, "a system of collectives %s",
             name[0] ? "is on a machine that does not exist" : "has no name");
        return;
    }
    system = keep_system(b, name, loc);
    if (system == FR_NONE)
        return;
    if (!fr__grow(&b->system_of, &b->cap_system_of, (size_t)machine + 1, sizeof(*b->system_of))) {
        fail_nomem(b);
        return;
    }
    while (b->n_system_of <= machine)
        b->system_of[b->n_system_of++] = FR_NONE;
    b->system_of[machine] = system;
}

void fr__topo_builder_network(struct fr_topo_builder *b, uint32_t vertex, const char *text)
{
    if (b->fault != FR_OK || vertex >= b->n_vertices)
        return;
    b->vertices[vertex].network = fr__arena_strdup(b->arena, text);
    if (!b->vertices[vertex].network)
        fail_nomem(b);
}

void fr_topo_builder_relays(struct fr_topo_builder *b)
{
    b->has_relays = true;
}

void fr_topo_builder_hash(struct fr_topo_builder *b)
{
    b->has_hash = true;
}

void fr__topo_builder_plain(struct fr_topo_builder *b)
{
    b->is_plain = true;
}

void fr__topo_builder_part(struct fr_topo_builder *b, const char *name, uint32_t first, uint32_t n,
                           uint32_t n_copies)
{
    struct fr_topo_part part = {fr__arena_strdup(b->arena, name), first, n, n_copies};

    if (part.name && fr__grow(&b->parts, &b->cap_parts, b->n_parts + 1, sizeof(*b->parts)))
        b->parts[b->n_parts++] = part;
    else
        fail_nomem(b);
}

void fr__topo_builder_note(struct fr_topo_builder *b, const char *text)
{
    const char *copy;

    for (size_t i = 0; i < b->n_notes; i++)
        if (strcmp(b->notes[i], text) == 0)
            return;
    if (b->n_notes == FR__MAX_NOTES || b->fault != FR_OK)
        return;
    copy = fr__arena_strdup(b->arena, text);
    if (copy && fr__grow(&b->notes, &b->cap_notes, b->n_notes + 1, sizeof(*b->notes)))
        b->notes[b->n_notes++] = copy;
    else
        fail_nomem(b);
}

void fr_topo_builder_network_system(struct fr_topo_builder *b, const char *name, const char *why,
                                    struct fr_loc loc)
{
    if (b->fault != FR_OK)
        return;
    if (!name[0]) {
        fail(b, FR_ERANGE, loc, "a system of collectives has no name");
    } else if (why) {
        b->network_system_why = fr__arena_strdup(b->arena, why);
        if (!b->network_system_why)
            fail_nomem(b);
    } else {
        b->network_system = keep_system(b, name, loc);
    }
}

/* ---- messages ---- */

/* FR_NONE: a fault was kept. */
static uint32_t keep_message(struct fr_topo_builder *b, const char *system, const char *name,
                             struct fr_loc loc)
{
    struct fr_topo_message m = {.system = keep_system(b, system, loc)};

    if (m.system == FR_NONE)
        return FR_NONE;
    for (size_t i = 0; i < b->n_messages; i++)
        if (b->messages[i].system == m.system && strcmp(b->messages[i].link, name) == 0)
            return (uint32_t)i;
    if (b->n_messages >= FR__MAX_MESSAGES)
        return fail(b, FR_ERANGE, loc, "more than %d kinds of messages", FR__MAX_MESSAGES);
    m.link = fr__arena_strdup(b->arena, name);
    m.loc = b->systems[m.system].loc;
    m.loc.line = loc.line;
    m.loc.col = loc.col;
    if (!m.link ||
        !fr__grow(&b->messages, &b->cap_messages, b->n_messages + 1, sizeof(*b->messages)))
        return fail_nomem(b);
    b->messages[b->n_messages] = m;
    return (uint32_t)b->n_messages++;
}

void fr_topo_builder_message(struct fr_topo_builder *b, uint32_t link, const char *system,
                             const char *name, struct fr_loc loc)
{
    uint32_t message;

    if (b->fault != FR_OK)
        return;
    if (link >= b->n_links || !system[0] || !name[0]) {
        fail(b, FR_ERANGE, loc, "messages %s",
             link >= b->n_links ? "are of a link that does not exist" : "have no name");
        return;
    }
    message = keep_message(b, system, name, loc);
    if (message != FR_NONE)
        b->links[link].message = message;
}
