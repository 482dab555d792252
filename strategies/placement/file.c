/* strategies/placement/file.c - reads a placement and finds the row of an op.
 *
 * It is separate from the strategy, since it reads a file that may come from anywhere and knows no
 * model.
 */
#include "config.h"

#include "strategies/placement/file.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 28)

enum { OP, DEVICE, ORDER, START, MAX_PATTERNS = 10000 };

static const struct fr__csv_column columns[] = {
    [OP] = {"op", true},
    [DEVICE] = {"device", true},
    [ORDER] = {"order", false},
    [START] = {"start_s", false},
    {NULL, false},
};

/* What a script may name as an order or a time. */
static const double MAX_ORDER = 1e15, MAX_START_S = 1e9;

struct fr__placement {
    struct fr__arena *arena;
    struct fr__placement_row *rows;
    size_t n_rows, cap_rows;
    struct fr__strings names; /* of rows without a pattern */
    uint32_t *row_of;         /* [names.n] */
    size_t cap_row_of;
    uint32_t *patterns; /* [n_patterns] rows */
    size_t n_patterns, cap_patterns;
};

static enum fr_status take_name(struct fr__placement *p, const struct fr__placement_row *row,
                                struct fr_error *err)
{
    bool is_new = false;
    uint32_t id = fr__strings_add(&p->names, row->op, &is_new);

    if (id == FR_NONE || !fr__grow(&p->row_of, &p->cap_row_of, id + 1, sizeof(*p->row_of)))
        return fr__fail_nomem(err);
    if (!is_new)
        return fr__fail(err, FR_EPARSE, row->op_loc, "op '%.100s' stands twice, first at line %u",
                        row->op, p->rows[p->row_of[id]].op_loc.line);
    p->row_of[id] = (uint32_t)p->n_rows;
    return FR_OK;
}

static enum fr_status take_pattern(struct fr__placement *p, const struct fr__placement_row *row,
                                   struct fr_error *err)
{
    if (p->n_patterns == MAX_PATTERNS)
        return fr__fail(err, FR_ERANGE, row->op_loc, "more than %d patterns", MAX_PATTERNS);
    if (!fr__grow(&p->patterns, &p->cap_patterns, p->n_patterns + 1, sizeof(*p->patterns)))
        return fr__fail_nomem(err);
    p->patterns[p->n_patterns++] = (uint32_t)p->n_rows;
    return FR_OK;
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct fr__placement *p = user;
    struct fr__placement_row row = {.op = fr__arena_strdup(p->arena, cells[OP].text),
                                    .device = fr__arena_strdup(p->arena, cells[DEVICE].text),
                                    .loc = cells[OP].loc,
                                    .op_loc = cells[OP].loc,
                                    .device_loc = cells[DEVICE].loc,
                                    .has_order = cells[ORDER].text[0] != '\0',
                                    .has_start = cells[START].text[0] != '\0'};

    if (!row.op || !row.device)
        return fr__fail_nomem(err);
    if (!row.op[0])
        return fr__fail(err, FR_EPARSE, row.op_loc, "no op, expected its name or a pattern");
    if (!row.device[0])
        return fr__fail(err, FR_EPARSE, row.device_loc, "no device for '%.100s'", row.op);
    if (row.has_order)
        FR_TRY(fr__cell_number(&cells[ORDER], "order", 0, MAX_ORDER, &row.order, err));
    if (row.has_start)
        FR_TRY(fr__cell_number(&cells[START], "start_s", 0, MAX_START_S, &row.start_s, err));
    row.is_pattern = strpbrk(row.op, "*?[") != NULL;
    if (row.is_pattern)
        FR_TRY(take_pattern(p, &row, err));
    else
        FR_TRY(take_name(p, &row, err));
    if (!fr__grow(&p->rows, &p->cap_rows, p->n_rows + 1, sizeof(*p->rows)))
        return fr__fail_nomem(err);
    p->rows[p->n_rows++] = row;
    return FR_OK;
}

static enum fr_status read(struct fr__placement *p, const char *text, size_t len, const char *name,
                           struct fr_error *err)
{
    p->arena = fr__arena_new();
    name = p->arena ? fr__arena_strdup(p->arena, name) : NULL;
    if (!name)
        return fr__fail_nomem(err);
    FR_TRY(fr__csv_read_text(text, len, name, columns, take_row, p, err));
    if (p->n_rows == 0)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){name, 0, 0}, "places no op");
    return FR_OK;
}

enum fr_status fr__placement_load_text(struct fr__placement **out, const char *text, size_t len,
                                       const char *name, struct fr_error *err)
{
    struct fr__placement *p = calloc(1, sizeof(*p));
    enum fr_status st;

    if (!p)
        return fr__fail_nomem(err);
    st = read(p, text, len, name, err);
    if (st == FR_OK)
        *out = p;
    else
        fr__placement_free(p);
    return st;
}

enum fr_status fr__placement_load(struct fr__placement **out, const char *path,
                                  struct fr_error *err)
{
    enum fr_status st;
    char *text;
    size_t len;

    FR_TRY(fr__read_file(path, MAX_FILE_BYTES, &text, &len, err));
    st = fr__placement_load_text(out, text, len, path, err);
    free(text);
    return st;
}

void fr__placement_free(struct fr__placement *p)
{
    if (!p)
        return;
    fr__strings_fini(&p->names);
    free(p->row_of);
    free(p->patterns);
    free(p->rows);
    if (p->arena)
        fr__arena_free(p->arena);
    free(p);
}

const struct fr__placement_row *fr__placement_find(struct fr__placement *p, const char *op)
{
    uint32_t id = fr__strings_find(&p->names, op);
    struct fr__placement_row *row = id == FR_NONE ? NULL : &p->rows[p->row_of[id]];

    for (size_t i = p->n_patterns; !row && i-- > 0;)
        if (fnmatch(p->rows[p->patterns[i]].op, op, 0) == 0)
            row = &p->rows[p->patterns[i]];
    if (row)
        row->is_used = true;
    return row;
}

const struct fr__placement_row *fr__placement_row(const struct fr__placement *p, size_t i)
{
    return i < p->n_rows ? &p->rows[i] : NULL;
}
