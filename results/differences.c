/* results/differences.c - the file formats of differences. */
#include "config.h"

#include "results/html/html.h"
#include "results/parts/endings.h"
#include "results/pictures/difference.h"

static enum fr_status write_json(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending, (void)ctx, (void)err;
    fr_difference_print_json(f, what);
    return FR_OK;
}

static enum fr_status write_html(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending, (void)ctx;
    return fr__html_difference(f, what, err);
}

static enum fr_status draw(FILE *f, const void *what, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_difference(f, what, ending, ctx, err);
}

static const struct fr__ending rows[] = {
    {".json", "every value, as --json prints it", write_json},
    {".html", "report on one page: what adds up to the difference, both timelines", write_html},
    {".png", "picture: the two timelines to one scale", draw},
    {".svg", "the same, to scale without loss", draw},
    {".pdf", "the same, for print", draw},
};

static const struct fr__endings formats = {
    .of = "differences", .rows = rows, .n = sizeof(rows) / sizeof(rows[0])};

const char *fr_difference_format(size_t i, const char **summary)
{
    return fr__ending_at(&formats, i, summary);
}

enum fr_status fr_difference_check_path(const char *path, struct fr_error *err)
{
    return fr__ending_check(&formats, path, err);
}

enum fr_status fr_difference_write(const struct fr_difference *d, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    return fr__ending_write(&formats, d, path, ctx, err);
}
