/* base/names.h - the words for the values of an enumeration, and back. */
#ifndef FR_BASE_NAMES_H
#define FR_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The words for 0 to n - 1. Define one next to its array, with FR__NAMES(array). */
struct fr__name_list {
    const char *const *names; /* [n] */
    unsigned n;
};
#define FR__NAMES(array)                                                                           \
    {                                                                                              \
        (array), sizeof(array) / sizeof((array)[0])                                                \
    }

/* "unknown" for a value that has no word. */
const char *fr__name_of(const struct fr__name_list *l, unsigned value);
/* The value of that word, n: none has it. */
unsigned fr__name_parse(const struct fr__name_list *l, const char *word);
/* ", did you mean 'NAME'?" into buf, or "" when no word is near; returns buf. */
const char *fr__name_hint(const struct fr__name_list *l, const char *word, char *buf, size_t n);

/* Whether `name` is what the pattern stands for: '*' is any characters, '?' is one. O(length of
 * both, multiplied). */
bool fr__name_matches(const char *pattern, const char *name);
#endif
