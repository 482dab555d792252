/* strategies/lower/problem.c - refuses problems that no strategy can plan. */
#include "config.h"

#include "strategies/lower/problem.h"

#include "base/error.h"

enum fr_status fr__check_problem(const struct fr_problem *in, struct fr_error *err)
{
    if (in->n_devices == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no device to place the model on");
    if (in->global_batch == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "the global batch is 0, expected at least 1");
    return FR_OK;
}
