/* results/canvas/files.c - the files of drawings, by their ending.
 *
 * It is separate from the writers because it runs programs: librsvg's rsvg-convert for pixels and
 * print of our SVG, graphviz for places. librsvg itself is not linked: with it each start of any
 * command would take ten times as long.
 */
#include "config.h"

#include "base/error.h"
#include "results/canvas/drawing.h"
#include "results/parts/output.h"
#include "results/parts/program.h"

#include <string.h>

static const struct ending {
    const char *ending;
    enum fr__picture picture; /* DOT text is none */
} endings[] = {{".svg", FR__PICTURE_SVG},
               {".png", FR__PICTURE_PNG},
               {".pdf", FR__PICTURE_PDF},
               {".dot", FR__N_PICTURES}};

/* NULL: no drawing has that ending. */
static const struct ending *find_ending(const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (n >= 4 && strcmp(path + n - 4, endings[i].ending) == 0)
            return &endings[i];
    return NULL;
}

enum fr_status fr_draw_check_path(const char *path, struct fr_error *err)
{
    if (!find_ending(path) || !fr__ends_in(path, find_ending(path)->ending))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a picture, expected one of .svg .png .pdf "
                        ".dot",
                        path);
    return fr__check_output(path, err);
}

/* Pixels are two for a point, for slides. */
enum fr_status fr_drawing_write(FILE *f, struct fr_drawing *d, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct ending *e = find_ending(ending);
    char rsvg[] = "rsvg-convert", zoom[] = "--zoom=1.5", format[] = "--format=png";
    char *argv[] = {rsvg, format, e->picture == FR__PICTURE_PNG ? zoom : NULL, NULL};
    bool is_grey = ctx && ctx->is_grey;
    enum fr_status st;
    FILE *svg;

    FR_TRY(fr__check_cancel(ctx, err));
    if (e->picture == FR__N_PICTURES) {
        fr__drawing_dot(f, d, is_grey);
        return FR_OK;
    }
    if (!d->is_placed)
        FR_TRY(fr__drawing_place(d, ctx, err));
    if (e->picture == FR__PICTURE_SVG) {
        fr__drawing_svg(f, d, is_grey);
        return FR_OK;
    }
    FR_TRY(fr__program_file(&svg, err));
    fr__drawing_svg(svg, d, is_grey);
    memcpy(format + sizeof(format) - sizeof("png"), e->ending + 1, sizeof("png"));
    st = fr__program_run(
        &(struct fr__program){.argv = argv,
                              .instead = "install librsvg (package librsvg2-bin), or write .svg",
                              .picture = e->picture},
        svg, f, ctx, err);
    fclose(svg);
    return st;
}

enum fr_status fr_drawing_save(struct fr_drawing *d, const char *path, const struct fr_context *ctx,
                               struct fr_error *err)
{
    struct fr__out o;

    FR_TRY(fr_draw_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    return fr__close_output(&o, fr_drawing_write(o.f, d, path, ctx, err), ctx, err);
}
