/* tests/study/test_hybrid.c - answers of the strategy hybrid: one axis by itself is the plain
 * strategy; a folded plan says what the whole one says. */
#include "config.h"

#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asked {
    const char *workload, *topology;
    size_t n_gpus; /* 0: all */
    uint32_t batch;
    enum fr_dtype dtype;
};

/* The last line of the log that speaks of folding. */
static void keep_folding(void *user, const char *line)
{
    char *text = user;

    if (strstr(line, "folded:"))
        snprintf(text, 200, "%s", line);
}

static struct fr_record *answer_as(const struct asked *a, const char *strategy,
                                   enum fr_collectives collectives, char folding[200])
{
    const struct fr_context ctx = {.log = keep_folding, .log_user = folding};
    struct fr_record *r = NULL;
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = a->workload;
    q.topology = a->topology;
    q.strategy = strategy;
    q.n_gpus = a->n_gpus;
    q.global_batch = a->batch;
    q.dtype = a->dtype;
    q.optimizer = FR_ADAM;
    q.collectives = collectives;
    q.run.rings = collectives == FR_COLLECTIVES_AUTO ? 0 : 1; /* one, in rank order */
    folding[0] = '\0';
    ck_assert_msg(fr_answer(&q, &ctx, &r, &err) == FR_OK, "%s on %s, %s: %s", a->workload,
                  a->topology, strategy, err.text);
    return r;
}

static struct fr_record *answer(const struct asked *a, const char *strategy, char folding[200])
{
    return answer_as(a, strategy, FR_COLLECTIVES_AUTO, folding);
}

static void assert_near(double a, double b, double scale, const char *what, const char *first,
                        const char *second)
{
    ck_assert_msg(fabs(a - b) <= 1e-12 * scale, "%s: %.17g s of %s, %.17g s of %s", what, a, first,
                  b, second);
}

/* in_turn: the ranks of a ring over links of several kinds end one after the other; one that stands
 * for all ends with the last, so the mean over ranks is not its time. */
static void assert_same(const struct fr_record *a, const struct fr_record *b, bool in_turn,
                        const char *first, const char *second)
{
    double t_s = a->iteration_s;

    assert_near(a->iteration_s, b->iteration_s, t_s, "iteration", first, second);
    assert_near(a->compute_s, b->compute_s, t_s, "compute", first, second);
    ck_assert_msg(a->peak_bytes == b->peak_bytes, "%s holds %llu bytes, %s %llu", first,
                  (unsigned long long)a->peak_bytes, second, (unsigned long long)b->peak_bytes);
    if (in_turn)
        return;
    assert_near(a->comm_s, b->comm_s, t_s, "communication", first, second);
    assert_near(a->exposed_comm_s, b->exposed_comm_s, t_s, "exposed", first, second);
    assert_near(a->bubble_s, b->bubble_s, t_s, "bubble", first, second);
}

/* ---- one axis ---- */

static const struct {
    struct asked asked;
    const char *plain, *hybrid;
    bool in_turn;
} alone[] = {
    {{"alexnet", "dgx1-v100", 1, 64, FR_FP32}, "single", "hybrid", false},
    {{"gpt2-small", "hgx-h100", 1, 4, FR_BF16}, "single", "hybrid", false},
    {{"resnet50", "p2.16xlarge", 1, 32, FR_FP32},
     "single:accumulate=4",
     "hybrid:accumulate=4",
     false},
    {{"vgg16", "dgx1-v100", 8, 64, FR_FP32}, "dp", "hybrid", false},
    {{"vgg16", "dgx1-v100", 5, 60, FR_FP32}, "dp:bucket=100MiB", "hybrid:bucket=100MiB", true},
    {{"resnet50", "2x dgx1-v100 via ib:100Gbps", 0, 128, FR_FP32}, "dp", "hybrid", true},
    {{"resnet50", "p2.16xlarge", 4, 64, FR_FP32}, "dp:overlap=0", "hybrid:overlap=0", false},
    {{"inception-v3", "gh200-quad", 4, 64, FR_FP16}, "dp", "hybrid:dp=4", false},
    {{"bert-base", "dgx-a100-80g", 4, 32, FR_AMP}, "dp:accumulate=4", "hybrid:accumulate=4", false},
    {{"gpt2-small", "hgx-h100", 8, 16, FR_BF16}, "dp:accumulate=2", "hybrid:micro=1", false},
    {{"vgg16", "dgx1-v100", 4, 64, FR_FP32}, "pp:micro=8", "hybrid:pp=4,micro=8", false},
    {{"resnet50", "dgx-a100-80g", 8, 128, FR_FP32}, "pp", "hybrid:pp=8", false},
    {{"gnmt-8", "dgx1-p100", 4, 96, FR_FP32},
     "pp:micro=8,schedule=gpipe",
     "hybrid:pp=4,micro=8,schedule=gpipe",
     false},
    {{"gpt2-small", "2x hgx-h100 via ib:400Gbps", 0, 32, FR_BF16},
     "pp:micro=1",
     "hybrid:pp=16,micro=1",
     false},
    {{"bert-base", "dgx-a100-80g", 4, 30, FR_FP16}, "pp:micro=4", "hybrid:pp=4,micro=4", false},
    {{"gpt2-small", "hgx-h100", 4, 16, FR_BF16},
     "pp:micro=1,schedule=interleaved-1f1b,virtual=2",
     "hybrid:pp=4,micro=1,virtual=2",
     false},
};

