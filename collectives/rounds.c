/* collectives/rounds.c - runs a schedule in rounds, so that people can read it: see rounds.h.
 *
 * It is separate from the engine (sim/collectives/schedule_run.c), which gives each message the
 * time that its links take. */
#include "config.h"

#include "collectives/rounds.h"

#include "base/arena.h"
#include "base/error.h"
#include "collectives/algorithms/custom_file.h"
#include "collectives/algorithms/schedule.h"
#include "collectives/grid.h"
#include "collectives/nccl/from_topo.h"
#include "collectives/nccl/tuner.h"
#include "topo/routes/router.h"

#include <stdlib.h>
#include <string.h>

static const char FILE_PREFIX[] = "file:";

struct slot {
    uint32_t step, sends_left, recvs_left;
    bool is_open, has_sent;
};

/* A message on its way, or come before the step that waits for it. */
struct flight {
    uint32_t from, to, to_step; /* slots; a step of the second */
    bool has_come;
};

struct run {
    const struct fr__schedule *s;
    struct fr_collective_rounds *told;
    struct slot *slots;     /* [n_entities * n_slots] */
    double *sent;           /* [n_entities] bytes */
    struct flight *flights; /* [n_flights] */
    size_t n_flights, cap_flights, cap_messages;
    uint32_t round;
    struct fr_error *err;
};

struct pieces {
    uint32_t first, n;
};

static void take_piece(void *user, uint32_t piece)
{
    struct pieces *p = user;

    p->first = p->n == 0 || piece < p->first ? piece : p->first;
    p->n++;
}

/* Keeps the message for people, if it is of the lane that is told. */
static enum fr_status tell(struct run *r, uint32_t slot, uint32_t step, uint32_t k,
                           const struct fr__send *m)
{
    struct fr_collective_rounds *t = r->told;
    uint32_t from = fr__slot_entity(r->s, slot), to = fr__slot_entity(r->s, m->to);
    struct pieces p = {.n = 0};

    r->s->algorithm->carry(r->s, slot, step, k, take_piece, &p);
    if (from == to || (t->n_lanes > 1 && p.first >= t->n_pieces / t->n_lanes))
        return FR_OK;
    if (t->n_messages == FR_ROUNDS_MOST_MESSAGES)
        return fr__fail(r->err, FR_ERANGE, FR_NOWHERE, "more than %d messages",
                        FR_ROUNDS_MOST_MESSAGES);
    if (!fr__grow(&t->messages, &r->cap_messages, t->n_messages + 1, sizeof(*t->messages)))
        return fr__fail_nomem(r->err);
    t->messages[t->n_messages++] = (struct fr_collective_message){.round = r->round,
                                                                  .from = from,
                                                                  .to = to,
                                                                  .bytes = m->bytes,
                                                                  .first_piece = p.first,
                                                                  .n_pieces = p.n,
                                                                  .is_sum = m->is_sum};
    r->sent[from] += m->bytes;
    return FR_OK;
}

static enum fr_status post(struct run *r, uint32_t slot)
{
    struct slot *k = &r->slots[slot];

    k->has_sent = true;
    for (uint32_t i = 0; i < k->sends_left; i++) {
        struct fr__send m;

        fr__schedule_send(r->s, slot, k->step, i, &m);
        FR_TRY(tell(r, slot, k->step, i, &m));
        if (!fr__grow(&r->flights, &r->cap_flights, r->n_flights + 1, sizeof(*r->flights)))
            return fr__fail_nomem(r->err);
        r->flights[r->n_flights++] = (struct flight){slot, m.to, m.to_step, false};
    }
    return FR_OK;
}

/* Takes what has come before the step began. */
static void take_early(struct run *r, uint32_t slot)
{
    struct slot *k = &r->slots[slot];

    for (size_t i = 0; i < r->n_flights;) {
        struct flight *f = &r->flights[i];

        if (f->has_come && f->to == slot && f->to_step == k->step && k->recvs_left > 0) {
            k->recvs_left--;
            *f = r->flights[--r->n_flights];
        } else {
            i++;
        }
    }
}

/* Goes on as far as the slot can in this round. */
static enum fr_status go_on(struct run *r, uint32_t slot)
{
    struct slot *k = &r->slots[slot];

    for (;;) {
        struct fr__step at;

        if (k->is_open) {
            if (!k->has_sent && k->recvs_left == 0)
                FR_TRY(post(r, slot));
            if (k->sends_left > 0 || k->recvs_left > 0)
                return FR_OK;
            k->is_open = false;
            k->step++;
        }
        if (k->step == r->s->n_steps)
            return FR_OK;
        fr__schedule_step(r->s, slot, k->step, &at);
        *k = (struct slot){k->step, at.n_sends, at.n_recvs, true, false};
        take_early(r, slot);
        if (!at.is_relay)
            FR_TRY(post(r, slot));
    }
}

/* The round is over: what left in it has come. only_own: what a rank or switch passes on to itself,
 * from one of its slots to another, which takes no round. Returns whether there was any. */
