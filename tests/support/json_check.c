/* tests/support/json_check.c - a JSON validator by recursive descent, independent of
 * base/json.c. */
#include "tests/support/json_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *value(const char *s, int depth);

static const char *blanks(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

static const char *digits(const char *s)
{
    size_t n = strspn(s, "0123456789");

    return n ? s + n : NULL;
}

static const char *number(const char *s)
{
    if (*s == '-')
        s++;
    if (*s == '0')
        s++;
    else
        s = digits(s);
    if (s && *s == '.')
        s = digits(s + 1);
    if (s && (*s == 'e' || *s == 'E'))
        s = digits(s + 1 + (s[1] == '+' || s[1] == '-'));
    return s;
}

static const char *string(const char *s)
{
    for (s++; *s != '"'; s++) {
        if ((unsigned char)*s < 0x20)
            return NULL;
        if (*s != '\\')
            continue;
        s++;
        if (*s == 'u') {
            if (strspn(s + 1, "0123456789abcdefABCDEF") < 4)
                return NULL;
            s += 4;
        } else if (!*s || !strchr("\"\\/bfnrt", *s)) {
            return NULL;
        }
    }
    return s + 1;
}

/* The items between brackets; in objects each has a key. */
static const char *items(const char *s, char end, int depth)
{
    s = blanks(s + 1);
    if (*s == end)
        return s + 1;
    for (;;) {
        if (end == '}') {
            s = *s == '"' ? string(s) : NULL;
            if (!s)
                return NULL;
            s = blanks(s);
            if (*s != ':')
                return NULL;
            s = blanks(s + 1);
        }
        s = value(s, depth + 1);
        if (!s)
            return NULL;
        s = blanks(s);
        if (*s == end)
            return s + 1;
        if (*s != ',')
            return NULL;
        s = blanks(s + 1);
    }
}

static const char *value(const char *s, int depth)
{
    static const char *const words[] = {"true", "false", "null"};

    if (depth > 64)
        return NULL;
    for (size_t i = 0; i < 3; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0)
            return s + strlen(words[i]);
    if (*s == '{')
        return items(s, '}', depth);
    if (*s == '[')
        return items(s, ']', depth);
    return *s == '"' ? string(s) : number(s);
}

bool is_json(const char *text)
{
    const char *end = value(blanks(text), 0);

    return end && *blanks(end) == '\0';
}

size_t count_of(const char *text, const char *needle)
{
    size_t n = 0;

    for (const char *s = strstr(text, needle); s; s = strstr(s + 1, needle))
        n++;
    return n;
}

/* ---- values ---- */

const char *json_member(const char *v, const char *key)
{
    const char *s = v && *v == '{' ? blanks(v + 1) : NULL;

    while (s && *s == '"') {
        bool is_it = json_is_string(s, key);

        s = blanks(blanks(string(s)) + 1);
        if (is_it)
            return s;
        s = blanks(value(s, 0));
        s = *s == ',' ? blanks(s + 1) : NULL;
    }
    return NULL;
}

const char *json_item(const char *v, size_t i)
{
    const char *s = v && *v == '[' ? blanks(v + 1) : NULL;

    if (!s || *s == ']')
        return NULL;
    while (s && i-- > 0)
        s = json_next_item(s);
    return s;
}

const char *json_next_item(const char *item)
{
    const char *s = blanks(value(item, 0));

    return *s == ',' ? blanks(s + 1) : NULL;
}

bool json_is_string(const char *v, const char *want)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";

    if (!v || *v != '"')
        return false;
    for (v++; *v != '"'; want++) {
        char c = *v++;

        if (c == '\\' && *v == 'u') {
            char digits_[5] = {v[1], v[2], v[3], v[4], '\0'};

            c = (char)strtoul(digits_, NULL, 16);
            v += 5;
        } else if (c == '\\') {
            c = meant[strchr(escapes, *v++) - escapes];
        }
        if (*want == '\0' || c != *want)
            return false;
    }
    return *want == '\0';
}

bool json_is_word(const char *v, const char *want)
{
    return v && strspn(v, "aeflnrstu") == strlen(want) && strncmp(v, want, strlen(want)) == 0;
}

double json_number(const char *v)
{
    return v && strchr("-0123456789", *v) ? strtod(v, NULL) : NAN;
}
