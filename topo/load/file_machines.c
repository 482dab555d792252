/* topo/load/file_machines.c - reads the machines of a topology file, and the switches between them.
 *
 * Links are read here too: one inside a machine and one between machines are written alike.
 */
#include "config.h"

#include "base/hash.h"
#include "base/units.h"
#include "topo/load/file.h"

#include <string.h>

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

/* ---- vertices and links ---- */

static enum fr_status read_vertex(const struct fr__topo_file *f, const struct fr__yaml *map,
                                  struct fr__vertex_row *v, struct fr_error *err)
{
    struct fr__network unused;
    struct fr_loc loc;
    unsigned kind;

    FR_TRY(fr__yaml_text(map, "name", NULL, &v->name, &v->loc, err));
    FR_TRY(fr__topo_value_word(map, "kind", NULL, vertex_kinds, FR_N_VERTEX_KINDS, &kind, err));
    v->kind = (enum fr_vertex_kind)kind;
    if (fr__yaml_get(map, "network")) {
        if (v->kind != FR_VERTEX_NIC)
            return fr__fail(err, FR_EPARSE, fr__yaml_get(map, "network")->key_loc,
                            "'%s' is no NIC and has no 'network'", v->name);
        FR_TRY(fr__yaml_text(map, "network", NULL, &v->network, &loc, err));
        FR_TRY(fr__network_parse(&unused, v->network, loc, err));
    }
    if (v->kind == FR_VERTEX_GPU || v->kind == FR_VERTEX_CPU)
        return fr__topo_file_type(f, map, &v->type, err);
    if (fr__yaml_get(map, "type"))
        return fr__fail(err, FR_EPARSE, fr__yaml_get(map, "type")->key_loc,
                        "'%s' is no device and has no 'type'", v->name);
    return FR_OK;
}

/* "messages: {system: dgx1-p100, link: NVLink1}" */
static enum fr_status read_messages(const struct fr__topo_file *f, const struct fr__yaml *map,
                                    struct fr__link_row *l, struct fr_error *err)
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
    FR_TRY(fr__topo_value_system(f, messages, "system", &l->system, &loc, err));
    FR_TRY(fr__yaml_text(messages, "link", NULL, &l->message, &l->message_loc, err));
    if (!l->message[0])
        return fr__fail(err, FR_EPARSE, l->message_loc, "'link' names no link of '%.60s'",
                        l->system);
    return FR_OK;
}

static enum fr_status read_link(const struct fr__topo_file *f, const struct fr__yaml *map,
                                struct fr__link_row *l, struct fr_error *err)
{
    static const char *const truths[] = {"false", "true", NULL};
    unsigned kind, is_duplex;
    struct fr_loc loc;

    l->loc = map->loc;
    FR_TRY(fr__yaml_text(map, "from", NULL, &l->from, &loc, err));
    FR_TRY(fr__yaml_text(map, "to", NULL, &l->to, &loc, err));
    FR_TRY(fr__topo_value_word(map, "kind", NULL, link_kinds, FR_N_LINK_KINDS, &kind, err));
    l->kind = (enum fr_link_kind)kind;
    FR_TRY(fr__topo_value_quantity(map, "bandwidth", true, fr__parse_rate, &l->bw_Bps, err));
    FR_TRY(fr__topo_value_quantity(map, "latency", true, fr__parse_time, &l->latency_s, err));
    FR_TRY(fr__topo_value_word(map, "duplex", "true", truths, 2, &is_duplex, err));
    l->is_duplex = is_duplex == 1;
    FR_TRY(read_messages(f, map, l, err));
    return fr__yaml_text(map, "source", f->source, &l->source, &loc, err);
}

enum fr_status fr__topo_file_links(const struct fr__topo_file *f, const struct fr__yaml *map,
                                   struct fr__link_row **out, size_t *n, struct fr_error *err)
{
    static const char *const known[] = {"from",   "to",     "kind",     "bandwidth", "latency",
                                        "duplex", "source", "messages", NULL};
    const struct fr__yaml *list;

    FR_TRY(fr__topo_value_list(map, "links", known, &list, err));
    if (!list)
        return FR_OK;
    *out = fr__arena_alloc(f->arena, list->n, sizeof(**out));
    if (!*out)
        return fr__fail_nomem(err);
    for (; *n < list->n; ++*n)
        FR_TRY(read_link(f, list->items[*n], &(*out)[*n], err));
    return FR_OK;
}

/* ---- machines, and the switches between them ---- */

/* The row of that name; of several with one name, which the builder refuses later, the first. */
static enum fr_status find_row(const struct fr__strings *rows, const char *name, struct fr_loc loc,
                               uint32_t *out, struct fr_error *err)
{
    *out = fr__strings_find(rows, name);
    return *out != FR_NONE ? FR_OK
                           : fr__fail(err, FR_ENOENT, loc, "this machine has no vertex '%s'", name);
}

