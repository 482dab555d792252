/* sim/network/message.h - a message, and what its owner has to do with it.
 *
 * The network moves messages for others: transfers, steps of collectives, whole collectives as one
 * flow. It knows none of them. Each kind of owner is a const struct of functions, which says how
 * its messages leave, what they put on links, and what happens when one has arrived. A new owner is
 * one such struct in the owner's file.
 */
#ifndef FR_SIM_NETWORK_MESSAGE_H
#define FR_SIM_NETWORK_MESSAGE_H

#include "sim/network/model.h"

struct fr__engine;
struct fr__message;

struct fr__message_owner {
    enum fr_work_class work; /* as which work of its devices slows it */
    bool is_fitted;          /* a measured fit may say what it takes alone (network/alone.h) */
    bool is_latency_behind;  /* the latency passes after it has arrived, by the owner's doing */
    /* It stands for messages on other links, which have this owner once it is split; NULL: for
     * none. Who starts such messages counts their bytes, and sets before_sharing of the network. */
    const struct fr__message_owner *split;
    /* Fills in the departure of a message without a route; NULL: its messages have routes. */
    void (*depart)(const struct fr__engine *e, const struct fr__message *m,
                   struct fr__departure *out);
    /* It has its channels and is about to leave. NULL: nothing is to be done. */
    void (*leave)(struct fr__engine *e, const struct fr__message *m);
    /* What it puts on links together with the messages that it stands for; NULL, or the result is:
     * its bytes on the links of its route. */
    const struct fr__link_load *(*load)(struct fr__engine *e, const struct fr__route *r);
    /* Of its bytes those that links count; NULL: all. */
    double (*counted_bytes)(const struct fr__engine *e, const struct fr__message *m);
    /* It has arrived, and its number may be another message's already. route: NULL without one. */
    void (*arrive)(struct fr__engine *e, const struct fr__message *m,
                   const struct fr__route *route);
};

/* A message that is under way or waits for its channels. */
struct fr__message {
    double bytes;
    const struct fr__message_owner *owner;
    uint32_t of;    /* what of the owner's it belongs to; of a free entry: the next free one */
    uint32_t hop;   /* which of those messages it is: of a ring, its position */
    uint32_t route; /* FR_NONE: the owner fills in its departure */
    uint32_t times; /* as many equal messages over its route as it stands for, itself included */
};

/* How one message becomes n, each as far as it is: those of positions hop, hop + step, ... */
struct fr__message_split {
    double woken_s;         /* when their latency passes */
    const uint32_t *routes; /* by position */
    uint32_t step, n;
};

/* A message leaves, or waits until it can. Returns its number; FR_NONE with the failure kept. */
uint32_t fr__message_start(struct fr__engine *e, const struct fr__message *m);
void fr__message_split(struct fr__engine *e, uint32_t message, const struct fr__message_split *how);
void fr__message_wake(struct fr__engine *e, uint32_t message);

#endif
