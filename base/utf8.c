/* base/utf8.c - the table of RFC 3629, section 4. */
#include "config.h"

#include "base/utf8.h"

/* How long the sequence is that this byte starts, 0 when it starts none. */
static size_t announced_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2)
        return 0; /* a continuation byte, or the start of an overlong form */
    if (first < 0xe0)
        return 2;
    if (first < 0xf0)
        return 3;
    return first < 0xf5 ? 4 : 0;
}

/* The second byte's range depends on the first: no overlong forms, surrogates, nor code points
 * beyond U+10FFFF. */
static bool is_second(unsigned char first, unsigned char second)
{
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= low && second <= high;
}

/* True when s[0..n), n at most the announced length, is right so far. */
static bool is_prefix(const unsigned char *s, size_t n)
{
    if (n > 1 && !is_second(s[0], s[1]))
        return false;
    for (size_t i = 2; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return false;
    return true;
}

size_t fr__utf8_length(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t len = n ? announced_length(u[0]) : 0;

    return len && len <= n && is_prefix(u, len) ? len : 0;
}

bool fr__utf8_is_cut(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;

    return n == 0 || (announced_length(u[0]) > n && is_prefix(u, n));
}

/* U+0000 to U+001F but for tab and ends of lines, U+007F, and U+0080 to U+009F: terminals act on
 * them. */
static bool is_control(const char *s, size_t len)
{
    unsigned char first = (unsigned char)s[0];

    if (len == 1)
        return (first < 0x20 && first != '\t' && first != '\n' && first != '\r') || first == 0x7f;
    return first == 0xc2 && (unsigned char)s[1] < 0xa0;
}

size_t fr__utf8_text_length(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n) {
        size_t len;

        if (s[i] >= 0x20 && s[i] < 0x7f) { /* most bytes of most files */
            i++;
            continue;
        }
        len = fr__utf8_length(s + i, n - i);
        if (len == 0 || is_control(s + i, len))
            break;
        i += len;
    }
    return i;
}

const char *fr__utf8_fault(const char *s, size_t n)
{
    return fr__utf8_length(s, n) == 0 ? "is not UTF-8 text" : "is not text";
}
