/* topo/select/pattern.c - matches names with patterns of stars and ranges. */
#include "config.h"

#include "topo/select/pattern.h"

#include "base/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STARS = 4, MAX_DIGITS = 9 };

struct range {
    uint32_t from, to;
    size_t length; /* of its text */
};

static size_t count_digits(const char *text)
{
    size_t n = 0;

    while (isdigit((unsigned char)text[n]))
        n++;
    return n;
}

static uint32_t read_digits(const char *text, size_t n)
{
    uint32_t x = 0;

    for (size_t i = 0; i < n && i < MAX_DIGITS; i++)
        x = 10 * x + (uint32_t)(text[i] - '0');
    return x;
}

/* Whether a whole range, "0..3", begins at text. */
static bool read_range(const char *text, struct range *out)
{
    size_t a = count_digits(text), b;

    if (a == 0 || strncmp(text + a, "..", 2) != 0)
        return false;
    b = count_digits(text + a + 2);
    if (b == 0 || a > MAX_DIGITS || b > MAX_DIGITS)
        return false;
    *out = (struct range){read_digits(text, a), read_digits(text + a + 2, b), a + 2 + b};
    return true;
}

static bool matches(const char *pattern, const char *name)
{
    struct range r;

    for (;;) {
        if (*pattern == '*') {
            for (const char *rest = name;; rest++) {
                if (matches(pattern + 1, rest))
                    return true;
                if (!*rest)
                    return false;
            }
        }
        if (read_range(pattern, &r)) {
            size_t n = count_digits(name);
            uint32_t x = read_digits(name, n);

            if (n == 0 || n > MAX_DIGITS || (n > 1 && *name == '0') || x < r.from || x > r.to)
                return false;
            pattern += r.length;
            name += n;
            continue;
        }
        if (*pattern != *name)
            return false;
        if (!*pattern)
            return true;
        pattern++;
        name++;
    }
}

bool fr__pattern_matches(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || matches(pattern, name);
}

bool fr__pattern_is_many(const char *pattern)
{
    return strchr(pattern, '*') || strstr(pattern, "..");
}

enum fr_status fr__pattern_check(const char *pattern, struct fr_error *err)
{
    char word[FR__EXCERPT];
    size_t n_stars = 0;

    if (!*pattern)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "a name is empty, one like n0.gpu2 expected");
    if (strlen(pattern) > FR__MAX_PATTERN)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "'%s' is longer than any name",
                        fr__excerpt(pattern, word));
    for (const char *p = pattern; *p; p++)
        n_stars += *p == '*';
    if (n_stars > MAX_STARS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "'%s' has more than %d stars",
                        fr__excerpt(pattern, word), (int)MAX_STARS);
    for (const char *dots = pattern; (dots = strstr(dots, "..")) != NULL; dots += 2) {
        const char *from = dots;
        struct range r;

        while (from > pattern && isdigit((unsigned char)from[-1]))
            from--;
        if (!read_range(from, &r))
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "'%s' is no range, expected numbers on both sides of '..', such as "
                            "gpu0..3",
                            fr__excerpt(pattern, word));
        if (r.to < r.from)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "'%s': the range %u..%u runs backwards",
                            fr__excerpt(pattern, word), r.from, r.to);
    }
    return FR_OK;
}

static enum fr_status fail_no_match(const struct fr_topo *t, const char *pattern,
                                    struct fr_error *err)
{
    const char **names = calloc(t->n_devices + 1, sizeof(*names));
    char topo[FR__EXCERPT], word[FR__EXCERPT], hint[128] = "";

    if (!names)
        return fr__fail_nomem(err);
    for (size_t d = 0; d < t->n_devices; d++)
        names[d] = t->devices[d].name;
    if (strlen(pattern) <= FR__MAX_VERTEX_NAME && !fr__pattern_is_many(pattern))
        fr__did_you_mean(pattern, names, t->n_devices, hint, sizeof(hint));
    free(names);
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "'%s' has no device '%s'%s",
                    fr__excerpt(t->name, topo), fr__excerpt(pattern, word), hint);
}

enum fr_status fr_topo_match(const struct fr_topo *t, const char *pattern, bool is_meant[],
                             size_t *n, struct fr_error *err)
{
    size_t n_found = 0;

    FR_TRY(fr__pattern_check(pattern, err));
    for (size_t d = 0; d < t->n_devices; d++) {
        if (!fr__pattern_matches(pattern, t->devices[d].name))
            continue;
        is_meant[d] = true;
        n_found++;
    }
    if (n_found == 0)
        return fail_no_match(t, pattern, err);
    *n = n_found;
    return FR_OK;
}
