/* results/data/stages.c - a plan of stages for programs: JSON. */
#include "config.h"

#include "results/data/data.h"

#include "study/answer/stage_figures.h"

void fr__stages_json(FILE *f, const void *what)
{
    fr__figures_print_json(f, fr__stage_plan_figures, what);
    putc('\n', f);
}
