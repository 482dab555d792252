/* tests/support/json_check.c - a JSON validator by recursive descent, independent of base/json.c. */
#include "tests/support/json_check.h"

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
