/* base/human.c - quantities as people read them: three or four digits and a unit. */
#include "config.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct step {
    const char *unit;
    double size; /* of the unit; ascending */
};

/* v >= 0 with so many significant digits, at least all those before the point, without zeros at the
 * end of the fraction. Digits come from an integer, so that no locale has a say. */
static void print_digits(double v, int digits, char *buf, size_t n)
{
    int decimals = digits - 1;
    double scaled = v;
    char text[32], *end;

    for (double limit = 10; decimals > 0 && v >= limit; limit *= 10)
        decimals--;
    for (int i = 0; i < decimals; i++)
        scaled *= 10;
    snprintf(text, sizeof(text), "%0*.0f", decimals + 1, nearbyint(scaled));
    end = text + strlen(text);
    if (decimals > 0) {
        char *point = end - decimals;

        memmove(point + 1, point, (size_t)decimals + 1);
        *point = '.';
        while (*end == '0')
            *end-- = '\0';
        if (end == point)
            *end = '\0';
    }
    snprintf(buf, n, "%s", text);
}

/* The value in the largest step it reaches once rounded. */
static const char *format_steps(double x, const struct step steps[], size_t n_steps, int digits,
                                char *buf, size_t n)
{
    double v = fabs(x);
    size_t i = n_steps - 1;
    char number[32];

    if (n == 0)
        return "";
    if (!isfinite(x) || v / steps[i].size >= 1e15) {
        const char *unit = steps[isfinite(x) ? i : 0].unit;

        fr__format_double(isfinite(x) ? x / steps[i].size : x, number, sizeof(number));
        snprintf(buf, n, "%s%s%s", number, *unit ? " " : "", unit);
        return buf;
    }
    while (i > 0 && v < steps[i].size)
        i--;
    for (;; i++) {
        print_digits(v / steps[i].size, digits, number, sizeof(number));
        /* 999.9 and 1023.9 round up to what the next unit writes as 1 */
        if (i + 1 == n_steps ||
            fr__strtod(number, NULL) < nearbyint(steps[i + 1].size / steps[i].size))
            break;
    }
    snprintf(buf, n, "%s%s%s%s", x < 0 && strcmp(number, "0") != 0 ? "-" : "", number,
             *steps[i].unit ? " " : "", steps[i].unit);
    return buf;
}

#define FORMAT(x, steps, digits)                                                                   \
    format_steps(x, steps, sizeof(steps) / sizeof((steps)[0]), digits, buf, n)

const char *fr__format_bytes(double bytes, char *buf, size_t n)
{
    static const struct step steps[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
                                        {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}};

    return FORMAT(bytes, steps, 3);
}

const char *fr__format_rate(double Bps, char *buf, size_t n)
{
    static const struct step steps[] = {{"B/s", 1},    {"KB/s", 1e3},  {"MB/s", 1e6},
                                        {"GB/s", 1e9}, {"TB/s", 1e12}, {"PB/s", 1e15}};

    return FORMAT(Bps, steps, 3);
}

const char *fr__format_time(double s, char *buf, size_t n)
{
    static const struct step steps[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3},   {"s", 1},
                                        {"min", 60},  {"h", 3600},  {"days", 86400}};

    /* zero is no nanoseconds in particular */
    return s < 0 || s > 0 ? FORMAT(s, steps, 3) : format_steps(s, steps + 3, 1, 3, buf, n);
}

const char *fr__format_flops(double flops, char *buf, size_t n)
{
    static const struct step steps[] = {{"FLOP", 1},     {"KFLOP", 1e3},  {"MFLOP", 1e6},
                                        {"GFLOP", 1e9},  {"TFLOP", 1e12}, {"PFLOP", 1e15},
                                        {"EFLOP", 1e18}, {"ZFLOP", 1e21}, {"YFLOP", 1e24}};

    return FORMAT(flops, steps, 3);
}

const char *fr__format_count(double n_things, char *buf, size_t n)
{
    static const struct step steps[] = {{"", 1},    {"K", 1e3},  {"M", 1e6},
                                        {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};

    return FORMAT(n_things, steps, 4);
}
