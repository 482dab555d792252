/* study/recipes/recipes.h - recipes inside the library: use on a question, and the shipped
 * files. */
#ifndef FR_STUDY_RECIPES_RECIPES_H
#define FR_STUDY_RECIPES_RECIPES_H

#include "study/recipes/fitted.h"
#include "study/recipes/recipe.h"

/* FR_EUSAGE: the question asks for the usual recipe, and its workload has none. */
enum fr_status fr__recipe_check(const struct fr_question *q, struct fr_error *err);

/* Gives a question and the options of its strategy what its recipe says, where neither was given;
 * nothing without a recipe. What is assumed for FR_RECIPE_DEFAULT stands in the question
 * afterwards. Under FR_MEMORY_TF1 the recipe is tf1 unless another was given. Errors as
 * fr_recipe_load. */
enum fr_status fr__recipe_apply(struct fr_question *q, const struct fr_strategy *strategy,
                                struct fr_option_values *values, struct fr_error *err);

/* Says in words what the question's recipe has for strategies and this one does not count, "" where
 * it counts all: "overlap=0, copies-out=2". Options that only say how another one is done are left
 * out with it. size: of text; what is longer is cut. */
void fr__recipe_uncounted(const struct fr_question *q, const struct fr_strategy *strategy,
                          char text[], size_t size);

/* What the steps that a question's recipe was fitted to say of it. n_steps 0: it has no recipe, or
 * that was not fitted. Errors as fr_recipe_load. */
enum fr_status fr__recipe_believe(const struct fr_question *q, const struct fr__fitted_of *of,
                                  struct fr__believed *out, struct fr_error *err);

/* What the graph of a question is: its own settings, else what its recipe says. */
struct fr__recipe_form {
    bool is_tf1;      /* ops as TensorFlow 1 runs them: memory is counted so */
    unsigned fusions; /* bit 1 << f for each fr_fusion */
    enum fr_image_layout layout;
    enum fr_transport transport;
};
struct fr__recipe_form fr__recipe_form(const struct fr_question *q);

/* A compiled-in file; the list ends with a NULL name. */
struct fr__recipe_text {
    const char *name, *text;
};
extern const struct fr__recipe_text fr__recipe_texts[];
#endif
