/* calibrate/system_model.h - inside of struct fr_system, for the files that read, write and fit it. */
#ifndef FR_CALIBRATE_SYSTEM_MODEL_H
#define FR_CALIBRATE_SYSTEM_MODEL_H

#include "calibrate/system.h"

struct fr_system {
    struct fr_system_info info;
};

/* Least and greatest value of parameter i that a fit tries and a file may hold. */
double fr__system_parameter_low(size_t i);
double fr__system_parameter_high(size_t i);
/* Whether the system has that parameter: those of NVLS are 0 and in no file without it. */
bool fr__system_has_parameter(const struct fr_system_info *info, size_t i);
#endif
