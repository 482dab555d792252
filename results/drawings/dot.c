/* results/drawings/dot.c - pieces of DOT text that are safe whatever an input calls its parts.
 *
 * It is separate because every drawing writes its text with it.
 */
#include "config.h"

#include "base/printable.h"
#include "results/drawings/dot.h"

#include <string.h>

void fr__dot_text(FILE *f, const char *text, size_t max)
{
    size_t left = strlen(text), n = 0;

    for (size_t len; left > 0; text += len, left -= len) {
        char out[FR__PRINTABLE];
        size_t length = fr__printable(text, left, out, &len);

        if (n++ == max) {
            fputs("...", f);
            return;
        }
        if (*text == '&')
            fputs("&amp;", f); /* labels decode entities */
        else if (*out == '"' || *out == '\\')
            fprintf(f, "\\%.*s", (int)length, out);
        else
            fwrite(out, 1, length, f);
    }
}

void fr__dot_inches(FILE *f, long points)
{
    long thousandths = points * 1000 / 72;

    fprintf(f, "%ld.%03ld", thousandths / 1000, thousandths % 1000);
}
