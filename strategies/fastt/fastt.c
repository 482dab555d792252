/* strategies/fastt/fastt.c - plans a problem by dpos or os-dpos: describes the machine, makes the
 * dag to start from (replicas or one model), searches, and compares with plain replicas. */
#include "config.h"

#include "strategies/fastt/fastt.h"

#include "base/error.h"
#include "base/units.h"
#include "plan/internal.h"

#include <limits.h>
#include <math.h>

static const double MOST_PIECE_BYTES = 1e9;

/* Looks at a device for an operation (fr__fastt_looks) that take minutes. */
static const double MOST_LOOKS = 5e8;

/* ---- the machine ---- */

static enum fr_status describe_machine(struct fr__fastt *f, struct fr__placer *pl,
                                       struct fr_error *err)
{
    size_t n = pl->in->n_devices;
    uint32_t *type = fr__arena_alloc(pl->arena, n, sizeof(*type));
    struct fr__dag_links links;

    if (!type)
        return fr__fail_nomem(err);
    FR_TRY(fr__dag_links_make(&links, pl, err));
    for (size_t d = 0; d < n; d++)
        type[d] = pl->in->topo->devices[pl->in->devices[d]].type;
    f->machine = (struct fr__dpos_machine){.n_devices = n,
                                           .type = type,
                                           .latency_s = links.latency_s,
                                           .s_per_byte = links.s_per_byte,
                                           .ctx = pl->ctx};
    return FR_OK;
}

static enum fr_status find_relays(struct fr__fastt *f, struct fr__placer *pl, bool shares,
                                  const uint32_t **via, struct fr_error *err)
{
    struct fr__dag_links links;

    FR_TRY(fr__dag_links_make(&links, pl, err));
    FR_TRY(fr__dag_links_relay(via, &links, pl, shares, err));
    f->machine.latency_s = links.latency_s;
    f->machine.s_per_byte = links.s_per_byte;
    return FR_OK;
}

static enum fr_status find_relays_by_machine(struct fr__fastt *f, struct fr__placer *pl,
                                             const uint32_t **via, struct fr_error *err)
{
    struct fr__dag_links links;

    FR_TRY(fr__dag_links_make(&links, pl, err));
    FR_TRY(fr__dag_links_by_machine(via, &links, pl, err));
    f->machine.latency_s = links.latency_s;
    f->machine.s_per_byte = links.s_per_byte;
    return FR_OK;
}

/* Finds the room of each device for the start, as far as o allows it to be filled. Returns the
 * smallest. */
static uint64_t find_rooms(struct fr__fastt *f, const struct fr__placer *pl,
                           const struct fr__fastt_options *o)
{
    uint64_t *room_bytes = fr__arena_alloc(pl->arena, f->machine.n_devices, sizeof(*room_bytes));
    uint64_t smallest = UINT64_MAX;

    if (!room_bytes)
        return 0;
    for (size_t d = 0; d < f->machine.n_devices; d++) {
        const struct fr_device_type *t = fr__type_of(pl, pl->in->devices[d]);
        uint64_t taken = (t->is_gpu ? t->context_bytes : 0) + f->start->transient_bytes;
        uint64_t held_back = o->held_back_bytes ? o->held_back_bytes[d] : 0;

        room_bytes[d] = t->mem_bytes > taken ? t->mem_bytes - taken : 0;
        if (o->room_frac > 0)
            room_bytes[d] = (uint64_t)(o->room_frac * (double)room_bytes[d]);
        room_bytes[d] -= held_back < room_bytes[d] ? held_back : room_bytes[d];
        if (room_bytes[d] < smallest)
            smallest = room_bytes[d];
    }
    f->machine.room_bytes = room_bytes;
    return smallest;
}

