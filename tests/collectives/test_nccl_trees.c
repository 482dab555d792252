/* tests/collectives/test_nccl_trees.c - NCCL's double trees: those that NCCL itself builds, and what must
 * hold of any number of ranks. */
#include "config.h"

#include "collectives/nccl/trees.h"
#include "base/hash.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t node_of(long value)
{
    return value < 0 ? FR__NO_NODE : (uint32_t)value;
}

/* ../shared/data/nccl/trees.csv: printed by NCCL 2.30.7, for 1 to 64, 100, 128 and 1000 ranks. */
TEST(they_are_nccls_own)
{
    const char *srcdir = getenv("srcdir");
    char path[512], line[256];
    unsigned n_rows = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/../shared/data/nccl/trees.csv", srcdir ? srcdir : ".");
    f = fopen(path, "r");
    if (!f) {
        printf("skipped: no %s\n", path);
        return;
    }
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
    while (fgets(line, sizeof(line), f)) {
        long n, tree, rank, parent, child0, child1, no;
        struct fr__tree_node k;

        ck_assert_int_eq(sscanf(line, "%ld,%ld,%ld,%ld,%ld,%ld,%ld", &n, &tree, &rank, &parent,
                                &child0, &child1, &no),
                         7);
        k = fr__nccl_tree((uint32_t)n, (unsigned)tree, (uint32_t)rank);
        ck_assert_uint_eq(k.parent, node_of(parent));
        ck_assert_uint_eq(k.child[0], node_of(child0));
        ck_assert_uint_eq(k.child[1], node_of(child1));
        if (parent >= 0)
            ck_assert_uint_eq(k.child_no, (uint32_t)no);
        n_rows++;
    }
    fclose(f);
    ck_assert_uint_gt(n_rows, 5000);
}

/* What both trees of n ranks are, as one number. */
static uint64_t digest_of(uint32_t n)
{
    uint64_t digest = 0;

    for (unsigned tree = 0; tree < 2; tree++)
        for (uint32_t rank = 0; rank < n; rank++) {
            struct fr__tree_node k = fr__nccl_tree(n, tree, rank);
            char text[128];

            snprintf(text, sizeof(text), "%llx %u %u %u %u", (unsigned long long)digest, k.parent,
                     k.child[0], k.child[1], k.parent == FR__NO_NODE ? 0 : (unsigned)k.child_no);
            digest = fr__hash_string(text);
        }
    return digest;
}

/* Digests of our trees, from when they equalled all rows of that table: so that a clone without it
 * proves the same. GOLDEN_UPDATE=1 prints them. */
TEST(they_are_what_they_were_when_they_equalled_nccls)
{
    static const struct {
        uint32_t n;
        uint64_t digest;
    } facts[] = {
        {1, 0},  {2, 0},   {3, 0},   {4, 0},    {5, 0},  {6, 0},  {7, 0},  {8, 0},  {9, 0},
        {10, 0}, {11, 0},  {12, 0},  {13, 0},   {14, 0}, {15, 0}, {16, 0}, {17, 0}, {18, 0},
        {19, 0}, {20, 0},  {21, 0},  {22, 0},   {23, 0}, {24, 0}, {25, 0}, {26, 0}, {27, 0},
        {28, 0}, {29, 0},  {30, 0},  {31, 0},   {32, 0}, {33, 0}, {34, 0}, {35, 0}, {36, 0},
        {37, 0}, {38, 0},  {39, 0},  {40, 0},   {41, 0}, {42, 0}, {43, 0}, {44, 0}, {45, 0},
        {46, 0}, {47, 0},  {48, 0},  {49, 0},   {50, 0}, {51, 0}, {52, 0}, {53, 0}, {54, 0},
        {55, 0}, {56, 0},  {57, 0},  {58, 0},   {59, 0}, {60, 0}, {61, 0}, {62, 0}, {63, 0},
        {64, 0}, {100, 0}, {128, 0}, {1000, 0},
    };

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (getenv("GOLDEN_UPDATE"))
            printf("{%u, 0x%016llx},\n", facts[i].n, (unsigned long long)digest_of(facts[i].n));
        else
            ck_assert_uint_eq(digest_of(facts[i].n), facts[i].digest);
    }
}

/* Sanders, Speck and Traeff 2009: both trees are as deep as the logarithm, and no rank is inner in
 * both of an even number, exactly one of an odd number. */
TEST(each_rank_is_a_leaf_of_one_tree)
{
    for (uint32_t n = 2; n <= 300; n++) {
        unsigned n_both = 0, depth = 0;

        while (1u << depth < n)
            depth++;
        ck_assert_uint_eq(fr__nccl_tree_depth(n, 0), depth);
        ck_assert_uint_eq(fr__nccl_tree_depth(n, 1), depth);
        for (uint32_t r = 0; r < n; r++) {
            struct fr__tree_node a = fr__nccl_tree(n, 0, r), b = fr__nccl_tree(n, 1, r);
            bool is_inner_a = a.child[0] != FR__NO_NODE || a.child[1] != FR__NO_NODE;
            bool is_inner_b = b.child[0] != FR__NO_NODE || b.child[1] != FR__NO_NODE;

            n_both += is_inner_a && is_inner_b;
            for (unsigned c = 0; c < 2; c++)
                if (a.child[c] != FR__NO_NODE) {
                    ck_assert_uint_eq(fr__nccl_tree(n, 0, a.child[c]).parent, r);
                    ck_assert_uint_eq(fr__nccl_tree(n, 0, a.child[c]).child_no, c);
                }
        }
        ck_assert_uint_eq(n_both, n == 2 ? 0 : n % 2);
    }
}

int main(void)
{
    TCase *c = tcase_create("nccl_trees");

    add_tests(c);
    return run_case(c, "sim/nccl_trees");
}
