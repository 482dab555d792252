/* Cutting chains against brute force, buckets by hand. */
#include "config.h"

#include "base/arena.h"
#include "lowering/exchange/exchange.h"
#include "lowering/pipeline/stages.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_ITEMS = 9, MAX_PARTS = 5 };

struct random_chain {
    double sum_s[MAX_ITEMS + 1], fixed_bytes[MAX_ITEMS + 1], live_bytes[MAX_ITEMS + 1];
    double in_flight[MAX_PARTS], capacity_bytes[MAX_PARTS];
    const double *rows[MAX_PARTS];
    struct fr__cut_problem p;
};

/* Knuth's 64-bit linear congruential generator (MMIX), upper bits; biased, which does not
 * matter. */
static uint64_t below(uint64_t *r, uint64_t n)
{
    *r = *r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*r >> 33) % n;
}

static void draw(struct random_chain *c, uint64_t *r, bool is_tight)
{
    c->p.n = 1 + below(r, MAX_ITEMS);
    c->p.n_parts = 1 + below(r, c->p.n < MAX_PARTS ? c->p.n : MAX_PARTS);
    c->sum_s[0] = c->fixed_bytes[0] = c->live_bytes[0] = 0;
    for (size_t i = 0; i < c->p.n; i++) {
        c->sum_s[i + 1] = c->sum_s[i] + (double)below(r, 10);
        c->fixed_bytes[i + 1] = c->fixed_bytes[i] + (double)below(r, 10);
        c->live_bytes[i + 1] = c->live_bytes[i] + (double)below(r, 5);
    }
    for (size_t k = 0; k < c->p.n_parts; k++) {
        c->rows[k] = c->sum_s;
        c->in_flight[k] = (double)(c->p.n_parts - k);
        c->capacity_bytes[k] = is_tight ? 10 + (double)below(r, 3) * 10 : 1000;
    }
    if (is_tight) /* alike, as the promise of optimality asks for */
        for (size_t k = 1; k < c->p.n_parts; k++)
            c->capacity_bytes[k] = c->capacity_bytes[0];
    c->p.sum_s = c->rows;
    c->p.fixed_bytes = c->fixed_bytes;
    c->p.live_bytes = c->live_bytes;
    c->p.in_flight = c->in_flight;
    c->p.capacity_bytes = c->capacity_bytes;
}

static double time_of(const struct fr__cut_problem *p, const uint32_t first[])
{
    double worst_s = 0;

    for (size_t k = 0; k < p->n_parts; k++)
        worst_s = fmax(worst_s, p->sum_s[k][first[k + 1]] - p->sum_s[k][first[k]]);
    return worst_s;
}

static double excess_of(const struct fr__cut_problem *p, const uint32_t first[])
{
    double worst = -INFINITY;

    for (size_t k = 0; k < p->n_parts; k++) {
        double bytes = p->fixed_bytes[first[k + 1]] - p->fixed_bytes[first[k]] +
                       p->in_flight[k] * (p->live_bytes[first[k + 1]] - p->live_bytes[first[k]]);

        worst = fmax(worst, bytes - p->capacity_bytes[k]);
    }
    return worst;
}

/* Every cut into parts k, k+1, ... of the items from first[k] on. */
static void try_all(const struct fr__cut_problem *p, size_t k, uint32_t first[], double *best_s,
                    double *least_excess)
{
    if (k + 1 == p->n_parts) {
        double over = excess_of(p, first);

        if (over <= 0)
            *best_s = fmin(*best_s, time_of(p, first));
        *least_excess = fmin(*least_excess, over);
        return;
    }
    for (uint32_t end = first[k] + 1; end + (p->n_parts - k - 1) <= p->n; end++) {
        first[k + 1] = end;
        try_all(p, k + 1, first, best_s, least_excess);
    }
}

