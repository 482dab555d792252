/* tests/fuzz/fuzz_import_nccl.c - libFuzzer target: any bytes as an NCCL topology.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "tests/fuzz/import_target.h"

IMPORT_TARGET(nccl)
