/* tests/lowering/test_recipe.c - bytes of a parameter by precision recipe and ZeRO level. */
#include "config.h"

#include "lowering/recipe.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <string.h>

/* Fixed + shared/d bytes; fixed < 0: the source does not say. */
struct sum {
    double fixed, shared;
};

/* The table of research notes on large models, section 3.1: ZeRO (SC 2020), section 3.1;
 * Megatron-LM's dist_optimizer.md; the others follow from what each recipe keeps. */
static const struct {
    const char *recipe;
    enum fr_optimizer optimizer;
    struct sum zero[4];
} rows[] = {
    {"fp32", FR_ADAM, {{16, 0}, {8, 8}, {4, 12}, {0, 16}}},
    {"fp32", FR_MOMENTUM, {{12, 0}, {8, 4}, {4, 8}, {0, 12}}},
    {"fp32", FR_SGD, {{8, 0}, {8, 0}, {4, 4}, {0, 8}}},
    {"amp", FR_ADAM, {{16, 0}, {8, 8}, {-1, 0}, {0, 16}}},
    {"master16", FR_ADAM, {{16, 0}, {4, 12}, {2, 14}, {0, 16}}},
    {"fp16", FR_ADAM, {{20, 0}, {4, 16}, {-1, 0}, {-1, 0}}},
    {"bf16", FR_ADAM, {{18, 0}, {6, 12}, {2, 16}, {0, 18}}},
    {"pure-bf16", FR_ADAM, {{8, 0}, {4, 4}, {2, 6}, {0, 8}}},
    {"fp8-weights", FR_ADAM, {{17, 0}, {5, 12}, {-1, 0}, {-1, 0}}},
    {"fp8-nemo", FR_ADAM, {{15, 0}, {3, 12}, {-1, 0}, {-1, 0}}},
    {"fp8", FR_ADAM, {{18, 0}, {6, 12}, {-1, 0}, {-1, 0}}},
    {"bf16-moments", FR_ADAM, {{14, 0}, {6, 8}, {-1, 0}, {-1, 0}}},
    {"frozen", FR_ADAM, {{2, 0}, {2, 0}, {2, 0}, {0, 2}}},
};

LOOP_TEST(bytes_of_a_parameter_are_those_of_the_published_table, 0, sizeof(rows) / sizeof(*rows))
{
    const struct fr__recipe *r = fr__recipe_named(rows[_i].recipe);

    ck_assert_ptr_nonnull(r);
    for (unsigned zero = 0; zero < 4; zero++) {
        struct sum want = rows[_i].zero[zero];

        for (double d = 1; d <= 64 && want.fixed >= 0; d *= 4)
            ck_assert_double_eq(fr__recipe_bytes(r, rows[_i].optimizer, zero, d),
                                want.fixed + want.shared / d);
    }
}

/* The rows' additions: an fp8 copy and its transpose, the transpose of an fp8 weight (18 with it).
 * No level shards them. Casts of automatic casts are ops of the graph. */
TEST(caches_come_on_top_and_are_not_sharded)
{
    static const struct {
        const char *recipe;
        double bytes;
    } caches[] = {{"fp32", 0}, {"amp", 0},         {"fp16", 0},
                  {"bf16", 0}, {"fp8-weights", 1}, {"fp8", 2}};

    for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++)
        for (unsigned zero = 0; zero < 4; zero++)
            ck_assert_double_eq(fr__recipe_part_bytes(fr__recipe_named(caches[i].recipe),
                                                      FR__PART_CACHE, FR_ADAM, zero, 8),
                                caches[i].bytes);
}

TEST(each_level_shards_what_the_level_below_does_and_more)
{
    for (unsigned part = 0; part < FR__N_PARTS; part++) {
        ck_assert(!fr__recipe_is_sharded((enum fr__recipe_part)part, 0));
        for (unsigned zero = 1; zero < 4; zero++)
            ck_assert(fr__recipe_is_sharded((enum fr__recipe_part)part, zero) ||
                      !fr__recipe_is_sharded((enum fr__recipe_part)part, zero - 1));
        ck_assert_int_eq(fr__recipe_is_sharded((enum fr__recipe_part)part, 3),
                         part != FR__PART_CACHE);
    }
}

TEST(parts_add_up_to_all)
{
    for (size_t i = 0; fr__recipe_at(i); i++)
        for (unsigned zero = 0; zero < 4; zero++) {
            double sum = -fr__recipe_part_bytes(fr__recipe_at(i), FR__PART_CACHE, FR_ADAM, zero, 4);

            for (unsigned part = 0; part < FR__N_PARTS; part++)
                sum += fr__recipe_part_bytes(fr__recipe_at(i), (enum fr__recipe_part)part, FR_ADAM,
                                             zero, 4);
            ck_assert_double_eq(sum, fr__recipe_bytes(fr__recipe_at(i), FR_ADAM, zero, 4));
        }
}

TEST(each_precision_has_its_usual_recipe)
{
    static const struct {
        enum fr_dtype dtype;
        const char *name;
    } usual[] = {{FR_FP32, "fp32"}, {FR_TF32, "fp32"}, {FR_FP16, "fp16"},
                 {FR_BF16, "bf16"}, {FR_FP8, "fp8"},   {FR_AMP, "amp"}};

    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        ck_assert_str_eq(fr__recipe_of(usual[i].dtype)->name, usual[i].name);
    ck_assert_ptr_null(fr__recipe_named("bf17"));
    for (size_t i = 0; fr__recipe_at(i); i++)
        ck_assert_ptr_eq(fr__recipe_named(fr__recipe_at(i)->name), fr__recipe_at(i));
}

/* Gradients are reduced as they are added up, weights gathered as they are read. */
TEST(messages_carry_main_gradients_and_weights)
{
    ck_assert_double_eq(fr__recipe_reduced_bytes(fr__recipe_named("bf16")), 4);
    ck_assert_double_eq(fr__recipe_reduced_bytes(fr__recipe_named("master16")), 2);
    ck_assert_double_eq(fr__recipe_reduced_bytes(fr__recipe_named("fp32")), 4);
    ck_assert_double_eq(fr__recipe_gathered_bytes(fr__recipe_named("bf16")), 2);
    ck_assert_double_eq(fr__recipe_gathered_bytes(fr__recipe_named("fp8-weights")), 1);
}

/* bf16 with Adam: reads 16 (weight, two states, gradient, all fp32), writes 12 and the weight's 2.
 * fp32: reads 16, writes 12; with SGD reads 8, writes 4. fp16: 16 and 12, writes 2, reads the
 * gradient's 2 and writes and reads the step's copy instead of reading 4 once: 2 + 4 + 4. */
TEST(a_fused_step_moves_each_number_once)
{
    ck_assert_double_eq(fr__recipe_update_bytes(fr__recipe_named("bf16"), 8), 30);
    ck_assert_double_eq(fr__recipe_update_bytes(fr__recipe_named("fp32"), 8), 28);
    ck_assert_double_eq(fr__recipe_update_bytes(fr__recipe_named("fp32"), 0), 12);
    ck_assert_double_eq(fr__recipe_update_bytes(fr__recipe_named("fp16"), 8), 26 + 2 + 8);
    ck_assert_double_eq(fr__recipe_update_bytes(fr__recipe_named("frozen"), 8), 0);
}

int main(void)
{
    TCase *tc = tcase_create("recipe");

    add_tests(tc);
    return run_case(tc, "recipe");
}
