/* topo/import/taccl.c - machines of a TACCL topology (JSON): measured alpha and beta of its links.
 *
 * alpha is a message's fixed time in us, beta the time of a MB in us. The file of one beta is a
 * DGX-2, all GPUs on NVSwitches; of two an NDv2, whose links are known to TACCL's loader, not to
 * the file; a custom one has matrices `links` and `betas`. Files named ..._1KB count in 10 ns and
 * a KB.
 *
 * Source:  microsoft/taccl, taccl/topologies/generic.py; A. Shah and others, NSDI 2023, table 1.
 * Ignores: invbws, the reciprocal bandwidth under contention: here contention shares a link.
 */
#include "config.h"

#include "base/units.h"
#include "topo/gpus/gpus.h"
#include "topo/import/import.h"

#include <stdio.h>
#include <string.h>

enum { MAX_GPUS = 256 };

struct reader {
    struct fr__sketch *s;
    const struct fr__yaml *root;
    const struct fr__gpu_facts *facts;
    double time_unit_s; /* of alpha and beta */
    double size_unit;   /* bytes of a beta */
    uint32_t n_gpus, n_nics;
    double alpha_s, remote_alpha_s, remote_Bps;
};

static const char SOURCE[] = "alpha and beta of the file";

/* generic.py's links of an NDv2, whose numbers of GPUs are not nvidia-smi's. */
static const unsigned char doubles[][2] = {{0, 1}, {0, 4}, {1, 3}, {2, 3},
                                           {2, 6}, {4, 5}, {5, 7}, {6, 7}};
static const unsigned char singles[][2] = {{0, 2}, {0, 3}, {1, 2}, {1, 5},
                                           {3, 7}, {4, 6}, {4, 7}, {5, 6}};

/* ---- values ---- */

static enum fr_status number(struct reader *r, const char *key, double min, double max, double *out)
{
    const struct fr__yaml *node = fr__yaml_get(r->root, key);

    if (!node)
        return fr__fail(r->s->err, FR_EPARSE, r->root->loc, "key '%s' is missing", key);
    return fr__import_number(node, key, min, max, out, r->s->err);
}

static enum fr_status count(struct reader *r, const char *key, uint64_t min, uint64_t max,
                            uint32_t *out)
{
    const struct fr__yaml *node = fr__yaml_get(r->root, key);

    if (!node)
        return fr__fail(r->s->err, FR_EPARSE, r->root->loc, "key '%s' is missing", key);
    return fr__import_count(node, key, min, max, out, r->s->err);
}

/* Bytes a second of a beta. */
static enum fr_status rate(struct reader *r, const struct fr__yaml *node, double *out_Bps)
{
    double beta = 0;

    FR_TRY(fr__import_number(node, "a beta", 1e-6, 1e9, &beta, r->s->err));
    *out_Bps = r->size_unit / (beta * r->time_unit_s);
    return FR_OK;
}

static enum fr_status read_common(struct reader *r)
{
    const char *name;
    struct fr_loc loc;
    double alpha = 0, remote = 0;

    FR_TRY(fr__yaml_text(r->root, "name", "", &name, &loc, r->s->err));
    r->time_unit_s = 1e-6;
    r->size_unit = 1e6;
    if (strlen(name) > 4 && strcmp(name + strlen(name) - 4, "_1KB") == 0) {
        r->time_unit_s = 1e-8;
        r->size_unit = 1e3;
        fr__sketch_note(r->s, "alphas and betas count in 10 ns and 1 KB, by the file's name");
    }
    FR_TRY(count(r, "gpus_per_node", 1, MAX_GPUS, &r->n_gpus));
    FR_TRY(count(r, "nics_per_node", 0, MAX_GPUS, &r->n_nics));
    FR_TRY(number(r, "alpha", 0, 1e9, &alpha));
    r->alpha_s = alpha * r->time_unit_s;
    if (r->n_nics == 0)
        return FR_OK;
    FR_TRY(number(r, "remote_alpha", 0, 1e9, &remote));
    r->remote_alpha_s = remote * r->time_unit_s;
    FR_TRY(number(r, "remote_beta", 1e-6, 1e9, &remote));
    r->remote_Bps = r->size_unit / (remote * r->time_unit_s);
    return FR_OK;
}

