/* topo/import/nvidia_smi.c - makes a machine of the matrix of `nvidia-smi topo -m`.
 *
 * The codes say how near two devices are, never what a link carries nor what the GPUs are: those
 * come from the number of NVLinks and the defaults of the type that has as many. PIX makes PCIe
 * switches, PXB joins them under one, the NUMA or CPU affinity makes sockets. Between GPUs NVLinks
 * hide the PCIe code, so their switches follow from NICs they share.
 *
 * Source: legend of the matrix; NVIDIA/nccl src/graph/paths.cc for what the codes mean.
 */
#include "config.h"

#include "topo/gpus/gpus.h"
#include "topo/import/import.h"
#include "topo/import/smi_matrix.h"

#include <stdio.h>
#include <string.h>

enum { MAX = FR__SMI_MAX };

struct reader {
    struct fr__sketch *s;
    const struct fr__smi_matrix *m;
    const struct fr__gpu_facts *facts;
    bool is_switched;
    uint32_t domain[MAX]; /* which socket each device is on, from 0 */
    uint32_t n_domains;
    uint32_t pix[MAX], pxb[MAX]; /* the first device of its group */
    uint32_t row[MAX];
};

static const struct fr__smi_cell *cell(const struct reader *r, size_t i, size_t k)
{
    return &r->m->cells[i * r->m->n + k];
}

/* ---- what the GPUs are ---- */

/* Behind NVSwitches every two GPUs read all the NVLinks of one; *n: those of the first GPU. */
static bool is_behind_switch(const struct reader *r, unsigned *n)
{
    const struct fr__gpu_facts *f;
    unsigned each = r->m->n_gpus > 1 ? cell(r, 0, 1)->n_links : 0;

    *n = 0;
    for (size_t k = 0; k < r->m->n_gpus; k++)
        *n += cell(r, 0, k)->n_links;
    for (size_t i = 0; i < r->m->n_gpus; i++)
        for (size_t k = 0; k < r->m->n_gpus; k++)
            if (i != k && cell(r, i, k)->n_links != each)
                return false;
    if (each == 0)
        return false;
    f = fr__gpu_facts_by_links(FR__JOIN_SWITCH, each);
    if (f)
        *n = each;
    return f != NULL;
}

static enum fr_status identify(struct reader *r)
{
    struct fr__gpu_clues c = {.type = r->s->gpu_type, .device = -1, .sm = -1};
    enum fr__gpu_match match;
    unsigned n;

    r->is_switched = is_behind_switch(r, &n);
    if (c.type) {
        r->facts = fr__gpu_facts_find(&c, &match);
        return FR_OK;
    }
    r->facts = fr__gpu_facts_by_links(r->is_switched ? FR__JOIN_SWITCH : FR__JOIN_PEERS, n);
    if (n > 0 && !r->facts && n <= 4)
        r->facts = fr__gpu_facts_by_links(FR__JOIN_NONE, 4); /* bridges */
    if (n > 0 && !r->facts)
        return fr__fail(r->s->err, FR_EPARSE, r->m->locs[0],
                        "no GPU that is known has %u NVLinks: say what it is with --gpu-type", n);
    if (!r->facts)
        c.type = "a100-pcie-80gb";
    if (c.type)
        r->facts = fr__gpu_facts_find(&c, &match);
    fr__sketch_note(r->s, "GPUs are taken for %s, %s: the matrix does not say the model",
                    r->facts->type, n > 0 ? "by their number of NVLinks" : "which is our choice");
    return FR_OK;
}

/* ---- sockets and PCIe switches ---- */

/* The number of a domain's text among those seen so far. */
static uint32_t number_of(struct reader *r, const char *text, const char *seen[MAX])
{
    uint32_t d = 0;

    while (d < r->n_domains && strcmp(seen[d], text) != 0)
        d++;
    if (d == r->n_domains)
        seen[r->n_domains++] = text;
    return d;
}

/* The GPU that a device is nearest to by PCIe, or FR_NONE where all are over SYS. */
static uint32_t nearest_gpu(const struct reader *r, size_t device)
{
    enum fr__smi_way best = FR__SMI_SYS;
    uint32_t found = FR_NONE;

    for (uint32_t g = 0; g < r->m->n_gpus; g++)
        if (g != device && cell(r, device, g)->way < best) {
            best = cell(r, device, g)->way;
            found = g;
        }
    return found;
}

