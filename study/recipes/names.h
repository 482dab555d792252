/* study/recipes/names.h - which recipes there are, by name; what they say is in recipe.h.
 *
 * It is apart so that a question can refuse a name that nobody knows: recipes set questions. */
#ifndef FR_STUDY_RECIPES_NAMES_H
#define FR_STUDY_RECIPES_NAMES_H

#include "study/recipes/recipes.h"

/* Whether it stands for a file: it has a '/' or ends in ".yaml". */
bool fr__recipe_is_path(const char *name);

/* A shipped one; NULL: none has that name. */
const struct fr__recipe_text *fr__recipe_text(const char *name);

/* Fails with code: no recipe is called so, with the names that are like it. */
enum fr_status fr__recipe_unknown(const char *name, enum fr_status code, struct fr_loc loc,
                                  struct fr_error *err);

/* FR_EUSAGE, FR_ENOENT: neither shipped, "usual" nor a file that is there. */
enum fr_status fr__recipe_exists(const char *name, struct fr_error *err);

#endif
