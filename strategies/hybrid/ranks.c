/* strategies/hybrid/ranks.c - which ranks are placed, on which devices, and the groups in which
 * they meet.
 *
 * All ranks of a stage run the same graph on as many samples, so one of them can stand for all: the
 * plan is folded. Its groups still name all their devices, those of the groups that they stand for
 * too. So the simulation knows what all of them put on links (sim/collectives/link_load.h). Without
 * sharing of links, what a group's collective takes is worked out with all groups of the axis at
 * work (sim/collectives/equal_groups.h).
 */
#include "config.h"

#include "strategies/hybrid/hybrid.h"

#include "base/error.h"
#include "sim/collectives/equal_groups.h"
#include "lowering/replica/line_up.h"
#include "lowering/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNFOLDED = 128 }; /* replicas that are placed one by one unless asked otherwise, */
/* and bytes of their parameters together: their gradients' messages take some seconds one by one */
static const double MOST_BYTES_UNFOLDED = 2e11;

/* ---- devices ---- */

static enum fr_status line_up_devices(struct fr__hybrid_ranks *r, struct fr_error *err)
{
    const struct fr_problem *in = r->pl->in;
    uint32_t *line = fr__arena_alloc(r->pl->arena, in->n_devices, sizeof(*line));

    if (!line)
        return fr__fail_nomem(err);
    r->devices_by_rank = line;
    if (r->o->pp == in->n_devices) /* one pipeline: along devices that are well joined */
        return fr__line_up(r->pl, line, err);
    memcpy(line, in->devices, in->n_devices * sizeof(*line));
    return FR_OK;
}

static uint32_t rank_at(const struct fr__hybrid_ranks *r, uint32_t stage, uint32_t first)
{
    return first + stage * r->dense.stride[FR__MESH_PP];
}

/* The ranks that are placed: all of the first stage, or the first one. */
static enum fr_status list_replicas(struct fr__hybrid_ranks *r, struct fr_error *err)
{
    struct fr__arena *arena = r->pl->arena;
    uint32_t all = r->dense.n_ranks / r->o->pp, coord[FR__N_MESH_AXES];

    r->n_replicas = 0;
    r->rank_of = fr__arena_alloc(arena, all, sizeof(*r->rank_of));
    r->devices = fr__arena_alloc(arena, (size_t)all * r->o->pp, sizeof(*r->devices));
    if (!r->rank_of || !r->devices)
        return fr__fail_nomem(err);
    for (uint32_t rank = 0; rank < r->dense.n_ranks; rank++) {
        fr__mesh_coord(&r->dense, rank, coord);
        if (coord[FR__MESH_PP] == 0 && (!r->is_folded || r->n_replicas == 0))
            r->rank_of[r->n_replicas++] = rank;
    }
    for (uint32_t s = 0; s < r->o->pp; s++)
        for (uint32_t i = 0; i < r->n_replicas; i++)
            r->devices[(size_t)s * r->n_replicas + i] =
                r->devices_by_rank[rank_at(r, s, r->rank_of[i])];
    return FR_OK;
}

uint32_t fr__hybrid_device(const struct fr__hybrid_ranks *r, uint32_t stage, uint32_t replica)
{
    return r->devices[(size_t)stage * r->n_replicas + replica];
}

void fr__hybrid_stage_devices(const struct fr__hybrid_ranks *r, uint32_t stage, uint32_t devices[])
{
    uint32_t coord[FR__N_MESH_AXES], n = 0;

    for (uint32_t rank = 0; rank < r->dense.n_ranks; rank++) {
        fr__mesh_coord(&r->dense, rank, coord);
        if (coord[FR__MESH_PP] == stage)
            devices[n++] = r->devices_by_rank[rank];
    }
}

/* ---- groups ---- */

struct grouping {
    struct fr__hybrid_ranks *r;
    const struct fr__mesh *mesh;
    fr__mesh_axes axes;
    uint32_t n; /* ranks of a group */
};

/* The devices of a rank's group. */
static void devices_of(const struct grouping *g, uint32_t rank, uint32_t devices[])
{
    fr__mesh_group(g->mesh, g->axes, rank, devices);
    for (uint32_t i = 0; i < g->n; i++)
        devices[i] = g->r->devices_by_rank[devices[i]];
}

static bool is_first(const uint32_t coord[], fr__mesh_axes axes)
{
    for (int a = 0; a < FR__N_MESH_AXES; a++)
        if (axes & 1u << a && coord[a] != 0)
            return false;
    return true;
}

