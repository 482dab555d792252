/* tests/study/test_sweep.c - grids, keys and shards, each against values worked out by hand; and
 * that threads change nothing. */
#include "config.h"

#include "results/results.h"
#include "study/sweep/state.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_error err;

static struct fr_sweep *new_sweep(void)
{
    struct fr_sweep *s = fr_sweep_new();
    ck_assert_ptr_nonnull(s);
    return s;
}

static void add(struct fr_sweep *s, const char *setting, const char *values)
{
    enum fr_status st = fr_sweep_add(s, setting, values, &err);
    ck_assert_msg(st == FR_OK, "%s %s: %s", setting, values, err.text);
}

/* The values of a setting, with blanks between. */
static const char *values_of(const struct fr_sweep *s, const char *setting)
{
    static char text[1024];
    size_t n, used = 0;
    const char *const *values = fr_sweep_axis(s, fr__setting_index(setting), &n);

    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "", values[i]);
    return text;
}

/* ---- grids ---- */

static const struct {
    const char *setting, *values, *expected;
} lists[] = {
    {"gpus", "1,2,4,8", "1 2 4 8"},
    {"gpus", "8,all", "8 all"},
    {"gpus", "2,1,2,02", "2 1"}, /* each once, as a question spells it */
    {"batch", "1..5", "1 2 3 4 5"},
    {"batch", "16..64+16", "16 32 48 64"},
    {"batch", "16..70+16", "16 32 48 64"}, /* the end is not stepped over */
    {"batch", "1..64x2", "1 2 4 8 16 32 64"},
    {"batch", "3..30x3,100", "3 9 27 100"},
    {"batch", "7..7", "7"},
    {"seed", "0..3", "0..3"},
    {"channels", "1,inf", "1 inf"},
    {"precision", "fp32,fp16,default", "fp32 fp16 default"},
    {"order", "fifo,strict", "fifo strict"},
    {"jitter", "0,0.05,5e-2", "0 0.05"},
    {"strategy", "dp:sync=ring,bucket=1MiB", "dp:sync=ring,bucket=1MiB"},
};

LOOP_TEST(lists_and_ranges_are_spelt_out, 0, sizeof(lists) / sizeof(lists[0]))
{
    struct fr_sweep *s = new_sweep();
    add(s, lists[_i].setting, lists[_i].values);
    ck_assert_str_eq(values_of(s, lists[_i].setting), lists[_i].expected);
    fr_sweep_free(s);
}

static const struct {
    const char *setting, *values, *says;
} bad_lists[] = {
    {"gpus", "0", "'--gpus'"},
    {"gpus", "", "empty value"},
    {"gpus", "1,,2", "empty value"},
    {"gpus", "1,", "empty value"},
    {"gpus", "8..1", "end"},
    {"gpus", "..8", "start"},
    {"gpus", "1..", "end"},
    {"gpus", "1..8+0", "step"},
    {"gpus", "1..8x1", "factor"},
    {"gpus", "1..8x", "factor"},
    {"gpus", "1..8+x2", "step"},
    {"gpus", "1...8", "end"},
    {"gpus", "-1..8", "start"},
    {"gpus", "1..4294967294", "over 10000 values"},
    {"gpus", "99999999999999999999999999999999999999999999999999999999999999999", "bytes"},
    {"image-size", "0..8x2", "cannot start at 0"},
    {"seed", "0,1", "each point is answered with all"},
    {"order", "fifo,lifo", "did you mean 'fifo'"},
    {"jitter", "nan", "'--jitter'"},
    {"strategy", "pd", "did you mean"},
    {"strategy", "dp,pp", "unknown strategy 'dp,pp'"},
    {"gpu", "1", "did you mean 'gpus'"},
};

LOOP_TEST(bad_values_are_refused, 0, sizeof(bad_lists) / sizeof(bad_lists[0]))
{
    struct fr_sweep *s = new_sweep();
    ck_assert_int_ne(fr_sweep_add(s, bad_lists[_i].setting, bad_lists[_i].values, &err), FR_OK);
    ck_assert_msg(strstr(err.text, bad_lists[_i].says) != NULL, "%s: %s", bad_lists[_i].values,
                  err.text);
    fr_sweep_free(s);
}

