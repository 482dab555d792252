/* lowering/dag/shared_links.c - the busy intervals of each link, in the order of time. */
#include "config.h"

#include "lowering/dag/shared_links.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct interval {
    double begin_s, end_s;
};

/* Intervals neither touch nor overlap. */
struct link {
    struct interval *busy;
    size_t n, cap;
};

/* A slot of a message that was tried. */
struct tried {
    struct interval slot;
    uint32_t link;
};

struct fr__link_times {
    const struct fr__link_map *map;
    struct link *links;
    struct tried *tried;
    size_t n_tried, cap_tried;
    bool has_failed;
};

void fr__link_times_free(struct fr__link_times *t)
{
    if (!t)
        return;
    for (size_t l = 0; t->links && l < t->map->n_links; l++)
        free(t->links[l].busy);
    free(t->links);
    free(t->tried);
    free(t);
}

struct fr__link_times *fr__link_times_new(const struct fr__link_map *m)
{
    struct fr__link_times *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->map = m;
    t->links = calloc(m->n_links + 1, sizeof(*t->links));
    if (t->links)
        return t;
    free(t);
    return NULL;
}

void fr__link_times_reset(struct fr__link_times *t)
{
    for (size_t l = 0; l < t->map->n_links; l++)
        t->links[l].n = 0;
    t->n_tried = 0;
    t->has_failed = false;
}

bool fr__link_times_failed(const struct fr__link_times *t)
{
    return t->has_failed;
}

/* ---- one link ---- */

/* The first interval that ends after t_s. */
static size_t first_behind(const struct link *l, double t_s)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (l->busy[mid].end_s > t_s)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* The first moment, not before from_s, from which the link is free for so long. */
static double find_slot(const struct link *l, double from_s, double length_s)
{
    size_t i;

    if (l->n == 0 || l->busy[l->n - 1].end_s <= from_s)
        return from_s;
    for (i = first_behind(l, from_s); i < l->n && l->busy[i].begin_s < from_s + length_s; i++)
        from_s = l->busy[i].end_s; /* it ends after from_s */
    return from_s;
}

/* Takes a free slot. false: out of memory. */
static bool take_slot(struct link *l, struct interval slot)
{
    size_t i = first_behind(l, slot.begin_s);
    bool joins_before, joins_after;

    joins_before = i > 0 && !(l->busy[i - 1].end_s < slot.begin_s);
    joins_after = i < l->n && !(slot.end_s < l->busy[i].begin_s);
    if (joins_before && joins_after) {
        l->busy[i - 1].end_s = l->busy[i].end_s;
        memmove(l->busy + i, l->busy + i + 1, (l->n - i - 1) * sizeof(*l->busy));
        l->n--;
    } else if (joins_before) {
        l->busy[i - 1].end_s = slot.end_s;
    } else if (joins_after) {
        l->busy[i].begin_s = slot.begin_s;
    } else {
        if (!fr__grow(&l->busy, &l->cap, l->n + 1, sizeof(*l->busy)))
            return false;
        memmove(l->busy + i + 1, l->busy + i, (l->n - i) * sizeof(*l->busy));
        l->busy[i] = slot;
        l->n++;
    }
    return true;
}

/* ---- messages ---- */

/* As find_slot, also behind the slots of messages that were tried. */
static double find_on(const struct fr__link_times *t, uint32_t link, double from_s, double length_s)
{
    double was_s;

    do {
        was_s = from_s;
        from_s = find_slot(&t->links[link], from_s, length_s);
        for (size_t k = 0; k < t->n_tried; k++) {
            const struct interval *s = &t->tried[k].slot;

            if (t->tried[k].link == link && s->begin_s < from_s + length_s && from_s < s->end_s)
                from_s = s->end_s;
        }
    } while (from_s > was_s);
    return from_s;
}

double fr__link_times_try(struct fr__link_times *t, uint32_t src, uint32_t dst, uint64_t bytes,
                          double made_s)
{
    const struct fr__link_map *m = t->map;
    size_t pair = src * m->n_devices + dst, n = m->first[pair + 1] - m->first[pair];
    const uint32_t *links = m->links + m->first[pair];
    double b = (double)bytes, longest_s = 0, was_s;
    double from_s = made_s + (m->latency_s[pair] + b * m->extra_s_per_byte[pair]);

    do {
        was_s = from_s;
        for (size_t k = 0; k < n; k++)
            from_s = find_on(t, links[k], from_s, b * m->link_s_per_byte[links[k]]);
    } while (from_s > was_s);
    if (!fr__grow(&t->tried, &t->cap_tried, t->n_tried + n, sizeof(*t->tried))) {
        t->has_failed = true;
        return from_s;
    }
    for (size_t k = 0; k < n; k++) {
        double length_s = b * m->link_s_per_byte[links[k]];

        longest_s = length_s > longest_s ? length_s : longest_s;
        if (length_s > 0)
            t->tried[t->n_tried++] = (struct tried){{from_s, from_s + length_s}, links[k]};
    }
    return from_s + longest_s;
}

void fr__link_times_drop(struct fr__link_times *t)
{
    t->n_tried = 0;
}

void fr__link_times_keep(struct fr__link_times *t)
{
    for (size_t k = 0; k < t->n_tried; k++)
        if (!take_slot(&t->links[t->tried[k].link], t->tried[k].slot))
            t->has_failed = true;
    t->n_tried = 0;
}
