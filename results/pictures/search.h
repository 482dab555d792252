/* results/pictures/search.h - a search as a picture: time against memory, and the frontier. */
#ifndef FR_RESULTS_PICTURES_SEARCH_H
#define FR_RESULTS_PICTURES_SEARCH_H

#include "results/search_answer.h"

/* A point a layout that was simulated coarsely, coloured by its tensor parallelism; the frontier
 * joined and named; the GPU's memory a line. ending: ".png", ".svg" or ".pdf". FR_EIO: gnuplot is
 * missing or failed; FR_ECANCELLED. */
enum fr_status fr__draw_search(FILE *picture, const struct fr_search_results *r, const char *ending,
                               const struct fr_context *ctx, struct fr_error *err);
/* Of several clusters: time against price of their frontiers, a colour a cluster, and what none of
 * them beats in time, memory and price. */
enum fr_status fr__draw_search_clusters(FILE *picture, size_t n, const struct fr_search_results r[],
                                        const char *ending, const struct fr_context *ctx,
                                        struct fr_error *err);
#endif
