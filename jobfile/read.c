/* jobfile/read.c - reads the files of a job, each by its syntax, and gives the arguments their
 * verdicts. */
#include "config.h"

#include "base/file.h"
#include "base/json_read.h"
#include "jobfile/read.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = FR__SHELL_MOST_BYTES };

enum syntax { SHELL, TREE, MODEL, PYTHON };

/* The files of a job, by what they are. */
struct files {
    struct fr__shell_text texts[FR__SHELL_MOST_FILES];
    enum syntax syntax[FR__SHELL_MOST_FILES];
    size_t n;
};

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    return n > m && strcmp(path + n - m, ending) == 0;
}

static bool is_of_model(const char *text)
{
    return strstr(text, "\"model_type\"") != NULL;
}

static enum syntax syntax_of(const struct fr__shell_text *t)
{
    if (ends_in(t->name, ".json") && is_of_model(t->text))
        return MODEL;
    if (ends_in(t->name, ".json") || ends_in(t->name, ".toml") || ends_in(t->name, ".yaml") ||
        ends_in(t->name, ".yml"))
        return TREE;
    if (ends_in(t->name, ".py"))
        return PYTHON;
    return SHELL;
}

/* Copies a text into the arena; it ends in a NUL. */
static enum fr_status keep(struct fr_job *j, struct files *f, const char *name, const char *text,
                           size_t len, struct fr_error *err)
{
    struct fr__shell_text *t = &f->texts[f->n];
    char *copy = fr__arena_take(j->arena, len + 1, 1);

    t->name = fr__arena_strdup(j->arena, name);
    if (!copy || !t->name)
        return fr__fail_nomem(err);
    memcpy(copy, text, len);
    copy[len] = '\0';
    t->text = copy;
    t->len = len;
    f->syntax[f->n++] = syntax_of(t);
    return FR_OK;
}

static enum fr_status load(struct fr_job *j, const struct fr_job_options *o, struct files *f,
                           struct fr_error *err)
{
    for (size_t i = 0; i < o->n_files; i++) {
        enum fr_status st;
        char *text;
        size_t len;

        FR_TRY(fr__read_file(o->files[i], MOST_BYTES, &text, &len, err));
        st = keep(j, f, o->files[i], text, len, err);
        free(text);
        FR_TRY(st);
    }
    return FR_OK;
}

/* All files of one kind at the front of out. */
static size_t of_kind(const struct files *f, enum syntax kind, struct fr__shell_text out[])
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        if (f->syntax[i] == kind)
            out[n++] = f->texts[i];
    return n;
}

static enum fr_status read_files(struct fr_job *j, const struct files *f,
                                 const struct fr_job_options *o, struct fr_error *err)
{
    struct fr__shell_text scripts[FR__SHELL_MOST_FILES];
    struct fr__shell_value *values = fr__arena_alloc(j->arena, o->n_values + 1, sizeof(*values));
    struct fr__shell_input in = {.files = scripts,
                                 .n_files = of_kind(f, SHELL, scripts),
                                 .values = values,
                                 .n_values = o->n_values};

    if (!values)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < o->n_values; i++) {
        char *name = fr__arena_strdup(j->arena, o->values[i]),
             *equals = strchr(name ? name : "", '=');

        if (!name)
            return fr__fail_nomem(err);
        if (!equals || equals == name)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "\"%.60s\" is no NAME=VALUE", name);
        *equals = '\0';
        values[i] = (struct fr__shell_value){name, equals + 1};
    }
    if (in.n_files > 0)
        FR_TRY(fr__job_read_shell(j, &in, in.n_files == f->n, err));
    for (size_t i = 0; i < f->n; i++) {
        if (f->syntax[i] == PYTHON)
            return fr__fail(err, FR_EUNSUPPORTED, (struct fr_loc){f->texts[i].name, 0, 0},
                            "a job that is a Python program says what it asks only when it runs; "
                            "give the script that starts it, or its configuration");
        if (f->syntax[i] == MODEL)
            j->facts[FR__JOB_CONFIG] =
                (struct fr__job_held){.value = f->texts[i].name, .loc = {f->texts[i].name, 0, 0}};
        else if (f->syntax[i] != SHELL)
            FR_TRY(fr__job_read_tree(j, &f->texts[i], &in, err));
    }
    if (j->n_frameworks == 0)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){f->texts[0].name, 0, 0},
                        "no file states a job, only the configuration of a model or a launcher");
    return FR_OK;
}

