/* results/pictures/plot.c - what the scripts for gnuplot share: terminals, headings, numbers.
 *
 * It is separate from the pictures, none of which may depend on another.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/ticks.h"
#include "results/pictures/gnuplot.h"
#include "results/parts/number.h"
#include "results/parts/rows.h"
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

/* The two lines above a picture. */
static void put_heading(FILE *script, const char *title, const char *manner)
{
    fputs("set label 1 ", script);
    fr__gnuplot_string(script, title, 100);
    fputs(" at screen 0.03, screen 0.965 left font ',17' tc rgb '" FR__COLOUR_TEXT "'\n", script);
    fputs("set label 2 ", script);
    fr__gnuplot_string(script, manner, 120);
    fputs(" at screen 0.03, screen 0.928 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n", script);
}

void fr__plot_heading(FILE *script, const struct fr_record *r)
{
    const struct fr_results one = {.records = &r, .n = 1};
    char subject[FR__ROW_NAME], manner[FR__ROW_NAME], time_text[32];
    char title[2 * FR__ROW_NAME], line[2 * FR__ROW_NAME];

    snprintf(title, sizeof(title), "%s, %s", fr__rows_subject(&one, subject), r->strategy);
    snprintf(line, sizeof(line), "%s %s%s%s", r->is_plain ? "makespan" : "iteration",
             r->is_plain ? fr__plain(r->iteration_s, time_text, sizeof(time_text))
                         : fr__format_time(r->iteration_s, time_text, sizeof(time_text)),
             r->oom ? " if it fitted in memory, " : ", ", fr__rows_manner(&one, manner));
    put_heading(script, title, line);
}

void fr__plot_comparison_heading(FILE *script, const struct fr_results *rs)
{
    char subject[FR__ROW_NAME], manner[FR__ROW_NAME];

    put_heading(script, fr__rows_subject(rs, subject), fr__rows_manner(rs, manner));
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
