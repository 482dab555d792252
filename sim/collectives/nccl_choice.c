/* sim/collectives/nccl_choice.c - what NCCL's tuner says of a group, searched once and kept from
 * run to run; see nccl_choice.h. */
#include "config.h"

#include "sim/collectives/nccl_choice.h"
#include "collectives/nccl/from_topo.h"

#include <stdlib.h>
#include <string.h>

/* Of the groups asked about; few differ in more than where they begin. */
struct kept {
    uint32_t *devices; /* [n], owned */
    uint32_t n;
    unsigned version;
    bool is_known;
    struct fr__nccl_model model;
    uint32_t *chains, *places; /* [tree channels, each twice][GPUs of a machine], owned */
};

struct fr__kept_models {
    struct kept **at; /* each owned */
    size_t n, cap;
    bool has_domains; /* an NVSwitch of no machine */
};

void fr__kept_models_free(struct fr__kept_models *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n; i++) {
        free(k->at[i]->devices);
        free(k->at[i]->chains);
        free(k->at[i]->places);
        free(k->at[i]);
    }
    free(k->at);
    free(k);
}

/* Groups that lie alike on machines that are alike have the same model: device by device the same
 * distance from the first, where both begin at a machine's GPU of the same number and type. */
static bool is_alike(const struct fr_topo *t, const struct kept *k, const uint32_t devices[],
                     uint32_t n, unsigned version)
{
    uint32_t shift;

    if (k->n != n || k->version != version)
        return false;
    shift = devices[0] - k->devices[0];
    for (uint32_t i = 0; i < n; i++) {
        const struct fr_device *a = &t->devices[k->devices[i]], *b = &t->devices[devices[i]];

        if (devices[i] - k->devices[i] != shift || a->type != b->type)
            return false;
    }
    if (shift == 0)
        return true;
    /* another place inside a machine may be wired in another way */
    for (uint32_t i = 0; i < n; i++) {
        const struct fr_device *a = &t->devices[k->devices[i]], *b = &t->devices[devices[i]];
        const char *one = strchr(a->name, '.'), *other = strchr(b->name, '.');

        if (!one || !other || strcmp(one, other) != 0)
            return false;
    }
    return true;
}

/* A channel's two trees go along the same chain. false: out of memory. */
static bool set_chains(struct kept *k, const uint32_t *gpus)
{
    size_t each = k->n / k->model.comm.n_nodes, n = 2 * (size_t)k->model.comm.tree.n_channels;

    k->chains = calloc(n * each + 1, sizeof(*k->chains));
    k->places = calloc(n * each + 1, sizeof(*k->places));
    if (!k->chains || !k->places)
        return false;
    for (size_t lane = 0; lane < n; lane++)
        for (uint32_t i = 0; i < each; i++) {
            uint32_t gpu = gpus[lane / 2 * each + i];

            k->chains[lane * each + i] = gpu;
            k->places[lane * each + gpu] = i;
        }
    return true;
}

static struct kept *make(struct fr__engine *e, uint32_t *devices, uint32_t n, unsigned version)
{
    struct kept *k = calloc(1, sizeof(*k));
    struct fr__nccl_comm comm;
    uint32_t *gpus = NULL;
    enum fr_status st;

    if (!k)
        return NULL;
    st = fr__nccl_comm_of(e->v->topo, devices, n, version, &comm, &gpus, NULL);
    if (st == FR_ENOMEM) {
        free(k);
        return NULL;
    }
    k->is_known = st == FR_OK;
    k->n = n;
    k->version = version;
    if (k->is_known) {
        fr__nccl_model_make(&k->model, &comm);
        if (!set_chains(k, gpus)) {
            free(gpus);
            free(k->chains);
            free(k->places);
            free(k);
            return NULL;
        }
    }
    free(gpus);
    k->devices = devices;
    return k;
}

/* NULL: out of memory. */
static struct fr__kept_models *models_of(struct fr__engine *e)
{
    struct fr__kept_models *m = e->collectives.models;
    const struct fr_topo *t = e->v->topo;

