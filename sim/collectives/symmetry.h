/* sim/collectives/symmetry.h - collectives in which one machine stands for all.
 *
 * In a symmetric algorithm (struct fr__algorithm) all machines do the same, moved on by as many
 * places or renumbered. The topology may not tell the machines of the group apart either: they are
 * alike (topo/routes/alike.h), and the group has the same GPUs of each. Then moving all machines on
 * changes nothing. Each machine sends what the first one sends, over links of the same places, and
 * gets what the first one gets. So the messages of the first machine's ranks are enough for the
 * times of the steps and for the bytes of all links. Of n ranks, m a machine, an all-to-all takes n
 * m messages instead of n^2.
 *
 * Routes between two machines depend on the two places alone. So there are m^2 inside a machine and
 * m^2 from one to another.
 */
#ifndef FR_SIM_COLLECTIVES_SYMMETRY_H
#define FR_SIM_COLLECTIVES_SYMMETRY_H

#include "sim/engine.h"

struct fr__symmetry {
    uint32_t group, n, m; /* ranks, and those of a machine, the first of which stand for all */
    uint32_t *routes;     /* [2][m][m] inside a machine, and to another one; from and to by place */
};

/* Whether the topology does not tell the machines of a group apart, each of which has m ranks. Who
 * asks knows that the algorithm is symmetric. The caller calls fr__symmetry_end where it is so.
 * false: it is not, or the failure is kept. Cost: O(ranks + m^2). */
bool fr__symmetry_begin(struct fr__engine *e, uint32_t group, uint32_t m, struct fr__symmetry *out);
void fr__symmetry_end(struct fr__engine *e, struct fr__symmetry *symmetry);

/* The number in routes of a message between two ranks. */
static inline uint32_t fr__symmetry_at(const struct fr__symmetry *symmetry, uint32_t from,
                                       uint32_t to)
{
    uint32_t m = symmetry->m, is_across = from / m != to / m;

    return (is_across * m + from % m) * m + to % m;
}

/* by_route: [2][m][m] bytes that the first machine's ranks send on each of the routes. Adds to each
 * link what all machines send. Cost: O(links of the group's machines). */
void fr__symmetry_spread(struct fr__engine *e, const struct fr__symmetry *symmetry,
                         const double by_route[], double link_bytes[]);

#endif
