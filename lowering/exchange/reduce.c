/* lowering/exchange/reduce.c - gradients summed by collectives: which of them travel
 * together, and a replica's part in it. The policies are described in exchange.h.
 */
#include "config.h"

#include "lowering/exchange/parts.h"

#include "base/error.h"
#include "base/units.h"
#include "lowering/log.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- gradients in the order in which they are ready ---- */

struct key {
    uint32_t ready, owner;
};

static int by_ready(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->ready != y->ready)
        return x->ready < y->ready ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

/* keys: [p->n_owners] scratch. */
static size_t sort_ready(const struct fr__params *p, struct key keys[])
{
    size_t n = 0;

    for (uint32_t i = 0; i < p->n_owners; i++)
        if (p->owners[i].ready != FR_NONE)
            keys[n++] = (struct key){p->owners[i].ready, i};
    qsort(keys, n, sizeof(*keys), by_ready);
    return n;
}

enum fr_status fr__ready_order(const struct fr__params *p, struct fr__arena *arena,
                               const uint32_t **out, size_t *n, struct fr_error *err)
{
    struct key *keys = fr__arena_alloc(arena, p->n_owners, sizeof(*keys));
    uint32_t *owners = fr__arena_alloc(arena, p->n_owners, sizeof(*owners));

    if (!keys || !owners)
        return fr__fail_nomem(err);
    *n = sort_ready(p, keys);
    for (size_t i = 0; i < *n; i++)
        owners[i] = keys[i].owner;
    *out = owners;
    return FR_OK;
}

/* Whether the bucket of so many bytes and tensors ends before `next`, the owner after `last`. */
static bool ends_before(const struct fr__bucket_limits *l, bool is_first, uint64_t bytes,
                        uint64_t tensors, const struct fr__owner *last,
                        const struct fr__owner *next, const uint8_t part_of[])
{
    return bytes >= (is_first && l->first_bytes > 0 ? l->first_bytes : l->bytes) ||
           (l->tensors > 0 && tensors + next->n_tensors > l->tensors) ||
           (part_of && part_of[last->op] != part_of[next->op]);
}

enum fr_status fr__buckets_make(struct fr__buckets *out, const struct fr__params *p,
                                const struct fr__bucket_limits *limits, const uint8_t part_of[],
                                struct fr__arena *arena, struct fr_error *err)
{
    uint32_t *first = fr__arena_alloc(arena, p->n_owners + 1, sizeof(*first));
    uint64_t *bytes = fr__arena_alloc(arena, p->n_owners + 1, sizeof(*bytes)), tensors = 0;
    const uint32_t *owners;
    size_t n_owners, n = 0;

    if (!first || !bytes)
        return fr__fail_nomem(err);
    FR_TRY(fr__ready_order(p, arena, &owners, &n_owners, err));
    for (size_t i = 0; i < n_owners; i++) {
        const struct fr__owner *o = &p->owners[owners[i]];

        bytes[n] += o->bytes;
        tensors += o->n_tensors;
        if (i + 1 < n_owners &&
            !ends_before(limits, n == 0, bytes[n], tensors, o, &p->owners[owners[i + 1]], part_of))
            continue;
        first[++n] = (uint32_t)(i + 1);
        tensors = 0;
    }
    *out = (struct fr__buckets){.n = n, .first = first, .owners = owners, .bytes = bytes};
    return FR_OK;
}

/* ---- sets ---- */

static const char *owner_name(const struct fr__exchange *x, uint32_t i)
{
    return x->pl->graph->ops[x->pl->params.owners[x->sets.owners[i]].op].name;
}

void fr__reduce_log(const struct fr__exchange *x, uint32_t b)
{
    uint32_t first = x->sets.first[b], end = x->sets.first[b + 1];
    char bytes[32];

    fr__log(x->pl->ctx, "bucket %u: %u gradients, %s, from %s to %s", b, end - first,
            fr__format_bytes((double)x->sets.bytes[b], bytes, sizeof(bytes)), owner_name(x, first),
            owner_name(x, end - 1));
}

/* Bytes of gradients as they travel, for so many of parameters. */
static double traveling_bytes(const struct fr__exchange *x, uint64_t bytes)
{
    return (double)bytes * x->pl->gradient_factor * fr__travel_frac(x);
}

