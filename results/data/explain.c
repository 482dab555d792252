/* results/data/explain.c - an explanation as JSON, for programs.
 *
 * It is separate from the text for people, which cuts tables and leaves plans out.
 */
#include "config.h"

#include "results/parts/explanation.h"
#include "study/explain/figures.h"

enum fr_status fr_explanation_print_json(FILE *f, const struct fr_explanation *e,
                                         struct fr_error *err)
{
    if (e->decisions->layout)
        return fr__layout_print_json(f, e, err);
    fr__figures_print_json(f, fr__explanation_figures, e);
    return FR_OK;
}
