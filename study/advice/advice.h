/* study/advice/advice.h - what would help a question whose answer does not fit in memory. */
#ifndef FR_STUDY_ADVICE_ADVICE_H
#define FR_STUDY_ADVICE_ADVICE_H

#include "base/arena.h"
#include "study/study.h"

/* Fills in the advice of a record that is out of memory. Each advice is a change to the question
 * that was planned and simulated, and fits. These changes are tried:
 * - the largest batch that fits, by halving the interval;
 * - options of the strategy (enum fr_option_advice), one by one: twice, four times, ... as much,
 *   or the values that need less memory, up to the first that fits; then two that do not fit
 *   alone together. The four fastest are kept;
 * - every other strategy with its defaults; if one does not fit, with its options in the same way
 *   (what may be doubled is left as it is where ranks that do the same are not planned once);
 * - twice, four times, ... as many GPUs, up to all of the topology, up to the first that fits;
 * - gradients dropped after the step; optimizers that keep less; number formats for which the GPUs
 *   have matrix units;
 * - where none of these fits: twice or eight times the machines, and presets with more memory a
 *   GPU, with the same strategy or others.
 *
 * The search by halving assumes that if a batch fits, every smaller one does. What is reported was
 * simulated. The search is limited by events and not by seconds, so that it says the same
 * everywhere: nothing is tried if the record's own run had over a million events, and the search
 * ends at ten million. Runs of measured steps that correct an answer count. FR_ENOMEM and
 * FR_ECANCELLED are passed on; after any other failure the change is dropped. */
enum fr_status fr__fill_advice(struct fr_record *r, struct fr__arena *arena,
                               const struct fr_setting *s, const struct fr_question *q,
                               const struct fr_context *ctx, struct fr_error *err);
#endif
