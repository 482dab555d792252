/* results/data/validate.c - the rows of a validation as CSV, for programs.
 *
 * It is separate from the picture of the same rows, which shows neither names nor reasons.
 */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "results/results.h"

#include <math.h>

static void write_number(FILE *f, double x)
{
    char text[40];

    putc(',', f);
    if (!isnan(x))
        fputs(fr__format_double(x, text, sizeof(text)), f);
}

enum fr_status fr_validation_write_csv(const struct fr_validation *v, const char *path,
                                       struct fr_error *err)
{
    struct fr__out out;

    FR_TRY(fr__out_open(&out, path, err));
    fputs("id,measured_s,predicted_s,low_s,high_s,error,memory_error,why_not\n", out.f);
    for (size_t i = 0; i < v->n_rows; i++) {
        const struct fr_validation_row *r = &v->rows[i];

        fr__csv_write_cell(out.f, r->id);
        write_number(out.f, r->measured_s);
        write_number(out.f, r->predicted_s);
        write_number(out.f, r->low_s);
        write_number(out.f, r->high_s);
        write_number(out.f, r->error);
        write_number(out.f, r->memory_error);
        putc(',', out.f);
        fr__csv_write_cell(out.f, r->why_not ? r->why_not : "");
        putc('\n', out.f);
    }
    return fr__out_commit(&out, err);
}
