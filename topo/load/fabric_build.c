/* topo/load/fabric_build.c - the switches and links of a fabric.
 *
 * A link between switches is as wide as the shape says: of a leaf's uplinks together, what its NICs
 * carry divided by the oversubscription; of a dragonfly's or torus' links, the rate `link`, by
 * default what the NICs below one switch carry. Parallel cables are one link with their sum. Each
 * link between switches takes one switch's latency more.
 *
 * Sources: C. Leiserson, IEEE Transactions on Computers C-34(10), 1985 (fat trees); J. Kim and
 *          others, ISCA 2008 (dragonfly); NVIDIA DGX SuperPOD reference architecture (rails).
 * Routing: where several ways are equally short, the destination's number picks one (see topo.h),
 *          which spreads orderly traffic evenly; or a hash does, as ECMP; or all are taken, as
 *          adaptive routing does packet by packet: then parallel spines, and cores, are one switch
 *          with the sum of their links.
 * Ignores: what adaptive routing loses (some percent to late answers), and ways that are longer.
 */
#include "config.h"

#include "topo/load/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SWITCHES = 1 << 18 };

static const char LINK_SOURCE[] = "the fabric's rate; latency: one switch, as the network's kind";

struct build {
    const struct fr__fabric *f;
    struct fr_topo_builder *b;
    const struct fr__fabric_nic *nics;
    size_t n_nics;
    uint32_t n_machines;
    struct fr_error *err;
};

/* A switch "<name><number>"; FR_NONE leaves the digits out. */
static uint32_t add_switch(struct build *x, const char *name, uint32_t number)
{
    char text[FR__MAX_VERTEX_NAME + 1];

    if (number == FR_NONE)
        snprintf(text, sizeof(text), "%s", name);
    else
        snprintf(text, sizeof(text), "%s%u", name, (unsigned)number);
    return fr_topo_builder_vertex(x->b, FR_VERTEX_SWITCH, text, FR_NONE, FR_NONE, FR_NOWHERE);
}

/* Nothing where nothing would go over it. */
static void join_switches(struct build *x, uint32_t one, uint32_t other, double bw_Bps)
{
    if (bw_Bps > 0)
        fr__topo_builder_cable(x->b, FR_LINK_NET, one, other, bw_Bps, x->f->net.hop_s, LINK_SOURCE);
}

/* What the NIC and those bonded to it carry, which come behind it; 0: it is one of these. */
static double bond_Bps(const struct build *x, const struct fr__fabric_nic *nic)
{
    double bw_Bps = 0;

    if (nic->number % x->f->bond != 0)
        return 0;
    for (uint32_t k = 0; k < x->f->bond && nic + k < x->nics + x->n_nics; k++)
        bw_Bps += nic[k].machine == nic->machine ? nic[k].bw_Bps : 0;
    return bw_Bps;
}

/* The NIC's link; returns what it carries. Of bonded ones the first carries for all. */
static double join_nic(struct build *x, const struct fr__fabric_nic *nic, uint32_t to)
{
    double bw_Bps = bond_Bps(x, nic);

    if (!(bw_Bps > 0))
        return 0;
    fr__topo_builder_cable(x->b, FR_LINK_NET, nic->vertex, to, bw_Bps, nic->latency_s,
                           x->f->net.source);
    return bw_Bps;
}

/* ---- rails ---- */

static enum fr_status build_rails(struct build *x)
{
    uint32_t n = 0, *rails;
    double *down_Bps;

    for (size_t i = 0; i < x->n_nics; i++)
        n = x->nics[i].number / x->f->bond + 1 > n ? x->nics[i].number / x->f->bond + 1 : n;
    if (x->f->rails > n)
        return fr__fail(x->err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has %u rails, but the NICs%s of a machine are %u at most", x->f->text,
                        (unsigned)x->f->rails, x->f->bond > 1 ? ", once bonded," : "", (unsigned)n);
    n = x->f->rails ? x->f->rails : n;
    rails = calloc(n ? n : 1, sizeof(*rails));
    down_Bps = calloc(n ? n : 1, sizeof(*down_Bps));
    if (!rails || !down_Bps) {
        free(rails);
        free(down_Bps);
        return fr__fail_nomem(x->err);
    }
    for (uint32_t r = 0; r < n; r++)
        rails[r] = add_switch(x, "net.rail", r);
    for (size_t i = 0; i < x->n_nics; i++) {
        uint32_t r = x->nics[i].number / x->f->bond % n;

        down_Bps[r] += join_nic(x, &x->nics[i], rails[r]);
    }
    for (uint32_t s = 0; s < x->f->spines; s++) {
        uint32_t spine = add_switch(x, "net.spine", x->f->spines > 1 ? s : FR_NONE);

        for (uint32_t r = 0; r < n; r++)
            if (down_Bps[r] > 0)
                join_switches(x, rails[r], spine, down_Bps[r] / x->f->over / x->f->spines);
    }
    fr_topo_builder_relays(x->b);
    free(rails);
    free(down_Bps);
    return FR_OK;
}

