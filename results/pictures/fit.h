/* results/pictures/fit.h - what a picture of fit against data shows (results/fits.h). */
#ifndef FR_RESULTS_PICTURES_FIT_H
#define FR_RESULTS_PICTURES_FIT_H

#include "base/arena.h"
#include "calibrate/calibrate.h"
#include "calibrate/messages/system.h"
#include "results/charts/chart.h"

enum { FR__FIT_SLICES = 4, FR__FIT_HEADING = 512 };

struct fr__fit_point {
    double measured_s, predicted_s, work; /* work: FLOPs or bytes, > 0 */
    bool is_judged;
};

struct fr__fit_xy {
    double x, y;
    bool is_judged; /* of measured points */
};

/* Rows that differ in one size: what was measured, and the curve at many more sizes. */
struct fr__fit_slice {
    char label[128];
    const struct fr__fit_xy *measured, *curve, *form; /* form: without residuals; may be NULL */
    size_t n_measured, n_curve;                       /* form has n_curve points too */
};

struct fr__fit_picture {
    char heading[FR__FIT_HEADING], subheading[FR__FIT_HEADING];
    const struct fr__fit_point *points;
    size_t n_points, n_slices;
    struct fr__fit_slice slices[FR__FIT_SLICES];
    const char *x_name, *y_name; /* of the slices: "rows", "Tflop/s" */
    const char *work_name;       /* of points' work: "FLOPs" */
};

/* ---- rows that can be compared ---- */

struct fr__fit_place {
    uint64_t group; /* rows of a group differ in x alone */
    double x;
    size_t row;
};
struct fr__fit_run {
    size_t first, n, n_distinct; /* places of one group, and how many x */
};
/* Finds the n_best groups with most distinct x, five at least, in places [n] sorted by group and
 * x: the longest first, of equals the first; the rest of best has n = 0. Returns how many x they
 * have. */
size_t fr__fit_longest(const struct fr__fit_place places[], size_t n, size_t n_best,
                       struct fr__fit_run best[]);

/* ---- what is drawn ---- */

/* Arrays come from the arena. rows: [n] of curve i, n > 0. The subheading is left empty. */
enum fr_status fr__fit_of_kernels(struct fr__arena *a, const struct fr_calibration *c, size_t i,
                                  const struct fr_check_row rows[], size_t n, bool is_all,
                                  struct fr__fit_picture *out, struct fr_error *err);

/* Likewise of class i of a system. */
enum fr_status fr__fit_of_system(struct fr__arena *a, const struct fr_system *s, size_t i,
                                 const struct fr_system_row rows[], size_t n, bool is_all,
                                 struct fr__fit_picture *out, struct fr_error *err);

/* Writes "16 rows to judge by: median 3.5 %, 90th percentile 11.2 %, worst 43.8 %, bias +0.1 %" and
 * the source of the rows. */
void fr__fit_say_misses(struct fr__fit_picture *p, const struct fr_misses *misses,
                        const char *whence);

/* The picture to path, which ends in .png, .svg or .pdf. */
enum fr_status fr__fit_plot(const struct fr__fit_picture *p, const char *path,
                            const struct fr_context *ctx, struct fr_error *err);
void fr__fit_chart(struct fr__chart *c, const struct fr__fit_picture *p);
#endif
