/* base/printable.c - see printable.h. */
#include "config.h"

#include "base/printable.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Of a valid sequence. */
static unsigned code_point(const char *s, size_t len)
{
    const unsigned char *u = (const unsigned char *)s;
    unsigned c;

    if (len == 1)
        return u[0];
    c = u[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++)
        c = c << 6 | (u[i] & 0x3fu);
    return c;
}

static bool is_hidden(unsigned c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfffe ||
           c == 0xffff;
}

size_t fr__printable(const char *s, size_t n, char out[FR__PRINTABLE], size_t *used)
{
    size_t len = fr__utf8_length(s, n);
    unsigned c = len ? code_point(s, len) : 0;

    *used = len ? len : 1;
    if (len == 0 || c < 0x20 || c == 0x7f)
        return (size_t)snprintf(out, FR__PRINTABLE, "\\x%02x", (unsigned)(unsigned char)s[0]);
    if (is_hidden(c))
        return (size_t)snprintf(out, FR__PRINTABLE, "\\u%04x", c);
    memcpy(out, s, len);
    out[len] = '\0';
    return len;
}
