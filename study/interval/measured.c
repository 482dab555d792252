/* study/interval/measured.c - the reader of measured steps.
 *
 * It is separate from what is learned from them (anchor.c), so that hostile tables meet a reader
 * alone. A table of several models serves all questions: rows of other models, GPUs and number
 * formats are read, checked and left aside.
 */
#include "config.h"

#include "strategies/plugin.h"
#include "study/interval/measured.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { MODEL, GPU, BATCH, TIME, PRECISION, MEMORY, GPUS, STRATEGY };
static const struct fr__csv_column columns[] = {
    {"model", true},   {"gpu", true},   {"batch", true},     {"time", true}, {"precision", false},
    {"memory", false}, {"gpus", false}, {"strategy", false}, {NULL, false},
};

/* Limits of a table that people fill in by hand. */
enum { MOST_ROWS = 100000, MOST_GPUS = 1000000 };
static const double LEAST_S = 1e-6, MOST_S = 1e6;

struct reading {
    struct fr__measured *out;
    const struct fr__measured_of *of;
};

/* "v100" is "v100-sxm2-16gb"; "v1" is not. */
static bool is_gpu(const char *said, const char *type)
{
    size_t n = strlen(said);

    return n > 0 && strncmp(said, type, n) == 0 && (type[n] == '\0' || type[n] == '-');
}

static const char *dtype_name(unsigned i)
{
    return fr_dtype_name((enum fr_dtype)i);
}

static enum fr_status check_time(const char *text, const char *what, struct fr_loc loc,
                                 double *time_s, struct fr_error *err)
{
    FR_TRY(fr__parse_time(text, what, loc, time_s, err));
    if (!(*time_s >= LEAST_S && *time_s <= MOST_S))
        return fr__fail(err, FR_ERANGE, loc,
                        "%s is \"%.40s\", expected a step's time from 1us to 1000000s", what, text);
    return FR_OK;
}

static enum fr_status read_precision(const struct fr__cell *cell, const struct fr__measured_of *of,
                                     bool *is_ours, struct fr_error *err)
{
    unsigned dtype = 0;

    if (cell->text[0] == '\0')
        return FR_OK;
    while (dtype < FR_N_DTYPES && strcmp(cell->text, dtype_name(dtype)) != 0)
        dtype++;
    if (dtype == FR_N_DTYPES)
        return fr__fail(err, FR_EPARSE, cell->loc,
                        "'precision' is \"%.40s\", expected fp32, tf32, fp16, bf16, amp or fp8",
                        cell->text);
    *is_ours = *is_ours && (enum fr_dtype)dtype == of->dtype;
    return FR_OK;
}

/* A row of several GPUs says how they shared the work; it is looked at when it is used. */
static enum fr_status read_strategy(const struct fr__cell *cell, uint64_t n_gpus,
                                    struct fr__measured_step *step, struct fr_error *err)
{
    size_t n = strlen(cell->text);

    if (n_gpus > 1 && n == 0)
        return fr__fail(err, FR_EPARSE, cell->loc,
                        "'strategy' is empty, and a step on %llu GPUs is of one: dp",
                        (unsigned long long)n_gpus);
    if (n >= sizeof(step->strategy))
        return fr__fail(err, FR_ERANGE, cell->loc, "'strategy' has more than %zu letters",
                        sizeof(step->strategy) - 1);
    FR_TRY(fr__plugin_refuse(cell->text, cell->loc, err));
    memcpy(step->strategy, cell->text, n + 1);
    return FR_OK;
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    const struct reading *r = user;
    struct fr__measured_step step = {0};
    bool is_ours = (strcmp(cells[MODEL].text, r->of->model) == 0 ||
                    strcmp(cells[MODEL].text, r->of->graph) == 0) &&
                   is_gpu(cells[GPU].text, r->of->gpu);
    uint64_t batch = 0, bytes = 0, gpus = 1;

    if (r->out->n_rows++ >= MOST_ROWS)
        return fr__fail(err, FR_ERANGE, cells[MODEL].loc, "more than %d rows", MOST_ROWS);
    FR_TRY(fr__cell_count(&cells[BATCH], "batch", 1, UINT32_MAX - 1, &batch, err));
    if (cells[GPUS].text[0])
        FR_TRY(fr__cell_count(&cells[GPUS], "gpus", 1, MOST_GPUS, &gpus, err));
    FR_TRY(check_time(cells[TIME].text, "'time'", cells[TIME].loc, &step.time_s, err));
    FR_TRY(read_precision(&cells[PRECISION], r->of, &is_ours, err));
    if (cells[MEMORY].text[0])
        FR_TRY(fr__parse_bytes(cells[MEMORY].text, "'memory'", cells[MEMORY].loc, &bytes, err));
    FR_TRY(read_strategy(&cells[STRATEGY], gpus, &step, err));
    if (!is_ours)
        return FR_OK;
    if (r->out->n >= FR__MOST_MEASURED)
        return fr__fail(err, FR_ERANGE, cells[MODEL].loc, "more than %d steps of \"%.40s\"",
                        FR__MOST_MEASURED, cells[MODEL].text);
    step.n_gpus = (uint32_t)gpus;
    step.batch = (uint32_t)batch;
    step.memory_bytes = (double)bytes;
    r->out->steps[r->out->n++] = step;
    return FR_OK;
}

