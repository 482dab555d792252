/* calibrate/curves/memory.h - time of a kernel that only moves memory: elementwise ops, embeddings and
 * their gradients, pooling, dropout, sums, transposes, optimizer updates. What a class reads in a worse order
 * than elementwise ops, or computes beside (a random number, a square root), is in its memory_frac.
 *
 *     t    = max(call + (wrapper, if it is wrapped), start + work)
 *     work = (bytes - hit) / (mem_Bps * memory_frac) + hit / (mem_Bps * memory_frac * cache_gain)
 *     hit  = min(bytes, cache_bytes)
 *
 * call     what the framework's thread needs to launch one, beside which the device works: a call shorter
 *          than it takes its time. Some calls are wrapped (an activation function, the addition of a
 *          number) and take longer. Nothing in data that time the kernel alone.
 * start    from there to the kernel's first byte. It holds the latency of a kernel too small to fill
 *          the device: by Little's law bandwidth is what is in flight over the latency, so that few
 *          bytes take the latency, however few, and more of them latency plus bytes over bandwidth.
 * hit      what an earlier run over the same bytes left in the L2 cache, which need not keep the
 *          oldest line: a working set just larger than the cache still finds some of itself there.
 *
 * Source:  J. D. C. Little, Operations Research 9(3), 1961; for GPUs V. Volkov, "Understanding latency
 *          hiding on GPUs", UC Berkeley, 2016. That calls overlap with kernels: the times of
 *          sitar-lab/NeuSight are flat up to some tens of microseconds, then start + work. The form of
 *          `hit` is our choice: it follows the fp16 additions of microsoft/vidur on an A100 (L2 of
 *          40 MB) within their rounding, where a cache that is of no use beyond its size does not.
 * Ignores: arithmetic, reads that are not coalesced (of embeddings they end up in memory_frac).
 */
#ifndef FR_CALIBRATE_CURVES_MEMORY_H
#define FR_CALIBRATE_CURVES_MEMORY_H

#include "calibrate/curves/machine.h"

enum {
    FR__STREAM_CALL_S,
    FR__STREAM_START_S,
    FR__STREAM_FRAC,
    FR__STREAM_CACHE_BYTES,
    FR__STREAM_CACHE_GAIN, /* bandwidth of the cache over that of the memory, >= 1 */
    FR__STREAM_WRAPPER_S,  /* elementwise ops only */
    FR__STREAM_N_PARAMETERS
};

struct fr__stream {
    double call_s, start_s, wrapper_s;
    double s_per_byte, cache_bytes, s_per_cached_byte;
};

/* parameters: the first five of them; wrapper_s is set to 0. */
void fr__stream_init(struct fr__stream *m, const struct fr__machine *machine,
                     const double parameters[FR__STREAM_WRAPPER_S]);

/* Seconds for bytes >= 0 without call and start. Never falls as bytes grow. */
double fr__stream_work_s(const struct fr__stream *m, double bytes);
#endif
