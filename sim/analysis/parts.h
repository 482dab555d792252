/* sim/analysis/parts.h - what each moment of a run is made of, as the engine tells sensitivity.c.
 * All but the first two only when e->parts is there. */
#ifndef FR_SIM_ANALYSIS_PARTS_H
#define FR_SIM_ANALYSIS_PARTS_H

#include "sim/engine.h"

enum fr_status fr__parts_init(struct fr__engine *e);
void fr__parts_fini(struct fr__engine *e);
/* The simulated time now is ... */
void fr__parts_at_end(struct fr__engine *e, uint32_t task); /* the end of a task; FR_NONE: time 0 */
void fr__parts_at_launch(struct fr__engine *e, uint32_t device); /* the end of a launch there */
void fr__parts_at_compute_done(struct fr__engine *e, uint32_t task);
/* the end of a collective that took a known time (collectives/resource_parts.c) */
void fr__parts_at_collective_done(struct fr__engine *e, uint32_t collective);
/* the end of a message's latency: the model has it under way */
void fr__parts_at_message_shared(struct fr__engine *e, uint32_t message);
void fr__parts_at_message_done(struct fr__engine *e, uint32_t message);
/* A task starts or ends now; a message leaves now. */
void fr__parts_keep(struct fr__engine *e, uint32_t task);
void fr__parts_message_go(struct fr__engine *e, uint32_t message);
/* Adds total_s to parts_s, shared out over the latencies of a route and the time of the bytes on
 * its narrowest link, as they would be alone. */
void fr__parts_add_alone(struct fr__engine *e, double parts_s[], const struct fr__route *r,
                         double bytes, double total_s);
/* The model may have given messages new rates, since the last moment at which one began or
 * ended. */
void fr__parts_rates_changed(struct fr__engine *e);
/* Copies the parts of the iteration into the run. */
enum fr_status fr__parts_result(struct fr__engine *e, struct fr_run *run);

#endif
