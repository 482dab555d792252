/* calibrate/cost/borrowed.h - how much less is known of a chip that borrows another one's curves.
 *
 * Standard deviation of the logarithm, beside the curve's own error at home:
 *
 *                                products  convolutions  attention  moving memory
 *     chips since Volta          0.19      0.25          0.24       0.26
 *     one is older               0.32      0.26          0.24       0.28
 *
 * Each figure is the median over pairs of measured devices, where one is treated as if nobody had
 * measured it: the error of the other's curve on its held-out rows, less the error at home (24, 18,
 * 6 and 25 pairs since Volta; 6, 12, none and 18 with an older chip). The distance in generations
 * is not a part of it, since errors do not grow with it: since Volta products one generation away
 * add 0.22 and two away 0.17, kernels that move memory 0.26 and 0.27; older ones 0.40 and 0.32,
 * 0.33 and 0.14. A chip farther away than two generations borrows nothing.
 *
 * Nothing is added for another board of the same chip or die: from a B200 to a GB200 products are
 * 5.0 and 4.4 % off, which is no more than at home.
 *
 * Source:  doc/calibration.md, a device that nobody measured (forerun calibrate check --from).
 * Ignores: that the error is mostly one and the same for all kernels of a class.
 */
#ifndef FR_CALIBRATE_COST_BORROWED_H
#define FR_CALIBRATE_COST_BORROWED_H

#include "calibrate/calibrate.h"

/* kinship: fr__kinship of `to` and `from`, device types by name. */
double fr__transfer_error(int kinship, enum fr_curve_class op_class, const char *from,
                          const char *to);

/* Standard deviation of the logarithm of a normal error whose absolute value has this median. */
double fr__error_of_median(double median);
#endif
