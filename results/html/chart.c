/* results/html/chart.c - bars beside words, and their key.
 *
 * It is separate because the tables and the sentences of the report use them.
 */
#include "config.h"

#include "results/html/html.h"

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
