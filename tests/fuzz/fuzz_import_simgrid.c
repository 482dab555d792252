/* tests/fuzz/fuzz_import_simgrid.c - libFuzzer target: any bytes as a SimGrid platform.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "tests/fuzz/import_target.h"

IMPORT_TARGET(simgrid)
