/* results/sweeps.c - the table of file formats of sweeps, and the choice by a file's ending.
 *
 * It is separate from the writers, each of which knows its own format alone.
 */
#include "config.h"

#include "base/error.h"
#include "results/data/sweep.h"
#include "results/parts/output.h"
#include "results/pictures/scaling.h"
#include "results/pictures/sweep.h"

#include <string.h>

static const struct format {
    const char *ending, *summary;
    /* NULL: a picture */
    void (*print)(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m);
} formats[] = {
    {".json", "every row as 'forerun simulate --json' prints it, and the summary",
     fr_sweep_print_json},
    {".csv", "one line a row, for spreadsheets", fr__sweep_write_csv},
    {".scaling.png", "picture: throughput and efficiency by GPUs (.scaling.svg, .scaling.pdf)",
     NULL},
    {".scaling.svg", "the same, to scale without loss", NULL},
    {".scaling.pdf", "the same, for print", NULL},
    {".png", "picture: time against cost, with the frontier", NULL},
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

const char *fr_sweep_format(size_t i, const char **summary)
{
    if (i >= N_FORMATS)
        return NULL;
    *summary = formats[i].summary;
    return formats[i].ending;
}

enum fr_status fr_sweep_check_path(const char *path, struct fr_error *err)
{
    if (!find_format(path))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a format of sweeps, expected one of .json "
                        ".csv .png .svg .pdf .scaling.svg",
                        path);
    return fr__check_output(path, err);
}

enum fr_status fr_sweep_write(const char *path, const struct fr_sweep *s,
                              const struct fr_sweep_summary *m, const struct fr_context *ctx,
                              struct fr_error *err)
{
    const struct format *format = find_format(path);
    struct fr__out o;
    enum fr_status st = FR_OK;

    FR_TRY(fr_sweep_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    if (format->print)
        format->print(o.f, s, m);
    else if (strncmp(format->ending, ".scaling", 8) == 0)
        st = fr__draw_scaling(o.f, s, m, format->ending + 8, ctx, err);
    else
        st = fr__draw_sweep(o.f, s, m, format->ending, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}
