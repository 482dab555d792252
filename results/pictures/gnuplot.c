/* results/pictures/gnuplot.c - runs gnuplot on a script, and writes text into one safely.
 *
 * It is separate because every picture by gnuplot is made so; what scripts share is plot.c.
 */
#include "config.h"

#include "results/pictures/gnuplot.h"
#include "results/parts/program.h"

enum fr_status fr__gnuplot_script(FILE **out, struct fr_error *err)
{
    return fr__program_file(out, err);
}

void fr__gnuplot_string(FILE *script, const char *text, size_t max)
{
    size_t n = 0;

    putc('\'', script);
    for (const char *s = text; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if ((c & 0xc0) != 0x80 && n++ == max) {
            fputs("...", script);
            break;
        }
        if (c < 0x20 || c == 0x7f)
            putc('?', script);
        else if (c == '\'')
            fputs("''", script); /* the only escape inside single quotes */
        else
            putc(c, script);
    }
    putc('\'', script);
}

enum fr_status fr__gnuplot_run(FILE *script, FILE *picture, const struct fr_context *ctx,
                               struct fr_error *err)
{
    /* -d: no start-up files of the user's */
    char name[] = "gnuplot", no_files[] = "-d";
    char *const argv[] = {name, no_files, NULL};

    return fr__program_run(argv, script, picture, "write .csv or .trace.json instead", ctx, err);
}
