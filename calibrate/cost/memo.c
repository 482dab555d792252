/* calibrate/cost/memo.c - a table of costs for each pair of device type and batch, filled as it
 * is asked; and a table of kernels by what they are made of, from which it is filled. */
#include "config.h"

#include "calibrate/cost/memo.h"

#include "base/arena.h"
#include "base/hash.h"
#include "calibrate/cost/samples.h"
#include "calibrate/cost/kernel.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TABLES = 64, MOST_KERNELS = 1 << 16 };

struct table {
    uint32_t type;
    double batch;
    bool *is_known;        /* [n_ops] */
    struct fr_cost *costs; /* [n_ops] */
};

/* What a kernel's cost follows from. */
struct key {
    uint64_t words[FR__KERNEL_WORDS];
    uint32_t type, kind, phase; /* phase: twice, and one more if its forward op runs again */
    enum { BYTES, KERNEL, PRODUCT } of; /* fr_cost_bytes, fr_cost_op, fr_cost_product */
};

struct kernel {
    struct key key;
    struct fr_cost cost;
};

struct fr_cost_memo {
    const struct fr_cost_model *costs;
    const struct fr_graph *graph;
    size_t n_tables, last;
    struct table tables[MOST_TABLES];
    struct kernel *kernels;
    size_t n_kernels, cap_kernels;
    struct fr__hash_table by_key;
};

struct fr_cost_memo *fr__cost_memo_new(const struct fr_cost_model *costs,
                                       const struct fr_graph *graph)
{
    struct fr_cost_memo *m = calloc(1, sizeof(*m));

    if (m) {
        m->costs = costs;
        m->graph = graph;
    }
    return m;
}

void fr__cost_memo_free(struct fr_cost_memo *m)
{
    for (size_t i = 0; m && i < m->n_tables; i++) {
        free(m->tables[i].is_known);
        free(m->tables[i].costs);
    }
    if (m) {
        free(m->kernels);
        fr__hash_fini(&m->by_key);
    }
    free(m);
}

static bool is_of(const struct table *t, uint32_t type, double batch)
{
    return t->type == type && !(t->batch < batch) && !(t->batch > batch);
}

static struct table *add_table(struct fr_cost_memo *m, uint32_t type, double batch)
{
    struct table t = {.type = type, .batch = batch};

    if (m->n_tables == MOST_TABLES)
        return NULL;
    t.is_known = calloc(m->graph->n_ops + 1, sizeof(*t.is_known));
    t.costs = malloc((m->graph->n_ops + 1) * sizeof(*t.costs));
    if (!t.is_known || !t.costs) {
        free(t.is_known);
        free(t.costs);
        return NULL;
    }
    m->tables[m->n_tables] = t;
    m->last = m->n_tables++;
    return &m->tables[m->last];
}

/* The table of a pair, made if there is room; NULL: this pair is not remembered. */
static struct table *table_of(struct fr_cost_memo *m, uint32_t type, double batch)
{
    if (m->n_tables > 0 && is_of(&m->tables[m->last], type, batch))
        return &m->tables[m->last];
    for (size_t i = 0; i < m->n_tables; i++)
        if (is_of(&m->tables[i], type, batch)) {
            m->last = i;
            return &m->tables[i];
        }
    return add_table(m, type, batch);
}

/* ---- kernels ---- */

/* Multiplies and folds word by word. */
static uint64_t hash_of(const struct key *k)
{
    uint64_t hash = (uint64_t)k->type << 32 | k->kind << 8 | k->phase << 2 | (uint64_t)k->of;

    for (size_t i = 0; i < FR__KERNEL_WORDS; i++) {
        hash = (hash ^ k->words[i]) * UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing */
        hash ^= hash >> 32;
    }
    return hash;
}

static bool is_same(const struct key *a, const struct key *b)
{
    return a->type == b->type && a->kind == b->kind && a->phase == b->phase && a->of == b->of &&
           memcmp(a->words, b->words, sizeof(a->words)) == 0;
}

