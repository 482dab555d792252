/* workloads/graph/native_ops.c - reads ops.csv: each row is an op and its outputs. */
#include "config.h"

#include "workloads/graph/native.h"

#include "base/error.h"
#include "base/units.h"
#include "workloads/graph/elements.h"
#include "workloads/graph/kinds.h"

#include <stdio.h>
#include <string.h>

#define COLUMN_ROW(id, text, required) [FR__COL_##id] = {text, required},
const struct fr__csv_column fr__op_columns[FR__N_OP_COLUMNS + 1] = {
    FR__OP_COLUMNS(COLUMN_ROW){NULL, false}};
#undef COLUMN_ROW

enum { MAX_OUTPUTS = 65536, LONGEST_NUMBER = 31 };

static const char *column_name(enum fr__op_column c)
{
    return fr__op_columns[c].name;
}

/* The next output's item in each cell that lists outputs. */
struct output_cursors {
    struct fr__item dims, bytes, scales, split, alias;
};

static bool is_none(const struct fr__item *it)
{
    return it->len == 0 || (it->len == 1 && it->text[0] == '-');
}

static enum fr_status item_count(const struct fr__item *it, enum fr__op_column column, uint64_t max,
                                 uint64_t *out, struct fr_error *err)
{
    char digits[LONGEST_NUMBER + 1], what[32];

    snprintf(what, sizeof(what), "'%s'", column_name(column));
    snprintf(digits, sizeof(digits), "%.*s",
             (int)(it->len > LONGEST_NUMBER ? LONGEST_NUMBER : it->len), it->text);
    return fr__parse_count(digits, what, it->loc, 0, max, out, err);
}

static enum fr_status read_dims(struct fr__item it, struct fr_tensor *t, struct fr_error *err)
{
    const char *end = it.text + it.len;
    uint64_t extent;

    if (is_none(&it))
        return FR_OK;
    while (it.text <= end) {
        const char *x = memchr(it.text, 'x', (size_t)(end - it.text));

        if (t->n_dims == FR_MAX_DIMS)
            return fr__fail(err, FR_ERANGE, it.loc, "'dims' has over %d dimensions", FR_MAX_DIMS);
        it.len = (size_t)((x ? x : end) - it.text);
        FR_TRY(item_count(&it, FR__COL_DIMS, UINT32_MAX, &extent, err));
        t->dims[t->n_dims++] = (uint32_t)extent;
        it.loc.col += (unsigned)it.len + 1;
        it.text += it.len + 1;
    }
    return FR_OK;
}

/* The digits name the dimensions: "01" says that the first two may be split. */
static enum fr_status read_split(struct fr__item it, struct fr_tensor *t, struct fr_error *err)
{
    if (it.len == 0)
        return FR_OK;
    t->split_mask = 0;
    if (is_none(&it))
        return FR_OK;
    for (size_t i = 0; i < it.len; i++) {
        unsigned d = (unsigned)(it.text[i] - '0');

        if (d >= FR_MAX_DIMS)
            return fr__fail(err, FR_EPARSE, it.loc,
                            "'split' is \"%.*s\", not digits of dimensions from 0 to %d, or '-'",
                            (int)it.len, it.text, FR_MAX_DIMS - 1);
        t->split_mask = (uint8_t)(t->split_mask | 1u << d);
    }
    return FR_OK;
}

/* Where out_bytes is not given, the size follows from the dims. These are read before. */
static enum fr_status read_out_bytes(const struct fr__native *n, const struct fr__item *it,
                                     struct fr_loc dims_loc, struct fr_tensor *t,
                                     struct fr_error *err)
{
    if (it->len)
        return item_count(it, FR__COL_OUT_BYTES, FR__MAX_BYTES, &t->bytes, err);
    if (t->n_dims == 0)
        return fr__fail(err, FR_EPARSE, it->loc,
                        "an output has neither 'out_bytes' nor 'dims' to compute them from");
    t->bytes = fr__elem_bytes(n->info.dtype);
    for (unsigned d = 0; d < t->n_dims; d++) {
        if (t->dims[d] && t->bytes > FR__MAX_BYTES / t->dims[d])
            return fr__fail(err, FR_ERANGE, dims_loc, "'dims' make an output of over 2^53 bytes");
        t->bytes *= t->dims[d];
    }
    return FR_OK;
}

static enum fr_status note_alias(struct fr__native *n, const struct fr__item *it,
                                 struct fr_error *err)
{
    struct fr__native_alias a = {(uint32_t)n->n_outputs, NULL, it->loc};

