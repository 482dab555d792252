/* lowering/pipeline/async.h - a pipeline that never flushes, in the engine: iterations in a
 * row, updates between passes, versions of weights as buffers.
 *
 * A plan holds several iterations, as many as it takes until one follows the other in a steady
 * interval; their ends are marked where the pipeline is full, so that neither the filling nor the
 * draining counts. After the last backward of an update's micro-batches a stage updates its
 * parameters. Where passes under way still need the version before, that is kept: a buffer of the
 * stage's parameters, from the update until the last backward that reads it.
 * Source: D. Narayanan et al., PipeDream, SOSP 2019, sections 3.2 and 3.3.
 * Ignores: the copies of tied parameters, which have one version; prediction of weights (PipeMare's
 * correction), which takes no time here.
 */
#ifndef FR_LOWERING_PIPELINE_ASYNC_H
#define FR_LOWERING_PIPELINE_ASYNC_H

#include "lowering/pipeline/pipeline.h"

/* ---- iterations in a row, for all pipelines that never flush ---- */

/* The micro-batch whose backward on the first stage ends iteration i (from 1) of n_micros each: so
 * early that a pipeline of so many ranks is still full when the last one ends. */
uint32_t fr__async_end_of(uint32_t n_micros, size_t n_ranks, uint32_t i);
/* How many iterations are tried, if one has so many passes: as many as `most_passes` allow, at
 * least one more than are run, at most `probed`. */
uint32_t fr__async_probes(uint64_t passes, uint64_t most_passes, uint32_t probed);
/* ends_s: [n] of the iterations that were tried, n >= 2. Returns how many to run: until the
 * interval stays as it is, and not fewer than three; all n where it does not (has_settled
 * false). */
uint32_t fr__async_settle(const double ends_s[], uint32_t n, bool *has_settled);

/* ---- schedules without replicated stages ---- */

/* A schedule of several iterations. */
struct fr__unrolled {
    struct fr_schedule *schedule; /* the owner frees it */
    uint32_t n_micros;            /* of an iteration */
    uint32_t n_iterations;
    uint32_t n_together; /* micro-batches of an update */
    bool has_settled;    /* by the replay: the interval of the last iterations is the same */
};

/* spec: an asynchronous schedule of one iteration. of_stage: [n_stages] seconds. Errors as
 * fr_schedule_get. */
enum fr_status fr__pipeline_unroll(struct fr__unrolled *out, const struct fr_schedule_spec *spec,
                                   const struct fr_pass_times of_stage[], struct fr_error *err);

/* Places all of it: persistent memory, passes, updates, versions, ends of iterations. device_of:
 * [n_ops]; devices: [n_ranks]. Logs versions and staleness. FR_ECANCELLED, FR_ENOMEM, FR_ERANGE. */
enum fr_status fr__pipeline_place_async(const struct fr__pipeline *p, const struct fr__unrolled *u,
                                        double batch, const uint32_t device_of[],
                                        const uint32_t devices[], struct fr_error *err);

#endif
