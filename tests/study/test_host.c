/* tests/study/test_host.c - what hosts and input add to a step: one run as many in a row, times by
 * part of the step, cores that decode, and the range of a step that waits for its input. */
#include "config.h"

#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* settings: pairs of name and text, ending with NULL. */
static struct fr_record *ask(const char *workload, const char *const settings[])
{
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};
    struct fr_question q;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = "dgx1-v100";
    q.strategy = "dp";
    q.n_gpus = 2;
    q.batch_per_gpu = 4;
    q.no_timing = true;
    for (size_t i = 0; settings[i]; i += 2)
        ck_assert_msg(fr_question_set(&q, settings[i], settings[i + 1], &err) == FR_OK, "%s",
                      err.text);
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static double time_of(const char *workload, const char *const settings[])
{
    struct fr_record *r = ask(workload, settings);
    double s = r->iteration_s;

    fr_record_free(r);
    return s;
}

#define TIME(workload, ...) time_of(workload, (const char *const[]){__VA_ARGS__, NULL})

TEST(a_run_of_one_step_is_as_long_as_one_of_many)
{
    static const char *const syncs[] = {"none", "norm", "loss", "step", "loss+norm"};

    for (size_t i = 0; i < sizeof(syncs) / sizeof(syncs[0]); i++) {
        double one_s = TIME("bert-base", "host-op", "16us/16us/164us", "host-sync", syncs[i],
                            "host-step", "300us");
        double many_s = TIME("bert-base", "host-op", "16us/16us/164us", "host-sync", syncs[i],
                             "host-step", "300us", "iterations", "12");

        ck_assert_msg(fabs(one_s - many_s) <= 0.002 * many_s, "%s: %g s alone, %g s in a row",
                      syncs[i], one_s, many_s);
    }
}

TEST(each_wait_costs_and_a_faster_core_spares)
{
    double none_s = TIME("bert-base", "host-op", "16us/16us/164us", "host-sync", "none");
    double norm_s = TIME("bert-base", "host-op", "16us/16us/164us", "host-sync", "norm");
    double fast_s =
        TIME("bert-base", "host-op", "16us/16us/164us", "host-sync", "norm", "host-speed", "4");

    ck_assert_double_lt(none_s, norm_s);
    ck_assert_double_lt(fast_s, norm_s);
}

TEST(a_step_that_waits_for_its_host_takes_all_its_launches)
{
    /* of a graph of n ops, each of 1 ms: all hold the GPU up */
    struct fr_record *r =
        ask("lenet", (const char *const[]){"host-op", "1ms", "host-step", "50ms", NULL});
    struct fr_record *plain = ask("lenet", (const char *const[]){"host-op", "1ms", NULL});

    ck_assert_double_eq_tol(r->iteration_s - plain->iteration_s, 0.05, 1e-6);
    fr_record_free(plain);
    fr_record_free(r);
}

/* Each of a recurrent layer's passes is one call; what is outside it takes 1 ms an op. */
TEST(a_recurrent_layer_is_one_call)
{
    struct fr_record *r = ask("rnnlm", (const char *const[]){"host-op", "1ms", NULL});
    struct fr_record *plain = ask("rnnlm", (const char *const[]){"seed", "0", NULL});
    double each_s = 1e-3 * (double)r->n_tasks / 2; /* of two GPUs, if each task took 1 ms */

    ck_assert_double_gt(r->iteration_s, plain->iteration_s);
    ck_assert_double_lt(r->iteration_s, plain->iteration_s + 0.5 * each_s);
    fr_record_free(plain);
    fr_record_free(r);
}

TEST(a_scaler_is_waited_for_under_16_bits_alone)
{
    double fp32_none_s = TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "none");
    double fp32_s = TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "scaler");
    double amp_s =
        TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "scaler", "precision", "amp");
    double amp_norm_s =
        TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "norm", "precision", "amp");

    ck_assert_double_eq(fp32_s, fp32_none_s);
    ck_assert_double_eq(amp_s, amp_norm_s);
}

