/* tests/sim/test_memory.c - what a run says about memory: with the caching allocator, when it is
 * too little, and who holds it. Sizes are worked out from the allocator's rules
 * (sim/memory/allocator.h). */
#include "config.h"

#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>

#define MIB (UINT64_C(1) << 20)
#define TIB (UINT64_C(1) << 40) /* memory of a GPU of the fixture */

static uint32_t add_buffer(struct fr_plan *p, uint64_t bytes, uint32_t alloc, uint32_t free_by)
{
    uint32_t b = fr_plan_add_buffer(p, &(struct fr_buffer){.bytes = bytes,
                                                           .device = 0,
                                                           .alloc = alloc,
                                                           .alias = FR_NONE,
                                                           .op = FR_NONE,
                                                           .kind = FR_BUFFER_ACTIVATION});
    if (free_by != FR_NONE)
        fr_plan_add_free(p, b, free_by);
    return b;
}

static void add_persistent(struct fr_plan *p, enum fr_buffer_kind kind, uint64_t bytes)
{
    fr_plan_add_buffer(p, &(struct fr_buffer){.bytes = bytes,
                                              .device = 0,
                                              .alloc = FR_NONE,
                                              .alias = FR_NONE,
                                              .op = FR_NONE,
                                              .kind = kind});
}

/* n tasks of a second each in a row on device 0. */
static void add_chain(struct fr_plan *p, uint32_t tasks[], int n)
{
    uint32_t cost = fixture_cost(p, 1);

    for (int i = 0; i < n; i++) {
        tasks[i] = fixture_compute(p, 0, cost, i);
        if (i > 0)
            fr_plan_add_dep(p, tasks[i - 1], tasks[i]);
    }
}

static struct fr_run_options options(enum fr_memory_model model)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.memory = model;
    o.want |= FR_WANT_HOLDERS;
    return o;
}

/* Task 0 makes A B C D of 5 MiB: one segment of 20. A and C die with it; the 6 MiB of task 1 do not
 * fit between: another 20. Alive at most: 20 MiB at first, then 16. */
START_TEST(the_allocator_sees_fragmentation_that_liveness_does_not)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options device = options(FR_MEMORY_DEVICE), live = options(FR_MEMORY_LIVENESS);
    uint32_t t[2];
    struct fr_run *r;

    add_chain(p, t, 2);
    for (int i = 0; i < 4; i++)
        add_buffer(p, 5 * MIB, t[0], t[i % 2]);
    add_buffer(p, 6 * MIB, t[1], t[1]);
    fixture_finish(p);
    r = fixture_run(p, &device);
    ck_assert_uint_eq(r->devices[0].peak_bytes, 20 * MIB);
    ck_assert_uint_eq(r->devices[0].peak_allocated_bytes, 20 * MIB);
    ck_assert_uint_eq(r->devices[0].peak_reserved_bytes, 40 * MIB);
    ck_assert(!r->devices[0].is_over);
    fr_run_free(r);
    r = fixture_run(p, &live);
    ck_assert_uint_eq(r->devices[0].peak_bytes, 20 * MIB);
    ck_assert_uint_eq(r->devices[0].peak_reserved_bytes, 0);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}
END_TEST

/* An alias has no block of its own, and its freeing task holds the storage of what it is a view
 * of. */
START_TEST(views_share_a_block)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_MEMORY_DEVICE);
    uint32_t t[3], a;
    struct fr_run *r;

    add_chain(p, t, 3);
    a = add_buffer(p, 512, t[0], t[1]);
    fr_plan_add_free(p,
                     fr_plan_add_buffer(p, &(struct fr_buffer){.bytes = 512,
                                                               .device = 0,
                                                               .alloc = t[1],
                                                               .alias = a,
                                                               .op = FR_NONE,
                                                               .kind = FR_BUFFER_ACTIVATION}),
                     t[2]);
    add_buffer(p, 512, t[2], t[2]);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_uint_eq(r->devices[0].peak_allocated_bytes, 1024);
    ck_assert_uint_eq(r->held_from[1], UINT32_MAX);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}
END_TEST

/* Half of the memory stays, half less a segment of 2 MiB is the context: one small segment is left.
 * A tensor of 1 byte gets it; the next of 2 MiB does not get its 20. By liveness all of it fits. */
START_TEST(names_the_first_allocation_that_does_not_fit)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options device = options(FR_MEMORY_DEVICE), live = options(FR_MEMORY_LIVENESS);
    uint32_t t[3];
    struct fr_run *r;

    add_chain(p, t, 3);
    add_persistent(p, FR_BUFFER_PARAMETER, TIB / 2);
    add_persistent(p, FR_BUFFER_CONTEXT, TIB / 2 - 2 * MIB);
    add_buffer(p, 1, t[0], t[0]);
    add_buffer(p, 2 * MIB, t[1], t[1]);
    add_buffer(p, 90 * MIB, t[2], t[2]);
    fixture_finish(p);
    r = fixture_run(p, &device);
    ck_assert(r->devices[0].is_over);
    ck_assert_uint_eq(r->devices[0].first_over_task, t[1]);
    ck_assert_uint_eq(r->devices[0].first_over_bytes, 2 * MIB);
    /* task 0's segment is free and goes back, then task 1's: what stays and 90 MiB */
    ck_assert_uint_eq(r->devices[0].peak_reserved_bytes, TIB / 2 + 90 * MIB);
    fr_run_free(r);
    r = fixture_run(p, &live);
    ck_assert(!r->devices[0].is_over);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}
