/* results/html/report.c - the report format: everything about a run or a comparison on one page.
 *
 * It is separate from the parts of the report: it says in which order they come, and how long each
 * may be.
 */
#include "config.h"

#include "base/error.h"
#include "results/formats.h"
#include "results/html/html.h"
#include "results/parts/rows.h"
#include "results/parts/output.h"

/* At some 200 bytes a box the file stays below a megabyte. */
static const struct fr__html_room ROOM_OF_ONE = {4500, 16, 8, 64};
static const struct fr__html_room ROOM_OF_MANY = {3000, 8, 3, 16};

static struct fr__html_room room_of(const struct fr_results *rs)
{
    struct fr__html_room room = rs->n > 1 ? ROOM_OF_MANY : ROOM_OF_ONE;

    room.boxes /= rs->n < FR__HTML_PICTURED ? rs->n : FR__HTML_PICTURED;
    return room;
}

static enum fr_status write_run(FILE *f, const struct fr_results *rs, size_t i,
                                struct fr_error *err)
{
    const struct fr_record *r = rs->records[i];
    const struct fr__html_room room = room_of(rs);
    char name[FR__ROW_NAME];

    if (rs->is_comparison) {
        fprintf(f, "<section class=\"run\" id=\"run%zu\">\n<h2>", i + 1);
        fr__html_text(f, fr__row_name(rs, i, name));
        fputs("</h2>\n", f);
    } else {
        fputs("<section class=\"only\">\n", f);
    }
    fr__html_figures(f, r);
    fr__html_sensitivities(f, r);
    FR_TRY(fr__html_timeline(f, r, &room, err));
    FR_TRY(fr__html_memory(f, r, &room, err));
    fr__html_peak(f, r);
    fr__html_path(f, r);
    fr__html_links(f, r);
    fr__html_devices(f, r, &room);
    fputs("</section>\n", f);
    return FR_OK;
}

/* The strategies' iterations under one another, each with a link to its own section. */
static enum fr_status write_scale(FILE *f, const struct fr_results *rs, struct fr_error *err)
{
    struct fr__html_run runs[FR__HTML_SCALED];
    char links[FR__HTML_SCALED][16], names[FR__HTML_SCALED][FR__ROW_NAME];
    size_t n = 0;

    for (; n < rs->n && n < FR__HTML_SCALED; n++) {
        snprintf(links[n], sizeof(links[n]), "#run%zu", n + 1);
        runs[n] = (struct fr__html_run){rs->records[n], fr__row_name(rs, n, names[n]), links[n]};
    }
    return fr__html_scale(f, runs, n, false, err);
}

static enum fr_status write_html(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                                 struct fr_error *err)
{
    char title[256], subject[FR__ROW_NAME];

    if (rs->n == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "there is nothing to report");
    if (fr__rows_differ(rs, FR__ROW_WORKLOAD) || fr__rows_differ(rs, FR__ROW_TOPOLOGY))
        snprintf(title, sizeof(title), "%.255s", fr__rows_subject(rs, subject));
    else
        snprintf(title, sizeof(title), "%s on %s", rs->records[0]->workload,
                 rs->records[0]->topology);
    fr__html_begin(f, title);
    fr__html_answer(f, rs);
    if (rs->is_comparison)
        fr__html_strategies(f, rs);
    if (rs->is_comparison)
        FR_TRY(write_scale(f, rs, err));
    for (size_t i = 0; i < rs->n && i < FR__HTML_PICTURED; i++) {
        FR_TRY(fr__check_cancel(ctx, err));
        FR_TRY(write_run(f, rs, i, err));
    }
    if (rs->n > FR__HTML_PICTURED)
        fprintf(f, "<p class=\"note\">Details of the first %d of %zu strategies.</p>\n",
                FR__HTML_PICTURED, rs->n);
    fr__html_trust(f, rs);
    fr__html_end(f);
    return FR_OK;
}

const struct fr__format fr__format_html = {
    .ending = ".html",
    .summary = "report on one page: the answer, timeline, memory, links, sensitivities",
    .takes_comparison = true,
    .shows_sensitivity = true,
    .write = write_html,
};
