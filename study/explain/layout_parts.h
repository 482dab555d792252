/* study/explain/layout_parts.h - what the files that join a layout with its run share. */
#ifndef FR_STUDY_EXPLAIN_LAYOUT_PARTS_H
#define FR_STUDY_EXPLAIN_LAYOUT_PARTS_H

#include "study/explain/layout_run.h"

/* Looks at every message of the looked-at ranks. twin: [n_ops]. of_op: [n_ops] sums of all messages
 * with that twin. Fills the run's sums. FR_ENOMEM. */
enum fr_status fr__layout_watch(struct fr__layout_run *r, const struct fr_record *record,
                                const uint32_t twin[], struct fr__layout_message of_op[],
                                struct fr_error *err);
/* How many of each sum's messages a layer and a micro-batch have. */
void fr__layout_count(struct fr__layout_run *r);
/* What joins neighbours along each axis. FR_ENOMEM, FR_ENOENT. */
enum fr_status fr__layout_find_links(struct fr__layout_run *r, const struct fr_topo *topo,
                                     struct fr_error *err);
/* The axes along which the devices of a group differ: "dp-cp"; "" if none do. is_of_experts: of a
 * message of experts, whose axes go first where both meshes have such a group. */
void fr__layout_name_group(const struct fr_layout *l, const uint32_t rank_of_device[],
                           const struct fr_plan *plan, uint32_t group, bool is_of_experts,
                           char name[FR__LAYOUT_AXIS]);
#endif
