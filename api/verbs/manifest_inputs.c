/* api/verbs/manifest_inputs.c - the files that the words of a command name, and what is in them. */
#include "config.h"

#include "api/verbs/manifest.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 1024, BLOCK = 65536 };

struct inputs {
    struct fr__arena *arena;
    struct fr__input *rows; /* [MOST_INPUTS] */
    size_t n;
};

static enum fr_status read_digest(const char *path, struct fr__input *in, struct fr_error *err)
{
    char block[BLOCK];
    size_t n;
    FILE *f;
    bool is_whole;

    FR_TRY(fr__file_open(path, &f, &in->bytes, err));
    in->digest = FR__FNV_START;
    in->bytes = 0;
    while ((n = fread(block, 1, sizeof(block), f)) > 0) {
        in->digest = fr__fnv(in->digest, block, n);
        in->bytes += n;
    }
    is_whole = ferror(f) == 0;
    fclose(f);
    return is_whole ? FR_OK : fr__fail(err, FR_EIO, (struct fr_loc){path, 0, 0}, "cannot be read");
}

static enum fr_status add_file(struct inputs *in, const char *path, struct fr_error *err)
{
    struct fr__input *row = &in->rows[in->n];

    for (size_t i = 0; i < in->n; i++)
        if (strcmp(in->rows[i].path, path) == 0)
            return FR_OK;
    if (in->n == MOST_INPUTS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a manifest holds at most %d files",
                        MOST_INPUTS);
    row->path = fr__arena_strdup(in->arena, path);
    if (!row->path)
        return fr__fail_nomem(err);
    FR_TRY(read_digest(path, row, err));
    in->n++;
    return FR_OK;
}

/* The files of a folder, none of folders in it. */
static enum fr_status add_folder(struct inputs *in, const char *folder, struct fr_error *err)
{
    struct dirent **entries;
    char path[PATH_MAX];
    int n = scandir(folder, &entries, NULL, alphasort);
    enum fr_status st = FR_OK;

    if (n < 0)
        return fr__fail(err, FR_EIO, (struct fr_loc){folder, 0, 0}, "cannot be read");
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;

        if (st == FR_OK && name[0] != '.' &&
            snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
            !fr__is_folder(path))
            st = add_file(in, path, err);
        free(entries[i]);
    }
    free(entries);
    return st;
}

static enum fr_status add_if_there(struct inputs *in, const char *word, size_t n,
                                   struct fr_error *err)
{
    char path[PATH_MAX];

    if (n == 0 || n >= sizeof(path))
        return FR_OK;
    memcpy(path, word, n);
    path[n] = '\0';
    /* a folder that happens to be called like a model or a strategy is none of its files */
    if (!strpbrk(path, "/.") || !fr__exists(path))
        return FR_OK;
    return fr__is_folder(path) ? add_folder(in, path, err) : add_file(in, path, err);
}

/* The value itself, "FILE:KEY=VALUE" without its options, and each word between separators:
 * "placement:file=a.csv", "2x node.yaml via eth:25Gbps". */
static enum fr_status add_value(struct inputs *in, const char *value, struct fr_error *err)
{
    static const char separators[] = "=:,;+ ";
    const char *colon = strrchr(value, ':');

    FR_TRY(add_if_there(in, value, strlen(value), err));
    if (colon)
        FR_TRY(add_if_there(in, value, (size_t)(colon - value), err));
    for (const char *at = value; *at;) {
        size_t n = strcspn(at, separators);

        FR_TRY(add_if_there(in, at, n, err));
        at += n;
        at += strspn(at, separators);
    }
    return FR_OK;
}

/* Files that are written are no inputs. */
static bool is_output(const struct fr__options *o, const char *value)
{
    for (size_t i = 0; i < o->n_files; i++)
        if (strcmp(o->files[i], value) == 0)
            return true;
    return o->manifest && strcmp(o->manifest, value) == 0;
}

enum fr_status fr__manifest_inputs(const struct fr__options *o, struct fr__arena *arena,
                                   const struct fr__input **out, size_t *n, struct fr_error *err)
{
    struct inputs in = {.arena = arena,
                        .rows = fr__arena_alloc(arena, MOST_INPUTS, sizeof(*in.rows))};

    if (!in.rows)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < o->n_typed; i++)
        if (o->typed[i].value && !is_output(o, o->typed[i].value))
            FR_TRY(add_value(&in, o->typed[i].value, err));
    *out = in.rows;
    *n = in.n;
    return FR_OK;
}
