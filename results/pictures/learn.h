/* results/pictures/learn.h - rounds of learning as a picture. */
#ifndef FR_RESULTS_LEARN_DRAW_H
#define FR_RESULTS_LEARN_DRAW_H

#include "results/results.h"

bool fr__is_learning_picture(const char *path); /* by its ending */
/* Estimated and measured times over rounds, what is in use as steps, ways back and what ran out of
 * memory marked, profiles on a grey ground. FR_EIO; FR_ECANCELLED. */
enum fr_status fr__draw_learning(const struct fr_learning *l, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err);
#endif
