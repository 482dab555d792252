/* tests/fuzz/fuzz_import_astra.c - libFuzzer target: any bytes as an ASTRA-sim network file.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "tests/fuzz/import_target.h"

IMPORT_TARGET(astra)
