/* tests/collectives/test_nccl_trees.c - NCCL's double trees: those that NCCL itself builds, and
 * what must hold of any number of ranks. */
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
        {1, 0x6a2e64013451616d},    {2, 0x4c7f71ad3a563c56},   {3, 0x2c5a46c6584bb692},
        {4, 0x5d833448eaa15955},    {5, 0x49a58ebfd4114669},   {6, 0xde4063aabf737260},
        {7, 0x92e91d3956d73f8f},    {8, 0x39a0130761282702},   {9, 0xd29e7f5cd55571b3},
        {10, 0xcaf2f16d90db051a},   {11, 0x035d26ca8e3e2c5d},  {12, 0xf5cee55030c504d8},
        {13, 0x83a85df2bcfafcc4},   {14, 0x91167098cff7d6a6},  {15, 0xc2ba7202ce2f84c0},
        {16, 0x0e74265d610a6053},   {17, 0xf227a68804780bd2},  {18, 0x198bcaf46c694b45},
        {19, 0x22b6a65fd8290139},   {20, 0x958e055af5139d4b},  {21, 0xc36fd7a20e045ce8},
        {22, 0x138d71a7f562a2b3},   {23, 0x1b86f1933ed889e0},  {24, 0x9f3345db68f1f39f},
        {25, 0x0f5a47812e02a3aa},   {26, 0x3224a98ca0642acd},  {27, 0x5703897fd3a6d588},
        {28, 0xfee4867f3e1c7736},   {29, 0x7c422ea8ec902dd9},  {30, 0xe1e3c2eabbe084a5},
        {31, 0x5bf21eff1179b281},   {32, 0xf03c052fb7599312},  {33, 0x716155c759b4d7cd},
        {34, 0x74138b932e6bd2f3},   {35, 0x2b21bca4167eb67c},  {36, 0x29c850e4c8e86ef7},
        {37, 0x02fe775a7b5913d2},   {38, 0x40a6fd54bca79f98},  {39, 0x34c05fff3a1e59e1},
        {40, 0xed661fca663a0920},   {41, 0x54b9185f510567fd},  {42, 0xad8679eb912ef2f7},
        {43, 0xe3f84dee1d87aca4},   {44, 0xb6cad316dd76e983},  {45, 0x8f02fa078a0b6465},
        {46, 0xae460c0db1b86ed8},   {47, 0xbdef4d038c4ef9ff},  {48, 0x48239a921daa67b1},
        {49, 0x69db861e42cad59d},   {50, 0x98f7cb97b592ea1d},  {51, 0x04a7aaebf68fbfea},
        {52, 0x899b25fab451d1e2},   {53, 0x791fef15c822843f},  {54, 0x444fb774e98b34d2},
        {55, 0x5d4f5acc4cec22b1},   {56, 0x7fc063481be17e98},  {57, 0xbfe9ad91557aedd6},
        {58, 0x7a1f84aefc3e0ed0},   {59, 0xa25f10ac98c19655},  {60, 0xd8c9e6ffca0d7ec2},
        {61, 0x35fbcf9ba2c99028},   {62, 0x01de5257a72b3450},  {63, 0x55c01b398e71fcae},
        {64, 0xe1b585b7fc1e1603},   {100, 0x4c39f32f3ef3bcba}, {128, 0x8c26aa848d421372},
        {1000, 0xeefc1bb258935f1e},
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
