/* tests/support/drawing_check.h - what tests ask of a drawing. */
#ifndef FR_TESTS_SUPPORT_DRAWING_CHECK_H
#define FR_TESTS_SUPPORT_DRAWING_CHECK_H

#include "results/canvas/drawing.h"

/* A drawing as SVG or DOT text; the caller frees it. */
char *drawing_text(struct fr_drawing *d, bool is_svg);

/* NULL: there is no such box. */
const struct fr__box *drawing_box(const struct fr_drawing *d, const char *id);
/* The box with that text; fails the test when there is none or more than one. */
const struct fr__box *drawing_labelled(const struct fr_drawing *d, const char *text);
/* How many boxes' texts begin so. */
size_t drawing_count(const struct fr_drawing *d, const char *text_start);
/* Boxes that stand: no words, no frames, nothing that explains a colour. */
bool drawing_is_node(const struct fr__box *b);

/* Fails the test unless no two boxes cover each other, and each wire that has a way of its own
 * begins at the border of one of its two boxes and ends at that of the other. */
void drawing_check_places(const struct fr_drawing *d);
#endif
