/* tests/fuzz/import_target.h - what the fuzz targets of topology importers share: any bytes become
 * a sound topology or an error with a place, never a crash and never half a machine.
 */
#ifndef FR_TESTS_FUZZ_IMPORT_TARGET_H
#define FR_TESTS_FUZZ_IMPORT_TARGET_H

#include "topo/import/import.h"
#include "topo/load/load.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_topology(struct fr_topo *t)
{
    struct fr_router *r;
    struct fr_error err;
    const uint32_t *links;
    size_t n;

    if (fr_router_new(&r, t, &err) == FR_OK) {
        for (uint32_t d = 0; d < t->n_devices && d < 16; d++)
            (void)fr_router_path(r, 0, d, &links, &n, &err);
        fr_router_free(r);
    }
    fr_topo_free(t);
}

static int import_anything(const struct fr__importer *importer, const uint8_t *data, size_t size)
{
    struct fr__arena *a = fr__arena_new();
    char *text = malloc(size + 1);
    struct fr__topo_file *f = NULL;
    struct fr_topo *t = NULL;
    struct fr_error err = {0};

    if (a && text) {
        if (size)
            memcpy(text, data, size);
        text[size] = '\0';
        (void)importer->is(text, size);
        if (fr__import(importer, a, text, size, "f", NULL, &f, &err) == FR_OK) {
            if (fr__topo_file_load(f, &t, &err) == FR_OK)
                use_topology(t);
        } else if (f || (err.code == FR_EPARSE && !err.file[0])) {
            abort();
        }
    }
    free(text);
    fr__arena_free(a);
    return 0;
}

#define IMPORT_TARGET(id)                                                                          \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                   \
    {                                                                                              \
        return import_anything(&fr__importer_##id, data, size);                                    \
    }

#endif
