/* strategies/lists/ready.h - the operations that are ready, the one with the least key first. */
#ifndef FR_STRATEGIES_LISTS_READY_H
#define FR_STRATEGIES_LISTS_READY_H

#include "strategies/lists/ranks.h"

/* A binary heap of the timetable's arena. */
struct fr__ready {
    struct fr__ranked *at; /* [n] */
    size_t n;
};

/* false: out of memory. */
bool fr__ready_init(struct fr__ready *r, struct fr__timetable *t);
void fr__ready_push(struct fr__ready *r, double key, uint32_t op);
/* Takes the least key out, of equal ones the lower operation; there must be one. */
uint32_t fr__ready_pop(struct fr__ready *r);
/* Whether op, just placed, made the reader of its edge ready; says so for one of several edges to
 * the same reader. */
bool fr__ready_is_new(const struct fr__timetable *t, uint32_t op, uint32_t edge);

#endif
