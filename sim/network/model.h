/* sim/network/model.h - what a network model is: a const struct of functions.
 *
 * The engine moves messages without knowing how. It finds a message's route, waits for its channels
 * and hands the message to the model. The model says when the engine should call it again, and
 * which messages have arrived. A new model is one file with such a struct and one row in models.c.
 *
 * The life of a message in a model:
 *   1. start() is called when the message leaves. It answers with a fate, but not FR__ARRIVED.
 *   2. After FR__WAKE_AT the engine calls wake() at that time, which answers with a fate again.
 *   3. After FR__ARRIVED the message is over.
 *   4. After FR__UNDER_WAY the model keeps the message and hands it back by advance().
 *
 * A model that only needs 1 to 3 has no clock of its own (next and advance are NULL): the engine's
 * event queue does all the work, in the engine's order of events. A model with its own events
 * (shared rates, packets) tells by next() when the next one is due. The engine then calls advance()
 * at that time until it returns false. Simulated time never goes back.
 */
#ifndef FR_SIM_NETWORK_MODEL_H
#define FR_SIM_NETWORK_MODEL_H

#include "sim/network/alone.h"
#include "sim/network/routes.h"

/* What a flow takes of links at a rate of 1 (sim/collectives/link_load.h). */
struct fr__link_load {
    uint32_t *links; /* [n] */
    double *weights; /* [n] multiples of 2^-36, > 0 */
    double *sums;    /* [n] bytes at unit_bytes; weights are these over those, rounded */
    double unit_bytes;
    uint32_t n;
    uint32_t narrowest; /* index of the first link that is full at the least rate */
    double full_Bps;    /* the rate at which the first link is full */
    double alone_Bps;   /* the same, of the placed group without those that it stands for */
};

/* Adds to link_bytes, [n_links], what so many bytes at weight 1 put on each link. */
static inline void fr__link_load_count(const struct fr__link_load *load, double bytes,
                                       double link_bytes[])
{
    for (uint32_t i = 0; i < load->n; i++)
        link_bytes[load->links[i]] += load->sums[i] * (bytes / load->unit_bytes);
}

/* A message at start() or wake(). Messages are numbered densely from 0. A number is used again
 * after its message has arrived. */
struct fr__departure {
    const struct fr__route *route; /* with at least one link; see fr__route_links */
    double bytes;
    double latency_s; /* passes first; includes the extra time of a fitted message */
    double stretch;   /* >= 1: interference with other work on the two devices now */
    uint32_t message;
    /* A flow that stands for several messages. load: NULL: one over its route; else route may be
     * NULL. most_Bps: no rate is higher; 0: the links alone say. Then own: < FR__OWN_FLOWS a
     * device, of no other flow at this time. kind: of link, which bounds it then. */
    const struct fr__link_load *load;
    double most_Bps;
    uint32_t own;
    enum fr_link_kind kind;
};
enum { FR__OWN_FLOWS = 8 }; /* a device's streams */

enum fr__fate {
    FR__WAKE_AT,   /* *wake_s is set, later than now */
    FR__UNDER_WAY, /* the model will hand it back */
    FR__ARRIVED,
    FR__NO_MEMORY,
};

/* Rates of messages, for sensitivities: see sim/analysis/sensitivity.c. */
struct fr__rate {
    double rate_Bps;
    /* what the rate is made of: bandwidth of each kind of link; sums to rate_Bps */
    const double *bound_Bps; /* [FR_N_LINK_KINDS], valid until the next call */
};

struct fr__network_model {
    const char *name;       /* as users write it */
    const char *assumption; /* what it assumes, one sentence for people */
    /* A capability; others are functions that are NULL. */
    bool is_end_known; /* start() answers FR__WAKE_AT with the time at which the message arrives;
                          wake() is never called and may be NULL */

    /* What a message takes alone on its route. */
    fr__alone_fn *alone;

    /* Makes the model's state over a topology's routes, which outlive it. NULL: out of memory. A
     * model without state has neither (both NULL), and its other functions get NULL. */
    void *(*make)(const struct fr__routes *routes);
    void (*destroy)(void *state);
    /* Before each run: no message is under way; speeds of links are those of the routes now.
     * wants_rates: rate_changes() and rate() will be called. false: out of memory. May be NULL. */
    bool (*reset)(void *state, bool wants_rates);

    enum fr__fate (*start)(void *state, const struct fr__departure *d, double now_s,
                           double *wake_s);
    enum fr__fate (*wake)(void *state, const struct fr__departure *d, double now_s, double *wake_s);

    /* When the model's next event is due, INFINITY for never; called when everything of this
     * instant has been started. It stays the same until start(), wake() or advance() is called, so
     * the engine need not ask at each instant. NULL: no clock of its own. */
    double (*next)(void *state, double now_s);
    /* Brings the model to now_s. true: one more message has arrived, *message. false: no more until
     * next() is due again. NULL if next is. */
    bool (*advance)(void *state, double now_s, uint32_t *message);

    /* Takes back a message that is under way; *left_bytes of it have not gone. false: it is not,
     * its latency is passing. NULL: the model cannot. Cost: O(messages under way). */
    bool (*withdraw)(void *state, uint32_t message, double now_s, double *left_bytes);

    /* The messages whose rates changed since the last call (some of them twice): *n of them, valid
     * until the next call of any function but rate(). Called after each next() and advance().
     * NULL: the model has no rates; a message's time is then shared out as if it were alone. */
    const uint32_t *(*rate_changes)(void *state, uint32_t *n);
    /* The rate now of a message that is under way. */
    struct fr__rate (*rate)(void *state, uint32_t message);

    /* Adds what the model counted since reset(). May be NULL. */
    void (*add_stats)(const void *state, struct fr_run_stats *stats);
};

/* models.c: the table, by enum fr_network. NULL past the end. */
const struct fr__network_model *fr__network_model(enum fr_network n);

extern const struct fr__network_model fr__analytic, fr__flow;

#endif