    if (is_none(it))
        return FR_OK;
    a.target = fr__arena_strndup(n->arena, it->text, it->len);
    if (!a.target || !fr__grow(&n->aliases, &n->cap_aliases, n->n_aliases + 1, sizeof(a)))
        return fr__fail_nomem(err);
    n->aliases[n->n_aliases++] = a;
    return FR_OK;
}

static enum fr_status read_output(struct fr__native *n, struct output_cursors *at, bool op_scales,
                                  struct fr_error *err)
{
    struct fr__item scales = fr__next_item(&at->scales), bytes = fr__next_item(&at->bytes);
    struct fr__item alias = fr__next_item(&at->alias), dims = fr__next_item(&at->dims);
    struct fr_tensor t = {.alias = FR_NONE, .scales = op_scales};
    uint64_t flag;

    if (scales.len) {
        FR_TRY(item_count(&scales, FR__COL_OUT_SCALES, 1, &flag, err));
        t.scales = flag != 0;
    }
    t.split_mask = t.scales;
    FR_TRY(read_dims(dims, &t, err));
    FR_TRY(read_out_bytes(n, &bytes, dims.loc, &t, err));
    FR_TRY(read_split(fr__next_item(&at->split), &t, err));
    FR_TRY(note_alias(n, &alias, err));
    if (!fr__grow(&n->outputs, &n->cap_outputs, n->n_outputs + 1, sizeof(t)))
        return fr__fail_nomem(err);
    n->outputs[n->n_outputs++] = t;
    return FR_OK;
}

static struct fr__item start_of(const struct fr__cell *cell)
{
    return fr__first_item(cell->text, cell->loc);
}

static enum fr_status read_outputs(struct fr__native *n, const struct fr__cell cells[],
                                   struct fr__native_row *row, struct fr_error *err)
{
    static const enum fr__op_column lists[] = {FR__COL_DIMS, FR__COL_OUT_SCALES, FR__COL_SPLIT,
                                               FR__COL_ALIAS};
    enum fr__op_column leader = cells[FR__COL_OUT_BYTES].text[0] ? FR__COL_OUT_BYTES : FR__COL_DIMS;
    uint32_t count = fr__n_items(cells[leader].text);
    struct output_cursors at = {start_of(&cells[FR__COL_DIMS]), start_of(&cells[FR__COL_OUT_BYTES]),
                                start_of(&cells[FR__COL_OUT_SCALES]),
                                start_of(&cells[FR__COL_SPLIT]), start_of(&cells[FR__COL_ALIAS])};

    if (count > MAX_OUTPUTS || count > FR__MAX_TENSORS - n->n_outputs)
        return fr__fail(err, FR_ERANGE, cells[leader].loc, "'%s' has %u items, too many",
                        column_name(leader), count);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const struct fr__cell *cell = &cells[lists[i]];

        if (cell->text[0] && fr__n_items(cell->text) != count)
            return fr__fail(err, FR_EPARSE, cell->loc, "'%s' has %u items, but '%s' has %u",
                            column_name(lists[i]), fr__n_items(cell->text), column_name(leader),
                            count);
    }
    row->first_output = (uint32_t)n->n_outputs;
    row->n_outputs = count;
    for (uint32_t k = 0; k < count; k++)
        FR_TRY(read_output(n, &at, row->op.scales, err));
    return FR_OK;
}

static enum fr_status read_kind(const struct fr__cell cells[], struct fr_op *op,
                                struct fr_error *err)
{
    const struct fr__cell *kind = &cells[FR__COL_KIND], *phase = &cells[FR__COL_PHASE];
    char hint[96];

    op->kind = fr_op_kind_parse(kind->text);
    if (op->kind == FR_N_OP_KINDS)
        return fr__fail(err, FR_EPARSE, kind->loc, "'kind' is \"%.60s\", no known kind of op%s",
                        kind->text,
                        fr__name_hint(&fr__op_kind_names, kind->text, hint, sizeof(hint)));
    op->phase = op->kind == FR_OP_INPUT ? FR_PHASE_INPUT : FR_PHASE_FORWARD;
    if (phase->text[0])
        op->phase = fr_phase_parse(phase->text);
    if (op->phase == FR_N_PHASES)
        return fr__fail(err, FR_EPARSE, phase->loc, "'phase' is \"%.60s\", no known phase%s",
                        phase->text,
                        fr__name_hint(&fr__phase_names, phase->text, hint, sizeof(hint)));
    return FR_OK;
}

/* A count that may be left out. */
static enum fr_status optional_count(const struct fr__cell cells[], enum fr__op_column column,
                                     uint64_t max, uint64_t fallback, uint64_t *out,
                                     struct fr_error *err)
{
    *out = fallback;
    if (!cells[column].text[0])
        return FR_OK;
    return fr__cell_count(&cells[column], column_name(column), 0, max, out, err);
}

