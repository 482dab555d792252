/* tests/sim/test_random.c - what must hold for every plan, on random plans.
 *
 * A plan is drawn from a seed: 1 to 8 devices on a star, a pair or a small fat tree; compute on
 * several streams, messages, collectives, markers, buffers and aliases, random dependencies. Tasks
 * that wait for partners follow each other on their stream by dependencies, so that all devices
 * have them in one order and no ready order can dead lock. By default priorities grow along
 * dependencies, which `strict` needs.
 */
#include "config.h"

#include "base/rng.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 8, MOST_TASKS = 512, MOST_PAIRS = 2048, PREDS = 3 };

/* What a test asks of its plans; all else comes from the seed. Scales are powers of two. */
struct shape {
    double bw_scale, bytes_scale, time_scale;
    bool is_reversed;        /* device d is called n - 1 - d */
    bool is_star;            /* and not one of the other clusters */
    bool has_launches;       /* compute costs host time */
    bool has_no_empty_tasks; /* nothing but markers takes no time */
    bool has_single_file;    /* a device sends and receives one message at a time; no collectives */
    bool has_any_priority;
    bool has_no_chains; /* whose chunks do not grow with the bytes */
};

static const struct shape plain = {.bw_scale = 1, .bytes_scale = 1, .time_scale = 1};

struct pair {
    uint32_t a, b;
};

struct job {
    struct fr__rng rng;
    struct shape shape;
    struct fr_topo *topo;
    struct fr_plan *plan;
    uint64_t seed;
    uint32_t n_devices, n_tasks, n_deps, n_frees;
    bool has_streams_for_messages;
    struct fr_task tasks[MOST_TASKS];
    int32_t depth[MOST_TASKS];
    struct pair deps[MOST_PAIRS];  /* a before b */
    struct pair frees[MOST_PAIRS]; /* buffer a by task b */
    uint32_t last[MOST_DEVICES][FR_N_STREAMS];
};

/* ---- drawing ---- */

static uint32_t below(struct job *j, uint32_t n)
{
    return (uint32_t)fr__rng_below(&j->rng, n);
}

static bool one_in(struct job *j, uint32_t n)
{
    return below(j, n) == 0;
}

static uint32_t device(const struct job *j, uint32_t d)
{
    return j->shape.is_reversed ? j->n_devices - 1 - d : d;
}

static void draw_cluster(struct job *j)
{
    double bw_Bps = 1e9 * j->shape.bw_scale;
    double latency_s = (j->shape.has_no_empty_tasks + below(j, 3)) * 2e-6 * j->shape.time_scale;
    uint32_t what = below(j, 4), n = 1 + below(j, MOST_DEVICES);

    if (what == 0 && !j->shape.is_star) {
        j->n_devices = 2;
        j->topo = fixture_pair(bw_Bps, latency_s);
    } else if (what == 1 && !j->shape.is_star && !j->shape.has_single_file) {
        j->n_devices = 2 * (1 + n / 2 % 4);
        j->topo = fixture_fat_tree(2, j->n_devices / 2, 2, bw_Bps, latency_s);
    } else {
        j->n_devices = n;
        j->topo = fixture_star(n, bw_Bps, latency_s);
    }
}

/* A task about to be added, with those it must follow. */
struct node {
    struct fr_task task;
    uint32_t preds[PREDS];
};

static struct node draw_node(struct job *j, enum fr_task_kind kind, uint32_t d, unsigned stream)
{
    bool has_partners = kind == FR_TASK_SEND || kind == FR_TASK_RECV || kind == FR_TASK_COLLECTIVE;
    struct node k = {.task = {.device = device(j, d),
                              .cost_id = FR_NONE,
                              .op = FR_NONE,
                              .label = FR_NONE,
                              .microbatch = FR_NONE,
                              .kind = (uint8_t)kind,
                              .phase = FR_PHASE_FORWARD,
                              .stream = (uint8_t)stream}};

    for (uint32_t i = 0; i < PREDS; i++) {
        uint32_t back = 1 + below(j, 20);

        k.preds[i] = back <= j->n_tasks && one_in(j, 2) ? j->n_tasks - back : FR_NONE;
    }
    if (has_partners && stream != FR_STREAM_FREE)
        k.preds[0] = j->last[d][stream];
    return k;
}

/* Tasks that start together get one priority: one more than the largest before any of them. */
static uint32_t add_nodes(struct job *j, struct node nodes[], uint32_t n)
{
    uint32_t first = j->n_tasks;
    int32_t depth = 0;

    ck_assert_uint_le(first + n, MOST_TASKS);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < PREDS; k++)
            if (nodes[i].preds[k] != FR_NONE && j->depth[nodes[i].preds[k]] >= depth)
                depth = j->depth[nodes[i].preds[k]] + 1;
    for (uint32_t i = 0; i < n; i++) {
        struct fr_task *t = &nodes[i].task;
        uint32_t id;

        t->priority = j->shape.has_any_priority ? (int32_t)below(j, 8) : depth;
        id = fr_plan_add_task(j->plan, t);
        j->tasks[id] = *t;
        j->depth[j->n_tasks++] = depth;
        if (t->stream < FR_N_STREAMS)
            j->last[device(j, t->device)][t->stream] = id;
        for (uint32_t k = 0; k < PREDS; k++)
            if (nodes[i].preds[k] != FR_NONE && j->n_deps < MOST_PAIRS) {
                j->deps[j->n_deps++] = (struct pair){nodes[i].preds[k], id};
                fr_plan_add_dep(j->plan, nodes[i].preds[k], id);
            }
    }
    return first;
}

