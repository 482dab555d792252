/* results/searches.c - the file formats of searches, on one cluster and on several. */
#include "config.h"

#include "results/data/search.h"
#include "results/parts/endings.h"
#include "results/pictures/search.h"

struct clusters {
    size_t n; /* 0: one search, as it is by itself */
    const struct fr_search_results *r;
};

static enum fr_status write_json(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    const struct clusters *c = what;

    (void)ending, (void)ctx, (void)err;
    if (c->n)
        fr_search_print_clusters_json(f, c->n, c->r);
    else
        fr_search_print_json(f, c->r);
    return FR_OK;
}

static enum fr_status write_csv(FILE *f, const void *what, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct clusters *c = what;

    (void)ending, (void)ctx, (void)err;
    if (c->n)
        fr__search_write_clusters_csv(f, c->n, c->r);
    else
        fr__search_write_csv(f, c->r);
    return FR_OK;
}

static enum fr_status draw(FILE *f, const void *what, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err)
{
    const struct clusters *c = what;

    return c->n ? fr__draw_search_clusters(f, c->n, c->r, ending, ctx, err)
                : fr__draw_search(f, c->r, ending, ctx, err);
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
    return fr__ending_write(&formats, &(struct clusters){.r = r}, path, ctx, err);
}

enum fr_status fr_search_write_clusters(const char *path, size_t n,
                                        const struct fr_search_results r[],
                                        const struct fr_context *ctx, struct fr_error *err)
{
    return fr__ending_write(&formats, &(struct clusters){n, r}, path, ctx, err);
}