/* All groups of a stage, those that are not placed too. */
static enum fr_status all_groups(const struct grouping *g, uint32_t stage,
                                 struct fr__group_list *out, struct fr_error *err)
{
    uint32_t n_ranks = g->mesh->n_ranks / g->r->o->pp, coord[FR__N_MESH_AXES], ranks_done = 0;
    uint32_t *devices = fr__arena_alloc(g->r->pl->arena, n_ranks, sizeof(*devices));

    if (!devices)
        return fr__fail_nomem(err);
    for (uint32_t rank = 0; rank < g->mesh->n_ranks; rank++) {
        fr__mesh_coord(g->mesh, rank, coord);
        if (coord[FR__MESH_PP] != stage || !is_first(coord, g->axes))
            continue;
        devices_of(g, rank, devices + ranks_done);
        ranks_done += g->n;
    }
    *out = (struct fr__group_list){.devices = devices, .n_groups = ranks_done / g->n, .n = g->n};
    return FR_OK;
}

/* Whether all ranks are replicas of one group, as in plain data parallelism. */
static bool is_one_group(const struct fr__hybrid_ranks *r)
{
    return r->o->dp == r->pl->in->n_devices && r->o->shard_group == r->o->dp;
}

/* The groups of a stage, which do the same; NULL where one group is alone and the engine sends its
 * messages. */
static enum fr_status make_equal_groups(struct grouping *g, const struct fr__group_list *all,
                                        struct fr__equal_groups **out, struct fr_error *err)
{
    struct fr__hybrid_ranks *r = g->r;
    bool is_even = true;

    *out = NULL;
    if (all->n_groups < 2 && !r->is_folded && is_one_group(r))
        return FR_OK;
    if (!fr__grow(&r->equal_groups, &r->cap_equal_groups, r->n_equal_groups + 1,
                  sizeof(struct fr__equal_groups *)))
        return fr__fail_nomem(err);
    FR_TRY(fr__equal_groups_new(out, r->routes, all, err));
    r->equal_groups[r->n_equal_groups++] = *out;
    if (r->is_folded)
        FR_TRY(fr__equal_groups_match(*out, &is_even, err));
    r->has_uneven_groups |= !is_even;
    return FR_OK;
}

static enum fr_status know_equal_groups(struct fr__hybrid_ranks *r, uint32_t group,
                                        struct fr__equal_groups *equals, struct fr_error *err)
{
    if (group == FR_NONE)
        return FR_OK; /* out of memory: the plan keeps it */
    if (group >= r->n_equal_groups_of) {
        size_t cap = r->n_equal_groups_of, n = (size_t)group + 1;

        if (!fr__grow(&r->equal_groups_of, &cap, n > 2 * cap ? n : 2 * cap,
                      sizeof(struct fr__equal_groups *)))
            return fr__fail_nomem(err);
        memset(r->equal_groups_of + r->n_equal_groups_of, 0,
               (cap - r->n_equal_groups_of) * sizeof(struct fr__equal_groups *));
        r->n_equal_groups_of = (uint32_t)cap;
    }
    r->equal_groups_of[group] = equals;
    return FR_OK;
}

/* Numbers the groups of the placed replicas. */
static uint32_t number_groups(const struct grouping *g, uint32_t group_of[], uint32_t rank_of[],
                              uint32_t number_of[], uint32_t scratch[])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->r->n_replicas; i++) {
        uint32_t rank = g->r->rank_of[i];
        uint32_t index = fr__mesh_group_index(g->mesh, g->axes, rank);

        rank_of[i] = fr__mesh_group(g->mesh, g->axes, rank, scratch);
        if (number_of[index] == FR_NONE)
            number_of[index] = n++;
        group_of[i] = number_of[index];
    }
    return n;
}

static enum fr_status add_stage(struct grouping *g, uint32_t stage, uint32_t n_groups,
                                const uint32_t group_of[], uint32_t plan_group[],
                                struct fr_error *err)
{
    struct fr__hybrid_ranks *r = g->r;
    uint32_t *devices = fr__arena_alloc(r->pl->arena, g->n, sizeof(*devices));
    struct fr__group_list all = {0};
    struct fr__equal_groups *equals = NULL;

