/* study/recipes/recipe.c - reads recipes with what they build on, checks each value against the
 * option that it is for, and applies them; see recipe.h. */
#include "config.h"

#include "study/recipes/fitted.h"
#include "study/recipes/names.h"
#include "study/recipes/recipes.h"
#include "study/recipes/usual.h"

#include "base/error.h"
#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64, MOST_TEXT = 400, MOST_BASES = 8 };

struct fr_recipe {
    struct fr__arena *arena;
    const char *name, *summary, *base;
    struct fr_recipe_value values[MOST_VALUES];
    size_t n_values;
    const char *left_out[MOST_VALUES];
    size_t n_left_out;
    struct fr__fitted fitted;
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

const char *fr_recipe_base(const struct fr_recipe *r)
{
    return r->base;
}

const struct fr_recipe_value *fr_recipe_value(const struct fr_recipe *r, size_t i)
{
    return i < r->n_values ? &r->values[i] : NULL;
}

const char *fr_recipe_left_out(const struct fr_recipe *r, size_t i)
{
    return i < r->n_left_out ? r->left_out[i] : NULL;
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
 * the recipe; for a text, see lasting. */
static const char *const settings[] = {
    "interference",     "zero-grad", "memory",       "order",        "fuse",        "host-op",
    "host-sync",        "host-step", "host-process", "input-rate",   "decode-rate", "gpu-variation",
    "length-variation", "layout",    "update",       "nccl-version", "transport"};
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

/* "precision: [amp, fp16]" as bits; not there: all. */
static enum fr_status take_precisions(const struct fr__yaml *map, unsigned *out,
                                      struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(map, "precision");

    *out = (1u << FR_N_DTYPES) - 1;
    if (!list)
        return FR_OK;
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, "precision", err));
    if (list->n == 0)
        return fr__fail(err, FR_EPARSE, list->loc, "'precision' names none");
    *out = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct fr__yaml *item = list->items[i];
        enum fr_dtype dtype;

        FR_TRY(fr__yaml_expect(item, FR__YAML_SCALAR, "a precision", err));
        dtype = fr_dtype_parse(item->text);
        if (dtype == FR_N_DTYPES)
            return fr__fail(err, FR_EPARSE, item->loc,
                            "no precision is called '%.40s' (fp32, tf32, amp, fp16, bf16, fp8)",
                            item->text);
        *out |= 1u << dtype;
    }
    return FR_OK;
}

static bool is_of_option(const struct fr_recipe_value *a, const struct fr_recipe_value *b)
{
    return a->is_of_question == b->is_of_question && strcmp(a->option, b->option) == 0;
}

/* A recipe's own values of an option replace all that what it builds on says of it. */
static enum fr_status add_value(struct fr_recipe *r, const struct fr_recipe_value *v,
                                struct fr_loc at, struct fr_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_values; i++) {
        const struct fr_recipe_value *old = &r->values[i];

        if (is_of_option(old, v) && old->from != v->from)
            continue;
        if (is_of_option(old, v) && (old->precisions & v->precisions) != 0)
            return fr__fail(err, FR_EPARSE, at, "option '%.40s' is there twice", v->option);
        r->values[n++] = *old;
    }
    r->n_values = n;
    if (n == MOST_VALUES)
        return fr__fail(err, FR_EPARSE, at, "more than %d values", MOST_VALUES);
    r->values[r->n_values++] = *v;
    return FR_OK;
}

static enum fr_status take_value(struct fr_recipe *r, const struct fr__yaml *map,
                                 bool is_of_question, struct fr_error *err)
{
    static const char *const known[] = {"option", "value", "source", "precision", NULL};
    struct fr_recipe_value v = {.is_of_question = is_of_question, .from = r->name};
    struct fr_loc at, of_source;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "a value of a recipe", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(short_text(map, "option", &v.option, &at, err));
    FR_TRY(short_text(map, "value", &v.text, &v.loc, err));
    FR_TRY(short_text(map, "source", &v.source, &of_source, err));
    FR_TRY(take_precisions(map, &v.precisions, err));
    FR_TRY(is_of_question ? check_setting(&v, at, err) : check_option(&v, at, err));
    return add_value(r, &v, at, err);
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

/* A list of short texts, in place of those that are there. */
static enum fr_status take_texts(const struct fr__yaml *root, const char *key, const char *texts[],
                                 size_t *n, struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(root, key);

    if (!list)
        return FR_OK;
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, key, err));
    *n = 0;
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