/* ---- trees ---- */

/* Leaf switches for all machines; what goes down of each. Both are the caller's to free. */
static enum fr_status build_leaves(struct build *x, uint32_t **leaves, double **down_Bps,
                                   uint32_t *n)
{
    *n = (x->n_machines + x->f->machines - 1) / x->f->machines;
    *leaves = calloc(*n, sizeof(**leaves));
    *down_Bps = calloc(*n, sizeof(**down_Bps));
    if (!*leaves || !*down_Bps) {
        free(*leaves);
        free(*down_Bps);
        return fr__fail_nomem(x->err);
    }
    for (uint32_t i = 0; i < *n; i++)
        (*leaves)[i] = add_switch(x, "net.leaf", i);
    for (size_t i = 0; i < x->n_nics; i++) {
        uint32_t leaf = x->nics[i].machine / x->f->machines;

        (*down_Bps)[leaf] += join_nic(x, &x->nics[i], (*leaves)[leaf]);
    }
    return FR_OK;
}

static enum fr_status build_leaf_spine(struct build *x)
{
    uint32_t *leaves, n;
    double *down_Bps;

    FR_TRY(build_leaves(x, &leaves, &down_Bps, &n));
    for (uint32_t s = 0; s < x->f->spines && n > 1; s++) {
        uint32_t spine = add_switch(x, "net.spine", s);

        for (uint32_t l = 0; l < n; l++)
            join_switches(x, leaves[l], spine, down_Bps[l] / x->f->over / x->f->spines);
    }
    free(leaves);
    free(down_Bps);
    return FR_OK;
}

/* Spine s of each pod is joined to the cores, all of them. */
static enum fr_status build_fat_tree(struct build *x)
{
    uint32_t *leaves, *cores = calloc(x->f->cores, sizeof(*cores)), n, n_pods;
    enum fr_status status;
    double *down_Bps;

    if (!cores)
        return fr__fail_nomem(x->err);
    status = build_leaves(x, &leaves, &down_Bps, &n);
    if (status != FR_OK)
        goto free_cores;
    n_pods = (n + x->f->leaves - 1) / x->f->leaves;
    for (uint32_t c = 0; c < x->f->cores && n_pods > 1; c++)
        cores[c] = add_switch(x, "net.core", c);
    for (uint32_t p = 0; p < n_pods; p++) {
        uint32_t first = p * x->f->leaves;
        uint32_t past = first + x->f->leaves < n ? first + x->f->leaves : n;

        for (uint32_t s = 0; s < x->f->spines; s++) {
            double below_Bps = 0;
            char name[32];
            uint32_t spine;

            snprintf(name, sizeof(name), "net.pod%u-spine", (unsigned)p);
            spine = add_switch(x, name, s);

            for (uint32_t l = first; l < past; l++) {
                double up_Bps = down_Bps[l] / x->f->over / x->f->spines;

                join_switches(x, leaves[l], spine, up_Bps);
                below_Bps += up_Bps;
            }
            for (uint32_t c = 0; c < x->f->cores && n_pods > 1; c++)
                join_switches(x, spine, cores[c], below_Bps / x->f->core_over / x->f->cores);
        }
    }
    free(leaves);
    free(down_Bps);
free_cores:
    free(cores);
    return status;
}

/* ---- switches that are joined directly ---- */

/* One switch for each `machines` machines; *widest: what the NICs of the widest carry. */
static enum fr_status build_routers(struct build *x, uint32_t machines, uint32_t **routers,
                                    uint32_t *n, double *widest_Bps)
{
    double *down_Bps;

    *n = (x->n_machines + machines - 1) / machines;
    *routers = calloc(*n, sizeof(**routers));
    down_Bps = calloc(*n, sizeof(*down_Bps));
    if (!*routers || !down_Bps) {
        free(*routers);
        free(down_Bps);
        return fr__fail_nomem(x->err);
    }
    for (uint32_t i = 0; i < *n; i++)
        (*routers)[i] = add_switch(x, "net.router", i);
    for (size_t i = 0; i < x->n_nics; i++) {
        uint32_t r = x->nics[i].machine / machines;

        down_Bps[r] += join_nic(x, &x->nics[i], (*routers)[r]);
    }
    *widest_Bps = 0;
    for (uint32_t i = 0; i < *n; i++)
        *widest_Bps = down_Bps[i] > *widest_Bps ? down_Bps[i] : *widest_Bps;
    if (x->f->link_Bps > 0)
        *widest_Bps = x->f->link_Bps;
    free(down_Bps);
    return FR_OK;
}

/* All routers of a group are joined; group g's link to group h is at router h mod routers, so that
 * each router has its share of them. */
static enum fr_status build_dragonfly(struct build *x)
{
    uint32_t *routers, n, n_groups, size = x->f->routers;
    double link_Bps;