/* Finds the ends of the machine's links among its vertices. rows is left to the caller to end. */
static enum fr_status find_ends(struct fr__make *m, struct fr__strings *rows, uint32_t row_of[],
                                struct fr_error *err)
{
    for (size_t i = 0; i < m->n_vertices; i++) {
        bool is_new;
        uint32_t number = fr__strings_add(rows, m->vertices[i].name, &is_new);

        if (number == FR_NONE)
            return fr__fail_nomem(err);
        if (is_new)
            row_of[number] = (uint32_t)i;
    }
    for (size_t i = 0; i < m->n_links; i++) {
        struct fr__link_row *l = &m->links[i];

        FR_TRY(find_row(rows, l->from, l->loc, &l->src, err));
        FR_TRY(find_row(rows, l->to, l->loc, &l->dst, err));
        l->src = row_of[l->src];
        l->dst = row_of[l->dst];
    }
    return FR_OK;
}

static enum fr_status read_make(const struct fr__topo_file *f, const struct fr__yaml *map,
                                struct fr__make *m, struct fr_error *err)
{
    static const char *const known[] = {"name", "kind", "type", "network", NULL};
    struct fr__strings rows = {.n = 0};
    const struct fr__yaml *list;
    enum fr_status st;
    uint32_t *row_of;

    FR_TRY(fr__topo_value_count(map, "count", "1", FR__MAX_MACHINES, &m->count, err));
    FR_TRY(fr__topo_value_system(f, map, "collectives", &m->system, &m->system_loc, err));
    FR_TRY(fr__topo_value_list(map, "vertices", known, &list, err));
    if (!list || list->n == 0)
        return fr__fail(err, FR_EPARSE, map->loc, "a machine has no 'vertices'");
    m->vertices = fr__arena_alloc(f->arena, list->n, sizeof(*m->vertices));
    if (!m->vertices)
        return fr__fail_nomem(err);
    for (; m->n_vertices < list->n; m->n_vertices++)
        FR_TRY(read_vertex(f, list->items[m->n_vertices], &m->vertices[m->n_vertices], err));
    FR_TRY(fr__topo_file_links(f, map, &m->links, &m->n_links, err));
    row_of = fr__arena_alloc(f->arena, m->n_vertices, sizeof(*row_of));
    st = row_of ? find_ends(m, &rows, row_of, err) : fr__fail_nomem(err);
    fr__strings_fini(&rows);
    return st;
}

enum fr_status fr__topo_file_machines(struct fr__topo_file *f, const struct fr__yaml *root,
                                      struct fr_error *err)
{
    static const char *const known[] = {"count", "collectives", "vertices", "links", NULL};
    const struct fr__yaml *list;

    FR_TRY(fr__topo_value_list(root, "machines", known, &list, err));
    if (!list || list->n == 0)
        return fr__fail(err, FR_EPARSE, root->loc, "'machines' is missing or empty");
    f->makes = fr__arena_alloc(f->arena, list->n, sizeof(*f->makes));
    if (!f->makes)
        return fr__fail_nomem(err);
    for (; f->n_makes < list->n; f->n_makes++)
        FR_TRY(read_make(f, list->items[f->n_makes], &f->makes[f->n_makes], err));
    return FR_OK;
}

enum fr_status fr__topo_file_switches(struct fr__topo_file *f, const struct fr__yaml *root,
                                      struct fr_error *err)
{
    static const char *const known[] = {"name", "kind", NULL};
    const struct fr__yaml *list;

    FR_TRY(fr__topo_value_list(root, "switches", known, &list, err));
    if (!list)
        return FR_OK;
    f->switches = fr__arena_alloc(f->arena, list->n, sizeof(*f->switches));
    if (!f->switches)
        return fr__fail_nomem(err);
    for (; f->n_switches < list->n; f->n_switches++) {
        struct fr__vertex_row *v = &f->switches[f->n_switches];
        unsigned kind;

        FR_TRY(fr__topo_value_word(list->items[f->n_switches], "kind", "switch", vertex_kinds,
                                   FR_N_VERTEX_KINDS, &kind, err));
        v->kind = (enum fr_vertex_kind)kind;
        if (v->kind == FR_VERTEX_GPU || v->kind == FR_VERTEX_CPU)
            return fr__fail(err, FR_EPARSE, list->items[f->n_switches]->loc,
                            "a device between machines; it belongs to one of 'machines'");
        FR_TRY(fr__yaml_text(list->items[f->n_switches], "name", NULL, &v->name, &v->loc, err));
    }
    return FR_OK;
}
