/* study/recipe.c - reads recipes, checks each value against the option that it is for, and
 * applies them; see recipe.h. */
#include "config.h"

#include "study/recipes.h"

#include "base/error.h"
#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64, MOST_TEXT = 400, MOST_SHIPPED = 64 };

struct fr_recipe {
    struct fr__arena *arena;
    const char *name, *summary;
    struct fr_recipe_value values[MOST_VALUES];
    size_t n_values;
    const char *left_out[MOST_VALUES], *families[MOST_VALUES];
    size_t n_left_out, n_families;
};

const char *fr_recipe_shipped(size_t i)
{
    for (size_t k = 0; k <= i; k++)
        if (!fr__recipe_texts[k].name)
            return NULL;
    return fr__recipe_texts[i].name;
}

const char *fr_recipe_name(const struct fr_recipe *r)
{
    return r->name;
}

const char *fr_recipe_summary(const struct fr_recipe *r)
{
    return r->summary;
}

const struct fr_recipe_value *fr_recipe_value(const struct fr_recipe *r, size_t i)
{
    return i < r->n_values ? &r->values[i] : NULL;
}

const char *fr_recipe_left_out(const struct fr_recipe *r, size_t i)
{
    return i < r->n_left_out ? r->left_out[i] : NULL;
}

const char *fr_recipe_family(const struct fr_recipe *r, size_t i)
{
    return i < r->n_families ? r->families[i] : NULL;
}

void fr_recipe_free(struct fr_recipe *r)
{
    if (!r)
        return;
    fr__arena_free(r->arena);
    free(r);
}

/* ---- values ---- */

/* Settings of a question that software decides. Their values are numbers, so that none outlives
 * the recipe. */
static const char *const settings[] = {"interference", "zero-grad", "memory",     "order",
                                       "fuse",         "host-op",   "input-rate", "gpu-variation"};
enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* A fault of a value is found by its option, which knows no file: the value's place is added. */
static enum fr_status at_value(enum fr_status st, const struct fr_recipe_value *v,
                               struct fr_error *err)
{
    char text[sizeof(err->text)];

    if (st == FR_OK || st == FR_ENOMEM || !err)
        return st;
    snprintf(text, sizeof(text), "%s", err->text);
    return fr__fail(err, FR_EPARSE, v->loc, "%s", text);
}

static enum fr_status check_setting(const struct fr_recipe_value *v, struct fr_loc at,
                                    struct fr_error *err)
{
    struct fr_question q = {.workload = NULL};
    char hint[128];

    for (size_t i = 0; i < N_SETTINGS; i++)
        if (strcmp(settings[i], v->option) == 0)
            return at_value(fr_question_set(&q, v->option, v->text, err), v, err);
    return fr__fail(err, FR_EPARSE, at, "a recipe has no setting '%.40s' of a question%s",
                    v->option,
                    fr__did_you_mean(v->option, settings, N_SETTINGS, hint, sizeof(hint)));
}

/* Some strategy has the option, and all that have it take the value. */
static enum fr_status check_option(const struct fr_recipe_value *v, struct fr_loc at,
                                   struct fr_error *err)
{
    const struct fr_strategy *s;
    bool is_known = false;

    for (size_t i = 0; (s = fr_strategy_at(i)); i++) {
        struct fr_option_values values = {.value = {0}};
        bool has = false;

        FR_TRY(at_value(fr_strategy_fill(s, &values, v->option, v->text, &has, err), v, err));
        is_known |= has;
    }
    return is_known ? FR_OK
                    : fr__fail(err, FR_EPARSE, at, "no strategy has an option '%.40s'", v->option);
}

static enum fr_status short_text(const struct fr__yaml *map, const char *key, const char **out,
                                 struct fr_loc *loc, struct fr_error *err)
{
    FR_TRY(fr__yaml_text(map, key, NULL, out, loc, err));
    if ((*out)[0] == '\0')
        return fr__fail(err, FR_EPARSE, *loc, "'%s' is empty", key);
    if (strlen(*out) > MOST_TEXT)
        return fr__fail(err, FR_EPARSE, *loc, "'%s' is longer than %d bytes", key, MOST_TEXT);
    return FR_OK;
}

