/* strategies/fastt/dpos_kept.c - follows a kept plan as long as decisions are the same. */
#include "config.h"

#include "strategies/fastt/dpos_state.h"

enum { MOST_DEVICES = 64 }; /* bits of rooms */

void fr__dpos_kept_begin(struct fr__dpos *p, const struct fr__dpos_options *o)
{
    struct fr__dpos_kept *k = &p->kept;

    k->is_made = o->keeps && p->m.n_devices <= MOST_DEVICES;
    k->is_followed = o->since && k->n > 0 && p->spare_eighths == 0;
    k->n_made = 0;
    if (k->is_followed) {
        k->change = *o->since;
        fr__slots_undo(p->slots, k->n_true);
        return;
    }
    fr__slots_reset(p->slots);
    k->n_true = 0;
}

static uint32_t moved(const struct fr__dpos_change *c, uint32_t op)
{
    if (c->at == FR_NONE || op < c->at)
        return op;
    return op == c->at ? FR_NONE : op + c->n_new - 1;
}

bool fr__dpos_kept_follow(struct fr__dpos *p, struct fr__dpos_decision *d)
{
    struct fr__dpos_kept *k = &p->kept;
    uint32_t op = d->op;

    if (!k->is_followed)
        return false;
    if (k->n_made >= k->n || moved(&k->change, k->decisions[k->n_made].op) != op) {
        fr__dpos_kept_leave(p);
        return false;
    }
    *d = k->decisions[k->n_made];
    d->op = op;
    return true;
}

void fr__dpos_kept_leave(struct fr__dpos *p)
{
    struct fr__dpos_kept *k = &p->kept;

    if (!k->is_followed)
        return;
    k->is_followed = false;
    fr__slots_undo(p->slots, k->n_made);
    k->n_true = k->n_made;
}

void fr__dpos_kept_note(struct fr__dpos *p, const struct fr__dpos_decision *d)
{
    struct fr__dpos_kept *k = &p->kept;

    if (k->is_made)
        k->decisions[k->n_made] = *d;
    if (k->n_made++ == fr__slots_n_adds(p->slots))
        fr__slots_add(p->slots, d->device, d->start_s, d->end_s);
    if (k->is_followed && k->n_made > k->n_true)
        k->n_true = k->n_made;
}

void fr__dpos_kept_end(struct fr__dpos *p, bool is_done)
{
    struct fr__dpos_kept *k = &p->kept;

    if (k->is_made)
        k->n = k->n_true = is_done && p->spare_eighths == 0 ? k->n_made : 0;
}
