/* papers/runner/runner.c - makes a paper's tables of what its YAML says (runner.h). */
#include "config.h"

#include "base/cancel.h"
#include "papers/runner/runner.h"

#include "base/file.h"
#include "base/names.h"
#include "papers/parts/build.h"
#include "papers/runner/asks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 10000,
    MOST_COLUMNS = 32,
    MOST_EACH = 4,
    MOST_SETTINGS = 24,
    MOST_WORDS = 10000000
};

struct kept {
    const char *key;
    const struct fr__field *fields;
};

struct runner {
    struct fr__repro *b;
    struct fr__formula_context formulas;
    const struct fr__yaml *root, *table;
    const char *data;
    const struct fr__ask_named *ways;
    struct kept *kept; /* answers, by what was asked */
    size_t n_kept, cap_kept;
};

/* ---- what the file says ---- */

static enum fr_status get_text(const struct fr__yaml *map, const char *key, const char *fallback,
                               const char **out, struct fr_error *err)
{
    struct fr_loc loc;

    return fr__yaml_text(map, key, fallback, out, &loc, err);
}

/* A table of that name above `before`, or NULL. */
static const struct fr__yaml *find_table(const struct fr__yaml *root, const char *name,
                                         const struct fr__yaml *before)
{
    const struct fr__yaml *tables = fr__yaml_get(root, "tables"), *t;

    for (size_t i = 0; i < tables->n && (t = tables->items[i]) != before; i++)
        if (strcmp(fr__yaml_get(t, "name")->text, name) == 0)
            return t;
    return NULL;
}

/* What a table says under a key, or the one that it is like, or NULL. */
static const struct fr__yaml *said(const struct runner *r, const struct fr__yaml *table,
                                   const char *key)
{
    const struct fr__yaml *like, *node = NULL;

    while (table && !node) {
        node = fr__yaml_get(table, key);
        like = fr__yaml_get(table, "like");
        table = like && like->text ? find_table(r->root, like->text, table) : NULL;
    }
    return node;
}

static enum fr_status check_strings(const struct fr__yaml *list, size_t most, const char *what,
                                    struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, what, err));
    if (list->n == 0 || list->n > most)
        return fr__fail(err, FR_ERANGE, list->loc, "%s has %zu items, expected 1 to %zu", what,
                        list->n, most);
    for (size_t i = 0; i < list->n; i++)
        FR_TRY(fr__yaml_expect(list->items[i], FR__YAML_SCALAR, what, err));
    return FR_OK;
}

static enum fr_status check_list(const struct fr__yaml *list, struct fr_error *err)
{
    static const char *const known[] = {"given", "rows", NULL};
    const struct fr__yaml *given, *rows;

    FR_TRY(fr__yaml_expect(list, FR__YAML_MAP, "a list of rows", err));
    FR_TRY(fr__yaml_only(list, known, err));
    given = fr__yaml_get(list, "given");
    rows = fr__yaml_get(list, "rows");
    if (!given || !rows)
        return fr__fail(err, FR_EPARSE, list->loc, "'given' and 'rows' are expected");
    FR_TRY(check_strings(given, MOST_COLUMNS, "'given'", err));
    FR_TRY(fr__yaml_expect(rows, FR__YAML_LIST, "'rows'", err));
    for (size_t i = 0; i < rows->n; i++) {
        FR_TRY(fr__yaml_expect(rows->items[i], FR__YAML_LIST, "a row", err));
        if (rows->items[i]->n != given->n)
            return fr__fail(err, FR_EPARSE, rows->items[i]->loc,
                            "a row has %zu values, expected %zu", rows->items[i]->n, given->n);
    }
    return FR_OK;
}

static enum fr_status check_map(const struct fr__yaml *map, const char *key,
                                const struct fr__yaml **out, struct fr_error *err)
{
    *out = fr__yaml_get(map, key);
    return *out ? fr__yaml_expect(*out, FR__YAML_MAP, key, err) : FR_OK;
}

