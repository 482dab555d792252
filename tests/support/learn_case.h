/* tests/support/learn_case.h - a machine with known times, hidden from the learner that measures
 * it. */
#ifndef FR_TESTS_SUPPORT_LEARN_CASE_H
#define FR_TESTS_SUPPORT_LEARN_CASE_H

#include "strategies/fastt/learn/learn.h"
#include "tests/support/dpos_case.h"

/* A whole operation takes what the case's cost table says, one of n parts the nth of it and
 * overhead_s, a slicing or joining s_per_copied_byte; a transfer what the case's machine says.
 * Each device runs its operations in order; transfers do not meet. */
struct learn_case {
    struct dpos_case c;
    double overhead_s, s_per_copied_byte;
    double noise;       /* each time is multiplied by 1 - noise .. 1 + noise */
    uint64_t slow_from; /* iteration from which slow_device takes slow_factor as long */
    uint32_t slow_device;
    double slow_factor;
    uint32_t cursed; /* the strategy of this number takes cursed_factor as long as its parts say */
    double cursed_factor;
    unsigned n_measured;
};

/* Noiseless, nothing slow, nothing cursed; the case is set up by dpos_case_. */
void learn_case_init(struct learn_case *t);
struct fr__learn_truth learn_case_truth(struct learn_case *t);
/* What an operation takes, noise apart. */
double learn_case_op_s(const struct learn_case *t, const struct fr__dag *dag, uint32_t op,
                       uint32_t device, uint64_t iteration);
/* Pre-trains and trains; asserts success. */
struct fr__learning *learn_case_run(struct learn_case *t, const struct fr__learn_options *o);

#endif
