/* tests/fuzz/fuzz_native.c - any bytes as a native workload folder: they are refused, or give a
 * sound graph that reads back after it was written.
 *
 * The input is the folder's four files, one after another, with a line "%%" between them. They are
 * written into the working folder of the fuzzer.
 */
#include "config.h"

#include "base/file.h"
#include "workloads/graph/infer_shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_FILES = 4 };
static const char *const files[N_FILES] = {"workload.yaml", "ops.csv", "edges.csv", "times.csv"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_file(const char *folder, const char *file, const uint8_t *data, size_t size)
{
    char *path = fr__path_join(folder, file);
    FILE *f = path ? fopen(path, "wb") : NULL;

    if (!f)
        abort();
    if (size)
        fwrite(data, 1, size, f);
    fclose(f);
    free(path);
}

static void write_folder(const char *folder, const uint8_t *data, size_t size)
{
    static const char separator[] = "\n%%\n";
    const size_t length = sizeof(separator) - 1;

    for (size_t i = 0; i < N_FILES; i++) {
        size_t n = 0;

        while (n < size && (n + length > size || memcmp(data + n, separator, length) != 0))
            n++;
        write_file(folder, files[i], data, n < size ? n + 1 : n);
        n += n < size ? length : 0;
        data += n;
        size -= n;
    }
}

static void remove_folder(const char *folder)
{
    for (size_t i = 0; i < N_FILES; i++) {
        char *path = fr__path_join(folder, files[i]);

        if (path)
            unlink(path);
        free(path);
    }
    rmdir(folder);
}

static void use(const struct fr_graph *g, const char *folder)
{
    struct fr_graph_totals totals;
    struct fr_graph *back;
    struct fr_shape shape;
    struct fr_error err;

    for (size_t e = 0; e < g->n_edges; e++)
        if (g->edges[e].src >= g->edges[e].dst)
            abort();
    for (uint32_t o = 0; o < g->n_ops; o++)
        fr__op_shape(g, o, &shape);
    fr_graph_totals(g, &totals);
    fr_graph_check(g, NULL, NULL);
    if (fr_graph_export(g, folder, &err) != FR_OK)
        abort();
    if (fr_workload_load(&back, folder, NULL, &err) != FR_OK)
        abort();
    if (back->n_ops != g->n_ops || back->n_edges != g->n_edges || back->n_tensors != g->n_tensors)
        abort();
    fr_graph_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[64];
    struct fr_graph *g;
    struct fr_error err;

    snprintf(folder, sizeof(folder), "fuzz-native-%ld", (long)getpid());
    if (mkdir(folder, 0700) != 0)
        abort();
    write_folder(folder, data, size);
    if (fr_workload_load(&g, folder, NULL, &err) == FR_OK) {
        use(g, folder);
        fr_graph_free(g);
    } else if (!err.text[0]) {
        abort();
    }
    remove_folder(folder);
    return 0;
}
