/* study/advice.h - what would help a question whose answer does not fit in memory. */
#ifndef FR_STUDY_ADVICE_H
#define FR_STUDY_ADVICE_H

#include "base/arena.h"
#include "study/study.h"

/* Fills in the advice of a record that is out of memory: single changes to the question, each of
 * them planned and simulated, kept when it fits. What is tried:
 *   - the largest batch that fits, by halving the interval;
 *   - an option of the strategy whose values may be doubled (enum fr_option_advice): twice, four
 *     times, ... as much, the first that fits;
 *   - every other strategy with its defaults; where one does not fit, it with the value of an
 *     option that needs least memory;
 *   - twice, four times, ... as many GPUs, up to the topology's, the first that fits;
 *   - gradients dropped after the step; optimizers that keep less; number formats that the GPUs
 *     have matrix units for.
 * A search by halving takes what fits to go on fitting for smaller batches; what it reports has
 * been simulated. Bounded by events, not by seconds, so that it says the same everywhere: nothing
 * is tried when the record's own run had over a million, nothing more once ten million have been
 * used. Cost: that.
 * FR_ENOMEM and FR_ECANCELLED are passed on; any other failure means that the change is none. */
enum fr_status fr__fill_advice(struct fr_record *r, struct fr__arena *arena,
                               const struct fr_setting *s, const struct fr_question *q,
                               const struct fr_context *ctx, struct fr_error *err);
#endif
