/* results/render/html.c - documents as pages: HTML, WHATWG's living standard.
 *
 * It is separate from the frame and the pictures of pages (results/html/), which it calls: here is
 * what any document becomes. Columns of numbers say what the page's script sorts them by.
 */
#include "config.h"

#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/render/render.h"

#include <math.h>
#include <string.h>

enum {
    FOLDED = 20, /* rows; longer tables below a heading are opened by whoever wants to see them */
    WIDE = 9     /* columns; tables with more are scrolled */
};

struct page {
    FILE *f;
    const struct fr__document *document;
    fr__chart_fn *chart;           /* that a block may ask for, or NULL */
    const struct fr__block *title; /* its first line is the page's title; NULL: none is */
    size_t n_parts;
};

/* ---- numbers in cells ---- */

/* "ms", "GiB", "TFLOP/s": how much one of it is. */
static double factor_of(const char *unit)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"ns", 1e-9},    {"us", 1e-6},    {"ms", 1e-3},    {"min", 60},
                 {"h", 3600},     {"days", 86400}, {"KiB", 0x1p10}, {"MiB", 0x1p20},
                 {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}, {"%", 0.01}};
    static const char prefixes[] = "kMGTP";
    size_t n = strcspn(unit, " ,;/)");
    bool has_prefix = n == 1 || (n > 1 && strchr("BFW", unit[1])); /* "M", "GB", "GFLOP", "GWh" */
    const char *prefix = has_prefix ? strchr(prefixes, unit[0]) : NULL;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i].unit) == n && strncmp(unit, units[i].unit, n) == 0)
            return units[i].factor;
    return prefix ? pow(1000, (double)(prefix - prefixes + 1)) : 1;
}

/* The first number of a cell with its unit: "late: 3.1 days", "+2.5 %". NAN: it has none. */
static double value_of(const char *cell)
{
    while (*cell) {
        const char *end;
        double x = fr__strtod(cell, &end);

        if (end > cell)
            return x * factor_of(*end == ' ' ? end + 1 : end);
        cell += strcspn(cell, " ");
        cell += strspn(cell, " ");
    }
    return NAN;
}

/* ---- tables ---- */

/* The number of the part that is called so; 0: none is. */
static size_t part_called(const struct page *p, const char *name)
{
    size_t n = 0;

    for (const struct fr__block *b = fr__document_first(p->document); b; b = b->next) {
        n += b->kind == FR__BLOCK_PART;
        if (b->kind == FR__BLOCK_PART && strcmp(b->lines[0], name) == 0)
            return n;
    }
    return 0;
}

static void put_cell(const struct page *p, const struct fr__block *b, size_t row, size_t column)
{
    const char *cell = b->cells[row * b->n_columns + column];
    double value = b->columns[column].is_right ? value_of(cell) : NAN;
    size_t part = b->columns[column].is_right ? 0 : part_called(p, cell);
    char text[FR__HTML_TEXT];

    fprintf(p->f, "<td class=\"%s\"", b->columns[column].is_right ? "n" : "t");
    if (!isnan(value))
        fprintf(p->f, " data-v=\"%s\"", fr__format_double(value, text, sizeof(text)));
    fputs(">", p->f);
    if (part)
        fprintf(p->f, "<a href=\"#part%zu\">", part);
    fr__markup_text(p->f, cell);
    fputs(part ? "</a></td>" : "</td>", p->f);
}

static double bar_value(const struct fr__block *b, size_t row, size_t bar)
{
    double x = value_of(b->cells[row * b->n_columns + b->first_bar + bar]);

    return isnan(x) ? 0 : x;
}

static double bar_length(const struct fr__block *b, size_t row)
{
    double sum = 0;

    for (size_t i = 0; i < b->n_bars; i++)
        sum += fabs(bar_value(b, row, i));
    return sum;
}

/* The longest is as wide as the cell. What is below zero is green: time that is saved. */
static void put_bar(const struct page *p, const struct fr__block *b, size_t row, double longest)
{
    fputs("<td class=\"w\"><span class=\"bar\">", p->f);
    for (size_t i = 0; i < b->n_bars; i++) {
        double x = bar_value(b, row, i);

        if (!(fabs(x) > 0))
            continue;
        fputs("<i style=\"width:", p->f);
        fr__markup_number(p->f, 100 * fabs(x) / longest);
        fprintf(p->f, "%%;background:%s\"></i>", x < 0 ? FR__COLOUR_UPDATE : b->bar_colours[i]);
    }
    fputs("</span></td>", p->f);
}

static bool ends_bar(const struct fr__block *b, size_t column)
{
    return b->n_bars > 0 && column + 1 == b->first_bar + b->n_bars;
}

static void put_titles(const struct page *p, const struct fr__block *b)
{
    fputs("<thead><tr>", p->f);
    for (size_t c = 0; c < b->n_columns; c++) {
        fputs(b->columns[c].is_right ? "<th class=\"n\">" : "<th>", p->f);
        fr__markup_text(p->f, b->columns[c].title);
        fputs("</th>", p->f);
        if (ends_bar(b, c))
            fputs("<th class=\"w\"></th>", p->f);
    }
    fputs("</tr></thead>", p->f);
}

