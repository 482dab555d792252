/* tests/base/test_arena.c - arenas and growing arrays. */
#include "config.h"

#include "base/arena.h"
#include "tests/support/base_check.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

static struct fr__arena *arena;

static void make_arena(void)
{
    arena = fr__arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void free_arena(void)
{
    fr__arena_free(arena);
}

TEST(memory_is_zeroed_aligned_and_apart)
{
    unsigned char *blocks[200];

    for (size_t i = 0; i < 200; i++) {
        blocks[i] = fr__arena_alloc(arena, i, 7);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < 7 * i; k++)
            ck_assert_uint_eq(blocks[i][k], 0);
        memset(blocks[i], (int)i, 7 * i);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t k = 0; k < 7 * i; k++)
            ck_assert_uint_eq(blocks[i][k], i);
}

TEST(ids_that_are_not_given_yet_are_none)
{
    uint32_t *ids = fr__arena_nones(arena, 3);

    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(ids[i], FR_NONE);
    ck_assert_ptr_nonnull(fr__arena_nones(arena, 0));
    ck_assert_ptr_null(fr__arena_nones(arena, SIZE_MAX / 2));
    ids = fr__nones_new(2);
    ck_assert_uint_eq(ids[1], FR_NONE);
    free(ids);
    ck_assert_ptr_null(fr__nones_new(SIZE_MAX / 2));
}

TEST(nothing_of_nothing_is_a_valid_pointer)
{
    ck_assert_ptr_nonnull(fr__arena_alloc(arena, 0, 8));
    ck_assert_ptr_nonnull(fr__arena_alloc(arena, 8, 0));
}

TEST(an_overflow_is_no_allocation)
{
    ck_assert_ptr_null(fr__arena_alloc(arena, SIZE_MAX, 2));
    ck_assert_ptr_null(fr__arena_alloc(arena, SIZE_MAX / 2 + 2, 2)); /* 2 when it wraps */
    ck_assert_ptr_null(fr__arena_alloc(arena, SIZE_MAX, 1));
    ck_assert_ptr_nonnull(fr__arena_alloc(arena, 1, 1)); /* still in order */
}

TEST(a_rewound_arena_gives_the_same_memory_zeroed)
{
    char *kept = fr__arena_strdup(arena, "kept"), *first;
    struct fr__mark mark = fr__arena_mark(arena);

    first = fr__arena_alloc(arena, 100, 1);
    memset(first, 'x', 100);
    ck_assert_ptr_nonnull(fr__arena_alloc(arena, 1 << 20, 1)); /* blocks of its own */
    ck_assert_ptr_nonnull(fr__arena_alloc(arena, 1 << 22, 1));
    fr__arena_rewind(arena, mark);
    ck_assert_ptr_eq(fr__arena_alloc(arena, 100, 1), first);
    for (size_t i = 0; i < 100; i++)
        ck_assert_int_eq(first[i], 0);
    ck_assert_str_eq(kept, "kept");
}

TEST(strings_are_copied_up_to_their_end)
{
    static const char no_end[] = {'a', 'b', 'c'};

    ck_assert_str_eq(fr__arena_strdup(arena, ""), "");
    ck_assert_str_eq(fr__arena_strdup(arena, "abc"), "abc");
    ck_assert_str_eq(fr__arena_strndup(arena, no_end, 3), "abc");
    ck_assert_str_eq(fr__arena_strndup(arena, "abc", 0), "");
    ck_assert_str_eq(fr__arena_strndup(arena, "a\0c", 3), "a");
}

TEST(no_arena_is_freed_without_harm)
{
    struct fr__arena *other = fr__arena_new();
    char *kept = fr__arena_strdup(other, "kept");

    fr__arena_free(NULL);
    ck_assert_str_eq(kept, "kept");
    ck_assert_ptr_nonnull(fr__arena_alloc(other, 1, 1));
    fr__arena_free(other);
}

TEST(an_array_grows_and_keeps_what_it_holds)
{
    uint32_t *array = NULL;
    size_t cap = 0;

    ck_assert(fr__grow(&array, &cap, 0, sizeof(*array)));
    ck_assert_ptr_null(array);
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert(fr__grow(&array, &cap, i + 1, sizeof(*array)));
        ck_assert_uint_gt(cap, i);
        array[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(array[i], i);
    ck_assert_uint_lt(cap, 2000);
    free(array);
}

TEST(an_array_that_cannot_grow_is_unchanged)
{
    uint64_t *array = NULL, *before;
    size_t cap = 0;

    ck_assert(fr__grow(&array, &cap, 4, sizeof(*array)));
    before = array;
    array[3] = 5;
    ck_assert(!fr__grow(&array, &cap, SIZE_MAX, sizeof(*array)));
    ck_assert(!fr__grow(&array, &cap, SIZE_MAX / 8 + 1, sizeof(*array)));
    ck_assert_ptr_eq(array, before);
    ck_assert_uint_eq(array[3], 5);
    free(array);
}

int main(void)
{
    TCase *tc = tcase_create("arena");

    tcase_add_checked_fixture(tc, make_arena, free_arena);
    add_tests(tc);
    return run_case(tc, "arena");
}
