/* topo/import/simgrid.c - machines of a SimGrid platform (XML, version 4).
 *
 * Each host becomes a machine with one GPU of the host's speed on the network itself; SimGrid knows
 * no buses inside. Zones nest; their links, routes and clusters are drawn into one graph.
 *
 * Source:  SimGrid's manual, "The XML reference"; https://simgrid.org/simgrid.dtd.
 * Ignores: disks, properties, profiles, power states but the first, and the factors of SimGrid's
 *          network models (0.97 of the bandwidth, 13 times the latency by default).
 */
#include "config.h"

#include "topo/import/import.h"
#include "topo/import/simgrid.h"

#include <string.h>

enum { MAX_HOPS = 64 };

/* ---- zones ---- */

static enum fr_status read_host(struct fr__sg_reader *r, const struct fr__xml *x)
{
    uint32_t first, vertex;
    const char *id;

    FR_TRY(fr__xml_text(x, "id", &id, r->s->err));
    FR_TRY(fr__sg_hosts(r, x, 1, &first));
    return fr__sg_name_host(r, first, id, x->loc, &vertex);
}

static enum fr_status read_router(struct fr__sg_reader *r, const struct fr__xml *x)
{
    uint32_t vertex;
    const char *id;

    FR_TRY(fr__xml_text(x, "id", &id, r->s->err));
    return fr__sg_vertex(&r->graph, id, NULL, x->loc, &vertex);
}

static enum fr_status read_link(struct fr__sg_reader *r, const struct fr__xml *x)
{
    struct fr__sg_link l = {.loc = x->loc, .pairs = {{FR_NONE, FR_NONE}, {FR_NONE, FR_NONE}}};

    FR_TRY(fr__xml_text(x, "id", &l.id, r->s->err));
    FR_TRY(fr__sg_rate(x, "bandwidth", NULL, &l.bw_Bps, r->s->err));
    FR_TRY(fr__sg_time(x, "latency", "0", &l.latency_s, r->s->err));
    FR_TRY(fr__sg_read_policy(x, "sharing_policy", FR__SG_SPLIT, &l.policy, r->s->err));
    return fr__sg_add_link(&r->graph, &l);
}

static bool is_route(const struct fr__xml *x)
{
    return strcmp(x->name, "route") == 0 || strcmp(x->name, "zoneRoute") == 0;
}

/* The links of a route; *n of them. */
static enum fr_status read_links(struct fr__sg_reader *r, const struct fr__xml *x,
                                 struct fr__sg_link *links[MAX_HOPS],
                                 unsigned char is_down[MAX_HOPS], size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct fr__xml *item = x->items[i];
        const char *id, *direction = fr__xml_get(item, "direction");

        if (strcmp(item->name, "link_ctn") != 0)
            continue;
        if (*n == MAX_HOPS)
            return fr__fail(r->s->err, FR_ERANGE, item->loc, "a route of more than %d links",
                            MAX_HOPS);
        FR_TRY(fr__xml_text(item, "id", &id, r->s->err));
        FR_TRY(fr__sg_find_link(&r->graph, id, item->loc, &links[*n]));
        is_down[(*n)++] = direction && strcmp(direction, "DOWN") == 0;
    }
    return FR_OK;
}

static enum fr_status read_route(struct fr__sg_reader *r, const struct fr__xml *x, bool is_counting)
{
    const char *ends[2] = {"src", "dst"}, *gateways[2] = {"gw_src", "gw_dst"}, *id;
    const char *symmetrical = fr__xml_get(x, "symmetrical");
    struct fr__sg_link *links[MAX_HOPS];
    unsigned char is_down[MAX_HOPS];
    bool is_zone = strcmp(x->name, "zoneRoute") == 0;
    uint32_t vertex[2];
    size_t n;

