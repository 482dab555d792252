/* study/store/row.c - the figures of a row, its text, and how it is made from an answer. */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "study/answer/figures.h"
#include "study/store/digest.h"
#include "study/store/row.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RECORD = 1000000 }; /* a cell of CSV may hold 1 MiB */

FR_VALUE(outcome_of, struct fr_sweep_row, x, text, fr_outcome_name(x->outcome))

#define ROW(m) FR_MEMBER(struct fr_sweep_row, m)
#define ASKED(key_, m)                                                                             \
    {                                                                                              \
        .key = key_, ROW(m)                                                                        \
    }
#define FOUND(key_, m, from_)                                                                      \
    {                                                                                              \
        .key = key_, ROW(m), .from = from_                                                         \
    }
const struct fr_figure fr__row_figures[] = {
    {.key = "key", ROW(key), FR_DETAIL},
    {.key = "outcome", FR_TEXT(outcome_of)},
    ASKED("reason", reason),
    ASKED("workload", workload),
    ASKED("topology", topology),
    FOUND("gpus", gpus, "gpus"),
    FOUND("gpus_used", gpus_used, "gpus_used"),
    ASKED("gpu_types", gpu_types),
    ASKED("machines", machines),
    ASKED("spread", is_spread),
    ASKED("devices", devices),
    FOUND("global_batch", global_batch, "global_batch"),
    ASKED("seq_len", seq_len),
    ASKED("image_size", image_size), /* as asked; 0: the workload's own */
    FOUND("precision", precision, "precision"),
    ASKED("strategy", strategy),
    ASKED("optimizer", optimizer),
    ASKED("zero_grad", zero_grad),
    ASKED("ready_order", order), /* "order" is a word of SQL */
    ASKED("network", network),
    ASKED("channels", channels),
    FOUND("collectives", collectives, "collectives"),
    ASKED("alloc", alloc),
    ASKED("memory_model", memory),
    ASKED("costs", costs),
    ASKED("profile_device", profile_device),
    ASKED("iterations", iterations),
    ASKED("seed", seed),
    ASKED("seeds", n_seeds),
    ASKED("jitter", jitter_cv),
    ASKED("device_jitter", device_cv),
    FOUND("iteration_s", iteration_s, "iteration_s"),
    FOUND("standard_error_s", standard_error_s, "seeds.standard_error_s"),
    FOUND("min_s", min_s, "seeds.min_s"),
    FOUND("max_s", max_s, "seeds.max_s"),
    FOUND("samples_per_s", samples_per_s, "samples_per_s"),
    {.key = "low_s", ROW(low_s), .from = "low_s", .is_optional = true},
    {.key = "high_s", ROW(high_s), .from = "high_s", .is_optional = true},
    FOUND("compute_s", compute_s, "compute_s"),
    FOUND("comm_s", comm_s, "comm_s"),
    FOUND("exposed_comm_s", exposed_comm_s, "exposed_comm_s"),
    FOUND("bubble_s", bubble_s, "bubble_s"),
    FOUND("lower_bound_s", lower_bound_s, "lower_bound_s"),
    FOUND("peak_bytes", peak_bytes, "peak_bytes"),
    FOUND("peak_allocated_bytes", peak_allocated_bytes, "peak_allocated_bytes"),
    FOUND("peak_reserved_bytes", peak_reserved_bytes, "peak_reserved_bytes"),
    FOUND("capacity_bytes", capacity_bytes, "capacity_bytes"),
    FOUND("over_bytes", over_bytes, "oom_why.over_bytes"),
    FOUND("cost_profiled_frac", cost_frac[FR_TRUST_PROFILED], "cost_sources.profiled"),
    FOUND("cost_scaled_frac", cost_frac[FR_TRUST_SCALED], "cost_sources.scaled"),
    FOUND("cost_calibrated_frac", cost_frac[FR_TRUST_CALIBRATED], "cost_sources.calibrated"),
    FOUND("cost_transferred_frac", cost_frac[FR_TRUST_TRANSFERRED], "cost_sources.transferred"),
    FOUND("cost_datasheet_frac", cost_frac[FR_TRUST_DATASHEET], "cost_sources.datasheet"),
    FOUND("cost_profiled_elsewhere_frac", cost_frac[FR_TRUST_PROFILED_ELSEWHERE],
          "cost_profiled_elsewhere_frac"),
    FOUND("tasks", tasks, "tasks"),
    FOUND("tokens_per_s", tokens_per_s, "tokens_per_s"),
    FOUND("model_flops_per_s_per_gpu", model_flops_per_s_per_gpu, "model_flops_per_s_per_gpu"),
    FOUND("mfu", mfu, "mfu"),
    FOUND("hfu", hfu, "hfu"),
    FOUND("average_power_w", gpu_W, "average_power_w"),
    {.key = "record", ROW(record), FR_DETAIL},
    FR_END_OF_FIGURES,
};
_Static_assert(sizeof(fr__row_figures) / sizeof(fr__row_figures[0]) == FR__N_ROW_FIGURES + 1,
               "study/store/row.h counts the figures");