LOOP_TEST(one_axis_alone_is_the_plain_strategy, 0, sizeof(alone) / sizeof(alone[0]))
{
    char folding[200];
    struct fr_record *a = answer(&alone[_i].asked, alone[_i].plain, folding);
    struct fr_record *b = answer(&alone[_i].asked, alone[_i].hybrid, folding);

    assert_same(a, b, alone[_i].in_turn, alone[_i].plain, alone[_i].hybrid);
    fr_record_free(a);
    fr_record_free(b);
}

/* ---- folding ---- */

#define ONE_NIC "2x p3.16xlarge"              /* for eight GPUs */
#define EIGHT_A_NIC "test_hybrid.topo"        /* likewise, all alike */
#define OWN_NICS "2x hgx-h100 via ib:400Gbps" /* a NIC a GPU */
#define UNEVEN "not folded: messages between stages share links unevenly"
#define SPREAD "not folded: a stage has more ranks on one machine than on another"
#define ONE_GROUP "not folded: the messages of the one group go over the links"
#define OTHER_LINKS "not folded: groups of ranks have links of several kinds"
#define GPT "gpt:hidden=256,heads=8,seq=128,vocab=1000,layers=8"
#define GQA "llama:hidden=256,heads=8,kv_heads=2,ffn=512,seq=128,vocab=1000,layers=8"
#define MOE "mixtral:hidden=256,heads=8,kv_heads=8,ffn=512,experts=8,seq=128,vocab=1000,layers=4"