static void draw_compute(struct job *j)
{
    static const unsigned streams[] = {FR_STREAM_COMPUTE, FR_STREAM_COMPUTE, 4, 5, FR_STREAM_FREE};
    struct node k = draw_node(j, FR_TASK_COMPUTE, below(j, j->n_devices), streams[below(j, 5)]);
    bool is_empty = one_in(j, 20) && !j->shape.has_no_empty_tasks;
    double s = is_empty ? 0 : 1e-6 * (1 + below(j, 1000)), launch_s = 1e-6 * below(j, 5);

    k.task.cost_id =
        fixture_launched_cost(j->plan, s * j->shape.time_scale,
                              j->shape.has_launches ? launch_s * j->shape.time_scale : 0);
    add_nodes(j, &k, 1);
}

static double draw_bytes(struct job *j, uint32_t unit)
{
    bool is_empty = one_in(j, 20) && !j->shape.has_no_empty_tasks;
    double bytes = is_empty ? 0 : (double)unit * (1 + below(j, 1000));

    return bytes * j->shape.bytes_scale * j->shape.time_scale;
}

static void draw_message(struct job *j)
{
    bool is_on_streams = j->has_streams_for_messages || j->shape.has_single_file;
    uint32_t src = below(j, j->n_devices), dst = below(j, j->n_devices);
    double bytes = draw_bytes(j, 997);
    struct node ends[2];
    uint32_t first;

    if (src == dst && j->shape.has_no_empty_tasks)
        return;
    ends[0] = draw_node(j, FR_TASK_SEND, src, is_on_streams ? FR_STREAM_SEND : FR_STREAM_FREE);
    ends[1] = draw_node(j, FR_TASK_RECV, dst, is_on_streams ? FR_STREAM_RECV : FR_STREAM_FREE);
    first = add_nodes(j, ends, 2);
    fr_plan_add_transfer(j->plan, first, first + 1, bytes, FR_NONE);
}

static enum fr_collective_kind draw_kind(struct job *j)
{
    enum fr_collective_kind kind = (enum fr_collective_kind)below(j, FR_N_COLLECTIVE_KINDS);
    bool is_chain = kind == FR_BROADCAST || kind == FR_REDUCE;

    return is_chain && j->shape.has_no_chains ? FR_ALL_REDUCE : kind;
}

/* Some devices in any order. All numbers up to 8 divide 840, so that chunks are exact. */
static void draw_collective(struct job *j)
{
    uint32_t order[MOST_DEVICES], devices[MOST_DEVICES], n = 1 + below(j, j->n_devices), group, c;
    const double scale = j->shape.time_scale;
    const struct fr_cost cost = {
        .mean_s = 4e-5 * scale, .bytes_s = 3e-5 * scale, .kind = FR_N_OP_KINDS};
    struct node members[MOST_DEVICES];
    bool has_cost = one_in(j, 4);

    if (n < 2 && j->shape.has_no_empty_tasks)
        return;
    for (uint32_t d = 0; d < j->n_devices; d++) {
        uint32_t at = below(j, d + 1);

        order[d] = order[at];
        order[at] = d;
    }
    for (uint32_t i = 0; i < n; i++)
        devices[i] = device(j, order[i]);
    group = fr_plan_add_group_of(j->plan, devices, n);
    c = fr_plan_add_collective(
        j->plan,
        &(struct fr_collective){.bytes = draw_bytes(j, 840),
                                .group = group,
                                .label = FR_NONE,
                                .kind = draw_kind(j),
                                .has_cost = has_cost,
                                .cost_id = has_cost ? fr_plan_add_cost(j->plan, &cost) : FR_NONE,
                                .root = below(j, n)});
    for (uint32_t i = 0; i < n; i++) {
        members[i] = draw_node(j, FR_TASK_COLLECTIVE, order[i], FR_STREAM_COMM);
        members[i].task.collective = c;
        members[i].task.rank = i;
    }
    add_nodes(j, members, n);
}

static void draw_marker(struct job *j)
{
    struct node k = draw_node(j, FR_TASK_MARKER, below(j, j->n_devices), FR_STREAM_FREE);

    add_nodes(j, &k, 1);
}

/* ---- buffers ---- */

static uint32_t add_buffer(struct job *j, uint32_t d, uint32_t alloc, uint32_t alias,
                           uint64_t bytes)
{
    return fr_plan_add_buffer(
        j->plan, &(struct fr_buffer){.bytes = bytes,
                                     .device = d,
                                     .alloc = alloc,
                                     .alias = alias,
                                     .op = FR_NONE,
                                     .kind = (enum fr_buffer_kind)below(j, FR_N_BUFFER_KINDS)});
}