/* Facts that wait for a variable's value. */
static enum fr_status note_open(struct fr_job *j, struct fr_error *err)
{
    for (unsigned k = 0; k < FR__N_JOB_FACTS; k++)
        if (j->facts[k].unknown)
            FR_TRY(fr__job_note(j, err,
                                "%s is open: '%.80s' needs the value of %s (--set '%s=VALUE')",
                                fr__job_fact_name((enum fr__job_fact_kind)k), j->facts[k].argument,
                                j->facts[k].unknown, j->facts[k].unknown));
    return FR_OK;
}

static enum fr_status list_facts(struct fr_job *j, struct fr_error *err)
{
    j->listed = fr__arena_alloc(j->arena, FR__N_JOB_FACTS, sizeof(*j->listed));
    if (!j->listed)
        return fr__fail_nomem(err);
    for (unsigned k = 0; k < FR__N_JOB_FACTS; k++)
        if (j->facts[k].value)
            j->listed[j->summary.n_facts++] =
                (struct fr_job_fact){.name = fr__job_fact_name((enum fr__job_fact_kind)k),
                                     .value = j->facts[k].value,
                                     .argument = j->facts[k].argument,
                                     .loc = j->facts[k].loc};
    return FR_OK;
}

/* texts: the files' in memory; NULL: they are read. */
static enum fr_status read_job(struct fr_job *j, const struct fr_job_options *o,
                               const struct fr__shell_text texts[], struct fr_error *err)
{
    struct files *f = fr__arena_alloc(j->arena, 1, sizeof(*f));
    const char **names = fr__arena_alloc(j->arena, o->n_files + 1, sizeof(*names));

    if (!f || !names)
        return fr__fail_nomem(err);
    if (o->n_files == 0 || o->n_files > FR__SHELL_MOST_FILES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a job has 1 to %d files, not %zu",
                        (int)FR__SHELL_MOST_FILES, o->n_files);
    for (size_t i = 0; texts && i < o->n_files; i++)
        FR_TRY(keep(j, f, texts[i].name, texts[i].text, texts[i].len, err));
    if (!texts)
        FR_TRY(load(j, o, f, err));
    for (size_t i = 0; i < f->n; i++)
        names[i] = f->texts[i].name;
    FR_TRY(read_files(j, f, o, err));
    FR_TRY(fr__job_judge(j, o->is_lenient, err));
    FR_TRY(fr__job_derive(j, err));
    FR_TRY(note_open(j, err));
    FR_TRY(list_facts(j, err));
    j->summary.framework = j->frameworks[0]->name;
    j->summary.title = j->frameworks[0]->title;
    j->summary.flags = j->frameworks[0]->flags;
    j->summary.files = names;
    j->summary.n_files = f->n;
    return FR_OK;
}

static enum fr_status make_job(struct fr_job **out, const struct fr_job_options *o,
                               const struct fr__shell_text texts[], struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_job *j = arena ? fr__arena_alloc(arena, 1, sizeof(*j)) : NULL;
    enum fr_status st;

    if (!j) {
        fr__arena_free(arena);
        return fr__fail_nomem(err);
    }
    j->arena = arena;
    st = read_job(j, o, texts, err);
    if (st == FR_OK)
        *out = j;
    else
        fr_job_free(j);
    return st;
}

enum fr_status fr_job_read(struct fr_job **out, const struct fr_job_options *o,
                           struct fr_error *err)
{
    return make_job(out, o, NULL, err);
}

enum fr_status fr__job_read_texts(struct fr_job **out, const struct fr_job_options *o,
                                  const struct fr__shell_text texts[], struct fr_error *err)
{
    return make_job(out, o, texts, err);
}

void fr_job_free(struct fr_job *j)
{
    if (j)
        fr__arena_free(j->arena);
}

/* ---- what was read ---- */

const char *fr_job_verdict_name(enum fr_job_verdict v)
{
    static const char *const names[FR_N_JOB_VERDICTS] = {
        [FR_JOB_UNDERSTOOD] = "understood",
        [FR_JOB_NO_EFFECT] = "no effect",
        [FR_JOB_NOT_MODELLED] = "not modelled",
        [FR_JOB_UNKNOWN] = "unknown",
    };

    return names[v];
}

const struct fr_job_summary *fr_job_summary(const struct fr_job *j)
{
    return &j->summary;
}

const struct fr_job_argument *fr_job_argument(const struct fr_job *j, size_t i)
{
    return &j->arguments.at[i];
}

const struct fr_job_fact *fr_job_fact(const struct fr_job *j, size_t i)
{
    return &j->listed[i];
}

const char *fr_job_fact_value(const struct fr_job *j, const char *name)
{
    enum fr__job_fact_kind k = fr__job_fact_parse(name);

    return k < FR__N_JOB_FACTS ? j->facts[k].value : NULL;
}

const struct fr_job_setting *fr_job_setting(const struct fr_job *j, size_t *n)
{
    *n = j->n_settings;
    return j->settings;
}
