/* tests/calibrate/test_system.c - what the models of a system say by hand, and system files. */
#include "config.h"

#include "calibrate/messages/nodes.h"
#include "tests/support/base_check.h"
#include "tests/support/system_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* LL128 and Simple, and the large way of all-to-all, are 1000 times slower: their 8th powers
 * vanish. */
static struct fr_system one_way(void)
{
    return (struct fr_system){
        .info = {.most_gpus = 8,
                 .has_rings = true,
                 .has_all_to_all = true,
                 .parameters = {10e-6, 1e-6, 100e9, 10e-3, 1e-3, 1e8, 10e-3, 1e-3, 1e8, 0, 0, 5e-6,
                                2e-6, 50e9, 10e-3, 1e-3, 1e8}}};
}

TEST(a_ring_takes_its_steps_and_its_share_of_the_bytes)
{
    struct fr_system s = one_way();

    /* 4 GPUs, 80 MB: 6 steps of 1 us and 20 MB at 100 GB/s, after 10 us */
    ck_assert_double_eq_tol(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true), 1216e-6, 1e-9);
    /* half the steps */
    ck_assert_double_eq_tol(system_case_s(&s, FR_SYSTEM_ALL_GATHER, 4, 80e6, true), 613e-6, 1e-9);
    ck_assert_double_eq_tol(system_case_s(&s, FR_SYSTEM_REDUCE_SCATTER, 4, 80e6, true), 613e-6,
                            1e-9);
    /* 5 us, 3 peers of 2 us and 20 MB at 50 GB/s each */
    ck_assert_double_eq_tol(system_case_s(&s, FR_SYSTEM_ALL_TO_ALL, 4, 80e6, true), 1211e-6, 1e-9);
}

TEST(two_equal_ways_take_a_twelfth_less_than_one)
{
    struct fr_system s = one_way();
    double one = system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true);

    memcpy(s.info.parameters + 3, s.info.parameters, 3 * sizeof(double));
    ck_assert_double_eq_tol(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true) / one,
                            pow(2, -1.0 / 8), 1e-9);
}

TEST(the_switch_sums_for_all_reduces_of_three_gpus_and_formats_it_knows)
{
    struct fr_system s = one_way();

    s.info.parameters[9] = 20e-6;
    s.info.parameters[10] = 800e9;
    /* there but not allowed */
    ck_assert_double_gt(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true), 1e-3);
    s.info.has_nvls = true;
    /* 20 us and 80 MB at 800 GB/s */
    ck_assert_double_eq_tol(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true), 120e-6, 1e-9);
    ck_assert_double_gt(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, false), 1e-3);
    ck_assert_double_gt(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 2, 80e6, true), 8e-4);
    ck_assert_double_gt(system_case_s(&s, FR_SYSTEM_ALL_GATHER, 4, 80e6, true), 6e-4);
}

TEST(corrections_are_linear_between_octaves_and_between_numbers_of_gpus)
{
    struct fr_system s = one_way(), plain = s;

    s.info.n_corrections = 2;
    s.info.corrections[0] = (struct fr_system_correction){FR_SYSTEM_ALL_REDUCE, 2, 20, 2, {0, 100}};
    s.info.corrections[1] = (struct fr_system_correction){FR_SYSTEM_ALL_REDUCE, 8, 20, 1, {-300}};
    for (unsigned n = 2; n <= 8; n *= 2)
        for (double octave = 19; octave < 23; octave += 0.5) {
            double of_two = 0.1 * fmin(fmax(octave - 20, 0), 1), bytes = exp2(octave);
            double c = n == 2 ? of_two : n == 8 ? -0.3 : (of_two - 0.3) / 2; /* 4 is halfway */

            ck_assert_double_eq_tol(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, n, bytes, true) /
                                        system_case_s(&plain, FR_SYSTEM_ALL_REDUCE, n, bytes, true),
                                    exp(c), 1e-9);
            ck_assert_double_eq(system_case_s(&s, FR_SYSTEM_ALL_GATHER, n, bytes, true),
                                system_case_s(&plain, FR_SYSTEM_ALL_GATHER, n, bytes, true));
        }
}

TEST(one_gpu_waits_for_nobody)
{
    struct fr_system s = one_way();

    ck_assert_double_eq(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 1, 80e6, true), 0);
    ck_assert_double_eq(system_case_s(&s, FR_SYSTEM_ALL_REDUCE, 0, 80e6, true), 0);
}

/* ---- over several nodes ---- */

