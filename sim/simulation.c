/* sim/simulation.c - a run from its start to its results, and the object that runs plan after plan.
 *
 * What depends on the topology alone stays in the object: the router, routes, rings, channels and
 * the models' states. So do arrays that the next run can use again. All other state of a run comes
 * from the engine's scratch arena, which the next run empties and fills anew. Results have an arena
 * of their own and belong to the caller.
 */
#include "config.h"

#include "sim/analysis/selfcheck.h"
#include "sim/analysis/parts.h"
#include "sim/collectives/link_load.h"
#include "sim/engine.h"

#include <math.h>
#include <stdlib.h>

enum { LINE = 64, FIRST_EVENTS = 1024 };
/* A task with its dependencies and buffers takes some 100 bytes, a core's cache of the second level
 * holds half a megabyte to two. */
enum { LEAST_LARGE_TASKS = 10000 };

struct run {
    struct fr_run pub;
    struct fr__arena *arena;
};

struct fr_simulation {
    struct fr__engine engine; /* between runs only what is kept; see begin() */
    const struct fr_topo *topo;
    uint64_t n_router_builds;     /* since the last run */
    struct fr_simulation *beside; /* of rehearsals; NULL: none so far */
};

/* ---- set-up ---- */

static bool alloc_state(struct fr__engine *e)
{
    const struct fr_plan_view *v = e->v;
    size_t n_devices = v->topo->n_devices;
    size_t n_streams = ((size_t)e->device_mask + 1) * STREAMS_A_DEVICE;
    void *tasks = fr__arena_take(e->scratch, v->n_tasks * sizeof(*e->tasks) + 2 * LINE, 1);

    e->results = fr__arena_alloc(e->arena, n_devices + 1, sizeof(*e->results));
    e->dirty = fr__arena_take(e->scratch, n_streams, sizeof(*e->dirty));
    e->devices = fr__arena_alloc(e->scratch, n_devices, sizeof(*e->devices));
    if (!tasks || !e->results || !e->dirty || !e->devices)
        return false;
    e->tasks = (void *)((char *)tasks + (LINE - (uintptr_t)tasks % LINE) % LINE);
    e->is_accounted = fr__wants(e, FR_WANT_ACCOUNT);
    for (size_t d = 0; fr__counts_memory(e->want) && d < n_devices; d++)
        e->results[d].peak_task = e->results[d].first_over_task = FR_NONE;
    return true;
}

/* Sets the streams that tasks have, used: bit s, some device's stream s. */
static void set_streams(struct fr__engine *e, unsigned used)
{
    for (unsigned s = 0; s < STREAMS_A_DEVICE; s++)
        for (uint32_t d = 0; (used >> s & 1) && d < e->v->topo->n_devices; d++) {
            struct fr__stream *k = &e->streams[s * (e->device_mask + 1) + d];
            bool is_new = !k->queue;

            *k = (struct fr__stream){.queue = is_new ? k->few : k->queue,
                                     .cap = is_new ? sizeof(k->few) / sizeof(k->few[0]) : k->cap,
                                     .running = FR_NONE,
                                     .last = FR_NONE};
        }
    e->used_streams |= used;
}

/* How many items a task's state can note. */
static inline uint8_t noted(uint32_t n)
{
    return n < MANY ? (uint8_t)n : MANY;
}

/* What the union of struct fr__state holds for a task of this kind. */
static inline uint32_t reference_of(const struct fr_task *k)
{
    if (k->kind == FR_TASK_COMPUTE)
        return k->cost_id;
    return k->kind == FR_TASK_COLLECTIVE ? fr_task_collective(k) : fr_task_transfer(k);
}

/* Where a task's lists begin in the plan's. */
struct lists {
    uint32_t succ, alloc, free;
};

static inline struct lists lists_at(const struct fr_plan_view *v, size_t t, bool is_counted)
{
    return (struct lists){.succ = v->succ_first[t],
                          .alloc = is_counted ? v->alloc_first[t] : 0,
                          .free = is_counted ? v->free_first[t] : 0};
}

