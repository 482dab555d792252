/* calibrate/trust.c - the names of the levels of trust. */
#include "config.h"

#include "base/names.h"
#include "calibrate/calibrate.h"

static const char *const names[FR_N_TRUSTS] = {
    [FR_TRUST_PROFILED] = "profiled",     [FR_TRUST_SCALED] = "scaled",
    [FR_TRUST_CALIBRATED] = "calibrated", [FR_TRUST_TRANSFERRED] = "transferred",
    [FR_TRUST_DATASHEET] = "datasheet",
};
static const struct fr__name_list list = FR__NAMES(names);

const char *fr_trust_name(enum fr_trust trust)
{
    return fr__name_of(&list, trust);
}
