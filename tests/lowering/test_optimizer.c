/* tests/lowering/test_optimizer.c - what optimizers keep of tensors, the products of their steps,
 * and how whole tensors are shared out: by hand. */
#include "config.h"

#include "calibrate/calibrate.h"
#include "lowering/optimizer.h"
#include "lowering/params.h"
#include "lowering/products.h"
#include "lowering/share.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct fr__weights matrix(double rows, double columns)
{
    return (struct fr__weights){.matrices = {1, {rows, columns}, 2}};
}

static struct fr__weights vector(double n)
{
    return (struct fr__weights){.vectors = {1, {n}, 1}};
}

static struct fr__weights end(double rows, double columns)
{
    struct fr__weights w = matrix(rows, columns);

    w.is_end = true;
    return w;
}

TEST(rows_have_the_names_of_the_enum)
{
    static const char *const names[FR_N_OPTIMIZERS] = {
        [FR_SGD] = "sgd",
        [FR_MOMENTUM] = "momentum",
        [FR_ADAM] = "adam",
        [FR_LION] = "lion",
        [FR_ADAM_8BIT] = "adam-8bit",
        [FR_ADAFACTOR] = "adafactor",
        [FR_ADAFACTOR_MOMENTUM] = "adafactor-momentum",
        [FR_MUON] = "muon",
        [FR_SHAMPOO] = "shampoo",
        [FR_SOAP] = "soap",
    };

    ck_assert_uint_eq(fr__n_optimizer_rows, FR_N_OPTIMIZERS);
    for (unsigned o = 0; o < FR_N_OPTIMIZERS; o++) {
        ck_assert_str_eq(fr_optimizer_name((enum fr_optimizer)o), names[o]);
        ck_assert_int_eq(fr_optimizer_parse(names[o]), o);
    }
    ck_assert_int_eq(fr_optimizer_parse("lamb"), FR_N_OPTIMIZERS);
}

/* ---- states ---- */

/* fp32: a moment has 4 bytes. In 8 bits: n + 4 ceil(n / 256) bytes each, from 4096 numbers on. */
TEST(eight_bit_moments_have_a_factor_for_each_block)
{
    struct fr__weights w = vector(4095);

    ck_assert_double_eq(fr__states_bytes(FR_ADAM_8BIT, &w, 4), 2 * 4 * 4095);
    w = vector(4096);
    ck_assert_double_eq(fr__states_bytes(FR_ADAM_8BIT, &w, 4), 2 * (4096 + 4 * 16));
    w = vector(4097);
    ck_assert_double_eq(fr__states_bytes(FR_ADAM_8BIT, &w, 4), 2 * (4097 + 4 * 17));
    w = matrix(120, 400); /* 187.5 blocks */
    ck_assert_double_eq(fr__states_bytes(FR_ADAM_8BIT, &w, 4), 2 * (48000 + 4 * 188));
    w = matrix(1, 256);
    w.vectors = (struct fr__tensors){3, {100}, 1}; /* each tensor by itself, all are small */
    ck_assert_double_eq(fr__states_bytes(FR_ADAM_8BIT, &w, 4), 2 * 4 * 556);
}

TEST(lion_has_one_moment_and_adam_two)
{
    const struct fr__weights w = matrix(30, 70);

    ck_assert_double_eq(fr__states_bytes(FR_SGD, &w, 4), 0);
    ck_assert_double_eq(fr__states_bytes(FR_MOMENTUM, &w, 4), 4 * 2100);
    ck_assert_double_eq(fr__states_bytes(FR_LION, &w, 2), 2 * 2100);
    ck_assert_double_eq(fr__states_bytes(FR_ADAM, &w, 4), 8 * 2100);
}

/* Of [64][3][11][11]: a row has 11 numbers, so row_var has 64 3 11, and so has col_var. */
TEST(adafactor_has_rows_and_columns_of_the_last_two_dims)
{
    struct fr__weights w = matrix(30522, 768);

    ck_assert_double_eq(fr__states_bytes(FR_ADAFACTOR, &w, 4), 4 * (30522 + 768));
    ck_assert_double_eq(fr__states_bytes(FR_ADAFACTOR_MOMENTUM, &w, 4),
                        4 * (30522 + 768 + 30522.0 * 768));
    w = (struct fr__weights){.matrices = {1, {64, 3, 11, 11}, 4}, .vectors = {1, {64}, 1}};
    ck_assert_double_eq(fr__states_bytes(FR_ADAFACTOR, &w, 4), 4 * (2 * 64 * 3 * 11 + 64));
}

