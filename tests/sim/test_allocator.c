/* tests/sim/test_allocator.c - PyTorch's caching allocator: sequences worked out by hand from its
 * rules (sim/memory/allocator.h), and random ones against a plain reference that looks at every
 * block. */
#include "config.h"

#include "base/base.h"
#include "base/rng.h"
#include "sim/memory/allocator.h"
#include "sim/memory/requests.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define NO_LIMIT UINT64_MAX

static uint64_t allocated(const struct fr__allocator *a)
{
    return fr__allocator_stats(a)->allocated_bytes;
}

static uint64_t reserved(const struct fr__allocator *a)
{
    return fr__allocator_stats(a)->reserved_bytes;
}

START_TEST(one_byte_takes_512_of_a_segment_of_2_mib)
{
    struct fr__allocator *a = fr__allocator_new(NO_LIMIT, FR__ALLOCATOR_CACHING);

    fr__allocator_take(a, 1);
    ck_assert_uint_eq(allocated(a), 512);
    ck_assert_uint_eq(reserved(a), 2 * MIB);
    fr__allocator_take(a, 513);
    ck_assert_uint_eq(allocated(a), 512 + 1024);
    ck_assert_uint_eq(reserved(a), 2 * MIB);
    fr__allocator_free(a);
}
END_TEST

START_TEST(a_reset_allocator_is_as_a_new_one)
{
    struct fr__allocator *a = fr__allocator_new(30 * MIB, FR__ALLOCATOR_CACHING);
    uint32_t small, large;

    fr__allocator_take(a, 512);
    large = fr__allocator_take(a, 5 * MIB);
    fr__allocator_take(a, 40 * MIB);
    fr__allocator_give(a, large);
    fr__allocator_reset(a, NO_LIMIT);
    ck_assert_uint_eq(fr__allocator_stats(a)->peak_reserved_bytes, 0);
    ck_assert(!fr__allocator_stats(a)->is_over);
    small = fr__allocator_take(a, 512);
    ck_assert_uint_eq(fr__allocator_address(a, small), 0);
    ck_assert_uint_eq(reserved(a), 2 * MIB); /* a new segment: nothing free is left of before */
    fr__allocator_take(a, 40 * MIB);
    ck_assert(!fr__allocator_stats(a)->is_over);
    fr__allocator_free(a);
}
END_TEST

/* Up to 1 MiB: 2 MiB; below 10 MiB: 20 MiB; from there the size rounded up to 2 MiB. A byte more
 * than 1 MiB is large, and a byte less than 10 MiB rounds up to 10 MiB, which is no longer below
 * it. */
START_TEST(a_segment_s_size_follows_from_the_request)
{
    static const struct {
        uint64_t bytes, segment;
    } cases[] = {
        {MIB, 2 * MIB},           {MIB + 1, 20 * MIB},  {10 * MIB - 512, 20 * MIB},
        {10 * MIB - 1, 10 * MIB}, {10 * MIB, 10 * MIB}, {10 * MIB + 1, 12 * MIB},
        {500 * MIB, 500 * MIB},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr__allocator *a = fr__allocator_new(NO_LIMIT, FR__ALLOCATOR_CACHING);

        fr__allocator_take(a, cases[i].bytes);
        ck_assert_uint_eq(reserved(a), cases[i].segment);
        fr__allocator_free(a);
    }
}
END_TEST

/* 11 MiB get a segment of 12; the rest of 1 MiB is not above 1 MiB, so the block keeps it and all
 * 12 count. 10.5 MiB leave 1.5 MiB of 12, which is cut off and serves the next 1.25 MiB. */
START_TEST(a_large_block_is_split_only_for_more_than_1_mib)
{
    struct fr__allocator *a = fr__allocator_new(NO_LIMIT, FR__ALLOCATOR_CACHING);
    uint32_t first;

    fr__allocator_take(a, 11 * MIB);
    ck_assert_uint_eq(allocated(a), 12 * MIB);
    first = fr__allocator_take(a, 10 * MIB + 512 * KIB);
    ck_assert_uint_eq(allocated(a), 22 * MIB + 512 * KIB);
    ck_assert_uint_eq(fr__allocator_address(a, fr__allocator_take(a, MIB + 256 * KIB)),
                      fr__allocator_address(a, first) + 10 * MIB + 512 * KIB);
    ck_assert_uint_eq(reserved(a), 24 * MIB);
    /* the 1.5 MiB are kept whole: a rest of 256 KiB is too little to cut off */
    ck_assert_uint_eq(allocated(a), 24 * MIB);
    fr__allocator_free(a);
}
END_TEST