/* NULL: it has not been kept. */
static const struct kernel *find(const struct fr_cost_memo *m, const struct key *key, uint64_t hash)
{
    size_t at;
    uint32_t id = fr__hash_first(&m->by_key, hash, &at);

    while (id != FR_NONE && !is_same(&m->kernels[id].key, key))
        id = fr__hash_next(&m->by_key, hash, &at);
    return id == FR_NONE ? NULL : &m->kernels[id];
}

/* Without the memory it is not kept. */
static void keep(struct fr_cost_memo *m, const struct key *key, uint64_t hash,
                 const struct fr_cost *cost)
{
    if (m->n_kernels == MOST_KERNELS ||
        !fr__grow(&m->kernels, &m->cap_kernels, m->n_kernels + 1, sizeof(*m->kernels)))
        return;
    m->kernels[m->n_kernels] = (struct kernel){*key, *cost};
    if (fr__hash_add(&m->by_key, hash, (uint32_t)m->n_kernels))
        m->n_kernels++;
}

/* An op's cost follows from its kernel, unless somebody measured it. */
static void work_out(struct fr_cost_memo *m, uint32_t type, uint32_t op, const struct fr_part *part,
                     struct fr_cost *out)
{
    const struct fr_op *o = &m->graph->ops[op];
    struct key key = {.type = type,
                      .kind = o->kind,
                      .phase = 2u * (uint32_t)o->phase + o->is_recomputed,
                      .of = KERNEL};
    struct fr__kernel kernel;
    const struct kernel *found;
    uint64_t hash;

    if (m->graph->n_samples > 0 || fr__op_is_free(o)) {
        fr_cost_op(m->costs, type, m->graph, op, part, out);
        return;
    }
    fr__kernel_of(m->graph, op, part, &kernel);
    fr__kernel_words(&kernel, key.words);
    hash = hash_of(&key);
    found = find(m, &key, hash);
    if (found) {
        *out = found->cost;
        return;
    }
    fr_cost_op(m->costs, type, m->graph, op, part, out);
    keep(m, &key, hash, out);
}

/* ---- answers ---- */

void fr__cost_memo_op(struct fr_cost_memo *m, uint32_t type, uint32_t op,
                      const struct fr_part *part, struct fr_cost *out)
{
    bool is_whole = part->channel_parts <= 1 && part->input_parts <= 1;
    struct table *t = is_whole ? table_of(m, type, part->batch) : NULL;

    if (t && t->is_known[op]) {
        *out = t->costs[op];
        return;
    }
    work_out(m, type, op, part, out);
    if (t) {
        t->costs[op] = *out;
        t->is_known[op] = true;
    }
}

void fr__cost_memo_bytes(struct fr_cost_memo *m, uint32_t type, double bytes, enum fr_op_kind kind,
                         struct fr_cost *out)
{
    struct key key = {.type = type, .kind = kind};
    const struct kernel *found;
    uint64_t hash;

    memcpy(key.words, &bytes, sizeof(bytes));
    hash = hash_of(&key);
    found = find(m, &key, hash);
    if (found) {
        *out = found->cost;
        return;
    }
    fr_cost_bytes(m->costs, type, bytes, kind, out);
    keep(m, &key, hash, out);
}

void fr__cost_memo_product(struct fr_cost_memo *m, uint32_t type,
                           const struct fr_cost_product *product, struct fr_cost *out)
{
    struct key key = {.type = type, .kind = (uint32_t)product->dtype, .of = PRODUCT};
    const double sizes[] = {product->rows, product->columns, product->depth};
    const struct kernel *found;
    uint64_t hash;

    memcpy(key.words, sizes, sizeof(sizes));
    hash = hash_of(&key);
    found = find(m, &key, hash);
    if (found) {
        *out = found->cost;
        return;
    }
    fr_cost_product(m->costs, type, product, out);
    keep(m, &key, hash, out);
}
