/* base/same_file.c - whether two names lead to one file.
 *
 * It is separate from base/file.c because nothing is opened: a file that exists is known by its
 * device and number, and one that is still to be made by the folder it will stand in and its name
 * there, behind all links.
 */
#include "config.h"

#include "base/file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a file stands or will stand. */
struct place {
    struct stat file, folder; /* of the file only when it exists */
    bool exists;
    char name[PATH_MAX]; /* in the folder */
};

/* What a link that stands at path leads to, as a path from here. false: path is no link, or the
 * result is too long. */
static bool follow_link(const char *path, char target[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char text[PATH_MAX];
    ssize_t n = readlink(path, text, sizeof(text) - 1);

    if (n <= 0)
        return false;
    text[n] = '\0';
    if (text[0] == '/')
        folder = 0;
    if (folder + (size_t)n >= PATH_MAX)
        return false;
    memcpy(target, path, folder);
    memcpy(target + folder, text, (size_t)n + 1);
    return true;
}

/* false: nothing can stand there, for instance because there is no such folder. */
static bool find_place(const char *path, struct place *p)
{
    enum { MOST_LINKS = 40 }; /* as Linux follows in one path */
    char at[PATH_MAX], next[PATH_MAX];
    const char *slash;
    size_t n = strlen(path);

    p->exists = stat(path, &p->file) == 0;
    if (p->exists)
        return true;
    if (n == 0 || n >= sizeof(at))
        return false;
    memcpy(at, path, n + 1);
    for (unsigned i = 0; follow_link(at, next); i++) {
        if (i == MOST_LINKS)
            return false;
        memcpy(at, next, strlen(next) + 1);
    }
    slash = strrchr(at, '/');
    memcpy(p->name, slash ? slash + 1 : at, strlen(slash ? slash + 1 : at) + 1);
    if (slash)
        at[slash - at + 1] = '\0';
    return p->name[0] && stat(slash ? at : ".", &p->folder) == 0 && S_ISDIR(p->folder.st_mode);
}

static bool are_equal(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool fr__is_same_file(const char *a, const char *b)
{
    struct place x, y;

    if (!find_place(a, &x) || !find_place(b, &y) || x.exists != y.exists)
        return false;
    if (x.exists)
        return are_equal(&x.file, &y.file);
    return are_equal(&x.folder, &y.folder) && strcmp(x.name, y.name) == 0;
}