/* Three blocks of 512 KiB, A B C, and 512 KiB left in the segment. With A and C freed there are
 * 512 KiB at the front and 1 MiB (C and the rest) at the back: 300 KiB fit best at the front. */
START_TEST(takes_the_smallest_block_that_is_large_enough)
{
    struct fr__allocator *a = fr__allocator_new(NO_LIMIT, FR__ALLOCATOR_CACHING);
    uint32_t blocks[3];
    uint64_t front;

    for (int i = 0; i < 3; i++)
        blocks[i] = fr__allocator_take(a, 512 * KIB);
    front = fr__allocator_address(a, blocks[0]);
    fr__allocator_give(a, blocks[2]);
    fr__allocator_give(a, blocks[0]);
    ck_assert_uint_eq(fr__allocator_address(a, fr__allocator_take(a, 300 * KIB)), front);
    ck_assert_uint_eq(fr__allocator_address(a, fr__allocator_take(a, MIB)), front + MIB);
    ck_assert_uint_eq(reserved(a), 2 * MIB);
    fr__allocator_free(a);
}
END_TEST

/* Of two free blocks of a size, the one at the lower address: the older segment's. */
START_TEST(of_equal_blocks_the_lowest_address_wins)
{
    struct fr__allocator *a = fr__allocator_new(NO_LIMIT, FR__ALLOCATOR_CACHING);
    uint32_t x = fr__allocator_take(a, 64 * MIB), y = fr__allocator_take(a, 64 * MIB);
    uint64_t low = fr__allocator_address(a, x);

    fr__allocator_give(a, y);
    fr__allocator_give(a, x);
    ck_assert_uint_eq(fr__allocator_address(a, fr__allocator_take(a, 64 * MIB)), low);
    fr__allocator_free(a);
}
END_TEST

/* 20 MiB segment: A 8, B 8 MiB, 4 left. Free A, then B: B joins the 4 behind it and the 8 before
 * it, so that 19 MiB fit without a second segment. */
START_TEST(freed_neighbours_join_on_both_sides)
{
    struct fr__allocator *a = fr__allocator_new(NO_LIMIT, FR__ALLOCATOR_CACHING);
    uint32_t x = fr__allocator_take(a, 8 * MIB), y = fr__allocator_take(a, 8 * MIB);

    fr__allocator_give(a, x);
    fr__allocator_give(a, y);
    ck_assert_uint_eq(allocated(a), 0);
    ck_assert_uint_eq(reserved(a), 20 * MIB);
    fr__allocator_take(a, 19 * MIB);
    ck_assert_uint_eq(reserved(a), 20 * MIB);
    ck_assert_uint_eq(allocated(a), 20 * MIB); /* 1 MiB left over is too little */
    fr__allocator_free(a);
}
END_TEST

/* Fragmentation: A B C D of 5 MiB fill 20 MiB. With A and C freed 10 MiB are free but apart: 6 MiB
 * need a segment of their own. */
START_TEST(free_bytes_that_lie_apart_do_not_help)
{
    struct fr__allocator *a = fr__allocator_new(NO_LIMIT, FR__ALLOCATOR_CACHING);
    uint32_t blocks[4];

    for (int i = 0; i < 4; i++)
        blocks[i] = fr__allocator_take(a, 5 * MIB);
    ck_assert_uint_eq(reserved(a), 20 * MIB);
    fr__allocator_give(a, blocks[0]);
    fr__allocator_give(a, blocks[2]);
    fr__allocator_take(a, 6 * MIB);
    ck_assert_uint_eq(allocated(a), 16 * MIB);
    ck_assert_uint_eq(reserved(a), 40 * MIB);
    fr__allocator_free(a);
}
END_TEST

START_TEST(small_and_large_blocks_do_not_share_segments)
{
    struct fr__allocator *a = fr__allocator_new(NO_LIMIT, FR__ALLOCATOR_CACHING);
    uint32_t large = fr__allocator_take(a, 2 * MIB);

    fr__allocator_give(a, large);
    fr__allocator_take(a, 512);
    ck_assert_uint_eq(reserved(a), 22 * MIB);
    fr__allocator_free(a);
}
END_TEST

/* 100 MiB: 40 freed but reserved, 40 more in use, then 50 wanted. They fit into no cached segment;
 * 40 + 40 + 50 > 100, so the free 40 go back, and 40 + 50 fit. */
