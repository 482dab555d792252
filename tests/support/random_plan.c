/* tests/support/random_plan.c - draws a plan from a seed and runs it; the header says what it has.
 *
 * This is apart, since programs that test single runs and ones that compare two draw the same
 * plans.
 */
#include "config.h"

#include "tests/support/random_plan.h"

#include "tests/support/sim_fixture.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREDS = 3 };

const struct random_shape random_plain = {.bw_scale = 1, .bytes_scale = 1, .time_scale = 1};

/* ---- drawing ---- */

uint32_t random_below(struct random_plan *j, uint32_t n)
{
    return (uint32_t)fr__rng_below(&j->rng, n);
}

bool random_one_in(struct random_plan *j, uint32_t n)
{
    return random_below(j, n) == 0;
}

static uint32_t device(const struct random_plan *j, uint32_t d)
{
    return j->shape.is_reversed ? j->n_devices - 1 - d : d;
}

void random_cluster(struct random_plan *j)
{
    double bw_Bps = 1e9 * j->shape.bw_scale;
    double latency_s =
        (j->shape.has_no_empty_tasks + random_below(j, 3)) * 2e-6 * j->shape.time_scale;
    uint32_t what = random_below(j, 4), n = 1 + random_below(j, MOST_DEVICES);

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

static struct node draw_node(struct random_plan *j, enum fr_task_kind kind, uint32_t d,
                             unsigned stream)
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
        uint32_t back = 1 + random_below(j, 20);

        k.preds[i] = back <= j->n_tasks && random_one_in(j, 2) ? j->n_tasks - back : FR_NONE;
    }
    if (has_partners && stream != FR_STREAM_FREE)
        k.preds[0] = j->last[d][stream];
    return k;
}

/* Tasks that start together get one priority: one more than the largest before any of them. */
static uint32_t add_nodes(struct random_plan *j, struct node nodes[], uint32_t n)
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

        t->priority = j->shape.has_any_priority ? (int32_t)random_below(j, 8) : depth;
        id = fr_plan_add_task(j->plan, t);
        j->tasks[id] = *t;
        j->depth[j->n_tasks++] = depth;
        if (t->stream < FR_N_STREAMS)
            j->last[device(j, t->device)][t->stream] = id;
        for (uint32_t k = 0; k < PREDS; k++)
            if (nodes[i].preds[k] != FR_NONE && j->n_deps < MOST_PAIRS) {
                j->deps[j->n_deps++] = (struct random_pair){nodes[i].preds[k], id};
                fr_plan_add_dep(j->plan, nodes[i].preds[k], id);
            }
    }
    return first;
}

static void draw_compute(struct random_plan *j)
{
    static const unsigned streams[] = {FR_STREAM_COMPUTE, FR_STREAM_COMPUTE, 4, 5, FR_STREAM_FREE};
    struct node k =
        draw_node(j, FR_TASK_COMPUTE, random_below(j, j->n_devices), streams[random_below(j, 5)]);
    bool is_empty = random_one_in(j, 20) && !j->shape.has_no_empty_tasks;
    double s = is_empty ? 0 : 1e-6 * (1 + random_below(j, 1000)),
           launch_s = 1e-6 * random_below(j, 5);

    k.task.cost_id =
        fixture_launched_cost(j->plan, s * j->shape.time_scale,
                              j->shape.has_launches ? launch_s * j->shape.time_scale : 0);
    add_nodes(j, &k, 1);
}

static double draw_bytes(struct random_plan *j, uint32_t unit)
{
    bool is_empty = random_one_in(j, 20) && !j->shape.has_no_empty_tasks;
    double bytes = is_empty ? 0 : (double)unit * (1 + random_below(j, 1000));

    return bytes * j->shape.bytes_scale * j->shape.time_scale;
}

static void draw_message(struct random_plan *j)
{
    bool is_on_streams = j->has_streams_for_messages || j->shape.has_single_file;
    uint32_t src = random_below(j, j->n_devices), dst = random_below(j, j->n_devices);
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

enum fr_collective_kind random_collective_kind(struct random_plan *j)
{
    enum fr_collective_kind kind = (enum fr_collective_kind)random_below(j, FR_N_COLLECTIVE_KINDS);
    bool is_chain = kind == FR_BROADCAST || kind == FR_REDUCE;

    return is_chain && j->shape.has_no_chains ? FR_ALL_REDUCE : kind;
}

/* Some devices in any order. All numbers up to 8 divide 840, so that chunks are exact. */
static void draw_collective(struct random_plan *j)
{
    uint32_t order[MOST_DEVICES], devices[MOST_DEVICES], n = 1 + random_below(j, j->n_devices),
                                                         group, c;
    const double scale = j->shape.time_scale;
    const struct fr_cost cost = {
        .mean_s = 4e-5 * scale, .bytes_s = 3e-5 * scale, .kind = FR_N_OP_KINDS};
    struct node members[MOST_DEVICES];
    bool has_cost = random_one_in(j, 4);

    if (n < 2 && j->shape.has_no_empty_tasks)
        return;
    for (uint32_t d = 0; d < j->n_devices; d++) {
        uint32_t at = random_below(j, d + 1);

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
                                .kind = random_collective_kind(j),
                                .has_cost = has_cost,
                                .cost_id = has_cost ? fr_plan_add_cost(j->plan, &cost) : FR_NONE,
                                .root = random_below(j, n)});
    for (uint32_t i = 0; i < n; i++) {
        members[i] = draw_node(j, FR_TASK_COLLECTIVE, order[i], FR_STREAM_COMM);
        members[i].task.collective = c;
        members[i].task.rank = i;
    }
    add_nodes(j, members, n);
}

