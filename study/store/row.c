/* study/store/row.c - the columns of a row, its text, and how it is made from an answer. */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "study/store/digest.h"
#include "study/store/row.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RECORD = 1000000 }; /* a cell of CSV may hold 1 MiB */

#define COLUMN(name, type, member)                                                                 \
    {                                                                                              \
        name, FR__COLUMN_##type, offsetof(struct fr_sweep_row, member)                             \
    }
const struct fr__row_column fr__row_columns[] = {
    COLUMN("key", TEXT, key),
    COLUMN("outcome", OUTCOME, outcome),
    COLUMN("reason", TEXT, reason),
    COLUMN("workload", TEXT, workload),
    COLUMN("topology", TEXT, topology),
    COLUMN("gpus", COUNT, gpus),
    COLUMN("gpus_used", COUNT, gpus_used),
    COLUMN("gpu_types", TEXT, gpu_types),
    COLUMN("machines", TEXT, machines),
    COLUMN("spread", COUNT, is_spread),
    COLUMN("devices", TEXT, devices),
    COLUMN("global_batch", COUNT, global_batch),
    COLUMN("seq_len", COUNT, seq_len),
    COLUMN("image_size", COUNT, image_size), /* as asked; 0: the workload's own */
    COLUMN("precision", TEXT, precision),
    COLUMN("strategy", TEXT, strategy),
    COLUMN("optimizer", TEXT, optimizer),
    COLUMN("zero_grad", TEXT, zero_grad),
    COLUMN("ready_order", TEXT, order), /* "order" is a word of SQL */
    COLUMN("network", TEXT, network),
    COLUMN("channels", TEXT, channels),
    COLUMN("collectives", TEXT, collectives),
    COLUMN("alloc", TEXT, alloc),
    COLUMN("memory_model", TEXT, memory),
    COLUMN("costs", TEXT, costs),
    COLUMN("profile_device", TEXT, profile_device),
    COLUMN("iterations", COUNT, iterations),
    COLUMN("seed", COUNT, seed),
    COLUMN("seeds", COUNT, n_seeds),
    COLUMN("jitter", NUMBER, jitter_cv),
    COLUMN("device_jitter", NUMBER, device_cv),
    COLUMN("iteration_s", NUMBER, iteration_s),
    COLUMN("standard_error_s", NUMBER, standard_error_s),
    COLUMN("min_s", NUMBER, min_s),
    COLUMN("max_s", NUMBER, max_s),
    COLUMN("samples_per_s", NUMBER, samples_per_s),
    COLUMN("low_s", NUMBER, low_s),
    COLUMN("high_s", NUMBER, high_s),
    COLUMN("compute_s", NUMBER, compute_s),
    COLUMN("comm_s", NUMBER, comm_s),
    COLUMN("exposed_comm_s", NUMBER, exposed_comm_s),
    COLUMN("bubble_s", NUMBER, bubble_s),
    COLUMN("lower_bound_s", NUMBER, lower_bound_s),
    COLUMN("peak_bytes", COUNT, peak_bytes),
    COLUMN("peak_allocated_bytes", COUNT, peak_allocated_bytes),
    COLUMN("peak_reserved_bytes", COUNT, peak_reserved_bytes),
    COLUMN("capacity_bytes", COUNT, capacity_bytes),
    COLUMN("over_bytes", COUNT, over_bytes),
    COLUMN("cost_profiled_frac", NUMBER, cost_frac[FR_TRUST_PROFILED]),
    COLUMN("cost_scaled_frac", NUMBER, cost_frac[FR_TRUST_SCALED]),
    COLUMN("cost_calibrated_frac", NUMBER, cost_frac[FR_TRUST_CALIBRATED]),
    COLUMN("cost_transferred_frac", NUMBER, cost_frac[FR_TRUST_TRANSFERRED]),
    COLUMN("cost_datasheet_frac", NUMBER, cost_frac[FR_TRUST_DATASHEET]),
    COLUMN("cost_profiled_elsewhere_frac", NUMBER, cost_frac[FR_TRUST_PROFILED_ELSEWHERE]),
    COLUMN("tasks", COUNT, tasks),
    COLUMN("tokens_per_s", NUMBER, tokens_per_s),
    COLUMN("model_flops_per_s_per_gpu", NUMBER, model_flops_per_s_per_gpu),
    COLUMN("mfu", NUMBER, mfu),
    COLUMN("hfu", NUMBER, hfu),
    COLUMN("record", TEXT, record),
    {NULL, FR__COLUMN_TEXT, 0},
};
#undef COLUMN
_Static_assert(sizeof(fr__row_columns) / sizeof(fr__row_columns[0]) == FR__N_ROW_COLUMNS + 1,
               "study/store/row.h counts the columns");
