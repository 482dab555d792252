/* tests/lowering/schedules/test_schedule_rules.c - schedules against closed forms, versions of
 * weights, and what makes a schedule impossible. */
#include "config.h"

#include "lowering/schedules/schedule.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct fr_schedule *make(const char *name, uint32_t p, uint32_t v, uint32_t m)
{
    const struct fr_schedule_spec spec = {
        .name = name, .n_ranks = p, .n_virtual = v, .n_micros = m};
    struct fr_schedule *s = NULL;
    struct fr_error err = {0};

    ck_assert_msg(fr_schedule_get(&s, &spec, &err) == FR_OK, "%s p%u v%u m%u: %s", name, p, v, m,
                  err.text);
    return s;
}

static void assert_refused(const struct fr_schedule_spec *spec, enum fr_status status,
                           const char *text)
{
    struct fr_schedule *s = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_schedule_get(&s, spec, &err), status);
    ck_assert_ptr_null(s);
    assert_message(&err, text);
}

/* ---- closed forms ---- */

static double makespan(const struct fr_schedule *s, const struct fr_schedule_times *t)
{
    struct fr_replay x;
    struct fr_error err;
    double all;

    ck_assert_int_eq(fr_schedule_replay(&x, s, t, &err), FR_OK);
    all = x.makespan;
    fr_replay_fini(&x);
    return all;
}

/* Sizes beyond those of the data, and times that are no units: with F, I, W and m >= 2 p
 *   gpipe, 1f1b        (m + p - 1) (F + I + W)                  GPipe; Megatron-LM, SC 2021
 *   interleaved, v     m v (F + I + W) + (p - 1) (F + I + W)    if p divides m
 *   zb-h1, zb-h2       m (F + I + W) + (p - 1) (F + I - W)      Zero Bubble, ICLR 2024, table 2
 * where the last also needs F = I = W. */
static void check_makespans(uint32_t p, uint32_t m)
{
    const struct fr_schedule_times t = {
        .pass = {.forward = 3, .input = 2, .weight = 2, .backward = -1}, .pair = -1};
    const struct fr_schedule_times unit = fr_schedule_unit_times();
    const struct {
        const char *name;
        uint32_t v;
        const struct fr_schedule_times *t;
        double expected;
    } cases[] = {
        {"gpipe", 1, &t, 7.0 * (m + p - 1)},
        {"1f1b", 1, &t, 7.0 * (m + p - 1)},
        {"eager-1f1b", 1, &t, 7.0 * (m + p - 1)},
        {"interleaved-1f1b", 3, &t, 7.0 * (3 * m + p - 1)},
        {"looped-bfs", 3, &t, 7.0 * (3 * m + p - 1)},
        {"zb-h1", 1, &unit, 3.0 * m + p - 1},
        {"zb-h2", 1, &unit, 3.0 * m + p - 1},
        {"zb-v", 2, &unit, 6.0 * m + p - 1},
        {"zb-v-auto", 2, &unit, 6.0 * m + p - 1},
        {"dualpipe-v", 2, &unit, 6.0 * m + 2 * (p - 1)},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_schedule *s = make(cases[i].name, p, cases[i].v, m);
        double got = makespan(s, cases[i].t);

        ck_assert_msg(got == cases[i].expected, "%s p%u m%u: %g, not %g", cases[i].name, p, m, got,
                      cases[i].expected);
        fr_schedule_free(s);
    }
}

TEST(makespans_are_those_of_the_papers)
{
    for (uint32_t p = 1; p <= 20; p++)
        for (uint32_t k = 2; k <= 5; k++)
            check_makespans(p, k * p);
}

/* Of the authors' searches, at sizes beyond the data: m >= 2 p, p >= 4. An even p has a gap of
 * three slots in the pattern of V-Half, a p that 3 divides one of two in that of V-Min. */
