/* results/data/learn.c - the rounds of learning costs as JSON and as CSV, for programs.
 *
 * It is separate from the table for people, which leaves out columns and rounds numbers.
 */
#include "config.h"

#include "results/data/data.h"
#include "study/answer/learn_figures.h"

void fr__learning_json(FILE *f, const void *what)
{
    const struct fr_learning_answer *a = what;

    fr__figures_print_json(f, fr__learn_figures, a->learning);
}

void fr__learning_csv(FILE *f, const void *what)
{
    const struct fr_learning *l = ((const struct fr_learning_answer *)what)->learning;
    static const char *const as_in_table[] = {NULL};

    fputs("round,", f);
    fr__figures_csv_names(f, fr__learn_round_figures, as_in_table);
    putc('\n', f);
    for (size_t i = 0; i < l->n_rounds; i++) {
        fprintf(f, "%zu,", i);
        fr__figures_csv(f, fr__learn_round_figures, as_in_table, &l->rounds[i]);
        putc('\n', f);
    }
}
