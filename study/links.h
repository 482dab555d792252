/* study/links.h - what moves over the links of a cluster where a plan is folded. */
#ifndef FR_STUDY_LINKS_H
#define FR_STUDY_LINKS_H

#include "base/arena.h"
#include "study/study.h"

/* Bytes that all ranks of a folded plan send over each link, those that others stand for too.
 * out: [n_links]. A collective counts as a ring in the order of its ranks, all-to-all as one
 * message for each pair; a message as many times as there are ranks that send it. FR_ENOENT: no
 * route; FR_ENOMEM. O(ranks) routes for each group and pair of stages, of all-to-all times its
 * size. */
enum fr_status fr__folded_link_bytes(double out[], const struct fr_plan *p, struct fr_error *err);
#endif
