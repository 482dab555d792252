/* results/parts/palette.h - the colours of lines and points that stand for values of a setting. */
#ifndef FR_RESULTS_PARTS_PALETTE_H
#define FR_RESULTS_PARTS_PALETTE_H

#include <stddef.h>

enum { FR__PALETTE = 8 };

/* "#RRGGBB" of the i-th value; those past the last one share its colour. */
const char *fr__palette(size_t i);
#endif