static inline struct fr__state state_at_start(const struct fr_task *k, uint32_t n_preds,
                                              uint32_t stream, struct lists at, struct lists end)
{
    return (struct fr__state){.waits = n_preds,
                              .alloc = at.alloc,
                              .succ = at.succ,
                              .free = at.free,
                              .priority = k->priority,
                              .stream = stream,
                              .cost_id = reference_of(k), /* whichever of the union it is */
                              .kind = k->kind & 7u,
                              .progress = TASK_WAITING,
                              .has_own_cost = k->kind != FR_TASK_COMPUTE && k->cost_id != FR_NONE,
                              .n_alloc = noted(end.alloc - at.alloc),
                              .n_succ = noted(end.succ - at.succ),
                              .n_free = noted(end.free - at.free)};
}

/* As the tasks are before the start, and room for as many markers as there are. */
static bool set_tasks(struct fr__engine *e)
{
    const struct fr_plan_view v = *e->v;
    struct fr__state *tasks = e->tasks;
    bool is_counted = fr__counts_memory(e->want);
    struct lists at = lists_at(&v, 0, is_counted), end;
    size_t n_markers = 0;
    unsigned used = 0;

    for (size_t t = 0; t < v.n_tasks; t++, at = end) {
        const struct fr_task *k = &v.tasks[t];

        end = lists_at(&v, t + 1, is_counted);
        tasks[t] =
            state_at_start(k, v.n_preds[t], fr__stream_number(e, k->device, k->stream), at, end);
        used |= k->stream == FR_STREAM_FREE ? 1u << STREAM_OF_FREE : 1u << k->stream;
        n_markers += k->kind == FR_TASK_MARKER;
    }
    set_streams(e, used);
    e->markers = fr__arena_take(e->scratch, n_markers, sizeof(*e->markers));
    return e->markers != NULL;
}

static enum fr_status prepare(struct fr__engine *e)
{
    const struct fr_plan_view *v = e->v;

    if (!alloc_state(e) || !set_tasks(e))
        return fr__engine_fail_nomem(e);
    e->is_large = v->n_tasks >= LEAST_LARGE_TASKS;
    for (size_t i = v->n_iterations < 2 ? 0 : v->n_iterations - 2; i < v->n_iterations; i++)
        e->tasks[v->iteration_ends[i]].ends_iteration = 1;
    if (e->o->order == FR_ORDER_STRICT)
        FR_TRY(fr__order_streams(e));
    FR_TRY(fr__memory_init(e));
    FR_TRY(fr__random_init(e));
    FR_TRY(fr__interference_init(e));
    FR_TRY(fr__network_reset(e));
    FR_TRY(fr__parts_init(e));
    if (!fr__host_init(e))
        return fr__engine_fail_nomem(e);
    e->is_usual = !e->o->host && e->o->order != FR_ORDER_STRICT && !e->o->alloc_at_start &&
                  !fr__has_interference(e) && !e->parts && !e->is_varied;
    return fr__collectives_reset(e);
}

/* ---- the result ---- */

/* The end of an iteration; INFINITY: the run was stopped before. */
static double iteration_end(const struct fr__engine *e, size_t i)
{
    const struct fr__state *k = &e->tasks[e->v->iteration_ends[i]];

    return k->progress == TASK_DONE ? k->end_s : INFINITY;
}

static void set_iterations(const struct fr__engine *e, struct fr_run *run)
{
    const struct fr_plan_view *v = e->v;
    double before_s = 0, interval_s = run->makespan_s, last_s;

    run->n_iterations = v->n_iterations ? (unsigned)v->n_iterations : 1;
    run->is_settled = !run->is_stopped;
    for (size_t i = 0; i < v->n_iterations; i++) {
        double end_s = iteration_end(e, i);

        if (end_s == INFINITY) {
            /* the last interval is at least what has passed of it */
            interval_s = i + 1 == v->n_iterations ? run->makespan_s - before_s : 0;
            run->is_settled = false;
            break;
        }
        last_s = interval_s;
        interval_s = end_s - before_s;
        before_s = end_s;
        run->is_settled = i == 0 || fabs(interval_s - last_s) <= 1e-6 * interval_s;
    }
    run->iteration_s = interval_s;
}

