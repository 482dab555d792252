/* results/searches.c - the table of file formats of searches, and the choice by a file's ending. */
#include "config.h"

#include "base/error.h"
#include "results/data/search.h"
#include "results/parts/output.h"
#include "results/pictures/search.h"

static const struct format {
    const char *ending;
    void (*print)(FILE *f, const struct fr_search_results *r); /* NULL: a picture */
} formats[] = {
    {".json", fr_search_print_json},
    {".csv", fr__search_write_csv},
    {".png", NULL},
    {".svg", NULL},
    {".pdf", NULL},
};

static const struct format *find_format(const char *path)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (fr__ends_in(path, formats[i].ending))
            return &formats[i];
    return NULL;
}

enum fr_status fr_search_check_path(const char *path, struct fr_error *err)
{
    if (!find_format(path))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a format of searches, expected one of .json "
                        ".csv .png .svg .pdf",
                        path);
    return fr__check_output(path, err);
}

enum fr_status fr_search_write(const char *path, const struct fr_search_results *r,
                               const struct fr_context *ctx, struct fr_error *err)
{
    const struct format *format = find_format(path);
    struct fr__out o;
    enum fr_status st = FR_OK;

    FR_TRY(fr_search_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    if (format->print)
        format->print(o.f, r);
    else
        st = fr__draw_search(o.f, r, format->ending, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}