TEST(muon_has_adam_for_what_is_no_hidden_matrix)
{
    struct fr__weights w = matrix(4096, 11008);

    ck_assert_double_eq(fr__states_bytes(FR_MUON, &w, 4), 4 * 4096.0 * 11008);
    w = end(32000, 4096);
    ck_assert_double_eq(fr__states_bytes(FR_MUON, &w, 4), 8 * 32000.0 * 4096);
    ck_assert_double_eq(fr__step_flops(FR_MUON, &w), 0);
    w = vector(4096);
    ck_assert_double_eq(fr__states_bytes(FR_MUON, &w, 4), 8 * 4096);
    ck_assert_double_eq(fr__step_flops(FR_MUON, &w), 0);
}

/* 11008 columns are blocks of 8192 and 2816; both have all 4096 rows. 120 84 = 10080 is over 8192,
 * so they stay apart; 84 10 is one dim. */
TEST(shampoo_has_two_matrices_for_each_side_of_a_block)
{
    struct fr__weights w = matrix(4096, 11008);
    double sides = 2 * (2 * 4096.0 * 4096) + 2 * (8192.0 * 8192 + 2816.0 * 2816);

    ck_assert_double_eq(fr__states_bytes(FR_SHAMPOO, &w, 4), 4 * (2 * 4096.0 * 11008 + sides));
    w = matrix(84, 120);
    ck_assert_double_eq(fr__states_bytes(FR_SHAMPOO, &w, 4),
                        4 * (2 * 10080 + 2 * (84 * 84 + 120 * 120)));
    w = matrix(10, 84);
    ck_assert_double_eq(fr__states_bytes(FR_SHAMPOO, &w, 4), 4 * (2 * 840 + 2 * 840 * 840));
    w = vector(10000);
    ck_assert_double_eq(fr__states_bytes(FR_SHAMPOO, &w, 4),
                        4 * (2 * 10000 + 2 * (8192.0 * 8192 + 1808.0 * 1808)));
}

TEST(soap_leaves_out_sides_of_more_than_ten_thousand)
{
    struct fr__weights w = matrix(4096, 11008);

    ck_assert_double_eq(fr__states_bytes(FR_SOAP, &w, 4),
                        4 * (2 * 4096.0 * 11008 + 2 * 4096.0 * 4096));
    w = (struct fr__weights){.matrices = {1, {16, 6, 5, 5}, 4}};
    ck_assert_double_eq(fr__states_bytes(FR_SOAP, &w, 4),
                        4 * (2 * 2400 + 2 * (256 + 36 + 25 + 25)));
    w = vector(4096);
    ck_assert_double_eq(fr__states_bytes(FR_SOAP, &w, 4), 8 * 4096);
}

/* ---- products ---- */

/* m = 4096, n = 11008: five times 2 m m n, 2 m m m and 2 m m n. It does not matter which side is
 * longer, and a convolution's last three dims are one. */
TEST(muon_makes_three_products_five_times)
{
    const double m = 4096, n = 11008, by_hand = 5 * (2 * m * m * n + 2 * m * m * m + 2 * m * m * n);
    struct fr__weights w = matrix(m, n);

    ck_assert_double_eq(fr__step_flops(FR_MUON, &w), by_hand);
    ck_assert_double_eq(fr__step_flops(FR_MUON, &w), 4380866641920.0);
    w = matrix(n, m);
    ck_assert_double_eq(fr__step_flops(FR_MUON, &w), by_hand);
    w = (struct fr__weights){.matrices = {2, {16, 6, 5, 5}, 4}};
    ck_assert_double_eq(fr__step_flops(FR_MUON, &w),
                        2 * 5 * (4 * 16 * 16 * 150.0 + 2 * 16 * 16 * 16));
}

/* K. Jordan et al., Muon, 2024, "Runtime analysis": at most T m / B of a layer's 6 m n B FLOPs,
 * T = 5 iterations over B tokens, and as much where the matrix is square. Llama 405B: 0.5 %. */
TEST(muon_takes_no_more_than_its_authors_say)
{
    static const double sides[][2] = {{768, 768}, {768, 3072}, {16384, 16384}, {16384, 53248}};
    const double tokens = 16e6;

    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        double m = sides[i][0], n = sides[i][1];
        const struct fr__weights w = matrix(m, n);
        double share = fr__step_flops(FR_MUON, &w) / (6 * m * n * tokens), most = 5 * m / tokens;

        ck_assert_double_le(share, most * (1 + 1e-12));
        if (n <= m)
            ck_assert_double_ge(share, most * (1 - 1e-12));
    }
}

