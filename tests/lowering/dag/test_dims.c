/* Along which dimensions ops of real models may be split, how many channels they have to share,
 * and what such parts read and cost. */
#include "config.h"

#include "lowering/dag/dims.h"
#include "strategies/fastt/os_dpos_split.h"
#include "tests/support/base_check.h"
#include "tests/support/model_case.h"

#include <check.h>
#include <math.h>

enum { NEITHER = 0, BATCH = 1u << FR__DAG_BATCH, BOTH = BATCH | 1u << FR__DAG_CHANNEL };

#define GPT "gpt:layers=1,hidden=64,heads=2,seq=8,vocab=100"

/* By what each formula needs. LeNet's conv1 has 6 filters over 1 channel; the GPT has 2 heads,
 * 64 columns, 8 positions that all samples share. */
static const struct {
    const char *model, *op;
    uint8_t dims;
    double n_channels;
} rows[] = {
    {"lenet", "conv1", BOTH, 6},
    {"lenet", "conv1.bias", BOTH, 6},
    {"lenet", "conv1.wgrad", BOTH, 6},
    {"lenet", "conv2", BOTH, 16},
    {"lenet", "conv2.dgrad", BOTH, 6}, /* writes the channels that conv2 reads */
    {"vgg16", "conv1_1.relu", BOTH, 64},
    {"vgg16", "conv1_1.bias.wgrad", BOTH, 64},
    {"vgg16", "pool1", BOTH, 64},
    {"vgg16", "pool1.dgrad", BOTH, 64},
    {"vgg16", "fc6", BOTH, 4096},
    {"vgg16", "fc6.dgrad", BOTH, 512}, /* of an image of 7 x 7 */
    {"vgg16", "fc6.dropout", BOTH, 4096},
    {"vgg16", "conv1_1.update", NEITHER, 0},
    {"resnet50", "conv1", BOTH, 64},
    {"resnet50", "conv1.bn", NEITHER, 0}, /* statistics over the batch */
    {"resnet50", "conv1.bn.dgrad", NEITHER, 0},
    {GPT, "embed.tokens", BOTH, 64},
    {GPT, "embed.positions", NEITHER, 0}, /* one table of rows, whatever the batch */
    {GPT, "embed.add", BOTH, 64},
    {GPT, "layer0.attn.ln", BATCH, 0}, /* means run over the columns */
    {GPT, "layer0.attn.ln.dgrad", BATCH, 0},
    {GPT, "layer0.attn.qkv", BOTH, 192},
    {GPT, "layer0.attn.qkv.dgrad", BOTH, 64},
    {GPT, "layer0.attn.split", NEITHER, 0},
    {GPT, "layer0.attn.scores", BOTH, 2},
    {GPT, "layer0.attn.scores.dgrad1", BOTH, 2},
    {GPT, "layer0.attn.softmax", BOTH, 2},
    {GPT, "layer0.attn.merge", BATCH, 0},
    {GPT, "layer0.attn.add.grad_add", BOTH, 64},
    {GPT, "layer0.mlp.gelu", BOTH, 256},
    {GPT, "loss.log_softmax", BATCH, 0},
    {GPT, "loss", NEITHER, 0},
    {GPT ",attention=flash", "layer0.attn.flash", BOTH, 2},
};

START_TEST(an_op_may_be_split_where_its_formula_lets_it)
{
    struct dag_case s;
    uint32_t o;

    dag_case_open(&s, rows[_i].model, 2, 1, 4);
    o = dag_case_op(&s, rows[_i].op);
    ck_assert_msg(s.dag->ops[o].split_mask == rows[_i].dims, "%s of %s: %u", rows[_i].op,
                  rows[_i].model, s.dag->ops[o].split_mask);
    if (rows[_i].dims == BOTH)
        ck_assert_double_eq(fr__dag_n_channels(s.model.graph, s.dag->ops[o].op),
                            rows[_i].n_channels);
    dag_case_close(&s);
}
END_TEST

static const struct fr__split_costs costs = {fr__dag_part_cost, fr__dag_bytes_cost};

