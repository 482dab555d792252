/* calibrate/fit/read/collective_data.c - the list of measured collectives and messages;
 * collectives.c, message_data.c and nccl_log.c read files into it. */
#include "config.h"

#include "calibrate/fit/read/collective_data.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/names.h"
#include "calibrate/fit/read/row_hash.h"

#include <stdlib.h>
#include <string.h>

/* The operation of that name, as nccl-tests writes it. */
static enum fr_system_op op_of(const char *name)
{
    static const char *const names[FR_N_SYSTEM_OPS] = {"all_reduce", "all_gather", "reduce_scatter",
                                                       "alltoall"};
    static const struct fr__name_list list = FR__NAMES(names);

    return (enum fr_system_op)fr__name_parse(&list, name);
}

static uint64_t hash_call(const struct fr_system_call *call, const char *dtype)
{
    uint64_t h = FR__FNV_START;

    h = fr__fnv_word(h, call->op);
    h = fr__fnv_word(h, call->n_gpus);
    h = fr__fnv_word(h, (uint64_t)call->bytes);
    return fr__hash_id(fr__hash_text(h, dtype));
}

/* The index of text in *texts; it is added if it is new. */
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
    row->hash = fr__hash_id(fr__fnv_word(FR__FNV_START, (uint64_t)row->bytes));
    FR_TRY(find_text(&d->sources, &d->n_sources, &d->sources_cap, source, &row->source, err));
    FR_TRY(find_text(&d->links, &d->n_links, &d->links_cap, link, &row->link, err));
    if (!fr__grow(&d->messages, &d->messages_cap, d->n_messages + 1, sizeof(*row)))
        return fr__fail_nomem(err);
    d->messages[d->n_messages++] = *row;
    return FR_OK;
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
