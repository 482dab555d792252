/* results/parts/memory_curve.h - what each device holds over time, from a plan and its run. */
#ifndef FR_RESULTS_PARTS_MEMORY_CURVE_H
#define FR_RESULTS_PARTS_MEMORY_CURVE_H

#include "results/results.h"

struct fr__memory_event {
    double t_s;
    uint32_t device, buffer;
    bool is_alloc;
};

/* All allocations and frees by (device, time, frees first, buffer); persistent buffers are
 * allocated at 0 and never freed, aliases hold nothing of their own, and what lives for no time is
 * left out. The caller frees *out. Cost: O((tasks + buffers) log).
 *
 * A task takes its stream, and with it its buffers, when its predecessors and the task before it on
 * the stream are done (sim/sim.h); the run does not keep that moment, so it is put together from
 * the ends of those. */
enum fr_status fr__memory_events(const struct fr_record *r, struct fr__memory_event **out,
                                 size_t *n, struct fr_error *err);
#endif
