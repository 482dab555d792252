/* workloads/graph/kinds.h - the words for op kinds and phases, for messages that list them. */
#ifndef FR_WORKLOADS_GRAPH_KINDS_H
#define FR_WORKLOADS_GRAPH_KINDS_H

#include "base/names.h"
#include "workloads/workloads.h"

extern const struct fr__name_list fr__op_kind_names, fr__phase_names;
#endif
