/* study/recipes/usual.h - which shipped recipe a model usually runs under: a table with sources,
 * usual.yaml. */
#ifndef FR_STUDY_RECIPES_USUAL_H
#define FR_STUDY_RECIPES_USUAL_H

#include "strategies/strategies.h"
#include "study/study.h"

struct fr__usual_software {
    const char *name;         /* of the row */
    const char *families[16]; /* beginnings of models' names; NULL ends them */
    enum fr_software_run run; /* how it is trained; FR_RUN_WHOLE: in any way */
    int is_modern; /* 1: in bf16 or fewer bits; 0: in fp32, tf32, fp16 or amp; -1: in any format */
    const char *recipe, *source;
};
extern const struct fr__usual_software fr__usual_software[];
extern const size_t fr__n_usual_software;

/* That of a question, by its workload, strategy and precision. is_default: the question names no
 * software, so that only what software runs has one. NULL: none. */
const char *fr__usual_recipe(const struct fr_question *q, bool is_default);
#endif
