/* results/charts/gnuplot.c - runs gnuplot on a script, and writes text into one safely.
 *
 * It is separate because every picture by gnuplot is made so; what scripts share is plot.c.
 */
#include "config.h"

#include "base/error.h"
#include "base/printable.h"
#include "results/charts/gnuplot.h"
#include "results/parts/program.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum fr_status fr__gnuplot_script(FILE **out, struct fr_error *err)
{
    return fr__program_file(out, err);
}

/* Text as it may be shown, so that no picture holds what XML forbids. gnuplot writes the text of an
 * SVG as CDATA sections without looking at it: what would end one gets a blank. */
void fr__gnuplot_string(FILE *script, const char *text, size_t max)
{
    size_t left = strlen(text), used, n = 0, n_brackets = 0;

    putc('\'', script);
    for (const char *s = text; left > 0; s += used, left -= used) {
        char out[FR__PRINTABLE];
        size_t length = fr__printable(s, left, out, &used);

        if (n++ == max) {
            fputs("...", script);
            break;
        }
        if (*s == '>' && n_brackets >= 2)
            putc(' ', script);
        n_brackets = *s == ']' ? n_brackets + 1 : 0;
        if (*s == '\'')
            fputs("''", script); /* the only escape inside single quotes */
        else
            fwrite(out, 1, length, script);
    }
    putc('\'', script);
}

/* What the script's first line, which sets the terminal, asks for. */
static enum fr__picture find_picture(FILE *script)
{
    static const char *const terminals[FR__N_PICTURES] = {
        [FR__PICTURE_PNG] = "set terminal pngcairo ",
        [FR__PICTURE_SVG] = "set terminal svg ",
        [FR__PICTURE_PDF] = "set terminal pdfcairo ",
    };
    char line[64] = "";
    enum fr__picture p = 0;

    rewind(script);
    if (!fgets(line, sizeof(line), script))
        line[0] = '\0';
    while (p < FR__N_PICTURES && strncmp(line, terminals[p], strlen(terminals[p])) != 0)
        p++;
    assert(p < FR__N_PICTURES);
    return p;
}

enum fr_status fr__gnuplot_run(FILE *script, FILE *picture, const struct fr_context *ctx,
                               struct fr_error *err)
{
    /* -d: no start-up files of the user's */
    char name[] = "gnuplot", no_files[] = "-d";
    char *const argv[] = {name, no_files, NULL};

    if (fflush(script) != 0 || ferror(script))
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write the input of gnuplot: %s",
                        strerror(errno));
    return fr__program_run(&(struct fr__program){.argv = argv,
                                                 .instead = "write .csv or .trace.json instead",
                                                 .picture = find_picture(script)},
                           script, picture, ctx, err);
}
