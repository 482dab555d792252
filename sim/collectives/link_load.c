/* sim/collectives/link_load.c - loads are made once a run and found again by what
 * they are of; see link_load.h. */
#include "config.h"

#include "sim/collectives/link_load.h"

#include "base/hash.h"
#include "sim/collectives/schedule_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum shape {
    SHAPE_RING = PATTERN_RING,
    SHAPE_CHAIN = PATTERN_CHAIN,
    SHAPE_SHIFT = PATTERN_SHIFT,
    SHAPE_STEP, /* a shift of one round */
    SHAPE_SCHEDULE,
    SHAPE_PAIR
};

/* What a load is of. */
struct key {
    uint64_t shape;       /* no room between fields: keys are hashed and compared as bytes */
    uint32_t group, root; /* of a pair: the two devices */
    /* of a schedule; else 0. Its messages share the bytes in the same way however many there
     * are. */
    uint64_t kind, algorithm, n_lanes;
};

struct made {
    struct key key;
    struct fr__link_load load;
    double of_bytes; /* of a schedule: the collective's bytes that it was made for */
};

struct fr__link_loads {
    struct fr__hash_table table; /* of made */
    struct made **made;          /* [n] each in the arena */
    size_t n, cap;
    struct fr__arena *arena; /* of the run */
    double *sums;            /* [n_links] zeros between uses */
    size_t n_sums;
    bool is_folded;
    uint32_t *class_of; /* folded: [n_links] the link that stands for it */
};

/* ---- life ---- */

void fr__link_loads_free(struct fr__link_loads *l)
{
    if (!l)
        return;
    fr__hash_fini(&l->table);
    fr__arena_free(l->arena);
    free(l->made);
    free(l->sums);
    free(l);
}

static struct fr__link_loads *loads_of(struct fr__engine *e)
{
    struct fr__link_loads *l = e->collectives.link_loads;

    if (l)
        return l;
    l = calloc(1, sizeof(*l));
    if (l)
        l->arena = fr__arena_new();
    if (!l || !l->arena) {
        fr__link_loads_free(l);
        fr__engine_fail_nomem(e);
        return NULL;
    }
    return e->collectives.link_loads = l;
}

static double *sums_of(struct fr__engine *e, struct fr__link_loads *l)
{
    size_t n = e->v->topo->n_links;

    if (l->n_sums < n + 1) {
        free(l->sums);
        l->sums = calloc(n + 1, sizeof(*l->sums));
        l->n_sums = l->sums ? n + 1 : 0;
    }
    if (!l->sums)
        fr__engine_fail_nomem(e);
    return l->sums;
}

/* ---- what a load is of ---- */

/* *how: the schedule, where the shape is that. */
static struct key key_of(struct fr__engine *e, uint32_t collective,
                         struct fr__collective_schedule *how)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    struct key k = {.shape = c->kind == FR_RING_STEP ? SHAPE_STEP : fr__ring_pattern_of(c->kind),
                    .group = c->group};

    if (!fr__collective_schedule_of(e, collective, how)) {
        how->wire_factor = how->slow_factor = 1;
    } else if (how->schedule.algorithm != &fr__ring_algorithm) {
        k.shape = SHAPE_SCHEDULE;
        k.algorithm = (uint64_t)(uintptr_t)how->schedule.algorithm;
        k.n_lanes = how->schedule.n_lanes;
    }
    if (k.shape == SHAPE_SCHEDULE || k.shape == SHAPE_CHAIN) {
        k.kind = c->kind;
        k.root = c->root;
    }
    return k;
}

static struct made *find(const struct fr__link_loads *l, const struct key *key, uint64_t hash)
{
    size_t at;

    for (uint32_t id = fr__hash_first(&l->table, hash, &at); id != FR_NONE;
         id = fr__hash_next(&l->table, hash, &at))
        if (memcmp(&l->made[id]->key, key, sizeof(*key)) == 0)
            return l->made[id];
    return NULL;
}

/* ---- walks over routes ---- */

static void add_route(struct fr__engine *e, uint32_t route, double weight, double sums[])
{
    if (route == FR_NONE)
        return; /* the failure is kept */
    fr__route_count(&e->network.routes, fr__route_at(e, route), weight, sums);
    fr__route_release(e, route);
}

