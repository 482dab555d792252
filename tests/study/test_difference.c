/* tests/study/test_difference.c - the parts of an answer add up to it, and so do the differences of
 * two; a question comes back from a file as it was asked.
 */
#include "config.h"

#include "results/results.h"
#include "study/difference/difference.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const strategies[] = {
    "single",     "dp",      "dp:overlap=0", "dp:sync=ps-sharded", "mp",
    "pp:micro=4", "os-dpos", "pipedream",    "hybrid:tp=2,pp=2"};
enum { N_STRATEGIES = sizeof(strategies) / sizeof(strategies[0]) };

static struct fr_question question(const char *strategy)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "alexnet";
    q.topology = "dgx1-v100";
    q.strategy = strategy;
    q.n_gpus = 4;
    q.global_batch = 64;
    q.costs = "datasheet";
    q.no_timing = true;
    return q;
}

static struct fr_record *ask(const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_answer(q, NULL, &r, &err) == FR_OK, "%s: %s", q->strategy, err.text);
    return r;
}

static void assert_near(double is, double wanted, const char *what)
{
    ck_assert_msg(fabs(is - wanted) <= 1e-9 * (fabs(wanted) + 1e-6), "%s: %.17g, not %.17g", what,
                  is, wanted);
}

static void assert_parts_are_the_record(const struct fr_record *r, const char *what)
{
    struct fr_parts *p = NULL;
    struct fr_error err;
    double sum = 0;

    ck_assert(fr_parts_new(&p, r, &err) == FR_OK);
    for (unsigned part = 0; part < FR_N_PARTS; part++)
        sum += p->part_s[part];
    assert_near(sum, r->iteration_s, what);
    assert_near(p->part_s[FR_PART_COMPUTE], r->compute_s, what);
    assert_near(p->part_s[FR_PART_EXPOSED], r->exposed_comm_s, what);
    assert_near(p->part_s[FR_PART_BUBBLE] + p->part_s[FR_PART_LAUNCH], r->bubble_s, what);
    for (unsigned kind = 0; kind < FR_N_PIECES; kind++) {
        double of_kind = 0;

        for (size_t i = 0; i < p->n[kind]; i++) {
            of_kind += p->pieces[kind][i].s;
            ck_assert(i == 0 || strcmp(p->pieces[kind][i - 1].name, p->pieces[kind][i].name) < 0);
        }
        assert_near(of_kind, p->part_s[kind == FR_PIECES_PLACES ? FR_PART_EXPOSED : kind], what);
    }
    fr_parts_free(p);
}

TEST(the_parts_of_any_answer_add_up_to_what_its_record_says)
{
    for (size_t i = 0; i < N_STRATEGIES; i++) {
        struct fr_question q = question(strategies[i]);
        struct fr_record *r = ask(&q);

        assert_parts_are_the_record(r, strategies[i]);
        fr_record_free(r);
    }
}

TEST(so_they_do_with_jitter_folded_ranks_and_several_iterations)
{
    struct fr_question jitter = question("dp"), folded = question("dp"), many = question("pp");
    struct fr_question *all[] = {&jitter, &folded, &many};

    jitter.run.jitter_cv = 0.2;
    folded.topology = "4x dgx-a100-80g via ib:100Gbps";
    folded.n_gpus = 0;
    many.iterations = 3;
    for (size_t i = 0; i < 3; i++) {
        struct fr_record *r = ask(all[i]);

        assert_parts_are_the_record(r, "variant");
        fr_record_free(r);
    }
}

/* On one GPU nothing waits for another task: what does not compute is the first op's launch. */
TEST(one_gpu_waits_for_its_first_launch_only)
{
    struct fr_question q = question("single");
    struct fr_record *r = ask(&q);
    struct fr_parts *p = NULL;
    struct fr_error err;

    ck_assert(fr_parts_new(&p, r, &err) == FR_OK);
    ck_assert(p->part_s[FR_PART_LAUNCH] > 0);
    assert_near(p->part_s[FR_PART_LAUNCH], r->bubble_s, "launch");
    ck_assert(p->n[FR_PIECES_TRANSFERS] == 0 && p->n[FR_PIECES_WAITS] == 0);
    fr_parts_free(p);
    fr_record_free(r);
}

TEST(the_rows_of_a_difference_add_up_and_the_largest_change_comes_first)
{
    struct fr_question qa = question("dp"), qb = question("mp");
    struct fr_record *a = ask(&qa), *b = ask(&qb);
    struct fr_difference *d = NULL;
    struct fr_error err;

    ck_assert(fr_difference_new(&d, a, b, &err) == FR_OK);
    ck_assert_uint_eq(d->n_settings, 1);
    ck_assert_str_eq(d->settings[0].name, "strategy");
    for (unsigned kind = 0; kind < FR_N_PIECES; kind++) {
        unsigned part = kind == FR_PIECES_PLACES ? FR_PART_EXPOSED : kind;
        double change = 0;

        for (size_t i = 0; i < d->n[kind]; i++) {
            const struct fr_difference_row *row = &d->rows[kind][i];

            change += row->b_s - row->a_s;
            ck_assert(i == 0 || fabs(row->b_s - row->a_s) <= fabs(row[-1].b_s - row[-1].a_s));
        }
        assert_near(change, d->parts_b->part_s[part] - d->parts_a->part_s[part], "change");
    }
    fr_difference_free(d);
    fr_record_free(a);
    fr_record_free(b);
}

