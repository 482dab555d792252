/* tests/plan/test_plan.c - what a plan refuses, and how it says so. */
#include "config.h"

#include "base/rng.h"
#include "plan/internal.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct fr_topo *topo;
static struct fr_plan *plan;

static void set_up(void)
{
    topo = fixture_pair(1e9, 0);
    plan = fr_plan_new(topo, NULL);
}

static void tear_down(void)
{
    fr_plan_free(plan);
    fr_topo_free(topo);
}

static void refuses(const char *text)
{
    struct fr_error err = {.text = ""};

    ck_assert_int_eq(fr_plan_finish(plan, &err), FR_ERANGE);
    ck_assert_msg(strstr(err.text, text) != NULL, "'%s' does not hold '%s'", err.text, text);
}

static uint32_t any_task(uint32_t device)
{
    return fixture_compute(plan, device, fixture_cost(plan, 1), 0);
}

static struct fr_task task_of(enum fr_task_kind kind)
{
    return (struct fr_task){.cost_id = FR_NONE,
                            .op = FR_NONE,
                            .label = FR_NONE,
                            .microbatch = FR_NONE,
                            .kind = (uint8_t)kind};
}

TEST(an_empty_plan_is_fine)
{
    ck_assert_int_eq(fr_plan_finish(plan, NULL), FR_OK);
    ck_assert_uint_eq(fr_plan_view(plan)->n_tasks, 0);
    ck_assert_int_eq(fr_plan_finish(plan, NULL), FR_OK); /* twice does no harm */
}

TEST(rows_hold_successors_in_the_order_added)
{
    uint32_t a = any_task(0), b = any_task(0), c = any_task(1);
    const struct fr_plan_view *v = fr_plan_view(plan);

    fr_plan_add_dep(plan, a, c);
    fr_plan_add_dep(plan, a, b);
    fr_plan_add_dep(plan, b, c);
    ck_assert_int_eq(fr_plan_finish(plan, NULL), FR_OK);
    ck_assert_uint_eq(v->succ_first[a + 1] - v->succ_first[a], 2);
    ck_assert_uint_eq(v->succ[v->succ_first[a]], c);
    ck_assert_uint_eq(v->succ[v->succ_first[a] + 1], b);
    ck_assert_uint_eq(v->succ_first[c + 1] - v->succ_first[c], 0);
    ck_assert_uint_eq(v->n_preds[c], 2);
}

TEST(refuses_a_device_that_does_not_exist)
{
    any_task(2);
    refuses("device 2 does not exist (there are 2)");
}

TEST(refuses_a_stream_that_does_not_exist)
{
    struct fr_task t = task_of(FR_TASK_COMPUTE);

    t.stream = 100;
    fr_plan_add_task(plan, &t);
    refuses("stream 100 does not exist");
}

TEST(refuses_a_cost_that_does_not_exist)
{
    fixture_compute(plan, 0, 7, 0);
    refuses("cost 7 does not exist");
}

TEST(refuses_costs_that_are_not_finite)
{
    fixture_cost(plan, NAN);
    refuses("cost 0: nan s");
}

TEST(refuses_negative_costs)
{
    fixture_cost(plan, -1);
    refuses("not all finite and >= 0");
}

TEST(refuses_dependencies_on_nothing)
{
    fr_plan_add_dep(plan, any_task(0), 9);
    refuses("from task 0 to task 9, but there are 1 tasks");
}

TEST(refuses_a_task_that_waits_for_itself)
{
    uint32_t t = any_task(0);

    fr_plan_add_dep(plan, t, t);
    refuses("task 0 waits for itself");
}

TEST(refuses_a_cycle_and_names_it)
{
    uint32_t a = any_task(0), b = any_task(0), c = any_task(0), d = any_task(1);

    fr_plan_add_dep(plan, a, b);
    fr_plan_add_dep(plan, b, c);
    fr_plan_add_dep(plan, c, b);
    fr_plan_add_dep(plan, c, d);
    refuses("a cycle of tasks: task 1 -> task 2 -> ...");
}

