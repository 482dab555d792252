/* results/pictures/explain.h - an explained plan over time as a picture. */
#ifndef FR_RESULTS_PICTURES_EXPLAIN_H
#define FR_RESULTS_PICTURES_EXPLAIN_H

#include "results/parts/explanation.h"
#include "results/pictures/plot.h"

/* gnuplot's script of the plan over time. FR_EUSAGE: nothing takes time; FR_ENOMEM. */
enum fr_status fr__explain_plot(FILE *script, const struct fr_explanation *e,
                                const struct fr__plot_frame *frame, struct fr_error *err);
/* The picture itself. ending: ".png", ".svg" or ".pdf". FR_EIO: gnuplot is missing or failed;
 * FR_ECANCELLED; else as fr__explain_plot. */
enum fr_status fr__explain_draw(FILE *picture, const struct fr_explanation *e, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err);
#endif