/* A recipe whose base is being read, and that which builds on it. */
struct reading {
    const struct reading *by; /* NULL: nothing */
    const char *name;         /* a shipped recipe's or a path */
    bool is_file;             /* else text in memory, which names shipped recipes alone */
};

static enum fr_status take_document(struct fr_recipe *r, const struct reading *now,
                                    const struct fr__yaml *root, struct fr_error *err);

/* The path of a base that a file names, from the file's folder. NULL: out of memory. */
static const char *base_path(struct fr__arena *a, const char *file, const char *base)
{
    const char *slash = strrchr(file, '/');
    size_t folder = slash && base[0] != '/' ? (size_t)(slash - file) + 1 : 0;
    size_t size = folder + strlen(base) + 1;
    char *path = fr__arena_alloc(a, size, 1);

    if (path)
        snprintf(path, size, "%.*s%s", (int)folder, file, base);
    return path;
}

/* text NULL: the file of that name. */
static enum fr_status take_text(struct fr_recipe *r, const struct reading *now, const char *text,
                                size_t len, struct fr_error *err)
{
    const struct fr__yaml *root;

    FR_TRY(text ? fr__yaml_load_text(r->arena, text, len, now->name, &root, err)
                : fr__yaml_load(r->arena, now->name, &root, err));
    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a recipe", err));
    return take_document(r, now, root, err);
}

/* What the recipe builds on, if anything, into r. */
static enum fr_status take_base(struct fr_recipe *r, const struct reading *now,
                                const struct fr__yaml *root, struct fr_error *err)
{
    const struct fr__recipe_text *shipped;
    struct reading base = {.by = now};
    struct fr_loc at;
    size_t depth = 0;

    if (!fr__yaml_get(root, "base"))
        return FR_OK;
    FR_TRY(short_text(root, "base", &base.name, &at, err));
    shipped = fr__recipe_text(base.name);
    base.is_file = !shipped && fr__recipe_is_path(base.name);
    if (!shipped && !base.is_file)
        return fr__recipe_unknown(base.name, FR_EPARSE, at, err);
    if (base.is_file && !now->is_file)
        return fr__fail(err, FR_EPARSE, at, "'%.60s': only a file builds on a file", base.name);
    if (base.is_file)
        base.name = base_path(r->arena, now->name, base.name);
    if (!base.name)
        return fr__fail_nomem(err);
    for (const struct reading *x = now; x; x = x->by, depth++)
        if (strcmp(x->name, base.name) == 0)
            return fr__fail(err, FR_EPARSE, at, "recipe '%.80s' builds on itself", base.name);
    if (depth > MOST_BASES)
        return fr__fail(err, FR_EPARSE, at, "more than %d recipes build on each other", MOST_BASES);
    return take_text(r, &base, shipped ? shipped->text : NULL, shipped ? strlen(shipped->text) : 0,
                     err);
}

static enum fr_status take_document(struct fr_recipe *r, const struct reading *now,
                                    const struct fr__yaml *root, struct fr_error *err)
{
    static const char *const known[] = {"recipe",   "summary",  "base",     "families", "strategy",
                                        "question", "left-out", "measured", NULL};
    const struct fr__yaml *measured = fr__yaml_get(root, "measured");
    const char *base, *families[MOST_VALUES]; /* for readers */
    size_t n_families = 0;
    struct fr_loc loc;

    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(take_base(r, now, root, err));
    base = r->name;
    FR_TRY(short_text(root, "recipe", &r->name, &loc, err));
    FR_TRY(short_text(root, "summary", &r->summary, &loc, err));
    r->base = base;
    FR_TRY(take_values(r, root, "strategy", false, err));
    FR_TRY(take_values(r, root, "question", true, err));
    FR_TRY(take_texts(root, "families", families, &n_families, err));
    if (measured)
        FR_TRY(fr__fitted_read(&r->fitted, measured, err));
    return take_texts(root, "left-out", r->left_out, &r->n_left_out, err);
}

