/* calibrate/system_model.h - inside of struct fr_system, for the files that read, write and fit
 * it. */
#ifndef FR_CALIBRATE_SYSTEM_MODEL_H
#define FR_CALIBRATE_SYSTEM_MODEL_H

#include "calibrate/system.h"

struct fr_system {
    struct fr_system_info info;
};

/* Places in info.parameters: each way of a ring has base, hop and bandwidth, then NVLS, then
 * all-to-all's. */
enum { FR__RINGS_END = 9, FR__NVLS_END = 11 };

struct fr__range {
    double low, high;
};
/* What a fit tries of a parameter with that name, and a file may hold. The unit that ends it
 * decides. */
struct fr__range fr__system_range(const char *name);
/* Whether the system has that parameter inside a node; else it is 0 and in no file. */
bool fr__system_has_parameter(const struct fr_system_info *info, size_t i);
#endif
