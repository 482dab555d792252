/* plan/pattern.c - learns a block of a plan and adds copies of it.
 *
 * A block is stored as the range of tasks, buffers and transfers that it has in the plan, and a
 * list of its references that leave this range. A copy shifts all ids by a constant and looks up
 * the references of that list in its own row.
 */
#include "config.h"

#include "plan/pattern.h"

#include <assert.h>
#include <stdlib.h>

/* A reference that leaves the block: `offset` places after the beginning of block `block` of the
 * row. block FR_NONE: the task that the whole block waits for. */
struct far {
    uint32_t block, offset;
};

struct fr__pattern {
    struct fr__plan_mark from, to;
    /* in this order: priorities of tasks, dependencies, aliases of buffers, frees */
    struct far *far;
    size_t n_far, cap_far;
};

/* ---- learning ---- */

struct fr__plan_mark fr__plan_mark(const struct fr_plan *p, int32_t next_priority)
{
    return (struct fr__plan_mark){
        .n_tasks = (uint32_t)p->n_tasks.n,
        .n_buffers = (uint32_t)p->n_buffers.n,
        .n_transfers = (uint32_t)p->n_transfers.n,
        .n_named = (uint32_t)(p->n_strings.n + p->n_groups.n + p->n_collectives.n),
        .n_deps = p->n_deps.n,
        .n_frees = p->n_frees.n,
        .priority = next_priority,
    };
}

struct learner {
    struct fr__pattern *k;
    const struct fr__pattern_source *s;
    uint32_t last; /* where the last reference led; the next one often leads there too */
    bool ok;
};

static void keep(struct learner *l, struct far far)
{
    struct fr__pattern *k = l->k;

    l->ok = l->ok && fr__grow(&k->far, &k->cap_far, k->n_far + 1, sizeof(*k->far));
    if (l->ok)
        k->far[k->n_far++] = far;
}

/* Picks the beginning's task, buffer or priority. */
typedef uint32_t (*of_begin)(const struct fr__begin *b);

static uint32_t task_of(const struct fr__begin *b)
{
    return b->task;
}

static uint32_t buffer_of(const struct fr__begin *b)
{
    return b->buffer;
}

static uint32_t priority_of(const struct fr__begin *b)
{
    return (uint32_t)b->priority;
}

static void learn(struct learner *l, uint32_t id, of_begin of)
{
    const struct fr__pattern_source *s = l->s;

    for (uint32_t i = 0; i < s->n_blocks; i++) {
        uint32_t block = (l->last + i) % s->n_blocks;
        uint32_t offset = id - of(&s->row[block]);

        if (offset < of(&s->size[block])) {
            l->last = block;
            keep(l, (struct far){block, offset});
            return;
        }
    }
    assert(false && "a block refers to what is in no block of its row");
}

static inline bool is_in(uint32_t id, uint32_t first, uint32_t end)
{
    return id >= first && id < end;
}

static void learn_tasks(struct learner *l, const struct fr_plan *p)
{
    const struct fr__plan_mark *from = &l->s->from, *to = &l->s->to;

    for (uint32_t t = from->n_tasks; t < to->n_tasks && l->ok; t++)
        if (p->tasks[t].priority < from->priority || p->tasks[t].priority >= to->priority)
            learn(l, (uint32_t)p->tasks[t].priority, priority_of);
    for (size_t i = from->n_deps; i < to->n_deps && l->ok; i++) {
        const struct fr__pair *d = &p->deps[i];

        assert(is_in(d->to, from->n_tasks, to->n_tasks));
        if (d->from == l->s->after)
            keep(l, (struct far){FR_NONE, 0});
        else if (!is_in(d->from, from->n_tasks, to->n_tasks))
            learn(l, d->from, task_of);
    }
}

static void learn_buffers(struct learner *l, const struct fr_plan *p)
{
    const struct fr__plan_mark *from = &l->s->from, *to = &l->s->to;

    for (uint32_t i = from->n_buffers; i < to->n_buffers && l->ok; i++) {
        const struct fr_buffer *b = &p->buffers[i];

        assert(b->alloc == FR_NONE || is_in(b->alloc, from->n_tasks, to->n_tasks));
        if (b->alias != FR_NONE && !is_in(b->alias, from->n_buffers, to->n_buffers))
            learn(l, b->alias, buffer_of);
    }
    for (size_t i = from->n_frees; i < to->n_frees && l->ok; i++) {
        const struct fr__pair *f = &p->frees[i];

        assert(is_in(f->from, from->n_tasks, to->n_tasks));
        if (!is_in(f->to, from->n_buffers, to->n_buffers))
            learn(l, f->to, buffer_of);
    }
}

