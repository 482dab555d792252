/* tests/base/test_units.c - numbers and quantities to and from text. */
#include "config.h"

#include "base/units.h"
#include "tests/support/base_check.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct fr_loc here = {"f.csv", 3, 7};

/* Equality of doubles to the last bit. */
#define assert_same(x, y)                                                                          \
    do {                                                                                           \
        double x_ = (x), y_ = (y);                                                                 \
        ck_assert_msg(memcmp(&x_, &y_, sizeof(x_)) == 0, "%.17g is not %.17g", x_, y_);            \
    } while (0)

TEST(bytes_are_exact)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0B", 0},
        {"1B", 1},
        {"512B", 512},
        {"64KB", 64000},
        {"64KiB", 65536},
        {"16GiB", UINT64_C(17179869184)},
        {"1.5GiB", UINT64_C(1610612736)}, /* 3 * 2^29 */
        {"1.5KB", 1500},
        {"1e3B", 1000},
        {"1E3B", 1000},
        {"0.5KiB", 512},
        {"0.001KB", 1},
        {"25 MiB", 26214400}, /* 25 * 2^20 */
        {"0e999999999999TB", 0},
        {"0.0009765625KiB", 1}, /* 2^-10 KiB */
        {"000000000000000000000001B", 1},
        {"1.00000000000000000000000000000B", 1},
        {"9007199254740993B", UINT64_C(9007199254740993)}, /* 2^53 + 1: no double holds it */
        {"18446744073709551615B", UINT64_MAX},
        {"1844674407370955161500e-2B", UINT64_MAX},
        {"16383PiB", UINT64_C(16383) << 50},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err;
        uint64_t bytes = 42;

        ck_assert_int_eq(fr__parse_bytes(cases[i].text, "'x'", here, &bytes, &err), FR_OK);
        ck_assert_msg(bytes == cases[i].bytes, "%s gives %" PRIu64, cases[i].text, bytes);
    }
}

#define BYTE_UNITS "B with K M G T P (of 1000) or Ki Mi Gi Ti Pi (of 1024) before it"