TEST(searches_keep_to_their_closed_forms_at_all_sizes)
{
    for (uint32_t p = 4; p <= 13; p++)
        for (uint32_t m = 2 * p; m <= 2 * p + 3; m++) {
            struct fr_schedule *half = make("v-half", p, 2, m), *least = make("v-min", p, 2, m);
            struct fr_replay x;
            struct fr_error err;

            ck_assert_int_eq(fr_schedule_check(half, &err), FR_OK);
            ck_assert_int_eq(fr_schedule_check(least, &err), FR_OK);
            ck_assert_double_eq(makespan(least, NULL), 6.0 * m + 4 * p - (p % 3 == 0 ? 7 : 5));
            ck_assert_int_eq(fr_schedule_replay(&x, half, NULL, &err), FR_OK);
            ck_assert_double_eq(x.makespan, 6.0 * m + 3 * p - (p % 2 == 0 ? 7 : 4));
            for (uint32_t r = 0; r < p; r++)
                ck_assert_uint_le(x.live_weight[r], p + 2);
            fr_replay_fini(&x);
            fr_schedule_free(half);
            fr_schedule_free(least);
        }
}

static void assert_live(const char *name, uint32_t p, uint32_t v, uint32_t m,
                        uint32_t (*expected)(uint32_t p, uint32_t m, uint32_t rank))
{
    struct fr_schedule *s = make(name, p, v, m);
    struct fr_replay x;
    struct fr_error err;

    ck_assert_int_eq(fr_schedule_replay(&x, s, NULL, &err), FR_OK);
    for (uint32_t r = 0; r < p; r++)
        ck_assert_msg(x.live_input[r] == expected(p, m, r), "%s p%u m%u: rank %u holds %u", name, p,
                      m, r, x.live_input[r]);
    fr_replay_fini(&x);
    fr_schedule_free(s);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t all_micros(uint32_t p, uint32_t m, uint32_t rank)
{
    (void)p;
    (void)rank;
    return m;
}

static uint32_t as_1f1b(uint32_t p, uint32_t m, uint32_t rank)
{
    return least(m, p - rank);
}

static uint32_t as_eager(uint32_t p, uint32_t m, uint32_t rank)
{
    return least(m, 2 * (p - 1 - rank) + 1);
}

/* v = 2, p divides m: n = p */
static uint32_t as_interleaved(uint32_t p, uint32_t m, uint32_t rank)
{
    return least(2 * m, 2 * (p - 1 - rank) + p + 1);
}

static uint32_t as_v(uint32_t p, uint32_t m, uint32_t rank)
{
    (void)m;
    (void)rank;
    return 2 * p;
}

TEST(live_micro_batches_are_those_of_the_papers)
{
    for (uint32_t p = 1; p <= 20; p++)
        for (uint32_t k = 1; k <= 4; k++) {
            assert_live("gpipe", p, 1, k * p, all_micros);
            assert_live("1f1b", p, 1, k * p + 1, as_1f1b);
            assert_live("eager-1f1b", p, 1, k * p + 1, as_eager);
            /* no more micro-batches than ranks: the forwards of ZB-H2, as the authors' search has
             */
            assert_live("zb-h1", p, 1, k * p, k == 1 ? as_eager : as_1f1b);
            assert_live("zb-h1", p, 1, p + 1, as_1f1b);
            assert_live("zb-h2", p, 1, k * p, as_eager);
            assert_live("interleaved-1f1b", p, 2, k * p, as_interleaved);
            if (k >= 2)
                assert_live("zb-v", p, 2, k * p, as_v);
        }
}

/* PipeMare: (2 (p - 1 - s) + 1) / m steps of the optimizer. */
TEST(the_delay_of_pipemare_is_that_of_its_paper)
{
    for (uint32_t p = 1; p <= 12; p++) {
        struct fr_schedule *s = make("pipemare", p, 1, 3 * p), *other = make("pipedream", p, 1, p);
        struct fr_replay x, y;
        struct fr_error err;

        ck_assert_int_eq(fr_schedule_replay(&x, s, NULL, &err), FR_OK);
        ck_assert_int_eq(fr_schedule_replay(&y, other, NULL, &err), FR_OK);
        for (uint32_t r = 0; r < p; r++) {
            ck_assert_double_eq(x.delay_steps[r], (2.0 * (p - 1 - r) + 1) / (3 * p));
            ck_assert_double_eq(y.delay_steps[r], 0);
        }
        fr_replay_fini(&x);
        fr_replay_fini(&y);
        fr_schedule_free(s);
        fr_schedule_free(other);
    }
}

/* A transfer of c delays 1F1B by (2 (p - 1) m / p + 2 (p - 2)) c, eager 1F1B by 2 (p - 1) c only:
 *   p 4, m 16, F 1, B 2:  (16 + 3) 3 + (24 + 4) / 4 = 64
 *   p 8, m 16:            (16 + 7) 3 + (28 + 12) / 4 = 79
 *   p 8, m 64, eager:     (64 + 7) 3 + 14 / 4 = 216.5 */
TEST(transfers_that_nothing_hides_delay_1f1b_at_every_micro_batch)
{
    struct fr_schedule_times t = fr_schedule_unit_times();
    struct fr_schedule *a = make("1f1b", 4, 1, 16), *b = make("1f1b", 8, 1, 16);
    struct fr_schedule *c = make("eager-1f1b", 8, 1, 64);

    t.comm = 0.25;
    ck_assert_double_eq(makespan(a, &t), 64);
    ck_assert_double_eq(makespan(b, &t), 79);
    ck_assert_double_eq(makespan(c, &t), 216.5);
    fr_schedule_free(a);
    fr_schedule_free(b);
    fr_schedule_free(c);
}

/* Stages of f = 1, 3, 2 and b = 2, 6, 4; five micro-batches. GPipe: sum f + 4 max f + sum b + 4
 * max b = 6 + 12 + 12 + 24 = 54. 1F1B: stage 1 runs F0 1-4 and F1 4-7; stage 2 F0 4-6 and B0 6-10.
 * Stage 1 waits until 10 and never again: B0 10-16, F2 16-19, B1 19-25, F3 25-28, B2 28-34, F4
 * 34-37, B3 37-43, B4 43-49. Stage 0 ends with B4 49-51. */
TEST(unequal_stages_take_what_is_derived_by_hand)
{
    static const struct fr_pass_times stages[] = {{.forward = 1, .backward = 2},
                                                  {.forward = 3, .backward = 6},
                                                  {.forward = 2, .backward = 4}};
    struct fr_schedule_times t = fr_schedule_unit_times();
    struct fr_schedule *gpipe = make("gpipe", 3, 1, 5), *turns = make("1f1b", 3, 1, 5);

    t.of_stage = stages;
    ck_assert_double_eq(makespan(gpipe, &t), 54);
    ck_assert_double_eq(makespan(turns, &t), 51);
    fr_schedule_free(gpipe);
    fr_schedule_free(turns);
}

/* ---- versions of the weights ---- */

static void assert_versions(const struct fr_schedule *s,
                            uint32_t (*versions)(uint32_t p, uint32_t r),
                            uint32_t (*staleness)(uint32_t p, uint32_t r))
{
    struct fr_replay x;
    struct fr_error err;

    ck_assert_int_eq(fr_schedule_replay(&x, s, NULL, &err), FR_OK);
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        ck_assert_uint_eq(x.versions[r], versions(s->n_ranks, r));
        ck_assert_uint_eq(x.staleness[r], staleness(s->n_ranks, r));
    }
    fr_replay_fini(&x);
}