/* [100][200] is over 8192: two sides. Each step G G' and root G: 2 d d r each; every 100 steps
 * 11 d^3. */
TEST(shampoo_takes_roots_now_and_then)
{
    const struct fr__weights w = matrix(100, 200);
    double steps = 4 * 100.0 * 100 * 200 + 4 * 200.0 * 200 * 100;

    ck_assert_double_eq_tol(fr__step_flops(FR_SHAMPOO, &w), steps + 11 * (1e6 + 8e6) / 100, 1e-3);
}

/* Each step and side 2 d d r three times; every 10 steps twice more, 6 d^3 and 8/3 d^3. */
TEST(soap_rotates_now_and_then)
{
    const struct fr__weights w = matrix(100, 200);
    double once = 2 * 100.0 * 100 * 200 + 2 * 200.0 * 200 * 100;

    ck_assert_double_eq_tol(fr__step_flops(FR_SOAP, &w),
                            once * (3 + 0.2) + (6 + 8.0 / 3) * (1e6 + 8e6) / 10, 1e-3);
}

struct sum {
    const struct fr_cost_model *costs;
    double mean_s;
    unsigned n;
};

static void add_up(void *user, const struct fr__product *p)
{
    struct sum *sum = user;
    const struct fr_cost_product product = {p->rows, p->columns, p->depth, FR_BF16};
    struct fr_cost cost;

    fr_cost_product(sum->costs, 0, &product, &cost);
    sum->mean_s += p->times * cost.mean_s;
    sum->n++;
}

/* The step's time is that of its products, and a product's is a linear layer's. */
TEST(products_take_what_layers_of_their_sizes_take)
{
    static const struct fr_cost_options usual = {.datasheet_only = false};
    const struct fr__weights w = matrix(4096, 4096);
    const struct fr_workload_options in_bf16 = {.dtype = FR_BF16, .batch = 1, .seq_len = 4096};
    const struct fr_part part = {.batch = 1};
    struct fr_error err = {.text = ""};
    struct sum sum = {.n = 0};
    struct fr_cost_model *costs;
    struct fr_cost step = {.mean_s = 0}, layer = {.mean_s = 0}, half = {.mean_s = 0};
    struct fr_graph *g;
    struct fr_problem in = {.optimizer = FR_MUON};

    ck_assert_msg(
        fr_cost_model_new(&costs, fr_device_type_find("h100-sxm5-80gb"), 1, &usual, &err) == FR_OK,
        "%s", err.text);
    ck_assert_msg(fr_workload_load(&g, "llama2-7b", &in_bf16, &err) == FR_OK, "%s", err.text);
    in.graph = g;
    in.costs = costs;
    sum.costs = costs;
    fr__step_products(FR_MUON, &w, add_up, &sum);
    fr__price_products(&in, 0, &w, 1, &step);
    fr__price_products(&in, 0, &w, 0.5, &half);
    ck_assert_uint_eq(sum.n, 3);
    ck_assert_double_eq_tol(step.mean_s, sum.mean_s, 1e-12);
    ck_assert_double_eq_tol(half.mean_s, sum.mean_s / 2, 1e-12);
    ck_assert_double_eq(fmax(step.flops_s, step.bytes_s), step.mean_s);
    /* all 15 are of 4096 x 4096 over 4096, as layer0.attn.out of 4096 tokens is */
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, "layer0.attn.out") == 0)
            fr_cost_op(costs, 0, g, o, &part, &layer);
    ck_assert_double_gt(layer.mean_s, 0);
    ck_assert_double_eq_tol(step.mean_s, 15 * layer.mean_s, 1e-3 * step.mean_s);
    fr_graph_free(g);
    fr_cost_model_free(costs);
}

/* ---- which tensors a model has ---- */

static void find(const char *model, enum fr_dtype dtype, struct fr_graph **g,
                 struct fr__arena **arena, struct fr__params *p)
{
    const struct fr_workload_options options = {.dtype = dtype, .batch = 1};
    struct fr_error err = {.text = ""};

