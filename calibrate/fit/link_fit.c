/* calibrate/fit/link_fit.c - fits the time of messages over a link (system.h), on the mean of
 * |log(predicted / measured)|. */
#include "config.h"

#include "base/error.h"
#include "calibrate/fit/system_fit.h"
#include "calibrate/messages/model.h"
#include "calibrate/messages/nodes.h"
#include "base/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = FR_SYSTEM_LINK_PARAMETERS, STEPS = 1000, N_STARTS = 3 };

static double log_ratio(const void *user, const double p[], size_t k)
{
    const struct fr__message_row *const *rows = user;

    return log(fr__knee_s(p, rows[k]->bytes) / rows[k]->time_s);
}

static uint64_t hash_of(const void *user, size_t k)
{
    return ((const struct fr__message_row *const *)user)[k]->hash;
}

/* The least time and the greatest rate of all rows, with a small, middling or large knee. */
static void set_starts(const struct fr__rows_fit *f, const struct fr__message_row *const rows[],
                       double starts[N_STARTS][N])
{
    static const double knees[N_STARTS] = {1e4, 1e5, 1e6}, powers[N_STARTS] = {0.9, 0.5, 0.3};
    double least_s = INFINITY, most_Bps = 0;

    for (size_t k = 0; k < f->n; k++) {
        least_s = fmin(least_s, rows[k]->time_s);
        most_Bps = fmax(most_Bps, rows[k]->bytes / rows[k]->time_s);
    }
    for (unsigned s = 0; s < N_STARTS; s++) {
        const double start[N] = {least_s, most_Bps, knees[s], powers[s]};

        for (size_t i = 0; i < N; i++)
            starts[s][i] = fmin(fmax(start[i], f->low[i]), f->high[i]);
    }
}

enum fr_status fr__fit_link(struct fr_system_link *link, const struct fr__message_row *const rows[],
                            size_t n, struct fr_error *err)
{
    struct fr__rows_fit f = {
        .n = n, .log_ratio = log_ratio, .hash = hash_of, .user = rows, .simplex = {.n = N}};
    double starts[N_STARTS][N];

    for (size_t i = 0; i < N; i++) {
        struct fr__range range = fr__system_range(fr_system_link_parameter_name(i));

        f.low[i] = range.low;
        f.high[i] = range.high;
    }
    set_starts(&f, rows, starts);
    if (isnan(fr__rows_fit_best(&f, N_STARTS, starts[0], 0.5, STEPS, link->parameters)))
        return fr__fail_nomem(err);
    for (size_t i = 0; i < N; i++)
        link->parameters[i] = fr__round_digits(link->parameters[i]);
    return fr__rows_fit_errors(&f, FR__SYSTEM_DRAWS, link->parameters, link->errors, err);
}
