/* calibrate/relatives.c - the chips that we know, by generation, and how far device types are from
 * each other. */
#include "config.h"

#include "calibrate/relatives.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In generations: caches, schedulers and libraries have changed too much beyond. */
enum { FARTHEST = 2, BEYOND_ALL = 2 + 2 * FARTHEST + 2, VOLTA = 3 };

/* Chips by the name their boards begin with, and NVIDIA's generation. Boards of 70 to 75 W (data
 * sheets of P4, T4 and L4) lower their clocks under load: the share of its peak that a kernel
 * reaches there says little about a board that keeps its clocks. */
static const struct chip {
    const char *name;
    int generation;
    bool is_low_power;
} chips[] = {
    {"k80", 0, false},                                           /* Kepler; then Maxwell */
    {"p100", 2, false}, {"p4", 2, true},                         /* Pascal */
    {"v100", 3, false},                                          /* Volta */
    {"t4", 4, true},                                             /* Turing */
    {"a100", 5, false}, {"a40", 5, false},                       /* Ampere */
    {"l4", 6, true},    {"l40s", 6, false},                      /* Ada */
    {"h100", 7, false}, {"h200", 7, false}, {"gh200", 7, false}, /* Hopper */
    {"b200", 8, false}, {"gb200", 8, false}                      /* Blackwell */
};

static const struct chip *chip_of(const char *device)
{
    size_t length = strcspn(device, "-");

    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
        if (strlen(chips[i].name) == length && strncmp(chips[i].name, device, length) == 0)
            return &chips[i];
    return NULL;
}

int fr__kinship(const char *a, const char *b)
{
    const struct chip *x = chip_of(a), *y = chip_of(b);

    if (strcmp(a, b) == 0)
        return 0;
    if (!x || !y || abs(y->generation - x->generation) > FARTHEST)
        return FR__NO_RELATIVE;
    if (x == y)
        return 1;
    return 2 + 2 * abs(y->generation - x->generation) + (y->generation < x->generation) +
           (y->is_low_power && !x->is_low_power ? BEYOND_ALL : 0);
}

bool fr__is_same_die(const char *a, const char *b)
{
    static const char *const dies[][3] = {{"h100", "h200", "gh200"}, {"b200", "gb200", NULL}};
    const struct chip *x = chip_of(a), *y = chip_of(b);

    if (!x || !y)
        return false;
    for (size_t d = 0; d < sizeof(dies) / sizeof(dies[0]); d++) {
        unsigned n = 0;

        for (unsigned i = 0; i < 3 && dies[d][i]; i++)
            n += strcmp(dies[d][i], x->name) == 0 || strcmp(dies[d][i], y->name) == 0;
        if (n == 2)
            return true;
    }
    return x == y;
}

bool fr__is_before_volta(const char *device)
{
    const struct chip *c = chip_of(device);

    return c && c->generation < VOLTA;
}
