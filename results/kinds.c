/* results/kinds.c - the kinds of answers and the file formats of each.
 *
 * It is separate from the writers, each of which knows its own format alone. A new format of a kind
 * is a row here; a new kind is a table, a builder and the functions that name both.
 */
#include "config.h"

#include "results/kinds.h"

#include "base/error.h"
#include "results/data/learn.h"
#include "results/data/search.h"
#include "results/data/sweep.h"
#include "results/data/validate.h"
#include "results/parts/output.h"
#include "results/pictures/curves.h"
#include "results/pictures/difference.h"
#include "results/pictures/learn.h"
#include "results/pictures/scaling.h"
#include "results/pictures/schedule.h"
#include "results/pictures/search.h"
#include "results/pictures/sweep.h"
#include "results/pictures/validate.h"

#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
/* ---- differences ---- */

static void difference_json(FILE *f, const void *what)
{
    fr_difference_print_json(f, ((const struct fr__difference_answer *)what)->difference);
}

static enum fr_status difference_draw(FILE *f, const void *what, const char *ending,
                                      const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_difference(f, ((const struct fr__difference_answer *)what)->difference, ending,
                               ctx, err);
}

static const struct fr__ending of_differences[] = {
    {.ending = ".json", .summary = "every value, as --json prints it", .print = difference_json},
    FR__PAGE("report on one page: what adds up to the difference, both timelines"),
    FR__MARKDOWN,
    {.ending = ".png",
     .summary = "picture: the two timelines to one scale",
     .draw = difference_draw},
    {.ending = ".svg", .summary = "the same, to scale without loss", .draw = difference_draw},
    {.ending = ".pdf", .summary = "the same, for print", .draw = difference_draw},
};
static const struct fr__kind differences = {.of = "differences",
                                            .build = fr__document_of_difference,
                                            .rows = of_differences,
                                            .n = N_OF(of_differences)};

const char *fr_difference_format(size_t i, const char **summary)
{
    return fr__kind_format(&differences, i, summary);
}

enum fr_status fr_difference_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&differences, path, err);
}

enum fr_status fr_difference_write(const struct fr_difference *d, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&differences, &(struct fr__difference_answer){d, false}, path, ctx, err);
}

enum fr_status fr_difference_print(FILE *f, const struct fr_difference *d, bool is_verbose,
                                   struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_difference,
                            &(struct fr__difference_answer){d, is_verbose}, 0, err);
}

/* ---- sweeps ---- */

static void sweep_json(FILE *f, const void *what)
{
    const struct fr__sweep_answer *a = what;

    fr_sweep_print_json(f, a->sweep, a->summary);
}

static void sweep_csv(FILE *f, const void *what)
{
    const struct fr__sweep_answer *a = what;

    fr__sweep_write_csv(f, a->sweep, a->summary);
}

static enum fr_status sweep_scaling(FILE *f, const void *what, const char *ending,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__sweep_answer *a = what;

    return fr__draw_scaling(f, a->sweep, a->summary, strrchr(ending, '.'), ctx, err);
}

static enum fr_status sweep_draw(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__sweep_answer *a = what;

    return fr__draw_sweep(f, a->sweep, a->summary, ending, ctx, err);
}

static const struct fr__ending of_sweeps[] = {
    {.ending = ".json",
     .summary = "every row as 'forerun simulate --json' prints it, and the summary",
     .print = sweep_json},
    {.ending = ".csv", .summary = "one line a row, for spreadsheets", .print = sweep_csv},
    FR__PAGE("report on one page: what is best, every point, the best ones over time"),
    FR__MARKDOWN,
    {.ending = ".scaling.png",
     .summary = "picture: throughput and efficiency by GPUs (.scaling.svg, .scaling.pdf)",
     .draw = sweep_scaling},
    {.ending = ".scaling.svg", .summary = "the same, to scale without loss", .draw = sweep_scaling},
    {.ending = ".scaling.pdf", .summary = "the same, for print", .draw = sweep_scaling},
    {.ending = ".png",
     .summary = "picture: time against cost, with the frontier",
     .draw = sweep_draw},
    {.ending = ".svg", .summary = "the same, to scale without loss", .draw = sweep_draw},
    {.ending = ".pdf", .summary = "the same, for print", .draw = sweep_draw},
};
static const struct fr__kind sweeps = {
    .of = "sweeps", .build = fr__document_of_sweep, .rows = of_sweeps, .n = N_OF(of_sweeps)};

