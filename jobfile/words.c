/* jobfile/words.c - the arguments of the training program among all that a script runs.
 *
 * The program is the first word of a command that ends in ".py", or what follows "-m". Of all
 * commands the one counts whose words a framework knows most of: evaluation, conversion and
 * preparation stand in the same scripts.
 */
#include "config.h"

#include "jobfile/read.h"

#include <ctype.h>
#include <string.h>

enum { LEAST_KNOWN = 3, NAME = 128 };

static bool is_option(const struct fr__shell_word *w)
{
    return w->text[0] == '-' && w->text[1] == '-' && isalpha((unsigned char)w->text[2]);
}

static bool ends_in_py(const char *text)
{
    size_t n = strlen(text);

    return n > 3 && strcmp(text + n - 3, ".py") == 0;
}

/* The program's number among the words; n: there is none. */
static size_t program_of(const struct fr__shell_command *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (ends_in_py(c->words[i].text))
            return i;
    for (size_t i = 0; i + 1 < c->n; i++) /* python -m package.train */
        if (strcmp(c->words[i].text, "-m") == 0 && strchr(c->words[i + 1].text, '.') &&
            strncmp(c->words[i + 1].text, "torch.distributed", 17) != 0)
            return i + 1;
    return c->n;
}

/* "--some_name=1" as "some-name". */
static void name_of(const char *word, char name[NAME])
{
    size_t n = 0;

    for (word += 2; *word && *word != '=' && n + 1 < NAME; word++)
        name[n++] = *word == '_' ? '-' : *word;
    name[n] = '\0';
}

static size_t count_known(const struct fr__shell_command *c, const struct fr__job_framework *f)
{
    size_t program = program_of(c), n = 0;
    struct fr__job_row row;
    char name[NAME];

    for (size_t i = program < c->n ? program + 1 : 0; i < c->n; i++) {
        if (!is_option(&c->words[i]))
            continue;
        name_of(c->words[i].text, name);
        n += fr__job_look_up(f, name, 0, &row);
    }
    return n;
}

/* The words of an argument, which go on to the next one, as one text. */
static enum fr_status value_of(struct fr_job *j, const struct fr__shell_command *c, size_t *i,
                               const char **value, const char **unknown, struct fr_error *err)
{
    size_t last = *i + 1, len = 0;
    char *text;

    *value = strchr(c->words[*i].text, '=');
    if (*value) {
        ++*value;
        return FR_OK;
    }
    for (; last < c->n && !is_option(&c->words[last]); last++)
        len += strlen(c->words[last].text) + 1;
    if (last == *i + 1)
        return FR_OK;
    text = fr__arena_alloc(j->arena, len, 1);
    if (!text)
        return fr__fail_nomem(err);
    *value = text;
    for (size_t k = *i + 1; k < last; k++) {
        size_t n = strlen(c->words[k].text);

        memcpy(text, c->words[k].text, n);
        text += n;
        *text++ = k + 1 < last ? ' ' : '\0';
        *unknown = *unknown ? *unknown : c->words[k].unknown;
    }
    *i = last - 1;
    return FR_OK;
}

/* A word without a value, "$EXTRA_ARGS", may hold anything. */
static enum fr_status note_unset(struct fr_job *j, const struct fr__shell_word *w,
                                 struct fr_error *err)
{
    return fr__job_note(j, err,
                        "%s:%u:%u: %s has no value; nothing is taken for it (--set "
                        "'%s=VALUE')",
                        w->loc.file ? w->loc.file : "", w->loc.line, w->loc.col, w->unknown,
                        w->unknown);
}

/* "--option VALUE $EXTRA": an unknown word alone behind the first value is no part of it. */
static bool is_stray(const struct fr__shell_command *c, size_t i)
{
    return c->words[i].unknown && strcmp(c->words[i].text, "?") == 0 &&
           !(i > 0 && is_option(&c->words[i - 1]) && !strchr(c->words[i - 1].text, '='));
}

static enum fr_status take_words(struct fr_job *j, struct fr__job_list *to,
                                 const struct fr__shell_command *c, struct fr_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct fr__shell_word *w = &c->words[i];
        const char *value = NULL, *unknown = w->unknown;
        char *name;

        if (!is_option(w))
            continue;
        name = fr__arena_strndup(j->arena, w->text, strcspn(w->text, "="));
        if (!name)
            return fr__fail_nomem(err);
        FR_TRY(value_of(j, c, &i, &value, &unknown, err));
        FR_TRY(fr__job_add(j, to, name, value, unknown, w->loc, err));
    }
    return FR_OK;
}

/* Without words that stand for nothing. */
static enum fr_status without_strays(struct fr_job *j, const struct fr__shell_command *c,
                                     size_t first, size_t last, struct fr__shell_command *out,
                                     struct fr_error *err)
{
    struct fr__shell_word *words = fr__arena_alloc(j->arena, c->n ? c->n : 1, sizeof(*words));

    if (!words)
        return fr__fail_nomem(err);
    *out = (struct fr__shell_command){words, 0};
    for (size_t i = first; i < last; i++) {
        if (is_stray(c, i))
            FR_TRY(note_unset(j, &c->words[i], err));
        else
            words[out->n++] = c->words[i];
    }
    return FR_OK;
}

