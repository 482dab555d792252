/* results/differences.c - the table of file formats of differences, and the choice by a file's
 * ending.
 *
 * It is separate from the writers, each of which knows its own format alone.
 */
#include "config.h"

#include "base/error.h"
#include "results/parts/output.h"
#include "results/pictures/difference.h"

static const struct format {
    const char *ending, *summary;
    void (*print)(FILE *f, const struct fr_difference *d); /* NULL: a picture */
} formats[] = {
    {".json", "every value, as --json prints it", fr_difference_print_json},
    {".png", "picture: the two timelines to one scale", NULL},
    {".svg", "the same, to scale without loss", NULL},
    {".pdf", "the same, for print", NULL},
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* NULL: no format has that ending. */
static const struct format *find_format(const char *path)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (fr__ends_in(path, formats[i].ending))
            return &formats[i];
    return NULL;
}

const char *fr_difference_format(size_t i, const char **summary)
{
    if (i >= N_FORMATS)
        return NULL;
    *summary = formats[i].summary;
    return formats[i].ending;
}

enum fr_status fr_difference_check_path(const char *path, struct fr_error *err)
{
    if (find_format(path))
        return fr__check_output(path, err);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s': expected a name that ends in .json, .png, .svg or .pdf", path);
}

enum fr_status fr_difference_write(const struct fr_difference *d, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    const struct format *format = find_format(path);
    struct fr__out o;
    enum fr_status st = FR_OK;

    FR_TRY(fr_difference_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    if (format->print)
        format->print(o.f, d);
    else
        st = fr__draw_difference(o.f, d, format->ending, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}
