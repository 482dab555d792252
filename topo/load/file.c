/* topo/load/file.c - reads a topology file as a whole (doc/topology.md has the format).
 *
 * A file of another tool is handed to its importer. The keys at the top of our own are read here.
 * The device types in it, and the machines and links, are read in files of their own. file_place.c
 * makes a topology of what was read.
 */
#include "config.h"

#include "base/file.h"
#include "topo/import/import.h"
#include "topo/load/fabric.h"
#include "topo/load/file.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 16 << 20 };

static enum fr_status read_file(struct fr__topo_file *f, const struct fr__yaml *root,
                                struct fr_error *err)
{
    static const char *const known[] = {"name",   "network",  "collectives", "source",
                                        "types",  "machines", "switches",    "links",
                                        "relays", "routing",  NULL};
    static const char *const no_yes[] = {"no", "yes"}, *const routings[] = {"modulo", "hash"};
    unsigned word;
    const struct fr__yaml *network;
    struct fr__fabric no_fabric;
    struct fr__network unused;
    struct fr_loc loc;

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a topology file", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(fr__yaml_text(root, "name", "", &f->name, &loc, err));
    FR_TRY(fr__yaml_text(root, "source", f->path, &f->source, &loc, err));
    network = fr__yaml_get(root, "network");
    if (network) {
        FR_TRY(fr__yaml_text(root, "network", NULL, &f->network, &loc, err));
        if (fr__fabric_is(f->network))
            FR_TRY(fr__fabric_parse(&no_fabric, f->network, loc, err));
        else
            FR_TRY(fr__network_parse(&unused, f->network, loc, err));
    }
    FR_TRY(fr__topo_value_word(root, "relays", "no", no_yes, 2, &word, err));
    f->has_relays = word == 1;
    FR_TRY(fr__topo_value_word(root, "routing", "modulo", routings, 2, &word, err));
    f->has_hash = word == 1;
    FR_TRY(fr__topo_file_types(f, root, err));
    FR_TRY(fr__topo_file_machines(f, root, err));
    FR_TRY(fr__topo_file_switches(f, root, err));
    FR_TRY(fr__topo_file_links(f, root, &f->links, &f->n_links, err));
    FR_TRY(fr__topo_value_system(f, root, "collectives", &f->system, &f->system_loc, err));
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

enum fr_status fr__topo_file_read_text(struct fr__arena *a, const char *text, size_t len,
                                       const char *name, struct fr__topo_file **out,
                                       struct fr_error *err)
{
    const struct fr__importer *importer = fr__importer_find(text, len);
    const struct fr__yaml *root;

    if (importer)
        return fr__import(importer, a, text, len, name, NULL, out, err);
    FR_TRY(fr__topo_refuse_others(text, len, name, err));
    FR_TRY(fr__yaml_load_text(a, text, len, name, &root, err));
    return make_file(a, name, root, out, err);
}

enum fr_status fr__topo_file_read(struct fr__arena *a, const char *path, struct fr__topo_file **out,
                                  struct fr_error *err)
{
    enum fr_status status;
    char *text;
    size_t len;

    FR_TRY(fr__read_file(path, MAX_FILE_BYTES, &text, &len, err));
    status = fr__topo_file_read_text(a, text, len, path, out, err);
    free(text);
    return status;
}

bool fr__topo_file_has_fabric(const struct fr__topo_file *f)
{
    return f->n_switches > 0 || f->n_links > 0;
}

bool fr__topo_file_has_networks(const struct fr__topo_file *f)
{
    for (size_t i = 0; i < f->n_makes; i++)
        for (size_t v = 0; v < f->makes[i].n_vertices; v++)
            if (f->makes[i].vertices[v].network)
                return true;
    return false;
}

/* Rows stand make by make, each as often as it has machines; then the file begins again. */
const char *fr__topo_file_nic_network(const struct fr__topo_file *f, size_t row)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_makes; i++)
        n += f->makes[i].n_vertices * f->makes[i].count;
    row = n ? row % n : 0;
    for (size_t i = 0; i < f->n_makes; i++) {
        const struct fr__make *m = &f->makes[i];

        if (row < m->n_vertices * m->count)
            return m->vertices[row % m->n_vertices].network;
        row -= m->n_vertices * m->count;
    }
    return NULL;
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
