/* workloads/import/tasks.c - a task graph in one CSV file.
 *
 *   task,time,after              a name; seconds, or a time with its unit; what must be done first
 *   a,2,
 *   b,1.5ms,a
 *   c,3,a:1MB b                  of a it reads a megabyte
 *
 * Names in `after` stand between blanks; "name:BYTES" says what must move where the two are on
 * different machines. Columns time:MACHINE give the time on one type of device alone and go before
 * `time`, which all others have. Tasks may stand in any order. A task is an op of kind "other" with
 * these times as measured ones, all in the forward phase: there is no loss and no training.
 */
#include "config.h"

#include "workloads/import/import.h"
#include "workloads/import/task_list.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/units.h"
#include "workloads/graph/builder.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 30)

enum { MAX_COLUMNS = 256, TASK = 0, TIME, AFTER, FIRST_MACHINE };

static const char machine_prefix[] = "time:";

/* A task as it stands in the file. */
struct row {
    const char *name, *after;
    struct fr_loc loc, after_loc;
    double time_s;           /* negative: none for all machines */
    const double *machine_s; /* [n_machines] negative: none of its own */
    uint64_t bytes;          /* the most that a reader reads */
    uint32_t tensor;         /* what it writes; FR_NONE: nothing that moves */
};

struct reading {
    struct fr__arena *arena;
    struct fr__csv_column columns[MAX_COLUMNS + 1];
    size_t n_columns;
    struct fr__strings names; /* of tasks, in the order of rows */
    struct row *rows;
    size_t n_rows, cap_rows;
    struct fr_graph_builder *b;
};

static size_t n_machines(const struct reading *r)
{
    return r->n_columns - FIRST_MACHINE;
}

static const char *machine_name(const struct reading *r, size_t i)
{
    return r->columns[FIRST_MACHINE + i].name + sizeof(machine_prefix) - 1;
}

/* ---- columns ---- */

static enum fr_status take_header(void *user, const struct fr__cell cells[], size_t n,
                                  struct fr_error *err)
{
    struct reading *r = user;
    size_t n_prefix = sizeof(machine_prefix) - 1;

    r->columns[TASK] = (struct fr__csv_column){"task", true};
    r->columns[TIME] = (struct fr__csv_column){"time", false};
    r->columns[AFTER] = (struct fr__csv_column){"after", false};
    r->n_columns = FIRST_MACHINE;
    for (size_t i = 0; i < n && r->n_columns < MAX_COLUMNS; i++) {
        const char *name = cells[i].text;

        if (strncmp(name, machine_prefix, n_prefix) != 0)
            continue;
        if (!name[n_prefix])
            return fr__fail(err, FR_EPARSE, cells[i].loc,
                            "no machine after 'time:', a column such as time:P1 expected");
        name = fr__arena_strdup(r->arena, name);
        if (!name)
            return fr__fail_nomem(err);
        r->columns[r->n_columns++] = (struct fr__csv_column){name, false};
    }
    r->columns[r->n_columns] = (struct fr__csv_column){NULL, false};
    return FR_OK;
}

/* ---- rows ---- */

/* Seconds, or a time with its unit. */
static enum fr_status read_time(const struct fr__cell *cell, const char *what, double *out_s,
                                struct fr_error *err)
{
    size_t n = strlen(cell->text);

    if (n > 0 && isalpha((unsigned char)cell->text[n - 1]))
        FR_TRY(fr__parse_time(cell->text, what, cell->loc, out_s, err));
    else
        FR_TRY(fr__parse_number(cell->text, what, cell->loc, 0, FR__MAX_TIME_S, out_s, err));
    return *out_s <= FR__MAX_TIME_S
               ? FR_OK
               : fr__fail(err, FR_ERANGE, cell->loc, "%s is \"%.40s\", at most %g s", what,
                          cell->text, FR__MAX_TIME_S);
}

static enum fr_status read_times(struct reading *r, const struct fr__cell cells[], struct row *row,
                                 struct fr_error *err)
{
    double *machine_s = fr__arena_alloc(r->arena, n_machines(r), sizeof(*machine_s));

