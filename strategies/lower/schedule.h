/* strategies/lower/schedule.h - in which order a pipeline stage runs its micro-batches.
 *
 * gpipe: all forwards in order, then all backwards, last micro-batch first (Y. Huang et al., GPipe,
 * NeurIPS 2019, figure 2c): its activations are the newest at the last stage, which turns round
 * without waiting. Every stage holds all n_micros.
 * 1f1b: stage s of K runs min(n_micros, K - s) forwards, then one backward and one forward in turn,
 * both in order (D. Narayanan et al., PipeDream, SOSP 2019; with a flush: Megatron-LM, SC 2021).
 * It holds at most that many micro-batches.
 */
#ifndef FR_STRATEGIES_LOWER_SCHEDULE_H
#define FR_STRATEGIES_LOWER_SCHEDULE_H

#include "base/base.h"

enum fr__schedule { FR__SCHEDULE_GPIPE, FR__SCHEDULE_1F1B };

struct fr__slot {
    uint32_t micro;
    bool is_backward;
};

/* slots: [2 n_micros]. */
void fr__schedule_stage(enum fr__schedule kind, uint32_t stage, uint32_t n_stages,
                        uint32_t n_micros, struct fr__slot slots[]);
/* Micro-batches that the stage holds at once, at most. */
uint32_t fr__schedule_in_flight(enum fr__schedule kind, uint32_t stage, uint32_t n_stages,
                                uint32_t n_micros);

#endif
