/* tests/collectives/test_schedule.c - each algorithm moves the right data, in as many rounds and
 * bytes as its formula says, for 2 to 17 and 64 ranks. */
#include "config.h"

#include "base/error.h"
#include "collectives/algorithms/custom.h"
#include "collectives/nccl/trees.h"
#include "collectives/algorithms/schedule.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t SIZES[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64};
enum { N_SIZES = sizeof(SIZES) / sizeof(SIZES[0]) };

/* Bytes of a collective, latency and time a byte of every hop. */
static const double S = 5040, A = 3, B = 0.25;

#define ck_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-9 * (fabs((double)(b)) + 1e-3))

static double hop(void *user, uint32_t from, uint32_t to, double bytes)
{
    (void)user, (void)from, (void)to;
    return A + bytes * B;
}

static double ceil_log2(uint32_t n)
{
    return n <= 1 ? 0 : ceil(log2(n) - 1e-12);
}

static bool is_power(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* false: not for these ranks. */
static bool make(struct fr__schedule *s, const char *name, enum fr_collective_kind kind, uint32_t n)
{
    struct fr_error err;

    s->algorithm = fr__algorithm_find(name);
    ck_assert_msg(s->algorithm != NULL, "no algorithm %s", name);
    s->kind = kind;
    s->n = n;
    s->bytes = S;
    return fr__schedule_make(s, &err) == FR_OK;
}

static void must_be_right(const struct fr__schedule *s)
{
    struct fr_error err = {.text = ""};

    for (uint64_t seed = 0; seed < (s->n > 17 ? 2 : 4); seed++)
        ck_assert_msg(fr__schedule_check(s, seed * 0x9e3779b97f4a7c15u, &err) == FR_OK,
                      "%s of %s on %u ranks (%u a machine, %u lanes, %u chunks): %s",
                      fr_collective_kind_name(s->kind), s->algorithm->name, s->n, s->per_node,
                      s->n_lanes, s->n_chunks, err.text);
}

/* All machines' sizes that divide n, some numbers of lanes and chunks. */
static unsigned check_variants(const struct fr__algorithm *a, enum fr_collective_kind kind,
                               uint32_t n)
{
    unsigned n_made = 0;

    for (uint32_t per_node = 1; per_node <= n; per_node++)
        for (uint32_t lanes = 0; lanes <= 3; lanes++) {
            struct fr__schedule s = {.per_node = per_node,
                                     .n_lanes = lanes,
                                     .n_chunks = lanes + 1,
                                     .aggregated = 1u << lanes};

            s.root = kind == FR_BROADCAST || kind == FR_REDUCE ? (n - 1) * lanes / 3 : 0;
            if (n % per_node || (n > 17 && (lanes % 2 || per_node % 8)) ||
                !make(&s, a->name, kind, n))
                continue;
            must_be_right(&s);
            n_made++;
        }
    return n_made;
}

START_TEST(every_algorithm_moves_the_right_data_among_any_number_of_ranks)
{
    const struct fr__algorithm *a = fr__algorithm_at((size_t)_i);

    for (unsigned kind = 0; kind < FR_N_COLLECTIVE_KINDS; kind++)
        for (size_t i = 0; i < N_SIZES && a->kinds >> kind & 1; i++) {
            unsigned n_made = check_variants(a, (enum fr_collective_kind)kind, SIZES[i]);

            ck_assert_msg(n_made > 0 || a->refuse, "%s of %u ranks", a->name, SIZES[i]);
        }
}
END_TEST

/* ---- rounds, bytes and time by formula ---- */

struct expected {
    double rounds, most_bytes, time_s;
};

static void must_take(const struct fr__schedule *s, struct expected x)
{
    struct fr__schedule_totals totals;

    fr__schedule_count(s, &totals);
    ck_assert_msg(totals.most_rounds == (uint32_t)x.rounds, "%s %s of %u: %u rounds, expected %g",
                  s->algorithm->name, fr_collective_kind_name(s->kind), s->n, totals.most_rounds,
                  x.rounds);
    ck_near(totals.most_sent_bytes, x.most_bytes);
    ck_near(fr__schedule_alone(s, hop, NULL), x.time_s);
}

/* 2 (n-1) (a + S/n b): Patarasuk and Yuan 2009; half of it of a gather and a scatter. */
TEST(a_ring_takes_its_rounds)
{
    for (size_t i = 0; i < N_SIZES; i++)
        for (int kind = 0; kind < 3; kind++) {
            uint32_t n = SIZES[i];
            double f = kind == FR_ALL_REDUCE ? 2 : 1, rounds = f * (n - 1);
            struct fr__schedule s = {.n = 0}, two = {.n_lanes = 2};

            ck_assert(make(&s, "ring", (enum fr_collective_kind)kind, n));
            must_take(&s, (struct expected){rounds, rounds * S / n, rounds * (A + S / n * B)});
            ck_assert(make(&two, "ring", (enum fr_collective_kind)kind, n));
            must_take(&two,
                      (struct expected){rounds, rounds * S / n, rounds * (A + S / n / 2 * B)});
        }
}

/* (n - 2 + c) (a + S/c b); nobody sends more than S. */
TEST(a_chain_is_a_pipeline)
{
    for (size_t i = 1; i < N_SIZES; i++)
        for (uint32_t c = 1; c <= 5; c++) {
            uint32_t n = SIZES[i];
            struct fr__schedule s = {.n_chunks = c};

            ck_assert(make(&s, "chain", FR_BROADCAST, n));
            must_take(&s, (struct expected){c, S, (n - 2.0 + c) * (A + S / c * B)});
        }
}

/* ceil(log2 n) (a + S b); the root sends S each round. */
TEST(a_binomial_tree_has_a_round_a_doubling)
{
    for (size_t i = 0; i < N_SIZES; i++) {
        double l = ceil_log2(SIZES[i]);
        struct fr__schedule s = {.n = 0};

        ck_assert(make(&s, "binomial", FR_BROADCAST, SIZES[i]));
        must_take(&s, (struct expected){l, l * S, l * (A + S * B)});
        ck_assert(make(&s, "binomial", FR_REDUCE, SIZES[i]));
        ck_near(fr__schedule_alone(&s, hop, NULL), l * (A + S * B));
    }
}

/* Thakur et al. 2005: 2 log2 q a + 2 (q-1)/q S b; with ranks beyond q the fold's 2 a + 2 S b, of
 * Rabenseifner's 3 a + 2 S b. The busiest rank is one of those that give a result back. */
TEST(halving_and_doubling_take_twice_the_logarithm)
{
    for (size_t i = 0; i < N_SIZES; i++) {
        uint32_t n = SIZES[i], q = 1u << (uint32_t)floor(log2(n) + 1e-12);
        double l = log2(q), core = 2.0 * (q - 1) / q * S, is_folded = n > q;
        struct fr__schedule s = {.n = 0};

        ck_assert(make(&s, "halving-doubling", FR_ALL_REDUCE, n));
        must_take(&s, (struct expected){2 * l + 2 * is_folded, core + is_folded * S,
                                        2 * l * A + core * B + is_folded * 2 * (A + S * B)});
        ck_assert(make(&s, "rabenseifner", FR_ALL_REDUCE, n));
        must_take(&s, (struct expected){2 * l + 3 * is_folded, core + is_folded * 1.5 * S,
                                        2 * l * A + core * B + is_folded * (3 * A + 2 * S * B)});
        if (!is_power(n)) {
            ck_assert(!make(&s, "halving-doubling", FR_ALL_GATHER, n));
            continue;
        }
        ck_assert(make(&s, "halving-doubling", FR_ALL_GATHER, n));
        must_take(&s, (struct expected){l, core / 2, l * A + core / 2 * B});
        ck_assert(make(&s, "halving-doubling", FR_REDUCE_SCATTER, n));
        must_take(&s, (struct expected){l, core / 2, l * A + core / 2 * B});
    }
}

/* Bruck et al. 1997: ceil(log2 n) rounds; an all-to-all moves S/n for each bit of each distance. */
TEST(bruck_takes_the_logarithm_for_any_number)
{
    for (size_t i = 0; i < N_SIZES; i++) {
        uint32_t n = SIZES[i];
        double l = ceil_log2(n), gathered = (n - 1.0) / n * S, bits = 0;
        struct fr__schedule s = {.n = 0};

        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = j; k; k >>= 1)
                bits += k & 1;
        ck_assert(make(&s, "bruck", FR_ALL_GATHER, n));
        must_take(&s, (struct expected){l, gathered, l * A + gathered * B});
        ck_assert(make(&s, "bruck", FR_ALL_TO_ALL, n));
        must_take(&s, (struct expected){l, bits * S / n, l * A + bits * S / n * B});
    }
}

