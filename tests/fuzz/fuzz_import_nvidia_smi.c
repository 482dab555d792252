/* tests/fuzz/fuzz_import_nvidia_smi.c - libFuzzer target: any bytes as a matrix of nvidia-smi.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "tests/fuzz/import_target.h"

IMPORT_TARGET(nvidia_smi)
