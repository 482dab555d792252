/* base/round.c - rounds to significant digits: fitted figures stand in files with as many as their
 * data hold. */
#include "config.h"

#include "base/round.h"

#include <math.h>

/* Scales by a power of ten that a double holds exactly. */
double fr__round_digits(double x)
{
    double exponent, scale;

    if (!(x > 0))
        return 0;
    exponent = floor(log10(x)) - 4;
    scale = pow(10, fabs(exponent));
    return exponent < 0 ? round(x * scale) / scale : round(x / scale) * scale;
}
