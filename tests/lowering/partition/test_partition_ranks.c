/* Cuts for ranks that hold several stages, against brute force, and by hand. */
#include "config.h"

#include "lowering/partition/ranks.h"
#include "lowering/partition/ranks_search.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { MAX_ITEMS = 128, MAX_STAGES = 64, N_TYPES = 2 };

struct random_chain {
    double forward_s[N_TYPES][MAX_ITEMS + 1], backward_s[N_TYPES][MAX_ITEMS + 1];
    double fixed_bytes[MAX_ITEMS + 1], live_bytes[MAX_ITEMS + 1];
    double in_flight[MAX_STAGES], capacity_bytes[MAX_STAGES];
    const double *forward[MAX_STAGES], *backward[MAX_STAGES];
    uint32_t rank_of[MAX_STAGES];
    struct fr__chain c;
};

/* Knuth's 64-bit linear congruential generator (MMIX), upper bits. */
static uint64_t below(uint64_t *r, uint64_t n)
{
    *r = *r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*r >> 33) % n;
}

/* Rank of a stage: around and around, or down and up again. */
static uint32_t rank_at(uint32_t s, uint32_t p, bool is_v)
{
    return is_v && s / p % 2 == 1 ? p - 1 - s % p : s % p;
}

static void add_item(struct random_chain *x, double f_s, double b_s, double fixed, double live,
                     double slower)
{
    size_t i = x->c.n++;

    x->forward_s[0][i + 1] = x->forward_s[0][i] + f_s;
    x->backward_s[0][i + 1] = x->backward_s[0][i] + b_s;
    x->forward_s[1][i + 1] = x->forward_s[1][i] + f_s * slower;
    x->backward_s[1][i + 1] = x->backward_s[1][i] + b_s * slower;
    x->fixed_bytes[i + 1] = x->fixed_bytes[i] + fixed;
    x->live_bytes[i + 1] = x->live_bytes[i] + live;
}

static void add_ranks(struct random_chain *x, uint32_t p, uint32_t v, bool is_v, double capacity)
{
    x->c.n_stages = (size_t)p * v;
    x->c.n_ranks = p;
    for (uint32_t s = 0; s < p * v; s++) {
        x->forward[s] = x->forward_s[0];
        x->backward[s] = x->backward_s[0];
        x->rank_of[s] = rank_at(s, p, is_v);
        x->in_flight[s] = (double)(p * v - s);
        x->capacity_bytes[x->rank_of[s]] = capacity;
    }
    x->c.rank_of = x->rank_of;
    x->c.forward_s = x->forward;
    x->c.backward_s = x->backward;
    x->c.fixed_bytes = x->fixed_bytes;
    x->c.live_bytes = x->live_bytes;
    x->c.in_flight = x->in_flight;
    x->c.capacity_bytes = x->capacity_bytes;
}

/* Every cut from stage s on. */
static void try_all(const struct fr__chain *c, size_t s, uint32_t first[], double *best_s)
{
    double scratch[MAX_STAGES];

    if (s + 1 == c->n_stages) {
        if (fr__cut_excess_bytes(c, first, scratch) <= 0)
            *best_s = fmin(*best_s, fr__cut_most_s(c, first, scratch));
        return;
    }
    for (uint32_t end = first[s] + 1; end + (c->n_stages - s - 1) <= c->n; end++) {
        first[s + 1] = end;
        try_all(c, s + 1, first, best_s);
    }
}

/* A few items of any kind, a run of equal ones, and a few others; two to four ranks of two or three
 * stages. n_others: at most so many on each side. */
static void draw(struct random_chain *x, uint64_t *r, size_t n_others, bool is_tight)
{
    uint32_t p = 2 + (uint32_t)below(r, 2), v = 2 + (uint32_t)below(r, p == 2 ? 2 : 1);
    size_t n_before = below(r, n_others + 1), n_after = below(r, n_others + 1);
    size_t n_run = 1 + below(r, 8);
    double f_s = (double)(1 + below(r, 9)), b_s = (double)(1 + below(r, 9));
    double fixed = (double)below(r, 10), live = (double)below(r, 5);
    double slower = 1 + (double)below(r, 2);

    memset(x, 0, sizeof(*x));
    while (n_before + n_run + n_after < p * v)
        n_run++;
    for (size_t i = 0; i < n_before + n_run + n_after; i++)
        if (i >= n_before && i < n_before + n_run)
            add_item(x, f_s, b_s, fixed, live, slower);
        else
            add_item(x, (double)(1 + below(r, 30)), (double)(1 + below(r, 30)),
                     (double)below(r, 20), (double)below(r, 9), slower);
    add_ranks(x, p, v, below(r, 2) == 1, is_tight ? 60 + (double)below(r, 8) * 20 : 1e6);
    for (uint32_t s = 0; s < p * v; s++) /* some ranks are slower */
        if (x->rank_of[s] == p - 1) {
            x->forward[s] = x->forward_s[1];
            x->backward[s] = x->backward_s[1];
        }
}

