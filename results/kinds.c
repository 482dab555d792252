/* results/kinds.c - the kinds of answers: a row each, and the file formats of each.
 *
 * It is separate from the writers, each of which knows its own format alone. A new format of a kind
 * is an ending here; a new kind is a row, a type in FR_KINDS and a builder.
 */
#include "config.h"

#include "results/kinds.h"

#include "results/canvas/drawing.h"
#include "results/pictures/pictures.h"

/* The endings that any document has. */
#define MARKDOWN                                                                                   \
    {                                                                                              \
        .ending = ".md", .summary = "what a terminal shows, as Markdown",                          \
        .render = fr__markdown_render                                                              \
    }
#define PAGE(words)                                                                                \
    {                                                                                              \
        .ending = ".html", .summary = words, .is_page = true                                       \
    }
#define PAGE_OF_TEXT PAGE("what a terminal shows, on a page")
#define PAGE_OF_ANSWER PAGE("what a terminal shows, on a page with its picture")

static const struct fr__ending of_records[] = {
    {.ending = ".json",
     .summary = "every value, as 'forerun simulate --json' prints it",
     .print = fr__results_json},
    {.ending = ".csv", .summary = "one row a result, for spreadsheets", .print = fr__results_csv},
    {.ending = ".trace.json",
     .summary = "timeline and memory for ui.perfetto.dev (simulate)",
     .is_of_one = true,
     .write = fr__results_trace},
    PAGE("report on one page: the answer, timeline, memory, links, sensitivities"),
    MARKDOWN,
    {.ending = ".txt",
     .summary = "stages as a PipeDream profile with stage_id (simulate -s pipedream)",
     .is_of_one = true,
     .write = fr__results_profile},
    {.ending = ".png",
     .summary = "picture: timeline and memory (simulate), bars (compare)",
     .chart = fr__chart_of_results},
    {.ending = ".svg", .summary = "the same, to scale without loss", .chart = fr__chart_of_results},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_results},
};

static const struct fr__ending of_differences[] = {
    {.ending = ".json",
     .summary = "every value, as --json prints it",
     .print = fr__difference_json},
    PAGE("report on one page: what adds up to the difference, both timelines"),
    MARKDOWN,
    {.ending = ".png",
     .summary = "picture: the two timelines to one scale",
     .chart = fr__chart_of_difference},
    {.ending = ".svg",
     .summary = "the same, to scale without loss",
     .chart = fr__chart_of_difference},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_difference},
};

static const struct fr__ending of_sweeps[] = {
    {.ending = ".json",
     .summary = "every row as 'forerun simulate --json' prints it, and the summary",
     .print = fr__sweep_json},
    {.ending = ".csv", .summary = "one line a row, for spreadsheets", .print = fr__sweep_csv},
    PAGE("report on one page: what is best, every point, the best ones over time"),
    MARKDOWN,
    {.ending = ".scaling.png",
     .summary = "picture: throughput and efficiency by GPUs (.scaling.svg, .scaling.pdf)",
     .chart = fr__chart_of_scaling},
    {.ending = ".scaling.svg",
     .summary = "the same, to scale without loss",
     .chart = fr__chart_of_scaling},
    {.ending = ".scaling.pdf", .summary = "the same, for print", .chart = fr__chart_of_scaling},
    {.ending = ".png",
     .summary = "picture: time against cost, with the frontier",
     .chart = fr__chart_of_sweep},
    {.ending = ".svg", .summary = "the same, to scale without loss", .chart = fr__chart_of_sweep},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_sweep},
};

static const struct fr__ending of_searches[] = {
    {.ending = ".json", .summary = "every value, as --json prints it", .print = fr__search_json},
    {.ending = ".csv",
     .summary = "every layout of the space, with what became of it",
     .print = fr__search_csv},
    MARKDOWN,
    PAGE_OF_ANSWER,
    {.ending = ".png",
     .summary = "picture: time against memory, of several clusters against price",
     .chart = fr__chart_of_search},
    {.ending = ".svg", .summary = "the same, to scale without loss", .chart = fr__chart_of_search},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_search},
};

static const struct fr__ending of_curves[] = {
    {.ending = ".svg",
     .summary = "picture: bandwidth and time over the size; the messages, with --explain",
     .chart = fr__chart_of_curves},
    {.ending = ".png", .summary = "the same as pixels", .chart = fr__chart_of_curves},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_curves},
    {.ending = ".csv", .summary = "a size a row (not with --explain)", .print = fr__curves_csv},
    {.ending = ".json", .summary = "every value, as --json prints it", .print = fr__curves_json},
    MARKDOWN,
    PAGE_OF_ANSWER,
};

