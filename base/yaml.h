/* base/yaml.h - a small YAML document as a tree with positions (libyaml's events).
 *
 * One document; plain scalars stay text. Refused: anchors and aliases, tags, doubled keys, keys
 * that are not scalars, nesting beyond 32, files over 16 MiB or a million nodes, bytes that are
 * not UTF-8.
 */
#ifndef FR_BASE_YAML_H
#define FR_BASE_YAML_H

#include "base/arena.h"
#include "base/base.h"

enum fr__yaml_kind { FR__YAML_SCALAR, FR__YAML_LIST, FR__YAML_MAP };

struct fr__yaml {
    enum fr__yaml_kind kind;
    struct fr_loc loc;
    const char *key; /* in a map: the key, else NULL */
    struct fr_loc key_loc;
    const char *text; /* scalar */
    size_t n;         /* children of a list or map */
    const struct fr__yaml *const *items;
};

enum { FR__YAML_MOST_BYTES = 16 << 20 }; /* of a file; and a million values */

/* The tree lives in the arena; so does a copy of the file's name that the locs point to. */
enum fr_status fr__yaml_load(struct fr__arena *a, const char *path, const struct fr__yaml **out,
                             struct fr_error *err);
enum fr_status fr__yaml_load_text(struct fr__arena *a, const char *text, size_t len,
                                  const char *name, const struct fr__yaml **out,
                                  struct fr_error *err);

/* The child with that key, or NULL. map must be a map. Looks through all keys. */
const struct fr__yaml *fr__yaml_get(const struct fr__yaml *map, const char *key);
/* FR_EPARSE unless node is of that kind; what names it in the message. */
enum fr_status fr__yaml_expect(const struct fr__yaml *node, enum fr__yaml_kind kind,
                               const char *what, struct fr_error *err);
/* FR_EPARSE for the first key of map that is not among known[] (ends with NULL), with the
 * nearest. */
enum fr_status fr__yaml_only(const struct fr__yaml *map, const char *const known[],
                             struct fr_error *err);
/* The child scalar's text; FR_EPARSE when missing (fallback NULL) or not a scalar. */
enum fr_status fr__yaml_text(const struct fr__yaml *map, const char *key, const char *fallback,
                             const char **out, struct fr_loc *loc, struct fr_error *err);
#endif
