/* study/recipes/recipe.h - what a training software does beside the model, as a named description
 * with sources: when and in which buckets gradients travel, what is copied, added and scaled.
 *
 *     recipe: pytorch-ddp
 *     summary: PyTorch's DistributedDataParallel as it comes
 *     base: synchronous
 *     strategy:
 *       - {option: first, value: 1MiB, source: 'torch/csrc/distributed/c10d/reducer.hpp'}
 *     question:
 *       - {option: interference, value: published, source: 'arXiv 2507.03114'}
 *       - {option: fuse, value: xla, precision: [amp], source: 'run_squad.py, use_xla'}
 *     left-out:
 *       - launches of many small kernels
 *
 * A value of `strategy` is the default of that option for each strategy that has it; one of
 * `question` stands where the question has the setting's own default. What the user types goes
 * before both. A value with `precision` holds in these number formats alone; a question that names
 * none counts as fp32. `base` is another recipe, shipped or a file beside this one, that this one
 * builds on: its values hold but for options that have values here, and its `left-out` unless this
 * one has its own. `families`, models by the beginnings of their names, is for readers: which
 * recipe is usual, usual.yaml says. `left-out` says what the software does that we do not model.
 * `measured` is what 'forerun recipe fit' adds (fitted.h).
 */
#ifndef FR_STUDY_RECIPES_RECIPE_H
#define FR_STUDY_RECIPES_RECIPE_H

#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_recipe;

struct fr_recipe_value {
    const char *option, *text, *source; /* the recipe's */
    const char *from;                   /* name of the recipe that says it */
    unsigned precisions;                /* bit 1 << d for each fr_dtype in which it holds */
    struct fr_loc loc;                  /* of the text */
    bool is_of_question;                /* else of strategies */
};

const char *fr_recipe_shipped(size_t i); /* name; NULL past the end; in alphabetical order */
/* A shipped recipe by name, or a file by its path, which has a '/' or ends in ".yaml". The caller
 * frees. FR_EUSAGE: no such recipe, with the nearest; FR_EIO; FR_EPARSE with line and column: not a
 * recipe, no option of that name, a value that its option does not take, no source, an option
 * twice in one precision, over 64 values, a text over 400 bytes, a base that is none or builds on
 * this one, over 8 bases; FR_ENOMEM. On failure *out is untouched. */
enum fr_status fr_recipe_load(struct fr_recipe **out, const char *name, struct fr_error *err);
/* The same of text in memory, which builds on shipped recipes alone. file: for messages. */
enum fr_status fr_recipe_read(struct fr_recipe **out, const char *text, size_t len,
                              const char *file, struct fr_error *err);
void fr_recipe_free(struct fr_recipe *r);

const char *fr_recipe_name(const struct fr_recipe *r);
const char *fr_recipe_summary(const struct fr_recipe *r);
const char *
fr_recipe_base(const struct fr_recipe *r); /* name of what it builds on; NULL: nothing */
const struct fr_recipe_value *fr_recipe_value(const struct fr_recipe *r, size_t i); /* or NULL */
const char *fr_recipe_left_out(const struct fr_recipe *r, size_t i);                /* or NULL */
size_t fr_recipe_n_measured(const struct fr_recipe *r); /* steps that it was fitted to */

/* What a shipped recipe is usual for: the k-th row of study/recipes/usual.yaml that names it, in
 * words: "gpt, llama, divided between GPUs, in bf16 or
 * fewer bits". false: there are no more. */
bool fr_recipe_usual_for(const char *name, size_t k, char text[], size_t size);

/* The recipe that a question takes with FR_RECIPE_DEFAULT ("default") or "usual"; NULL: none. */
const char *fr_recipe_usual(const struct fr_question *q);

#ifdef __cplusplus
}
#endif
#endif
