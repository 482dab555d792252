/* results/parts/ticks.c - chooses the marks of an axis so that they are round numbers, neither too
 * many nor too few.
 *
 * It is separate because pictures by gnuplot and the report have the same marks.
 */
#include "config.h"

#include "results/parts/ticks.h"

#include <math.h>

enum { LEAST_TICKS = 3 };

/* At every n-th of 1, 2 and 5 times powers of ten. Returns how many; ticks: [FR__MAX_TICKS]. */
static unsigned ticks_by_decade(double low, double high, unsigned every, double ticks[])
{
    static const double steps[] = {1, 2, 5};
    double power = pow(10, floor(log10(low)));
    unsigned n = 0;

    for (unsigned i = 0; power * steps[i % 3] <= high * (1 + 1e-9) && n < FR__MAX_TICKS; i++) {
        double x = power * steps[i % 3];

        if (x >= low * (1 - 1e-9) && i % every == 0)
            ticks[n++] = x;
        if (i % 3 == 2)
            power *= 10;
    }
    return n;
}

/* At equal steps, some five. */
static unsigned ticks_by_step(double low, double high, double ticks[])
{
    double least = (high - low) / 6, power = pow(10, floor(log10(least)));
    double step = power * (least <= power       ? 1
                           : least <= 2 * power ? 2
                           : least <= 5 * power ? 5
                                                : 10);
    unsigned n = 0;

    for (double i = ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9) && n < FR__MAX_TICKS;
         i++)
        ticks[n++] = i * step;
    return n;
}

unsigned fr__log_ticks(double low, double high, unsigned most, double ticks[])
{
    unsigned n = ticks_by_decade(low, high, 1, ticks);

    if (n > most)
        return ticks_by_decade(low, high, 3, ticks);
    return n < LEAST_TICKS ? ticks_by_step(low, high, ticks) : n;
}
