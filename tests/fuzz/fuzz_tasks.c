/* tests/fuzz/fuzz_tasks.c - any bytes for the importer of task graphs in CSV: see
 * task_graph_target.h. */
#include "config.h"

#include "tests/fuzz/task_graph_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return try_task_graph(&fr__importer_tasks, data, size);
}
