/* base/names.c - looks up names of enumerations. The lists themselves are in the files of the
 * enumerations. */
#include "config.h"

#include "base/names.h"

#include "base/error.h"

#include <string.h>

const char *fr__name_of(const struct fr__name_list *l, unsigned value)
{
    return value < l->n ? l->names[value] : "unknown";
}

unsigned fr__name_parse(const struct fr__name_list *l, const char *word)
{
    unsigned value = 0;

    while (value < l->n && strcmp(l->names[value], word) != 0)
        value++;
    return value;
}

const char *fr__name_hint(const struct fr__name_list *l, const char *word, char *buf, size_t n)
{
    return fr__did_you_mean(word, l->names, l->n, buf, n);
}

bool fr__name_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL;

    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
