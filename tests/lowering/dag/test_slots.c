/* Free intervals by time against a plain list that is scanned from its start. */
#include "config.h"

#include "base/rng.h"
#include "lowering/dag/slots.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>

enum { N_ADDS = 3000 };

struct plain {
    size_t n;
    double begin_s[N_ADDS], end_s[N_ADDS];
};

static double plain_find(const struct plain *p, double ready_s, double length_s, size_t *at)
{
    double free_s = 0;
    size_t i = 0;

    for (; i < p->n; i++) {
        if (fmax(free_s, ready_s) + length_s <= p->begin_s[i])
            break;
        free_s = p->end_s[i];
    }
    *at = i;
    return fmax(free_s, ready_s);
}

static void plain_add(struct plain *p, size_t at, double begin_s, double end_s)
{
    for (size_t i = p->n++; i > at; i--) {
        p->begin_s[i] = p->begin_s[i - 1];
        p->end_s[i] = p->end_s[i - 1];
    }
    p->begin_s[at] = begin_s;
    p->end_s[at] = end_s;
}

/* Lengths are whole and often 0, so that ends meet and equal moments abound. */
static void compare(struct fr__slots *s, double spread_s, uint64_t seed)
{
    static struct plain p;
    struct fr__rng rng;

    p.n = 0;
    fr__rng_init(&rng, seed, 0);
    fr__slots_reset(s);
    for (size_t k = 0; k < N_ADDS; k++) {
        double ready_s = floor(fr__rng_uniform(&rng) * spread_s);
        double length_s = (double)fr__rng_below(&rng, 6);
        size_t at;
        double found_s = plain_find(&p, ready_s, length_s, &at);

        ck_assert_double_eq(fr__slots_find(s, 1, ready_s, length_s), found_s);
        plain_add(&p, at, found_s, found_s + length_s);
        fr__slots_add(s, 1, found_s, found_s + length_s);
        ck_assert_double_eq(fr__slots_end(s, 1), p.end_s[p.n - 1]);
    }
}

TEST(an_op_goes_where_a_scan_from_the_start_would_put_it)
{
    struct fr__slots *s = fr__slots_new(2, N_ADDS);

    ck_assert_ptr_nonnull(s);
    compare(s, 1, 1);    /* everything at once: no gap is left */
    compare(s, 7000, 2); /* about as much room as work */
    compare(s, 1e5, 3);  /* mostly gaps */
    compare(s, 1e12, 4);
    ck_assert_double_eq(fr__slots_find(s, 0, 3, 1), 3); /* the other device is free */
    fr__slots_free(s);
}

/* Adds and undone adds in turns, against slots that never saw what was undone. */
TEST(what_was_undone_leaves_no_trace)
{
    struct fr__slots *s = fr__slots_new(2, N_ADDS), *fresh = fr__slots_new(2, N_ADDS);
    static struct {
        size_t device;
        double begin_s, end_s;
    } adds[N_ADDS];
    struct fr__rng rng;

    ck_assert(s && fresh);
    fr__rng_init(&rng, 5, 0);
    for (size_t n = 0, round = 0; round < 40; round++) {
        for (size_t left = fr__rng_below(&rng, 400); left > 0 && n < N_ADDS; left--, n++) {
            double length_s = (double)fr__rng_below(&rng, 4);

            adds[n].device = fr__rng_below(&rng, 2);
            adds[n].begin_s =
                fr__slots_find(s, adds[n].device, floor(fr__rng_uniform(&rng) * 1000), length_s);
            adds[n].end_s = adds[n].begin_s + length_s;
            fr__slots_add(s, adds[n].device, adds[n].begin_s, adds[n].end_s);
        }
        n -= fr__rng_below(&rng, n + 1) / 2;
        fr__slots_undo(s, n);
        ck_assert_uint_eq(fr__slots_n_adds(s), n);
        fr__slots_reset(fresh);
        for (size_t k = 0; k < n; k++)
            fr__slots_add(fresh, adds[k].device, adds[k].begin_s, adds[k].end_s);
        for (size_t k = 0; k < 200; k++) {
            double ready_s = floor(fr__rng_uniform(&rng) * 1500);
            double length_s = (double)fr__rng_below(&rng, 9);

            ck_assert_double_eq(fr__slots_find(s, k % 2, ready_s, length_s),
                                fr__slots_find(fresh, k % 2, ready_s, length_s));
        }
        ck_assert_double_eq(fr__slots_end(s, 0), fr__slots_end(fresh, 0));
    }
    fr__slots_free(s);
    fr__slots_free(fresh);
}

TEST(an_op_fits_exactly_between_two_others)
{
    struct fr__slots *s = fr__slots_new(1, 4);

    ck_assert_ptr_nonnull(s);
    fr__slots_add(s, 0, 0, 2);
    fr__slots_add(s, 0, 5, 6);
    ck_assert_double_eq(fr__slots_find(s, 0, 0, 3), 2);
    ck_assert_double_eq(fr__slots_find(s, 0, 0, 3.5), 6);
    ck_assert_double_eq(fr__slots_find(s, 0, 3, 3), 6);
    ck_assert_double_eq(fr__slots_find(s, 0, 1, 0), 2);
    fr__slots_add(s, 0, 2, 5);
    ck_assert_double_eq(fr__slots_find(s, 0, 0, 1), 6);
    ck_assert_double_eq(fr__slots_find(s, 0, 5, 0), 5); /* between two, takes no time */
    fr__slots_free(s);
}

int main(void)
{
    TCase *tc = tcase_create("dpos_slots");

    add_tests(tc);
    return run_case(tc, "strategies/dpos_slots");
}
