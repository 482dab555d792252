/* Reproductions: cells print by their unit, misses stay visible. */
#include "config.h"

#include "papers/parts/build.h"

#include "base/error.h"
#include "tests/support/json_check.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct fr_repro_column columns[] = {
    {"model", "model", FR_UNIT_TEXT},         {"gain", "gain", FR_UNIT_FRACTION},
    {"published", "paper", FR_UNIT_FRACTION}, {"iteration_s", "iteration", FR_UNIT_SECONDS},
    {"peak", "peak", FR_UNIT_BYTES},          {"ops", "ops", FR_UNIT_COUNT},
};

static struct fr_reproduction *small(void)
{
    struct fr__repro *b = fr__repro_new("made-up", "nobody, nowhere, 2000", "as it pleases", NULL);
    struct fr_reproduction *r;
    struct fr_error err;

    ck_assert_int_eq(fr__repro_begin(b, "first", "A table", "nothing", columns, 6, &err), FR_OK);
    ck_assert_int_eq(fr__repro_row(b,
                                   (struct fr_repro_cell[]){{.text = "a \"b\"\n"},
                                                            {.value = 0.25},
                                                            {.value = 0.594},
                                                            {.value = 0.0125},
                                                            {.value = 3072},
                                                            {.value = 17}},
                                   &err),
                     FR_OK);
    ck_assert_int_eq(fr__repro_row(b,
                                   (struct fr_repro_cell[]){{.text = "c"},
                                                            {.value = -0.5},
                                                            {.value = NAN},
                                                            {.text = "out of memory", .value = NAN},
                                                            {.value = NAN},
                                                            {.value = 0}},
                                   &err),
                     FR_OK);
    fr__repro_found(b, "2 rows");
    ck_assert_int_eq(fr__repro_begin(b, "second", "An empty one", "nothing", columns, 2, &err),
                     FR_OK);
    ck_assert_int_eq(fr__repro_finish(b, FR_OK, &r), FR_OK);
    return r;
}

typedef void (*printer)(FILE *f, const struct fr_reproduction *r);

static char *print(printer how)
{
    struct fr_reproduction *r = small();
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    how(f, r);
    fclose(f);
    fr_reproduction_free(r);
    return text;
}

TEST(cells_print_by_their_unit)
{
    char *text = print(fr_reproduction_print);

    ck_assert_str_eq(text, "nobody, nowhere, 2000\nas it pleases\n\nA table\n"
                           "  model         gain   paper      iteration   peak  ops\n"
                           "  a \"b\"\\x0a   25.0 %  59.4 %        12.5 ms  3 KiB   17\n"
                           "  c          -50.0 %          out of memory           0\n"
                           "  paper: nothing\n  ours: 2 rows\n\nAn empty one\n  model  gain\n"
                           "  paper: nothing\n");
    free(text);
}

TEST(json_has_numbers_words_and_null)
{
    char *text = print(fr_reproduction_print_json);
    const char *tables, *rows, *row;

    ck_assert_msg(is_json(text), "%s", text);
    tables = json_member(text, "tables");
    rows = json_member(json_item(tables, 0), "rows");
    row = json_item(rows, 0);
    ck_assert(json_is_string(json_member(row, "model"), "a \"b\"\n"));
    ck_assert_double_eq(json_number(json_member(row, "gain")), 0.25);
    ck_assert_double_eq(json_number(json_member(row, "published")), 0.594);
    row = json_item(rows, 1);
    ck_assert_double_eq(json_number(json_member(row, "gain")), -0.5);
    ck_assert(json_is_word(json_member(row, "published"), "null"));
    ck_assert(json_is_string(json_member(row, "iteration_s"), "out of memory"));
    ck_assert_ptr_null(json_next_item(row));
    ck_assert_ptr_null(json_item(json_member(json_item(tables, 1), "rows"), 0));
    ck_assert_ptr_null(json_item(tables, 2));
    free(text);
}

TEST(csv_has_a_line_a_cell)
{
    char path[] = "/tmp/reproduce-XXXXXX", line[200];
    int fd = mkstemp(path);
    struct fr_reproduction *r = small();
    struct fr_error err;
    size_t n = 0;
    FILE *f;

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(fr_reproduction_write(r, path, &err), FR_OK);
    f = fopen(path, "r");
    for (; fgets(line, sizeof(line), f); n++)
        if (n == 1)
            ck_assert_str_eq(line, "first,1,model,\"a \"\"b\"\"\n");
        else if (n == 10)
            ck_assert_str_eq(line, "first,2,published,\n");
    ck_assert_uint_eq(n, 1 + 12 + 1); /* the first cell holds a line break */
    fclose(f);
    unlink(path);
    fr_reproduction_free(r);
}

TEST(what_has_no_picture_is_said)
{
    struct fr_reproduction *r = small();
    struct fr_error err;

    ck_assert_int_eq(fr_reproduction_draw(r, "x.second.png", NULL, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "no picture of table 'second'"));
    ck_assert_int_eq(fr_reproduction_draw(r, "x.gif", NULL, &err), FR_EUSAGE);
    ck_assert_int_eq(fr_reproduction_draw(r, "x", NULL, &err), FR_EUSAGE);
    ck_assert_int_ne(access("x.second.png", F_OK), 0);
    fr_reproduction_free(r);
}

TEST(a_paper_that_is_not_there_is_named)
{
    struct fr_reproduction *r;
    struct fr_error err;

    ck_assert_int_eq(fr_reproduce(&r, "fasttt", NULL, NULL, &err), FR_ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "did you mean 'fastt'"));
}

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 60);
    add_tests(t);
    return run_case(t, "results/reproduce");
}
