/* results/comm.c - the file formats of a collective's curves, and of its steps. */
#include "config.h"

#include "results/comm_table.h"

#include "results/parts/endings.h"
#include "results/pictures/curves.h"

/* ---- curves ---- */

struct curves {
    struct fr_comm_table *const *of;
    size_t n;
};

static enum fr_status draw_curves(FILE *f, const void *what, const char *ending,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    const struct curves *c = what;

    return fr__draw_curves(f, c->of, c->n, ending, ctx, err);
}

static enum fr_status write_csv(FILE *f, const void *what, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct curves *c = what;

    (void)ending, (void)ctx, (void)err;
    fr_comm_print_csv(f, c->of, c->n);
    return FR_OK;
}

static enum fr_status write_json(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    const struct curves *c = what;

    (void)ending, (void)ctx, (void)err;
    fr_comm_print_json(f, c->of, c->n);
    return FR_OK;
}

static const struct fr__ending of_curves[] = {
    {".svg", NULL, draw_curves}, {".png", NULL, draw_curves}, {".pdf", NULL, draw_curves},
    {".csv", NULL, write_csv},   {".json", NULL, write_json},
};

/* nccl-tests' -o is the reduction. */
static const struct fr__endings curves = {.of = "collectives",
                                          .hint = ", or a reduction: sum, prod, max, min or avg",
                                          .rows = of_curves,
                                          .n = sizeof(of_curves) / sizeof(of_curves[0])};

enum fr_status fr_comm_check_path(const char *path, struct fr_error *err)
{
    return fr__ending_check(&curves, path, err);
}

enum fr_status fr_comm_write(struct fr_comm_table *const t[], size_t n, const char *path,
                             const struct fr_context *ctx, struct fr_error *err)
{
    const struct curves what = {.of = t, .n = n};

    return fr__ending_write(&curves, &what, path, ctx, err);
}

/* ---- steps ---- */

static enum fr_status draw_steps(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_steps(f, what, ending, ctx, err);
}

static enum fr_status write_story(FILE *f, const void *what, const char *ending,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending, (void)ctx, (void)err;
    fr_comm_story_print_json(f, what);
    return FR_OK;
}

static const struct fr__ending of_steps[] = {
    {".svg", NULL, draw_steps},
    {".png", NULL, draw_steps},
    {".pdf", NULL, draw_steps},
    {".json", NULL, write_story},
};

static const struct fr__endings steps = {
    .of = "a collective's steps", .rows = of_steps, .n = sizeof(of_steps) / sizeof(of_steps[0])};

enum fr_status fr_comm_story_check_path(const char *path, struct fr_error *err)
{
    return fr__ending_check(&steps, path, err);
}

enum fr_status fr_comm_story_write(const struct fr_comm_story *s, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    return fr__ending_write(&steps, s, path, ctx, err);
}
