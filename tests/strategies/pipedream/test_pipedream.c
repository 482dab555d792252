/* tests/strategies/pipedream/test_pipedream.c - PipeDream's planner: plans and states derived by
 * hand. */
#include "config.h"

#include "strategies/pipedream/pipedream.h"

#include "tests/support/base_check.h"
#include "tests/support/json_check.h"
#include "tests/support/profile_case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A chain of layers "0", "1", ...; NULL: no bytes. */
static struct fr_profile *chain(size_t n, const double both_ms[], const double activation_bytes[],
                                const double param_bytes[])
{
    struct profile_case t = {.n = 0};
    char name[2][24];

    for (size_t i = 0; i < n; i++) {
        snprintf(name[0], sizeof(name[0]), "%zu", i);
        profile_case_layer(&t, name[0], "Linear", both_ms[i],
                           activation_bytes ? activation_bytes[i] : 0,
                           param_bytes ? param_bytes[i] : 0);
    }
    for (size_t i = 0; i + 1 < n; i++) {
        snprintf(name[0], sizeof(name[0]), "%zu", i);
        snprintf(name[1], sizeof(name[1]), "%zu", i + 1);
        profile_case_edge(&t, name[0], name[1]);
    }
    return profile_case_load(&t);
}

static void expect_time(const struct fr_profile *p, const char *spec, double ms, size_t n_stages)
{
    struct fr_stage_plan *s = profile_case_plan(p, spec);

    ck_assert_msg(fabs(s->pipeline_time_s - ms / 1e3) <= 1e-12, "%s: %.17g s", spec,
                  s->pipeline_time_s);
    ck_assert_msg(s->n_stages == n_stages, "%s: %zu stages", spec, s->n_stages);
    fr_stage_plan_free(s);
}

static void expect_failure(const struct fr_profile *p, const char *spec, enum fr_status st,
                           const char *words)
{
    struct fr_stage_plan *s;
    struct fr_error err;

    ck_assert_int_eq(profile_case_try(p, spec, &s, &err), st);
    ck_assert_msg(strstr(err.text, words), "%s", err.text);
}

/* 4 + 2 | 6: both halves 6 ms. A straight pipeline of three waits for the 6. */
TEST(a_chain_is_cut_where_the_halves_are_equal)
{
    const double ms[] = {4, 2, 6};
    struct fr_profile *p = chain(3, ms, NULL, NULL);
    struct fr_stage_plan *s = profile_case_plan(p, "pipedream:machines=2,straight=1");

    ck_assert_uint_eq(s->n_states, 3);
    ck_assert_uint_eq(s->n_stages, 2);
    ck_assert_uint_eq(s->stages[0].n_layers, 2);
    ck_assert_uint_eq(s->stages[1].layers[0], 2);
    ck_assert(fabs(s->stages[0].compute_s - 6e-3) < 1e-15);
    ck_assert(fabs(s->single_time_s - 12e-3) < 1e-15);
    ck_assert(!s->is_restricted && s->lower_bound_s == s->pipeline_time_s);
    fr_stage_plan_free(s);
    expect_time(p, "pipedream:machines=3,straight=1", 6, 3);
    expect_time(p, "pipedream:machines=3", 4, 1); /* free sums: all replicate all */
    fr_profile_free(p);
}

/* 10 ms and 10 MB of parameters on 2 machines at 1 GB/s. The program: (10 + 4 * 10 MB / (2 GB/s)
 * = 20) / 2 = 15 ms. The paper: max(10, 2 * 10 MB / (1 GB/s) = 20) / 2 = 10 ms. With 10 MB the
 * cut between two such layers is better for the program (10 ms) and as good for the paper. */
TEST(the_program_adds_the_sum_of_gradients_and_the_paper_hides_it)
{
    const double ms[] = {10, 10}, bytes[] = {10e6, 10e6};
    struct fr_profile *one = chain(1, ms, NULL, bytes), *two = chain(2, ms, NULL, bytes);

    expect_time(one, "pipedream:machines=2,bandwidth=1GBps", 15, 1);
    expect_time(one, "pipedream:machines=2,bandwidth=1GBps,mode=paper", 10, 1);
    expect_time(two, "pipedream:machines=2,bandwidth=1GBps", 10, 2);
    fr_profile_free(one);
    fr_profile_free(two);
}

/* 5 MB over the cut, there and back: 2 * 5 MB / 1 GB/s = 10 ms, where the stages take 4 ms. The
 * program counts it with `compression` only, and divides by that; the paper always. All on both
 * machines: 8 / 2 + 4 * 4 MB / (2 * 1 GB/s) / 2 = 8 ms, the paper max(8, 2 * 4 MB / 1 GB/s) / 2 =
 * 4 ms. */
