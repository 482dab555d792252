/* results/drawings/dot.c - pieces of DOT text that are safe whatever an input calls its parts.
 *
 * It is separate because every drawing writes its text with it.
 */
#include "config.h"

#include "base/utf8.h"
#include "results/drawings/dot.h"

#include <string.h>

void fr__dot_text(FILE *f, const char *text, size_t max)
{
    size_t left = strlen(text), n = 0;

    for (size_t len; left > 0; text += len, left -= len) {
        len = fr__utf8_length(text, left);
        if (n++ == max) {
            fputs("...", f);
            return;
        }
        if (len == 0 || (unsigned char)*text < 0x20 || *text == 0x7f) {
            putc('?', f);
            len = 1;
        } else if (*text == '"' || *text == '\\') {
            putc('\\', f);
            putc(*text, f);
        } else if (*text == '&') {
            fputs("&amp;", f); /* labels decode entities */
        } else {
            fwrite(text, 1, len, f);
        }
    }
}

void fr__dot_inches(FILE *f, long points)
{
    long thousandths = points * 1000 / 72;

    fprintf(f, "%ld.%03ld", thousandths / 1000, thousandths % 1000);
}