static void compare_with_brute_force(bool is_tight)
{
    struct random_chain c;
    uint64_t r = 42;
    struct fr_error err;
    size_t n_misfits = 0;

    for (int round = 0; round < 2000; round++) {
        uint32_t first[MAX_PARTS + 1], all[MAX_PARTS + 1] = {0};
        double best_s = INFINITY, least_excess = INFINITY;
        bool fits = false;

        draw(&c, &r, is_tight);
        all[c.p.n_parts] = (uint32_t)c.p.n;
        try_all(&c.p, 0, all, &best_s, &least_excess);
        ck_assert_int_eq(fr__cut_chain(&c.p, first, &fits, &err), FR_OK);
        ck_assert_uint_eq(first[0], 0);
        ck_assert_uint_eq(first[c.p.n_parts], c.p.n);
        for (size_t k = 0; k < c.p.n_parts; k++)
            ck_assert_uint_lt(first[k], first[k + 1]);
        ck_assert_int_eq(fits, best_s < INFINITY);
        n_misfits += !fits;
        if (fits) {
            ck_assert_double_eq(time_of(&c.p, first), best_s);
            ck_assert_double_le(excess_of(&c.p, first), 0);
        } else {
            ck_assert_double_eq(excess_of(&c.p, first), least_excess);
        }
    }
    ck_assert(is_tight ? n_misfits > 100 : n_misfits == 0); /* both branches were met */
}

TEST(the_cut_is_the_best_of_all_cuts)
{
    compare_with_brute_force(false);
}

TEST(the_cut_respects_memory_or_exceeds_it_least)
{
    compare_with_brute_force(true);
}

/* Owners 0..4 in graph order, ready in the order 4 3 2 1 0 with 6 3 8 1 2 bytes; owner 5 is not
 * trained. Buckets of at least 8: {6 3} {8} {1 2}, the last one smaller. */
TEST(buckets_close_once_they_hold_the_wanted_size)
{
    struct fr__owner owners[] = {
        {.op = 0, .bytes = 2, .ready = 50}, {.op = 1, .bytes = 1, .ready = 40},
        {.op = 2, .bytes = 8, .ready = 30}, {.op = 3, .bytes = 3, .ready = 20},
        {.op = 4, .bytes = 6, .ready = 10}, {.op = 5, .bytes = 9, .ready = FR_NONE}};
    const struct fr__params p = {.n_owners = 6, .owners = owners};
    static const uint32_t first[] = {0, 2, 3, 5}, order[] = {4, 3, 2, 1, 0};
    static const uint64_t bytes[] = {9, 8, 3};
    struct fr__arena *a = fr__arena_new();
    struct fr__buckets b;
    struct fr_error err;

    ck_assert_int_eq(
        fr__buckets_make(&b, &p, &(struct fr__bucket_limits){.bytes = 8}, NULL, a, &err), FR_OK);
    ck_assert_uint_eq(b.n, 3);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(b.first[i], first[i]);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(b.bytes[i], bytes[i]);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(b.owners[i], order[i]);
    ck_assert_int_eq(
        fr__buckets_make(&b, &p, &(struct fr__bucket_limits){.bytes = 0}, NULL, a, &err), FR_OK);
    ck_assert_uint_eq(b.n, 5); /* one gradient each */
    ck_assert_int_eq(
        fr__buckets_make(&b, &p, &(struct fr__bucket_limits){.bytes = 1000}, NULL, a, &err), FR_OK);
    ck_assert_uint_eq(b.n, 1);
    for (int i = 0; i < 6; i++)
        owners[i].n_tensors = i == 3 ? 2 : 1; /* {6} {3}: three are over 2; {8 1} {2} */
    ck_assert_int_eq(fr__buckets_make(&b, &p,
                                      &(struct fr__bucket_limits){.bytes = 1000, .tensors = 2},
                                      NULL, a, &err),
                     FR_OK);
    ck_assert_uint_eq(b.n, 4);
    ck_assert_uint_eq(b.bytes[0], 6);
    ck_assert_uint_eq(b.bytes[1], 3);
    ck_assert_uint_eq(b.bytes[2], 9);
    ck_assert_uint_eq(b.bytes[3], 2);
    fr__arena_free(a);
}

TEST(nothing_to_train_makes_no_bucket)
{
    struct fr__owner owner = {.bytes = 9, .ready = FR_NONE};
    const struct fr__params p = {.n_owners = 1, .owners = &owner};
    struct fr__arena *a = fr__arena_new();
    struct fr__buckets b;
    struct fr_error err;

    ck_assert_int_eq(
        fr__buckets_make(&b, &p, &(struct fr__bucket_limits){.bytes = 8}, NULL, a, &err), FR_OK);
    ck_assert_uint_eq(b.n, 0);
    fr__arena_free(a);
}

int main(void)
{
    TCase *c = tcase_create("stages");

    add_tests(c);
    return run_case(c, "strategies/stages");
}
