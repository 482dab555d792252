/* topo/yaml.c - reads a cluster from a YAML file (doc/topology.md has the format).
 *
 * The file becomes plain arrays first: a list of machine makes, each with its vertices and links by
 * local number, and the fabric between machines by global names. Placing a machine is then a loop,
 * so that a composition of a thousand copies parses nothing twice.
 */
#include "config.h"

#include "base/units.h"
#include "base/yaml.h"
#include "topo/internal.h"

#include <stdio.h>
#include <string.h>

struct vertex_row {
    enum fr_vertex_kind kind;
    const char *name;
    const struct fr_device_type *type; /* NULL for switches and NICs */
    struct fr_loc loc;
};

struct link_row {
    enum fr_link_kind kind;
    const char *from, *to; /* global names, for the fabric */
    uint32_t src, dst;     /* rows of the make, inside a machine */
    double bw_Bps, latency_s;
    bool is_duplex;
    const char *source;
    const char *system, *message; /* what messages over it behave like; NULL: none */
    struct fr_loc loc, message_loc;
};

struct make {
    uint32_t count;
    const char *system; /* NULL: none */
    struct fr_loc system_loc;
    size_t n_vertices, n_links;
    struct vertex_row *vertices;
    struct link_row *links;
};

struct fr__topo_file {
    struct fr__arena *arena;
    const char *path, *name, *network, *source;
    const char *system; /* over several machines; NULL: none */
    struct fr_loc system_loc;
    struct fr_device_type *types;
    struct make *makes;
    struct vertex_row *switches;
    struct link_row *links;
    size_t n_types, n_makes, n_switches, n_links;
};

static const char *const vertex_kinds[FR_N_VERTEX_KINDS + 1] = {
    [FR_VERTEX_GPU] = "gpu",   [FR_VERTEX_CPU] = "cpu", [FR_VERTEX_NVSWITCH] = "nvswitch",
    [FR_VERTEX_PCIE] = "pcie", [FR_VERTEX_NIC] = "nic", [FR_VERTEX_SWITCH] = "switch",
};

static const char *const link_kinds[FR_N_LINK_KINDS + 1] = {
    [FR_LINK_NVLINK] = "nvlink",
    [FR_LINK_PCIE] = "pcie",
    [FR_LINK_CPU] = "cpu",
    [FR_LINK_NET] = "net",
};

/* ---- small readers ---- */

/* The value of a key that must be one of a list of words; its number. */
static enum fr_status read_word(const struct fr__yaml *map, const char *key, const char *fallback,
                                const char *const words[], size_t n, unsigned *out,
                                struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    char hint[128];

    FR_TRY(fr__yaml_text(map, key, fallback, &text, &loc, err));
    for (unsigned i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return FR_OK;
        }
    return fr__fail(err, FR_EPARSE, loc, "'%s' is '%s', which is none we know%s", key, text,
                    fr__did_you_mean(text, words, n, hint, sizeof(hint)));
}

/* A list under a key, or NULL where it may be missing; each item must be a map with known keys. */
static enum fr_status read_list(const struct fr__yaml *map, const char *key,
                                const char *const known[], const struct fr__yaml **out,
                                struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(map, key);

    *out = list;
    if (!list)
        return FR_OK;
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, key, err));
    for (size_t i = 0; i < list->n; i++) {
        FR_TRY(fr__yaml_expect(list->items[i], FR__YAML_MAP, "each item", err));
        FR_TRY(fr__yaml_only(list->items[i], known, err));
    }
    return FR_OK;
}

typedef enum fr_status (*parse_fn)(const char *text, const char *what, struct fr_loc loc,
                                   double *out, struct fr_error *err);

/* A quantity with its unit; 0 when it is missing and may be. */
static enum fr_status read_quantity(const struct fr__yaml *map, const char *key, bool is_required,
                                    parse_fn parse, double *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    char what[64];

    *out = 0;
    if (!is_required && !fr__yaml_get(map, key))
        return FR_OK;
    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    snprintf(what, sizeof(what), "'%s'", key);
    return parse(text, what, loc, out, err);
}

static enum fr_status read_bytes(const struct fr__yaml *map, const char *key, const char *fallback,
                                 uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, key, fallback, &text, &loc, err));
    return fr__parse_bytes(text, key, loc, out, err);
}