/* ---- links between GPUs: row i is GPU i ---- */

static enum fr_status draw_switched(struct reader *r, const struct fr__yaml *betas)
{
    uint32_t hub =
        fr__sketch_vertex(r->s, FR_VERTEX_NVSWITCH, "nvswitch", FR_NONE, NULL, betas->loc);
    double bw_Bps;

    FR_TRY(rate(r, betas->items[0], &bw_Bps));
    for (uint32_t i = 0; i < r->n_gpus; i++)
        fr__sketch_wire(r->s, FR_LINK_NVLINK, i, hub, bw_Bps, r->alpha_s / 2, SOURCE, betas->loc);
    return FR_OK;
}

static enum fr_status draw_ndv2(struct reader *r, const struct fr__yaml *betas)
{
    double double_Bps, single_Bps;

    if (r->n_gpus != 8)
        return fr__fail(r->s->err, FR_EPARSE, betas->loc,
                        "two betas are an NDv2's, which has 8 GPUs, not %u: a machine of its own "
                        "has matrices 'links' and 'betas'",
                        (unsigned)r->n_gpus);
    FR_TRY(rate(r, betas->items[0], &double_Bps));
    FR_TRY(rate(r, betas->items[1], &single_Bps));
    fr__sketch_note(r->s, "NVLinks are those of TACCL's own NDv2, with its numbers of GPUs");
    for (size_t i = 0; i < 8; i++) {
        fr__sketch_wire(r->s, FR_LINK_NVLINK, doubles[i][0], doubles[i][1], double_Bps, r->alpha_s,
                        SOURCE, betas->loc);
        fr__sketch_wire(r->s, FR_LINK_NVLINK, singles[i][0], singles[i][1], single_Bps, r->alpha_s,
                        SOURCE, betas->loc);
    }
    return FR_OK;
}

/* A value of a square matrix of the file. */
static enum fr_status entry(struct reader *r, const struct fr__yaml *matrix, const char *key,
                            uint32_t i, uint32_t k, const struct fr__yaml **out)
{
    if (!matrix || matrix->kind != FR__YAML_LIST || matrix->n != r->n_gpus ||
        matrix->items[i]->kind != FR__YAML_LIST || matrix->items[i]->n != r->n_gpus)
        return fr__fail(r->s->err, FR_EPARSE, matrix ? matrix->loc : r->root->loc,
                        "'%s' is no matrix of %u rows and columns", key, (unsigned)r->n_gpus);
    *out = matrix->items[i]->items[k];
    return FR_OK;
}

static enum fr_status draw_custom(struct reader *r)
{
    const struct fr__yaml *links = fr__yaml_get(r->root, "links");
    const struct fr__yaml *betas = fr__yaml_get(r->root, "betas"), *node;

    for (uint32_t i = 0; i < r->n_gpus; i++)
        for (uint32_t k = 0; k < r->n_gpus; k++) {
            double n = 0, bw_Bps;

            FR_TRY(entry(r, links, "links", i, k, &node));
            FR_TRY(fr__import_number(node, "a link", 0, 1024, &n, r->s->err));
            if (!(n > 0) || i == k)
                continue;
            FR_TRY(entry(r, betas, "betas", i, k, &node));
            FR_TRY(rate(r, node, &bw_Bps));
            fr__sketch_link(r->s, FR_LINK_NVLINK, i, k, bw_Bps, r->alpha_s, false, SOURCE,
                            node->loc);
        }
    return FR_OK;
}

/* ---- the rest of a machine ---- */

