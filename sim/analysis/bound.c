/* sim/analysis/bound.c - lower bounds of a plan's time, and what its links must carry.
 *
 * No schedule of a plan can be shorter than this.
 *
 * The larger of
 *   work   the most compute time that any one stream of a device must run, one task after another;
 *   host   the most launch time of any one device;
 *   path   the longest chain of dependencies, where a compute task counts its time, a message its
 *          time alone on its route, and a collective its own cost or its fastest hop times its
 *          rounds (a rank's own hop may be faster than the ring's slowest), after the last of its
 *          members;
 *   links  where the network model shares links, the bytes of any one link over its bandwidth. Of
 *          messages whose bytes take long to count (all-to-all and chosen algorithms step by step)
 *          none are counted.
 * Sharing, queueing and interference only add to each, so all hold for every ready order and
 * network model.
 *
 * Several iterations overlap, so their longest path bounds no single one. Their makespan is bounded
 * by work and host. The last iteration, from one end to the next, is bounded by what was done in
 * that time: the most that one stream computed (time of its own, without interference), and the
 * launches of one iteration, at most the time itself, for a host may have run ahead. In a run that
 * has settled this is an iteration's work, and no schedule can repeat its iterations faster.
 */
#include "config.h"

#include "sim/collectives/link_load.h"
#include "sim/collectives/schedule_choice.h"

#include <math.h>
#include <stdlib.h>

/* A task that waits. */
struct node {
    double ready_s; /* when all predecessors visited so far are over */
    size_t waits;   /* predecessors not visited */
};

struct walk {
    struct fr__engine *e;
    const struct fr_task *tasks;       /* the plan's, */
    const uint32_t *succ_first, *succ; /* likewise */
    const struct fr_cost *mean_of;     /* likewise; NULL: tasks take another time than that */
    struct node *nodes;                /* [n_tasks] */
    uint32_t *late;                    /* [n_tasks] passed before they were ready, and ready now */
    size_t n_late;
    uint32_t at;       /* tasks up to this one have been passed */
    double *node_s;    /* [n_transfers + n_collectives] latest member */
    uint32_t *arrived; /* likewise: members that are ready */
    double longest_s;
};

static inline void end_task(struct walk *w, uint32_t task, double end_s)
{
    const uint32_t *next = w->succ + w->succ_first[task], *end = w->succ + w->succ_first[task + 1];
    struct node *nodes = w->nodes;

    if (end_s > w->longest_s)
        w->longest_s = end_s;
    for (; next < end; next++) {
        struct node *k = &nodes[*next];

        if (end_s > k->ready_s)
            k->ready_s = end_s;
        if (--k->waits == 0 && *next <= w->at)
            w->late[w->n_late++] = *next;
    }
}

/* true when task is the last of the n members of a transfer or collective. */
static bool arrive(struct walk *w, size_t node, uint32_t task, uint32_t n)
{
    if (w->nodes[task].ready_s > w->node_s[node])
        w->node_s[node] = w->nodes[task].ready_s;
    return ++w->arrived[node] == n;
}

double fr__message_alone(struct fr__engine *e, const struct fr_transfer *x)
{
    uint32_t r = fr__route_take(e, e->v->tasks[x->send].device, e->v->tasks[x->recv].device);
    double s;

    if (r == FR_NONE)
        return 0;
    s = fr__alone_sum(fr__transfer_alone(e, fr__route_at(e, r), x->bytes));
    fr__route_release(e, r);
    return s;
}

/* Of the messages that the rank at a position sends. */
static double fastest_of_position(struct fr__engine *e, const struct fr__ring *k, uint32_t position)
{
    uint32_t n = k->pattern == PATTERN_SHIFT ? k->n_rounds : 1;
    double fastest_s = INFINITY;

    for (uint32_t round = 0; round < n; round++) {
        uint32_t route = fr__ring_route(e, k, position, round);

        if (route == FR_NONE)
            return 0;
        fastest_s = fmin(fastest_s, fr__hop_s(e, route, k->chunk_bytes));
        fr__route_release(e, route);
    }
    return fastest_s;
}

