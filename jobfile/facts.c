/* jobfile/facts.c - the names of facts, and the rows that a framework's table has about an
 * argument, its base's behind its own. */
#include "config.h"

#include "jobfile/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 1 << 14, MOST_NOTES = 200, TEXT = 512 };

static const char *const names[] = {
#define NAME(name, text) #text,
    FR__JOB_FACTS(NAME)
#undef NAME
};

const char *fr__job_fact_name(enum fr__job_fact_kind k)
{
    return names[k];
}

enum fr__job_fact_kind fr__job_fact_parse(const char *name)
{
    unsigned k = 0;

    while (k < FR__N_JOB_FACTS && strcmp(names[k], name) != 0)
        k++;
    return (enum fr__job_fact_kind)k;
}

/* ---- tables ---- */

const struct fr__job_framework *fr__job_framework(const char *name)
{
    for (size_t i = 0; i < fr__n_job_frameworks; i++)
        if (strcmp(fr__job_frameworks[i].name, name) == 0)
            return &fr__job_frameworks[i];
    return NULL;
}

/* A name of the table, which may end in '*'. */
static bool is_named(const char *row, const char *name)
{
    size_t n = strlen(row);

    return n > 0 && row[n - 1] == '*' ? strncmp(row, name, n - 1) == 0 : strcmp(row, name) == 0;
}

static bool is_among(const char *const names_of_row[], size_t most, const char *name)
{
    for (size_t i = 1; i < most && names_of_row[i]; i++)
        if (is_named(names_of_row[i], name))
            return true;
    return false;
}

