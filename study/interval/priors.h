/* study/interval/priors.h - what is believed of a question's parts before a step was measured.
 *
 * From steps split into what grows with the batch and what does not, and into what more GPUs add
 * (BERT-base and ResNet-50 by eight frameworks on V100s: DLPerf, 2020):
 *   compute:  what grows with the batch is right to 0.3 to 7 % in fp32 where fusions are known.
 *             Half as wide again where they are not, and twice in 16 bits, where clocks, tile waves
 *             and casts come in. The mean is the median of the class on one GPU (terms.h),
 *             but no further off than a standard deviation: the rest of that is no compute.
 *   host:     a standard deviation up is 1.65 times, about what eager PyTorch takes of CUDA's own
 *             launches.
 *   exchange: 13 to 75 ms in one machine where 4 to 12 are predicted, once to several times all
 *             that is exchanged; little where software is tuned for it. So it is wide, and more
 *             likely slower than predicted.
 *   step:     2 to 7 times the predicted on one GPU, that is once to several times the updates.
 */
#ifndef FR_STUDY_INTERVAL_PRIORS_H
#define FR_STUDY_INTERVAL_PRIORS_H

#include "study/interval/normal.h"
#include "study/interval/terms.h"

/* Of a class, the place and anchor of which do not count. */
void fr__prior_of(struct fr__step_class c, double mean[FR__N_MOVED], double variance[FR__N_MOVED]);

#endif
