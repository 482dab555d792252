/* calibrate/fit/read/collective_data.c - see collective_data.h. */
#include "config.h"

#include "calibrate/fit/read/collective_data.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/names.h"
#include "calibrate/fit/read/nccl_log.h"
#include "calibrate/fit/read/row_hash.h"

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

/* As nccl-tests and its readers write them. */
static enum fr_system_op op_of(const char *name)
{
    static const char *const names[FR_N_SYSTEM_OPS] = {"all_reduce", "all_gather", "reduce_scatter",
                                                       "alltoall"};
    static const struct fr__name_list list = FR__NAMES(names);

    return (enum fr_system_op)fr__name_parse(&list, name);
}

static uint64_t hash_call(const struct fr_system_call *call, const char *dtype)
{
    uint64_t h = FR__HASH_START;

    h = fr__hash_word(h, call->op);
    h = fr__hash_word(h, call->n_gpus);
    h = fr__hash_word(h, (uint64_t)call->bytes);
    return fr__hash_end(fr__hash_text(h, dtype));
}

/* The place of text among *texts, at their end if it is new. */
static enum fr_status find_text(char ***texts, size_t *n, size_t *cap, const char *text,
                                uint32_t *out, struct fr_error *err)
{
    size_t i = 0;
    char *copy;

    while (i < *n && strcmp((*texts)[i], text) != 0)
        i++;
    *out = (uint32_t)i;
    if (i < *n)
        return FR_OK;
    copy = strdup(text);
    if (!copy || !fr__grow(texts, cap, i + 1, sizeof(**texts))) {
        free(copy);
        return fr__fail_nomem(err);
    }
    (*texts)[(*n)++] = copy;
    return FR_OK;
}

enum fr_status fr__collective_data_add(struct fr__collective_data *d,
                                       struct fr__collective_row *row, const char *op,
                                       const char *dtype, const char *source, struct fr_error *err)
{
    row->call.op = op_of(op);
    if (row->call.op == FR_N_SYSTEM_OPS)
        return FR_OK;
    row->call.is_summed_in_switch = !strstr(dtype, "int8");
    row->hash = hash_call(&row->call, dtype);
    FR_TRY(find_text(&d->sources, &d->n_sources, &d->sources_cap, source, &row->source, err));
    if (!fr__grow(&d->rows, &d->rows_cap, d->n_rows + 1, sizeof(*row)))
        return fr__fail_nomem(err);
    d->rows[d->n_rows++] = *row;
    return FR_OK;
}

enum fr_status fr__collective_data_add_message(struct fr__collective_data *d,
                                               struct fr__message_row *row, const char *link,
                                               const char *source, struct fr_error *err)
{
    row->hash = fr__hash_end(fr__hash_word(FR__HASH_START, (uint64_t)row->bytes));
    FR_TRY(find_text(&d->sources, &d->n_sources, &d->sources_cap, source, &row->source, err));
    FR_TRY(find_text(&d->links, &d->n_links, &d->links_cap, link, &row->link, err));
    if (!fr__grow(&d->messages, &d->messages_cap, d->n_messages + 1, sizeof(*row)))
        return fr__fail_nomem(err);
    d->messages[d->n_messages++] = *row;
    return FR_OK;
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    const struct fr__collective_scan *s = user;
    struct fr__collective_row row = {.file = s->file, .line = cells[TIME_US].loc.line};
    uint64_t n_gpus, n_nodes;
    double time_us;

    if (strcmp(cells[SYSTEM].text, s->system) != 0 || strcmp(cells[ALGORITHM].text, "auto") != 0 ||
        strcmp(cells[PROTOCOL].text, "auto") != 0 || !cells[TIME_US].text[0] ||
        op_of(cells[OP].text) == FR_N_SYSTEM_OPS)
        return FR_OK;
    FR_TRY(fr__cell_count(&cells[NODES], "nodes", 1, 1000000, &n_nodes, err));
    FR_TRY(fr__cell_count(&cells[GPUS], "gpus", 1, 1000000, &n_gpus, err));
    FR_TRY(fr__cell_number(&cells[BYTES], "bytes", 0, 1e15, &row.call.bytes, err));
    FR_TRY(fr__cell_number(&cells[TIME_US], "time_us", 1e-3, 1e12, &time_us, err));
    if (n_gpus < 2 || row.call.bytes < 1)
        return FR_OK;
    if (n_gpus < n_nodes)
        return fr__fail(err, FR_ERANGE, cells[NODES].loc, "%s nodes with %s GPUs in all",
                        cells[NODES].text, cells[GPUS].text);
    row.call.n_gpus = (unsigned)n_gpus;
    row.call.n_nodes = (unsigned)n_nodes;
    row.time_s = time_us * 1e-6;
    return fr__collective_data_add(s->data, &row, cells[OP].text, cells[DTYPE].text,
                                   cells[SOURCE].text, err);
}

/* Of the CSV's first line: messages have a sender. */
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

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

void fr__collective_data_fini(struct fr__collective_data *d)
{
    free_texts(d->sources, d->n_sources);
    free_texts(d->links, d->n_links);
    free(d->messages);
    free(d->rows);
    memset(d, 0, sizeof(*d));
}
