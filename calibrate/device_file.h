/* calibrate/device_file.h - the curves of a device as a YAML file (doc/calibration.md). */
#ifndef FR_CALIBRATE_DEVICE_FILE_H
#define FR_CALIBRATE_DEVICE_FILE_H

#include "calibrate/calibrate.h"

/* From memory; name stands for the path in messages. Errors as fr_calibration_load. */
enum fr_status fr__device_file_read(struct fr_calibration **out, const char *text, size_t len,
                                    const char *name, struct fr_error *err);

/* The files that are compiled in (made by calibrate/embed.sh). */
struct fr__shipped {
    const char *name;
    const char *text;
    size_t len;
};
extern const struct fr__shipped fr__shipped[];
extern const size_t fr__n_shipped;
extern const struct fr__shipped fr__shipped_systems[]; /* of calibrate/systems/ */
extern const size_t fr__n_shipped_systems;
#endif