TEST(bad_bytes_are_refused_with_a_reason)
{
    static const struct {
        const char *text;
        enum fr_status st;
        const char *message;
    } cases[] = {
        {"", FR_EPARSE, "'x' is empty, expected a number and a unit such as 16GiB or 512B"},
        {"GiB", FR_EPARSE, "'x' is \"GiB\", not a number and a unit such as 16GiB or 512B"},
        {"16", FR_EPARSE, "'x' is \"16\", which has no unit; expected one such as 16GiB or 512B"},
        {"16 ", FR_EPARSE, "'x' is \"16 \", whose unit ' ' is not one of " BYTE_UNITS},
        {"16  GiB", FR_EPARSE,
         "'x' is \"16  GiB\", whose unit ' GiB' is not one of " BYTE_UNITS ", did you mean 'GiB'?"},
        {"16GiB ", FR_EPARSE,
         "'x' is \"16GiB \", whose unit 'GiB ' is not one of " BYTE_UNITS ", did you mean 'GiB'?"},
        {" 16GiB", FR_EPARSE, "'x' is \" 16GiB\", not a number and a unit such as 16GiB or 512B"},
        {"16gib", FR_EPARSE, "'x' is \"16gib\", whose unit 'gib' is not one of " BYTE_UNITS},
        {"64kB", FR_EPARSE,
         "'x' is \"64kB\", whose unit 'kB' is not one of " BYTE_UNITS ", did you mean 'B'?"},
        {"1b", FR_EPARSE, "'x' is \"1b\", whose unit 'b' is not one of " BYTE_UNITS},
        {"nan", FR_EPARSE, "'x' is \"nan\", not a number and a unit such as 16GiB or 512B"},
        {"infB", FR_EPARSE, "'x' is \"infB\", not a number and a unit such as 16GiB or 512B"},
        {"0x10B", FR_EPARSE, "'x' is \"0x10B\", whose unit 'x10B' is not one of " BYTE_UNITS},
        {".B", FR_EPARSE, "'x' is \".B\", not a number and a unit such as 16GiB or 512B"},
        {"-B", FR_EPARSE, "'x' is \"-B\", not a number and a unit such as 16GiB or 512B"},
        {"1,5GiB", FR_EPARSE, "'x' is \"1,5GiB\", whose unit ',5GiB' is not one of " BYTE_UNITS},
        {"-1B", FR_ERANGE, "'x' is \"-1B\", expected no less than 0"},
        {"0.5B", FR_ERANGE, "'x' is \"0.5B\", not a whole number of bytes"},
        {"1e-3B", FR_ERANGE, "'x' is \"1e-3B\", not a whole number of bytes"},
        {"1.0001KB", FR_ERANGE, "'x' is \"1.0001KB\", not a whole number of bytes"},
        {"0.1KiB", FR_ERANGE, "'x' is \"0.1KiB\", not a whole number of bytes"},
        {"1e-999999999999B", FR_ERANGE, "'x' is \"1e-999999999999B\", not a whole number of bytes"},
        {"18446744073709551616B", FR_ERANGE,
         "'x' is \"18446744073709551616B\", more than 2^64 bytes"},
        {"16384PiB", FR_ERANGE, "'x' is \"16384PiB\", more than 2^64 bytes"},
        {"1e999999999999B", FR_ERANGE, "'x' is \"1e999999999999B\", more than 2^64 bytes"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err;
        uint64_t bytes = 42;

        ck_assert_int_eq(fr__parse_bytes(cases[i].text, "'x'", here, &bytes, &err), cases[i].st);
        ck_assert_str_eq(err.text, cases[i].message);
        ck_assert_str_eq(err.file, "f.csv");
        ck_assert_uint_eq(err.line, 3);
        ck_assert_uint_eq(err.col, 7);
        ck_assert_msg(bytes == 42, "%s touched the result", cases[i].text);
    }
}

TEST(rates_tell_bits_from_bytes)
{
    static const struct {
        const char *text;
        double Bps;
    } cases[] = {
        {"25GB/s", 25e9},    {"100Gbps", 12.5e9},   {"100Gbit/s", 12.5e9}, {"8bps", 1},
        {"0B/s", 0},         {"1e3B/s", 1000},      {"64KB/s", 64e3},      {"1GiB/s", 0x1p30},
        {"900 GB/s", 900e9}, {"3.35TB/s", 3.35e12}, {".5MB/s", .5e6},      {"5.MB/s", 5e6},
        {"+1B/s", 1},        {"-0B/s", 0},          {"1Gibit/s", 0x1p27},
    };
    struct fr_error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double Bps = -1;

        ck_assert_int_eq(fr__parse_rate(cases[i].text, "'x'", here, &Bps, &err), FR_OK);
        assert_same(Bps, cases[i].Bps);
    }
}

#define RATE_UNITS                                                                                 \
    "B/s, bps or bit/s with K M G T P (of 1000) or Ki Mi Gi Ti Pi (of 1024) before it"

TEST(bad_rates_are_refused_with_the_units_there_are)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"25", "'bandwidth' is \"25\", which has no unit; expected one such as 25GB/s or 100Gbps"},
        {"25Gb/s", "'bandwidth' is \"25Gb/s\", whose unit 'Gb/s' is not one of " RATE_UNITS
                   ", did you mean 'Gbps'?"},
        {"25GBs", "'bandwidth' is \"25GBs\", whose unit 'GBs' is not one of " RATE_UNITS
                  ", did you mean 'GB/s'?"},
        {"25GB", "'bandwidth' is \"25GB\", whose unit 'GB' is not one of " RATE_UNITS},
        {"25gbps", "'bandwidth' is \"25gbps\", whose unit 'gbps' is not one of " RATE_UNITS
                   ", did you mean 'bps'?"},
        {"infGB/s", "'bandwidth' is \"infGB/s\", not a number and a unit such as 25GB/s or "
                    "100Gbps"},
        {"-1GB/s", "'bandwidth' is \"-1GB/s\", expected no less than 0"},
        {"1e400GB/s", "'bandwidth' is \"1e400GB/s\", more than a number can hold"},
        {"1.7e308PiB/s", "'bandwidth' is \"1.7e308PiB/s\", more than a number can hold"},
    };
    struct fr_error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double Bps = 42;

        ck_assert_int_ne(fr__parse_rate(cases[i].text, "'bandwidth'", here, &Bps, &err), FR_OK);
        ck_assert_str_eq(err.text, cases[i].message);
        assert_same(Bps, 42);
    }
}

