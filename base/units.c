/* base/units.c - quantities with a unit to and from text.
 *
 * A unit is factor * 10^exp10 * 2^exp2 of the base unit, so that decimal prefixes shift the
 * number's own exponent and binary ones are exact.
 */
#include "config.h"

#include "base/decimal.h"
#include "base/error.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct scale {
    const char *name;
    int exp10, exp2;
    double factor;
};

struct dimension {
    const struct scale *units; /* ends with a NULL name */
    bool has_prefixes;         /* each unit may have one of prefixes[] */
    const char *examples, *all;
};

/* SI prefixes (BIPM, The International System of Units, 9th ed.), K for kilo as people type it, and
 * binary ones (IEC 80000-13). */
static const struct scale prefixes[] = {
    {"", 0, 0, 1},    {"K", 3, 0, 1},   {"M", 6, 0, 1},   {"G", 9, 0, 1},
    {"T", 12, 0, 1},  {"P", 15, 0, 1},  {"Ki", 0, 10, 1}, {"Mi", 0, 20, 1},
    {"Gi", 0, 30, 1}, {"Ti", 0, 40, 1}, {"Pi", 0, 50, 1},
};
enum { N_PREFIXES = sizeof(prefixes) / sizeof(prefixes[0]) };

#define PREFIXES_TEXT "with K M G T P (of 1000) or Ki Mi Gi Ti Pi (of 1024) before it"

static const struct scale byte_units[] = {{"B", 0, 0, 1}, {NULL, 0, 0, 0}};
static const struct dimension bytes_dimension = {byte_units, true, "16GiB or 512B",
                                                 "B " PREFIXES_TEXT};

static const struct scale rate_units[] = {
    {"bps", 0, -3, 1}, {"bit/s", 0, -3, 1}, {"B/s", 0, 0, 1}, {"Bps", 0, 0, 1}, {NULL, 0, 0, 0}};
static const struct dimension rate_dimension = {rate_units, true, "25GB/s or 100Gbps",
                                                "B/s, bps or bit/s " PREFIXES_TEXT};

static const struct scale time_units[] = {
    {"s", 0, 0, 1},       {"ms", -3, 0, 1},      {"us", -6, 0, 1},
    {"ns", -9, 0, 1},     {"min", 0, 0, 60},     {"h", 0, 0, 3600},
    {"day", 0, 0, 86400}, {"days", 0, 0, 86400}, {NULL, 0, 0, 0}};
static const struct dimension time_dimension = {time_units, false, "1.5us or 30days",
                                                "ns us ms s min h days"};

static const struct scale flops_units[] = {
    {"flop/s", 0, 0, 1}, {"FLOP/s", 0, 0, 1}, {NULL, 0, 0, 0}};
static const struct dimension flops_dimension = {flops_units, true, "125Tflop/s or 19.5Tflop/s",
                                                 "flop/s " PREFIXES_TEXT};

static const struct scale power_units[] = {{"W", 0, 0, 1}, {NULL, 0, 0, 0}};
static const struct dimension power_dimension = {power_units, true, "400W or 1.2KW",
                                                 "W " PREFIXES_TEXT};

static bool find_unit(const struct dimension *dim, const char *name, struct scale *out)
{
    size_t n_prefixes = dim->has_prefixes ? N_PREFIXES : 1;

    for (const struct scale *u = dim->units; u->name; u++) {
        for (size_t i = 0; i < n_prefixes; i++) {
            const struct scale *p = &prefixes[i];
            size_t len = strlen(p->name);

            if (strncmp(name, p->name, len) == 0 && strcmp(name + len, u->name) == 0) {
                *out = (struct scale){name, p->exp10 + u->exp10, p->exp2 + u->exp2, u->factor};
                return true;
            }
        }
    }
    return false;
}

enum { MAX_UNITS = 8, UNIT_SIZE = 12 };

static enum fr_status fail_unknown_unit(const struct dimension *dim, const char *text,
                                        const char *unit, const char *what, struct fr_loc loc,
                                        struct fr_error *err)
{
    char names[MAX_UNITS * N_PREFIXES][UNIT_SIZE];
    const char *list[MAX_UNITS * N_PREFIXES];
    char excerpt[FR__EXCERPT], unit_excerpt[FR__EXCERPT], near[64];
    size_t n = 0, n_prefixes = dim->has_prefixes ? N_PREFIXES : 1;

    fr__excerpt(text, excerpt);
    if (!*unit)
        return fr__fail(err, FR_EPARSE, loc,
                        "%s is \"%s\", which has no unit; expected one such as %s", what, excerpt,
                        dim->examples);
    for (const struct scale *u = dim->units; u->name; u++) {
        for (size_t i = 0; i < n_prefixes; i++, n++) {
            assert(n < MAX_UNITS * N_PREFIXES);
            snprintf(names[n], UNIT_SIZE, "%s%s", prefixes[i].name, u->name);
            list[n] = names[n];
        }
    }
    return fr__fail(err, FR_EPARSE, loc, "%s is \"%s\", whose unit '%s' is not one of %s%s", what,
                    excerpt, fr__excerpt(unit, unit_excerpt), dim->all,
                    fr__did_you_mean(unit, list, n, near, sizeof(near)));
}

/* The number and the unit of text; a single space may stand between. */
static enum fr_status parse_quantity(const struct dimension *dim, const char *text,
                                     const char *what, struct fr_loc loc, struct fr__decimal *d,
                                     struct scale *unit, struct fr_error *err)
{
    size_t n = fr__decimal_scan(text, d);
    const char *name = text + n;
    char excerpt[FR__EXCERPT];

