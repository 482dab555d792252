/* results/parts/schedule.c - times of a schedule, in its unit or in none.
 *
 * It is separate because text and pictures must round the same time in the same way.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/schedule.h"

const char *fr__schedule_time(const struct fr_timed_schedule *x, double t, char *buf, size_t n)
{
    char number[40];

    if (!x->unit)
        return fr__format_double(t, buf, n);
    snprintf(buf, n, "%s %s",
             fr__fixed(t,
                       t < 10     ? 3
                       : t < 100  ? 2
                       : t < 1000 ? 1
                                  : 0,
                       number, sizeof(number)),
             x->unit);
    return buf;
}