/* The prefix shifts the exponent, so "1.5us" is the double nearest to 1.5e-6; 1.1 * 1e-9 would be
 * one bit off 1.1e-9. */
TEST(times_are_the_nearest_double)
{
    static const struct {
        const char *text;
        double s;
    } cases[] = {
        {"1.5us", 1.5e-6}, {"1.1ns", 1.1e-9}, {"7ms", 7e-3},       {"0.3s", 0.3}, {"2min", 120},
        {"1.5h", 5400},    {"1day", 86400},   {"30days", 2592000}, {"0ns", 0},
    };
    struct fr_error err;
    double s;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(fr__parse_time(cases[i].text, "'x'", here, &s, &err), FR_OK);
        assert_same(s, cases[i].s);
    }
}

TEST(bad_times_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"5", "option '--every' is \"5\", which has no unit; expected one such as 1.5us or 30days"},
        {"5sec", "option '--every' is \"5sec\", whose unit 'sec' is not one of ns us ms s min h "
                 "days"},
        {"5m", "option '--every' is \"5m\", whose unit 'm' is not one of ns us ms s min h days, "
               "did you mean 'ms'?"},
        {"5dayz", "option '--every' is \"5dayz\", whose unit 'dayz' is not one of ns us ms s min h "
                  "days, did you mean 'day'?"},
        {"5Ks", "option '--every' is \"5Ks\", whose unit 'Ks' is not one of ns us ms s min h days, "
                "did you mean 's'?"},
        {"1h30min", "option '--every' is \"1h30min\", whose unit 'h30min' is not one of ns us ms s "
                    "min h days"},
        {"-5s", "option '--every' is \"-5s\", expected no less than 0"},
        {"1e309s", "option '--every' is \"1e309s\", more than a number can hold"},
    };
    struct fr_error err;
    double s = 42;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_ne(fr__parse_time(cases[i].text, "option '--every'", here, &s, &err), FR_OK);
        ck_assert_str_eq(err.text, cases[i].message);
        assert_same(s, 42);
    }
}

TEST(flops_rates_take_both_spellings)
{
    struct fr_error err;
    double x = 0;

    ck_assert_int_eq(fr__parse_flops_rate("125Tflop/s", "'x'", here, &x, &err), FR_OK);
    assert_same(x, 125e12);
    ck_assert_int_eq(fr__parse_flops_rate("19.5TFLOP/s", "'x'", here, &x, &err), FR_OK);
    assert_same(x, 19.5e12);
    ck_assert_int_eq(fr__parse_flops_rate("125", "'x'", here, &x, &err), FR_EPARSE);
    ck_assert_int_eq(fr__parse_flops_rate("125Tflops", "'x'", here, &x, &err), FR_EPARSE);
    ck_assert_ptr_nonnull(strstr(err.text, ", did you mean 'Tflop/s'?"));
}

TEST(plain_numbers_keep_to_their_range)
{
    static const struct {
        const char *text;
        double min, max;
        enum fr_status st;
        const char *message;
    } cases[] = {
        {"12x", 0, 1e9, FR_EPARSE, "'x' is \"12x\", not a number"},
        {"", 0, 1, FR_EPARSE, "'x' is empty, expected a number"},
        {" 1", 0, 1, FR_EPARSE, "'x' is \" 1\", not a number"},
        {"1 ", 0, 1, FR_EPARSE, "'x' is \"1 \", not a number"},
        {"nan", 0, 1, FR_EPARSE, "'x' is \"nan\", not a number"},
        {"inf", 0, HUGE_VAL, FR_EPARSE, "'x' is \"inf\", not a number"},
        {"0x1", 0, 1, FR_EPARSE, "'x' is \"0x1\", not a number"},
        {"1e", 0, 1, FR_EPARSE, "'x' is \"1e\", not a number"},
        {"1e+", 0, 1, FR_EPARSE, "'x' is \"1e+\", not a number"},
        {"--1", 0, 1, FR_EPARSE, "'x' is \"--1\", not a number"},
        {"1.2.3", 0, 9, FR_EPARSE, "'x' is \"1.2.3\", not a number"},
        {"1,2", 0, 9, FR_EPARSE, "'x' is \"1,2\", not a number"},
        {"2", 0, 1, FR_ERANGE, "'x' is \"2\", expected a number from 0 to 1"},
        {"-1", 0, DBL_MAX, FR_ERANGE, "'x' is \"-1\", expected a number of at least 0"},
        {"8", -DBL_MAX, 7.5, FR_ERANGE, "'x' is \"8\", expected a number of at most 7.5"},
        {"1e999", 0, HUGE_VAL, FR_ERANGE, "'x' is \"1e999\", too large for a number"},
    };
    struct fr_error err;
    double x = 42;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(
            fr__parse_number(cases[i].text, "'x'", here, cases[i].min, cases[i].max, &x, &err),
            cases[i].st);
        ck_assert_str_eq(err.text, cases[i].message);
        assert_same(x, 42);
    }
    ck_assert_int_eq(fr__parse_number("-0", "'x'", here, 0, 1, &x, &err), FR_OK);
    assert_same(x, 0.0);
    ck_assert_int_eq(fr__parse_number("-2.5e-1", "'x'", here, -1, 1, &x, &err), FR_OK);
    assert_same(x, -0.25);
}

