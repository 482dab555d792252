/* results/data/validate.c - a validation as JSON, and its rows as CSV, for programs.
 *
 * It is separate from the picture of the same rows, which shows neither names nor reasons.
 */
#include "config.h"

#include "results/data/data.h"

#include "study/validate/figures.h"

void fr__validation_json(FILE *f, const void *what)
{
    const struct fr_validation_answer *a = what;

    fr__figures_print_json(f, fr__validation_figures, a->validation);
}

void fr__validation_csv(FILE *f, const void *what)
{
    static const char *const as_in_table[] = {NULL};
    const struct fr_validation *v = ((const struct fr_validation_answer *)what)->validation;

    fr__figures_csv_names(f, fr__validation_row_figures, as_in_table);
    putc('\n', f);
    for (size_t i = 0; i < v->n_rows; i++) {
        fr__figures_csv(f, fr__validation_row_figures, as_in_table, &v->rows[i]);
        putc('\n', f);
    }
}
