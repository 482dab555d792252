/* results/parts/number.c - writes numbers with a fixed count of decimals and chooses units of time.
 *
 * It is separate because text, reports and pictures must round the same number in the same way.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"

#include <string.h>
#include <math.h>
#include <stdio.h>

const char *fr__fixed(double x, unsigned decimals, char *buf, size_t n)
{
    static const long long scales[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    long long scale = scales[decimals], whole;

    if (!(fabs(x) < 1e12)) /* too large for decimals to mean anything, or not a number */
        return fr__format_double(x, buf, n);
    whole = llround(fabs(x) * (double)scale);
    if (decimals == 0)
        snprintf(buf, n, "%s%lld", x < 0 && whole > 0 ? "-" : "", whole);
    else
        snprintf(buf, n, "%s%lld.%0*lld", x < 0 && whole > 0 ? "-" : "", whole / scale,
                 (int)decimals, whole % scale);
    return buf;
}

double fr__time_unit(double max_s, const char **unit)
{
    static const struct {
        double from_s, factor;
        const char *unit;
    } units[] = {{1.0, 1.0, "s"}, {1e-3, 1e3, "ms"}, {0.0, 1e6, "µs"}};
    size_t i = 0;

    while (max_s < units[i].from_s)
        i++;
    *unit = units[i].unit;
    return units[i].factor;
}

double fr__long_time_unit(double max_s, const char **unit)
{
    static const struct {
        double from_s, factor;
        const char *unit;
    } units[] = {{2 * 86400.0, 1 / 86400.0, "days"},
                 {2 * 3600.0, 1 / 3600.0, "hours"},
                 {120, 1 / 60.0, "minutes"}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (max_s < units[i].from_s)
            continue;
        *unit = units[i].unit;
        return units[i].factor;
    }
    return fr__time_unit(max_s, unit);
}

const char *fr__plain(double x, char *buf, size_t n)
{
    size_t length = strlen(fr__fixed(x, 4, buf, n));

    if (!strchr(buf, '.'))
        return buf;
    while (length > 0 && buf[length - 1] == '0')
        buf[--length] = '\0';
    if (length > 0 && buf[length - 1] == '.')
        buf[length - 1] = '\0';
    return buf;
}
