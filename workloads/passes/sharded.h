/* workloads/passes/sharded.h - what passes share that make a struct fr__sharded: the list of
 * messages, and what is told of the new ops. */
#ifndef FR_WORKLOADS_PASSES_SHARDED_H
#define FR_WORKLOADS_PASSES_SHARDED_H

#include "workloads/graph/rewriter.h"
#include "workloads/passes/shard.h"

/* Messages of the new graph, in the order in which they come. */
struct fr__messages {
    struct fr__comm *comms; /* heap: free() */
    size_t n, cap;
};
/* Notes one; out of memory is remembered in the rewriter. */
void fr__messages_add(struct fr__messages *m, struct fr__rewriter *w, struct fr__comm comm);

/* given: what is told of the ops of the given graph. NULL, or arrays in it that are NULL: nothing;
 * its graph and comms are not looked at. */
struct fr__sharded_end {
    const struct fr__sharded *given;
    size_t n_axes;                       /* of its split */
    bool divides_ops;                    /* several new ops that come from one share its split */
    const struct fr__messages *messages; /* all of the new graph's */
};
/* Finishes the graph, and tells of each op that stands for a given one what was told of that. The
 * caller frees it with fr__sharded_free(). FR_ENOMEM and what fr__rewriter_finish() says: *out
 * untouched. */
enum fr_status fr__sharded_finish(struct fr__sharded *out, struct fr__rewriter *w,
                                  const struct fr__sharded_end *end, struct fr_error *err);
#endif
