/* topo/load/file_place.c - hands the rows of a topology file to a builder.
 *
 * This is apart from reading, since a composition reads a file once and places it many times.
 */
#include "config.h"

#include "topo/load/fabric.h"
#include "topo/load/file.h"

#include <stdio.h>
#include <string.h>

static void place_link(const struct fr__link_row *l, struct fr_topo_builder *b, uint32_t src,
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

static void place_machine(const struct fr__make *m, struct fr_topo_builder *b, uint32_t machine,
                          const char *network)
{
    uint32_t first = FR_NONE;

    if (m->system)
        fr_topo_builder_system(b, machine, m->system, m->system_loc);
    for (size_t i = 0; i < m->n_vertices; i++) {
        const struct fr__vertex_row *v = &m->vertices[i];
        uint32_t type = v->type ? fr_topo_builder_type(b, v->type) : FR_NONE;
        char name[2 * FR__MAX_VERTEX_NAME];
        uint32_t id;

        snprintf(name, sizeof(name), "n%u.%s", (unsigned)machine, v->name);
        id = fr_topo_builder_vertex(b, v->kind, name, machine, type, v->loc);
        if (id == FR_NONE)
            return; /* the builder keeps the fault */
        first = i == 0 ? id : first;
        if (v->kind == FR_VERTEX_NIC && (v->network || network))
            fr__topo_builder_network(b, id, v->network ? v->network : network);
    }
    for (size_t i = 0; i < m->n_links; i++) {
        const struct fr__link_row *l = &m->links[i];

        place_link(l, b, first + l->src, first + l->dst);
    }
}

uint32_t fr__topo_file_place(const struct fr__topo_file *f, struct fr_topo_builder *b,
                             uint32_t first)
{
    /* a fabric is the network of several machines, not what one NIC speaks */
    const char *network = f->network && !fr__fabric_is(f->network) ? f->network : NULL;
    uint32_t machine = first;

    for (size_t i = 0; i < f->n_makes; i++) {
        struct fr__repeated one = fr__topo_builder_begin(b, machine);

        for (uint32_t k = 0; k < f->makes[i].count && !fr__topo_builder_has_fault(b); k++) {
            /* the file's own links find their ends by name */
            if (k == 0 || f->n_links > 0 || !fr__topo_builder_repeat(b, &one, machine))
                place_machine(&f->makes[i], b, machine, network);
            machine++;
            if (k == 0)
                fr__topo_builder_end(b, &one, machine);
        }
    }
    return machine - first;
}

void fr__topo_file_note(const struct fr__topo_file *f, struct fr_topo_builder *b)
{
    for (size_t i = 0; i < f->n_notes; i++)
        fr__topo_builder_note(b, f->notes[i]);
}

static enum fr_status place_fabric(const struct fr__topo_file *f, struct fr_topo_builder *b,
                                   struct fr_error *err)
{
    for (size_t i = 0; i < f->n_switches; i++)
        fr_topo_builder_vertex(b, f->switches[i].kind, f->switches[i].name, FR_NONE, FR_NONE,
                               f->switches[i].loc);
    for (size_t i = 0; i < f->n_links; i++) {
        const struct fr__link_row *l = &f->links[i];
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

enum fr_status fr__topo_file_fill(const struct fr__topo_file *f, struct fr_topo_builder *b,
                                  struct fr_error *err)
{
    fr__topo_file_place(f, b, 0);
    fr__topo_file_note(f, b);
    if (f->system)
        fr_topo_builder_network_system(b, f->system, NULL, f->system_loc);
    if (f->has_relays)
        fr_topo_builder_relays(b);
    if (f->has_hash)
        fr_topo_builder_hash(b);
    return place_fabric(f, b, err);
}

enum fr_status fr__topo_file_load(const struct fr__topo_file *f, struct fr_topo **out,
                                  struct fr_error *err)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_topo *t = NULL;
    enum fr_status status;

    if (!b)
        return fr__fail_nomem(err);
    status = fr__topo_file_fill(f, b, err);
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
    status = fr__topo_file_read_text(a, text, len, name, &f, err);
    if (status == FR_OK)
        status = fr__topo_file_load(f, out, err);
    fr__arena_free(a);
    return status;
}
