/* results/canvas/files.c - the files of drawings, by their ending.
 *
 * It is separate from the writers because it runs programs: librsvg's rsvg-convert for pixels and
 * print of our SVG, graphviz for places. librsvg itself is not linked: with it each start of any
 * command would take ten times as long.
 */
#include "config.h"

#include "base/error.h"
#include "results/canvas/drawing.h"
#include "results/parts/program.h"

#include <string.h>

/* Pixels are two for a point, for slides. */
static enum fr_status convert(FILE *svg, bool is_png, FILE *f, const struct fr_context *ctx,
                              struct fr_error *err)
{
    char rsvg[] = "rsvg-convert", zoom[] = "--zoom=1.5", png[] = "--format=png",
         pdf[] = "--format=pdf";
    char *argv[] = {rsvg, is_png ? png : pdf, is_png ? zoom : NULL, NULL};

    return fr__program_run(
        &(struct fr__program){.argv = argv,
                              .instead = "install librsvg (package librsvg2-bin), or write .svg",
                              .picture = is_png ? FR__PICTURE_PNG : FR__PICTURE_PDF},
        svg, f, ctx, err);
}

enum fr_status fr__drawing_write(FILE *f, const void *answer, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_drawing *d = ((const struct fr_drawing_answer *)answer)->drawing;
    const char *format = strrchr(ending, '.');
    bool is_grey = ctx && ctx->is_grey, is_svg = strcmp(format, ".svg") == 0;
    enum fr_status st;
    FILE *svg;

    if (strcmp(format, ".dot") == 0) {
        fr_drawing_print(f, d, is_grey);
        return FR_OK;
    }
    if (!d->is_placed)
        FR_TRY(fr__drawing_place(d, ctx, err));
    if (is_svg) {
        fr__drawing_svg(f, d, is_grey);
        return FR_OK;
    }
    FR_TRY(fr__program_file(&svg, err));
    fr__drawing_svg(svg, d, is_grey);
    st = convert(svg, strcmp(format, ".png") == 0, f, ctx, err);
    fclose(svg);
    return st;
}
