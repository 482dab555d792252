/* calibrate/relatives.c - the chips that we know, by generation, and how far device types are from
 * each other. */
#include "config.h"

#include "calibrate/relatives.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In generations: caches, schedulers and libraries have changed too much beyond. */
enum { FARTHEST = 2, BEYOND_ALL = 3 + 2 * FARTHEST + 2, VOLTA = 3 };

/* GPUs by the name their boards begin with: NVIDIA's generation, and the die where several are made
 * of one (white papers of GA100, GA102, Ada and Hopper). Boards of 70 to 75 W (data sheets of P4,
 * T4 and L4) lower their clocks under load: the share of its peak that a kernel reaches there says
 * little about a board that keeps its clocks. */
static const struct chip {
    const char *name;
    int generation;
    const char *die; /* NULL: of this GPU alone */
    bool is_low_power;
} chips[] = {
    {"k80", 0, NULL, false}, /* Kepler; then Maxwell */
    {"p100", 2, NULL, false},
    {"p4", 2, NULL, true},
    {"v100", 3, NULL, false},
    {"t4", 4, NULL, true},
    {"rtx2080ti", 4, NULL, false},
    {"a100", 5, "ga100", false},
    {"a30", 5, "ga100", false},
    {"a40", 5, "ga102", false},
    {"a10", 5, "ga102", false},
    {"a10g", 5, "ga102", false},
    {"a6000", 5, "ga102", false},
    {"rtx3090", 5, "ga102", false},
    {"l4", 6, NULL, true},
    {"l40s", 6, "ad102", false},
    {"rtx6000ada", 6, "ad102", false},
    {"rtx4090", 6, "ad102", false},
    {"h100", 7, "gh100", false},
    {"h200", 7, "gh100", false},
    {"gh200", 7, "gh100", false},
    {"h20", 7, "gh100", false},
    {"b200", 8, "b200", false},
    {"gb200", 8, "b200", false},
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
    if (x->die && y->die && strcmp(x->die, y->die) == 0)
        return 2;
    return 3 + 2 * abs(y->generation - x->generation) + (y->generation < x->generation) +
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
