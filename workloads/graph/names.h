/* workloads/graph/names.h - numbers strings in the order they come; finds the number of a string. */
#ifndef FR_WORKLOADS_NAMES_H
#define FR_WORKLOADS_NAMES_H

#include "base/base.h"

/* All zero is an empty one. Order never depends on the hash. */
struct fr__names {
    const char **keys; /* [n], not owned */
    uint32_t *slots;   /* open addressing: key number or FR_NONE */
    size_t n, cap, n_slots;
};

/* The key's number, 0 for the first; *is_new says whether it came in now. The key is not copied.
 * FR_NONE: out of memory. O(len) on average. */
uint32_t fr__names_add(struct fr__names *m, const char *key, bool *is_new);
/* FR_NONE: not there. */
uint32_t fr__names_find(const struct fr__names *m, const char *key);
void fr__names_fini(struct fr__names *m);
#endif
