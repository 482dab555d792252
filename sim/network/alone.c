/* sim/network/alone.c - the time of one message on a route without other traffic. */
#include "config.h"

#include "sim/network/alone.h"

#include <math.h>

static double slowness_of(const struct fr__routes *r, enum fr_link_kind kind,
                          enum fr_link_resource what)
{
    return r->slowness ? r->slowness[fr_link_resource(kind, what)] : 1;
}

/* fit_bytes_s: the fit's time of the bytes. */
static struct fr__alone fitted(const struct fr__routes *r, const struct fr__route *route,
                               const struct fr_message_fit *fit, double bytes, double fit_bytes_s)
{
    enum fr_link_kind kind = (enum fr_link_kind)route->narrowest;
    double latency_s = fit->latency_s * slowness_of(r, kind, FR_LINK_LATENCY);
    double bytes_s = bytes / route->bw_Bps;

    fit_bytes_s *= slowness_of(r, kind, FR_LINK_BANDWIDTH);
    return (struct fr__alone){.latency_s = fmax(latency_s, route->latency_s),
                              .extra_s = fmax(fit_bytes_s - bytes_s, 0),
                              .bytes_s = bytes_s,
                              .is_fitted = true};
}

static struct fr__alone unfitted(const struct fr__route *route, double bytes)
{
    return (struct fr__alone){.latency_s = route->latency_s, .bytes_s = bytes / route->bw_Bps};
}

static bool has_fit(const struct fr__route *route, const struct fr_message_fit *fits)
{
    return fits && route->fit != FR__NO_FIT;
}

struct fr__alone fr__alone_by_curve(const struct fr__routes *r, const struct fr__route *route,
                                    const struct fr_message_fit *fits, double bytes)
{
    if (!has_fit(route, fits))
        return unfitted(route, bytes);
    return fitted(r, route, &fits[route->fit], bytes, fr_message_bytes_s(&fits[route->fit], bytes));
}

struct fr__alone fr__alone_by_line(const struct fr__routes *r, const struct fr__route *route,
                                   const struct fr_message_fit *fits, double bytes)
{
    if (!has_fit(route, fits))
        return unfitted(route, bytes);
    return fitted(r, route, &fits[route->fit], bytes, bytes / fits[route->fit].Bps);
}

struct fr__alone_line fr__alone_line(const struct fr__route *route,
                                     const struct fr_message_fit *fits)
{
    struct fr__alone_line line = {route->latency_s, route->bw_Bps};

    if (has_fit(route, fits)) {
        line.latency_s = fmax(line.latency_s, fits[route->fit].latency_s);
        line.Bps = fmin(line.Bps, fits[route->fit].Bps);
    }
    return line;
}