START_TEST(gives_cached_segments_back_before_it_is_out_of_memory)
{
    struct fr__allocator *a = fr__allocator_new(100 * MIB, FR__ALLOCATOR_CACHING);
    uint32_t x = fr__allocator_take(a, 40 * MIB);

    fr__allocator_take(a, 40 * MIB);
    fr__allocator_give(a, x);
    fr__allocator_take(a, 50 * MIB);
    ck_assert_uint_eq(reserved(a), 90 * MIB);
    ck_assert(!fr__allocator_stats(a)->is_over);
    fr__allocator_take(a, 10 * MIB);
    ck_assert_uint_eq(reserved(a), 100 * MIB);
    ck_assert(!fr__allocator_stats(a)->is_over); /* to the last byte */
    fr__allocator_take(a, 512);
    ck_assert(fr__allocator_stats(a)->is_over);
    ck_assert_uint_eq(fr__allocator_stats(a)->peak_reserved_bytes, 102 * MIB);
    fr__allocator_free(a);
}
END_TEST

/* A freed segment of 20 MiB stays reserved beside one of 2 MiB where the limit is 22. */
START_TEST(keeps_cached_segments_that_fit_to_the_last_byte)
{
    struct fr__allocator *a = fr__allocator_new(22 * MIB, FR__ALLOCATOR_CACHING);

    fr__allocator_give(a, fr__allocator_take(a, 20 * MIB));
    fr__allocator_take(a, 512);
    ck_assert_uint_eq(reserved(a), 22 * MIB);
    fr__allocator_free(a);
}
END_TEST

/* A segment with a live block in it cannot go back, however much of it is free. */
START_TEST(keeps_segments_with_a_live_block)
{
    struct fr__allocator *a = fr__allocator_new(20 * MIB, FR__ALLOCATOR_CACHING);
    uint32_t x = fr__allocator_take(a, 2 * MIB);

    fr__allocator_take(a, 2 * MIB);
    fr__allocator_give(a, x);
    fr__allocator_take(a, 18 * MIB);
    ck_assert(fr__allocator_stats(a)->is_over);
    ck_assert_uint_eq(reserved(a), 38 * MIB);
    fr__allocator_free(a);
}
END_TEST

/* ---- random sequences against a reference ---- */

enum { MOST_PARTS = 4096, MOST_LIVE = 256 };

/* The same rules, without any structure: one array of pieces, looked at from end to end. */
struct piece {
    uint64_t address, bytes;
    uint32_t segment;
    bool is_free, is_small;
};
struct plain {
    struct piece pieces[MOST_PARTS]; /* by address */
    size_t n;
    uint64_t limit, next_address, reserved;
    uint32_t n_segments;
};

static void plain_remove(struct plain *p, size_t i)
{
    memmove(&p->pieces[i], &p->pieces[i + 1], (--p->n - i) * sizeof(p->pieces[0]));
}

static void plain_insert(struct plain *p, size_t i, struct piece x)
{
    ck_assert_uint_lt(p->n, MOST_PARTS);
    memmove(&p->pieces[i + 1], &p->pieces[i], (p->n++ - i) * sizeof(p->pieces[0]));
    p->pieces[i] = x;
}

static bool plain_is_whole(const struct plain *p, size_t i)
{
    return (i == 0 || p->pieces[i - 1].segment != p->pieces[i].segment) &&
           (i + 1 == p->n || p->pieces[i + 1].segment != p->pieces[i].segment);
}

static size_t plain_find(const struct plain *p, uint64_t bytes, bool is_small)
{
    size_t best = p->n;

    for (size_t i = 0; i < p->n; i++)
        if (p->pieces[i].is_free && p->pieces[i].is_small == is_small &&
            p->pieces[i].bytes >= bytes &&
            (best == p->n || p->pieces[i].bytes < p->pieces[best].bytes))
            best = i;
    return best;
}

