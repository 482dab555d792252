/* tests/base/test_figures.c - a table of figures as JSON and as CSV, on an object made by hand. */
#include "config.h"

#include "base/figures.h"
#include "base/text.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct wheel {
    const char *side;
    double radius_m;
};

struct cart {
    const char *name, *owner;
    uint32_t n_wheels;
    uint64_t load_g;
    double speed;
    bool is_red;
    const struct wheel *wheels; /* [n_wheels] */
    struct wheel spare;
    double parts[2];
};

FR_CONDITION(is_red, struct cart, x, x->is_red)
FR_CONDITION(is_laden, struct cart, x, x->load_g > 0)
FR_VALUE(twice_of, struct cart, x, number, 2 * x->speed)

static const char *part_name(const void *cart, size_t i)
{
    return i == 0 && !((const struct cart *)cart)->is_red ? NULL : i == 0 ? "bed" : "pole";
}

static const struct fr_figure wheel[] = {
    {.key = "side", FR_MEMBER(struct wheel, side)},
    {.key = "radius_m", FR_MEMBER(struct wheel, radius_m)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure loaded[] = {
    {.key = "load_g", FR_MEMBER(struct cart, load_g), .known = is_laden},
    FR_END_OF_FIGURES,
};

static const struct fr_figure cart[] = {
    {.key = "name", FR_MEMBER(struct cart, name)},
    {.key = "owner", FR_MEMBER(struct cart, owner), .is_optional = true},
    {.key = "wheels", FR_ITEMS(struct cart, wheels, n_wheels, wheel)},
    {.key = "spare", FR_INSIDE(struct cart, spare, wheel)},
    {.kind = FR_FIGURE_GROUP, .figures = loaded},
    {.key = "speed", FR_MEMBER(struct cart, speed)},
    {.key = "twice", FR_NUMBER(twice_of), FR_DETAIL},
    {.key = "red", FR_MEMBER(struct cart, is_red), .when = is_red},
    {.key = "parts", FR_ARRAY_MAP(struct cart, parts, fr__values_number, part_name)},
    {.key = "count", FR_MEMBER(struct cart, n_wheels), .is_column = true},
    FR_END_OF_FIGURES,
};

static const struct wheel wheels[] = {{"left", 0.5}, {"right", NAN}};
static const struct cart laden = {"a,b", "me", 2, 7, 1.5, true, wheels, {"left", 0.25}, {1, 2}};
static const struct cart empty = {"c", NULL, 0, 0, NAN, false, NULL, {NULL, NAN}, {1, 2}};

static void check_json(const struct cart *c, const char *expected)
{
    char *text = NULL;
    size_t n;
    FILE *f = fr__text_open(&text, &n);

    ck_assert_ptr_nonnull(f);
    fr__figures_print_json(f, cart, c);
    ck_assert(fr__text_close(f, &text));
    ck_assert_str_eq(text, expected);
    free(text);
}

TEST(json_has_the_figures_in_the_order_of_the_table)
{
    check_json(&laden, "{\n"
                       "  \"name\": \"a,b\",\n"
                       "  \"owner\": \"me\",\n"
                       "  \"wheels\": [\n"
                       "    {\"side\": \"left\", \"radius_m\": 0.5},\n"
                       "    {\"side\": \"right\", \"radius_m\": null}\n"
                       "  ],\n"
                       "  \"spare\": {\"side\": \"left\", \"radius_m\": 0.25},\n"
                       "  \"load_g\": 7,\n"
                       "  \"speed\": 1.5,\n"
                       "  \"twice\": 3,\n"
                       "  \"red\": true,\n"
                       "  \"parts\": {\"bed\": 1, \"pole\": 2}\n"
                       "}\n");
}

TEST(what_is_not_known_is_null_and_what_is_not_there_has_no_key)
{
    check_json(&empty, "{\n"
                       "  \"name\": \"c\",\n"
                       "  \"wheels\": [],\n"
                       "  \"spare\": {\"side\": null, \"radius_m\": null},\n"
                       "  \"load_g\": null,\n"
                       "  \"speed\": null,\n"
                       "  \"twice\": null,\n"
                       "  \"parts\": {\"pole\": 2}\n"
                       "}\n");
}

/* The order names two; the others that are no details follow as the table has them. */
TEST(csv_has_what_its_order_names_and_then_every_other_value)
{
    static const char *const order[] = {"speed", "radius=spare.radius_m", NULL};
    char *text = NULL;
    size_t n;
    FILE *f = fr__text_open(&text, &n);

    ck_assert_ptr_nonnull(f);
    fr__figures_csv_names(f, cart, order);
    putc('\n', f);
    fr__figures_csv(f, cart, order, &laden);
    putc('\n', f);
    fr__figures_csv(f, cart, order, &empty);
    ck_assert(fr__text_close(f, &text));
    ck_assert_str_eq(text, "speed,radius,name,owner,load_g,red,count\n"
                           "1.5,0.25,\"a,b\",me,7,1,2\n"
                           ",,c,,,,0");
    free(text);
}

TEST(a_figure_that_was_set_is_read_back)
{
    struct cart c = empty;
    struct fr_value v = {.kind = FR_FIGURE_NUMBER, .number = 4};

    fr__figure_set(fr__figure_find(cart, "speed"), &c, &v);
    v = (struct fr_value){.kind = FR_FIGURE_COUNT, .count = UINT64_MAX};
    fr__figure_set(fr__figure_find(cart, "load_g"), &c, &v); /* in a group */
    v.kind = FR_FIGURE_END;
    fr__figure_set(fr__figure_find(cart, "name"), &c, &v);
    ck_assert_double_eq(c.speed, 4);
    ck_assert_uint_eq(c.load_g, UINT64_MAX);
    ck_assert_ptr_null(c.name);
    fr__figure_at(cart, "spare.side", &laden, &v);
    ck_assert_str_eq(v.text, "left");
    ck_assert_ptr_null(fr__figure_find(cart, "colour"));
}

int main(void)
{
    TCase *tc = tcase_create("figures");
    add_tests(tc);
    return run_case(tc, "base/figures");
}
