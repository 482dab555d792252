/* tests/sim/test_random.c - what must hold for every run of every plan, on random plans. */
#include "config.h"

#include "tests/support/random_plan.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what every run must keep ---- */

static bool share_a_stream(const struct fr_task *a, const struct fr_task *b)
{
    return a->device == b->device && a->stream == b->stream && a->stream != FR_STREAM_FREE &&
           a->kind != FR_TASK_MARKER && b->kind != FR_TASK_MARKER;
}

/* A stream runs one task at a time, and `strict` runs them by (priority, number). */
static void streams_run_one_at_a_time(const struct random_plan *j, const struct fr_run *r,
                                      bool is_strict)
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
static void causes_come_first(const struct random_plan *j, const struct fr_run *r, bool is_prompt)
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
static void accounts_add_up(const struct random_plan *j, const struct fr_run *r, bool is_random)
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
        holds(j, is_random || random_is_near(r->devices[d].work_s, work_s, work_s));
        holds(j, random_is_near(r->devices[d].compute_s, compute_s, r->makespan_s));
        holds(j, random_is_near(r->devices[d].comm_s, comm_s, r->makespan_s));
        holds(j, random_is_near(r->devices[d].exposed_comm_s, exposed_s, r->makespan_s));
        holds(j, random_is_near(r->devices[d].idle_s, r->makespan_s - compute_s - exposed_s,
                                r->makespan_s));
    }
}

/* Everything a plan may be run with. The engine's own checks are on. */
static struct fr_run_options any_options(struct random_plan *j, struct fr_interference *slow)
{
    struct fr_run_options o = random_options();

    o.network = (enum fr_network)random_below(j, FR_N_NETWORKS);
    o.order = (enum fr_order)random_below(j, j->shape.has_any_priority ? FR_ORDER_STRICT
                                                                       : FR_ORDER_CONTROL);
    o.closed_form_collectives = random_one_in(j, 2);
    o.rings_only = random_one_in(j, 4);
    o.alloc_at_start = random_one_in(j, 2);
    o.channels = random_below(j, 4);
    o.rings = random_below(j, 3);
    o.seed = j->seed;
    o.jitter_cv = random_one_in(j, 4) ? 0.3 : 0;
    o.device_cv = random_one_in(j, 4) ? 0.2 : 0;
    for (int a = 0; a < FR_N_WORK_CLASSES; a++)
        for (int b = 0; b < FR_N_WORK_CLASSES; b++)
            slow->factor[a][b] = 1 + 0.25 * random_below(j, 5);
    o.interference = random_one_in(j, 3) ? slow : NULL;
    return o;
}

TEST(any_plan_passes_every_check_and_repeats_to_the_bit)
{
    struct random_count n = {0, 0};

    for (uint64_t seed = 0; seed < 400; seed++, n.plans++) {
        struct random_shape shape = random_plain;
        struct fr_interference slow = {.source = "test"};
        struct fr_run_options o;
        struct fr_run *a, *b;
        struct random_plan *j;

        shape.has_launches = seed % 3 == 0;
        shape.has_any_priority = seed % 2 == 0;
        j = random_plan_draw(seed, &shape);
        o = any_options(j, &slow);
        a = random_plan_run(j, &o, &n);
        b = random_plan_run(j, &o, &n);
        random_times_are_equal(j, a, b, 1);
        holds(j, memcmp(a->cause, b->cause, a->n_tasks * sizeof(*a->cause)) == 0);
        holds(j, memcmp(a->link_bytes, b->link_bytes, a->n_links * sizeof(double)) == 0);
        holds(j, a->lower_bound_s == b->lower_bound_s);
        holds(j, a->makespan_s >= a->lower_bound_s * (1 - 1e-9));
        streams_run_one_at_a_time(j, a, o.order == FR_ORDER_STRICT);
        causes_come_first(j, a, !shape.has_launches && o.channels == 0);
        accounts_add_up(j, a, o.jitter_cv > 0 || o.device_cv > 0);
        fr_run_free(a);
        fr_run_free(b);
        random_plan_free(j);
    }
    random_say("any_plan_passes_every_check_and_repeats_to_the_bit", &n);
}

