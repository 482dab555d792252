/* The queue of a few or of many against a plain array. */
#include "sim/event_queue.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>

static uint32_t below(uint64_t *state, uint32_t n) /* xorshift, as in test_sim_maxmin.c */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 16) % n);
}

enum { MANY = 200 };

/* What waits, by id; level 0: it does not. */
static uint32_t next_of(const double level[])
{
    uint32_t next = MANY;

    for (uint32_t i = 0; i < MANY; i++)
        if (level[i] > 0 && (next == MANY || level[i] < level[next]))
            next = i;
    return next;
}

/* Few different levels, so that many are alike: these come by id. */
static void play(uint64_t seed, uint32_t n)
{
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    double level[MANY] = {0};
    struct fr__event_queue t;
    uint32_t n_waiting = 0;

    ck_assert(fr__event_queue_init(&t, n));
    for (uint32_t step = 0; step < 3000; step++) {
        uint32_t what = below(&state, 5), id = below(&state, n);

        if (fr__event_queue_is_empty(&t) != (n_waiting == 0)) /* Check's own asserts are slow */
            ck_abort_msg("%u wait, is_empty says otherwise", n_waiting);
        if (fr__event_queue_next(&t) !=
            (n_waiting ? fr__event_queue_top(&t).time_bits : UINT64_MAX))
            ck_abort_msg("the next time is not that of the next one");
        if (what < 3 && level[id] == 0) {
            level[id] = 1 + below(&state, 30);
            fr__event_queue_push(&t, level[id], id, what);
            n_waiting++;
        } else if (what == 3 && level[id] > 0) {
            fr__event_queue_remove(&t, id);
            level[id] = 0;
            n_waiting--;
        } else if (what == 4 && n_waiting) {
            struct fr__event top = fr__event_queue_top(&t), e = fr__event_queue_pop(&t);

            if (fr__event_id(top) != fr__event_id(e) || fr__event_id(e) != next_of(level) ||
                fr__event_time(e) != level[fr__event_id(e)])
                ck_abort_msg("%u came at %g, not %u", fr__event_id(e), fr__event_time(e),
                             next_of(level));
            level[fr__event_id(e)] = 0;
            n_waiting--;
        }
    }
    fr__event_queue_clear(&t);
    ck_assert(fr__event_queue_is_empty(&t));
    fr__heap_fini(&t.rest);
}

TEST(a_few_come_in_order)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        play(seed, 1 + (uint32_t)(seed % FR__FEW));
}

TEST(many_come_in_order_and_so_do_the_few_that_are_left)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        play(seed, 20 + 9 * (uint32_t)seed);
}

int main(void)
{
    TCase *tc = tcase_create("turns");

    add_tests(tc);
    return run_case(tc, "sim/event_queue");
}
