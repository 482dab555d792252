/* calibrate/trust.c - the names of the levels of trust. */
#include "config.h"

#include "base/names.h"
#include "calibrate/calibrate.h"

static const char *const names[FR_N_TRUSTS] = {
    [FR_TRUST_PROFILED] = "profiled",     [FR_TRUST_SCALED] = "scaled",
    [FR_TRUST_CALIBRATED] = "calibrated", [FR_TRUST_TRANSFERRED] = "transferred",
    [FR_TRUST_DATASHEET] = "datasheet",   [FR_TRUST_PROFILED_ELSEWHERE] = "profiled-elsewhere",
};
static const struct fr__name_list list = FR__NAMES(names);

const char *fr_trust_name(enum fr_trust trust)
{
    return fr__name_of(&list, trust);
}

bool fr_trust_is_measured(enum fr_trust trust)
{
    return trust == FR_TRUST_PROFILED || trust == FR_TRUST_SCALED ||
           trust == FR_TRUST_PROFILED_ELSEWHERE;
}

const char *fr_trust_note(enum fr_trust trust)
{
    if (trust == FR_TRUST_DATASHEET)
        return " (a guess from peak rates)";
    if (trust == FR_TRUST_PROFILED_ELSEWHERE)
        return " (on a GPU that is not named or has no curves: half of all ops are off by a "
               "factor of 2.2 or more)";
    return "";
}
