/* results/drawings/dot.h - pieces of DOT text, the language of graphviz. */
#ifndef FR_RESULTS_DRAWINGS_DOT_H
#define FR_RESULTS_DRAWINGS_DOT_H

#include "results/results.h"

/* text inside a quoted string, cut with "..." after max characters. Quotes, backslashes and
 * ampersands are escaped; what may not be shown is as base/printable.h has it. */
void fr__dot_text(FILE *f, const char *text, size_t max);

/* Inches with three decimals, from points of 1/72 inch. */
void fr__dot_inches(FILE *f, long points);

/* Draws DOT text to the end of picture, or copies it, by the ending: .svg, .png, .pdf or .dot.
 * is_placed: its parts have positions. FR_EIO: graphviz is not installed, or failed;
 * FR_ECANCELLED. */
enum fr_status fr__dot_draw(FILE *dot, bool is_placed, const char *ending, FILE *picture,
                            const struct fr_context *ctx, struct fr_error *err);

/* The fonts of all pictures, as the attributes' value. */
#define FR__DOT_FONT "\"Helvetica,Arial,sans-serif\""
#endif