static enum fr_status check_asks(const struct fr__yaml *map, struct fr_error *err)
{
    const struct fr__yaml *asks, *formulas;

    FR_TRY(check_map(map, "let", &formulas, err));
    FR_TRY(check_map(map, "ask", &asks, err));
    for (size_t i = 0; asks && i < asks->n; i++) {
        FR_TRY(fr__yaml_expect(asks->items[i], FR__YAML_MAP, "what is asked", err));
        if (asks->items[i]->n > MOST_SETTINGS)
            return fr__fail(err, FR_ERANGE, asks->items[i]->loc, "more than %d settings",
                            (int)MOST_SETTINGS);
    }
    return FR_OK;
}

static enum fr_status check_table(const struct runner *r, const struct fr__yaml *t,
                                  struct fr_error *err)
{
    static const char *const known[] = {"name", "title",   "published",  "like",  "each", "let",
                                        "ask",  "columns", "draws_over", "found", NULL};
    const struct fr__yaml *node;
    const char *text;

    FR_TRY(fr__yaml_only(t, known, err));
    FR_TRY(get_text(t, "title", NULL, &text, err));
    FR_TRY(get_text(t, "published", NULL, &text, err));
    FR_TRY(check_asks(t, err));
    node = fr__yaml_get(t, "like");
    if (node && (!node->text || !find_table(r->root, node->text, t)))
        return fr__fail(err, FR_ENOENT, node->loc, "no table '%.40s' above",
                        node->text ? node->text : "");
    node = said(r, t, "each");
    if (!node)
        return fr__fail(err, FR_EPARSE, t->loc, "'each' is missing");
    FR_TRY(check_strings(node, MOST_EACH, "'each'", err));
    node = said(r, t, "columns");
    if (!node)
        return fr__fail(err, FR_EPARSE, t->loc, "'columns' are missing");
    FR_TRY(fr__yaml_expect(node, FR__YAML_LIST, "'columns'", err));
    return node->n == 0 || node->n > MOST_COLUMNS
               ? fr__fail(err, FR_ERANGE, node->loc, "expected 1 to %d columns", (int)MOST_COLUMNS)
               : FR_OK;
}

static enum fr_status check_root(const struct runner *r, struct fr_error *err)
{
    static const char *const known[] = {"name",    "summary", "source",   "reference",
                                        "setting", "data",    "lists",    "let",
                                        "ask",     "tables",  "pictures", NULL};
    const struct fr__yaml *lists, *tables;

    FR_TRY(fr__yaml_expect(r->root, FR__YAML_MAP, "a paper's experiments", err));
    FR_TRY(fr__yaml_only(r->root, known, err));
    FR_TRY(check_asks(r->root, err));
    FR_TRY(check_map(r->root, "lists", &lists, err));
    for (size_t i = 0; lists && i < lists->n; i++)
        FR_TRY(check_list(lists->items[i], err));
    tables = fr__yaml_get(r->root, "tables");
    if (!tables)
        return fr__fail(err, FR_EPARSE, r->root->loc, "'tables' is missing");
    FR_TRY(fr__yaml_expect(tables, FR__YAML_LIST, "'tables'", err));
    for (size_t i = 0; i < tables->n; i++) {
        const char *name;

        FR_TRY(fr__yaml_expect(tables->items[i], FR__YAML_MAP, "a table", err));
        FR_TRY(get_text(tables->items[i], "name", NULL, &name, err));
    }
    for (size_t i = 0; i < tables->n; i++)
        FR_TRY(check_table(r, tables->items[i], err));
    return FR_OK;
}

/* ---- rows ---- */

static enum fr_status find_list(const struct runner *r, const char *name, struct fr_loc loc,
                                const struct fr__yaml **out, struct fr_error *err)
{
    const struct fr__yaml *lists = fr__yaml_get(r->root, "lists");

    *out = lists ? fr__yaml_get(lists, name) : NULL;
    return *out ? FR_OK : fr__fail(err, FR_ENOENT, loc, "no list '%.40s'", name);
}

