/* sim/network/channels.h - how many messages a device sends and receives at once.
 *
 * With a limit, a message needs a channel out of its source and one into its destination. If one of
 * them is missing, it waits in both devices' queues. When a message ends, the oldest one that waits
 * at its source and finds both ends free may go, then the oldest one at its destination.
 */
#ifndef FR_SIM_NETWORK_CHANNELS_H
#define FR_SIM_NETWORK_CHANNELS_H

#include "base/base.h"

/* The channels of one device. */
struct fr__channel_ends {
    uint32_t n_out, n_in;                   /* channels in use */
    uint32_t waiting_out, waiting_out_last; /* messages that wait, oldest first; FR_NONE */
    uint32_t waiting_in, waiting_in_last;
};

/* A message that waits: its neighbours in its two queues. */
struct fr__channel_wait {
    uint32_t next_out, prev_out, next_in, prev_in;
    uint32_t src, dst;
};

struct fr__channels {
    unsigned limit;                 /* channels in each direction of a device; 0: no limit */
    struct fr__channel_ends *ends;  /* [n_devices] if there is a limit */
    struct fr__channel_wait *waits; /* [cap_waits] by message */
    size_t cap_waits;
};

/* Prepares for a run; the first time on a struct of zeros. false: out of memory. */
bool fr__channels_reset(struct fr__channels *c, size_t n_devices, unsigned limit);
void fr__channels_fini(struct fr__channels *c);

/* true: the message has its two channels. false: there is none free, and it has to wait. */
static inline bool fr__channels_take(struct fr__channels *c, uint32_t src, uint32_t dst)
{
    bool is_free = c->ends[src].n_out < c->limit && c->ends[dst].n_in < c->limit;

    c->ends[src].n_out += is_free;
    c->ends[dst].n_in += is_free;
    return is_free;
}
/* The message waits for its two channels. false: out of memory. */
bool fr__channels_wait(struct fr__channels *c, uint32_t message, uint32_t src, uint32_t dst);
/* Gives a message's channels back. Afterwards call fr__channels_next_out of its source, and when
 * what that returned has left, fr__channels_next_in of its destination. */
static inline void fr__channels_give(struct fr__channels *c, uint32_t src, uint32_t dst)
{
    c->ends[src].n_out--;
    c->ends[dst].n_in--;
}
/* The oldest message that waits to leave device `at`, or to reach it, and may go now: it has its
 * channels then. FR_NONE: none. Cost: O(messages that wait there). */
uint32_t fr__channels_search_out(struct fr__channels *c, uint32_t at);
uint32_t fr__channels_search_in(struct fr__channels *c, uint32_t at);
static inline uint32_t fr__channels_next_out(struct fr__channels *c, uint32_t at)
{
    return c->ends[at].waiting_out == FR_NONE ? FR_NONE : fr__channels_search_out(c, at);
}
static inline uint32_t fr__channels_next_in(struct fr__channels *c, uint32_t at)
{
    return c->ends[at].waiting_in == FR_NONE ? FR_NONE : fr__channels_search_in(c, at);
}

#endif
