/* tests/fuzz/fuzz_yaml.c - libFuzzer: any bytes are a tree or an error with a place, never a crash.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "base/yaml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_DEPTH = 32 };

static void check_node(const struct fr__yaml *node, const struct fr__yaml *parent, int depth)
{
    bool is_in_map = parent && parent->kind == FR__YAML_MAP;

    if (node->loc.line == 0 || node->loc.col == 0 || (node->key != NULL) != is_in_map)
        abort();
    if (node->kind == FR__YAML_SCALAR) {
        if (!node->text || node->n)
            abort();
        return;
    }
    if (depth > MAX_DEPTH)
        abort();
    for (size_t i = 0; i < node->n; i++) {
        check_node(node->items[i], node, depth + 1);
        if (node->kind == FR__YAML_MAP && fr__yaml_get(node, node->items[i]->key) != node->items[i])
            abort(); /* a doubled key was let through */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fr__arena *arena = fr__arena_new();
    const struct fr__yaml *root = NULL;
    struct fr_error err = {0};

    if (!arena)
        return 0;
    if (fr__yaml_load_text(arena, (const char *)data, size, "f", &root, &err) == FR_OK)
        check_node(root, NULL, 1);
    else if (err.code == FR_EPARSE && (err.line == 0 || err.col == 0))
        abort();
    fr__arena_free(arena);
    return 0;
}