/* Bps: [n_links] room. */
static enum fr_status check_links(struct fr__engine *e, const struct fr_run *run, double Bps[])
{
    for (uint32_t l = 0; l < e->v->topo->n_links; l++)
        Bps[l] = fr__link_bw_Bps(&e->network.routes, l);
    return fr__check_links(e->plan, run, Bps, e->err);
}

/* Holds the result against what the plan alone says must have happened. */
static enum fr_status check_result(struct fr__engine *e, struct fr_run *run)
{
    double *expected = NULL;

    if (fr__wants(e, FR_WANT_LINKS)) {
        expected = fr__arena_alloc(e->scratch, e->v->topo->n_links, sizeof(*expected));
        if (!expected)
            return fr__fail_nomem(e->err);
        FR_TRY(fr__expected_link_bytes(e, expected));
    }
    FR_TRY(fr__self_check(e->plan, run, expected, e->err));
    return expected && !e->network.model->is_end_known ? check_links(e, run, expected) : FR_OK;
}

static enum fr_status copy_times(struct fr__engine *e, struct fr_run *run)
{
    size_t n = e->v->n_tasks;
    double *start_s = fr__arena_take(e->arena, n + 1, sizeof(*start_s));
    double *end_s = fr__arena_take(e->arena, n + 1, sizeof(*end_s));
    uint32_t *cause = fr__arena_take(e->arena, n + 1, sizeof(*cause));

    if (!start_s || !end_s || !cause)
        return fr__fail_nomem(e->err);
    for (size_t t = 0; t < n; t++) {
        start_s[t] = e->tasks[t].start_s;
        end_s[t] = e->tasks[t].end_s;
        cause[t] = e->tasks[t].cause;
    }
    for (size_t t = 0; e->is_stopped && t < n; t++) {
        unsigned progress = e->tasks[t].progress;

        start_s[t] = progress >= TASK_STARTED ? start_s[t] : INFINITY;
        end_s[t] = progress == TASK_DONE ? end_s[t] : INFINITY;
        cause[t] = progress >= TASK_DISPATCHED ? cause[t] : FR_NONE;
    }
    run->start_s = start_s;
    run->end_s = end_s;
    run->cause = cause;
    return FR_OK;
}

/* What needs the whole iteration. */
static enum fr_status finish_result(struct fr__engine *e, struct fr_run *run)
{
    if (fr__wants(e, FR_WANT_CRITICAL))
        FR_TRY(fr__critical_path(e, run));
    if (e->parts)
        FR_TRY(fr__parts_result(e, run));
    if (fr__wants(e, FR_WANT_TOTALS))
        FR_TRY(fr__totals(e, run));
    return fr__wants(e, FR_WANT_CHECK) ? check_result(e, run) : FR_OK;
}

static void set_accounts(struct fr__engine *e)
{
    for (uint32_t d = 0; e->is_accounted && d < e->v->topo->n_devices; d++) {
        const struct fr_device_times *times = &e->devices[d].times;
        struct fr_device_result *r = &e->results[d];

        fr__device_account(e, &e->devices[d]);
        r->compute_s = times->compute_s;
        r->comm_s = times->comm_s;
        r->exposed_comm_s = times->exposed_comm_s;
        r->idle_s = times->idle_s;
    }
}

static enum fr_status make_result(struct fr__engine *e, struct fr_run *run)
{
    run->want = e->want;
    run->is_stopped = e->is_stopped;
    run->makespan_s = e->now_s;
    run->n_tasks = e->v->n_tasks;
    run->n_devices = e->v->topo->n_devices;
    run->n_links = e->v->topo->n_links;
    run->devices = e->results;
    if (e->network.link_bytes)
        fr__link_loads_spread(e, e->network.link_bytes);
    run->link_bytes = e->network.link_bytes;
    if (fr__counts_memory(e->want))
        FR_TRY(fr__memory_result(e, run));
    if (fr__wants(e, FR_WANT_TASKS))
        FR_TRY(copy_times(e, run));
    set_accounts(e);
    for (size_t d = 0; d < run->n_devices; d++)
        e->results[d].host_s = e->devices[d].host_s;
    if (e->v->n_iterations == 0)
        fr__account_iteration(e, true);
    set_iterations(e, run);
    if (fr__wants(e, FR_WANT_BOUND))
        FR_TRY(fr__lower_bounds(e, run));
    return e->is_stopped ? FR_OK : finish_result(e, run);
}

