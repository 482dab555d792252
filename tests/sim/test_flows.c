/* tests/sim/test_flows.c - collectives of a known time that overlap: what their links take, against
 * times derived by hand. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"

#include <check.h>
#include <math.h>

/* A star: each GPU has one link of 1e9 B/s and 1 ms a direction, so a hop has two. */
enum { N = 4, GPUS = 8 };
static const double BW = 1e9, LAT = 1e-3;

#define ck_assert_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-9 * (fabs((double)(b)) + 1e-3))

static struct fr_run_options options(enum fr_network network)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.network = network;
    return o;
}

/* Adds a collective by formula; its members run on stream `stream`. */
static void add(struct fr_plan *p, struct fr_collective c, unsigned stream)
{
    uint32_t n = c.is_folded ? 1 : N, id;

    c.label = FR_NONE;
    c.is_formula = !c.has_cost;
    id = fr_plan_add_collective(p, &c);
    for (uint32_t i = 0; i < n; i++)
        fr_plan_add_task(p, &(struct fr_task){.kind = FR_TASK_COLLECTIVE,
                                              .device = i,
                                              .rank = i,
                                              .collective = id,
                                              .op = FR_NONE,
                                              .cost_id = FR_NONE,
                                              .microbatch = FR_NONE,
                                              .stream = (uint8_t)stream});
}

static double run_all(struct fr_plan *p, enum fr_network network)
{
    const struct fr_run_options o = options(network);
    struct fr_run *r;
    double s;

    fixture_finish(p);
    r = fixture_run(p, &o);
    s = r->makespan_s;
    fr_run_free(r);
    return s;
}

/* Each round of the two begins at the same time: a latency, then both chunks at half the rate. 3
 * rounds of two latencies and 2 * 1e8 bytes. Without sharing links they do not see each other. */
