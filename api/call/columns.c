/* api/call/columns.c - the answer as columns, from its JSON: whatever figures a kind of answer has,
 * its writer names them once, and they are columns here without a line more.
 */
#include "config.h"

#include "api/call/reply.h"
#include "base/json_read.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAME = 200 };

struct column {
    const char *name;
    enum fr_column_type type;
    double *numbers;    /* [rows] */
    const char **texts; /* [rows]; one of the two */
};

struct table {
    const char *name;
    const struct fr__json_value *rows; /* the first object */
    size_t n_rows;
    struct column *columns;
    size_t n_columns, cap;
    struct table *next;
};

struct fr__columns {
    struct fr__arena *arena;
    struct table *first, **last;
    bool has_room; /* memory was enough */
};

/* "before.key"; NULL: out of memory. */
static const char *join(struct fr__columns *c, const char *before, const char *key)
{
    char name[MOST_NAME];

    snprintf(name, sizeof(name), "%s%s%s", before, before[0] ? "." : "", key);
    return fr__arena_strdup(c->arena, name);
}

/* ---- columns ---- */

static bool is_text(const struct fr__json_value *v)
{
    return v->kind == FR__JSON_STRING;
}

/* The column of that name, made if it is not there; NULL: out of memory. */
static struct column *column_of(struct fr__columns *c, struct table *t, const char *name,
                                size_t *guess)
{
    struct column *columns;

    if (*guess < t->n_columns && strcmp(t->columns[*guess].name, name) == 0)
        return &t->columns[(*guess)++]; /* rows have the same members in the same order */
    for (size_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0) {
            *guess = i + 1;
            return &t->columns[i];
        }
    if (t->n_columns == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 32;
        columns = fr__arena_alloc(c->arena, t->cap, sizeof(*columns));
        if (!columns)
            return NULL;
        if (t->n_columns > 0)
            memcpy(columns, t->columns, t->n_columns * sizeof(*columns));
        t->columns = columns;
    }
    t->columns[t->n_columns] = (struct column){.name = fr__arena_strdup(c->arena, name)};
    *guess = t->n_columns + 1;
    return t->columns[t->n_columns].name ? &t->columns[t->n_columns++] : NULL;
}

/* The column's array for its type; false: out of memory. What stood there stays missing. */
static bool make_room(struct fr__columns *c, const struct table *t, struct column *column,
                      bool is_of_texts)
{
    if (is_of_texts && !column->texts) {
        column->type = FR_COLUMN_TEXTS;
        column->texts = fr__arena_alloc(c->arena, t->n_rows, sizeof(*column->texts));
    } else if (!is_of_texts && !column->numbers) {
        column->numbers = fr__arena_alloc(c->arena, t->n_rows, sizeof(*column->numbers));
        for (size_t i = 0; column->numbers && i < t->n_rows; i++)
            column->numbers[i] = NAN;
    }
    return is_of_texts ? column->texts != NULL : column->numbers != NULL;
}

/* A number in a column of texts stays missing, and a column with a text is one of texts. */
static void put(struct fr__columns *c, struct table *t, const char *name, size_t row, size_t *guess,
                const struct fr__json_value *v)
{
    struct column *column = column_of(c, t, name, guess);
    const char *end;

    if (column && v->kind == FR__JSON_NULL) /* of which type shows in another row */
        return;
    if (!column || !make_room(c, t, column, is_text(v)))
        c->has_room = false;
    else if (is_text(v))
        column->texts[row] = v->text;
    else
        column->numbers[row] =
            v->kind == FR__JSON_NUMBER ? fr__strtod(v->text, &end) : v->kind == FR__JSON_TRUE;
}

/* ---- tables ---- */

static void add_row(struct fr__columns *c, struct table *t, const struct fr__json_value *of,
                    const char *before, size_t row, size_t *guess)
{
    for (const struct fr__json_value *m = of->first; m && c->has_room; m = m->next) {
        const char *name = m->kind == FR__JSON_ARRAY ? m->key : join(c, before, m->key);

        if (!name)
            c->has_room = false;
        else if (m->kind == FR__JSON_OBJECT)
            add_row(c, t, m, name, row, guess);
        else if (m->kind != FR__JSON_ARRAY)
            put(c, t, name, row, guess, m);
    }
}

