/* api/options/find.c - finds an option by its name, and says what an unknown one may mean. */
#include "config.h"

#include "api/options/options.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 256, SPELT = 64 };

bool fr__options_find(uint64_t groups, const char *name, size_t length, char letter,
                      struct fr__option *out)
{
    for (size_t at = 0; fr__options_next(groups, &at, out);)
        if (name ? strlen(out->name) == length && strncmp(out->name, name, length) == 0
                 : out->letter == letter)
            return true;
    return false;
}

enum fr_status fr__options_unknown(uint64_t groups, const char *verb, const char *name,
                                   size_t length, char letter, struct fr_error *err)
{
    char spelt[MOST_NAMES][SPELT], word[SPELT], hint[256];
    const char *names[MOST_NAMES];
    struct fr__option row;
    size_t n = 0;

    if (name)
        snprintf(word, sizeof(word), "--%.*s", (int)(length < SPELT - 3 ? length : SPELT - 3),
                 name);
    else
        snprintf(word, sizeof(word), "-%c", letter);
    for (size_t at = 0; name && n < MOST_NAMES && fr__options_next(groups, &at, &row); n++) {
        snprintf(spelt[n], SPELT, "--%s", row.name);
        names[n] = spelt[n];
    }
    fr__did_you_mean(word, names, n, hint, sizeof(hint));
    if (!hint[0] && fr__options_find(~OPTIONS_SWEEP, name, length, letter, &row))
        snprintf(hint, sizeof(hint), " here: other commands have it ('forerun help %s')", verb);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unknown option '%s'%s", word, hint);
}
