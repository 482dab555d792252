/* base/xml.h - a small XML document as a tree of elements with positions (expat's events).
 *
 * Elements and attributes only: text between tags, comments and processing instructions are passed
 * over. Refused: any entity that the document declares or uses beside XML's own five, an internal
 * subset of a DOCTYPE (an external one is never opened), nesting beyond 64, more than 64 attributes
 * an element, files over 16 MiB or 200 000 elements, and what is not well formed. Names are as
 * written: name spaces have no meaning here.
 */
#ifndef FR_BASE_XML_H
#define FR_BASE_XML_H

#include "base/arena.h"
#include "base/base.h"

struct fr__xml_attribute {
    const char *name, *value;
};

struct fr__xml {
    const char *name;  /* of the element */
    struct fr_loc loc; /* of its '<' */
    size_t n_attributes;
    const struct fr__xml_attribute *attributes; /* as written; no name twice */
    size_t n;                                   /* elements directly inside, in order */
    const struct fr__xml *const *items;
};

/* The tree lives in the arena; so does a copy of the file's name that the locs point to. The root
 * element is *out. FR_EPARSE, FR_ERANGE (too large), FR_EIO, FR_ENOENT, FR_ENOMEM; FR_EUSAGE where
 * the program was built without expat. */
enum fr_status fr__xml_load(struct fr__arena *a, const char *path, const struct fr__xml **out,
                            struct fr_error *err);
enum fr_status fr__xml_load_text(struct fr__arena *a, const char *text, size_t len,
                                 const char *name, const struct fr__xml **out,
                                 struct fr_error *err);

/* Whether expat was found when the program was built; else no XML can be read. */
bool fr__xml_is_built(void);

/* The value of the attribute, or NULL where the element has none of that name. */
const char *fr__xml_get(const struct fr__xml *element, const char *name);

/* Numbers in attributes. Where the attribute is missing: *out = fallback. FR_EPARSE for what is no
 * whole number, FR_ERANGE outside [min, max]; the message names element, attribute and line. */
enum fr_status fr__xml_integer(const struct fr__xml *element, const char *name, int64_t fallback,
                               int64_t min, int64_t max, int64_t *out, struct fr_error *err);
/* A number such as "0.5" in [min, max]. */
enum fr_status fr__xml_number(const struct fr__xml *element, const char *name, double fallback,
                              double min, double max, double *out, struct fr_error *err);
/* FR_EPARSE where the attribute is missing. */
enum fr_status fr__xml_text(const struct fr__xml *element, const char *name, const char **out,
                            struct fr_error *err);
#endif