bool fr__fastt_cannot_fit(const struct fr__placer *pl)
{
    const struct fr__params *p = &pl->params;
    double held_bytes = 0, room_bytes = 0;

    for (size_t d = 0; d < pl->in->n_devices; d++)
        room_bytes += (double)fr__type_of(pl, pl->in->devices[d])->mem_bytes;
    for (size_t w = 0; w < p->n_owners; w++) {
        held_bytes += (double)fr__variable_bytes(pl, &p->owners[w], p->owners[w].bytes);
    }
    /* in pieces, each rounded on its own, it may be a hair less */
    return held_bytes * (1 - 1e-3) > room_bytes;
}

/* ---- how large it is ---- */

double fr__fastt_looks(const struct fr__placer *pl, size_t n_replicas, bool has_slots)
{
    return (double)pl->graph->n_ops * (double)n_replicas * (double)pl->in->n_devices *
           (has_slots ? 8 : 1);
}

enum fr_status fr__fastt_check_size(const struct fr__placer *pl, size_t n_replicas, double most,
                                    struct fr_error *err)
{
    const struct fr_graph *g = pl->graph;
    const struct fr__plan_size size = {.tasks = n_replicas * g->n_ops,
                                       .deps = n_replicas * g->n_edges,
                                       .buffers = n_replicas * g->n_tensors,
                                       .frees = n_replicas * g->n_edges};

    if (fr__fastt_looks(pl, n_replicas, false) > most)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "too large to plan op by op: %zu operations, each on any of %zu GPUs; name "
                        "fewer GPUs, or a strategy that repeats one plan, like dp or hybrid",
                        g->n_ops * n_replicas, pl->in->n_devices);
    return fr__plan_has_room(pl->plan, &size) ? FR_OK : fr__plan_check_room(pl->plan, err);
}

/* ---- the start ---- */

/* Bytes of the variables and one replica. */
static uint64_t replica_bytes(const struct fr__dag *dag)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < dag->n_ops; i++) {
        const struct fr__dag_op *o = &dag->ops[i];

        if (o->replica == FR_NONE)
            sum += o->resident_bytes + o->output_bytes;
        else if (o->replica == 0) /* it is on the variables' device, so it needs no copy of them */
            sum += o->output_bytes;
    }
    return sum;
}

static enum fr_status make_start(struct fr__fastt *f, struct fr__placer *pl, bool replicates,
                                 struct fr_error *err)
{
    fr__dag_free(f->start);
    f->start = NULL;
    f->is_data_parallel = replicates && pl->in->n_devices > 1;
    return fr__dag_make(&f->start, pl, f->is_data_parallel ? pl->in->n_devices : 1, err);
}

/* The bytes that take as long to send as the longest latency: a smaller piece costs more to send
 * than it saves. */
static uint64_t least_piece_bytes(const struct fr__dpos_machine *m)
{
    double most = 1;

    for (size_t k = 0; k < m->n_devices * m->n_devices; k++)
        if (m->s_per_byte[k] > 0)
            most = fmax(most, fmin(m->latency_s[k] / m->s_per_byte[k], MOST_PIECE_BYTES));
    return (uint64_t)most;
}

static enum fr_status make_start_by(struct fr__fastt *f, struct fr__placer *pl,
                                    const struct fr__rule *rule, struct fr_error *err)
{
    size_t n = pl->in->n_devices;
    struct fr__dag_how how = {.n_replicas = rule->replicates ? n : 1,
                              .n_pieces = rule->has_pieces ? n : 1,
                              .least_piece_bytes = least_piece_bytes(&f->machine),
                              .keeps_together = rule->keeps_together,
                              .launches_ahead = true,
                              .lines_up = true};

    if (rule->by_machine)
        FR_TRY(fr__dag_machines(&how.machine_of, &how.n_machines, pl, err));
    fr__dag_free(f->start);
    f->start = NULL;
    f->is_data_parallel = how.n_replicas > 1;
    return fr__dag_make_as(&f->start, pl, &how, err);
}

