/* workloads/graph/names.c - open addressing with linear probing, at most half full. */
#include "config.h"

#include "workloads/graph/names.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

/* FNV-1a (Fowler, Noll, Vo; RFC 9923), then the finaliser of MurmurHash3 (Appleby), since the low
 * bits of FNV alone are weak. */
static uint64_t hash_of(const char *key)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (const unsigned char *s = (const unsigned char *)key; *s; s++)
        h = (h ^ *s) * UINT64_C(0x100000001b3);
    h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ (h >> 33);
}

/* The slot that holds the key, or the empty one where it belongs. */
static size_t slot_of(const struct fr__names *m, const char *key)
{
    size_t i = (size_t)hash_of(key) & (m->n_slots - 1);

    while (m->slots[i] != FR_NONE && strcmp(m->keys[m->slots[i]], key) != 0)
        i = (i + 1) & (m->n_slots - 1);
    return i;
}

static bool rehash(struct fr__names *m)
{
    size_t want = m->n_slots ? m->n_slots * 2 : FIRST_SLOTS;
    uint32_t *slots = malloc(want * sizeof(*slots));

    if (!slots)
        return false;
    for (size_t i = 0; i < want; i++)
        slots[i] = FR_NONE;
    free(m->slots);
    m->slots = slots;
    m->n_slots = want;
    for (size_t i = 0; i < m->n; i++)
        slots[slot_of(m, m->keys[i])] = (uint32_t)i;
    return true;
}

uint32_t fr__names_add(struct fr__names *m, const char *key, bool *is_new)
{
    size_t slot;

    *is_new = false;
    if (m->n * 2 >= m->n_slots && !rehash(m))
        return FR_NONE;
    slot = slot_of(m, key);
    if (m->slots[slot] != FR_NONE)
        return m->slots[slot];
    if (m->n >= FR_NONE || !fr__grow(&m->keys, &m->cap, m->n + 1, sizeof(*m->keys)))
        return FR_NONE;
    m->keys[m->n] = key;
    m->slots[slot] = (uint32_t)m->n++;
    *is_new = true;
    return m->slots[slot];
}

uint32_t fr__names_find(const struct fr__names *m, const char *key)
{
    return m->n_slots ? m->slots[slot_of(m, key)] : FR_NONE;
}

void fr__names_fini(struct fr__names *m)
{
    free(m->keys);
    free(m->slots);
    *m = (struct fr__names){0};
}