_Static_assert((int)FR_N_TRUSTS == 6, "a column for each trust");

static const char *const outcome_names[FR_N_OUTCOMES] = {"fits", "oom", "impossible", "failed"};
static const struct fr__name_list outcomes = FR__NAMES(outcome_names);

const char *fr_outcome_name(enum fr_outcome o)
{
    return fr__name_of(&outcomes, o);
}

enum fr_outcome fr__outcome_parse(const char *name)
{
    return (enum fr_outcome)fr__name_parse(&outcomes, name);
}

/* ---- members by column ---- */

static void *member(struct fr_sweep_row *row, const struct fr__row_column *c)
{
    return (char *)row + c->offset;
}

static const void *member_of(const struct fr_sweep_row *row, const struct fr__row_column *c)
{
    return (const char *)row + c->offset;
}

const char **fr__row_text(struct fr_sweep_row *row, const struct fr__row_column *c)
{
    return member(row, c);
}

uint64_t *fr__row_count(struct fr_sweep_row *row, const struct fr__row_column *c)
{
    return member(row, c);
}

double *fr__row_number(struct fr_sweep_row *row, const struct fr__row_column *c)
{
    return member(row, c);
}

const char *fr__row_cell(const struct fr_sweep_row *row, const struct fr__row_column *c,
                         char buf[FR__ROW_CELL])
{
    const void *at = member_of(row, c);
    double x;

    switch (c->type) {
    case FR__COLUMN_TEXT:
        return *(const char *const *)at;
    case FR__COLUMN_COUNT:
        snprintf(buf, FR__ROW_CELL, "%" PRIu64, *(const uint64_t *)at);
        return buf;
    case FR__COLUMN_NUMBER:
        x = *(const double *)at;
        return isnan(x) ? "" : fr__format_double(x, buf, FR__ROW_CELL);
    case FR__COLUMN_OUTCOME:
        return fr_outcome_name(*(const enum fr_outcome *)at);
    }
    return "";
}

uint64_t fr__row_digest(const struct fr_sweep_row *row)
{
    struct fr_sweep_row copy = *row;
    uint64_t digest = FR__DIGEST_START;

    copy.record = "";
    for (const struct fr__row_column *c = fr__row_columns; c->name; c++) {
        double number;

        switch (c->type) {
        case FR__COLUMN_TEXT:
            digest =
                fr__digest_text(digest, *fr__row_text(&copy, c) ? *fr__row_text(&copy, c) : "");
            break;
        case FR__COLUMN_COUNT:
            digest = fr__digest_count(digest, *fr__row_count(&copy, c));
            break;
        case FR__COLUMN_NUMBER:
            number = *fr__row_number(&copy, c);
            digest =
                isnan(number) ? fr__digest_count(digest, 1) : fr__digest_number(digest, number);
            break;
        case FR__COLUMN_OUTCOME:
            digest = fr__digest_count(digest, (uint64_t)copy.outcome);
            break;
        }
    }
    return digest;
}

bool fr__rows_equal(const struct fr_sweep_row *a, const struct fr_sweep_row *b)
{
    char text[FR__ROW_CELL], other[FR__ROW_CELL];

    for (const struct fr__row_column *c = fr__row_columns; c->name; c++)
        if (strcmp(fr__row_cell(a, c, text), fr__row_cell(b, c, other)) != 0)
            return false;
    return true;
}

