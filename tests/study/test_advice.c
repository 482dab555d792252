/* tests/study/test_advice.c - what would help when it does not fit, on an op whose memory can be
 * worked out: the toy of the golden cases on GPUs of 64 MiB, 1 MiB of it context.
 *
 * The toy has 1,000,000 bytes of parameters and as many of gradients; both are small blocks of
 * 1,000,448 bytes and share a segment of 2 MiB. Per sample its input and its output take 1024
 * bytes each, and both are alive at once; from 10 MiB on each has a segment rounded up to 2 MiB.
 */
#include "config.h"

#include "results/results.h"
#include "tests/support/json_check.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

struct asked {
    char workload[512], topology[512];
    struct fr_question question;
};

static void ask(struct asked *a, const char *strategy, size_t n_gpus, uint32_t batch)
{
    const char *srcdir = getenv("srcdir");

    snprintf(a->workload, sizeof(a->workload), "%s/tests/golden/cli/toy", srcdir ? srcdir : ".");
    snprintf(a->topology, sizeof(a->topology), "%s/tests/golden/cli/pair.yaml",
             srcdir ? srcdir : ".");
    fr_question_init(&a->question);
    a->question.workload = a->workload;
    a->question.topology = a->topology;
    a->question.strategy = strategy;
    a->question.n_gpus = n_gpus;
    a->question.global_batch = batch;
    a->question.with_advice = true;
    a->question.no_timing = true;
}

