/* study/store/store.h - the two kinds of store behind the functions of study/sweep/sweep.h. */
#ifndef FR_STUDY_STORE_STORE_H
#define FR_STUDY_STORE_STORE_H

#include "study/store/row.h"

/* One kind: as the public functions of the same names, on its own state. */
struct fr__store_kind {
    enum fr_status (*open)(void **out, const char *path, struct fr_error *err);
    enum fr_status (*put)(void *store, const struct fr_sweep_row *row, struct fr_error *err);
    enum fr_status (*each)(void *store, bool with_records, fr__take_row take, void *user,
                           struct fr_error *err);
    enum fr_status (*input)(void *store, const char *name, const char *digest,
                            struct fr_error *err);
    enum fr_status (*close)(void *store, struct fr_error *err);
    /* From begin() to end() all that is put stays, or (keep false) nothing of it does: then the
     * store can only be closed. */
    enum fr_status (*begin)(void *store, struct fr_error *err);
    enum fr_status (*end)(void *store, bool keep, struct fr_error *err);
    /* Calls take for each input that was noted, by name. */
    enum fr_status (*inputs)(void *store,
                             enum fr_status (*take)(void *user, const char *name,
                                                    const char *digest, struct fr_error *err),
                             void *user, struct fr_error *err);
};

extern const struct fr__store_kind fr__store_csv;
extern const struct fr__store_kind fr__store_sqlite; /* only where HAVE_SQLITE */

/* The sentences that both kinds say. path: the store's. */
enum fr_status fr__store_fail_version(const char *path, int format, const char *version,
                                      struct fr_error *err);
enum fr_status fr__store_fail_busy(const char *path, struct fr_error *err);
enum fr_status fr__store_fail_conflict(const char *path, const char *key, struct fr_error *err);
enum fr_status fr__store_fail_input(const char *path, const char *name, struct fr_error *err);
#endif