struct fr__pattern *fr__pattern_new(const struct fr_plan *p, const struct fr__pattern_source *s)
{
    struct fr__pattern *k = calloc(1, sizeof(*k));
    struct learner l = {.k = k, .s = s};

    assert(s->from.n_named == s->to.n_named);
    l.ok = k && !p->is_out_of_memory;
    if (l.ok) {
        k->from = s->from;
        k->to = s->to;
        learn_tasks(&l, p);
        learn_buffers(&l, p);
    }
    if (l.ok)
        return k;
    fr__pattern_free(k);
    return NULL;
}

struct fr__begin fr__pattern_size(const struct fr__pattern *k)
{
    return (struct fr__begin){.task = k->to.n_tasks - k->from.n_tasks,
                              .buffer = k->to.n_buffers - k->from.n_buffers,
                              .priority = k->to.priority - k->from.priority};
}

void fr__pattern_free(struct fr__pattern *k)
{
    if (k)
        free(k->far);
    free(k);
}

/* ---- repeating ---- */

struct copier {
    struct fr_plan *p;
    const struct fr__pattern *k;
    const struct fr__pattern_place *place;
    const struct far *far;                    /* the next reference to copy */
    uint32_t task_by, buffer_by, transfer_by; /* added to ids inside the block, modulo 2^32 */
};

static inline uint32_t far_task(struct copier *c)
{
    const struct far *f = c->far++;

    return f->block == FR_NONE ? c->place->after : c->place->row[f->block].task + f->offset;
}

static inline uint32_t far_buffer(struct copier *c)
{
    const struct far *f = c->far++;

    return c->place->row[f->block].buffer + f->offset;
}

static inline int32_t far_priority(struct copier *c)
{
    const struct far *f = c->far++;

    return c->place->row[f->block].priority + (int32_t)f->offset;
}

static void copy_tasks(struct copier *c)
{
    const struct fr__plan_mark *from = &c->k->from, *to = &c->k->to;
    const struct fr__pattern_place *place = c->place;
    const struct fr_task *old;
    struct fr_task *t;

    if (to->n_tasks == from->n_tasks)
        return; /* the array may not be there */
    old = c->p->tasks + from->n_tasks;
    t = c->p->tasks + c->p->n_tasks.n;
    for (size_t n = to->n_tasks - from->n_tasks; n > 0; n--, old++, t++) {
        *t = *old;
        if (place->microbatch != FR_NONE)
            t->microbatch = place->microbatch;
        if (place->device != FR_NONE)
            t->device = place->device;
        if (t->priority >= from->priority && t->priority < to->priority)
            t->priority += place->next_priority - from->priority;
        else
            t->priority = far_priority(c);
        if (t->kind == FR_TASK_SEND || t->kind == FR_TASK_RECV)
            t->transfer += c->transfer_by;
        if (t->kind == FR_TASK_COLLECTIVE) {
            t->collective += place->collective_by;
            if (place->rank != FR_NONE)
                t->rank = place->rank;
        }
    }
    c->p->n_tasks.n += to->n_tasks - from->n_tasks;
}

static void copy_deps(struct copier *c)
{
    const struct fr__plan_mark *from = &c->k->from, *to = &c->k->to;
    const struct fr__pair *old;
    struct fr__pair *d;

    if (to->n_deps == from->n_deps)
        return; /* the array may not be there */
    old = c->p->deps + from->n_deps;
    d = c->p->deps + c->p->n_deps.n;
    for (size_t n = to->n_deps - from->n_deps; n > 0; n--, old++, d++) {
        d->from =
            is_in(old->from, from->n_tasks, to->n_tasks) ? old->from + c->task_by : far_task(c);
        d->to = old->to + c->task_by;
    }
    c->p->n_deps.n += to->n_deps - from->n_deps;
}