/* ---- CSV ---- */

void fr__row_write_names(FILE *f)
{
    for (const struct fr__row_column *c = fr__row_columns; c->name; c++)
        fprintf(f, "%s%s", c == fr__row_columns ? "" : ",", c->name);
}

/* Cells with commas between, without an end of line. */
static void write_cells(FILE *f, const struct fr_sweep_row *row)
{
    char buf[FR__ROW_CELL];

    for (const struct fr__row_column *c = fr__row_columns; c->name; c++) {
        if (c != fr__row_columns)
            putc(',', f);
        fr__csv_write_cell(f, fr__row_cell(row, c, buf));
    }
}

struct reading {
    bool has_before;
    fr__take_row take;
    void *user;
};

static enum fr_status read_cell(struct fr_sweep_row *row, const struct fr__row_column *c,
                                const struct fr__cell *cell, struct fr_error *err)
{
    switch (c->type) {
    case FR__COLUMN_TEXT:
        *fr__row_text(row, c) = cell->text;
        return FR_OK;
    case FR__COLUMN_COUNT:
        return fr__cell_count(cell, c->name, 0, UINT64_MAX, fr__row_count(row, c), err);
    case FR__COLUMN_NUMBER:
        *fr__row_number(row, c) = NAN;
        return cell->text[0]
                   ? fr__cell_number(cell, c->name, -DBL_MAX, DBL_MAX, fr__row_number(row, c), err)
                   : FR_OK;
    case FR__COLUMN_OUTCOME:
        row->outcome = fr__outcome_parse(cell->text);
        break;
    }
    if (row->outcome == FR_N_OUTCOMES)
        return fr__fail(err, FR_EPARSE, cell->loc, "'outcome' is \"%s\", no known one", cell->text);
    return FR_OK;
}

static enum fr_status read_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    const struct reading *reading = user;
    struct fr_sweep_row row;

    cells += reading->has_before;
    for (size_t i = 0; i < FR__N_ROW_COLUMNS; i++)
        FR_TRY(read_cell(&row, &fr__row_columns[i], &cells[i], err));
    return reading->take(reading->user, &row, err);
}

enum fr_status fr__rows_read(const char *text, size_t length, const char *path, const char *before,
                             fr__take_row take, void *user, struct fr_error *err)
{
    struct fr__csv_column columns[FR__N_ROW_COLUMNS + 2] = {{before, true}};
    struct reading reading = {before != NULL, take, user};

    for (size_t i = 0; i < FR__N_ROW_COLUMNS; i++)
        columns[i + reading.has_before] = (struct fr__csv_column){fr__row_columns[i].name, true};
    return fr__csv_read_text(text, length, path, columns, read_row, &reading, err);
}

char *fr_sweep_row_text(const struct fr_sweep_row *row)
{
    char *text = NULL;
    size_t length;
    FILE *f = fr__text_open(&text, &length);

    if (!f)
        return NULL;
    write_cells(f, row);
    (void)fr__text_close(f, &text);
    return text;
}

enum fr_status fr_sweep_row_parse(const char *text, fr__take_row take, void *user,
                                  struct fr_error *err)
{
    char *whole = NULL;
    size_t length;
    FILE *f = fr__text_open(&whole, &length);
    enum fr_status st;

    if (!f)
        return fr__fail_nomem(err);
    fr__row_write_names(f);
    fprintf(f, "\n%s\n", text);
    if (!fr__text_close(f, &whole))
        return fr__fail_nomem(err);
    st = fr__rows_read(whole, length, "row", NULL, take, user, err);
    free(whole);
    return st;
}

/* ---- rows of answers ---- */

/* Control characters would break a line of text, and say nothing in a name. */
static const char *clean(struct fr__arena *arena, const char *text)
{
    char *copy = fr__arena_strdup(arena, text ? text : "");

    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return copy;
}