TEST(a_sum_is_waited_for_where_there_is_one)
{
    double none_s = TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "none");
    double sum_s = TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "sum");
    double norm_s = TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "norm");
    double alone_s = TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "sum", "gpus", "1");
    double plain_s = TIME("lenet", "host-op", "16us/16us/164us", "host-sync", "none", "gpus", "1");

    ck_assert_double_lt(none_s, sum_s);
    ck_assert_double_eq(sum_s, norm_s);
    ck_assert_double_eq(alone_s, plain_s);
    ck_assert_double_eq(TIME("lenet", "strategy", "mp", "host-sync", "sum"),
                        TIME("lenet", "strategy", "mp", "host-sync", "none"));
}

/* Where the host decides, it takes as many times as long as there are GPUs that it drives. */
TEST(one_process_launches_for_its_gpus_in_turn)
{
    double own_s = TIME("lenet", "host-op", "1ms", "host-process", "gpu");
    double both_s = TIME("lenet", "host-op", "1ms", "host-process", "machine");
    double twice_s = TIME("lenet", "host-op", "2ms");
    double alone_s = TIME("lenet", "host-op", "1ms", "host-process", "machine", "gpus", "1");

    ck_assert_double_lt(own_s, both_s);
    ck_assert_double_eq_tol(both_s, twice_s, 1e-12);
    ck_assert_double_eq(alone_s, TIME("lenet", "host-op", "1ms", "gpus", "1"));
    ck_assert_double_eq(own_s, TIME("lenet", "host-op", "1ms"));
    /* two machines have a process each */
    ck_assert_double_eq_tol(
        TIME("lenet", "host-op", "1ms", "host-process", "machine", "topology",
             "2x dgx1-v100 via ib:100Gbps", "gpus", "4"),
        TIME("lenet", "host-op", "4ms", "topology", "2x dgx1-v100 via ib:100Gbps", "gpus", "4"),
        1e-12);
    ck_assert_double_eq_tol(TIME("lenet", "host-op", "1ms", "host-process", "machine", "topology",
                                 "2x dgx1-v100 via ib:100Gbps", "gpus", "4", "spread", "1"),
                            TIME("lenet", "host-op", "2ms", "topology",
                                 "2x dgx1-v100 via ib:100Gbps", "gpus", "4", "spread", "1"),
                            1e-12);
}

TEST(a_part_of_the_host_s_time_may_be_the_gpu_type_s)
{
    struct fr_question q;
    char *text;

    fr_question_init(&q);
    ck_assert_int_eq(fr_question_set(&q, "host-op", "device/device/33us", NULL), FR_OK);
    for (size_t i = 0; i < FR_N_SETTINGS; i++)
        if (strcmp(fr_question_setting(i), "host-op") == 0) {
            text = fr_question_text(&q, i);
            ck_assert_str_eq(text, "device/device/3.3e-05s");
            free(text);
        }
    ck_assert_double_gt(TIME("lenet", "host-op", "device/device/10ms"), TIME("lenet", "seed", "0"));
    ck_assert_double_eq(TIME("lenet", "host-op", "device/device/device"),
                        TIME("lenet", "seed", "0"));
}

TEST(messages_over_sockets_take_what_the_line_of_the_topology_says)
{
    static const char wire[] = "2x p3.16xlarge via ib:100Gbps";
    double verbs_s = TIME("vgg16", "topology", wire, "gpus", "16");
    double sockets_s = TIME("vgg16", "topology", wire, "gpus", "16", "transport", "sockets");
    double line_s =
        TIME("vgg16", "topology", "2x p3.16xlarge via ib:100Gbps over sockets", "gpus", "16");

    ck_assert_double_gt(sockets_s, 1.5 * verbs_s);
    ck_assert_double_eq(sockets_s, line_s);
    ck_assert_double_eq(TIME("vgg16", "topology", wire, "gpus", "16", "transport", "verbs"),
                        verbs_s);
    ck_assert_double_eq(TIME("vgg16", "transport", "sockets"), TIME("vgg16", "seed", "0"));
}

TEST(the_end_of_a_step_is_where_a_step_begins_without_a_word_of_hosts)
{
    ck_assert_double_eq(TIME("lenet", "host-sync", "step"), TIME("lenet", "seed", "0"));
}