TEST(a_ring_over_nodes_has_far_and_near_steps)
{
    static const double p[FR_SYSTEM_WAY_PARAMETERS] = {10e-6, 5e-6, 1e-6, 10e9};
    struct fr_system_call c = system_case_over_nodes(FR_SYSTEM_ALL_REDUCE, 8, 2, 80e6);

    /* 14 steps, of which 2 far: 10 + 2 * 5 + 12 * 1 us, and 14 times 10 MB at 10 GB/s */
    ck_assert_double_eq_tol(fr__nodes_way_s(FR_SYSTEM_RING_SIMPLE, p, &c), 32e-6 + 14e-3, 1e-9);
    /* half of each */
    c.op = FR_SYSTEM_ALL_GATHER;
    ck_assert_double_eq_tol(fr__nodes_way_s(FR_SYSTEM_RING_SIMPLE, p, &c), 21e-6 + 7e-3, 1e-9);
}

TEST(a_tree_over_nodes_passes_chunks_up_and_down_its_depth)
{
    static const double p[FR_SYSTEM_WAY_PARAMETERS] = {10e-6, 5e-6, 1e-6, 10e9, 1e6, 1e9};
    struct fr_system_call c = system_case_over_nodes(FR_SYSTEM_ALL_REDUCE, 8, 2, 1e6);

    /* depth 1: 10 + 2 * 5 + 2 * 3 * 1 us, twice half a megabyte at 1 GB/s, and 1 MB at 10 GB/s */
    ck_assert_double_eq_tol(fr__nodes_way_s(FR_SYSTEM_TREE_LL, p, &c), 26e-6 + 1e-3 + 100e-6, 1e-9);
    /* five nodes have depth 3, and more than two nodes send each byte twice */
    c = system_case_over_nodes(FR_SYSTEM_ALL_REDUCE, 20, 5, 1e6);
    ck_assert_double_eq_tol(fr__nodes_way_s(FR_SYSTEM_TREE_LL, p, &c), 46e-6 + 3e-3 + 200e-6, 1e-9);
}

TEST(an_all_to_all_over_nodes_waits_for_what_leaves_them)
{
    /* half of 80 MB leaves a node of two; a knee as large, of power 1, doubles that */
    static const double p[FR_SYSTEM_NODES_ALL_TO_ALL] = {10e-6, 1e-6, 10e9, 40e6, 1};
    struct fr_system_call c = system_case_over_nodes(FR_SYSTEM_ALL_TO_ALL, 8, 2, 80e6);

    ck_assert_double_eq_tol(fr__nodes_all_to_all_s(p, &c), 14e-6 + 8e-3, 1e-9);
}

TEST(nccl_takes_low_latency_for_little_and_simple_for_much)
{
    struct fr_system_nodes nodes = system_case_nodes();
    struct fr_system_call little = system_case_over_nodes(FR_SYSTEM_ALL_REDUCE, 32, 8, 1024),
                          middle = system_case_over_nodes(FR_SYSTEM_ALL_REDUCE, 32, 8, 4e6),
                          much = system_case_over_nodes(FR_SYSTEM_ALL_REDUCE, 32, 8, 4e9);

    /* little: tree LL 6.8 + 2 (3 * 0.6 + 3 * 5) = 40 us; ring LL 6.6 + 46 * 1 + 16 * 2.7 = 96; tree
     * Simple 8.4 + 2 (3 * 4 + 3 * 14) = 116 */
    ck_assert_int_eq(fr__nodes_choose(&nodes, &little), FR_SYSTEM_TREE_LL);
    /* middle: tree Simple 116 + 4 MB at 46 * 0.5 GB/s = 290; tree LL 40 + 4 MB at 12.1 * 0.7 = 512;
     * ring Simple 1.4 (8.4 + 46 * 3.4 + 16 * 14) + 4 MB at 52 = 621 */
    ck_assert_int_eq(fr__nodes_choose(&nodes, &middle), FR_SYSTEM_TREE_SIMPLE);
    /* much: ring Simple 544 us + 4 GB at 51.6 GB/s, tree Simple at 46 */
    ck_assert_int_eq(fr__nodes_choose(&nodes, &much), FR_SYSTEM_RING_SIMPLE);
    /* no trees but for all-reduces, and no way that is not there */
    little.op = FR_SYSTEM_ALL_GATHER;
    ck_assert_int_eq(fr__nodes_choose(&nodes, &little), FR_SYSTEM_RING_LL);
    nodes.has_way[FR_SYSTEM_RING_LL] = nodes.has_way[FR_SYSTEM_RING_SIMPLE] = false;
    ck_assert_int_eq(fr__nodes_choose(&nodes, &little), FR_N_SYSTEM_WAYS);
    ck_assert_double_eq(fr__nodes_time_s(&nodes, &little), 0);
}

