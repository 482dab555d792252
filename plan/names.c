/* plan/names.c - words for the enumerations of plan.h. */
#include "config.h"

#include "base/names.h"
#include "plan/plan.h"

static const char *const collective_kind_words[FR_N_COLLECTIVE_KINDS] = {
    [FR_ALL_REDUCE] = "all-reduce",         [FR_ALL_GATHER] = "all-gather",
    [FR_REDUCE_SCATTER] = "reduce-scatter", [FR_ALL_TO_ALL] = "all-to-all",
    [FR_BROADCAST] = "broadcast",           [FR_REDUCE] = "reduce",
    [FR_RING_STEP] = "ring-step",
};
static const struct fr__name_list collective_kinds = FR__NAMES(collective_kind_words);

static const char *const buffer_kind_words[FR_N_BUFFER_KINDS] = {
    [FR_BUFFER_PARAMETER] = "parameters",        [FR_BUFFER_GRADIENT] = "gradients",
    [FR_BUFFER_OPTIMIZER] = "optimizer",         [FR_BUFFER_WEIGHT_VERSION] = "weight-versions",
    [FR_BUFFER_ACTIVATION] = "activations",      [FR_BUFFER_WORKSPACE] = "workspace",
    [FR_BUFFER_COMMUNICATION] = "communication", [FR_BUFFER_CONTEXT] = "context",
};
static const struct fr__name_list buffer_kinds = FR__NAMES(buffer_kind_words);

static const char *const order_words[FR_N_ORDERS] = {
    [FR_ORDER_FIFO] = "fifo",       [FR_ORDER_PRIORITY] = "priority", [FR_ORDER_STRICT] = "strict",
    [FR_ORDER_CONTROL] = "control", [FR_ORDER_RANDOM] = "random",     [FR_ORDER_TIC] = "tic",
    [FR_ORDER_TAC] = "tac",
};
static const struct fr__name_list orders = FR__NAMES(order_words);

const char *fr_collective_kind_name(enum fr_collective_kind kind)
{
    return fr__name_of(&collective_kinds, kind);
}

enum fr_collective_kind fr_collective_kind_parse(const char *name)
{
    return (enum fr_collective_kind)fr__name_parse(&collective_kinds, name);
}

const char *fr_buffer_kind_name(enum fr_buffer_kind kind)
{
    return fr__name_of(&buffer_kinds, kind);
}

const char *fr_order_name(enum fr_order o)
{
    return fr__name_of(&orders, o);
}
