/* tests/fuzz/fuzz_wfcommons.c - any bytes for the importer of WfCommons' JSON: see
 * task_graph_target.h. */
#include "config.h"

#include "tests/fuzz/task_graph_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return try_task_graph(&fr__importer_wfcommons, data, size);
}