static const struct fr__ending of_stories[] = {
    {.ending = ".svg",
     .summary = "picture: the messages, round by round",
     .chart = fr__chart_of_comm_explanation},
    {.ending = ".png", .summary = "the same as pixels", .chart = fr__chart_of_comm_explanation},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_comm_explanation},
    {.ending = ".json",
     .summary = "every value, as --json prints it",
     .print = fr__comm_explanation_json},
    MARKDOWN,
    PAGE_OF_ANSWER,
};

static const struct fr__ending of_learnings[] = {
    {.ending = ".csv", .summary = "one row a round", .print = fr__learning_csv},
    {.ending = ".json", .summary = "every value, as --json prints it", .print = fr__learning_json},
    MARKDOWN,
    PAGE_OF_ANSWER,
    {.ending = ".png",
     .summary = "picture: estimated and measured time by round, ways back marked",
     .chart = fr__chart_of_learning},
    {.ending = ".svg",
     .summary = "the same, to scale without loss",
     .chart = fr__chart_of_learning},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_learning},
};

static const struct fr__ending of_stages[] = {
    {.ending = ".txt", .summary = "a PipeDream profile with stage_id", .print = fr__stages_profile},
    {.ending = ".json", .summary = "every value, as --json prints it", .print = fr__stages_json},
    MARKDOWN,
    PAGE_OF_TEXT,
};

static const struct fr__ending of_schedules[] = {
    {.ending = ".svg",
     .summary = "picture: one schedule below the other, in one scale",
     .chart = fr__chart_of_schedules},
    {.ending = ".png", .summary = "the same as pixels", .chart = fr__chart_of_schedules},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_schedules},
    MARKDOWN,
    PAGE_OF_ANSWER,
};

static const struct fr__ending of_fits_of_jobs[] = {
    {.ending = ".json", .summary = "every value, as --json prints it", .print = fr__fit_json},
    MARKDOWN,
    PAGE_OF_TEXT,
};
static const struct fr__ending of_jobs[] = {
    {.ending = ".json", .summary = "every value, as --json prints it", .print = fr__job_json},
    MARKDOWN,
    PAGE_OF_TEXT,
};

static const struct fr__ending of_recipe_fits[] = {
    {.ending = ".yaml", .summary = "the recipe, for --recipe FILE", .print = fr__recipe_fit_yaml},
    {.ending = ".json", .summary = "every value", .print = fr__recipe_fit_json},
};
static const struct fr__ending of_validations[] = {
    {.ending = ".csv", .summary = "the rows", .print = fr__validation_csv},
    MARKDOWN,
    PAGE_OF_ANSWER,
    {.ending = ".split.png",
     .summary = "step times over the batch, measured and predicted (.split.svg, .split.pdf)",
     .chart = fr__chart_of_split},
    {.ending = ".split.svg",
     .summary = "the same, to scale without loss",
     .chart = fr__chart_of_split},
    {.ending = ".split.pdf", .summary = "the same, for print", .chart = fr__chart_of_split},
    {.ending = ".png", .summary = "a picture, by gnuplot", .chart = fr__chart_of_validation},
    {.ending = ".svg", .summary = "a picture, by gnuplot", .chart = fr__chart_of_validation},
    {.ending = ".pdf", .summary = "a picture, by gnuplot", .chart = fr__chart_of_validation},
};

static const struct fr__ending of_explanations[] = {
    {.ending = ".svg",
     .summary = "the plan over time, before and after splits; pipelines under one another",
     .write = fr__explanation_plan},
    {.ending = ".png", .summary = "the same as pixels", .write = fr__explanation_plan},
    {.ending = ".pdf", .summary = "the same, for print", .write = fr__explanation_plan},
    {.ending = ".graph.svg",
     .summary = "the graph coloured by device (.graph.png, .graph.pdf)",
     .write = fr__explanation_graph},
    {.ending = ".graph.png", .summary = "the same as pixels", .write = fr__explanation_graph},
    {.ending = ".graph.pdf", .summary = "the same, for print", .write = fr__explanation_graph},
    {.ending = ".dot", .summary = "its graph, for graphviz", .write = fr__explanation_graph},
    {.ending = ".mesh.svg",
     .summary = "the mesh of a hybrid on its machines (.mesh.png, .mesh.pdf)",
     .write = fr__explanation_mesh},
    {.ending = ".mesh.png", .summary = "the same as pixels", .write = fr__explanation_mesh},
    {.ending = ".mesh.pdf", .summary = "the same, for print", .write = fr__explanation_mesh},
    {.ending = ".mesh.dot", .summary = "its graph, for graphviz", .write = fr__explanation_mesh},
    MARKDOWN,
    PAGE_OF_ANSWER,
};

