/* results/html/text.c - text and numbers that are safe inside HTML.
 *
 * It is separate because every text from an input must pass through it.
 */
#include "config.h"

#include "base/printable.h"
#include "base/utf8.h"
#include "results/html/html.h"
#include "results/parts/number.h"

#include <math.h>
#include <string.h>

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* C1 control characters, U+0080 to U+009F. */
static bool is_c1(const char *s, size_t n)
{
    return n == 2 && (unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0;
}

void fr__html_text(FILE *f, const char *text)
{
    size_t left = strlen(text);

    for (size_t n; left > 0; text += n, left -= n) {
        const char *entity = entity_of(*text);
        char shown[FR__PRINTABLE];

        n = fr__utf8_length(text, left);
        if (entity)
            fputs(entity, f);
        else if (n == 0)
            fputs("\xef\xbf\xbd", f);
        else if ((n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f) && *text != '\n') ||
                 is_c1(text, n))
            putc('?', f);
        else if (*text == '\n')
            putc('\n', f);
        else
            fwrite(shown, 1, fr__printable(text, n, shown, &n), f);
        n = n ? n : 1;
    }
}

/* Without zeros behind the point. */
static char *trimmed(double x, unsigned decimals, char *buf, size_t n)
{
    char *end;

    fr__fixed(x, decimals, buf, n);
    end = buf + strlen(buf);
    if (strchr(buf, '.')) {
        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            *--end = '\0';
    }
    return strcmp(buf, "-0") == 0 ? buf + 1 : buf;
}

void fr__html_number(FILE *f, double x)
{
    char buf[FR__HTML_TEXT];

    fputs(trimmed(x, 2, buf, sizeof(buf)), f);
}