/* Bytes that the first part of an op in two reads through slices, and whole. */
static void read_by_a_part(const struct dag_case *s, const char *op, enum fr__dag_dim dim,
                           uint64_t *sliced, uint64_t *whole)
{
    struct fr__arena *a = fr__arena_new();
    uint32_t o = dag_case_op(s, op);
    struct fr__dag split;

    *sliced = *whole = 0;
    ck_assert_int_eq(fr__dag_split(&split, s->dag, o, dim, 2, &costs, a, NULL), FR_OK);
    for (size_t i = 0; i < split.n_edges; i++) {
        const struct fr__dag_edge *e = &split.edges[i];

        if (split.ops[e->dst].op == s->dag->ops[o].op && split.ops[e->dst].n_parts == 2 &&
            split.ops[e->dst].part == 0)
            *(split.ops[e->src].role == FR__DAG_SPLIT ? sliced : whole) += e->bytes;
    }
    fr__arena_free(a);
}

/* Four samples of [8, 64] fp32 and a table of [8, 64] that they share. */
TEST(what_all_samples_share_goes_whole_to_parts_of_the_batch)
{
    struct dag_case s;
    uint64_t sliced, whole;

    dag_case_open(&s, GPT, 2, 1, 4);
    read_by_a_part(&s, "embed.add", FR__DAG_BATCH, &sliced, &whole);
    ck_assert_uint_eq(sliced, 2 * 8 * 64 * 4);
    ck_assert_uint_eq(whole, 8 * 64 * 4);
    read_by_a_part(&s, "embed.add", FR__DAG_CHANNEL, &sliced, &whole);
    ck_assert_uint_eq(sliced, (4 + 1) * 8 * 32 * 4);
    ck_assert_uint_eq(whole, 0);
    dag_case_close(&s);
}

/* One of the two heads: its half of q and k, [4, 1, 8, 32] each; a product with weights needs
 * all of its input, 4 x 8 x 64, and half of the weights, 64 x 192. */
TEST(heads_are_sliced_where_products_with_weights_need_all_of_the_input)
{
    struct dag_case s;
    uint64_t sliced, whole;

    dag_case_open(&s, GPT, 2, 1, 4);
    read_by_a_part(&s, "layer0.attn.scores", FR__DAG_CHANNEL, &sliced, &whole);
    ck_assert_uint_eq(sliced, 2 * 4 * 8 * 32 * 4);
    ck_assert_uint_eq(whole, 0);
    read_by_a_part(&s, "layer0.attn.qkv", FR__DAG_CHANNEL, &sliced, &whole);
    ck_assert_uint_eq(sliced, 64 * 192 * 4 / 2);
    ck_assert_uint_eq(whole, 4 * 8 * 64 * 4);
    dag_case_close(&s);
}

/* A ReLU of 64 x 64 x 224 x 224 is bound by memory, so that half of it takes half, either way,
 * within the few us of a launch; 2 heads cannot be shared by 3, nor 4 samples by 5. */
TEST(a_part_is_a_share_of_the_bytes_and_not_of_a_head_or_sample)
{
    double whole_s[8], half_s[8];
    struct dag_case s;
    uint32_t o, type;

    dag_case_open(&s, "vgg16", 2, 1, 64);
    o = dag_case_op(&s, "conv1_1.relu");
    type = s.type[0];
    fr__dag_part_cost(s.dag, o, FR__DAG_BATCH, 1, whole_s);
    for (int dim = FR__DAG_BATCH; dim <= FR__DAG_CHANNEL; dim++) {
        fr__dag_part_cost(s.dag, o, (enum fr__dag_dim)dim, 2, half_s);
        ck_assert_double_eq_tol(half_s[type] / whole_s[type], 0.5, 0.02);
    }
    dag_case_close(&s);
    dag_case_open(&s, GPT, 2, 1, 4);
    o = dag_case_op(&s, "layer0.attn.softmax");
    fr__dag_part_cost(s.dag, o, FR__DAG_CHANNEL, 2, half_s);
    ck_assert(isfinite(half_s[type]));
    fr__dag_part_cost(s.dag, o, FR__DAG_CHANNEL, 3, half_s);
    ck_assert(isinf(half_s[type]));
    fr__dag_part_cost(s.dag, o, FR__DAG_BATCH, 5, half_s);
    ck_assert(isinf(half_s[type]));
    dag_case_close(&s);
}

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_add_loop_test(t, an_op_may_be_split_where_its_formula_lets_it, 0,
                        (int)(sizeof(rows) / sizeof(rows[0])));
    add_tests(t);
    return run_case(t, "strategies/dims");
}
