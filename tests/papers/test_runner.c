/* tests/papers/test_runner.c - experiments in YAML: formulas, lists, questions, what is refused. */
#include "config.h"

#include "papers/runner/runner.h"

#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two lists, some names, one table with a column; then what a test adds. */
static const char before[] =
    "name: made-up\nsource: nobody\nsetting: as it pleases\n"
    "lists:\n"
    "  pairs: {given: [a, b, w], rows: [[1, 2, x], [4, 8, yx], [~, 5, z]]}\n"
    "  twos: {given: [t, many], rows: [[2, [7, ~, 9]]]}\n"
    "let: {twice: 2 * a, three: 3, word: \"'{w}{a:1}'\"}\n";

static enum fr_status run_text(struct fr_reproduction **out, const char *text, const char *name,
                               const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__paper_file file = {
        .text = text, .len = strlen(text), .name = name, .ways = fr__ask_ways};

    return fr__paper_run(out, &file, NULL, ctx, err);
}

static enum fr_status run(struct fr_reproduction **out, const char *formula, const char *unit,
                          struct fr_error *err)
{
    char text[4000];

    snprintf(text, sizeof(text),
             "%stables:\n  - name: one\n    title: t\n    published: p\n    each: [pairs, twos]\n"
             "    columns: [{key: k, unit: %s, is: \"%s\"}]\n",
             before, unit, formula);
    return run_text(out, text, "made-up.yaml", NULL, err);
}

/* Of row 1, where a is 4, b 8 and w "yx". The rows are (1, 2), (4, 8), (not known, 5). */
static const struct {
    const char *formula;
    double value;
} numbers[] = {
    {"1 + 2 * 3 - 8 / 4 / 2", 6},
    {"-(a - 6) * -1", -2},
    {"a < b && !(a == b) && a != 5 || nan", 1},
    {"b >= 2 ? b : nonsense_that_is_not_read", 8},
    {"0 && nonsense || three", 1}, /* of three: that it is true */
    {"isnan(nan) + isnan(0)", 1},
    {"nan < 1 || nan >= 1 || nan == nan", 0},
    {"twice", 8},
    {"min(a, nan, 3) + max(1, b, nan)", 11},
    {"abs(-2) + floor(2.9)", 4},
    {"has(w, 'x') + has('x', w)", 1},
    {"w == 'yx'", 1},
    {"many[2] + t", 11},
    {"isnan(many[1])", 1},
    {"sum(a)", 5},
    {"mean(a)", 2.5},
    {"sum(twice + b)", 20}, /* 4 + 16, the third is not known */
    {"count(b > 2)", 2},
    {"any(b == 5)", 1},
    {"any(b == 6)", 0},
    {"least(b) + most(b)", 10},
    {"median(b)", 5},
    {"median(a)", 2.5},
    {"first(b) * last(b)", 10},
    {"best(b - a, a)", 4}, /* 1 and 4 */
    {"isnan(best(nan, a))", 1},
    {"sum(twos: t * b)", 16},
    {"sum(pairs: sum(twos: t))", 6},
    {"largest(n, 0, 100, n * n <= 50)", 7},
    {"largest(n, 3, 100, 0)", 3},
};
enum { N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

LOOP_TEST(a_formula_has_its_value, 0, N_NUMBERS)
{
    struct fr_reproduction *r;
    struct fr_error err;

    ck_assert_msg(run(&r, numbers[_i].formula, "count", &err) == FR_OK, "%s: %s",
                  numbers[_i].formula, err.text);
    ck_assert_uint_eq(r->tables[0].n_rows, 3);
    ck_assert_msg(fabs(r->tables[0].cells[1].value - numbers[_i].value) < 1e-12, "%s is %g",
                  numbers[_i].formula, r->tables[0].cells[1].value);
    fr_reproduction_free(r);
}

static const struct {
    const char *formula, *text;
} texts[] = {
    {"w", "yx"},       {"'{w} of {a}, {b / 3:2} {b / 3:g3}'", "yx of 4, 2.67 2.67"},
    {"word", "yx4.0"}, {"a > 1 ? 'many {t > 1 ? 'twos' : 'ones'}' : ''", "many twos"},
    {"1", ""}, /* a number is no text */
};
enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]) };

LOOP_TEST(a_text_has_the_values_of_its_braces, 0, N_TEXTS)
{
    struct fr_reproduction *r;
    struct fr_error err;

    ck_assert_int_eq(run(&r, texts[_i].formula, "text", &err), FR_OK);
    ck_assert_str_eq(r->tables[0].cells[1].text, texts[_i].text);
    fr_reproduction_free(r);
}

/* Of a column's formula, at line 13 of the file. */
static const struct {
    const char *formula, *says;
} refused[] = {
    {"1 +", "the end in the formula \"1 +\", at byte 4"},
    {"(1", "no ')' in the formula"},
    {"a ? 1", "no ':' in the formula"},
    {"1 2", "more than a value in the formula"},
    {"nothing", "nothing is named 'nothing'"},
    {"root(2)", "no function 'root' of 1 values"},
    {"sum(none: 1)", "no list 'none'"},
    {"many[3]", "no such place in a list"},
    {"three[0]", "no such place in a list"},
    {"three.oom", "an answer with no 'oom'"},
    {"'{a", "no '}' in the formula"},
    {"largest(n, 0, 10000000, 1)", "no whole numbers up to a million"},
    {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))",
     "formulas are more than 64 deep"},
    {"!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!1", "too many signs"},
    {"sum(sum(sum(sum(sum(sum(sum(sum(sum(sum(sum(sum(sum(sum(sum(1)))))))))))))))",
     "the formulas take too long"},
};
enum { N_REFUSED = sizeof(refused) / sizeof(refused[0]) };