TEST(pairwise_exchange_takes_a_round_a_peer)
{
    const enum fr_collective_kind kinds[] = {FR_ALL_TO_ALL, FR_REDUCE_SCATTER};

    for (size_t i = 0; i < N_SIZES; i++)
        for (int k = 0; k < 2; k++) {
            double n = SIZES[i];
            struct fr__schedule s = {.n = 0};

            for (int is_shift = 0; is_shift < 2; is_shift++) {
                ck_assert(make(&s, is_shift ? "shift" : "pairwise", kinds[k], SIZES[i]));
                must_take(&s, (struct expected){n - 1, (n - 1) / n * S, (n - 1) * (A + S / n * B)});
            }
        }
}

/* Where each pair has its own link, a step is one message. */
TEST(direct_is_one_step_to_all)
{
    for (size_t i = 1; i < N_SIZES; i++)
        for (int kind = 0; kind < 4; kind++) {
            double n = SIZES[i], f = kind == FR_ALL_REDUCE ? 2 : 1;
            struct fr__schedule s = {.n = 0};

            ck_assert(make(&s, "direct", (enum fr_collective_kind)kind, SIZES[i]));
            must_take(&s, (struct expected){f, f * (n - 1) / n * S, f * (A + S / n * B)});
        }
}

/* Chen et al. 2005: n/2 rounds, one block and then two a round. */
TEST(neighbours_exchange_in_half_as_many_rounds)
{
    for (size_t i = 1; i < N_SIZES; i++) {
        double n = SIZES[i];
        struct fr__schedule s = {.n = 0};
        bool is_made = make(&s, "neighbour-exchange", FR_ALL_GATHER, SIZES[i]);

        ck_assert_int_eq(is_made, SIZES[i] % 2 == 0);
        if (is_made)
            must_take(&s,
                      (struct expected){n / 2, (n - 1) / n * S, n / 2 * A + (n - 1) / n * S * B});
    }
}

