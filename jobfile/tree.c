/* jobfile/tree.c - the arguments of a YAML, JSON or TOML file: its keys, with dots between those
 * of maps in each other, and their values as text.
 *
 * Two forms. In Megatron's functional tests the keys under MODEL_ARGS are arguments of its command
 * line. Others are trees, whose framework is the one that knows most of the keys. "${key}" and
 * "${multiply:a,${key}}" are replaced as OmegaConf does (Hydra's files and llm-foundry's); "$NAME"
 * under MODEL_ARGS is a variable that the user may give.
 */
#include "config.h"

#include "base/yaml.h"
#include "jobfile/read.h"
#include "jobfile/toml.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16, NAME = 256, LEAST_KNOWN = 3 };

struct tree {
    struct fr_job *j;
    const struct fr__shell_input *in;
    const struct fr__yaml *root;
    struct fr__job_list *to;
    struct fr_error *err;
};

/* ---- $NAME ---- */

static const char *given(const struct tree *t, const char *name)
{
    for (size_t i = 0; i < t->in->n_values; i++)
        if (strcmp(t->in->values[i].name, name) == 0)
            return t->in->values[i].value;
    return NULL;
}

/* The first variable in a value, or the whole value where it is given. */
static enum fr_status expand_variable(struct tree *t, const char **value, const char **unknown)
{
    const char *dollar = strchr(*value, '$'), *known;
    char name[NAME];
    size_t n = 0;

    if (!dollar)
        return FR_OK;
    for (dollar += 1 + (dollar[1] == '{'); isalnum((unsigned char)*dollar) || *dollar == '_';
         dollar++)
        if (n + 1 < sizeof(name))
            name[n++] = *dollar;
    name[n] = '\0';
    known = given(t, name);
    if (known && (*value)[0] == '$' && strcspn(dollar, "}") + 1 >= strlen(dollar)) {
        *value = known;
        return FR_OK;
    }
    *unknown = fr__arena_strdup(t->j->arena, name);
    return *unknown ? FR_OK : fr__fail_nomem(t->err);
}

/* ---- ${key} ---- */

/* The value at "a.b.c" below a map; NULL: none. */
static const struct fr__yaml *value_at(const struct fr__yaml *map, const char *path, size_t len)
{
    while (map && map->kind == FR__YAML_MAP && len > 0) {
        const char *dot = memchr(path, '.', len);
        size_t n = dot ? (size_t)(dot - path) : len;
        char key[NAME];

        if (n >= sizeof(key))
            return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        map = fr__yaml_get(map, key);
        len -= dot ? n + 1 : n;
        path += dot ? n + 1 : n;
    }
    return len == 0 ? map : NULL;
}

static const char *resolve(struct tree *t, const struct fr__yaml *parent, const char *text,
                           unsigned depth);

/* multiply:A,B,... of whole numbers; NULL: not one. */
static const char *product_of(struct tree *t, const struct fr__yaml *parent, const char *text,
                              unsigned depth)
{
    uint64_t product = 1;
    char piece[NAME], *out;

    while (*text) {
        const char *value;
        size_t n = 0, level = 0;

        for (; text[n] && (level > 0 || text[n] != ','); n++)
            level += (text[n] == '{') - (size_t)(text[n] == '}' && level > 0);
        if (n >= sizeof(piece))
            return NULL;
        snprintf(piece, sizeof(piece), "%.*s", (int)n, text + strspn(text, " "));
        value = resolve(t, parent, piece, depth + 1);
        if (!value || !value[0] || strlen(value) > 9 || value[strspn(value, "0123456789")] ||
            product > UINT32_MAX)
            return NULL;
        product *= strtoul(value, NULL, 10);
        text += n + (text[n] == ',');
    }
    out = fr__arena_alloc(t->j->arena, 32, 1);
    if (out)
        snprintf(out, 32, "%" PRIu64, product);
    return out;
}

/* A whole "${...}" or plain text; NULL: what it names is not here. */
static const char *resolve(struct tree *t, const struct fr__yaml *parent, const char *text,
                           unsigned depth)
{
    size_t n = strlen(text);
    const struct fr__yaml *node;
    char inner[NAME];

    if (strncmp(text, "${", 2) != 0 || n < 4 || text[n - 1] != '}')
        return strstr(text, "${") ? NULL : text;
    if (n - 3 >= sizeof(inner) || depth > MOST_DEPTH)
        return NULL;
    memcpy(inner, text + 2, n - 3);
    inner[n - 3] = '\0';
    if (strncmp(inner, "multiply:", 9) == 0)
        return product_of(t, parent, inner + 9, depth);
    node = inner[0] == '.' ? value_at(parent, inner + 1, strlen(inner + 1))
                           : value_at(t->root, inner, strlen(inner));
    return node && node->kind == FR__YAML_SCALAR ? resolve(t, parent, node->text, depth + 1) : NULL;
}

/* ---- keys ---- */

static enum fr_status list_text(struct tree *t, const struct fr__yaml *list, const char **out)
{
    size_t len = 1;
    char *text;

