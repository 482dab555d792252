/* Cuts of chains against brute force by each rule, and replays with transfers against closed
 * forms. */
#include "config.h"

#include "lowering/partition/balance.h"
#include "lowering/partition/choose.h"
#include "lowering/partition/kinds.h"
#include "lowering/partition/timed.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 9, MAX_STAGES = 4, N_TYPES = 2 };

/* A chain with all that may differ: two types of devices, transfers that rise and fall, memory. */
struct random_chain {
    double forward_s[N_TYPES][MAX_ITEMS + 1], backward_s[N_TYPES][MAX_ITEMS + 1];
    double send_s[MAX_STAGES][MAX_ITEMS + 1], back_s[MAX_STAGES][MAX_ITEMS + 1];
    double fixed_bytes[MAX_ITEMS + 1], live_bytes[MAX_ITEMS + 1], none[MAX_ITEMS + 1];
    double in_flight[MAX_STAGES], capacity_bytes[MAX_STAGES];
    const double *forward[MAX_STAGES], *backward[MAX_STAGES], *send[MAX_STAGES], *back[MAX_STAGES];
    const double *nothing[MAX_STAGES];
    uint32_t rank_of[MAX_STAGES];
    struct fr__chain c;
};

/* Knuth's 64-bit linear congruential generator (MMIX), upper bits. */
static uint64_t below(uint64_t *r, uint64_t n)
{
    *r = *r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*r >> 33) % n;
}

static void draw(struct random_chain *x, uint64_t *r, bool is_uneven, bool is_tight)
{
    size_t n = 1 + below(r, MAX_ITEMS), k = 1 + below(r, n < MAX_STAGES ? n : MAX_STAGES);

    memset(x, 0, sizeof(*x));
    for (size_t i = 0; i < n; i++) {
        double f_s = (double)(1 + below(r, 9)), b_s = (double)(1 + below(r, 9));

        x->forward_s[0][i + 1] = x->forward_s[0][i] + f_s;
        x->backward_s[0][i + 1] = x->backward_s[0][i] + b_s;
        x->forward_s[1][i + 1] = x->forward_s[1][i] + f_s * (is_uneven ? 2 : 1);
        x->backward_s[1][i + 1] = x->backward_s[1][i] + b_s * (is_uneven ? 1.5 : 1);
        x->fixed_bytes[i + 1] = x->fixed_bytes[i] + (double)below(r, 10);
        x->live_bytes[i + 1] = x->live_bytes[i] + (double)below(r, 5);
        for (size_t s = 0; s < k; s++) {
            x->send_s[s][i] = is_uneven ? (double)below(r, 6) : 0;
            x->back_s[s][i] = is_uneven ? (double)below(r, 6) : 0;
        }
    }
    for (uint32_t s = 0; s < k; s++) {
        size_t type = below(r, N_TYPES);

        x->forward[s] = x->forward_s[type];
        x->backward[s] = x->backward_s[type];
        x->send[s] = x->send_s[s];
        x->back[s] = x->back_s[s];
        x->nothing[s] = x->none;
        x->rank_of[s] = s;
        x->in_flight[s] = (double)(k - s);
        x->capacity_bytes[s] = is_tight ? 15 + (double)below(r, 4) * 10 : 1000;
    }
    x->c = (struct fr__chain){.n = n,
                              .n_stages = k,
                              .n_ranks = k,
                              .rank_of = x->rank_of,
                              .forward_s = x->forward,
                              .backward_s = x->backward,
                              .send_s = x->send,
                              .back_s = x->back,
                              .fixed_bytes = x->fixed_bytes,
                              .live_bytes = x->live_bytes,
                              .in_flight = x->in_flight,
                              .capacity_bytes = x->capacity_bytes};
}

/* Every cut from stage s on. */
static void try_all(const struct fr__chain *c, const struct fr__cut_aim *a, size_t s,
                    uint32_t first[], double *best_s)
{
    double scratch[MAX_STAGES];

    if (s + 1 == c->n_stages) {
        if (fr__cut_excess_bytes(c, first, scratch) <= 0)
            *best_s = fmin(*best_s, fr__cut_cost_s(c, a, first));
        return;
    }
    for (uint32_t end = first[s] + 1; end + (c->n_stages - s - 1) <= c->n; end++) {
        first[s + 1] = end;
        try_all(c, a, s + 1, first, best_s);
    }
}