static uint32_t none(uint32_t p, uint32_t r)
{
    (void)p;
    (void)r;
    return 0;
}

static uint32_t one(uint32_t p, uint32_t r)
{
    return none(p, r) + 1;
}

static uint32_t two(uint32_t p, uint32_t r)
{
    return none(p, r) + 2;
}

static uint32_t to_the_end(uint32_t p, uint32_t r)
{
    return p - r;
}

static uint32_t later_stages(uint32_t p, uint32_t r)
{
    return p - r - 1;
}

static uint32_t as_first(uint32_t p, uint32_t r)
{
    return later_stages(p, none(p, r));
}

static uint32_t all_ranks(uint32_t p, uint32_t r)
{
    return p + none(p, r);
}

/* PipeDream, SOSP 2019, section 3.3: stage s of p uses weights p - 1 - s updates old and keeps p -
 * s versions; with vertical sync all use those of the first stage, p - 1 old. 2BW: two versions,
 * one old. */
TEST(asynchronous_pipelines_keep_the_versions_of_their_papers)
{
    for (uint32_t p = 1; p <= 9; p++) {
        const struct fr_schedule_spec vertical = {
            .name = "pipedream", .n_ranks = p, .n_micros = 4 * p, .vertical_sync = true};
        struct fr_schedule *flush = make("1f1b", p, 1, 4 * p), *s = make("pipedream", p, 1, 4 * p);
        struct fr_schedule *twice = make("pipedream-2bw", p, 1, 4 * p), *synced;
        struct fr_schedule *mare = make("pipemare", p, 1, 4 * p);
        struct fr_error err;

        ck_assert_int_eq(fr_schedule_get(&synced, &vertical, &err), FR_OK);
        assert_versions(flush, one, none);
        assert_versions(s, to_the_end, later_stages);
        assert_versions(twice, two, one);
        assert_versions(mare, one, later_stages);
        assert_versions(synced, all_ranks, as_first);
        fr_schedule_free(flush);
        fr_schedule_free(s);
        fr_schedule_free(twice);
        fr_schedule_free(synced);
        fr_schedule_free(mare);
    }
}

