/* calibrate/cost/relatives.c - the chips that we know, by generation, and how far device types are
 * from each other. */
#include "config.h"

#include "calibrate/cost/relatives.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In generations: caches, schedulers and libraries have changed too much beyond. */
enum { FARTHEST = 2, BEYOND_ALL = 3 + 2 * FARTHEST + 2, VOLTA = 3, AMPERE = 5, HOPPER = 7 };

/* GPUs by the name their boards begin with: NVIDIA's generation, and the die where several are made
 * of one (white papers of GA100, GA102, Ada and Hopper). Boards of 70 to 75 W (data sheets of P4,
 * T4 and L4) lower their clocks under load: the share of its peak that a kernel reaches there says
 * little about a board that keeps its clocks.
 *
 * sustained: the clock that such a board keeps over the one that its peak rate in its topology file
 * counts. P4 and L4: the base clock of their data sheets, which the board's power allows under any
 * load (885 MHz of 1074, 795 of 2040). T4: 900 MHz of 1590, seen while BERT runs
 * (mlcommons/inference_results_v0.5, issue 20); its base clock of 585 MHz is lower than what is
 * seen. Rows that were not used say about the same: from a V100, 1005 products on a T4 are 16.5 %
 * off (42.2 % without), 239 convolutions 16.8 % (22.0 %); from a T4, 472 products on an L4 18.3 %
 * (34.9 %).
 *
 * cache_MiB: white papers and data sheets of the chips; B200: NVIDIA, "Blackwell tuning guide",
 * section 1.4.2 (126 MB). */
static const struct chip {
    const char *name;
    int generation;
    const char *die;  /* NULL: of this GPU alone */
    double sustained; /* 1: a board that keeps its clocks */
    double cache_MiB; /* of the last level */
} chips[] = {
    {"k80", 0, NULL, 1, 1.5}, /* Kepler; then Maxwell */
    {"p100", 2, NULL, 1, 4},           {"p4", 2, NULL, 885.0 / 1074, 2},
    {"v100", 3, NULL, 1, 6},           {"t4", 4, NULL, 900.0 / 1590, 4},
    {"rtx2080ti", 4, NULL, 1, 5.5},    {"a100", 5, "ga100", 1, 40},
    {"a30", 5, "ga100", 1, 24},        {"a40", 5, "ga102", 1, 6},
    {"a10", 5, "ga102", 1, 6},         {"a10g", 5, "ga102", 1, 6},
    {"a6000", 5, "ga102", 1, 6},       {"rtx3090", 5, "ga102", 1, 6},
    {"l4", 6, NULL, 795.0 / 2040, 48}, {"l40s", 6, "ad102", 1, 96},
    {"rtx6000ada", 6, "ad102", 1, 96}, {"rtx4090", 6, "ad102", 1, 72},
    {"h100", 7, "gh100", 1, 50},       {"h200", 7, "gh100", 1, 50},
    {"gh200", 7, "gh100", 1, 50},      {"h20", 7, "gh100", 1, 60},
    {"b200", 8, "b200", 1, 126},       {"gb200", 8, "b200", 1, 126},
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
           (y->sustained < 1 && !(x->sustained < 1) ? BEYOND_ALL : 0);
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

bool fr__pads_channels(const char *device)
{
    const struct chip *c = chip_of(device);

    return c && c->generation >= AMPERE;
}

unsigned fr__newest_attention(const char *device)
{
    const struct chip *c = chip_of(device);

    return !c || c->generation < HOPPER ? 2 : c->generation == HOPPER ? 3 : 4;
}

double fr__cache_bytes(const char *device)
{
    const struct chip *c = chip_of(device);
    double most_MiB = 0;

    for (size_t i = 0; !c && i < sizeof(chips) / sizeof(chips[0]); i++)
        most_MiB = chips[i].cache_MiB > most_MiB ? chips[i].cache_MiB : most_MiB;
    return (c ? c->cache_MiB : most_MiB) * 1048576;
}

double fr__sustained_ratio(const char *to, const char *from)
{
    const struct chip *x = chip_of(to), *y = chip_of(from);

    return (x ? x->sustained : 1) / (y ? y->sustained : 1);
}