TEST(refuses_a_send_without_transfer)
{
    struct fr_task t = task_of(FR_TASK_SEND);

    fr_plan_add_task(plan, &t);
    refuses("a send that belongs to no transfer");
}

TEST(refuses_a_transfer_between_the_wrong_tasks)
{
    fr_plan_add_transfer(plan, any_task(0), any_task(1), 8, FR_NONE);
    refuses("are not its send and its receive");
}

TEST(refuses_negative_bytes)
{
    fixture_message(plan, 0, 1, -1, FR_NONE);
    refuses("transfer 0: -1 bytes");
}

TEST(refuses_a_compute_task_whose_label_does_not_exist)
{
    struct fr_task t = task_of(FR_TASK_COMPUTE);

    t.label = fr_plan_add_string(plan, "a") + 1;
    fr_plan_add_task(plan, &t);
    refuses("label 1 does not exist (there are 1 strings)");
}

/* One word of memory serves three kinds of task; each answers for its own kind only. */
TEST(a_reference_is_read_by_the_kind_of_task)
{
    struct fr_task t = task_of(FR_TASK_COMPUTE);

    t.label = 7;
    ck_assert_uint_eq(fr_task_label(&t), 7);
    ck_assert_uint_eq(fr_task_transfer(&t), FR_NONE);
    ck_assert_uint_eq(fr_task_collective(&t), FR_NONE);
    t.kind = FR_TASK_RECV;
    ck_assert_uint_eq(fr_task_label(&t), FR_NONE);
    ck_assert_uint_eq(fr_task_transfer(&t), 7);
    t.kind = FR_TASK_COLLECTIVE;
    ck_assert_uint_eq(fr_task_transfer(&t), FR_NONE);
    ck_assert_uint_eq(fr_task_collective(&t), 7);
    t.kind = FR_TASK_MARKER;
    ck_assert_uint_eq(fr_task_label(&t), FR_NONE);
    ck_assert_uint_eq(sizeof(t), 32); /* the engine is bound by memory */
}

TEST(refuses_a_collective_with_a_missing_rank)
{
    uint32_t group = fr_plan_add_group(plan, 0, 1, 2);
    struct fr_task t = task_of(FR_TASK_COLLECTIVE);

    t.collective = fr_plan_add_collective(
        plan, &(struct fr_collective){.bytes = 8, .group = group, .label = FR_NONE});
    fr_plan_add_task(plan, &t);
    refuses("rank 1 has no member task");
}

TEST(refuses_a_collective_with_a_doubled_rank)
{
    uint32_t members[2];
    struct fr_task t = task_of(FR_TASK_COLLECTIVE);

    t.collective = fixture_collective(plan, FR_ALL_REDUCE, 2, 8, members);
    fr_plan_add_task(plan, &t);
    refuses("rank 0 has two member tasks, 2 and 0");
}

TEST(refuses_a_member_on_the_wrong_device)
{
    uint32_t group = fr_plan_add_group(plan, 1, 1, 1);
    struct fr_task t = task_of(FR_TASK_COLLECTIVE);

    t.collective = fr_plan_add_collective(
        plan, &(struct fr_collective){.bytes = 8, .group = group, .label = FR_NONE});
    fr_plan_add_task(plan, &t);
    refuses("rank 0 is on device 1, its member task on device 0");
}

TEST(refuses_a_collective_at_a_cost_that_does_not_exist)
{
    uint32_t members[2];

    fixture_priced_collective(plan, FR_ALL_REDUCE, 2, 8, 1, 0, members);
    fr_plan_add_collective(
        plan, &(struct fr_collective){.label = FR_NONE, .has_cost = true, .cost_id = 7});
    refuses("collective 1: cost 7 does not exist");
}

TEST(refuses_a_collective_whose_bytes_take_longer_than_all_of_it)
{
    uint32_t members[2];

    fixture_priced_collective(plan, FR_ALL_REDUCE, 2, 8, 1, 2, members);
    refuses("collective 0: its bytes take 2 s of 1 s");
}

