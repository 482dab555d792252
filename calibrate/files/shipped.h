/* calibrate/files/shipped.h - the shipped device and system files, compiled in as tables.
 *
 * calibrate/files/compile.c makes the tables at build time from calibrate/devices/ and
 * calibrate/systems/, so that no run has to parse these files. The files themselves are still what
 * is fitted, installed and read by people.
 */
#ifndef FR_CALIBRATE_FILES_SHIPPED_H
#define FR_CALIBRATE_FILES_SHIPPED_H

#include "calibrate/curves/curve.h"
#include "calibrate/messages/system.h"

/* A curve before fr__curve_prepare. */
struct fr__shipped_curve {
    struct fr_curve_info info;
    struct fr__machine machine;
    struct fr__residual residual;
    struct fr__trees trees;
};

struct fr__shipped_device {
    const char *name;                       /* of the file, without .yaml */
    const char *device;                     /* that it is about */
    const struct fr__shipped_curve *curves; /* [n_curves] */
    size_t n_curves;
    const struct fr_launches *launches;   /* NULL: not measured */
    const struct fr_slowdowns *slowdowns; /* NULL: not measured */
};
extern const struct fr__shipped_device fr__shipped_devices[];
extern const size_t fr__n_shipped_devices;

struct fr__shipped_system {
    const char *name;
    const struct fr_system_info *info;
};
extern const struct fr__shipped_system fr__shipped_systems[];
extern const size_t fr__n_shipped_systems;

#endif
