/* results/canvas/files.c - the files of drawings, by their ending.
 *
 * It is separate from the writers because it runs programs: librsvg's rsvg-convert for pixels and
 * print of our SVG, graphviz' dot for what is not placed. The library itself is not linked: with it
 * each start of any command would take ten times as long.
 */
#include "config.h"

#include "base/error.h"
#include "results/canvas/drawing.h"
#include "results/parts/output.h"
#include "results/parts/program.h"

#include <string.h>

static const struct ending {
    const char *ending, *format;
    enum fr__picture picture;
} endings[] = {
    {".svg", "svg", FR__PICTURE_SVG},
    {".png", "png", FR__PICTURE_PNG},
    {".pdf", "pdf", FR__PICTURE_PDF},
    {".dot", NULL, FR__N_PICTURES},
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

/* Pixels are two for a point, for slides. */
static enum fr_status run(FILE *text, bool is_placed, const struct ending *ending, FILE *f,
                          const struct fr_context *ctx, struct fr_error *err)
{
    char rsvg[] = "rsvg-convert", zoom[] = "--zoom=1.5", dot[] = "dot", dpi[] = "-Gdpi=144";
    char format[16];
    char *argv[] = {is_placed ? rsvg : dot, format, is_placed ? zoom : dpi, NULL};

    snprintf(format, sizeof(format), is_placed ? "--format=%s" : "-T%s", ending->format);
    if (ending->picture != FR__PICTURE_PNG)
        argv[2] = NULL;
    return fr__program_run(
        &(struct fr__program){
            .argv = argv,
            .instead = is_placed ? "install librsvg (package librsvg2-bin), or write .svg"
                                 : "install graphviz, or write .dot and draw that elsewhere",
            .picture = ending->picture},
        text, f, ctx, err);
}

enum fr_status fr_drawing_write(FILE *f, const struct fr_drawing *d, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct ending *e = &endings[0];
    void (*write)(FILE *, const struct fr_drawing *, bool) = fr__drawing_svg;
    enum fr_status st;
    FILE *text;

    while (e < &endings[N_ENDINGS - 1] && strcmp(strrchr(ending, '.'), e->ending) != 0)
        e++;
    if (!d->is_placed || !e->format)
        write = fr__drawing_dot;
    FR_TRY(fr__check_cancel(ctx, err));
    if (!e->format || (d->is_placed && e->picture == FR__PICTURE_SVG)) {
        write(f, d, ctx && ctx->is_grey);
        return FR_OK;
    }
    FR_TRY(fr__program_file(&text, err));
    write(text, d, ctx && ctx->is_grey);
    st = run(text, d->is_placed, e, f, ctx, err);
    fclose(text);
    return st;
}

enum fr_status fr_drawing_save(const struct fr_drawing *d, const char *path,
                               const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__out o;

    FR_TRY(fr_draw_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    return fr__close_output(&o, fr_drawing_write(o.f, d, find_ending(path)->ending, ctx, err), ctx,
                            err);
}