/* Every member sends or receives as many messages as there are rounds, one after the other. */
static double steps_s(struct fr__engine *e, uint32_t collective)
{
    uint32_t n_rings = fr__collective_n_rings(e, collective);
    double least_s = INFINITY;

    for (uint32_t r = 0; r < n_rings; r++) {
        struct fr__ring k = fr__collective_ring(e, collective, r);
        uint32_t n_senders = k.pattern == PATTERN_CHAIN ? k.n - 1 : k.n;
        double fastest_s = INFINITY;

        for (uint32_t i = 0; i < n_senders; i++)
            fastest_s = fmin(fastest_s, fastest_of_position(e, &k, (k.first + i) % k.n));
        least_s = fmin(least_s, k.n_rounds * fastest_s);
    }
    return n_rings > 0 ? least_s : 0;
}

static double collective_s(struct fr__engine *e, uint32_t collective)
{
    struct fr__own_cost own;
    struct fr__collective_schedule way;

    if (!fr__collective_has_cost(e, collective))
        return fr__collective_schedule_of(e, collective, &way) ? way.start_s
                                                               : steps_s(e, collective);
    own = fr__collective_cost(e, collective);
    return own.bandwidth_s + own.latency_s;
}

/* A task that starts and ends together with others. */
static void visit_member(struct walk *w, uint32_t task)
{
    const struct fr_plan_view *v = w->e->v;
    const struct fr_task *k = &v->tasks[task];
    double end_s;

    if (k->kind == FR_TASK_COLLECTIVE) {
        uint32_t c = k->collective, first = v->member_first[c], end = v->member_first[c + 1];

        if (!arrive(w, v->n_transfers + c, task, end - first))
            return;
        end_s = w->node_s[v->n_transfers + c] + collective_s(w->e, c);
        for (uint32_t m = first; m < end; m++)
            end_task(w, v->members[m], end_s);
    } else if (arrive(w, k->transfer, task, 2)) {
        const struct fr_transfer *x = &v->transfers[k->transfer];

        end_s = w->node_s[k->transfer] + fr__message_alone(w->e, x);
        end_task(w, x->send, end_s);
        end_task(w, x->recv, end_s);
    }
}

/* What a task takes that is done by itself: a compute task or a marker. */
static inline double alone_s(const struct walk *w, const struct fr_task *k, uint32_t task)
{
    if (k->cost_id == FR_NONE || k->kind == FR_TASK_MARKER)
        return 0;
    return w->mean_of ? w->mean_of[k->cost_id].mean_s : fr__varied_duration(w->e, task);
}

static inline void visit(struct walk *w, uint32_t task)
{
    const struct fr_task *k = &w->tasks[task];

    if (k->kind == FR_TASK_COMPUTE || k->kind == FR_TASK_MARKER)
        end_task(w, task, w->nodes[task].ready_s + alone_s(w, k, task));
    else
        visit_member(w, task);
}

static bool make_nodes(struct walk *w, const struct fr_plan_view *v)
{
    size_t n = v->n_tasks, n_members = v->n_transfers + v->n_collectives;
    const uint32_t *n_preds = v->n_preds;

    w->nodes = fr__arena_take(w->e->scratch, n + 1, sizeof(*w->nodes));
    w->late = fr__arena_take(w->e->scratch, n + 1, sizeof(*w->late));
    w->node_s = fr__arena_alloc(w->e->scratch, n_members + 1, sizeof(*w->node_s));
    w->arrived = fr__arena_alloc(w->e->scratch, n_members + 1, sizeof(*w->arrived));
    if (!w->nodes || !w->late || !w->node_s || !w->arrived)
        return false;
    for (size_t t = 0; t < n; t++)
        w->nodes[t] = (struct node){.ready_s = 0, .waits = n_preds[t]};
    return true;
}

