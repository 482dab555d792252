/* results/pictures/explain.h - an explained plan over time as a picture. */
#ifndef FR_RESULTS_PICTURES_EXPLAIN_H
#define FR_RESULTS_PICTURES_EXPLAIN_H

#include "results/parts/explanation.h"
#include "results/charts/chart.h"

/* The chart of the plan over time. FR_EUSAGE: nothing takes time; FR_ENOMEM. */
enum fr_status fr__explain_chart(struct fr__chart *c, const struct fr_explanation *e,
                                 struct fr_error *err);
/* The picture itself. ending: ".png", ".svg" or ".pdf". FR_EIO: gnuplot is missing or failed;
 * FR_ECANCELLED; else as fr__explain_chart. */
enum fr_status fr__explain_draw(FILE *picture, const struct fr_explanation *e, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err);
#endif
