/* base/facts/compile.c - a program of the build: tables of facts in YAML as C, on standard output.
 *
 *     compile [SCHEMA.schema.yaml FILE.yaml...]... SCHEMA.schema.yaml FILE.yaml...
 *
 * Prints the table of the last schema; those before it are read for the names of their rows.
 *
 * Facts with sources are data (topo/devices, topo/machines, ...). A run would spend its time on
 * parsing them, so the build checks them and makes constant tables. The files are read by the same
 * parsers that read a user's (base/yaml, base/units), so that a number is the same double in both.
 * A schema says what a row is, key by key (doc/extending.md):
 *
 *     table: device type         what messages and other tables call a row
 *     include: topo/internal.h   declares the next two
 *     array: const struct fr_device_type fr__device_types
 *     count: fr__n_device_types
 *     rows: gpus                 the list of rows in a file; without it a file is one row
 *     stem: true                 a row's name is its file's
 *     index: FR__CLASS_          a row stands at the number of this and its name in capitals
 *     text: .text                member for the file itself, as text; other keys may be in it then
 *     like: OTHER.schema.yaml    its fields, instead of
 *     fields:
 *       KEY: {to: .MEMBER, is: KIND, of: .., optional: true, sourced: true, if: [KEY, WORD]}
 *
 * A key inside a map is written with dots, "flops.fp32". KIND is name, text, count, number, hex,
 * bytes, rate, flops, time, power, choice (of: {WORD: C}) or row (of: the name of a table before
 * this one). A quantity may have factors behind it, "25GB/s * 0.96". A list gives an array. A
 * sourced value needs a remark behind it. `if`: the key may be left out of other rows.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/yaml.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_FIELDS = 48,
    MOST_TABLES = 8,
    MOST_ROWS = 512,
    MOST_BYTES = 1 << 20,
    MOST_COLUMNS = 100
};

enum kind { NAME, TEXT, COUNT, NUMBER, HEX, BYTES, RATE, FLOPS, TIME, POWER, CHOICE, ROW, N_KINDS };
static const char *const kind_names[N_KINDS] = {"name", "text",  "count",  "number",
                                                "hex",  "bytes", "rate",   "flops",
                                                "time", "power", "choice", "row"};

struct field {
    const char *key, *to; /* to: NULL: only checked */
    enum kind kind;
    const struct fr__yaml *of; /* choice: its words; row: the table's name */
    bool is_optional, is_sourced;
    const char *if_key, *if_word; /* NULL: in all rows */
};

struct table {
    const char *name, *include, *array, *count, *rows, *text, *stem, *index;
    struct field fields[MOST_FIELDS];
    size_t n_fields;
    const char *names[MOST_ROWS]; /* of its rows */
    size_t n_rows;
};

struct run {
    struct fr__arena *arena;
    struct table tables[MOST_TABLES];
    size_t n_tables;
    const char *text; /* of the file at hand */
    FILE *out;
};

/* ---- schemas ---- */

static enum fr_status read_optional(const struct fr__yaml *map, const char *key, const char **out,
                                    struct fr_error *err)
{
    struct fr_loc loc;

    *out = NULL;
    return fr__yaml_get(map, key) ? fr__yaml_text(map, key, NULL, out, &loc, err) : FR_OK;
}

static enum fr_status read_field(struct field *f, const struct fr__yaml *map, struct fr_error *err)
{
    static const char *const known[] = {"to", "is", "of", "optional", "sourced", "if", NULL};
    const struct fr__yaml *condition;
    const char *kind;
    struct fr_loc loc;
    unsigned k = 0;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, map->key, err));
    FR_TRY(fr__yaml_only(map, known, err));
    *f = (struct field){.key = map->key, .of = fr__yaml_get(map, "of")};
    FR_TRY(read_optional(map, "to", &f->to, err));
    FR_TRY(fr__yaml_text(map, "is", NULL, &kind, &loc, err));
    while (k < N_KINDS && strcmp(kind_names[k], kind) != 0)
        k++;
    if (k == N_KINDS || (k >= CHOICE) != (f->of != NULL))
        return fr__fail(err, FR_EPARSE, loc, "no kind '%s' like this", kind);
    f->kind = (enum kind)k;
    f->is_optional = fr__yaml_get(map, "optional") != NULL;
    f->is_sourced = fr__yaml_get(map, "sourced") != NULL;
    condition = fr__yaml_get(map, "if");
    if (condition && (condition->n != 2 || !condition->items[1]->text))
        return fr__fail(err, FR_EPARSE, condition->loc, "'if' is no [key, word]");
    f->if_key = condition ? condition->items[0]->text : NULL;
    f->if_word = condition ? condition->items[1]->text : NULL;
    return FR_OK;
}