static void compare(const struct random_chain *x, const struct fr__cut_aim *a, size_t *n_misfits)
{
    uint32_t first[MAX_STAGES + 1] = {0}, all[MAX_STAGES + 1] = {0};
    double best_s = INFINITY, scratch[MAX_STAGES];
    struct fr__best_cut out;
    struct fr_error err;

    all[x->c.n_stages] = (uint32_t)x->c.n;
    try_all(&x->c, a, 0, all, &best_s);
    ck_assert_int_eq(fr__cut_best(&x->c, a, first, &out, &err), FR_OK);
    ck_assert(out.is_exact);
    *n_misfits += isinf(best_s) != 0;
    ck_assert_int_eq(isinf(out.cost_s) != 0, isinf(best_s) != 0);
    if (isinf(best_s))
        return;
    ck_assert_double_le(fabs(out.cost_s - best_s), 1e-9 * best_s);
    ck_assert_double_le(fabs(fr__cut_cost_s(&x->c, a, first) - best_s), 1e-9 * best_s);
    ck_assert_double_le(fr__cut_excess_bytes(&x->c, first, scratch), 0);
    ck_assert_uint_eq(first[x->c.n_stages], x->c.n);
    for (size_t s = 0; s < x->c.n_stages; s++)
        ck_assert_uint_lt(first[s], first[s + 1]);
}

LOOP_TEST(the_program_finds_what_brute_force_finds, 0, 6)
{
    const struct fr__cut_aim aim = {.rule = (enum fr__cut_rule)(_i % 3), .is_sequential = _i >= 3};
    uint64_t r = 7;
    size_t n_misfits = 0;

    for (int round = 0; round < 1500; round++) {
        struct fr__cut_aim a = aim;
        struct random_chain x;

        a.n_micros = (double)(1 + below(&r, 12));
        draw(&x, &r, round % 3 > 0, round % 2 > 0);
        compare(&x, &a, &n_misfits);
    }
    ck_assert_uint_gt(n_misfits, 50);
    ck_assert_uint_lt(n_misfits, 1000);
}

/* Four items on two equal devices, three micro-batches. f = 1 2 3 4, b = 2 1 1 3, in all 17.
 *   phases  cut before item 1: 17 + 2 (9 + 5) = 45; 2: 17 + 2 (7 + 4) = 39; 3: 17 + 2 (6 + 4) = 37
 * With 8 s for the forward's transfer at item 3: 17 + 8 + 2 (8 + 4) = 49 there, so 39 at item 2. */
TEST(a_chain_by_hand_is_cut_where_it_should_be)
{
    static const double f_s[] = {0, 1, 3, 6, 10}, b_s[] = {0, 2, 3, 4, 7}, none[5] = {0};
    static const double wide_s[] = {0, 0, 0, 8, 0};
    const double *const f[] = {f_s, f_s}, *const b[] = {b_s, b_s}, *const free_s[] = {none, none};
    const double *const send[] = {none, wide_s};
    static const uint32_t rank_of[] = {0, 1};
    static const double in_flight[] = {3, 3}, capacity[] = {1, 1};
    const struct fr__cut_aim a = {.rule = FR__CUT_PHASES, .n_micros = 3};
    struct fr__chain c = {.n = 4,
                          .n_stages = 2,
                          .n_ranks = 2,
                          .rank_of = rank_of,
                          .forward_s = f,
                          .backward_s = b,
                          .send_s = free_s,
                          .back_s = free_s,
                          .fixed_bytes = none,
                          .live_bytes = none,
                          .in_flight = in_flight,
                          .capacity_bytes = capacity};
    struct fr__best_cut out;
    struct fr_error err;
    uint32_t first[3];

    ck_assert_int_eq(fr__cut_best(&c, &a, first, &out, &err), FR_OK);
    ck_assert_uint_eq(first[1], 3);
    ck_assert_double_eq(out.cost_s, 37);
    c.send_s = send;
    ck_assert_int_eq(fr__cut_best(&c, &a, first, &out, &err), FR_OK);
    ck_assert_uint_eq(first[1], 2);
    ck_assert_double_eq(out.cost_s, 39);
}

