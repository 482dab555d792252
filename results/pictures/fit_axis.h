/* results/pictures/fit_axis.h - what a kernel's rate is, and along which of its sizes rows can be
 * compared. */
#ifndef FR_RESULTS_PICTURES_FIT_AXIS_H
#define FR_RESULTS_PICTURES_FIT_AXIS_H

#include "calibrate/calibrate.h"

/* The size of a shape that axis 0, 1, ... is about, to read and to set; NULL: no more axes. *name,
 * if name is not NULL: as people call it, with its unit. */
double *fr__fit_axis(struct fr_kernel_shape *s, unsigned axis, const char **name);

/* What a kernel has to do: multiplications and additions of a product, a convolution, an attention
 * (with a causal mask half of all pairs); bytes read and written by the others, a matrix of
 * `dtype` twice. The parts that a formula adds (padding, second reads) are not in it. */
double fr__fit_work(const struct fr_kernel_shape *s, enum fr_dtype dtype);
bool fr__fit_is_arithmetic(enum fr_curve_class c); /* whether that work is FLOPs */

/* -1, 0, 1 by all sizes, and whether calls are wrapped; shapes of one class. */
int fr__fit_compare(const struct fr_kernel_shape *a, const struct fr_kernel_shape *b);

/* "4096 columns, 4096 depth": the sizes but that of the axis; returns text. */
const char *fr__fit_label(const struct fr_kernel_shape *s, unsigned axis, char *text, size_t n);
#endif