static enum fr_status read_schema(struct run *r, const struct fr__yaml *root, struct fr_error *err)
{
    static const char *const known[] = {"table", "include", "array", "count", "rows", "stem",
                                        "text",  "fields",  "like",  "index", NULL};
    const struct fr__yaml *fields = root;
    const char *like;
    struct table *t = &r->tables[r->n_tables];
    struct fr_loc loc;

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a schema", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(fr__yaml_text(root, "table", NULL, &t->name, &loc, err));
    FR_TRY(fr__yaml_text(root, "include", NULL, &t->include, &loc, err));
    FR_TRY(fr__yaml_text(root, "array", NULL, &t->array, &loc, err));
    FR_TRY(fr__yaml_text(root, "count", NULL, &t->count, &loc, err));
    FR_TRY(read_optional(root, "rows", &t->rows, err));
    FR_TRY(read_optional(root, "stem", &t->stem, err));
    FR_TRY(read_optional(root, "text", &t->text, err));
    FR_TRY(read_optional(root, "index", &t->index, err));
    FR_TRY(read_optional(root, "like", &like, err));
    if (like)
        FR_TRY(fr__yaml_load(r->arena, like, &fields, err));
    fields = fr__yaml_get(fields, "fields");
    if (!fields || fields->kind != FR__YAML_MAP || fields->n > MOST_FIELDS)
        return fr__fail(err, FR_EPARSE, root->loc, "'fields' is no map of at most %d",
                        (int)MOST_FIELDS);
    for (; t->n_fields < fields->n; t->n_fields++)
        FR_TRY(read_field(&t->fields[t->n_fields], fields->items[t->n_fields], err));
    r->n_tables++;
    return FR_OK;
}

/* ---- values ---- */

static void put_quoted(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', f);
        putc(*text, f);
    }
    putc('"', f);
}