static void add_free(struct job *j, uint32_t buffer, uint32_t task)
{
    ck_assert_uint_lt(j->n_frees, MOST_PAIRS);
    fr_plan_add_free(j->plan, buffer, task);
    j->frees[j->n_frees++] = (struct pair){buffer, task};
}

/* A task's output, read by a task that follows it, and at times handed on under another name. */
static void draw_buffer(struct job *j, struct pair dep)
{
    const struct fr_task *t = &j->tasks[dep.a];
    uint64_t bytes = 1 + below(j, 1000);
    uint32_t b;

    if (t->kind == FR_TASK_MARKER)
        return;
    b = add_buffer(j, t->device, dep.a, FR_NONE, bytes);
    add_free(j, b, dep.b);
    if (one_in(j, 4))
        add_free(j, b, dep.a);
    for (uint32_t i = 0; i < j->n_deps; i++)
        if (j->deps[i].a == dep.b && one_in(j, 3)) {
            add_free(j, add_buffer(j, t->device, dep.b, b, bytes / 2), j->deps[i].b);
            return;
        }
}

static struct job *draw(uint64_t seed, const struct shape *shape)
{
    struct job *j = calloc(1, sizeof(*j));
    uint32_t n_units;

    ck_assert_ptr_nonnull(j);
    j->shape = *shape;
    j->seed = seed;
    fr__rng_init(&j->rng, seed, 0);
    draw_cluster(j);
    j->plan = fr_plan_new(j->topo, NULL);
    j->has_streams_for_messages = one_in(j, 2);
    memset(j->last, 0xff, sizeof(j->last)); /* FR_NONE */
    n_units = below(j, 50);
    for (uint32_t i = 0; i < n_units; i++) {
        uint32_t what = below(j, 10);

        if (what < 5)
            draw_compute(j);
        else if (what < 8 || (what == 8 && shape->has_single_file))
            draw_message(j);
        else if (what == 8)
            draw_collective(j);
        else
            draw_marker(j);
    }
    for (uint32_t d = 0; d < j->n_devices; d++)
        if (one_in(j, 2))
            add_buffer(j, device(j, d), FR_NONE, FR_NONE, below(j, 3000));
    for (uint32_t i = 0; i < j->n_deps; i++)
        if (one_in(j, 2))
            draw_buffer(j, j->deps[i]);
    fixture_finish(j->plan);
    return j;
}

static void release(struct job *j)
{
    fr_plan_free(j->plan);
    fr_topo_free(j->topo);
    free(j);
}

/* ---- running ---- */

/* A test counts what it has run, to say so. */
struct count {
    unsigned plans, runs;
};

static void say(const char *test, const struct count *n)
{
    printf("%s: %u random plans, %u runs\n", test, n->plans, n->runs);
    fflush(stdout); /* Check's children end without */
}

#define holds(j, condition)                                                                        \
    do {                                                                                           \
        if (!(condition)) /* Check's own asserts are slow */                                       \
            ck_abort_msg("seed %llu: %s", (unsigned long long)(j)->seed, #condition);              \
    } while (0)

static struct fr_run *run(const struct job *j, const struct fr_run_options *o, struct count *n)
{
    struct fr_run *r = NULL;
    struct fr_error err = {.text = ""};

    if (fr_simulate(j->plan, o, &r, &err) != FR_OK)
        ck_abort_msg("seed %llu: %s", (unsigned long long)j->seed, err.text);
    n->runs++;
    return r;
}

static struct fr_run_options defaults(void)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    return o;
}

static bool is_near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * scale;
}

/* a's times are b's times `factor`, to the bit. */
static void times_are_equal(const struct job *j, const struct fr_run *a, const struct fr_run *b,
                            double factor)
{
    holds(j, a->n_tasks == b->n_tasks);
    for (size_t t = 0; t < a->n_tasks; t++) {
        holds(j, a->start_s[t] == b->start_s[t] * factor);
        holds(j, a->end_s[t] == b->end_s[t] * factor);
    }
    holds(j, a->makespan_s == b->makespan_s * factor);
}

static void times_are_near(const struct job *j, const struct fr_run *a, const struct fr_run *b)
{
    holds(j, a->n_tasks == b->n_tasks);
    for (size_t t = 0; t < a->n_tasks; t++) {
        holds(j, is_near(a->start_s[t], b->start_s[t], b->makespan_s));
        holds(j, is_near(a->end_s[t], b->end_s[t], b->makespan_s));
    }
    holds(j, is_near(a->makespan_s, b->makespan_s, b->makespan_s));
}

/* ---- what every run must keep ---- */

static bool share_a_stream(const struct fr_task *a, const struct fr_task *b)
{
    return a->device == b->device && a->stream == b->stream && a->stream != FR_STREAM_FREE &&
           a->kind != FR_TASK_MARKER && b->kind != FR_TASK_MARKER;
}

