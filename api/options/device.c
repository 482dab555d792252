/* api/options/device.c - options that name a device, a system, and rows of data about them. */
#include "config.h"

#include "api/options/options.h"
#include "base/error.h"
#include "base/units.h"

enum fr_status fr__add_gpu(struct fr__options *o, const char *value, struct fr_error *err)
{
    if (o->n_gpus == FR__MOST_GPUS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d names of GPUs", FR__MOST_GPUS);
    o->gpus[o->n_gpus++] = value;
    return FR_OK;
}

enum fr_status fr__set_system(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->system = value;
    return FR_OK;
}

enum fr_status fr__set_rows_of(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->rows_of = value;
    return FR_OK;
}

enum fr_status fr__set_min_bytes(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr__parse_bytes(value, "option '--min-bytes'", FR_NOWHERE, &o->min_bytes, err);
}

enum fr_status fr__set_from(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->from = value;
    return FR_OK;
}

enum fr_status fr__set_device(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->device = value;
    return FR_OK;
}
