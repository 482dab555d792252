/* results/schedules.c - the file formats of pipeline schedules: pictures. */
#include "config.h"

#include "results/schedules.h"

#include "results/parts/endings.h"
#include "results/pictures/schedule.h"

struct schedules {
    const struct fr_timed_schedule *of;
    size_t n;
};

static enum fr_status draw(FILE *f, const void *what, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err)
{
    const struct schedules *s = what;

    return fr__schedules_draw(f, s->of, s->n, ending, ctx, err);
}

static const struct fr__ending rows[] = {
    {".svg", NULL, draw}, {".png", NULL, draw}, {".pdf", NULL, draw}};

static const struct fr__endings formats = {
    .of = "schedules", .rows = rows, .n = sizeof(rows) / sizeof(rows[0])};

enum fr_status fr_schedules_check_path(const char *path, struct fr_error *err)
{
    return fr__ending_check(&formats, path, err);
}

enum fr_status fr_schedules_write(const struct fr_timed_schedule all[], size_t n, const char *path,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    const struct schedules what = {.of = all, .n = n};

    return fr__ending_write(&formats, &what, path, ctx, err);
}
