/* base/same_file.c - whether two names lead to one file.
 *
 * It is separate from base/file.c because nothing is opened: a file that exists is known by its
 * device and number, and one that is still to be made by the folder it will stand in and its name
 * there, behind all links.
 */
#include "config.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a link that stands at path leads to, as a path from here, on the heap. NULL: path is no
 * link, or there is no memory. */
static char *follow_link(const char *path)
{
    enum { ROOM = 4096 };
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char *target = malloc(folder + ROOM);
    ssize_t n = target ? readlink(path, target + folder, ROOM - 1) : -1;

    if (n <= 0) {
        free(target);
        return NULL;
    }
    target[folder + (size_t)n] = '\0';
    if (target[folder] == '/')
        memmove(target, target + folder, (size_t)n + 1);
    else
        memcpy(target, path, folder);
    return target;
}

/* Where a file will stand that is not there yet: its path behind all links, on the heap, and its
 * folder. NULL: nothing can stand there, for instance because there is no such folder. */
static char *find_place(const char *path, const char **name, struct stat *folder)
{
    enum { MOST_LINKS = 40 }; /* as Linux follows in one path */
    char *at = strdup(path), *next = at, *slash;
    int is_there;

    for (unsigned i = 0; at && next && i <= MOST_LINKS; i++) {
        next = follow_link(at);
        if (next) {
            free(at);
            at = next;
        }
    }
    slash = at ? strrchr(at, '/') : NULL;
    *name = slash ? slash + 1 : at;
    if (at && !next && **name) {
        char kept = **name;

        if (slash)
            slash[1] = '\0';
        is_there = stat(slash ? at : ".", folder) == 0 && S_ISDIR(folder->st_mode);
        if (slash)
            slash[1] = kept;
        if (is_there)
            return at;
    }
    free(at);
    return NULL;
}

static bool are_equal(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool fr__is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0, is_same;
    const char *name_a, *name_b;
    char *place_a, *place_b;

    if (has_a || has_b)
        return has_a && has_b && are_equal(&x, &y);
    place_a = find_place(a, &name_a, &x);
    place_b = find_place(b, &name_b, &y);
    is_same = place_a && place_b && are_equal(&x, &y) && strcmp(name_a, name_b) == 0;
    free(place_a);
    free(place_b);
    return is_same;
}
