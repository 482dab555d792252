/* workloads/graph/kinds.c - how op kinds and phases are spelt. */
#include "config.h"

#include "workloads/workloads.h"

#include <string.h>

#define KIND_TEXT(name, text) text,
static const char *const kind_names[] = {FR_OP_KINDS(KIND_TEXT)};
#undef KIND_TEXT

static const char *const phase_names[] = {
    [FR_PHASE_INPUT] = "input",
    [FR_PHASE_FORWARD] = "forward",
    [FR_PHASE_BACKWARD_DATA] = "backward-data",
    [FR_PHASE_BACKWARD_WEIGHT] = "backward-weight",
    [FR_PHASE_UPDATE] = "update",
};

const char *fr_op_kind_name(enum fr_op_kind kind)
{
    return (unsigned)kind < FR_N_OP_KINDS ? kind_names[kind] : "unknown";
}

enum fr_op_kind fr_op_kind_parse(const char *name)
{
    unsigned i = 0;

    while (i < FR_N_OP_KINDS && strcmp(kind_names[i], name) != 0)
        i++;
    return (enum fr_op_kind)i;
}

const char *fr_phase_name(enum fr_phase phase)
{
    return (unsigned)phase < FR_N_PHASES ? phase_names[phase] : "unknown";
}

enum fr_phase fr_phase_parse(const char *name)
{
    unsigned i = 0;

    while (i < FR_N_PHASES && strcmp(phase_names[i], name) != 0)
        i++;
    return (enum fr_phase)i;
}