    *arena = fr__arena_new();
    ck_assert_msg(fr_workload_load(g, model, &options, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr__params_find(p, *g, *arena, &err), FR_OK);
}

/* Whatever an op is, no parameter is lost. */
TEST(tensors_have_all_parameters_of_a_model)
{
    static const char *const models[] = {"lenet",     "resnet50",     "bert-base", "gnmt-8",
                                         "llama2-7b", "mixtral-8x7b", "vit-base"};

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct fr_graph *g;
        struct fr__arena *arena;
        struct fr__params p;

        find(models[i], FR_FP32, &g, &arena, &p);
        for (size_t k = 0; k < p.n_owners; k++) {
            const struct fr__weights *w = &p.owners[k].weights;
            double n = w->matrices.n > 0 ? w->matrices.n * fr__tensor_elements_of(&w->matrices) : 0;

            n += w->vectors.n > 0 ? w->vectors.n * fr__tensor_elements_of(&w->vectors) : 0;
            ck_assert_msg(!(fabs(4 * n - (double)p.owners[k].bytes) > 0), "%s: %s has %g bytes",
                          models[i], g->ops[p.owners[k].op].name, 4 * n);
        }
        fr__arena_free(arena);
        fr_graph_free(g);
    }
}

TEST(embeddings_and_output_layers_are_ends)
{
    static const struct {
        const char *model, *ends;
    } rows[] = {{"lenet", " fc5"},
                {"llama2-7b", " embed head"},
                {"bert-base", " embed.words embed.segments embed.positions nsp.fc"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char found[256] = "";
        struct fr_graph *g;
        struct fr__arena *arena;
        struct fr__params p;

        find(rows[i].model, FR_FP32, &g, &arena, &p);
        for (size_t k = 0; k < p.n_owners; k++)
            if (p.owners[k].weights.is_end) {
                strncat(found, " ", sizeof(found) - strlen(found) - 1);
                strncat(found, g->ops[p.owners[k].op].name, sizeof(found) - strlen(found) - 1);
            }
        ck_assert_str_eq(found, rows[i].ends);
        fr__arena_free(arena);
        fr_graph_free(g);
    }
}

/* ---- shares of whole tensors ---- */

static struct fr__busiest shared(enum fr_optimizer o, const struct fr__weights w[], uint32_t n,
                                 uint32_t n_ranks)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr__owner owners[8];
    uint32_t ids[8];
    const struct fr__params p = {.owners = owners, .n_owners = n};
    struct fr__busiest b;
    struct fr_error err;

    for (uint32_t i = 0; i < n; i++) {
        owners[i] = (struct fr__owner){.op = i, .weights = w[i]};
        ids[i] = i;
    }
    ck_assert_int_eq(fr__share_out(&b, &p, ids, n, n_ranks, o, arena, &err), FR_OK);
    fr__arena_free(arena);
    return b;
}

TEST(the_busiest_rank_has_whole_matrices)
{
    const struct fr__weights three[] = {matrix(8, 8), matrix(8, 8), matrix(8, 8), end(99, 9)};
    /* 64, 48, 32 and 16: 64 + 16 and 48 + 32 */
    const struct fr__weights mixed[] = {matrix(8, 2), matrix(8, 8), matrix(8, 4), matrix(8, 6)};
    /* FLOPs of 8 x 8: 5 (4 512 + 2 512) = 15360; of 4 x 16: 5 (4 256 + 2 64) = 5760 */
    const struct fr__weights unlike[] = {matrix(8, 8), matrix(4, 16)};

    ck_assert_double_eq(shared(FR_MUON, three, 4, 1).held, 1);
    ck_assert_double_eq(shared(FR_MUON, three, 4, 2).held, 2 / 1.5);
    ck_assert_double_eq(shared(FR_MUON, three, 4, 3).held, 1);
    ck_assert_double_eq(shared(FR_MUON, three, 4, 12).held, 4);
    ck_assert_double_eq(shared(FR_MUON, three, 4, 12).worked, 4);
    ck_assert_double_eq(shared(FR_MUON, mixed, 4, 2).held, 1);
    ck_assert_double_eq(shared(FR_MUON, unlike, 2, 2).held, 1);
    ck_assert_double_eq(shared(FR_MUON, unlike, 2, 2).worked, 15360 / ((15360 + 5760) / 2.0));
    ck_assert_double_eq(shared(FR_MUON, three + 3, 1, 4).held, 1); /* there is none */
}

int main(void)
{
    TCase *tc = tcase_create("optimizer");

    add_tests(tc);
    return run_case(tc, "optimizer");
}