/* A stream runs one task at a time, and `strict` runs them by (priority, number). */
static void streams_run_one_at_a_time(const struct job *j, const struct fr_run *r, bool is_strict)
{
    for (uint32_t a = 0; a < r->n_tasks; a++)
        for (uint32_t b = a + 1; b < r->n_tasks; b++) {
            const struct fr_task *x = &j->tasks[a], *y = &j->tasks[b];

            if (!share_a_stream(x, y))
                continue;
            holds(j, r->end_s[a] <= r->start_s[b] || r->end_s[b] <= r->start_s[a]);
            if (is_strict && x->priority <= y->priority)
                holds(j, r->end_s[a] <= r->start_s[b]);
            else if (is_strict)
                holds(j, r->end_s[b] <= r->start_s[a]);
        }
}

/* What let a task start ended before (just then, where neither hosts nor channels can hold it up);
 * the critical path leads from a task that nothing held up to the end. */
static void causes_come_first(const struct job *j, const struct fr_run *r, bool is_prompt)
{
    double last_s = 0;

    for (size_t t = 0; t < r->n_tasks; t++) {
        last_s = fmax(last_s, r->end_s[t]);
        holds(j, r->cause[t] == FR_NONE || r->end_s[r->cause[t]] <= r->start_s[t]);
        if (is_prompt)
            holds(j, r->start_s[t] == (r->cause[t] == FR_NONE ? 0 : r->end_s[r->cause[t]]));
    }
    holds(j, r->makespan_s == last_s);
    if (r->n_tasks == 0)
        return;
    holds(j, r->n_critical > 0 && r->cause[r->critical[0]] == FR_NONE);
    holds(j, r->end_s[r->critical[r->n_critical - 1]] == last_s);
    for (size_t i = 1; i < r->n_critical; i++)
        holds(j, r->cause[r->critical[i]] == r->critical[i - 1]);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Each device's account, worked out anew: between two neighbouring ends and starts of tasks it
 * computes, moves something or idles. */
static void accounts_add_up(const struct job *j, const struct fr_run *r, bool is_random)
{
    double at_s[2 * MOST_TASKS + 1] = {0};
    size_t n = 1;

    for (size_t t = 0; t < r->n_tasks; t++) {
        at_s[n++] = r->start_s[t];
        at_s[n++] = r->end_s[t];
    }
    qsort(at_s, n, sizeof(*at_s), by_time);
    for (uint32_t d = 0; d < r->n_devices; d++) {
        double compute_s = 0, comm_s = 0, exposed_s = 0, work_s = 0;

        for (size_t i = 1; i < n; i++) {
            double from_s = at_s[i - 1], to_s = at_s[i];
            bool is_computing = false, is_moving = false;

            for (size_t t = 0; from_s < to_s && t < r->n_tasks; t++)
                if (j->tasks[t].device == d && r->start_s[t] <= from_s && r->end_s[t] >= to_s) {
                    is_computing |= j->tasks[t].kind == FR_TASK_COMPUTE;
                    is_moving |= j->tasks[t].kind != FR_TASK_COMPUTE;
                }
            compute_s += is_computing ? to_s - from_s : 0;
            comm_s += is_moving ? to_s - from_s : 0;
            exposed_s += is_moving && !is_computing ? to_s - from_s : 0;
        }
        for (size_t t = 0; t < r->n_tasks; t++)
            if (j->tasks[t].device == d && j->tasks[t].cost_id != FR_NONE)
                work_s += fr_plan_view(j->plan)->costs[j->tasks[t].cost_id].mean_s;
        holds(j, is_random || is_near(r->devices[d].work_s, work_s, work_s));
        holds(j, is_near(r->devices[d].compute_s, compute_s, r->makespan_s));
        holds(j, is_near(r->devices[d].comm_s, comm_s, r->makespan_s));
        holds(j, is_near(r->devices[d].exposed_comm_s, exposed_s, r->makespan_s));
        holds(j,
              is_near(r->devices[d].idle_s, r->makespan_s - compute_s - exposed_s, r->makespan_s));
    }
}

/* Everything a plan may be run with. The engine's own checks are on. */
static struct fr_run_options any_options(struct job *j, struct fr_interference *slow)
{
    struct fr_run_options o = defaults();

    o.network = (enum fr_network)below(j, FR_N_NETWORKS);
    o.order =
        (enum fr_order)below(j, j->shape.has_any_priority ? FR_ORDER_STRICT : FR_ORDER_CONTROL);
    o.closed_form_collectives = one_in(j, 2);
    o.rings_only = one_in(j, 4);
    o.alloc_at_start = one_in(j, 2);
    o.channels = below(j, 4);
    o.rings = below(j, 3);
    o.seed = j->seed;
    o.jitter_cv = one_in(j, 4) ? 0.3 : 0;
    o.device_cv = one_in(j, 4) ? 0.2 : 0;
    for (int a = 0; a < FR_N_WORK_CLASSES; a++)
        for (int b = 0; b < FR_N_WORK_CLASSES; b++)
            slow->factor[a][b] = 1 + 0.25 * below(j, 5);
    o.interference = one_in(j, 3) ? slow : NULL;
    return o;
}

START_TEST(any_plan_passes_every_check_and_repeats_to_the_bit)
{
    struct count n = {0, 0};

    for (uint64_t seed = 0; seed < 400; seed++, n.plans++) {
        struct shape shape = plain;
        struct fr_interference slow = {.source = "test"};
        struct fr_run_options o;
        struct fr_run *a, *b;
        struct job *j;

        shape.has_launches = seed % 3 == 0;
        shape.has_any_priority = seed % 2 == 0;
        j = draw(seed, &shape);
        o = any_options(j, &slow);
        a = run(j, &o, &n);
        b = run(j, &o, &n);
        times_are_equal(j, a, b, 1);
        holds(j, memcmp(a->cause, b->cause, a->n_tasks * sizeof(*a->cause)) == 0);
        holds(j, memcmp(a->link_bytes, b->link_bytes, a->n_links * sizeof(double)) == 0);
        holds(j, a->lower_bound_s == b->lower_bound_s);
        holds(j, a->makespan_s >= a->lower_bound_s * (1 - 1e-9));
        streams_run_one_at_a_time(j, a, o.order == FR_ORDER_STRICT);
        causes_come_first(j, a, !shape.has_launches && o.channels == 0);
        accounts_add_up(j, a, o.jitter_cv > 0 || o.device_cv > 0);
        fr_run_free(a);
        fr_run_free(b);
        release(j);
    }
    say("any_plan_passes_every_check_and_repeats_to_the_bit", &n);
}
END_TEST

START_TEST(every_ready_order_finishes_and_keeps_the_bound)
{
    struct count n = {0, 0};

    for (uint64_t seed = 1000; seed < 1100; seed++, n.plans++) {
        struct job *j = draw(seed, &plain);
        double bound_s = -1;

        for (int order = 0; order < FR_ORDER_CONTROL; order++)
            for (int network = 0; network < FR_N_NETWORKS; network++) {
                struct fr_run_options o = defaults();
                struct fr_run *r;

                o.order = (enum fr_order)order;
                o.network = (enum fr_network)network;
                r = run(j, &o, &n);
                bound_s = bound_s < 0 ? r->lower_bound_s : bound_s;
                holds(j, r->lower_bound_s == bound_s); /* the plan's, not the run's */
                holds(j, r->makespan_s >= bound_s * (1 - 1e-9));
                fr_run_free(r);
            }
        release(j);
    }
    say("every_ready_order_finishes_and_keeps_the_bound", &n);
}
END_TEST

/* The orders that are passes: whatever receives, streams and messages back and forth a plan has, it runs to
 * its end, under any limit of channels; with one, U and L of TicTac (sim/analysis/totals.c) hold the time between
 * them but for launches, of which there are none. Messages on streams of their own may wait for each other
 * in a circle in any order but the plan's, so they have none here. */
START_TEST(every_order_that_is_a_pass_finishes)
{
    struct count n = {0, 0};

    for (uint64_t seed = 7000; seed < 7100; seed++, n.plans++) {
        struct job *j = draw(seed, &plain);

        for (int order = FR_ORDER_CONTROL; order < FR_N_ORDERS && !j->has_streams_for_messages;
             order++) {
            struct fr_run_options o = defaults();
            struct fr_plan *plan = j->plan;
            struct fr_error err;
            struct fr_run *r;
            size_t n_ordered;

            o.order = (enum fr_order)order;
            o.channels = (unsigned)(seed % 3);
            o.want |= FR_WANT_TOTALS;
            o.seed = seed;
            holds(j, fr_run_order(plan, &o, &j->plan, &n_ordered, &err) == FR_OK);
            o.seed = 0;
            r = run(j, &o, &n);
            holds(j, r->makespan_s >= r->lower_bound_s * (1 - 1e-9));
            holds(j, o.channels != 1 || r->busiest_s <= r->makespan_s * (1 + 1e-9));
            fr_run_free(r);
            fr_plan_free(j->plan);
            j->plan = plan;
        }
        release(j);
    }
    say("every_order_that_is_a_pass_finishes", &n);
}
END_TEST

/* ---- how answers must change ---- */

/* Runs the plan of `seed` as drawn and changed; the second one's times must be the first one's
 * times `factor`, to the bit, or, with factor 0, but for rounding. */
static void compare(uint64_t seed, const struct shape *as_is, const struct shape *changed,
                    const struct fr_run_options *o, double factor, struct count *n)
{
    struct job *j = draw(seed, as_is), *k = draw(seed, changed);
    struct fr_run *a = run(j, o, n), *b = run(k, o, n);

    n->plans++;
    if (factor > 0)
        times_are_equal(k, b, a, factor);
    else
        times_are_near(k, b, a);
    fr_run_free(a);
    fr_run_free(b);
    release(j);
    release(k);
}

static struct fr_run_options in_turn(uint64_t seed)
{
    struct fr_run_options o = defaults();

    o.network = seed % 4 == 0 ? FR_NETWORK_ANALYTIC : FR_NETWORK_FLOW;
    o.order = (enum fr_order)(seed % FR_ORDER_CONTROL);
    o.channels = seed % 5 == 0;
    return o;
}

/* Several iterations of any plan finish under every ready order; fr_simulate checks by itself that the
 * parts of the last one sum to its time and that no bound is above its time. */
START_TEST(iterations_of_any_plan_finish_and_add_up)
{
    struct count n = {0, 0};

    for (uint64_t seed = 7000; seed < 7150; seed++, n.plans++) {
        struct job *j = draw(seed, &plain);
        struct fr_run_options o = in_turn(seed);
        struct fr_error err = {.text = ""};
        struct fr_plan *many;
        struct fr_run *r;

        o.jitter_cv = seed % 3 == 0 ? 0.2 : 0;
        o.seed = seed;
        if (fr_plan_unroll(j->plan, 2 + (unsigned)(seed % 3), &many, &err) != FR_OK ||
            fr_simulate(many, &o, &r, &err) != FR_OK)
            ck_abort_msg("seed %llu: %s", (unsigned long long)seed, err.text);
        n.runs++;
        holds(j, r->n_iterations == 2 + seed % 3);
        holds(j, r->lower_bound_s <= r->iteration_s + 1e-9 * r->makespan_s);
        holds(j, r->makespan_bound_s <= r->makespan_s * (1 + 1e-9));
        fr_run_free(r);
        fr_plan_free(many);
        release(j);
    }
    say("iterations_of_any_plan_finish_and_add_up", &n);
}
END_TEST

/* Powers of two leave all digits as they are. */
START_TEST(twice_the_bandwidth_for_twice_the_bytes_changes_nothing)
{
    struct shape as_is = plain, changed;
    struct count n = {0, 0};

    as_is.has_no_chains = true;
    changed = as_is;
    changed.bw_scale = changed.bytes_scale = 2;
    for (uint64_t seed = 2000; seed < 2150; seed++) {
        struct fr_run_options o = in_turn(seed);

        compare(seed, &as_is, &changed, &o, 1, &n);
    }
    say("twice_the_bandwidth_for_twice_the_bytes_changes_nothing", &n);
}
END_TEST

START_TEST(all_times_and_bytes_doubled_double_every_time)
{
    struct shape as_is = plain, changed;
    struct count n = {0, 0};

    as_is.has_launches = true;
    as_is.has_no_chains = true;
    changed = as_is;
    changed.time_scale = 2;
    for (uint64_t seed = 3000; seed < 3150; seed++) {
        struct fr_run_options o = in_turn(seed);

        compare(seed, &as_is, &changed, &o, 2, &n);
    }
    say("all_times_and_bytes_doubled_double_every_time", &n);
}
END_TEST

/* Rounding may differ, and in `fifo` and `priority` decide which of two tasks runs first, so the
 * order is strict. Rings go in rank order: the search for rings may prefer low numbers. */
START_TEST(other_numbers_for_the_devices_change_nothing_on_a_star)
{
    struct shape as_is = plain, changed;
    struct fr_run_options o = defaults();
    struct count n = {0, 0};

    as_is.is_star = true;
    changed = as_is;
    changed.is_reversed = true;
    o.order = FR_ORDER_STRICT;
    o.rings = 1;
    for (uint64_t seed = 4000; seed < 4150; seed++)
        compare(seed, &as_is, &changed, &o, 0, &n);
    say("other_numbers_for_the_devices_change_nothing_on_a_star", &n);
}
END_TEST

/* ---- two ways to one answer ---- */

/* On a star or a pair, with one message at a time in and out of each device, no link carries two. */
START_TEST(flow_equals_analytic_where_no_link_is_shared)
{
    struct shape shape = plain;
    struct count n = {0, 0};

    shape.has_single_file = true;
    for (uint64_t seed = 5000; seed < 5150; seed++, n.plans++) {
        struct job *j = draw(seed, &shape);
        struct fr_run_options o = defaults();
        struct fr_run *flow, *analytic;

        o.order = FR_ORDER_STRICT; /* see above */
        flow = run(j, &o, &n);
        o.network = FR_NETWORK_ANALYTIC;
        analytic = run(j, &o, &n);
        times_are_near(j, flow, analytic);
        fr_run_free(flow);
        fr_run_free(analytic);
        release(j);
    }
    say("flow_equals_analytic_where_no_link_is_shared", &n);
}
END_TEST

/* One collective after the other over the first devices of a cluster, of any size. A ring in rank
 * order enters and leaves each host and each leaf of the tree once: it shares no link. Nor does an all-to-all
 * on a star, but on a tree it may. */
static void draw_collectives_in_turn(struct job *j)
{
    uint32_t last = FR_NONE;

    for (uint32_t c = 0; c < 4; c++) {
        uint32_t members[MOST_DEVICES], n = 1 + below(j, j->n_devices), marker;
        enum fr_collective_kind kind = draw_kind(j);

        if (kind == FR_ALL_TO_ALL && j->topo->n_links > 2 * j->n_devices)
            kind = FR_ALL_GATHER;
        fixture_collective(j->plan, kind, n, below(j, 10000000), members);
        marker = fr_plan_add_task(j->plan, &(struct fr_task){.cost_id = FR_NONE,
                                                             .op = FR_NONE,
                                                             .label = FR_NONE,
                                                             .microbatch = FR_NONE,
                                                             .kind = FR_TASK_MARKER,
                                                             .stream = FR_STREAM_FREE});
        for (uint32_t i = 0; i < n; i++) {
            if (last != FR_NONE)
                fr_plan_add_dep(j->plan, last, members[i]);
            fr_plan_add_dep(j->plan, members[i], marker);
        }
        last = marker;
    }
    fixture_finish(j->plan);
}

START_TEST(closed_forms_equal_the_steps_where_no_link_is_shared)
{
    struct count n = {0, 0};

    for (uint64_t seed = 6000; seed < 6150; seed++, n.plans++) {
        struct job *j = calloc(1, sizeof(*j));
        struct fr_run_options o = defaults();
        struct fr_run *steps, *closed;

        ck_assert_ptr_nonnull(j);
        j->shape = plain;
        j->seed = seed;
        fr__rng_init(&j->rng, seed, 0);
        draw_cluster(j);
        j->plan = fr_plan_new(j->topo, NULL);
        draw_collectives_in_turn(j);
        o.network = (enum fr_network)(seed % FR_N_NETWORKS);
        o.rings = 1;
        steps = run(j, &o, &n);
        o.closed_form_collectives = true;
        closed = run(j, &o, &n);
        holds(j, is_near(steps->makespan_s, closed->makespan_s, closed->makespan_s));
        for (size_t l = 0; l < steps->n_links; l++)
            holds(j, is_near(steps->link_bytes[l], closed->link_bytes[l], closed->link_bytes[l]));
        fr_run_free(steps);
        fr_run_free(closed);
        release(j);
    }
    say("closed_forms_equal_the_steps_where_no_link_is_shared", &n);
}
END_TEST

/* ---- memory ---- */

struct change {
    double at_s;
    uint64_t bytes;
    bool is_alloc;
    enum fr_buffer_kind kind;
};

static int by_time_and_frees_first(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (int)x->is_alloc - (int)y->is_alloc;
}

/* When a buffer with its own storage is let go: at the end of the last task that frees it or what
 * shares its storage. */
static double freed_at_s(const struct job *j, const struct fr_run *r, uint32_t buffer)
{
    double last_s = 0;

    for (uint32_t f = 0; f < j->n_frees; f++) {
        uint32_t root = j->frees[f].a;

        while (fr_plan_view(j->plan)->buffers[root].alias != FR_NONE)
            root = fr_plan_view(j->plan)->buffers[root].alias;
        if (root == buffer)
            last_s = fmax(last_s, r->end_s[j->frees[f].b]);
    }
    return last_s;
}

static void peak_is_right(const struct job *j, const struct fr_run *r, uint32_t d)
{
    const struct fr_plan_view *v = fr_plan_view(j->plan);
    const struct fr_device_result *got = &r->devices[d];
    uint64_t bytes = 0, peak_bytes, by_kind[FR_N_BUFFER_KINDS] = {0};
    struct change changes[2 * MOST_PAIRS];
    double peak_at_s = -1; /* before the start: the persistent ones alone */
    size_t n = 0;

    for (uint32_t b = 0; b < v->n_buffers; b++) {
        const struct fr_buffer *k = &v->buffers[b];

        if (k->device != d || k->alias != FR_NONE)
            continue;
        if (k->alloc == FR_NONE) {
            bytes += k->bytes;
            by_kind[k->kind] += k->bytes;
            continue;
        }
        changes[n++] = (struct change){r->start_s[k->alloc], k->bytes, true, k->kind};
        changes[n++] = (struct change){freed_at_s(j, r, b), k->bytes, false, k->kind};
    }
    holds(j, got->end_bytes == bytes);
    peak_bytes = bytes;
    qsort(changes, n, sizeof(*changes), by_time_and_frees_first);
    for (size_t i = 0; i < n; i++) {
        bytes = changes[i].is_alloc ? bytes + changes[i].bytes : bytes - changes[i].bytes;
        if (bytes > peak_bytes) {
            peak_bytes = bytes;
            peak_at_s = changes[i].at_s;
        }
    }
    holds(j, got->peak_bytes == peak_bytes);
    holds(j, got->peak_at_s == fmax(peak_at_s, 0));
    holds(j, (got->peak_task == FR_NONE) == (peak_at_s < 0));
    for (size_t i = 0; i < n && changes[i].at_s <= peak_at_s; i++)
        if (changes[i].is_alloc)
            by_kind[changes[i].kind] += changes[i].bytes;
        else
            by_kind[changes[i].kind] -= changes[i].bytes;
    for (int k = 0; k < FR_N_BUFFER_KINDS; k++)
        holds(j, got->peak_by_kind[k] == by_kind[k]);
}

/* Buffers come at the start of a task, so that the times say all. Tasks of no duration are left
 * out: they would take several turns at one instant. */
START_TEST(peaks_are_those_of_the_starts_and_ends)
{
    struct shape shape = plain;
    struct count n = {0, 0};

    shape.has_no_empty_tasks = true;
    for (uint64_t seed = 7000; seed < 7200; seed++, n.plans++) {
        struct job *j = draw(seed, &shape);
        struct fr_run_options o = in_turn(seed);
        struct fr_run *r;

        o.channels = 0;
        o.alloc_at_start = true;
        r = run(j, &o, &n);
        for (uint32_t d = 0; d < j->n_devices; d++)
            peak_is_right(j, r, d);
        fr_run_free(r);
        release(j);
    }
    say("peaks_are_those_of_the_starts_and_ends", &n);
}
END_TEST

/* An object that is used again, after runs of all kinds and after some that were stopped or that failed,
 * gives what a new one does, to the bit; and from the second run on it searches for nothing. */
START_TEST(an_object_used_again_gives_the_same_runs)
{
    static const unsigned stop_at[] = {0, 3, 1};
    struct count n = {0, 0};

    for (uint64_t seed = 9000; seed < 9100; seed++, n.plans++) {
        struct job *j = draw(seed, &plain);
        struct fr_simulation *s = NULL;
        double slowness[64], makespan_s = 0;

        holds(j, fr_simulation_new(&s, j->topo, NULL) == FR_OK);
        holds(j, fr_n_resources(j->topo) <= 64);
        for (size_t i = 0; i < 64; i++)
            slowness[i] = 1 + 0.1 * (double)i;
        for (unsigned k = 0; k < 24; k++) {
            struct fr_run_options o = defaults();
            struct fr_run *a, *b = NULL;
            const char *difference;

            o.network = (enum fr_network)(k % FR_N_NETWORKS);
            o.order = (enum fr_order)(k % FR_ORDER_STRICT);
            o.channels = k / 2 % 3;
            o.rings = k / 6 % 2;
            o.memory = (enum fr_memory_model)(k / 3 % FR_N_MEMORY_MODELS);
            o.slowness = k % 4 == 3 ? slowness : NULL;
            o.jitter_cv = k % 5 == 4 ? 0.1 : 0;
            o.closed_form_collectives = k % 7 == 6;
            if (k % 3 == 1)
                o.want |= FR_WANT_PARTS | FR_WANT_HOLDERS | FR_WANT_TOTALS;
            o.stop_s = makespan_s * stop_at[k % 3] / 4;
            a = run(j, &o, &n);
            holds(j, fr_simulation_run(s, j->plan, &o, &b, NULL) == FR_OK);
            difference = fixture_difference(j->plan, a, b);
            if (difference)
                ck_abort_msg("seed %llu, run %u: other %s", (unsigned long long)seed, k,
                             difference);
            holds(j, b->stats.router_builds == (k == 0));
            holds(j, k < 12 || b->stats.route_searches + b->stats.ring_searches == 0);
            if (k == 0)
                makespan_s = a->makespan_s;
            fr_run_free(a);
            fr_run_free(b);
        }
        fr_simulation_free(s);
        release(j);
    }
    say("an_object_used_again_gives_the_same_runs", &n);
}
END_TEST

/* A run that is stopped has gone as far as the whole one, and bounds it from below. */
START_TEST(a_stopped_run_is_the_beginning_of_the_whole_one)
{
    struct count n = {0, 0};

    for (uint64_t seed = 9200; seed < 9300; seed++, n.plans++) {
        struct job *j = draw(seed, &plain);
        struct fr_run_options o = defaults();
        struct fr_run *whole = run(j, &o, &n);

        for (unsigned k = 1; k <= 4; k++) {
            struct fr_run *r;

            o.stop_s = whole->makespan_s * k / 4;
            r = run(j, &o, &n);
            holds(j, r->is_stopped == (o.stop_s > 0 && o.stop_s < whole->makespan_s));
            holds(j, r->makespan_s <= whole->makespan_s &&
                         (!r->is_stopped || r->makespan_s > o.stop_s));
            holds(j, r->iteration_s <= whole->iteration_s);
            holds(j, r->lower_bound_s == whole->lower_bound_s);
            for (size_t t = 0; t < r->n_tasks; t++) {
                bool is_started = whole->start_s[t] <= o.stop_s || !r->is_stopped;
                bool is_ended = whole->end_s[t] <= o.stop_s || !r->is_stopped;

                holds(j, r->start_s[t] == (is_started ? whole->start_s[t] : (double)INFINITY));
                holds(j, r->end_s[t] == (is_ended ? whole->end_s[t] : (double)INFINITY));
            }
            fr_run_free(r);
        }
        fr_run_free(whole);
        release(j);
    }
    say("a_stopped_run_is_the_beginning_of_the_whole_one", &n);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("random");

    tcase_set_timeout(c, 120);
    tcase_add_test(c, any_plan_passes_every_check_and_repeats_to_the_bit);
    tcase_add_test(c, every_ready_order_finishes_and_keeps_the_bound);
    tcase_add_test(c, every_order_that_is_a_pass_finishes);
    tcase_add_test(c, iterations_of_any_plan_finish_and_add_up);
    tcase_add_test(c, twice_the_bandwidth_for_twice_the_bytes_changes_nothing);
    tcase_add_test(c, all_times_and_bytes_doubled_double_every_time);
    tcase_add_test(c, other_numbers_for_the_devices_change_nothing_on_a_star);
    tcase_add_test(c, flow_equals_analytic_where_no_link_is_shared);
    tcase_add_test(c, closed_forms_equal_the_steps_where_no_link_is_shared);
    tcase_add_test(c, peaks_are_those_of_the_starts_and_ends);
    tcase_add_test(c, an_object_used_again_gives_the_same_runs);
    tcase_add_test(c, a_stopped_run_is_the_beginning_of_the_whole_one);
    return run_case(c, "sim/random");
}
