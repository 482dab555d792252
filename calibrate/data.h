/* calibrate/data.h - measured kernels from CSV files of the layout in doc/calibration.md. */
#ifndef FR_CALIBRATE_DATA_H
#define FR_CALIBRATE_DATA_H

#include "calibrate/calibrate.h"

struct fr__measured {
    struct fr_shape shape;
    double time_s;
    enum fr_dtype dtype;
    uint32_t file, line; /* file: index of the path */
    uint32_t source;     /* index into sources */
    uint64_t hash;       /* of the shape alone: the same for every GPU and dtype */
};

struct fr__data {
    struct fr__measured *rows;
    char **sources; /* distinct, first come first */
    size_t n_rows, cap, n_sources, sources_cap;
};

/* Appends the rows of path whose GPU is among gpus (exact names) and whose dtype we know. FR_EPARSE
 * and FR_ERANGE with the place; FR_ENOENT, FR_EIO, FR_ENOMEM. */
enum fr_status fr__data_read(struct fr__data *d, const char *path, uint32_t file,
                             const char *const gpus[], size_t n_gpus, struct fr_error *err);
void fr__data_fini(struct fr__data *d);

/* Whether rows of that shape are kept from fits: a fifth of all shapes. */
bool fr__is_held_out(uint64_t shape_hash);

/* misses of n signed relative errors; sorts them by size. */
struct fr_misses fr__misses_of(double signed_errors[], size_t n);
#endif
