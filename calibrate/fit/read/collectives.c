/* calibrate/fit/read/collectives.c - reads measured collectives and messages from a file of any
 * layout: a CSV of collectives (read here), a CSV of messages (message_data.c) or a log of
 * nccl-tests (nccl_log.c). */
#include "config.h"

#include "calibrate/fit/read/collective_data.h"

#include "base/error.h"
#include "base/file.h"
#include "calibrate/fit/read/nccl_log.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30 };

enum column {
    SOURCE,
    SYSTEM,
    GPU,
    GPUS,
    NODES,
    LINK,
    OP,
    BYTES,
    DTYPE,
    ALGORITHM,
    PROTOCOL,
    TIME_US
};

static const struct fr__csv_column columns[] = {[SOURCE] = {"source", true},
                                                [SYSTEM] = {"system", true},
                                                [GPU] = {"gpu", false},
                                                [GPUS] = {"gpus", true},
                                                [NODES] = {"nodes", true},
                                                [LINK] = {"link", false},
                                                [OP] = {"op", true},
                                                [BYTES] = {"bytes", true},
                                                [DTYPE] = {"dtype", true},
                                                [ALGORITHM] = {"algorithm", true},
                                                [PROTOCOL] = {"protocol", true},
                                                [TIME_US] = {"time_us", true},
                                                {"algbw_GBps", false},
                                                {"busbw_GBps", false},
                                                {"notes", false},
                                                {NULL, false}};

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    const struct fr__collective_scan *s = user;
    struct fr__collective_row row = {.file = s->file, .line = cells[TIME_US].loc.line};
    uint64_t n_gpus, n_nodes;
    double time_us;

    if (strcmp(cells[SYSTEM].text, s->system) != 0 || strcmp(cells[ALGORITHM].text, "auto") != 0 ||
        strcmp(cells[PROTOCOL].text, "auto") != 0 || !cells[TIME_US].text[0])
        return FR_OK;
    FR_TRY(fr__cell_count(&cells[NODES], "nodes", 1, 1000000, &n_nodes, err));
    FR_TRY(fr__cell_count(&cells[GPUS], "gpus", 1, 1000000, &n_gpus, err));
    FR_TRY(fr__cell_number(&cells[BYTES], "bytes", 0, 1e15, &row.call.bytes, err));
    FR_TRY(fr__cell_number(&cells[TIME_US], "time_us", 1e-3, 1e12, &time_us, err));
    if (n_gpus < 2 || row.call.bytes < 1)
        return FR_OK;
    if (n_gpus < n_nodes)
        return fr__fail(err, FR_ERANGE, cells[NODES].loc, "%s nodes have only %s GPUs in all",
                        cells[NODES].text, cells[GPUS].text);
    row.call.n_gpus = (unsigned)n_gpus;
    row.call.n_nodes = (unsigned)n_nodes;
    row.time_s = time_us * 1e-6;
    return fr__collective_data_add(s->data, &row, cells[OP].text, cells[DTYPE].text,
                                   cells[SOURCE].text, err);
}

/* Whether the first line of a CSV has a sender, as messages have. */
static bool has_senders(const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);

    for (const char *at = text, *stop = end ? end : text + len; at + 5 <= stop; at++)
        if (memcmp(at, ",src,", 5) == 0)
            return true;
    return false;
}

static enum fr_status read_text(struct fr__collective_data *d, const char *text, size_t len,
                                const char *name, uint32_t file, const char *system,
                                struct fr_error *err)
{
    struct fr__collective_scan s = {.data = d, .system = system, .file = file};

    if (fr__is_nccl_log(text, len))
        return fr__nccl_log_read(d, text, len, name, file, err);
    if (has_senders(text, len))
        return fr__csv_read_text(text, len, name, fr__message_columns, fr__message_take_row, &s,
                                 err);
    return fr__csv_read_text(text, len, name, columns, take_row, &s, err);
}

enum fr_status fr__collective_data_read(struct fr__collective_data *d, const char *path,
                                        uint32_t file, const char *system, struct fr_error *err)
{
    char *text;
    size_t len;
    enum fr_status st;

    FR_TRY(fr__read_file(path, MAX_BYTES, &text, &len, err));
    st = read_text(d, text, len, path, file, system, err);
    free(text);
    return st;
}

enum fr_status fr__collective_data_read_text(struct fr__collective_data *d, const char *text,
                                             size_t len, const char *name, const char *system,
                                             struct fr_error *err)
{
    return read_text(d, text, len, name, 0, system, err);
}
