/* base/json_read.h - reads JSON (RFC 8259) into a tree with positions.
 *
 * It is separate from base/yaml.h, which reads most JSON too: there a text in quotes and a plain
 * word are the same, a surrogate pair is an error, and files end at 16 MiB.
 * Refused: nesting beyond FR__JSON_DEPTH, bytes that are not UTF-8, a NUL in a text.
 */
#ifndef FR_BASE_JSON_READ_H
#define FR_BASE_JSON_READ_H

#include "base/arena.h"
#include "base/base.h"

enum fr__json_kind {
    FR__JSON_NULL,
    FR__JSON_FALSE,
    FR__JSON_TRUE,
    FR__JSON_NUMBER,
    FR__JSON_STRING,
    FR__JSON_ARRAY,
    FR__JSON_OBJECT
};

struct fr__json_value {
    enum fr__json_kind kind;
    struct fr_loc loc;
    const char *key;  /* in an object: the key, else NULL; keys may come twice */
    const char *text; /* of a string; of a number as it is written */
    size_t n;         /* members of an array or an object, the first of them, and the next here */
    const struct fr__json_value *first, *next;
};

/* The tree lives in the arena. name: of locs, may be NULL; not copied. FR_EPARSE, FR_ENOMEM. */
enum fr_status fr__json_read(struct fr__arena *a, const char *text, size_t len, const char *name,
                             const struct fr__json_value **out, struct fr_error *err);
#endif
