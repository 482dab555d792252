/* base/hash.h - the hash table: numbers of things, found by what the things are called or made of.
 *
 * A table holds ids that its owner gave to things in arrays of its own. A look-up walks the ids
 * whose hash is the wanted one; the owner compares the things themselves:
 *
 *     for (id = fr__hash_first(t, hash, &at); id != FR_NONE; id = fr__hash_next(t, hash, &at))
 *         if (is_same(things[id], wanted))
 *             return id;
 *
 * Open addressing with linear probing (Knuth, The Art of Computer Programming 3, section 6.4), at
 * most half full. A table cannot be listed, so no result depends on the order in it. Nothing is
 * taken out.
 */
#ifndef FR_BASE_HASH_H
#define FR_BASE_HASH_H

#include "base/base.h"

/* ---- hashes ---- */

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo; RFC 9923): the hash of what came before, at first
 * FR__FNV_START, and of n bytes. Of a word the lowest byte comes first, on every machine. */
#define FR__FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t fr__fnv(uint64_t so_far, const void *data, size_t n);
uint64_t fr__fnv_word(uint64_t so_far, uint64_t word);
/* FNV-1a, then fr__hash_id(): the low bits of FNV alone are weak. */
uint64_t fr__hash_bytes(const void *data, size_t n);
uint64_t fr__hash_string(const char *text);
enum { FR__DIGEST_HEX = 17 }; /* sixteen digits and the end */
const char *fr__digest_hex(uint64_t digest, char buf[FR__DIGEST_HEX]);

/* The finaliser of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014), a bijection. */
static inline uint64_t fr__hash_id(uint64_t id)
{
    id = (id ^ id >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    id = (id ^ id >> 27) * UINT64_C(0x94d049bb133111eb);
    return id ^ id >> 31;
}

/* ---- the table ---- */

struct fr__hash_slot {
    uint32_t tag, id; /* the hash's low half; FR_NONE: free */
};

/* All zero is an empty one. */
struct fr__hash_table {
    struct fr__hash_slot *slots;
    size_t n, n_slots; /* ids; a power of two at least twice that, or 0 */
};

/* The next id with that hash from slot *at on. */
static inline uint32_t fr__hash_probe(const struct fr__hash_table *t, uint64_t hash, size_t *at)
{
    size_t mask = t->n_slots - 1;

    while (t->slots[*at].id != FR_NONE && t->slots[*at].tag != (uint32_t)hash)
        *at = (*at + 1) & mask;
    return t->slots[*at].id;
}

/* The first id whose hash has the low half of this one, FR_NONE: none. *at: for fr__hash_next().
 * O(1) on average. */
static inline uint32_t fr__hash_first(const struct fr__hash_table *t, uint64_t hash, size_t *at)
{
    *at = 0;
    if (t->n_slots == 0)
        return FR_NONE;
    *at = (uint32_t)hash & (t->n_slots - 1);
    return fr__hash_probe(t, hash, at);
}

/* The next one; only after an id was returned, and with no fr__hash_add() since. */
static inline uint32_t fr__hash_next(const struct fr__hash_table *t, uint64_t hash, size_t *at)
{
    *at = (*at + 1) & (t->n_slots - 1);
    return fr__hash_probe(t, hash, at);
}

/* Adds an id, not FR_NONE; a thing that is there already is then there twice. false: out of
 * memory or full (2^31 ids), nothing changed. */
bool fr__hash_add(struct fr__hash_table *t, uint64_t hash, uint32_t id);
void fr__hash_fini(struct fr__hash_table *t);

/* ---- numbered strings ---- */

/* Numbers strings in the order they come. All zero is an empty one. */
struct fr__strings {
    const char **keys; /* [n], not owned */
    size_t n, cap;
    struct fr__hash_table table;
};

/* The key's number, 0 for the first; *is_new says whether it came in now. The key is not copied.
 * FR_NONE: out of memory. O(length) on average. */
uint32_t fr__strings_add(struct fr__strings *s, const char *key, bool *is_new);
/* FR_NONE: not there. */
uint32_t fr__strings_find(const struct fr__strings *s, const char *key);
void fr__strings_fini(struct fr__strings *s);
#endif
