/* plan/names.c - words for the enumerations of plan.h. */
#include "config.h"

#include "plan/plan.h"

#include <string.h>

static const char *const collective_kinds[FR_N_COLLECTIVE_KINDS] = {
    [FR_ALL_REDUCE] = "all-reduce",         [FR_ALL_GATHER] = "all-gather",
    [FR_REDUCE_SCATTER] = "reduce-scatter", [FR_ALL_TO_ALL] = "all-to-all",
    [FR_BROADCAST] = "broadcast",           [FR_REDUCE] = "reduce",
};

static const char *const buffer_kinds[FR_N_BUFFER_KINDS] = {
    [FR_BUFFER_PARAMETER] = "parameters",        [FR_BUFFER_GRADIENT] = "gradients",
    [FR_BUFFER_OPTIMIZER] = "optimizer",         [FR_BUFFER_WEIGHT_VERSION] = "weight-versions",
    [FR_BUFFER_ACTIVATION] = "activations",      [FR_BUFFER_WORKSPACE] = "workspace",
    [FR_BUFFER_COMMUNICATION] = "communication", [FR_BUFFER_CONTEXT] = "context",
};

static const char *const orders[FR_N_ORDERS] = {
    [FR_ORDER_FIFO] = "fifo",       [FR_ORDER_PRIORITY] = "priority", [FR_ORDER_STRICT] = "strict",
    [FR_ORDER_CONTROL] = "control", [FR_ORDER_RANDOM] = "random",     [FR_ORDER_TIC] = "tic",
    [FR_ORDER_TAC] = "tac",
};

static const char *name_of(const char *const names[], unsigned n, unsigned i)
{
    return i < n ? names[i] : "?";
}

static unsigned index_of(const char *const names[], unsigned n, const char *name)
{
    unsigned i = 0;

    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i;
}

const char *fr_collective_kind_name(enum fr_collective_kind kind)
{
    return name_of(collective_kinds, FR_N_COLLECTIVE_KINDS, kind);
}

enum fr_collective_kind fr_collective_kind_parse(const char *name)
{
    return (enum fr_collective_kind)index_of(collective_kinds, FR_N_COLLECTIVE_KINDS, name);
}

const char *fr_buffer_kind_name(enum fr_buffer_kind kind)
{
    return name_of(buffer_kinds, FR_N_BUFFER_KINDS, kind);
}

const char *fr_order_name(enum fr_order o)
{
    return name_of(orders, FR_N_ORDERS, o);
}

enum fr_order fr_order_parse(const char *name)
{
    return (enum fr_order)index_of(orders, FR_N_ORDERS, name);
}