static uint32_t add_collective(struct fr__exchange *x, uint32_t group, double bytes,
                               enum fr_collective_kind kind, const char *label)
{
    struct fr__placer *pl = x->pl;

    return fr__add_collective(pl,
                              &(struct fr_collective){.bytes = bytes,
                                                      .group = group,
                                                      .label = fr_plan_add_string(pl->plan, label),
                                                      .kind = kind,
                                                      .is_folded = x->options.is_folded});
}

/* How many ranks sum a set. */
static uint32_t n_ranks_of(const struct fr__exchange *x, uint32_t set)
{
    const uint32_t *of_stage = x->options.replicas_of;

    return of_stage ? of_stage[x->stage_of_set[set]] : fr__exchange_part(x, set)->over.n_ranks;
}

static double gathered_bytes(const struct fr__exchange *x, uint32_t set)
{
    double bytes = 0;

    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++)
        bytes += (double)fr__gathered_bytes(x->pl, &x->pl->params.owners[x->sets.owners[i]]);
    return bytes;
}

void fr__reduce_add_collectives(struct fr__exchange *x, uint32_t set, const char *label)
{
    const struct fr__reduce_part *part = fr__exchange_part(x, set);
    const struct fr__params *p = &x->pl->params;
    const uint32_t *groups =
        part->over.plan_group + (size_t)x->stage_of_set[set] * part->over.n_groups;
    double bytes = gathered_bytes(x, set);
    bool is_sharded = part->shards > 1;

    for (uint32_t g = 0; g < part->over.n_groups; g++) {
        uint32_t at = x->first_group[set] + g;

        x->collectives[at] = x->gathers[at] = FR_NONE;
        if (n_ranks_of(x, set) < 2 || x->sets.bytes[set] == 0)
            continue;
        if (!part->is_summed)
            x->collectives[at] =
                add_collective(x, groups[g], traveling_bytes(x, x->sets.bytes[set]),
                               is_sharded ? FR_REDUCE_SCATTER : FR_ALL_REDUCE, label);
        if (is_sharded && bytes > 0)
            x->gathers[at] = add_collective(x, groups[g], bytes, FR_ALL_GATHER, label);
    }
    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++) {
        const struct fr__owner *w = &p->owners[x->sets.owners[i]];

        for (uint32_t k = 0; k < w->n_updates; k++)
            x->set_of[p->updates[w->first_update + k]] = set;
    }
}

enum fr_status fr__reduce_make_room(struct fr__exchange *x, struct fr_error *err)
{
    struct fr__arena *arena = x->pl->arena;
    size_t n_ops = x->pl->graph->n_ops, n_devices = x->pl->in->topo->n_devices, n = 0;

    x->first_group = fr__arena_alloc(arena, x->sets.n + 1, sizeof(*x->first_group));
    x->members = fr__arena_alloc(arena, x->sets.n, sizeof(*x->members));
    x->shares = fr__arena_alloc(arena, x->sets.n, sizeof(*x->shares));
    x->set_of = fr__arena_alloc(arena, n_ops, sizeof(*x->set_of));
    if (!x->first_group || !x->members || !x->shares || !x->set_of)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < x->sets.n; s++) {
        x->first_group[s] = (uint32_t)n;
        n += fr__exchange_part(x, s)->over.n_groups;
    }
    x->collectives = fr__arena_alloc(arena, n, sizeof(*x->collectives));
    x->gathers = fr__arena_alloc(arena, n, sizeof(*x->gathers));
    if (!x->collectives || !x->gathers)
        return fr__fail_nomem(err);
    x->last_on = fr__arena_alloc(arena, n_devices, sizeof(*x->last_on));
    if (!x->last_on)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < n_ops; o++)
        x->set_of[o] = FR_NONE;
    if (!x->options.has_two_stages)
        return FR_OK;
    x->first_member = fr__arena_alloc(arena, n_devices, sizeof(*x->first_member));
    x->first_set = fr__arena_alloc(arena, n_devices, sizeof(*x->first_set));
    x->first_priority = fr__arena_alloc(arena, n_devices, sizeof(*x->first_priority));
    if (!x->first_member || !x->first_set || !x->first_priority)
        return fr__fail_nomem(err);
    for (size_t d = 0; d < n_devices; d++)
        x->first_member[d] = FR_NONE;
    return FR_OK;
}

