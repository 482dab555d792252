/* topo/export/simgrid.c - writes a topology as a SimGrid platform.
 *
 * Each GPU is a host of its fp32 rate, each directed link a link of its own, and each route is
 * spelt out, so that SimGrid sends messages the way we do.
 *
 * Source: SimGrid's manual, "The XML reference", version 4.1.
 */
#include "config.h"

#include "base/units.h"
#include "topo/internal.h"

#include <string.h>

enum { MAX_HOSTS = 1024 };

static void put_text(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        default:
            putc(*text, f);
        }
}

static void put_attribute(FILE *f, const char *name, const char *text)
{
    fprintf(f, " %s=\"", name);
    put_text(f, text);
    putc('"', f);
}

static void put_number(FILE *f, const char *name, double x, const char *unit)
{
    char text[32];

    fprintf(f, " %s=\"%s%s\"", name, fr__format_double(x, text, sizeof(text)), unit);
}

static enum fr_status write_routes(FILE *f, const struct fr_topo *t, struct fr_error *err)
{
    struct fr_router *router;
    enum fr_status status;

    FR_TRY(fr_router_new(&router, t, err));
    status = FR_OK;
    for (uint32_t src = 0; src < t->n_gpus && status == FR_OK; src++)
        for (uint32_t dst = 0; dst < t->n_gpus && status == FR_OK; dst++) {
            const uint32_t *links;
            size_t n;

            if (src == dst)
                continue;
            status = fr_router_path(router, src, dst, &links, &n, err);
            if (status != FR_OK)
                break;
            fputs("    <route", f);
            put_attribute(f, "src", t->devices[src].name);
            put_attribute(f, "dst", t->devices[dst].name);
            fputs(" symmetrical=\"NO\">", f);
            for (size_t i = 0; i < n; i++) {
                char name[FR_LINK_NAME];

                fputs("<link_ctn", f);
                put_attribute(f, "id", fr_topo_link_name(t, links[i], name));
                fputs("/>", f);
            }
            fputs("</route>\n", f);
        }
    fr_router_free(router);
    return status;
}

enum fr_status fr_topo_write_simgrid(FILE *f, const struct fr_topo *t, struct fr_error *err)
{
    if (t->n_gpus > MAX_HOSTS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "a SimGrid platform spells out each route: %zu GPUs are more than %d",
                        t->n_gpus, MAX_HOSTS);
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n  <zone id=\"cluster\" routing=\"Full\">\n",
          f);
    for (size_t i = 0; i < t->n_gpus; i++) {
        fputs("    <host", f);
        put_attribute(f, "id", t->devices[i].name);
        put_number(f, "speed", t->types[t->devices[i].type].vector_flops_per_s, "f");
        fputs("/>\n", f);
    }
    for (uint32_t i = 0; i < t->n_links; i++) {
        char name[FR_LINK_NAME];

        fputs("    <link", f);
        put_attribute(f, "id", fr_topo_link_name(t, i, name));
        put_number(f, "bandwidth", t->links[i].bw_Bps, "Bps");
        put_number(f, "latency", t->links[i].latency_s, "s");
        fputs(" sharing_policy=\"SHARED\"/>\n", f);
    }
    FR_TRY(write_routes(f, t, err));
    fputs("  </zone>\n</platform>\n", f);
    return FR_OK;
}