/* ---- what cannot be ---- */

static void check_text(const char *text, enum fr_status status, const char *message)
{
    struct fr_schedule *s = NULL;
    struct fr_error err = {0};
    enum fr_status st = fr_schedule_load_text(&s, text, strlen(text), "own.csv", &err);

    if (st == FR_OK)
        st = fr_schedule_check(s, &err);
    ck_assert_int_eq(st, status);
    if (status != FR_OK)
        assert_message(&err, message);
    fr_schedule_free(s);
}

TEST(a_file_is_a_schedule)
{
    check_text("rank,index,action\n0,0,0F0\n1,0,1F0\n1,1,1B0\n0,1,0B0\n", FR_OK, "");
    check_text("rank,index,action\n0,0,0F0\n0,1,0I0\n0,2,0W0\n", FR_OK, "");
}

TEST(what_is_missing_or_twice_is_named)
{
    check_text("rank,index,action\n0,0,0F0\n0,1,0I0\n", FR_EPARSE,
               "schedule 'own.csv' has no '0W0'");
    check_text("rank,index,action\n0,0,0F0\n0,1,0F1\n0,2,0B1\n", FR_EPARSE,
               "schedule 'own.csv' has no '0B0'");
    check_text("rank,index,action\n0,0,0F0\n0,1,0B0\n0,2,0F0\n", FR_EPARSE,
               "schedule 'own.csv' runs '0F0' twice");
    check_text("rank,index,action\n0,0,0F0\n0,1,0B0\n0,2,0W0\n", FR_EPARSE,
               "schedule 'own.csv' runs '0W0' beside '0B0', which includes it");
    check_text("rank,index,action\n0,0,0F0\n1,0,0B0\n", FR_EPARSE,
               "schedule 'own.csv' runs the forward of micro-batch 0 on stage 0 on rank 0, but its "
               "backward on rank 1");
    check_text("rank,index,action\n0,0,0F0\n0,1,0B0\n0,2,900000F900000\n", FR_EPARSE,
               "schedule 'own.csv' has 3 actions, too few for 900001 stages and 900001 "
               "micro-batches");
}

/* Communication alone, and ranks whose numbers are left out, would hold devices that idle. */
TEST(a_rank_without_a_pass_is_named)
{
    check_text("rank,index,action\n0,0,0UNSHARD\n", FR_EPARSE,
               "schedule 'own.csv' has no pass on rank 0: ranks count up from 0, and each runs at "
               "least one forward and its backward");
    check_text("rank,index,action\n0,0,0F0\n0,1,0B0\n5,0,1F0\n5,1,1B0\n", FR_EPARSE,
               "schedule 'own.csv' has no pass on rank 1: ranks count up from 0, and each runs at "
               "least one forward and its backward");
    check_text("rank,index,action\n0,0,0F0\n0,1,0B0\n1,0,0UNSHARD\n1,1,0RESHARD\n", FR_EPARSE,
               "schedule 'own.csv' has no pass on rank 1: ranks count up from 0, and each runs at "
               "least one forward and its backward");
    check_text("rank,index,action\n0,0,0UNSHARD\n0,1,0F0\n0,2,0B0\n", FR_OK, "");
}

