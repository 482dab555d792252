/* strategies/fastt/options.c - the options of dpos and os-dpos, and what their values ask for. */
#include "config.h"

#include "strategies/fastt/fastt.h"

enum {
    OPTION_START,
    OPTION_RULE,
    OPTION_REFEREE,
    OPTION_LINKS,
    N_SHARED,
    OPTION_PLAIN = N_SHARED,
    OPTION_REPLICAS,
    OPTION_DIMS,
    OPTION_PARTS,
    OPTION_POWERS,
    OPTION_TRIES,
    OPTION_PATIENCE
};

#define START_OPTION                                                                               \
    [OPTION_START] = {                                                                             \
        .name = "start",                                                                           \
        .type = FR_OPTION_CHOICE,                                                                  \
        .fallback = "auto",                                                                        \
        .choices = "auto|dp|model",                                                                \
        .help = "plan replicas of the model that share its variables, or one model; auto: "        \
                "replicas where one fits a device"}

#define SHARED_OPTIONS                                                                             \
    START_OPTION,                                                                                  \
        [OPTION_RULE] = {.name = "rule",                                                           \
                         .type = FR_OPTION_CHOICE,                                                 \
                         .fallback = "auto",                                                       \
                         .choices = FR__RULE_CHOICES,                                              \
                         .help = "how operations are placed: as in the paper, by a rule of ours, " \
                                 "or what the engine finds fastest of ours"},                      \
        [OPTION_REFEREE] = {.name = "referee",                                                     \
                            .type = FR_OPTION_CHOICE,                                              \
                            .fallback = "engine",                                                  \
                            .choices = "engine|belief",                                            \
                            .help = "who says what a plan takes: the engine, or the planner "      \
                                    "itself, which then goes by the paper's rule"},                \
        [OPTION_LINKS] = {                                                                         \
            .name = "links",                                                                       \
            .type = FR_OPTION_CHOICE,                                                              \
            .fallback = "auto",                                                                    \
            .choices = "auto|alone|shared|slots",                                                  \
            .help = "what the planner believes that a message takes: alone on its links; while "   \
                    "all other pairs of GPUs send too (not by rule=paper); or in a slot of time "  \
                    "on each link, for which messages wait; auto: alone, our rules also slots"}

const struct fr_option fr__dpos_options[] = {SHARED_OPTIONS, {.name = NULL}};
const struct fr_option fr__os_dpos_options[] = {
    SHARED_OPTIONS,
    [OPTION_PLAIN] = {.name = "plain",
                      .type = FR_OPTION_CHOICE,
                      .fallback = "compare",
                      .choices = "compare|ignore",
                      .help = "plans of single, dp, mp and pp: handed over where the engine finds "
                              "one faster, or not looked at"},
    [OPTION_REPLICAS] = {.name = "replicas",
                         .type = FR_OPTION_CHOICE,
                         .fallback = "compare",
                         .choices = "compare|only|ignore",
                         .help = "rule=paper: a replica a device, left alone: kept where faster, "
                                 "always, or never"},
    [OPTION_DIMS] = {.name = "dims",
                     .type = FR_OPTION_CHOICE,
                     .fallback = "both",
                     .choices = "both|batch|channel",
                     .help = "what operations are split along"},
    [OPTION_PARTS] = {.name = "parts",
                      .type = FR_OPTION_COUNT,
                      .fallback = "0",
                      .help = "most parts of an operation; 0: as many as devices"},
    [OPTION_POWERS] = {.name = "powers",
                       .type = FR_OPTION_BOOL,
                       .fallback = "0",
                       .help = "only 2, 4, 8, ... parts"},
    [OPTION_TRIES] = {.name = "tries",
                      .type = FR_OPTION_COUNT,
                      .fallback = "0",
                      .help = "most operations whose splits are tried; 0: no limit"},
    [OPTION_PATIENCE] =
        {.name = "patience",
         .type = FR_OPTION_COUNT,
         .fallback = "1",
         .help = "operations in a row that no split of makes the step shorter end the search"},
    {.name = NULL},
};

struct fr__fastt_options fr__fastt_options(const struct fr_option_values *values, bool splits)
{
    static const uint8_t dims[] = {0, 1u << FR__DAG_BATCH, 1u << FR__DAG_CHANNEL};
    struct fr__fastt_options o = {.start = (enum fr__fastt_start)values->value[OPTION_START],
                                  .splits = splits,
                                  .rule = fr__rule_at(values->value[OPTION_RULE]),
                                  .links = (enum fr__fastt_links)values->value[OPTION_LINKS],
                                  .asks_engine = values->value[OPTION_REFEREE] == 0};

    if (!splits) {
        o.replicas = FR__FASTT_IGNORE;
        return o;
    }
    /* it is an option of that rule alone */
    if (!o.rule && values->is_set[OPTION_REPLICAS])
        o.rule = fr__rule_at(FR__RULE_PAPER);
    o.compares_plain = values->value[OPTION_PLAIN] == 0;
    o.limits_tries = !values->is_set[OPTION_TRIES];
    o.replicas = (enum fr__fastt_replicas)values->value[OPTION_REPLICAS];
    o.search.dims = dims[values->value[OPTION_DIMS]];
    o.search.max_parts = (unsigned)values->value[OPTION_PARTS];
    o.search.powers_of_two = values->value[OPTION_POWERS] != 0;
    o.search.max_tried = (unsigned)values->value[OPTION_TRIES];
    o.search.patience = (unsigned)values->value[OPTION_PATIENCE];
    return o;
}