static void add_pair(struct fr__engine *e, uint32_t src, uint32_t dst, double weight, double sums[])
{
    if (src != dst)
        add_route(e, fr__route_take(e, src, dst), weight, sums);
}

/* The rings of one of the groups. Where GPUs pass on what is not theirs its own are searched; else
 * the ranks go as those of the group that is placed. */
static const struct fr__ring_set *rings_like(struct fr__engine *e, const struct fr__ring_set *set,
                                             const uint32_t devices[])
{
    const struct fr__ring_set *own = set;
    size_t most = fr__most_rings(e);
    enum fr_status st;

    if (set->n_relayed == 0)
        return set;
    st = fr__rings_find(&e->collectives.found, &e->network.routes, devices, set->n, most, &own,
                        e->err);
    if (st != FR_OK)
        fr__engine_fail(e, st);
    return own;
}

static void add_rings(struct fr__engine *e, uint32_t collective, const uint32_t devices[],
                      double sums[])
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct fr__ring_set *first = fr__group_rings(e, c->group), *set;
    bool is_chain = c->kind == FR_BROADCAST || c->kind == FR_REDUCE;

    if (!first)
        return;
    set = rings_like(e, first, devices);
    for (uint32_t r = 0; r < set->n_rings && e->status == FR_OK; r++) {
        const uint32_t *ranks = set->ranks + (size_t)r * set->n;
        uint32_t begin = is_chain ? fr__collective_ring(e, collective, r).first : 0;
        double weight = set->share_frac[r] * set->n_rings;

        for (uint32_t i = 0; i + is_chain < set->n; i++) {
            uint32_t at = (begin + i) % set->n;

            if (first->n_relayed > 0)
                add_route(e, set->routes[(size_t)r * set->n + at], weight, sums);
            else
                add_pair(e, devices[ranks[at]], devices[ranks[(at + 1) % set->n]], weight, sums);
        }
    }
}

static void add_shift(struct fr__engine *e, const uint32_t devices[], uint32_t n, uint32_t n_rounds,
                      double sums[])
{
    for (uint32_t by = 1; by <= n_rounds && e->status == FR_OK; by++)
        for (uint32_t i = 0; i < n; i++)
            add_pair(e, devices[i], devices[(i + by) % n], 1.0 / n_rounds, sums);
}

/* One of the groups that a group stands for. how: of a schedule. */
static void add_group(struct fr__engine *e, enum shape shape, uint32_t collective,
                      const uint32_t devices[], struct fr__collective_schedule *how, double sums[])
{
    uint32_t n = fr_plan_group_size(e->plan, e->v->collectives[collective].group);

    switch (shape) {
    case SHAPE_SHIFT:
        add_shift(e, devices, n, n - 1, sums);
        break;
    case SHAPE_STEP:
        add_shift(e, devices, n, 1, sums);
        break;
    case SHAPE_SCHEDULE:
        how->devices = devices;
        fr__scheduled_bytes(e, collective, how, sums);
        break;
    default:
        add_rings(e, collective, devices, sums);
        break;
    }
}

/* ---- making loads ---- */

/* Weights are multiples of 2^-36, so that their sums are exact. Beyond 2^53 all numbers are whole.
 */
static double rounded(double weight)
{
    double parts = weight * 0x1p36 + 1e-3;

    return (parts < 0x1p53 ? (double)(int64_t)parts : parts) * 0x1p-36;
}

/* The rate at which the first link is full; INFINITY: there is none. */
static double least_full_Bps(const struct fr__engine *e, const double sums[], double unit)
{
    double Bps = INFINITY;

    for (uint32_t l = 0; l < e->v->topo->n_links; l++) {
        double weight;

        if (!(sums[l] > 0))
            continue;
        weight = rounded(sums[l] / unit);
        if (weight > 0)
            Bps = fmin(Bps, fr__link_bw_Bps(&e->network.routes, l) / weight);
    }
    return Bps;
}

static double largest(const double sums[], size_t n)
{
    double most = 0;

    for (size_t l = 0; l < n; l++)
        most = fmax(most, sums[l]);
    return most;
}