static void put_table(const struct page *p, const struct fr__block *b)
{
    size_t n = b->n_rows - (b->has_sum && b->n_rows > 0);
    bool has_titles = false;
    double longest = 0;

    for (size_t c = 0; c < b->n_columns; c++)
        has_titles = has_titles || b->columns[c].title[0];
    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, bar_length(b, i));
    fputs(b->n_columns > WIDE ? "<div class=\"wide\">" : "", p->f);
    fputs(has_titles ? "<table class=\"sort\">" : "<table class=\"figures\">", p->f);
    if (has_titles)
        put_titles(p, b);
    fputs("<tbody>\n", p->f);
    for (size_t i = 0; i < b->n_rows; i++) {
        if (i == n)
            fputs("</tbody><tfoot>\n", p->f);
        fputs("<tr>", p->f);
        for (size_t c = 0; c < b->n_columns; c++) {
            put_cell(p, b, i, c);
            if (ends_bar(b, c) && i < n)
                put_bar(p, b, i, longest);
            else if (ends_bar(b, c))
                fputs("<td></td>", p->f);
        }
        fputs("</tr>\n", p->f);
    }
    fputs(n < b->n_rows ? "</tfoot></table>" : "</tbody></table>", p->f);
    fputs(b->n_columns > WIDE ? "</div>\n" : "\n", p->f);
}

/* ---- words ---- */

static void put_line(const struct page *p, const char *before, const char *text, const char *after)
{
    fputs(before, p->f);
    fr__markup_text(p->f, text);
    fputs(after, p->f);
}

static void put_sentences(const struct page *p, const struct fr__block *b)
{
    for (size_t i = b == p->title ? 1 : 0; i < b->n_lines; i++) {
        const char *line = b->lines[i] + strspn(b->lines[i], " ");
        bool is_bad = strncmp(line, "warning: ", 9) == 0 || strncmp(line, "out of memory", 13) == 0;

        put_line(p, is_bad ? "<p class=\"bad\">" : "<p>", line, "</p>\n");
    }
}

static void put_drawn(const struct page *p, const struct fr__block *b)
{
    fputs("<pre>", p->f);
    for (size_t i = 0; i < b->n_lines; i++)
        put_line(p, i ? "\n" : "", b->lines[i], "");
    fputs("</pre>\n", p->f);
}

/* A section, whose pictures are zoomed together. */
static void put_part(struct page *p, const struct fr__block *b)
{
    fprintf(p->f, "</section>\n<section class=\"run\" id=\"part%zu\">\n", ++p->n_parts);
    put_line(p, "<h2>", b->lines[0], "</h2>\n");
}

/* A heading and its table. */
static void put_headed(const struct page *p, const struct fr__block *b)
{
    bool is_folded = b->next && b->next->kind == FR__BLOCK_TABLE && b->next->n_rows > FOLDED;

    if (is_folded)
        put_line(p, "<details>\n<summary>", b->lines[0], "</summary>\n");
    else
        put_line(p, "<h3>", b->lines[0], "</h3>\n");
    if (!b->next)
        return;
    put_table(p, b->next);
    if (is_folded)
        fputs("</details>\n", p->f);
}

static enum fr_status put_block(struct page *p, const struct fr__block *b,
                                const struct fr_context *ctx, struct fr_error *err)
{
    switch (b->kind) {
    case FR__BLOCK_PART:
        put_part(p, b);
        break;
    case FR__BLOCK_HEADING:
        put_headed(p, b);
        break;
    case FR__BLOCK_SENTENCES:
        put_sentences(p, b);
        break;
    case FR__BLOCK_DRAWN:
        put_drawn(p, b);
        break;
    case FR__BLOCK_TABLE:
        put_table(p, b);
        break;
    case FR__BLOCK_PICTURE:
        return fr__html_picture(p->f, b, p->chart, ctx, err);
    }
    return FR_OK;
}

enum fr_status fr__html_render(FILE *f, const struct fr__document *d, const char *kind,
                               fr__chart_fn *chart, const struct fr_context *ctx,
                               struct fr_error *err)
{
    const struct fr__block *first = fr__document_first(d);
    struct page p = {.f = f, .document = d, .chart = chart};

    if (first && first->kind == FR__BLOCK_SENTENCES)
        p.title = first;
    fr__html_begin(f, p.title ? first->lines[0] : kind);
    put_line(&p, "<h1>", p.title ? first->lines[0] : kind, "</h1>\n<section class=\"only\">\n");
    for (const struct fr__block *b = first, *before = NULL; b; before = b, b = b->next)
        if (!before || before->kind != FR__BLOCK_HEADING)
            FR_TRY(put_block(&p, b, ctx, err));
    fputs("</section>\n", f);
    fr__html_end(f);
    return FR_OK;
}
