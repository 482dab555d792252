/* results/formats.c - the table of file formats of records, and the choice by a file's ending.
 *
 * It is separate from the writers, each of which knows its own format alone: the table names them
 * all. A new format is a file in a room of results/ and a word in FR__FORMATS (formats.h).
 */
#include "config.h"

#include "base/error.h"
#include "results/formats.h"
#include "results/kinds.h"
#include "results/parts/output.h"

#include <string.h>

static enum fr_status write_markdown(const struct fr_results *rs, FILE *f,
                                     const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_results uncut = *rs;

    (void)ctx;
    uncut.width = 0;
    return fr__answer_render(f, fr__document_of_results, &uncut, fr__markdown_render, err);
}

const struct fr__format fr__format_markdown = {
    .ending = ".md",
    .summary = "what a terminal shows, as Markdown",
    .takes_comparison = true,
    .write = write_markdown,
};

static enum fr_status write_html(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                                 struct fr_error *err)
{
    struct fr_results uncut = *rs;

    if (rs->n == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "there is nothing to report");
    uncut.width = 0;
    return fr__page_write(f, fr__document_of_results, &uncut, "answers", ctx, err);
}

const struct fr__format fr__format_html = {
    .ending = ".html",
    .summary = "report on one page: the answer, timeline, memory, links, sensitivities",
    .takes_comparison = true,
    .shows_sensitivity = true,
    .write = write_html,
};

#define FORMAT_ROW(name) &fr__format_##name,
static const struct fr__format *const formats[] = {FR__FORMATS(FORMAT_ROW)};
#undef FORMAT_ROW

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct fr__format *find_format(const char *path)
{
    const struct fr__format *best = NULL;

    for (size_t i = 0; i < N_FORMATS; i++)
        if (fr__ends_in(path, formats[i]->ending) &&
            (!best || strlen(formats[i]->ending) > strlen(best->ending)))
            best = formats[i];
    return best;
}

static enum fr_status fail_unknown(const char *path, struct fr_error *err)
{
    char known[128] = "";
    size_t used = 0;

    for (size_t i = 0; i < N_FORMATS && used < sizeof(known); i++) {
        int n =
            snprintf(known + used, sizeof(known) - used, "%s%s", i ? " " : "", formats[i]->ending);

        used += n > 0 ? (size_t)n : 0;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' has no ending that names a format, expected one of %s", path, known);
}

enum fr_status fr_results_check_path(const char *path, bool is_comparison, struct fr_error *err)
{
    const struct fr__format *format = find_format(path);

    if (!format)
        return fail_unknown(path, err);
    if (is_comparison && !format->takes_comparison)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': a %s file shows one run, not a comparison", path, format->ending);
    return fr__check_output(path, err);
}

bool fr_results_shows_sensitivity(const char *path)
{
    const struct fr__format *format = find_format(path);

    return format && format->shows_sensitivity;
}

const char *fr_results_format(size_t i, const char **summary)
{
    if (i >= N_FORMATS)
        return NULL;
    *summary = formats[i]->summary;
    return formats[i]->ending;
}

enum fr_status fr_results_write(const struct fr_results *rs, const char *path,
                                const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__out o;
    enum fr_status st;

    FR_TRY(fr_results_check_path(path, rs->is_comparison, err));
    FR_TRY(fr__open_output(&o, path, err));
    st = find_format(path)->write(rs, o.f, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}

enum fr_status fr_results_print_table(FILE *f, const struct fr_results *rs, struct fr_error *err)
{
    return fr__answer_print(f, fr__document_of_results, rs, rs->width, err);
}