    if (!devices)
        return fr__fail_nomem(err);
    FR_TRY(all_groups(g, stage, &all, err));
    FR_TRY(make_equal_groups(g, &all, &equals, err));
    for (uint32_t i = r->n_replicas; i-- > 0;)
        plan_group[group_of[i]] = i; /* its first replica */
    for (uint32_t k = 0; k < n_groups; k++) {
        devices_of(g, rank_at(r, stage, r->rank_of[plan_group[k]]), devices);
        plan_group[k] = fr_plan_add_group_of(r->pl->plan, devices, g->n);
        if (r->is_folded)
            fr_plan_fold_group(r->pl->plan, plan_group[k], all.n_groups, all.devices);
        if (equals)
            FR_TRY(know_equal_groups(r, plan_group[k], equals, err));
    }
    return FR_OK;
}

static enum fr_status make_groups(struct fr__hybrid_ranks *r, const struct fr__mesh *mesh,
                                  fr__mesh_axes axes, struct fr__rank_groups *out,
                                  struct fr_error *err)
{
    struct fr__arena *arena = r->pl->arena;
    struct grouping g = {r, mesh, axes, fr__mesh_group_size(mesh, axes)};
    uint32_t *group_of = fr__arena_alloc(arena, r->n_replicas, sizeof(*group_of));
    uint32_t *rank_of = fr__arena_alloc(arena, r->n_replicas, sizeof(*rank_of));
    uint32_t *number_of = fr__arena_alloc(arena, mesh->n_ranks, sizeof(*number_of));
    uint32_t *scratch = fr__arena_alloc(arena, g.n, sizeof(*scratch));
    uint32_t *plan_group, n;

    if (!group_of || !rank_of || !number_of || !scratch)
        return fr__fail_nomem(err);
    memset(number_of, 0xff, mesh->n_ranks * sizeof(*number_of));
    n = number_groups(&g, group_of, rank_of, number_of, scratch);
    plan_group = fr__arena_alloc(arena, (size_t)n * r->o->pp, sizeof(*plan_group));
    if (!plan_group)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; g.n > 1 && s < r->o->pp; s++)
        FR_TRY(add_stage(&g, s, n, group_of, plan_group + (size_t)s * n, err));
    *out = (struct fr__rank_groups){n, g.n, plan_group, group_of, rank_of};
    return FR_OK;
}

/* ---- messages between stages ---- */

static uint32_t stage_of_device(const struct fr__hybrid_ranks *r, uint32_t device)
{
    for (uint32_t s = 0; s < r->o->pp; s++)
        if (r->devices[(size_t)s * r->n_replicas] == device)
            return s;
    return FR_NONE;
}

/* All ranks of a stage send to those of another at the same time. */
static enum fr_status count_share(struct fr__hybrid_ranks *r, uint32_t src, uint32_t dst,
                                  struct fr__share_row *out, struct fr_error *err)
{
    uint32_t n = r->dense.n_ranks / r->o->pp, from = stage_of_device(r, src),
             to = stage_of_device(r, dst), coord[FR__N_MESH_AXES], k = 0;
    uint32_t *pairs = calloc(2 * (size_t)n + 1, sizeof(*pairs));
    enum fr_status st = FR_OK;

    *out = (struct fr__share_row){.src = src, .dst = dst, .share = 1, .is_even = true};
    if (!pairs)
        return fr__fail_nomem(err);
    for (uint32_t rank = 0; rank < r->dense.n_ranks && from != FR_NONE && to != FR_NONE; rank++) {
        fr__mesh_coord(&r->dense, rank, coord);
        if (coord[FR__MESH_PP] != 0)
            continue;
        pairs[k] = r->devices_by_rank[rank_at(r, from, rank)];
        pairs[n + k++] = r->devices_by_rank[rank_at(r, to, rank)];
    }
    st = fr__equal_messages_share(r->routes, pairs, pairs + n, k, &out->share, &out->is_even, err);
    free(pairs);
    return st;
}

/* The row of a pair of devices; NULL: it could not be made. */
static const struct fr__share_row *share_row(struct fr__hybrid_ranks *r, uint32_t src, uint32_t dst)
{
    struct fr__share_row row;
    enum fr_status st;

    for (size_t i = 0; i < r->n_shares; i++)
        if (r->shares[i].src == src && r->shares[i].dst == dst)
            return &r->shares[i];
    st = count_share(r, src, dst, &row, NULL);
    if (st == FR_OK && !fr__grow(&r->shares, &r->cap_shares, r->n_shares + 1, sizeof(*r->shares)))
        st = FR_ENOMEM;
    fr_plan_keep_failure(r->pl->plan, st);
    if (st != FR_OK)
        return NULL;
    r->shares[r->n_shares++] = row;
    return &r->shares[r->n_shares - 1];
}

