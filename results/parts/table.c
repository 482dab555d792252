/* results/parts/table.c - cleans and cuts what stands in cells.
 *
 * It is separate because whoever makes a table, or a sentence with a name, needs it.
 */
#include "config.h"

#include "results/parts/table.h"

#include "base/printable.h"

#include <string.h>

void fr__table_text(char cell[FR__TABLE_CELL], const char *text)
{
    static const char dots[] = "...";
    size_t n = strlen(text), at = 0, fits = 0, used;

    for (; n > 0; text += used, n -= used) {
        char out[FR__PRINTABLE];
        size_t need = fr__printable(text, n, out, &used);

        if (at + need + 1 > FR__TABLE_CELL) {
            memcpy(cell + fits, dots, sizeof(dots));
            return;
        }
        memcpy(cell + at, out, need);
        at += need;
        if (at + sizeof(dots) <= FR__TABLE_CELL)
            fits = at;
    }
    cell[at] = '\0';
}
