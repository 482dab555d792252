/* calibrate/relatives.c - the chips that we know, by generation, and how far device types are from
 * each other. */
#include "config.h"

#include "calibrate/relatives.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In generations: caches, schedulers and libraries have changed too much beyond. */
enum { FARTHEST = 2, VOLTA = 3 };

/* Chips by the name their boards begin with, and NVIDIA's generation. */
static const struct chip {
    const char *name;
    int generation;
} chips[] = {
    {"k80", 0},                             /* Kepler; then Maxwell */
    {"p100", 2}, {"p4", 2},                 /* Pascal */
    {"v100", 3},                            /* Volta */
    {"t4", 4},                              /* Turing */
    {"a100", 5}, {"a40", 5},                /* Ampere */
    {"l4", 6},   {"l40s", 6},               /* Ada */
    {"h100", 7}, {"h200", 7}, {"gh200", 7}, /* Hopper */
    {"b200", 8}, {"gb200", 8}               /* Blackwell */
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
    return 2 + 2 * abs(y->generation - x->generation) + (y->generation < x->generation);
}

bool fr__is_before_volta(const char *device)
{
    const struct chip *c = chip_of(device);

    return c && c->generation < VOLTA;
}