static bool arrive(struct run *r, bool only_own)
{
    bool is_any = false;

    for (size_t i = 0; i < r->n_flights;) {
        struct flight *f = &r->flights[i];
        struct slot *to = &r->slots[f->to];

        if (only_own && fr__slot_entity(r->s, f->from) != fr__slot_entity(r->s, f->to)) {
            i++;
            continue;
        }
        if (!f->has_come) {
            is_any = true;
            r->slots[f->from].sends_left--;
            f->has_come = true;
        }
        if (to->is_open && to->step == f->to_step && to->recvs_left > 0) {
            to->recvs_left--;
            *f = r->flights[--r->n_flights];
        } else {
            i++;
        }
    }
    return is_any;
}

static enum fr_status run_rounds(struct run *r)
{
    uint32_t n = r->s->n_entities * r->s->n_slots;

    do {
        size_t before = r->told->n_messages;

        do
            for (uint32_t slot = 0; slot < n; slot++)
                FR_TRY(go_on(r, slot));
        while (arrive(r, true));
        if (r->told->n_messages > before)
            r->told->n_rounds = r->round + 1;
        r->round++;
    } while (arrive(r, false));
    for (uint32_t slot = 0; slot < n; slot++)
        if (r->slots[slot].step < r->s->n_steps)
            return fr__fail(r->err, FR_ECHECK, FR_NOWHERE, "%s never ends", r->s->algorithm->name);
    return FR_OK;
}

static enum fr_status tell_schedule(struct fr_collective_rounds *t, const struct fr__schedule *s,
                                    struct fr_error *err)
{
    size_t n = (size_t)s->n_entities * s->n_slots;
    struct run r = {.s = s, .told = t, .err = err};
    enum fr_status st;

    r.slots = calloc(n + 1, sizeof(*r.slots));
    r.sent = calloc((size_t)s->n_entities + 1, sizeof(*r.sent));
    st = r.slots && r.sent ? run_rounds(&r) : fr__fail_nomem(err);
    for (uint32_t i = 0; st == FR_OK && i < s->n; i++) {
        t->sent_bytes += r.sent[i];
        t->most_sent_bytes = r.sent[i] > t->most_sent_bytes ? r.sent[i] : t->most_sent_bytes;
    }
    free(r.slots);
    free(r.sent);
    free(r.flights);
    return st;
}

/* ---- what is told ---- */

/* By NCCL's name or ours; NULL: no such. */
static const struct fr__algorithm *named(const char *name, enum fr_collective_kind kind)
{
    if (!name || strcmp(name, "nccl") == 0 || strcmp(name, "Ring") == 0)
        return fr__algorithm_usual(kind);
    if (strcmp(name, "Tree") == 0)
        return &fr__tree_algorithm;
    if (strcmp(name, "NVLS") == 0 || strcmp(name, "NVLSTree") == 0)
        return &fr__nvls_algorithm;
    if (strcmp(name, "PAT") == 0)
        return &fr__pat_algorithm;
    return fr__algorithm_find(name);
}

/* Ranks of a machine stand one after the other, as many in each; else 1. */
static uint32_t ranks_a_machine(const struct fr_topo *t, const uint32_t devices[], uint32_t n)
{
    uint32_t each = 1;

    while (each < n && t->devices[devices[each]].machine == t->devices[devices[0]].machine)
        each++;
    for (uint32_t i = 0; i < n; i++)
        if (n % each != 0 ||
            t->devices[devices[i]].machine != t->devices[devices[i / each * each]].machine)
            return 1;
    return each;
}

/* The widest ring over the links; ranks as they stand in it and where each stands. */
static enum fr_status find_ring(const struct fr_topo *t, const uint32_t devices[], uint32_t n,
                                uint32_t order[], uint32_t place[], struct fr_error *err)
{
    struct fr_router *router = NULL;
    double share;
    size_t n_rings = 0;
    enum fr_status st;

    FR_TRY(fr_router_new(&router, t, err));
    st = fr_topo_rings(router, devices, n, 1, order, &share, &n_rings, err);
    fr_router_free(router);
    for (uint32_t i = 0; st == FR_OK && i < n; i++)
        for (uint32_t rank = 0; rank < n; rank++)
            if (devices[rank] == order[i]) {
                order[i] = rank;
                place[rank] = i;
                break;
            }
    return st;
}

/* A schedule for people, and what it borrows. */
struct making {
    struct fr__schedule s;
    const struct fr_topo *topo;
    const uint32_t *devices; /* [s.n] */
    struct fr_router *router;
    uint32_t *order; /* owned: the ring's ranks, or a chain's, and where each stands */
};

static uint32_t count_hops(void *user, uint32_t from, uint32_t to)
{
    const struct making *m = user;
    uint32_t hops[FR__MAX_HOPS];
    size_t n = 0;

    if (fr__router_walk(m->router, m->devices[from], m->devices[to], hops, &n, NULL) != FR_OK)
        return 0;
    return (uint32_t)n;
}

/* The ranks of a node, and of a tree the chain of its first channel, both as a run takes them
 * (way.c): nodes are NVLink domains where one NVSwitch joins several machines, and without a model
 * of NCCL's the chain goes by number. */