/* GPUs by their affinity, NICs by the GPU next to them. */
static void place(struct reader *r)
{
    const char *seen[MAX];

    for (size_t i = 0; i < r->m->n_gpus; i++) {
        const char *text = r->m->domains[i] ? r->m->domains[i] : r->m->cpus[i];

        if (!text) {
            fr__sketch_note(r->s, "GPUs without CPU and NUMA affinity are on one socket");
            text = "";
        }
        r->domain[i] = number_of(r, text, seen);
    }
    for (size_t i = r->m->n_gpus; i < r->m->n; i++) {
        uint32_t g = nearest_gpu(r, i);

        if (g == FR_NONE)
            fr__sketch_note(r->s, "NICs over SYS from all GPUs are on the last socket");
        r->domain[i] = g == FR_NONE ? r->n_domains - 1 : r->domain[g];
    }
}

/* group[i] = the first device that can be reached from i over ways up to `most`. */
static void group(const struct reader *r, enum fr__smi_way most, uint32_t groups[])
{
    bool has_changed = true;

    for (uint32_t i = 0; i < r->m->n; i++)
        groups[i] = i;
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < r->m->n; i++)
            for (size_t k = 0; k < r->m->n; k++)
                if (i != k && cell(r, i, k)->way <= most && groups[k] < groups[i]) {
                    groups[i] = groups[k];
                    has_changed = true;
                }
    }
}

static size_t size_of(const struct reader *r, const uint32_t groups[], uint32_t g)
{
    size_t n = 0;

    for (size_t i = 0; i < r->m->n; i++)
        n += groups[i] == g;
    return n;
}

static void check_ways(const struct reader *r)
{
    for (size_t i = 0; i < r->m->n; i++)
        for (size_t k = 0; k < i; k++)
            if (cell(r, i, k)->way > FR__SMI_PXB && cell(r, i, k)->way < FR__SMI_NVLINK &&
                r->pxb[i] == r->pxb[k]) {
                fr__sketch_note(r->s,
                                "%.20s and %.20s share a PCIe switch, since both are near a "
                                "third device: the matrix says they do not",
                                r->m->names[k], r->m->names[i]);
                return; /* one is enough */
            }
}

static void join_pcie(struct reader *r, uint32_t parent, uint32_t row, struct fr_loc loc)
{
    const struct fr__wire *w = r->facts->pcie;

    fr__sketch_link(r->s, FR_LINK_PCIE, parent, row, w->bw_Bps, w->latency_s, true, w->source, loc);
}

/* The switch of each group that has one, below its parent. */
static void draw_tree(struct reader *r, const uint32_t sockets[])
{
    uint32_t upper[MAX], lower[MAX], n = 0;

    for (uint32_t i = 0; i < r->m->n; i++) {
        uint32_t parent = sockets[r->domain[i]];
        bool is_split = size_of(r, r->pxb, r->pxb[i]) > size_of(r, r->pix, r->pix[i]);

        if (r->pxb[i] == i && is_split) {
            upper[i] = fr__sketch_vertex(r->s, FR_VERTEX_PCIE, "plx", n++, NULL, r->m->locs[i]);
            join_pcie(r, parent, upper[i], r->m->locs[i]);
        }
        parent = is_split ? upper[r->pxb[i]] : parent;
        if (r->pix[i] == i && size_of(r, r->pix, i) > 1) {
            lower[i] = fr__sketch_vertex(r->s, FR_VERTEX_PCIE, "plx", n++, NULL, r->m->locs[i]);
            join_pcie(r, parent, lower[i], r->m->locs[i]);
        }
        parent = size_of(r, r->pix, r->pix[i]) > 1 ? lower[r->pix[i]] : parent;
        join_pcie(r, parent, r->row[i], r->m->locs[i]);
    }
}

/* ---- NVLinks ---- */

static enum fr_status draw_nvlinks(struct reader *r)
{
    const struct fr__gpu_facts *f = r->facts;
    uint32_t nvswitch = FR_NONE;