static enum fr_status prepare(struct fr__fastt *out, struct fr__placer *pl,
                              const struct fr__fastt_options *o, struct fr_error *err)
{
    /* a model that all devices together cannot hold has no replica on one of them */
    bool can_replicate = pl->in->global_batch >= pl->in->n_devices && !fr__fastt_cannot_fit(pl);
    bool replicates = o->start == FR__FASTT_DP || (o->start == FR__FASTT_AUTO && can_replicate);

    *out = (struct fr__fastt){.rule = fr__rule_at(FR__RULE_PAPER), .own_s = NAN};
    FR_TRY(fr__fastt_check_size(
        pl, can_replicate && o->start != FR__FASTT_MODEL ? pl->in->n_devices : 1, MOST_LOOKS, err));
    FR_TRY(describe_machine(out, pl, err));
    FR_TRY(make_start(out, pl, replicates, err));
    if (find_rooms(out, pl, o) >= replica_bytes(out->start) || o->start != FR__FASTT_AUTO ||
        !out->is_data_parallel)
        return FR_OK;
    FR_TRY(make_start(out, pl, false, err));
    find_rooms(out, pl, o);
    return FR_OK;
}

enum fr_status fr__fastt_prepare(struct fr__fastt *out, struct fr__placer *pl,
                                 enum fr__fastt_start start, struct fr_error *err)
{
    const struct fr__fastt_options o = {.start = start};

    return prepare(out, pl, &o, err);
}

/* ---- planning ---- */

enum fr_status fr__fastt_fail_no_room(const struct fr__fastt *f, const struct fr__placer *pl,
                                      struct fr_error *err)
{
    const struct fr__dpos_result *r = &f->result.plan;
    char name[160];

    return fr__dpos_fail_no_room(r, fr__dag_name(f->result.dag, r->lack_op, name, sizeof(name)),
                                 pl->in->topo->devices[pl->in->devices[r->lack_device]].name, err);
}

enum fr_status fr__fastt_check_fits(const struct fr__fastt *f, const struct fr__placer *pl,
                                    struct fr_error *err)
{
    const struct fr_device *d;
    uint64_t mem_bytes;
    char needs[32], has[32];

    if (f->lack_bytes == 0)
        return FR_OK;
    d = &pl->in->topo->devices[f->lack_device];
    mem_bytes = pl->in->topo->types[d->type].mem_bytes;
    fr__format_bytes((double)(mem_bytes + f->lack_bytes), needs, sizeof(needs));
    fr__format_bytes((double)mem_bytes, has, sizeof(has));
    return fr__fail(err, FR_ENOROOM, FR_NOWHERE,
                    "no plan by the paper's rule fits: in the nearest, %s must hold %s, has %s",
                    d->name, needs, has);
}

static enum fr_status search(struct fr__fastt *f, struct fr__placer *pl,
                             const struct fr__fastt_options *o, struct fr_error *err)
{
    struct fr__os_dpos_options how = o->search;

    if (!o->splits)
        how.max_parts = 1;
    how.inputs_wait = f->rule->inputs_wait;
    how.looks_ahead = f->rule->looks_ahead;
    how.costs = (struct fr__split_costs){fr__dag_part_cost, fr__dag_bytes_cost};
    fr__os_dpos_free(f->search);
    f->search = NULL;
    return fr__os_dpos_run(&f->search, f->start, &f->machine, &how, pl->ctx, &f->result, err);
}

/* Places each replica on its device, and each shared variable, with its sum and updates, on the
 * device that holds least so far. NULL: out of memory. */