TEST(amounts_may_end_in_a_power_of_a_thousand)
{
    static const struct {
        const char *text;
        double x;
    } good[] = {{"1", 1},      {"1.5T", 1.5e12}, {"300B", 300e9}, {"300G", 300e9},
                {"26M", 26e6}, {"7K", 7e3},      {"1e12", 1e12},  {"2e3K", 2e6}};
    static const char *const bad[] = {"", "T", "1X", "1TB", "1 T", "1k", "0x1T", "nan", "1T "};
    struct fr_error err;
    double x = 42;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(fr__parse_amount(bad[i], "'x'", here, 0, 1e15, &x, &err), FR_EPARSE);
        assert_same(x, 42);
    }
    ck_assert_int_eq(fr__parse_amount("2000T", "'x'", here, 0, 1e15, &x, &err), FR_ERANGE);
    ck_assert_int_eq(fr__parse_amount("-1K", "'x'", here, 0, 1e15, &x, &err), FR_ERANGE);
    ck_assert_int_eq(fr__parse_amount("1e308T", "'x'", here, 0, HUGE_VAL, &x, &err), FR_ERANGE);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_int_eq(fr__parse_amount(good[i].text, "'x'", here, 0, 1e15, &x, &err), FR_OK);
        assert_same(x, good[i].x);
    }
}

TEST(power_is_in_watts)
{
    struct fr_error err;
    double x = 42;

    ck_assert_int_eq(fr__parse_power("400", "'x'", here, &x, &err), FR_EPARSE);
    ck_assert_int_eq(fr__parse_power("400V", "'x'", here, &x, &err), FR_EPARSE);
    ck_assert_int_eq(fr__parse_power("-4W", "'x'", here, &x, &err), FR_ERANGE);
    assert_same(x, 42);
    ck_assert_int_eq(fr__parse_power("1.2KW", "'x'", here, &x, &err), FR_OK);
    assert_same(x, 1200);
}

TEST(counts_are_digits_only)
{
    static const struct {
        const char *text;
        enum fr_status st;
        const char *message;
    } cases[] = {
        {"", FR_EPARSE, "'n' is empty, expected a whole number"},
        {"1.0", FR_EPARSE, "'n' is \"1.0\", not a whole number"},
        {"1e3", FR_EPARSE, "'n' is \"1e3\", not a whole number"},
        {"+1", FR_EPARSE, "'n' is \"+1\", not a whole number"},
        {"-1", FR_EPARSE, "'n' is \"-1\", not a whole number"},
        {"0x1", FR_EPARSE, "'n' is \"0x1\", not a whole number"},
        {"99999999999999999999x", FR_EPARSE,
         "'n' is \"99999999999999999999x\", not a whole number"},
        {"0", FR_ERANGE, "'n' is \"0\", expected a whole number from 1 to 8"},
        {"9", FR_ERANGE, "'n' is \"9\", expected a whole number from 1 to 8"},
        {"18446744073709551616", FR_ERANGE,
         "'n' is \"18446744073709551616\", expected a whole number from 1 to 8"},
    };
    struct fr_error err;
    uint64_t n = 42;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(fr__parse_count(cases[i].text, "'n'", here, 1, 8, &n, &err), cases[i].st);
        ck_assert_str_eq(err.text, cases[i].message);
        ck_assert_uint_eq(n, 42);
    }
    ck_assert_int_eq(fr__parse_count("007", "'n'", here, 0, 8, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 7);
    ck_assert_int_eq(fr__parse_count("18446744073709551615", "'n'", here, 0, UINT64_MAX, &n, &err),
                     FR_OK);
    ck_assert_uint_eq(n, UINT64_MAX);
    ck_assert_int_eq(fr__parse_count("0", "'n'", here, 1, UINT64_MAX, &n, &err), FR_ERANGE);
    ck_assert_str_eq(err.text, "'n' is \"0\", expected a whole number of at least 1");
}

