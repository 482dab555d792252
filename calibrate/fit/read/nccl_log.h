/* calibrate/fit/read/nccl_log.h - measured collectives from what nccl-tests prints (doc/collectives.md).
 *
 * Read of a log, whatever stands between (NCCL's own messages, a job's):
 *   - "# nThread ...": a run begins;
 *   - "#  Rank  0 Group  0 Pid  7 on HOST device  0 [0x1b] GPU": one a rank, from 0 on. Their number is that
 *     of GPUs, of distinct hosts that of nodes; the GPU of rank 0 names the source;
 *   - "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time ...": a table begins, the words
 *     naming its columns, and the rows after it start with a number;
 *   - the last all_reduce_perf or the like that stands before a table tells what it measured; without one the
 *     file's name must (all_gather.log).
 * Times are those out of place, in us; sizes are of the whole buffer, as fr_system_call has them.
 * Source: NVIDIA nccl-tests, src/common.cu and src/util.cu, read in 2.0 (`error` in place of `#wrong`, no
 * `root`) and 2.17 (commit 0fdb00a3f4).
 * Ignores: times in place, bandwidths (they follow from time and size).
 */
#ifndef FR_CALIBRATE_FIT_READ_NCCL_LOG_H
#define FR_CALIBRATE_FIT_READ_NCCL_LOG_H

#include "calibrate/fit/read/collective_data.h"

/* Whether a line starts as only nccl-tests's do. */
bool fr__is_nccl_log(const char *text, size_t len);

/* Appends the rows as fr__collective_data_read does, whatever the system. Source: "nccl-tests, "
 * and the GPU, each byte that is not printable ASCII as '?'. FR_EPARSE with the place, also for
 * a table without rank lines or whose operation nothing tells, for wrong results and for
 * NCCL_TESTS_SPLIT's groups; FR_ERANGE, FR_ENOMEM. */
enum fr_status fr__nccl_log_read(struct fr__collective_data *d, const char *text, size_t len,
                                 const char *name, uint32_t file, struct fr_error *err);
#endif