/* ---- replays ---- */

static double timed(const char *name, uint32_t p, uint32_t m, double comm, struct fr_schedule **s)
{
    const struct fr_schedule_spec spec = {.name = name, .n_ranks = p, .n_micros = m};
    struct fr__timed_stage *stages;
    struct fr__timed *t;
    struct fr_error err;
    double makespan_s;

    ck_assert_int_eq(fr_schedule_get(s, &spec, &err), FR_OK);
    stages = calloc((*s)->n_stages, sizeof(*stages));
    ck_assert_ptr_nonnull(stages);
    for (uint32_t k = 0; k < (*s)->n_stages; k++)
        stages[k] = (struct fr__timed_stage){.forward_s = 1,
                                             .input_s = 1,
                                             .weight_s = 1,
                                             .send_s = k > 0 ? comm : 0,
                                             .back_s = k > 0 ? comm : 0};
    ck_assert_int_eq(fr__timed_new(&t, *s, &err), FR_OK);
    makespan_s = fr__timed_run(t, stages, NULL);
    fr__timed_free(t);
    free(stages);
    return makespan_s;
}

LOOP_TEST(a_replay_with_equal_transfers_is_that_of_schedules, 0, 5)
{
    static const char *const names[] = {"gpipe", "1f1b", "eager-1f1b", "zb-h1", "interleaved-1f1b"};
    struct fr_schedule_times t = fr_schedule_unit_times();
    struct fr_schedule *s;
    struct fr_replay r;
    struct fr_error err;
    double makespan_s = timed(names[_i], 4, 8, 0.25, &s);

    t.comm = 0.25;
    ck_assert_int_eq(fr_schedule_replay(&r, s, &t, &err), FR_OK);
    ck_assert_double_eq_tol(makespan_s, r.makespan, 1e-9);
    fr_replay_fini(&r);
    fr_schedule_free(s);
}

/* 1F1B, four ranks, m = 16, F = 1, B = 2, transfers of 0.25: 64 (large-models.md, 5.3). */
TEST(transfers_hold_up_1f1b_as_they_should)
{
    struct fr_schedule *s;

    ck_assert_double_eq_tol(timed("1f1b", 4, 16, 0.25, &s), 64, 1e-9);
    fr_schedule_free(s);
}

/* Three ranks, eight micro-batches, transfers of 4 s. The middle rank has the first one at 5 s and
 * computes it until 6 s. From then on it sends 8 outputs and 8 gradients, one after the other: 64
 * s. The last gradient is then at rank 0, whose backward pass takes 2 s. Were the directions
 * apart, each would need 32 s. */
TEST(what_a_rank_sends_forwards_and_backwards_takes_turns)
{
    struct fr_schedule *s;

    ck_assert_double_ge(timed("1f1b", 3, 8, 4, &s), 6 + 64 + 2);
    fr_schedule_free(s);
}

static void fill_problem(struct fr__choice_problem *in, const struct random_chain *x,
                         const struct fr_schedule *s)
{
    *in = (struct fr__choice_problem){.chain = &x->c,
                                      .schedule = s,
                                      .n_together = 1,
                                      .weight_s = x->nothing,
                                      .tail_s = x->nothing};
}

