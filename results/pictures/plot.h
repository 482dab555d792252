/* results/pictures/plot.h - what the scripts for gnuplot share: terminals, headings, numbers. */
#ifndef FR_RESULTS_PICTURES_PLOT_H
#define FR_RESULTS_PICTURES_PLOT_H

#include "results/results.h"

/* One kind of picture file. */
struct fr__plot_frame {
    const char *terminal; /* lines that set the terminal */
    double pixels_wide;   /* columns that a reader can tell apart */
};

/* The frame for files with that ending (".png", ".svg", ".pdf"); NULL: no picture. */
const struct fr__plot_frame *fr__plot_frame(const char *ending);

/* The heading of a picture of one run, "vgg19 on 4 of 8 GPUs of dgx1-v100, dp", and below it its
 * time, the batch and what else was asked. */
void fr__plot_heading(FILE *script, const struct fr_record *r);
/* The same of several: what they have in common. */
void fr__plot_comparison_heading(FILE *script, const struct fr_results *rs);
/* The marks of fr__log_ticks on an axis, "x" or "y". */
void fr__plot_log_ticks(FILE *script, const char *axis, double low, double high, unsigned most);
/* x and a blank. */
void fr__plot_number(FILE *script, double x);
#endif
