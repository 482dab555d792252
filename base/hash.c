/* base/hash.c - hashes of bytes, and what makes a hash table grow; see hash.h. */
#include "config.h"

#include "base/hash.h"

#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };
static const size_t MOST_SLOTS = (size_t)1 << 31 << (sizeof(size_t) > 4); /* a tag is 32 bits */

uint64_t fr__fnv(uint64_t so_far, const void *data, size_t n)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < n; i++)
        so_far = (so_far ^ byte[i]) * UINT64_C(0x100000001b3);
    return so_far;
}

uint64_t fr__fnv_word(uint64_t so_far, uint64_t word)
{
    unsigned char byte[8];

    for (unsigned i = 0; i < sizeof(byte); i++)
        byte[i] = (unsigned char)(word >> (8 * i));
    return fr__fnv(so_far, byte, sizeof(byte));
}

uint64_t fr__hash_bytes(const void *data, size_t n)
{
    return fr__hash_id(fr__fnv(FR__FNV_START, data, n));
}

uint64_t fr__hash_string(const char *text)
{
    return fr__hash_bytes(text, strlen(text));
}

const char *fr__digest_hex(uint64_t digest, char buf[FR__DIGEST_HEX])
{
    snprintf(buf, FR__DIGEST_HEX, "%016" PRIx64, digest);
    return buf;
}

/* Into a table with a free slot. */
static void put(struct fr__hash_table *t, struct fr__hash_slot what)
{
    size_t at = what.tag & (t->n_slots - 1);

    while (t->slots[at].id != FR_NONE)
        at = (at + 1) & (t->n_slots - 1);
    t->slots[at] = what;
    t->n++;
}

/* Makes room for one more. */
static bool reserve(struct fr__hash_table *t)
{
    struct fr__hash_table larger = {.n_slots = t->n_slots ? t->n_slots * 2 : FIRST_SLOTS};

    if (t->n < t->n_slots / 2)
        return true;
    if (t->n_slots >= MOST_SLOTS || larger.n_slots > SIZE_MAX / sizeof(*larger.slots))
        return false;
    larger.slots = malloc(larger.n_slots * sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < larger.n_slots; i++)
        larger.slots[i].id = FR_NONE;
    for (size_t i = 0; i < t->n_slots; i++)
        if (t->slots[i].id != FR_NONE)
            put(&larger, t->slots[i]);
    free(t->slots);
    *t = larger;
    return true;
}

bool fr__hash_add(struct fr__hash_table *t, uint64_t hash, uint32_t id)
{
    if (!reserve(t))
        return false;
    put(t, (struct fr__hash_slot){(uint32_t)hash, id});
    return true;
}

void fr__hash_fini(struct fr__hash_table *t)
{
    free(t->slots);
    *t = (struct fr__hash_table){0};
}

static uint32_t find(const struct fr__strings *s, uint64_t hash, const char *key)
{
    size_t at;
    uint32_t id = fr__hash_first(&s->table, hash, &at);

    while (id != FR_NONE && strcmp(s->keys[id], key) != 0)
        id = fr__hash_next(&s->table, hash, &at);
    return id;
}

uint32_t fr__strings_add(struct fr__strings *s, const char *key, bool *is_new)
{
    uint64_t hash = fr__hash_string(key);
    uint32_t id = find(s, hash, key);

    *is_new = false;
    if (id != FR_NONE)
        return id;
    if (!fr__grow(&s->keys, &s->cap, s->n + 1, sizeof(*s->keys)) ||
        !fr__hash_add(&s->table, hash, (uint32_t)s->n))
        return FR_NONE;
    *is_new = true;
    s->keys[s->n] = key;
    return (uint32_t)s->n++;
}

uint32_t fr__strings_find(const struct fr__strings *s, const char *key)
{
    return find(s, fr__hash_string(key), key);
}

void fr__strings_fini(struct fr__strings *s)
{
    free(s->keys);
    fr__hash_fini(&s->table);
    *s = (struct fr__strings){0};
}
