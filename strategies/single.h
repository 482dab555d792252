/* strategies/single.h - the whole step on one device, which other strategies fall back on. */
#ifndef FR_STRATEGIES_SINGLE_H
#define FR_STRATEGIES_SINGLE_H

#include "lowering/replica/replica.h"
#include "strategies/strategies.h"

/* One replica on the first device, the global batch in `accumulate` micro-batches. FR_EUSAGE where
 * these are not whole and alike. passes: what software does to all gradients. recipe: what it
 * keeps of parameters; NULL: as usual. */
enum fr_status fr__plan_single(const struct fr_problem *in, uint64_t accumulate,
                               const struct fr__step_passes *passes,
                               const struct fr__recipe *recipe, const struct fr_context *ctx,
                               struct fr_plan *out, struct fr_error *err);

#endif
