/* jobfile/toml.h - a TOML document (toml.io, version 1.0) as a tree with positions, the same that
 * base/yaml.h gives: tables are maps, values that are no tables are text as it is written, without
 * the quotes of strings.
 *
 * Read are tables, arrays of tables, dotted and quoted keys, inline tables, arrays over lines, all
 * four kinds of strings with their escapes. Numbers and dates are not looked into: whoever takes
 * one reads it. Refused: a key or table that is defined twice, nesting beyond 32, more than
 * FR__TOML_MOST_NODES values, bytes that are not UTF-8.
 */
#ifndef FR_STUDY_JOB_TOML_H
#define FR_STUDY_JOB_TOML_H

#include "base/yaml.h"

enum { FR__TOML_MOST_NODES = 1 << 16 };

/* The tree lives in the arena; name: of locs, not copied. FR_EPARSE at the place, FR_ENOMEM. */
enum fr_status fr__toml_load_text(struct fr__arena *a, const char *text, size_t len,
                                  const char *name, const struct fr__yaml **out,
                                  struct fr_error *err);
#endif