static void put_double(FILE *f, double x)
{
    char text[40];

    fr__format_double(x, text, sizeof(text));
    fprintf(f, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static enum fr_status parse_first(enum kind kind, const char *text, const char *what,
                                  struct fr_loc loc, double *out, struct fr_error *err)
{
    bool is_minus = kind == NUMBER && text[0] == '-';

    switch (kind) {
    case RATE:
        return fr__parse_rate(text, what, loc, out, err);
    case FLOPS:
        return fr__parse_flops_rate(text, what, loc, out, err);
    case TIME:
        return fr__parse_time(text, what, loc, out, err);
    case POWER:
        return fr__parse_power(text, what, loc, out, err);
    default:
        FR_TRY(fr__parse_number(text + is_minus, what, loc, 0, 1e300, out, err));
        *out = is_minus ? -*out : *out;
        return FR_OK;
    }
}

/* "25GB/s * 0.96", from left to right. */
static enum fr_status put_quantity(struct run *r, enum kind kind, const char *text,
                                   const char *what, struct fr_loc loc, struct fr_error *err)
{
    double value = 0, factor;
    char piece[64], by = '\0';

    for (const char *next = text; next; text = next) {
        const char *times = strstr(text, " * "), *over = strstr(text, " / ");

        next = times && (!over || times < over) ? times : over;
        if (snprintf(piece, sizeof(piece), "%.*s", (int)(next ? (size_t)(next - text) : 63),
                     text) >= (int)sizeof(piece) - 1)
            return fr__fail(err, FR_EPARSE, loc, "%s is too long", what);
        if (by)
            FR_TRY(fr__parse_number(piece, what, loc, 0, 1e300, &factor, err));
        else
            FR_TRY(parse_first(kind, piece, what, loc, &factor, err));
        value = by == '*' ? value * factor : by == '/' ? value / factor : factor;
        if (next) {
            by = next[1];
            next += 3;
        }
    }
    put_double(r->out, value);
    return FR_OK;
}

static enum fr_status put_whole(struct run *r, enum kind kind, const char *text, const char *what,
                                struct fr_loc loc, struct fr_error *err)
{
    uint64_t n;

    if (kind == BYTES) {
        FR_TRY(fr__parse_bytes(text, what, loc, &n, err));
        if (n == 0)
            return fr__fail(err, FR_ERANGE, loc, "%s is 0", what);
        fprintf(r->out, "UINT64_C(%" PRIu64 ")", n);
        return FR_OK;
    }
    if (kind == HEX) {
        if (strncmp(text, "0x", 2) != 0 || strlen(text) > 10 ||
            strspn(text + 2, "0123456789abcdef") != strlen(text) - 2 || !text[2])
            return fr__fail(err, FR_EPARSE, loc, "%s is \"%s\", expected digits like 0x20b2", what,
                            text);
        fputs(text, r->out);
        return FR_OK;
    }
    FR_TRY(fr__parse_count(text, what, loc, 0, UINT32_MAX, &n, err));
    fprintf(r->out, "%" PRIu64, n);
    return FR_OK;
}

static enum fr_status put_choice(struct run *r, const struct field *f, const struct fr__yaml *node,
                                 struct fr_error *err)
{
    const char *words[32];
    char hint[128];
    size_t n = 0;

    for (; n < f->of->n && n < 32; n++) {
        words[n] = f->of->items[n]->key;
        if (strcmp(words[n], node->text) == 0) {
            fputs(f->of->items[n]->text, r->out);
            return FR_OK;
        }
    }
    return fr__fail(err, FR_EPARSE, node->loc, "'%s' is \"%s\", which is not known%s", f->key,
                    node->text, fr__did_you_mean(node->text, words, n, hint, sizeof(hint)));
}

/* The address of the row that has this name in the table. */
static enum fr_status put_row(struct run *r, const struct field *f, const struct fr__yaml *node,
                              struct fr_error *err)
{
    char hint[128];

    for (size_t k = 0; k < r->n_tables; k++) {
        const struct table *t = &r->tables[k];

        if (strcmp(t->name, f->of->text) != 0)
            continue;
        for (size_t i = 0; i < t->n_rows; i++)
            if (strcmp(t->names[i], node->text) == 0) {
                fprintf(r->out, "&%s[%zu]", strrchr(t->array, ' ') + 1, i);
                return FR_OK;
            }
        return fr__fail(err, FR_ENOENT, node->loc, "no %s '%s'%s", t->name, node->text,
                        fr__did_you_mean(node->text, t->names, t->n_rows, hint, sizeof(hint)));
    }
    return fr__fail(err, FR_ENOENT, f->of->loc, "no table '%s'", f->of->text);
}

static bool is_name(const char *text)
{
    return text[0] && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-")] == '\0';
}

static enum fr_status put_value(struct run *r, const struct field *f, const struct fr__yaml *node,
                                struct fr_error *err)
{
    char what[64];

    if (node->kind == FR__YAML_LIST) {
        putc('{', r->out);
        for (size_t i = 0; i < node->n; i++) {
            fputs(i ? ", " : "", r->out);
            FR_TRY(put_value(r, f, node->items[i], err));
        }
        putc('}', r->out);
        return FR_OK;
    }
    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, f->key, err));
    snprintf(what, sizeof(what), "'%s'", f->key);
    if (f->kind == CHOICE)
        return put_choice(r, f, node, err);
    if (f->kind == ROW)
        return put_row(r, f, node, err);
    if (f->kind == COUNT || f->kind == HEX || f->kind == BYTES)
        return put_whole(r, f->kind, node->text, what, node->loc, err);
    if (f->kind != NAME && f->kind != TEXT)
        return put_quantity(r, f->kind, node->text, what, node->loc, err);
    if (f->kind == NAME ? !is_name(node->text) : !node->text[0])
        return fr__fail(err, FR_EPARSE, node->loc, "%s is \"%s\"", what, node->text);
    put_quoted(r->out, node->text);
    return FR_OK;
}

/* ---- rows ---- */

/* The value under "flops.fp32", or NULL. */
static const struct fr__yaml *value_at(const struct fr__yaml *map, const char *key)
{
    char part[64];
    size_t n = strcspn(key, ".");

    snprintf(part, sizeof(part), "%.*s", (int)n, key);
    map = map->kind == FR__YAML_MAP ? fr__yaml_get(map, part) : NULL;
    return map && key[n] ? value_at(map, key + n + 1) : map;
}