TEST(a_long_text_is_cut_in_the_message)
{
    char text[5000];
    struct fr_error err;
    double x;

    memset(text, 'z', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ck_assert_int_eq(fr__parse_number(text, "'x'", here, 0, 1, &x, &err), FR_EPARSE);
    ck_assert_ptr_nonnull(strstr(err.text, "zzz...\", not a number"));
    ck_assert_uint_lt(strlen(err.text), 100);
}

TEST(strtod_says_where_it_stopped)
{
    static const struct {
        const char *text;
        double x;
        size_t n;
    } cases[] = {
        {"1.5e3 rest", 1500, 5},
        {"1.5ex", 1.5, 3},
        {"", 0, 0},
        {"x", 0, 0},
        {".", 0, 0},
        {"-.5", -0.5, 3},
        {"5.", 5, 2},
        {"-", 0, 0},
        {"nan", 0, 0},
        {" 1", 0, 0},
        {"0x10", 0, 1},
        {"1e-400", 0, 6},
        {"1e400", HUGE_VAL, 5},
        {"1e99999999999999999999", HUGE_VAL, 22},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *end;

        assert_same(fr__strtod(cases[i].text, &end), cases[i].x);
        ck_assert_uint_eq((size_t)(end - cases[i].text), cases[i].n);
    }
}

/* 1 + 2^-53 lies halfway between 1 and 1 + 2^-52 and rounds to the even 1; any further non-zero
 * digit, however far, makes it round up. 2^-53 has 53 decimals, so zeros fill up to past the digits
 * that are kept. */
TEST(a_digit_far_behind_breaks_the_tie)
{
    static const char half[] = "1.00000000000000011102230246251565404236316680908203125";
    char text[2000];
    size_t n = strlen(half);

    memcpy(text, half, n);
    memset(text + n, '0', sizeof(text) - n);
    text[sizeof(text) - 1] = '\0';
    assert_same(fr__strtod(text, NULL), 1.0);
    text[sizeof(text) - 2] = '1';
    assert_same(fr__strtod(text, NULL), 1.0 + DBL_EPSILON);
}

TEST(a_long_integer_keeps_its_size)
{
    char text[1002];

    text[0] = '1';
    memset(text + 1, '0', 1000);
    strcpy(text + 995, "e-900"); /* 1 and 994 zeros: 10^994 * 10^-900 */
    assert_same(fr__strtod(text, NULL), 1e94);
}

TEST(doubles_print_at_their_shortest)
{
    static const struct {
        double x;
        const char *text;
    } cases[] = {
        {0, "0"},
        {0.1, "0.1"},
        {1e-9, "1e-09"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {100000, "100000"},
        {-2.5, "-2.5"},
        {1e22, "1e+22"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {0x1p-1074, "5e-324"}, /* 4.94e-324, one digit is enough */
        {HUGE_VAL, "inf"},
        {-HUGE_VAL, "-inf"},
    };
    char buf[32];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_str_eq(fr__format_double(cases[i].x, buf, sizeof(buf)), cases[i].text);
    ck_assert_str_eq(fr__format_double(NAN, buf, sizeof(buf)), "nan");
    ck_assert_str_eq(fr__format_double(0.125, buf, 4), "0.1"); /* cut, but ended */
}

TEST(doubles_read_back_exactly)
{
    uint64_t bits = 1;

    for (int i = 0; i < 20000; i++) {
        char buf[32];
        double x;

        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407; /* Knuth's MMIX */
        memcpy(&x, &bits, sizeof(x));
        if (!isfinite(x))
            continue;
        fr__format_double(x, buf, sizeof(buf));
        assert_same(fr__strtod(buf, NULL), x);
    }
}

static const char *human(const char *(*format)(double, char *, size_t), double x)
{
    static char buf[64];

    return format(x, buf, sizeof(buf));
}

TEST(human_forms_have_three_or_four_digits)
{
    ck_assert_str_eq(human(fr__format_bytes, 0), "0 B");
    ck_assert_str_eq(human(fr__format_bytes, 1), "1 B");
    ck_assert_str_eq(human(fr__format_bytes, 1023), "1023 B");
    ck_assert_str_eq(human(fr__format_bytes, 1024), "1 KiB");
    ck_assert_str_eq(human(fr__format_bytes, 1.25 * 0x1p30), "1.25 GiB");
    ck_assert_str_eq(human(fr__format_bytes, 0x1p30 - 1), "1 GiB"); /* not 1024 MiB */
    ck_assert_str_eq(human(fr__format_bytes, 80 * 0x1p30), "80 GiB");
    ck_assert_str_eq(human(fr__format_bytes, 0x1p60), "1024 PiB");
    ck_assert_str_eq(human(fr__format_bytes, -1536), "-1.5 KiB");
    ck_assert_str_eq(human(fr__format_bytes, HUGE_VAL), "inf B");
    ck_assert_str_eq(human(fr__format_rate, 25e9), "25 GB/s");
    ck_assert_str_eq(human(fr__format_rate, 999.96e6), "1 GB/s");
    ck_assert_str_eq(human(fr__format_rate, 999.4e6), "999 MB/s");
    ck_assert_str_eq(human(fr__format_time, 0), "0 s");
    ck_assert_str_eq(human(fr__format_time, 0.412), "412 ms");
    ck_assert_str_eq(human(fr__format_time, 1.5e-6), "1.5 us");
    ck_assert_str_eq(human(fr__format_time, 2e-12), "0 ns");
    ck_assert_str_eq(human(fr__format_time, 0.99999), "1 s");
    ck_assert_str_eq(human(fr__format_time, 59.99), "1 min");
    ck_assert_str_eq(human(fr__format_time, 5400), "1.5 h");
    ck_assert_str_eq(human(fr__format_time, 30 * 86400.0), "30 days");
    ck_assert_str_eq(human(fr__format_flops, 39.3e9), "39.3 GFLOP");
    ck_assert_str_eq(human(fr__format_flops, 3.14e23), "314 ZFLOP");
    ck_assert_str_eq(human(fr__format_count, 143.667e6), "143.7 M");
    ck_assert_str_eq(human(fr__format_count, 8), "8");
    ck_assert_str_eq(human(fr__format_count, 999950), "1 M"); /* "999.9(5)" rounds to 1000 K */
    ck_assert_str_eq(human(fr__format_count, 1e40), "1e+25 P");
}

/* German writes 1,5: nothing may show. */
TEST(the_locale_of_the_program_has_no_say)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
    const char *locale = NULL;
    struct fr_error err;
    char buf[64];
    double x = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !locale; i++)
        locale = setlocale(LC_ALL, names[i]);
    if (!locale) {
        printf("skipped: no locale with a decimal comma is installed\n");
        return;
    }
    snprintf(buf, sizeof(buf), "%.1f", 1.5);
    ck_assert_str_eq(buf, "1,5"); /* the locale does what this test is about */
    ck_assert_str_eq(fr__format_double(0.1, buf, sizeof(buf)), "0.1");
    ck_assert_str_eq(fr__format_double(1.5e-9, buf, sizeof(buf)), "1.5e-09");
    ck_assert_str_eq(fr__format_bytes(1536, buf, sizeof(buf)), "1.5 KiB");
    ck_assert_int_eq(fr__parse_number("1.5", "'x'", here, 0, 9, &x, &err), FR_OK);
    assert_same(x, 1.5);
    ck_assert_int_eq(fr__parse_number("1,5", "'x'", here, 0, 9, &x, &err), FR_EPARSE);
    ck_assert_int_eq(fr__parse_time("1.5us", "'x'", here, &x, &err), FR_OK);
    assert_same(x, 1.5e-6);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    TCase *tc = tcase_create("units");

    add_tests(tc);
    return run_case(tc, "units");
}