TEST(cores_of_the_machine_decode_images)
{
    /* 8 images over 40 cores of the data sheet, at one in two seconds each */
    struct fr_record *r = ask("resnet50", (const char *const[]){"decode-rate", "0.5", NULL});
    struct fr_record *two =
        ask("resnet50", (const char *const[]){"decode-rate", "0.5", "host-cores", "2", NULL});

    ck_assert_double_eq_tol(r->input_s, 0.4, 1e-12);
    ck_assert_double_eq_tol(r->iteration_s, 0.4, 1e-12);
    ck_assert_double_eq_tol(two->iteration_s, 8, 1e-12);
    fr_record_free(two);
    fr_record_free(r);
}

TEST(the_range_of_a_step_is_that_of_what_is_computed)
{
    struct fr_record *plain = ask("resnet50", (const char *const[]){"input-rate", "any", NULL});
    struct fr_record *r;
    char rate[40];

    /* samples take a little more than what is computed, and less than the range's end */
    snprintf(rate, sizeof(rate), "%.17g", 8 / (1.01 * plain->iteration_s));
    r = ask("resnet50", (const char *const[]){"input-rate", rate, NULL});
    ck_assert_double_eq_tol(r->iteration_s, 1.01 * plain->iteration_s, 1e-9);
    ck_assert_double_gt(plain->interval.high_s, r->iteration_s);
    ck_assert_double_eq_tol(r->interval.high_s, plain->interval.high_s, 1e-9);
    ck_assert_double_eq_tol(r->interval.low_s, fmax(plain->interval.low_s, r->input_s), 1e-9);
    ck_assert_double_eq_tol(r->interval.median_s, fmax(plain->interval.median_s, r->input_s), 1e-9);
    fr_record_free(r);
    fr_record_free(plain);
}

TEST(a_gpu_that_waits_for_its_input_is_idle)
{
    struct fr_record *plain = ask("resnet50", (const char *const[]){"input-rate", "any", NULL});
    struct fr_record *r = ask("resnet50", (const char *const[]){"input-rate", "8", NULL});
    double wait_s = 1 - plain->iteration_s;

    ck_assert_double_eq_tol(r->input_wait_s, wait_s, 1e-12);
    ck_assert_double_eq_tol(r->bubble_s, plain->bubble_s + wait_s, 1e-9);
    for (size_t i = 0; i < r->n_devices; i++)
        ck_assert_double_eq_tol(r->devices[i].idle_s, plain->devices[i].idle_s + wait_s, 1e-9);
    /* no order of tasks is faster than the input */
    ck_assert_double_eq_tol(r->lower_bound_s, 1, 1e-12);
    ck_assert_double_eq_tol(r->interval.cost_error, plain->interval.cost_error, 1e-9);
    fr_record_free(r);
    fr_record_free(plain);
}

TEST(what_is_none_is_refused_and_changes_nothing)
{
    static const char *const bad[][2] = {{"host-op", "16us/"},
                                         {"host-op", "/"},
                                         {"host-op", "1us/2us/3us/4us"},
                                         {"host-op", "1us//2us"},
                                         {"host-op", "-1us"},
                                         {"host-op", ""},
                                         {"host-sync", "norm+"},
                                         {"host-sync", "+"},
                                         {"host-sync", "none+norm"},
                                         {"host-step", "-1ms"},
                                         {"host-step", "5"},
                                         {"host-step", "1000000days"},
                                         {"host-op", "device/1us"},
                                         {"host-process", "all"},
                                         {"transport", "tcp"},
                                         {"host-speed", "0"},
                                         {"host-speed", "nan"},
                                         {"decode-rate", "0"},
                                         {"decode-rate", "-3"},
                                         {"host-cores", "0"},
                                         {"host-cores", "many"},
                                         {"host-op", "nan"},
                                         {"host-sync", "stepstepstepstepstepstepstepstepstep"}};
    struct fr_question q;
    char *before, *after;

    fr_question_init(&q);
    ck_assert_int_eq(fr_question_set(&q, "host-op", "1us/2us/3us", NULL), FR_OK);
    ck_assert_int_eq(fr_question_set(&q, "host-sync", "micro", NULL), FR_OK);
    before = fr_question_key(&q);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(fr_question_set(&q, bad[i][0], bad[i][1], NULL) != FR_OK, "%s '%s'",
                      bad[i][0], bad[i][1]);
    after = fr_question_key(&q);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
}

int main(void)
{
    TCase *tc = tcase_create("host");

    add_tests(tc);
    return run_case(tc, "study/host");
}