struct over {
    const struct fr__yaml *lists[MOST_EACH];
    size_t n;
    enum fr_status (*use)(void *what, const struct fr__scope *scope, struct fr_error *err);
    void *what;
};

/* Every row of list k, and below each one those of the lists after it. */
static enum fr_status over_rows(const struct over *o, size_t k, const struct fr__scope *up,
                                struct fr_error *err)
{
    struct fr__scope scope = {.up = up, .number = 0};

    if (k == o->n)
        return o->use(o->what, up, err);
    scope.list = o->lists[k];
    for (; scope.row < fr__yaml_get(scope.list, "rows")->n; scope.row++)
        FR_TRY(over_rows(o, k + 1, &scope, err));
    return FR_OK;
}

static enum fr_status
each(void *user, const char *list, struct fr_loc loc, const struct fr__scope *scope,
     enum fr_status (*use)(void *what, const struct fr__scope *scope, struct fr_error *err),
     void *what, struct fr_error *err)
{
    const struct runner *r = user;
    struct over o = {.n = 1, .use = use, .what = what};
    const struct fr__yaml *names = list ? NULL : said(r, r->table, "each");

    if (list)
        FR_TRY(find_list(r, list, loc, &o.lists[0], err));
    for (o.n = list ? 1 : 0; names && o.n < names->n; o.n++)
        FR_TRY(find_list(r, names->items[o.n]->text, names->items[o.n]->loc, &o.lists[o.n], err));
    return over_rows(&o, 0, scope, err);
}

static enum fr_status count_row(void *what, const struct fr__scope *scope, struct fr_error *err)
{
    size_t *n = what;

    (void)scope;
    return ++*n > MOST_ROWS
               ? fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %d rows", (int)MOST_ROWS)
               : FR_OK;
}

/* ---- names ---- */

/* What was asked, as text. */
static enum fr_status key_of(const struct runner *r, const char *way, const struct fr__ask *a,
                             const char **out, struct fr_error *err)
{
    size_t size = strlen(way) + 1, used;
    char *key;

    for (size_t i = 0; i < a->n; i++)
        size += strlen(a->names[i]) + strlen(a->values[i]) + 2;
    key = fr__arena_alloc(r->formulas.arena, size, 1);
    if (!key)
        return fr__fail_nomem(err);
    used = (size_t)snprintf(key, size, "%s", way);
    for (size_t i = 0; i < a->n; i++)
        used += (size_t)snprintf(key + used, size - used, "|%s=%s", a->names[i], a->values[i]);
    *out = key;
    return FR_OK;
}

static enum fr_status ask_first(struct runner *r, fr__ask_way *way, const struct fr__ask *a,
                                struct kept *k, struct fr_error *err)
{
    if (a->ctx && fr__flag_is_set(a->ctx->cancel))
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    FR_TRY(way(a, &k->fields, err));
    if (!fr__grow(&r->kept, &r->cap_kept, r->n_kept + 1, sizeof(*r->kept)))
        return fr__fail_nomem(err);
    r->kept[r->n_kept++] = *k;
    return FR_OK;
}

/* "": a question. NULL: there is no such way. */
static fr__ask_way *find_way(const struct runner *r, const char *name)
{
    for (const struct fr__ask_named *w = r->ways; w->name; w++)
        if (strcmp(w->name, name) == 0)
            return w->way;
    return name[0] ? NULL : fr__ask_question;
}

/* Asks what a map says, unless the same was asked before. */
static enum fr_status ask(struct runner *r, const struct fr__yaml *map,
                          const struct fr__scope *scope, struct fr__value *out,
                          struct fr_error *err)
{
    const char *names[MOST_SETTINGS], *values[MOST_SETTINGS], *by = "";
    struct fr__ask a = {.arena = r->formulas.arena,
                        .names = names,
                        .values = values,
                        .data = r->data,
                        .ctx = fr__repro_context(r->b),
                        .session = fr__repro_session(r->b),
                        .loc = map->loc};
    fr__ask_way *way;
    struct kept k;