LOOP_TEST(two_formulas_on_the_same_links_take_both_ones_bytes, 0, 2)
{
    struct fr_topo *topo = fixture_star(GPUS, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t group = fr_plan_add_group(p, 0, 1, N);

    for (unsigned k = 0; k < 2; k++)
        add(p, (struct fr_collective){.kind = FR_ALL_GATHER, .bytes = 4e8, .group = group},
            FR_STREAM_COMM + k);
    ck_assert_near(run_all(p, _i ? FR_NETWORK_ANALYTIC : FR_NETWORK_FLOW),
                   3 * (2 * LAT + (_i ? 1 : 2) * 0.1));
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* A transfer over one of the ring's four hops: 1e8 bytes of each at half the rate for 0.2 s, which
 * is the first round; the other two are alone. */
TEST(a_message_and_a_formula_share_a_link)
{
    struct fr_topo *topo = fixture_star(GPUS, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t group = fr_plan_add_group(p, 0, 1, N);
    struct fr_task t = {.kind = FR_TASK_SEND,
                        .device = 0,
                        .op = FR_NONE,
                        .cost_id = FR_NONE,
                        .transfer = FR_NONE,
                        .microbatch = FR_NONE,
                        .stream = FR_STREAM_SEND};
    uint32_t send = fr_plan_add_task(p, &t), recv;

    t.kind = FR_TASK_RECV;
    t.device = 1;
    t.stream = FR_STREAM_RECV;
    recv = fr_plan_add_task(p, &t);
    fr_plan_add_transfer(p, send, recv, 1e8, FR_NONE);
    add(p, (struct fr_collective){.kind = FR_ALL_GATHER, .bytes = 4e8, .group = group},
        FR_STREAM_COMM);
    ck_assert_near(run_all(p, FR_NETWORK_FLOW), 3 * (2 * LAT + 0.1) + 0.1);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* A fitted time of 3 s, 1 s of it for bytes that fill the links all that time: 2 s of latency, then
 * both ones' bytes take 2 s. */
TEST(two_fitted_collectives_take_both_ones_bytes)
{
    struct fr_topo *topo = fixture_star(GPUS, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t group = fr_plan_add_group(p, 0, 1, N);
    uint32_t cost = fr_plan_add_cost(p, &(struct fr_cost){.mean_s = 3, .bytes_s = 1});

    for (unsigned k = 0; k < 2; k++)
        add(p,
            (struct fr_collective){.kind = FR_ALL_REDUCE,
                                   .bytes = 4e9,
                                   .group = group,
                                   .has_cost = true,
                                   .cost_id = cost},
            FR_STREAM_COMM + k);
    ck_assert_near(run_all(p, FR_NETWORK_FLOW), 4);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Eight groups that use the same links slow down the bytes, not the latencies: 6 rounds of two
 * latencies and 8 times 1e8 bytes. (The whole time was multiplied.) */
TEST(a_crowd_slows_down_bytes_and_not_latencies)
{
    struct fr_topo *topo = fixture_star(GPUS, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t group = fr_plan_add_group(p, 0, 1, N);

    add(p,
        (struct fr_collective){.kind = FR_ALL_REDUCE, .bytes = 4e8, .group = group, .crowding = 8},
        FR_STREAM_COMM);
    ck_assert_near(run_all(p, FR_NETWORK_ANALYTIC), 6 * (2 * LAT + 8 * 0.1));
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* A folded plan: the group of GPUs 0 to 3 stands for itself and that of 4 to 7, and both for two
 * collectives at the same time. The links of the second group are counted, too. */
TEST(a_folded_collective_counts_the_links_of_all_its_groups)
{
    static const uint32_t DEVICES[GPUS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct fr_topo *topo = fixture_star(GPUS, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t group = fr_plan_add_group(p, 0, 1, N);
    const struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r;

    fr_plan_fold_device(p, 0, GPUS, DEVICES);
    fr_plan_fold_group(p, group, 2, DEVICES);
    for (unsigned k = 0; k < 2; k++)
        add(p,
            (struct fr_collective){
                .kind = FR_ALL_GATHER, .bytes = 4e8, .group = group, .is_folded = true},
            FR_STREAM_COMM + k);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, 3 * (2 * LAT + 0.2));
    ck_assert_near(r->lower_bound_s, 0.6);
    for (size_t l = 0; l < r->n_links; l++)
        ck_assert_near(r->link_bytes[l], 6e8);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* A message of a folded plan from a stage of GPUs 0 to 3 to one of GPUs 4 to 7 stands for four,
 * each over the sender's link and the receiver's. All go side by side. */
TEST(a_folded_message_counts_the_links_of_all_ranks)
{
    static const uint32_t DEVICES[GPUS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct fr_topo *topo = fixture_star(GPUS, BW, LAT);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_task t = {.kind = FR_TASK_SEND,
                        .stream = FR_STREAM_SEND,
                        .op = FR_NONE,
                        .cost_id = FR_NONE,
                        .microbatch = FR_NONE};
    const struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t send = fr_plan_add_task(p, &t), recv;
    double sum_bytes = 0, most_bytes = 0;
    struct fr_run *r;

    fr_plan_fold_device(p, 0, N, DEVICES);
    fr_plan_fold_device(p, N, N, DEVICES + N);
    t.kind = FR_TASK_RECV;
    t.device = t.rank = N;
    t.stream = FR_STREAM_RECV;
    recv = fr_plan_add_task(p, &t);
    fr_plan_add_transfer(p, send, recv, 1e8, FR_NONE);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, 2 * LAT + 0.1);
    for (size_t l = 0; l < r->n_links; l++) {
        sum_bytes += r->link_bytes[l];
        most_bytes = fmax(most_bytes, r->link_bytes[l]);
    }
    ck_assert_near(most_bytes, 1e8);
    ck_assert_near(sum_bytes, 2 * N * 1e8);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

int main(void)
{
    TCase *c = tcase_create("flows");

    add_tests(c);
    return run_case(c, "sim/flows");
}
