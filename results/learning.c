/* results/learning.c - the file formats of learnings. */
#include "config.h"

#include "results/data/learn.h"
#include "results/parts/endings.h"
#include "results/pictures/learn.h"

static enum fr_status write_csv(FILE *f, const void *what, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending, (void)ctx, (void)err;
    fr__learning_write_csv(f, what);
    return FR_OK;
}

static enum fr_status write_json(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending, (void)ctx, (void)err;
    fr_learning_print_json(f, what);
    return FR_OK;
}

static enum fr_status draw(FILE *f, const void *what, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_learning(f, what, ending, ctx, err);
}

static const struct fr__ending rows[] = {
    {".csv", "one row a round", write_csv},
    {".json", "every value, as --json prints it", write_json},
    {".png", "picture: estimated and measured time by round, ways back marked", draw},
    {".svg", "the same, to scale without loss", draw},
    {".pdf", "the same, for print", draw},
};

static const struct fr__endings formats = {
    .of = "learnings", .rows = rows, .n = sizeof(rows) / sizeof(rows[0])};

const char *fr_learning_format(size_t i, const char **summary)
{
    return fr__ending_at(&formats, i, summary);
}

enum fr_status fr_learning_check_path(const char *path, struct fr_error *err)
{
    return fr__ending_check(&formats, path, err);
}

enum fr_status fr_learning_write(const struct fr_learning *l, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    return fr__ending_write(&formats, l, path, ctx, err);
}
