/* calibrate/fit/read/data.h - measured kernels from CSV files of the layouts in
 * doc/calibration.md. */
#ifndef FR_CALIBRATE_FIT_READ_DATA_H
#define FR_CALIBRATE_FIT_READ_DATA_H

#include "base/csv.h"
#include "calibrate/calibrate.h"

struct fr__measured {
    struct fr_kernel_shape shape;
    double time_s;
    enum fr_dtype dtype;
    uint32_t file, line; /* file: index of the path */
    uint32_t source;     /* index into sources */
    uint32_t gpu;        /* index into the names asked for */
    uint64_t hash;       /* hash of the shape's sizes: the same for every GPU and dtype */
};

/* Time of work of one class, alone and beside work of another class. */
struct fr__beside_row {
    enum fr_beside of, beside;
    double alone_s, together_s;
    uint32_t source, gpu;
    uint64_t hash; /* hash of the names and shapes of both */
};

struct fr__launch_row {
    enum fr_launch what;
    double time_s;
    uint32_t source, gpu;
};

struct fr__data {
    struct fr__measured *rows;
    struct fr__beside_row *beside;
    struct fr__launch_row *launches;
    char **sources; /* distinct project and software, in the order of their first row */
    size_t n_rows, cap, n_beside, beside_cap, n_launches, launches_cap, n_sources, sources_cap;
};

/* Appends the rows of path whose GPU is among gpus (exact names), whose dtype we know (if it
 * matters), and whose class has curves. The header tells the layout. FR_EPARSE and FR_ERANGE with
 * the place; FR_ENOENT, FR_EIO, FR_ENOMEM. */
enum fr_status fr__data_read(struct fr__data *d, const char *path, uint32_t file,
                             const char *const gpus[], size_t n_gpus, struct fr_error *err);
void fr__data_fini(struct fr__data *d);

/* Whether rows of that shape are held out of fits. A fifth of all shapes are. */
bool fr__is_held_out(uint64_t shape_hash);

/* Misses of n signed relative errors; sorts them by absolute value. */
struct fr_misses fr__misses_of(double signed_errors[], size_t n);

/* ---- for the readers of one layout (data_<layout>.c) ---- */

struct fr__scan {
    struct fr__data *data;
    const char *const *gpus;
    size_t n_gpus;
    uint32_t file;
    uint32_t gpu; /* GPU of the current row */
};

struct fr__layout {
    const char *mark; /* a column that only this layout has */
    const struct fr__csv_column *columns;
    fr__csv_row_fn take_row; /* user: struct fr__scan */
};
extern const struct fr__layout fr__layout_gemm, fr__layout_conv, fr__layout_kernels,
    fr__layout_beside;

/* Whether the row is of a GPU that is asked for, which *s remembers, and of a format that we know,
 * which goes to *dtype. */
bool fr__scan_wants(struct fr__scan *s, const struct fr__cell *gpu,
                    const struct fr__cell *dtype_name, enum fr_dtype *dtype);

bool fr__scan_is_gpu(struct fr__scan *s, const struct fr__cell *gpu);
/* Index of a row's source. */
enum fr_status fr__scan_source(struct fr__scan *s, const struct fr__cell *source, uint32_t *out,
                               struct fr_error *err);

/* Reads a size in 1 .. 2^31. */
enum fr_status fr__read_size(const struct fr__cell *cell, const char *name, double *out,
                             struct fr_error *err);
/* Reads N of "key=N" at the start of the cell or after a semicolon, in 1 .. 2^48; leaves *out if
 * there is none. what: "the batch in 'notes'", for messages. */
enum fr_status fr__read_pair(const struct fr__cell *cell, const char *key, const char *what,
                             double *out, struct fr_error *err);

/* Adds a row unless its class has no curves. time: in us; time_name: its column. */
enum fr_status fr__scan_add(struct fr__scan *s, const struct fr_kernel_shape *shape,
                            enum fr_dtype dtype, const struct fr__cell *source,
                            const struct fr__cell *time, const char *time_name,
                            struct fr_error *err);
/* Adds a row about launches. */
enum fr_status fr__scan_add_launch(struct fr__scan *s, enum fr_launch what,
                                   const struct fr__cell *source, const struct fr__cell *time_us,
                                   struct fr_error *err);
#endif