/* ---- the object ---- */

enum fr_status fr_simulation_new(struct fr_simulation **out, const struct fr_topo *topo,
                                 struct fr_error *err)
{
    struct fr_simulation *s = calloc(1, sizeof(*s));
    struct fr__engine *e;
    enum fr_status st;

    if (!s)
        return fr__fail_nomem(err);
    e = &s->engine;
    s->topo = topo;
    s->n_router_builds = 1;
    st = fr__routes_init(&e->network.routes, topo, err);
    e->scratch = fr__arena_new();
    while (e->device_mask + 1 < topo->n_devices)
        e->device_mask = 2 * e->device_mask + 1;
    e->streams = calloc(((size_t)e->device_mask + 1) * STREAMS_A_DEVICE, sizeof(*e->streams));
    if (st == FR_OK &&
        (!e->scratch || !e->streams || !fr__event_queue_init(&e->events, FIRST_EVENTS)))
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        *out = s;
    else
        fr_simulation_free(s);
    return st;
}

static void free_streams(struct fr__engine *e, size_t n_devices)
{
    for (unsigned s = 0; s < STREAMS_A_DEVICE; s++)
        for (size_t d = 0; (e->used_streams >> s & 1) && d < n_devices; d++) {
            struct fr__stream *k = &e->streams[s * ((size_t)e->device_mask + 1) + d];

            if (k->queue != k->few)
                free(k->queue);
        }
    free(e->streams);
}

void fr_simulation_free(struct fr_simulation *s)
{
    struct fr__engine *e;

    if (!s)
        return;
    fr_simulation_free(s->beside);
    e = &s->engine;
    free_streams(e, s->topo->n_devices);
    fr__collectives_fini(e);
    fr__network_fini(e);
    fr__heap_fini(&e->events.rest);
    fr__arena_free(e->scratch);
    free(s);
}

/* A plan of one collective, of all ranks that a member of it stands for. */
static enum fr_status plan_alone(const struct fr__engine *e, uint32_t collective,
                                 struct fr_plan **out, struct fr_error *err)
{
    struct fr_collective c = e->v->collectives[collective];
    uint32_t n = fr_plan_group_size(e->plan, c.group);
    uint32_t *devices = fr__arena_alloc(e->scratch, n, sizeof(*devices));
    struct fr_plan *p = fr_plan_new(e->v->topo, NULL);
    enum fr_status st;

    if (!devices || !p) {
        fr_plan_free(p);
        return fr__fail_nomem(err);
    }
    for (uint32_t i = 0; i < n; i++)
        devices[i] = fr_plan_group_device(e->plan, c.group, i);
    c.label = FR_NONE;
    c.is_folded = c.has_cost = false;
    fr_plan_add_collective_of(p, devices, n, &c);
    st = fr_plan_finish(p, err);
    if (st == FR_OK)
        *out = p;
    else
        fr_plan_free(p);
    return st;
}

/* See struct fr__engine. */
static double rehearse(struct fr__engine *e, uint32_t collective)
{
    struct fr_simulation *s = (struct fr_simulation *)e; /* its first member */
    struct fr_run_options o;
    struct fr_plan *p = NULL;
    struct fr_run *r = NULL;
    double alone_s = NAN;
    enum fr_status st = FR_OK;

    fr_run_options_init(&o);
    o.network = e->o->network;
    o.way = e->o->way;
    o.rings = e->o->rings;
    o.slowness = e->o->slowness;
    o.want = 0;
    if (!s->beside)
        st = fr_simulation_new(&s->beside, s->topo, e->err);
    if (st == FR_OK)
        st = plan_alone(e, collective, &p, e->err);
    if (st == FR_OK)
        st = fr_simulation_run(s->beside, p, &o, &r, e->err);
    if (st == FR_OK)
        alone_s = r->makespan_s;
    else
        fr__engine_fail(e, st);
    fr_run_free(r);
    fr_plan_free(p);
    return alone_s;
}

