/* sim/network/analytic.c - the network model `analytic`: every message as if it were alone.
 *
 * Model:   a message takes latency + bytes / bandwidth of its narrowest link, whatever else moves.
 * Source:  R. W. Hockney, Parallel Computing 20(3), 1994 (latency and bandwidth of a message).
 * Ignores: sharing of links. A measured fit counts with its latency and bandwidth, without its
 *          knee: a straight line, which planners know as well (fr__alone_line).
 */
#include "config.h"

#include "sim/network/model.h"

static enum fr__fate start(void *state, const struct fr__departure *d, double now_s, double *wake_s)
{
    (void)state;
    *wake_s = now_s + (d->latency_s + d->bytes / d->route->bw_Bps) * d->stretch;
    return FR__WAKE_AT;
}

const struct fr__network_model fr__analytic = {
    .name = "analytic",
    .assumption = "a message takes the time it would take alone: links are not shared",
    .is_end_known = true,
    .alone = fr__alone_by_line,
    .start = start,
};
