/* results/parts/cells.c - shares, changes, rates and names as cells of tables.
 *
 * It is separate because the tables of records, sweeps and explanations share them.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/cells.h"
#include "results/parts/number.h"
#include "results/parts/output.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER = 32 };

const char *fr__percent(double frac, char *buf, size_t n)
{
    size_t used = strlen(fr__fixed(100 * frac, 1, buf, n));

    snprintf(buf + used, n - used, " %%");
    return buf;
}

void fr__change_cell(char cell[FR__TABLE_CELL], double frac)
{
    cell[0] = '+';
    fr__percent(frac, frac < 0 ? cell : cell + 1, NUMBER);
}

void fr__rate_cell(char cell[FR__TABLE_CELL], double per_s)
{
    fr__fixed(per_s, per_s >= 1000 ? 0 : per_s >= 100 ? 1 : per_s >= 10 ? 2 : 3, cell, NUMBER);
}

void fr__gap_cell(char cell[FR__TABLE_CELL], double time_s, double bound_s)
{
    if (bound_s <= 0)
        return;
    cell[0] = '+';
    fr__percent(time_s / bound_s - 1, cell + 1, NUMBER);
}

void fr__range_cell(char cell[FR__TABLE_CELL], double low_s, double high_s)
{
    char low[NUMBER], high[NUMBER];

    cell[0] = '\0';
    if (low_s > 0 && high_s > 0)
        snprintf(cell, FR__TABLE_CELL, "%s to %s", fr__format_time(low_s, low, sizeof(low)),
                 fr__format_time(high_s, high, sizeof(high)));
}

void fr__figure_cell(char cell[FR__TABLE_CELL], const struct fr_figure *f, const struct fr_value *v,
                     bool is_plain)
{
    double x = v->kind == FR_FIGURE_COUNT ? (double)v->count : v->number;

    if (v->kind == FR_FIGURE_END)
        return;
    if (fr__ends_in(f->key, "_bytes"))
        fr__format_bytes(x, cell, FR_FIGURE_CELL);
    else if (v->kind == FR_FIGURE_COUNT)
        fr__value_text(v, cell);
    else if (strstr(f->key, "_per_s"))
        fr__rate_cell(cell, x);
    else if (!fr__ends_in(f->key, "_s"))
        fr__percent(x, cell, FR_FIGURE_CELL);
    else if (is_plain)
        fr__plain(x, cell, FR_FIGURE_CELL);
    else
        fr__format_time(x, cell, FR_FIGURE_CELL);
}