/* Jeaugey 2025: ceil(log2 n) messages where all fits, n - 1 where one block does. N = 8 and blocks
 * of 4 a message: 1, 2, 4 blocks at distance 4, 2, 1. */
TEST(pat_takes_the_logarithm_or_a_round_a_block)
{
    for (size_t i = 0; i < N_SIZES; i++)
        for (int kind = FR_ALL_GATHER; kind <= FR_REDUCE_SCATTER; kind++) {
            double n = SIZES[i], l = ceil_log2(SIZES[i]), bytes = (n - 1) / n * S;
            struct fr__schedule s = {.n = 0}, one = {.aggregated = 1};

            ck_assert(make(&s, "pat", (enum fr_collective_kind)kind, SIZES[i]));
            must_take(&s, (struct expected){l, bytes, l * A + bytes * B});
            ck_assert(make(&one, "pat", (enum fr_collective_kind)kind, SIZES[i]));
            must_take(&one, (struct expected){n - 1, bytes, (n - 1) * A + bytes * B});
        }
}

/* (2 D + c - 1) (a + S/(2c) b) of two trees over n machines of one rank, D = ceil(log2 n); the time
 * grows as the logarithm. A rank that is inner in one tree and a leaf in the other sends 2 S. */
TEST(double_trees_take_twice_their_depth)
{
    for (size_t i = 1; i < N_SIZES; i++)
        for (uint32_t c = 1; c <= 4; c++) {
            uint32_t n = SIZES[i];
            double d = ceil_log2(n);
            struct fr__schedule s = {.n_chunks = c};
            struct fr__schedule_totals totals;

            ck_assert(make(&s, "tree", FR_ALL_REDUCE, n));
            ck_near(fr__schedule_alone(&s, hop, NULL), (2 * d + c - 1) * (A + S / 2 / c * B));
            fr__schedule_count(&s, &totals);
            ck_near(totals.sent_bytes, 2.0 * (n - 1) * S);
            ck_assert_double_le(totals.most_sent_bytes, 2 * S * (1 + 1e-12));
            if (n == 2)
                ck_near(totals.most_sent_bytes, S);
        }
}

