/* papers/ways.c - the ways of asking that papers have beside questions. */
#include "config.h"

#include "papers/runner/asks.h"

const struct fr__ask_named fr__ask_ways[] = {
    {.name = "learn", .way = fr__ask_learn},
    {.name = "stages", .way = fr__ask_stages},
    {.name = "replay", .way = fr__ask_replay},
    {.name = NULL, .way = NULL},
};
