/* workloads/load.h - loads a workload in a number-format recipe, for the layers above. */
#ifndef FR_WORKLOADS_LOAD_H
#define FR_WORKLOADS_LOAD_H

#include "workloads/workloads.h"

/* fr_workload_load() in a recipe that fr__formats_load() takes, and its dtype; formats NULL: as
 * *opt says. */
enum fr_status fr__workload_load_in(struct fr_graph **out, const char *spec,
                                    const struct fr_workload_options *opt, const char *formats,
                                    struct fr_error *err);
#endif