static enum fr_status read_count(const struct fr__yaml *map, const char *key, const char *fallback,
                                 uint64_t max, uint32_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    uint64_t n;

    FR_TRY(fr__yaml_text(map, key, fallback, &text, &loc, err));
    FR_TRY(fr__parse_count(text, key, loc, 1, max, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

/* ---- device types ---- */

static enum fr_status read_flops(const struct fr__yaml *map, struct fr_device_type *type,
                                 struct fr_error *err)
{
    const struct fr__yaml *flops = fr__yaml_get(map, "flops");
    const char *known[FR_AMP + 1] = {NULL};

    if (!flops)
        return FR_OK;
    FR_TRY(fr__yaml_expect(flops, FR__YAML_MAP, "'flops'", err));
    for (unsigned i = 0; i < FR_AMP; i++)
        known[i] = fr_dtype_name((enum fr_dtype)i);
    FR_TRY(fr__yaml_only(flops, known, err));
    for (unsigned i = 0; i < FR_AMP; i++)
        FR_TRY(read_quantity(flops, known[i], false, fr__parse_flops_rate, &type->flops_per_s[i],
                             err));
    return FR_OK;
}

static enum fr_status read_type(const struct fr__topo_file *f, const struct fr__yaml *map,
                                struct fr_device_type *type, struct fr_error *err)
{
    static const char *const kinds[] = {"gpu", "cpu", NULL};
    struct fr_loc loc;
    unsigned kind, n_sms;

    FR_TRY(fr__yaml_text(map, "name", NULL, &type->name, &loc, err));
    if (!type->name[0])
        return fr__fail(err, FR_EPARSE, loc, "a device type has an empty name");
    if (fr_device_type_find(type->name))
        return fr__fail(err, FR_ERANGE, loc, "'%s' is a built-in device type, choose another name",
                        type->name);
    FR_TRY(read_word(map, "kind", "gpu", kinds, 2, &kind, err));
    type->is_gpu = kind == 0;
    FR_TRY(read_bytes(map, "memory", NULL, &type->mem_bytes, err));
    FR_TRY(read_quantity(map, "memory_bandwidth", true, fr__parse_rate, &type->mem_Bps, err));
    FR_TRY(
        read_quantity(map, "vector", true, fr__parse_flops_rate, &type->vector_flops_per_s, err));
    FR_TRY(read_flops(map, type, err));
    FR_TRY(read_count(map, "sms", NULL, 1 << 20, &n_sms, err));
    type->n_sms = n_sms;
    FR_TRY(read_quantity(map, "launch", false, fr__parse_time, &type->launch_s, err));
    FR_TRY(read_bytes(map, "context", "0B", &type->context_bytes, err));
    return fr__yaml_text(map, "source", f->source, &type->source, &loc, err);
}

static enum fr_status read_types(struct fr__topo_file *f, const struct fr__yaml *root,
                                 struct fr_error *err)
{
    static const char *const known[] = {"name",    "kind",   "memory", "memory_bandwidth",
                                        "vector",  "flops",  "sms",    "launch",
                                        "context", "source", NULL};
    const struct fr__yaml *list;

    FR_TRY(read_list(root, "types", known, &list, err));
    if (!list)
        return FR_OK;
    if (list->n > FR__MAX_TYPES)
        return fr__fail(err, FR_ERANGE, list->loc, "more than %d device types", FR__MAX_TYPES);
    f->types = fr__arena_alloc(f->arena, list->n, sizeof(*f->types));
    if (!f->types)
        return fr__fail_nomem(err);
    for (; f->n_types < list->n; f->n_types++) {
        FR_TRY(read_type(f, list->items[f->n_types], &f->types[f->n_types], err));
        for (size_t i = 0; i < f->n_types; i++)
            if (strcmp(f->types[i].name, f->types[f->n_types].name) == 0)
                return fr__fail(err, FR_ERANGE, list->items[f->n_types]->loc,
                                "two device types are named '%s'", f->types[i].name);
    }
    return FR_OK;
}

/* The file's own types, then the built-in ones. */
static enum fr_status find_type(const struct fr__topo_file *f, const struct fr__yaml *map,
                                const struct fr_device_type **out, struct fr_error *err)
{
    const char *names[64] = {NULL}, *name;
    struct fr_loc loc;
    char hint[128];
    size_t n = 0;

    FR_TRY(fr__yaml_text(map, "type", NULL, &name, &loc, err));
    for (size_t i = 0; i < f->n_types; i++)
        if (strcmp(f->types[i].name, name) == 0) {
            *out = &f->types[i];
            return FR_OK;
        }
    *out = fr_device_type_find(name);
    if (*out)
        return FR_OK;
    for (size_t i = 0; i < f->n_types && n < 32; i++)
        names[n++] = f->types[i].name;
    for (size_t i = 0; fr_device_type_builtin(i) && n < 64; i++)
        names[n++] = fr_device_type_builtin(i)->name;
    return fr__fail(err, FR_ENOENT, loc, "no device type '%s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

/* ---- systems ---- */

/* What has a dot or a slash is a file, which stands beside this one unless its path is absolute. */
static enum fr_status read_system(const struct fr__topo_file *f, const struct fr__yaml *map,
                                  const char *key, const char **system, struct fr_loc *loc,
                                  struct fr_error *err)
{
    const char *slash = strrchr(f->path, '/');
    size_t n_folder = slash ? (size_t)(slash - f->path) + 1 : 0, size;
    char *path;

    if (!fr__yaml_get(map, key))
        return FR_OK;
    FR_TRY(fr__yaml_text(map, key, NULL, system, loc, err));
    if (!(*system)[0])
        return fr__fail(err, FR_EPARSE, *loc, "'%s' names no system", key);
    if ((*system)[0] == '/' || !strpbrk(*system, "./") || n_folder == 0)
        return FR_OK;
    size = n_folder + strlen(*system) + 1;
    path = fr__arena_alloc(f->arena, size, 1);
    if (!path)
        return fr__fail_nomem(err);
    snprintf(path, size, "%.*s%s", (int)n_folder, f->path, *system);
    *system = path;
    return FR_OK;
}

/* ---- vertices and links ---- */

static enum fr_status read_vertex(const struct fr__topo_file *f, const struct fr__yaml *map,
                                  struct vertex_row *v, struct fr_error *err)
{
    unsigned kind;

    FR_TRY(fr__yaml_text(map, "name", NULL, &v->name, &v->loc, err));
    FR_TRY(read_word(map, "kind", NULL, vertex_kinds, FR_N_VERTEX_KINDS, &kind, err));
    v->kind = (enum fr_vertex_kind)kind;
    if (v->kind == FR_VERTEX_GPU || v->kind == FR_VERTEX_CPU)
        return find_type(f, map, &v->type, err);
    if (fr__yaml_get(map, "type"))
        return fr__fail(err, FR_EPARSE, fr__yaml_get(map, "type")->key_loc,
                        "'%s' is no device and has no 'type'", v->name);
    return FR_OK;
}

/* "messages: {system: dgx1-p100, link: NVLink1}" */
static enum fr_status read_messages(const struct fr__topo_file *f, const struct fr__yaml *map,
                                    struct link_row *l, struct fr_error *err)
{
    static const char *const known[] = {"system", "link", NULL};
    const struct fr__yaml *messages = fr__yaml_get(map, "messages");
    struct fr_loc loc;

    if (!messages)
        return FR_OK;
    FR_TRY(fr__yaml_expect(messages, FR__YAML_MAP, "messages", err));
    FR_TRY(fr__yaml_only(messages, known, err));
    if (!fr__yaml_get(messages, "system"))
        return fr__fail(err, FR_EPARSE, messages->loc, "'messages' names no 'system'");
    FR_TRY(read_system(f, messages, "system", &l->system, &loc, err));
    FR_TRY(fr__yaml_text(messages, "link", NULL, &l->message, &l->message_loc, err));
    if (!l->message[0])
        return fr__fail(err, FR_EPARSE, l->message_loc, "'link' names no link of '%.60s'",
                        l->system);
    return FR_OK;
}

static enum fr_status read_link(const struct fr__topo_file *f, const struct fr__yaml *map,
                                struct link_row *l, struct fr_error *err)
{
    static const char *const truths[] = {"false", "true", NULL};
    unsigned kind, is_duplex;
    struct fr_loc loc;

    l->loc = map->loc;
    FR_TRY(fr__yaml_text(map, "from", NULL, &l->from, &loc, err));
    FR_TRY(fr__yaml_text(map, "to", NULL, &l->to, &loc, err));
    FR_TRY(read_word(map, "kind", NULL, link_kinds, FR_N_LINK_KINDS, &kind, err));
    l->kind = (enum fr_link_kind)kind;
    FR_TRY(read_quantity(map, "bandwidth", true, fr__parse_rate, &l->bw_Bps, err));
    FR_TRY(read_quantity(map, "latency", true, fr__parse_time, &l->latency_s, err));
    FR_TRY(read_word(map, "duplex", "true", truths, 2, &is_duplex, err));
    l->is_duplex = is_duplex == 1;
    FR_TRY(read_messages(f, map, l, err));
    return fr__yaml_text(map, "source", f->source, &l->source, &loc, err);
}

static enum fr_status read_links(const struct fr__topo_file *f, const struct fr__yaml *map,
                                 struct link_row **out, size_t *n, struct fr_error *err)
{
    static const char *const known[] = {"from",   "to",     "kind",     "bandwidth", "latency",
                                        "duplex", "source", "messages", NULL};
    const struct fr__yaml *list;

    FR_TRY(read_list(map, "links", known, &list, err));
    if (!list)
        return FR_OK;
    *out = fr__arena_alloc(f->arena, list->n, sizeof(**out));
    if (!*out)
        return fr__fail_nomem(err);
    for (; *n < list->n; ++*n)
        FR_TRY(read_link(f, list->items[*n], &(*out)[*n], err));
    return FR_OK;
}

/* ---- machines ---- */

/* The row of that name. Machines are small: a linear look is enough, see MAX_MAKE_VERTICES. */
static enum fr_status find_row(const struct make *m, const char *name, struct fr_loc loc,
                               uint32_t *out, struct fr_error *err)
{
    for (size_t i = 0; i < m->n_vertices; i++)
        if (strcmp(m->vertices[i].name, name) == 0) {
            *out = (uint32_t)i;
            return FR_OK;
        }
    return fr__fail(err, FR_ENOENT, loc, "this machine has no vertex '%s'", name);
}

enum { MAX_MAKE_VERTICES = 1024, MAX_MAKE_LINKS = 16384 };

static enum fr_status read_make(const struct fr__topo_file *f, const struct fr__yaml *map,
                                struct make *m, struct fr_error *err)
{
    static const char *const known[] = {"name", "kind", "type", NULL};
    const struct fr__yaml *list;

    FR_TRY(read_count(map, "count", "1", FR__MAX_MACHINES, &m->count, err));
    FR_TRY(read_system(f, map, "collectives", &m->system, &m->system_loc, err));
    FR_TRY(read_list(map, "vertices", known, &list, err));
    if (!list || list->n == 0)
        return fr__fail(err, FR_EPARSE, map->loc, "a machine has no 'vertices'");
    if (list->n > MAX_MAKE_VERTICES)
        return fr__fail(err, FR_ERANGE, list->loc, "more than %d vertices in a machine",
                        MAX_MAKE_VERTICES);
    m->vertices = fr__arena_alloc(f->arena, list->n, sizeof(*m->vertices));
    if (!m->vertices)
        return fr__fail_nomem(err);
    for (; m->n_vertices < list->n; m->n_vertices++)
        FR_TRY(read_vertex(f, list->items[m->n_vertices], &m->vertices[m->n_vertices], err));
    FR_TRY(read_links(f, map, &m->links, &m->n_links, err));
    if (m->n_links > MAX_MAKE_LINKS)
        return fr__fail(err, FR_ERANGE, map->loc, "more than %d links in a machine",
                        MAX_MAKE_LINKS);
    for (size_t i = 0; i < m->n_links; i++) {
        struct link_row *l = &m->links[i];

        FR_TRY(find_row(m, l->from, l->loc, &l->src, err));
        FR_TRY(find_row(m, l->to, l->loc, &l->dst, err));
    }
    return FR_OK;
}

static enum fr_status read_machines(struct fr__topo_file *f, const struct fr__yaml *root,
                                    struct fr_error *err)
{
    static const char *const known[] = {"count", "collectives", "vertices", "links", NULL};
    const struct fr__yaml *list;

    FR_TRY(read_list(root, "machines", known, &list, err));
    if (!list || list->n == 0)
        return fr__fail(err, FR_EPARSE, root->loc, "'machines' is missing or empty");
    f->makes = fr__arena_alloc(f->arena, list->n, sizeof(*f->makes));
    if (!f->makes)
        return fr__fail_nomem(err);
    for (; f->n_makes < list->n; f->n_makes++)
        FR_TRY(read_make(f, list->items[f->n_makes], &f->makes[f->n_makes], err));
    return FR_OK;
}

static enum fr_status read_switches(struct fr__topo_file *f, const struct fr__yaml *root,
                                    struct fr_error *err)
{
    static const char *const known[] = {"name", NULL};
    const struct fr__yaml *list;

    FR_TRY(read_list(root, "switches", known, &list, err));
    if (!list)
        return FR_OK;
    f->switches = fr__arena_alloc(f->arena, list->n, sizeof(*f->switches));
    if (!f->switches)
        return fr__fail_nomem(err);
    for (; f->n_switches < list->n; f->n_switches++) {
        struct vertex_row *v = &f->switches[f->n_switches];

        v->kind = FR_VERTEX_SWITCH;
        FR_TRY(fr__yaml_text(list->items[f->n_switches], "name", NULL, &v->name, &v->loc, err));
    }
    return FR_OK;
}

/* ---- the file ---- */

static enum fr_status read_file(struct fr__topo_file *f, const struct fr__yaml *root,
                                struct fr_error *err)
{
    static const char *const known[] = {"name",     "network",  "collectives", "source", "types",
                                        "machines", "switches", "links",       NULL};
    const struct fr__yaml *network;
    struct fr__network unused;
    struct fr_loc loc;

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a topology file", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(fr__yaml_text(root, "name", "", &f->name, &loc, err));
    FR_TRY(fr__yaml_text(root, "source", f->path, &f->source, &loc, err));
    network = fr__yaml_get(root, "network");
    if (network) {
        FR_TRY(fr__yaml_text(root, "network", NULL, &f->network, &loc, err));
        FR_TRY(fr__network_parse(&unused, f->network, loc, err));
    }
    FR_TRY(read_types(f, root, err));
    FR_TRY(read_machines(f, root, err));
    FR_TRY(read_switches(f, root, err));
    FR_TRY(read_links(f, root, &f->links, &f->n_links, err));
    FR_TRY(read_system(f, root, "collectives", &f->system, &f->system_loc, err));
    if (f->system && !f->network && !fr__topo_file_has_fabric(f))
        return fr__fail(err, FR_EPARSE, f->system_loc,
                        "'collectives' of the whole file needs the 'network' that they were "
                        "measured on, or 'links' between the machines");
    return FR_OK;
}

static enum fr_status make_file(struct fr__arena *a, const char *path, const struct fr__yaml *root,
                                struct fr__topo_file **out, struct fr_error *err)
{
    struct fr__topo_file *f = fr__arena_alloc(a, 1, sizeof(*f));

    if (!f)
        return fr__fail_nomem(err);
    f->arena = a;
    f->path = fr__arena_strdup(a, path);
    if (!f->path)
        return fr__fail_nomem(err);
    FR_TRY(read_file(f, root, err));
    *out = f;
    return FR_OK;
}

enum fr_status fr__topo_file_read(struct fr__arena *a, const char *path, struct fr__topo_file **out,
                                  struct fr_error *err)
{
    const struct fr__yaml *root;

    FR_TRY(fr__yaml_load(a, path, &root, err));
    return make_file(a, path, root, out, err);
}

static enum fr_status read_text(struct fr__arena *a, const char *text, size_t len, const char *name,
                                struct fr__topo_file **out, struct fr_error *err)
{
    const struct fr__yaml *root;

    FR_TRY(fr__yaml_load_text(a, text, len, name, &root, err));
    return make_file(a, name, root, out, err);
}

bool fr__topo_file_has_fabric(const struct fr__topo_file *f)
{
    return f->n_switches > 0 || f->n_links > 0;
}

const char *fr__topo_file_network(const struct fr__topo_file *f)
{
    return f->network;
}

const char *fr__topo_file_system(const struct fr__topo_file *f, struct fr_loc *loc)
{
    *loc = f->system_loc;
    return f->system;
}

/* ---- placing ---- */

static void place_link(const struct link_row *l, struct fr_topo_builder *b, uint32_t src,
                       uint32_t dst)
{
    uint32_t link = fr_topo_builder_link(b, l->kind, src, dst, l->bw_Bps, l->latency_s,
                                         l->is_duplex, l->source, l->loc);

    if (link == FR_NONE || !l->message)
        return;
    fr_topo_builder_message(b, link, l->system, l->message, l->message_loc);
    if (l->is_duplex)
        fr_topo_builder_message(b, link + 1, l->system, l->message, l->message_loc);
}

static void place_machine(const struct make *m, struct fr_topo_builder *b, uint32_t machine)
{
    uint32_t first = FR_NONE;

    if (m->system)
        fr_topo_builder_system(b, machine, m->system, m->system_loc);
    for (size_t i = 0; i < m->n_vertices; i++) {
        const struct vertex_row *v = &m->vertices[i];
        uint32_t type = v->type ? fr_topo_builder_type(b, v->type) : FR_NONE;
        char name[2 * FR__MAX_VERTEX_NAME];
        uint32_t id;

        snprintf(name, sizeof(name), "n%u.%s", (unsigned)machine, v->name);
        id = fr_topo_builder_vertex(b, v->kind, name, machine, type, v->loc);
        if (id == FR_NONE)
            return; /* the builder keeps the fault */
        first = i == 0 ? id : first;
    }
    for (size_t i = 0; i < m->n_links; i++) {
        const struct link_row *l = &m->links[i];

        place_link(l, b, first + l->src, first + l->dst);
    }
}

uint32_t fr__topo_file_place(const struct fr__topo_file *f, struct fr_topo_builder *b,
                             uint32_t first)
{
    uint32_t machine = first;

    for (size_t i = 0; i < f->n_makes; i++)
        for (uint32_t k = 0; k < f->makes[i].count && !fr__topo_builder_has_fault(b); k++)
            place_machine(&f->makes[i], b, machine++);
    return machine - first;
}

static enum fr_status place_fabric(const struct fr__topo_file *f, struct fr_topo_builder *b,
                                   struct fr_error *err)
{
    for (size_t i = 0; i < f->n_switches; i++)
        fr_topo_builder_vertex(b, FR_VERTEX_SWITCH, f->switches[i].name, FR_NONE, FR_NONE,
                               f->switches[i].loc);
    for (size_t i = 0; i < f->n_links; i++) {
        const struct link_row *l = &f->links[i];
        uint32_t src = fr__topo_builder_find(b, l->from), dst = fr__topo_builder_find(b, l->to);

        if (fr__topo_builder_has_fault(b))
            return FR_OK; /* told by finish */
        if (src == FR_NONE || dst == FR_NONE)
            return fr__fail(err, FR_ENOENT, l->loc,
                            "no vertex '%s'; names here are like 'n0.nic0' or a switch's",
                            src == FR_NONE ? l->from : l->to);
        place_link(l, b, src, dst);
    }
    return FR_OK;
}

/* "NAME: SUMMARY" where the file has a name of its own. */
static enum fr_status add_name(struct fr_topo *t, const char *name, struct fr_error *err)
{
    struct fr__topo_priv *priv = t->priv;
    size_t len = strlen(name) + strlen(t->summary) + 3;
    char *line;

    if (!name[0])
        return FR_OK;
    line = fr__arena_alloc(priv->arena, len, 1);
    if (!line)
        return fr__fail_nomem(err);
    snprintf(line, len, "%s: %s", name, t->summary);
    t->summary = line;
    return FR_OK;
}

enum fr_status fr__topo_file_load(const struct fr__topo_file *f, struct fr_topo **out,
                                  struct fr_error *err)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_topo *t = NULL;
    enum fr_status status;

    if (!b)
        return fr__fail_nomem(err);
    fr__topo_file_place(f, b, 0);
    if (f->system)
        fr_topo_builder_network_system(b, f->system, NULL, f->system_loc);
    status = place_fabric(f, b, err);
    if (status == FR_OK)
        status = fr_topo_builder_finish(b, f->path, &t, err);
    if (status == FR_OK)
        status = add_name(t, f->name, err);
    if (status == FR_OK)
        *out = t;
    else
        fr_topo_free(t);
    fr_topo_builder_free(b);
    return status;
}

enum fr_status fr__topo_load_text(struct fr_topo **out, const char *text, size_t len,
                                  const char *name, struct fr_error *err)
{
    struct fr__arena *a = fr__arena_new();
    struct fr__topo_file *f;
    enum fr_status status;

    if (!a)
        return fr__fail_nomem(err);
    status = read_text(a, text, len, name, &f, err);
    if (status == FR_OK)
        status = fr__topo_file_load(f, out, err);
    fr__arena_free(a);
    return status;
}