/* All forwards, then all backwards: the closed form holds for any stages and any transfers. */
TEST(the_closed_form_of_phases_is_the_replay)
{
    uint64_t r = 11;

    for (int round = 0; round < 300; round++) {
        struct fr_schedule_spec spec = {.name = "gpipe", .n_micros = 1 + (uint32_t)below(&r, 9)};
        struct fr__cut_aim a = {.rule = FR__CUT_PHASES, .n_micros = spec.n_micros};
        uint32_t first[MAX_STAGES + 1] = {0};
        struct fr__choice_problem in;
        struct random_chain x;
        struct fr_schedule *s;
        struct fr_error err;
        double planned_s;

        draw(&x, &r, true, false);
        spec.n_ranks = (uint32_t)x.c.n_stages;
        ck_assert_int_eq(fr_schedule_get(&s, &spec, &err), FR_OK);
        for (uint32_t k = 0; k < x.c.n_stages; k++)
            first[k] = k;
        first[x.c.n_stages] = (uint32_t)x.c.n;
        fill_problem(&in, &x, s);
        ck_assert_int_eq(fr__cut_planned(&in, first, &planned_s, &err), FR_OK);
        ck_assert_double_eq_tol(planned_s, fr__cut_cost_s(&x.c, &a, first), 1e-9);
        fr_schedule_free(s);
    }
}

/* The least replay over all cuts from stage s on. */
static void replay_all(const struct fr__choice_problem *in, size_t s, uint32_t first[],
                       double *best_s)
{
    const struct fr__chain *c = in->chain;
    struct fr_error err;
    double now_s;

    if (s + 1 == c->n_stages) {
        ck_assert_int_eq(fr__cut_planned(in, first, &now_s, &err), FR_OK);
        *best_s = fmin(*best_s, now_s);
        return;
    }
    for (uint32_t end = first[s] + 1; end + (c->n_stages - s - 1) <= c->n; end++) {
        first[s + 1] = end;
        replay_all(in, s + 1, first, best_s);
    }
}

/* One forward, one backward, and two stages a rank, have no closed form: the chosen cut is compared
 * with all others by replay. */
LOOP_TEST(no_cut_has_a_shorter_replay_than_the_chosen, 0, 4)
{
    static const struct {
        const char *name;
        uint32_t n_virtual; /* stages a rank */
    } cases[] = {{"gpipe", 1}, {"1f1b", 1}, {"interleaved-1f1b", 2}, {"zb-v", 2}};
    uint64_t r = 5;

    for (int round = 0; round < 200; round++) {
        uint32_t v = cases[_i].n_virtual, first[MAX_STAGES + 1] = {0}, all[MAX_STAGES + 1];
        struct fr_schedule_spec spec = {.name = cases[_i].name, .n_virtual = v};
        struct fr__choice_problem in;
        struct fr__choice choice;
        struct random_chain x;
        struct fr_schedule *s;
        struct fr_error err;
        double best_s = INFINITY;

        do
            draw(&x, &r, true, false);
        while (x.c.n_stages != (v > 1 ? 4 : 3));
        x.c.n_ranks = spec.n_ranks = (uint32_t)x.c.n_stages / v;
        spec.n_micros = 2 * spec.n_ranks + 2 * (uint32_t)below(&r, 3);
        ck_assert_int_eq(fr_schedule_get(&s, &spec, &err), FR_OK);
        for (uint32_t k = 0; k < x.c.n_stages; k++) {
            first[k] = all[k] = k;
            x.rank_of[k] = strcmp(cases[_i].name, "zb-v") == 0 && k >= spec.n_ranks
                               ? (uint32_t)x.c.n_stages - 1 - k
                               : k % spec.n_ranks;
            if (v > 1) { /* a rank is one device */
                x.forward[k] = x.forward_s[x.rank_of[k]];
                x.backward[k] = x.backward_s[x.rank_of[k]];
            }
        }
        first[x.c.n_stages] = all[x.c.n_stages] = (uint32_t)x.c.n;
        fill_problem(&in, &x, s);
        replay_all(&in, 0, all, &best_s);
        ck_assert_int_eq(fr__cut_choose(&in, first, &choice, &err), FR_OK);
        ck_assert_double_le(choice.planned_s, choice.given_s);
        ck_assert_double_ge(choice.planned_s, best_s * (1 - 1e-9));
        ck_assert_double_le(choice.planned_s, best_s * (1 + 2e-6));
        fr_schedule_free(s);
    }
}