static uint32_t share_of(void *user, uint32_t src, uint32_t dst)
{
    const struct fr__share_row *row = share_row(user, src, dst);

    return row ? row->share : 1;
}

/* Whether the messages between neighbouring stages, and between the ends, share their links
 * evenly. */
static bool shares_evenly(struct fr__hybrid_ranks *r)
{
    uint32_t n = r->o->pp;

    for (uint32_t s = 0; n > 1 && s < n; s++) {
        uint32_t a = fr__hybrid_device(r, s, 0), b = fr__hybrid_device(r, (s + 1) % n, 0);
        const struct fr__share_row *there = share_row(r, a, b), *back;

        if (!there || !there->is_even)
            return false;
        back = share_row(r, b, a);
        if (!back || !back->is_even)
            return false;
    }
    return true;
}

/* Whether each stage has as many ranks on each of its machines. Else the gradients of a stage take
 * more of one machine's NICs than of another's, and messages to other stages wait for them
 * there. */
static enum fr_status find_spread(const struct fr__hybrid_ranks *r, bool *is_even,
                                  struct fr_error *err)
{
    const struct fr_topo *topo = r->pl->in->topo;
    uint32_t n = r->dense.n_ranks / r->o->pp;
    uint32_t *devices = fr__arena_alloc(r->pl->arena, n, sizeof(*devices));
    uint32_t *n_on = fr__arena_alloc(r->pl->arena, topo->n_machines + 1, sizeof(*n_on));

    *is_even = true;
    if (!devices || !n_on)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; r->o->pp > 1 && s < r->o->pp; s++) {
        memset(n_on, 0, (topo->n_machines + 1) * sizeof(*n_on));
        fr__hybrid_stage_devices(r, s, devices);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t machine = topo->devices[devices[i]].machine;

            devices[i] = machine == FR_NONE ? (uint32_t)topo->n_machines : machine;
            n_on[devices[i]]++;
        }
        for (uint32_t i = 0; i < n; i++)
            *is_even &= n_on[devices[i]] == n_on[devices[0]];
    }
    return FR_OK;
}

/* ---- all of it ---- */

static enum fr_status make_meshes(struct fr__hybrid_ranks *r, struct fr_error *err)
{
    const struct fr__hybrid_options *o = r->o;
    uint32_t n = o->dp * o->tp * o->cp;
    const uint32_t dense[] = {
        [FR__MESH_TP] = o->tp, [FR__MESH_CP] = o->cp, [FR__MESH_EP] = 1,
        [FR__MESH_DP] = o->dp, [FR__MESH_PP] = o->pp,
    };
    const uint32_t expert[] = {
        [FR__MESH_TP] = o->etp, [FR__MESH_CP] = 1,
        [FR__MESH_EP] = o->ep,  [FR__MESH_DP] = n / (o->ep * o->etp),
        [FR__MESH_PP] = o->pp,
    };

    FR_TRY(fr__mesh_make(&r->dense, o->map, dense, err));
    if (o->ep == 1 && o->etp == 1) {
        r->expert = r->dense;
        return FR_OK;
    }
    FR_TRY(fr__mesh_make(&r->expert, o->map, expert, err));
    if (o->pp > 1 && r->dense.stride[FR__MESH_PP] != r->expert.stride[FR__MESH_PP])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "map=%s gives experts other stages than the rest; with ep or etp it must "
                        "end in pp",
                        o->map);
    return FR_OK;
}

/* The dense mesh with the groups of an axis cut into groups of n neighbours; the axis of experts,
 * which this mesh has not, counts them. */
static struct fr__mesh cut_axis(const struct fr__mesh *dense, enum fr__mesh_axis axis, uint32_t n)
{
    struct fr__mesh m = *dense;

    m.size[FR__MESH_EP] = m.size[axis] / n;
    m.stride[FR__MESH_EP] = m.stride[axis] * n;
    m.size[axis] = n;
    return m;
}

static bool has_alike(const struct fr__hybrid_ranks *r, uint32_t n)
{
    for (uint32_t i = 0; i < r->n_alike; i++)
        if (r->alike[i].n_ranks == n)
            return true;
    return false;
}

