/* tests/fuzz/fuzz_nccl_xml.c - libFuzzer: any bytes are an NCCL topology's tree or an error, never a
 * crash.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "topo/import/nccl_xml.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count(const struct fr__nccl_node *node)
{
    size_t n = 1;

    for (size_t i = 0; i < node->n; i++) {
        if (node->items[i]->parent != node)
            abort();
        n += count(node->items[i]);
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fr__arena *arena = fr__arena_new();
    const struct fr__nccl_system *s = NULL;
    struct fr_error err = {0};

    if (!arena)
        return 0;
    if (fr__nccl_xml_load_text(arena, (const char *)data, size, "f", &s, &err) == FR_OK) {
        if (count(s->root) != s->n_nodes)
            abort();
        for (size_t i = 0; i < s->n_gpus; i++)
            if (!fr__nccl_pci_of(s->gpus[i]) || !fr__nccl_cpu_of(s->gpus[i]))
                abort();
    } else if (s) {
        abort();
    }
    fr__arena_free(arena);
    return 0;
}
