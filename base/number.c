/* base/number.c - plain numbers to and from text, whatever the locale of the program.
 *
 * The locale decides which character strtod and printf take for the decimal point, and nothing
 * else that matters here. Reading never shows strtod a point (1.5e3 becomes 15e2), writing replaces
 * whatever printf put there: no locale is switched, so nothing is shared between threads.
 */
#include "config.h"

#include "base/decimal.h"
#include "base/error.h"
#include "base/units.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond any exponent that matters for texts of less than a hundred million digits. */
enum { EXPONENT_LIMIT = 100000000 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static long clamp_exponent(long e)
{
    return e > EXPONENT_LIMIT ? EXPONENT_LIMIT : e < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : e;
}

static void add_digit(struct fr__decimal *d, char c, bool is_fraction)
{
    if (d->n_digits == 0 && c == '0') {
        d->exp10 -= is_fraction; /* a leading zero */
    } else if (d->n_digits < FR__DECIMAL_DIGITS) {
        d->digits[d->n_digits++] = c;
        d->exp10 -= is_fraction;
    } else {
        if (c != '0')
            d->digits[FR__DECIMAL_DIGITS] = '1'; /* something follows: not a midpoint */
        d->exp10 += !is_fraction;
    }
    d->exp10 = clamp_exponent(d->exp10);
}

/* Length of "e+12" at s, 0 when there is no exponent; adds it to d. */
static size_t scan_exponent(const char *s, struct fr__decimal *d)
{
    size_t i = 0;
    bool is_negative;
    long e = 0;

    if (s[i] != 'e' && s[i] != 'E')
        return 0;
    i++;
    is_negative = s[i] == '-';
    if (s[i] == '+' || s[i] == '-')
        i++;
    if (!is_digit(s[i]))
        return 0;
    for (; is_digit(s[i]); i++)
        e = clamp_exponent(e * 10 + (s[i] - '0'));
    d->exp10 = clamp_exponent(d->exp10 + (is_negative ? -e : e));
    return i;
}

size_t fr__decimal_scan(const char *text, struct fr__decimal *d)
{
    const char *s = text;
    size_t n_read = 0;

    d->is_negative = *s == '-';
    d->n_digits = 0;
    d->exp10 = 0;
    d->digits[FR__DECIMAL_DIGITS] = '0';
    if (*s == '+' || *s == '-')
        s++;
    for (; is_digit(*s); s++, n_read++)
        add_digit(d, *s, false);
    if (*s == '.' && (n_read > 0 || is_digit(s[1])))
        for (s++; is_digit(*s); s++, n_read++)
            add_digit(d, *s, true);
    if (n_read == 0)
        return 0;
    s += scan_exponent(s, d);
    return (size_t)(s - text);
}

double fr__decimal_value(const struct fr__decimal *d, long shift10)
{
    char buf[FR__DECIMAL_DIGITS + 32];
    size_t n = d->n_digits;
    long exp10 = clamp_exponent(d->exp10 + shift10);
    double x = 0;

    if (n > 0) {
        memcpy(buf, d->digits, n);
        if (n == FR__DECIMAL_DIGITS) {
            buf[n++] = d->digits[FR__DECIMAL_DIGITS];
            exp10--;
        }
        snprintf(buf + n, sizeof(buf) - n, "e%ld", exp10);
        x = strtod(buf, NULL);
    }
    return d->is_negative ? -x : x;
}

double fr__strtod(const char *text, const char **end)
{
    struct fr__decimal d;
    size_t n = fr__decimal_scan(text, &d);

    if (end)
        *end = text + n;
    return n ? fr__decimal_value(&d, 0) : 0;
}

/* The decimal point, one byte or several, is all that printf writes besides these. */
static void restore_point(char *s)
{
    size_t start = strspn(s, "+-0123456789e");
    size_t end = start;

    while (s[end] && !is_digit(s[end]))
        end++;
    if (end == start)
        return;
    s[start] = '.';
    memmove(s + start + 1, s + end, strlen(s + end) + 1);
}

const char *fr__format_double(double x, char *buf, size_t n)
{
    char text[64];

    if (n == 0)
        return "";
    if (isfinite(x)) {
        /* 15 digits hold every shorter form of a normal number (printf drops the zeros), but a
         * subnormal may have fewer digits that count; 17 always suffice (IEEE 754, 5.12.2) */
        int digits = fabs(x) < DBL_MIN ? 1 : DBL_DIG;
        double back;

        do {
            snprintf(text, sizeof(text), "%.*g", digits++, x);
            restore_point(text);
            back = fr__strtod(text, NULL);
        } while (digits <= DBL_DECIMAL_DIG && (back < x || back > x));
    } else {
        snprintf(text, sizeof(text), "%s", isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
    }
    snprintf(buf, n, "%s", text);
    return buf;
}

static enum fr_status fail_not_number(const char *text, const char *what, const char *kind,
                                      struct fr_loc loc, struct fr_error *err)
{
    char excerpt[FR__EXCERPT];

    if (!*text)
        return fr__fail(err, FR_EPARSE, loc, "%s is empty, expected %s", what, kind);
    return fr__fail(err, FR_EPARSE, loc, "%s is \"%s\", not %s", what, fr__excerpt(text, excerpt),
                    kind);
}

static enum fr_status fail_outside(const char *text, const char *what, double min, double max,
                                   struct fr_loc loc, struct fr_error *err)
{
    char excerpt[FR__EXCERPT], low[32], high[32];

    fr__excerpt(text, excerpt);
    fr__format_double(min, low, sizeof(low));
    fr__format_double(max, high, sizeof(high));
    if (!isfinite(fr__strtod(text, NULL)))
        return fr__fail(err, FR_ERANGE, loc, "%s is \"%s\", too large for a number", what, excerpt);
    if (max >= DBL_MAX)
        return fr__fail(err, FR_ERANGE, loc, "%s is \"%s\", expected a number of at least %s", what,
                        excerpt, low);
    if (min <= -DBL_MAX)
        return fr__fail(err, FR_ERANGE, loc, "%s is \"%s\", expected a number of at most %s", what,
                        excerpt, high);
    return fr__fail(err, FR_ERANGE, loc, "%s is \"%s\", expected a number from %s to %s", what,
                    excerpt, low, high);
}

enum fr_status fr__parse_number(const char *text, const char *what, struct fr_loc loc, double min,
                                double max, double *out, struct fr_error *err)
{
    struct fr__decimal d;
    size_t n = fr__decimal_scan(text, &d);
    double x;

    if (n == 0 || text[n])
        return fail_not_number(text, what, "a number", loc, err);
    x = fr__decimal_value(&d, 0);
    if (!isfinite(x) || x < min || x > max)
        return fail_outside(text, what, min, max, loc, err);
    *out = x + 0.0; /* -0 becomes 0 */
    return FR_OK;
}

enum fr_status fr__parse_amount(const char *text, const char *what, struct fr_loc loc, double min,
                                double max, double *out, struct fr_error *err)
{
    static const struct {
        char letter;
        int exponent;
    } suffixes[] = {{'\0', 0}, {'K', 3}, {'M', 6}, {'G', 9}, {'B', 9}, {'T', 12}};
    struct fr__decimal d;
    size_t n = fr__decimal_scan(text, &d), i = 0;
    double x;

    while (i < sizeof(suffixes) / sizeof(suffixes[0]) && suffixes[i].letter != text[n])
        i++;
    if (n == 0 || i == sizeof(suffixes) / sizeof(suffixes[0]) || (text[n] && text[n + 1]))
        return fail_not_number(text, what, "a number such as 300B, 1.5T or 1e12", loc, err);
    x = fr__decimal_value(&d, suffixes[i].exponent);
    if (!isfinite(x) || x < min || x > max)
        return fail_outside(text, what, min, max, loc, err);
    *out = x + 0.0; /* -0 becomes 0 */
    return FR_OK;
}

enum fr_status fr__parse_count(const char *text, const char *what, struct fr_loc loc, uint64_t min,
                               uint64_t max, uint64_t *out, struct fr_error *err)
{
    char excerpt[FR__EXCERPT];
    uint64_t x = 0;
    bool is_over = false;
    size_t i;

    for (i = 0; is_digit(text[i]); i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');

        is_over = is_over || x > (UINT64_MAX - digit) / 10;
        if (!is_over)
            x = x * 10 + digit;
    }
    if (i == 0 || text[i])
        return fail_not_number(text, what, "a whole number", loc, err);
    if (is_over || x < min || x > max) {
        fr__excerpt(text, excerpt);
        if (max == UINT64_MAX && !is_over)
            return fr__fail(err, FR_ERANGE, loc,
                            "%s is \"%s\", expected a whole number of at least %" PRIu64, what,
                            excerpt, min);
        return fr__fail(err, FR_ERANGE, loc,
                        "%s is \"%s\", expected a whole number from %" PRIu64 " to %" PRIu64, what,
                        excerpt, min, max);
    }
    *out = x;
    return FR_OK;
}
