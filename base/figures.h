/* base/figures.h - figures of an answer. Each figure is described once, in the table of its kind of
 * object; JSON, CSV, stores and tables are loops over that table.
 *
 * A table is an array of struct fr_figure that ends with an empty one. Its order is that of JSON.
 * A figure is read from an object by the place of a member (FR_MEMBER), or by a function. A format
 * with an order of its own names keys: "mfu", or "seeds_mean_s=seeds.mean_s", a name and where the
 * figure is: behind a point stands a figure of an object. The unit is what the key ends with: _s,
 * _bytes, _per_s, _frac.
 */
#ifndef FR_BASE_FIGURES_H
#define FR_BASE_FIGURES_H

#include "base/json.h"

#include <stddef.h>

enum fr_figure_kind {
    FR_FIGURE_END,    /* of a table; of a value: there is none */
    FR_FIGURE_TEXT,   /* NULL: not known */
    FR_FIGURE_COUNT,  /* 32 or 64 bits */
    FR_FIGURE_NUMBER, /* not finite: not known */
    FR_FIGURE_FLAG,
    FR_FIGURE_GROUP,  /* figures that belong to the object around it */
    FR_FIGURE_OBJECT, /* an object inside */
    FR_FIGURE_LIST,   /* of objects; of values, where the table of an item has one without a key */
    FR_FIGURE_MAP     /* values by name */
};

enum { FR_VALUE_TEXT = 256, FR_FIGURE_CELL = 40 };

struct fr_value {
    enum fr_figure_kind kind;
    const char *text;
    uint64_t count; /* a flag's too: 0 or 1 */
    double number;
    char room[FR_VALUE_TEXT]; /* for a text that `of` writes */
};

/* Where an item that is no member is put together. */
union fr_item {
    const void *pointers[3];
    uint64_t count;
    double number;
};

struct fr_figure {
    const char *key;
    const char *title; /* over a column for people; NULL: it is in no table */
    enum fr_figure_kind kind;
    const char *from;    /* path in the object that this one is made from; NULL: not from there */
    bool is_optional;    /* JSON has no key where it is not known; else null */
    bool is_detail;      /* only JSON shows it */
    bool is_column;      /* JSON does not show it */
    bool is_quoted;      /* a text that CSV quotes whatever it holds */
    bool is_open;        /* object, list, map: a line in JSON for each thing inside */
    bool has_open_items; /* so has each item of a list */
    size_t offset, width;
    /* Fills the value, whose kind is set; *out is known. NULL: the member says it. */
    void (*of)(const void *object, struct fr_value *out);
    bool (*when)(const void *object);  /* false: JSON has no such key. NULL: always */
    bool (*known)(const void *object); /* false: null, an empty cell. NULL: always */

    /* Of groups, objects, lists and maps: what an item consists of, and where the items are. */
    const struct fr_figure *figures;
    bool is_pointer; /* the member points to the object or to the items; else it is them */
    size_t stride, n, n_offset, n_width; /* n items, or as many as the member of that width says */
    const void *(*item)(const void *object, size_t i, union fr_item *room); /* NULL: after them */
    const char *(*name)(const void *object, size_t i); /* a map's; NULL: it is left out */
};

#define FR_FIGURE_KIND(s, m)                                                                       \
    _Generic(((s *)0)->m, double                                                                   \
             : FR_FIGURE_NUMBER, bool                                                              \
             : FR_FIGURE_FLAG, const char *                                                        \
             : FR_FIGURE_TEXT, char *                                                              \
             : FR_FIGURE_TEXT, unsigned                                                            \
             : FR_FIGURE_COUNT, unsigned long                                                      \
             : FR_FIGURE_COUNT, unsigned long long                                                 \
             : FR_FIGURE_COUNT)
/* Initialisers: a member of struct s; an object in it; `count` items that it points to, on one line
 * (WORDS) or not; an array in it that holds as many; values by name in an array, all of it. */
#define FR_MEMBER(s, m)                                                                            \
    .kind = FR_FIGURE_KIND(s, m), .offset = offsetof(s, m), .width = sizeof(((s *)0)->m)
#define FR_INSIDE(s, m, f) .kind = FR_FIGURE_OBJECT, .offset = offsetof(s, m), .figures = (f)
#define FR_WORDS(s, m, count, f)                                                                   \
    .kind = FR_FIGURE_LIST, .offset = offsetof(s, m), .figures = (f), .is_pointer = true,          \
    .stride = sizeof(*((s *)0)->m), .n_offset = offsetof(s, count),                                \
    .n_width = sizeof(((s *)0)->count)