static struct fr_record *answer(const struct asked *a)
{
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};

    ck_assert_msg(fr_answer(&a->question, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static const struct fr_record_advice *find(const struct fr_record *r, const char *options)
{
    for (size_t i = 0; i < r->n_advice; i++)
        if (strcmp(r->advice[i].options, options) == 0)
            return &r->advice[i];
    return NULL;
}

/* A trial that dpos cannot pass is answered without its plan: on two V100s of 16 GB the activations
 * of 2 sequences have room, those of 512 have not. */
START_TEST(what_all_gpus_have_no_room_for_is_not_planned)
{
    struct fr_question q;
    struct fr_setting setting;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = "gpt2-small";
    q.topology = "dgx1-v100";
    q.n_gpus = 2;
    q.strategy = "dpos";
    q.is_brief = true;
    for (q.global_batch = 2; q.global_batch <= 512; q.global_batch *= 256) {
        struct fr_record *r = NULL;
        bool is_overfull = false;
        enum fr_status st;

        q.is_overfull = &is_overfull;
        ck_assert_int_eq(fr_setting_load(&setting, &q, &err), FR_OK);
        st = fr_answer_on(&setting, &q, NULL, &r, &err);
        ck_assert_int_eq(st, q.global_batch == 2 ? FR_OK : FR_ENOROOM);
        ck_assert_int_eq(is_overfull, q.global_batch != 2);
        fr_record_free(r);
        fr_setting_fini(&setting);
    }
}
END_TEST

/* 2 R + 2 + 1 <= 64 MiB with R a multiple of 2 MiB: R = 30 MiB, 30720 samples of 1024 bytes. The
 * peak is then 60 + 2 + 1. */
START_TEST(finds_the_largest_batch_that_fits)
{
    const struct fr_record_advice *advice;
    struct fr_record *r;
    struct asked a;

    ask(&a, "single", 1, 60000);
    r = answer(&a);
    ck_assert(r->oom && r->has_advice && !r->is_advice_cut_short);
    advice = find(r, "-b 30720");
    ck_assert_ptr_nonnull(advice);
    ck_assert(advice->changes_training);
    ck_assert_uint_eq(advice->peak_bytes, 63 * MIB);
    ck_assert_str_eq(advice->change, "30720 samples instead of 60000");
    fr_record_free(r);
    for (uint32_t batch = 30720; batch <= 30721; batch++) {
        ask(&a, "single", 1, batch);
        r = answer(&a);
        ck_assert_int_eq(r->oom, batch == 30721);
        fr_record_free(r);
    }
}
END_TEST

/* 50000 samples on one GPU need 2 x 50 MiB. On two, 25000 each take 24.4, so 26 MiB twice;
 * parameters, gradients and the gradient bucket of 1,000,000 bytes two small segments; with the
 * context 57 MiB. */
START_TEST(more_gpus_leave_the_training_as_it_is_and_go_first)
{
    struct fr_record *r;
    struct asked a;

    ask(&a, "dp", 1, 50000);
    r = answer(&a);
    ck_assert(r->oom);
    ck_assert_uint_ge(r->n_advice, 2);
    ck_assert_str_eq(r->advice[0].options, "-g 2");
    ck_assert(!r->advice[0].changes_training);
    ck_assert_uint_eq(r->advice[0].peak_bytes, 57 * MIB);
    ck_assert(r->advice[0].speed > 1);
    ck_assert(r->advice[r->n_advice - 1].changes_training);
    fr_record_free(r);
}
END_TEST

/* More GPUs than those named are counted again. */
START_TEST(more_gpus_than_the_named_ones_help_too)
{
    struct fr_record *r;
    struct asked a;

    ask(&a, "dp", 0, 50000);
    a.question.devices = "n0.gpu1";
    r = answer(&a);
    ck_assert(r->oom);
    ck_assert_str_eq(r->oom_why.device, "n0.gpu1");
    ck_assert_str_eq(r->advice[0].options, "-g 2");
    ck_assert_str_eq(r->advice[0].change, "2 GPUs instead of the named 1");
    ck_assert_uint_eq(r->advice[0].peak_bytes, 57 * MIB);
    fr_record_free(r);
}
END_TEST

/* 60000 samples in two micro-batches: 30000, 2 R of 30 MiB as in the first case, and the
 * gradients are there as they were. Of 120000 the four of 30000; 60001 do not make equal ones. */
START_TEST(micro_batches_leave_the_training_as_it_is)
{
    static const struct {
        const char *strategy;
        uint32_t batch;
        const char *options;
    } rows[] = {
        {"single", 60000, "-s single:accumulate=2"},
        {"single", 120000, "-s single:accumulate=4"},
        {"single:accumulate=2", 120000, "-s single:accumulate=4"},
        {"dp:accumulate=1,overlap=0", 60000, "-s dp:accumulate=2,overlap=0"},
        {"dp:overlap=0", 60000, "-s dp:overlap=0,accumulate=2"},
        {"single", 60001, NULL},
        {"mp", 60000, NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct fr_record_advice *advice = NULL;
        struct fr_record *r;
        struct asked a;

        ask(&a, rows[i].strategy, 1, rows[i].batch);
        r = answer(&a);
        ck_assert(r->oom);
        for (size_t k = 0; k < r->n_advice; k++)
            if (strstr(r->advice[k].change, "micro-batches an update"))
                advice = &r->advice[k];
        ck_assert(!advice == !rows[i].options);
        if (advice) {
            ck_assert_str_eq(advice->options, rows[i].options);
            ck_assert_uint_eq(advice->peak_bytes, 63 * MIB);
            ck_assert(!advice->changes_training);
        }
        fr_record_free(r);
    }
}
END_TEST

/* 30720 samples fill the GPU to its last MiB. Adam's two states of 1,000,000 bytes share a small
 * segment of 2 MiB more, and momentum's one takes such a segment too. So plain SGD helps and
 * momentum does not. */
START_TEST(an_optimizer_that_keeps_less_may_help)
{
    struct fr_record *r;
    struct asked a;

    ask(&a, "single", 1, 30720);
    a.question.optimizer = FR_ADAM;
    r = answer(&a);
    ck_assert(r->oom);
    ck_assert_ptr_nonnull(find(r, "-O sgd"));
    ck_assert_ptr_null(find(r, "-O momentum"));
    ck_assert(find(r, "-O sgd")->changes_training);
    ck_assert_ptr_null(find(r, "-g 2")); /* one model on one GPU all the same */
    fr_record_free(r);
}
END_TEST

/* A model that fits nowhere without options: what an advice says is what its options give when
 * they are asked for, and neither of two options that are named together would do alone. */
static void ask_large(struct asked *a, const char *strategy)
{
    ask(a, strategy, 0, 32);
    a->question.workload = "llama2-7b";
    a->question.topology = "hgx-h100";
    a->question.dtype = FR_BF16;
    a->question.optimizer = FR_ADAM;
    a->question.with_advice = false;
}

static bool fits(const char *strategy, double *samples_per_s)
{
    struct fr_record *r;
    struct asked a;
    bool does_fit;

    ask_large(&a, strategy);
    r = answer(&a);
    does_fit = !r->oom;
    *samples_per_s = r->samples_per_s;
    fr_record_free(r);
    return does_fit;
}

/* "NAME:A,B" is taken apart into NAME:A and NAME:B. */
static void neither_fits(const char *spec)
{
    const char *comma = strchr(spec, ','), *colon = strchr(spec, ':');
    char one[160];
    double ignored;

    ck_assert(colon && comma);
    snprintf(one, sizeof(one), "%.*s", (int)(comma - spec), spec);
    ck_assert_msg(!fits(one, &ignored), "%s", one);
    snprintf(one, sizeof(one), "%.*s%s", (int)(colon + 1 - spec), spec, comma + 1);
    ck_assert_msg(!fits(one, &ignored), "%s", one);
}

START_TEST(two_options_together_help_where_neither_does)
{
    static const char *const asked[] = {"hybrid", "dp"};

    for (size_t k = 0; k < 2; k++) {
        unsigned n_pairs = 0;
        struct fr_record *r;
        struct asked a;

        ask_large(&a, asked[k]);
        a.question.with_advice = true;
        r = answer(&a);
        ck_assert(r->oom && !r->is_advice_cut_short);
        for (size_t i = 0; i < r->n_advice; i++) {
            const struct fr_record_advice *x = &r->advice[i];
            double samples_per_s;

            if (strncmp(x->options, "-s hybrid:", 10) != 0)
                continue;
            ck_assert(fits(x->options + 3, &samples_per_s) && !x->changes_training);
            ck_assert_double_eq(samples_per_s, x->samples_per_s);
            ck_assert_double_eq_tol(x->speed, samples_per_s / r->samples_per_s, 1e-12);
            ck_assert(strstr(x->change, k == 0 ? " and " : "strategy hybrid:"));
            neither_fits(x->options + 3);
            n_pairs++;
        }
        ck_assert_uint_ge(n_pairs, 2);
        ck_assert_uint_le(n_pairs, 4);
        fr_record_free(r);
    }
}
END_TEST

/* What the user asked for stays in the spec, and values that are there or are milder are not
 * tried. */
START_TEST(options_are_changed_on_top_of_those_asked_for)
{
    struct fr_record *r;
    struct asked a;
    bool has_some = false;

    ask_large(&a, "hybrid:zero=1,sp=0");
    a.question.with_advice = true;
    r = answer(&a);
    ck_assert(r->oom);
    for (size_t i = 0; i < r->n_advice; i++) {
        const char *options = r->advice[i].options;

        if (strncmp(options, "-s hybrid:", 10) != 0)
            continue;
        ck_assert_ptr_nonnull(strstr(options, ",sp=0"));
        ck_assert_ptr_null(strstr(r->advice[i].change, "zero=1"));
        has_some = true;
    }
    ck_assert_ptr_nonnull(find(r, "-s hybrid:zero=1,sp=0,recompute=full"));
    ck_assert(has_some);
    fr_record_free(r);
}
END_TEST

/* 4 x 12 x 32768^2 parameters take 192 GiB and their gradients as much: too much for two GPUs of 64
 * MiB and for the presets of the next sizes, sixteen GPUs of 12 GiB and eight of 16. */
START_TEST(says_when_nothing_helps)
{
    struct fr_record *r;
    struct asked a;
    char *text, line[80];
    size_t size;
    FILE *f;

    ask(&a, "single", 1, 1);
    a.question.workload = "gpt:layers=4,hidden=32768,heads=64,seq=16,vocab=1000";
    r = answer(&a);
    ck_assert(r->oom && r->has_advice);
    ck_assert_uint_eq(r->n_advice, 0);
    ck_assert_uint_gt(r->advice_tried, 0);
    f = open_memstream(&text, &size);
    ck_assert_int_eq(fr_show_text(f,
                                  fr_shown_run(&(struct fr_results){
                                      .records = (const struct fr_record *const[]){r}, .n = 1}),
                                  0, NULL),
                     FR_OK);
    fclose(f);
    snprintf(line, sizeof(line), "\nno change fits: %u were simulated\n", r->advice_tried);
    ck_assert_uint_eq(count_of(text, line), 1);
    free(text);
    fr_record_free(r);
}
END_TEST

/* vgg16's parameters fit on neither GPU of 64 MiB: the next cluster is one of larger GPUs. */
START_TEST(other_machines_are_named_where_nothing_on_these_fits)
{
    struct fr_record *r;
    struct asked a;

    ask(&a, "single", 1, 1);
    a.question.workload = "vgg16";
    r = answer(&a);
    ck_assert(r->oom);
    ck_assert_uint_gt(r->n_advice, 0);
    for (size_t i = 0; i < r->n_advice; i++) {
        ck_assert_ptr_eq(strstr(r->advice[i].options, "-t "), r->advice[i].options);
        ck_assert(!r->advice[i].changes_training && r->advice[i].samples_per_s > 0);
    }
    fr_record_free(r);
}
END_TEST

START_TEST(is_not_looked_for_unless_asked_and_needed)
{
    struct fr_record *r;
    struct asked a;

    ask(&a, "single", 1, 60000);
    a.question.with_advice = false;
    r = answer(&a);
    ck_assert(r->oom && !r->has_advice);
    fr_record_free(r);
    ask(&a, "single", 1, 4);
    r = answer(&a);
    ck_assert(!r->oom && !r->has_advice);
    fr_record_free(r);
}
END_TEST

START_TEST(the_json_has_it_too)
{
    struct fr_record *r;
    struct asked a;
    const char *item;
    bool has_half = false;
    char *text;
    size_t size;
    FILE *f;

    ask(&a, "single", 1, 60000);
    r = answer(&a);
    f = open_memstream(&text, &size);
    fr_show_json(f, fr_shown_run(&(struct fr_results){
                        .records = (const struct fr_record *const[]){r}, .n = 1}));
    fclose(f);
    ck_assert(is_json(text));
    ck_assert(json_is_word(json_member(text, "advice_cut_short"), "false"));
    ck_assert_double_eq(json_number(json_member(text, "advice_tried")), r->advice_tried);
    ck_assert_uint_gt(r->n_advice, 0);
    item = json_item(json_member(text, "advice"), 0);
    for (size_t i = 0; i < r->n_advice; i++, item = json_next_item(item)) {
        const struct fr_record_advice *x = &r->advice[i];

        ck_assert_ptr_nonnull(item);
        ck_assert(json_is_string(json_member(item, "change"), x->change));
        ck_assert(json_is_string(json_member(item, "options"), x->options));
        ck_assert(json_is_word(json_member(item, "changes_training"),
                               x->changes_training ? "true" : "false"));
        ck_assert_double_eq(json_number(json_member(item, "speed")), x->speed);
        ck_assert_double_eq(json_number(json_member(item, "samples_per_s")), x->samples_per_s);
        ck_assert_double_eq(json_number(json_member(item, "peak_bytes")), (double)x->peak_bytes);
        has_half = has_half || strcmp(x->options, "-b 30720") == 0;
    }
    ck_assert(!item && has_half);
    free(text);
    fr_record_free(r);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("results/advice");
    TCase *t = tcase_create("advice");

    tcase_add_test(t, what_all_gpus_have_no_room_for_is_not_planned);
    tcase_add_test(t, finds_the_largest_batch_that_fits);
    tcase_add_test(t, more_gpus_leave_the_training_as_it_is_and_go_first);
    tcase_add_test(t, more_gpus_than_the_named_ones_help_too);
    tcase_add_test(t, micro_batches_leave_the_training_as_it_is);
    tcase_add_test(t, an_optimizer_that_keeps_less_may_help);
    tcase_add_test(t, two_options_together_help_where_neither_does);
    tcase_add_test(t, options_are_changed_on_top_of_those_asked_for);
    tcase_add_test(t, says_when_nothing_helps);
    tcase_add_test(t, other_machines_are_named_where_nothing_on_these_fits);
    tcase_add_test(t, is_not_looked_for_unless_asked_and_needed);
    tcase_add_test(t, the_json_has_it_too);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