static uint32_t *place_replicas(const struct fr__fastt *f, struct fr__placer *pl)
{
    const struct fr__dag *dag = f->start;
    size_t n = f->machine.n_devices;
    uint32_t *placed = fr__arena_alloc(pl->arena, dag->n_ops, sizeof(*placed));
    uint32_t *of_group = fr__arena_alloc(pl->arena, dag->n_groups + 1, sizeof(*of_group));
    uint64_t *held = fr__arena_alloc(pl->arena, n, sizeof(*held));

    for (size_t i = 0; placed && of_group && held && i < dag->n_ops; i++) {
        const struct fr__dag_op *o = &dag->ops[i];
        uint32_t least = 0;

        for (uint32_t d = 1; d < n; d++)
            if (held[d] < held[least])
                least = d;
        if (o->role == FR__DAG_VARIABLE) {
            of_group[o->group] = least;
            held[least] += o->resident_bytes;
        }
        placed[i] = o->replica != FR_NONE ? o->replica
                    : o->group != FR_NONE ? of_group[o->group]
                                          : 0;
    }
    return of_group && held ? placed : NULL;
}

/* Keeps plain replicas if they are expected to be faster, or always. */
static enum fr_status compare_replicas(struct fr__fastt *f, struct fr__placer *pl, bool always,
                                       struct fr_error *err)
{
    struct fr__dpos_options how = {0};
    struct fr__dpos_result plan;

    how.placed = f->placed = place_replicas(f, pl);
    f->replicas = fr__dpos_new(&f->machine);
    if (!how.placed || !f->replicas)
        return fr__fail_nomem(err);
    FR_TRY(fr__dpos_run(f->replicas, f->start, &how, &plan, err));
    if (plan.outcome != FR__DPOS_DONE)
        return FR_OK;
    f->replicas_s = plan.makespan_s;
    f->keeps_replicas = always || f->result.plan.outcome != FR__DPOS_DONE ||
                        plan.makespan_s < f->result.plan.makespan_s;
    if (!f->keeps_replicas)
        return FR_OK;
    f->result.plan = plan;
    f->result.dag = f->start;
    return FR_OK;
}

static enum fr_status run_paper(struct fr__fastt *out, struct fr__placer *pl,
                                const struct fr__fastt_options *o, struct fr_error *err)
{
    FR_TRY(prepare(out, pl, o, err));
    if (o->links == FR__FASTT_SLOTS)
        FR_TRY(fr__dag_links_map(&out->machine.links, NULL, pl, err));
    FR_TRY(search(out, pl, o, err));
    out->replicas_s = INFINITY;
    if (o->replicas != FR__FASTT_IGNORE && out->is_data_parallel)
        FR_TRY(compare_replicas(out, pl, o->replicas == FR__FASTT_ONLY, err));
    if (out->result.plan.outcome == FR__DPOS_NO_ROOM && o->start == FR__FASTT_AUTO &&
        out->is_data_parallel) {
        FR_TRY(make_start(out, pl, false, err));
        find_rooms(out, pl, o);
        FR_TRY(search(out, pl, o, err));
    }
    return FR_OK;
}

/* Splits are tried for so many operations that about this many are placed in all, half a second of
 * planning. */
static const double MOST_PLACED = 2e6;

static void limit_tries(const struct fr__fastt *f, struct fr__os_dpos_options *search)
{
    double an_op = 2.0 * (double)(f->machine.n_devices - 1) * (double)f->start->n_ops;
    double n = MOST_PLACED / an_op;

    search->max_tried = n < 1 ? 1 : n < UINT_MAX ? (unsigned)n : UINT_MAX; /* one device: any */
    /* one operation in as many parts as there are devices always; in thousands, if a user wants
     * them, as far as that goes */
    search->most_made = fmax(MOST_PLACED, 2 * an_op);
}

/* A device for each group that is a replica. NULL: out of memory. */
static uint32_t *spread_replicas(const struct fr__fastt *f, struct fr__placer *pl)
{
    const struct fr__dag *dag = f->start;
    uint32_t *groups = fr__arena_alloc(pl->arena, dag->n_groups + 1, sizeof(*groups));

    for (size_t g = 0; groups && g < dag->n_groups; g++)
        groups[g] = FR_NONE;
    for (size_t i = 0; groups && i < dag->n_ops; i++)
        if (dag->ops[i].replica != FR_NONE && dag->ops[i].group != FR_NONE)
            groups[dag->ops[i].group] = dag->ops[i].replica;
    return groups;
}

