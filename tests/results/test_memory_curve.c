/* What each device holds over time, from a plan and its run. */
#include "config.h"

#include "results/parts/memory_curve.h"
#include "tests/support/base_check.h"
#include "tests/support/hand_case.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const double close_s = 1e-9;

TEST(memory_events_follow_the_tasks)
{
    struct hand h;
    struct fr__memory_event *events;
    struct fr_error err;
    size_t n;

    make_hand(&h, 64 * MIB);
    ck_assert_int_eq(fr__memory_events(h.record, &events, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 8); /* on each GPU three come, one goes */
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(events[i].device, 0);
    for (size_t i = 0; i < 3; i++)
        ck_assert(events[i].is_alloc && events[i].t_s == 0);
    ck_assert(!events[3].is_alloc);
    ck_assert_double_eq_tol(events[3].t_s, 5e-3, close_s);
    free(events);
    free_hand(&h);
}

/* The highest point of each device's curve is the peak that the engine counted. */
static void check_peaks(const struct fr_record *r)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    uint64_t held = 0, peak = 0;
    struct fr__memory_event *events;
    struct fr_error err;
    size_t n;

    ck_assert_int_eq(fr__memory_events(r, &events, &n, &err), FR_OK);
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = v->buffers[events[i].buffer].bytes;

        if (i == 0 || events[i].device != events[i - 1].device)
            held = peak = 0;
        held += events[i].is_alloc ? bytes : -bytes;
        peak = held > peak ? held : peak;
        if (i + 1 == n || events[i + 1].device != events[i].device)
            ck_assert_msg(peak == r->run->devices[events[i].device].peak_bytes,
                          "%s, device %u: the curve reaches %ju, the engine counted %ju",
                          r->strategy, events[i].device, (uintmax_t)peak,
                          (uintmax_t)r->run->devices[events[i].device].peak_bytes);
    }
    free(events);
}

TEST(memory_curves_reach_the_peaks_that_the_engine_counted)
{
    static const char *const specs[] = {"single", "dp", "dp:sync=ps-cpu",   "dp:sync=ps-sharded",
                                        "mp",     "pp", "pp:schedule=gpipe"};
    struct fr_setting setting;
    struct fr_question q;
    struct fr_error err = {.text = ""};

    fr_question_init(&q);
    q.workload = "alexnet";
    q.topology = "dgx1-v100";
    q.n_gpus = 4;
    q.global_batch = 64;
    ck_assert_msg(fr_setting_load(&setting, &q, &err) == FR_OK, "%s", err.text);
    for (size_t i = 0; i < 2 * sizeof(specs) / sizeof(specs[0]); i++) {
        struct fr_record *r;

        q.strategy = specs[i / 2];
        q.run.alloc_at_start = i % 2 == 1;
        ck_assert_msg(fr_answer_on(&setting, &q, NULL, &r, &err) == FR_OK, "%s", err.text);
        check_peaks(r);
        fr_record_free(r);
    }
    fr_setting_fini(&setting);
}

int main(void)
{
    TCase *tc = tcase_create("memory curves");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "results/memory_curve");
}
