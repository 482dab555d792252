/* results/records.c - the file formats of records, one or several.
 *
 * It is separate from the other kinds of answers (kinds.c): its formats depend on how many answers
 * there are and on what was asked.
 */
#include "config.h"

#include "results/kinds.h"

#include "base/error.h"
#include "results/data/record.h"
#include "results/pictures/record.h"

static void json(FILE *f, const void *what)
{
    fr_results_print_json(f, what);
}

static void csv(FILE *f, const void *what)
{
    fr__results_write_csv(f, what);
}

static enum fr_status trace(FILE *f, const void *what, const char *ending,
                            const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending;
    return fr__results_write_trace(f, what, ctx, err);
}

static enum fr_status profile(FILE *f, const void *what, const char *ending,
                              const struct fr_context *ctx, struct fr_error *err)
{
    (void)ending, (void)ctx;
    return fr__results_write_profile(f, what, err);
}

static enum fr_status draw(FILE *f, const void *what, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err)
{
    return fr__draw_results(f, what, ending, ctx, err);
}

static const struct fr__ending rows[] = {
    {.ending = ".json",
     .summary = "every value, as 'forerun simulate --json' prints it",
     .print = json},
    {.ending = ".csv", .summary = "one row a result, for spreadsheets", .print = csv},
    {.ending = ".trace.json",
     .summary = "timeline and memory for ui.perfetto.dev (simulate)",
     .is_of_one = true,
     .draw = trace},
    FR__PAGE("report on one page: the answer, timeline, memory, links, sensitivities"),
    FR__MARKDOWN,
    {.ending = ".txt",
     .summary = "stages as a PipeDream profile with stage_id (simulate -s pipedream)",
     .is_of_one = true,
     .draw = profile},
    {.ending = ".png",
     .summary = "picture: timeline and memory (simulate), bars (compare)",
     .draw = draw},
    {.ending = ".svg", .summary = "the same, to scale without loss", .draw = draw},
    {.ending = ".pdf", .summary = "the same, for print", .draw = draw},
};
static const struct fr__kind records = {.of = "answers",
                                        .build = fr__document_of_results,
                                        .rows = rows,
                                        .n = sizeof(rows) / sizeof(rows[0])};

enum fr_status fr_results_check_path(const char *path, bool is_comparison, struct fr_error *err)
{
    const struct fr__ending *row = fr__kind_find(&records, path);

    if (row && is_comparison && row->is_of_one)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': a %s file shows one run, not a comparison", path, row->ending);
    return fr__kind_check(&records, path, err);
}

bool fr_results_shows_sensitivity(const char *path)
{
    const struct fr__ending *row = fr__kind_find(&records, path);

    return row && row->is_page;
}

const char *fr_results_format(size_t i, const char **summary)
{
    return fr__kind_format(&records, i, summary);
}

enum fr_status fr_results_write(const struct fr_results *rs, const char *path,
                                const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_results uncut = *rs; /* tables of files have any width */

    uncut.width = 0;
    FR_TRY(fr_results_check_path(path, rs->is_comparison, err));
    return fr__kind_write(&records, &uncut, path, ctx, err);
}

enum fr_status fr_results_print_table(FILE *f, const struct fr_results *rs, struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_results, rs, rs->width, err);
}