    if (r->is_switched && f->switched)
        nvswitch =
            fr__sketch_vertex(r->s, FR_VERTEX_NVSWITCH, "nvswitch", FR_NONE, NULL, r->m->locs[0]);
    for (size_t i = 0; i < r->m->n_gpus; i++)
        for (size_t k = i + 1; k < r->m->n_gpus; k++)
            if (nvswitch == FR_NONE && cell(r, i, k)->n_links > 0) {
                if (!f->link)
                    return fr__fail(r->s->err, FR_EPARSE, r->m->locs[i],
                                    "NVLinks between GPUs of type %s, which has none", f->type);
                fr__sketch_link(r->s, FR_LINK_NVLINK, r->row[i], r->row[k],
                                cell(r, i, k)->n_links * f->link->bw_Bps, f->link->latency_s, true,
                                f->link->source, r->m->locs[i]);
                if (f->messages[0] && f->join == FR__JOIN_PEERS)
                    fr__sketch_message(r->s, f->messages[0], f->messages[1]);
            }
    for (size_t i = 0; i < r->m->n_gpus && nvswitch != FR_NONE; i++) {
        double share = (double)cell(r, 0, 1)->n_links / f->n_links;

        fr__sketch_link(r->s, FR_LINK_NVLINK, r->row[i], nvswitch, f->switched->bw_Bps * share,
                        f->switched->latency_s, true, f->switched->source, r->m->locs[i]);
        if (f->messages[0])
            fr__sketch_message(r->s, f->messages[0], f->messages[1]);
    }
    if (nvswitch != FR_NONE && f->collectives && r->m->n_gpus == f->n_board &&
        cell(r, 0, 1)->n_links == f->n_links) {
        fr__sketch_system(r->s, f->collectives);
        if (f->network_collectives)
            fr__sketch_network_system(r->s, f->network_collectives, f->network);
    }
    return FR_OK;
}

/* ---- the whole ---- */

static enum fr_status draw(struct reader *r)
{
    uint32_t numbers[MAX], sockets[MAX];

    fr__sketch_machine(r->s, 1, r->m->locs[0]);
    for (uint32_t i = 0; i < r->m->n_gpus; i++)
        r->row[i] = fr__sketch_vertex(r->s, FR_VERTEX_GPU, "gpu", i, fr__gpu_facts_type(r->facts),
                                      r->m->locs[i]);
    place(r);
    group(r, FR__SMI_PIX, r->pix);
    group(r, FR__SMI_PXB, r->pxb);
    check_ways(r);
    for (uint32_t i = 0; i < r->n_domains; i++)
        numbers[i] = i;
    fr__sketch_host(r->s, r->facts->host, r->n_domains, numbers, sockets, r->m->locs[0]);
    for (size_t i = r->m->n_gpus; i < r->m->n; i++) {
        r->row[i] = fr__sketch_vertex(r->s, FR_VERTEX_NIC, "nic", (uint32_t)(i - r->m->n_gpus),
                                      NULL, r->m->locs[i]);
        fr__sketch_network(r->s, r->row[i], r->facts->network);
    }
    draw_tree(r, sockets);
    fr__sketch_note(r->s, "PCIe, the host %s and the NICs' %s are the defaults beside %s",
                    r->facts->host->cpu, r->facts->network, r->facts->type);
    return draw_nvlinks(r);
}

static enum fr_status read(struct fr__sketch *s, const char *text, size_t len)
{
    struct reader *r = fr__arena_alloc(s->arena, 1, sizeof(*r));

    if (!r)
        return fr__fail_nomem(s->err);
    r->s = s;
    FR_TRY(fr__smi_matrix_read(s->arena, text, len, s->path, &r->m, s->err));
    FR_TRY(identify(r));
    if (r->m->lacks_nics)
        fr__sketch_note(s,
                        "NICs share a PCIe switch only with GPUs: the matrix has no rows of NICs");
    return draw(r);
}

const struct fr__importer fr__importer_nvidia_smi = {
    .name = "nvidia-smi",
    .summary = "the matrix of nvidia-smi topo -m",
    .source = "nvidia-smi's manual and the legend below each matrix",
    .is = fr__smi_matrix_is,
    .read = read,
};