static enum fr_status take_value(struct fr_recipe *r, const struct fr__yaml *map,
                                 bool is_of_question, struct fr_error *err)
{
    static const char *const known[] = {"option", "value", "source", NULL};
    struct fr_recipe_value v = {.is_of_question = is_of_question};
    struct fr_loc at, of_source;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "a value of a recipe", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(short_text(map, "option", &v.option, &at, err));
    FR_TRY(short_text(map, "value", &v.text, &v.loc, err));
    FR_TRY(short_text(map, "source", &v.source, &of_source, err));
    for (size_t i = 0; i < r->n_values; i++)
        if (r->values[i].is_of_question == is_of_question &&
            strcmp(r->values[i].option, v.option) == 0)
            return fr__fail(err, FR_EPARSE, at, "option '%.40s' is there twice", v.option);
    if (r->n_values == MOST_VALUES)
        return fr__fail(err, FR_EPARSE, at, "more than %d values", MOST_VALUES);
    FR_TRY(is_of_question ? check_setting(&v, at, err) : check_option(&v, at, err));
    r->values[r->n_values++] = v;
    return FR_OK;
}

static enum fr_status take_values(struct fr_recipe *r, const struct fr__yaml *root, const char *key,
                                  bool is_of_question, struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(root, key);

    if (!list)
        return FR_OK;
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, key, err));
    for (size_t i = 0; i < list->n; i++)
        FR_TRY(take_value(r, list->items[i], is_of_question, err));
    return FR_OK;
}

/* A list of short texts. */
static enum fr_status take_texts(const struct fr__yaml *root, const char *key, const char *texts[],
                                 size_t *n, struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(root, key);

    if (!list)
        return FR_OK;
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, key, err));
    for (size_t i = 0; i < list->n; i++) {
        const struct fr__yaml *item = list->items[i];

        FR_TRY(fr__yaml_expect(item, FR__YAML_SCALAR, key, err));
        if (strlen(item->text) > MOST_TEXT || i >= MOST_VALUES)
            return fr__fail(err, FR_EPARSE, item->loc, "more than %d texts, or one over %d bytes",
                            MOST_VALUES, MOST_TEXT);
        texts[(*n)++] = item->text;
    }
    return FR_OK;
}

/* ---- files ---- */

static enum fr_status take(struct fr_recipe *r, const struct fr__yaml *root, struct fr_error *err)
{
    static const char *const known[] = {"recipe",   "summary",  "families", "strategy",
                                        "question", "left-out", NULL};
    struct fr_loc loc;

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a recipe", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(short_text(root, "recipe", &r->name, &loc, err));
    FR_TRY(short_text(root, "summary", &r->summary, &loc, err));
    FR_TRY(take_values(r, root, "strategy", false, err));
    FR_TRY(take_values(r, root, "question", true, err));
    FR_TRY(take_texts(root, "families", r->families, &r->n_families, err));
    return take_texts(root, "left-out", r->left_out, &r->n_left_out, err);
}

/* text NULL: the file of that name. */
static enum fr_status read(struct fr_recipe **out, const char *text, size_t len, const char *file,
                           struct fr_error *err)
{
    struct fr_recipe *r = calloc(1, sizeof(*r));
    const struct fr__yaml *root;
    enum fr_status st;

    if (!r)
        return fr__fail_nomem(err);
    r->arena = fr__arena_new();
    if (!r->arena) {
        free(r);
        return fr__fail_nomem(err);
    }
    st = text ? fr__yaml_load_text(r->arena, text, len, file, &root, err)
              : fr__yaml_load(r->arena, file, &root, err);
    if (st == FR_OK)
        st = take(r, root, err);
    if (st == FR_OK)
        *out = r;
    else
        fr_recipe_free(r);
    return st;
}

enum fr_status fr_recipe_read(struct fr_recipe **out, const char *text, size_t len,
                              const char *file, struct fr_error *err)
{
    return read(out, text, len, file, err);
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".yaml") == 0);
}

enum fr_status fr_recipe_load(struct fr_recipe **out, const char *name, struct fr_error *err)
{
    const char *names[MOST_SHIPPED];
    char hint[128];
    size_t n = 0;

