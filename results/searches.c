/* results/searches.c - the file formats of searches. */
#include "config.h"

#include "results/data/search.h"
#include "results/parts/endings.h"
#include "results/pictures/search.h"

static enum fr_status write_json(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending, (void)ctx, (void)err;
    fr_search_print_json(f, what);
    return FR_OK;
}

static enum fr_status write_csv(FILE *f, const void *what, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending, (void)ctx, (void)err;
    fr__search_write_csv(f, what);
    return FR_OK;
}

static enum fr_status draw(FILE *f, const void *what, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_search(f, what, ending, ctx, err);
}

static const struct fr__ending rows[] = {
    {".json", NULL, write_json}, {".csv", NULL, write_csv}, {".png", NULL, draw},
    {".svg", NULL, draw},        {".pdf", NULL, draw},
};

static const struct fr__endings formats = {
    .of = "searches", .rows = rows, .n = sizeof(rows) / sizeof(rows[0])};

enum fr_status fr_search_check_path(const char *path, struct fr_error *err)
{
    return fr__ending_check(&formats, path, err);
}

enum fr_status fr_search_write(const char *path, const struct fr_search_results *r,
                               const struct fr_context *ctx, struct fr_error *err)
{
    return fr__ending_write(&formats, r, path, ctx, err);
}
