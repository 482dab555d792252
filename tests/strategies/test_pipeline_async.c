/* tests/strategies/test_pipeline_async.c - pipelines that never flush, in the engine: how fast,
 * and how many versions of the weights a stage keeps. */
#include "config.h"

#include "lowering/schedules/schedule.h"
#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"

#include <check.h>
#include <stdlib.h>

#define GIB (UINT64_C(1) << 30)
#define FREE_BPS 1e18 /* transfers of some 100 bytes take 1e-16 s */

enum { MAX_STAGES = 6, PARAM_BYTES = 40 };

static const uint64_t params[MAX_STAGES] = {PARAM_BYTES, PARAM_BYTES, PARAM_BYTES,
                                            PARAM_BYTES, PARAM_BYTES, PARAM_BYTES};
static const double ones[MAX_STAGES] = {1, 1, 1, 1, 1, 1};
static const double twos[MAX_STAGES] = {2, 2, 2, 2, 2, 2};

struct result {
    struct fr_plan *plan;
    struct fr_run *run;
};

static void simulate(struct result *out, const struct case_problem *c, const char *spec)
{
    struct fr_run_options o;
    struct fr_error err = {.code = FR_OK};

    out->plan = case_plan(c, spec);
    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(out->plan, &o, &out->run, &err) == FR_OK, "%s", err.text);
}

static void release(struct result *x)
{
    fr_run_free(x->run);
    fr_plan_free(x->plan);
}

/* ---- time ---- */

static void check_interval(const double forward_s[], const double backward_s[], uint32_t n_stages,
                           uint32_t n_micros, const char *spec, double want_s)
{
    const struct chain_case chain = {n_stages, 2, params, forward_s, backward_s, 100};
    struct fr_topo *t = case_topo(n_stages, FREE_BPS, GIB);
    struct fr_graph *g = case_chain(&chain);
    struct case_problem c = {t, g, n_stages, 2 * n_micros, FR_SGD, NULL};
    struct result x;

    simulate(&x, &c, spec);
    ck_assert_msg(x.run->iteration_s > want_s * (1 - 1e-9) &&
                      x.run->iteration_s < want_s * (1 + 1e-9),
                  "%s, %u stages, %u micro-batches: %g s, not %g", spec, n_stages, n_micros,
                  x.run->iteration_s, want_s);
    release(&x);
    fr_graph_free(g);
    fr_topo_free(t);
}

static const char *const specs[] = {
    "pp:micro=2,schedule=pipedream", "pp:micro=2,schedule=pipedream,vertical-sync=1",
    "pp:micro=2,schedule=pipedream-2bw", "pp:micro=2,schedule=pipemare"};
enum { N_SPECS = sizeof(specs) / sizeof(specs[0]) };

/* No stage waits in steady state: m (f + b). With a flush it is (m + p - 1)(f + b). */
LOOP_TEST(equal_stages_never_wait, 0, N_SPECS)
{
    for (uint32_t n_stages = 1; n_stages <= 5; n_stages++)
        for (uint32_t n_micros = n_stages; n_micros <= 9; n_micros += 4)
            check_interval(ones, twos, n_stages, n_micros, specs[_i], 3.0 * n_micros);
}

/* PipeDream, SOSP 2019, section 3.1: the slowest stage sets the pace. */
LOOP_TEST(the_slowest_stage_sets_the_pace, 0, N_SPECS)
{
    static const double forward_s[][4] = {{1, 3, 2, 1}, {5, 1, 1, 1}, {1, 1, 1, 4}};
    static const double backward_s[][4] = {{2, 6, 4, 2}, {2, 2, 4, 2}, {2, 2, 2, 4}};
    static const double slowest_s[] = {9, 7, 8};

    for (int k = 0; k < 3; k++)
        check_interval(forward_s[k], backward_s[k], 4, 8, specs[_i], 8 * slowest_s[k]);
}

/* ---- memory ---- */

/* Most bytes of parameters on the device at once: what is there from the start, and versions from
 * the start of their task to the end of the last that frees them. */
static uint64_t most_param_bytes(const struct result *x, uint32_t device)
{
    const struct fr_plan_view *v = fr_plan_view(x->plan);
    double *freed_s = calloc(v->n_buffers + 1, sizeof(*freed_s));
    uint64_t most = 0;

    ck_assert_ptr_nonnull(freed_s);
    for (size_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->free_first[t]; i < v->free_first[t + 1]; i++)
            if (x->run->end_s[t] > freed_s[v->free[i]])
                freed_s[v->free[i]] = x->run->end_s[t];
    for (size_t b = 0; b < v->n_buffers; b++) {
        double now_s = v->buffers[b].alloc == FR_NONE ? 0 : x->run->start_s[v->buffers[b].alloc];
        uint64_t bytes = 0;

        for (size_t k = 0; k < v->n_buffers; k++) {
            const struct fr_buffer *y = &v->buffers[k];

            if (y->device == device && y->kind == FR_BUFFER_PARAMETER &&
                (y->alloc == FR_NONE || (x->run->start_s[y->alloc] <= now_s && freed_s[k] > now_s)))
                bytes += y->bytes;
        }
        most = bytes > most ? bytes : most;
    }
    free(freed_s);
    return most;
}

static uint32_t versions(const char *spec, uint32_t n_stages, uint32_t s)
{
    const uint32_t of_spec[] = {n_stages - s, n_stages, n_stages - s > 1 ? 2 : 1, 1};

    for (size_t i = 0; i < N_SPECS; i++)
        if (specs[i] == spec)
            return of_spec[i];
    return 0;
}

/* PipeDream: stage s of p keeps p - s versions; with vertical sync, p. 2BW: two, but the last stage
 * has no pass under way when it updates and needs but one. PipeMare: one. */
LOOP_TEST(versions_of_weights_are_held_exactly, 0, N_SPECS)
{
    for (uint32_t n_stages = 1; n_stages <= 4; n_stages++) {
        const struct chain_case chain = {n_stages, 2, params, ones, twos, 100};
        struct fr_topo *t = case_topo(n_stages, FREE_BPS, GIB);
        struct fr_graph *g = case_chain(&chain);
        struct case_problem c = {t, g, n_stages, 2 * 8, FR_SGD, NULL};
        struct result x;

        simulate(&x, &c, specs[_i]);
        for (uint32_t s = 0; s < n_stages; s++)
            ck_assert_uint_eq(most_param_bytes(&x, s),
                              PARAM_BYTES * versions(specs[_i], n_stages, s));
        release(&x);
        fr_graph_free(g);
        fr_topo_free(t);
    }
}

/* ---- what it cannot do ---- */

TEST(several_pipelines_are_refused)
{
    const struct chain_case chain = {4, 2, params, ones, twos, 100};
    struct fr_topo *t = case_topo(4, FREE_BPS, GIB);
    struct fr_graph *g = case_chain(&chain);
    struct case_problem c = {t, g, 4, 16, FR_SGD, NULL};
    struct fr_error err;

    ck_assert_int_eq(case_fails(&c, "pp:stages=2,micro=2,schedule=pipedream", &err), FR_EUSAGE);
    assert_message(&err,
                   "schedule 'pipedream' never flushes: it takes one pipeline of all devices, "
                   "and micro-batches that divide the batch");
    fr_graph_free(g);
    fr_topo_free(t);
}

int main(void)
{
    TCase *t = tcase_create("pipeline_async");

    tcase_set_timeout(t, 60);
    add_tests(t);
    return run_case(t, "pipeline_async");
}