/* Lists the links with sums, which are few of those of a large cluster, in links. Returns how many.
 */
static size_t find_used(const struct fr__link_loads *l, size_t n_links, uint32_t links[])
{
    size_t n = 0;

    for (uint32_t i = 0; i < n_links; i++)
        if (l->sums[i] > 0)
            links[n++] = i;
    return n;
}

/* Keeps the sums of the links as weights, and sets them to 0. */
static void keep_sums(struct fr__engine *e, struct fr__link_loads *l, struct made *m,
                      const uint32_t used[], size_t n)
{
    uint32_t *links = fr__arena_take(l->arena, n, sizeof(*links));
    double *weights = fr__arena_take(l->arena, n, sizeof(*weights));
    double *sums = fr__arena_take(l->arena, n, sizeof(*sums));
    double full_Bps = INFINITY;

    if (!links || !weights || !sums)
        fr__engine_fail_nomem(e);
    m->load.links = links;
    m->load.weights = weights;
    m->load.sums = sums;
    for (size_t k = 0; k < n; k++) {
        double sum = l->sums[used[k]], weight = rounded(sum / m->load.unit_bytes), at_Bps;

        l->sums[used[k]] = 0;
        if (!(weight > 0) || e->status != FR_OK)
            continue;
        at_Bps = fr__link_bw_Bps(&e->network.routes, used[k]) / weight;
        if (at_Bps < full_Bps) {
            full_Bps = at_Bps;
            m->load.narrowest = m->load.n;
        }
        links[m->load.n] = used[k];
        sums[m->load.n] = sum;
        weights[m->load.n++] = weight;
    }
    m->load.full_Bps = full_Bps;
}

static void keep_weights(struct fr__engine *e, struct fr__link_loads *l, struct made *m)
{
    size_t n_links = e->v->topo->n_links;
    struct fr__mark mark = fr__arena_mark(e->scratch);
    uint32_t *used = fr__arena_take(e->scratch, n_links, sizeof(*used));

    if (used) {
        keep_sums(e, l, m, used, find_used(l, n_links, used));
    } else {
        memset(l->sums, 0, n_links * sizeof(*l->sums));
        fr__engine_fail_nomem(e);
    }
    fr__arena_rewind(e->scratch, mark);
}

/* Of a plan that is not folded; closed_form.c and symmetry.h know shorter walks of messages between
 * all. */
static double add_alone(struct fr__engine *e, const struct made *m, uint32_t collective,
                        struct fr__collective_schedule *how, double sums[])
{
    const struct fr_collective *c = &e->v->collectives[collective];
    uint32_t n = fr_plan_group_size(e->plan, c->group), *devices;
    struct fr__mark mark;

    if (m->key.shape == SHAPE_SHIFT) {
        fr__collective_bytes(e, collective, sums);
        return (n - 1) * floor(c->bytes / n);
    }
    if (m->key.shape == SHAPE_SCHEDULE) {
        fr__scheduled_bytes(e, collective, how, sums);
        return largest(sums, e->v->topo->n_links);
    }
    mark = fr__arena_mark(e->scratch);
    devices = fr__group_devices(e, c->group);
    if (devices)
        add_group(e, (enum shape)m->key.shape, collective, devices, NULL, sums);
    fr__arena_rewind(e->scratch, mark);
    return 1;
}

/* Of all groups that the group stands for; the first one's alone comes first. */
static double add_folded(struct fr__engine *e, struct made *m, uint32_t collective,
                         const struct fr_plan_fold *fold, struct fr__collective_schedule *how,
                         double sums[])
{
    uint32_t n = fr_plan_group_size(e->plan, e->v->collectives[collective].group);
    double unit = 1;

    for (uint32_t g = 0; g < fold->n && e->status == FR_OK; g++) {
        add_group(e, (enum shape)m->key.shape, collective, fold->devices + (size_t)g * n, how,
                  sums);
        if (g > 0)
            continue;
        if (m->key.shape == SHAPE_SCHEDULE)
            unit = largest(sums, e->v->topo->n_links);
        m->load.alone_Bps = least_full_Bps(e, sums, unit);
    }
    return unit;
}

