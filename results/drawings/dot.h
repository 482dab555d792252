/* results/drawings/dot.h - pieces of DOT text, the language of graphviz. */
#ifndef FR_RESULTS_DRAWINGS_DOT_H
#define FR_RESULTS_DRAWINGS_DOT_H

#include <stddef.h>
#include <stdio.h>

/* text inside a quoted string, cut with "..." after max characters. Quotes, backslashes and
 * ampersands are escaped; what may not be shown is as base/printable.h has it. */
void fr__dot_text(FILE *f, const char *text, size_t max);

/* Inches with three decimals, from points of 1/72 inch. */
void fr__dot_inches(FILE *f, long points);

/* The fonts of all pictures, as the attributes' value. */
#define FR__DOT_FONT "\"Helvetica,Arial,sans-serif\""
#endif
