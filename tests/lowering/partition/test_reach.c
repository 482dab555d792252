/* tests/lowering/partition/test_reach.c - what a stage holds, against the bound over all its
 * places. */
#include "config.h"

#include "lowering/partition/chain.h"
#include "tests/support/base_check.h"

#include <check.h>

enum { N = 8 };

static uint64_t below(uint64_t *r, uint64_t n)
{
    *r = *r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*r >> 33) % n;
}

/* Two moments of the stage's rank: three micro-batches are whole; then one, and two wait. */
static const uint32_t stages[] = {0}, counts[] = {3, 0, 1, 2};
static const struct fr__moments moments = {
    .n = 2, .n_stages = 1, .stages = stages, .counts = counts};
static const uint32_t rank_of[] = {0};
static const double in_flight[] = {3};

LOOP_TEST(no_stage_within_a_reach_holds_more_than_its_bound, 0, 2)
{
    uint64_t r = 11;

    for (int round = 0; round < 300; round++) {
        double fixed[N + 1] = {0}, live[N + 1] = {0}, half[N + 1] = {0}, enter[N + 1] = {0};
        const struct fr__chain c = {.n = N,
                                    .n_stages = 1,
                                    .n_ranks = 1,
                                    .rank_of = rank_of,
                                    .fixed_bytes = fixed,
                                    .live_bytes = live,
                                    .half_bytes = half,
                                    .enter_bytes = enter,
                                    .leave_bytes = enter,
                                    .in_flight = in_flight,
                                    .moments = _i ? &moments : NULL};
        struct fr__cut_reach at = {{0, (uint32_t)below(&r, 4)}, {4, 4 + (uint32_t)below(&r, 5)}};

        for (size_t i = 0; i < N; i++) {
            fixed[i + 1] = fixed[i] + (double)below(&r, 10);
            live[i + 1] = live[i] + 4 + (double)below(&r, 5);
            half[i + 1] = half[i] + (double)below(&r, 3);
            enter[i] = (double)below(&r, 4);
        }
        for (uint32_t i = at.begin[0]; i <= at.begin[1]; i++)
            for (uint32_t j = at.end[0]; j <= at.end[1]; j++)
                ck_assert_double_le(fr__cut_held_bytes(&c, 0, i, j),
                                    fr__cut_most_held_bytes(&c, 0, &at));
        at = (struct fr__cut_reach){{2, 2}, {7, 7}}; /* of one place it is what is held there */
        ck_assert_double_eq(fr__cut_held_bytes(&c, 0, 2, 7), fr__cut_most_held_bytes(&c, 0, &at));
    }
}

int main(void)
{
    TCase *c = tcase_create("reach");

    add_tests(c);
    return run_case(c, "partition reach");
}