static void draw_marker(struct random_plan *j)
{
    struct node k = draw_node(j, FR_TASK_MARKER, random_below(j, j->n_devices), FR_STREAM_FREE);

    add_nodes(j, &k, 1);
}

/* ---- buffers ---- */

static uint32_t add_buffer(struct random_plan *j, uint32_t d, uint32_t alloc, uint32_t alias,
                           uint64_t bytes)
{
    return fr_plan_add_buffer(
        j->plan,
        &(struct fr_buffer){.bytes = bytes,
                            .device = d,
                            .alloc = alloc,
                            .alias = alias,
                            .op = FR_NONE,
                            .kind = (enum fr_buffer_kind)random_below(j, FR_N_BUFFER_KINDS)});
}

static void add_free(struct random_plan *j, uint32_t buffer, uint32_t task)
{
    ck_assert_uint_lt(j->n_frees, MOST_PAIRS);
    fr_plan_add_free(j->plan, buffer, task);
    j->frees[j->n_frees++] = (struct random_pair){buffer, task};
}

/* A task's output, read by a task that follows it, and at times handed on under another name. */
static void draw_buffer(struct random_plan *j, struct random_pair dep)
{
    const struct fr_task *t = &j->tasks[dep.a];
    uint64_t bytes = 1 + random_below(j, 1000);
    uint32_t b;

    if (t->kind == FR_TASK_MARKER)
        return;
    b = add_buffer(j, t->device, dep.a, FR_NONE, bytes);
    add_free(j, b, dep.b);
    if (random_one_in(j, 4))
        add_free(j, b, dep.a);
    for (uint32_t i = 0; i < j->n_deps; i++)
        if (j->deps[i].a == dep.b && random_one_in(j, 3)) {
            add_free(j, add_buffer(j, t->device, dep.b, b, bytes / 2), j->deps[i].b);
            return;
        }
}

struct random_plan *random_plan_draw(uint64_t seed, const struct random_shape *shape)
{
    struct random_plan *j = calloc(1, sizeof(*j));
    uint32_t n_units;

    ck_assert_ptr_nonnull(j);
    j->shape = *shape;
    j->seed = seed;
    fr__rng_init(&j->rng, seed, 0);
    random_cluster(j);
    j->plan = fr_plan_new(j->topo, NULL);
    j->has_streams_for_messages = random_one_in(j, 2);
    memset(j->last, 0xff, sizeof(j->last)); /* FR_NONE */
    n_units = random_below(j, 50);
    for (uint32_t i = 0; i < n_units; i++) {
        uint32_t what = random_below(j, 10);

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
        if (random_one_in(j, 2))
            add_buffer(j, device(j, d), FR_NONE, FR_NONE, random_below(j, 3000));
    for (uint32_t i = 0; i < j->n_deps; i++)
        if (random_one_in(j, 2))
            draw_buffer(j, j->deps[i]);
    fixture_finish(j->plan);
    return j;
}

void random_plan_free(struct random_plan *j)
{
    fr_plan_free(j->plan);
    fr_topo_free(j->topo);
    free(j);
}

/* ---- running ---- */

void random_say(const char *test, const struct random_count *n)
{
    printf("%s: %u random plans, %u runs\n", test, n->plans, n->runs);
    fflush(stdout); /* Check's children end without */
}

struct fr_run *random_plan_run(const struct random_plan *j, const struct fr_run_options *o,
                               struct random_count *n)
{
    struct fr_run *r = NULL;
    struct fr_error err = {.text = ""};

    if (fr_simulate(j->plan, o, &r, &err) != FR_OK)
        ck_abort_msg("seed %llu: %s", (unsigned long long)j->seed, err.text);
    n->runs++;
    return r;
}

struct fr_run_options random_options(void)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    return o;
}

bool random_is_near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * scale;
}

/* a's times are b's times `factor`, to the bit. */
void random_times_are_equal(const struct random_plan *j, const struct fr_run *a,
                            const struct fr_run *b, double factor)
{
    holds(j, a->n_tasks == b->n_tasks);
    for (size_t t = 0; t < a->n_tasks; t++) {
        holds(j, a->start_s[t] == b->start_s[t] * factor);
        holds(j, a->end_s[t] == b->end_s[t] * factor);
    }
    holds(j, a->makespan_s == b->makespan_s * factor);
}

void random_times_are_near(const struct random_plan *j, const struct fr_run *a,
                           const struct fr_run *b)
{
    holds(j, a->n_tasks == b->n_tasks);
    for (size_t t = 0; t < a->n_tasks; t++) {
        holds(j, random_is_near(a->start_s[t], b->start_s[t], b->makespan_s));
        holds(j, random_is_near(a->end_s[t], b->end_s[t], b->makespan_s));
    }
    holds(j, random_is_near(a->makespan_s, b->makespan_s, b->makespan_s));
}

struct fr_run_options random_options_in_turn(uint64_t seed)
{
    struct fr_run_options o = random_options();

    o.network = seed % 4 == 0 ? FR_NETWORK_ANALYTIC : FR_NETWORK_FLOW;
    o.order = (enum fr_order)(seed % FR_ORDER_CONTROL);
    o.channels = seed % 5 == 0;
    return o;
}