static const struct field *field_of(const struct table *t, const char *key)
{
    for (size_t i = 0; i < t->n_fields; i++)
        if (strcmp(t->fields[i].key, key) == 0)
            return &t->fields[i];
    return NULL;
}

static enum fr_status check_keys(const struct table *t, const struct fr__yaml *map,
                                 const char *before, struct fr_error *err)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct fr__yaml *node = map->items[i];
        char key[64];

        snprintf(key, sizeof(key), "%s%s%s", before, *before ? "." : "", node->key);
        if (node->kind == FR__YAML_MAP && node->n > 0)
            FR_TRY(check_keys(t, node, key, err));
        else if (!field_of(t, key))
            return fr__fail(err, FR_EPARSE, node->key_loc, "no key '%s'", key);
    }
    return FR_OK;
}

/* Whether there is a remark at the end of that line. */
static bool has_source(const char *text, unsigned line)
{
    while (--line > 0)
        text = strchr(text, '\n') + 1;
    for (; *text && *text != '\n'; text++)
        if (strncmp(text, " # ", 3) == 0)
            return true;
    return false;
}

static enum fr_status put_field(struct run *r, const struct field *f, const struct fr__yaml *row,
                                struct fr_error *err)
{
    const struct fr__yaml *node = value_at(row, f->key);
    const struct fr__yaml *other = f->if_key ? value_at(row, f->if_key) : NULL;

    if (!node && (f->is_optional ||
                  (f->if_key && !(other && other->text && strcmp(other->text, f->if_word) == 0))))
        return FR_OK;
    if (!node)
        return fr__fail(err, FR_EPARSE, row->loc, "'%s' is missing", f->key);
    if (f->is_sourced && !has_source(r->text, node->loc.line))
        return fr__fail(err, FR_EPARSE, node->loc, "'%s' has no source behind it (# ...)", f->key);
    if (!f->to)
        return FR_OK;
    fprintf(r->out, "        %s = ", f->to);
    FR_TRY(put_value(r, f, node, err));
    fputs(",\n", r->out);
    return FR_OK;
}

static enum fr_status add_name(struct table *t, const struct fr__yaml *row, const char *path,
                               struct fr_error *err)
{
    const char *stem = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const struct fr__yaml *name = value_at(row, t->fields[0].key);

    if (!name || name->kind != FR__YAML_SCALAR)
        return fr__fail(err, FR_EPARSE, row->loc, "'%s' is missing", t->fields[0].key);
    if (t->stem && (strncmp(stem, name->text, strlen(name->text)) != 0 ||
                    strcmp(stem + strlen(name->text), ".yaml") != 0))
        return fr__fail(err, FR_EPARSE, name->loc, "the %s is named \"%s\", the file is not",
                        t->name, name->text);
    for (size_t i = 0; i < t->n_rows; i++)
        if (strcmp(t->names[i], name->text) == 0)
            return fr__fail(err, FR_EPARSE, name->loc, "two rows are named \"%s\"", name->text);
    if (t->n_rows == MOST_ROWS)
        return fr__fail(err, FR_ERANGE, name->loc, "more than %d rows", (int)MOST_ROWS);
    t->names[t->n_rows++] = name->text;
    return FR_OK;
}

static void put_index(FILE *f, const char *before, const char *name)
{
    fprintf(f, "[%s", before);
    for (; *name; name++)
        putc(*name == '-' ? '_' : toupper((unsigned char)*name), f);
    fputs("] = ", f);
}

static enum fr_status put_one(struct run *r, struct table *t, const struct fr__yaml *row,
                              const char *path, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(row, FR__YAML_MAP, "a row", err));
    if (!t->text)
        FR_TRY(check_keys(t, row, "", err));
    FR_TRY(add_name(t, row, path, err));
    fputs("    ", r->out);
    if (t->index)
        put_index(r->out, t->index, t->names[t->n_rows - 1]);
    fputs("{\n", r->out);
    for (size_t i = 0; i < t->n_fields; i++)
        FR_TRY(put_field(r, &t->fields[i], row, err));
    if (t->text)
        fprintf(r->out, "        %s = text_%zu,\n", t->text, t->n_rows - 1);
    fputs("    },\n", r->out);
    return FR_OK;
}

/* Plain characters, so that nothing is hidden in a source; lines as long as those of code. */
static enum fr_status check_text(const char *text, const char *path, struct fr_error *err)
{
    struct fr_loc loc = {.file = path, .line = 1, .col = 1};

