/* base/figures.c - reads figures as their tables say, and writes them as JSON and as CSV.
 *
 * It is separate because every kind of answer is written by these same loops.
 */
#include "config.h"

#include "base/figures.h"

#include "base/csv.h"
#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct fr_figure fr__values_text[2] = {
    {.kind = FR_FIGURE_TEXT, .width = sizeof(const char *)}, FR_END_OF_FIGURES};
const struct fr_figure fr__values_u32[2] = {{.kind = FR_FIGURE_COUNT, .width = sizeof(uint32_t)},
                                            FR_END_OF_FIGURES};
const struct fr_figure fr__values_u64[2] = {{.kind = FR_FIGURE_COUNT, .width = sizeof(uint64_t)},
                                            FR_END_OF_FIGURES};
const struct fr_figure fr__values_number[2] = {{.kind = FR_FIGURE_NUMBER, .width = sizeof(double)},
                                               FR_END_OF_FIGURES};

/* ---- values ---- */

static const void *at(const void *object, size_t offset)
{
    return (const char *)object + offset;
}

static bool is_value(const struct fr_figure *f)
{
    return f->kind >= FR_FIGURE_TEXT && f->kind <= FR_FIGURE_FLAG;
}

/* A group that is read from the object around it. */
static bool is_part(const struct fr_figure *f)
{
    return f->kind == FR_FIGURE_GROUP && !f->is_pointer && f->offset == 0;
}

static uint64_t count_at(const void *place, size_t width)
{
    assert(width == sizeof(uint32_t) || width == sizeof(uint64_t));
    return width == sizeof(uint32_t) ? *(const uint32_t *)place : *(const uint64_t *)place;
}

/* The object that a group or an object consists of; NULL: there is none. */
static const void *inside(const struct fr_figure *f, const void *object)
{
    const void *place = at(object, f->offset);

    return f->is_pointer ? *(const void *const *)place : place;
}

const struct fr_figure *fr__figure_find(const struct fr_figure *table, const char *key)
{
    const struct fr_figure *found;

    for (const struct fr_figure *f = table; f->kind != FR_FIGURE_END; f++) {
        if (f->key && f->key[0] == key[0] && strcmp(f->key, key) == 0)
            return f;
        if (is_part(f) && (found = fr__figure_find(f->figures, key)))
            return found;
    }
    return NULL;
}

static const struct fr_figure *find_first(const struct fr_figure *table, const char *path)
{
    char key[64];

    snprintf(key, sizeof(key), "%.*s", (int)strcspn(path, "."), path);
    return fr__figure_find(table, key);
}

const struct fr_figure *fr__figure_by_path(const struct fr_figure *table, const char *path,
                                           const void **object)
{
    const struct fr_figure *f = find_first(table, path);
    const char *point = strchr(path, '.');

    assert(f);
    if (!point)
        return f;
    if (object)
        *object = inside(f, *object);
    return fr__figure_by_path(f->figures, point + 1, object);
}

void fr__figure_read(const struct fr_figure *f, const void *object, struct fr_value *out)
{
    const void *place = at(object, f->offset);

    assert(is_value(f));
    out->kind = f->kind;
    if (f->of)
        f->of(object, out);
    else if (f->kind == FR_FIGURE_TEXT)
        out->text = *(const char *const *)place;
    else if (f->kind == FR_FIGURE_NUMBER)
        out->number = *(const double *)place;
    else if (f->kind == FR_FIGURE_FLAG)
        out->count = *(const bool *)place;
    else
        out->count = count_at(place, f->width);
}

void fr__figure_value(const struct fr_figure *f, const void *object, struct fr_value *out)
{
    out->kind = FR_FIGURE_END;
    if ((f->when && !f->when(object)) || (f->known && !f->known(object)))
        return;
    fr__figure_read(f, object, out);
    if ((out->kind == FR_FIGURE_TEXT && !out->text) ||
        (out->kind == FR_FIGURE_NUMBER && !isfinite(out->number)))
        out->kind = FR_FIGURE_END;
}