TEST(points_count_up_with_the_last_setting_fastest)
{
    static const struct {
        const char *workload;
        size_t gpus;
        const char *strategy;
    } expected[] = {{"lenet", 1, "single"},   {"lenet", 1, "dp"},       {"lenet", 2, "single"},
                    {"lenet", 2, "dp"},       {"alexnet", 1, "single"}, {"alexnet", 1, "dp"},
                    {"alexnet", 2, "single"}, {"alexnet", 2, "dp"}};
    struct fr_sweep *s = new_sweep();
    add(s, "strategy", "single");
    add(s, "gpus", "1,2");
    add(s, "workload", "lenet");
    add(s, "topology", "dgx1-v100");
    add(s, "workload", "alexnet");
    add(s, "strategy", "dp");
    ck_assert_int_eq(fr_sweep_finish(s, &err), FR_OK);
    ck_assert_uint_eq(fr_sweep_n_points(s), 8);
    for (size_t i = 0; i < 8; i++) {
        struct fr_question q;
        fr_sweep_question(s, i, &q);
        ck_assert_str_eq(q.workload, expected[i].workload);
        ck_assert_uint_eq(q.n_gpus, expected[i].gpus);
        ck_assert_str_eq(q.strategy, expected[i].strategy);
    }
    fr_sweep_free(s);
}

TEST(all_is_everything_there_is)
{
    struct fr_sweep *s = new_sweep();
    size_t n, n_zoo = 0, n_presets = 0;
    add(s, "workload", "all");
    add(s, "topology", "all");
    for (size_t i = 0; fr_zoo_name(i); i++)
        n_zoo += strpbrk(fr_zoo_name(i), "LW") == NULL; /* wresnet-L-W is a pattern */
    while (fr_topo_preset_name(n_presets))
        n_presets++;
    (void)fr_sweep_axis(s, fr__setting_index("workload"), &n);
    ck_assert_uint_eq(n, n_zoo);
    (void)fr_sweep_axis(s, fr__setting_index("topology"), &n);
    ck_assert_uint_eq(n, n_presets);
    fr_sweep_free(s);
}

TEST(a_grid_of_over_a_million_points_is_refused)
{
    struct fr_sweep *s = new_sweep();
    add(s, "workload", "lenet");
    add(s, "topology", "dgx1-v100");
    add(s, "iterations", "1..1000");
    add(s, "batch", "1..1001"); /* times all strategies */
    ck_assert_int_eq(fr_sweep_finish(s, &err), FR_ERANGE);
    fr_sweep_free(s);
}

TEST(a_workload_and_a_topology_must_be_there)
{
    struct fr_sweep *s = new_sweep();
    ck_assert_int_eq(fr_sweep_finish(s, &err), FR_EUSAGE);
    add(s, "workload", "lenet");
    ck_assert_int_eq(fr_sweep_finish(s, &err), FR_EUSAGE);
    add(s, "topology", "dgx1-v10");
    ck_assert_int_eq(fr_sweep_finish(s, &err), FR_ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "dgx1-v100"));
    fr_sweep_free(s);
}

/* ---- keys ---- */

TEST(a_key_spells_out_every_setting)
{
    struct fr_question q;
    fr_question_init(&q);
    q.workload = "vgg19";
    q.topology = "2x dgx1-v100 via ib:100Gbps";
    q.strategy = "dp:overlap=0";
    q.n_gpus = 16;
    q.batch_per_gpu = 32;
    q.run.jitter_cv = 0.1;
    char *key = fr_question_key(&q);
    ck_assert_str_eq(
        key, "workload=vgg19|topology=2x dgx1-v100 via ib:100Gbps|precision=default|"
             "seq-len=default|image-size=default|gpus=16|spread=0|devices=none|batch=default|"
             "batch-per-gpu=32|strategy=dp:overlap=0|optimizer=sgd|zero-grad=none|order=priority|"
             "network=flow|channels=inf|collectives=auto|alloc=dispatch|memory=device|iterations=1|"
             "seed=0|jitter=0.1|device-jitter=0|interference=measured|slow=none|degrade=none|costs="
             "calibrated|profile-device=none|collective-algorithm=none|protocol=none|nccl-channels="
             "default|nccl-version=none|measured=none");
    free(key);
}

TEST(no_name_can_pass_for_another_key)
{
    struct fr_question q;
    fr_question_init(&q);
    q.workload = "a|topology=b\\\n";
    q.topology = "c";
    q.strategy = "dp";
    char *key = fr_question_key(&q);
    ck_assert_ptr_nonnull(strstr(key, "workload=a\\|topology=b\\\\\\x0a|topology=c|"));
    free(key);
}

