/* results/data/recipe_fit.c - a fitted recipe as the file that --recipe takes, and as JSON. */
#include "config.h"

#include "results/data/data.h"

#include "study/recipe_fit/figures.h"
#include "study/recipe_fit/recipe_fit.h"

void fr__recipe_fit_json(FILE *f, const void *what)
{
    fr__figures_print_json(f, fr__recipe_fit_figures, what);
}

void fr__recipe_fit_yaml(FILE *f, const void *what)
{
    fputs(((const struct fr_recipe_fit *)what)->yaml, f);
}