/* ---- files ---- */

LOOP_TEST(a_system_reads_back_to_the_same_times, 0, 2)
{
    struct fr_system made = system_case_one_node(_i), *s;
    const char *path = system_case_path();
    struct fr_error err;

    strcpy(made.info.name, "it's S");
    made.info.n_corrections = 1;
    made.info.corrections[0] =
        (struct fr_system_correction){FR_SYSTEM_ALL_GATHER, 8, 23, 3, {-20, 1234, -5000}};
    ck_assert_int_eq(fr_system_write(&made, path, &err), FR_OK);
    ck_assert_msg(fr_system_load(&s, path, &err) == FR_OK, "%s", err.text);
    ck_assert_str_eq(fr_system_info(s)->name, "it's S");
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        ck_assert_double_eq(system_case_s(s, (enum fr_system_op)op, 5, 12345678, true),
                            system_case_s(&made, (enum fr_system_op)op, 5, 12345678, true));
    fr_system_free(s);
    remove(path);
}

TEST(shipped_systems_move_bytes_no_faster_than_their_links)
{
    /* bus bandwidth of one GPU's NVLink, each direction, by datasheet */
    static const struct {
        const char *name;
        double Bps;
    } links[] = {{"a100-nvswitch", 300e9}, {"b200-nvswitch", 900e9}, {"h100-nvswitch", 450e9}};

    for (size_t i = 0; i < 3; i++) {
        struct fr_system *s;
        struct fr_error err;
        double t;

        ck_assert_msg(fr_system_load(&s, links[i].name, &err) == FR_OK, "%s", err.text);
        t = system_case_s(s, FR_SYSTEM_ALL_GATHER, 8, 1e10, true);
        ck_assert_double_gt(t, 7.0 / 8 * 1e10 / links[i].Bps);
        ck_assert_double_lt(t, 2 * 7.0 / 8 * 1e10 / links[i].Bps);
        for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
            ck_assert_double_lt(fr_system_info(s)->held_out[op].median, 0.1);
        fr_system_free(s);
    }
}

