/* sim/network/channels.c - queues of messages that wait for a channel of their source or
 * destination. */
#include "config.h"

#include "sim/network/channels.h"

#include "base/arena.h"

#include <stdlib.h>

bool fr__channels_reset(struct fr__channels *c, size_t n_devices, unsigned limit)
{
    c->limit = limit;
    if (limit == 0)
        return true;
    if (!c->ends)
        c->ends = malloc((n_devices + 1) * sizeof(*c->ends));
    if (!c->ends)
        return false;
    for (size_t d = 0; d < n_devices; d++)
        c->ends[d] = (struct fr__channel_ends){.waiting_out = FR_NONE,
                                               .waiting_out_last = FR_NONE,
                                               .waiting_in = FR_NONE,
                                               .waiting_in_last = FR_NONE};
    return true;
}

void fr__channels_fini(struct fr__channels *c)
{
    free(c->ends);
    free(c->waits);
    *c = (struct fr__channels){.limit = 0};
}

/* ---- the queues ---- */

bool fr__channels_wait(struct fr__channels *c, uint32_t message, uint32_t src, uint32_t dst)
{
    struct fr__channel_ends *out = &c->ends[src], *in = &c->ends[dst];

    if (message >= c->cap_waits &&
        !fr__grow(&c->waits, &c->cap_waits, (size_t)message + 1, sizeof(*c->waits)))
        return false;
    c->waits[message] = (struct fr__channel_wait){.next_out = FR_NONE,
                                                  .prev_out = out->waiting_out_last,
                                                  .next_in = FR_NONE,
                                                  .prev_in = in->waiting_in_last,
                                                  .src = src,
                                                  .dst = dst};
    if (out->waiting_out_last == FR_NONE)
        out->waiting_out = message;
    else
        c->waits[out->waiting_out_last].next_out = message;
    if (in->waiting_in_last == FR_NONE)
        in->waiting_in = message;
    else
        c->waits[in->waiting_in_last].next_in = message;
    out->waiting_out_last = in->waiting_in_last = message;
    return true;
}

static void stop_waiting(struct fr__channels *c, uint32_t message)
{
    const struct fr__channel_wait *w = &c->waits[message];
    struct fr__channel_ends *out = &c->ends[w->src], *in = &c->ends[w->dst];

    *(w->prev_out == FR_NONE ? &out->waiting_out : &c->waits[w->prev_out].next_out) = w->next_out;
    *(w->next_out == FR_NONE ? &out->waiting_out_last : &c->waits[w->next_out].prev_out) =
        w->prev_out;
    *(w->prev_in == FR_NONE ? &in->waiting_in : &c->waits[w->prev_in].next_in) = w->next_in;
    *(w->next_in == FR_NONE ? &in->waiting_in_last : &c->waits[w->next_in].prev_in) = w->prev_in;
}

/* ---- who goes next ---- */

uint32_t fr__channels_search_out(struct fr__channels *c, uint32_t at)
{
    uint32_t id = c->ends[at].waiting_out;

    while (id != FR_NONE && !fr__channels_take(c, at, c->waits[id].dst))
        id = c->waits[id].next_out;
    if (id != FR_NONE)
        stop_waiting(c, id);
    return id;
}

uint32_t fr__channels_search_in(struct fr__channels *c, uint32_t at)
{
    uint32_t id = c->ends[at].waiting_in;

    while (id != FR_NONE && !fr__channels_take(c, c->waits[id].src, at))
        id = c->waits[id].next_in;
    if (id != FR_NONE)
        stop_waiting(c, id);
    return id;
}
