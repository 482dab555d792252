/* strategies/fastt/dpos_rank.c - ranks, the critical path by ranks, and lists sorted by them. */
#include "config.h"

#include "strategies/fastt/dpos_state.h"

#include <math.h>
#include <string.h>

/* The cost that ranks use, and the least cost, of each row of costs over the devices. */
static void weigh_rows(struct fr__dpos *p, bool of_means)
{
    const struct fr__dag *dag = p->dag;

    for (size_t r = 0; r < dag->n_costs; r++) {
        const double *row = dag->cost_s + r * dag->n_types;
        double most = 0, least = INFINITY, sum = 0;

        for (size_t d = 0; d < p->m.n_devices; d++) {
            double c = row[p->m.type[d]];

            most = fmax(most, c);
            least = fmin(least, c);
            sum += c;
        }
        p->row_rank_s[r] = of_means ? sum / (double)p->m.n_devices : most;
        p->row_least_s[r] = least;
    }
}

/* Adds a pair unless another pair is always at least as slow; drops the pairs that are never slower
 * than it. */
static void add_class(struct fr__dpos_classes *c, double latency_s, double s_per_byte)
{
    size_t kept = 0;

    for (size_t k = 0; k < c->n; k++)
        if (c->latency_s[k] >= latency_s && c->s_per_byte[k] >= s_per_byte)
            return;
    for (size_t k = 0; k < c->n; k++)
        if (c->latency_s[k] > latency_s || c->s_per_byte[k] > s_per_byte) {
            c->latency_s[kept] = c->latency_s[k];
            c->s_per_byte[kept++] = c->s_per_byte[k];
        }
    c->latency_s[kept] = latency_s;
    c->s_per_byte[kept++] = s_per_byte;
    c->n = kept;
}

void fr__dpos_classify(struct fr__dpos_classes *c, const struct fr__dpos_machine *m)
{
    double n_pairs = (double)m->n_devices * (double)(m->n_devices - 1);

    c->n = 0;
    c->mean_latency_s = c->mean_s_per_byte = 0;
    for (size_t a = 0; a < m->n_devices; a++)
        for (size_t b = 0; b < m->n_devices; b++) {
            if (a == b)
                continue;
            c->mean_latency_s += m->latency_s[a * m->n_devices + b] / n_pairs;
            c->mean_s_per_byte += m->s_per_byte[a * m->n_devices + b] / n_pairs;
            add_class(c, m->latency_s[a * m->n_devices + b], m->s_per_byte[a * m->n_devices + b]);
        }
}

static double move_s(const struct fr__dpos_classes *c, bool of_means, const struct fr__dag_edge *e)
{
    double most = 0;

    if (e->cargo == FR__DAG_ORDER)
        return 0;
    if (of_means)
        return c->mean_latency_s + (double)e->bytes * c->mean_s_per_byte;
    for (size_t k = 0; k < c->n; k++)
        most = fmax(most, c->latency_s[k] + (double)e->bytes * c->s_per_byte[k]);
    return most;
}

/* Sorts by falling rank, then rising index. Ranks are not negative, so that their bits sort as they
 * do. Radix sort from the lowest digit, which keeps equal keys in order. */
static void sort_keys(struct fr__dpos_key *keys, struct fr__dpos_key *room, size_t n)
{
    enum { BITS = 11, DIGITS = 1 << BITS, PASSES = 6 };
    struct fr__dpos_key *from = keys, *to = room;

    for (unsigned pass = 0; pass < PASSES; pass++) {
        unsigned shift = pass * BITS;
        uint32_t count[DIGITS] = {0}, at = 0;
        struct fr__dpos_key *was = from;

        for (size_t i = 0; i < n; i++)
            count[(from[i].key >> shift) % DIGITS]++;
        for (size_t k = 0; k < DIGITS; k++) {
            uint32_t c = count[k];

            count[k] = at;
            at += c;
        }
        for (size_t i = 0; i < n; i++)
            to[count[(from[i].key >> shift) % DIGITS]++] = from[i];
        from = to;
        to = was;
    }
}

