/* papers/runner/reader.c - the words of a formula, and plain values. */
#include "config.h"

#include "papers/runner/reader.h"

#include "base/error.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct fr__value fr__value_number(double x)
{
    return (struct fr__value){.number = x};
}

struct fr__value fr__value_of_text(const char *text)
{
    struct fr__value v = {.number = NAN, .text = text};
    const char *end;
    double x = fr__strtod(text[0] == '-' ? text + 1 : text, &end);

    if (text[0] && *end == '\0')
        v.number = text[0] == '-' ? -x : x;
    return v;
}

bool fr__value_is_true(struct fr__value v)
{
    return !isnan(v.number) && fabs(v.number) > 0;
}

enum fr_status fr__reader_fail(const struct fr__reader *r, const char *what, struct fr_error *err)
{
    char excerpt[FR__EXCERPT];

    return fr__fail(err, FR_EPARSE, r->loc, "%s in the formula \"%s\", at byte %zu", what,
                    fr__excerpt(r->whole, excerpt), (size_t)(r->at - r->whole) + 1);
}

bool fr__reader_take(struct fr__reader *r, const char *word)
{
    size_t n = strlen(word);

    r->at += strspn(r->at, " ");
    if (strncmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

bool fr__reader_take_name(struct fr__reader *r, char name[FR__FORMULA_NAME])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    size_t n;

    r->at += strspn(r->at, " ");
    n = *r->at && strchr(letters, *r->at) ? strspn(r->at, "abcdefghijklmnopqrstuvwxyz_0123456789")
                                          : 0;
    if (n == 0 || n >= FR__FORMULA_NAME)
        return false;
    memcpy(name, r->at, n);
    name[n] = '\0';
    r->at += n;
    return true;
}

enum fr_status fr__reader_expect(struct fr__reader *r, const char *word, struct fr_error *err)
{
    char what[64];

    snprintf(what, sizeof(what), "no '%s'", word);
    return fr__reader_take(r, word) ? FR_OK : fr__reader_fail(r, what, err);
}