static const struct fr__ending of_pipelines[] = {
    {.ending = ".svg",
     .summary = "picture: one schedule below the other, in one scale",
     .chart = fr__chart_of_pipelines},
    {.ending = ".png", .summary = "the same as pixels", .chart = fr__chart_of_pipelines},
    {.ending = ".pdf", .summary = "the same, for print", .chart = fr__chart_of_pipelines},
    MARKDOWN,
    PAGE_OF_ANSWER,
};

static const struct fr__ending of_drawings[] = {
    {.ending = ".svg", .summary = "a picture", .write = fr__drawing_write},
    {.ending = ".png", .summary = "the same as pixels", .write = fr__drawing_write},
    {.ending = ".pdf", .summary = "the same, for print", .write = fr__drawing_write},
    {.ending = ".dot", .summary = "its graph, for graphviz", .write = fr__drawing_write},
};

#define ENDINGS(array) .rows = (array), .n = sizeof(array) / sizeof((array)[0])

static const struct fr__kind kinds[FR_N_KINDS] = {
    [FR_KIND_RUN] = {.of = "answers",
                     .build = fr__document_of_results,
                     .json = fr__results_json,
                     ENDINGS(of_records)},
    [FR_KIND_COMPARISON] = {.of = "answers",
                            .build = fr__document_of_results,
                            .json = fr__results_json,
                            ENDINGS(of_records),
                            .is_of_many = true},
    [FR_KIND_DIFFERENCE] = {.of = "differences",
                            .build = fr__document_of_difference,
                            .json = fr__difference_json,
                            ENDINGS(of_differences)},
    [FR_KIND_SWEEP] = {.of = "sweeps",
                       .build = fr__document_of_sweep,
                       .json = fr__sweep_json,
                       ENDINGS(of_sweeps)},
    [FR_KIND_SEARCH] = {.of = "searches",
                        .build = fr__document_of_search,
                        .chart = fr__chart_of_search,
                        .json = fr__search_json,
                        ENDINGS(of_searches)},
    /* nccl-tests' -o is the reduction */
    [FR_KIND_CURVES] = {.of = "collectives",
                        .hint = ", or a reduction: sum, prod, max, min or avg",
                        .build = fr__document_of_curves,
                        .chart = fr__chart_of_curves,
                        .json = fr__curves_json,
                        ENDINGS(of_curves)},
    [FR_KIND_COMM_EXPLANATION] = {.of = "a collective's steps",
                                  .build = fr__document_of_comm_explanation,
                                  .chart = fr__chart_of_comm_explanation,
                                  .json = fr__comm_explanation_json,
                                  ENDINGS(of_stories)},
    [FR_KIND_LEARNING] = {.of = "learnings",
                          .build = fr__document_of_learning,
                          .chart = fr__chart_of_learning,
                          .json = fr__learning_json,
                          ENDINGS(of_learnings)},
    [FR_KIND_STAGES] = {.of = "stages without a topology",
                        .hint = " (.txt: a PipeDream profile with stage_id)",
                        .build = fr__document_of_stages,
                        .json = fr__stages_json,
                        ENDINGS(of_stages)},
    [FR_KIND_SCHEDULES] = {.of = "schedules",
                           .build = fr__document_of_schedules,
                           .chart = fr__chart_of_schedules,
                           .json = fr__schedules_json,
                           ENDINGS(of_schedules)},
    [FR_KIND_CHECKED] = {.of = "checked schedules", .build = fr__document_of_checked},
    [FR_KIND_RECIPE_FIT] = {.of = "fitted recipes",
                            .build = fr__document_of_recipe_fit,
                            .json = fr__recipe_fit_json,
                            ENDINGS(of_recipe_fits)},
    [FR_KIND_VALIDATION] = {.of = "validations",
                            .build = fr__document_of_validation,
                            .chart = fr__chart_of_validation,
                            .json = fr__validation_json,
                            ENDINGS(of_validations)},
    [FR_KIND_EXPLANATION] = {.of = "explanations",
                             .build = fr__document_of_explanation,
                             .chart = fr__chart_of_explanation,
                             ENDINGS(of_explanations)},
    [FR_KIND_PIPELINES] = {.of = "explanations",
                           .build = fr__document_of_pipelines,
                           .chart = fr__chart_of_schedules,
                           ENDINGS(of_pipelines)},
    [FR_KIND_FIT] = {.of = "fits of jobs",
                     .build = fr__document_of_fit,
                     .json = fr__fit_json,
                     ENDINGS(of_fits_of_jobs)},
    [FR_KIND_JOB] = {.of = "jobs",
                     .build = fr__document_of_job,
                     .json = fr__job_json,
                     ENDINGS(of_jobs)},
    [FR_KIND_DRAWING] = {.of = "drawings", ENDINGS(of_drawings)},
};

const struct fr__kind *fr__kind(enum fr_kind k)
{
    return &kinds[k];
}
