/* tests/study/test_sharing.c - messages and collectives that overlap share their links, also where
 * one rank stands for many: random small questions whose collectives overlap. */
#include "config.h"

#include "base/rng.h"
#include "study/session/session.h"
#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

enum { N_CASES = 200 };

/* Where ranks are alike and a ring goes over equal hops, folded and whole plans are the same to
 * rounding. A plain group of ranks goes message by message where it is not folded. In a ring over
 * hops of several kinds ranks then end one after another, while one that stands for all ends with
 * the last, and messages on a fast hop leave their links before the slow ones do. */
static const double ALIKE = 1e-9, MESSAGE_BY_MESSAGE = 0.02;

static struct fr_question question(enum fr_dtype dtype, const char *workload, const char *topology,
                                   uint32_t batch, const char *strategy)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = strategy;
    q.global_batch = batch;
    q.dtype = dtype;
    q.optimizer = FR_ADAM;
    return q;
}

/* session: NULL, or what keeps the machines between questions. */
static struct fr_record *answer(struct fr_session *session, const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err;
    enum fr_status st = session ? fr_session_ask(session, q, NULL, &r, &err)
                                : fr_answer(q, NULL, &r, &err); /* its self-checks are errors */

    ck_assert_msg(st == FR_OK || st == FR_EUSAGE, "%s on %s, %s: %s", q->workload, q->topology,
                  q->strategy, err.text);
    return r;
}

/* algorithm: of collectives; NULL: rings, or as the machine was measured. */
static struct fr_record *ask_by(const char *algorithm, enum fr_dtype dtype, const char *workload,
                                const char *topology, uint32_t batch, const char *strategy)
{
    struct fr_question q = question(dtype, workload, topology, batch, strategy);

    q.way.algorithm = algorithm;
    return answer(NULL, &q);
}

static struct fr_record *ask_in(enum fr_dtype dtype, const char *workload, const char *topology,
                                uint32_t batch, const char *strategy)
{
    return ask_by(NULL, dtype, workload, topology, batch, strategy);
}

static struct fr_record *ask(const char *workload, const char *topology, uint32_t batch,
                             const char *strategy)
{
    return ask_in(FR_BF16, workload, topology, batch, strategy);
}

/* The most bytes of a link over what it could carry in the makespan. */
static double busiest(const struct fr_record *r)
{
    const struct fr_topo *t = fr_plan_view(r->plan)->topo;
    double most = 0;

    for (size_t l = 0; l < r->run->n_links; l++)
        most = fmax(most, r->run->link_bytes[l] / (t->links[l].bw_Bps * r->run->makespan_s));
    return most;
}

/* ---- named questions ---- */

#define GPT2 "gpt2-medium"
#define FOUR "4x box:1xa40 via eth:25Gbps"
static const double NIC_BPS = 25e9 / 8;

/* Bytes over bandwidth of a NIC, one direction: both bounds were passed by formulas that took no
 * link from each other (449.6 and 605.6 ms). */
LOOP_TEST(an_answer_takes_what_its_bytes_need, 0, 2)
{
    static const struct {
        const char *strategy;
        double bytes;
    } ROWS[] = {{"hybrid:dp=4,zero=3,shard-group=2", 2076425216},
                {"hybrid:cp=2,dp=2,zero=3", 2654148096}};
    struct fr_record *r = ask(GPT2, FOUR, 8, ROWS[_i].strategy);

    ck_assert_double_eq_tol(r->links[0].bytes, ROWS[_i].bytes, 1e-9 * ROWS[_i].bytes);
    ck_assert_double_ge(r->iteration_s, ROWS[_i].bytes / NIC_BPS);
    ck_assert_double_ge(r->lower_bound_s, ROWS[_i].bytes / NIC_BPS * (1 - 1e-9));
    fr_record_free(r);
}

TEST(one_group_folded_is_the_whole_one)
{
    struct fr_record *a = ask(GPT2, FOUR, 8, "hybrid:dp=4,zero=3,fold=1");
    struct fr_record *b = ask(GPT2, FOUR, 8, "hybrid:dp=4,zero=3,fold=0");

    ck_assert_double_eq_tol(a->iteration_s, b->iteration_s, 1e-12 * b->iteration_s);
    fr_record_free(a);
    fr_record_free(b);
}

