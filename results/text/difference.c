/* results/text/difference.c - why one answer takes longer than another, as tables for people.
 *
 * It is separate because its numbers add up as printed: times are whole numbers of the smallest
 * step shown, and what rounding leaves over goes to the largest piece, or to the row of the pieces
 * that are not shown.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/results.h"
#include "results/text/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DECIMALS = 3, STEPS_A_UNIT = 1000, FEW_ROWS = 8, MANY_ROWS = 10000, CELL = 48 };

/* A row: name, and the two times in steps. */
struct line {
    const char *name;
    long long a, b;
};

struct page {
    FILE *f;
    const struct fr_difference *d;
    double step_s; /* the smallest time that is told apart */
    const char *unit;
    size_t most_rows;
};

/* ---- whole numbers that add up ---- */

/* The times of the first n rows in steps. Those of all rows are to add up to total; the return
 * value is what the rows behind the first n get. Where there are none, the largest of the n gets
 * it, and 0 is returned. */
static long long round_rows(const struct page *p, const struct fr_difference_row rows[], size_t n,
                            bool has_more, bool is_b, long long total, struct line lines[])
{
    size_t largest = 0;

    for (size_t i = 0; i < n; i++) {
        double s = is_b ? rows[i].b_s : rows[i].a_s;
        long long steps = llround(s / p->step_s);

        if (is_b)
            lines[i].b = steps;
        else
            lines[i].a = steps;
        if (s > (is_b ? rows[largest].b_s : rows[largest].a_s))
            largest = i;
        total -= steps;
    }
    if (has_more || n == 0)
        return total;
    if (is_b)
        lines[largest].b += total;
    else
        lines[largest].a += total;
    return 0;
}

/* ---- tables ---- */

static void format_steps(long long steps, bool is_signed, char cell[FR__TABLE_CELL])
{
    char text[CELL];

    fr__fixed((double)(steps < 0 ? -steps : steps) / STEPS_A_UNIT, DECIMALS, text, sizeof(text));
    snprintf(cell, FR__TABLE_CELL, "%s%s",
             steps < 0                ? "-"
             : is_signed && steps > 0 ? "+"
                                      : "",
             text);
}

static void fill_row(const void *user, size_t i, struct fr__table_row *row)
{
    const struct line *l = (const struct line *)user + i;

    fr__table_text(row->cell[0], l->name);
    format_steps(l->a, false, row->cell[1]);
    format_steps(l->b, false, row->cell[2]);
    format_steps(l->b - l->a, true, row->cell[3]);
}

static void put_table(const struct page *p, const char *title, const struct line lines[], size_t n)
{
    char a[CELL], b[CELL], change[CELL];
    const struct fr__table_column columns[] = {
        {title, false}, {a, true}, {b, true}, {change, true}};

    snprintf(a, sizeof(a), "A (%s)", p->unit);
    snprintf(b, sizeof(b), "B (%s)", p->unit);
    snprintf(change, sizeof(change), "B - A (%s)", p->unit);
    fr__table_print(p->f, &(struct fr__table){columns, 4, n, fill_row, lines});
}

/* The rows whose change is not nothing; at least one where there is any row. */
static size_t count_changes(const struct page *p, const struct fr_difference_row rows[], size_t n)
{
    size_t k = 0;

    while (k < n && k < p->most_rows && llround(fabs(rows[k].b_s - rows[k].a_s) / p->step_s) > 0)
        k++;
    return k > 0 || n == 0 ? k : 1;
}

static void put_pieces(const struct page *p, enum fr_pieces kind, const char *title,
                       const struct line *total)
{
    const struct fr_difference_row *rows = p->d->rows[kind];
    size_t n_all = p->d->n[kind], n = count_changes(p, rows, n_all);
    struct line *lines = calloc(n + 2, sizeof(*lines)), rest = {.name = NULL};
    char more[CELL];

    if (!lines || n_all == 0 || (total->a == 0 && total->b == 0)) {
        free(lines);
        return;
    }
    for (size_t i = 0; i < n; i++)
        lines[i].name = rows[i].name;
    rest.a = round_rows(p, rows, n, n_all > n, false, total->a, lines);
    rest.b = round_rows(p, rows, n, n_all > n, true, total->b, lines);
    if (n_all > n) {
        snprintf(more, sizeof(more), "%zu more", n_all - n);
        rest.name = more;
        lines[n++] = rest;
    }
    lines[n] = *total;
    putc('\n', p->f);
    put_table(p, title, lines, n + 1);
    free(lines);
}

/* ---- the page ---- */