static enum fr_status set_nodes(struct making *m, unsigned version, struct fr_error *err)
{
    struct fr__schedule *s = &m->s;
    bool is_tree = s->algorithm == &fr__tree_algorithm, has_domains = false;
    struct fr__nccl_comm comm;
    struct fr_error why;
    uint32_t *chains = NULL;
    enum fr_status st;

    s->per_node = ranks_a_machine(m->topo, m->devices, s->n);
    for (size_t v = 0; v < m->topo->n_vertices; v++)
        has_domains |= m->topo->vertices[v].kind == FR_VERTEX_NVSWITCH &&
                       m->topo->vertices[v].machine == FR_NONE;
    if (!is_tree && !has_domains)
        return FR_OK;
    st = fr__nccl_comm_of(m->topo, m->devices, s->n, version, &comm, &chains, &why);
    if (st == FR_ENOMEM)
        return fr__fail_nomem(err);
    if (st != FR_OK)
        return FR_OK;
    if (has_domains)
        s->per_node = s->n / comm.n_nodes;
    if (is_tree && comm.tree.n_channels > 0 && s->per_node == s->n / comm.n_nodes) {
        m->order = calloc(2 * (size_t)s->per_node, sizeof(*m->order));
        for (uint32_t i = 0; m->order && i < s->per_node; i++) {
            m->order[i] = chains[i];
            m->order[s->per_node + chains[i]] = i;
        }
        s->order = m->order;
        s->place = m->order ? m->order + s->per_node : NULL;
        st = m->order ? FR_OK : fr__fail_nomem(err);
    }
    free(chains);
    return st == FR_ENOMEM ? st : FR_OK;
}

static enum fr_status make_schedule(struct making *m, const char *version, struct fr_error *err)
{
    struct fr__schedule *s = &m->s;
    bool is_ring = s->algorithm == &fr__ring_algorithm || s->algorithm == &fr__chain_algorithm;
    unsigned number = fr__nccl_version_parse(version ? version : FR__NCCL_VERSION);

    FR_TRY(set_nodes(m, number, err));
    FR_TRY(fr_router_new(&m->router, m->topo, err));
    fr__grid_sides(s, count_hops, m);
    s->n_lanes = s->n_chunks = 1;
    if (is_ring && s->n > 1) {
        m->order = calloc(2 * (size_t)s->n, sizeof(*m->order));
        if (!m->order)
            return fr__fail_nomem(err);
        FR_TRY(find_ring(m->topo, m->devices, s->n, m->order, m->order + s->n, err));
        s->order = m->order;
        s->place = m->order + s->n;
    }
    return fr__schedule_make(s, err);
}

/* By name, or from a file: *custom is then the caller's to free. */
static enum fr_status find_algorithm(struct making *m, const char *name, struct fr__custom **custom,
                                     struct fr_error *err)
{
    if (name && strncmp(name, FILE_PREFIX, sizeof(FILE_PREFIX) - 1) == 0) {
        FR_TRY(fr__custom_load(custom, name + sizeof(FILE_PREFIX) - 1, err));
        m->s.algorithm = &fr__custom_algorithm;
        m->s.custom = *custom;
        return FR_OK;
    }
    m->s.algorithm = named(name, m->s.kind);
    return m->s.algorithm
               ? FR_OK
               : fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no algorithm of collectives '%s'", name);
}

enum fr_status fr_collective_rounds_new(struct fr_collective_rounds **out, const struct fr_topo *t,
                                        const uint32_t devices[], uint32_t n,
                                        enum fr_collective_kind kind, double bytes,
                                        const struct fr_collective_options *how,
                                        struct fr_error *err)
{
    struct making m = {.s = {.kind = kind, .n = n, .bytes = bytes}, .topo = t, .devices = devices};
    struct fr_collective_rounds *told = NULL;
    struct fr__custom *custom = NULL;
    enum fr_status st;

    if (n > FR_ROUNDS_MOST_RANKS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %d ranks", FR_ROUNDS_MOST_RANKS);
    FR_TRY(find_algorithm(&m, how->algorithm, &custom, err));
    st = make_schedule(&m, how->nccl_version, err);
    if (st == FR_OK && !(told = calloc(1, sizeof(*told))))
        st = fr__fail_nomem(err);
    if (st == FR_OK) {
        *told = (struct fr_collective_rounds){.algorithm = m.s.algorithm->name,
                                              .summary = m.s.algorithm->summary,
                                              .source = m.s.algorithm->source,
                                              .n_ranks = n,
                                              .n_switches = m.s.n_entities - n,
                                              .n_pieces = m.s.n_pieces,
                                              .n_lanes = m.s.n_entities > n ? m.s.n_lanes : 1};
        st = tell_schedule(told, &m.s, err);
    }
    fr__custom_free(custom);
    fr_router_free(m.router);
    free(m.order);
    if (st == FR_OK)
        *out = told;
    else
        fr_collective_rounds_free(told);
    return st;
}

void fr_collective_rounds_free(struct fr_collective_rounds *s)
{
    if (!s)
        return;
    free(s->messages);
    free(s);
}