    for (size_t i = 0; i < list->n; i++)
        len += list->items[i]->text ? strlen(list->items[i]->text) + 1 : 4;
    text = fr__arena_alloc(t->j->arena, len, 1);
    if (!text)
        return fr__fail_nomem(t->err);
    *out = text;
    for (size_t i = 0; i < list->n; i++) {
        const char *item = list->items[i]->text ? list->items[i]->text : "...";
        size_t n = strlen(item);

        memcpy(text, item, n);
        text += n;
        *text++ = i + 1 < list->n ? ' ' : '\0';
    }
    return FR_OK;
}

static enum fr_status take(struct tree *t, const struct fr__yaml *parent,
                           const struct fr__yaml *node, const char *name, bool has_variables)
{
    const char *value = node->text, *unknown = NULL;

    if (node->kind == FR__YAML_LIST)
        FR_TRY(list_text(t, node, &value));
    if (node->kind == FR__YAML_MAP)
        value = "{}";
    if (has_variables) {
        FR_TRY(expand_variable(t, &value, &unknown));
    } else if (node->kind == FR__YAML_SCALAR && strstr(value, "${")) {
        const char *found = resolve(t, parent, value, 0);

        unknown = found ? NULL : value;
        value = found ? found : value;
    }
    return fr__job_add(t->j, t->to, name, value, unknown, node->key_loc, t->err);
}

static enum fr_status walk(struct tree *t, const struct fr__yaml *map, const char *before,
                           bool has_variables)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct fr__yaml *node = map->items[i];
        size_t len = strlen(before) + strlen(node->key) + 2;
        char *name = fr__arena_alloc(t->j->arena, len, 1);

        if (!name)
            return fr__fail_nomem(t->err);
        snprintf(name, len, "%s%s%s", before, *before ? "." : "", node->key);
        if (node->kind == FR__YAML_MAP && node->n > 0)
            FR_TRY(walk(t, node, name, has_variables));
        else
            FR_TRY(take(t, map, node, name, has_variables));
    }
    return FR_OK;
}

/* ---- frameworks ---- */

static size_t count_known(const struct fr__job_list *l, size_t first,
                          const struct fr__job_framework *f)
{
    size_t n = 0;

    for (size_t i = first; i < l->n; i++) {
        struct fr__job_row row;
        char name[NAME];
        size_t k = 0;

        for (const char *c = l->at[i].name + strspn(l->at[i].name, "-"); *c; c++)
            if (k + 1 < sizeof(name))
                name[k++] = *c == '_' ? '-' : *c;
        name[k] = '\0';
        n += fr__job_look_up(f, name, 0, &row);
    }
    return n;
}

/* Whether the tree has all keys that mark the framework: "model.name|training". */
static bool has_marks(const struct tree *t, const struct fr__job_framework *f)
{
    for (const char *at = f->marks; at && *at;) {
        size_t n = strcspn(at, "|");

        if (!value_at(t->root, at, n))
            return false;
        at += n + (at[n] != '\0');
    }
    return true;
}

/* The framework that knows most of the arguments from `first` on; a mark counts as one more. */
static enum fr_status choose(const struct tree *t, const char *syntax, size_t first,
                             const struct fr__shell_text *file)
{
    const struct fr__job_framework *best = NULL;
    size_t most = LEAST_KNOWN - 1;

    for (size_t i = 0; i < fr__n_job_frameworks; i++) {
        const struct fr__job_framework *f = &fr__job_frameworks[i];
        size_t n = 0;

        if (strcmp(f->syntax, syntax) == 0 && has_marks(t, f))
            n = count_known(t->to, first, f) + (f->marks != NULL);
        if (n <= most)
            continue;
        most = n;
        best = f;
    }
    if (!best) {
        t->j->arguments.n = first;
        return fr__fail(t->err, FR_EPARSE, (struct fr_loc){file->name, 0, 0},
                        "the keys of the file are those of no framework that is known here");
    }
    fr__job_settle(t->j, first, best);
    return FR_OK;
}

static bool is_toml(const char *name)
{
    size_t n = strlen(name);

    return n > 5 && strcmp(name + n - 5, ".toml") == 0;
}

enum fr_status fr__job_read_tree(struct fr_job *j, const struct fr__shell_text *file,
                                 const struct fr__shell_input *in, struct fr_error *err)
{
    struct tree t = {.j = j, .in = in, .to = &j->arguments, .err = err};
    const struct fr__yaml *arguments;
    size_t first = j->arguments.n;

    if (is_toml(file->name))
        FR_TRY(fr__toml_load_text(j->arena, file->text, file->len, file->name, &t.root, err));
    else
        FR_TRY(fr__yaml_load_text(j->arena, file->text, file->len, file->name, &t.root, err));
    FR_TRY(fr__yaml_expect(t.root, FR__YAML_MAP, "a job", err));
    arguments = fr__yaml_get(t.root, "MODEL_ARGS");
    if (arguments) {
        FR_TRY(fr__yaml_expect(arguments, FR__YAML_MAP, "MODEL_ARGS", err));
        FR_TRY(walk(&t, arguments, "", true));
        return choose(&t, "words", first, file);
    }
    FR_TRY(walk(&t, t.root, "", false));
    return choose(&t, "tree", first, file);
}