TEST(refuses_a_root_beyond_the_group)
{
    uint32_t group = fr_plan_add_group(plan, 0, 1, 2);

    fr_plan_add_collective(
        plan, &(struct fr_collective){
                  .bytes = 8, .group = group, .label = FR_NONE, .kind = FR_BROADCAST, .root = 2});
    refuses("collective 0: its root is rank 2 of 2");
}

TEST(refuses_a_group_beyond_the_devices)
{
    fr_plan_add_group(plan, 0, 1, 3);
    refuses("group 0: rank 2 is device 2, which does not exist");
}

static uint32_t buffer(uint32_t device, uint32_t alloc, uint32_t alias)
{
    return fr_plan_add_buffer(plan, &(struct fr_buffer){.bytes = 8,
                                                        .device = device,
                                                        .alloc = alloc,
                                                        .alias = alias,
                                                        .op = FR_NONE,
                                                        .kind = FR_BUFFER_ACTIVATION});
}

TEST(refuses_a_buffer_that_nobody_frees)
{
    buffer(0, any_task(0), FR_NONE);
    refuses("buffer 0: allocated by task 0 and never freed");
}

TEST(refuses_to_free_a_persistent_buffer)
{
    fr_plan_add_free(plan, buffer(0, FR_NONE, FR_NONE), any_task(0));
    refuses("buffer 0: persistent, yet some task frees it");
}

TEST(refuses_a_free_before_the_allocation)
{
    uint32_t a = any_task(0), b = any_task(0);

    fr_plan_add_dep(plan, a, b);
    fr_plan_add_free(plan, buffer(0, b, FR_NONE), a);
    refuses("buffer 0: task 0 may free it before task 1 allocates it");
}

TEST(refuses_an_alias_across_devices)
{
    uint32_t t = any_task(0), b = buffer(0, t, FR_NONE);

    fr_plan_add_free(plan, b, t);
    buffer(1, FR_NONE, b);
    refuses("buffer 1 on device 1 shares storage with buffer 0 on device 0");
}

TEST(refuses_aliases_in_a_circle)
{
    buffer(0, FR_NONE, 1);
    buffer(0, FR_NONE, 0);
    refuses("its aliases form a circle");
}

TEST(refuses_an_allocation_on_another_device)
{
    uint32_t t = any_task(1);

    fr_plan_add_free(plan, buffer(0, t, FR_NONE), t);
    refuses("on device 0, but allocated by task 0 on device 1");
}

static void count_line(void *user, const char *line)
{
    ck_assert_ptr_nonnull(line);
    ++*(size_t *)user;
}

TEST(the_check_reports_every_violation)
{
    uint32_t a = any_task(0), b = any_task(0);
    struct fr_error err;
    size_t n = 0;

    buffer(0, a, FR_NONE);
    buffer(0, b, FR_NONE);
    buffer(0, b, FR_NONE);
    ck_assert_int_eq(fr_plan_finish(plan, &err), FR_ERANGE);
    ck_assert_ptr_nonnull(strstr(err.text, "the plan has 3 faults, the first: buffer 0"));
    ck_assert_uint_eq(fr_plan_check(plan, count_line, &n), 1); /* an unfinished plan says so */
    ck_assert_uint_eq(n, 1);
}

TEST(a_finished_plan_takes_nothing_more)
{
    ck_assert_int_eq(fr_plan_finish(plan, NULL), FR_OK);
    ck_assert_uint_eq(any_task(0), FR_NONE);
}

TEST(an_unfinished_plan_does_not_run)
{
    struct fr_run_options o;
    struct fr_run *r = NULL;
    struct fr_error err;

    fr_run_options_init(&o);
    ck_assert_int_eq(fr_simulate(plan, &o, &r, &err), FR_EUSAGE);
    ck_assert_ptr_null(r);
}