/* Eight items of a second. Ranks 0 and 1 have two stages each: from 1 + 1 and 1 + 5 to 4 and 4. */
TEST(ranks_are_balanced_not_stages)
{
    static const double f_s[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, none[9] = {0};
    const double *const f[] = {f_s, f_s, f_s, f_s}, *const n[] = {none, none, none, none};
    static const uint32_t rank_of[] = {0, 1, 0, 1};
    static const double in_flight[] = {1, 1, 1, 1}, capacity[] = {1, 1};
    const struct fr__chain c = {.n = 8,
                                .n_stages = 4,
                                .n_ranks = 2,
                                .rank_of = rank_of,
                                .forward_s = f,
                                .backward_s = n,
                                .send_s = n,
                                .back_s = n,
                                .fixed_bytes = none,
                                .live_bytes = none,
                                .in_flight = in_flight,
                                .capacity_bytes = capacity};
    uint32_t first[] = {0, 1, 2, 3, 8};
    struct fr_error err;

    ck_assert_int_eq(fr__cut_balance(&c, first, &err), FR_OK);
    ck_assert_uint_eq(first[1] - first[0] + first[3] - first[2], 4);
    ck_assert_uint_eq(first[2] - first[1] + first[4] - first[3], 4);
}

/* Two ranks, three micro-batches, 1F1B; passes of 1 s, free links. Rank 0 launches a stage's passes
 * in 0.5 s each and is never late: as without hosts, (3 + 1) (1 + 2) = 12 s. Rank 1's host takes
 * 2 s for each of 9 passes (3 F, 3 I, 3 W): it launches the last one after 18 s, which so ends
 * no earlier; its first backward is over at 6 s, the last at 18 s, and rank 0 has 2 s left then. */
TEST(a_host_that_launches_slowly_holds_its_rank_up)
{
    const struct fr_schedule_spec spec = {.name = "1f1b", .n_ranks = 2, .n_micros = 3};
    struct fr__timed_stage stages[2] = {
        {.forward_s = 1, .input_s = 1, .weight_s = 1},
        {.forward_s = 1, .input_s = 1, .weight_s = 1},
    };
    struct fr_schedule *s = NULL;
    struct fr__timed *t;
    struct fr_error err;
    double makespan_s;

    ck_assert_int_eq(fr_schedule_get(&s, &spec, &err), FR_OK);
    ck_assert_int_eq(fr__timed_new(&t, s, &err), FR_OK);
    stages[0].forward_host_s = stages[0].input_host_s = stages[0].weight_host_s = 0.5;
    makespan_s = fr__timed_run(t, stages, NULL);
    ck_assert_double_eq(makespan_s, 12);
    stages[1].forward_host_s = stages[1].input_host_s = stages[1].weight_host_s = 2;
    makespan_s = fr__timed_run(t, stages, NULL);
    ck_assert_double_eq(makespan_s, 20);
    fr__timed_free(t);
    fr_schedule_free(s);
}

/* Two ranks, four micro-batches, 1F1B; passes of 1 s forwards and 2 s backwards, 1 s to send a
 * gradient back. Rank 1 computes from 1 s on and waits for nothing but its third micro-batch: 14 s;
 * its last gradient is there at 15 s, and rank 0 has ended its passes at 17 s. Of 0.75 s of updates
 * there, 0.5 s are the table's. */
static double with_tie(const struct fr__timed_tie *tie, double sum_s)
{
    const struct fr_schedule_spec spec = {.name = "1f1b", .n_ranks = 2, .n_micros = 4};
    const struct fr__timed_stage stages[2] = {
        {.forward_s = 1, .input_s = 1, .weight_s = 1, .sum_s = sum_s, .n_sums = 1},
        {.forward_s = 1, .input_s = 1, .weight_s = 1, .back_s = 1},
    };
    const double tail_s[2] = {0.75, 0.25};
    struct fr_schedule *s = NULL;
    struct fr__timed *t;
    struct fr_error err;
    double makespan_s;

    ck_assert_int_eq(fr_schedule_get(&s, &spec, &err), FR_OK);
    ck_assert_int_eq(fr__timed_new(&t, s, &err), FR_OK);
    fr__timed_tie(t, tie, tie ? 1 : 0);
    makespan_s = fr__timed_run(t, stages, tail_s);
    fr__timed_free(t);
    fr_schedule_free(s);
    return makespan_s;
}

/* The table's gradient leaves at 15 s, behind the last message of rank 1. */
TEST(a_table_of_both_ends_goes_to_its_owner_and_back)
{
    struct fr__timed_tie tie = {.owner = 0, .user = 1, .send_s = 5, .back_s = 4, .owner_s = 0.5};

    ck_assert_double_eq(with_tie(NULL, 0), 17.75);
    ck_assert_double_eq(with_tie(&tie, 0), 15 + 5 + 0.5 + 4);
    /* replicas of stage 0 sum in 2 s once the table's gradient is whole */
    ck_assert_double_eq(with_tie(&tie, 2), 15 + 5 + 2 + 0.5 + 4);
    /* it is there before rank 0 has ended: the new table leaves once it is updated */
    tie.send_s = 1;
    ck_assert_double_eq(with_tie(&tie, 0), 17 + 0.5 + 4);
    tie.back_s = 0;
    ck_assert_double_eq(with_tie(&tie, 0), 17.75);
}

/* Both ranks wait for the sum, which begins when rank 0 ends its passes, and update themselves. */
TEST(a_table_of_both_ends_is_summed_after_all_passes)
{
    const struct fr__timed_tie tie = {
        .owner = 0, .user = 1, .is_sum = true, .send_s = 5, .owner_s = 0.5, .user_s = 0.25};

    ck_assert_double_eq(with_tie(&tie, 0), 17 + 5 + 0.5);
    ck_assert_double_eq(with_tie(&tie, 2), 17 + 2 + 5 + 0.5);
}

/* Four equal items, 1 s forwards and 2 s backwards each, two stages, four micro-batches. Two items
 * a stage keep both busy, but what crosses in the middle takes 1 s each way; behind the first item
 * nothing crosses. In the middle a micro-batch takes some 6 s, together about 34 s; 1 and 3 items
 * take 3 + 4 x 9 = 39 s. With messages of 4 s a micro-batch is back after 2 + 4 + 6 + 4 + 4 = 20 s,
 * and two are on their way: more than 40 s. */
static enum fr_status choose_kind(enum fr__cut_kind kind, uint32_t first[3], double *planned_s)
{
    static const double forward_s[5] = {0, 1, 2, 3, 4}, backward_s[5] = {0, 2, 4, 6, 8};
    static const double send_s[5] = {0, 0, 1, 1, 0}, none[5] = {0}, room[2] = {1, 1};
    static const double in_flight[2] = {2, 1};
    static const uint32_t rank_of[2] = {0, 1};
    const double *forward[2] = {forward_s, forward_s}, *backward[2] = {backward_s, backward_s},
                 *send[2] = {none, send_s}, *nothing[2] = {none, none};
    const struct fr__chain chain = {.n = 4,
                                    .n_stages = 2,
                                    .n_ranks = 2,
                                    .rank_of = rank_of,
                                    .forward_s = forward,
                                    .backward_s = backward,
                                    .send_s = send,
                                    .back_s = send,
                                    .fixed_bytes = none,
                                    .live_bytes = none,
                                    .in_flight = in_flight,
                                    .capacity_bytes = room};
    const struct fr_schedule_spec spec = {.name = "1f1b", .n_ranks = 2, .n_micros = 4};
    struct fr__choice_problem in = {
        .chain = &chain, .n_together = 1, .weight_s = nothing, .tail_s = nothing};
    struct fr_schedule *s = NULL;
    struct fr__choice choice;
    struct fr_error err;
    enum fr_status st;

    ck_assert_int_eq(fr_schedule_get(&s, &spec, &err), FR_OK);
    in.schedule = s;
    first[0] = 0;
    first[1] = 3; /* the caller's */
    first[2] = 4;
    st = fr__cut_choose_kind(&in, kind, first, &choice, &err);
    *planned_s = choice.planned_s;
    ck_assert(choice.fits);
    fr_schedule_free(s);
    return st;
}

TEST(cuts_of_other_kinds_send_less_or_are_even)
{
    static const uint32_t borders[FR__N_CUT_KINDS] = {
        [FR__CUT_BY_REPLAY] = 2,     [FR__CUT_FASTER_LINKS] = 2, [FR__CUT_SLOWER_LINKS] = 2,
        [FR__CUT_SLOWEST_LINKS] = 1, [FR__CUT_BY_PASSES] = 3,    [FR__CUT_EVEN] = 2,
        [FR__CUT_BY_COUNT] = 3};

    for (int kind = 0; kind < FR__N_CUT_KINDS; kind++) {
        uint32_t first[3];
        double planned_s;

        ck_assert_int_eq(choose_kind((enum fr__cut_kind)kind, first, &planned_s), FR_OK);
        ck_assert_msg(first[1] == borders[kind], "kind %d: %u", kind, first[1]);
        /* planned as links are, whatever it was chosen for */
        if (kind == FR__CUT_SLOWEST_LINKS)
            ck_assert_double_eq(planned_s, 39);
        else if (borders[kind] == 2)
            ck_assert_double_lt(planned_s, 39);
    }
}

/* 60 items of 3 s, four stages, more cuts than are tried one by one. Items 4 and 57 share a table
 * that takes 10 000 s between any two stages: all from 4 to 57 belong in one stage. Even cuts
 * lie far from that, and a border's step towards it makes nothing faster. */
TEST(who_share_a_dear_table_stay_in_one_stage)
{
    enum { N = 60, K = 4 };
    static const double none[N + 1] = {0}, room[K] = {1, 1, 1, 1}, in_flight[K] = {4, 3, 2, 1};
    static const uint32_t rank_of[K] = {0, 1, 2, 3};
    const struct fr_schedule_spec spec = {.name = "1f1b", .n_ranks = K, .n_micros = 8};
    double forward_s[N + 1], backward_s[N + 1], send_s[K * K], back_s[K * K] = {0};
    const double *forward[K], *backward[K], *nothing[K];
    const struct fr__tie tie = {.owner = 4, .user = 57, .send_s = send_s, .back_s = back_s};
    const struct fr__chain chain = {.n = N,
                                    .n_stages = K,
                                    .n_ranks = K,
                                    .rank_of = rank_of,
                                    .forward_s = forward,
                                    .backward_s = backward,
                                    .send_s = nothing,
                                    .back_s = nothing,
                                    .fixed_bytes = none,
                                    .live_bytes = none,
                                    .in_flight = in_flight,
                                    .capacity_bytes = room};
    struct fr__choice_problem in = {.chain = &chain,
                                    .n_together = 1,
                                    .weight_s = nothing,
                                    .tail_s = nothing,
                                    .ties = &tie,
                                    .n_ties = 1};
    uint32_t first[K + 1] = {0, 15, 30, 45, N}, of_4 = 0, of_57 = 0;
    struct fr_schedule *schedule = NULL;
    struct fr__choice choice;
    struct fr_error err;

    for (unsigned i = 0; i <= N; i++) {
        forward_s[i] = i;
        backward_s[i] = 2 * i;
    }
    for (unsigned i = 0; i < K * K; i++)
        send_s[i] = i / K == i % K ? 0 : 10000;
    for (unsigned s = 0; s < K; s++) {
        forward[s] = forward_s;
        backward[s] = backward_s;
        nothing[s] = none;
    }
    ck_assert_int_eq(fr_schedule_get(&schedule, &spec, &err), FR_OK);
    in.schedule = schedule;
    ck_assert_int_eq(fr__cut_choose(&in, first, &choice, &err), FR_OK);
    for (uint32_t s = 0; s < K; s++) {
        of_4 = first[s] <= 4 ? s : of_4;
        of_57 = first[s] <= 57 ? s : of_57;
    }
    ck_assert_uint_eq(of_4, of_57);
    /* 8 micro-batches of the 54 items in the least */
    ck_assert_double_ge(choice.planned_s, 8 * 54 * 3);
    ck_assert_double_lt(choice.planned_s, 10000);
    fr_schedule_free(schedule);
}

int main(void)
{
    TCase *c = tcase_create("partition");

    add_tests(c);
    return run_case(c, "strategies/partition");
}