/* The best plan without splits. */
static enum fr_status plan_whole(struct fr__fastt *f, struct fr__placer *pl, struct fr_error *err)
{
    struct fr__dpos_options base = {.inputs_wait = f->rule->inputs_wait,
                                    .looks_ahead = f->rule->looks_ahead};

    if (f->rule->keeps_together) {
        base.groups = spread_replicas(f, pl);
        if (!base.groups)
            return fr__fail_nomem(err);
    }
    f->planner = fr__dpos_new(&f->machine);
    if (!f->planner)
        return fr__fail_nomem(err);
    FR_TRY(fr__dpos_best(f->planner, f->start, &f->machine, &base, &f->way, &f->result.plan, err));
    f->result.dag = f->start;
    f->result.start_s = f->result.plan.makespan_s;
    f->result.n_whole = 1;
    return FR_OK;
}

enum fr_status fr__fastt_by_rule(struct fr__fastt *out, struct fr__placer *pl,
                                 const struct fr__fastt_options *o, const struct fr__rule *rule,
                                 bool is_roomy, struct fr_error *err)
{
    struct fr__fastt_options how = *o;
    uint64_t *room_bytes;
    const uint32_t *via;

    *out = (struct fr__fastt){.rule = rule, .own_s = NAN, .has_spare_room = is_roomy};
    out->replicas_s = INFINITY;
    FR_TRY(fr__fastt_check_size(pl, rule->replicates ? pl->in->n_devices : 1, MOST_LOOKS, err));
    FR_TRY(describe_machine(out, pl, err));
    if (rule->by_machine)
        FR_TRY(find_relays_by_machine(out, pl, &via, err));
    else
        FR_TRY(find_relays(out, pl, o->links == FR__FASTT_SHARED, &via, err));
    FR_TRY(make_start_by(out, pl, rule, err));
    out->start->via = via;
    out->waits_for_slots = o->links == FR__FASTT_SLOTS;
    if (out->waits_for_slots)
        FR_TRY(fr__dag_links_map(&out->machine.links, via, pl, err));
    find_rooms(out, pl, o);
    if (is_roomy) {
        room_bytes = fr__arena_alloc(pl->arena, out->machine.n_devices, sizeof(*room_bytes));
        if (!room_bytes)
            return fr__fail_nomem(err);
        for (size_t d = 0; d < out->machine.n_devices; d++)
            room_bytes[d] = UINT64_MAX / 4;
        out->machine.room_bytes = room_bytes;
    }
    how.splits = rule->splits && o->splits;
    if (o->limits_tries)
        limit_tries(out, &how.search);
    if (how.splits)
        FR_TRY(search(out, pl, &how, err));
    else
        FR_TRY(plan_whole(out, pl, err));
    if (out->result.plan.outcome != FR__DPOS_DONE)
        return FR_OK;
    out->turns = (struct fr__dag_turns){out->machine.links, out->result.plan.there_s,
                                        out->result.plan.between_s};
    return fr__dpos_bounds(&out->bounds, out->result.dag, &out->machine, err);
}

enum fr_status fr__fastt_paper(struct fr__fastt *out, struct fr__placer *pl,
                               const struct fr__fastt_options *o, struct fr_error *err)
{
    FR_TRY(run_paper(out, pl, o, err));
    if (out->result.plan.outcome == FR__DPOS_NO_ROOM)
        return fr__fastt_fail_no_room(out, pl, err);
    return fr__dpos_bounds(&out->bounds, out->result.dag, &out->machine, err);
}

void fr__fastt_fini(struct fr__fastt *f)
{
    fr__os_dpos_free(f->search);
    fr__dpos_free(f->replicas);
    fr__dpos_free(f->planner);
    fr__dag_free(f->start);
    *f = (struct fr__fastt){.own_s = NAN};
}
