/* sim/streams.h - what the loop asks of the streams, and how both fetch memory ahead.
 *
 * A run of many devices waits for memory, because tasks end in an order that no cache can guess.
 * But the engine knows what it will read some steps before, and fetches it then:
 *   - when a task starts, its successors, which are read when it ends;
 *   - when its end is the next event, what its successors need to get ready;
 *   - when a task gets ready, what it needs to be dispatched.
 */
#ifndef FR_SIM_STREAMS_H
#define FR_SIM_STREAMS_H

#include "sim/engine.h"

enum { MOST_FETCHED = 8 };

static inline void fr__fetch(const void *p)
{
#ifdef __GNUC__
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

/* Of long lists only the first are asked for: the rest would come too soon. */
static inline uint32_t fr__n_fetched(const struct state *k)
{
    return k->n_succ < MOST_FETCHED ? k->n_succ : MOST_FETCHED;
}

static inline bool fr__is_of_free(uint32_t stream)
{
    return stream % STREAMS_A_DEVICE == STREAM_OF_FREE;
}

static inline uint32_t fr__task_of(struct waiting w)
{
    return (uint32_t)w.key;
}

/* All of a task's predecessors are done; `cause` ended last, FR_NONE: there was none. */
void fr__task_ready(struct engine *e, uint32_t task, uint32_t cause);
/* Takes the first of the tasks that wait for a stream, of which there is one. */
struct waiting fr__stream_pop(struct engine *e, struct stream *s);

#endif