    for (size_t i = 0; i < map->n; i++)
        if (strcmp(map->items[i]->key, "by") == 0)
            FR_TRY(get_text(map, "by", NULL, &by, err));
        else {
            names[a.n] = map->items[i]->key;
            FR_TRY(fr__formula_text(&r->formulas, map->items[i], scope, &values[a.n++], err));
        }
    way = find_way(r, by);
    if (!way)
        return fr__fail(err, FR_ENOENT, map->loc, "nothing is asked by '%.40s'", by);
    FR_TRY(key_of(r, by, &a, &k.key, err));
    *out = (struct fr__value){.number = NAN};
    for (size_t i = 0; i < r->n_kept && !out->fields; i++)
        if (strcmp(r->kept[i].key, k.key) == 0)
            out->fields = r->kept[i].fields;
    if (out->fields)
        return FR_OK;
    FR_TRY(ask_first(r, way, &a, &k, err));
    out->fields = k.fields;
    return FR_OK;
}

/* A name of `let` or `ask`, of the table at hand or of all. */
static enum fr_status find(void *user, const char *name, struct fr_loc loc,
                           const struct fr__scope *scope, struct fr__value *out,
                           struct fr_error *err)
{
    struct runner *r = user;
    const struct fr__yaml *in[4], *node;

    in[0] = said(r, r->table, "let");
    in[1] = said(r, r->table, "ask");
    in[2] = fr__yaml_get(r->root, "let");
    in[3] = fr__yaml_get(r->root, "ask");
    for (unsigned i = 0; i < 4; i++) {
        node = in[i] ? fr__yaml_get(in[i], name) : NULL;
        if (node && i % 2)
            return ask(r, node, scope, out, err);
        if (node)
            return fr__formula(&r->formulas, node, scope, out, err);
    }
    return fr__fail(err, FR_ENOENT, loc, "nothing is named '%.40s'", name);
}

/* ---- tables ---- */

static const char *const unit_names[] = {
    [FR_UNIT_TEXT] = "text",         [FR_UNIT_COUNT] = "count", [FR_UNIT_SECONDS] = "seconds",
    [FR_UNIT_FRACTION] = "fraction", [FR_UNIT_BYTES] = "bytes", [FR_UNIT_TIMES] = "times"};
static const struct fr__name_list units = FR__NAMES(unit_names);

static enum fr_status read_column(struct fr_repro_column *c, const struct fr__yaml *map,
                                  struct fr_error *err)
{
    static const char *const known[] = {"key", "title", "unit", "is", NULL};
    const char *unit, *formula;
    struct fr_loc loc;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "a column", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(get_text(map, "key", NULL, &c->name, err));
    FR_TRY(get_text(map, "title", c->name, &c->title, err));
    FR_TRY(get_text(map, "is", c->name, &formula, err));
    FR_TRY(fr__yaml_text(map, "unit", NULL, &unit, &loc, err));
    c->unit = (enum fr_unit)fr__name_parse(&units, unit);
    return (unsigned)c->unit < units.n
               ? FR_OK
               : fr__fail(err, FR_EPARSE, loc, "no unit '%.40s' of a column", unit);
}

static enum fr_status make_cell(struct runner *r, const struct fr__yaml *column, enum fr_unit unit,
                                const struct fr__scope *scope, struct fr_repro_cell *cell,
                                struct fr_error *err)
{
    const struct fr__yaml *is = fr__yaml_get(column, "is");
    struct fr__value v;

    FR_TRY(fr__formula(&r->formulas, is ? is : fr__yaml_get(column, "key"), scope, &v, err));
    if (unit == FR_UNIT_TEXT)
        *cell = (struct fr_repro_cell){.text = v.text ? v.text : "", .value = NAN};
    else
        *cell = (struct fr_repro_cell){.text = isnan(v.number) ? v.text : NULL, .value = v.number};
    return FR_OK;
}

static enum fr_status add_row(void *what, const struct fr__scope *scope, struct fr_error *err)
{
    struct runner *r = what;
    const struct fr__yaml *columns = said(r, r->table, "columns");
    struct fr_repro_cell cells[MOST_COLUMNS];