    FR_TRY(build_routers(x, x->f->machines, &routers, &n, &link_Bps));
    n_groups = (n + size - 1) / size;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t k = r + 1; k < n && k / size == r / size; k++)
            join_switches(x, routers[r], routers[k], link_Bps);
    for (uint32_t g = 0; g < n_groups; g++)
        for (uint32_t h = g + 1; h < n_groups; h++) {
            uint32_t in_g = n - g * size < size ? n - g * size : size;
            uint32_t in_h = n - h * size < size ? n - h * size : size;

            join_switches(x, routers[g * size + h % in_g], routers[h * size + g % in_h], link_Bps);
        }
    free(routers);
    return FR_OK;
}

static enum fr_status build_grid(struct build *x, const uint32_t dims[], size_t n_dims,
                                 bool is_closed)
{
    uint64_t product = 1;
    uint32_t *routers, n, step = 1;
    double link_Bps;

    for (size_t d = 0; d < n_dims; d++)
        product = product > MAX_SWITCHES ? product : product * dims[d];
    if (product != x->n_machines)
        return fr__fail(x->err, FR_EUSAGE, FR_NOWHERE,
                        "the dimensions of '%s' make %llu machines, and there are %u", x->f->text,
                        (unsigned long long)product, (unsigned)x->n_machines);
    FR_TRY(build_routers(x, 1, &routers, &n, &link_Bps));
    for (size_t d = 0; d < n_dims; step *= dims[d++])
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = i / step % dims[d];
            uint32_t other = i - at * step + (at + 1) % dims[d] * step;

            if (at + 1 < dims[d] || (is_closed && dims[d] > 2))
                join_switches(x, routers[i], routers[other], link_Bps);
        }
    free(routers);
    return FR_OK;
}

static enum fr_status build_full(struct build *x)
{
    uint32_t *routers, n;
    double link_Bps;

    if ((uint64_t)x->n_machines * x->n_machines / 2 > MAX_SWITCHES)
        return fr__fail(x->err, FR_ERANGE, FR_NOWHERE, "'%s' of %u machines has too many links",
                        x->f->text, (unsigned)x->n_machines);
    FR_TRY(build_routers(x, 1, &routers, &n, &link_Bps));
    if (x->f->link_Bps <= 0 && n > 1)
        link_Bps /= n - 1; /* the NICs' rate is shared out over all peers */
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            join_switches(x, routers[i], routers[k], link_Bps);
    free(routers);
    return FR_OK;
}

/* Each machine has the NICs of one bond at least; of more, the last bond may have fewer. */
static enum fr_status check_bonds(const struct build *x)
{
    for (size_t i = 0; i < x->n_nics; i++) {
        bool is_last = i + 1 == x->n_nics || x->nics[i + 1].machine != x->nics[i].machine;

        if (is_last && x->nics[i].number + 1 < x->f->bond)
            return fr__fail(x->err, FR_EUSAGE, FR_NOWHERE,
                            "bond=%u of '%s' is more than the NICs of machine n%u, which are %u",
                            (unsigned)x->f->bond, x->f->text, (unsigned)x->nics[i].machine,
                            (unsigned)x->nics[i].number + 1);
    }
    return FR_OK;
}

/* Bonded NICs are ports of one adapter, whose slot is as wide as theirs together. */
static enum fr_status widen_slots(struct build *x)
{
    double *factors = calloc(fr__topo_builder_n_vertices(x->b) + 1, sizeof(*factors));

    if (!factors)
        return fr__fail_nomem(x->err);
    for (size_t i = 0; i < x->n_nics; i++)
        factors[x->nics[i].vertex] = bond_Bps(x, &x->nics[i]) / x->nics[i].bw_Bps;
    fr__topo_builder_widen(x->b, factors);
    free(factors);
    return FR_OK;
}

enum fr_status fr__fabric_build(const struct fr__fabric *f, struct fr_topo_builder *b,
                                const struct fr__fabric_nic nics[], size_t n_nics,
                                uint32_t n_machines, struct fr_error *err)
{
    struct build x = {f, b, nics, n_nics, n_machines, err};

    if (f->routing == FR__ROUTING_HASH)
        fr_topo_builder_hash(b);
    if (f->bond > 1) {
        FR_TRY(check_bonds(&x));
        FR_TRY(widen_slots(&x));
    }
    switch (f->shape) {
    case FR__SHAPE_RAILS:
        return build_rails(&x);
    case FR__SHAPE_LEAVES:
        return build_leaf_spine(&x);
    case FR__SHAPE_FAT_TREE:
        return build_fat_tree(&x);
    case FR__SHAPE_DRAGONFLY:
        return build_dragonfly(&x);
    case FR__SHAPE_TORUS:
        return build_grid(&x, f->dims, f->n_dims, true);
    case FR__SHAPE_MESH:
        return build_grid(&x, f->dims, f->n_dims, false);
    case FR__SHAPE_RING:
        return build_grid(&x, &n_machines, 1, true);
    case FR__SHAPE_FULL:
    case FR__N_SHAPES:
        break;
    }
    return build_full(&x);
}
