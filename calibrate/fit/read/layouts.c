/* calibrate/fit/read/layouts.c - the table of readers for files of measured kernels, one row for
 * each layout. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "calibrate/fit/read/data.h"

#include <stdio.h>
#include <string.h>

static bool has_column(const char *header, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = header; *at; at += *at == ',') {
        size_t cell = strcspn(at, ",");

        if (cell == length && strncmp(at, name, length) == 0)
            return true;
        at += cell;
    }
    return false;
}

/* Finds the layout by a column of the file's first line that only it has. A file without such a
 * column is taken for matrix products; the CSV reader then says what is wrong with it. */
static enum fr_status find_layout(const char *path, const struct fr__layout **out,
                                  struct fr_error *err)
{
    static const struct fr__layout *const layouts[] = {&fr__layout_conv, &fr__layout_beside,
                                                       &fr__layout_kernels};
    char header[1024];
    uint64_t len;
    FILE *f;

    FR_TRY(fr__file_open(path, &f, &len, err));
    header[fread(header, 1, sizeof(header) - 1, f)] = '\0';
    fclose(f);
    header[strcspn(header, "\r\n")] = '\0';
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (has_column(header, layouts[i]->mark)) {
            *out = layouts[i];
            return FR_OK;
        }
    *out = &fr__layout_gemm;
    return FR_OK;
}

enum fr_status fr__data_read(struct fr__data *d, const char *path, uint32_t file,
                             const char *const gpus[], size_t n_gpus, struct fr_error *err)
{
    struct fr__scan s = {.data = d, .gpus = gpus, .n_gpus = n_gpus, .file = file};
    const struct fr__layout *layout;

    FR_TRY(find_layout(path, &layout, err));
    return fr__csv_read(path, layout->columns, layout->take_row, &s, err);
}
