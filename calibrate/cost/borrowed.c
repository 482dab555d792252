/* calibrate/cost/borrowed.c - the figures of transfer.h. */
#include "config.h"

#include "calibrate/cost/borrowed.h"

#include "calibrate/cost/relatives.h"

#include <math.h>
#include <string.h>

double fr__transfer_error(int kinship, enum fr_curve_class op_class, const char *from,
                          const char *to)
{
    bool is_old = fr__is_before_volta(from) || fr__is_before_volta(to);

    if (kinship <= 1 || (strcmp(from, to) != 0 && fr__is_same_die(from, to)))
        return 0;
    switch (op_class) {
    case FR_CURVE_MATMUL:
        return is_old ? 0.32 : 0.19;
    case FR_CURVE_CONV_FORWARD:
    case FR_CURVE_CONV_BACKWARD_DATA:
    case FR_CURVE_CONV_BACKWARD_FILTER:
        return is_old ? 0.26 : 0.25;
    case FR_CURVE_ATTENTION:
    case FR_CURVE_ATTENTION_BACKWARD:
        return 0.24;
    default: /* kernels that move memory */
        return is_old ? 0.28 : 0.26;
    }
}

double fr__error_of_median(double median)
{
    return log(1 + median) / 0.67449;
}
