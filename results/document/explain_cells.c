/* results/document/explain_cells.c - cells of an explanation's tables, and how many rows are shown.
 *
 * It is separate because steps, operations and the whole explanation all need them.
 */
#include "config.h"

#include "results/document/explain.h"

size_t fr__tell_shown(const struct fr__telling *t, size_t n)
{
    return t->most && n > t->most ? t->most : n;
}

void fr__tell_rest(const struct fr__telling *t, size_t n, const char *what)
{
    if (fr__tell_shown(t, n) < n)
        fr__say(t->doc, "  ... and %zu %s more (--ops 0 shows all)\n", n - fr__tell_shown(t, n),
                what);
}

void fr__tell_cell_op(char cell[FR__TABLE_CELL], const struct fr__telling *t, uint32_t op)
{
    fr__table_text(cell, t->p->ops[op].name);
}

void fr__tell_cell_time(char cell[FR__TABLE_CELL], const struct fr__telling *t, double s)
{
    fr__explain_time(&t->unit, s, cell, FR__TABLE_CELL);
}
