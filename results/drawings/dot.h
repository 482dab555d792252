/* results/drawings/dot.h - pieces of DOT text (graphviz), and graphviz itself. */
#ifndef FR_RESULTS_DOT_H
#define FR_RESULTS_DOT_H

#include <stddef.h>
#include <stdio.h>

/* text inside a quoted string, cut after max characters ("..." then). Quotes and backslashes are
 * escaped, so is what HTML entities begin with; control characters and bytes that are no UTF-8 become
 * '?'. */
void fr__dot_text(FILE *f, const char *text, size_t max);

/* Inches with three decimals, from points of 1/72 inch. */
void fr__dot_inches(FILE *f, long points);

/* The fonts of all pictures, as the attributes' value. */
#define FR__DOT_FONT "\"Helvetica,Arial,sans-serif\""
#endif
