/* api/verbs/manifest.c - writes a manifest, and asks one again; see manifest.h. */
#include "config.h"

#include "api/verbs/manifest.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_read.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FORM = 1, MOST_BYTES = 16 << 20 };

/* ---- the answer's digest ---- */

static enum fr_status digest_answer(struct fr_shown x, uint64_t *out, struct fr_error *err)
{
    char *text;
    size_t len;
    FILE *f = fr__text_open(&text, &len);

    if (!f)
        return fr__fail_nomem(err);
    fr_show_json(f, x);
    if (!fr__text_close(f, &text))
        return fr__fail_nomem(err);
    *out = fr__fnv(FR__FNV_START, text, strlen(text));
    free(text);
    return FR_OK;
}

/* ---- out ---- */

static void put_options(struct fr__json *j, const struct fr__options *o)
{
    fr__json_open(j, "options", '[', false);
    for (size_t i = 0; i < o->n_typed; i++) {
        if (strcmp(o->typed[i].name, "manifest") == 0)
            continue;
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", o->typed[i].name);
        if (o->typed[i].value)
            fr__json_string(j, "value", o->typed[i].value);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static enum fr_status put_inputs(struct fr__json *j, const struct fr__options *o,
                                 struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    const struct fr__input *inputs;
    char hex[FR__DIGEST_HEX];
    size_t n = 0;
    enum fr_status st =
        arena ? fr__manifest_inputs(o, arena, &inputs, &n, err) : fr__fail_nomem(err);

    fr__json_open(j, "inputs", '[', false);
    for (size_t i = 0; st == FR_OK && i < n; i++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "path", inputs[i].path);
        fr__json_count(j, "bytes", inputs[i].bytes);
        fr__json_string(j, "digest", fr__digest_hex(inputs[i].digest, hex));
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__arena_free(arena);
    return st;
}

/* The settings of the question that are not those of one that sets nothing, typed or of a job. */
static void put_settings(struct fr__json *j, const struct fr_question *q)
{
    struct fr_question unset;

    fr_question_init(&unset);
    fr__json_open(j, "settings", '{', false);
    for (size_t i = 0; fr_question_setting(i); i++) {
        char *text = fr_question_text(q, i), *usual = fr_question_text(&unset, i);

        if (text && usual && strcmp(text, usual) != 0)
            fr__json_string(j, fr_question_setting(i), text);
        free(text);
        free(usual);
    }
    fr__json_close(j, '}');
}

static enum fr_status write_file(const struct fr__call *s, uint64_t answer, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    char hex[FR__DIGEST_HEX];
    struct fr__json j;
    struct fr__out out;
    enum fr_status st;

    FR_TRY(fr__out_open(&out, o->manifest, err));
    fr__json_init(&j, out.f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_count(&j, "forerun_manifest", FORM);
    fr__json_string(&j, "version", fr_version());
    fr__json_string(&j, "verb", s->verb->name);
    fr__json_string(&j, "command", s->command);
    put_options(&j, o);
    st = put_inputs(&j, o, err);
    put_settings(&j, &o->question);
    if (st == FR_OK)
        st = fr__manifest_sources(&j, o, err);
    fr__json_string(&j, "answer", fr__digest_hex(answer, hex));
    fr__json_close(&j, '}');
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}

/* ---- in ---- */

static const struct fr__json_value *member(const struct fr__json_value *object, const char *key,
                                           enum fr__json_kind kind)
{
    for (const struct fr__json_value *m = object->first; m; m = m->next)
        if (strcmp(m->key, key) == 0)
            return m->kind == kind ? m : NULL;
    return NULL;
}

static enum fr_status lacks(const struct fr__json_value *at, const char *key, struct fr_error *err)
{
    return fr__fail(err, FR_EPARSE, at->loc, "a manifest has \"%s\" here", key);
}

static enum fr_status check_head(const struct fr__json_value *top, const struct fr__verb *v,
                                 struct fr__call *s, struct fr_error *err)
{
    const struct fr__json_value *form, *version, *verb;

    if (top->kind != FR__JSON_OBJECT)
        return lacks(top, "forerun_manifest", err);
    form = member(top, "forerun_manifest", FR__JSON_NUMBER);
    version = member(top, "version", FR__JSON_STRING);
    verb = member(top, "verb", FR__JSON_STRING);
    if (!form || strcmp(form->text, "1") != 0 || !version || !verb)
        return lacks(top,
                     !version ? "version"
                     : !verb  ? "verb"
                              : "forerun_manifest\": 1, \"verb",
                     err);
    if (strcmp(verb->text, v->name) != 0)
        return fr__fail(err, FR_EUSAGE, verb->loc,
                        "the manifest is of 'forerun %.40s', not of '%s'", verb->text, v->name);
    if (strcmp(version->text, fr_version()) != 0)
        fr__note(s, "the manifest is of version %.40s, this is %s", version->text, fr_version());
    return FR_OK;
}

/* A manifest is data: what it names as a strategy is never loaded as code. */
static enum fr_status check_code(const struct fr__json_value *at, const char *name,
                                 const char *value, struct fr_error *err)
{
    struct fr_question q;

    fr_question_init(&q);
    if (strcmp(name, "strategy") == 0)
        q.strategy = value;
    else if (strcmp(name, "measured") == 0)
        q.measured = value;
    return fr_question_refuse_code(&q, at->loc, err);
}

static enum fr_status take_options(const struct fr__json_value *top, const struct fr__verb *v,
                                   struct fr__call *s, struct fr_error *err)
{
    const struct fr__json_value *list = member(top, "options", FR__JSON_ARRAY), *name, *value;
    struct fr__option row;

    if (!list)
        return lacks(top, "options", err);
    for (const struct fr__json_value *m = list->first; m; m = m->next) {
        name = m->kind == FR__JSON_OBJECT ? member(m, "name", FR__JSON_STRING) : NULL;
        value = name ? member(m, "value", FR__JSON_STRING) : NULL;
        if (!name)
            return lacks(m, "name", err);
        if (!fr__options_find(v->options, name->text, strlen(name->text), 0, &row))
            return fr__options_unknown(v->options, v->name, name->text, strlen(name->text), 0, err);
        /* where the answer goes is said anew */
        if (strcmp(row.name, "json") == 0 || strcmp(row.name, "output") == 0 ||
            strcmp(row.name, "manifest") == 0)
            continue;
        if (!row.argument != !value)
            return fr__fail(err, FR_EPARSE, m->loc, "option '--%s' %s", row.name,
                            value ? "takes no value" : "needs a value");
        if (value)
            FR_TRY(check_code(value, row.name, value->text, err));
        FR_TRY(fr__options_set(&s->options, row.which, value ? value->text : NULL, err));
    }
    return FR_OK;
}

/* The input of that path; NULL: none. */
static const struct fr__input *find_input(const struct fr__input *inputs, size_t n,
                                          const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(inputs[i].path, path) == 0)
            return &inputs[i];
    return NULL;
}

static enum fr_status check_inputs(const struct fr__json_value *top, const struct fr__call *s,
                                   struct fr__arena *arena, struct fr_error *err)
{
    const struct fr__json_value *list = member(top, "inputs", FR__JSON_ARRAY), *path, *digest;
    const struct fr__input *inputs, *now;
    char hex[FR__DIGEST_HEX];
    size_t n;

    if (!list)
        return lacks(top, "inputs", err);
    FR_TRY(fr__manifest_inputs(&s->options, arena, &inputs, &n, err));
    for (const struct fr__json_value *m = list->first; m; m = m->next) {
        path = m->kind == FR__JSON_OBJECT ? member(m, "path", FR__JSON_STRING) : NULL;
        digest = path ? member(m, "digest", FR__JSON_STRING) : NULL;
        if (!digest)
            return lacks(m, path ? "digest" : "path", err);
        now = find_input(inputs, n, path->text);
        if (!now)
            return fr__fail(err, FR_EUSAGE, m->loc,
                            "the answer rests on '%.200s', which is not there", path->text);
        if (strcmp(fr__digest_hex(now->digest, hex), digest->text) != 0)
            return fr__fail(err, FR_EUSAGE, m->loc,
                            "the answer rests on '%.200s', which has changed since", path->text);
    }
    return FR_OK;
}

static enum fr_status take(const struct fr__json_value *top, const struct fr__verb *v,
                           struct fr__call *s, struct fr__arena *arena, struct fr_error *err)
{
    const struct fr__json_value *answer;

    FR_TRY(check_head(top, v, s, err));
    answer = member(top, "answer", FR__JSON_STRING);
    if (!answer)
        return lacks(top, "answer", err);
    FR_TRY(take_options(top, v, s, err));
    FR_TRY(check_inputs(top, s, arena, err));
    s->context.seed = s->options.question.run.seed;
    s->options.promised = answer->text;
    return FR_OK;
}

enum fr_status fr__manifest_take_text(const struct fr__verb *v, struct fr__call *s,
                                      const char *text, size_t len, const char *name,
                                      struct fr_error *err)
{
    struct fr__options *o = &s->options;
    const struct fr__json_value *top;

    o->asked_again = fr__arena_new(); /* the options point into it */
    if (!o->asked_again)
        return fr__fail_nomem(err);
    FR_TRY(fr__json_read(o->asked_again, text, len, name, &top, err));
    return take(top, v, s, o->asked_again, err);
}

enum fr_status fr__manifest_take(const struct fr__verb *v, struct fr__call *s, struct fr_error *err)
{
    struct fr__options *o = &s->options;
    char *text;
    size_t len;
    enum fr_status st;

    if (!o->manifest)
        return FR_OK;
    o->question.no_timing = true;
    if (o->question.workload || o->n_job_files > 0)
        return FR_OK;
    FR_TRY(fr__read_file(o->manifest, MOST_BYTES, &text, &len, err));
    st = fr__manifest_take_text(v, s, text, len, o->manifest, err);
    free(text);
    return st;
}

/* ---- the end ---- */

enum fr_status fr__manifest_end(struct fr__call *s, struct fr_shown x, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    char hex[FR__DIGEST_HEX];
    uint64_t digest = 0;

    if (!o->manifest)
        return FR_OK;
    FR_TRY(digest_answer(x, &digest, err));
    if (!o->promised)
        return write_file(s, digest, err);
    if (strcmp(o->promised, fr__digest_hex(digest, hex)) == 0)
        return FR_OK;
    return fr__fail(err, FR_ECHECK, (struct fr_loc){o->manifest, 0, 0},
                    "the answer is not the one that the manifest is of (%s, not %s)", hex,
                    o->promised);
}

enum fr_status fr__verb_run(const struct fr__verb *v, struct fr__call *s, struct fr_error *err)
{
    s->verb = v;
    FR_TRY(fr__manifest_take(v, s, err));
    return v->run(s, err);
}
