/* results/parts/colours.h - the colours of all pictures, reports, drawings: one for each meaning.
 *
 * Each has a grey of its own, for print without colours; colours.c has the table.
 */
#ifndef FR_RESULTS_PARTS_COLOURS_H
#define FR_RESULTS_PARTS_COLOURS_H

/* Colours that people with any colour vision tell apart: M. Okabe and K. Ito, "Color Universal
 * Design", 2008 (jfly.uni-koeln.de/color). */
#define FR__COLOUR_FORWARD "#0072B2"
#define FR__COLOUR_FORWARD_LIGHT "#4E9FD1" /* odd micro-batches, later stages of a rank */
#define FR__COLOUR_BACKWARD_DATA "#E69F00"
#define FR__COLOUR_BACKWARD_DATA_LIGHT "#F2C14E"
#define FR__COLOUR_BACKWARD_WEIGHT "#D55E00"
#define FR__COLOUR_BACKWARD_WEIGHT_LIGHT "#E8935A"
#define FR__COLOUR_UPDATE "#009E73"
#define FR__COLOUR_COMMUNICATION "#CC79A7" /* collectives */
#define FR__COLOUR_COPY "#56B4E9"          /* messages */
#define FR__COLOUR_WORKSPACE "#F0E442"
#define FR__COLOUR_OTHER "#8C8C8C"
#define FR__COLOUR_IDLE "#D9D9D9"
#define FR__COLOUR_SEEN "#BDC6CE" /* rows that a fit may have seen */
#define FR__COLOUR_TEXT "#333333"
#define FR__COLOUR_QUIET "#777777"
#define FR__COLOUR_LIMIT "#B00020"

/* The grey of "#RRGGBB": that of its meaning, which no other meaning has, or as light as the
 * colour. Returns grey. */
const char *fr__colour_grey(const char *colour, char grey[8]);
#endif