static void compare(const struct random_chain *x, bool is_search, size_t *n_misfits)
{
    uint32_t first[MAX_STAGES + 1] = {0}, all[MAX_STAGES + 1] = {0};
    double best_s = INFINITY, scratch[MAX_STAGES];
    struct fr__ranks_cut out;
    struct fr_error err;

    all[x->c.n_stages] = (uint32_t)x->c.n;
    try_all(&x->c, 0, all, &best_s);
    ck_assert_int_eq(is_search ? fr__ranks_search(&x->c, NULL, first, &out, &err)
                               : fr__cut_ranks(&x->c, NULL, first, &out, &err),
                     FR_OK);
    ck_assert_uint_eq(first[x->c.n_stages], x->c.n);
    for (size_t s = 0; s < x->c.n_stages; s++)
        ck_assert_uint_lt(first[s], first[s + 1]);
    *n_misfits += isinf(best_s) != 0;
    ck_assert_msg((isinf(out.most_s) != 0) == (isinf(best_s) != 0), "%g, not %g", out.most_s,
                  best_s);
    if (isinf(best_s))
        return;
    ck_assert(out.is_exact);
    ck_assert_msg(fabs(out.most_s - best_s) <= 1e-9 * best_s, "%.17g, not %.17g", out.most_s,
                  best_s);
    ck_assert_double_eq(fr__cut_most_s(&x->c, first, scratch), out.most_s);
    ck_assert_double_le(fr__cut_excess_bytes(&x->c, first, scratch), 0);
}

/* _i: 0 and 1, equal items are dealt; 2 and 3, the search. Odd: memory is short. */
LOOP_TEST(the_busiest_rank_has_as_little_to_do_as_brute_force_finds, 0, 4)
{
    uint64_t r = 11;
    size_t n_misfits = 0;

    for (int round = 0; round < 600; round++) {
        struct random_chain x;

        draw(&x, &r, _i < 2 ? 3 : 4, _i % 2 == 1);
        compare(&x, _i >= 2, &n_misfits);
    }
    if (_i % 2 == 1)
        ck_assert_uint_gt(n_misfits, 20);
    ck_assert_uint_lt(n_misfits, 400);
}

/* 96 layers of 3 s on 16 ranks, an embedding of 0.5 s before them and a head of 4 s after them,
 * which is a layer and a third. With v stages a rank nobody can do less than ceil: 15 ranks of 6
 * layers have 18 s; the first 18.5, and the last 5 layers and the head 19, or 4 and 16 s. 96 = 6 x
 * 15 + 6 leaves one layer over where the last has 5: so 7 layers, 21 s, somewhere, or 6 layers and
 * the head, 22 s. The least is 21 s, whatever v is. */
TEST(layers_and_a_head_are_shared_as_evenly_as_whole_layers_can_be)
{
    for (uint32_t v = 2; v <= 4; v++) {
        struct random_chain x;
        struct fr__ranks_cut out;
        struct fr_error err;
        uint32_t first[MAX_STAGES + 1];

        memset(&x, 0, sizeof(x));
        add_item(&x, 0.25, 0.25, 1, 1, 1);
        for (int i = 0; i < 96; i++)
            add_item(&x, 1, 2, 1, 1, 1);
        add_item(&x, 1, 3, 1, 1, 1);
        add_ranks(&x, 16, v, false, 1e6);
        ck_assert_int_eq(fr__cut_ranks(&x.c, NULL, first, &out, &err), FR_OK);
        ck_assert(out.is_exact);
        ck_assert_double_eq_tol(out.most_s, 21, 1e-9);
    }
}

/* 96 layers in 64 stages: by count every second rank has twice the work of its neighbour, 8 layers
 * beside 4. Dealt to ranks each has 6. */
TEST(ninety_six_layers_in_sixty_four_stages_are_six_a_rank)
{
    struct random_chain x;
    struct fr__ranks_cut out;
    struct fr_error err;
    uint32_t first[MAX_STAGES + 1];

    memset(&x, 0, sizeof(x));
    for (int i = 0; i < 96; i++)
        add_item(&x, 1, 2, 1, 1, 1);
    add_ranks(&x, 16, 4, false, 1e6);
    ck_assert_int_eq(fr__cut_ranks(&x.c, NULL, first, &out, &err), FR_OK);
    ck_assert_double_eq_tol(out.most_s, 18, 1e-9);
    for (size_t s = 0; s < 64; s++)
        ck_assert_uint_le(first[s + 1] - first[s], 2);
}

/* Two ranks of two stages, 8 layers of 1 s; a layer holds 1 byte a live micro-batch, and stages
 * have 4, 3, 2, 1 of them. With 4 layers a rank, rank 0 holds least as 1 and 3 layers: 4 + 6 = 10.
 * 9 bytes are too few for that; 3 layers as 1 and 2 hold 8: so 5 s on the other rank, as 1 and 4: 3
 * + 4 = 7. */
TEST(stages_of_a_rank_share_its_memory)
{
    struct random_chain x;
    struct fr__ranks_cut out;
    struct fr_error err;
    uint32_t first[MAX_STAGES + 1];

    memset(&x, 0, sizeof(x));
    for (int i = 0; i < 8; i++)
        add_item(&x, 0.5, 0.5, 0, 1, 1);
    add_ranks(&x, 2, 2, false, 10);
    ck_assert_int_eq(fr__cut_ranks(&x.c, NULL, first, &out, &err), FR_OK);
    ck_assert_double_eq_tol(out.most_s, 4, 1e-9);
    x.capacity_bytes[0] = x.capacity_bytes[1] = 9;
    ck_assert_int_eq(fr__cut_ranks(&x.c, NULL, first, &out, &err), FR_OK);
    ck_assert_double_eq_tol(out.most_s, 5, 1e-9);
}

int main(void)
{
    TCase *t = tcase_create("partition_ranks");

    tcase_set_timeout(t, 60);
    add_tests(t);
    return run_case(t, "partition_ranks");
}
