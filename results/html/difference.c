/* results/html/difference.c - why one answer takes longer than another, on one page.
 *
 * It is separate from the report of a comparison, whose strategies have sections of their own: here
 * two answers to any two questions stand beside each other, and rows add up to what is between
 * them.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/difference_lines.h"
#include "results/parts/number.h"
#include "results/parts/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20, TITLE = 512 };

struct page {
    FILE *f;
    const struct fr_difference *d;
    double step_s;
    const char *unit;
};

/* ---- words ---- */

static void write_title(const struct fr_record *r, char letter, char title[TITLE])
{
    if (r->is_plain)
        snprintf(title, TITLE, "%c: %s, %s, %s", letter, r->workload, r->topology, r->strategy);
    else
        snprintf(title, TITLE, "%c: %s, %zu GPUs of %s, batch %u, %s", letter, r->workload,
                 r->n_gpus, r->topology, r->global_batch, r->strategy);
}

static void write_verdict(const struct page *p)
{
    double a_s = p->d->parts_a->iteration_s, b_s = p->d->parts_b->iteration_s;
    char text[FR__HTML_TEXT];

    if (!(fabs(b_s - a_s) > 0)) {
        fputs("<p class=\"answer\">B takes as long as A.</p>\n", p->f);
        return;
    }
    fprintf(p->f, "<p class=\"answer\">B takes <b>%s</b> %s than A",
            fr__record_time(fr__difference_unit(p->d), fabs(b_s - a_s), text, sizeof(text)),
            b_s > a_s ? "longer" : "less");
    if (a_s > 0)
        fprintf(p->f, " (%s)", fr__html_change(b_s / a_s - 1, text, sizeof(text)));
    fputs(".</p>\n", p->f);
}

static void write_settings(FILE *f, const struct fr_difference *d)
{
    if (d->n_settings == 0) {
        fputs("<p>Both ask the same.</p>\n", f);
        return;
    }
    fputs("<table><thead><tr><th>they differ in</th><th>A</th><th>B</th></tr></thead><tbody>\n", f);
    for (size_t i = 0; i < d->n_settings; i++) {
        fputs("<tr>", f);
        fr__html_text_cell(f, d->settings[i].name);
        fr__html_text_cell(f, d->settings[i].a[0] ? d->settings[i].a : "none");
        fr__html_text_cell(f, d->settings[i].b[0] ? d->settings[i].b : "none");
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table>\n", f);
}

/* ---- tables ---- */

static void write_steps(const struct page *p, long long steps, bool is_signed)
{
    char text[FR__HTML_TEXT], cell[FR__HTML_TEXT + 8];
    double units = (double)steps / FR__DIFFERENCE_STEPS_A_UNIT;

    fr__fixed(fabs(units), FR__DIFFERENCE_DECIMALS, text, sizeof(text));
    snprintf(cell, sizeof(cell), "%s%s", steps < 0 ? "−" : is_signed && steps > 0 ? "+" : "", text);
    fr__html_number_cell(p->f, units, cell);
}

static void write_bar(FILE *f, long long change, long long most)
{
    fputs("<td class=\"w\"><span class=\"bar\">", f);
    fr__html_slice(f, change > 0 ? FR__COLOUR_BACKWARD_WEIGHT : FR__COLOUR_UPDATE,
                   most > 0 ? fabs((double)change) / (double)most : 0);
    fputs("</span></td>", f);
}

static void write_line(const struct page *p, const struct fr__difference_line *l, long long most)
{
    fputs("<tr>", p->f);
    fr__html_text_cell(p->f, l->name);
    write_steps(p, l->a, false);
    write_steps(p, l->b, false);
    write_steps(p, l->b - l->a, true);
    write_bar(p->f, l->b - l->a, most);
    fputs("</tr>\n", p->f);
}

/* lines[n], the last of which is the sum of the others and stays at the foot. */
static void write_table(const struct page *p, const char *title,
                        const struct fr__difference_line lines[], size_t n)
{
    char a[FR__DIFFERENCE_TITLE], b[FR__DIFFERENCE_TITLE], change[FR__DIFFERENCE_TITLE];
    long long most = 0;

    for (size_t i = 0; i + 1 < n; i++)
        if (llabs(lines[i].b - lines[i].a) > most)
            most = llabs(lines[i].b - lines[i].a);
    fprintf(p->f,
            "<table class=\"sort\"><thead><tr><th>%s</th><th class=\"n\">%s</th>"
            "<th class=\"n\">%s</th><th class=\"n\">%s</th><th class=\"w\"></th>"
            "</tr></thead><tbody>\n",
            title, fr__difference_title("A", p->unit, a), fr__difference_title("B", p->unit, b),
            fr__difference_title("B − A", p->unit, change));
    for (size_t i = 0; i + 1 < n; i++)
        write_line(p, &lines[i], most);
    fputs("</tbody><tfoot>\n", p->f);
    write_line(p, &lines[n - 1], 0);
    fputs("</tfoot></table>\n", p->f);
}

static enum fr_status write_pieces(const struct page *p, enum fr_pieces kind,
                                   const struct fr__difference_line parts[], struct fr_error *err)
{
    struct fr__difference_table t;

    FR_TRY(fr__difference_pieces(p->d, kind, p->step_s, MOST_ROWS, parts, &t, err));
    if (t.n_lines == 0)
        return FR_OK;
    if (t.is_cut)
        t.lines[t.n_lines - 2].name = t.more;
    write_table(p, t.title, t.lines, t.n_lines);
    free(t.lines);
    return FR_OK;
}

static enum fr_status write_tables(const struct page *p, struct fr_error *err)
{
    struct fr__difference_line parts[FR_N_PARTS + 1];

    fr__difference_parts(p->d, p->step_s, parts);
    fprintf(p->f,
            "<section>\n<h2>Where the difference lies</h2>\n<p class=\"note\">Means over the %ss "
            "in use of each. The rows of a table add up to its last one.</p>\n",
            fr__record_device_title(fr__difference_unit(p->d)));
    write_table(p, "part", parts, FR_N_PARTS + 1);
    for (unsigned kind = 0; kind < FR_N_PIECES; kind++)
        FR_TRY(write_pieces(p, (enum fr_pieces)kind, parts, err));
    fputs("</section>\n", p->f);
    return FR_OK;
}

enum fr_status fr__html_difference(FILE *f, const struct fr_difference *d, struct fr_error *err)
{
    struct page p = {.f = f, .d = d};
    char titles[2][TITLE];
    const struct fr__html_run runs[2] = {{d->a, titles[0], NULL}, {d->b, titles[1], NULL}};

    p.step_s = fr__difference_step_s(d, &p.unit);
    write_title(d->a, 'A', titles[0]);
    write_title(d->b, 'B', titles[1]);
    fr__html_begin(f, "Why B takes longer than A");
    fputs("<h1>Two answers beside each other</h1>\n<p class=\"sub\">", f);
    fr__html_text(f, titles[0]);
    fputs("</p>\n<p class=\"sub\">", f);
    fr__html_text(f, titles[1]);
    fputs("</p>\n", f);
    write_verdict(&p);
    write_settings(f, d);
    FR_TRY(fr__html_scale(f, runs, 2, true, err));
    FR_TRY(write_tables(&p, err));
    fr__html_end(f);
    return FR_OK;
}