/* Four messages between stages share two NICs or none. Where the cut counted that for folded ranks
 * alone, the same question had two cuts: 56.6 and 57.2 ms, 86.33 and 86.30 ms. */
LOOP_TEST(stages_are_cut_alike_whether_ranks_are_folded_or_not, 0, 2)
{
    static const struct {
        const char *workload, *strategy;
    } ROWS[] = {
        {"gpt:layers=8,hidden=512,heads=8,seq=256,vocab=8192", "schedule=eager-1f1b,micro=2"},
        {"transformer-base", "schedule=looped-bfs"},
    };
    char folded[100], whole[100];
    struct fr_record *a, *b;

    snprintf(folded, sizeof(folded), "hybrid:pp=4,dp=4,%s,fold=1", ROWS[_i].strategy);
    snprintf(whole, sizeof(whole), "hybrid:pp=4,dp=4,%s,fold=0", ROWS[_i].strategy);
    a = ask_in(FR_FP32, ROWS[_i].workload, "2x dgx1-p100 via ib:100Gbps", 64, folded);
    b = ask_in(FR_FP32, ROWS[_i].workload, "2x dgx1-p100 via ib:100Gbps", 64, whole);
    ck_assert_double_eq_tol(a->iteration_s, b->iteration_s, ALIKE * b->iteration_s);
    ck_assert_uint_eq(a->peak_bytes, b->peak_bytes);
    fr_record_free(a);
    fr_record_free(b);
}

/* The closed forms of these algorithms leave out that their own messages share links. Where folded
 * ranks went by them, trees inside a machine took 61 us instead of 165, and these steps 16.1 ms
 * instead of 20.3, 7.3 instead of 10.4, and 0.8 to 2 % less. A folded plan takes what a run of the
 * messages of all ranks takes. */
LOOP_TEST(a_chosen_algorithm_takes_as_long_folded_as_whole, 0, 10)
{
    static const char A100[] = "2x dgx-a100-80g via ib:200Gbps";
    static const char H100[] = "2x hgx-h100 via ib:400Gbps";
    static const struct {
        const char *algorithm, *topology, *strategy;
    } ROWS[] = {{"tree", A100, "hybrid:tp=4,cp=4"},    {"tree", H100, "hybrid:tp=4,dp=4,zero=1"},
                {"bucket", A100, "hybrid:tp=4,cp=4"},  {"nvls", H100, "hybrid:tp=4,dp=4,zero=1"},
                {"direct", A100, "hybrid:tp=8,sp=1"},  {"two-level", A100, "hybrid:tp=4,cp=4"},
                {"pat", A100, "hybrid:tp=8,sp=1"},     {"tree", H100, "hybrid:tp=2,pp=2,micro=1"},
                {"rabenseifner", A100, "hybrid:tp=8"}, {"hierarchical", A100, "hybrid:tp=4,cp=4"}};
    static const char LLAMA[] = "llama:layers=4,hidden=1024,heads=16,kv_heads=8,ffn=2816,seq=1024,"
                                "vocab=32000";
    char whole[100];
    struct fr_record *a, *b;

    snprintf(whole, sizeof(whole), "%s,fold=0", ROWS[_i].strategy);
    a = ask_by(ROWS[_i].algorithm, FR_BF16, LLAMA, ROWS[_i].topology, 16, ROWS[_i].strategy);
    b = ask_by(ROWS[_i].algorithm, FR_BF16, LLAMA, ROWS[_i].topology, 16, whole);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_nonnull(fr_plan_view(a->plan)->device_counts);
    ck_assert_double_eq_tol(a->iteration_s, b->iteration_s, ALIKE * b->iteration_s);
    ck_assert_double_le(busiest(a), 1 + 1e-9);
    fr_record_free(a);
    fr_record_free(b);
}

/* ---- random questions ---- */

static const struct {
    const char *topology;
    uint32_t n_gpus;
    bool has_several_hops; /* between neighbours of a ring over all GPUs */
} MACHINES[] = {
    {"4x box:1xa40 via eth:25Gbps", 4, false},
    {"8x box:1xa40 via eth:10Gbps", 8, false},
    {"2x box:4xa40 via eth:25Gbps", 8, true},
    {"hgx-h100", 8, false},
    {"2x hgx-h100 via ib:400Gbps", 16, true},
    {"2x hgx-h100 via ib:100Gbps", 16, true},
    {"4x gh200-quad", 16, true},
    {"box:8xa40", 8, true},
};
enum { N_MACHINES = sizeof(MACHINES) / sizeof(MACHINES[0]) };

