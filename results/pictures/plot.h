/* results/pictures/plot.h - the pictures: what a script of each draws. */
#ifndef FR_RESULTS_PLOT_H
#define FR_RESULTS_PLOT_H

#include "results/results.h"

/* Colours that people with any colour vision tell apart: M. Okabe and K. Ito, "Color Universal
 * Design", 2008 (jfly.uni-koeln.de/color). */
#define FR__COLOUR_FORWARD "#0072B2"
#define FR__COLOUR_FORWARD_LIGHT "#4E9FD1" /* odd micro-batches */
#define FR__COLOUR_BACKWARD_DATA "#E69F00"
#define FR__COLOUR_BACKWARD_DATA_LIGHT "#F2C14E"
#define FR__COLOUR_BACKWARD_WEIGHT "#D55E00"
#define FR__COLOUR_BACKWARD_WEIGHT_LIGHT "#E8935A"
#define FR__COLOUR_UPDATE "#009E73"
#define FR__COLOUR_COMMUNICATION "#CC79A7"
#define FR__COLOUR_COPY "#56B4E9"
#define FR__COLOUR_OTHER "#8C8C8C"
#define FR__COLOUR_IDLE "#D9D9D9"
#define FR__COLOUR_TEXT "#333333"
#define FR__COLOUR_QUIET "#777777"
#define FR__COLOUR_LIMIT "#B00020"

/* Size and type sizes of one terminal, in its own units. */
struct fr__plot_frame {
    const char *terminal; /* lines that set the terminal */
    double pixels_wide;   /* what can be told apart */
};

/* The frame for files with that ending (".png", ".svg", ".pdf"); NULL: no picture. */
const struct fr__plot_frame *fr__plot_frame(const char *ending);

/* Timeline over memory of one run. */
enum fr_status fr__plot_timeline(FILE *script, const struct fr_record *r,
                                 const struct fr__plot_frame *frame, struct fr_error *err);
/* Times and memory of several strategies. */
enum fr_status fr__plot_comparison(FILE *script, const struct fr_results *rs, struct fr_error *err);

/* The scale for a picture whose longest time is max_s: the factor and the unit's name. */
double fr__plot_time_unit(double max_s, const char **unit);
/* "vgg19 on 4 of 8 GPUs of dgx1-v100", with the strategy when asked for. */
void fr__plot_heading(FILE *script, const struct fr_record *r, bool with_strategy);
/* x for a script. */
void fr__plot_number(FILE *script, double x);
#endif
