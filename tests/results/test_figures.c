/* tests/results/test_figures.c - what a table of figures says is in every format: a figure that is
 * added to a table appears in JSON, CSV and stores without another line. */
#include "config.h"

#include "base/text.h"
#include "results/results.h"
#include "study/answer/figures.h"
#include "study/store/row.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fr_error err;

/* Eight samples of LeNet on two GPUs. */
static struct fr_record *answer(void)
{
    struct fr_record *r = NULL;
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "lenet";
    q.topology = "dgx1-v100";
    q.strategy = "dp";
    q.n_gpus = 2;
    q.global_batch = 8;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static char *read_all(const char *path)
{
    char *text = NULL, line[4096];
    size_t n;
    FILE *in = fopen(path, "r"), *f = fr__text_open(&text, &n);

    ck_assert(in && f);
    while (fgets(line, sizeof(line), in))
        fputs(line, f);
    fclose(in);
    ck_assert(fr__text_close(f, &text));
    return text;
}

/* Whether a line of names, separated by commas, has that one. */
static bool has_name(const char *names, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = names; (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ',') && strchr(",\n", at[n]))
            return true;
    return false;
}

/* Returns how many keys of the table, and of the groups in it, text has as JSON. */
static size_t find_keys(const struct fr_figure *table, const void *object, const char *text)
{
    char key[80];
    size_t n = 0;

    for (const struct fr_figure *f = table; f->kind != FR_FIGURE_END; f++) {
        struct fr_value v = {.kind = FR_FIGURE_TEXT};

        if (f->is_column || (f->when && !f->when(object)))
            continue;
        if (f->kind == FR_FIGURE_GROUP && !f->is_pointer) {
            n += find_keys(f->figures, object, text);
            continue;
        }
        if (f->is_optional)
            fr__figure_value(f, object, &v);
        if (!f->key || v.kind == FR_FIGURE_END)
            continue;
        snprintf(key, sizeof(key), "\"%s\": ", f->key);
        ck_assert_msg(strstr(text, key), "no %s in JSON", key);
        n++;
    }
    return n;
}

TEST(json_has_every_figure_of_a_record)
{
    struct fr_record *r = answer();
    char *text = NULL;
    size_t n;
    FILE *f = fr__text_open(&text, &n);

    ck_assert_ptr_nonnull(f);
    fr_record_print_json(f, r);
    ck_assert(fr__text_close(f, &text));
    ck_assert_uint_gt(find_keys(fr__record_figures, r, text), 50);
    free(text);
    fr_record_free(r);
}

/* Figures under another name in CSV are inside objects of JSON. */
static size_t find_columns(const struct fr_figure *table, const char *text)
{
    size_t n = 0;

    for (const struct fr_figure *f = table; f->kind != FR_FIGURE_END; f++) {
        if (f->kind == FR_FIGURE_GROUP && !f->is_pointer && !f->is_detail)
            n += find_columns(f->figures, text);
        if (f->kind < FR_FIGURE_TEXT || f->kind > FR_FIGURE_FLAG || f->is_detail)
            continue;
        ck_assert_msg(has_name(text, f->key), "no %s in CSV", f->key);
        n++;
    }
    return n;
}

TEST(csv_has_every_figure_of_a_record_that_is_no_detail)
{
    static const char path[] = "test_figures.tmp.csv";
    struct fr_record *r = answer();
    const struct fr_record *records[] = {r};
    const struct fr_results rs = {.records = records, .n = 1};
    char *text;

    ck_assert_msg(fr_show_file(fr_shown_run(&rs), path, NULL, &err) == FR_OK, "%s", err.text);
    text = read_all(path);
    unlink(path);
    ck_assert_uint_gt(find_columns(fr__record_figures, text), 30);
    free(text);
    fr_record_free(r);
}