_Static_assert((int)FR_N_TRUSTS == 6, "a figure for each trust");

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

/* ---- columns ---- */

void fr__row_columns_init(struct fr__row_columns *c)
{
    for (c->n = 0; c->n < FR__N_ROW_FIGURES; c->n++)
        c->figures[c->n] = &fr__row_figures[c->n];
}

enum fr_status fr__row_columns_add(struct fr__row_columns *c, const char *path, const char *name,
                                   struct fr_error *err)
{
    const struct fr_figure *f = fr__figure_find(fr__row_figures, name);

    for (size_t i = 0; i < c->n && f; i++)
        if (c->figures[i] == f)
            f = NULL;
    if (!f)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){path, 0, 0},
                        "the store has a column '%.40s' too much; this forerun knows no such "
                        "figure, or it is there twice",
                        name);
    c->figures[c->n++] = f;
    return FR_OK;
}

/* ---- rows ---- */

void fr__row_init(struct fr_sweep_row *row)
{
    const struct fr_value none = {.kind = FR_FIGURE_END}, empty = {FR_FIGURE_TEXT, "", 0, 0, ""};

    memset(row, 0, sizeof(*row));
    for (const struct fr_figure *f = fr__row_figures; f->kind != FR_FIGURE_END; f++)
        if (!f->of)
            fr__figure_set(f, row, f->kind == FR_FIGURE_TEXT ? &empty : &none);
}

bool fr__row_keep(struct fr_sweep_row *row, struct fr__arena *arena)
{
    for (const struct fr_figure *f = fr__row_figures; f->kind != FR_FIGURE_END; f++) {
        struct fr_value v;

        if (f->kind != FR_FIGURE_TEXT || f->of)
            continue;
        fr__figure_value(f, row, &v);
        v.text = fr__arena_strdup(arena, v.kind == FR_FIGURE_TEXT ? v.text : "");
        v.kind = FR_FIGURE_TEXT;
        if (!v.text)
            return false;
        fr__figure_set(f, row, &v);
    }
    return true;
}

uint64_t fr__row_digest(const struct fr_sweep_row *row, const struct fr__row_columns *c)
{
    uint64_t digest = FR__FNV_START;

    for (size_t i = 0; i < c->n; i++) {
        const struct fr_figure *f = c->figures[i];
        struct fr_value v;

        fr__figure_value(f, row, &v);
        if (f->of)
            digest = fr__fnv_word(digest, (uint64_t)row->outcome);
        else if (f->kind == FR_FIGURE_TEXT)
            digest = fr__digest_text(
                digest, v.kind != FR_FIGURE_END && strcmp(f->key, "record") != 0 ? v.text : "");
        else if (f->kind == FR_FIGURE_COUNT)
            digest = fr__fnv_word(digest, v.count);
        else
            digest = v.kind == FR_FIGURE_END ? fr__fnv_word(digest, 1)
                                             : fr__digest_number(digest, v.number);
    }
    return digest;
}

bool fr__rows_equal(const struct fr_sweep_row *a, const struct fr_sweep_row *b,
                    const struct fr__row_columns *c)
{
    char text[FR_FIGURE_CELL], other[FR_FIGURE_CELL];

    for (size_t i = 0; i < c->n; i++) {
        struct fr_value x, y;

        fr__figure_value(c->figures[i], a, &x);
        fr__figure_value(c->figures[i], b, &y);
        if (strcmp(fr__value_text(&x, text), fr__value_text(&y, other)) != 0)
            return false;
    }
    return true;
}

/* ---- CSV ---- */

void fr__row_write_names(FILE *f, const struct fr__row_columns *c)
{
    for (size_t i = 0; i < c->n; i++)
        fprintf(f, "%s%s", i ? "," : "", c->figures[i]->key);
}