static void make_load(struct fr__engine *e, struct fr__link_loads *l, struct made *m,
                      uint32_t collective, struct fr__collective_schedule *how)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct fr_plan_fold *fold = l->is_folded ? fr_plan_group_fold(e->plan, c->group) : NULL;
    double *sums = sums_of(e, l);

    if (!sums)
        return;
    m->of_bytes = c->bytes;
    m->load.unit_bytes = fold ? add_folded(e, m, collective, fold, how, sums)
                              : add_alone(e, m, collective, how, sums);
    if (!(m->load.unit_bytes > 0))
        m->load.unit_bytes = 1;
    keep_weights(e, l, m);
    if (!fold)
        m->load.alone_Bps = m->load.full_Bps;
}

static struct made *add_made(struct fr__engine *e, struct fr__link_loads *l, const struct key *key,
                             uint64_t hash)
{
    struct made *m = fr__arena_alloc(l->arena, 1, sizeof(*m));

    if (!m || !fr__grow(&l->made, &l->cap, l->n + 1, sizeof(struct made *)) ||
        !fr__hash_add(&l->table, hash, (uint32_t)l->n)) {
        fr__engine_fail_nomem(e);
        return NULL;
    }
    m->key = *key;
    return l->made[l->n++] = m;
}

static double unit_bytes(const struct fr_collective *c, const struct made *m, double n,
                         double n_rings)
{
    switch (m->key.shape) {
    case SHAPE_RING:
        return (c->kind == FR_ALL_REDUCE ? 2 : 1) * (n - 1) * floor(c->bytes / n) / n_rings;
    case SHAPE_CHAIN:
        return c->bytes / n_rings;
    case SHAPE_SHIFT:
        return (n - 1) * floor(c->bytes / n);
    case SHAPE_SCHEDULE:
        return m->load.unit_bytes * (c->bytes / m->of_bytes);
    default:
        return c->bytes;
    }
}

/* Finds or makes the load of a collective and what it moves of it. */
static void set_load(struct fr__engine *e, uint32_t collective, struct fr__repeat *a)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    struct fr__link_loads *l = e->collectives.link_loads;
    const struct fr__ring_set *rings = NULL;
    struct fr__collective_schedule how;
    struct key key = key_of(e, collective, &how);
    uint64_t hash = fr__hash_bytes(&key, sizeof(key));
    struct made *m = find(l, &key, hash);

    if (!m) {
        m = add_made(e, l, &key, hash);
        if (m)
            make_load(e, l, m, collective, &how);
    }
    if (!m || e->status != FR_OK)
        return;
    if (key.shape == SHAPE_RING || key.shape == SHAPE_CHAIN)
        rings = fr__group_rings(e, c->group);
    a->load = &m->load;
    a->bytes = unit_bytes(c, m, fr_plan_group_size(e->plan, c->group), rings ? rings->n_rings : 1);
    if (key.shape != SHAPE_SCHEDULE) /* as fr__scheduled_bytes counts already */
        a->bytes *= how.wire_factor / how.slow_factor;
    a->held_bytes = a->bytes * how.slow_factor;
}

/* NULL: it moves nothing, or the failure is kept. */
static const struct fr__repeat *with_load(struct fr__engine *e, uint32_t collective)
{
    uint32_t n = fr_plan_group_size(e->plan, e->v->collectives[collective].group);
    struct fr__repeat *a = n > 1 ? fr__repeat_of(e, collective) : NULL;

    if (a && !a->has_load) {
        a->has_load = true;
        set_load(e, collective, a);
    }
    return a && a->load && a->load->n > 0 ? a : NULL;
}

/* The messages of all ranks of a stage to those of another. */
static void make_pair(struct fr__engine *e, struct fr__link_loads *l, struct made *m,
                      uint32_t share)
{
    uint32_t src = m->key.group, dst = m->key.root;
    const struct fr_plan_fold *from = fr_plan_device_fold(e->plan, src);
    const struct fr_plan_fold *to = fr_plan_device_fold(e->plan, dst);
    double *sums = sums_of(e, l);

    if (!sums)
        return;
    if (from && to && from->n == to->n && from->devices && to->devices)
        for (uint32_t i = 0; i < from->n; i++)
            add_pair(e, from->devices[i], to->devices[i], 1, sums);
    else
        add_pair(e, src, dst, share, sums);
    m->load.unit_bytes = 1;
    keep_weights(e, l, m);
}

