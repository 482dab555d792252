/* calibrate/messages/model.h - the inside of struct fr_system, for the files that read, write and
 * fit it. */
#ifndef FR_CALIBRATE_MESSAGES_MODEL_H
#define FR_CALIBRATE_MESSAGES_MODEL_H

#include "calibrate/messages/system.h"

struct fr_system {
    struct fr_system_info info;
};

/* Indices in info.parameters. Each way of a ring has base, hop and bandwidth; NVLS follows, then
 * all-to-all. */
enum { FR__RINGS_END = 9, FR__NVLS_END = 11 };

struct fr__range {
    double low, high;
};
/* The range of a parameter of that name, in fits and in files. The unit at the end of the name
 * decides. */
struct fr__range fr__system_range(const char *name);
/* Whether the system has that parameter inside a node. If not, it is 0 and in no file. */
bool fr__system_has_parameter(const struct fr_system_info *info, size_t i);
/* The corrections c of system.h of a call inside a node; 0 where there is none. */
double fr__system_correction(const struct fr_system_info *info, const struct fr_system_call *call);
#endif