/* A tensor group has few such sizes: divisors of its own. */
static enum fr_status make_alike(struct fr__hybrid_ranks *r, const struct fr__hybrid_graph *g,
                                 struct fr_error *err)
{
    r->n_alike = 0;
    r->alike = fr__arena_alloc(r->pl->arena, r->o->tp, sizeof(*r->alike));
    if (!r->alike)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < r->pl->graph->n_ops; o++) {
        uint32_t n = fr__hybrid_alike(g, o);
        struct fr__mesh mesh;

        if (n < 2 || has_alike(r, n))
            continue;
        mesh = cut_axis(&r->dense, FR__MESH_TP, n);
        FR_TRY(make_groups(r, &mesh, 1u << FR__MESH_TP, &r->alike[r->n_alike++], err));
    }
    return FR_OK;
}

static enum fr_status make_all_groups(struct fr__hybrid_ranks *r, const struct fr__hybrid_graph *g,
                                      struct fr_error *err)
{
    const fr__mesh_axes tp = 1u << FR__MESH_TP, cp = 1u << FR__MESH_CP, ep = 1u << FR__MESH_EP,
                        dp = 1u << FR__MESH_DP;
    struct fr__mesh shared = cut_axis(&r->dense, FR__MESH_DP, r->o->shard_group / r->o->cp);

    FR_TRY(make_groups(r, &r->dense, tp, &r->tensor, err));
    FR_TRY(make_groups(r, &r->dense, cp, &r->context, err));
    FR_TRY(make_groups(r, &shared, dp | cp, &r->data, err));
    FR_TRY(make_groups(r, &shared, ep, &r->copies, err));
    FR_TRY(make_groups(r, &r->expert, ep, &r->experts, err));
    FR_TRY(make_groups(r, &r->expert, tp, &r->expert_tensor, err));
    FR_TRY(make_groups(r, &r->expert, dp, &r->expert_data, err));
    return make_alike(r, g, err);
}

/* Whether the messages of plain replicas are so many that they had better be one collective. */
static bool moves_much(const struct fr__hybrid_ranks *r)
{
    const struct fr_graph *g = r->pl->graph;
    double bytes = 0;

    for (size_t o = 0; o < g->n_ops; o++)
        bytes += g->ops[o].phase == FR_PHASE_FORWARD ? (double)g->ops[o].param_bytes : 0;
    return r->o->zero == 0 && bytes * (double)r->pl->in->n_devices > MOST_BYTES_UNFOLDED;
}

/* The devices of all ranks at both ends of the pipeline, those that are not placed too. */
static enum fr_status all_ends(const struct fr__hybrid_ranks *r, struct fr__group_list *out,
                               struct fr_error *err)
{
    uint32_t n = r->dense.n_ranks / r->o->pp, coord[FR__N_MESH_AXES], k = 0;
    uint32_t *devices = fr__arena_alloc(r->pl->arena, 2 * (size_t)n, sizeof(*devices));

    if (!devices)
        return fr__fail_nomem(err);
    for (uint32_t rank = 0; rank < r->dense.n_ranks; rank++) {
        fr__mesh_coord(&r->dense, rank, coord);
        if (coord[FR__MESH_PP] != 0)
            continue;
        devices[k++] = r->devices_by_rank[rank_at(r, 0, rank)];
        devices[k++] = r->devices_by_rank[rank_at(r, r->o->pp - 1, rank)];
    }
    *out = (struct fr__group_list){.devices = devices, .n_groups = n, .n = 2};
    return FR_OK;
}

/* Pairs of ranks that have the weights that both ends of the model share. */
static enum fr_status make_ends(struct fr__hybrid_ranks *r, struct fr_error *err)
{
    struct fr__arena *arena = r->pl->arena;
    uint32_t *groups = fr__arena_alloc(arena, r->n_replicas, sizeof(*groups));
    uint32_t *group_of = fr__arena_alloc(arena, r->n_replicas, sizeof(*group_of));
    uint32_t *rank_of = fr__arena_alloc(arena, r->n_replicas, sizeof(*rank_of));
    struct fr__group_list all;
    struct fr__equal_groups *equals = NULL;

