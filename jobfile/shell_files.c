/* jobfile/shell_files.c - the files of a script: their letters with places, what #SBATCH lines
 * give, which of them sources which. */
#include "config.h"

#include "base/utf8.h"
#include "jobfile/shell_state.h"

#include <string.h>

/* Words of "#SBATCH --nodes=4". */
static enum fr_status read_directives(struct fr__shell_state *s, const struct fr__cells *text)
{
    struct fr__scan x = {.text = *text};

    for (bool is_start = true; x.i < text->n; x.i++) {
        if (is_start && fr__scan_has(&x, "#SBATCH")) {
            x.i += 7;
            while (x.i < text->n && fr__scan_at(&x, 0) != '\n') {
                struct fr__cells word = {.n = 0};

                for (; x.i < text->n && !strchr(" \t\r\n=", fr__scan_at(&x, 0)); x.i++)
                    FR_TRY(fr__cells_add(s, &word, x.text.at[x.i]));
                if (word.n) {
                    FR_TRY(fr__shell_room(s, &s->directives, s->n_directives, &s->cap_directives,
                                          sizeof(*s->directives)));
                    FR_TRY(fr__cells_word(s, &word, &s->directives[s->n_directives]));
                    s->n_directives++;
                }
                x.i += x.i < text->n && fr__scan_at(&x, 0) != '\n';
            }
        }
        is_start = x.i < text->n && x.text.at[x.i].c == '\n';
    }
    return FR_OK;
}

static enum fr_status cells_of(struct fr__shell_state *s, size_t file, struct fr__cells *out)
{
    const struct fr__shell_text *f = &s->in->files[file];
    size_t next = 0, n = 0; /* where the next character begins; of this one */
    uint32_t line = 1, col = 1;

    if (f->len > FR__SHELL_MOST_BYTES)
        return fr__fail(s->err, FR_ERANGE, (struct fr_loc){f->name, 0, 0},
                        "the script has %zu bytes, more than %d", f->len,
                        (int)FR__SHELL_MOST_BYTES);
    out->at = fr__arena_take(s->arena, f->len ? f->len : 1, sizeof(*out->at));
    if (!out->at)
        return fr__fail_nomem(s->err);
    out->n = out->cap = f->len;
    for (size_t i = 0; i < f->len; i++) {
        char c = f->text[i];

        if (i == next) {
            n = fr__utf8_length(f->text + i, f->len - i);
            next += n;
        }
        if (c == '\0' || n == 0)
            return fr__fail(s->err, FR_EPARSE, (struct fr_loc){f->name, line, col},
                            "the script is no text in UTF-8");
        out->at[i] = (struct fr__cell){c, (uint8_t)file, 0, line, col};
        col = c == '\n' ? 1 : col + (((unsigned char)c & 0xC0) != 0x80); /* characters */
        line += c == '\n';
    }
    return FR_OK;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Slurm gives a script the number of its nodes and of their GPUs (sbatch(1), OUTPUT ENVIRONMENT
 * VARIABLES). */
static enum fr_status give_directives(struct fr__shell_state *s)
{
    static const char *const gives[][2] = {{"--nodes", "SLURM_NNODES"},
                                           {"-N", "SLURM_NNODES"},
                                           {"--nodes", "SLURM_JOB_NUM_NODES"},
                                           {"-N", "SLURM_JOB_NUM_NODES"},
                                           {"--gpus-per-node", "SLURM_GPUS_PER_NODE"},
                                           {"--gpus-per-node", "SLURM_GPUS_ON_NODE"},
                                           {"--ntasks-per-node", "SLURM_NTASKS_PER_NODE"}};

    for (size_t i = 0; i + 1 < s->n_directives; i++)
        for (size_t k = 0; k < sizeof(gives) / sizeof(gives[0]); k++) {
            const char *value = s->directives[i + 1].text;
            struct fr__fields fields = {.n = 0};
            struct fr__cells cells = {.n = 0};

            if (strcmp(s->directives[i].text, gives[k][0]) != 0 || !value[0] ||
                value[strspn(value, "0123456789")])
                continue;
            for (const char *c = value; *c; c++)
                FR_TRY(fr__cells_add(s, &cells, (struct fr__cell){*c, UINT8_MAX, 0, 0, 0}));
            FR_TRY(fr__fields_add(s, &fields, cells));
            FR_TRY(fr__shell_assign(s, gives[k][1], &fields, false, false));
        }
    return FR_OK;
}

static enum fr_status run_file(struct fr__shell_state *s, size_t i)
{
    struct fr__cells text;

    s->is_sourced[i] = true;
    FR_TRY(cells_of(s, i, &text));
    FR_TRY(read_directives(s, &text));
    FR_TRY(give_directives(s));
    return fr__shell_run(s, text);
}

enum fr_status fr__shell_source(struct fr__shell_state *s, const char *name, bool *is_known)
{
    *is_known = false;
    for (size_t i = 0; i < s->in->n_files; i++) {
        if (s->is_sourced[i] || strcmp(last_part(s->in->files[i].name), last_part(name)) != 0)
            continue;
        *is_known = true;
        return run_file(s, i);
    }
    return FR_OK;
}

static enum fr_status give_values(struct fr__shell_state *s)
{
    for (size_t i = 0; i < s->in->n_values; i++) {
        const struct fr__shell_value *v = &s->in->values[i];
        struct fr__fields fields = {.n = 0};
        struct fr__cells cells = {.n = 0};

        for (const char *c = v->value; *c; c++)
            FR_TRY(fr__cells_add(s, &cells, (struct fr__cell){*c, UINT8_MAX, 0, 0, 0}));
        FR_TRY(fr__fields_add(s, &fields, cells));
        FR_TRY(fr__shell_assign(s, v->name, &fields, false, false));
        fr__shell_find(s, v->name)->is_fixed = true;
    }
    return FR_OK;
}

/* Whether a file before or behind it sources it by name: then it is run there alone. */
static bool is_part(const struct fr__shell_input *in, size_t file)
{
    const char *name = last_part(in->files[file].name);
    size_t n = strlen(name);

    for (size_t k = 0; k < in->n_files; k++) {
        const struct fr__shell_text *f = &in->files[k];

        if (k == file)
            continue;
        for (size_t i = 0; i + n <= f->len; i++)
            if (memcmp(f->text + i, name, n) == 0)
                return true;
    }
    return false;
}

enum fr_status fr__shell_read(struct fr__arena *a, const struct fr__shell_input *in,
                              struct fr__shell *out, struct fr_error *err)
{
    struct fr__shell_state s = {.arena = a, .in = in, .err = err};

    if (in->n_files > FR__SHELL_MOST_FILES)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %d files",
                        (int)FR__SHELL_MOST_FILES);
    FR_TRY(give_values(&s));
    for (size_t i = 0; i < in->n_files; i++)
        if (!s.is_sourced[i] && !is_part(in, i))
            FR_TRY(run_file(&s, i));
    for (size_t i = 0; i < in->n_files; i++) /* named, but not in a `source` that runs */
        if (!s.is_sourced[i])
            FR_TRY(run_file(&s, i));
    *out = (struct fr__shell){s.commands, s.n_commands, s.directives, s.n_directives,
                              s.made,     s.n_made,     s.notes,      s.n_notes};
    return FR_OK;
}
