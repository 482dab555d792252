/* lowering/pipeline/times.h - what the passes of a pipeline's stages cost, op by op. */
#ifndef FR_LOWERING_PIPELINE_TIMES_H
#define FR_LOWERING_PIPELINE_TIMES_H

#include "lowering/pipeline/pipeline.h"

/* Fills out[n_stages], seconds of a micro-batch of `batch` samples: the sum of the ops of each
 * pass, one after the other, on the stage's device. devices: [n_ranks]. Ignores transfers. */
void fr__pipeline_times(struct fr_pass_times out[], const struct fr__pipeline *p,
                        const uint32_t devices[], double batch);

#endif
