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

/* ---- curves ---- */

struct fr__memory_curve {
    uint32_t device;
    size_t n_same;                      /* other devices that hold the same */
    double (*bytes)[FR_N_BUFFER_KINDS]; /* [n_bins] by kind, when it holds most in the bin */
    double peak_bytes;
};
enum { FR__MEMORY_CURVES = 8 };
struct fr__memory_curves {
    struct fr__memory_curve list[FR__MEMORY_CURVES + 1]; /* [n]; one more to compare with */
    size_t n, n_left_out;                                /* others, that hold something else */
};

/* What devices[n_devices] hold in n_bins parts of the run, of the first of them at most max that
 * differ, at most FR__MEMORY_CURVES. Those that hold nothing are left out. FR_ENOMEM. */
enum fr_status fr__memory_curves(struct fr__memory_curves *out, const struct fr_record *r,
                                 const uint32_t devices[], size_t n_devices, size_t n_bins,
                                 size_t max, struct fr_error *err);
void fr__memory_curves_fini(struct fr__memory_curves *c);
double fr__memory_sum(const double bytes[FR_N_BUFFER_KINDS]);

#endif