TEST(what_goes_over_a_cut_counts_as_each_mode_says)
{
    const double ms[] = {4, 4}, out[] = {5e6, 1}, params[] = {2e6, 2e6};
    struct fr_profile *p = chain(2, ms, out, params);

    expect_time(p, "pipedream:machines=2", 4, 2);
    expect_time(p, "pipedream:machines=2,compression=1", 8, 1);
    expect_time(p, "pipedream:machines=2,compression=2", 5, 2);
    expect_time(p, "pipedream:machines=2,straight=1,compression=1", 10, 2);
    expect_time(p, "pipedream:machines=2,straight=1,mode=paper", 10, 2);
    expect_time(p, "pipedream:machines=2,mode=paper", 4, 1);
    fr_profile_free(p);
}

/* Levels 2 x 2. Inner: two layers of 8 ms, one machine each: 8 ms; or both on both: 8 ms without
 * parameters. Outer, all replicated: (8 + 4 * 16 MB / (2 * 1 GB/s) / 2) / 2 = 12 ms, the last 2
 * the machines of the inner level; cut: 4 ms a group of two for one layer, (8 + 4 * 8 MB / (2 *
 * 2 GB/s)) / 2 = 8 ms. Data parallelism: ((16 + 4 * 16 MB / (2 * 2 GB/s)) / 2 + 16) / 2 = 16 ms. */
TEST(an_outer_level_divides_the_sum_by_the_inner_machines)
{
    const double ms[] = {8, 8}, params[] = {8e6, 8e6};
    struct fr_profile *p = chain(2, ms, NULL, params);
    struct fr_stage_plan *s = profile_case_plan(p, "pipedream:machines=2x2,bandwidth=2GBps;1GBps");

    ck_assert(fabs(s->pipeline_time_s - 8e-3) < 1e-12);
    ck_assert(fabs(s->dp_time_s - 16e-3) < 1e-12);
    ck_assert_uint_eq(s->n_stages, 2);
    ck_assert_uint_eq(s->stages[0].replicas, 2);
    ck_assert_uint_eq(s->splits[0].level, 1);
    fr_stage_plan_free(s);
    fr_profile_free(p);
}

/* Of 3 machines in a row the first stage holds ceil(2 / 1) mini-batches, the next one, the last
 * none that counts. 10 MB a layer: 20 MB let the straight pipeline be, 19 MB do not. Where all
 * compute all, nothing counts. */
TEST(memory_counts_mini_batches_by_the_machines_that_follow)
{
    const double ms[] = {1, 1, 1}, bytes[] = {6e6, 6e6, 6e6}, params[] = {4e6, 4e6, 4e6};
    struct fr_profile *p = chain(3, ms, bytes, params);

    expect_time(p, "pipedream:machines=3,straight=1,memory=20MB", 1, 3);
    expect_failure(p, "pipedream:machines=3,straight=1,memory=19MB", FR_ENOROOM, "19000000 bytes");
    expect_time(p, "pipedream:machines=3,memory=1MB,bandwidth=1GBps", (3 + 32) / 3.0, 1);
    fr_profile_free(p);
}

/* Two layers cannot fill three machines unless one may stay idle. */
TEST(fewer_machines_are_used_only_where_that_is_allowed)
{
    const double ms[] = {1, 1};
    struct fr_profile *p = chain(2, ms, NULL, NULL);
    struct fr_stage_plan *s = profile_case_plan(p, "pipedream:machines=3,straight=1,fewer=1");

    ck_assert_uint_eq(s->splits[0].n_unused, 1);
    ck_assert_uint_eq(s->n_stages, 2);
    fr_stage_plan_free(s);
    expect_failure(p, "pipedream:machines=3,straight=1", FR_ENOROOM, "a place to cut at");
    fr_profile_free(p);
}

/* ---- states ---- */

/* a reads the input, b and c read a, d reads both; e is an item that nobody reads. */
static void diamond(struct profile_case *t)
{
    profile_case_layer(t, "in", "Input0", 100, 7, 7);
    profile_case_layer(t, "a", "Conv2d", 1, 10, 1);
    profile_case_layer(t, "b", "Conv2d", 2, 20, 1);
    profile_case_layer(t, "c", "Conv2d", 4, 40, 1);
    profile_case_layer(t, "d", "Concat", 8, 80, 1);
    profile_case_layer(t, "e", "__getitem__(1)", 16, 160, 1);
    profile_case_edge(t, "in", "a");
    profile_case_edge(t, "a", "b");
    profile_case_edge(t, "a", "c");
    profile_case_edge(t, "b", "d");
    profile_case_edge(t, "c", "d");
    profile_case_edge(t, "c", "e");
}