static const struct {
    struct asked asked;
    const char *options;
    const char *folding;
    bool in_turn;
} folds[] = {
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "tp=8", "folded: 8 ranks as 1", false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "tp=4,sp=1", "folded: 8 ranks as 1", false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "tp=2,cp=2,sp=1", "folded: 8 ranks as 1", false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "cp=4,zero=1", "folded: 8 ranks as 1", false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "zero=2,recompute=full", ONE_GROUP, false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "tp=2,pp=2,micro=1", "folded: 8 ranks as 2", false},
    {{GPT, OWN_NICS, 0, 32, FR_BF16},
     "tp=4,pp=4,micro=1,scatter-gather=1",
     "folded: 16 ranks as 4",
     false},
    {{GPT, OWN_NICS, 0, 32, FR_BF16},
     "tp=2,pp=4,micro=1,virtual=2,scatter-gather=1",
     "folded: 16 ranks as 4",
     false},
    {{GQA, "hgx-h100", 8, 16, FR_BF16}, "tp=8,sp=1,micro=8", "folded: 8 ranks as 1", false},
    {{GQA, OWN_NICS, 0, 32, FR_BF16}, "tp=8,pp=2,micro=4,map=dp-tp-pp", NULL, false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "tp=2,sp=1,zero=2,micro=1", "folded: 8 ranks as 1", false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "pp=2,zero=2,micro=1", "folded: 8 ranks as 2", false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16},
     "tp=2,pp=4,micro=1,virtual=2",
     "folded: 8 ranks as 4",
     false},
    {{GPT, ONE_NIC, 0, 32, FR_BF16}, "tp=8,pp=2,micro=1", UNEVEN, false},
    {{GPT, ONE_NIC, 0, 32, FR_BF16}, "tp=8,sp=1,zero=1", OTHER_LINKS, false},
    {{GPT, ONE_NIC, 0, 32, FR_BF16}, "tp=4,pp=2,micro=2,zero=1", UNEVEN, false},
    {{GPT, OWN_NICS, 0, 32, FR_BF16},
     "tp=4,pp=2,micro=2,zero=1,recompute=selective",
     "folded: 16 ranks as 2",
     false},
    {{GPT, OWN_NICS, 0, 32, FR_BF16}, "tp=2,pp=4,micro=1,map=megatron-dp", NULL, false},
    {{GPT, OWN_NICS, 0, 32, FR_BF16},
     "tp=2,pp=4,micro=1,sp=1,zero=1,overlap-gather=1,bucket=1MiB",
     "folded: 16 ranks as 4",
     false},
    {{MOE, OWN_NICS, 0, 32, FR_BF16},
     "tp=2,sp=1,ep=4,pp=2,micro=1,virtual=2,bucket=1MiB",
     NULL,
     false},
    {{GPT, OWN_NICS, 0, 32, FR_BF16}, "tp=8,map=tp-pp-dp,pp=2,sp=1,micro=2", NULL, false},
    {{GPT, OWN_NICS, 0, 32, FR_BF16},
     "tp=4,sp=1,map=dp-tp,overlap=0",
     "folded: 16 ranks as 1",
     false},
    {{GPT, "1x dgx1-v100 + 1x dgx-a100-80g via ib:100Gbps", 0, 32, FR_FP16},
     "tp=8",
     "not folded: the devices are of several types",
     false},
    {{GPT, "4x dgx1-v100 via ib:100Gbps", 0, 32, FR_FP16},
     "pp=4,tp=8,micro=1,recompute=1",
     NULL,
     false},
    {{"resnet50", ONE_NIC, 0, 64, FR_FP32}, "", ONE_GROUP, true},
    {{MOE, "hgx-h100", 8, 16, FR_BF16}, "ep=8", ONE_GROUP, false},
    {{MOE, "hgx-h100", 8, 16, FR_BF16}, "tp=2,ep=4,etp=2,sp=1", "folded: 8 ranks as 1", false},
    {{MOE, ONE_NIC, 0, 32, FR_BF16}, "tp=2,ep=4,etp=1,sp=1,pp=2,micro=2,zero=1", UNEVEN, false},
    {{MOE, OWN_NICS, 0, 32, FR_BF16}, "ep=8,zero=1", ONE_GROUP, false},
    {{MOE, "hgx-h100", 8, 16, FR_BF16},
     "cp=4,cp-comm=ring,recompute=full",
     "folded: 8 ranks as 1",
     false},
    {{MOE, "hgx-h100", 8, 16, FR_BF16},
     "cp=2,cp-comm=ulysses,ep=4,dispatch=skew:2",
     "folded: 8 ranks as 1",
     false},
    {{GPT, "hgx-h100", 8, 16, FR_BF16}, "tp=4,sp=1,tp-overlap=1", "folded: 8 ranks as 1", false},
    {{GPT, EIGHT_A_NIC, 0, 32, FR_BF16}, "tp=8,pp=2,micro=1", "folded: 16 ranks as 2", false},
    {{GPT, OWN_NICS, 0, 32, FR_BF16}, "tp=8,pp=2,micro=1,zero=1", "folded: 16 ranks as 2", false},
    /* a stage has three ranks on machines of two */
    {{GPT, "3x box:2xl4 via ib:100Gbps", 0, 6, FR_FP32}, "pp=2", SPREAD, false},
    {{GPT, "3x box:2xl4 via ib:100Gbps", 0, 6, FR_FP32}, "pp=2,zero=1", SPREAD, false},
    {{GPT, "3x box:2xl4 via ib:100Gbps", 0, 6, FR_FP32},
     "pp=2,map=pp-dp",
     "folded: 6 ranks as 2",
     false},
    /* the card of a rank that a folded plan leaves out */
    {{GPT, OWN_NICS " less n0.nic3=0.02", 0, 32, FR_BF16}, "tp=2,pp=2,micro=1", UNEVEN, false},
    {{GPT, OWN_NICS " less n1.nic6=0.02", 0, 32, FR_BF16}, "pp=2,micro=1", UNEVEN, false},
    {{GPT, EIGHT_A_NIC, 0, 32, FR_BF16},
     "tp=4,pp=2,micro=2,zero=1",
     "folded: 16 ranks as 2",
     false},
};

