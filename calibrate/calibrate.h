/* calibrate/calibrate.h - how long an op takes on a device, and how far to trust the number.
 *
 * Trust, best first: a measured time for this op, device type and batch (profiled); a measured time
 * moved to another batch by the ratio of cost curves (scaled); a curve fitted to micro-benchmarks
 * (calibrated); datasheet peaks with a stated efficiency (datasheet: a guess, marked everywhere).
 */
#ifndef FORERUN_CALIBRATE_H
#define FORERUN_CALIBRATE_H

#include "base/base.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_trust {
    FR_TRUST_PROFILED,
    FR_TRUST_SCALED,
    FR_TRUST_CALIBRATED,
    FR_TRUST_DATASHEET,
    FR_N_TRUSTS
};
const char *fr_trust_name(enum fr_trust trust); /* "profiled", "scaled", ... */

/* One row of a plan's cost table: (class, shape, device) -> mean, spread, trust. */
struct fr_cost {
    double mean_s;
    double spread_frac; /* standard deviation over mean; 0: not known */
    double launch_s;    /* host time to launch it */
    double flops_s;     /* roofline: mean_s is the larger of the time at the peak of arithmetic */
    double bytes_s;     /* and the time at that of memory; both 0: measured as a whole */
    enum fr_op_kind kind;
    enum fr_trust trust;
};

/* The cost of graph op `op` on a device of that type when the step's batch is `batch` samples
 * (batch may differ from the graph's; fractions are allowed). Never fails: an op without FLOPs and
 * bytes takes no time. A profiled op carries no launch time: it was measured with it. */
void fr_cost_op(const struct fr_graph *g, uint32_t op, const struct fr_device_type *device,
                double batch, struct fr_cost *out);

/* Time to stream n bytes through a device's memory (gradient sums, parameter updates done outside
 * the graph), as fr_cost_op prices a memory-bound op. */
void fr_cost_bytes(const struct fr_device_type *device, double bytes, enum fr_op_kind kind,
                   struct fr_cost *out);

/* The efficiency that the datasheet model assumes for a kind of op: fraction of the peak rate of
 * arithmetic and of memory bandwidth, and where these come from. */
struct fr_efficiency {
    double flops_frac, bytes_frac;
    const char *source;
};
struct fr_efficiency fr_efficiency_of(enum fr_op_kind kind);

#ifdef __cplusplus
}
#endif
#endif