    if (!machine_s)
        return fr__fail_nomem(err);
    row->time_s = -1;
    row->machine_s = machine_s;
    if (cells[TIME].text[0])
        FR_TRY(read_time(&cells[TIME], "'time'", &row->time_s, err));
    for (size_t i = 0; i < n_machines(r); i++) {
        const struct fr__cell *cell = &cells[FIRST_MACHINE + i];
        char what[80];

        machine_s[i] = -1;
        if (!cell->text[0] && row->time_s < 0)
            return fr__fail(err, FR_EPARSE, cell->loc, "task '%.60s' has no time on '%.60s'",
                            row->name, machine_name(r, i));
        snprintf(what, sizeof(what), "'time:%.60s'", machine_name(r, i));
        if (cell->text[0])
            FR_TRY(read_time(cell, what, &machine_s[i], err));
    }
    if (row->time_s < 0 && n_machines(r) == 0)
        return fr__fail(err, FR_EPARSE, cells[TIME].loc, "task '%.60s' has no time", row->name);
    return FR_OK;
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct reading *r = user;
    struct row row = {.loc = cells[TASK].loc, .after_loc = cells[AFTER].loc};
    bool is_new;
    uint32_t id;

    if (!cells[TASK].text[0] || strpbrk(cells[TASK].text, " \t"))
        return fr__fail(err, FR_EPARSE, row.loc,
                        "'task' is \"%.60s\", a name without blanks expected", cells[TASK].text);
    if (r->n_rows >= FR__MAX_OPS)
        return fr__fail(err, FR_ERANGE, row.loc, "more than %zu tasks", FR__MAX_OPS);
    row.name = fr__arena_strdup(r->arena, cells[TASK].text);
    row.after = fr__arena_strdup(r->arena, cells[AFTER].text);
    if (!row.name || !row.after || !fr__grow(&r->rows, &r->cap_rows, r->n_rows + 1, sizeof(row)))
        return fr__fail_nomem(err);
    id = fr__strings_add(&r->names, row.name, &is_new);
    if (id == FR_NONE)
        return fr__fail_nomem(err);
    if (!is_new)
        return fr__fail(err, FR_EPARSE, row.loc, "task '%.60s' appears twice, first at line %u",
                        row.name, r->rows[id].loc.line);
    FR_TRY(read_times(r, cells, &row, err));
    r->rows[r->n_rows++] = row;
    return FR_OK;
}

/* ---- what a task comes after ---- */

/* One word of `after`: a task, and the bytes that are read of it. */
struct need {
    uint32_t task;
    uint64_t bytes;
};

static enum fr_status fail_unknown(const struct reading *r, const char *word, struct fr_loc loc,
                                   struct fr_error *err)
{
    enum { MAX_NAMES = 512 };
    const char *names[MAX_NAMES];
    char hint[128];
    size_t n = r->n_rows < MAX_NAMES ? r->n_rows : MAX_NAMES;

    for (size_t i = 0; i < n; i++)
        names[i] = r->rows[i].name;
    return fr__fail(err, FR_EPARSE, loc, "'after' names '%.60s', which is no task%s", word,
                    fr__did_you_mean(word, names, n, hint, sizeof(hint)));
}

/* A name may hold colons: the longest one that is a task is meant. */
static enum fr_status read_need(const struct reading *r, char *word, struct fr_loc loc,
                                struct need *out, struct fr_error *err)
{
    char *colon;

    *out = (struct need){.task = fr__strings_find(&r->names, word)};
    if (out->task != FR_NONE)
        return FR_OK;
    colon = strrchr(word, ':');
    if (!colon)
        return fail_unknown(r, word, loc, err);
    *colon = '\0';
    out->task = fr__strings_find(&r->names, word);
    if (out->task == FR_NONE)
        return fail_unknown(r, word, loc, err);
    if (colon[1 + strspn(colon + 1, "0123456789")] == '\0')
        FR_TRY(fr__parse_count(colon + 1, "what moves", loc, 0, FR__MAX_BYTES, &out->bytes, err));
    else
        FR_TRY(fr__parse_bytes(colon + 1, "what moves", loc, &out->bytes, err));
    return out->bytes <= FR__MAX_BYTES
               ? FR_OK
               : fr__fail(err, FR_ERANGE, loc, "more than 8 PiB move from '%.60s'", word);
}

typedef enum fr_status (*need_fn)(struct reading *r, uint32_t task, const struct need *need,
                                  struct fr_loc loc, struct fr_error *err);

/* Calls fn for each word of `after` of each task. */
static enum fr_status each_need(struct reading *r, need_fn fn, struct fr_error *err)
{
    static const char blanks[] = " \t\r\n";
    char word[512];

    for (uint32_t i = 0; i < r->n_rows; i++) {
        const char *at = r->rows[i].after;

        for (at += strspn(at, blanks); *at; at += strspn(at, blanks)) {
            size_t n = strcspn(at, blanks);
            struct fr_loc loc = r->rows[i].after_loc;
            struct need need;

            loc.col += (unsigned)(at - r->rows[i].after);
            if (n >= sizeof(word))
                return fr__fail(err, FR_EPARSE, loc, "a name of more than %zu bytes",
                                sizeof(word) - 1);
            memcpy(word, at, n);
            word[n] = '\0';
            FR_TRY(read_need(r, word, loc, &need, err));
            FR_TRY(fn(r, i, &need, loc, err));
            at += n;
        }
    }
    return FR_OK;
}

