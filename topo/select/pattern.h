/* topo/select/pattern.h - names of vertices and links by pattern: "n0..3.nic1", "n*.gpu0". */
#ifndef FR_TOPO_SELECT_PATTERN_H
#define FR_TOPO_SELECT_PATTERN_H

#include "topo/internal.h"

enum { FR__MAX_PATTERN = 2 * FR__MAX_VERTEX_NAME + 32 }; /* bytes */

/* Whether the name is one that the pattern stands for. "*" is any text, also none; FROM..TO any
 * number from..to without leading zeros. A pattern that is the name itself matches. Cost:
 * O(length^2) at most, as there is a bound on stars (fr__pattern_check). */
bool fr__pattern_matches(const char *pattern, const char *name);

/* Says what is wrong with the pattern: a range without both numbers or that runs backwards, too
 * long, more stars than 4. FR_EPARSE, FR_ERANGE. */
enum fr_status fr__pattern_check(const char *pattern, struct fr_error *err);

/* Whether it has a star or a range, so that it may stand for several names. */
bool fr__pattern_is_many(const char *pattern);

#endif