/* NICs on PCIe switches, each with its share of the GPUs, all on one socket. */
static void draw_host(struct reader *r)
{
    const struct fr__wire *pcie = r->facts->pcie;
    struct fr_loc loc = r->root->loc;
    uint32_t number = 0, socket, n = r->n_nics ? r->n_nics : 1, *switches;
    double wire_s = r->remote_alpha_s - 4 * pcie->latency_s;
    char network[96], Gbps[32], us[32];

    fr__sketch_host(r->s, r->facts->host, 1, &number, &socket, loc);
    switches = fr__arena_alloc(r->s->arena, n, sizeof(*switches));
    if (!switches)
        return;
    snprintf(network, sizeof(network), "ib:%sGbps,%sus",
             fr__format_double(r->remote_Bps * 8 / 1e9, Gbps, sizeof(Gbps)),
             fr__format_double(wire_s > 0 ? wire_s * 1e6 : 0, us, sizeof(us)));
    for (uint32_t i = 0; i < n; i++) {
        switches[i] = fr__sketch_vertex(r->s, FR_VERTEX_PCIE, "plx", i, NULL, loc);
        fr__sketch_wire(r->s, FR_LINK_PCIE, socket, switches[i], pcie->bw_Bps, pcie->latency_s,
                        pcie->source, loc);
    }
    for (uint32_t i = 0; i < r->n_gpus; i++)
        fr__sketch_wire(r->s, FR_LINK_PCIE, switches[(uint64_t)i * n / r->n_gpus], i, pcie->bw_Bps,
                        pcie->latency_s, pcie->source, loc);
    for (uint32_t i = 0; i < r->n_nics; i++) {
        uint32_t nic = fr__sketch_vertex(r->s, FR_VERTEX_NIC, "nic", i, NULL, loc);

        fr__sketch_wire(r->s, FR_LINK_PCIE, switches[i], nic, pcie->bw_Bps, pcie->latency_s,
                        pcie->source, loc);
        fr__sketch_network(r->s, nic, fr__arena_strdup(r->s->arena, network));
    }
    fr__sketch_note(r->s,
                    "PCIe and the host %s are the defaults beside %s; the network's latency is "
                    "remote_alpha less four PCIe links",
                    r->facts->host->cpu, r->facts->type);
}

static enum fr_status read_machine(struct reader *r)
{
    const struct fr__yaml *betas = fr__yaml_get(r->root, "node_betas_list");
    bool is_custom = fr__yaml_get(r->root, "links") != NULL;

    FR_TRY(read_common(r));
    if (!is_custom && (!betas || betas->kind != FR__YAML_LIST || betas->n < 1 || betas->n > 2))
        return fr__fail(r->s->err, FR_EPARSE, betas ? betas->loc : r->root->loc,
                        "'node_betas_list' of one value (NVSwitch) or two (NDv2) expected, or "
                        "matrices 'links' and 'betas'");
    r->facts =
        fr__import_gpu(r->s, !is_custom && betas->n == 1 ? "v100-sxm3-32gb" : "v100-sxm2-32gb");
    fr__sketch_machine(r->s, 1, r->root->loc);
    for (uint32_t i = 0; i < r->n_gpus; i++)
        fr__sketch_vertex(r->s, FR_VERTEX_GPU, "gpu", i, fr__gpu_facts_type(r->facts),
                          r->root->loc);
    if (is_custom)
        FR_TRY(draw_custom(r));
    else if (betas->n == 1)
        FR_TRY(draw_switched(r, betas));
    else
        FR_TRY(draw_ndv2(r, betas));
    draw_host(r);
    return FR_OK;
}

static enum fr_status read(struct fr__sketch *s, const char *text, size_t len)
{
    struct reader r = {.s = s};

    FR_TRY(fr__yaml_load_text(s->arena, text, len, s->path, &r.root, s->err));
    FR_TRY(fr__yaml_expect(r.root, FR__YAML_MAP, "a TACCL file", s->err));
    if (fr__yaml_get(r.root, "intranode_sketch"))
        return fr__fail(s->err, FR_EPARSE, r.root->loc,
                        "is a TACCL sketch, which says how to send and not what the machine is: "
                        "its topology file expected");
    return read_machine(&r);
}

static bool is(const char *text, size_t len)
{
    (void)len;
    return text[strspn(text, " \t\r\n")] == '{' &&
           (strstr(text, "\"gpus_per_node\"") || strstr(text, "\"intranode_sketch\""));
}

const struct fr__importer fr__importer_taccl = {
    .name = "taccl",
    .summary = "TACCL's topology JSON",
    .source = "microsoft/taccl, taccl/topologies/generic.py",
    .is = is,
    .read = read,
};