/* ---- buckets ---- */

/* All are of stage 0. Buckets of several parts: an owner closes the bucket of another part. */
enum fr_status fr__buckets_prepare(struct fr__exchange *x, struct fr_error *err)
{
    const struct fr__bucket_limits limits = {.bytes = x->options.bucket_bytes,
                                             .first_bytes = x->options.first_bucket_bytes,
                                             .tensors = x->options.most_in_bucket};
    uint32_t *parts, *stages;
    char label[32];

    FR_TRY(
        fr__buckets_make(&x->sets, &x->pl->params, &limits, x->options.part_of, x->pl->arena, err));
    parts = fr__arena_alloc(x->pl->arena, x->sets.n, sizeof(*parts));
    stages = fr__arena_alloc(x->pl->arena, x->sets.n, sizeof(*stages));
    if (!parts || !stages)
        return fr__fail_nomem(err);
    for (uint32_t b = 0; b < x->sets.n; b++)
        parts[b] = fr__exchange_part_of(x, x->sets.owners[x->sets.first[b]]);
    x->part_of_set = parts;
    x->stage_of_set = stages;
    FR_TRY(fr__reduce_make_room(x, err));
    for (uint32_t b = 0; b < x->sets.n; b++) {
        snprintf(label, sizeof(label), "bucket %u", b);
        fr__reduce_add_collectives(x, b, label);
        fr__reduce_log(x, b);
    }
    return FR_OK;
}

/* ---- groups ---- */

enum fr_status fr__group_all(struct fr__rank_groups *out, struct fr__placer *pl, uint32_t n_stages,
                             uint32_t n_replicas, const uint32_t devices[], struct fr_error *err)
{
    uint32_t *groups = fr__arena_alloc(pl->arena, n_stages, sizeof(*groups));
    uint32_t *group_of = fr__arena_alloc(pl->arena, n_replicas, sizeof(*group_of));
    uint32_t *rank_of = fr__arena_alloc(pl->arena, n_replicas, sizeof(*rank_of));

    if (!groups || !group_of || !rank_of)
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < n_replicas; r++)
        rank_of[r] = r;
    for (uint32_t s = 0; n_replicas > 1 && s < n_stages; s++)
        groups[s] = fr_plan_add_group_of(pl->plan, devices + (size_t)s * n_replicas, n_replicas);
    *out = (struct fr__rank_groups){.n_groups = 1,
                                    .n_ranks = n_replicas,
                                    .plan_group = groups,
                                    .group_of = group_of,
                                    .rank_of = rank_of};
    return FR_OK;
}

/* ---- a replica's part ---- */

/* A device with two stages takes part in their sums in one order everywhere, or two devices would
 * wait for each other: a sum that is placed second and comes first has a priority before the
 * other's. */
static uint32_t add_member(struct fr__exchange *x, uint32_t device, uint32_t set,
                           uint32_t collective, uint32_t rank)
{
    int32_t next = x->pl->next_priority;
    bool is_before = x->options.has_two_stages && x->first_member[device] != FR_NONE &&
                     x->first_set[device] > set;
    uint32_t member;

    if (x->options.has_two_stages && x->first_member[device] == FR_NONE)
        x->first_priority[device] = next;
    if (is_before)
        x->pl->next_priority = x->first_priority[device] - 1;
    member = fr__exchange_member(x, device, collective, rank, FR_PHASE_BACKWARD_WEIGHT);
    if (is_before)
        x->pl->next_priority = next;
    return member;
}

/* The same by dependencies, for orders that go by what is ready. */
static void keep_order(struct fr__exchange *x, uint32_t device, uint32_t set, uint32_t member)
{
    uint32_t other = x->first_member[device];

    if (other == FR_NONE) {
        x->first_member[device] = member;
        x->first_set[device] = set;
    } else if (x->first_set[device] < set) {
        fr_plan_add_dep(x->pl->plan, other, member);
    } else if (x->first_set[device] > set) {
        fr_plan_add_dep(x->pl->plan, member, other);
    }
}