static enum fr_status count_bytes(struct reading *r, uint32_t task, const struct need *need,
                                  struct fr_loc loc, struct fr_error *err)
{
    struct row *src = &r->rows[need->task];

    if (need->task == task)
        return fr__fail(err, FR_EPARSE, loc, "task '%.60s' comes after itself", src->name);
    if (need->bytes > src->bytes)
        src->bytes = need->bytes;
    return FR_OK;
}

/* ---- the graph ---- */

static enum fr_status add_tasks(struct reading *r, struct fr_error *err)
{
    uint32_t n_tensors = 0;

    for (size_t i = 0; i < r->n_rows; i++) {
        struct row *row = &r->rows[i];
        const struct fr_op op = {.name = row->name,
                                 .loc = row->loc,
                                 .kind = FR_OP_OTHER,
                                 .phase = FR_PHASE_FORWARD,
                                 .forward = (uint32_t)i};
        const struct fr_tensor output = {.bytes = row->bytes, .alias = FR_NONE};
        uint32_t id = fr_graph_builder_op(r->b, &op, row->name, &output, row->bytes ? 1 : 0);

        if (id == FR_NONE)
            return fr__fail_nomem(err);
        row->tensor = row->bytes ? n_tensors++ : FR_NONE;
        if (row->time_s >= 0)
            fr_graph_builder_sample(r->b, id, "*", 1, row->time_s);
        for (size_t m = 0; m < n_machines(r); m++)
            if (row->machine_s[m] >= 0)
                fr_graph_builder_sample(r->b, id, machine_name(r, m), 1, row->machine_s[m]);
    }
    return FR_OK;
}

static enum fr_status add_edge(struct reading *r, uint32_t task, const struct need *need,
                               struct fr_loc loc, struct fr_error *err)
{
    (void)loc;
    (void)err;
    fr_graph_builder_edge(r->b, need->task, task,
                          need->bytes > 0 ? r->rows[need->task].tensor : FR_NONE, need->bytes);
    return FR_OK;
}

static enum fr_status read_graph(struct reading *r, const struct fr__import *in,
                                 struct fr_graph **out, struct fr_error *err)
{
    struct fr_graph info = {.source = "a task graph in CSV",
                            .batch = 1,
                            .dtype = FR_FP32,
                            .param_elem_bytes = 4,
                            .is_tasks = true};

    if (!r->b)
        return fr__fail_nomem(err);
    FR_TRY(fr__csv_header_text(in->text, in->len, in->name, take_header, r, err));
    FR_TRY(fr__csv_read_text(in->text, in->len, in->name, r->columns, take_row, r, err));
    if (r->n_rows == 0)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){in->name, 0, 0}, "has no tasks");
    FR_TRY(each_need(r, count_bytes, err));
    FR_TRY(add_tasks(r, err));
    FR_TRY(each_need(r, add_edge, err));
    info.name = fr__task_list_name(r->arena, in->name);
    if (!info.name)
        return fr__fail_nomem(err);
    return fr_graph_builder_finish(r->b, &info, out, err);
}

static enum fr_status load(struct fr_graph **out, const struct fr__import *in, struct fr_error *err)
{
    struct reading *r = calloc(1, sizeof(*r));
    enum fr_status st;

    if (!r)
        return fr__fail_nomem(err);
    r->arena = in->arena;
    r->b = fr_graph_builder_new();
    st = read_graph(r, in, out, err);
    fr__strings_fini(&r->names);
    fr_graph_builder_free(r->b);
    free(r->rows);
    free(r);
    return st;
}

/* ---- the importer ---- */

/* A header row with the column 'task'. */
static bool recognises(const char *head, size_t len)
{
    (void)len;
    head += strncmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    head += strspn(head, "\r\n");
    for (;;) {
        size_t n = strcspn(head, ",\r\n");

        if ((n == 4 && strncmp(head, "task", 4) == 0) ||
            (n == 6 && strncmp(head, "\"task\"", 6) == 0))
            return true;
        if (head[n] != ',')
            return false;
        head += n + 1;
    }
}

const struct fr__importer fr__importer_tasks = {
    .name = "tasks",
    .summary = "task graph (CSV with task,time,after)",
    .recognises = recognises,
    .max_bytes = MAX_FILE_BYTES,
    .load = load,
};
