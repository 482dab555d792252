/* What a rank holds along its order of work, and when its sums of gradients end, by hand. */
#include "config.h"

#include "base/arena.h"
#include "lowering/partition/timed.h"
#include "lowering/pipeline/moments.h"
#include "lowering/schedules/schedule.h"
#include "tests/support/base_check.h"

#include <check.h>

/* Of one rank with one stage: `of[n]` pairs of whole and half micro-batches, each among its
 * moments, and no others. */
static void holds(const struct fr__moments *m, size_t n, const uint32_t of[][2])
{
    ck_assert_uint_eq(m->n_stages, 1);
    ck_assert_uint_eq(m->n, n);
    for (size_t i = 0; i < n; i++) {
        bool is_there = false;

        for (size_t k = 0; k < m->n; k++)
            is_there =
                is_there || (m->counts[2 * k] == of[i][0] && m->counts[2 * k + 1] == of[i][1]);
        ck_assert_msg(is_there, "%u whole, %u half", of[i][0], of[i][1]);
    }
}

static const struct fr__moments *find(struct fr__arena *arena, const char *name, uint32_t n_micros,
                                      const uint32_t rank_of[])
{
    const struct fr_schedule_spec spec = {.name = name, .n_ranks = 2, .n_micros = n_micros};
    const struct fr__moments *m;
    struct fr_schedule *s = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_schedule_get(&s, &spec, &err), FR_OK);
    ck_assert_int_eq(fr__moments_find(&m, s, rank_of, arena, &err), FR_OK);
    fr_schedule_free(s);
    return m;
}

static const uint32_t EACH[] = {0, 1};

/* Rank r of two holds 2 - r micro-batches by 1F1B, and by GPipe all. */
TEST(whole_backward_passes_leave_nothing)
{
    struct fr__arena *arena = fr__arena_new();
    const struct fr__moments *m = find(arena, "1f1b", 4, EACH);

    holds(&m[0], 1, (const uint32_t[][2]){{2, 0}});
    holds(&m[1], 1, (const uint32_t[][2]){{1, 0}});
    m = find(arena, "gpipe", 4, EACH);
    holds(&m[0], 1, (const uint32_t[][2]){{4, 0}});
    holds(&m[1], 1, (const uint32_t[][2]){{4, 0}});
    fr__arena_free(arena);
}

/* Three micro-batches on two ranks by ZB-H1:
 *
 *   rank 0   F0 F1 I0 W0 F2 I1 W1 I2 W2     2 whole; 1 and half of one
 *   rank 1   F0 I0 F1 I1 W0 F2 I2 W1 W2     1 whole and half of one; half of two, after I1 */
TEST(a_micro_batch_that_waits_for_its_weight_gradients_is_half)
{
    struct fr__arena *arena = fr__arena_new();
    const struct fr__moments *m = find(arena, "zb-h1", 3, EACH);

    holds(&m[0], 2, (const uint32_t[][2]){{2, 0}, {1, 1}});
    holds(&m[1], 2, (const uint32_t[][2]){{1, 1}, {0, 2}});
    fr__arena_free(arena);
}

/* Two stages of a rank, of 1 and 10 bytes a micro-batch. With three micro-batches in the first it
 * holds 3 bytes, with one in each 11, though that are two. Beside them 2 bytes all the time. */
TEST(most_is_held_where_most_bytes_are_not_most_micro_batches)
{
    static const uint32_t stages[] = {0, 1}, counts[] = {3, 0, 0, 0, 1, 1, 0, 0},
                          first[] = {0, 1, 2};
    static const uint32_t rank_of[] = {0, 0};
    static const double live[] = {0, 1, 11}, fixed[] = {0, 1, 2}, half[3] = {0},
                        in_flight[] = {3, 0};
    const struct fr__moments moments = {2, 2, stages, counts};
    const struct fr__chain c = {.n = 2,
                                .n_stages = 2,
                                .n_ranks = 1,
                                .rank_of = rank_of,
                                .fixed_bytes = fixed,
                                .live_bytes = live,
                                .half_bytes = half,
                                .in_flight = in_flight,
                                .moments = &moments};

    ck_assert_double_eq(fr__cut_rank_bytes(&c, 0, first), 13);
}

/* One micro-batch on two ranks: forward 1 s each, backward 2 s each, free links. Rank 1 is over at
 * 4 s, rank 0 at 6 s, and a sum takes 3 s more: 9 s. In three parts the first is there at
 * 6 - 2 (2 / 3) s, so all would be over at 7 2/3 s, and the last part takes from 6 s to 7 s: 7 2/3
 * s. */
TEST(sums_of_gradients_follow_the_last_pass)
{
    const struct fr_schedule_spec spec = {.name = "1f1b", .n_ranks = 2, .n_micros = 1};
    struct fr__timed_stage stages[2] = {
        {.forward_s = 1, .input_s = 1, .weight_s = 1, .sum_s = 3, .n_sums = 1},
        {.forward_s = 1, .input_s = 1, .weight_s = 1, .sum_s = 3, .n_sums = 1},
    };
    static const double tail_s[] = {0.5, 0.5};
    struct fr_schedule *s = NULL;
    struct fr__timed *t;
    struct fr_error err;
    double makespan_s;

    ck_assert_int_eq(fr_schedule_get(&s, &spec, &err), FR_OK);
    ck_assert_int_eq(fr__timed_new(&t, s, &err), FR_OK);
    makespan_s = fr__timed_run(t, stages, tail_s);
    ck_assert_double_eq(makespan_s, 9.5);
    stages[0].n_sums = 3;
    makespan_s = fr__timed_run(t, stages, NULL);
    ck_assert_double_eq_tol(makespan_s, 6 - 4.0 / 3 + 3, 1e-12);
    stages[1].sum_s = 4; /* from 4 s on */
    makespan_s = fr__timed_run(t, stages, NULL);
    ck_assert_double_eq_tol(makespan_s, 8, 1e-12);
    fr__timed_free(t);
    fr_schedule_free(s);
}

int main(void)
{
    TCase *t = tcase_create("moments");

    add_tests(t);
    return run_case(t, "moments");
}