LOOP_TEST(a_faulty_formula_is_refused_with_its_place, 0, N_REFUSED)
{
    struct fr_reproduction *r;
    struct fr_error err;

    ck_assert_int_ne(run(&r, refused[_i].formula, "count", &err), FR_OK);
    ck_assert_msg(strstr(err.text, refused[_i].says) != NULL, "%s: %s", refused[_i].formula,
                  err.text);
    ck_assert_str_eq(err.file, "made-up.yaml");
    ck_assert_uint_ge(err.line, 7);
}

#define HEAD "name: n\nsource: s\nsetting: t\n"
#define TABLE "tables:\n  - name: one\n    title: t\n    published: p\n"
static const struct {
    const char *text, *says;
    unsigned line;
} files[] = {
    {"[1]", "a paper's experiments is a list, expected a map", 1},
    {HEAD, "'tables' is missing", 1},
    {HEAD "listes: {}\n", "listes", 4},
    {HEAD "lists: {l: {given: [a, b], rows: [[1]]}}\n" TABLE, "a row has 1 values, expected 2", 4},
    {HEAD "lists: {l: {given: [a]}}\n" TABLE, "'given' and 'rows' are expected", 4},
    {HEAD TABLE, "'each' is missing", 5},
    {HEAD TABLE "    each: [l]\n", "'columns' are missing", 5},
    {HEAD TABLE "    each: [l]\n    columns: [{key: a, unit: text}]\n", "no list 'l'", 8},
    {HEAD TABLE "    each: [l]\n    like: two\n", "no table 'two' above", 9},
    {HEAD "lists: {l: {given: [a], rows: [[1]]}}\n" TABLE
          "    each: [l]\n    columns: [{key: a, unit: metres}]\n",
     "no unit 'metres' of a column", 10},
    {HEAD "let: {a: b, b: a}\nlists: {l: {given: [c], rows: [[1]]}}\n" TABLE
          "    each: [l]\n    columns: [{key: a, unit: text}]\n",
     "formulas are more than 64 deep", 4},
    {HEAD "lists: {l: {given: [c], rows: [[1]]}}\nask: {q: {by: prayer}}\n" TABLE
          "    each: [l]\n    columns: [{key: a, unit: text, is: q.oom}]\n",
     "nothing is asked by 'prayer'", 5},
    {HEAD "lists: {l: {given: [c], rows: [[1]]}}\nask: {q: {workloads: lenet}}\n" TABLE
          "    each: [l]\n    columns: [{key: a, unit: text, is: q.oom}]\n",
     "workloads", 0},
};
enum { N_FILES = sizeof(files) / sizeof(files[0]) };

LOOP_TEST(a_faulty_file_is_refused_with_its_place, 0, N_FILES)
{
    struct fr_reproduction *r;
    struct fr_error err;

    ck_assert_int_ne(run_text(&r, files[_i].text, "f.yaml", NULL, &err), FR_OK);
    ck_assert_msg(strstr(err.text, files[_i].says) != NULL, "%s", err.text);
    ck_assert_msg(err.line == files[_i].line, "line %u: %s", err.line, err.text);
}

/* The same question under two names gives one answer: the time that planning took is the same, too.
 * What does not fit is an answer; what is not known ends all. */
TEST(questions_are_asked_once)
{
    static const char text[] = HEAD
        "lists: {l: {given: [w], rows: [[lenet], [gpt2-xl]]}}\n"
        "ask:\n"
        "  x: {workload: '{w}', topology: dgx1-v100, gpus: 2, batch: 64, strategy: dpos}\n"
        "  y: {workload: '{w}', topology: dgx1-v100, gpus: 2, batch: 64, strategy: dpos}\n"
        "  z: {workload: '{w}', topology: dgx1-v100, gpus: 2, batch: 64, strategy: single}\n" TABLE
        "    each: [l]\n"
        "    columns:\n"
        "      - {key: x, unit: seconds, is: x.plan_cpu_s}\n"
        "      - {key: y, unit: seconds, is: y.plan_cpu_s}\n"
        "      - {key: z, unit: seconds, is: z.planned_s}\n"
        "      - {key: time, unit: seconds, is: x.time}\n"
        "      - {key: left, unit: count, is: x.n_ops - x.gpu0_ops - x.gpu1_ops}\n";
    struct fr_reproduction *r;
    const struct fr_repro_cell *c;
    struct fr_error err;

    ck_assert_msg(run_text(&r, text, "f.yaml", NULL, &err) == FR_OK, "%s", err.text);
    c = r->tables[0].cells;
    ck_assert(c[0].value > 0 && !(c[0].value < c[1].value) && !(c[0].value > c[1].value));
    ck_assert(isnan(c[2].value));
    ck_assert(c[3].value > 0);
    ck_assert_double_eq(c[4].value, 0);
    ck_assert_str_eq(c[5 + 3].text, "out of memory");
    fr_reproduction_free(r);
}

/* Each shipped file is taken as far as its first question. */
START_TEST(the_shipped_files_are_sound)
{
    const struct fr_repro_paper *p = &fr__papers[_i];
    const volatile int stop = 1;
    const struct fr_context ctx = {.cancel = &stop};
    struct fr_reproduction *r;
    struct fr_error err;

    ck_assert_int_eq(run_text(&r, p->text, p->name, &ctx, &err), FR_ECANCELLED);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 60);
    add_tests(t);
    tcase_add_loop_test(t, the_shipped_files_are_sound, 0, (int)fr__n_papers);
    return run_case(t, "papers/runner");
}
