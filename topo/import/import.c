/* topo/import/import.c - the table of importers, and which one a text is for. */
#include "config.h"

#include "topo/gpus/gpus.h"
#include "topo/import/import.h"

#include <string.h>

static const struct fr__importer *const importers[] = {
#define ROW(id) &fr__importer_##id,
    FR__IMPORTERS(ROW)
#undef ROW
};

enum { N_IMPORTERS = sizeof(importers) / sizeof(importers[0]) };

const struct fr__importer *fr__importer_at(size_t i)
{
    return i < N_IMPORTERS ? importers[i] : NULL;
}

const struct fr__importer *fr__importer_find(const char *text, size_t len)
{
    for (size_t i = 0; i < N_IMPORTERS; i++)
        if (importers[i]->is(text, len))
            return importers[i];
    return NULL;
}

enum fr_status fr__import(const struct fr__importer *importer, struct fr__arena *a,
                          const char *text, size_t len, const char *path, const char *gpu_type,
                          struct fr__topo_file **out, struct fr_error *err)
{
    struct fr__sketch s;
    enum fr_status status;

    fr__sketch_init(&s, a, path, err);
    s.gpu_type = gpu_type;
    status = importer->read(&s, text, len);
    if (status == FR_OK)
        status = fr__sketch_finish(&s, out);
    fr__sketch_fini(&s);
    return status;
}

enum fr_status fr__import_check_gpu(const char *gpu_type, struct fr_error *err)
{
    const char *names[64] = {NULL};
    char hint[128];

    for (size_t i = 0; i < 63 && fr__gpu_facts_at(i); i++) {
        names[i] = fr__gpu_facts_at(i)->type;
        if (strcmp(names[i], gpu_type) == 0)
            return FR_OK;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no facts of GPUs of type '%s'%s", gpu_type,
                    *fr__did_you_mean(gpu_type, names, SIZE_MAX, hint, sizeof(hint))
                        ? hint
                        : "; types are those of 'forerun topo list', mi100, mi250x-die and so on");
}
