/* results/document/search.h - the part of a search's document that is about several clusters. */
#ifndef FR_RESULTS_DOCUMENT_SEARCH_H
#define FR_RESULTS_DOCUMENT_SEARCH_H

#include "results/document/document.h"
#include "results/results.h"

/* Searches on several clusters. FR_ENOMEM. */
enum fr_status fr__document_of_clusters(struct fr__document *doc, const struct fr_search_answer *a,
                                        struct fr_error *err);
#endif
