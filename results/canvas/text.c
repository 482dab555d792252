/* results/canvas/text.c - text and numbers that are safe inside SVG and HTML, and their widths.
 *
 * It is separate because every text from an input must pass through it.
 */
#include "config.h"

#include "base/printable.h"
#include "base/utf8.h"
#include "results/canvas/canvas.h"
#include "results/parts/number.h"

#include <math.h>
#include <string.h>

enum { NUMBER = 40 }; /* room for one formatted number */

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

void fr__markup_text(FILE *f, const char *text)
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

void fr__markup_number(FILE *f, double x)
{
    char buf[NUMBER];

    fputs(trimmed(x, 2, buf, sizeof(buf)), f);
}

/* Of a byte's character the first counts. What has no row of its own is as wide as the widest
 * accented letter, from U+1100 (Hangul, CJK) on a whole size. */
double fr__text_wide(const char *line, size_t n, double size)
{
    /* Advance widths of ' ' to '~' in hundredths of the size: DejaVu Sans 2.37, table hmtx. It is
     * wider than Helvetica and Arial. */
    static const unsigned char wide[] = {
        32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
        64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
        58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
        61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
        28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84};
    unsigned sum = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)line[i];

        if (c >= ' ' && c <= '~')
            sum += wide[c - ' '];
        else if (c >= 0xc0)
            sum += c < 0xe1 ? 84 : 100;
    }
    return size * sum / 100;
}
