/* calibrate/fit/system_bootstrap.c - standard errors of a system's parameters: repeats its fits on
 * rows drawn at random. */
#include "config.h"

#include "base/error.h"
#include "calibrate/fit/system_fit.h"

#include <stdlib.h>

enum fr_status fr__bootstrap_rows(const struct fr__collective_row *const rows[], size_t n,
                                  fr__refit_fn refit, void *user, size_t n_parameters,
                                  const double parameters[], double errors[], struct fr_error *err)
{
    uint64_t *hashes = calloc(n + 1, sizeof(*hashes));
    enum fr_status st;

    if (!hashes)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < n; k++)
        hashes[k] = rows[k]->hash;
    st = fr__bootstrap(n, hashes, FR__SYSTEM_DRAWS, refit, user, n_parameters, parameters, errors,
                       err);
    free(hashes);
    return st;
}
