/* papers/parts/cell.c - a figure of a reproduction with its unit, as people read it. */
#include "config.h"

#include "papers/parts/cell.h"

#include "base/units.h"
#include "results/parts/number.h"

#include <math.h>

void fr__repro_cell_text(char out[FR__TABLE_CELL], const struct fr_repro_cell *c, enum fr_unit unit)
{
    char text[40];

    if (c->text) {
        fr__table_text(out, c->text);
        return;
    }
    if (unit == FR_UNIT_TEXT || isnan(c->value))
        return;
    switch (unit) {
    case FR_UNIT_COUNT:
        fr__fixed(c->value, 0, out, FR__TABLE_CELL);
        break;
    case FR_UNIT_SECONDS:
        fr__format_time(c->value, out, FR__TABLE_CELL);
        break;
    case FR_UNIT_BYTES:
        fr__format_bytes(c->value, out, FR__TABLE_CELL);
        break;
    case FR_UNIT_FRACTION:
        snprintf(out, FR__TABLE_CELL, "%s %%", fr__fixed(100 * c->value, 1, text, sizeof(text)));
        break;
    case FR_UNIT_TIMES:
        snprintf(out, FR__TABLE_CELL, "%sx", fr__fixed(c->value, 2, text, sizeof(text)));
        break;
    case FR_UNIT_TEXT:
        break;
    }
}
