/* topo/routes/heap.h - a binary heap of vertices by their distance, the nearest on top. */
#ifndef FR_TOPO_ROUTES_HEAP_H
#define FR_TOPO_ROUTES_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* A vertex and how far it may be. Of equal distances the lower vertex is nearer. */
struct fr__reached {
    uint32_t dist, vertex;
};

/* heap has room for one more than *n. */
void fr__reached_push(struct fr__reached heap[], size_t *n, struct fr__reached r);
/* Of at least one. */
struct fr__reached fr__reached_pop(struct fr__reached heap[], size_t *n);

#endif