static uint64_t plain_take(struct plain *p, uint64_t bytes)
{
    uint64_t rounded = (bytes + 511) & ~UINT64_C(511), segment, rest;
    bool is_small = rounded <= MIB;
    size_t at = plain_find(p, rounded, is_small);

    if (at == p->n) {
        segment = is_small             ? 2 * MIB
                  : rounded < 10 * MIB ? 20 * MIB
                                       : (rounded + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
        for (size_t i = p->reserved + segment > p->limit ? p->n : 0; i-- > 0;)
            if (p->pieces[i].is_free && plain_is_whole(p, i)) {
                p->reserved -= p->pieces[i].bytes;
                plain_remove(p, i);
            }
        at = p->n;
        plain_insert(p, at,
                     (struct piece){p->next_address, segment, p->n_segments++, true, is_small});
        p->next_address += 2 * segment;
        p->reserved += segment;
    }
    p->pieces[at].is_free = false;
    rest = p->pieces[at].bytes - rounded;
    if (is_small ? rest >= 512 : rest > MIB) {
        struct piece x = p->pieces[at];

        x.address += rounded;
        x.bytes = rest;
        x.is_free = true;
        p->pieces[at].bytes = rounded;
        plain_insert(p, at + 1, x);
    }
    return p->pieces[at].address;
}

static void plain_give(struct plain *p, uint64_t address)
{
    size_t i = 0;

    while (p->pieces[i].address != address)
        i++;
    p->pieces[i].is_free = true;
    if (i + 1 < p->n && p->pieces[i + 1].is_free &&
        p->pieces[i + 1].segment == p->pieces[i].segment) {
        p->pieces[i].bytes += p->pieces[i + 1].bytes;
        plain_remove(p, i + 1);
    }
    if (i > 0 && p->pieces[i - 1].is_free && p->pieces[i - 1].segment == p->pieces[i].segment) {
        p->pieces[i - 1].bytes += p->pieces[i].bytes;
        plain_remove(p, i);
    }
}

static uint64_t plain_allocated(const struct plain *p)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < p->n; i++)
        sum += p->pieces[i].is_free ? 0 : p->pieces[i].bytes;
    return sum;
}

/* All sizes that matter, near the borders too. */
static uint64_t draw_bytes(struct fr__rng *rng)
{
    static const uint64_t scales[] = {4 * KIB, 600 * KIB, MIB + KIB, 3 * MIB, 11 * MIB, 70 * MIB};

    return 1 + fr__rng_below(rng, scales[fr__rng_below(rng, 6)]);
}

/* The limit is low enough to be hit again and again. */
START_TEST(random_sequences_lie_where_the_reference_puts_them)
{
    struct fr__allocator *a = fr__allocator_new(700 * MIB, FR__ALLOCATOR_CACHING);
    struct plain *p = calloc(1, sizeof(*p));
    uint32_t live[MOST_LIVE];
    size_t n = 0;
    struct fr__rng rng;

    ck_assert_ptr_nonnull(p);
    p->limit = 700 * MIB;
    fr__rng_init(&rng, 7, (uint64_t)_i);
    for (int step = 0; step < 3000; step++) {
        bool grows = fr__rng_below(&rng, 1000) < (step / 500 % 2 ? 350u : 650u);

        if (n < MOST_LIVE && (n == 0 || grows)) {
            uint64_t bytes = draw_bytes(&rng);

            live[n] = fr__allocator_take(a, bytes);
            ck_assert_uint_ge(fr__allocator_bytes(a, live[n]), bytes);
            ck_assert_uint_eq(fr__allocator_address(a, live[n]), plain_take(p, bytes));
            n++;
        } else {
            size_t i = fr__rng_below(&rng, n);

            plain_give(p, fr__allocator_address(a, live[i]));
            fr__allocator_give(a, live[i]);
            live[i] = live[--n];
        }
        ck_assert_uint_eq(reserved(a), p->reserved);
        ck_assert_uint_eq(allocated(a), plain_allocated(p));
        ck_assert_uint_ge(reserved(a), allocated(a));
    }
    free(p);
    fr__allocator_free(a);
}
END_TEST

static int by_address(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;

    return a[0] < b[0] ? -1 : a[0] > b[0];
}

/* After everything is freed each segment is one block again: all of it can go back, so that what
 * was reserved at the end of the first round is enough for any one request of that size. */
START_TEST(blocks_never_overlap_and_segments_become_whole_again)
{
    struct fr__allocator *a = fr__allocator_new(1, FR__ALLOCATOR_CACHING);
    uint32_t live[MOST_LIVE];
    uint64_t ranges[MOST_LIVE][2];
    struct fr__rng rng;

    fr__rng_init(&rng, 11, (uint64_t)_i);
    for (int i = 0; i < MOST_LIVE; i++)
        live[i] = fr__allocator_take(a, draw_bytes(&rng));
    for (int i = 0; i < MOST_LIVE; i++) {
        ranges[i][0] = fr__allocator_address(a, live[i]);
        ranges[i][1] = fr__allocator_bytes(a, live[i]);
    }
    qsort(ranges, MOST_LIVE, sizeof(ranges[0]), by_address);
    for (int i = 1; i < MOST_LIVE; i++)
        ck_assert_uint_le(ranges[i - 1][0] + ranges[i - 1][1], ranges[i][0]);
    for (int i = MOST_LIVE; i > 0; i--) {
        size_t k = fr__rng_below(&rng, (uint64_t)i);

        fr__allocator_give(a, live[k]);
        live[k] = live[i - 1];
    }
    ck_assert_uint_eq(allocated(a), 0);
    /* a limit of one byte: a new segment makes all whole ones go back, and that is all of them */
    fr__allocator_take(a, 4096 * MIB);
    ck_assert_uint_eq(reserved(a), 4096 * MIB);
    fr__allocator_free(a);
}
END_TEST