static bool is_table(const char *text)
{
    size_t n = strlen(text);

    return n > 4 && strcmp(text + n - 4, ".csv") == 0;
}

/* "412ms", "412ms@8" or "412ms@8:dp"; all of a step but its batch. */
static enum fr_status read_time(const char *text, const char *what, struct fr__measured_step *step,
                                struct fr_error *err)
{
    const char *at = strchr(text, '@'), *colon = at ? strchr(at, ':') : NULL;
    char time[40], gpus[12];
    size_t n_digits;
    uint64_t n = 1;

    *step = (struct fr__measured_step){.n_gpus = 1};
    if (!at)
        return check_time(text, what, FR_NOWHERE, &step->time_s, err);
    n_digits = colon ? (size_t)(colon - at - 1) : strlen(at + 1);
    if ((size_t)(at - text) >= sizeof(time) || n_digits >= sizeof(gpus) ||
        (colon && (strlen(colon + 1) >= sizeof(step->strategy) || colon[1] == '\0')))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "%s is \"%.40s\", expected TIME@GPUS or TIME@GPUS:STRATEGY", what, text);
    memcpy(time, text, (size_t)(at - text));
    time[at - text] = '\0';
    memcpy(gpus, at + 1, n_digits);
    gpus[n_digits] = '\0';
    FR_TRY(check_time(time, what, FR_NOWHERE, &step->time_s, err));
    FR_TRY(
        fr__parse_count(gpus, "the number of GPUs after '@'", FR_NOWHERE, 1, MOST_GPUS, &n, err));
    step->n_gpus = (uint32_t)n;
    if (colon)
        memcpy(step->strategy, colon + 1, strlen(colon + 1) + 1);
    return FR_OK;
}

const char *fr__measured_strategy(const char *text)
{
    const char *at = text && !is_table(text) ? strchr(text, '@') : NULL;
    const char *colon = at ? strchr(at, ':') : NULL;

    return colon ? colon + 1 : NULL;
}

bool fr_measured_is_implicit(const char *text)
{
    const char *at = text && !is_table(text) ? strchr(text, '@') : NULL;

    return at && !strchr(at, ':') && strcmp(at, "@1") != 0;
}

enum fr_status fr__measured_check(const char *text, const char *what, struct fr_error *err)
{
    struct fr__measured_step step;

    return is_table(text) ? FR_OK : read_time(text, what, &step, err);
}

/* Reads into a copy, so that nothing is half read. text NULL: the file at path. */
static enum fr_status read_table(struct fr__measured *out, const char *text, size_t len,
                                 const char *path, const struct fr__measured_of *of,
                                 struct fr_error *err)
{
    struct fr__measured *copy = calloc(1, sizeof(*copy));
    struct reading r = {copy, of};
    enum fr_status st;

    if (!copy)
        return fr__fail_nomem(err);
    st = text ? fr__csv_read_text(text, len, path, columns, take_row, &r, err)
              : fr__csv_read(path, columns, take_row, &r, err);
    if (st == FR_OK)
        *out = *copy;
    free(copy);
    return st;
}

enum fr_status fr__measured_read_text(struct fr__measured *out, const char *text, size_t len,
                                      const char *name, const struct fr__measured_of *of,
                                      struct fr_error *err)
{
    return read_table(out, text, len, name, of, err);
}

enum fr_status fr__measured_read(struct fr__measured *out, const char *text,
                                 const struct fr__measured_of *of, struct fr_error *err)
{
    struct fr__measured_step step;

    if (is_table(text))
        return read_table(out, NULL, 0, text, of, err);
    FR_TRY(read_time(text, "option '--measured'", &step, err));
    if (of->batch > UINT32_MAX / step.n_gpus)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%u samples on each of %u GPUs are too many",
                        (unsigned)of->batch, (unsigned)step.n_gpus);
    step.batch = of->batch * step.n_gpus;
    out->n = 1;
    out->n_rows = 0;
    out->steps[0] = step;
    return FR_OK;
}