TEST(an_answer_does_not_differ_from_itself)
{
    struct fr_question q = question("pp:micro=4");
    struct fr_record *r = ask(&q);
    struct fr_difference *d = NULL;
    struct fr_error err;

    ck_assert(fr_difference_new(&d, r, r, &err) == FR_OK);
    ck_assert_uint_eq(d->n_settings, 0);
    for (unsigned kind = 0; kind < FR_N_PIECES; kind++)
        for (size_t i = 0; i < d->n[kind]; i++)
            ck_assert_double_eq(d->rows[kind][i].a_s, d->rows[kind][i].b_s);
    fr_difference_free(d);
    fr_record_free(r);
}

TEST(a_brief_answer_has_no_parts)
{
    struct fr_parts *p = NULL;
    struct fr_record bare = {.workload = ""};
    struct fr_error err;

    ck_assert(fr_parts_new(&p, &bare, &err) == FR_EUSAGE);
}

/* ---- files ---- */

static const char *write_text(const char *text)
{
    static const char path[] = "test_difference.json";
    FILE *f = fopen(path, "w");

    ck_assert(f != NULL);
    fputs(text, f);
    fclose(f);
    return path;
}

TEST(a_question_comes_back_from_json_as_it_was_asked)
{
    struct fr_question q = question("pp:micro=4");
    struct fr_record *r;
    struct fr_asked *back = NULL;
    struct fr_error err;
    FILE *f = fopen("test_difference.json", "w");
    char *key, *key_back;

    q.run.jitter_cv = 0.1;
    q.run.seed = 7;
    q.degrade = "n0.gpu0>n0.gpu3=0.5";
    r = ask(&q);
    fr_show_json(f, fr_shown_run(&(struct fr_results){
                        .records = (const struct fr_record *const[]){r}, .n = 1}));
    fclose(f);
    ck_assert_msg(fr_asked_load(&back, "test_difference.json", &err) == FR_OK, "%s", err.text);
    key = fr_question_key(&q);
    key_back = fr_question_key(&back->question);
    ck_assert_str_eq(key, key_back);
    ck_assert_double_eq(back->iteration_s, r->iteration_s);
    free(key);
    free(key_back);
    fr_asked_free(back);
    fr_record_free(r);
    unlink("test_difference.json");
}

TEST(files_that_hold_no_question_are_refused_with_their_place)
{
    static const struct {
        const char *text, *says;
        unsigned line;
    } cases[] = {
        {"{}\n", "no \"question\"", 1},
        {"[1]\n", "an answer", 1},
        {"{\"question\": 3}\n", "'question'", 1},
        {"{\n \"question\": {\"workload\": [1]}}\n", "a setting", 2},
        {"{\n \"question\": {\n  \"seed\": \"x\"}}\n", "'--seed'", 3},
        {"{\"question\": {\"colour\": \"red\"}}\n", "no setting is called 'colour'", 1},
        {"{\"results\": 3}\n", "'results'", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_asked *a = NULL;
        struct fr_error err;

        ck_assert(fr_asked_load(&a, write_text(cases[i].text), &err) == FR_EPARSE);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s", err.text);
        ck_assert_uint_eq(err.line, cases[i].line);
    }
    unlink("test_difference.json");
}

TEST(one_of_several_results_is_named_by_its_number)
{
    struct fr_asked *a = NULL;
    struct fr_error err;

    write_text("{\"results\": [{\"question\": {\"seed\": \"1\"}}, {\"question\": {\"seed\": "
               "\"2\"}, \"iteration_s\": 0.5}]}\n");
    ck_assert(fr_asked_load(&a, "test_difference.json", &err) == FR_EUSAGE);
    ck_assert(strstr(err.text, "holds 2 answers") != NULL);
    ck_assert(fr_asked_load(&a, "test_difference.json#3", &err) == FR_EUSAGE);
    ck_assert(fr_asked_load(&a, "test_difference.json#2", &err) == FR_OK);
    ck_assert_uint_eq(a->question.run.seed, 2);
    ck_assert_double_eq(a->iteration_s, 0.5);
    fr_asked_free(a);
    unlink("test_difference.json");
}

int main(void)
{
    TCase *tc = tcase_create("difference");

    add_tests(tc);
    return run_case(tc, "study/difference");
}
