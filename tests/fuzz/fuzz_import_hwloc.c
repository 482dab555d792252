/* tests/fuzz/fuzz_import_hwloc.c - libFuzzer target: any bytes as hwloc's XML.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "tests/fuzz/import_target.h"

IMPORT_TARGET(hwloc)
