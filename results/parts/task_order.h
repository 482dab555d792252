/* results/parts/task_order.h - a run's tasks lane by lane, as traces and pictures show them. */
#ifndef FR_RESULTS_PARTS_TASK_ORDER_H
#define FR_RESULTS_PARTS_TASK_ORDER_H

#include "results/results.h"

/* All tasks by (device, stream, start, end, number); the caller frees *out ([n_tasks]). */
enum fr_status fr__tasks_by_lane(const struct fr_record *r, uint32_t **out, struct fr_error *err);
#endif
