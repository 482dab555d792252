/* tests/results/test_explain.c - a record of decisions made by hand is explained: no strategy is
 * asked.
 *
 * Two operations on two GPUs: a on the first [0, 2] ms, then b on the second [3, 5] ms, to which
 * what a made moves in 1 ms. On the first GPU b would have ended at 6 ms.
 */
#include "config.h"

#include "results/drawings/explain.h"
#include "results/pictures/pictures.h"
#include "results/document/explain.h"
#include "study/answer/record.h"
#include "tests/support/base_check.h"
#include "tests/support/drawing_check.h"
#include "tests/support/json_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fr_reason soonest = {.kind = FR_REASON_CHOSEN,
                                         .token = "soonest",
                                         .words = "ends soonest",
                                         .picked = "soonest",
                                         .picked_of_equals = "as soon as others"};
static const struct fr_reason fixed = {
    .kind = FR_REASON_BOUND, .token = "fixed", .words = "fixed by the test"};

static const struct fr_decided_op ops[] = {
    {.name = "a",
     .phase = FR_PHASE_FORWARD,
     .op = 0,
     .task = FR_NONE,
     .device = 0,
     .n_parts = 1,
     .start_s = 0,
     .end_s = 0.002,
     .via = FR_NONE,
     .reason = &fixed,
     .follows = FR_NONE,
     .gap_begin_s = 0,
     .gap_end_s = INFINITY},
    {.name = "b",
     .phase = FR_PHASE_FORWARD,
     .op = 1,
     .task = FR_NONE,
     .device = 1,
     .n_parts = 1,
     .start_s = 0.003,
     .end_s = 0.005,
     .via = FR_NONE,
     .reason = &soonest,
     .follows = FR_NONE,
     .gap_begin_s = 0,
     .gap_end_s = INFINITY,
     .remark = ", as a test"},
};
static const struct fr_alternative alternatives[] = {{0, 0, 0.002, 0, 10},
                                                     {0, 0, 0.002, 0, 10},
                                                     {0.002, 0.004, 0.006, 0, 5},
                                                     {0.003, 0.003, 0.005, 0, 5}};
static const struct fr_decided_edge edges[] = {{0, 1, 1000, 0.001, false}};
static const uint32_t in_order[] = {0, 1}, out_first[] = {0, 1, 1}, in_first[] = {0, 0, 1},
                      in_edges[] = {0};

struct told {
    struct fr_explanation e;
    struct fr_decided_device devices[2];
    struct fr_decided_plan plan;
    struct fr_decisions decisions;
    char *text;
    size_t n;
};