void fr__row_write_cells(FILE *f, const struct fr__row_columns *c, const struct fr_sweep_row *row)
{
    char buf[FR_FIGURE_CELL];

    for (size_t i = 0; i < c->n; i++) {
        struct fr_value v;

        fr__figure_value(c->figures[i], row, &v);
        if (i)
            putc(',', f);
        fr__csv_write_cell(f, fr__value_text(&v, buf));
    }
}

struct reading {
    fr__take_row take;
    void *user;
};

static enum fr_status read_cell(struct fr_sweep_row *row, const struct fr_figure *f,
                                const struct fr__cell *cell, struct fr_error *err)
{
    struct fr_value v = {.kind = f->kind, .text = cell->text};

    if (f->of) {
        row->outcome = fr__outcome_parse(cell->text);
        return row->outcome != FR_N_OUTCOMES
                   ? FR_OK
                   : fr__fail(err, FR_EPARSE, cell->loc, "'outcome' is \"%s\", no known one",
                              cell->text);
    }
    if (f->kind != FR_FIGURE_TEXT && !cell->text[0])
        v.kind = FR_FIGURE_END;
    else if (f->kind == FR_FIGURE_COUNT)
        FR_TRY(fr__cell_count(cell, f->key, 0, UINT64_MAX, &v.count, err));
    else if (f->kind == FR_FIGURE_NUMBER)
        FR_TRY(fr__cell_number(cell, f->key, -DBL_MAX, DBL_MAX, &v.number, err));
    fr__figure_set(f, row, &v);
    return FR_OK;
}

static enum fr_status read_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    const struct reading *reading = user;
    struct fr_sweep_row row;

    for (size_t i = 0; i < FR__N_ROW_FIGURES; i++)
        FR_TRY(read_cell(&row, &fr__row_figures[i], &cells[i], err));
    return reading->take(reading->user, &row, err);
}

enum fr_status fr__rows_read(const char *text, size_t length, const char *path, fr__take_row take,
                             void *user, struct fr_error *err)
{
    struct fr__csv_column columns[FR__N_ROW_FIGURES + 1] = {{NULL, false}};

    for (size_t i = 0; i < FR__N_ROW_FIGURES; i++)
        columns[i] = (struct fr__csv_column){fr__row_figures[i].key, i < 2};
    return fr__csv_read_text(text, length, path, columns, read_row, &(struct reading){take, user},
                             err);
}

char *fr_sweep_row_text(const struct fr_sweep_row *row)
{
    struct fr__row_columns all;
    char *text = NULL;
    size_t length;
    FILE *f = fr__text_open(&text, &length);

    if (!f)
        return NULL;
    fr__row_columns_init(&all);
    fr__row_write_cells(f, &all, row);
    (void)fr__text_close(f, &text);
    return text;
}

enum fr_status fr_sweep_row_parse(const char *text, fr__take_row take, void *user,
                                  struct fr_error *err)
{
    struct fr__row_columns all;
    char *whole = NULL;
    size_t length;
    FILE *f = fr__text_open(&whole, &length);
    enum fr_status st;

    if (!f)
        return fr__fail_nomem(err);
    fr__row_columns_init(&all);
    fr__row_write_names(f, &all);
    fprintf(f, "\n%s\n", text);
    if (!fr__text_close(f, &whole))
        return fr__fail_nomem(err);
    st = fr__rows_read(whole, length, "row", take, user, err);
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

    fr__row_init(row);
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
    memset(row->cost_frac, 0, sizeof(row->cost_frac)); /* until something is computed */
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

/* Figures over several seeds are of steps that run. A store has no negative zero. */
static void take_figures(struct fr_sweep_row *row, const struct fr_record *r)
{
    row->outcome = r->oom ? FR_OOM : FR_FITS;
    for (const struct fr_figure *f = fr__row_figures; f->kind != FR_FIGURE_END; f++) {
        struct fr_value v;

        if (!f->from)
            continue;
        fr__figure_at(fr__record_figures, f->from, r, &v);
        if (r->oom && strncmp(f->from, "seeds.", 6) == 0)
            v.kind = FR_FIGURE_END;
        if (v.kind == FR_FIGURE_NUMBER)
            v.number += 0.0;
        fr__figure_set(f, row, &v);
    }
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
    row->seq_len = setting->graph->seq_len;
    take_figures(row, r);
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