/* Two machines of eight GPUs on one switch with one NIC: all routes are equal. */
static void write_eight_a_nic(void)
{
    FILE *f = fopen(EIGHT_A_NIC, "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f, "name: eight GPUs a NIC\nsource: test\nmachines:\n  - count: 2\n    vertices:\n");
    for (int i = 0; i < 8; i++)
        fprintf(f, "      - {name: gpu%d, kind: gpu, type: h100-sxm5-80gb}\n", i);
    fprintf(f, "      - {name: cpu0, kind: cpu, type: 2x-epyc-7742}\n"
               "      - {name: root, kind: pcie}\n      - {name: nic0, kind: nic}\n    links:\n");
    for (int i = 0; i < 8; i++)
        fprintf(f,
                "      - {from: gpu%d, to: root, kind: pcie, bandwidth: 24GB/s, latency: 0.5us}\n",
                i);
    fprintf(f, "      - {from: nic0, to: root, kind: pcie, bandwidth: 24GB/s, latency: 0.5us}\n"
               "      - {from: cpu0, to: root, kind: cpu, bandwidth: 200GB/s, latency: 0.1us}\n"
               "switches:\n  - {name: tor}\nlinks:\n"
               "  - {from: n0.nic0, to: tor, kind: net, bandwidth: 8GB/s, latency: 1us}\n"
               "  - {from: n1.nic0, to: tor, kind: net, bandwidth: 8GB/s, latency: 1us}\n");
    fclose(f);
}

/* The links of a folded plan with their counts are those of the whole one: as many, as busy,
 * where all collectives are rings. */
static void assert_same_links(const struct fr_record *folded, const struct fr_record *whole)
{
    const struct fr_topo *t = fr_plan_view(whole->plan)->topo;
    double sum = 0, whole_sum = 0;
    size_t n = 0, n_whole = 0;

    for (size_t i = 0; i < folded->n_links; i++) {
        const struct fr_record_link *l = &folded->links[i];
        char buf[FR_LINK_NAME];
        uint32_t at = 0;

        while (strcmp(fr_topo_link_name(t, at, buf), l->name) != 0)
            at++;
        ck_assert_double_eq_tol(l->bytes, whole->run->link_bytes[at], 1e-5 * l->bytes);
        sum += l->count * l->bytes;
        n += l->count;
    }
    for (uint32_t i = 0; i < t->n_links; i++) {
        whole_sum += whole->run->link_bytes[i];
        n_whole += whole->run->link_bytes[i] > 0;
    }
    ck_assert_uint_eq(folded->n_links, folded->links_total);
    ck_assert_uint_eq(n, n_whole);
    ck_assert_double_eq_tol(sum, whole_sum, 1e-5 * sum);
}

LOOP_TEST(a_folded_plan_says_what_the_whole_one_says, 0, sizeof(folds) / sizeof(folds[0]))
{
    char text[200], whole[200], folding[200];
    struct fr_record *a, *b;

    write_eight_a_nic();
    snprintf(text, sizeof(text), "hybrid:%s", folds[_i].options);
    snprintf(whole, sizeof(whole), "hybrid:%s%sfold=0", folds[_i].options,
             *folds[_i].options ? "," : "");
    a = answer(&folds[_i].asked, *folds[_i].options ? text : "hybrid", folding);
    if (folds[_i].folding)
        ck_assert_str_eq(folding, folds[_i].folding);
    b = answer(&folds[_i].asked, whole, folding);
    ck_assert_str_eq(folding, "not folded: fold=0");
    remove(EIGHT_A_NIC);
    assert_same(a, b, folds[_i].in_turn, text, whole);
    fr_record_free(a);
    fr_record_free(b);
}

LOOP_TEST(links_of_a_folded_plan_are_those_of_the_whole_one, 0, sizeof(folds) / sizeof(folds[0]))
{
    char text[200], whole[200], folding[200];
    struct fr_record *a, *b;

    write_eight_a_nic();
    snprintf(text, sizeof(text), "hybrid:%s", folds[_i].options);
    snprintf(whole, sizeof(whole), "hybrid:%s%sfold=0", folds[_i].options,
             *folds[_i].options ? "," : "");
    a = answer_as(&folds[_i].asked, *folds[_i].options ? text : "hybrid", FR_COLLECTIVES_CLOSED,
                  folding);
    if (fr_plan_view(a->plan)->device_counts) {
        b = answer_as(&folds[_i].asked, whole, FR_COLLECTIVES_CLOSED, folding);
        assert_same_links(a, b);
        fr_record_free(b);
    }
    remove(EIGHT_A_NIC);
    fr_record_free(a);
}

int main(void)
{
    TCase *c = tcase_create("hybrid");

    add_tests(c);
    return run_case(c, "study/hybrid");
}
