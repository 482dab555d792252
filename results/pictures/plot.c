/* results/pictures/plot.c - pictures by gnuplot: the formats, and what both kinds of picture share. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/format.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <string.h>

void fr__plot_number(FILE *script, double x)
{
    char buf[40];

    fprintf(script, "%s ", fr__format_double(x, buf, sizeof(buf)));
}

double fr__plot_time_unit(double max_s, const char **unit)
{
    static const struct {
        double from_s, factor;
        const char *unit;
    } units[] = {{1.0, 1.0, "s"}, {1e-3, 1e3, "ms"}, {0.0, 1e6, "µs"}};
    size_t i = 0;

    while (max_s < units[i].from_s)
        i++;
    *unit = units[i].unit;
    return units[i].factor;
}

void fr__plot_heading(FILE *script, const struct fr_record *r, bool with_strategy)
{
    char text[1024], time_text[32];

    snprintf(text, sizeof(text), "%s on %zu of %zu GPUs of %s%s%s", r->workload, r->n_gpus,
             r->n_gpus_total, r->topology, with_strategy ? ", " : "",
             with_strategy ? r->strategy : "");
    fputs("set label 1 ", script);
    fr__gnuplot_string(script, text, 100);
    fputs(" at screen 0.03, screen 0.965 left font ',17' tc rgb '" FR__COLOUR_TEXT "'\n", script);
    snprintf(text, sizeof(text), "%s%s%sglobal batch %u, %s, %s", with_strategy ? "iteration " : "",
             with_strategy ? fr__format_time(r->iteration_s, time_text, sizeof(time_text)) : "",
             with_strategy ? (r->oom ? " if it fitted in memory, " : ", ") : "", r->global_batch,
             r->dtype, r->optimizer);
    fputs("set label 2 ", script);
    fr__gnuplot_string(script, text, 120);
    fputs(" at screen 0.03, screen 0.928 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n", script);
}

static const struct {
    const char *ending;
    struct fr__plot_frame frame;
} frames[] = {
    {".png", {"set terminal pngcairo noenhanced size 1600,900 font 'Sans,12'\n", 1600}},
    {".svg",
     {"set terminal svg noenhanced size 1600,900 font 'Arial,12' fontscale 1.35 background "
      "'#FFFFFF'\n",
      1600}},
    {".pdf", {"set terminal pdfcairo noenhanced size 32cm,18cm font 'Sans,12'\n", 3000}},
};

const struct fr__plot_frame *fr__plot_frame(const char *ending)
{
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
        if (strcmp(frames[i].ending, ending) == 0)
            return &frames[i].frame;
    return NULL;
}

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