static void put_answer(FILE *f, char letter, const struct fr_record *r)
{
    char time[CELL];

    fprintf(f, "%c: ", letter);
    fr__put_clean(f, r->workload);
    fprintf(f, " on %zu of %zu GPUs of ", r->n_gpus, r->n_gpus_total);
    fr__put_clean(f, r->topology);
    fputs(", strategy ", f);
    fr__put_clean(f, r->strategy);
    fprintf(f, ", global batch %u: %s%s\n", r->global_batch,
            fr__format_time(r->run->iteration_s, time, sizeof(time)),
            r->oom ? " if it fitted in memory" : "");
}

static void put_settings(FILE *f, const struct fr_difference *d)
{
    for (size_t i = 0; i < d->n_settings; i++) {
        fputs(i ? "; " : "they differ in ", f);
        fprintf(f, "%s: ", d->settings[i].name);
        fr__put_clean(f, d->settings[i].a[0] ? d->settings[i].a : "none");
        fputs(" | ", f);
        fr__put_clean(f, d->settings[i].b[0] ? d->settings[i].b : "none");
    }
    fputs(d->n_settings ? "\n" : "both ask the same\n", f);
}

static void put_verdict(FILE *f, const struct fr_difference *d)
{
    double a_s = d->parts_a->iteration_s, b_s = d->parts_b->iteration_s;
    char time[CELL], percent[FR__TABLE_CELL];

    if (!(fabs(b_s - a_s) > 0)) {
        fputs("\nB takes as long as A\n", f);
        return;
    }
    fprintf(f, "\nB takes %s %s than A", fr__format_time(fabs(b_s - a_s), time, sizeof(time)),
            b_s > a_s ? "longer" : "less");
    if (a_s > 0) {
        fr__change_cell(percent, b_s / a_s - 1);
        fprintf(f, " (%s)", percent);
    }
    putc('\n', f);
}

/* The parts in steps; they add up to the iteration, which is lines[FR_N_PARTS]. */
static void put_parts(const struct page *p, struct line lines[FR_N_PARTS + 1])
{
    struct fr_difference_row rows[FR_N_PARTS];
    struct line *all = &lines[FR_N_PARTS];

    *all = (struct line){"iteration", llround(p->d->parts_a->iteration_s / p->step_s),
                         llround(p->d->parts_b->iteration_s / p->step_s)};
    for (unsigned part = 0; part < FR_N_PARTS; part++) {
        rows[part] =
            (struct fr_difference_row){fr_part_name((enum fr_time_part)part),
                                       p->d->parts_a->part_s[part], p->d->parts_b->part_s[part]};
        lines[part].name = rows[part].name;
    }
    round_rows(p, rows, FR_N_PARTS, false, false, all->a, lines);
    round_rows(p, rows, FR_N_PARTS, false, true, all->b, lines);
    put_table(p, "part", lines, FR_N_PARTS + 1);
}

static void put_links(const struct page *p)
{
    const struct fr_difference *d = p->d;
    size_t n = count_changes(p, d->links, d->n_links);
    struct line lines[FR_RECORD_MAX_LINKS * 2];

    for (size_t i = 0; i < n; i++)
        lines[i] = (struct line){d->links[i].name, llround(d->links[i].a_s / p->step_s),
                                 llround(d->links[i].b_s / p->step_s)};
    if (n == 0)
        return;
    putc('\n', p->f);
    put_table(p, "link, time at its full rate", lines, n);
    if (d->n_links > n)
        fprintf(p->f, "  and %zu more\n", d->n_links - n);
}

static const char *const titles[FR_N_PIECES] = {
    [FR_PIECES_OPS] = "compute by op",
    [FR_PIECES_TRANSFERS] = "exposed communication",
    [FR_PIECES_WAITS] = "bubble",
    [FR_PIECES_LAUNCHES] = "launches",
    [FR_PIECES_PLACES] = "communication by place",
};

void fr_difference_print(FILE *f, const struct fr_difference *d, bool is_verbose)
{
    struct page p = {.f = f, .d = d, .most_rows = is_verbose ? MANY_ROWS : FEW_ROWS};
    struct line parts[FR_N_PARTS + 1];
    double factor = fr__time_unit(fmax(d->parts_a->iteration_s, d->parts_b->iteration_s), &p.unit);

    p.step_s = 1 / (factor * STEPS_A_UNIT);
    put_answer(f, 'A', d->a);
    put_answer(f, 'B', d->b);
    put_settings(f, d);
    put_verdict(f, d);
    fputs("means over the GPUs in use of each\n\n", f);
    put_parts(&p, parts);
    for (unsigned kind = 0; kind < FR_N_PIECES; kind++) {
        const struct line *total = &parts[kind == FR_PIECES_PLACES ? FR_PART_EXPOSED : kind];

        put_pieces(&p, (enum fr_pieces)kind, titles[kind], total);
    }
    put_links(&p);
}
