/* lowering/dag/machines.c - the machines of a problem's devices, and ways between devices that
 * cross the network between two machines once for all who read the same. */
#include "config.h"

#include "lowering/dag/dag.h"

#include "base/error.h"

enum fr_status fr__dag_machines(const uint32_t **machine_of, size_t *n_machines,
                                struct fr__placer *pl, struct fr_error *err)
{
    const struct fr_topo *t = pl->in->topo;
    size_t n = pl->in->n_devices;
    uint32_t *of = fr__arena_alloc(pl->arena, n, sizeof(*of));
    uint32_t *number = fr__arena_take(pl->arena, t->n_machines + 1, sizeof(*number));

    if (!of || !number)
        return fr__fail_nomem(err);
    for (size_t k = 0; k <= t->n_machines; k++)
        number[k] = FR_NONE;
    *n_machines = 0;
    for (size_t d = 0; d < n; d++) {
        uint32_t machine = t->devices[pl->in->devices[d]].machine;

        if (number[machine] == FR_NONE)
            number[machine] = (uint32_t)(*n_machines)++;
        of[d] = number[machine];
    }
    *machine_of = of;
    return FR_OK;
}

/* The devices in the order of their machines. */
struct ranks {
    const uint32_t *machine_of; /* [n] */
    size_t n_machines;
    uint32_t *first, *sorted; /* [n_machines + 1] into sorted, [n] */
    uint32_t *rank;           /* [n] of each device in its machine */
};

static enum fr_status find_ranks(struct ranks *r, struct fr__placer *pl, struct fr_error *err)
{
    size_t n = pl->in->n_devices;

    FR_TRY(fr__dag_machines(&r->machine_of, &r->n_machines, pl, err));
    r->first = fr__arena_alloc(pl->arena, r->n_machines + 1, sizeof(*r->first));
    r->sorted = fr__arena_alloc(pl->arena, n, sizeof(*r->sorted));
    r->rank = fr__arena_alloc(pl->arena, n, sizeof(*r->rank));
    if (!r->first || !r->sorted || !r->rank)
        return fr__fail_nomem(err);
    for (size_t d = 0; d < n; d++)
        r->rank[d] = r->first[r->machine_of[d] + 1]++;
    for (size_t k = 0; k < r->n_machines; k++)
        r->first[k + 1] += r->first[k];
    for (uint32_t d = 0; d < n; d++)
        r->sorted[r->first[r->machine_of[d]] + r->rank[d]] = d;
    return FR_OK;
}

/* The device that messages from i to j go by; FR_NONE: straight. */
static uint32_t gate_of(const struct ranks *r, size_t i, size_t j)
{
    uint32_t there = r->machine_of[j], n_there = r->first[there + 1] - r->first[there], gate;

    if (r->machine_of[i] == there)
        return FR_NONE;
    gate = r->sorted[r->first[there] + r->rank[i] % n_there];
    return gate == j ? FR_NONE : gate;
}

enum fr_status fr__dag_links_by_machine(const uint32_t **via, struct fr__dag_links *l,
                                        struct fr__placer *pl, struct fr_error *err)
{
    size_t n = pl->in->n_devices;
    uint32_t *by = fr__arena_alloc(pl->arena, n * n, sizeof(*by));
    const struct fr__dag_links was = *l;
    struct ranks r;

    l->latency_s = fr__arena_alloc(pl->arena, n * n, sizeof(*l->latency_s));
    l->s_per_byte = fr__arena_alloc(pl->arena, n * n, sizeof(*l->s_per_byte));
    if (!by || !l->latency_s || !l->s_per_byte)
        return fr__fail_nomem(err);
    FR_TRY(find_ranks(&r, pl, err));
    for (size_t k = 0; k < n * n; k++) {
        uint32_t c = by[k] = gate_of(&r, k / n, k % n);
        size_t in = k / n * n + c, out = c * n + k % n;

        l->latency_s[k] = c == FR_NONE ? was.latency_s[k] : was.latency_s[in] + was.latency_s[out];
        l->s_per_byte[k] =
            c == FR_NONE ? was.s_per_byte[k] : was.s_per_byte[in] + was.s_per_byte[out];
    }
    *via = by;
    return FR_OK;
}