/* Goyal et al. 2017: on M machines of m, hierarchical 2 (m-1) (a + S/m b) + A(M, S/m), two-level
 * 2 ceil(log2 m) (a + S b) + A(M, S), with rings A(M, x) = 2 (M-1) (a + x/M b). */
TEST(hierarchies_are_the_sum_of_their_phases)
{
    for (size_t i = 0; i < N_SIZES; i++)
        for (uint32_t m = 1; m <= SIZES[i]; m++) {
            uint32_t n = SIZES[i], k = n / m;
            double inside = 2 * (m - 1.0) * (A + S / m * B),
                   levels = 2 * ceil_log2(m) * (A + S * B);
            double ring = 2 * (k - 1.0) * (A + S / m / k * B);
            double leaders = 2 * (k - 1.0) * (A + S / k * B), halving;
            struct fr__schedule s = {.per_node = m}, across = {.n = 0};
            struct fr__schedule_totals totals;

            if (n % m)
                continue;
            ck_assert(make(&across, "halving-doubling", FR_ALL_REDUCE, k));
            across.bytes = S / m;
            halving = fr__schedule_alone(&across, hop, NULL);
            ck_assert(make(&s, "hierarchical-ring", FR_ALL_REDUCE, n));
            ck_near(fr__schedule_alone(&s, hop, NULL), inside + ring);
            fr__schedule_count(&s, &totals);
            ck_near(totals.most_sent_bytes, 2.0 * (n - 1) / n * S);
            ck_assert(make(&s, "hierarchical", FR_ALL_REDUCE, n));
            ck_near(fr__schedule_alone(&s, hop, NULL), inside + halving);
            ck_assert(make(&s, "two-level-ring", FR_ALL_REDUCE, n));
            ck_near(fr__schedule_alone(&s, hop, NULL), levels + leaders);
            across.bytes = S;
            halving = fr__schedule_alone(&across, hop, NULL);
            ck_assert(make(&s, "two-level", FR_ALL_REDUCE, n));
            ck_near(fr__schedule_alone(&s, hop, NULL), levels + halving);
            ck_assert(make(&s, "hierarchical-pairwise", FR_ALL_TO_ALL, n));
            must_take(&s, (struct expected){m - 1.0 + k - 1, ((m - 1.0) / m + (k - 1.0) / k) * S,
                                            (m - 1) * (A + S / m * B) + (k - 1) * (A + S / k * B)});
        }
}

