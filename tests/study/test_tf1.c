/* tests/study/test_tf1.c - memory as TensorFlow 1 takes it, against Google's largest batches of
 * BERT
 * on one Titan X of 12 GB (google-research/bert, README, "Out-of-memory issues"). */
#include "config.h"

#include "study/recipes/recipe.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASE, LARGE, N_MODELS };
static const char *const models[N_MODELS] = {"bert-base:head=pooler", "bert-large:head=pooler"};

static void fill(struct fr_question *q, int model, uint32_t seq_len, uint32_t batch)
{
    static char path[1024];
    const char *top = getenv("srcdir");

    snprintf(path, sizeof(path), "%s/examples/machines/titan-x.yaml", top ? top : ".");
    fr_question_init(q);
    q->workload = models[model];
    q->topology = path;
    q->strategy = "single";
    q->optimizer = FR_ADAM;
    q->seq_len = seq_len;
    q->global_batch = batch;
    q->run.memory = FR_MEMORY_TF1;
}

static struct fr_record *ask(const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_answer(q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static bool fits(int model, uint32_t seq_len, uint32_t batch)
{
    struct fr_question q;
    struct fr_record *r;
    bool is_in;

    fill(&q, model, seq_len, batch);
    r = ask(&q);
    is_in = !r->oom;
    fr_record_free(r);
    return is_in;
}

/* Within one sample or a tenth of the published one. */
TEST(largest_batches_of_bert_are_the_published_ones)
{
    static const struct {
        int model;
        uint32_t seq_len, published;
    } cells[] = {{BASE, 320, 14}, {BASE, 384, 12}, {BASE, 512, 6},
                 {LARGE, 64, 12}, {LARGE, 128, 6}, {LARGE, 256, 2},
                 {LARGE, 320, 1}, {LARGE, 384, 0}, {LARGE, 512, 0}};

    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        uint32_t p = cells[i].published, off = p > 10 ? p / 10 : 1;

        if (p > off)
            ck_assert_msg(fits(cells[i].model, cells[i].seq_len, p - off), "%u of %u", p - off,
                          cells[i].seq_len);
        ck_assert_msg(!fits(cells[i].model, cells[i].seq_len, p + off + 1), "%u of %u", p + off + 1,
                      cells[i].seq_len);
    }
}

/* Of short sequences they list 64, 32 and 16. Those fit, and twice as many do not. */
TEST(of_short_sequences_the_published_batches_fit_and_their_doubles_do_not)
{
    static const uint32_t seq_lens[] = {64, 128, 256};

    for (size_t i = 0; i < 3; i++) {
        ck_assert(fits(BASE, seq_lens[i], 4096 / seq_lens[i]));
        ck_assert(!fits(BASE, seq_lens[i], 8192 / seq_lens[i]));
    }
}

/* The same bytes as the formula at the head of nn_tf1.h: from one batch to the next a layer keeps
 * 4 (28 n d + 4 n + 3 h n L) bytes more. Two depths differ by twelve layers. */
TEST(a_layer_keeps_what_the_formula_says)
{
    static const char *const depths[2] = {"bert:layers=24,hidden=256,heads=4,seq=64,head=pooler",
                                          "bert:layers=12,hidden=256,heads=4,seq=64,head=pooler"};
    double held[2][2], n = 8 * 64, d = 256, heads = 4, len = 64;

    for (int depth = 0; depth < 2; depth++)
        for (uint32_t k = 0; k < 2; k++) {
            struct fr_question q;
            struct fr_record *r;

            fill(&q, BASE, 0, 64 + 8 * k);
            q.workload = depths[depth];
            q.optimizer = FR_SGD;
            q.recipe = "tf1";
            q.run.memory = FR_MEMORY_LIVENESS;
            r = ask(&q);
            held[depth][k] = (double)r->peak_bytes;
            fr_record_free(r);
        }
    ck_assert_double_eq(held[0][1] - held[0][0] - (held[1][1] - held[1][0]),
                        12 * 4 * (28 * n * d + 4 * n + 3 * heads * n * len));
}

TEST(the_recipe_and_the_memory_model_are_the_same_question)
{
    struct fr_question q;
    struct fr_record *by_memory, *by_recipe;

    fill(&q, BASE, 128, 8);
    by_memory = ask(&q);
    q.run.memory = FR_MEMORY_DEVICE;
    q.recipe = "tf1";
    by_recipe = ask(&q);
    ck_assert_uint_eq(by_memory->peak_bytes, by_recipe->peak_bytes);
    ck_assert_double_eq(by_memory->iteration_s, by_recipe->iteration_s);
    ck_assert_int_eq(by_recipe->memory_model, FR_MEMORY_TF1);
    fr_record_free(by_memory);
    fr_record_free(by_recipe);
}

/* 3 times 4 bytes of each of BERT's parameters, and the pool's rest. */
TEST(adam_s_products_are_held_the_whole_step)
{
    struct fr_question q;
    struct fr_record *tf1, *plain;
    uint64_t more;

    fill(&q, BASE, 128, 1);
    tf1 = ask(&q);
    q.run.memory = FR_MEMORY_DEVICE;
    plain = ask(&q);
    more = tf1->devices[0].memory_bytes[FR_BUFFER_OPTIMIZER] -
           plain->devices[0].memory_bytes[FR_BUFFER_OPTIMIZER];
    ck_assert_uint_eq(2 * more, 3 * plain->devices[0].memory_bytes[FR_BUFFER_OPTIMIZER]);
    fr_record_free(tf1);
    fr_record_free(plain);
}

int main(void)
{
    TCase *c = tcase_create("tf1");

    add_tests(c);
    return run_case(c, "study/tf1");
}