    fr__excerpt(text, excerpt);
    if (n == 0 && !*text)
        return fr__fail(err, FR_EPARSE, loc, "%s is empty, expected a number and a unit such as %s",
                        what, dim->examples);
    if (n == 0)
        return fr__fail(err, FR_EPARSE, loc, "%s is \"%s\", not a number and a unit such as %s",
                        what, excerpt, dim->examples);
    if (name[0] == ' ' && name[1])
        name++;
    if (!find_unit(dim, name, unit))
        return fail_unknown_unit(dim, text, name, what, loc, err);
    if (d->is_negative && d->n_digits > 0)
        return fr__fail(err, FR_ERANGE, loc, "%s is \"%s\", expected no less than 0", what,
                        excerpt);
    d->is_negative = false;
    return FR_OK;
}

static enum fr_status fail_too_large(const char *text, const char *what, const char *limit,
                                     struct fr_loc loc, struct fr_error *err)
{
    char excerpt[FR__EXCERPT];

    return fr__fail(err, FR_ERANGE, loc, "%s is \"%s\", more than %s", what,
                    fr__excerpt(text, excerpt), limit);
}

static enum fr_status parse_real(const struct dimension *dim, const char *text, const char *what,
                                 struct fr_loc loc, double *out, struct fr_error *err)
{
    struct fr__decimal d;
    struct scale unit;
    double x;

    FR_TRY(parse_quantity(dim, text, what, loc, &d, &unit, err));
    x = ldexp(fr__decimal_value(&d, unit.exp10) * unit.factor, unit.exp2);
    if (!isfinite(x))
        return fail_too_large(text, what, "a number can hold", loc, err);
    *out = x;
    return FR_OK;
}

enum fr_status fr__parse_rate(const char *text, const char *what, struct fr_loc loc,
                              double *out_Bps, struct fr_error *err)
{
    return parse_real(&rate_dimension, text, what, loc, out_Bps, err);
}

enum fr_status fr__parse_time(const char *text, const char *what, struct fr_loc loc, double *out_s,
                              struct fr_error *err)
{
    return parse_real(&time_dimension, text, what, loc, out_s, err);
}

enum fr_status fr__parse_flops_rate(const char *text, const char *what, struct fr_loc loc,
                                    double *out_flops_per_s, struct fr_error *err)
{
    return parse_real(&flops_dimension, text, what, loc, out_flops_per_s, err);
}

enum fr_status fr__parse_power(const char *text, const char *what, struct fr_loc loc, double *out_W,
                               struct fr_error *err)
{
    return parse_real(&power_dimension, text, what, loc, out_W, err);
}

enum whole { IS_WHOLE, IS_FRACTION, IS_OVER };

/* *x times base^exponent, exactly. Ends after at most 64 steps: the value runs over, or out of
 * factors. */
static enum whole scale_exactly(uint64_t *x, unsigned base, long exponent)
{
    for (; exponent > 0; exponent--) {
        if (*x > UINT64_MAX / base)
            return IS_OVER;
        *x *= base;
    }
    for (; exponent < 0; exponent++) {
        if (*x % base)
            return IS_FRACTION;
        *x /= base;
    }
    return IS_WHOLE;
}

/* digits * 10^exp10 * 2^exp2 as a whole number: tens are fives and twos, and the divisions come
 * first, so that nothing runs over that fits in the end. */
static enum whole whole_value(const struct fr__decimal *d, const struct scale *unit, uint64_t *out)
{
    size_t n = d->n_digits;
    long fives = d->exp10 + unit->exp10, twos;
    enum whole w;
    uint64_t x = 0;

    for (; n > 0 && d->digits[n - 1] == '0'; n--)
        fives++;
    twos = fives + unit->exp2;
    if (n == 0) {
        *out = 0;
        return IS_WHOLE;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(d->digits[i] - '0');

        /* nobody writes a whole number of bytes with more digits than that */
        if (x > (UINT64_MAX - digit) / 10)
            return fives >= 0 ? IS_OVER : IS_FRACTION;
        x = x * 10 + digit;
    }
    w = fives < 0 ? scale_exactly(&x, 5, fives) : scale_exactly(&x, 2, twos);
    if (w == IS_WHOLE)
        w = fives < 0 ? scale_exactly(&x, 2, twos) : scale_exactly(&x, 5, fives);
    *out = x;
    return w;
}

enum fr_status fr__parse_bytes(const char *text, const char *what, struct fr_loc loc,
                               uint64_t *out_bytes, struct fr_error *err)
{
    struct fr__decimal d;
    struct scale unit;
    char excerpt[FR__EXCERPT];
    uint64_t bytes;

    FR_TRY(parse_quantity(&bytes_dimension, text, what, loc, &d, &unit, err));
    switch (whole_value(&d, &unit, &bytes)) {
    case IS_WHOLE:
        *out_bytes = bytes;
        return FR_OK;
    case IS_OVER:
        return fail_too_large(text, what, "2^64 bytes", loc, err);
    case IS_FRACTION:
        break;
    }
    return fr__fail(err, FR_ERANGE, loc, "%s is \"%s\", not a whole number of bytes", what,
                    fr__excerpt(text, excerpt));
}

enum fr_status fr__parse_choice(const char *text, const char *what, unsigned n,
                                const char *(*name_of)(unsigned i), unsigned *out,
                                struct fr_error *err)
{
    enum { MAX_CHOICES = 16 };
    const char *names[MAX_CHOICES];
    char known[128] = "", hint[128];
    size_t used = 0;

    assert(n <= MAX_CHOICES);
    for (unsigned i = 0; i < n; i++) {
        names[i] = name_of(i);
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return FR_OK;
        }
        if (used < sizeof(known))
            used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? "|" : "",
                                     names[i]);
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is \"%s\", expected %s%s", what, text, known,
                    fr__did_you_mean(text, names, n, hint, sizeof(hint)));
}