static void copy_buffers(struct copier *c)
{
    const struct fr__plan_mark *from = &c->k->from, *to = &c->k->to;
    const struct fr_buffer *old;
    struct fr_buffer *b;

    if (to->n_buffers == from->n_buffers)
        return; /* the array may not be there */
    old = c->p->buffers + from->n_buffers;
    b = c->p->buffers + c->p->n_buffers.n;
    for (size_t n = to->n_buffers - from->n_buffers; n > 0; n--, old++, b++) {
        *b = *old;
        if (c->place->device != FR_NONE)
            b->device = c->place->device;
        if (b->alloc != FR_NONE)
            b->alloc += c->task_by;
        if (is_in(b->alias, from->n_buffers, to->n_buffers))
            b->alias += c->buffer_by;
        else if (b->alias != FR_NONE)
            b->alias = far_buffer(c);
    }
    c->p->n_buffers.n += to->n_buffers - from->n_buffers;
}

static void copy_frees(struct copier *c)
{
    const struct fr__plan_mark *from = &c->k->from, *to = &c->k->to;
    const struct fr__pair *old;
    struct fr__pair *f;

    if (to->n_frees == from->n_frees)
        return; /* the array may not be there */
    old = c->p->frees + from->n_frees;
    f = c->p->frees + c->p->n_frees.n;
    for (size_t n = to->n_frees - from->n_frees; n > 0; n--, old++, f++) {
        f->from = old->from + c->task_by;
        f->to =
            is_in(old->to, from->n_buffers, to->n_buffers) ? old->to + c->buffer_by : far_buffer(c);
    }
    c->p->n_frees.n += to->n_frees - from->n_frees;
}

static void copy_transfers(struct copier *c)
{
    const struct fr__plan_mark *from = &c->k->from, *to = &c->k->to;
    const struct fr_transfer *old;
    struct fr_transfer *x;

    if (to->n_transfers == from->n_transfers)
        return; /* the array may not be there */
    old = c->p->transfers + from->n_transfers;
    x = c->p->transfers + c->p->n_transfers.n;
    for (size_t n = to->n_transfers - from->n_transfers; n > 0; n--, old++, x++) {
        *x = *old;
        x->send += c->task_by;
        x->recv += c->task_by;
    }
    c->p->n_transfers.n += to->n_transfers - from->n_transfers;
}

/* Makes room for n more elements; their ids must stay below FR_NONE. */
static bool make_room(struct fr__array *a, void *array, size_t n, size_t size)
{
    return a->n + n < FR_NONE - 1 && fr__grow(array, &a->cap, a->n + n, size);
}

static bool make_all_room(struct fr_plan *p, const struct fr__pattern *k)
{
    const struct fr__plan_mark *from = &k->from, *to = &k->to;
    const struct fr__plan_size more = {.tasks = to->n_tasks - from->n_tasks,
                                       .deps = to->n_deps - from->n_deps,
                                       .buffers = to->n_buffers - from->n_buffers,
                                       .frees = to->n_frees - from->n_frees};

    return !p->is_finished && fr__plan_has_room(p, &more) &&
           make_room(&p->n_tasks, &p->tasks, to->n_tasks - from->n_tasks, sizeof(*p->tasks)) &&
           make_room(&p->n_buffers, &p->buffers, to->n_buffers - from->n_buffers,
                     sizeof(*p->buffers)) &&
           make_room(&p->n_transfers, &p->transfers, to->n_transfers - from->n_transfers,
                     sizeof(*p->transfers)) &&
           make_room(&p->n_deps, &p->deps, to->n_deps - from->n_deps, sizeof(*p->deps)) &&
           make_room(&p->n_frees, &p->frees, to->n_frees - from->n_frees, sizeof(*p->frees));
}

void fr__pattern_repeat(struct fr_plan *p, const struct fr__pattern *k,
                        const struct fr__pattern_place *place)
{
    struct copier c = {
        .p = p,
        .k = k,
        .place = place,
        .far = k->far,
        .task_by = (uint32_t)p->n_tasks.n - k->from.n_tasks,
        .buffer_by = (uint32_t)p->n_buffers.n - k->from.n_buffers,
        .transfer_by = (uint32_t)p->n_transfers.n - k->from.n_transfers,
    };

    if (!make_all_room(p, k)) {
        p->is_out_of_memory = true;
        return;
    }
    copy_tasks(&c);
    copy_deps(&c);
    copy_buffers(&c);
    copy_frees(&c);
    copy_transfers(&c);
}
