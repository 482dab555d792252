/* results/html/cells.c - cells of the tables of reports, with the value that a column is sorted by.
 *
 * It is separate because every table of a report is made of them.
 */
#include "config.h"

#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/number.h"
#include "results/parts/times.h"

#include <math.h>

void fr__html_number_cell(FILE *f, double sort, const char *text)
{
    char value[FR__HTML_TEXT];

    if (isnan(sort)) {
        fputs("<td class=\"n\"></td>", f);
        return;
    }
    fprintf(f, "<td class=\"n\" data-v=\"%s\">%s</td>",
            fr__format_double(sort, value, sizeof(value)), text);
}

void fr__html_time_cell(FILE *f, const struct fr_record *r, double s)
{
    char text[FR__HTML_TEXT];

    fr__html_number_cell(f, s, fr__record_time(r, s, text, sizeof(text)));
}

void fr__html_bytes_cell(FILE *f, double bytes)
{
    char text[FR__HTML_TEXT];

    fr__html_number_cell(f, bytes, fr__format_bytes(bytes, text, sizeof(text)));
}

void fr__html_percent_cell(FILE *f, double frac)
{
    char text[FR__HTML_TEXT];

    fr__html_number_cell(f, frac, fr__html_percent(frac, text, sizeof(text)));
}

void fr__html_text_cell(FILE *f, const char *text)
{
    fputs("<td class=\"t\">", f);
    fr__html_text(f, text);
    fputs("</td>", f);
}
