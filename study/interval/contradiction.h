/* study/interval/contradiction.h - measured steps that say something else than what is known
 * (anchor.h, "Contradictions"). */
#ifndef FR_STUDY_INTERVAL_CONTRADICTION_H
#define FR_STUDY_INTERVAL_CONTRADICTION_H

#include "study/interval/update.h"

/* Sets u's correction's contradiction to the worst one. u: after its fit. all: the steps of the
 * table, of which the fit took u->measured. Cost: one or two runs a step, of 16 at most. */
enum fr_status fr__find_contradiction(const struct fr__update *u, const struct fr__measured *all,
                                      struct fr_error *err);
/* Writes it down as a sentence. */
void fr__say_contradiction(char text[], size_t size, const struct fr__contradiction *x);

#endif
