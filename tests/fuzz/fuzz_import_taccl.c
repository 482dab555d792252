/* tests/fuzz/fuzz_import_taccl.c - libFuzzer target: any bytes as a TACCL topology.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "tests/fuzz/import_target.h"

IMPORT_TARGET(taccl)
