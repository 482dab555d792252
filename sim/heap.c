/* sim/heap.c - the event queue's memory. */
#include "config.h"

#include "sim/heap.h"

#include <stdlib.h>

enum { LINE = 64 };

bool fr__heap_reserve(struct fr__heap *h, size_t cap)
{
    struct fr__event *grown;
    size_t entries;

    if (cap <= h->cap)
        return true;
    if (cap > SIZE_MAX / 2 / sizeof(*grown))
        return false;
    /* aligned_alloc wants whole lines */
    entries = (cap + FR__HEAP_ROOT + 3) / 4 * 4;
    grown = aligned_alloc(LINE, entries * sizeof(*grown));
    if (!grown)
        return false;
    if (h->at) {
        memcpy(grown, h->at, (FR__HEAP_ROOT + h->n) * sizeof(*grown));
        free(h->at);
    } else {
        memset(grown, 0, FR__HEAP_ROOT * sizeof(*grown));
    }
    h->at = grown;
    h->cap = cap;
    return true;
}

void fr__heap_fini(struct fr__heap *h)
{
    free(h->at);
    *h = (struct fr__heap){NULL, 0, 0};
}
