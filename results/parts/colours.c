/* results/parts/colours.c - the greys of colours, for print.
 *
 * It is separate because pictures by gnuplot and drawings both turn grey.
 */
#include "config.h"

#include "results/parts/colours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Steps of equal size from forward to idle; a light colour is half a step from its own. */
static const struct {
    const char *colour, *grey;
} greys[] = {
    {.colour = FR__COLOUR_FORWARD, .grey = "#1F1F1F"},
    {.colour = FR__COLOUR_FORWARD_LIGHT, .grey = "#343434"},
    {.colour = FR__COLOUR_COMMUNICATION, .grey = "#424242"},
    {.colour = FR__COLOUR_BACKWARD_WEIGHT, .grey = "#5A5A5A"},
    {.colour = FR__COLOUR_BACKWARD_WEIGHT_LIGHT, .grey = "#676767"},
    {.colour = FR__COLOUR_UPDATE, .grey = "#757575"},
    {.colour = FR__COLOUR_COPY, .grey = "#949494"},
    {.colour = FR__COLOUR_OTHER, .grey = "#AFAFAF"},
    {.colour = FR__COLOUR_WORKSPACE, .grey = "#BDBDBD"},
    {.colour = FR__COLOUR_BACKWARD_DATA, .grey = "#CBCBCB"},
    {.colour = FR__COLOUR_BACKWARD_DATA_LIGHT, .grey = "#D9D9D9"},
    {.colour = FR__COLOUR_IDLE, .grey = "#E7E7E7"},
    {.colour = FR__COLOUR_TEXT, .grey = "#1A1A1A"},
    {.colour = FR__COLOUR_LIMIT, .grey = "#000000"},
};

const char *fr__colour_grey(const char *colour, char grey[8])
{
    unsigned long rgb = strtoul(colour + 1, NULL, 16);
    unsigned long level =
        (2126 * (rgb >> 16 & 0xff) + 7152 * (rgb >> 8 & 0xff) + 722 * (rgb & 0xff)) / 10000;

    snprintf(grey, 8, "#%02lX%02lX%02lX", level & 0xff, level & 0xff, level & 0xff);
    for (size_t i = 0; i < sizeof(greys) / sizeof(greys[0]); i++)
        if (strcasecmp(colour, greys[i].colour) == 0)
            memcpy(grey, greys[i].grey, 8);
    return grey;
}
