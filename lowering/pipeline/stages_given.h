/* lowering/pipeline/stages_given.h - stages cut where the user says: "layer12;layer24". */
#ifndef FR_LOWERING_PIPELINE_STAGES_GIVEN_H
#define FR_LOWERING_PIPELINE_STAGES_GIVEN_H

#include "lowering/pipeline/stages.h"

/* How many places such a text names. */
size_t fr__stages_count_given(const char *text);

/* Fills first[n_stages + 1], indices of items. Each name, separated by ';', is of the layer or
 * forward op with which a further stage begins: its whole name, the part of it before a '.' or
 * '/', or a pattern in which '*' stands for any text and '?' for a letter; of several the first in
 * the order of the graph. FR_EUSAGE: there is none of that name (the nearest is named), it does not
 * come after the one before, it is in the middle of an item, or there are not n_stages - 1. */
enum fr_status fr__stages_given(uint32_t first[], size_t n_stages, const char *text,
                                const struct fr_graph *g, const struct fr__items *items,
                                struct fr_error *err);

#endif