/* ---- requests noted and played later ---- */

enum { N_DEVICES = 6, N_ASKED = 2000 };

/* Asks both for the same: what is noted, and an allocator at once. */
static void ask_both(struct fr__requests *r, struct fr__allocator *a, uint64_t seed,
                     uint32_t *first_over)
{
    uint32_t takes[MOST_LIVE], live[MOST_LIVE];
    size_t n = 0;
    struct fr__rng rng;

    *first_over = FR_NONE;
    fr__rng_init(&rng, 5, seed);
    while (r->n < N_ASKED) {
        if (n < MOST_LIVE && (n == 0 || fr__rng_below(&rng, 100) < 55)) {
            uint64_t bytes = draw_bytes(&rng);

            takes[n] = fr__requests_take(r, bytes);
            live[n] = fr__allocator_take(a, bytes);
            if (*first_over == FR_NONE && fr__allocator_stats(a)->is_over)
                *first_over = takes[n];
            n++;
        } else {
            size_t i = fr__rng_below(&rng, n);

            fr__requests_give(r, takes[i]);
            fr__allocator_give(a, live[i]);
            takes[i] = takes[--n];
            live[i] = live[n];
        }
    }
}

/* Devices 0, 1 and 4 ask for the same, 4 with less memory; 5 asks for nothing. */
START_TEST(requests_played_later_give_what_an_allocator_gives_at_once)
{
    static const uint64_t seeds[N_DEVICES] = {1, 1, 2, 3, 1, 0};
    struct fr__requests of[N_DEVICES] = {0};
    struct fr__allocator *a[N_DEVICES];
    struct fr__played played[N_DEVICES];
    uint32_t first_over[N_DEVICES];

    for (int d = 0; d < N_DEVICES; d++) {
        of[d].limit_bytes = d == 4 ? 600 * MIB : 1000 * MIB;
        of[d].asked = calloc(N_ASKED + 1, sizeof(*of[d].asked));
        a[d] = fr__allocator_new(of[d].limit_bytes, FR__ALLOCATOR_CACHING);
        first_over[d] = FR_NONE;
        if (d < 5)
            ask_both(&of[d], a[d], seeds[d], &first_over[d]);
    }
    ck_assert(fr__requests_play(of, N_DEVICES, played));
    ck_assert_uint_lt(first_over[4], first_over[0]);
    for (int d = 0; d < N_DEVICES; d++) {
        const struct fr__allocator_stats *s = fr__allocator_stats(a[d]);

        ck_assert_uint_eq(played[d].stats.peak_allocated_bytes, s->peak_allocated_bytes);
        ck_assert_uint_eq(played[d].stats.peak_reserved_bytes, s->peak_reserved_bytes);
        ck_assert(played[d].stats.is_over == s->is_over);
        ck_assert_uint_eq(played[d].first_over, first_over[d]);
        fr__allocator_free(a[d]);
        free(of[d].asked);
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("sim/allocator");
    TCase *t = tcase_create("rules");

    tcase_add_test(t, one_byte_takes_512_of_a_segment_of_2_mib);
    tcase_add_test(t, a_reset_allocator_is_as_a_new_one);
    tcase_add_test(t, a_segment_s_size_follows_from_the_request);
    tcase_add_test(t, a_large_block_is_split_only_for_more_than_1_mib);
    tcase_add_test(t, takes_the_smallest_block_that_is_large_enough);
    tcase_add_test(t, of_equal_blocks_the_lowest_address_wins);
    tcase_add_test(t, freed_neighbours_join_on_both_sides);
    tcase_add_test(t, free_bytes_that_lie_apart_do_not_help);
    tcase_add_test(t, small_and_large_blocks_do_not_share_segments);
    tcase_add_test(t, gives_cached_segments_back_before_it_is_out_of_memory);
    tcase_add_test(t, keeps_cached_segments_that_fit_to_the_last_byte);
    tcase_add_test(t, keeps_segments_with_a_live_block);
    suite_add_tcase(s, t);
    t = tcase_create("random");
    tcase_add_loop_test(t, random_sequences_lie_where_the_reference_puts_them, 0, 8);
    tcase_add_loop_test(t, blocks_never_overlap_and_segments_become_whole_again, 0, 8);
    tcase_add_test(t, requests_played_later_give_what_an_allocator_gives_at_once);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