static bool is_exactly(const char *const names_of_row[], size_t most, const char *name)
{
    for (size_t i = 1; i < most && names_of_row[i]; i++)
        if (strcmp(names_of_row[i], name) == 0)
            return true;
    return false;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A whole name of either kind comes before groups that end in '*'. */
static bool look_for_group(const struct fr__job_framework *f, const char *name, bool is_exact,
                           struct fr__job_row *out)
{
    bool (*has)(const char *const[], size_t, const char *) = is_exact ? is_exactly : is_among;

    for (size_t i = 0; i < COUNT(f->not_modelled) && f->not_modelled[i][0]; i++)
        if (has(f->not_modelled[i], COUNT(f->not_modelled[i]), name)) {
            *out =
                (struct fr__job_row){.verdict = FR_JOB_NOT_MODELLED, .why = f->not_modelled[i][0]};
            return true;
        }
    for (size_t i = 0; i < COUNT(f->no_effect) && f->no_effect[i][0]; i++)
        if (has(f->no_effect[i], COUNT(f->no_effect[i]), name)) {
            *out = (struct fr__job_row){.verdict = FR_JOB_NO_EFFECT, .why = f->no_effect[i][0]};
            return true;
        }
    return false;
}

static bool look_up_here(const struct fr__job_framework *f, const char *name, size_t which,
                         struct fr__job_row *out)
{
    size_t n = 0;

    for (size_t i = 0; i < COUNT(f->sets) && f->sets[i][0]; i++)
        if (strcmp(f->sets[i][FR__JOB_ARGUMENT], name) == 0 && n++ == which) {
            *out = (struct fr__job_row){.verdict = FR_JOB_UNDERSTOOD, .sets = f->sets[i]};
            return true;
        }
    if (n > 0 || which > 0)
        return false;
    return look_for_group(f, name, true, out) || look_for_group(f, name, false, out);
}

bool fr__job_look_up(const struct fr__job_framework *f, const char *name, size_t i,
                     struct fr__job_row *out)
{
    struct fr__job_row own;

    while (!look_up_here(f, name, 0, &own)) {
        f = f->like ? fr__job_framework(f->like) : NULL;
        if (!f)
            return false;
    }
    return look_up_here(f, name, i, out);
}

bool fr__job_look_up_value(const struct fr__job_framework *f, const char *name_and_value,
                           struct fr__job_row *out)
{
    for (; f; f = f->like ? fr__job_framework(f->like) : NULL)
        if (look_for_group(f, name_and_value, true, out))
            return true;
    return false;
}

/* ---- a job ---- */

static enum fr_status make_room(struct fr_job *j, void *array, size_t n, size_t *cap, size_t size,
                                struct fr_error *err)
{
    size_t want = *cap ? *cap * 2 : 16;
    void *old, *new;

    if (n < *cap)
        return FR_OK;
    new = fr__arena_alloc(j->arena, want, size);
    if (!new)
        return fr__fail_nomem(err);
    memcpy(&old, array, sizeof(old));
    if (n > 0)
        memcpy(new, old, n * size);
    memcpy(array, &new, sizeof(new));
    *cap = want;
    return FR_OK;
}

enum fr_status fr__job_add(struct fr_job *j, struct fr__job_list *to, const char *name,
                           const char *value, const char *unknown, struct fr_loc loc,
                           struct fr_error *err)
{
    size_t cap = to->cap, cap_too = to->cap;

    if (to->n >= MOST_ARGUMENTS)
        return fr__fail(err, FR_ERANGE, loc, "more than %d arguments", (int)MOST_ARGUMENTS);
    FR_TRY(make_room(j, &to->at, to->n, &to->cap, sizeof(*to->at), err));
    FR_TRY(make_room(j, &to->unknown, to->n, &cap, sizeof(*to->unknown), err));
    FR_TRY(make_room(j, &to->framework, to->n, &cap_too, sizeof(struct fr__job_framework *), err));
    to->framework[to->n] = NULL;
    to->unknown[to->n] = unknown;
    to->at[to->n++] = (struct fr_job_argument){.name = name, .value = value, .loc = loc};
    return FR_OK;
}

void fr__job_settle(struct fr_job *j, size_t first, const struct fr__job_framework *f)
{
    size_t i = 0;

    while (i < j->n_frameworks && j->frameworks[i] != f)
        i++;
    if (i == j->n_frameworks && i < FR__JOB_MOST_FILES)
        j->frameworks[j->n_frameworks++] = f;
    for (i = first; i < j->arguments.n; i++)
        j->arguments.framework[i] = f;
}

enum fr_status fr__job_note(struct fr_job *j, struct fr_error *err, const char *format, ...)
{
    char text[TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t i = 0; i < j->summary.n_notes; i++)
        if (strcmp(j->notes[i], text) == 0)
            return FR_OK;
    if (j->summary.n_notes >= MOST_NOTES)
        return FR_OK;
    FR_TRY(make_room(j, &j->notes, j->summary.n_notes, &j->cap_notes, sizeof(*j->notes), err));
    j->notes[j->summary.n_notes] = fr__arena_strdup(j->arena, text);
    if (!j->notes[j->summary.n_notes])
        return fr__fail_nomem(err);
    j->summary.n_notes++;
    j->summary.notes = j->notes;
    return FR_OK;
}

enum fr_status fr__job_set(struct fr_job *j, enum fr__job_fact_kind k, struct fr_error *err,
                           const char *format, ...)
{
    char text[TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (j->facts[k].unknown) /* what an argument leaves open does not follow from others */
        return FR_OK;
    j->facts[k].value = fr__arena_strdup(j->arena, text);
    return j->facts[k].value ? FR_OK : fr__fail_nomem(err);
}

uint64_t fr__job_number(const struct fr_job *j, enum fr__job_fact_kind k)
{
    const char *text = j->facts[k].value;
    uint64_t n = 0;

    for (; text && *text >= '0' && *text <= '9' && n < UINT32_MAX; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    return text && !*text && n < UINT32_MAX ? n : 0;
}

bool fr__job_is(const struct fr_job *j, enum fr__job_fact_kind k, const char *value)
{
    return j->facts[k].value && strcmp(j->facts[k].value, value) == 0;
}