TEST(shipped_systems_read_back_as_they_are_written)
{
    const char *path = system_case_path();

    for (size_t i = 0; fr_system_shipped(i); i++) {
        struct fr_system *s, *again;
        struct fr_error err;

        ck_assert_msg(fr_system_load(&s, fr_system_shipped(i), &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_system_write(s, path, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_system_load(&again, path, &err) == FR_OK, "%s", err.text);
        ck_assert_mem_eq(fr_system_info(s), fr_system_info(again), sizeof(struct fr_system_info));
        fr_system_free(again);
        fr_system_free(s);
    }
    remove(path);
}

TEST(shipped_systems_price_what_they_cover)
{
    for (size_t i = 0; fr_system_shipped(i); i++) {
        struct fr_system *s;
        struct fr_error err;
        unsigned n_covered = 0;

        ck_assert_msg(fr_system_load(&s, fr_system_shipped(i), &err) == FR_OK, "%s", err.text);
        for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
            for (unsigned nodes = 1; nodes <= 64; nodes *= 2)
                for (double bytes = 1; bytes < 1e12; bytes *= 100) {
                    double t = fr_system_time_s(s, &(struct fr_system_call){(enum fr_system_op)op,
                                                                            4 * nodes, bytes, true,
                                                                            nodes});

                    if (!fr_system_covers(s, (enum fr_system_op)op, nodes))
                        continue;
                    ck_assert_double_gt(t, 1e-6);
                    ck_assert_double_lt(t, 1e4);
                    n_covered++;
                }
        ck_assert_uint_gt(n_covered + (unsigned)fr_system_info(s)->n_links, 0);
        for (size_t link = 0; link < fr_system_info(s)->n_links; link++)
            ck_assert_double_gt(fr_system_send_s(s, link, 1e6), fr_system_send_s(s, link, 1));
        fr_system_free(s);
    }
}

#define HEAD "system: x\nsource: y\ndata_hash: '0123456789abcdef'\n"

static const struct {
    const char *text, *message;
} bad_files[] = {
    {"", ""},
    {"[1]\n", "system file"},
    {"system: x\nsauce: y\n", "key 'sauce' is not known"},
    {"system: x\n", "a system has 'one_node', 'several_nodes' or 'links'"},
    {"system: x\none_node: {}\n", "'source' is missing"},
    {"system: x\nsource: y\ndata_hash: '12'\none_node: {}\n", "expected 16 digits"},
    {HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: 3}\n", "held_out"},
    {HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: {}, parameters: {}}\n",
     "'ll_base_s' is missing"},
    {HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: {}, parameters: {ll_base_s: [1e-6, 0]}}\n",
     "'ll_hop_s' is missing"},
    {HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: {}, parameters: {ll_base_s: 1e-6}}\n",
     "ll_base_s"},
    {HEAD "several_nodes: {gpus: 8, nodes: 2, rows_fitted: 1, held_out: {all-to-all: {rows: 1, "
          "median: 0, p90: 0, worst: 0, bias: 0}}}\n",
     "'held_out' has misses of all-to-all, but there are no parameters for it"},
    {HEAD "several_nodes: {gpus: 8, nodes: 2, rows_fitted: 1, held_out: {all-gather: {rows: 1, "
          "median: 0, p90: 0, worst: 0, bias: 0}}, choice: {near_Bps: 1e9, tree_near_Bps: 1e9, "
          "far_Bps: 1e9, ll128: false}, ring_ll128: {base_s: [1e-6, 0], far_hop_s: [1e-6, 0], "
          "near_hop_s: [1e-6, 0], Bps: [1e9, 0]}}\n",
     "'held_out' has misses of all-gather, but there are no parameters for it"},
    {HEAD
     "several_nodes: {gpus: 8, nodes: 2, rows_fitted: 1, held_out: {}, choice: {near_Bps: 0}}\n",
     "near_Bps"},
    {HEAD "several_nodes: {gpus: 8, nodes: 2, rows_fitted: 1, held_out: {}, ring_ll: {chunk_bytes: "
          "[1, 0]}}\n",
     "chunk_bytes"},
#define BEFORE_CORRECTIONS                                                                         \
    HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: {}, parameters: {ll_base_s: [1e-6, 0], "   \
         "ll_hop_s: [1e-6, 0], ll_Bps: [1e9, 0], ll128_base_s: [1e-6, 0], ll128_hop_s: [1e-6, "    \
         "0], ll128_Bps: [1e9, 0], simple_base_s: [1e-6, 0], simple_hop_s: [1e-6, 0], "            \
         "simple_Bps: [1e9, 0]}, corrections: "
    {BEFORE_CORRECTIONS "3}\n", "corrections"},
    {BEFORE_CORRECTIONS "[{op: all-in, gpus: 2, first: 1, thousandths: [1]}]}\n",
     "no operation 'all-in'"},
    {BEFORE_CORRECTIONS "[{op: all-reduce, gpus: 0, first: 1, thousandths: [1]}]}\n", "gpus"},
    {BEFORE_CORRECTIONS "[{op: all-reduce, gpus: 2, first: 99, thousandths: [1]}]}\n", "first"},
    {BEFORE_CORRECTIONS "[{op: all-reduce, gpus: 2, first: 1, thousandths: []}]}\n",
     "'thousandths' has 0 items, expected 1 to 40"},
    {BEFORE_CORRECTIONS "[{op: all-reduce, gpus: 2, first: 1, thousandths: [5001]}]}\n",
     "a correction"},
    {BEFORE_CORRECTIONS "[{op: all-reduce, gpus: 2, first: 1, thousandths: [nan]}]}\n",
     "a correction"},
    {"system: x\nlinks: 3\n", "links"},
    {"system: x\nlinks: [{link: y, sauce: z}]\n", "'sauce'"},
};

LOOP_TEST(a_bad_system_file_is_refused, 0, sizeof(bad_files) / sizeof(bad_files[0]))
{
    struct fr_system *s;
    struct fr_error err = {.text = ""};

    ck_assert_int_ne(fr_system_read(&s, bad_files[_i].text, strlen(bad_files[_i].text), "t", &err),
                     FR_OK);
    ck_assert_msg(strstr(err.text, bad_files[_i].message) != NULL, "%s", err.text);
    ck_assert(err.text[0] != '\0');
}

int main(void)
{
    TCase *tc = tcase_create("calibrate_system");

    add_tests(tc);
    return run_case(tc, "calibrate_system");
}
