/* tests/results/test_table.c - aligned columns and numbers for people. */
#include "config.h"

#include "results/parts/number.h"
#include "results/render/render.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"ab", "größe"};

static void fill(const void *user, size_t i, struct fr__table_row *row)
{
    (void)user;
    fr__table_text(row->cell[0], names[i]);
    fr__table_text(row->cell[1], i ? "7" : "123");
    fr__table_text(row->cell[2], i ? "" : "x");
}

static char *print(const struct fr__table *t)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    fr__table_print(f, t);
    fclose(f);
    return text;
}

TEST(columns_are_aligned_by_characters_and_lines_end_without_blanks)
{
    static const struct fr__table_column columns[] = {{"name", false}, {"n", true}, {"", false}};
    const struct fr__table t = {columns, 3, 2, fill, NULL};
    char *text = print(&t);

    ck_assert_str_eq(text, "  name     n\n"
                           "  ab     123  x\n"
                           "  größe    7\n");
    free(text);
}

TEST(a_table_without_rows_is_its_titles)
{
    static const struct fr__table_column columns[] = {{"name", false}, {"n", true}};
    const struct fr__table t = {columns, 2, 0, fill, NULL};
    char *text = print(&t);

    ck_assert_str_eq(text, "  name  n\n");
    free(text);
}

static char *print_within(const struct fr__table *t, size_t width)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    fr__table_print_within(f, t, width, 1);
    fclose(f);
    return text;
}

TEST(a_table_wider_than_a_line_goes_on_below_with_the_names_of_its_rows)
{
    static const struct fr__table_column columns[] = {{"name", false}, {"n", true}, {"last", true}};
    const struct fr__table t = {columns, 3, 2, fill, NULL};

    for (size_t width = 14; width <= 18; width++) {
        char *text = print_within(&t, width);

        ck_assert_str_eq(text, width < 18 ? "  name     n\n"
                                            "  ab     123\n"
                                            "  größe    7\n"
                                            "\n"
                                            "  name   last\n"
                                            "  ab        x\n"
                                            "  größe\n"
                                          : "  name     n  last\n"
                                            "  ab     123     x\n"
                                            "  größe    7\n");
        free(text);
    }
}

TEST(long_names_of_rows_become_numbers_below_the_first_part)
{
    static const struct fr__table_column columns[] = {{"name", false}, {"n", true}, {"last", true}};
    const struct fr__table t = {columns, 3, 2, fill, NULL};

    for (size_t width = 1; width < 14; width++) {
        char *text = print_within(&t, width);

        ck_assert_str_eq(text, "     name     n\n"
                               "  1  ab     123\n"
                               "  2  größe    7\n"
                               "\n"
                               "     last\n"
                               "  1     x\n"
                               "  2\n");
        free(text);
    }
}

TEST(control_characters_never_reach_the_terminal)
{
    char cell[FR__TABLE_CELL];

    fr__table_text(cell, "a\033[2Jb\nc\x7f");
    ck_assert_str_eq(cell, "a\\x1b[2Jb\\x0ac\\x7f");
    fr__table_text(cell, "a\u202eb\xc2\x9b\r");
    ck_assert_str_eq(cell, "a\\u202eb\\u009b\\x0d");
}

TEST(long_text_is_cut_between_characters)
{
    char cell[FR__TABLE_CELL], text[2 * FR__TABLE_CELL + 1];

    for (size_t i = 0; i < FR__TABLE_CELL; i++)
        memcpy(text + 2 * i, "ö", 2);
    text[sizeof(text) - 1] = '\0';
    fr__table_text(cell, text);
    /* 199 bytes of room, 3 for the dots: 196 bytes are 98 characters of two */
    ck_assert_uint_eq(strlen(cell), 199);
    ck_assert_mem_eq(cell + 196, "...", 4);
    ck_assert_mem_eq(cell + 194, "ö", 2);
}

TEST(decimals_are_rounded_half_away_and_zero_has_no_sign)
{
    static const struct {
        double x;
        unsigned decimals;
        const char *text;
    } cases[] = {{0, 1, "0.0"},       {2.25, 1, "2.3"},    {-2.25, 1, "-2.3"}, {-0.01, 1, "0.0"},
                 {99.96, 1, "100.0"}, {1234.5, 0, "1235"}, {0.5, 2, "0.50"},   {3.007, 2, "3.01"}};
    char buf[40];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_str_eq(fr__fixed(cases[i].x, cases[i].decimals, buf, sizeof(buf)), cases[i].text);
}

int main(void)
{
    TCase *tc = tcase_create("table");

    add_tests(tc);
    return run_case(tc, "results/table");
}
