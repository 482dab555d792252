/* calibrate/fit/read/beside.c - times of kernels and copies alone and beside others: the layout
 * of interference.csv. */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "calibrate/fit/read/data.h"
#include "calibrate/fit/read/row_hash.h"

#include <string.h>

enum { SOURCE, GPU, KERNEL, SHAPE, BESIDE, BESIDE_SHAPE, ALONE_US, TOGETHER_US };
static const struct fr__csv_column columns[] = {
    {"source", false}, {"gpu", true},           {"kernel", true},           {"shape", false},
    {"beside", true},  {"beside_shape", false}, {"alone_us", true},         {"together_us", true},
    {"dtype", false},  {"slowdown", false},     {"beside_alone_us", false}, {"notes", false},
    {NULL, false},
};

/* A copy inside a device is a kernel, because it is priced as one. */
static enum fr_beside class_of(const char *kernel)
{
    static const char *const collectives[] = {"all_reduce", "all_gather", "reduce_scatter",
                                              "broadcast",  "all_to_all", "send_recv"};
    static const char *const copies[] = {"copy-h2d", "copy-d2h", "copy-p2p"};

    for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
        if (strcmp(collectives[i], kernel) == 0)
            return FR_BESIDE_COLLECTIVE;
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
        if (strcmp(copies[i], kernel) == 0)
            return FR_BESIDE_COPY;
    return FR_BESIDE_COMPUTE;
}

static enum fr_status read_time(const struct fr__cell *cell, const char *name, double *out_s,
                                struct fr_error *err)
{
    FR_TRY(fr__cell_number(cell, name, 1e-3, 1e12, out_s, err));
    *out_s *= 1e-6;
    return FR_OK;
}

static enum fr_status need_name(const struct fr__cell *cell, const char *name, struct fr_error *err)
{
    if (cell->text[0] != '\0')
        return FR_OK;
    return fr__fail(err, FR_EPARSE, cell->loc, "'%s' is empty, expected the name of a kernel",
                    name);
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct fr__scan *s = user;
    struct fr__data *d = s->data;
    struct fr__beside_row row = {0};
    static const int named[] = {KERNEL, SHAPE, BESIDE, BESIDE_SHAPE};

    if (!fr__scan_is_gpu(s, &cells[GPU]))
        return FR_OK;
    FR_TRY(need_name(&cells[KERNEL], "kernel", err));
    FR_TRY(need_name(&cells[BESIDE], "beside", err));
    FR_TRY(read_time(&cells[ALONE_US], "alone_us", &row.alone_s, err));
    FR_TRY(read_time(&cells[TOGETHER_US], "together_us", &row.together_s, err));
    FR_TRY(fr__scan_source(s, &cells[SOURCE], &row.source, err));
    row.of = class_of(cells[KERNEL].text);
    row.beside = class_of(cells[BESIDE].text);
    row.gpu = s->gpu;
    row.hash = FR__FNV_START;
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        row.hash = fr__fnv_word(fr__hash_text(row.hash, cells[named[i]].text), 0);
    row.hash = fr__hash_id(row.hash);
    if (!fr__grow(&d->beside, &d->beside_cap, d->n_beside + 1, sizeof(row)))
        return fr__fail_nomem(err);
    d->beside[d->n_beside++] = row;
    return FR_OK;
}

const struct fr__layout fr__layout_beside = {
    .mark = "beside", .columns = columns, .take_row = take_row};