/* A value of each setting that is not its default, in the order of settings. */
static const struct {
    const char *name, *text;
} values[] = {{"workload", "x"},
              {"topology", "y"},
              {"precision", "bf16"},
              {"seq-len", "128"},
              {"image-size", "299"},
              {"gpus", "4"},
              {"spread", "1"},
              {"devices", "n0.gpu1,n0.gpu0"},
              {"batch", "64"},
              {"batch-per-gpu", "8"},
              {"strategy", "pp"},
              {"optimizer", "adam"},
              {"zero-grad", "zero"},
              {"order", "strict"},
              {"network", "analytic"},
              {"channels", "3"},
              {"collectives", "closed"},
              {"alloc", "start"},
              {"memory", "liveness"},
              {"iterations", "5"},
              {"seed", "18446744073709551615"},
              {"jitter", "0.25"},
              {"device-jitter", "0.125"},
              {"interference", "1.25"},
              {"slow", "n0.gpu1=2"},
              {"degrade", "n0.nic0=0.5"},
              {"costs", "datasheet"},
              {"profile-device", "a40-48gb"},
              {"collective-algorithm", "tree"},
              {"protocol", "LL128"},
              {"nccl-channels", "16"},
              {"nccl-version", "2.21"},
              {"recipe", "pytorch-ddp"},
              {"measured", "412ms"},
              {"fuse", "bias-activation+xla"},
              {"input-rate", "2000"},
              {"host-op", "2e-05s"},
              {"gpu-variation", "0.015"},
              {"length-variation", "0.057"},
              {"host-sync", "loss+scaler+sum"},
              {"host-step", "0.002s"},
              {"host-process", "machine"},
              {"transport", "sockets"},
              {"host-speed", "0.8"},
              {"decode-rate", "192"},
              {"host-cores", "40"},
              {"layout", "nhwc"},
              {"power-limit", "500W"},
              {"update", "torch-adamw-loop+torch-clip-foreach"},
              {"tune", "lora:rank=16,targets=q+v"}};

TEST(every_setting_reads_back_what_it_writes)
{
    struct fr_question q;
    char *key, *default_key;
    fr_question_init(&q);
    default_key = fr_question_key(&q);
    for (size_t i = 0; i < FR_N_SETTINGS; i++) {
        ck_assert_str_eq(fr_question_setting(i), values[i].name);
        ck_assert_int_eq(fr_question_set(&q, values[i].name, values[i].text, &err), FR_OK);
        char *text = fr_question_text(&q, i);
        ck_assert_str_eq(text, values[i].text);
        free(text);
        key = fr_question_key(&q);
        ck_assert_str_ne(key, default_key); /* it shows in the key */
        free(default_key);
        default_key = key;
    }
    free(default_key);
}

/* ---- shards ---- */

TEST(shards_part_the_points_evenly_and_mixed)
{
    const uint32_t n = 4;
    struct fr_sweep *shards[4];
    for (uint32_t i = 0; i < n; i++) {
        shards[i] = new_sweep();
        add(shards[i], "workload", "lenet");
        add(shards[i], "topology", "dgx1-v100");
        add(shards[i], "batch", "1..10"); /* and four strategies: 40 points */
        ck_assert_int_eq(fr_sweep_shard(shards[i], i + 1, n, &err), FR_OK);
        ck_assert_int_eq(fr_sweep_finish(shards[i], &err), FR_OK);
    }
    for (uint32_t i = 0; i < n; i++) {
        size_t n_mine = 0, n_of_strategy[4] = {0};
        for (size_t point = 0; point < 40; point++) {
            size_t n_owners = 0;
            for (uint32_t k = 0; k < n; k++)
                n_owners += fr_sweep_is_mine(shards[k], point);
            ck_assert_uint_eq(n_owners, 1);
            n_mine += fr_sweep_is_mine(shards[i], point);
            n_of_strategy[point % 4] += fr_sweep_is_mine(shards[i], point);
        }
        ck_assert_uint_eq(n_mine, 10);
        for (size_t k = 0; k < 4; k++) /* 10 over 4 strategies */
            ck_assert_uint_ge(n_of_strategy[k], 2);
    }
    ck_assert_int_eq(fr_sweep_shard(shards[0], 5, 4, &err), FR_ERANGE);
    ck_assert_int_eq(fr_sweep_shard(shards[0], 0, 4, &err), FR_ERANGE);
    for (uint32_t i = 0; i < n; i++)
        fr_sweep_free(shards[i]);
}