    if (is_path(name))
        return read(out, NULL, 0, name, err);
    for (const struct fr__recipe_text *t = fr__recipe_texts; t->name; t++) {
        if (strcmp(t->name, name) == 0)
            return read(out, t->text, strlen(t->text), t->name, err);
        if (n < MOST_SHIPPED)
            names[n++] = t->name;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no recipe '%.60s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

/* ---- use ---- */

/* Whether the question has the setting's own default. */
static bool is_default(const struct fr_question *q, const char *setting)
{
    struct fr_question usual;
    size_t i = 0;
    char *a, *b;
    bool is_same;

    fr_question_init(&usual);
    while (fr_question_setting(i) && strcmp(fr_question_setting(i), setting) != 0)
        i++;
    a = fr_question_text(q, i);
    b = fr_question_text(&usual, i);
    is_same = a && b && strcmp(a, b) == 0;
    free(a);
    free(b);
    return is_same;
}

/* How many bytes of a model's name a shipped file's longest family has: a line
 * "families: [bert, gpt]". 0: none of them begins the name. */
static size_t family_length(const char *text, const char *model)
{
    const char *at = strstr(text, "\nfamilies: [");
    size_t longest = 0;

    for (at = at ? at + strlen("\nfamilies: [") : "]"; *at && *at != ']';) {
        size_t n = strcspn(at, ",]");

        if (n > longest && strncmp(at, model, n) == 0)
            longest = n;
        at += n;
        at += strspn(at, ", ");
    }
    return longest;
}

const char *fr_recipe_usual(const char *workload)
{
    const char *best = NULL;
    size_t longest = 0;

    for (const struct fr__recipe_text *t = fr__recipe_texts; workload && t->name; t++) {
        size_t n = family_length(t->text, workload);

        if (n > longest) {
            longest = n;
            best = t->name;
        }
    }
    return best;
}

/* NULL: none. "usual" where none is usual. */
static const char *name_of(const struct fr_question *q)
{
    const char *usual;

    if (!q->recipe)
        return q->run.memory == FR_MEMORY_TF1 ? "tf1" : NULL;
    usual = strcmp(q->recipe, "usual") == 0 ? fr_recipe_usual(q->workload) : NULL;
    return usual ? usual : q->recipe;
}

struct fr__recipe_form fr__recipe_form(const struct fr_question *q)
{
    struct fr_question made = {.run = {.memory = q->run.memory}};
    struct fr_recipe *r = NULL;

    /* what is wrong with a recipe is said where it is applied */
    if (name_of(q) && fr_recipe_load(&r, name_of(q), NULL) == FR_OK)
        for (size_t i = 0; i < r->n_values; i++) {
            const struct fr_recipe_value *v = &r->values[i];

            if (v->is_of_question &&
                (strcmp(v->option, "memory") == 0 || strcmp(v->option, "fuse") == 0))
                (void)fr_question_set(&made, v->option, v->text, NULL);
        }
    fr_recipe_free(r);
    return (struct fr__recipe_form){
        .is_tf1 = made.run.memory == FR_MEMORY_TF1,
        .fusions = q->fusions ? q->fusions : made.fusions,
    };
}

struct fr_workload_options fr_question_workload(const struct fr_question *q)
{
    const struct fr__recipe_form form = fr__recipe_form(q);

    return (struct fr_workload_options){.seq_len = q->seq_len,
                                        .dtype = q->dtype,
                                        .image_size = q->image_size,
                                        .profile_device = q->profile_device,
                                        .is_tf1 = form.is_tf1,
                                        .fusions = form.fusions};
}

enum fr_status fr__recipe_apply(struct fr_question *q, const struct fr_strategy *strategy,
                                struct fr_option_values *values, struct fr_error *err)
{
    struct fr_recipe *r;
    enum fr_status st = FR_OK;
    bool has;

    if (!name_of(q))
        return FR_OK;
    if (strcmp(name_of(q), "usual") == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "no recipe is usual for workload '%.100s' ('forerun recipe list')",
                        q->workload ? q->workload : "none");
    FR_TRY(fr_recipe_load(&r, name_of(q), err));
    if (q->recipe)
        q->recipe = is_path(q->recipe) ? q->recipe : name_of(q);
    for (size_t i = 0; i < r->n_values && st == FR_OK; i++) {
        const struct fr_recipe_value *v = &r->values[i];

        if (!v->is_of_question)
            st = fr_strategy_fill(strategy, values, v->option, v->text, &has, err);
        else if (is_default(q, v->option))
            st = fr_question_set(q, v->option, v->text, err);
    }
    fr_recipe_free(r);
    return st;
}
