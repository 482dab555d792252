/* calibrate/fit/read/nccl_log.h - reads measured collectives from the output of nccl-tests
 * (doc/collectives.md).
 *
 * These lines of a log are read; all others (NCCL's own messages, a job's) are skipped:
 * - "# nThread ...": a run begins.
 * - "#  Rank  0 Group  0 Pid  7 on HOST device  0 [0x1b] GPU": one for each rank, from 0 on. The
 *   number of ranks is the number of GPUs, the number of distinct hosts that of nodes. The GPU of
 *   rank 0 becomes part of the source.
 * - "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time ...": the words name the
 *   columns of a table. Its rows follow, each starting with a number.
 * - The last "all_reduce_perf" or similar word before a table says what the table measured. Without
 *   one, the file's name must say it (all_gather.log).
 *
 * A launcher's tag before each line ("[1,0]<stdout>:", "0: ") is dropped. A row that a message of
 * NCCL tears in two is passed over, as are rows without a byte, which -b 8 has where ranks get
 * parts.
 *
 * Times are those out of place, in us. Sizes are of the whole buffer, as in fr_system_call.
 *
 * Source:  NVIDIA nccl-tests, src/common.cu and src/util.cu, versions 2.0 (`error` in place of
 *          `#wrong`, no `root`) and 2.17 (commit 0fdb00a3f4).
 * Ignores: times in place, and bandwidths, which follow from time and size.
 */
#ifndef FR_CALIBRATE_FIT_READ_NCCL_LOG_H
#define FR_CALIBRATE_FIT_READ_NCCL_LOG_H

#include "calibrate/fit/read/collective_data.h"

/* Whether any line begins as only lines of nccl-tests do. */
bool fr__is_nccl_log(const char *text, size_t len);

/* Appends the rows, as fr__collective_data_read does, of any system. Their source is "nccl-tests, "
 * and the GPU, with '?' for each byte that is not printable ASCII. FR_EPARSE, with the place: also
 * for a table without lines of ranks, for an operation that nothing names, for wrong results and
 * for groups of NCCL_TESTS_SPLIT. FR_ERANGE, FR_ENOMEM. */
enum fr_status fr__nccl_log_read(struct fr__collective_data *d, const char *text, size_t len,
                                 const char *name, uint32_t file, struct fr_error *err);
#endif
