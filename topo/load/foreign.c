/* topo/load/foreign.c - a file of another tool, read on its own with a word about its GPUs. */
#include "config.h"

#include "base/file.h"
#include "topo/import/import.h"
#include "topo/load/load.h"

#include <stdlib.h>

enum { MAX_FILE_BYTES = 16 << 20 };

/* The names of all formats, for a message. */
static enum fr_status fail_unknown(const char *path, struct fr_error *err)
{
    char names[160] = "";
    size_t used = 0;

    for (size_t i = 0; fr__importer_at(i) && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                                 fr__importer_at(i)->name);
    return fr__fail(err, FR_EPARSE, (struct fr_loc){path, 0, 0},
                    "is of no format that is known here: %s", names);
}

static enum fr_status fail_other(const char *text, size_t len, const char *path,
                                 struct fr_error *err)
{
    FR_TRY(fr__topo_refuse_others(text, len, path, err));
    return fail_unknown(path, err);
}

enum fr_status fr_topo_import(struct fr_topo **out, const char *path, const char *gpu_type,
                              const char **format, struct fr_error *err)
{
    const struct fr__importer *importer;
    struct fr__topo_file *f;
    struct fr__arena *a;
    enum fr_status status;
    char *text;
    size_t len;

    if (gpu_type)
        FR_TRY(fr__import_check_gpu(gpu_type, err));
    FR_TRY(fr__read_file(path, MAX_FILE_BYTES, &text, &len, err));
    a = fr__arena_new();
    importer = fr__importer_find(text, len);
    if (!a)
        status = fr__fail_nomem(err);
    else if (!importer)
        status = fail_other(text, len, path, err);
    else
        status = fr__import(importer, a, text, len, path, gpu_type, &f, err);
    if (status == FR_OK)
        status = fr__topo_file_load(f, out, err);
    if (status == FR_OK && format)
        *format = importer->name;
    fr__arena_free(a);
    free(text);
    return status;
}