static char *setting_text(struct fr__arena *arena, const struct fr_question *q, const char *name)
{
    char *text = NULL, *copy;

    for (size_t i = 0; fr_question_setting(i) && !text; i++)
        if (strcmp(fr_question_setting(i), name) == 0)
            text = fr_question_text(q, i);
    copy = text ? fr__arena_strdup(arena, text) : NULL;
    free(text);
    return copy;
}

/* Fills what the question alone says. */
static enum fr_status begin(struct fr_sweep_row *row, const struct fr_question *q,
                            struct fr__arena *arena, struct fr_error *err)
{
    char *key = fr_question_key(q);

    memset(row, 0, sizeof(*row));
    row->key = key ? fr__arena_strdup(arena, key) : NULL;
    free(key);
    row->workload = clean(arena, q->workload);
    row->topology = clean(arena, q->topology);
    row->strategy = clean(arena, q->strategy);
    row->costs = clean(arena, q->costs ? q->costs : "calibrated");
    row->devices = clean(arena, q->devices ? q->devices : "none");
    row->profile_device = clean(arena, q->profile_device ? q->profile_device : "none");
    row->precision = setting_text(arena, q, "precision");
    row->zero_grad = setting_text(arena, q, "zero-grad");
    row->channels = setting_text(arena, q, "channels");
    row->collectives = setting_text(arena, q, "collectives");
    row->alloc = setting_text(arena, q, "alloc");
    row->memory = fr_memory_model_name(q->run.memory);
    row->reason = row->gpu_types = row->machines = row->record = "";
    if (!row->key || !row->workload || !row->topology || !row->strategy || !row->precision ||
        !row->devices || !row->costs || !row->profile_device || !row->zero_grad || !row->channels ||
        !row->collectives || !row->alloc)
        return fr__fail_nomem(err);
    row->optimizer = fr_optimizer_name(q->optimizer);
    row->order = fr_order_name(q->run.order);
    row->network = fr_network_name(q->run.network);
    row->gpus = q->n_gpus;
    row->is_spread = q->is_spread;
    row->global_batch = q->global_batch ? q->global_batch : q->batch_per_gpu * q->n_gpus;
    row->seq_len = q->seq_len;
    row->image_size = q->image_size;
    row->iterations = q->iterations ? q->iterations : 1;
    row->seed = q->run.seed;
    row->n_seeds = q->n_seeds > 1 ? q->n_seeds : 1;
    row->jitter_cv = q->run.jitter_cv;
    row->device_cv = q->run.device_cv;
    row->iteration_s = row->samples_per_s = row->compute_s = row->comm_s = NAN;
    row->low_s = row->high_s = NAN;
    row->standard_error_s = row->min_s = row->max_s = NAN;
    row->exposed_comm_s = row->bubble_s = row->lower_bound_s = NAN;
    row->tokens_per_s = row->model_flops_per_s_per_gpu = row->mfu = row->hfu = NAN;
    return FR_OK;
}

static char *record_line(const struct fr_record *r, fr__print_record print, struct fr__arena *arena)
{
    char *text = NULL, *copy;
    size_t length;
    FILE *f = fr__text_open(&text, &length);

    if (!f)
        return NULL;
    print(f, r);
    copy = fr__text_close(f, &text)
               ? fr__arena_strndup(arena, text, length > MAX_RECORD ? 0 : strcspn(text, "\n"))
               : NULL;
    free(text);
    return copy;
}

/* Makes negative zeros positive, since a store has none. */
static void drop_signs_of_zero(struct fr_sweep_row *row)
{
    for (const struct fr__row_column *c = fr__row_columns; c->name; c++)
        if (c->type == FR__COLUMN_NUMBER)
            *fr__row_number(row, c) += 0.0;
}