/* text NULL: the file of that name. */
static enum fr_status read(struct fr_recipe **out, const char *text, size_t len, const char *file,
                           struct fr_error *err)
{
    const struct reading now = {.name = file, .is_file = !text};
    struct fr_recipe *r = calloc(1, sizeof(*r));
    enum fr_status st;

    if (!r)
        return fr__fail_nomem(err);
    r->arena = fr__arena_new();
    if (!r->arena) {
        free(r);
        return fr__fail_nomem(err);
    }
    st = take_text(r, &now, text, len, err);
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

enum fr_status fr_recipe_load(struct fr_recipe **out, const char *name, struct fr_error *err)
{
    const struct fr__recipe_text *shipped = fr__recipe_text(name);

    if (fr__recipe_is_path(name))
        return read(out, NULL, 0, name, err);
    if (shipped)
        return read(out, shipped->text, strlen(shipped->text), shipped->name, err);
    return fr__recipe_unknown(name, FR_EUSAGE, FR_NOWHERE, err);
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

/* NULL: none. "usual" where none is usual. */
static const char *name_of(const struct fr_question *q)
{
    const bool is_default = q->recipe && strcmp(q->recipe, FR_RECIPE_DEFAULT) == 0;
    const char *usual;

    if (!q->recipe || (is_default && q->run.memory == FR_MEMORY_TF1))
        return q->run.memory == FR_MEMORY_TF1 ? "tf1" : NULL;
    if (is_default)
        return fr__usual_recipe(q, true);
    usual = strcmp(q->recipe, "usual") == 0 ? fr__usual_recipe(q, false) : NULL;
    return usual ? usual : q->recipe;
}

/* Whether a value holds in the question's precision; fp32 where it names none, fp4 as fp8. */
static bool holds(const struct fr_recipe_value *v, const struct fr_question *q)
{
    enum fr_dtype dtype = q->dtype < FR_N_DTYPES ? q->dtype : FR_FP32;

    return v->precisions >> (dtype == FR_FP4 ? FR_FP8 : dtype) & 1;
}

struct fr__recipe_form fr__recipe_form(const struct fr_question *q)
{
    struct fr_question made = {.run = {.memory = q->run.memory}};
    struct fr_recipe *r = NULL;

    /* what is wrong with a recipe is said where it is applied */
    if (name_of(q) && fr_recipe_load(&r, name_of(q), NULL) == FR_OK)
        for (size_t i = 0; i < r->n_values; i++) {
            const struct fr_recipe_value *v = &r->values[i];

            if (v->is_of_question && holds(v, q) &&
                (strcmp(v->option, "memory") == 0 || strcmp(v->option, "fuse") == 0 ||
                 strcmp(v->option, "layout") == 0 || strcmp(v->option, "transport") == 0))
                (void)fr_question_set(&made, v->option, v->text, NULL);
        }
    fr_recipe_free(r);
    return (struct fr__recipe_form){
        .is_tf1 = made.run.memory == FR_MEMORY_TF1,
        .fusions = q->fusions ? q->fusions : made.fusions,
        .layout = q->layout != FR_LAYOUT_DEFAULT ? q->layout : made.layout,
        .transport = q->transport != FR_TRANSPORT_DEFAULT ? q->transport : made.transport,
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
                                        .fusions = form.fusions,
                                        .layout = form.layout,
                                        .tune = q->tune};
}

enum fr_status fr__recipe_check(const struct fr_question *q, struct fr_error *err)
{
    if (!name_of(q) || strcmp(name_of(q), "usual") != 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "no recipe is usual for workload '%.100s' ('forerun recipe list')",
                    q->workload ? q->workload : "none");
}

/* A text that may outlive the recipe, where a question keeps it. */
static const char *lasting(const struct fr_recipe_value *v)
{
    return strcmp(v->option, "nccl-version") == 0 ? fr_nccl_version_name(v->text) : v->text;
}

/* How samples come to the GPUs: who names no software has not said where its data are, and
 * benchmarks are fed as fast as they can take them. */
static bool is_of_input(const char *option)
{
    return strcmp(option, "decode-rate") == 0 || strcmp(option, "input-rate") == 0;
}

enum fr_status fr__recipe_apply(struct fr_question *q, const struct fr_strategy *strategy,
                                struct fr_option_values *values, struct fr_error *err)
{
    struct fr_recipe *r;
    enum fr_status st = FR_OK;
    bool has;

