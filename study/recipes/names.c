/* study/recipes/names.c - what recipes are called, and which are shipped. */
#include "config.h"

#include "study/recipes/names.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SHIPPED = 64 };

bool fr__recipe_is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".yaml") == 0);
}

const struct fr__recipe_text *fr__recipe_text(const char *name)
{
    for (const struct fr__recipe_text *t = fr__recipe_texts; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

enum fr_status fr__recipe_unknown(const char *name, enum fr_status code, struct fr_loc loc,
                                  struct fr_error *err)
{
    const char *names[MOST_SHIPPED];
    char hint[128];
    size_t n = 0;

    for (; fr__recipe_texts[n].name && n < MOST_SHIPPED; n++)
        names[n] = fr__recipe_texts[n].name;
    return fr__fail(err, code, loc, "no recipe '%.60s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

enum fr_status fr__recipe_exists(const char *name, struct fr_error *err)
{
    if (strcmp(name, "usual") == 0 || fr__recipe_text(name))
        return FR_OK;
    if (!fr__recipe_is_path(name))
        return fr__recipe_unknown(name, FR_EUSAGE, FR_NOWHERE, err);
    if (access(name, F_OK) == 0)
        return FR_OK;
    return fr__fail(err, FR_ENOENT, (struct fr_loc){name, 0, 0}, "cannot open: %s",
                    strerror(errno));
}