/* Any order that dependencies allow will do. Most tasks are numbered in one, so they are gone
 * through by number, and what waits for a later one catches up. */
static enum fr_status longest_path(struct fr__engine *e, double *out_s)
{
    const struct fr_plan_view *v = e->v;
    struct walk w = {.e = e,
                     .tasks = v->tasks,
                     .succ_first = v->succ_first,
                     .succ = v->succ,
                     .mean_of = e->is_varied ? NULL : v->costs};

    if (!make_nodes(&w, v))
        return fr__engine_fail_nomem(e);
    for (uint32_t t = 0, n = (uint32_t)v->n_tasks; t < n; t++) {
        w.at = t;
        if (w.nodes[t].waits == 0)
            visit(&w, t);
        while (w.n_late > 0 && e->status == FR_OK)
            visit(&w, w.late[--w.n_late]);
        if (e->status != FR_OK)
            return e->status;
    }
    *out_s = w.longest_s;
    return FR_OK;
}

/* The most work of one stream and the most launches of one device. */
struct most {
    double work_s, launch_s;
};

struct span {
    double from_s, to_s;
};

/* A task that is partly outside counts with its share. */
static double share_within(const struct fr__engine *e, uint32_t task, const struct span *within)
{
    double from_s = within->from_s, to_s = within->to_s;
    double start_s = e->tasks[task].start_s, end_s = e->tasks[task].end_s;

    if (start_s >= from_s && end_s <= to_s)
        return 1;
    if (end_s <= from_s || start_s >= to_s)
        return 0;
    return (fmin(end_s, to_s) - fmax(start_s, from_s)) / (end_s - start_s);
}

/* Adds up work_s by stream, [n_devices][FR_N_STREAMS], and launch_s by device, of tasks that
 * take the means of their costs. */
static void add_means(const struct fr__engine *e, double work_s[], double launch_s[])
{
    const struct fr_task *tasks = e->v->tasks;
    const struct fr_cost *costs = e->v->costs;

    for (size_t t = 0, n = e->v->n_tasks; t < n; t++) {
        const struct fr_task *k = &tasks[t];

        if (k->cost_id == FR_NONE)
            continue;
        launch_s[k->device] += costs[k->cost_id].launch_s;
        if (k->kind == FR_TASK_COMPUTE && k->stream != FR_STREAM_FREE)
            work_s[k->device * FR_N_STREAMS + k->stream] += costs[k->cost_id].mean_s;
    }
}

/* The same, of any tasks. within: only what was done in that time; NULL: all. */
static void add_work(const struct fr__engine *e, const struct span *within, double work_s[],
                     double launch_s[])
{
    for (uint32_t t = 0; t < e->v->n_tasks; t++) {
        const struct fr_task *k = &e->v->tasks[t];

        launch_s[k->device] += fr__launch_s(e, k->cost_id, k->device);
        if (k->kind == FR_TASK_COMPUTE && k->stream != FR_STREAM_FREE)
            work_s[k->device * FR_N_STREAMS + k->stream] +=
                fr__task_duration(e, t) * (within ? share_within(e, t, within) : 1);
    }
}

static enum fr_status most_work(struct fr__engine *e, const struct span *within, struct most *out)
{
    size_t n_devices = e->v->topo->n_devices, n_streams = n_devices * FR_N_STREAMS;
    double *work_s = calloc(n_streams + 1, sizeof(*work_s));
    double *launch_s = calloc(n_devices + 1, sizeof(*launch_s));

    *out = (struct most){0, 0};
    if (!work_s || !launch_s)
        fr__engine_fail_nomem(e);
    else if (within || e->is_varied)
        add_work(e, within, work_s, launch_s);
    else
        add_means(e, work_s, launch_s);
    for (size_t s = 0; e->status == FR_OK && s < n_streams; s++)
        out->work_s = fmax(out->work_s, work_s[s]);
    /* a host of its own may have been ahead at the start */
    for (size_t d = 0; e->status == FR_OK && !e->o->host && d < n_devices; d++)
        out->launch_s = fmax(out->launch_s, launch_s[d]);
    free(work_s);
    free(launch_s);
    return e->status;
}

