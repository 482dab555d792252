/* strategies/fastt/dpos_memory.c - the planner's own memory, which grows with the dags it plans. */
#include "config.h"

#include "strategies/fastt/dpos_state.h"

#include <stdlib.h>
#include <string.h>

void fr__dpos_free(struct fr__dpos *p)
{
    if (!p)
        return;
    fr__slots_free(p->slots);
    fr__link_times_free(p->links);
    free(p->there_s);
    free(p->between_s);
    free(p->n_sent);
    free(p->classes.latency_s);
    free(p->classes.s_per_byte);
    free(p->rank_s);
    free(p->start_s);
    free(p->end_s);
    free(p->tail_s);
    free(p->device);
    free(p->order);
    free(p->position);
    free(p->priority);
    free(p->path);
    free(p->is_on_path);
    free(p->keys);
    free(p->keys_of);
    free(p->row_rank_s);
    free(p->row_least_s);
    free(p->group_bytes);
    free(p->group_device);
    free(p->used_bytes);
    free(p->copy_bytes);
    free(p->there);
    free(p->ready_s);
    free(p->is_used);
    free(p->kept.decisions);
    free(p);
}

struct fr__dpos *fr__dpos_new(const struct fr__dpos_machine *m)
{
    struct fr__dpos *p = calloc(1, sizeof(*p));
    size_t n_pairs = m->n_devices * m->n_devices;

    if (!p)
        return NULL;
    p->m = *m;
    p->classes.latency_s = calloc(n_pairs, sizeof(double));
    p->classes.s_per_byte = calloc(n_pairs, sizeof(double));
    p->used_bytes = calloc(m->n_devices, sizeof(*p->used_bytes));
    p->copy_bytes = calloc(m->n_devices, sizeof(*p->copy_bytes));
    p->ready_s = calloc(m->n_devices, sizeof(*p->ready_s));
    p->is_used = calloc(m->n_devices, sizeof(*p->is_used));
    p->links = m->links ? fr__link_times_new(m->links) : NULL;
    if ((m->links && !p->links) || !p->classes.latency_s || !p->classes.s_per_byte ||
        !p->used_bytes || !p->copy_bytes || !p->ready_s || !p->is_used) {
        fr__dpos_free(p);
        return NULL;
    }
    fr__dpos_classify(&p->classes, m);
    return p;
}

/* Replaces an array by a larger one; the content is lost. */
static bool renew(void *array, size_t n, size_t size)
{
    void *old, *made = malloc(n ? n * size : 1);

    if (!made)
        return false;
    memcpy(&old, array, sizeof(old));
    free(old);
    memcpy(array, &made, sizeof(made));
    return true;
}

static bool make_room_for_ops(struct fr__dpos *p, size_t n)
{
    if (n <= p->cap_ops && p->slots)
        return true;
    n += n / 4; /* a dag with a few operations split is planned next */
    p->cap_ops = 0;
    p->kept.n = 0;
    fr__slots_free(p->slots);
    p->slots = fr__slots_new(p->m.n_devices, n);
    if (!p->slots || !renew(&p->rank_s, n, sizeof(*p->rank_s)) ||
        !renew(&p->start_s, n, sizeof(*p->start_s)) || !renew(&p->end_s, n, sizeof(*p->end_s)) ||
        !renew(&p->tail_s, n, sizeof(*p->tail_s)) || !renew(&p->device, n, sizeof(*p->device)) ||
        !renew(&p->order, n, sizeof(*p->order)) || !renew(&p->position, n, sizeof(*p->position)) ||
        !renew(&p->priority, n, sizeof(*p->priority)) || !renew(&p->path, n, sizeof(*p->path)) ||
        !renew(&p->is_on_path, n, sizeof(*p->is_on_path)) ||
        !renew(&p->there, n * p->m.n_devices, sizeof(*p->there)) ||
        !renew(&p->kept.decisions, n, sizeof(*p->kept.decisions)) ||
        (p->links && !renew(&p->n_sent, n, sizeof(*p->n_sent))) ||
        !renew(&p->keys, n, sizeof(*p->keys)) || !renew(&p->keys_of, n, sizeof(*p->keys_of)))
        return false;
    p->cap_ops = n;
    return true;
}

static bool make_room_for_edges(struct fr__dpos *p, size_t n)
{
    if (!p->links || (n <= p->cap_edges && p->there_s))
        return true;
    p->cap_edges = 0;
    if (!renew(&p->there_s, n, sizeof(double)) || !renew(&p->between_s, n, sizeof(double)))
        return false;
    p->cap_edges = n;
    return true;
}

bool fr__dpos_make_room(struct fr__dpos *p, const struct fr__dag *dag)
{
    if (!make_room_for_ops(p, dag->n_ops) || !make_room_for_edges(p, dag->n_edges))
        return false;
    if (dag->n_costs > p->cap_rows || !p->row_rank_s) {
        size_t n = dag->n_costs + dag->n_costs / 4;

        p->cap_rows = 0;
        if (!renew(&p->row_rank_s, n, sizeof(double)) || !renew(&p->row_least_s, n, sizeof(double)))
            return false;
        p->cap_rows = n;
    }
    if (dag->n_groups > p->cap_groups || !p->group_bytes) {
        p->cap_groups = 0;
        if (!renew(&p->group_bytes, dag->n_groups, sizeof(*p->group_bytes)) ||
            !renew(&p->group_device, dag->n_groups, sizeof(*p->group_device)))
            return false;
        p->cap_groups = dag->n_groups;
    }
    return true;
}