const char *fr_sweep_format(size_t i, const char **summary)
{
    return fr__kind_format(&sweeps, i, summary);
}

enum fr_status fr_sweep_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&sweeps, path, err);
}

enum fr_status fr_sweep_write(const char *path, const struct fr_sweep *s,
                              const struct fr_sweep_summary *m, const struct fr_sweep_table *wanted,
                              fr_sweep_ask_fn *ask, const struct fr_context *ctx,
                              struct fr_error *err)
{
    return fr__kind_write(&sweeps, &(struct fr__sweep_answer){s, m, wanted, ask}, path, ctx, err);
}

enum fr_status fr_sweep_print_table(FILE *f, const struct fr_sweep *s,
                                    const struct fr_sweep_summary *m,
                                    const struct fr_sweep_table *wanted, struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_sweep,
                            &(struct fr__sweep_answer){s, m, wanted, NULL}, wanted->width, err);
}

/* ---- searches, on one cluster and on several ---- */

static void search_json(FILE *f, const void *what)
{
    const struct fr__search_answer *a = what;

    if (a->n > 0)
        fr_search_print_clusters_json(f, a->n, a->results);
    else
        fr_search_print_json(f, a->results);
}

static void search_csv(FILE *f, const void *what)
{
    const struct fr__search_answer *a = what;

    if (a->n > 0)
        fr__search_write_clusters_csv(f, a->n, a->results);
    else
        fr__search_write_csv(f, a->results);
}

static enum fr_status search_draw(FILE *f, const void *what, const char *ending,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__search_answer *a = what;

    return a->n > 0 ? fr__draw_search_clusters(f, a->n, a->results, ending, ctx, err)
                    : fr__draw_search(f, a->results, ending, ctx, err);
}

static enum fr_status search_document(struct fr__document *doc, const void *what,
                                      struct fr_error *err)
{
    const struct fr__search_answer *a = what;

    return a->n > 0 ? fr__document_of_clusters(doc, what, err)
                    : fr__document_of_search(doc, what, err);
}

static const struct fr__ending of_searches[] = {
    {.ending = ".json", .print = search_json},
    {.ending = ".csv", .print = search_csv},
    FR__MARKDOWN,
    FR__PAGE_OF_TEXT,
    {.ending = ".png", .draw = search_draw},
    {.ending = ".svg", .draw = search_draw},
    {.ending = ".pdf", .draw = search_draw},
};
static const struct fr__kind searches = {
    .of = "searches", .build = search_document, .rows = of_searches, .n = N_OF(of_searches)};

enum fr_status fr_search_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&searches, path, err);
}

enum fr_status fr_search_write(const char *path, const struct fr_search_results *r,
                               const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&searches, &(struct fr__search_answer){0, r}, path, ctx, err);
}

enum fr_status fr_search_write_clusters(const char *path, size_t n,
                                        const struct fr_search_results r[],
                                        const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&searches, &(struct fr__search_answer){n, r}, path, ctx, err);
}

enum fr_status fr_search_print(FILE *f, const struct fr_search_results *r, struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_search, &(struct fr__search_answer){0, r}, r->width,
                            err);
}

enum fr_status fr_search_print_clusters(FILE *f, size_t n, const struct fr_search_results r[],
                                        struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_clusters, &(struct fr__search_answer){n, r},
                            r[0].width, err);
}

/* ---- curves of collectives ---- */

static void curves_json(FILE *f, const void *what)
{
    const struct fr__curves_answer *a = what;

    fr_comm_print_json(f, a->tables, a->n);
}

static void curves_csv(FILE *f, const void *what)
{
    const struct fr__curves_answer *a = what;

    fr_comm_print_csv(f, a->tables, a->n);
}

static enum fr_status curves_draw(FILE *f, const void *what, const char *ending,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__curves_answer *a = what;

    return fr__draw_curves(f, a->tables, a->n, ending, ctx, err);
}

