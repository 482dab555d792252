/* strategies/lists/ranks.c - upward and downward ranks of means. */
#include "config.h"

#include "strategies/lists/ranks.h"

#include <stdlib.h>

/* The mean cost of an operation over the devices. */
static double mean_cost(const struct fr__timetable *t, uint32_t op)
{
    double sum_s = 0;

    for (uint32_t d = 0; d < t->machine->n_devices; d++)
        sum_s += fr__timetable_cost(t, op, d);
    return sum_s / (double)t->machine->n_devices;
}

/* What moving an edge takes: constant_s + bytes * s_per_byte, means over all pairs. */
struct mean_move {
    double constant_s, s_per_byte;
};

static struct mean_move find_mean_move(const struct fr__dpos_machine *m)
{
    size_t n = m->n_devices;
    struct mean_move mean = {0, 0};

    if (n < 2)
        return mean;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            mean.constant_s += a == b ? 0 : m->latency_s[a * n + b];
            mean.s_per_byte += a == b ? 0 : m->s_per_byte[a * n + b];
        }
    mean.constant_s /= (double)(n * (n - 1));
    mean.s_per_byte /= (double)(n * (n - 1));
    return mean;
}

static double move_s(const struct mean_move *mean, const struct fr__dag_edge *e)
{
    if (e->cargo == FR__DAG_ORDER)
        return 0;
    return mean->constant_s + (double)e->bytes * mean->s_per_byte;
}

void fr__rank_up(struct fr__timetable *t, bool counts_moves, double rank_s[])
{
    const struct mean_move mean =
        counts_moves ? find_mean_move(t->machine) : (struct mean_move){0, 0};
    const struct fr__dag *dag = t->dag;

    for (uint32_t i = (uint32_t)dag->n_ops; i-- > 0;) {
        double most_s = 0;

        t->record.longest_s[i] = mean_cost(t, i);
        t->record.via[i] = FR_NONE;
        for (uint32_t e = dag->out_first[i]; e < dag->out_first[i + 1]; e++) {
            double c_s = move_s(&mean, &dag->edges[e]);
            double through_s = c_s + rank_s[dag->edges[e].dst];

            if (t->record.via[i] != FR_NONE && !(through_s > most_s))
                continue;
            most_s = through_s;
            t->record.via[i] = e;
            t->record.via_s[i] = c_s;
        }
        rank_s[i] = t->record.longest_s[i] + most_s;
    }
}

void fr__rank_down(const struct fr__timetable *t, double rank_s[])
{
    const struct mean_move mean = find_mean_move(t->machine);
    const struct fr__dag *dag = t->dag;

    for (uint32_t i = 0; i < dag->n_ops; i++) {
        double most_s = 0;

        for (uint32_t k = dag->in_first[i]; k < dag->in_first[i + 1]; k++) {
            const struct fr__dag_edge *e = &dag->edges[dag->in_edges[k]];
            double through_s = rank_s[e->src] + mean_cost(t, e->src) + move_s(&mean, e);

            if (!t->waits[e->src] && through_s > most_s)
                most_s = through_s;
        }
        rank_s[i] = most_s;
    }
}

static int compare(const void *a, const void *b)
{
    const struct fr__ranked *x = a, *y = b;

    if (x->key < y->key || x->key > y->key)
        return x->key < y->key ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

void fr__sort_ranked(struct fr__ranked *r, size_t n)
{
    qsort(r, n, sizeof(*r), compare);
}