    const char *name = name_of(q);

    if (q->recipe && strcmp(q->recipe, FR_RECIPE_DEFAULT) == 0) {
        q->is_recipe_assumed = true;
        q->recipe = q->run.memory == FR_MEMORY_TF1 ? NULL : name;
    }
    if (!name)
        return FR_OK;
    FR_TRY(fr__recipe_check(q, err));
    FR_TRY(fr_recipe_load(&r, name, err));
    if (q->recipe)
        q->recipe = fr__recipe_is_path(q->recipe) ? q->recipe : name_of(q);
    for (size_t i = 0; i < r->n_values && st == FR_OK; i++) {
        const struct fr_recipe_value *v = &r->values[i];

        if (!holds(v, q) || (q->is_recipe_assumed && is_of_input(v->option)))
            continue;
        if (!v->is_of_question)
            st = fr_strategy_fill(strategy, values, v->option, v->text, &has, err);
        else if (is_default(q, v->option))
            st = fr_question_set(q, v->option, lasting(v), err);
    }
    fr_recipe_free(r);
    return st;
}

enum fr_status fr__recipe_believe(const struct fr_question *q, const struct fr__fitted_of *of,
                                  struct fr__believed *out, struct fr_error *err)
{
    struct fr_recipe *r;

    out->n_steps = 0;
    if (!q->recipe || !fr__recipe_is_path(q->recipe)) /* none that is shipped was fitted */
        return FR_OK;
    FR_TRY(fr_recipe_load(&r, q->recipe, err));
    if (r->fitted.n_steps > 0)
        fr__fitted_believe(&r->fitted, of, out);
    fr_recipe_free(r);
    return FR_OK;
}

size_t fr_recipe_n_measured(const struct fr_recipe *r)
{
    return (size_t)r->fitted.n_steps;
}

/* ---- what a strategy does not count ---- */

static bool has_option(const struct fr_strategy *s, const char *name)
{
    for (size_t i = 0; s->options[i].name; i++)
        if (strcmp(s->options[i].name, name) == 0)
            return true;
    return false;
}

/* The option without which this one says nothing; NULL: it says something by itself. */
static const char *option_behind(const char *name)
{
    static const char *const pairs[][2] = {
        {"early-stop", "recompute"}, {"packs", "zero"},         {"reshard", "zero"},
        {"prefetch", "zero"},        {"gather", "zero"},        {"keep-last", "zero"},
        {"scatter", "zero"},         {"cast-gathered", "zero"}, {"copies-on", "copies-in"},
        {"adds", "accumulate"},      {"first", "bucket"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (strcmp(pairs[i][0], name) == 0)
            return pairs[i][1];
    return NULL;
}

void fr__recipe_uncounted(const struct fr_question *q, const struct fr_strategy *strategy,
                          char text[], size_t size)
{
    struct fr_recipe *r;
    size_t used = 0;

    text[0] = '\0';
    if (!name_of(q) || fr_recipe_load(&r, name_of(q), NULL) != FR_OK)
        return;
    for (size_t i = 0; i < r->n_values && used < size; i++) {
        const struct fr_recipe_value *v = &r->values[i];
        bool is_nothing = strcmp(v->text, "0") == 0 && strcmp(v->option, "overlap") != 0;

        if (v->is_of_question || is_nothing || !holds(v, q) || has_option(strategy, v->option) ||
            option_behind(v->option))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? ", " : "", v->option,
                                 v->text);
    }
    fr_recipe_free(r);
}
