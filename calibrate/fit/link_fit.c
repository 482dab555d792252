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

struct fit {
    const struct fr__message_row *const *rows; /* [n] */
    const uint32_t *draws;                     /* [n] how often a row counts; NULL: once */
    size_t n;
    const double *now; /* the parameters being tried */
    struct fr__simplex simplex;
    double low[N], high[N];
};

static double log_ratio(const void *user, size_t k)
{
    const struct fit *f = user;

    return log(fr__knee_s(f->now, f->rows[k]->bytes) / f->rows[k]->time_s);
}

static double miss(void *user, const double p[])
{
    struct fit *f = user;

    f->now = p;
    return fr__mean_miss(f->n, f->draws, log_ratio, f);
}

static bool refit(void *user, const uint32_t draws[], double parameters[])
{
    struct fit *f = user;
    double miss_there;

    f->draws = draws;
    miss_there = fr__simplex_minimise(&f->simplex, parameters, 0.1, FR__SYSTEM_DRAW_STEPS * N);
    f->draws = NULL;
    return !isnan(miss_there);
}

/* Start number `start`: the least time and the greatest rate of all rows, with a small, middling or
 * large knee. */
static void set_start(const struct fit *f, unsigned start, double p[N])
{
    static const double knees[N_STARTS] = {1e4, 1e5, 1e6}, powers[N_STARTS] = {0.9, 0.5, 0.3};

    p[0] = INFINITY;
    p[1] = 0;
    for (size_t k = 0; k < f->n; k++) {
        p[0] = fmin(p[0], f->rows[k]->time_s);
        p[1] = fmax(p[1], f->rows[k]->bytes / f->rows[k]->time_s);
    }
    p[2] = knees[start];
    p[3] = powers[start];
    for (size_t i = 0; i < N; i++)
        p[i] = fmin(fmax(p[i], f->low[i]), f->high[i]);
}

static enum fr_status find_parameters(struct fit *f, double out[N], struct fr_error *err)
{
    double best = INFINITY;

    for (unsigned start = 0; start < N_STARTS; start++) {
        double p[N], now = INFINITY;

        set_start(f, start, p);
        for (unsigned again = 0; again < 3 && !isnan(now); again++)
            now = fr__simplex_minimise(&f->simplex, p, 0.5, STEPS);
        if (isnan(now))
            return fr__fail_nomem(err);
        if (now < best) {
            best = now;
            memcpy(out, p, sizeof(p));
        }
    }
    for (size_t i = 0; i < N; i++)
        out[i] = fr__round_digits(out[i]);
    return FR_OK;
}

static enum fr_status find_errors(struct fit *f, struct fr_system_link *link, struct fr_error *err)
{
    uint64_t *hashes = calloc(f->n + 1, sizeof(*hashes));
    enum fr_status st;

    if (!hashes)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < f->n; k++)
        hashes[k] = f->rows[k]->hash;
    st = fr__bootstrap(f->n, hashes, FR__SYSTEM_DRAWS, refit, f, N, link->parameters, link->errors,
                       err);
    free(hashes);
    return st;
}

enum fr_status fr__fit_link(struct fr_system_link *link, const struct fr__message_row *const rows[],
                            size_t n, struct fr_error *err)
{
    struct fit f = {.rows = rows, .n = n};

    for (size_t i = 0; i < N; i++) {
        struct fr__range range = fr__system_range(fr_system_link_parameter_name(i));

        f.low[i] = range.low;
        f.high[i] = range.high;
    }
    f.simplex =
        (struct fr__simplex){.n = N, .low = f.low, .high = f.high, .miss = miss, .user = &f};
    FR_TRY(find_parameters(&f, link->parameters, err));
    return find_errors(&f, link, err);
}
