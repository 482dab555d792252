/* papers/parts/build.c - the tables of a paper's experiments, built row by row. */
#include "config.h"

#include "papers/parts/build.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/session/session.h"

#include <stdlib.h>
#include <string.h>

struct fr__repro {
    struct fr_reproduction made; /* first: priv leads back here */
    struct fr__arena *arena;
    struct fr_repro_table *tables;
    struct fr_repro_cell *cells; /* of the present table, then moved to the arena */
    size_t n_rows, n_rows_expected;
    size_t cap_tables, n_cells, cap_cells;
    struct fr_session *session; /* keeps no answers: who asks keeps what tables need */
    const struct fr_context *ctx;
};

struct fr__repro *fr__repro_new(const char *paper, const char *source, const char *setting,
                                const struct fr_context *ctx)
{
    const struct fr_session_options no_answers = {.answer_bytes = 0};
    struct fr__repro *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->arena = fr__arena_new();
    b->session = fr_session_new(&no_answers);
    if (!b->arena || !b->session) {
        fr__arena_free(b->arena);
        fr_session_free(b->session);
        free(b);
        return NULL;
    }
    b->made = (struct fr_reproduction){.paper = paper, .source = source, .setting = setting};
    b->ctx = ctx;
    return b;
}

void fr_reproduction_free(struct fr_reproduction *r)
{
    struct fr__repro *b = r ? r->priv : NULL;

    if (!b)
        return;
    fr__arena_free(b->arena);
    fr_session_free(b->session);
    free(b->tables);
    free(b->cells);
    free(b);
}

void fr__repro_head(struct fr__repro *b, const char *paper, const char *source, const char *setting)
{
    b->made.paper = paper;
    b->made.source = source;
    b->made.setting = setting;
}

struct fr__arena *fr__repro_arena(struct fr__repro *b)
{
    return b->arena;
}

struct fr_session *fr__repro_session(struct fr__repro *b)
{
    return b->session;
}

const struct fr_context *fr__repro_context(const struct fr__repro *b)
{
    return b->ctx;
}

void fr__repro_expect(struct fr__repro *b, size_t n_rows)
{
    b->n_rows_expected = n_rows;
}

static void show_progress(const struct fr__repro *b)
{
    if (b->ctx && b->ctx->progress && b->n_rows_expected)
        b->ctx->progress(b->ctx->progress_user, "rows", b->n_rows, b->n_rows_expected);
}

/* ---- tables ---- */

/* The present table's cells go where they stay. */
static enum fr_status close_table(struct fr__repro *b, struct fr_error *err)
{
    struct fr_repro_table *t = b->made.n_tables ? &b->tables[b->made.n_tables - 1] : NULL;
    struct fr_repro_cell *cells;

    if (!t || t->cells)
        return FR_OK;
    cells = fr__arena_alloc(b->arena, b->n_cells + 1, sizeof(*cells));
    if (!cells)
        return fr__fail_nomem(err);
    if (b->n_cells)
        memcpy(cells, b->cells, b->n_cells * sizeof(*cells));
    t->cells = cells;
    t->n_rows = b->n_cells / t->n_columns;
    return FR_OK;
}

enum fr_status fr__repro_begin(struct fr__repro *b, const char *name, const char *title,
                               const char *published, const struct fr_repro_column columns[],
                               size_t n, struct fr_error *err)
{
    FR_TRY(close_table(b, err));
    if (!fr__grow(&b->tables, &b->cap_tables, b->made.n_tables + 1, sizeof(*b->tables)))
        return fr__fail_nomem(err);
    b->tables[b->made.n_tables++] = (struct fr_repro_table){
        .name = name, .title = title, .published = published, .columns = columns, .n_columns = n};
    b->n_cells = 0;
    return FR_OK;
}

enum fr_status fr__repro_row(struct fr__repro *b, const struct fr_repro_cell cells[],
                             struct fr_error *err)
{
    size_t n = b->tables[b->made.n_tables - 1].n_columns;

    if (!fr__grow(&b->cells, &b->cap_cells, b->n_cells + n, sizeof(*b->cells)))
        return fr__fail_nomem(err);
    memcpy(b->cells + b->n_cells, cells, n * sizeof(*cells));
    b->n_cells += n;
    b->n_rows++;
    show_progress(b);
    return FR_OK;
}

void fr__repro_draws_over(struct fr__repro *b, const char *column)
{
    b->tables[b->made.n_tables - 1].base = column;
}

void fr__repro_found(struct fr__repro *b, const char *text)
{
    b->tables[b->made.n_tables - 1].found = text;
}

enum fr_status fr__repro_finish(struct fr__repro *b, enum fr_status st,
                                struct fr_reproduction **out)
{
    if (st == FR_OK)
        st = close_table(b, NULL);
    b->made.tables = b->tables;
    b->made.priv = b;
    if (st == FR_OK)
        *out = &b->made;
    else
        fr_reproduction_free(&b->made);
    return st;
}
