/* base/dtype.h - number formats, from inside the library; enum fr_dtype is in base.h. */
#ifndef FR_BASE_DTYPE_H
#define FR_BASE_DTYPE_H

#include "base/base.h"
#include "base/names.h"

extern const struct fr__name_list fr__dtype_names; /* FR_N_DTYPES words */

/* Bytes of a number in memory: 0.5, 1, 2 or 4. FR_AMP counts as the fp32 of its parameters. */
double fr__dtype_bytes(enum fr_dtype dtype);
#endif