static const struct fr__ending of_curves[] = {
    {.ending = ".svg", .draw = curves_draw},
    {.ending = ".png", .draw = curves_draw},
    {.ending = ".pdf", .draw = curves_draw},
    {.ending = ".csv", .print = curves_csv},
    {.ending = ".json", .print = curves_json},
    FR__MARKDOWN,
    FR__PAGE_OF_TEXT,
};
/* nccl-tests' -o is the reduction. */
static const struct fr__kind curves = {.of = "collectives",
                                       .hint = ", or a reduction: sum, prod, max, min or avg",
                                       .build = fr__document_of_curves,
                                       .rows = of_curves,
                                       .n = N_OF(of_curves)};

enum fr_status fr_comm_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&curves, path, err);
}

enum fr_status fr_comm_write(struct fr_comm_table *const t[], size_t n, const char *path,
                             const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&curves, &(struct fr__curves_answer){t, n, false}, path, ctx, err);
}

enum fr_status fr_comm_print(FILE *f, struct fr_comm_table *const t[], size_t n, bool has_links,
                             struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_curves, &(struct fr__curves_answer){t, n, has_links},
                            0, err);
}

/* ---- steps of a collective ---- */

static void story_json(FILE *f, const void *what)
{
    fr_comm_story_print_json(f, what);
}

static enum fr_status story_draw(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_steps(f, what, ending, ctx, err);
}

static const struct fr__ending of_stories[] = {
    {.ending = ".svg", .draw = story_draw},
    {.ending = ".png", .draw = story_draw},
    {.ending = ".pdf", .draw = story_draw},
    {.ending = ".json", .print = story_json},
    FR__MARKDOWN,
    FR__PAGE_OF_TEXT,
};
static const struct fr__kind stories = {.of = "a collective's steps",
                                        .build = fr__document_of_story,
                                        .rows = of_stories,
                                        .n = N_OF(of_stories)};

enum fr_status fr_comm_story_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&stories, path, err);
}

enum fr_status fr_comm_story_write(const struct fr_comm_story *s, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&stories, s, path, ctx, err);
}

enum fr_status fr_comm_story_print(FILE *f, const struct fr_comm_story *s, struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_story, s, 0, err);
}

/* ---- learning of costs ---- */

static void learning_csv(FILE *f, const void *what)
{
    fr__learning_write_csv(f, ((const struct fr__learning_answer *)what)->learning);
}

static void learning_json(FILE *f, const void *what)
{
    fr_learning_print_json(f, ((const struct fr__learning_answer *)what)->learning);
}

static enum fr_status learning_draw(FILE *f, const void *what, const char *ending,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_learning(f, ((const struct fr__learning_answer *)what)->learning, ending, ctx,
                             err);
}

static const struct fr__ending of_learnings[] = {
    {.ending = ".csv", .summary = "one row a round", .print = learning_csv},
    {.ending = ".json", .summary = "every value, as --json prints it", .print = learning_json},
    FR__MARKDOWN,
    FR__PAGE_OF_TEXT,
    {.ending = ".png",
     .summary = "picture: estimated and measured time by round, ways back marked",
     .draw = learning_draw},
    {.ending = ".svg", .summary = "the same, to scale without loss", .draw = learning_draw},
    {.ending = ".pdf", .summary = "the same, for print", .draw = learning_draw},
};
static const struct fr__kind learnings = {.of = "learnings",
                                          .build = fr__document_of_learning,
                                          .rows = of_learnings,
                                          .n = N_OF(of_learnings)};

const char *fr_learning_format(size_t i, const char **summary)
{
    return fr__kind_format(&learnings, i, summary);
}

enum fr_status fr_learning_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&learnings, path, err);
}

enum fr_status fr_learning_write(const struct fr_learning *l, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&learnings, &(struct fr__learning_answer){l, false}, path, ctx, err);
}

enum fr_status fr_learning_print(FILE *f, const struct fr_learning *l, bool is_verbose,
                                 struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_learning,
                            &(struct fr__learning_answer){l, is_verbose}, 0, err);
}

/* ---- stages without a topology ---- */

static void stages_profile(FILE *f, const void *what)
{
    const struct fr_stage_plan *p = what;

    fr_profile_write(f, p->profile, p->stage_of);
}

static void stages_json(FILE *f, const void *what)
{
    fr_stages_print_json(f, what);
}