/* Of a plan of several iterations: the last one's. */
static enum fr_status last_iteration_bound(struct fr__engine *e, struct fr_run *run,
                                           double launch_s)
{
    const uint32_t *ends = e->v->iteration_ends;
    size_t n = e->v->n_iterations;
    const struct span last = {e->tasks[ends[n - 2]].end_s, e->tasks[ends[n - 1]].end_s};
    struct most most;

    FR_TRY(most_work(e, &last, &most));
    run->lower_bound_s = fmax(most.work_s, fmin(launch_s / (double)n, run->iteration_s));
    return FR_OK;
}

/* Whether it takes a walk over all messages to count them. */
static bool is_long_count(const struct fr__engine *e, uint32_t collective)
{
    return e->o->way || e->v->collectives[collective].kind == FR_ALL_TO_ALL;
}

/* is_short: without what takes long. */
static enum fr_status count_link_bytes(struct fr__engine *e, bool is_short, double bytes[])
{
    const struct fr_plan_view *v = e->v;

    for (uint32_t x = 0; x < v->n_transfers; x++) {
        const struct fr_transfer *k = &v->transfers[x];
        const struct fr__link_load *load;
        uint32_t r = fr__route_take(e, v->tasks[k->send].device, v->tasks[k->recv].device);

        if (r == FR_NONE)
            return e->status;
        load = fr__link_load_of_pair(e, v->tasks[k->send].device, v->tasks[k->recv].device);
        if (load)
            fr__link_load_count(load, k->bytes, bytes);
        else
            fr__route_count(&e->network.routes, fr__route_at(e, r), k->bytes * k->share, bytes);
        fr__route_release(e, r);
    }
    for (uint32_t c = 0; c < v->n_collectives; c++) {
        uint32_t n = v->member_first[c + 1] - v->member_first[c];

        if (fr__collective_is_known(e, c) || n < 2)
            fr__count_known(e, c, bytes);
        else if (!is_short || !is_long_count(e, c))
            fr__collective_bytes(e, c, bytes);
    }
    fr__link_loads_spread(e, bytes);
    return e->status;
}

enum fr_status fr__expected_link_bytes(struct fr__engine *e, double bytes[])
{
    return count_link_bytes(e, false, bytes);
}

/* Of all iterations. */
static enum fr_status busiest_link(struct fr__engine *e, double *out_s)
{
    size_t n = e->v->topo->n_links;
    double *bytes;

    if (e->network.model->is_end_known)
        return FR_OK;
    bytes = fr__arena_alloc(e->scratch, n + 1, sizeof(*bytes));
    if (!bytes)
        return fr__engine_fail_nomem(e);
    FR_TRY(count_link_bytes(e, true, bytes));
    for (uint32_t l = 0; l < n; l++)
        *out_s = fmax(*out_s, bytes[l] / fr__link_bw_Bps(&e->network.routes, l));
    return FR_OK;
}

enum fr_status fr__lower_bounds(struct fr__engine *e, struct fr_run *run)
{
    struct most most;
    double path_s = 0, link_s = 0;

    FR_TRY(most_work(e, NULL, &most));
    if (e->v->n_iterations < 2)
        FR_TRY(longest_path(e, &path_s));
    FR_TRY(busiest_link(e, &link_s));
    run->makespan_bound_s = fmax(fmax(path_s, link_s), fmax(most.work_s, most.launch_s));
    if (e->v->n_iterations > 1) /* a run that was stopped has not seen the last one */
        return run->is_stopped ? FR_OK : last_iteration_bound(e, run, most.launch_s);
    run->lower_bound_s = run->makespan_bound_s;
    return FR_OK;
}