static void add_table(struct fr__columns *c, const char *name, const struct fr__json_value *first,
                      size_t n_rows)
{
    struct table *t = fr__arena_alloc(c->arena, 1, sizeof(*t));
    size_t row = 0;

    if (!t) {
        c->has_room = false;
        return;
    }
    *t = (struct table){.name = name, .rows = first, .n_rows = n_rows};
    *c->last = t;
    c->last = &t->next;
    for (const struct fr__json_value *v = first; v && row < n_rows; v = v->next) {
        size_t guess = 0;

        add_row(c, t, v, "", row++, &guess);
    }
    for (size_t i = 0; c->has_room && i < t->n_columns; i++) /* null in every row */
        if (!t->columns[i].texts)
            c->has_room = make_room(c, t, &t->columns[i], false);
}

static bool is_table(const struct fr__json_value *v)
{
    const struct fr__json_value *m = v->first;

    while (m && m->kind == FR__JSON_OBJECT)
        m = m->next;
    return v->kind == FR__JSON_ARRAY && v->n > 0 && !m;
}

/* The arrays of objects in an object, also in objects in it. */
static void add_tables(struct fr__columns *c, const struct fr__json_value *of, const char *before)
{
    for (const struct fr__json_value *m = of->first; m && c->has_room; m = m->next) {
        const char *name;

        if (m->kind != FR__JSON_OBJECT && !is_table(m))
            continue;
        name = join(c, before, m->key);
        if (!name)
            c->has_room = false;
        else if (m->kind == FR__JSON_OBJECT)
            add_tables(c, m, name);
        else
            add_table(c, name, m->first, m->n);
    }
}

static void read_all(struct fr__columns *c, const struct fr__json_value *top)
{
    c->has_room = true;
    c->last = &c->first;
    if (is_table(top)) {
        add_table(c, "", top->first, top->n);
    } else if (top->kind == FR__JSON_OBJECT) {
        add_table(c, "", top, 1);
        add_tables(c, top, "");
    }
}

void fr__columns_free(struct fr__columns *c)
{
    if (c)
        fr__arena_free(c->arena);
}

/* NULL: there is none. */
static const struct fr__columns *columns_of(struct fr_reply *reply)
{
    struct fr__arena *a;
    const struct fr__json_value *top;

    if (reply->has_read || !reply->is_json)
        return reply->columns;
    reply->has_read = true;
    a = fr__arena_new();
    if (!a)
        return NULL;
    if (fr__json_read(a, reply->text, reply->length, NULL, &top, NULL) == FR_OK)
        reply->columns = fr__arena_alloc(a, 1, sizeof(*reply->columns));
    if (reply->columns) {
        reply->columns->arena = a;
        read_all(reply->columns, top);
        if (reply->columns->has_room)
            return reply->columns;
    }
    reply->columns = NULL;
    fr__arena_free(a);
    return NULL;
}

/* ---- what a program asks ---- */

static const struct table *table_at(struct fr_reply *reply, size_t table)
{
    const struct fr__columns *c = columns_of(reply);
    const struct table *t = c ? c->first : NULL;

    while (t && table-- > 0)
        t = t->next;
    return t;
}

static const struct column *column_at(struct fr_reply *reply, size_t table, size_t column)
{
    const struct table *t = table_at(reply, table);

    return t && column < t->n_columns ? &t->columns[column] : NULL;
}

size_t fr_reply_n_tables(struct fr_reply *reply)
{
    size_t n = 0;

    for (const struct table *t = table_at(reply, 0); t; t = t->next)
        n++;
    return n;
}

const char *fr_reply_table_name(struct fr_reply *reply, size_t table)
{
    const struct table *t = table_at(reply, table);

    return t ? t->name : NULL;
}

size_t fr_reply_n_rows(struct fr_reply *reply, size_t table)
{
    const struct table *t = table_at(reply, table);

    return t ? t->n_rows : 0;
}

size_t fr_reply_n_columns(struct fr_reply *reply, size_t table)
{
    const struct table *t = table_at(reply, table);

    return t ? t->n_columns : 0;
}

const char *fr_reply_column_name(struct fr_reply *reply, size_t table, size_t column)
{
    const struct column *c = column_at(reply, table, column);

    return c ? c->name : NULL;
}

enum fr_column_type fr_reply_column_type(struct fr_reply *reply, size_t table, size_t column)
{
    const struct column *c = column_at(reply, table, column);

    return c ? c->type : FR_COLUMN_NUMBERS;
}

const double *fr_reply_numbers(struct fr_reply *reply, size_t table, size_t column)
{
    const struct column *c = column_at(reply, table, column);

    return c && c->type == FR_COLUMN_NUMBERS ? c->numbers : NULL;
}

const char *const *fr_reply_texts(struct fr_reply *reply, size_t table, size_t column)
{
    const struct column *c = column_at(reply, table, column);

    return c && c->type == FR_COLUMN_TEXTS ? c->texts : NULL;
}