static const struct fr__ending of_stages[] = {
    {.ending = ".txt", .print = stages_profile},
    {.ending = ".json", .print = stages_json},
    FR__MARKDOWN,
    FR__PAGE_OF_TEXT,
};
static const struct fr__kind stages = {.of = "stages without a topology",
                                       .hint = " (.txt: a PipeDream profile with stage_id)",
                                       .build = fr__document_of_stages,
                                       .rows = of_stages,
                                       .n = N_OF(of_stages)};

enum fr_status fr_stages_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&stages, path, err);
}

enum fr_status fr_stages_write(const struct fr_stage_plan *p, const char *path,
                               const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&stages, p, path, ctx, err);
}

enum fr_status fr_stages_print(FILE *f, const struct fr_stage_plan *p, struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_stages, p, 0, err);
}

/* ---- pipeline schedules ---- */

static enum fr_status schedules_draw(FILE *f, const void *what, const char *ending,
                                     const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__schedules_answer *a = what;

    return fr__schedules_draw(f, a->schedules, a->n, ending, ctx, err);
}

static const struct fr__ending of_schedules[] = {
    {.ending = ".svg", .draw = schedules_draw},
    {.ending = ".png", .draw = schedules_draw},
    {.ending = ".pdf", .draw = schedules_draw},
    FR__MARKDOWN,
    FR__PAGE_OF_TEXT,
};
static const struct fr__kind schedules = {.of = "schedules",
                                          .build = fr__document_of_schedules,
                                          .rows = of_schedules,
                                          .n = N_OF(of_schedules)};

enum fr_status fr_schedules_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&schedules, path, err);
}

enum fr_status fr_schedules_write(const struct fr_timed_schedule all[], size_t n, const char *path,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&schedules, &(struct fr__schedules_answer){all, n}, path, ctx, err);
}

enum fr_status fr_schedules_print_boxes(FILE *f, const struct fr_timed_schedule all[], size_t n,
                                        struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_schedules, &(struct fr__schedules_answer){all, n}, 0,
                            err);
}

enum fr_status fr_schedule_print_check(FILE *f, const struct fr_timed_schedule *x,
                                       struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_checked, &(struct fr__schedules_answer){x, 1}, 0,
                            err);
}

/* ---- validations ---- */

static void validation_csv(FILE *f, const void *what)
{
    fr__validation_write_csv(f, ((const struct fr__validation_answer *)what)->validation);
}

static enum fr_status validation_draw(FILE *f, const void *what, const char *ending,
                                      const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_validation(f, ((const struct fr__validation_answer *)what)->validation, ending,
                               ctx, err);
}

static enum fr_status validation_split(FILE *f, const void *what, const char *ending,
                                       const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_validation_split(f, ((const struct fr__validation_answer *)what)->validation,
                                     strrchr(ending, '.'), ctx, err);
}

static const struct fr__ending of_validations[] = {
    {.ending = ".csv", .summary = "the rows", .print = validation_csv},
    {.ending = ".split.png",
     .summary = "step times over the batch, measured and predicted (.split.svg, .split.pdf)",
     .draw = validation_split},
    {.ending = ".split.svg",
     .summary = "the same, to scale without loss",
     .draw = validation_split},
    {.ending = ".split.pdf", .summary = "the same, for print", .draw = validation_split},
    FR__MARKDOWN,
    FR__PAGE_OF_TEXT,
    {.ending = ".png", .summary = "a picture, by gnuplot", .draw = validation_draw},
    {.ending = ".svg", .summary = "a picture, by gnuplot", .draw = validation_draw},
    {.ending = ".pdf", .summary = "a picture, by gnuplot", .draw = validation_draw},
};
static const struct fr__kind validations = {.of = "validations",
                                            .build = fr__document_of_validation,
                                            .rows = of_validations,
                                            .n = N_OF(of_validations)};

const char *fr_validation_format(size_t i, const char **summary)
{
    return fr__kind_format(&validations, i, summary);
}

enum fr_status fr_validation_check_path(const char *path, struct fr_error *err)
{
    return fr__kind_check(&validations, path, err);
}

enum fr_status fr_validation_write(const struct fr_validation *v, bool with_rows, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    return fr__kind_write(&validations, &(struct fr__validation_answer){v, with_rows}, path, ctx,
                          err);
}

enum fr_status fr_validation_print(FILE *f, const struct fr_validation *v, bool with_rows,
                                   struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_validation,
                            &(struct fr__validation_answer){v, with_rows}, 0, err);
}
