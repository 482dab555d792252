/* api/verbs/drawing.c - where a drawing goes: files by their ending, or standard output as text. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "results/draw.h"

#include <errno.h>
#include <string.h>

enum fr_status fr__open_drawing(const struct fr__call *s, FILE **dot, struct fr_error *err)
{
    for (size_t i = 0; i < s->options.n_files; i++)
        FR_TRY(fr_draw_check_path(s->options.files[i], err));
    *dot = tmpfile();
    if (!*dot)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot make a temporary file: %s",
                        strerror(errno));
    return FR_OK;
}

enum fr_status fr__write_drawing(struct fr__call *s, FILE *dot, bool is_placed,
                                 struct fr_error *err)
{
    char block[8192];
    size_t n;

    for (size_t i = 0; i < s->options.n_files; i++)
        FR_TRY(fr_draw_write(dot, is_placed, s->options.files[i], &s->context, err));
    if (s->options.n_files > 0)
        return FR_OK;
    if (fflush(dot) != 0 || ferror(dot) || fseek(dot, 0, SEEK_SET) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write a temporary file: %s",
                        strerror(errno));
    while ((n = fread(block, 1, sizeof(block), dot)) > 0)
        fwrite(block, 1, n, s->out);
    return FR_OK;
}
