/* results/parts/difference_lines.c - rounds the times of a difference so that they add up as they
 * are printed.
 *
 * It is separate because the tables on the terminal and in the report must show the same. Times are
 * whole numbers of the smallest step shown, and what rounding leaves over goes to the largest
 * piece, or to the row of the pieces that are not shown.
 */
#include "config.h"

#include "base/error.h"
#include "results/parts/difference_lines.h"
#include "results/parts/number.h"
#include "results/parts/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const struct fr_record *fr__difference_unit(const struct fr_difference *d)
{
    return d->a->is_plain ? d->b : d->a;
}

const char *fr__difference_title(const char *title, const char *unit,
                                 char buf[FR__DIFFERENCE_TITLE])
{
    snprintf(buf, FR__DIFFERENCE_TITLE, "%s%s%s%s", title, unit[0] ? " (" : "", unit,
             unit[0] ? ")" : "");
    return buf;
}

double fr__difference_step_s(const struct fr_difference *d, const char **unit)
{
    double most_s = fmax(d->parts_a->iteration_s, d->parts_b->iteration_s);
    double factor = fr__record_time_unit(fr__difference_unit(d), most_s, unit);

    return 1 / (factor * FR__DIFFERENCE_STEPS_A_UNIT);
}

/* The times of the first n rows in steps. Those of all rows are to add up to total; the return
 * value is what the rows behind the first n get. Where there are none, the largest of the n gets
 * it, and 0 is returned. */
static long long round_rows(const struct fr_difference_row rows[], size_t n, bool has_more,
                            bool is_b, double step_s, long long total,
                            struct fr__difference_line lines[])
{
    size_t largest = 0;

    for (size_t i = 0; i < n; i++) {
        double s = is_b ? rows[i].b_s : rows[i].a_s;
        long long steps = llround(s / step_s);

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

void fr__difference_parts(const struct fr_difference *d, double step_s,
                          struct fr__difference_line lines[FR_N_PARTS + 1])
{
    struct fr_difference_row rows[FR_N_PARTS];
    struct fr__difference_line *all = &lines[FR_N_PARTS];

    *all = (struct fr__difference_line){"iteration", llround(d->parts_a->iteration_s / step_s),
                                        llround(d->parts_b->iteration_s / step_s)};
    for (unsigned part = 0; part < FR_N_PARTS; part++) {
        rows[part] = (struct fr_difference_row){fr_part_name((enum fr_time_part)part),
                                                d->parts_a->part_s[part], d->parts_b->part_s[part]};
        lines[part].name = rows[part].name;
    }
    round_rows(rows, FR_N_PARTS, false, false, step_s, all->a, lines);
    round_rows(rows, FR_N_PARTS, false, true, step_s, all->b, lines);
}

size_t fr__difference_changes(const struct fr_difference_row rows[], size_t n, double step_s,
                              size_t most_rows)
{
    size_t k = 0;

    while (k < n && k < most_rows && llround(fabs(rows[k].b_s - rows[k].a_s) / step_s) > 0)
        k++;
    return k > 0 || n == 0 ? k : 1;
}

static const char *const titles[FR_N_PIECES] = {
    [FR_PIECES_OPS] = "compute by op",
    [FR_PIECES_TRANSFERS] = "exposed communication",
    [FR_PIECES_WAITS] = "bubble",
    [FR_PIECES_LAUNCHES] = "launches",
    [FR_PIECES_PLACES] = "communication by place",
};

enum fr_status fr__difference_pieces(const struct fr_difference *d, enum fr_pieces kind,
                                     double step_s, size_t most_rows,
                                     const struct fr__difference_line parts[FR_N_PARTS + 1],
                                     struct fr__difference_table *out, struct fr_error *err)
{
    const struct fr__difference_line *total =
        &parts[kind == FR_PIECES_PLACES ? FR_PART_EXPOSED : (unsigned)kind];
    const struct fr_difference_row *rows = d->rows[kind];
    size_t n_all = d->n[kind], n = fr__difference_changes(rows, n_all, step_s, most_rows);
    struct fr__difference_line rest = {.name = NULL};

    *out = (struct fr__difference_table){.title = titles[kind], .is_cut = n_all > n};
    if (n_all == 0 || (total->a == 0 && total->b == 0))
        return FR_OK;
    out->lines = calloc(n + 2, sizeof(*out->lines));
    if (!out->lines)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        out->lines[i].name = rows[i].name;
    rest.a = round_rows(rows, n, n_all > n, false, step_s, total->a, out->lines);
    rest.b = round_rows(rows, n, n_all > n, true, step_s, total->b, out->lines);
    if (n_all > n) {
        snprintf(out->more, sizeof(out->more), "%zu more", n_all - n);
        out->lines[n++] = rest; /* named where it is shown: out may be copied */
    }
    out->lines[n] = *total;
    out->n_lines = n + 1;
    return FR_OK;
}
