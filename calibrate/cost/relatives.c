/* calibrate/cost/relatives.c - how far device types are from each other, by the chips that we know
 * (chips.yaml). */
#include "config.h"

#include "calibrate/cost/relatives.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In generations: caches, schedulers and libraries have changed too much beyond. */
enum { FARTHEST = 2, BEYOND_ALL = 3 + 2 * FARTHEST + 2, VOLTA = 3, AMPERE = 5, HOPPER = 7 };

/* Whether that is the device's name up to its first '-'. Asked for each op that is priced, so that
 * most names are told apart by their first letters, without a call. */
static bool is_name_of(const char *chip, const char *device)
{
    while (*chip != '\0' && *chip == *device) {
        chip++;
        device++;
    }
    return *chip == '\0' && (*device == '\0' || *device == '-');
}

static const struct fr__chip *chip_of(const char *device)
{
    for (size_t i = 0; i < fr__n_chips; i++)
        if (is_name_of(fr__chips[i].name, device))
            return &fr__chips[i];
    return NULL;
}

/* 1: a board that keeps its clocks, or is not known. */
static double sustained_of(const struct fr__chip *c)
{
    return c && c->sustained > 0 ? c->sustained : 1;
}

int fr__kinship(const char *a, const char *b)
{
    const struct fr__chip *x, *y;

    if (strcmp(a, b) == 0)
        return 0;
    x = chip_of(a);
    y = chip_of(b);
    if (!x || !y || abs(y->generation - x->generation) > FARTHEST)
        return FR__NO_RELATIVE;
    if (x == y)
        return 1;
    if (x->die && y->die && strcmp(x->die, y->die) == 0)
        return 2;
    return 3 + 2 * abs(y->generation - x->generation) + (y->generation < x->generation) +
           (sustained_of(y) < 1 && !(sustained_of(x) < 1) ? BEYOND_ALL : 0);
}

bool fr__is_same_die(const char *a, const char *b)
{
    const struct fr__chip *x = chip_of(a), *y = chip_of(b);

    if (!x || !y)
        return false;
    return x == y || (x->whole_die && y->whole_die && strcmp(x->whole_die, y->whole_die) == 0);
}

bool fr__is_before_volta(const char *device)
{
    const struct fr__chip *c = chip_of(device);

    return c && c->generation < VOLTA;
}

bool fr__pads_channels(const char *device)
{
    const struct fr__chip *c = chip_of(device);

    return c && c->generation >= AMPERE;
}

unsigned fr__newest_attention(const char *device)
{
    const struct fr__chip *c = chip_of(device);

    return !c || c->generation < HOPPER ? 2 : c->generation == HOPPER ? 3 : 4;
}

double fr__cache_bytes(const char *device)
{
    const struct fr__chip *c = chip_of(device);
    double most_MiB = 0;

    for (size_t i = 0; !c && i < fr__n_chips; i++)
        most_MiB = fr__chips[i].cache_MiB > most_MiB ? fr__chips[i].cache_MiB : most_MiB;
    return (c ? c->cache_MiB : most_MiB) * 1048576;
}

double fr__sustained_ratio(const char *to, const char *from)
{
    const struct fr__chip *x = chip_of(to), *y = chip_of(from);

    return sustained_of(x) / sustained_of(y);
}
