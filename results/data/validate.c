/* results/data/validate.c - the rows of a validation as CSV, for programs.
 *
 * It is separate from the picture of the same rows, which shows neither names nor reasons.
 */
#include "config.h"

#include "results/data/validate.h"

#include "base/csv.h"
#include "base/units.h"

#include <math.h>

static void write_number(FILE *f, double x)
{
    char text[40];

    putc(',', f);
    if (!isnan(x))
        fputs(fr__format_double(x, text, sizeof(text)), f);
}

void fr__validation_write_csv(FILE *f, const struct fr_validation *v)
{
    fputs("id,measured_s,predicted_s,low_s,high_s,error,memory_error,why_not\n", f);
    for (size_t i = 0; i < v->n_rows; i++) {
        const struct fr_validation_row *r = &v->rows[i];

        fr__csv_write_cell(f, r->id);
        write_number(f, r->measured_s);
        write_number(f, r->predicted_s);
        write_number(f, r->low_s);
        write_number(f, r->high_s);
        write_number(f, r->error);
        write_number(f, r->memory_error);
        putc(',', f);
        fr__csv_write_cell(f, r->why_not ? r->why_not : "");
        putc('\n', f);
    }
}
