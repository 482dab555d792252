/* lowering/dag/shared_links.c - the busy intervals of each link, in the order of time. */
#include "config.h"

#include "lowering/dag/shared_links.h"

#include "base/arena.h"

#include <assert.h>
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

/* A slot that was taken: it is, or became a part of, interval `at` or the one before it. */
struct kept {
    struct interval slot;
    size_t at;
    uint32_t link;
    bool joins_before, joins_after;
};

struct fr__link_times {
    const struct fr__link_map *map;
    struct link *links;
    struct tried *tried;
    size_t n_tried, cap_tried;
    struct kept *kept; /* in the order in which they were taken */
    size_t n_kept, cap_kept;
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
    free(t->kept);
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
    t->n_tried = t->n_kept = 0;
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

/* Makes room for an interval before `at`. false: out of memory. */
static bool insert(struct link *l, size_t at)
{
    if (!fr__grow(&l->busy, &l->cap, l->n + 1, sizeof(*l->busy)))
        return false;
    memmove(l->busy + at + 1, l->busy + at, (l->n - at) * sizeof(*l->busy));
    l->n++;
    return true;
}

static void erase(struct link *l, size_t at)
{
    memmove(l->busy + at, l->busy + at + 1, (l->n - at - 1) * sizeof(*l->busy));
    l->n--;
}

/* Takes a free slot, and fills in how it joins others. false: out of memory. */
static bool take_slot(struct link *l, struct kept *k)
{
    size_t i = k->at = first_behind(l, k->slot.begin_s);

    k->joins_before = i > 0 && !(l->busy[i - 1].end_s < k->slot.begin_s);
    k->joins_after = i < l->n && !(k->slot.end_s < l->busy[i].begin_s);
    assert(!k->joins_after || !(l->busy[i].begin_s < k->slot.end_s));
    if (k->joins_before && k->joins_after) {
        l->busy[i - 1].end_s = l->busy[i].end_s;
        erase(l, i);
    } else if (k->joins_before) {
        l->busy[i - 1].end_s = k->slot.end_s;
    } else if (k->joins_after) {
        l->busy[i].begin_s = k->slot.begin_s;
    } else {
        if (!insert(l, i))
            return false;
        l->busy[i] = k->slot;
    }
    return true;
}

/* Gives back the slot that was taken last. */
static void give_back(struct link *l, const struct kept *k)
{
    size_t i = k->at;

    if (k->joins_before && k->joins_after) {
        bool is_done = insert(l, i); /* it had room for as many before */

        assert(is_done);
        (void)is_done;
        l->busy[i] = (struct interval){k->slot.end_s, l->busy[i - 1].end_s};
        l->busy[i - 1].end_s = k->slot.begin_s;
    } else if (k->joins_before) {
        l->busy[i - 1].end_s = k->slot.begin_s;
    } else if (k->joins_after) {
        l->busy[i].begin_s = k->slot.end_s;
    } else {
        erase(l, i);
    }
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
    if (!fr__grow(&t->kept, &t->cap_kept, t->n_kept + t->n_tried, sizeof(*t->kept)))
        t->has_failed = true;
    for (size_t k = 0; !t->has_failed && k < t->n_tried; k++) {
        struct kept *kept = &t->kept[t->n_kept];

        *kept = (struct kept){.slot = t->tried[k].slot, .link = t->tried[k].link};
        if (take_slot(&t->links[kept->link], kept))
            t->n_kept++;
        else
            t->has_failed = true;
    }
    t->n_tried = 0;
}

size_t fr__link_times_n_kept(const struct fr__link_times *t)
{
    return t->n_kept;
}

void fr__link_times_undo(struct fr__link_times *t, size_t n)
{
    assert(n <= t->n_kept && t->n_tried == 0);
    while (t->n_kept > n) {
        const struct kept *k = &t->kept[--t->n_kept];

        give_back(&t->links[k->link], k);
    }
}
