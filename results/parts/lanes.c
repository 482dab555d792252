/* results/parts/lanes.c - kinds of work, their colours, and the devices that a picture shows.
 *
 * It is separate because the report and the picture by gnuplot must show the same.
 */
#include "config.h"

#include "results/parts/lanes.h"
#include "results/parts/colours.h"

#include <stdlib.h>

static const struct {
    const char *title, *colour;
} categories[FR__N_CATEGORIES] = {
    [FR__FORWARD] = {"forward", FR__COLOUR_FORWARD},
    [FR__FORWARD_ODD] = {"forward", FR__COLOUR_FORWARD_LIGHT},
    [FR__DATA] = {"backward (data)", FR__COLOUR_BACKWARD_DATA},
    [FR__DATA_ODD] = {"backward (data)", FR__COLOUR_BACKWARD_DATA_LIGHT},
    [FR__WEIGHT] = {"backward (weights)", FR__COLOUR_BACKWARD_WEIGHT},
    [FR__WEIGHT_ODD] = {"backward (weights)", FR__COLOUR_BACKWARD_WEIGHT_LIGHT},
    [FR__UPDATE] = {"update", FR__COLOUR_UPDATE},
    [FR__OTHER] = {"other", FR__COLOUR_OTHER},
    [FR__COLLECTIVE] = {"collective", FR__COLOUR_COMMUNICATION},
    [FR__SEND] = {"send", FR__COLOUR_COPY},
    [FR__RECV] = {"receive", FR__COLOUR_COPY},
};

enum fr__category fr__category_of(const struct fr_task *task)
{
    unsigned odd = task->microbatch != FR_NONE && task->microbatch % 2 == 1;

    switch (task->kind) {
    case FR_TASK_SEND:
        return FR__SEND;
    case FR_TASK_RECV:
        return FR__RECV;
    case FR_TASK_COLLECTIVE:
        return FR__COLLECTIVE;
    default:
        break;
    }
    switch ((enum fr_phase)task->phase) {
    case FR_PHASE_FORWARD:
        return (enum fr__category)(FR__FORWARD + odd);
    case FR_PHASE_BACKWARD_DATA:
        return (enum fr__category)(FR__DATA + odd);
    case FR_PHASE_BACKWARD_WEIGHT:
        return (enum fr__category)(FR__WEIGHT + odd);
    case FR_PHASE_UPDATE:
        return FR__UPDATE;
    default:
        return FR__OTHER;
    }
}

enum fr__category fr__category_even(enum fr__category c)
{
    return c == FR__FORWARD_ODD || c == FR__DATA_ODD || c == FR__WEIGHT_ODD
               ? (enum fr__category)(c - 1)
               : c;
}

const char *fr__category_title(const struct fr_record *r, enum fr__category c)
{
    return r->is_plain && fr__category_even(c) == FR__FORWARD ? "task" : categories[c].title;
}

const char *fr__category_colour(enum fr__category c)
{
    return categories[c].colour;
}

/* Luminance and contrast: Web Content Accessibility Guidelines 2.1, W3C, 2018, "relative luminance"
 * and "contrast ratio", with the exponent 2 in place of its piecewise curve. */
const char *fr__ink_on(const char *colour)
{
    static const double weights[3] = {0.2126, 0.7152, 0.0722};
    unsigned long rgb = strtoul(colour + 1, NULL, 16);
    double luminance = 0;

    for (unsigned i = 0; i < 3; i++) {
        double part = (double)((rgb >> (16 - 8 * i)) & 0xff) / 255;

        luminance += weights[i] * part * part;
    }
    /* where white (1) and #1F2328 (0.017) contrast alike: 1.05 / (l + 0.05) = (l + 0.05) / 0.067 */
    return luminance < 0.215 ? "#FFFFFF" : "#1F2328";
}

size_t fr__shown_devices(const struct fr_record *r, size_t max, uint32_t shown[], size_t *n_busy)
{
    size_t taken = 0, k = 0;

    *n_busy = 0;
    for (size_t i = 0; i < r->n_devices; i++)
        *n_busy += r->devices[i].busy_s > 0;
    for (size_t i = 0; i < r->n_devices; i++) {
        if (r->devices[i].busy_s <= 0)
            continue;
        if (taken < max && (*n_busy <= max || k * max / *n_busy >= taken))
            shown[taken++] = r->devices[i].device;
        k++;
    }
    return taken;
}

size_t fr__lane_of(const uint32_t shown[], size_t n, uint32_t device)
{
    size_t lane = 0;

    while (lane < n && shown[lane] != device)
        lane++;
    return lane;
}
