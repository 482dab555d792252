/* strategies/fastt/dpos_path.c - binds the critical path to devices, in rounds. */
#include "config.h"

#include "strategies/fastt/dpos_state.h"

#include <string.h>

void fr__dpos_bind(struct fr__dpos *p, uint32_t op, uint32_t device)
{
    uint32_t g = p->dag->ops[op].group;

    p->device[op] = device;
    if (g == FR_NONE)
        p->used_bytes[device] += fr__dpos_op_bytes(&p->dag->ops[op]);
    else if (p->group_device[g] == FR_NONE) {
        p->group_device[g] = device;
        p->used_bytes[device] += p->group_bytes[g];
    }
}

/* How much of path[from..n) fits on a device, and its mean cost there. Groups that are bound
 * already add neither bytes nor cost. */
static struct fr__dpos_prefix try_device(struct fr__dpos *p, size_t from, size_t n, uint32_t d)
{
    const struct fr__dag *dag = p->dag;
    uint64_t left = fr__dpos_left(p, d);
    struct fr__dpos_prefix f = {from, from, 0};
    size_t n_new = 0;

    for (; f.end < n; f.end++) {
        uint32_t op = p->path[f.end], g = dag->ops[op].group;
        uint64_t needs = fr__dpos_needs(p, op);

        if (g != FR_NONE && p->group_device[g] != FR_NONE && p->group_device[g] != d)
            continue;
        if (g == FR_NONE || p->group_device[g] == FR_NONE) {
            if (needs > left)
                break;
            left -= needs;
            if (g != FR_NONE)
                p->group_device[g] = d;
        }
        f.mean_s += dag->cost_s[dag->ops[op].cost * dag->n_types + p->m.type[d]];
        n_new++;
    }
    for (size_t k = from; k < f.end; k++) { /* nothing was bound to d before */
        uint32_t g = dag->ops[p->path[k]].group;

        if (g != FR_NONE && p->group_device[g] == d)
            p->group_device[g] = FR_NONE;
    }
    if (n_new)
        f.mean_s /= (double)n_new;
    return f;
}

/* Binds operations whose group is on a device already, so that the rest begins with a free one. */
static size_t skip_bound(struct fr__dpos *p, size_t from, size_t n)
{
    while (from < n && fr__dpos_is_bound(p, p->path[from])) {
        uint32_t op = p->path[from++];

        p->device[op] = p->group_device[p->dag->ops[op].group];
    }
    return from;
}

/* Opens the next round of the record. */
static struct fr__dpos_prefix *next_round(const struct fr__dpos *p, struct fr__dpos_record *record)
{
    struct fr__dpos_prefix *row;

    if (!record)
        return NULL;
    row = record->prefixes + record->n_rounds++ * p->m.n_devices;
    memset(row, 0, p->m.n_devices * sizeof(*row));
    return row;
}

void fr__dpos_bind_path(struct fr__dpos *p, size_t n_path, struct fr__dpos_record *record)
{
    size_t from = 0, round = 0;

    memset(p->is_used, 0, p->m.n_devices * sizeof(*p->is_used));
    while ((from = skip_bound(p, from, n_path)) < n_path) {
        struct fr__dpos_prefix chosen = {0, 0, 0}, *row = NULL;
        uint32_t best = FR_NONE;

        if (round < p->m.n_devices)
            row = next_round(p, record);

        for (uint32_t d = 0; d < p->m.n_devices; d++) {
            struct fr__dpos_prefix f;

            if (p->is_used[d])
                continue;
            f = try_device(p, from, n_path, d);
            if (row)
                row[d] = f;
            if (f.end == from)
                continue;
            if (best == FR_NONE || f.mean_s < chosen.mean_s ||
                (!(f.mean_s > chosen.mean_s) && f.end > chosen.end)) {
                best = d;
                chosen = f;
            }
        }
        if (best == FR_NONE) {
            if (row)
                record->n_rounds--;
            return;
        }
        p->is_used[best] = true;
        if (row)
            record->round_device[round] = best;
        round++;
        for (; from < chosen.end; from++) {
            uint32_t op = p->path[from];
            bool is_bound = fr__dpos_is_bound(p, op);

            fr__dpos_bind(p, op, is_bound ? p->group_device[p->dag->ops[op].group] : best);
        }
    }
}