static uint64_t bits_of(double x)
{
    uint64_t u;

    x += 0.0; /* no negative zero */
    memcpy(&u, &x, sizeof(u));
    return u;
}

void fr__dpos_rank(struct fr__dpos *p, bool of_means)
{
    const struct fr__dag *dag = p->dag;

    weigh_rows(p, of_means);
    for (size_t i = dag->n_ops; i-- > 0;) {
        double rank_s = 0, tail_s = 0;

        for (uint32_t e = dag->out_first[i]; e < dag->out_first[i + 1]; e++) {
            const struct fr__dag_edge *edge = &dag->edges[e];
            uint32_t j = edge->dst;

            rank_s = fmax(rank_s, move_s(&p->classes, of_means, edge) + p->rank_s[j]);
            tail_s = fmax(tail_s, p->row_least_s[dag->ops[j].cost] + p->tail_s[j]);
        }
        p->rank_s[i] = p->row_rank_s[dag->ops[i].cost] + rank_s;
        p->tail_s[i] = tail_s;
        p->keys[i] = (struct fr__dpos_key){~bits_of(p->rank_s[i]), (uint32_t)i};
    }
    sort_keys(p->keys, p->keys_of, dag->n_ops);
    for (size_t i = 0; i < dag->n_ops; i++)
        p->priority[i] = p->keys[i].op;
}

void fr__dpos_record_ranks(const struct fr__dpos *p, bool of_means, struct fr__dpos_record *record)
{
    const struct fr__dag *dag = p->dag;

    for (size_t i = 0; i < dag->n_ops; i++) {
        double most_s = -1, rank_s = -1;

        record->longest_s[i] = p->row_rank_s[dag->ops[i].cost];
        record->via[i] = FR_NONE;
        record->via_s[i] = 0;
        for (uint32_t e = dag->out_first[i]; e < dag->out_first[i + 1]; e++) {
            double dt_s = move_s(&p->classes, of_means, &dag->edges[e]);
            double there_s = p->rank_s[dag->edges[e].dst];

            if (dt_s + there_s < most_s || (dt_s + there_s <= most_s && there_s <= rank_s))
                continue;
            most_s = dt_s + there_s;
            rank_s = there_s;
            record->via[i] = e;
            record->via_s[i] = dt_s;
        }
    }
}

size_t fr__dpos_find_path(struct fr__dpos *p)
{
    const struct fr__dag *dag = p->dag;
    uint32_t at = FR_NONE;
    size_t n = 0;

    memset(p->is_on_path, 0, dag->n_ops * sizeof(*p->is_on_path));
    for (size_t i = 0; i < dag->n_ops; i++)
        if (dag->in_first[i] == dag->in_first[i + 1] &&
            (at == FR_NONE || p->rank_s[i] > p->rank_s[at]))
            at = (uint32_t)i;
    while (at != FR_NONE) {
        uint32_t next = FR_NONE;

        p->path[n++] = at;
        p->is_on_path[at] = 1;
        for (uint32_t e = dag->out_first[at]; e < dag->out_first[at + 1]; e++) {
            uint32_t j = dag->edges[e].dst; /* edges are sorted by dst, so of equal ones the first
                                             * is kept */

            if (next == FR_NONE || p->rank_s[j] > p->rank_s[next])
                next = j;
        }
        at = next;
    }
    return n;
}

/* Sorts three times by a stable sort, the least important key first: rank, whether it takes time,
 * start. */
void fr__dpos_list(struct fr__dpos *p)
{
    size_t n = p->dag->n_ops, at = 0;

    for (int takes_time = 0; takes_time < 2; takes_time++)
        for (size_t i = 0; i < n; i++) {
            uint32_t op = p->priority[i];

            if ((p->end_s[op] > p->start_s[op]) == takes_time)
                p->keys[at++] = (struct fr__dpos_key){bits_of(p->start_s[op]), op};
        }
    sort_keys(p->keys, p->keys_of, n);
    for (size_t i = 0; i < n; i++) {
        p->order[i] = p->keys[i].op;
        p->position[p->keys[i].op] = (uint32_t)i;
    }
}