    if (!groups || !group_of || !rank_of)
        return fr__fail_nomem(err);
    FR_TRY(all_ends(r, &all, err));
    if (!fr__grow(&r->equal_groups, &r->cap_equal_groups, r->n_equal_groups + 1,
                  sizeof(struct fr__equal_groups *)))
        return fr__fail_nomem(err);
    FR_TRY(fr__equal_groups_new(&equals, r->routes, &all, err));
    r->equal_groups[r->n_equal_groups++] = equals;
    for (uint32_t i = 0; i < r->n_replicas; i++) {
        const uint32_t pair[] = {fr__hybrid_device(r, 0, i), fr__hybrid_device(r, r->o->pp - 1, i)};

        group_of[i] = i;
        groups[i] = fr_plan_add_group_of(r->pl->plan, pair, 2);
        if (r->is_folded)
            fr_plan_fold_group(r->pl->plan, groups[i], all.n_groups, all.devices);
        FR_TRY(know_equal_groups(r, groups[i], equals, err));
    }
    r->ends = (struct fr__rank_groups){r->n_replicas, 2, groups, group_of, rank_of};
    return FR_OK;
}

/* Why each rank has to be placed by itself; NULL: one of a stage stands for all. */
static const char *why_not_folded(const struct fr__hybrid_ranks *r)
{
    const struct fr_problem *in = r->pl->in;

    if (!r->o->fold)
        return "fold=0";
    if (r->o->pp == in->n_devices)
        return "no two ranks do the same";
    if (in->why_devices_differ)
        return in->why_devices_differ;
    if (is_one_group(r) && in->n_devices <= MOST_UNFOLDED && !moves_much(r) &&
        !r->o->is_fold_wanted)
        return "the messages of the one group go over the links";
    for (size_t i = 1; i < in->n_devices; i++)
        if (in->topo->devices[in->devices[i]].type != in->topo->devices[in->devices[0]].type)
            return "the devices are of several types";
    return NULL;
}

static void say_folding(const struct fr__hybrid_ranks *r, const char *why)
{
    char text[120];

    if (why)
        snprintf(text, sizeof(text), "not folded: %s", why);
    else
        snprintf(text, sizeof(text), "folded: %zu ranks as %u", r->pl->in->n_devices, r->o->pp);
    fr__log(r->pl->ctx, "%s", text);
    fr_plan_say_folding(r->pl->plan, text);
}

enum fr_status fr__hybrid_ranks_make(struct fr__hybrid_ranks *out, struct fr__placer *pl,
                                     const struct fr__hybrid_options *o,
                                     const struct fr__hybrid_graph *g, struct fr_error *err)
{
    const char *why;
    bool is_even;

    *out = (struct fr__hybrid_ranks){.pl = pl, .o = o};
    out->routes = calloc(1, sizeof(*out->routes));
    if (!out->routes)
        return fr__fail_nomem(err);
    FR_TRY(fr__routes_init(out->routes, pl->in->topo, err));
    FR_TRY(make_meshes(out, err));
    FR_TRY(line_up_devices(out, err));
    why = why_not_folded(out);
    out->is_folded = !why;
    FR_TRY(list_replicas(out, err));
    FR_TRY(find_spread(out, &is_even, err));
    if (out->is_folded && (!is_even || !shares_evenly(out))) {
        why = is_even ? "messages between stages share links unevenly"
                      : "a stage has more ranks on one machine than on another";
        out->is_folded = false;
        FR_TRY(list_replicas(out, err));
    }
    FR_TRY(make_all_groups(out, g, err));
    if (out->is_folded && out->has_uneven_groups) {
        why = "groups of ranks have links of several kinds";
        out->is_folded = false;
        FR_TRY(list_replicas(out, err));
        FR_TRY(make_all_groups(out, g, err));
    }
    if (g->is_untied && o->ties)
        FR_TRY(make_ends(out, err));
    say_folding(out, why);
    pl->is_folded = out->is_folded;
    pl->share_of = share_of;
    pl->share_user = out;
    pl->equal_groups_of = out->equal_groups_of;
    pl->n_equal_groups_of = out->n_equal_groups_of;
    return FR_OK;
}

void fr__hybrid_ranks_fini(struct fr__hybrid_ranks *r)
{
    for (size_t i = 0; i < r->n_equal_groups; i++)
        fr__equal_groups_free(r->equal_groups[i]);
    free(r->equal_groups);
    free(r->shares);
    free(r->equal_groups_of);
    if (r->routes)
        fr__routes_fini(r->routes);
    free(r->routes);
}