/* Equal sides: 2 D (a-1) A + 2 (N-1)/N S b / (2 D). */
TEST(a_bucket_uses_all_directions_of_a_torus)
{
    for (uint32_t a = 2; a <= 4; a++)
        for (uint32_t d = 1; d <= 3; d++) {
            uint32_t n = (uint32_t)(pow(a, d) + .5);
            double rounds = 2.0 * d * (a - 1), bytes = 2.0 * (n - 1) / n * S;
            struct fr__schedule s = {.dims = {a, a, a}, .n_dims = d};

            ck_assert(make(&s, "bucket", FR_ALL_REDUCE, n));
            must_be_right(&s);
            must_take(&s, (struct expected){rounds, bytes, rounds * A + bytes / (2 * d) * B});
        }
    for (uint32_t a = 1; a <= 5; a++)
        for (uint32_t b = 1; b <= 4; b++)
            for (int kind = 0; kind < 3; kind++) {
                struct fr__schedule s = {.dims = {a, b, 2}, .n_dims = 3}, not_so = {.n_dims = 2};

                ck_assert(make(&s, "bucket", (enum fr_collective_kind)kind, 2 * a * b));
                must_be_right(&s);
                ck_assert(!make(&not_so, "bucket", (enum fr_collective_kind)kind, a));
            }
}

/* Each rank sends and receives S (1 + 1/m) through the switch; one network switch takes S. */
TEST(sums_in_a_switch_spare_the_ranks)
{
    for (size_t i = 1; i < N_SIZES; i++) {
        uint32_t n = SIZES[i];
        struct fr__schedule s = {.per_node = n, .n_chunks = 2}, sharp = {.n_chunks = 4};
        struct fr__schedule_totals totals;

        ck_assert(make(&s, "nvls", FR_ALL_REDUCE, n));
        fr__schedule_count(&s, &totals);
        ck_near(totals.sent_bytes, 2 * (n + 1.0) * S); /* n S (1+1/n) up, as much down */
        ck_assert(make(&sharp, "sharp", FR_ALL_REDUCE, n));
        fr__schedule_count(&sharp, &totals);
        ck_near(totals.sent_bytes, 2.0 * n * S);
        ck_near(fr__schedule_alone(&sharp, hop, NULL), 2 * A + S / 2 * B + 3 * (A + S / 4 * B));
    }
}

TEST(an_all_to_all_may_have_bytes_of_its_own_for_each_pair)
{
    static const char *const NAMES[] = {"pairwise", "shift", "direct", "bruck",
                                        "hierarchical-pairwise"};

    for (size_t i = 1; i < N_SIZES; i++)
        for (size_t k = 0; k < 4; k++) {
            uint32_t n = SIZES[i];
            double *pairs = calloc((size_t)n * n, sizeof(*pairs)), all = 0;
            struct fr__schedule s = {.pair_bytes = pairs, .per_node = n % 2 ? 1 : 2};
            struct fr__schedule_totals totals;

            for (uint32_t p = 0; p < n * n; p++) {
                pairs[p] = p * 7919 % 23;
                all += p / n != p % n ? pairs[p] : 0;
            }
            ck_assert(make(&s, NAMES[k], FR_ALL_TO_ALL, n));
            must_be_right(&s);
            fr__schedule_count(&s, &totals);
            if (k < 2)
                ck_near(totals.sent_bytes, all);
            free(pairs);
        }
}

TEST(a_ring_follows_the_order_that_it_is_given)
{
    const uint32_t order[] = {0, 3, 1, 2, 2, 1, 3, 0}, place[] = {0, 2, 3, 1, 3, 1, 0, 2};
    const double share[] = {.75, .25};
    struct fr__schedule s = {.n_lanes = 2, .order = order, .place = place, .share_frac = share};
    struct fr__schedule chain = s;
    struct fr__send m;

    ck_assert(make(&s, "ring", FR_ALL_REDUCE, 4));
    must_be_right(&s);
    fr__schedule_send(&s, 0 * 2 + 0, 0, 0, &m);
    ck_assert_uint_eq(m.to, 3 * 2 + 0);
    ck_near(m.bytes, .75 * S / 4);
    chain.root = 3;
    chain.n_chunks = 3;
    ck_assert(make(&chain, "chain", FR_BROADCAST, 4));
    must_be_right(&chain);
    ck_assert(make(&chain, "chain", FR_REDUCE, 4));
    must_be_right(&chain);
}

