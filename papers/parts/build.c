/* papers/parts/build.c - the questions and tables of a paper's experiments: asks each question
 * once, adds rows to tables. */
#include "config.h"

#include "papers/parts/build.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/answer/learn.h"
#include "study/session/session.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct asked {
    const char *key;
    struct fr__repro_answer *answer; /* of the arena: it stays where it is */
};

struct fr__repro {
    struct fr_reproduction made; /* first: priv leads back here */
    struct fr__arena *arena;
    struct fr_repro_table *tables;
    struct fr_repro_cell *cells; /* of the present table, then moved to the arena */
    struct asked *asked;
    size_t n_rows, n_rows_expected;
    size_t cap_tables, n_cells, cap_cells, n_asked, cap_asked;
    struct fr_session *session; /* keeps no answers: of each, `asked` has what tables need */
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
    free(b->asked);
    free(b);
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

/* ---- questions ---- */

/* Adds a kind of op to a list of words, once. */
static void add_kind(char *list, size_t n, const char *kind)
{
    size_t used = strlen(list);

    if (!strstr(list, kind))
        snprintf(list + used, n - used, "%s%s", used ? " " : "", kind);
}

static bool keep_splits(struct fr__repro *b, struct fr__repro_answer *a, const struct fr_record *r)
{
    const struct fr_decisions *d = r->decisions;
    const struct fr_graph *g = fr_plan_user_graph(r->plan);
    char kinds[200] = "", first[200] = "";

    for (size_t i = 0; i < d->n_splits; i++) {
        const struct fr_decided_split *split = &d->splits[i];

        if (split->user_op != FR_NONE)
            add_kind(kinds, sizeof(kinds), fr_op_kind_name(g->ops[split->user_op].kind));
        if (i == 0)
            snprintf(first, sizeof(first), "%s in %u (%s)", split->op, split->n, split->dim);
    }
    a->split_kinds = fr__arena_strdup(b->arena, kinds);
    a->most_split = fr__arena_strdup(b->arena, first);
    return a->split_kinds && a->most_split;
}

static bool keep_planned(struct fr__repro *b, struct fr__repro_answer *a, const struct fr_record *r)
{
    const struct fr_decisions *decisions = r->decisions;
    const struct fr_decided_plan *p = decisions ? fr_decisions_plan(decisions) : NULL;
    size_t *ops_on;

    a->split_kinds = a->most_split = a->own_rule = "";
    if (!p)
        return true;
    ops_on = fr__arena_alloc(b->arena, r->n_gpus, sizeof(*ops_on));
    if (!ops_on)
        return false;
    for (size_t i = 0; i < p->n_ops; i++)
        for (size_t d = 0; d < r->n_gpus; d++)
            ops_on[d] += r->devices[d].device == decisions->devices[p->ops[i].device].device;
    a->ops_on = ops_on;
    a->planned_s = decisions->believed_s;
    a->n_ops = p->n_ops;
    a->n_splits = decisions->n_splits;
    a->keeps_replicas = decisions->keeps_replicas;
    a->own_rule = "";
    if (decisions->own_s > 0)
        a->own_rule = fr__arena_strdup(b->arena, decisions->rule);
    if (!a->own_rule)
        return false;
    return keep_splits(b, a, r);
}

static enum fr_status answer(struct fr__repro *b, const struct fr_question *q,
                             struct fr__repro_answer *a, struct fr_error *err)
{
    struct fr_record *r;
    enum fr_status st = fr_session_ask(b->session, q, b->ctx, &r, err);

    *a = (struct fr__repro_answer){
        .planned_s = NAN, .own_rule = "", .split_kinds = "", .most_split = ""};
    if (st == FR_ENOROOM) {
        a->oom = true;
        a->iteration_s = a->compute_s = a->comm_s = a->exposed_comm_s = a->plan_cpu_s = NAN;
        return FR_OK;
    }
    FR_TRY(st);
    a->oom = r->oom;
    a->iteration_s = r->oom ? (double)NAN : r->iteration_s;
    a->compute_s = r->compute_s;
    a->comm_s = r->comm_s;
    a->exposed_comm_s = r->exposed_comm_s;
    a->plan_cpu_s = r->plan_cpu_s;
    a->peak_bytes = r->peak_bytes;
    st = keep_planned(b, a, r) ? FR_OK : fr__fail_nomem(err);
    fr_record_free(r);
    return st;
}

static struct fr__repro_answer *find(const struct fr__repro *b, const char *key)
{
    for (size_t i = 0; i < b->n_asked; i++)
        if (strcmp(b->asked[i].key, key) == 0)
            return b->asked[i].answer;
    return NULL;
}

static enum fr_status ask_first(struct fr__repro *b, const struct fr_question *q, const char *key,
                                const struct fr__repro_answer **out, struct fr_error *err)
{
    struct asked a;

    if (b->ctx && b->ctx->cancel && *b->ctx->cancel)
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    if (!fr__grow(&b->asked, &b->cap_asked, b->n_asked + 1, sizeof(*b->asked)))
        return fr__fail_nomem(err);
    a.key = fr__arena_strdup(b->arena, key);
    a.answer = fr__arena_alloc(b->arena, 1, sizeof(*a.answer));
    if (!a.key || !a.answer)
        return fr__fail_nomem(err);
    FR_TRY(answer(b, q, a.answer, err));
    b->asked[b->n_asked++] = a;
    *out = a.answer;
    return FR_OK;
}

enum fr_status fr__repro_ask(struct fr__repro *b, const struct fr_question *q,
                             const struct fr__repro_answer **out, struct fr_error *err)
{
    char *key = fr_question_key(q);
    enum fr_status st = FR_OK;

    if (!key)
        return fr__fail_nomem(err);
    *out = find(b, key);
    if (!*out)
        st = ask_first(b, q, key, out, err);
    free(key);
    return st;
}

enum fr_status fr__repro_learn(struct fr__repro *b, const struct fr_question *q, uint32_t rounds,
                               struct fr__repro_learned *out, struct fr_error *err)
{
    struct fr_context quiet = b->ctx ? *b->ctx : (struct fr_context){0};
    struct fr_learn_options o;
    struct fr_learning *l;
    enum fr_status st;

    quiet.progress = NULL; /* the experiments' own is shown */
    fr_learn_options_init(&o);
    o.rounds = rounds;
    *out = (struct fr__repro_learned){.iteration_s = INFINITY, .is_first = true};
    st = fr_learn(&l, q, &o, &quiet, err);
    if (st == FR_ENOROOM)
        return FR_OK;
    FR_TRY(st);
    out->iteration_s = l->in_use_s;
    out->n_rounds = l->n_rounds - 1;
    out->n_splits = l->n_splits;
    out->is_first = l->n_rounds == 0 || l->rounds[l->n_rounds - 1].in_use == 0;
    out->has_converged = l->has_converged;
    fr_learning_free(l);
    return FR_OK;
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

const char *fr__repro_text(struct fr__repro *b, const char *text)
{
    return fr__arena_strdup(b->arena, text);
}

enum fr_status fr__repro_found(struct fr__repro *b, struct fr_error *err, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    b->tables[b->made.n_tables - 1].found = fr__arena_strdup(b->arena, text);
    return b->tables[b->made.n_tables - 1].found ? FR_OK : fr__fail_nomem(err);
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
