/* base/arena.h - memory that is given back all at once. */
#ifndef FR_BASE_ARENA_H
#define FR_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fr__arena;

struct fr__arena *fr__arena_new(void); /* NULL: out of memory */
void fr__arena_free(struct fr__arena *a);

/* n elements of `size` bytes, zeroed, aligned for any type; NULL when out of memory or when the
 * product overflows. n 0 gives a valid pointer. */
void *fr__arena_alloc(struct fr__arena *a, size_t n, size_t size);
/* The same, with whatever was there: for arrays that are filled at once. */
void *fr__arena_take(struct fr__arena *a, size_t n, size_t size);
/* n ids, FR_NONE each; NULL: out of memory. The second on the heap: free(). */
uint32_t *fr__arena_nones(struct fr__arena *a, size_t n);
uint32_t *fr__nones_new(size_t n);
char *fr__arena_strdup(struct fr__arena *a, const char *s);
char *fr__arena_strndup(struct fr__arena *a, const char *s, size_t n); /* up to a NUL */

/* Everything allocated after the mark is given back by rewind. */
struct fr__mark {
    void *block;
    size_t used;
};
struct fr__mark fr__arena_mark(struct fr__arena *a);
void fr__arena_rewind(struct fr__arena *a, struct fr__mark m);
/* Gives everything back but keeps the memory, as one block: an arena that is filled as before needs
 * no more. */
void fr__arena_reset(struct fr__arena *a);

/* Makes *array (elements of `size` bytes, room for *cap) hold at least `need`; doubles. Heap, not
 * arena: the owner calls free(). false: out of memory, nothing changed. */
bool fr__grow_more(void *array, size_t *cap, size_t need, size_t size); /* need > *cap */
static inline bool fr__grow(void *array, size_t *cap, size_t need, size_t size)
{
    return need <= *cap || fr__grow_more(array, cap, need, size);
}
#endif