static void add_rates(struct fr_sweep_row *row, const struct fr_record *r)
{
    if (r->tokens_per_sample > 0)
        row->tokens_per_s = r->tokens_per_s;
    if (!(r->model_flops > 0) || !(r->iteration_s > 0))
        return;
    row->model_flops_per_s_per_gpu = r->model_flops / r->iteration_s / (double)r->n_gpus;
    if (r->peak_flops_per_s > 0) {
        row->mfu = r->mfu;
        row->hfu = r->hfu;
    }
}

static void add_measures(struct fr_sweep_row *row, const struct fr_record *r)
{
    row->outcome = r->oom ? FR_OOM : FR_FITS;
    if (!r->oom) {
        row->iteration_s = r->iteration_s;
        row->samples_per_s = r->samples_per_s;
        if (r->seeds.n > 0) {
            row->standard_error_s = r->seeds.standard_error_s;
            row->min_s = r->seeds.min_s;
            row->max_s = r->seeds.max_s;
        }
        if (r->interval.is_known) {
            row->low_s = r->interval.low_s;
            row->high_s = r->interval.high_s;
        }
        add_rates(row, r);
    }
    row->compute_s = r->compute_s;
    row->comm_s = r->comm_s;
    row->exposed_comm_s = r->exposed_comm_s;
    row->bubble_s = r->bubble_s;
    row->lower_bound_s = r->lower_bound_s;
    row->peak_bytes = r->peak_bytes;
    row->peak_allocated_bytes = r->peak_allocated_bytes;
    row->peak_reserved_bytes = r->peak_reserved_bytes;
    row->capacity_bytes = r->peak_capacity_bytes;
    row->over_bytes = r->oom ? r->oom_why.over_bytes : 0;
    memcpy(row->cost_frac, r->cost_frac, sizeof(row->cost_frac));
    row->tasks = r->n_tasks;
    drop_signs_of_zero(row);
}

/* "n0.gpu3 lacks 1.2 GiB, first at 'conv1_1'" */
static enum fr_status say_oom(struct fr_sweep_row *row, const struct fr_record *r,
                              struct fr__arena *arena, struct fr_error *err)
{
    char text[512], bytes[32];

    snprintf(text, sizeof(text), "%s lacks %s, %s%s", r->oom_why.device,
             fr__format_bytes((double)r->oom_why.over_bytes, bytes, sizeof(bytes)),
             r->oom_why.task ? "first at " : "for what stays the whole iteration alone",
             r->oom_why.task ? r->oom_why.task : "");
    row->reason = clean(arena, text);
    return row->reason ? FR_OK : fr__fail_nomem(err);
}

enum fr_status fr__row_of_record(struct fr_sweep_row *row, const struct fr_question *q,
                                 const struct fr_setting *setting, const struct fr_record *r,
                                 fr__print_record print, struct fr__arena *arena,
                                 struct fr_error *err)
{
    FR_TRY(begin(row, q, arena, err));
    row->gpu_types = clean(arena, r->gpu_types);
    row->machines = clean(arena, r->machines ? r->machines : "");
    row->record = print ? record_line(r, print, arena) : "";
    if (!row->gpu_types || !row->machines || !row->record)
        return fr__fail_nomem(err);
    row->precision = r->dtype;
    row->collectives = fr_record_collectives(r);
    row->gpus = r->n_gpus;
    row->gpus_used = r->n_gpus_used;
    row->global_batch = r->global_batch;
    row->seq_len = setting->graph->seq_len;
    add_measures(row, r);
    return r->oom ? say_oom(row, r, arena, err) : FR_OK;
}

enum fr_status fr__row_of_failure(struct fr_sweep_row *row, const struct fr_question *q,
                                  const struct fr_error *why, struct fr__arena *arena,
                                  struct fr_error *err)
{
    char text[sizeof(why->file) + sizeof(why->text) + 32];

    FR_TRY(begin(row, q, arena, err));
    row->outcome = why->code == FR_EDEADLOCK || why->code == FR_ECHECK ? FR_FAILED : FR_IMPOSSIBLE;
    row->reason = clean(arena, fr_error_string(why, text, sizeof(text)));
    return row->reason ? FR_OK : fr__fail_nomem(err);
}