/* ---- running ---- */

static struct fr_sweep *small_sweep(void)
{
    struct fr_sweep *s = new_sweep();
    add(s, "workload", "lenet");
    add(s, "workload", "alexnet");
    add(s, "topology", "dgx1-v100");
    add(s, "gpus", "1,2,16"); /* 16 are not there */
    add(s, "batch", "3,4096");
    add(s, "jitter", "0,0.1");
    ck_assert_int_eq(fr_sweep_finish(s, &err), FR_OK);
    return s;
}

static char *json_with_threads(unsigned n)
{
    const struct fr_sweep_options o = {
        .n_threads = n, .with_records = true, .print_record = fr_record_print_json};
    const struct fr_sweep_terms terms = {.samples = 0};
    struct fr_sweep *s = small_sweep();
    struct fr_sweep_summary *m;
    char *text = NULL;
    size_t length;
    ck_assert_int_eq(fr_sweep_run(s, &o, NULL, &err), FR_OK);
    ck_assert_int_eq(fr_sweep_summarise(s, &terms, &m, &err), FR_OK);
    ck_assert_uint_eq(m->n[FR_FAILED] + m->n_missing, 0);
    ck_assert_uint_gt(m->n[FR_FITS], 0);
    ck_assert_uint_ge(m->n[FR_IMPOSSIBLE], 32); /* a third of 2 x 3 x 2 x 2 x 4 */
    FILE *f = open_memstream(&text, &length);
    const struct fr_sweep_answer a = {
        .sweep = s, .summary = m, .wanted = &(struct fr_sweep_table){.all_rows = true}};
    fr_show_json(f, fr_shown_sweep(&a));
    ck_assert_int_eq(fr_show_text(f, fr_shown_sweep(&a), 0, NULL), FR_OK);
    fclose(f);
    fr_sweep_summary_free(m);
    fr_sweep_free(s);
    return text;
}

TEST(eight_threads_write_what_one_writes)
{
    char *one = json_with_threads(1), *eight = json_with_threads(8);
    ck_assert_str_eq(one, eight);
    free(one);
    free(eight);
}

TEST(what_cannot_be_asked_is_a_row_with_a_reason)
{
    const struct fr_sweep_options o = {.n_threads = 1};
    struct fr_sweep *s = small_sweep();
    size_t n_reasons = 0, n_strategies = 0;
    for (size_t i = 0; fr_strategy_at(i); i++)
        n_strategies += !fr_strategy_at(i)->is_by_name_only;
    ck_assert_int_eq(fr_sweep_run(s, &o, NULL, &err), FR_OK);
    for (size_t i = 0; i < fr_sweep_n_points(s); i++) {
        const struct fr_sweep_row *row = fr_sweep_row(s, i);
        ck_assert_ptr_nonnull(row);
        if (row->gpus == 16) {
            ck_assert_int_eq(row->outcome, FR_IMPOSSIBLE);
            ck_assert_ptr_nonnull(strstr(row->reason, "16 GPUs asked for"));
            n_reasons++;
        }
        ck_assert_int_eq(row->outcome == FR_FITS, row->reason[0] == '\0');
    }
    ck_assert_uint_eq(n_reasons, 8 * n_strategies);
    fr_sweep_free(s);
}

TEST(a_cancelled_run_keeps_its_rows_and_goes_on)
{
    const struct fr_sweep_options o = {.n_threads = 2};
    volatile int cancel = 1;
    const struct fr_context ctx = {.cancel = &cancel};
    struct fr_sweep *s = small_sweep();
    ck_assert_int_eq(fr_sweep_run(s, &o, &ctx, &err), FR_ECANCELLED);
    cancel = 0;
    ck_assert_int_eq(fr_sweep_run(s, &o, &ctx, &err), FR_OK);
    for (size_t i = 0; i < fr_sweep_n_points(s); i++)
        ck_assert_ptr_nonnull(fr_sweep_row(s, i));
    fr_sweep_free(s);
}

int main(void)
{
    fr_init();
    TCase *tc = tcase_create("sweep");
    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "sweep");
}