TEST(trees_follow_the_chains_that_they_are_given)
{
    const uint32_t order[] = {2, 0, 3, 1, 1, 3, 0, 2}, place[] = {1, 3, 0, 2, 2, 0, 3, 1};

    for (uint32_t nodes = 1; nodes <= 9; nodes++) {
        struct fr__schedule s = {
            .n_lanes = 2, .per_node = 4, .n_chunks = 3, .order = order, .place = place};

        ck_assert(make(&s, "tree", FR_ALL_REDUCE, 4 * nodes));
        must_be_right(&s);
    }
}

/* ---- a person's own ---- */

static enum fr_status parse(const char *text, struct fr_error *err)
{
    struct fr__custom *c = NULL;
    enum fr_status st = fr__custom_parse(&c, text, strlen(text), "own.txt", err);

    fr__custom_free(c);
    return st;
}

#define TWO "collective all-reduce\nranks 2\npieces 2\nround\nsend 0 1 1 sum\nsend 1 0 0 sum\n"

TEST(a_persons_own_algorithm_is_taken_when_it_is_right)
{
    struct fr_error err = {.text = ""};

    ck_assert_msg(parse(TWO "round # back\nsend 0 1 0\nsend 1 0 1\n", &err) == FR_OK, "%s",
                  err.text);
    ck_assert_msg(parse("collective broadcast\nranks 3\npieces 4\nround\nsend 0 1 0-3\nround\n"
                        "send 1 2 0,1-2,3",
                        &err) == FR_OK,
                  "%s", err.text);
}

TEST(a_persons_own_algorithm_is_refused_with_what_is_missing)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {TWO, "own.txt: rank 0 ends without rank 1's part of piece 1"},
        {TWO "round\nsend 0 1 0\nsend 1 0 0\n",
         "own.txt: rank 0 ends without rank 0's part of piece 0"},
        {TWO "send 0 1 1\n",
         "own.txt:7:1: rank 1 gets piece 1 twice in a round, not both to be added"},
        {TWO "round\nsend 0 1 0 sum\nsend 1 0 1\n",
         "own.txt: rank 1 adds piece 0 from rank 0, and some of it counts twice"},
        {"collective broadcast\nranks 3\npieces 1\nround\nsend 1 2 0\nround\nsend 0 1 0\n",
         "own.txt: rank 1 sends piece 0 to rank 2 and does not have it"},
        {"collective all-gather\nranks 2\npieces 3\nround\nsend 0 1 0\n",
         "own.txt: 3 pieces are not as many for each of 2 ranks"},
        {"collective all-sum\n", "own.txt:1:12: no collective 'all-sum'"},
        {"ranks 2\nround\n",
         "own.txt:2:1: 'round' before 'collective', 'ranks' and 'pieces' are all said"},
        {TWO "sned 0 1 0\n", "own.txt:7:1: 'sned' after the first 'round', did you mean 'send'?"},
        {TWO "send 0 1 2\n", "own.txt:7:10: the piece must be 0 to 1"},
        {TWO "send 0 0 1\n", "own.txt:7:8: rank 0 sends to itself"},
        {TWO "send 0 1 1 add\n", "own.txt:7:12: 'add' after the pieces, expected 'sum'"},
        {"ranks 99999999999999999999\n", "own.txt:1:7: the number of ranks must be 2 to 1024"},
        {"", "own.txt: the file has no 'round'"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err = {.text = ""};
        char buf[1024];

        ck_assert(parse(cases[i].text, &err) != FR_OK);
        ck_assert_msg(strstr(fr_error_string(&err, buf, sizeof(buf)), cases[i].message) == buf,
                      "%s", buf);
    }
}

int main(void)
{
    TCase *c = tcase_create("schedule");
    int n_algorithms = 0;

    while (fr__algorithm_at((size_t)n_algorithms))
        n_algorithms++;
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, every_algorithm_moves_the_right_data_among_any_number_of_ranks, 0,
                        n_algorithms);
    add_tests(c);
    return run_case(c, "sim/schedule");
}
