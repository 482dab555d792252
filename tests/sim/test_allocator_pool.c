/* tests/sim/test_allocator_pool.c - TensorFlow 1's allocator, one region for all, worked out by
 * hand from its rules (sim/memory/allocator.h). */
#include "config.h"

#include "sim/memory/allocator.h"
#include "tests/support/base_check.h"

#include <check.h>

#define MIB (UINT64_C(1) << 20)

static uint64_t allocated(const struct fr__allocator *a)
{
    return fr__allocator_stats(a)->allocated_bytes;
}

static uint64_t reserved(const struct fr__allocator *a)
{
    return fr__allocator_stats(a)->reserved_bytes;
}

TEST(a_pool_is_one_region_that_fits_to_the_last_byte)
{
    struct fr__allocator *a = fr__allocator_new(10 * MIB, FR__ALLOCATOR_BFC);
    uint32_t first = fr__allocator_take(a, 1), second;

    ck_assert_uint_eq(allocated(a), 256);
    second = fr__allocator_take(a, 10 * MIB - 256);
    ck_assert_uint_eq(fr__allocator_address(a, second), 256);
    ck_assert(!fr__allocator_stats(a)->is_over);
    ck_assert_uint_eq(reserved(a), 10 * MIB);
    fr__allocator_give(a, second);
    fr__allocator_give(a, first);
    ck_assert_uint_eq(fr__allocator_address(a, fr__allocator_take(a, 10 * MIB)), 0);
    ck_assert(!fr__allocator_stats(a)->is_over);
    fr__allocator_take(a, 1);
    ck_assert(fr__allocator_stats(a)->is_over);
    ck_assert_uint_eq(fr__allocator_stats(a)->peak_reserved_bytes, 10 * MIB + 256);
    fr__allocator_free(a);
}

/* A hole of 3 MiB is split for 1.5 MiB, and kept whole for a byte more; one of 400 MiB is split for
 * 272 MiB, as 128 MiB are left of it. */
TEST(a_block_is_split_from_twice_the_request_or_128_mib_more)
{
    static const struct {
        uint64_t hole, asked, taken;
    } cases[] = {{3 * MIB, 3 * MIB / 2, 3 * MIB / 2},
                 {3 * MIB, 3 * MIB / 2 + 256, 3 * MIB},
                 {400 * MIB, 272 * MIB, 272 * MIB},
                 {400 * MIB, 272 * MIB + 256, 400 * MIB}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr__allocator *a = fr__allocator_new(1000 * MIB, FR__ALLOCATOR_BFC);
        uint32_t hole = fr__allocator_take(a, cases[i].hole), x;

        fr__allocator_take(a, 256);
        fr__allocator_give(a, hole);
        x = fr__allocator_take(a, cases[i].asked);
        ck_assert_uint_eq(fr__allocator_address(a, x), 0);
        ck_assert_uint_eq(fr__allocator_bytes(a, x), cases[i].taken);
        fr__allocator_free(a);
    }
}

TEST(holes_that_are_too_small_make_a_pool_too_small)
{
    struct fr__allocator *a = fr__allocator_new(4 * MIB, FR__ALLOCATOR_BFC);
    uint32_t blocks[4];

    for (int i = 0; i < 4; i++)
        blocks[i] = fr__allocator_take(a, MIB);
    fr__allocator_give(a, blocks[0]);
    fr__allocator_give(a, blocks[2]);
    fr__allocator_take(a, 2 * MIB);
    ck_assert(fr__allocator_stats(a)->is_over);
    ck_assert_uint_eq(allocated(a), 4 * MIB);
    ck_assert_uint_eq(reserved(a), 6 * MIB);
    fr__allocator_reset(a, 4 * MIB);
    ck_assert_uint_eq(fr__allocator_address(a, fr__allocator_take(a, 4 * MIB)), 0);
    ck_assert(!fr__allocator_stats(a)->is_over);
    fr__allocator_reset(a, 0);
    fr__allocator_take(a, 1);
    ck_assert(fr__allocator_stats(a)->is_over);
    fr__allocator_free(a);
}

int main(void)
{
    TCase *t = tcase_create("allocator_pool");

    add_tests(t);
    return run_case(t, "sim/allocator_pool");
}
