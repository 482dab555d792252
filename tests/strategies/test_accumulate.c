/* Accumulation: an iteration in micro-batches, one after the other, and one exchange and update. */
#include "config.h"

#include "tests/support/strategies_case.h"
#include "workloads/zoo/zoo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GIB (UINT64_C(1) << 30)

static const double ones[] = {1, 1, 1, 1}, twos[] = {2, 2, 2, 2};
static const uint32_t counts[] = {1, 2, 3, 4, 7};
enum { N_COUNTS = sizeof(counts) / sizeof(counts[0]) };

static struct fr_run *run(const struct fr_plan *p, const struct fr_run_options *o)
{
    struct fr_run *r = NULL;
    struct fr_error err = {.code = FR_OK};

    ck_assert_msg(fr_simulate(p, o, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static struct fr_run *run_plainly(const struct fr_plan *p)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    return run(p, &o);
}

/* ---- time ---- */

/* Four layers of 1 + 2 s: 12 s a micro-batch. Four buckets of 1e9 bytes between two GPUs over
 * duplex links of 1e9 bytes/s take 1 s each (two steps of half a bucket). Layer k from the end
 * has its gradient at 4 + 2 (k + 1) s of the last micro-batch, so its bucket starts then and the
 * last one ends a second after the backward pass; without overlap all four follow it. */
static void check_chain(const char *options, uint32_t n, bool overlap)
{
    static const uint64_t params[] = {1000000000, 1000000000, 1000000000, 1000000000};
    const struct chain_case chain = {4, 2, params, ones, twos, 100};
    struct fr_topo *t = case_topo(2, 1e9, 64 * GIB);
    struct fr_graph *g = case_chain(&chain);
    struct case_problem c = {t, g, 2, 4 * n, FR_SGD, NULL};
    const struct fr_plan_view *v;
    struct fr_plan *p;
    struct fr_run *r;
    char spec[80];

    snprintf(spec, sizeof(spec), "dp:bucket=1B,%s,accumulate=%u", options, n);
    p = case_plan(&c, spec);
    v = fr_plan_view(p);
    r = run_plainly(p);
    ck_assert_uint_eq(v->n_collectives, 4);
    ck_assert_double_eq_tol(r->makespan_s, 12 * n + (overlap ? 1 : 4), 1e-9);
    for (int d = 0; d < 2; d++) {
        ck_assert_double_eq_tol(r->devices[d].compute_s, 12 * n, 1e-9);
        ck_assert_double_eq_tol(r->devices[d].comm_s, 4, 1e-9);
        ck_assert_double_eq_tol(r->devices[d].exposed_comm_s, overlap ? 1 : 4, 1e-9);
    }
    for (size_t i = 0; i < v->n_tasks; i++)
        if (v->tasks[i].kind == FR_TASK_COLLECTIVE)
            ck_assert_double_eq_tol(r->start_s[i],
                                    overlap ? 12 * (n - 1) + 4 + 2 * (v->tasks[i].collective + 1)
                                            : 12 * n + v->tasks[i].collective,
                                    1e-9);
    fr_run_free(r);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
}

TEST(a_chain_takes_n_times_one_and_its_exchange_once)
{
    for (int i = 0; i < N_COUNTS; i++) {
        check_chain("overlap=1", counts[i], true);
        check_chain("overlap=0", counts[i], false);
    }
}

/* Seconds of the compute tasks of micro-batches, of the others, and bytes that cross links. */
struct work {
    double body_s, tail_s, bytes;
};

static struct work work_of(const struct case_problem *c, const char *spec)
{
    struct fr_plan *p = case_plan(c, spec);
    const struct fr_plan_view *v = fr_plan_view(p);
    struct fr_run *r = run_plainly(p);
    struct work w = {0, 0, 0};

    for (size_t i = 0; i < v->n_tasks; i++)
        if (v->tasks[i].kind == FR_TASK_COMPUTE)
            *(v->tasks[i].microbatch == FR_NONE ? &w.tail_s : &w.body_s) +=
                r->end_s[i] - r->start_s[i];
    for (size_t i = 0; i < r->n_links; i++)
        w.bytes += r->link_bytes[i];
    fr_run_free(r);
    fr_plan_free(p);
    return w;
}

/* Whatever a model costs (here the data sheet's rooflines), n micro-batches of b samples compute n
 * times as long as one iteration of b, but for one update (with what is summed before), and move
 * what that moves. */
static void check_model(const char *model, enum fr_dtype dtype, const char *strategy)
{
    const struct fr_workload_options opt = {.batch = 4, .dtype = dtype};
    struct fr_topo *t = case_topo(4, 1e11, 64 * GIB);
    struct fr_graph *g = NULL;
    struct fr_error err;
    struct case_problem c = {t, NULL, 4, 12, FR_ADAM, NULL};
    struct work one, n;
    char spec[80];

    ck_assert_msg(fr__zoo_load(&g, model, &opt, &err) == FR_OK, "%s", err.text);
    c.graph = g;
    snprintf(spec, sizeof(spec), "%saccumulate=1", strategy);
    one = work_of(&c, spec);
    for (int i = 1; i < N_COUNTS; i++) {
        c.global_batch = 12 * counts[i];
        snprintf(spec, sizeof(spec), "%saccumulate=%u", strategy, counts[i]);
        n = work_of(&c, spec);
        ck_assert_double_gt(n.tail_s, 0);
        ck_assert_double_eq_tol(n.body_s / counts[i] + n.tail_s, one.tail_s, 1e-9 * one.tail_s);
        ck_assert_double_eq_tol(n.bytes, one.bytes, 1e-9 * (1 + one.bytes));
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

TEST(models_compute_n_micro_batches_and_one_update)
{
    static const char *const strategies[] = {"single:",
                                             "dp:",
                                             "dp:step=bucket,",
                                             "dp:sync=ps-cpu,",
                                             "dp:sync=ps-gpu0,",
                                             "dp:sync=ps-sharded,",
                                             "dp:sync=ps-sharded,overlap=0,",
                                             "dp:sync=ps-cpu,pull=start,"};

    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
        check_model("lenet", FR_FP32, strategies[i]);
        check_model("resnet18", FR_AMP, strategies[i]);
        /* tied parameters: a sum of gradients */
        check_model("gpt:layers=2,hidden=64,heads=4,seq=16,vocab=500", FR_FP32, strategies[i]);
    }
}

/* ---- order ---- */

struct span {
    double from_s, to_s;
    unsigned n;
};

/* On each device a micro-batch begins when the one before is done, and each has all ops of the
 * body. The first and the last are placed with care, those between are copies, on all ranks but
 * the first copies of copies. */
TEST(micro_batches_follow_each_other_on_every_device)
{
    enum { N = 5, GPUS = 3 };
    static const char *const specs[] = {"dp:accumulate=5", "dp:sync=ps-sharded,accumulate=5"};
    const struct fr_workload_options opt = {.batch = 4, .dtype = FR_N_DTYPES};
    struct fr_topo *t = case_topo(GPUS, 1e9, 64 * GIB);
    struct fr_graph *g = NULL;
    struct fr_error err;
    struct case_problem c = {t, NULL, GPUS, N * GPUS * 2, FR_MOMENTUM, NULL};

    ck_assert_msg(fr__zoo_load(&g, "resnet18", &opt, &err) == FR_OK, "%s", err.text);
    c.graph = g;
    for (int k = 0; k < 2; k++) {
        struct fr_plan *p = case_plan(&c, specs[k]);
        const struct fr_plan_view *v = fr_plan_view(p);
        struct fr_run *r = run_plainly(p);
        struct span spans[GPUS][N];

        for (int i = 0; i < GPUS * N; i++)
            spans[i / N][i % N] = (struct span){INFINITY, 0, 0};
        for (size_t i = 0; i < v->n_tasks; i++) {
            struct span *s;

            if (v->tasks[i].kind != FR_TASK_COMPUTE || v->tasks[i].microbatch == FR_NONE)
                continue;
            ck_assert_uint_lt(v->tasks[i].microbatch, N);
            s = &spans[v->tasks[i].device][v->tasks[i].microbatch];
            s->from_s = fmin(s->from_s, r->start_s[i]);
            s->to_s = fmax(s->to_s, r->end_s[i]);
            s->n++;
        }
        for (int d = 0; d < GPUS; d++)
            for (int m = 0; m < N; m++) {
                ck_assert_uint_gt(spans[d][m].n, 0);
                ck_assert_uint_eq(spans[d][m].n, spans[0][0].n);
                if (m > 0)
                    ck_assert_double_ge(spans[d][m].from_s, spans[d][m - 1].to_s);
            }
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

/* Nothing of a gradient leaves a device before the last micro-batch's backward pass has begun. */
TEST(gradients_travel_during_the_last_micro_batch_only)
{
    static const char *const specs[] = {"dp:accumulate=3", "dp:sync=ps-cpu,accumulate=3",
                                        "dp:sync=ps-gpu0,accumulate=3",
                                        "dp:sync=ps-sharded,accumulate=3"};
    static const uint64_t params[] = {400, 0, 300, 500};
    const struct chain_case chain = {4, 8, params, ones, twos, 800};
    struct fr_topo *t = case_topo(2, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain);
    struct case_problem c = {t, g, 2, 48, FR_ADAM, NULL};

    for (int k = 0; k < 4; k++) {
        struct fr_plan *p = case_plan(&c, specs[k]);
        const struct fr_plan_view *v = fr_plan_view(p);
        struct fr_run *r = run_plainly(p);

        for (size_t i = 0; i < v->n_tasks; i++)
            if (v->tasks[i].kind == FR_TASK_COLLECTIVE || v->tasks[i].kind == FR_TASK_SEND)
                ck_assert_double_ge(r->start_s[i], 2 * 12 + 4 + 2 - 1e-9); /* l3's gradient */
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

/* ---- memory ---- */

/* The chain of the_peak_is_where_the_graph_says, an output of 100 bytes a sample, 64 samples: most
 * activations at once are five outputs (four saved and a gradient). In one go that is with l3's and
 * l2's weight gradients (800); from the second micro-batch on all of them are there (1200). */
TEST(activations_are_those_of_one_micro_batch)
{
    static const uint64_t params[] = {400, 0, 300, 500};
    const struct chain_case chain = {4, 8, params, ones, twos, 800};
    struct fr_topo *t = case_topo(1, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain);
    struct case_problem c = {t, g, 1, 64, FR_SGD, NULL};

    for (unsigned n = 1; n <= 64; n *= 2) {
        uint64_t activation_bytes = 5 * 6400 / n, gradient_bytes = n == 1 ? 800 : 1200;
        struct fr_run_options o;
        struct fr_plan *p;
        struct fr_run *r;
        char spec[40];

        snprintf(spec, sizeof(spec), "single:accumulate=%u", n);
        fr_run_options_init(&o);
        o.alloc_at_start = true;
        p = case_plan(&c, spec);
        r = run(p, &o);
        ck_assert_uint_eq(r->devices[0].peak_by_kind[FR_BUFFER_ACTIVATION], activation_bytes);
        ck_assert_uint_eq(r->devices[0].peak_by_kind[FR_BUFFER_GRADIENT], gradient_bytes);
        ck_assert_uint_eq(r->devices[0].peak_bytes, 1200 + gradient_bytes + activation_bytes);
        ck_assert_uint_eq(r->devices[0].end_bytes, 1200);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

/* ---- robustness ---- */

TEST(no_order_of_ready_tasks_makes_accumulation_hang)
{
    static const char *const specs[] = {"single:accumulate=6",
                                        "dp:accumulate=3",
                                        "dp:step=bucket,accumulate=6",
                                        "dp:sync=ps-cpu,accumulate=2",
                                        "dp:sync=ps-gpu0,accumulate=3",
                                        "dp:sync=ps-sharded,overlap=0,accumulate=6",
                                        "dp:sync=ps-cpu,pull=start,accumulate=3"};
    const struct fr_workload_options opt = {.batch = 8, .dtype = FR_N_DTYPES};
    struct fr_topo *t = case_topo(4, 1e9, 8 * GIB);
    struct fr_graph *g = NULL;
    struct fr_error err;
    struct case_problem c = {t, NULL, 4, 24, FR_ADAM, NULL};

    ck_assert_msg(fr__zoo_load(&g, "gnmt:encoder=2,decoder=3,hidden=16,vocab=100,source=5", &opt,
                               &err) == FR_OK,
                  "%s", err.text);
    c.graph = g;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct fr_plan *p = case_plan(&c, specs[i]);

        for (int k = 0; k < FR_N_ORDERS * FR_N_NETWORKS; k++) {
            struct fr_run_options o;
            struct fr_run *r;

            fr_run_options_init(&o);
            o.order = (enum fr_order)(k % FR_N_ORDERS);
            o.network = (enum fr_network)(k / FR_N_ORDERS);
            o.channels = (unsigned)(k % 2);
            r = run(p, &o);
            ck_assert_double_ge(r->makespan_s, r->lower_bound_s * (1 - 1e-9));
            fr_run_free(r);
        }
        fr_plan_free(p);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

TEST(refuses_micro_batches_that_are_not_whole_and_alike)
{
    static const struct {
        uint32_t n_devices, batch;
        const char *spec, *says;
    } rows[] = {
        {1, 8, "single:accumulate=0", "accumulate=0 runs no micro-batch, expected at least 1"},
        {1, 8, "single:accumulate=3", "accumulate=3 does not divide the 8 samples of a replica"},
        {1, 8, "dp:accumulate=9", "accumulate=9 does not divide the 8 samples of a replica"},
        {2, 8, "dp:accumulate=0", "accumulate=0 runs no micro-batch, expected at least 1"},
        {2, 8, "dp:accumulate=8", "accumulate=8 does not divide the 4 samples of a replica"},
        {2, 9, "dp:accumulate=4", "accumulate=4 does not divide the 5 samples of a replica"},
        {2, 9, "dp:accumulate=5", "accumulate=5 does not divide the 4 samples of a replica"},
        {2, 2, "dp:sync=ps-cpu,accumulate=2",
         "accumulate=2 does not divide the 1 sample of a replica"},
        {2, 4000000000, "dp:accumulate=2000000000",
         "2000000000 micro-batches of 14 ops are too many tasks for one plan"},
    };
    static const uint64_t params[] = {400, 0, 300, 500};
    const struct chain_case chain = {4, 8, params, ones, twos, 800};
    struct fr_topo *t = case_topo(2, 1e9, GIB);
    struct fr_graph *g = case_chain(&chain);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct case_problem c = {t, g, rows[i].n_devices, rows[i].batch, FR_SGD, NULL};
        struct fr_error err;

        case_fails(&c, rows[i].spec, &err);
        ck_assert_str_eq(err.text, rows[i].says);
    }
    fr_graph_free(g);
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("accumulate");

    tcase_set_timeout(c, 120);
    add_tests(c);
    return run_case(c, "strategies/accumulate");
}