/* a | ab | ac | abc | abcd. Over the cut after {a, b} goes b and, for c, a too: 30 bytes. The
 * program keeps a open at {a, b, c} as well, since a feeds c, which b does not need, and the other
 * way round: 10 + 20 + 40. */
TEST(a_diamond_has_five_states_and_the_programs_open_layers)
{
    struct profile_case t = {.n = 0};
    struct fr__arena *arena = fr__arena_new();
    struct fr__pd_layers l;
    struct fr__pd_states s;
    struct fr_error err;
    struct fr_profile *p;

    diamond(&t);
    p = profile_case_load(&t);
    ck_assert_int_eq(fr__pd_layers_make(arena, p, &l, &err), FR_OK);
    ck_assert_uint_eq(l.n, 4);
    ck_assert_int_eq(fr__pd_states_make(arena, &l, 100, NULL, &s, &err), FR_OK);
    ck_assert_uint_eq(s.n, 5);
    ck_assert(s.both_s[0] == 1e-3 && fabs(s.both_s[4] - 15e-3) < 1e-15);
    for (size_t i = 0; i < s.n; i++)
        switch (s.sets[i]) {
        case 1: /* a */
            ck_assert(s.out_bytes[i] == 10);
            break;
        case 3: /* a, b */
            ck_assert(s.out_bytes[i] == 30);
            break;
        case 7: /* a, b, c */
            ck_assert(s.out_bytes[i] == 70);
            break;
        default:
            break;
        }
    fr__arena_free(arena);
    fr_profile_free(p);
}

/* With a and d together no cut lies between them, so abcd is left; with b and c a | abc | abcd. e
 * is in no state, so nothing stands with it. */
TEST(states_that_part_what_stands_together_are_left_out)
{
    static const uint32_t ad[][2] = {{1, 4}}, bc[][2] = {{2, 3}}, ae[][2] = {{1, 5}};
    static const struct {
        const uint32_t (*pairs)[2];
        size_t n_left;
        uint64_t first;
    } rows[] = {{ad, 1, 15}, {bc, 3, 1}, {ae, 5, 1}};
    struct profile_case t = {.n = 0};
    struct fr__arena *arena = fr__arena_new();
    struct fr__pd_layers l;
    struct fr_error err;
    struct fr_profile *p;

    diamond(&t);
    p = profile_case_load(&t);
    ck_assert_int_eq(fr__pd_layers_make(arena, p, &l, &err), FR_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct fr__pd_options o = {.n_together = 1, .together = rows[i].pairs};
        struct fr__pd_states s;

        ck_assert_int_eq(fr__pd_states_make(arena, &l, 100, NULL, &s, &err), FR_OK);
        ck_assert_int_eq(fr__pd_states_join(arena, &l, &o, &s, &err), FR_OK);
        ck_assert_uint_eq(s.n, rows[i].n_left);
        ck_assert_uint_eq(s.sets[0], rows[i].first);
        ck_assert_uint_eq(s.sets[s.n - 1], 15);
        ck_assert(fabs(s.both_s[s.n - 1] - 15e-3) < 1e-15);
    }
    fr__arena_free(arena);
    fr_profile_free(p);
}

TEST(inputs_go_to_the_first_stage_and_unread_items_to_none)
{
    struct profile_case t = {.n = 0};
    struct fr_profile *p, *again = NULL;
    struct fr_stage_plan *s;
    char *out = NULL, *at;
    struct fr_error err;
    size_t n;
    FILE *f;

    diamond(&t);
    p = profile_case_load(&t);
    s = profile_case_plan(p, "pipedream:machines=2,straight=1");
    ck_assert(fabs(s->single_time_s - 15e-3) < 1e-15);
    ck_assert_uint_eq(s->stage_of[0], 0);
    ck_assert_uint_eq(s->stage_of[4], 1);
    ck_assert_uint_eq(s->stage_of[5], FR_PROFILE_LEFT_OUT);
    f = open_memstream(&out, &n);
    fr_profile_write(f, p, s->stage_of);
    fclose(f);
    at =
        strstr(out, "d -- Concat -- forward_compute_time=2.000000, backward_compute_time=6.000000, "
                    "activation_size=80.0, parameter_size=1.0 -- stage_id=1\n");
    ck_assert_ptr_nonnull(at);
    ck_assert_ptr_null(strstr(out, "__getitem__"));
    ck_assert_uint_eq(count_of(out, " -- stage_id=0\n"), 4);
    ck_assert_int_eq(fr_profile_load_text(&again, out, n, "again.txt", &err), FR_OK);
    ck_assert_uint_eq(again->n_layers, 5);
    ck_assert_uint_eq(again->n_edges, 5);
    fr_profile_free(again);
    free(out);
    fr_stage_plan_free(s);
    fr_profile_free(p);
}

