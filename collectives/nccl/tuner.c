/* collectives/nccl/tuner.c - see tuner.h. The table is made once a communicator. */
#include "config.h"

#include "collectives/nccl/constants.h"
#include "collectives/nccl/tuner.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const char *const ALGORITHM_NAMES[] = {"Tree", "Ring", "NVLS", "NVLSTree", "PAT"};
static const char *const PROTOCOL_NAMES[] = {"LL", "LL128", "Simple"};
/* Those at which a constant changes. */
static const unsigned VERSIONS[] = {205, 210, 218, 221, 223, 226, 227, 228, 230};
static const char *const VERSION_NAMES[] = {"2.5",  "2.10", "2.18", "2.21", "2.23",
                                            "2.26", "2.27", "2.28", "2.30"};
/* Of smaller messages the older versions' own tables send some by LL128 (2.6, 2.8: 25 MB on two
 * machines, not 64 MiB), whose blocks have gone up and down at once since 2.5. */
static const double IN_TURN_BYTES = 64e6;

const char *fr__nccl_algorithm_name(enum fr__nccl_algorithm a)
{
    return a < FR__NCCL_N_ALGORITHMS ? ALGORITHM_NAMES[a] : "?";
}

const char *fr__nccl_protocol_name(enum fr__nccl_protocol p)
{
    return p < FR__NCCL_N_PROTOCOLS ? PROTOCOL_NAMES[p] : "?";
}

enum fr__nccl_protocol fr__nccl_protocol_parse(const char *name)
{
    unsigned p = 0;

    while (p < FR__NCCL_N_PROTOCOLS && strcasecmp(name, PROTOCOL_NAMES[p]) != 0)
        p++;
    return (enum fr__nccl_protocol)p;
}

unsigned fr__nccl_version_at(size_t i)
{
    return i < sizeof(VERSIONS) / sizeof(VERSIONS[0]) ? VERSIONS[i] : 0;
}

unsigned fr__nccl_version_parse(const char *text)
{
    unsigned minor = 0, found = 0;
    const char *at = text;

    if (strncmp(at, "2.", 2) != 0)
        return 0;
    for (at += 2; *at >= '0' && *at <= '9' && minor < 100; at++)
        minor = 10 * minor + (unsigned)(*at - '0');
    if (at == text + 2 || minor >= 100 || strspn(at, ".0123456789") != strlen(at) ||
        (*at && *at != '.'))
        return 0;
    for (size_t i = 0; fr__nccl_version_at(i); i++)
        if (fr__nccl_version_at(i) <= 200 + minor)
            found = fr__nccl_version_at(i);
    return found;
}

const char *fr__nccl_version_name(const char *text)
{
    unsigned version = fr__nccl_version_parse(text);

    for (size_t i = 0; fr__nccl_version_at(i); i++)
        if (fr__nccl_version_at(i) == version)
            return VERSION_NAMES[i];
    return NULL;
}

/* ---- the communicator, as the table sees it ---- */

struct view {
    const struct fr__nccl_comm *comm;
    struct fr__nccl_constants constants;
    enum fr__nccl_generation generation;
    unsigned size; /* column of the limits */
    double n, nodes, per_node;
};

static enum fr__nccl_generation generation_of(unsigned sm)
{
    if (sm >= 100)
        return FR__NCCL_BLACKWELL;
    if (sm >= 90)
        return FR__NCCL_HOPPER;
    return sm >= 80 ? FR__NCCL_AMPERE : FR__NCCL_VOLTA;
}

static const struct fr__nccl_graph *graph_of(const struct view *v, enum fr__nccl_algorithm a)
{
    switch (a) {
    case FR__NCCL_ALGO_RING:
        return &v->comm->ring;
    case FR__NCCL_ALGO_NVLS:
    case FR__NCCL_ALGO_NVLS_TREE:
        return &v->comm->nvls;
    default:
        return &v->comm->tree;
    }
}

static unsigned log2_of(unsigned n)
{
    unsigned l = 0;

    while (n >>= 1)
        l++;
    return l;
}

static double n_steps(const struct view *v, enum fr_collective_kind kind)
{
    switch (kind) {
    case FR_ALL_REDUCE:
        return 2 * (v->n - 1);
    case FR_ALL_GATHER:
    case FR_REDUCE_SCATTER:
        return v->n - 1;
    default:
        return v->n;
    }
}

