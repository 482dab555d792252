/* results/drawings/graphviz.c - the files of drawings: DOT text as it is, or as graphviz draws it.
 *
 * It is separate from the drawings, which write DOT text and know no files.
 */
#include "config.h"

#include "base/error.h"
#include "results/draw.h"
#include "results/drawings/dot.h"
#include "results/parts/colours.h"
#include "results/parts/output.h"
#include "results/parts/program.h"

#include <errno.h>
#include <string.h>

static const struct ending {
    const char *ending, *format; /* NULL: the text as it is */
    enum fr__picture picture;
} endings[] = {
    {.ending = ".svg", .format = "-Tsvg", .picture = FR__PICTURE_SVG},
    {.ending = ".png", .format = "-Tpng", .picture = FR__PICTURE_PNG},
    {.ending = ".pdf", .format = "-Tpdf", .picture = FR__PICTURE_PDF},
    {.ending = ".dot", .picture = FR__N_PICTURES},
};
enum { N_ENDINGS = sizeof(endings) / sizeof(endings[0]) };

/* NULL: no drawing has that ending. */
static const struct ending *find_ending(const char *path)
{
    for (size_t i = 0; i < N_ENDINGS; i++)
        if (fr__ends_in(path, endings[i].ending))
            return &endings[i];
    return NULL;
}

enum fr_status fr_draw_check_path(const char *path, struct fr_error *err)
{
    if (!find_ending(path))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a picture, expected one of .svg .png .pdf "
                        ".dot",
                        path);
    return fr__check_output(path, err);
}

static enum fr_status copy(FILE *from, FILE *to, struct fr_error *err)
{
    char block[8192];
    size_t n;

    if (fflush(from) != 0 || ferror(from) || fseek(from, 0, SEEK_SET) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write the DOT text: %s", strerror(errno));
    while ((n = fread(block, 1, sizeof(block), from)) > 0)
        fwrite(block, 1, n, to);
    return FR_OK;
}

/* Writes DOT text with each colour of an attribute as a grey. What an input calls its parts has no
 * quote that is not escaped, so none of it can look like one. */
static enum fr_status copy_grey(FILE *from, FILE *to, struct fr_error *err)
{
    static const char key[] = "color=\"";
    size_t n_key = 0; /* characters of the key before this one */
    bool is_colour = false;
    int c;

    if (fflush(from) != 0 || ferror(from) || fseek(from, 0, SEEK_SET) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot read the DOT text: %s", strerror(errno));
    while ((c = getc(from)) != EOF) {
        char colour[8] = "#", grey[8];

        if (is_colour && c == '#' && fgets(colour + 1, 7, from)) {
            fputs(fr__colour_grey(colour, grey), to);
            continue;
        }
        n_key = c == key[n_key] ? n_key + 1 : c == key[0];
        is_colour = is_colour ? c != '"' : key[n_key] == '\0';
        if (key[n_key] == '\0')
            n_key = 0;
        putc(c, to);
    }
    return FR_OK;
}

static enum fr_status render(FILE *dot, bool is_placed, const struct ending *ending, FILE *picture,
                             const struct fr_context *ctx, struct fr_error *err)
{
    char neato[] = "neato", as_placed[] = "-n2", dot_name[] = "dot", output[8], dpi[] = "-Gdpi=144";
    char *argv[5];
    size_t n = 0;

    argv[n++] = is_placed ? neato : dot_name;
    if (is_placed)
        argv[n++] = as_placed; /* everything stands where its pos says */
    snprintf(output, sizeof(output), "%s", ending->format);
    argv[n++] = output;
    if (ending->picture == FR__PICTURE_PNG)
        argv[n++] = dpi; /* twice the size, for slides */
    argv[n] = NULL;
    return fr__program_run(
        &(struct fr__program){.argv = argv,
                              .instead = "install graphviz, or write .dot and draw that elsewhere",
                              .picture = ending->picture},
        dot, picture, ctx, err);
}

/* Makes *dot the same text in greys, in the temporary file *grey. */
static enum fr_status turn_grey(FILE **dot, FILE **grey, struct fr_error *err)
{
    FR_TRY(fr__program_file(grey, err));
    FR_TRY(copy_grey(*dot, *grey, err));
    *dot = *grey;
    return FR_OK;
}

static enum fr_status draw(FILE *dot, bool is_placed, const struct ending *ending, FILE *picture,
                           const struct fr_context *ctx, struct fr_error *err)
{
    FILE *grey = NULL;
    enum fr_status st = ctx && ctx->is_grey ? turn_grey(&dot, &grey, err) : FR_OK;

    if (st == FR_OK)
        st = ending->format ? render(dot, is_placed, ending, picture, ctx, err)
                            : copy(dot, picture, err);
    if (grey)
        fclose(grey);
    return st;
}

enum fr_status fr__dot_draw(FILE *dot, bool is_placed, const char *ending, FILE *picture,
                            const struct fr_context *ctx, struct fr_error *err)
{
    size_t i = 0;

    while (i + 1 < N_ENDINGS && strcmp(strrchr(ending, '.'), endings[i].ending) != 0)
        i++;
    return draw(dot, is_placed, &endings[i], picture, ctx, err);
}

enum fr_status fr_draw_write(FILE *dot, bool is_placed, const char *path,
                             const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__out o;

    FR_TRY(fr_draw_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    return fr__close_output(&o, draw(dot, is_placed, find_ending(path), o.f, ctx, err), ctx, err);
}