/* Two diamonds in a row: 9 states, of which a single tensor leaves {a}, {a..d}, the second's first
 * layer and the end (d and w are one cut each; after the end nothing leaves). */
TEST(too_many_states_leave_cuts_through_one_tensor_and_say_so)
{
    struct profile_case t = {.n = 0};
    struct fr_stage_plan *s;
    struct fr_profile *p;

    profile_case_layer(&t, "a", "x", 1, 1, 0);
    profile_case_layer(&t, "b", "x", 6, 1, 0);
    profile_case_layer(&t, "c", "x", 6, 1, 0);
    profile_case_layer(&t, "d", "x", 1, 1, 0);
    profile_case_layer(&t, "e", "x", 1, 1, 0);
    profile_case_layer(&t, "f", "x", 1, 1, 0);
    profile_case_layer(&t, "g", "x", 1, 1, 0);
    profile_case_edge(&t, "a", "b");
    profile_case_edge(&t, "a", "c");
    profile_case_edge(&t, "b", "d");
    profile_case_edge(&t, "c", "d");
    profile_case_edge(&t, "d", "e");
    profile_case_edge(&t, "d", "f");
    profile_case_edge(&t, "e", "g");
    profile_case_edge(&t, "f", "g");
    p = profile_case_load(&t);
    s = profile_case_plan(p, "pipedream:machines=2,straight=1");
    ck_assert_uint_eq(s->n_states, 9);
    ck_assert_uint_eq(s->n_planned, 9);
    ck_assert(fabs(s->pipeline_time_s - 10e-3) < 1e-12); /* a b | c d e f g */
    fr_stage_plan_free(s);
    s = profile_case_plan(p, "pipedream:machines=2,straight=1,max-states=8");
    ck_assert(s->is_restricted);
    ck_assert_uint_eq(s->n_states, 9);
    ck_assert_uint_eq(s->n_planned, 3);
    ck_assert(fabs(s->pipeline_time_s - 14e-3) < 1e-12); /* a b c d | e f g */
    ck_assert(fabs(s->lower_bound_s - 8.5e-3) < 1e-12);
    fr_stage_plan_free(s);
    expect_failure(p, "pipedream:machines=2,max-states=2", FR_ERANGE, "'max-states'");
    fr_profile_free(p);
}

TEST(a_circle_and_a_profile_of_inputs_are_refused)
{
    struct profile_case t = {.n = 0}, in = {.n = 0};
    struct fr_profile *p;

    profile_case_layer(&t, "a", "x", 1, 1, 0);
    profile_case_layer(&t, "b", "x", 1, 1, 0);
    profile_case_edge(&t, "a", "b");
    profile_case_edge(&t, "b", "a");
    p = profile_case_load(&t);
    expect_failure(p, "pipedream:machines=2", FR_EPARSE, "a circle that 'a' waits for");
    fr_profile_free(p);
    profile_case_layer(&in, "a", "Input0", 1, 1, 0);
    p = profile_case_load(&in);
    expect_failure(p, "pipedream:machines=2", FR_ERANGE, "no layers besides inputs");
    fr_profile_free(p);
}

TEST(options_that_make_no_sense_are_refused)
{
    static const struct {
        const char *spec, *words;
    } cases[] = {
        {"pipedream", "no machines given"},
        {"pipedream:machines=4y2", "'machines'"},
        {"pipedream:machines=4x", "counts like 8 or 8x2"},
        {"pipedream:machines=0", "'machines'"},
        {"pipedream:machines=2x2x2x2x2x2x2x2x2", "over 8 levels"},
        {"pipedream:bandwidth=1GB/s", "needs 'machines'"},
        {"pipedream:machines=4,bandwidth=1", "no unit"},
        {"pipedream:machines=4,bandwidth=0B/s", "a rate of 0"},
        {"pipedream:machines=4x2,bandwidth=1GB/s", "has 1 levels, but 'machines' has 2"},
        {"pipedream:machines=4,bandwidth=1GB/s;1GB/s", "has 2 levels, but 'machines' has 1"},
        {"pipedream:machines=4,memory=16", "no unit"},
        {"pipedream:machines=4,compression=-1", "'compression'"},
        {"pipedream:machines=4,max-states=1", "'max-states'"},
        {"pipedream:machines=4,mode=both", "code|paper"},
    };
    const double ms[] = {1};
    struct fr_profile *p = chain(1, ms, NULL, NULL);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_failure(p, cases[i].spec, FR_EUSAGE, cases[i].words);
    fr_profile_free(p);
}

int main(void)
{
    TCase *c = tcase_create("pipedream");

    add_tests(c);
    return run_case(c, "strategies/pipedream");
}