END_TEST

START_TEST(what_stays_alone_may_be_too_much)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);

    for (int model = 0; model < FR_N_MEMORY_MODELS; model++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options((enum fr_memory_model)model);
        uint32_t t[1];
        struct fr_run *r;

        add_chain(p, t, 1);
        add_persistent(p, FR_BUFFER_OPTIMIZER, TIB + 2 * MIB);
        add_buffer(p, MIB, t[0], t[0]);
        fixture_finish(p);
        r = fixture_run(p, &o);
        ck_assert(r->devices[0].is_over);
        ck_assert_uint_eq(r->devices[0].first_over_task, FR_NONE);
        ck_assert_uint_eq(r->devices[0].first_over_bytes, TIB + 2 * MIB);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}
END_TEST

/* The optimizer's state comes after the parameters, as frameworks allocate it, also where the
 * plan has it first: it is what does not fit. */
START_TEST(parameters_come_before_the_state_of_the_optimizer)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_MEMORY_DEVICE);
    uint32_t t[1];
    struct fr_run *r;

    add_chain(p, t, 1);
    add_persistent(p, FR_BUFFER_OPTIMIZER, TIB);
    add_persistent(p, FR_BUFFER_PARAMETER, 2 * MIB);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert(r->devices[0].is_over);
    ck_assert_uint_eq(r->devices[0].first_over_bytes, TIB);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}
END_TEST

/* Three tasks: buffer 1 lives in tasks 0 and 1, buffer 2 in task 1, buffer 3 in task 2; 10 stay.
 * The peak is in task 1: 10 + 30 + 20. */
START_TEST(knows_who_holds_what_at_the_peak)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_MEMORY_LIVENESS);
    const struct fr_device_result *d;
    uint32_t t[3];
    uint64_t sum = 0;
    struct fr_run *r;

    add_chain(p, t, 3);
    add_persistent(p, FR_BUFFER_PARAMETER, 10);
    add_buffer(p, 30, t[0], t[1]);
    add_buffer(p, 20, t[1], t[1]);
    add_buffer(p, 40, t[2], t[2]);
    fixture_finish(p);
    r = fixture_run(p, &o);
    d = &r->devices[0];
    ck_assert_uint_eq(d->peak_bytes, 60);
    ck_assert_uint_eq(d->peak_task, t[1]);
    for (uint32_t b = 0; b < 4; b++) {
        bool is_held =
            r->held_from[b] <= d->peak_allocation && d->peak_allocation <= r->held_until[b];

        ck_assert_int_eq(is_held, b < 3);
        sum += is_held ? fr_plan_view(p)->buffers[b].bytes : 0;
    }
    ck_assert_uint_eq(sum, d->peak_bytes);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}
END_TEST

/* A first task makes n buffers of a byte and starts n tasks, one at a time; the last frees the n.
 * Each of the n makes and frees one of 10, so at most n + 10 are there, from task 1 on. Around the
 * most that the engine notes with a task, and beyond. */
START_TEST(lists_of_any_length_are_gone_through_to_their_end)
{
    static const uint32_t lengths[] = {0, 1, 254, 255, 256, 510, 511, 512, 1500};
    struct fr_topo *topo = fixture_star(2, 1e9, 0);

    for (size_t i = 0; i < 2 * sizeof(lengths) / sizeof(*lengths); i++) {
        uint32_t n = lengths[i / 2], cost, first, last;
        struct fr_plan *p = fr_plan_new(topo, NULL);
        struct fr_run_options o = options(FR_MEMORY_LIVENESS);
        struct fr_run *r;

        o.alloc_at_start = i % 2;
        cost = fixture_cost(p, 1);
        first = fixture_compute(p, 0, cost, 0);
        last = fixture_compute(p, 0, cost, 0);
        fr_plan_add_dep(p, first, last);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t t = fixture_compute(p, 0, cost, 0);

            add_buffer(p, 1, first, last);
            add_buffer(p, 10, t, t);
            fr_plan_add_dep(p, first, t);
            fr_plan_add_dep(p, t, last);
        }
        fixture_finish(p);
        r = fixture_run(p, &o);
        ck_assert_double_eq(r->makespan_s, n + 2);
        ck_assert_double_eq(r->start_s[last], n + 1);
        ck_assert_uint_eq(r->devices[0].peak_bytes, n ? n + 10 : 0);
        ck_assert_double_eq(r->devices[0].peak_at_s, n ? 1 : 0);
        ck_assert_uint_eq(r->devices[0].end_bytes, 0);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("sim/memory");
    TCase *t = tcase_create("memory");

    tcase_add_test(t, the_allocator_sees_fragmentation_that_liveness_does_not);
    tcase_add_test(t, views_share_a_block);
    tcase_add_test(t, names_the_first_allocation_that_does_not_fit);
    tcase_add_test(t, what_stays_alone_may_be_too_much);
    tcase_add_test(t, parameters_come_before_the_state_of_the_optimizer);
    tcase_add_test(t, knows_who_holds_what_at_the_peak);
    tcase_add_test(t, lists_of_any_length_are_gone_through_to_their_end);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