static uint32_t below(struct fr__rng *g, uint32_t n)
{
    return (uint32_t)fr__rng_below(g, n);
}

static uint32_t power_up_to(struct fr__rng *g, uint32_t most)
{
    uint32_t x = 1;

    while (x < most && below(g, 2) == 0)
        x *= 2;
    return x;
}

struct drawn {
    char workload[160], options[160];
    const char *topology;
    uint32_t batch;
    double tolerance;
};

static struct drawn draw(struct fr__rng *g)
{
    uint32_t m = below(g, N_MACHINES), n = MACHINES[m].n_gpus;
    uint32_t tp = power_up_to(g, n / 2), cp = power_up_to(g, n / tp > 4 ? 4 : n / tp);
    uint32_t pp = power_up_to(g, n / tp / cp > 4 ? 4 : n / tp / cp), dp = n / tp / cp / pp;
    uint32_t hidden = 256u << below(g, 3), layers = 4;
    bool is_plain = tp * cp * pp == 1 && MACHINES[m].has_several_hops;
    struct drawn d = {.topology = MACHINES[m].topology,
                      .batch = dp * pp * 4,
                      .tolerance = is_plain ? MESSAGE_BY_MESSAGE : ALIKE};
    int at;

    snprintf(d.workload, sizeof(d.workload), "gpt:hidden=%u,heads=16,seq=%u,vocab=2048,layers=%u",
             hidden, 256u << below(g, 2), layers);
    at = snprintf(d.options, sizeof(d.options), "tp=%u,cp=%u,pp=%u,zero=%u", tp, cp, pp,
                  below(g, pp > 1 ? 3 : 4));
    if (pp > 1)
        at += snprintf(d.options + at, sizeof(d.options) - (size_t)at, ",micro=1");
    if (below(g, 2) == 0)
        at += snprintf(d.options + at, sizeof(d.options) - (size_t)at, ",bucket=%uMiB",
                       1u << below(g, 4));
    if (tp > 1 && below(g, 2) == 0)
        at += snprintf(d.options + at, sizeof(d.options) - (size_t)at, ",sp=1");
    return d;
}

static void compare(struct fr_session *session, const struct drawn *d, uint32_t number,
                    uint32_t *n_compared)
{
    char folded[200], whole[200];
    struct fr_question of_folded = question(FR_BF16, d->workload, d->topology, d->batch, folded);
    struct fr_question of_whole = question(FR_BF16, d->workload, d->topology, d->batch, whole);
    struct fr_record *a, *b;

    snprintf(folded, sizeof(folded), "hybrid:%s,fold=1", d->options);
    snprintf(whole, sizeof(whole), "hybrid:%s,fold=0", d->options);
    a = answer(session, &of_folded);
    b = answer(session, &of_whole);
    if (a && b) {
        double off = fabs(a->iteration_s / b->iteration_s - 1);

        ck_assert_msg(off <= d->tolerance,
                      "case %u: -w %s -t '%s' -b %u: %.17g s of %s, %.17g s of %s", number,
                      d->workload, d->topology, d->batch, a->iteration_s, folded, b->iteration_s,
                      whole);
        ck_assert_double_le(busiest(a), 1 + 1e-9);
        ck_assert_double_le(busiest(b), 1 + 1e-9);
        ck_assert_msg(fabs(busiest(a) - busiest(b)) <= d->tolerance + 1e-5, "case %u", number);
        ++*n_compared;
    }
    fr_record_free(a);
    fr_record_free(b);
}

TEST(random_folded_plans_take_what_the_whole_ones_take)
{
    const struct fr_session_options keeps_no_answers = {0};
    struct fr_session *session = fr_session_new(&keeps_no_answers);
    uint32_t n_compared = 0;
    struct fr__rng g;

    fr__rng_init(&g, 30, 1);
    for (uint32_t i = 0; i < N_CASES; i++) {
        struct drawn d = draw(&g);

        compare(session, &d, i, &n_compared);
    }
    fr_session_free(session);
    ck_assert_uint_ge(n_compared, N_CASES * 9 / 10);
}

int main(void)
{
    TCase *c = tcase_create("sharing");

    add_tests(c);
    tcase_set_timeout(c, 300);
    return run_case(c, "study/sharing");
}