TEST(a_circle_of_waits_is_named)
{
    check_text("rank,index,action\n0,0,0F0\n0,1,0B0\n0,2,0F1\n0,3,0B1\n"
               "1,0,1F0\n1,1,1F1\n1,2,1B0\n1,3,1B1\n",
               FR_EPARSE,
               "schedule 'own.csv' cannot end: rank 0 at '0B0' waits for '1B0' of rank 1; rank 1 "
               "at '1F1' waits for '0F1' of rank 0");
    check_text("rank,index,action\n0,0,0B0\n0,1,0F0\n", FR_EPARSE,
               "schedule 'own.csv' cannot end: rank 0 at '0B0' waits for '0F0' of rank 0");
}

TEST(a_malformed_file_is_refused_at_its_place)
{
    check_text("rank,index,action\n0,0,0X0\n", FR_EPARSE,
               "own.csv:2:5: 'action' is \"0X0\", not one like 2F3, 2B3, 2I3, 2W3 or "
               "(0F3;3B5)OVERLAP_F_B");
    check_text("rank,index,action\n0,0,0F99999999999\n", FR_EPARSE,
               "own.csv:2:5: 'action' is \"0F99999999999\", not one like 2F3, 2B3, 2I3, 2W3 or "
               "(0F3;3B5)OVERLAP_F_B");
    check_text("rank,index,action\n0,0,0F0\n0,2,0B0\n", FR_EPARSE,
               "own.csv:3: rank 0 has index 2 where 1 is expected: indices count up from 0");
    check_text("rank,index,action\n", FR_EPARSE, "own.csv: there are no actions");
}

TEST(sizes_that_a_rule_cannot_serve_are_refused)
{
    struct fr_schedule_spec spec = {.name = "dualpipe", .n_ranks = 3, .n_micros = 8};

    assert_refused(&spec, FR_EUSAGE,
                   "'dualpipe' needs an even number of ranks, not 3, and an even number of "
                   "micro-batches, at least two a rank, not 8");
    spec.name = "interleved-1f1b";
    assert_refused(&spec, FR_ENOENT,
                   "'interleved-1f1b' is no schedule, did you mean 'interleaved-1f1b'?; 'forerun "
                   "schedule list' names them");
    spec = (struct fr_schedule_spec){.name = "zb-v", .n_ranks = 4, .n_micros = 8, .n_virtual = 3};
    assert_refused(&spec, FR_EUSAGE, "'zb-v' has 2 virtual stages a rank, not 3");
    spec = (struct fr_schedule_spec){
        .name = "interleaved-1f1b", .n_ranks = 4, .n_micros = 8, .n_virtual = 2, .group = 2};
    assert_refused(
        &spec, FR_EPARSE,
        "schedule 'interleaved-1f1b' cannot end: rank 0 at '4F3' waits for '3F3' of rank "
        "3; rank 3 at '3B0' waits for '4B0' of rank 0");
}

/* All kinds at many sizes: what is made is what the checker accepts, or is refused in words. */
START_TEST(every_kind_makes_schedules_that_can_run)
{
    const struct fr_schedule_kind *k = fr_schedule_kind_at((size_t)_i);
    unsigned n = 0;

    for (uint32_t p = 1; p <= 9; p++)
        for (uint32_t m = 1; m <= 3 * p + 2; m++)
            for (uint32_t v = 0; v <= 3; v++) {
                const struct fr_schedule_spec spec = {
                    .name = k->name, .n_ranks = p, .n_virtual = v, .n_micros = m};
                struct fr_schedule *s = NULL;
                struct fr_error err = {0};

                if (fr_schedule_get(&s, &spec, &err) == FR_OK)
                    n++;
                else
                    ck_assert(err.text[0]);
                fr_schedule_free(s);
            }
    ck_assert_uint_ge(n, 16);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("schedule_rules");
    int n_kinds = 0;

    while (fr_schedule_kind_at((size_t)n_kinds))
        n_kinds++;
    tcase_set_timeout(t, 60);
    add_tests(t);
    tcase_add_loop_test(t, every_kind_makes_schedules_that_can_run, 0, n_kinds);
    return run_case(t, "schedule_rules");
}