    for (size_t i = 0; i < columns->n; i++) {
        struct fr_repro_column c;

        FR_TRY(read_column(&c, columns->items[i], err));
        FR_TRY(make_cell(r, columns->items[i], c.unit, scope, &cells[i], err));
    }
    return fr__repro_row(r->b, cells, err);
}

static enum fr_status make_table(struct runner *r, struct fr_error *err)
{
    const struct fr__yaml *columns = said(r, r->table, "columns");
    const struct fr__yaml *found = said(r, r->table, "found");
    struct fr_repro_column *c = fr__arena_alloc(r->formulas.arena, columns->n, sizeof(*c));
    const char *name, *title, *published, *text, *base;

    if (!c)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < columns->n; i++)
        FR_TRY(read_column(&c[i], columns->items[i], err));
    FR_TRY(get_text(r->table, "name", NULL, &name, err));
    FR_TRY(get_text(r->table, "title", NULL, &title, err));
    FR_TRY(get_text(r->table, "published", NULL, &published, err));
    FR_TRY(get_text(r->table, "draws_over", "", &base, err));
    FR_TRY(fr__repro_begin(r->b, name, title, published, c, columns->n, err));
    if (base[0])
        fr__repro_draws_over(r->b, base);
    FR_TRY(each(r, NULL, r->table->loc, NULL, add_row, r, err));
    if (!found)
        return FR_OK;
    FR_TRY(fr__formula_text(&r->formulas, found, NULL, &text, err));
    fr__repro_found(r->b, text);
    return FR_OK;
}

static enum fr_status make_tables(struct runner *r, struct fr_error *err)
{
    const struct fr__yaml *tables;
    size_t n_rows = 0;

    FR_TRY(check_root(r, err));
    tables = fr__yaml_get(r->root, "tables");
    for (size_t i = 0; i < tables->n; i++) {
        r->table = tables->items[i];
        FR_TRY(each(r, NULL, r->table->loc, NULL, count_row, &n_rows, err));
    }
    fr__repro_expect(r->b, n_rows);
    for (size_t i = 0; i < tables->n; i++) {
        r->table = tables->items[i];
        FR_TRY(make_table(r, err));
    }
    return FR_OK;
}

/* What the head of the file says. */
static enum fr_status read_head(struct runner *r, struct fr_error *err)
{
    const char *name, *source, *setting, *data;

    FR_TRY(fr__yaml_expect(r->root, FR__YAML_MAP, "a paper's experiments", err));
    FR_TRY(get_text(r->root, "name", NULL, &name, err));
    FR_TRY(get_text(r->root, "source", NULL, &source, err));
    FR_TRY(get_text(r->root, "reference", source, &source, err));
    FR_TRY(get_text(r->root, "setting", NULL, &setting, err));
    FR_TRY(get_text(r->root, "data", "", &data, err));
    if (r->data && !data[0])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' takes no folder of data", name);
    if (r->data && !fr__is_folder(r->data))
        return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no folder '%.200s' of profiles", r->data);
    fr__repro_head(r->b, name, source, setting);
    return FR_OK;
}

enum fr_status fr__paper_run(struct fr_reproduction **out, const struct fr__paper_file *file,
                             const char *data, const struct fr_context *ctx, struct fr_error *err)
{
    struct runner r = {
        .b = fr__repro_new(file->name, "", "", ctx), .data = data, .ways = file->ways};
    enum fr_status st;

    if (!r.b)
        return fr__fail_nomem(err);
    r.formulas = (struct fr__formula_context){.arena = fr__repro_arena(r.b),
                                              .user = &r,
                                              .find = find,
                                              .each = each,
                                              .n_left = MOST_WORDS};
    st = fr__yaml_load_text(r.formulas.arena, file->text, file->len, file->name, &r.root, err);
    if (st == FR_OK)
        st = read_head(&r, err);
    if (st == FR_OK)
        st = make_tables(&r, err);
    free(r.kept);
    return fr__repro_finish(r.b, st, out);
}