/* ---- which there are ---- */

static bool is_gather_or_scatter(enum fr_collective_kind kind)
{
    return kind == FR_ALL_GATHER || kind == FR_REDUCE_SCATTER;
}

static bool is_modelled(const struct view *v, enum fr_collective_kind kind,
                        enum fr__nccl_algorithm a, enum fr__nccl_protocol p)
{
    const struct fr__nccl_comm *c = v->comm;
    bool is_simple = p == FR__NCCL_SIMPLE;
    unsigned least = v->constants.has_old_nvls ? 1 : 2; /* channels of NVLS */

    switch (a) {
    case FR__NCCL_ALGO_RING:
        return kind != FR_ALL_TO_ALL && kind != FR_RING_STEP;
    case FR__NCCL_ALGO_TREE:
        return kind == FR_ALL_REDUCE;
    case FR__NCCL_ALGO_NVLS: /* over several machines it needs CollNet */
        return v->constants.has_nvls && is_simple && c->n_nodes == 1 &&
               c->nvls.n_channels >= least &&
               (kind == FR_ALL_REDUCE || (is_gather_or_scatter(kind) && v->per_node <= 32));
    case FR__NCCL_ALGO_NVLS_TREE:
        return v->constants.has_nvls && is_simple && c->n_nodes > 1 &&
               c->nvls.n_channels >= least && kind == FR_ALL_REDUCE;
    default: /* PAT: one GPU a machine */
        return is_simple && v->constants.has_pat && is_gather_or_scatter(kind) &&
               c->n_nodes == c->n_ranks && c->min_sm >= 60;
    }
}

/* Capabilities that LL128 was judged good on. */
static bool has_ll128(const struct fr__nccl_comm *c)
{
    if (c->min_sm < 70 || (c->min_sm != c->max_sm && (c->min_sm < 90 || c->version < 230)))
        return false;
    if (c->version >= 227)
        return true;
    if (c->min_sm == 100 || c->min_sm == 120)
        return c->version >= 226;
    return c->min_sm == 70 || c->min_sm == 80 || c->min_sm == 90;
}

static bool is_enabled(const struct view *v, enum fr__nccl_algorithm a, enum fr__nccl_protocol p)
{
    const struct fr__nccl_graph *g = graph_of(v, a);
    enum fr__nccl_path most = v->comm->min_sm >= 90 ? FR__PATH_PXN : FR__PATH_PXB;

    if (p != FR__NCCL_LL128)
        return true;
    return has_ll128(v->comm) && g->type_intra <= FR__PATH_NVB && g->type_inter <= most;
}

/* ---- bandwidth ---- */

static double ll_most(const struct view *v)
{
    enum fr__nccl_generation row = v->generation;
    bool is_like_amd = v->comm->cpu == FR__NCCL_CPU_AMD || v->comm->cpu == FR__NCCL_CPU_MIXED;

    if (v->comm->n_nodes > 1)
        row = v->comm->is_x86 && is_like_amd ? FR__NCCL_AMPERE : FR__NCCL_VOLTA;
    return v->constants.ll_most[row][v->size];
}

static double ring_bus(const struct view *v, enum fr__nccl_protocol p, double bus, double c)
{
    bool is_low = v->constants.is_old_when_alone && v->per_node < 2;

    if (p == FR__NCCL_LL)
        return fmin(ll_most(v), bus / 2);
    if (p == FR__NCCL_LL128)
        return fmin((is_low ? .7 : .92) * bus, c * v->constants.ring_ll128[v->generation][v->size]);
    return bus;
}