/* The least that a strategy may leave: a schedule. */
static void set_up(struct told *t)
{
    struct fr_error err = {.text = ""};

    memset(t, 0, sizeof(*t));
    fr_question_init(&t->e.question);
    t->e.question.workload = "lenet";
    t->e.question.topology = "dgx1-v100";
    t->e.question.n_gpus = 2;
    t->e.question.global_batch = 8;
    t->e.question.strategy = "by-hand";
    ck_assert_msg(fr_setting_load(&t->e.setting, &t->e.question, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(
        fr__problem_make(&t->e.problem, &t->e.devices, &t->e.setting, &t->e.question, &err), FR_OK);
    for (uint32_t d = 0; d < 2; d++)
        t->devices[d] = (struct fr_decided_device){d ? "right" : "left", d, 0, 100};
    t->plan = (struct fr_decided_plan){.token = "by-hand",
                                       .heading = "By hand:",
                                       .title = "",
                                       .caption = "made by hand",
                                       .makespan_s = 0.005,
                                       .n_ops = 2,
                                       .ops = ops,
                                       .order = in_order};
    t->decisions = (struct fr_decisions){.believed_s = 0.005,
                                         .start = "nothing",
                                         .start_words = "nothing",
                                         .n_devices = 2,
                                         .devices = t->devices,
                                         .n_plans = 1,
                                         .plans = &t->plan};
    t->e.decisions = &t->decisions;
}

static void tell_all_of_it(struct told *t)
{
    t->plan.n_edges = 1;
    t->plan.edges = edges;
    t->plan.out_first = out_first;
    t->plan.in_first = in_first;
    t->plan.in_edges = in_edges;
    t->plan.list = t->plan.place = in_order;
    t->plan.alternatives = alternatives;
}

static void tear_down(struct told *t)
{
    free(t->e.devices);
    fr_setting_fini(&t->e.setting);
    free(t->text);
}

static const char *print(struct told *t, const char *op)
{
    const struct fr_explanation_answer a = {&t->e, {.op = op}};
    struct fr_error err = {.text = ""};
    FILE *f;

    free(t->text);
    f = open_memstream(&t->text, &t->n);
    ck_assert_ptr_nonnull(f);
    ck_assert_msg(fr_show_text(f, fr_shown_explanation(&a), 0, &err) == FR_OK, "%s", err.text);
    fclose(f);
    return t->text;
}

TEST(a_schedule_alone_is_told)
{
    struct told t;
    const char *text;

    set_up(&t);
    text = print(&t, NULL);
    ck_assert_ptr_nonnull(strstr(text, "By hand: 2 operations and 0 edges.\n"));
    ck_assert_ptr_nonnull(strstr(text, "  1  a          left       0    2\n"));
    ck_assert_ptr_nonnull(strstr(text, "  2  b          right      3    5\n"));
    ck_assert_ptr_nonnull(strstr(text, "The step takes 5 ms.\n"));
    ck_assert_ptr_null(strstr(text, "Rank"));
    ck_assert_ptr_null(strstr(text, "critical path"));
    ck_assert_ptr_null(strstr(text, "Splitting"));
    tear_down(&t);
}

TEST(decisions_are_told_with_their_reasons_and_alternatives)
{
    struct told t;
    const char *text;

    set_up(&t);
    tell_all_of_it(&t);
    text = print(&t, NULL);
    ck_assert_ptr_nonnull(strstr(text,
                                 "\n1. a: fixed by the test, left\n  ready 0, starts 0, ends 2; "
                                 "free from 0 on\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n2. b, as a test\n"));
    ck_assert_ptr_nonnull(strstr(text, "  left       2    4    6\n"));
    ck_assert_ptr_nonnull(strstr(text, "  right      3    3    5    soonest, free from 0 on\n"));
    ck_assert_ptr_nonnull(strstr(text, "a is here from left"));
    text = print(&t, "b");
    ck_assert_ptr_nonnull(strstr(text, "What it reads, on right:"));
    ck_assert_ptr_nonnull(strstr(text, "The decision, as number 2 of 2:"));
    tear_down(&t);
}

TEST(rivals_and_a_second_plan_are_told)
{
    static const struct fr_decided_rival rivals[] = {{"Something else", 0.007, false}};
    struct fr_decided_plan plans[2];
    struct told t;
    const char *text;

    set_up(&t);
    plans[0] = plans[1] = t.plan;
    plans[1].heading = "Once more:";
    t.decisions.plans = plans;
    t.decisions.n_plans = 2;
    t.decisions.rivals = rivals;
    t.decisions.n_rivals = 1;
    text = print(&t, NULL);
    ck_assert_ptr_nonnull(strstr(text, "\nSomething else, take 7 ms: no shorter.\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nOnce more: 2 operations and 0 edges.\n"));
    tear_down(&t);
}

/* With all of it and with a schedule alone. */
LOOP_TEST(json_and_pictures_need_no_more_than_there_is, 0, 2)
{
    struct fr__chart *c = fr__chart_new();
    struct fr_error err = {.text = ""};
    struct fr_drawing *d;
    struct told t;
    FILE *f;

    set_up(&t);
    if (_i)
        tell_all_of_it(&t);
    f = open_memstream(&t.text, &t.n);
    ck_assert_int_eq(fr_explanation_print_json(f, &t.e, &err), FR_OK);
    fclose(f);
    ck_assert(is_json(t.text));
    ck_assert_uint_eq(count_of(t.text, "\"why\":"), _i ? 2 : 0);
    ck_assert_uint_eq(count_of(t.text, "\"rank_s\":"), 0);
    free(t.text);
    f = open_memstream(&t.text, &t.n);
    ck_assert_ptr_nonnull(c);
    ck_assert_int_eq(
        fr__chart_of_explanation(c, &(struct fr_explanation_answer){.explanation = &t.e}, &err),
        FR_OK);
    fr__chart_script(c, false, f);
    fr__chart_free(c);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(t.text, "made by hand: 5 ms"));
    free(t.text);
    ck_assert_int_eq(fr__explain_graph(&d, &t.e, &err), FR_OK);
    t.text = drawing_text(d, false);
    fr_drawing_free(d);
    ck_assert_uint_eq(count_of(t.text, "o0 -> o1"), _i ? 1 : 0);
    tear_down(&t);
}

TEST(strategies_that_explain_are_named_for_one_that_does_not)
{
    struct fr_explanation *e = NULL;
    struct fr_error err = {.text = ""};
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "lenet";
    q.topology = "dgx1-v100";
    q.strategy = "mp";
    ck_assert_int_eq(fr_explain(&e, &q, NULL, &err), FR_EUSAGE);
    for (size_t i = 0; fr_strategy_at(i); i++) {
        const struct fr_strategy *s = fr_strategy_at(i);
        char quoted[80];

        snprintf(quoted, sizeof(quoted), "'%s'", s->name);
        if (s->explain)
            ck_assert_ptr_nonnull(strstr(err.text, quoted));
    }
}

int main(void)
{
    TCase *tc = tcase_create("explain");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "results/explain");
}
