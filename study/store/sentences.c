/* study/store/sentences.c - the messages with which both kinds of store refuse. */
#include "config.h"

#include "base/error.h"
#include "study/store/store.h"

enum fr_status fr__store_fail_version(const char *path, int format, const char *version,
                                      struct fr_error *err)
{
    return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                    "is a store of forerun %.40s in format %d, this is forerun %s with format %d; "
                    "start a new one",
                    version, format, fr_version(), FR_STORE_FORMAT);
}

enum fr_status fr__store_fail_busy(const char *path, struct fr_error *err)
{
    return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                    "another process has this store open; give each its own and merge them");
}

enum fr_status fr__store_fail_conflict(const char *path, const char *key, struct fr_error *err)
{
    return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                    "already holds another answer to %s", key);
}

enum fr_status fr__store_fail_input(const char *path, const char *name, struct fr_error *err)
{
    char excerpt[FR__EXCERPT];

    return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                    "'%s' has changed since this store was filled; start a new one",
                    fr__excerpt(name, excerpt));
}
