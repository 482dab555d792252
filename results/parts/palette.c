/* results/parts/palette.c - colours in the order in which pictures take them.
 *
 * It is separate because pictures by gnuplot and the report must give a value the same colour.
 */
#include "config.h"

#include "results/parts/colours.h"
#include "results/parts/palette.h"

const char *fr__palette(size_t i)
{
    static const char *const colours[FR__PALETTE] = {
        FR__COLOUR_FORWARD,       FR__COLOUR_BACKWARD_WEIGHT,
        FR__COLOUR_UPDATE,        FR__COLOUR_COMMUNICATION,
        FR__COLOUR_BACKWARD_DATA, FR__COLOUR_COPY,
        FR__COLOUR_OTHER,         FR__COLOUR_TEXT};

    return colours[i < FR__PALETTE ? i : FR__PALETTE - 1];
}
