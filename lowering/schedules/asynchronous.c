/* lowering/schedules/asynchronous.c - pipelines that never flush: PipeDream, PipeDream-2BW,
 * PipeMare.
 *
 * All three run 1F1B on and on; the list shows n micro-batches, of which the last backwards are
 * the end of the run and no flush. What differs is when the weights change and which of them a
 * pass reads (enum fr_weights_rule). PipeDream-2BW takes the number of micro-batches as the length
 * of its accumulation, which must be at least the number of ranks.
 * Sources: D. Narayanan et al., PipeDream, SOSP 2019, sections 3.2 and 3.3; D. Narayanan et al.,
 * Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021 (2BW); B. Yang et al., PipeMare,
 * MLSys 2021.
 */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/maker.h"

static enum fr_status check_2bw(const struct fr_schedule_spec *spec, struct fr_error *err)
{
    if (spec->n_micros >= spec->n_ranks)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'pipedream-2bw' accumulates over at least as many micro-batches as there are "
                    "ranks: %u, not %u",
                    spec->n_ranks, spec->n_micros);
}

const struct fr_schedule_kind fr__schedule_pipedream = {
    .name = "pipedream",
    .summary = "1F1B without a flush; each stage keeps p - s versions of its weights",
    .source = "Narayanan et al., PipeDream, SOSP 2019",
    .placement = FR_STAGES_LOOP,
    .weights = FR_WEIGHTS_STASH,
    .least_virtual = 1,
    .most_virtual = 1,
    .make = fr__schedule_make_1f1b,
};

const struct fr_schedule_kind fr__schedule_pipedream_2bw = {
    .name = "pipedream-2bw",
    .summary = "1F1B without a flush; two versions of the weights",
    .source = "Narayanan et al., 2BW, ICML 2021",
    .placement = FR_STAGES_LOOP,
    .weights = FR_WEIGHTS_DOUBLE,
    .least_virtual = 1,
    .most_virtual = 1,
    .check = check_2bw,
    .make = fr__schedule_make_1f1b,
};

const struct fr_schedule_kind fr__schedule_pipemare = {
    .name = "pipemare",
    .summary = "1F1B without a flush; one version, read as it comes",
    .source = "Yang et al., PipeMare, MLSys 2021",
    .placement = FR_STAGES_LOOP,
    .weights = FR_WEIGHTS_CURRENT,
    .least_virtual = 1,
    .most_virtual = 1,
    .make = fr__schedule_make_1f1b,
};
