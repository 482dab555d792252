/* sim/spread.h - random factors on times: mean 1 and the coefficient of variation asked for. */
#ifndef FR_SIM_SPREAD_H
#define FR_SIM_SPREAD_H

#include "base/rng.h"
#include "sim/sim.h"

/* A distribution with its constants worked out. */
struct fr__spread {
    enum fr_spread_shape shape; /* never FR_SPREAD_BY_SIZE */
    double cv;                  /* standard deviation over mean */
    double scale, centre;       /* of the logarithm (lognormal); scale is that of gamma, too */
};

/* cv: one that fr_spread_check accepts with the shape. */
void fr__spread_init(struct fr__spread *s, enum fr_spread_shape shape, double cv);
/* A factor of at least 0. */
double fr__spread_draw(const struct fr__spread *s, struct fr__rng *rng);

#endif
