/* results/pictures/plot.c - what the scripts for gnuplot share: terminals, headings, numbers.
 *
 * It is separate from the pictures, none of which may depend on another.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/ticks.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <string.h>

void fr__plot_number(FILE *script, double x)
{
    char buf[40];

    fprintf(script, "%s ", fr__format_double(x, buf, sizeof(buf)));
}

void fr__plot_log_ticks(FILE *script, const char *axis, double low, double high, unsigned most)
{
    double ticks[FR__MAX_TICKS];
    unsigned n = fr__log_ticks(low, high, most, ticks);

    fprintf(script, "set %stics (", axis);
    for (unsigned i = 0; i < n; i++) {
        fprintf(script, "%s'%.6g' ", i ? ", " : "", ticks[i]);
        fr__plot_number(script, ticks[i]);
    }
    fputs(")\n", script);
}

void fr__plot_heading(FILE *script, const struct fr_record *r, bool with_strategy)
{
    char text[1024], time_text[32], gpus[48];

    if (r->n_gpus == r->n_gpus_total)
        snprintf(gpus, sizeof(gpus), r->n_gpus == 1 ? "the GPU" : "all %zu GPUs", r->n_gpus);
    else
        snprintf(gpus, sizeof(gpus), "%zu of %zu GPUs", r->n_gpus, r->n_gpus_total);
    snprintf(text, sizeof(text), "%s on %s of %s%s%s", r->workload, gpus, r->topology,
             with_strategy ? ", " : "", with_strategy ? r->strategy : "");
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
