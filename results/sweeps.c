/* results/sweeps.c - the file formats of sweeps. */
#include "config.h"

#include "results/data/sweep.h"
#include "results/html/html.h"
#include "results/parts/endings.h"
#include "results/pictures/scaling.h"
#include "results/pictures/sweep.h"

#include <string.h>

struct summed_up {
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    fr_sweep_ask_fn *ask;
};

static enum fr_status write_json(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    const struct summed_up *s = what;

    (void)ending, (void)ctx, (void)err;
    fr_sweep_print_json(f, s->sweep, s->summary);
    return FR_OK;
}

static enum fr_status write_csv(FILE *f, const void *what, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct summed_up *s = what;

    (void)ending, (void)ctx, (void)err;
    fr__sweep_write_csv(f, s->sweep, s->summary);
    return FR_OK;
}

static enum fr_status write_html(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    const struct summed_up *s = what;

    (void)ending;
    return fr__html_sweep(f, s->sweep, s->summary, s->ask, ctx, err);
}

static enum fr_status draw_scaling(FILE *f, const void *what, const char *ending,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    const struct summed_up *s = what;

    return fr__draw_scaling(f, s->sweep, s->summary, strrchr(ending, '.'), ctx, err);
}

static enum fr_status draw(FILE *f, const void *what, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err)
{
    const struct summed_up *s = what;

    return fr__draw_sweep(f, s->sweep, s->summary, ending, ctx, err);
}

static const struct fr__ending rows[] = {
    {".json", "every row as 'forerun simulate --json' prints it, and the summary", write_json},
    {".csv", "one line a row, for spreadsheets", write_csv},
    {".html", "report on one page: what is best, every point, the best ones over time", write_html},
    {".scaling.png", "picture: throughput and efficiency by GPUs (.scaling.svg, .scaling.pdf)",
     draw_scaling},
    {".scaling.svg", "the same, to scale without loss", draw_scaling},
    {".scaling.pdf", "the same, for print", draw_scaling},
    {".png", "picture: time against cost, with the frontier", draw},
    {".svg", "the same, to scale without loss", draw},
    {".pdf", "the same, for print", draw},
};

static const struct fr__endings formats = {
    .of = "sweeps", .rows = rows, .n = sizeof(rows) / sizeof(rows[0])};

const char *fr_sweep_format(size_t i, const char **summary)
{
    return fr__ending_at(&formats, i, summary);
}

enum fr_status fr_sweep_check_path(const char *path, struct fr_error *err)
{
    return fr__ending_check(&formats, path, err);
}

enum fr_status fr_sweep_write(const char *path, const struct fr_sweep *s,
                              const struct fr_sweep_summary *m, fr_sweep_ask_fn *ask,
                              const struct fr_context *ctx, struct fr_error *err)
{
    const struct summed_up what = {.sweep = s, .summary = m, .ask = ask};

    return fr__ending_write(&formats, &what, path, ctx, err);
}