    for (; *text; text++, loc.col++) {
        if ((*text < ' ' || *text > '~') && *text != '\n')
            return fr__fail(err, FR_EPARSE, loc, "a tab, or a character that is not ASCII");
        if (loc.col > MOST_COLUMNS + (*text == '\n'))
            return fr__fail(err, FR_EPARSE, loc, "more than %d characters", (int)MOST_COLUMNS);
        if (*text == '\n') {
            loc.line++;
            loc.col = 0;
        }
    }
    return FR_OK;
}

static void put_text(FILE *f, const char *text, size_t number)
{
    fprintf(f, "static const char text_%zu[] = {", number);
    for (size_t i = 0; i == 0 || text[i - 1]; i++)
        fprintf(f, "%s%d,", i % 20 ? " " : "\n    ", text[i]);
    fputs("\n};\n\n", f);
}

static enum fr_status put_file(struct run *r, struct table *t, const char *path, FILE *texts,
                               struct fr_error *err)
{
    const struct fr__yaml *root, *list;
    char *text;
    size_t n;

    FR_TRY(fr__read_file(path, MOST_BYTES, &text, &n, err));
    r->text = fr__arena_strdup(r->arena, text);
    free(text);
    if (!r->text)
        return fr__fail_nomem(err);
    FR_TRY(check_text(r->text, path, err));
    FR_TRY(fr__yaml_load_text(r->arena, r->text, n, path, &root, err));
    if (t->text)
        put_text(texts, r->text, t->n_rows);
    if (!t->rows)
        return put_one(r, t, root, path, err);
    list = root->kind == FR__YAML_MAP && root->n == 1 ? fr__yaml_get(root, t->rows) : NULL;
    if (!list || list->kind != FR__YAML_LIST)
        return fr__fail(err, FR_EPARSE, root->loc, "expected a list '%s' alone", t->rows);
    for (size_t i = 0; i < list->n; i++)
        FR_TRY(put_one(r, t, list->items[i], path, err));
    return FR_OK;
}

/* ---- all of it ---- */

static bool is_schema(const char *path)
{
    const char *at = strstr(path, ".schema.yaml");

    return at && at[strlen(".schema.yaml")] == '\0';
}

/* The table of one schema and the n files behind it. */
static enum fr_status put_table(struct run *r, char *const paths[], size_t n, bool is_last,
                                struct fr_error *err)
{
    const struct fr__yaml *root;
    struct table *t = &r->tables[r->n_tables];
    char *rows = NULL;
    size_t n_bytes;
    enum fr_status st = FR_OK;

    if (r->n_tables == MOST_TABLES)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %d schemas", (int)MOST_TABLES);
    FR_TRY(fr__yaml_load(r->arena, paths[0], &root, err));
    FR_TRY(read_schema(r, root, err));
    r->out = open_memstream(&rows, &n_bytes);
    if (!r->out)
        return fr__fail_nomem(err);
    if (is_last)
        printf("#include \"%s\"\n\n", t->include);
    for (size_t i = 1; st == FR_OK && i < n; i++)
        st = put_file(r, t, paths[i], is_last ? stdout : r->out, err);
    fclose(r->out);
    if (st == FR_OK && is_last)
        printf("%s[] = {\n%s};\n\nconst size_t %s = %zu;\n\n", t->array, rows, t->count, t->n_rows);
    free(rows);
    return st;
}

int main(int argc, char **argv)
{
    struct run r = {.arena = fr__arena_new()};
    struct fr_error err = {.code = FR_OK};
    enum fr_status st = r.arena ? FR_OK : fr__fail_nomem(&err);
    char text[1024];

    puts("/* Made by base/facts/compile from the YAML files of facts. */\n#include \"config.h\"\n");
    for (int i = 1, end; st == FR_OK && i < argc; i = end) {
        for (end = i + 1; end < argc && !is_schema(argv[end]);)
            end++;
        st = put_table(&r, argv + i, (size_t)(end - i), end == argc, &err);
    }
    if (st == FR_OK && fflush(stdout) != 0)
        st = fr__fail(&err, FR_EIO, FR_NOWHERE, "cannot write");
    if (st != FR_OK)
        fprintf(stderr, "%s\n", fr_error_string(&err, text, sizeof(text)));
    fr__arena_free(r.arena);
    return st == FR_OK ? 0 : 1;
}
