/* topo/routes/heap.c - see route_heap.h. */
#include "config.h"

#include "topo/routes/heap.h"

#include <stdbool.h>

static bool is_nearer(struct fr__reached a, struct fr__reached b)
{
    return a.dist != b.dist ? a.dist < b.dist : a.vertex < b.vertex;
}

void fr__reached_push(struct fr__reached heap[], size_t *n, struct fr__reached r)
{
    size_t at = (*n)++;

    for (; at > 0 && is_nearer(r, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = r;
}

struct fr__reached fr__reached_pop(struct fr__reached heap[], size_t *n)
{
    struct fr__reached top = heap[0], last = heap[--*n];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < *n && is_nearer(heap[child + 1], heap[child]))
            child++;
        if (child >= *n || !is_nearer(heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}
