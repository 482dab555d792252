/* calibrate/trust.c - the names of the levels of trust. */
#include "config.h"

#include "calibrate/calibrate.h"

const char *fr_trust_name(enum fr_trust trust)
{
    static const char *const names[FR_N_TRUSTS] = {
        [FR_TRUST_PROFILED] = "profiled",     [FR_TRUST_SCALED] = "scaled",
        [FR_TRUST_CALIBRATED] = "calibrated", [FR_TRUST_TRANSFERRED] = "transferred",
        [FR_TRUST_DATASHEET] = "datasheet",
    };

    return (unsigned)trust < FR_N_TRUSTS ? names[trust] : "unknown";
}
