/* plan/index.c - a finished plan's compressed rows: for each task its successors and the buffers
 * that it allocates and frees, for each collective its members.
 *
 * The rows are made by counting: how long each is, then where it begins, then its items in the
 * order in which they were added.
 */
#include "config.h"

#include "plan/internal.h"

#include <stdlib.h>

/* Rows that are being made. Lengths are counted two places on, in first[row + 2], so that filling
 * moves each start to where it belongs. */
struct rows {
    uint32_t *first; /* [n_rows + 2] */
    uint32_t *items;
};

/* Room for n items in so many rows. */
static bool make_rows(struct fr_plan *p, struct rows *r, size_t n_rows, size_t n)
{
    r->first = fr__arena_alloc(p->arena, n_rows + 2, sizeof(*r->first));
    r->items = fr__arena_take(p->arena, n + 1, sizeof(*r->items));
    return r->first && r->items && n < FR_NONE;
}

static void set_starts(struct rows *r, size_t n_rows)
{
    uint32_t at = 0;

    for (size_t i = 2; i < n_rows + 2; i++)
        r->first[i] = at += r->first[i];
}

static inline void add_item(uint32_t *restrict first, uint32_t *restrict items, uint32_t row,
                            uint32_t item)
{
    items[first[row + 1]++] = item;
}

static bool index_deps(struct fr_plan *p)
{
    struct fr_plan_view *v = &p->view;
    const struct fr__pair *deps = p->deps;
    uint32_t *n_preds = fr__arena_alloc(p->arena, v->n_tasks + 1, sizeof(*n_preds));
    size_t n = p->n_deps.n;
    struct rows r;

    if (!n_preds || !make_rows(p, &r, v->n_tasks, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        n_preds[deps[i].to]++;
        r.first[deps[i].from + 2]++;
    }
    set_starts(&r, v->n_tasks);
    for (size_t i = 0; i < n; i++)
        add_item(r.first, r.items, deps[i].from, deps[i].to);
    v->n_preds = n_preds;
    v->succ_first = r.first;
    v->succ = r.items;
    return true;
}

/* Whether a task allocates the buffer. */
static inline bool is_allocated(const struct fr_buffer *b)
{
    return b->alloc != FR_NONE && b->alias == FR_NONE;
}

static bool index_allocs(struct fr_plan *p)
{
    struct fr_plan_view *v = &p->view;
    const struct fr_buffer *buffers = p->buffers;
    struct rows r;

    if (!make_rows(p, &r, v->n_tasks, v->n_buffers))
        return false;
    for (uint32_t b = 0; b < v->n_buffers; b++)
        if (is_allocated(&buffers[b]))
            r.first[buffers[b].alloc + 2]++;
    set_starts(&r, v->n_tasks);
    for (uint32_t b = 0; b < v->n_buffers; b++)
        if (is_allocated(&buffers[b]))
            add_item(r.first, r.items, buffers[b].alloc, b);
    v->alloc_first = r.first;
    v->alloc = r.items;
    return true;
}

/* Who frees an alias holds on to the storage it shares. */
static bool index_frees(struct fr_plan *p)
{
    struct fr_plan_view *v = &p->view;
    uint32_t *n_frees = fr__arena_alloc(p->arena, v->n_buffers + 1, sizeof(*n_frees));
    struct fr__pair *frees = p->frees;
    size_t n = p->n_frees.n;
    struct rows r;

    if (!n_frees || !make_rows(p, &r, v->n_tasks, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        frees[i].to = fr__alias_root(p, frees[i].to);
        n_frees[frees[i].to]++;
        r.first[frees[i].from + 2]++;
    }
    set_starts(&r, v->n_tasks);
    for (size_t i = 0; i < n; i++)
        add_item(r.first, r.items, frees[i].from, frees[i].to);
    v->n_frees = n_frees;
    v->free_first = r.first;
    v->free = r.items;
    return true;
}

static bool index_members(struct fr_plan *p)
{
    struct fr_plan_view *v = &p->view;
    uint32_t *first = fr__arena_alloc(p->arena, v->n_collectives + 1, sizeof(*first));
    uint32_t *members;
    uint64_t n = 0;

    if (!first)
        return false;
    for (size_t c = 0; c < v->n_collectives; c++) {
        n += fr__plan_n_members(p, (uint32_t)c);
        if (n >= FR_NONE)
            return false;
        first[c + 1] = (uint32_t)n;
    }
    members = fr__arena_take(p->arena, n + 1, sizeof(*members));
    if (!members)
        return false;
    for (size_t i = 0; i < n; i++)
        members[i] = FR_NONE;
    for (uint32_t t = 0; n > 0 && t < v->n_tasks; t++) {
        const struct fr_task *k = &p->tasks[t];

        if (k->kind == FR_TASK_COLLECTIVE)
            members[first[k->collective] + fr__plan_member_at(p, k)] = t;
    }
    v->member_first = first;
    v->members = members;
    return true;
}

bool fr__plan_index(struct fr_plan *p)
{
    return index_deps(p) && index_allocs(p) && index_frees(p) && index_members(p);
}