void fr__figure_at(const struct fr_figure *table, const char *path, const void *object,
                   struct fr_value *out)
{
    const struct fr_figure *f = find_first(table, path);
    const char *point = strchr(path, '.');

    assert(f && (point ? f->kind == FR_FIGURE_OBJECT : is_value(f)));
    if (!point)
        fr__figure_value(f, object, out);
    else if ((f->when && !f->when(object)) || !inside(f, object))
        out->kind = FR_FIGURE_END;
    else
        fr__figure_at(f->figures, point + 1, inside(f, object), out);
}

void fr__figure_set(const struct fr_figure *f, void *object, const struct fr_value *v)
{
    void *place = (char *)object + f->offset;
    bool is_known = v->kind != FR_FIGURE_END;

    assert(!f->of && (!is_known || v->kind == f->kind));
    if (f->kind == FR_FIGURE_TEXT)
        *(const char **)place = is_known ? v->text : NULL;
    else if (f->kind == FR_FIGURE_NUMBER)
        *(double *)place = is_known ? v->number : NAN;
    else if (f->width == sizeof(uint64_t))
        *(uint64_t *)place = is_known ? v->count : 0;
    else
        *(uint32_t *)place = is_known ? (uint32_t)v->count : 0;
}

const char *fr__value_text(const struct fr_value *v, char buf[FR_FIGURE_CELL])
{
    switch (v->kind) {
    case FR_FIGURE_TEXT:
        return v->text;
    case FR_FIGURE_COUNT:
    case FR_FIGURE_FLAG:
        snprintf(buf, FR_FIGURE_CELL, "%" PRIu64, v->count);
        return buf;
    case FR_FIGURE_NUMBER:
        return fr__format_double(v->number, buf, FR_FIGURE_CELL);
    default:
        return "";
    }
}

/* ---- JSON ---- */

static void write_value(struct fr__json *j, const char *key, const struct fr_figure *f,
                        const void *object)
{
    struct fr_value v;

    fr__figure_value(f, object, &v);
    if (v.kind == FR_FIGURE_TEXT)
        fr__json_string(j, key, v.text);
    else if (v.kind == FR_FIGURE_COUNT)
        fr__json_count(j, key, v.count);
    else if (v.kind == FR_FIGURE_NUMBER)
        fr__json_number(j, key, v.number);
    else if (v.kind == FR_FIGURE_FLAG)
        fr__json_bool(j, key, v.count != 0);
    else if (!f->is_optional)
        fr__json_null(j, key);
}

/* Item i; NULL: there are no more. */
static const void *item_of(const struct fr_figure *f, const void *object, size_t i,
                           union fr_item *room)
{
    size_t n = f->n_width ? (size_t)count_at(at(object, f->n_offset), f->n_width) : f->n;

    if (f->item)
        return f->item(object, i, room);
    return i < n ? at(inside(f, object), i * f->stride) : NULL;
}

static void write_items(struct fr__json *j, const struct fr_figure *f, const void *object)
{
    bool has_values = !f->figures->key && is_value(f->figures);
    union fr_item room;
    const void *item;

    for (size_t i = 0; (item = item_of(f, object, i, &room)); i++) {
        const char *name = f->name ? f->name(object, i) : NULL;

        if (f->name && !name)
            continue;
        if (has_values) {
            write_value(j, name, f->figures, item);
            continue;
        }
        fr__json_open(j, name, '{', !f->has_open_items);
        fr__figures_json(j, f->figures, item);
        fr__json_close(j, '}');
    }
}

