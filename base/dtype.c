/* base/dtype.c - names and widths of number formats. */
#include "config.h"

#include "base/dtype.h"

static const char *const names[FR_N_DTYPES] = {
    [FR_FP32] = "fp32", [FR_TF32] = "tf32", [FR_FP16] = "fp16", [FR_BF16] = "bf16",
    [FR_FP8] = "fp8",   [FR_FP4] = "fp4",   [FR_AMP] = "amp",
};
const struct fr__name_list fr__dtype_names = FR__NAMES(names);

const char *fr_dtype_name(enum fr_dtype dtype)
{
    return fr__name_of(&fr__dtype_names, dtype);
}

enum fr_dtype fr_dtype_parse(const char *name)
{
    return (enum fr_dtype)fr__name_parse(&fr__dtype_names, name);
}

double fr__dtype_bytes(enum fr_dtype dtype)
{
    if (dtype == FR_FP4)
        return 0.5;
    return dtype == FR_FP8 ? 1 : dtype == FR_FP16 || dtype == FR_BF16 ? 2 : 4;
}