TEST(every_ready_order_finishes_and_keeps_the_bound)
{
    struct random_count n = {0, 0};

    for (uint64_t seed = 1000; seed < 1100; seed++, n.plans++) {
        struct random_plan *j = random_plan_draw(seed, &random_plain);
        double bounds_s[FR_N_NETWORKS] = {-1, -1}; /* links bound where they are shared */

        for (int order = 0; order < FR_ORDER_CONTROL; order++)
            for (int network = 0; network < FR_N_NETWORKS; network++) {
                struct fr_run_options o = random_options();
                struct fr_run *r;

                o.order = (enum fr_order)order;
                o.network = (enum fr_network)network;
                r = random_plan_run(j, &o, &n);
                bounds_s[network] = bounds_s[network] < 0 ? r->lower_bound_s : bounds_s[network];
                holds(j, r->lower_bound_s == bounds_s[network]); /* the plan's, not the run's */
                holds(j, r->makespan_s >= bounds_s[network] * (1 - 1e-9));
                fr_run_free(r);
            }
        random_plan_free(j);
    }
    random_say("every_ready_order_finishes_and_keeps_the_bound", &n);
}

/* The orders that are passes: whatever receives, streams and messages back and forth a plan has, it
 * runs to its end, under any limit of channels; with one, U and L of TicTac (sim/analysis/totals.c)
 * hold the time between them but for launches, of which there are none. Messages on streams of
 * their own may wait for each other in a circle in any order but the plan's, so they have none
 * here. */
TEST(every_order_that_is_a_pass_finishes)
{
    struct random_count n = {0, 0};

    for (uint64_t seed = 7000; seed < 7100; seed++, n.plans++) {
        struct random_plan *j = random_plan_draw(seed, &random_plain);

        for (int order = FR_ORDER_CONTROL; order < FR_N_ORDERS && !j->has_streams_for_messages;
             order++) {
            struct fr_run_options o = random_options();
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
            r = random_plan_run(j, &o, &n);
            holds(j, r->makespan_s >= r->lower_bound_s * (1 - 1e-9));
            holds(j, o.channels != 1 || r->busiest_s <= r->makespan_s * (1 + 1e-9));
            fr_run_free(r);
            fr_plan_free(j->plan);
            j->plan = plan;
        }
        random_plan_free(j);
    }
    random_say("every_order_that_is_a_pass_finishes", &n);
}

/* Several iterations of any plan finish under every ready order; fr_simulate checks by itself that
 * the parts of the last one sum to its time and that no bound is above its time. */
TEST(iterations_of_any_plan_finish_and_add_up)
{
    struct random_count n = {0, 0};

    for (uint64_t seed = 7000; seed < 7150; seed++, n.plans++) {
        struct random_plan *j = random_plan_draw(seed, &random_plain);
        struct fr_run_options o = random_options_in_turn(seed);
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
        random_plan_free(j);
    }
    random_say("iterations_of_any_plan_finish_and_add_up", &n);
}

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
static double freed_at_s(const struct random_plan *j, const struct fr_run *r, uint32_t buffer)
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

static void peak_is_right(const struct random_plan *j, const struct fr_run *r, uint32_t d)
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
TEST(peaks_are_those_of_the_starts_and_ends)
{
    struct random_shape shape = random_plain;
    struct random_count n = {0, 0};

    shape.has_no_empty_tasks = true;
    for (uint64_t seed = 7000; seed < 7200; seed++, n.plans++) {
        struct random_plan *j = random_plan_draw(seed, &shape);
        struct fr_run_options o = random_options_in_turn(seed);
        struct fr_run *r;

        o.channels = 0;
        o.alloc_at_start = true;
        r = random_plan_run(j, &o, &n);
        for (uint32_t d = 0; d < j->n_devices; d++)
            peak_is_right(j, r, d);
        fr_run_free(r);
        random_plan_free(j);
    }
    random_say("peaks_are_those_of_the_starts_and_ends", &n);
}

int main(void)
{
    TCase *c = tcase_create("random");

    tcase_set_timeout(c, 120);
    add_tests(c);
    return run_case(c, "sim/random");
}
