/* study/setting_cache.h - workloads and topologies that several threads ask about, loaded once.
 *
 * A loaded thing stays as long as it is in use, and after that while room is left; the one that was
 * given back longest ago goes first. */
#ifndef FR_RESULTS_SETTING_CACHE_H
#define FR_RESULTS_SETTING_CACHE_H

#include "study/study.h"

struct fr__setting_cache;
struct fr__setting_cache *fr__setting_cache_new(size_t n_threads); /* NULL: out of memory */
void fr__setting_cache_free(struct fr__setting_cache *c);          /* nothing may be in use */

/* The setting of q, to be given back. A second thread that asks for what is being loaded waits; a
 * failure to load is remembered, too. Any thread. */
enum fr_status fr__setting_cache_take(struct fr__setting_cache *c, const struct fr_question *q,
                                      struct fr_setting *out, struct fr_error *err);
void fr__setting_cache_give(struct fr__setting_cache *c, const struct fr_setting *s);
#endif