    if (m)
        return m;
    m = e->collectives.models = calloc(1, sizeof(*m));
    for (size_t v = 0; m && v < t->n_vertices; v++)
        m->has_domains |=
            t->vertices[v].kind == FR_VERTEX_NVSWITCH && t->vertices[v].machine == FR_NONE;
    return m;
}

static const struct kept *model_of(struct fr__engine *e, uint32_t group, unsigned version)
{
    struct fr__kept_models *m;
    uint32_t n = fr_plan_group_size(e->plan, group), *devices;
    struct kept *k;

    m = models_of(e);
    devices = m ? calloc(n, sizeof(*devices)) : NULL;
    if (!devices)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        devices[i] = fr_plan_group_device(e->plan, group, i);
    for (size_t i = 0; i < m->n; i++)
        if (is_alike(e->v->topo, m->at[i], devices, n, version)) {
            free(devices);
            return m->at[i];
        }
    k = fr__grow(&m->at, &m->cap, m->n + 1, sizeof(struct kept *)) ? make(e, devices, n, version)
                                                                   : NULL;
    if (!k) {
        free(devices);
        return NULL;
    }
    return m->at[m->n++] = k;
}

/* NULL: not of GPUs alone, or the failure is kept. */
static const struct kept *kept_of(struct fr__engine *e, uint32_t group, unsigned version)
{
    uint32_t n = fr_plan_group_size(e->plan, group);
    const struct kept *k;

    for (uint32_t i = 0; i < n; i++)
        if (fr_plan_group_device(e->plan, group, i) >= e->v->topo->n_gpus)
            return NULL;
    k = model_of(e, group, version);
    if (!k)
        fr__engine_fail_nomem(e);
    return k && k->is_known ? k : NULL;
}

bool fr__nccl_choice_of(struct fr__engine *e, uint32_t collective,
                        const struct fr_collective_way *way, struct fr__nccl_choice *out)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct kept *k = kept_of(e, c->group, way->version);

    return k && fr__nccl_choose_for(&k->model, c->kind, c->bytes, way->protocol,
                                    !way->no_switch_sums, out);
}

unsigned fr__group_min_sm(struct fr__engine *e, uint32_t group, unsigned version)
{
    const struct kept *k = kept_of(e, group, version);

    return k ? k->model.comm.min_sm : 0;
}

double fr__protocol_slowdown(struct fr__engine *e, uint32_t collective, unsigned version,
                             enum fr__nccl_algorithm a, enum fr__nccl_protocol p)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct kept *k = kept_of(e, c->group, version);
    const struct fr__nccl_entry *of = k ? k->model.of[c->kind][a] : NULL;

    if (!of || !(of[p].bw_GBps > 0) || !(of[FR__NCCL_SIMPLE].bw_GBps > 0))
        return 0;
    return of[FR__NCCL_SIMPLE].bw_GBps / of[p].bw_GBps;
}

double fr__tree_in_turn_s(struct fr__engine *e, uint32_t collective, unsigned version)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct kept *k = kept_of(e, c->group, version);

    return k ? fr__nccl_tree_in_turn_s(&k->model, c->bytes) : 0;
}

uint32_t fr__group_nodes(struct fr__engine *e, uint32_t group, unsigned version)
{
    uint32_t machines = fr_plan_group_machines(e->plan, group);
    const struct fr__kept_models *m;
    const struct kept *k;

    if (machines == 1)
        return 1;
    m = models_of(e);
    if (!m) {
        fr__engine_fail_nomem(e);
        return 0;
    }
    k = m->has_domains ? kept_of(e, group, version) : NULL;
    return k ? k->model.comm.n_nodes : machines;
}

bool fr__group_chains(struct fr__engine *e, uint32_t group, unsigned version,
                      struct fr__chains *out)
{
    const struct kept *k = kept_of(e, group, version);

    if (!k)
        return false;
    *out = (struct fr__chains){.n_lanes = 2 * k->model.comm.tree.n_channels,
                               .per_node = k->n / k->model.comm.n_nodes,
                               .order = k->chains,
                               .place = k->places};
    return true;
}