static double tree_bus(const struct view *v, enum fr__nccl_protocol p, double bus, double c)
{
    const struct fr__nccl_constants *k = &v->constants;

    bus = fmin(.92 * bus, c * k->tree[v->generation][v->size]);
    if (p == FR__NCCL_LL)
        bus = fmin(bus / 3.8, ll_most(v));
    else if (p == FR__NCCL_LL128)
        bus = fmin(bus * (v->comm->n_nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                   c * k->tree_ll128[v->generation][v->size]);
    return v->comm->tree.pattern == FR__NCCL_TREE ? .85 * bus : bus;
}

static double old_nvls_bus(const struct view *v, enum fr__nccl_algorithm a)
{
    const struct fr__nccl_graph *g = &v->comm->nvls;
    bool is_halved =
        a == FR__NCCL_ALGO_NVLS_TREE && v->comm->version >= 221 && v->comm->n_nodes > 2;

    return g->n_channels * fmin(g->bw_intra, is_halved ? g->bw_inter / 2 : g->bw_inter);
}

static double nvls_bus(const struct view *v, enum fr_collective_kind kind,
                       enum fr__nccl_algorithm a)
{
    const struct fr__nccl_graph *g = &v->comm->nvls;
    double c = g->n_channels, limit = v->constants.nvls_tree[v->generation][v->size];
    double inside = g->bw_intra * v->constants.nvls_efficiency[v->generation] * (c - 1) / c;
    double across = g->bw_inter;

    inside *= kind == FR_ALL_REDUCE ? 2 : (v->per_node - 1) / v->per_node;
    if (a == FR__NCCL_ALGO_NVLS_TREE && v->comm->n_nodes <= 2)
        across *= 2;
    if (a == FR__NCCL_ALGO_NVLS_TREE && limit > 0)
        across = fmin(across, limit);
    return c * fmin(inside, across);
}

static double bandwidth(const struct view *v, enum fr_collective_kind kind,
                        enum fr__nccl_algorithm a, enum fr__nccl_protocol p)
{
    const struct fr__nccl_graph *g = graph_of(v, a);
    double c = g->n_channels, bus = c * (v->comm->n_nodes <= 2 ? g->bw_intra : g->bw_inter);
    double to_algorithm = v->n / n_steps(v, kind);

    switch (a) {
    case FR__NCCL_ALGO_RING:
        return ring_bus(v, p, bus, c) * to_algorithm;
    case FR__NCCL_ALGO_TREE:
        return tree_bus(v, p, bus, c) / 2;
    case FR__NCCL_ALGO_PAT:
        return .75 * bus;
    default:
        if (v->constants.has_old_nvls)
            return old_nvls_bus(v, a) * 5 / 6;
        return nvls_bus(v, kind, a) * (kind == FR_ALL_REDUCE ? to_algorithm : 1);
    }
}

/* ---- latency ---- */

struct hops {
    double intra, inter, own; /* own: of the outermost kind of link that the ranks are on */
};

static struct hops hops_of(const struct view *v, enum fr__nccl_algorithm a,
                           enum fr__nccl_protocol p)
{
    const struct fr__nccl_graph *g = graph_of(v, a);
    const struct fr__nccl_constants *k = &v->constants;
    enum fr__nccl_hop inside =
        g->type_intra == FR__PATH_NVL ? FR__NCCL_HOP_NVLINK : FR__NCCL_HOP_PCI;
    bool is_nvls = a == FR__NCCL_ALGO_NVLS || a == FR__NCCL_ALGO_NVLS_TREE;
    bool is_exposed = v->comm->n_nodes == v->comm->n_ranks && !k->is_old_when_alone;
    enum fr__nccl_algorithm across = is_exposed ? FR__NCCL_ALGO_TREE : a;
    struct hops h;

    h.intra = k->hop_us[is_nvls ? FR__NCCL_HOP_NVLINK : inside][a][p];
    h.inter =
        k->hop_us[FR__NCCL_HOP_NET][across][p] + (p == FR__NCCL_SIMPLE ? 2 : 1) * g->latency_inter;
    h.own = k->hop_us[v->comm->n_nodes == 1 ? inside : FR__NCCL_HOP_NET]
                     [p == FR__NCCL_SIMPLE && !g->same_channels ? FR__NCCL_ALGO_TREE : a][p];
    return h;
}

static double ring_latency(const struct view *v, enum fr_collective_kind kind,
                           enum fr__nccl_protocol p, struct hops h)
{
    double steps = n_steps(v, kind), across = v->nodes - 1, overhead = 0;

    if (kind == FR_BROADCAST || kind == FR_REDUCE)
        return v->comm->ring.same_channels ? h.own : steps * h.own;
    if (v->comm->n_nodes >
        1) /* what the network's thread needs a step: tuning.cc, getNetOverhead */
        overhead = (v->comm->is_x86 && v->comm->cpu == FR__NCCL_CPU_AMD ? 2.0 : 1.0) *
                   (p == FR__NCCL_SIMPLE ? 3 : 1);
    if (kind == FR_ALL_REDUCE)
        across = v->constants.has_full_net_steps ? 2 * v->nodes : 2 * across;
    if (v->comm->n_nodes == 1)
        across = 0;
    return (steps - across) * fmax(h.intra, overhead) + across * h.inter;
}

static double latency(const struct view *v, enum fr_collective_kind kind, enum fr__nccl_algorithm a,
                      enum fr__nccl_protocol p)
{
    struct hops h = hops_of(v, a, p);
    double base = v->constants.base_us[a][p], levels = log2_of(v->comm->n_nodes);

    switch (a) {
    case FR__NCCL_ALGO_RING:
        return base + ring_latency(v, kind, p, h);
    case FR__NCCL_ALGO_TREE:
        return base + 2 * ((floor(v->per_node) - 1) * h.intra + levels * h.inter);
    case FR__NCCL_ALGO_NVLS:
        return base + h.intra + (v->comm->n_nodes > 1 ? h.inter : 0);
    case FR__NCCL_ALGO_NVLS_TREE:
        return base + h.intra + 2 * levels * h.inter;
    default:
        return base + levels * h.inter / 3.5 + 2.8 * v->n;
    }
}

/* ---- the table ---- */

static unsigned max_threads(const struct view *v, enum fr__nccl_algorithm a,
                            enum fr__nccl_protocol p)
{
    const struct fr__nccl_graph *r = &v->comm->ring;

    if (a == FR__NCCL_ALGO_PAT)
        return 0;
    if (a == FR__NCCL_ALGO_NVLS || a == FR__NCCL_ALGO_NVLS_TREE || p == FR__NCCL_LL128)
        return 640;
    if (a == FR__NCCL_ALGO_RING && p == FR__NCCL_SIMPLE && r->bw_intra * r->n_channels <= 12)
        return 256;
    return 512;
}

void fr__nccl_model_make(struct fr__nccl_model *m, const struct fr__nccl_comm *comm)
{
    struct view v = {.comm = &m->comm, .constants = fr__nccl_constants_of(comm->version)};

    memset(m, 0, sizeof(*m));
    m->comm = *comm;
    v.generation = generation_of(comm->min_sm);
    v.size = comm->n_nodes <= 2 ? comm->n_nodes - 1 : 2;
    v.n = comm->n_ranks;
    v.nodes = comm->n_nodes;
    v.per_node = v.n / v.nodes;
    for (unsigned a = 0; a < FR__NCCL_N_ALGORITHMS; a++)
        for (unsigned p = 0; p < FR__NCCL_N_PROTOCOLS; p++) {
            enum fr__nccl_algorithm algorithm = (enum fr__nccl_algorithm)a;
            enum fr__nccl_protocol protocol = (enum fr__nccl_protocol)p;

            m->max_threads[a][p] = max_threads(&v, algorithm, protocol);
            for (unsigned k = 0; k < FR_N_COLLECTIVE_KINDS && comm->n_ranks > 1; k++) {
                enum fr_collective_kind kind = (enum fr_collective_kind)k;

                if (!is_modelled(&v, kind, algorithm, protocol) ||
                    !is_enabled(&v, algorithm, protocol))
                    continue;
                m->of[k][a][p].bw_GBps = bandwidth(&v, kind, algorithm, protocol);
                m->of[k][a][p].latency_us = latency(&v, kind, algorithm, protocol);
            }
        }
}

double fr__nccl_tree_in_turn_s(const struct fr__nccl_model *m, double bytes)
{
    const struct fr__nccl_comm *c = &m->comm;
    double most = fr__nccl_constants_of(c->version).tree_in_turn[generation_of(c->min_sm)];

    if (c->n_nodes < 2 || bytes < IN_TURN_BYTES || !(most > 0) || c->tree.n_channels == 0)
        return 0;
    return bytes / (1e9 * most * c->tree.n_channels);
}

double fr__nccl_hop_us(unsigned version, enum fr__nccl_hop hop, enum fr__nccl_algorithm a,
                       enum fr__nccl_protocol p)
{
    return fr__nccl_constants_of(version).hop_us[hop][a][p];
}

double fr__nccl_base_us(unsigned version, enum fr__nccl_algorithm a, enum fr__nccl_protocol p)
{
    return fr__nccl_constants_of(version).base_us[a][p];
}

double fr__nccl_wire_factor(enum fr__nccl_protocol p)
{
    static const double FACTORS[FR__NCCL_N_PROTOCOLS] = {2, 16.0 / 15, 1};

    return FACTORS[p];
}
