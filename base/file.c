/* base/file.c - whole files in, and files that appear whole or not at all. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* verb: what could not be done. A file that was to be read and is not there is bad input; one that
 * cannot be written is a failure. */
static enum fr_status fail_errno(struct fr_error *err, const char *path, const char *verb)
{
    int e = errno;
    bool is_input = strcmp(verb, "write") != 0;
    /* the name leads nowhere, or not for this user: the input is at fault, not the machine */
    bool is_missing = e == ENOENT || e == ENOTDIR || e == ELOOP || e == ENAMETOOLONG || e == EACCES;

    return fr__fail(err, is_input && is_missing ? FR_ENOENT : FR_EIO, (struct fr_loc){path, 0, 0},
                    "cannot %s: %s", verb, strerror(e));
}

enum fr_status fr__file_open(const char *path, FILE **out, uint64_t *len, struct fr_error *err)
{
    const struct fr_loc whole = {path, 0, 0};
    /* O_NONBLOCK: opening a pipe that nobody writes would wait forever */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    enum fr_status st;
    struct stat sb;
    FILE *f;

    if (fd < 0)
        return fail_errno(err, path, "open");
    if (fstat(fd, &sb) != 0)
        st = fail_errno(err, path, "read");
    else if (S_ISDIR(sb.st_mode))
        st = fr__fail(err, FR_EPARSE, whole, "is a folder, expected a file");
    else if (!S_ISREG(sb.st_mode))
        st = fr__fail(err, FR_EPARSE, whole, "is a pipe or a device, expected a regular file");
    else if (!(f = fdopen(fd, "rb")))
        st = fail_errno(err, path, "open");
    else {
        *out = f;
        *len = sb.st_size > 0 ? (uint64_t)sb.st_size : 0;
        return FR_OK;
    }
    close(fd);
    return st;
}

static enum fr_status fail_too_large(struct fr_error *err, const char *path, size_t max_bytes)
{
    char limit[32];

    return fr__fail(err, FR_ERANGE, (struct fr_loc){path, 0, 0}, "is larger than %s",
                    fr__format_bytes((double)max_bytes, limit, sizeof(limit)));
}

/* Reads to the end: the size that fstat gave is a hint only, the file may grow meanwhile. */
static enum fr_status read_all(FILE *f, const char *path, size_t max_bytes, size_t hint, char **out,
                               size_t *len, struct fr_error *err)
{
    size_t cap = hint < max_bytes ? hint + 1 : max_bytes;
    size_t used = 0;
    char *buf = malloc(cap + 1);

    if (!buf)
        return fr__fail_nomem(err);
    for (;;) {
        size_t room = cap - used, got = fread(buf + used, 1, room, f);
        char *grown;

        used += got;
        if (got < room)
            break;
        if (cap == max_bytes) {
            if (getc(f) == EOF)
                break;
            free(buf);
            return fail_too_large(err, path, max_bytes);
        }
        cap = cap < max_bytes / 2 ? cap * 2 : max_bytes;
        grown = realloc(buf, cap + 1);
        if (!grown) {
            free(buf);
            return fr__fail_nomem(err);
        }
        buf = grown;
    }
    if (ferror(f)) {
        enum fr_status st = fail_errno(err, path, "read");

        free(buf);
        return st;
    }
    buf[used] = '\0';
    *out = buf;
    *len = used;
    return FR_OK;
}

enum fr_status fr__read_file(const char *path, size_t max_bytes, char **out, size_t *len,
                             struct fr_error *err)
{
    enum fr_status st;
    uint64_t size;
    FILE *f;

    assert(max_bytes < SIZE_MAX);
    FR_TRY(fr__file_open(path, &f, &size, err));
    if (size > max_bytes)
        st = fail_too_large(err, path, max_bytes);
    else
        st = read_all(f, path, max_bytes, (size_t)size, out, len, err);
    fclose(f);
    return st;
}

bool fr__is_folder(const char *path)
{
    struct stat sb;

    return stat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}

bool fr__exists(const char *path)
{
    struct stat sb;

    return stat(path, &sb) == 0;
}

char *fr__path_join(const char *folder, const char *file)
{
    size_t len = strlen(folder) + strlen(file) + 2;
    char *path = malloc(len);

    if (path)
        snprintf(path, len, "%s/%s", folder, file);
    return path;
}

/* /dev/null, /dev/stdout and the like, also where the latter leads to a regular file: replacing
 * that by renaming would take it from under the shell's feet. */
static bool is_written_in_place(const char *path, const struct stat *sb)
{
    return !S_ISREG(sb->st_mode) || strncmp(path, "/dev/", 5) == 0 ||
           strncmp(path, "/proc/", 6) == 0;
}

/* Length of the folder part of path with its slash; 0 when there is none. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

static const char TEMPORARY[] = ".forerun-";

/* Whether nobody writes the file any more: its writer holds a lock on it, and is a process of that
 * number. A file that is a minute old without a lock was left by a process of another machine. */