static void write_figure(struct fr__json *j, const struct fr_figure *f, const void *object)
{
    const void *whole;

    switch (f->kind) {
    case FR_FIGURE_GROUP:
    case FR_FIGURE_OBJECT:
        whole = inside(f, object);
        if (!whole)
            return;
        if (f->kind == FR_FIGURE_OBJECT)
            fr__json_open(j, f->key, '{', !f->is_open);
        fr__figures_json(j, f->figures, whole);
        if (f->kind == FR_FIGURE_OBJECT)
            fr__json_close(j, '}');
        return;
    case FR_FIGURE_LIST:
    case FR_FIGURE_MAP:
        fr__json_open(j, f->key, f->kind == FR_FIGURE_MAP ? '{' : '[', !f->is_open);
        write_items(j, f, object);
        fr__json_close(j, f->kind == FR_FIGURE_MAP ? '}' : ']');
        return;
    default:
        write_value(j, f->key, f, object);
    }
}

void fr__figures_json(struct fr__json *j, const struct fr_figure *table, const void *object)
{
    for (const struct fr_figure *f = table; f->kind != FR_FIGURE_END; f++)
        if (!f->is_column && (!f->when || f->when(object)))
            write_figure(j, f, object);
}

void fr__figures_json_of(struct fr__json *j, const struct fr_figure *table,
                         const char *const keys[], const void *object)
{
    for (size_t i = 0; keys[i]; i++) {
        const char *path = strchr(keys[i], '=');
        char name[64];

        snprintf(name, sizeof(name), "%.*s", (int)strcspn(keys[i], "="), keys[i]);
        write_value(j, name, fr__figure_find(table, path ? path + 1 : name), object);
    }
}

void fr__figures_print_json(FILE *f, const struct fr_figure *table, const void *object)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__figures_json(&j, table, object);
    fr__json_close(&j, '}');
}

/* ---- CSV ---- */

static bool is_named(const char *const order[], const char *key)
{
    for (; *order; order++) {
        const char *path = strchr(*order, '=');

        if (strcmp(path ? path + 1 : *order, key) == 0)
            return true;
    }
    return false;
}

static void put_comma(FILE *f, bool *is_first)
{
    if (!*is_first)
        putc(',', f);
    *is_first = false;
}

static void write_cell(FILE *f, const struct fr_value *v, bool is_quoted)
{
    char buf[FR_FIGURE_CELL];
    const char *text = fr__value_text(v, buf);

    if (is_quoted)
        fr__csv_write_quoted(f, text);
    else
        fr__csv_write_cell(f, text);
}

/* The columns that order does not name: their cells, or without an object their names. */
static void write_rest(FILE *f, const struct fr_figure *table, const char *const order[],
                       const void *object, bool *is_first)
{
    for (const struct fr_figure *x = table; x->kind != FR_FIGURE_END; x++) {
        struct fr_value v;

        if (is_part(x) && !x->is_detail)
            write_rest(f, x->figures, order, object, is_first);
        if (!is_value(x) || x->is_detail || is_named(order, x->key))
            continue;
        put_comma(f, is_first);
        if (!object) {
            fputs(x->key, f);
            continue;
        }
        fr__figure_value(x, object, &v);
        write_cell(f, &v, x->is_quoted);
    }
}

void fr__figures_csv_names(FILE *f, const struct fr_figure *table, const char *const order[])
{
    bool is_first = true;

    for (size_t i = 0; order[i]; i++) {
        put_comma(f, &is_first);
        fprintf(f, "%.*s", (int)strcspn(order[i], "="), order[i]);
    }
    write_rest(f, table, order, NULL, &is_first);
}

void fr__figures_csv(FILE *f, const struct fr_figure *table, const char *const order[],
                     const void *object)
{
    bool is_first = true;

    for (size_t i = 0; order[i]; i++) {
        const char *path = strchr(order[i], '=');
        const struct fr_figure *x;
        struct fr_value v;

        path = path ? path + 1 : order[i];
        x = fr__figure_find(table, path);
        fr__figure_at(table, path, object, &v);
        put_comma(f, &is_first);
        write_cell(f, &v, x && x->is_quoted);
    }
    write_rest(f, table, order, object, &is_first);
}
