/* results/html/chart.c - bars, and the axis of time under the pictures of the report.
 *
 * It is separate because the tables, the sentences and all pictures of the report use them.
 */
#include "config.h"

#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/number.h"
#include "results/parts/times.h"

void fr__html_slice(FILE *f, const char *colour, double frac)
{
    if (!(frac > 0))
        return;
    fputs("<i style=\"width:", f);
    fr__html_number(f, 100 * (frac < 1 ? frac : 1));
    fprintf(f, "%%;background:%s\"></i>", colour);
}

void fr__html_stack(FILE *f, const struct fr__html_part parts[], size_t n)
{
    fputs("<div class=\"stack\">", f);
    for (size_t i = 0; i < n; i++)
        if (parts[i].share >= 0.001)
            fr__html_slice(f, parts[i].colour, parts[i].share);
    fputs("</div>\n<ul class=\"key\">\n", f);
    for (size_t i = 0; i < n; i++)
        if (parts[i].share >= 0.001)
            fprintf(f, "<li><i style=\"background:%s\"></i>%s <b>%s</b></li>\n", parts[i].colour,
                    parts[i].title, parts[i].value);
    fputs("</ul>\n", f);
}

/* ---- pictures over time ---- */

void fr__html_plot_begin(FILE *f, double height)
{
    fprintf(f, "<svg class=\"zoom\" x=\"%d\" y=\"0\" width=\"%d\" height=\"", FR__HTML_LEFT,
            FR__HTML_PLOT);
    fr__html_number(f, height);
    fprintf(f, "\" viewBox=\"0 0 %d ", FR__HTML_PLOT);
    fr__html_number(f, height);
    fputs("\" preserveAspectRatio=\"none\">\n<rect width=\"100%\" height=\"100%\" "
          "fill=\"#fff\" fill-opacity=\"0\"/>\n",
          f);
}

/* 1, 2 or 5 times a power of ten, for some eight steps. */
static double nice_step(double span)
{
    double power = 1, least = span / 8;

    while (power > least)
        power /= 10;
    while (power * 10 <= least)
        power *= 10;
    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

void fr__html_time_axis(FILE *f, const struct fr_record *r, double span_s, double y0, double y1)
{
    const char *unit;
    double factor = fr__record_time_unit(r, span_s, &unit), span = span_s * factor;
    double step = nice_step(span);
    char text[FR__HTML_TEXT];

    fprintf(f, "<text class=\"r q\" x=\"%d\" y=\"", FR__HTML_LEFT - 8);
    fr__html_number(f, y1 + 15);
    fprintf(f, "\">%s</text>\n<g class=\"g axis\" data-span=\"%s\" data-y0=\"",
            unit[0] ? unit : "time", fr__format_double(span, text, sizeof(text)));
    fr__html_number(f, y0);
    fputs("\" data-y1=\"", f);
    fr__html_number(f, y1);
    fputs("\">\n", f);
    for (unsigned i = 0; i * step <= span * (1 + 1e-9); i++) {
        double x = FR__HTML_LEFT + FR__HTML_PLOT * (i * step / span);

        fputs("<line x1=\"", f);
        fr__html_number(f, x);
        fputs("\" x2=\"", f);
        fr__html_number(f, x);
        fputs("\" y1=\"", f);
        fr__html_number(f, y0);
        fputs("\" y2=\"", f);
        fr__html_number(f, y1);
        fputs("\"/><text class=\"m q\" x=\"", f);
        fr__html_number(f, x);
        fputs("\" y=\"", f);
        fr__html_number(f, y1 + 15);
        fputs("\">", f);
        fr__html_number(f, i * step);
        fputs("</text>\n", f);
    }
    fputs("</g>\n", f);
}
