/* results/learning.c - the table of file formats of learnings, and the choice by a file's ending.
 *
 * It is separate from the writers, each of which knows its own format alone.
 */
#include "config.h"

#include "base/error.h"
#include "results/data/learn.h"
#include "results/parts/output.h"
#include "results/pictures/learn.h"

static const struct format {
    const char *ending, *summary;
    void (*print)(FILE *f, const struct fr_learning *l); /* NULL: a picture */
} formats[] = {
    {".csv", "one row a round", fr__learning_write_csv},
    {".json", "every value, as --json prints it", fr_learning_print_json},
    {".png", "picture: estimated and measured time by round, ways back marked", NULL},
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

const char *fr_learning_format(size_t i, const char **summary)
{
    if (i >= N_FORMATS)
        return NULL;
    *summary = formats[i].summary;
    return formats[i].ending;
}

enum fr_status fr_learning_check_path(const char *path, struct fr_error *err)
{
    if (find_format(path))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s': expected a name that ends in .csv, .json, .png, .svg or .pdf", path);
}

enum fr_status fr_learning_write(const struct fr_learning *l, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    const struct format *format = find_format(path);
    struct fr__out o;
    enum fr_status st = FR_OK;

    FR_TRY(fr_learning_check_path(path, err));
    FR_TRY(fr__out_open(&o, path, err));
    if (format->print)
        format->print(o.f, l);
    else
        st = fr__draw_learning(o.f, l, format->ending, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}