#define FR_ITEMS(s, m, count, f) FR_WORDS(s, m, count, f), .is_open = true
#define FR_ARRAY(s, m, count, f)                                                                   \
    .kind = FR_FIGURE_LIST, .offset = offsetof(s, m), .figures = (f),                              \
    .stride = sizeof(((s *)0)->m[0]), .n_offset = offsetof(s, count),                              \
    .n_width = sizeof(((s *)0)->count), .is_open = true
#define FR_ARRAY_MAP(s, m, f, names)                                                               \
    .kind = FR_FIGURE_MAP, .offset = offsetof(s, m), .figures = (f),                               \
    .stride = sizeof(((s *)0)->m[0]), .n = sizeof(((s *)0)->m) / sizeof(((s *)0)->m[0]),           \
    .name = (names)
#define FR_NUMBER(function) .kind = FR_FIGURE_NUMBER, .of = (function)
#define FR_COUNT(function) .kind = FR_FIGURE_COUNT, .of = (function)
#define FR_FLAG(function) .kind = FR_FIGURE_FLAG, .of = (function)
#define FR_TEXT(function) .kind = FR_FIGURE_TEXT, .of = (function)
#define FR_DETAIL .is_detail = true
/* Functions: a condition, and the text, count or number of a value, by an expression of x, a const
 * struct s *. */
#define FR_CONDITION(function, s, x, expression)                                                   \
    static bool function(const void *object)                                                       \
    {                                                                                              \
        const s *x = object;                                                                       \
        return expression;                                                                         \
    }
#define FR_VALUE(function, s, x, member, expression)                                               \
    static void function(const void *object, struct fr_value *out)                                 \
    {                                                                                              \
        const s *x = object;                                                                       \
        out->member = expression;                                                                  \
    }
#define FR_END_OF_FIGURES                                                                          \
    {                                                                                              \
        .kind = FR_FIGURE_END                                                                      \
    }

/* Tables of one value without a key: texts, counts of 32 and of 64 bits, numbers. */
extern const struct fr_figure fr__values_text[2], fr__values_u32[2], fr__values_u64[2],
    fr__values_number[2];

/* ---- values ---- */

/* The figure with that key, also in groups; NULL: none. */
const struct fr_figure *fr__figure_find(const struct fr_figure *table, const char *key);
/* The figure at "key" or "object.key"; the table has it. *object becomes what it is read from;
 * object NULL: nobody asks. */
const struct fr_figure *fr__figure_by_path(const struct fr_figure *table, const char *path,
                                           const void **object);
/* Whatever the object has, also where it is not there or not known. */
void fr__figure_read(const struct fr_figure *f, const void *object, struct fr_value *out);
/* Of kind FR_FIGURE_END where it is not there or not known. */
void fr__figure_value(const struct fr_figure *f, const void *object, struct fr_value *out);
/* The value at "key" or "object.key"; the table has it. */
void fr__figure_at(const struct fr_figure *table, const char *path, const void *object,
                   struct fr_value *out);
/* Sets the member of a text, count or number; without a value to NULL, 0 or NAN. */
void fr__figure_set(const struct fr_figure *f, void *object, const struct fr_value *v);
/* As text, "" where there is none: numbers read back exactly, flags are 0 and 1. buf is for
 * numbers. */
const char *fr__value_text(const struct fr_value *v, char buf[FR_FIGURE_CELL]);

/* ---- JSON ---- */

/* All figures of the object, into the object that is open. */
void fr__figures_json(struct fr__json *j, const struct fr_figure *table, const void *object);
/* Those that keys name (NULL ends them), as an order of CSV does. */
void fr__figures_json_of(struct fr__json *j, const struct fr_figure *table,
                         const char *const keys[], const void *object);
/* The object alone, a line for each figure. */
void fr__figures_print_json(FILE *f, const struct fr_figure *table, const void *object);

/* ---- CSV ---- */

/* The columns: those of order[] first (NULL ends it), then every value of the table and its groups
 * that order does not name and that is no detail. Neither writes an end of line. */
void fr__figures_csv_names(FILE *f, const struct fr_figure *table, const char *const order[]);
void fr__figures_csv(FILE *f, const struct fr_figure *table, const char *const order[],
                     const void *object);
#endif