static bool is_left_behind(int fd, const char *name)
{
    enum { OLD_S = 60 };
    unsigned long pid = strtoul(name + sizeof(TEMPORARY) - 1, NULL, 10);
    struct stat sb;

    if (fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode) || sb.st_uid != geteuid() ||
        flock(fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    if (pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return true;
    return difftime(time(NULL), sb.st_mtime) > OLD_S;
}

/* Removes what a killed process of the same user left in the folder. */
static void clean_folder(const char *path, size_t folder_len)
{
    char *folder = folder_len ? strndup(path, folder_len) : strdup(".");
    DIR *d = folder ? opendir(folder) : NULL;
    const struct dirent *e;

    while (d && (e = readdir(d)) != NULL) {
        size_t n = strlen(e->d_name);
        int fd;

        if (strncmp(e->d_name, TEMPORARY, sizeof(TEMPORARY) - 1) != 0 || n < 4 ||
            strcmp(e->d_name + n - 4, ".tmp") != 0)
            continue;
        fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
            continue;
        if (is_left_behind(fd, e->d_name))
            (void)unlinkat(dirfd(d), e->d_name, 0);
        close(fd);
    }
    if (d)
        closedir(d);
    free(folder);
}

/* Makes a new file beside o->path. The name is short, so that it is valid wherever the final one
 * is, and O_EXCL settles who has it: two writers never share one. */
static int create_temporary(struct fr__out *o)
{
    enum { TAIL = 64, ATTEMPTS = 1000 };
    size_t folder = folder_length(o->path);
    int fd = -1;

    o->temporary = malloc(folder + TAIL);
    if (!o->temporary)
        return -1;
    memcpy(o->temporary, o->path, folder);
    clean_folder(o->path, folder);
    for (int i = 0; i < ATTEMPTS; i++) {
        snprintf(o->temporary + folder, TAIL, "%s%ld-%d.tmp", TEMPORARY, (long)getpid(), i);
        fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd >= 0)
        (void)flock(fd, LOCK_EX | LOCK_NB); /* tells clean_folder() that it is in use */
    if (fd < 0) {
        int e = errno;

        free(o->temporary);
        o->temporary = NULL;
        errno = e;
    }
    return fd;
}

/* The file to replace (a link's target, so that the link stays), or path when there is none. */
static char *resolve(const char *path, bool exists)
{
    return exists ? realpath(path, NULL) : strdup(path);
}

/* Never waits: a pipe that nobody reads is refused (ENXIO). Writing may wait for the reader. */
static int open_in_place(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), flags;

    flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
}

enum fr_status fr__out_open(struct fr__out *o, const char *path, struct fr_error *err)
{
    struct stat sb;
    bool exists = stat(path, &sb) == 0;
    int fd;

    *o = (struct fr__out){NULL, NULL, NULL};
    if (exists && S_ISDIR(sb.st_mode))
        return fr__fail(err, FR_EIO, (struct fr_loc){path, 0, 0}, "is a folder, expected a file");
    if (exists && is_written_in_place(path, &sb)) {
        o->path = strdup(path);
        fd = o->path ? open_in_place(path) : -1;
    } else {
        o->path = resolve(path, exists);
        fd = o->path ? create_temporary(o) : -1;
    }
    if (fd < 0) {
        enum fr_status st = errno == ENOMEM ? fr__fail_nomem(err)
                            : errno == ENXIO
                                ? fr__fail(err, FR_EIO, (struct fr_loc){path, 0, 0},
                                           "cannot write: it is a pipe or a device that nobody "
                                           "reads")
                                : fail_errno(err, path, "write");

        fr__out_abort(o);
        return st;
    }
    if (o->temporary && exists) /* keeps the permissions; without them the file is written too */
        (void)!fchmod(fd, sb.st_mode & 0777);
    o->f = fdopen(fd, "wb");
    if (!o->f) {
        close(fd);
        fr__out_abort(o);
        return fr__fail_nomem(err);
    }
    return FR_OK;
}

/* The name of a file is safe on disk only when its folder is; file systems that cannot do that are
 * let pass. */
static void sync_folder(const char *path)
{
    size_t len = folder_length(path);
    char *folder = len ? strndup(path, len) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* 0, or the errno of what failed. */
static int finish(struct fr__out *o)
{
    FILE *f = o->f;
    int e = 0;

    if (fflush(f) != 0)
        e = errno;
    else if (ferror(f))
        e = EIO; /* an earlier write failed, its reason is gone */
    else if (o->temporary && fsync(fileno(f)) != 0)
        e = errno;
    o->f = NULL;
    if (fclose(f) != 0 && e == 0)
        e = errno;
    if (e == 0 && o->temporary && rename(o->temporary, o->path) != 0)
        e = errno;
    return e;
}

enum fr_status fr__out_commit(struct fr__out *o, struct fr_error *err)
{
    enum fr_status st = FR_OK;
    int e = finish(o);

    if (e != 0) {
        st = fr__fail(err, FR_EIO, (struct fr_loc){o->path, 0, 0}, "cannot write: %s", strerror(e));
    } else if (o->temporary) {
        sync_folder(o->path);
        free(o->temporary);
        o->temporary = NULL;
    }
    fr__out_abort(o);
    return st;
}

void fr__out_abort(struct fr__out *o)
{
    if (o->f)
        fclose(o->f);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    free(o->path);
    *o = (struct fr__out){NULL, NULL, NULL};
}

bool fr__ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    return n > m && strcmp(path + n - m, ending) == 0;
}