static struct key key_of_pair(uint32_t src, uint32_t dst)
{
    return (struct key){.shape = SHAPE_PAIR, .group = src, .root = dst};
}

static void add_transfer(struct fr__engine *e, struct fr__link_loads *l,
                         const struct fr_transfer *x)
{
    struct key key = key_of_pair(e->v->tasks[x->send].device, e->v->tasks[x->recv].device);
    uint64_t hash = fr__hash_bytes(&key, sizeof(key));
    struct made *m;

    if (find(l, &key, hash))
        return;
    m = add_made(e, l, &key, hash);
    if (m)
        make_pair(e, l, m, x->share);
}

/* ---- for the others ---- */

static void set_classes(struct fr__engine *e, struct fr__link_loads *l)
{
    struct fr__link_load **loads = fr__arena_take(l->arena, l->n, sizeof(struct fr__link_load *));

    l->class_of = fr__arena_take(l->arena, e->v->topo->n_links, sizeof(*l->class_of));
    if (!loads || !l->class_of) {
        fr__engine_fail_nomem(e);
        return;
    }
    for (size_t k = 0; k < l->n; k++)
        loads[k] = &l->made[k]->load;
    fr__link_classes(e, loads, l->n, l->class_of);
}

enum fr_status fr__link_loads_reset(struct fr__engine *e)
{
    struct fr__link_loads *l = loads_of(e);

    if (!l)
        return e->status;
    fr__hash_fini(&l->table);
    fr__arena_reset(l->arena);
    l->n = 0;
    l->class_of = NULL;
    l->is_folded = e->v->device_counts != NULL &&
                   (fr__wants(e, FR_WANT_LINKS) || !e->network.model->is_end_known);
    if (!l->is_folded)
        return e->status;
    for (uint32_t c = 0; c < e->v->n_collectives && e->status == FR_OK; c++)
        with_load(e, c);
    for (uint32_t x = 0; x < e->v->n_transfers && e->status == FR_OK; x++)
        add_transfer(e, l, &e->v->transfers[x]);
    if (e->status == FR_OK)
        set_classes(e, l);
    return e->status;
}

struct fr__moved fr__moved_by(struct fr__engine *e, uint32_t collective, double bytes_s)
{
    const struct fr__repeat *a = with_load(e, collective);
    struct fr__moved moved = {.load = NULL};
    double could_bytes;

    if (!a)
        return moved;
    moved = (struct fr__moved){a->load, a->bytes, a->held_bytes};
    could_bytes = bytes_s * a->load->alone_Bps;
    if (fr__collective_has_cost(e, collective) && moved.held_bytes > could_bytes) {
        moved.bytes *= could_bytes / moved.held_bytes;
        moved.held_bytes = could_bytes;
    }
    return moved;
}

const struct fr__link_load *fr__link_load_of_pair(struct fr__engine *e, uint32_t src, uint32_t dst)
{
    const struct fr__link_loads *l = e->collectives.link_loads;
    struct key key = key_of_pair(src, dst);
    const struct made *m;

    if (!l || !l->is_folded)
        return NULL;
    m = find(l, &key, fr__hash_bytes(&key, sizeof(key)));
    return m && m->load.n > 0 ? &m->load : NULL;
}

void fr__count_known(struct fr__engine *e, uint32_t collective, double link_bytes[])
{
    struct fr__moved moved =
        fr__moved_by(e, collective, fr__collective_known(e, collective).bytes_s);

    if (moved.load)
        fr__link_load_count(moved.load, moved.bytes, link_bytes);
}

void fr__link_loads_spread(const struct fr__engine *e, double link_bytes[])
{
    const struct fr__link_loads *l = e->collectives.link_loads;

    for (size_t i = 0; l && l->is_folded && i < e->v->topo->n_links; i++)
        link_bytes[i] = link_bytes[l->class_of[i]];
}
