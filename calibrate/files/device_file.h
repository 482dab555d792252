/* calibrate/files/device_file.h - the curves of a device as a YAML file (doc/calibration.md). */
#ifndef FR_CALIBRATE_FILES_DEVICE_FILE_H
#define FR_CALIBRATE_FILES_DEVICE_FILE_H

#include "calibrate/calibrate.h"

/* From memory; name is used for the path in messages. Errors as fr_calibration_load. */
enum fr_status fr__device_file_read(struct fr_calibration **out, const char *text, size_t len,
                                    const char *name, struct fr_error *err);
#endif