    FR_TRY(read_links(r, x, links, is_down, &n));
    for (size_t i = 0; i < n && is_counting; i++)
        links[i]->n_uses++;
    if (is_counting)
        return FR_OK;
    for (size_t i = 0; i < 2; i++) {
        FR_TRY(fr__xml_text(x, is_zone ? gateways[i] : ends[i], &id, r->s->err));
        FR_TRY(fr__sg_find(&r->graph, id, x->loc, &vertex[i]));
    }
    if (vertex[0] == vertex[1])
        return FR_OK; /* a loopback */
    return fr__sg_route(
        &r->graph, vertex[0], vertex[1], n, links, is_down,
        !symmetrical || (strcmp(symmetrical, "NO") != 0 && strcmp(symmetrical, "no") != 0), x->loc);
}

enum pass { VERTICES, COUNT, ROUTES };

static enum fr_status read_zone(struct fr__sg_reader *r, const struct fr__xml *x, enum pass pass);

static enum fr_status read_element(struct fr__sg_reader *r, const struct fr__xml *x, enum pass pass)
{
    if (strcmp(x->name, "zone") == 0 || strcmp(x->name, "AS") == 0)
        return read_zone(r, x, pass);
    if (pass != VERTICES)
        return is_route(x) ? read_route(r, x, pass == COUNT) : FR_OK;
    if (strcmp(x->name, "host") == 0)
        return read_host(r, x);
    if (strcmp(x->name, "router") == 0)
        return read_router(r, x);
    if (strcmp(x->name, "cluster") == 0)
        return fr__sg_cluster(r, x);
    if (strcmp(x->name, "link") == 0)
        return read_link(r, x);
    if (strcmp(x->name, "cabinet") == 0 || strcmp(x->name, "peer") == 0)
        return fr__fail(r->s->err, FR_EPARSE, x->loc, "<%.40s> is not read here", x->name);
    return FR_OK;
}

static enum fr_status read_zone(struct fr__sg_reader *r, const struct fr__xml *x, enum pass pass)
{
    const char *routing = fr__xml_get(x, "routing");
    size_t n_zones = 0;

    for (size_t i = 0; i < x->n; i++)
        n_zones += strcmp(x->items[i]->name, "zone") == 0;
    if (routing && strcmp(routing, "Vivaldi") == 0 && n_zones != 1)
        return fr__fail(r->s->err, FR_EPARSE, x->loc,
                        "routing by coordinates (Vivaldi) is not read here");
    for (size_t i = 0; i < x->n; i++)
        FR_TRY(read_element(r, x->items[i], pass));
    return FR_OK;
}

static enum fr_status read_platform(struct fr__sg_reader *r, const struct fr__xml *root)
{
    const char *version = fr__xml_get(root, "version");
    char excerpt[FR__EXCERPT];

    if (!version || strncmp(version, "4", 1) != 0)
        return fr__fail(r->s->err, FR_EPARSE, root->loc,
                        "version \"%s\" of <platform>, 4 or 4.1 expected",
                        fr__excerpt(version ? version : "", excerpt));
    FR_TRY(read_zone(r, root, VERTICES));
    FR_TRY(read_zone(r, root, COUNT));
    FR_TRY(read_zone(r, root, ROUTES));
    if (r->n_hosts == 0)
        return fr__fail(r->s->err, FR_EPARSE, root->loc, "no host in the platform");
    FR_TRY(fr__sg_check_routes(&r->graph));
    fr__sketch_note(r->s, "bandwidths and latencies are taken whole; SimGrid's LV08 model takes "
                          "0.97 and 13.01 times them");
    return FR_OK;
}

static enum fr_status read(struct fr__sketch *s, const char *text, size_t len)
{
    struct fr__sg_reader r = {.s = s};
    const struct fr__xml *root;
    enum fr_status status;

    FR_TRY(fr__xml_load_text(s->arena, text, len, s->path, &root, s->err));
    fr__sg_init(&r.graph, s);
    status = read_platform(&r, root);
    fr__sg_fini(&r.graph);
    return status;
}

static bool is(const char *text, size_t len)
{
    return fr__xml_begins_with(text, len, "platform");
}

const struct fr__importer fr__importer_simgrid = {
    .name = "simgrid",
    .summary = "a SimGrid platform, XML",
    .source = "SimGrid's manual, The XML reference",
    .is = is,
    .read = read,
};
