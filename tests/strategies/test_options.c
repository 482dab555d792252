/* "name:key=value,..." is read or refused with the nearest known name. */
#include "config.h"

#include "strategies/strategies.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct fr_strategy *strategy;
static struct fr_option_values values;
static struct fr_error error;

static void expect_ok(const char *spec)
{
    ck_assert_msg(fr_strategy_parse(spec, &strategy, &values, &error) == FR_OK, "%s: %s", spec,
                  error.text);
}

static void expect_usage(const char *spec, const char *part)
{
    ck_assert_int_eq(fr_strategy_parse(spec, &strategy, &values, &error), FR_EUSAGE);
    ck_assert_int_eq(error.code, FR_EUSAGE);
    ck_assert_msg(strstr(error.text, part) != NULL, "'%s' does not say '%s'", error.text, part);
}

TEST(defaults_are_filled_in)
{
    expect_ok("dp");
    ck_assert_str_eq(strategy->name, "dp");
    ck_assert_uint_eq(values.value[0], 0);                   /* ring */
    ck_assert_uint_eq(values.value[1], 25u * 1024u * 1024u); /* 25MiB */
    ck_assert_uint_eq(values.value[2], 1);
    for (int i = 0; i < 3; i++)
        ck_assert(!values.is_set[i]);
}

TEST(given_values_replace_the_defaults)
{
    expect_ok("dp:overlap=0,sync=ps-sharded,bucket=512B");
    ck_assert_uint_eq(values.value[0], 3);
    ck_assert_uint_eq(values.value[1], 512);
    ck_assert_uint_eq(values.value[2], 0);
    ck_assert(values.is_set[0] && values.is_set[1] && values.is_set[2]);
    expect_ok("pp:stages=4,micro=2,schedule=gpipe");
    ck_assert_uint_eq(values.value[0], 4);
    ck_assert_uint_eq(values.value[1], 2);
    ck_assert_str_eq(fr_option_text(&values, 2), "gpipe");
}

TEST(a_misspelt_strategy_names_the_nearest)
{
    expect_usage("dq", "unknown strategy 'dq', did you mean 'dp'?");
    expect_usage("", "no strategy given");
    expect_usage(":micro=1", "no strategy given");
}

TEST(a_misspelt_option_or_choice_names_the_nearest)
{
    expect_usage("dp:bukcet=1MiB", "has no option 'bukcet', did you mean 'bucket'?");
    expect_usage("dp:sync=rong", "did you mean 'ring'?");
    expect_usage("mp:micro=1", "strategy 'mp' has no option 'micro'");
}

TEST(values_of_the_wrong_type_are_refused)
{
    expect_usage("dp:bucket=25", "bucket");
    expect_usage("dp:bucket=25MB/s", "bucket");
    expect_usage("dp:overlap=2", "not 0 or 1");
    expect_usage("pp:micro=-1", "micro");
    expect_usage("pp:micro=1.5", "micro");
    expect_usage("pp:stages=99999999999999999999", "stages");
}

TEST(doubled_and_empty_options_are_refused)
{
    expect_usage("dp:overlap=0,overlap=0", "given twice");
    expect_usage("dp:overlap", "'overlap' of 'dp' has no value");
    expect_usage("dp:overlap=", "'overlap' of 'dp' has no value");
    expect_usage("dp:", "has no name");
    expect_usage("dp:overlap=1,", "has no name");
    expect_usage("dp:=1", "has no name");
}

TEST(overlong_words_are_refused)
{
    char spec[400] = "dp:";

    memset(spec + 3, 'x', sizeof(spec) - 4);
    spec[sizeof(spec) - 1] = '\0';
    expect_usage(spec, "name of");
    expect_usage(spec + 3, "name of");
}

/* Every row of the list can be asked for by its own name and describes itself. */
TEST(every_strategy_is_listed_with_readable_options)
{
    size_t n = 0;

    for (; fr_strategy_at(n); n++) {
        const struct fr_strategy *s = fr_strategy_at(n);
        size_t k = 0;

        if (!s->required_option) {
            expect_ok(s->name);
            ck_assert_ptr_eq(strategy, s);
        }
        ck_assert(s->summary && s->source && s->plan);
        while (s->options[k].name)
            ck_assert_ptr_nonnull(s->options[k++].help);
        ck_assert_uint_le(k, FR_MAX_OPTIONS);
    }
    ck_assert_uint_ge(n, 4);
}

TEST(optimizers_have_names_that_parse_back)
{
    for (int o = 0; o < FR_N_OPTIMIZERS; o++)
        ck_assert_int_eq(fr_optimizer_parse(fr_optimizer_name((enum fr_optimizer)o)), o);
    ck_assert_int_eq(fr_optimizer_parse("lamb"), FR_N_OPTIMIZERS);
}

int main(void)
{
    TCase *c = tcase_create("options");

    add_tests(c);
    return run_case(c, "strategies/options");
}
