/* results/document/difference.c - why one answer takes longer than another, as tables for people.
 *
 * It is separate from the rows themselves (parts/difference_lines.c), which pictures show, too.
 */
#include "config.h"

#include "results/document/builders.h"

#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/difference_lines.h"
#include "results/parts/number.h"
#include "results/results.h"
#include "results/parts/times.h"
#include "results/parts/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_ROWS = 8, PAGE_ROWS = 20, MANY_ROWS = 10000, CELL = 48 };

struct page {
    struct fr__document *doc;
    const struct fr_difference *d;
    double step_s; /* the smallest time that is told apart */
    const char *unit;
    size_t most_rows;
};

/* ---- tables ---- */

static void format_steps(long long steps, bool is_signed, char cell[FR__TABLE_CELL])
{
    char text[CELL];

    fr__fixed((double)(steps < 0 ? -steps : steps) / FR__DIFFERENCE_STEPS_A_UNIT,
              FR__DIFFERENCE_DECIMALS, text, sizeof(text));
    snprintf(cell, FR__TABLE_CELL, "%s%s",
             steps < 0                ? "-"
             : is_signed && steps > 0 ? "+"
                                      : "",
             text);
}

static void fill_row(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__difference_line *l = (const struct fr__difference_line *)user + i;

    fr__table_text(row->cell[0], l->name);
    format_steps(l->a, false, row->cell[1]);
    format_steps(l->b, false, row->cell[2]);
    format_steps(l->b - l->a, true, row->cell[3]);
}

static void put_table(const struct page *p, const char *title,
                      const struct fr__difference_line lines[], size_t n)
{
    char a[FR__DIFFERENCE_TITLE], b[FR__DIFFERENCE_TITLE], change[FR__DIFFERENCE_TITLE];
    const struct fr__table_column columns[] = {
        {title, false},
        {fr__difference_title("A", p->unit, a), true},
        {fr__difference_title("B", p->unit, b), true},
        {fr__difference_title("B - A", p->unit, change), true}};

    static const char *const bar[] = {FR__COLOUR_BACKWARD_WEIGHT};

    fr__say_table(p->doc, &(struct fr__table){columns, 4, n, fill_row, lines}, 0);
    fr__say_bars(p->doc, 3, 1, bar);
}

static void put_pieces(const struct page *p, enum fr_pieces kind,
                       const struct fr__difference_line parts[])
{
    struct fr__difference_table t;

    if (fr__difference_pieces(p->d, kind, p->step_s, p->most_rows, parts, &t, NULL) != FR_OK ||
        t.n_lines == 0)
        return;
    if (t.is_cut)
        t.lines[t.n_lines - 2].name = t.more;
    fr__say(p->doc, "\n");
    put_table(p, t.title, t.lines, t.n_lines);
    fr__say_sum(p->doc);
    free(t.lines);
}

/* ---- the page ---- */

static void put_answer(struct fr__document *doc, char letter, const struct fr_record *r)
{
    char time[CELL];

    fr__say(doc, "%c: ", letter);
    fr__say_name(doc, r->workload);
    if (r->is_plain)
        fr__say(doc, " on ");
    else
        fr__say(doc, " on %zu of %zu GPUs of ", r->n_gpus, r->n_gpus_total);
    fr__say_name(doc, r->topology);
    fr__say(doc, ", strategy ");
    fr__say_name(doc, r->strategy);
    if (!r->is_plain)
        fr__say(doc, ", global batch %u", r->global_batch);
    fr__say(doc, ": %s%s\n", fr__record_time(r, r->run->iteration_s, time, sizeof(time)),
            r->oom ? " if it fitted in memory" : "");
}

static void put_settings(struct fr__document *doc, const struct fr_difference *d)
{
    for (size_t i = 0; i < d->n_settings; i++) {
        fr__say(doc, "%s", i ? "; " : "they differ in ");
        fr__say(doc, "%s: ", d->settings[i].name);
        fr__say_name(doc, d->settings[i].a[0] ? d->settings[i].a : "none");
        fr__say(doc, " | ");
        fr__say_name(doc, d->settings[i].b[0] ? d->settings[i].b : "none");
    }
    fr__say(doc, "%s", d->n_settings ? "\n" : "both ask the same\n");
}

static void put_verdict(struct fr__document *doc, const struct fr_difference *d)
{
    double a_s = d->parts_a->iteration_s, b_s = d->parts_b->iteration_s;
    char time[CELL], percent[FR__TABLE_CELL];

    if (!(fabs(b_s - a_s) > 0)) {
        fr__say(doc, "\nB takes as long as A\n");
        return;
    }
    fr__say(doc, "\nB takes %s %s than A",
            fr__record_time(fr__difference_unit(d), fabs(b_s - a_s), time, sizeof(time)),
            b_s > a_s ? "longer" : "less");
    if (a_s > 0) {
        fr__change_cell(percent, b_s / a_s - 1);
        fr__say(doc, " (%s)", percent);
    }
    fr__say(doc, "\n");
}

static void put_links(const struct page *p)
{
    const struct fr_difference *d = p->d;
    size_t n = fr__difference_changes(d->links, d->n_links, p->step_s, p->most_rows);
    struct fr__difference_line lines[FR_RECORD_MAX_LINKS * 2];

    for (size_t i = 0; i < n; i++)
        lines[i] =
            (struct fr__difference_line){d->links[i].name, llround(d->links[i].a_s / p->step_s),
                                         llround(d->links[i].b_s / p->step_s)};
    if (n == 0)
        return;
    fr__say(p->doc, "\n");
    put_table(p, "link, time at its full rate", lines, n);
    if (d->n_links > n)
        fr__say(p->doc, "  and %zu more\n", d->n_links - n);
}

enum fr_status fr__document_of_difference(struct fr__document *doc, const void *what,
                                          struct fr_error *err)
{
    const struct fr_difference_answer *a = what;
    const struct fr_difference *d = a->difference;
    struct page p = {.doc = doc,
                     .d = d,
                     .most_rows = a->is_verbose      ? MANY_ROWS
                                  : fr__is_page(doc) ? PAGE_ROWS
                                                     : FEW_ROWS};
    struct fr__difference_line parts[FR_N_PARTS + 1];

    p.step_s = fr__difference_step_s(d, &p.unit);
    if (fr__is_page(doc))
        fr__say(doc, "Why B takes longer than A\n\n");
    put_answer(doc, 'A', d->a);
    put_answer(doc, 'B', d->b);
    put_settings(doc, d);
    put_verdict(doc, d);
    fr__say_picture(doc, FR__PICTURE_BOTH, d, 0);
    fr__say(doc, "means over the %ss in use of each\n\n",
            fr__record_device_title(fr__difference_unit(d)));
    fr__difference_parts(d, p.step_s, parts);
    put_table(&p, "part", parts, FR_N_PARTS + 1);
    fr__say_sum(doc);
    for (unsigned kind = 0; kind < FR_N_PIECES; kind++)
        put_pieces(&p, (enum fr_pieces)kind, parts);
    put_links(&p);
    return fr__document_check(doc, err);
}
