/* results/pictures/record.c - the picture formats of records: a timeline of one, bars of several.
 *
 * It is separate from plot.c: that file helps every picture, this one holds the rows .png, .svg and
 * .pdf of the table of formats and calls the two scripts.
 */
#include "config.h"

#include "base/error.h"
#include "results/formats.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/record.h"

static enum fr_status draw(const struct fr_results *rs, const struct fr__plot_frame *frame,
                           FILE *picture, const struct fr_context *ctx, struct fr_error *err)
{
    FILE *script;
    enum fr_status st;

    if (!rs->is_comparison && (!rs->records[0]->plan || !rs->records[0]->run))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a timeline needs the plan and its run");
    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(frame->terminal, script);
    st = rs->is_comparison ? fr__plot_comparison(script, rs, err)
                           : fr__plot_timeline(script, rs->records[0], frame, err);
    if (st == FR_OK)
        st = fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}

static enum fr_status write_png(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                                struct fr_error *err)
{
    return draw(rs, fr__plot_frame(".png"), f, ctx, err);
}

static enum fr_status write_svg(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                                struct fr_error *err)
{
    return draw(rs, fr__plot_frame(".svg"), f, ctx, err);
}

static enum fr_status write_pdf(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                                struct fr_error *err)
{
    return draw(rs, fr__plot_frame(".pdf"), f, ctx, err);
}

const struct fr__format fr__format_png = {
    .ending = ".png",
    .summary = "picture: timeline and memory (simulate), bars (compare)",
    .takes_comparison = true,
    .write = write_png,
};

const struct fr__format fr__format_svg = {
    .ending = ".svg",
    .summary = "the same, to scale without loss",
    .takes_comparison = true,
    .write = write_svg,
};

const struct fr__format fr__format_pdf = {
    .ending = ".pdf",
    .summary = "the same, for print",
    .takes_comparison = true,
    .write = write_pdf,
};