/* "-N 4" as "--N 4", for the launcher's table. */
static enum fr_status take_launcher(struct fr_job *j, const struct fr__shell_word *words, size_t n,
                                    struct fr_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = words[i].text, *equals = strchr(text, '=');
        char *name;
        bool has_next = i + 1 < n && words[i + 1].text[0] != '-';

        if (text[0] != '-' || !text[1])
            continue;
        name = fr__arena_strndup(j->arena, text, strcspn(text, "="));
        if (!name)
            return fr__fail_nomem(err);
        FR_TRY(fr__job_add(j, &j->launcher, name,
                           equals     ? equals + 1
                           : has_next ? words[i + 1].text
                                      : NULL,
                           equals     ? words[i].unknown
                           : has_next ? words[i + 1].unknown
                                      : NULL,
                           words[i].loc, err));
    }
    return FR_OK;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static enum fr_status take_command(struct fr_job *j, const struct fr__shell *s,
                                   const struct fr__shell_command *c, struct fr_error *err)
{
    size_t program = program_of(c);
    struct fr__shell_command rest = {.n = 0};

    FR_TRY(take_launcher(j, s->directives, s->n_directives, err));
    if (program < c->n)
        FR_TRY(take_launcher(j, c->words, program, err));
    FR_TRY(without_strays(j, c, program < c->n ? program + 1 : 0, c->n, &rest, err));
    if (program < c->n)
        j->facts[FR__JOB_PROGRAM] = (struct fr__job_held){
            .value = last_part(c->words[program].text), .loc = c->words[program].loc};
    return take_words(j, &j->arguments, &rest, err);
}

/* Half of a program's arguments are known, or it is another one. */
static bool is_known(const struct fr__shell_command *c, size_t n_known)
{
    size_t program = program_of(c), n = 0;

    for (size_t i = program < c->n ? program + 1 : 0; i < c->n; i++)
        n += is_option(&c->words[i]);
    return n_known >= LEAST_KNOWN && 2 * n_known > n;
}

/* What is known of the launch alone, where another file says the rest. */
static enum fr_status take_launch(struct fr_job *j, const struct fr__shell_input *in,
                                  const struct fr__shell *s, struct fr_error *err)
{
    FR_TRY(take_launcher(j, s->directives, s->n_directives, err));
    for (size_t i = 0; i < s->n_commands; i++)
        if (program_of(&s->commands[i]) < s->commands[i].n)
            FR_TRY(take_launcher(j, s->commands[i].words, program_of(&s->commands[i]), err));
    return fr__job_note(j, err,
                        "%s: no command is of a framework that is known here; but for numbers of "
                        "GPUs nothing is taken from it",
                        in->files[0].name);
}

static enum fr_status fail_nothing(const struct fr__shell_input *in, const struct fr__shell *s,
                                   struct fr_error *err)
{
    struct fr_loc whole = {in->files[0].name, 0, 0};

    return fr__fail(err, FR_EPARSE, whole,
                    "none of the %zu commands of the script has arguments of a framework that is "
                    "known here (Megatron-LM and its kin)",
                    s->n_commands);
}

/* Configurations that the script writes. */
static enum fr_status read_made(struct fr_job *j, const struct fr__shell *s,
                                const struct fr__shell_input *in, struct fr_error *err)
{
    for (size_t i = 0; i < s->n_made; i++) {
        const struct fr__shell_made *m = &s->made[i];
        const struct fr__shell_text text = {m->name.text, m->body.text, strlen(m->body.text)};
        struct fr_error why = {.code = FR_OK};
        enum fr_status st;

        if (text.len < 6 || !strstr(text.name, ".json"))
            continue;
        st = fr__job_read_tree(j, &text, in, &why); /* others are for other programs */
        if (st == FR_ENOMEM)
            return fr__fail_nomem(err);
        if (st != FR_OK)
            FR_TRY(fr__job_note(j, err, "%.80s, which the script writes, is left out: %.200s",
                                text.name, why.text));
    }
    return FR_OK;
}

enum fr_status fr__job_read_shell(struct fr_job *j, const struct fr__shell_input *in, bool is_alone,
                                  struct fr_error *err)
{
    const struct fr__job_framework *framework = NULL;
    const struct fr__shell_command *best = NULL;
    struct fr__shell s;
    size_t most = 0, first = j->arguments.n;

    FR_TRY(fr__shell_read(j->arena, in, &s, err));
    for (size_t i = 0; i < s.n_commands; i++)
        for (size_t k = 0; k < fr__n_job_frameworks; k++) {
            const struct fr__job_framework *f = &fr__job_frameworks[k];
            size_t n = strcmp(f->syntax, "words") == 0 ? count_known(&s.commands[i], f) : 0;

            if (n < most || !is_known(&s.commands[i], n) || (n == most && best == &s.commands[i]))
                continue;
            most = n;
            best = &s.commands[i];
            framework = f;
        }
    if (!best)
        return is_alone ? fail_nothing(in, &s, err) : take_launch(j, in, &s, err);
    FR_TRY(take_command(j, &s, best, err));
    fr__job_settle(j, first, framework);
    FR_TRY(read_made(j, &s, in, err));
    for (size_t i = 0; i < s.n_notes; i++)
        FR_TRY(fr__job_note(j, err, "%s:%u: %s", s.notes[i].loc.file ? s.notes[i].loc.file : "",
                            s.notes[i].loc.line, s.notes[i].text));
    return FR_OK;
}
