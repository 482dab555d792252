/* results/drawings/dot.c - pieces of DOT text, and graphviz that makes pictures of it. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "results/drawings/dot.h"
#include "results/draw.h"
#include "results/parts/program.h"

#include <errno.h>
#include <string.h>

void fr__dot_text(FILE *f, const char *text, size_t max)
{
    size_t left = strlen(text), n = 0;

    for (size_t len; left > 0; text += len, left -= len) {
        len = fr__utf8_length(text, left);
        if (n++ == max) {
            fputs("...", f);
            return;
        }
        if (len == 0 || (unsigned char)*text < 0x20 || *text == 0x7f) {
            putc('?', f);
            len = 1;
        } else if (*text == '"' || *text == '\\') {
            putc('\\', f);
            putc(*text, f);
        } else if (*text == '&') {
            fputs("&amp;", f); /* labels decode entities */
        } else {
            fwrite(text, 1, len, f);
        }
    }
}

void fr__dot_inches(FILE *f, long points)
{
    long thousandths = points * 1000 / 72;

    fprintf(f, "%ld.%03ld", thousandths / 1000, thousandths % 1000);
}

/* ---- files ---- */

static const struct ending {
    const char *ending, *format;
} endings[] = {{".svg", "-Tsvg"}, {".png", "-Tpng"}, {".pdf", "-Tpdf"}, {".dot", NULL}};

static const struct ending *find_ending(const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (n > 4 && strcmp(path + n - 4, endings[i].ending) == 0)
            return &endings[i];
    return NULL;
}

/* A folder that does not exist is no bad input here: the writing failed. */
static enum fr_status open_output(struct fr__out *o, const char *path, struct fr_error *err)
{
    enum fr_status st = fr__out_open(o, path, err);

    if (st != FR_ENOENT)
        return st;
    err->code = FR_EIO;
    return FR_EIO;
}

enum fr_status fr_draw_check_path(const char *path, struct fr_error *err)
{
    struct fr__out o;

    if (!find_ending(path))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a picture, expected one of .svg .png .pdf "
                        ".dot",
                        path);
    FR_TRY(open_output(&o, path, err));
    fr__out_abort(&o);
    return FR_OK;
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

static enum fr_status render(FILE *dot, bool is_placed, const char *format, FILE *picture,
                             const struct fr_context *ctx, struct fr_error *err)
{
    char neato[] = "neato", as_placed[] = "-n2", dot_name[] = "dot", output[8], dpi[] = "-Gdpi=144";
    char *argv[5];
    size_t n = 0;

    argv[n++] = is_placed ? neato : dot_name;
    if (is_placed)
        argv[n++] = as_placed; /* everything stands where its pos says */
    snprintf(output, sizeof(output), "%s", format);
    argv[n++] = output;
    if (strcmp(format, "-Tpng") == 0)
        argv[n++] = dpi; /* twice the size, for slides */
    argv[n] = NULL;
    return fr__program_run(argv, dot, picture,
                           "install graphviz, or write .dot and draw that elsewhere", ctx, err);
}

enum fr_status fr_draw_write(FILE *dot, bool is_placed, const char *path,
                             const struct fr_context *ctx, struct fr_error *err)
{
    const struct ending *ending;
    struct fr__out o;
    enum fr_status st;

    FR_TRY(fr_draw_check_path(path, err));
    ending = find_ending(path);
    FR_TRY(open_output(&o, path, err));
    st = ending->format ? render(dot, is_placed, ending->format, o.f, ctx, err)
                        : copy(dot, o.f, err);
    if (st == FR_OK)
        st = fr__out_commit(&o, err);
    fr__out_abort(&o);
    return st;
}