static enum fr_status read_numbers(const struct fr__cell cells[], struct fr__native_row *row,
                                   struct fr_error *err)
{
    struct fr_op *op = &row->op;
    uint64_t scales, in_place, n_params;

    if (cells[FR__COL_FLOPS].text[0])
        FR_TRY(fr__cell_number(&cells[FR__COL_FLOPS], "flops", 0, FR__MAX_FLOPS, &op->flops, err));
    row->has_bytes = cells[FR__COL_BYTES].text[0] != '\0';
    if (row->has_bytes)
        FR_TRY(fr__cell_number(&cells[FR__COL_BYTES], "bytes", 0, (double)FR__MAX_BYTES, &op->bytes,
                               err));
    FR_TRY(optional_count(cells, FR__COL_PARAM_BYTES, FR__MAX_BYTES, 0, &op->param_bytes, err));
    FR_TRY(optional_count(cells, FR__COL_WORKSPACE_BYTES, FR__MAX_BYTES, 0, &op->workspace_bytes,
                          err));
    FR_TRY(optional_count(cells, FR__COL_SCALES, 1, op->phase != FR_PHASE_UPDATE, &scales, err));
    FR_TRY(optional_count(cells, FR__COL_IN_PLACE, 1, 0, &in_place, err));
    FR_TRY(optional_count(cells, FR__COL_N_PARAMS, FR__MAX_PARAMS,
                          op->phase == FR_PHASE_FORWARD && op->param_bytes, &n_params, err));
    op->scales = scales != 0;
    op->is_in_place = in_place != 0;
    op->n_params = (uint32_t)n_params;
    return FR_OK;
}

/* A copy of the cell's text, NULL when it is empty. */
static enum fr_status copy_text(struct fr__native *n, const struct fr__cell *cell, const char **out,
                                struct fr_error *err)
{
    *out = NULL;
    if (!cell->text[0])
        return FR_OK;
    *out = fr__arena_strdup(n->arena, cell->text);
    return *out ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status add_id(struct fr__native *n, const struct fr__cell *cell, const char **id,
                             struct fr_error *err)
{
    uint32_t row;
    bool is_new;

    if (!cell->text[0] || strchr(cell->text, ';'))
        return fr__fail(err, FR_EPARSE, cell->loc, "'id' is empty or holds a ';'");
    FR_TRY(copy_text(n, cell, id, err));
    row = fr__strings_add(&n->ids, *id, &is_new);
    if (row == FR_NONE)
        return fr__fail_nomem(err);
    if (!is_new)
        return fr__fail(err, FR_EPARSE, cell->loc, "id '%.200s' is given twice, first on line %u",
                        *id, n->rows[row].op.loc.line);
    return FR_OK;
}

static enum fr_status read_op(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct fr__native *n = user;
    struct fr__native_row row = {.op = {.loc = cells[FR__COL_ID].loc, .forward = FR_NONE},
                                 .forward_loc = cells[FR__COL_FORWARD].loc,
                                 .tied_to_loc = cells[FR__COL_TIED_TO].loc};
    const char *id = NULL;

    if (n->n_rows >= FR__MAX_OPS)
        return fr__fail(err, FR_ERANGE, row.op.loc, "more than %zu ops", FR__MAX_OPS);
    FR_TRY(add_id(n, &cells[FR__COL_ID], &id, err));
    FR_TRY(copy_text(n, &cells[FR__COL_NAME], &row.op.name, err));
    FR_TRY(copy_text(n, &cells[FR__COL_LAYER], &row.layer, err));
    FR_TRY(copy_text(n, &cells[FR__COL_FORWARD], &row.forward, err));
    FR_TRY(copy_text(n, &cells[FR__COL_TIED_TO], &row.tied_to, err));
    if (!row.op.name)
        row.op.name = id;
    FR_TRY(read_kind(cells, &row.op, err));
    FR_TRY(read_numbers(cells, &row, err));
    if (cells[FR__COL_TUNING].text[0] &&
        !fr__native_set_tuning(&row.op, cells[FR__COL_TUNING].text))
        return fr__fail(
            err, FR_EPARSE, cells[FR__COL_TUNING].loc,
            "'tuning' is \"%.60s\", expected frozen, nf4, nf4-double, adapter, again or "
            "nothing",
            cells[FR__COL_TUNING].text);
    FR_TRY(fr__native_read_shape(&cells[FR__COL_SHAPE], cells[FR__COL_FLOPS].text[0] != '\0',
                                 &row.op, err));
    FR_TRY(read_outputs(n, cells, &row, err));
    if (!fr__grow(&n->rows, &n->cap_rows, n->n_rows + 1, sizeof(row)))
        return fr__fail_nomem(err);
    n->rows[n->n_rows++] = row;
    return FR_OK;
}

/* ---- rows that refer to other rows ---- */

enum fr_status fr__native_find(const struct fr__native *n, const char *id, struct fr_loc loc,
                               uint32_t *row, struct fr_error *err)
{
    char hint[96];

    *row = fr__strings_find(&n->ids, id);
    if (*row != FR_NONE)
        return FR_OK;
    return fr__fail(err, FR_EPARSE, loc, "no op has the id '%.200s'%s", id,
                    fr__did_you_mean(id, n->ids.keys, n->ids.n, hint, sizeof(hint)));
}

/* "id:1" is output 1 of op id. */
static enum fr_status resolve_alias(struct fr__native *n, const struct fr__native_alias *a,
                                    struct fr_error *err)
{
    const char *colon = strrchr(a->target, ':');
    struct fr__item index = {colon ? colon + 1 : "", colon ? strlen(colon + 1) : 0, a->loc};
    const struct fr__native_row *row;
    uint32_t r;
    uint64_t k;
    char *id;