/* Sets the engine to time 0 of a run of a plan; everything that is not named here is zero. */
static void begin(struct fr_simulation *s, const struct fr_plan *p, const struct fr_run_options *o,
                  struct fr__arena *arena, struct fr_error *err)
{
    struct fr__engine *e = &s->engine;

    fr__arena_reset(e->scratch);
    *e = (struct fr__engine){.plan = p,
                             .v = &p->view,
                             .o = o,
                             .err = err,
                             .want = o->want,
                             .arena = arena,
                             .scratch = e->scratch,
                             .events = e->events,
                             .streams = e->streams,
                             .device_mask = e->device_mask,
                             .used_streams = e->used_streams,
                             .network = e->network,
                             .collectives = e->collectives,
                             .rehearse = rehearse};
    fr__event_queue_clear(&e->events);
}

static void set_stats(struct fr_simulation *s, uint64_t n_route_searches, uint64_t n_ring_searches,
                      struct fr_run *run)
{
    struct fr__engine *e = &s->engine;

    if (e->network.model->add_stats)
        e->network.model->add_stats(e->network.state, &e->stats);
    e->stats.router_builds = s->n_router_builds;
    e->stats.route_searches = e->network.routes.n_searches - n_route_searches;
    e->stats.ring_searches = e->collectives.found.n_searches - n_ring_searches;
    s->n_router_builds = 0;
    run->stats = e->stats;
}

static enum fr_status run_plan(struct fr_simulation *s, struct fr_run *run)
{
    struct fr__engine *e = &s->engine;
    uint64_t n_routes = e->network.routes.n_searches, n_rings = e->collectives.found.n_searches;
    enum fr_status st = prepare(e);

    if (st == FR_OK) {
        fr__engine_loop(e);
        st = e->status;
    }
    if (st == FR_OK && e->n_done < e->v->n_tasks && !e->is_stopped)
        st = fr__deadlock_report(e);
    if (st == FR_OK)
        st = make_result(e, run);
    if (st == FR_OK)
        set_stats(s, n_routes, n_rings, run);
    fr__parts_fini(e);
    return st;
}

enum fr_status fr_simulation_run(struct fr_simulation *s, const struct fr_plan *p,
                                 const struct fr_run_options *o, struct fr_run **out,
                                 struct fr_error *err)
{
    struct fr__arena *arena;
    struct run *run;
    enum fr_status st;

    if (!p->is_finished)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a plan must be finished before it is run");
    if (p->view.topo != s->topo)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a plan on '%s' cannot be run by a simulation of '%s'", p->view.topo->name,
                        s->topo->name);
    arena = fr__arena_new();
    run = arena ? fr__arena_alloc(arena, 1, sizeof(*run)) : NULL;
    if (!run) {
        fr__arena_free(arena);
        return fr__fail_nomem(err);
    }
    run->arena = arena;
    begin(s, p, o, arena, err);
    st = run_plan(s, &run->pub);
    if (st == FR_OK)
        *out = &run->pub;
    else
        fr__arena_free(arena);
    return st;
}

void fr_run_options_init(struct fr_run_options *o)
{
    *o = (struct fr_run_options){
        .network = FR_NETWORK_FLOW, .order = FR_ORDER_FIFO, .want = FR_WANT_USUAL};
}

enum fr_status fr_simulate(const struct fr_plan *p, const struct fr_run_options *o,
                           struct fr_run **out, struct fr_error *err)
{
    struct fr_simulation *s;
    enum fr_status st;

    if (!p->is_finished)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a plan must be finished before it is run");
    FR_TRY(fr_simulation_new(&s, p->view.topo, err));
    st = fr_simulation_run(s, p, o, out, err);
    fr_simulation_free(s);
    return st;
}

void fr_run_free(struct fr_run *r)
{
    if (r)
        fr__arena_free(((struct run *)r)->arena);
}
