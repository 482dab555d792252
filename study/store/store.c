/* study/store/store.c - opens a store of either kind; merges stores. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "study/store/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fr_store {
    const struct fr__store_kind *kind;
    void *state;
};

bool fr_has_sqlite(void)
{
#ifdef HAVE_SQLITE
    return true;
#else
    return false;
#endif
}

static bool is_csv(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".csv") == 0;
}

static enum fr_status choose_kind(const char *path, const struct fr__store_kind **out,
                                  struct fr_error *err)
{
    *out = &fr__store_csv;
    if (is_csv(path))
        return FR_OK;
#ifdef HAVE_SQLITE
    (void)err;
    *out = &fr__store_sqlite;
    return FR_OK;
#else
    return fr__fail(err, FR_EUNSUPPORTED, (struct fr_loc){path, 0, 0},
                    "this build has no SQLite; name the store .csv");
#endif
}

/* SQLite would call it an error of the disk. */
static enum fr_status check_regular(const char *path, struct fr_error *err)
{
    struct stat sb;

    if (stat(path, &sb) != 0 || S_ISREG(sb.st_mode))
        return FR_OK;
    return fr__fail(err, FR_EPARSE, (struct fr_loc){path, 0, 0}, "is %s, expected a regular file",
                    S_ISDIR(sb.st_mode) ? "a folder" : "a pipe or a device");
}

enum fr_status fr_store_open(struct fr_store **out, const char *path, struct fr_error *err)
{
    struct fr_store *s;
    enum fr_status st;

    FR_TRY(check_regular(path, err));
    s = malloc(sizeof(*s));
    if (!s)
        return fr__fail_nomem(err);
    st = choose_kind(path, &s->kind, err);
    if (st == FR_OK)
        st = s->kind->open(&s->state, path, err);
    if (st == FR_OK)
        *out = s;
    else
        free(s);
    return st;
}

enum fr_status fr_store_put(struct fr_store *s, const struct fr_sweep_row *row,
                            struct fr_error *err)
{
    return s->kind->put(s->state, row, err);
}

enum fr_status fr_store_each(struct fr_store *s, bool with_records, fr__take_row take, void *user,
                             struct fr_error *err)
{
    return s->kind->each(s->state, with_records, take, user, err);
}

enum fr_status fr_store_input(struct fr_store *s, const char *name, const char *digest,
                              struct fr_error *err)
{
    return s->kind->input(s->state, name, digest, err);
}

enum fr_status fr_store_close(struct fr_store *s, struct fr_error *err)
{
    enum fr_status st;

    if (!s)
        return FR_OK;
    st = s->kind->close(s->state, err);
    free(s);
    return st;
}

/* ---- merging ---- */

static enum fr_status copy_row(void *user, const struct fr_sweep_row *row, struct fr_error *err)
{
    return fr_store_put(user, row, err);
}

static enum fr_status copy_input(void *user, const char *name, const char *digest,
                                 struct fr_error *err)
{
    return fr_store_input(user, name, digest, err);
}

static enum fr_status merge_one(struct fr_store *out, const char *path, struct fr_error *err)
{
    struct fr_store *in;
    enum fr_status st;

    FR_TRY(fr_store_open(&in, path, err));
    st = in->kind->inputs(in->state, copy_input, out, err);
    if (st == FR_OK)
        st = fr_store_each(in, true, copy_row, out, err);
    if (st == FR_OK)
        return fr_store_close(in, err);
    (void)fr_store_close(in, NULL);
    return st;
}

/* Checks that all inputs exist, since opening a missing store would make it. */
static enum fr_status check_inputs(const char *out, const char *const in[], size_t n,
                                   struct fr_error *err)
{
    struct stat a, b;
    bool has_out = stat(out, &a) == 0;

    for (size_t i = 0; i < n; i++) {
        if (stat(in[i], &b) != 0)
            return fr__fail(err, FR_ENOENT, (struct fr_loc){in[i], 0, 0}, "there is no such store");
        if (has_out && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
            return fr__fail(err, FR_EUSAGE, (struct fr_loc){in[i], 0, 0},
                            "cannot be merged into itself");
    }
    return FR_OK;
}

/* Puts all rows of all stores into s, or none. */
static enum fr_status merge_all(struct fr_store *s, const char *const in[], size_t n,
                                struct fr_error *err)
{
    enum fr_status st = FR_OK;

    FR_TRY(s->kind->begin(s->state, err));
    for (size_t i = 0; i < n && st == FR_OK; i++)
        st = merge_one(s, in[i], err);
    if (st == FR_OK)
        st = s->kind->end(s->state, true, err);
    if (st != FR_OK)
        (void)s->kind->end(s->state, false, NULL);
    return st;
}

enum fr_status fr_stores_merge(const char *out, const char *const in[], size_t n,
                               struct fr_error *err)
{
    struct fr_store *s;
    enum fr_status st;
    struct stat sb;
    bool is_new;

    FR_TRY(check_inputs(out, in, n, err));
    is_new = stat(out, &sb) != 0;
    FR_TRY(fr_store_open(&s, out, err));
    st = merge_all(s, in, n, err);
    if (st == FR_OK)
        return fr_store_close(s, err);
    (void)fr_store_close(s, NULL);
    if (is_new)
        (void)unlink(out);
    return st;
}
