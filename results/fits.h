/* results/fits.h - pictures of fitted cost curves over the measurements that they are compared
 * with.
 *
 * There is one picture for each curve. On the left: predicted against measured time of every row on
 * logarithmic axes, with lines at 10 % off. Rows that are compared are in front of rows that a fit
 * may have used. On the right: the rate (arithmetic or bytes per second) along one size while the
 * others stay the same. It shows up to three sets of rows, those with most points, with the curve
 * through them and, dashed, its formula without the residuals of a grid or of trees. If no five
 * rows differ in one size alone, the right side is predicted over measured time against the
 * work.
 */
#ifndef FORERUN_FITS_H
#define FORERUN_FITS_H

#include "calibrate/calibrate.h"
#include "calibrate/messages/system.h"
#include "results/results.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_fits {
    const struct fr_calibration *curves;
    const struct fr_check *checks; /* [number of curves] what fr_calibration_check says of them */
    const char *const *paths;      /* [n_paths] data, as fr_calibration_check takes them */
    const char *const *gpus;       /* [n_gpus] */
    size_t n_paths, n_gpus;
    bool is_all; /* judge every row */
};

/* FR_EUSAGE unless path is a folder, or may become one, or ends in .png, .svg, .pdf or .csv. */
enum fr_status fr_fits_check_path(const char *path, struct fr_error *err);

/* Draws the curves that have rows to judge; others are passed over. The pictures are
 * PATH/CLASS-DTYPE.png, and the folder is made. A path that ends as a picture does is the picture
 * of the only such curve. A path that ends in .csv becomes the table of the rows that are judged:
 * file, line, class, dtype, shape, measured_s, predicted_s, error, held_out. FR_EUSAGE: another
 * ending, or a single file for several curves; FR_ENOENT: nothing to draw; FR_EIO: no gnuplot, or
 * no such place; else as fr_calibration_check. */
enum fr_status fr_fits_draw(const struct fr_fits *f, const char *path, const struct fr_context *ctx,
                            struct fr_error *err);

struct fr_system_fits {
    const struct fr_system *system;
    const struct fr_system_check *checks; /* [FR_SYSTEM_CLASSES] what fr_system_check says */
    const char *rows_of;                  /* as fr_system_check takes them */
    const char *const *paths;             /* [n_paths] */
    size_t n_paths;
    double min_bytes;
    bool is_all;
};

/* The same of a system: PATH/all-reduce.png, PATH/all-reduce-nodes.png, PATH/send-1.png ... (the
 * links in the order of the system's file), or a table of the rows: line, class, gpus, nodes,
 * bytes, measured_s, predicted_s, error, held_out. Right is the bus bandwidth over the bytes, a
 * line for each number of GPUs and nodes, four at most. */
enum fr_status fr_system_fits_draw(const struct fr_system_fits *f, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