    if (!colon)
        return fr__fail(err, FR_EPARSE, a->loc,
                        "'alias' is \"%.100s\", not an id, ':' and the "
                        "number of an output",
                        a->target);
    FR_TRY(item_count(&index, FR__COL_ALIAS, MAX_OUTPUTS, &k, err));
    id = fr__arena_strndup(n->arena, a->target, (size_t)(colon - a->target));
    if (!id)
        return fr__fail_nomem(err);
    FR_TRY(fr__native_find(n, id, a->loc, &r, err));
    row = &n->rows[r];
    if (k >= row->n_outputs)
        return fr__fail(err, FR_ERANGE, a->loc, "'alias' is \"%.100s\", but that op has %u outputs",
                        a->target, row->n_outputs);
    n->outputs[a->output].alias = row->first_output + (uint32_t)k;
    return FR_OK;
}

/* Op `row` uses the parameters of the op that the item names. */
static enum fr_status tie(struct fr__native *n, uint32_t row, const struct fr__item *it,
                          struct fr_error *err)
{
    char *id = fr__arena_strndup(n->arena, it->text, it->len);
    const struct fr_op *user = &n->rows[row].op, *owner;
    uint32_t r;

    if (!id)
        return fr__fail_nomem(err);
    FR_TRY(fr__native_find(n, id, it->loc, &r, err));
    owner = &n->rows[r].op;
    if (user->phase != FR_PHASE_FORWARD || owner->phase != FR_PHASE_FORWARD || r == row)
        return fr__fail(err, FR_EPARSE, it->loc,
                        "'tied_to' ties '%.100s' to '%.100s', but only a forward op can use the "
                        "parameters of another forward op",
                        user->name, owner->name);
    if (owner->param_bytes == 0)
        return fr__fail(err, FR_EPARSE, it->loc,
                        "'tied_to' names op '%.100s', which owns no parameters", owner->name);
    fr_graph_builder_tie(n->b, r, row);
    return FR_OK;
}

static enum fr_status resolve_ties(struct fr__native *n, uint32_t row, struct fr_error *err)
{
    const struct fr__native_row *r = &n->rows[row];
    struct fr__item at = fr__first_item(r->tied_to, r->tied_to_loc);

    for (uint32_t i = fr__n_items(r->tied_to); i > 0; i--) {
        struct fr__item it = fr__next_item(&at);

        FR_TRY(tie(n, row, &it, err));
    }
    return FR_OK;
}

enum fr_status fr__native_read_ops(struct fr__native *n, const char *path, struct fr_error *err)
{
    FR_TRY(fr__csv_read(path, fr__op_columns, read_op, n, err));
    for (size_t i = 0; i < n->n_rows; i++) {
        struct fr__native_row *row = &n->rows[i];

        if (row->forward)
            FR_TRY(fr__native_find(n, row->forward, row->forward_loc, &row->op.forward, err));
        if (row->forward && row->op.phase <= FR_PHASE_FORWARD && row->op.forward != i)
            return fr__fail(err, FR_EPARSE, row->forward_loc,
                            "'forward' of a forward op is \"%.100s\", not the op itself",
                            row->forward);
        if (row->tied_to)
            FR_TRY(resolve_ties(n, (uint32_t)i, err));
    }
    for (size_t i = 0; i < n->n_aliases; i++)
        FR_TRY(resolve_alias(n, &n->aliases[i], err));
    return FR_OK;
}