/* Every figure of a row has a value: a text, a count, a number. */
static void fill_row(struct fr_sweep_row *row)
{
    struct fr_value v = {.text = "workload=a", .count = 7, .number = 0.25};

    fr__row_init(row);
    for (const struct fr_figure *f = fr__row_figures; f->kind != FR_FIGURE_END; f++) {
        v.kind = f->kind;
        if (!f->of)
            fr__figure_set(f, row, &v);
    }
    row->outcome = FR_OOM;
}

static enum fr_status see_all(void *user, const struct fr_sweep_row *row, struct fr_error *e)
{
    struct fr_sweep_row expected;
    struct fr__row_columns all;

    (void)e;
    fill_row(&expected);
    fr__row_columns_init(&all);
    *(size_t *)user += fr__rows_equal(&expected, row, &all);
    return FR_OK;
}

/* A loop test: 0 is a journal of CSV, 1 is SQLite. */
START_TEST(a_store_gives_back_every_figure_of_a_row)
{
    const char *path = _i ? "test_figures.tmp.db" : "test_figures.tmp.csv";
    struct fr_store *s = NULL;
    struct fr_sweep_row row;
    size_t n = 0;

    fill_row(&row);
    unlink(path);
    for (unsigned round = 0; round < 2; round++) {
        ck_assert_msg(fr_store_open(&s, path, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_store_put(s, &row, &err) == FR_OK, "%s", err.text);
        ck_assert_int_eq(fr_store_each(s, true, see_all, &n, &err), FR_OK);
        ck_assert_msg(fr_store_close(s, &err) == FR_OK, "%s", err.text);
    }
    ck_assert_uint_eq(n, 2);
    unlink(path);
}
END_TEST

/* A sweep of the same question, its rows as CSV beside its JSON. */
TEST(a_row_has_what_the_record_says_and_all_of_it_is_in_csv)
{
    static const char path[] = "test_figures.tmp.csv";
    const char *const settings[][2] = {{"workload", "lenet"},
                                       {"topology", "dgx1-v100"},
                                       {"strategy", "dp"},
                                       {"gpus", "2"},
                                       {"batch", "8"}};
    struct fr_record *r = answer();
    struct fr_sweep *s = fr_sweep_new();
    struct fr_sweep_summary *m = NULL;
    size_t n = 0;
    char *text;

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        ck_assert_int_eq(fr_sweep_add(s, settings[i][0], settings[i][1], &err), FR_OK);
    ck_assert_msg(fr_sweep_finish(s, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_sweep_run(s, &(struct fr_sweep_options){.n_threads = 1}, NULL, &err),
                     FR_OK);
    ck_assert_int_eq(fr_sweep_summarise(s, &(struct fr_sweep_terms){.samples = 0}, &m, &err),
                     FR_OK);
    ck_assert_msg(fr_show_file(fr_shown_sweep(&(struct fr_sweep_answer){.sweep = s, .summary = m}),
                               path, NULL, &err) == FR_OK,
                  "%s", err.text);
    text = read_all(path);
    unlink(path);
    for (const struct fr_figure *f = fr__row_figures; f->kind != FR_FIGURE_END; f++) {
        char a[FR_FIGURE_CELL], b[FR_FIGURE_CELL];
        struct fr_value found, kept;

        ck_assert_msg(f->is_detail || has_name(text, f->key), "no %s in CSV", f->key);
        if (!f->from)
            continue;
        fr__figure_at(fr__record_figures, f->from, r, &found);
        fr__figure_value(f, fr_sweep_row(s, 0), &kept);
        if (found.kind != FR_FIGURE_END)
            ck_assert_str_eq(fr__value_text(&kept, a), fr__value_text(&found, b));
        n += found.kind != FR_FIGURE_END;
    }
    ck_assert_uint_gt(n, 15);
    free(text);
    fr_sweep_summary_free(m);
    fr_sweep_free(s);
    fr_record_free(r);
}

int main(void)
{
    fr_init();
    TCase *tc = tcase_create("figures");
    tcase_set_timeout(tc, 60);
    add_tests(tc);
    tcase_add_loop_test(tc, a_store_gives_back_every_figure_of_a_row, 0, fr_has_sqlite() ? 2 : 1);
    return run_case(tc, "figures");
}
