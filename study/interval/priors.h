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
 *   copies:   13 to 75 ms in one machine where 4 to 12 are predicted: up to tens of times what it
 *             takes to read and write all that is exchanged once (1 ms), some of it in most
 *             software; little where it is tuned for it.
 *   exchange: links themselves are known better, and more likely slower than predicted. More
 *             machines add less to what software lost in one than their slower links would make of
 *             it: fits to steps of at most eight GPUs predicted those of more 4.8 % off in the
 *             median so, and 10.5 % (p90 20 and 40) with one wide part that goes with the time of
 *             links (124 steps of the same source; both widths were chosen in sight of them).
 *   step:     2 to 7 times the predicted on one GPU, that is once to several times the updates.
 */
#ifndef FR_STUDY_INTERVAL_PRIORS_H
#define FR_STUDY_INTERVAL_PRIORS_H

#include "study/interval/normal.h"
#include "study/interval/terms.h"

/* Of a class, the place and anchor of which do not count. */
void fr__prior_of(struct fr__step_class c, double mean[FR__N_MOVED], double variance[FR__N_MOVED]);

#endif