/* The whole gradients go with the member where the rank's share is all that stays. */
static void take_gradients(struct fr__exchange *x, struct fr__replica *r, uint32_t set,
                           uint32_t device, uint32_t member)
{
    struct fr__placer *pl = x->pl;
    uint64_t bytes = 0;

    x->shares[set] = FR_NONE;
    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++) {
        const struct fr__owner *w = &pl->params.owners[x->sets.owners[i]];
        bool leaves = fr__gradient_leaves(pl, w->op) && w->n_updates > 0;

        fr__after_gradient(r, w, member, leaves);
        bytes += leaves ? fr__kept_bytes(pl, FR__PART_GRADIENT, w->op, w->bytes) : 0;
    }
    x->shares[set] = fr__add_buffer(pl, FR_BUFFER_GRADIENT, device, bytes, member, FR_NONE);
}

/* The replica's member of a set's sum, after the gradients of the set. */
static uint32_t place_member(struct fr__exchange *x, struct fr__replica *r, uint32_t set,
                             uint32_t rank)
{
    const struct fr__reduce_part *part = fr__exchange_part(x, set);
    struct fr__placer *pl = x->pl;
    uint32_t device = fr__exchange_device(x, x->stage_of_set[set], rank), copy;
    uint32_t collective = x->collectives[x->first_group[set] + part->over.group_of[rank]];
    uint32_t member;

    if (collective == FR_NONE || !fr__exchange_has_stage(x, x->stage_of_set[set], rank))
        return FR_NONE;
    copy = fr__copy_in(x, r, set, device);
    member = add_member(x, device, set, collective, part->over.rank_of[rank]);
    if (copy != FR_NONE)
        fr_plan_add_dep(pl->plan, copy, member);
    if (x->passes != FR_NONE)
        fr_plan_add_dep(pl->plan, x->passes, copy != FR_NONE ? copy : member);
    take_gradients(x, r, set, device, member);
    if (!x->options.overlap)
        fr_plan_add_dep(pl->plan, r->done_of[device], member);
    if (x->row->is_chained && x->last_on[device] != FR_NONE)
        fr_plan_add_dep(pl->plan, x->last_on[device], member);
    x->last_on[device] = member;
    fr__copy_out(x, r, set, device, member);
    if (x->options.has_two_stages)
        keep_order(x, device, set, member);
    if (x->row->keeps_copies && x->options.keeps_copies && !fr__has_main_gradients(pl))
        fr__add_buffer(pl, FR_BUFFER_COMMUNICATION, device,
                       (uint64_t)traveling_bytes(x, x->sets.bytes[set]), FR_NONE, FR_NONE);
    return member;
}

/* An update waits for the member of its set; or, as chained members end in order, for the last on
 * its device. */
static void hold_back_updates(struct fr__exchange *x, struct fr__replica *r, uint32_t rank)
{
    const struct fr__params *p = &x->pl->params;
    bool waits_for_all = x->row->is_chained && !x->options.is_step_by_bucket;

    for (size_t i = 0; i < p->n_updates; i++) {
        uint32_t op = p->updates[i], set = x->set_of[op];

        if (set == FR_NONE)
            continue;
        if (x->members[set] != FR_NONE && fr__update_task(r, op) != FR_NONE)
            fr__add_free(x->pl, x->shares[set], fr__update_task(r, op));
        set = waits_for_all ? x->last_on[fr__exchange_device(x, x->stage_of_set[set], rank)]
                            : x->members[set];
        fr__before_update(r, op, set);
    }
}

void fr__reduce_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank)
{
    x->last_copy = FR_NONE;
    x->passes = FR_NONE;
    if (r->passes.are_before_sums)
        x->passes = fr__place_passes_before_sums(r, fr__exchange_device(x, 0, rank));
    for (uint32_t s = 0; s < x->options.n_stages; s++)
        if (fr__exchange_has_stage(x, s, rank))
            x->last_on[fr__exchange_device(x, s, rank)] = FR_NONE;
    for (uint32_t set = 0; set < x->sets.n; set++)
        x->members[set] = place_member(x, r, set, rank);
    fr__late_place(x, r, rank);
    fr__place_updates(r);
    hold_back_updates(x, r, rank);
    fr__before_updates(r, x->last_copy);
    fr__late_hold_back(x, r);
    fr__gathers_place(x, r, rank);
}