TEST(strided_and_listed_groups_name_their_devices)
{
    const uint32_t devices[] = {1, 0};
    uint32_t strided = fr_plan_add_group(plan, 0, 1, 2);
    uint32_t listed = fr_plan_add_group_of(plan, devices, 2);

    ck_assert_uint_eq(fr_plan_group_size(plan, strided), 2);
    ck_assert_uint_eq(fr_plan_group_device(plan, strided, 1), 1);
    ck_assert_uint_eq(fr_plan_group_device(plan, listed, 0), 1);
    ck_assert_uint_eq(fr_plan_group_device(plan, listed, 1), 0);
}

/* ---- random plans ---- */

/* Mostly a number below n, now and then one that is not. */
static uint32_t draw(struct fr__rng *rng, uint32_t n)
{
    uint32_t odd = (uint32_t)fr__rng_below(rng, 400);

    if (odd < 2)
        return odd ? FR_NONE : n;
    return n ? (uint32_t)fr__rng_below(rng, n) : FR_NONE;
}

static void add_random_tasks(struct fr__rng *rng, uint32_t n)
{
    for (uint32_t t = 0; t < n; t++) {
        struct fr_task k = task_of(draw(rng, 20) == 1 ? FR_TASK_MARKER : FR_TASK_COMPUTE);

        k.device = draw(rng, 40) == 1 ? 1 : 0;
        k.cost_id = k.kind == FR_TASK_COMPUTE ? 0 : FR_NONE;
        k.stream = k.kind == FR_TASK_MARKER ? FR_STREAM_FREE : 0;
        fr_plan_add_task(plan, &k);
    }
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t a = draw(rng, n), b = draw(rng, n);
        bool is_backward = fr__rng_below(rng, 30) == 0;

        if (a != b)
            fr_plan_add_dep(plan, (a < b) != is_backward ? a : b, (a < b) != is_backward ? b : a);
    }
}

static void add_random_buffers(struct fr__rng *rng, uint32_t n_tasks)
{
    for (uint32_t b = 0; b < 6; b++) {
        bool is_alias = b > 0 && fr__rng_below(rng, 4) == 0;
        uint32_t alloc = draw(rng, n_tasks);
        struct fr_buffer k = {.bytes = 100 - b,
                              .device = alloc < n_tasks ? plan->tasks[alloc].device : 0,
                              .alloc = alloc,
                              .alias = is_alias ? draw(rng, b) : FR_NONE,
                              .op = FR_NONE};
        uint32_t id = fr_plan_add_buffer(plan, &k), from = alloc < n_tasks ? alloc : 0;

        for (uint64_t i = fr__rng_below(rng, 40) ? 1 + fr__rng_below(rng, 2) : 0; i > 0; i--)
            fr_plan_add_free(plan, id, from + draw(rng, n_tasks - from));
    }
}

static void count_fault(void *user, const char *line)
{
    (void)line;
    ++*(size_t *)user;
}

/* The quick verdict (plan/sound.c) lets through what the full check finds nothing in, and no
 * more; late tasks and faults among them. */
TEST(a_plan_that_is_accepted_passes_the_full_check)
{
    size_t n_accepted = 0, n_faults = 0;

    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint32_t n = 2 + (uint32_t)(seed % 12);
        struct fr__rng rng;
        struct fr_error err;

        fr_plan_free(plan);
        plan = fr_plan_new(topo, NULL);
        fr__rng_init(&rng, seed, 0);
        fixture_cost(plan, 1);
        add_random_tasks(&rng, n);
        add_random_buffers(&rng, n);
        if (fr_plan_finish(plan, &err) != FR_OK)
            continue;
        n_accepted++;
        fr_plan_check(plan, count_fault, &n_faults);
        if (n_faults > 0)
            ck_abort_msg("plan %u has faults", (unsigned)seed);
    }
    ck_assert_uint_gt(n_accepted, 300);
    ck_assert_uint_lt(n_accepted, 2700);
}

int main(void)
{
    TCase *c = tcase_create("plan");

    tcase_add_checked_fixture(c, set_up, tear_down);
    add_tests(c);
    return run_case(c, "sim/plan");
}
