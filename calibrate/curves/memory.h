/* calibrate/curves/memory.h - time of a kernel that only moves memory: elementwise ops, embeddings
 * and their gradients, pooling, dropout, sums, transposes, optimizer updates.
 *
 * memory_frac is the share of the memory bandwidth that the kernel reaches. It is lower for a class
 * that reads in a less regular order than elementwise ops, or that also computes (a random number,
 * a square root).
 *
 *     t    = max(call + (wrapper, if it is wrapped), start + work)
 *     work = (bytes - hit) / (mem_Bps * memory_frac) + hit / (mem_Bps * memory_frac * cache_gain)
 *     hit  = min(bytes, cache_bytes)
 *
 * - call: time of the framework's thread to launch a kernel. The device works meanwhile, so a
 *   kernel that is shorter than its call takes the time of the call. Some calls are wrapped (an
 *   activation function, the addition of a number) and take longer. It is 0 in data that time the
 *   kernel alone.
 * - start: time from the launch to the kernel's first byte, which includes the latency of a kernel
 *   too small to fill the device. By Little's law bandwidth is the bytes in flight over the
 *   latency: a few bytes take the latency, however few they are, and more take latency plus bytes
 *   over bandwidth.
 * - hit: bytes that an earlier run over the same data left in the L2 cache. The cache need not
 *   evict the oldest line first, so a working set that is a little larger than the cache still
 *   finds part of itself there.
 *
 * Source:  J. D. C. Little, Operations Research 9(3), 1961; for GPUs V. Volkov, "Understanding
 *          latency hiding on GPUs", UC Berkeley, 2016. That calls overlap with kernels: the times
 *          of sitar-lab/NeuSight are constant up to some tens of microseconds, then they are start
 *          + work. The form of `hit` is our choice. It agrees with the fp16 additions of
 *          microsoft/vidur on an A100 (L2 of 40 MB) within their rounding; a cache that is useless
 *          beyond its size does not.
 * Ignores: arithmetic, and reads that are not coalesced (for embeddings they are part of
 *          memory_frac).
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

/* parameters: the first five of the enum; wrapper_s is set to 0. */
void fr__stream_init(struct fr__stream *m, const struct fr__machine *machine,
                     const double parameters[FR__STREAM_WRAPPER_S]);

/* Seconds for bytes >= 0 without call and start. It never falls as bytes grow. */
double fr__stream_work_s(const struct fr__stream *m, double bytes);
#endif
