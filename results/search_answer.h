/* results/search_answer.h - how the answer of a search looks: a table, CSV, JSON, a picture. */
#ifndef FORERUN_RESULTS_SEARCH_ANSWER_H
#define FORERUN_RESULTS_SEARCH_ANSWER_H

#include "study/layouts/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A search, and how its answer is to be shown. */
struct fr_search_results {
    const struct fr_search *search;
    size_t n_shown;                     /* rows of the table */
    const struct fr_sweep_terms *terms; /* prices, and the whole run */
    bool is_exhaustive;
    size_t width;        /* of a line of text: wider tables go on below; 0: any */
    bool is_interrupted; /* the search was: what it has is the best so far */
    const char *why; /* what became of layouts with these values is printed, too; NULL: of none */
};

/* The best layouts with both times, what became of the others, and how sure the best is. FR_ENOMEM.
 * */
enum fr_status fr_search_print(FILE *f, const struct fr_search_results *r, struct fr_error *err);
/* The same as JSON: best layouts, frontier, and how many went which way. */
void fr_search_print_json(FILE *f, const struct fr_search_results *r);
/* By the ending: .csv (every layout of the space with its reason), .json, .md, .png, .svg, .pdf
 * (time against memory, with the frontier). FR_EUSAGE: unknown ending; FR_EIO. */
enum fr_status fr_search_write(const char *path, const struct fr_search_results *r,
                               const struct fr_context *ctx, struct fr_error *err);

/* The same of searches on several clusters: the best of each, and what no layout of any beats in
 * time, memory and price. FR_ENOMEM. */
enum fr_status fr_search_print_clusters(FILE *f, size_t n, const struct fr_search_results r[],
                                        struct fr_error *err);
void fr_search_print_clusters_json(FILE *f, size_t n, const struct fr_search_results r[]);
/* .csv: every layout of each, its cluster first; .json; a picture: time against price. */
enum fr_status fr_search_write_clusters(const char *path, size_t n,
                                        const struct fr_search_results r[],
                                        const struct fr_context *ctx, struct fr_error *err);

/* FR_EUSAGE: unknown ending; FR_EIO: cannot be written. */
enum fr_status fr_search_check_path(const char *path, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
