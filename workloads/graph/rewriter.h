/* workloads/graph/rewriter.h - makes a graph out of another one, op by op; what passes share.
 *
 * A pass walks over the ops of a given graph and says what becomes of each: it is kept as it is or
 * changed, it is dropped, another one or several stand for it, or it comes twice. Ops that the
 * given graph has not are added in between. Then come the edges and the samples. A plain copy is
 *
 *     for each op o of g:    fr__rewriter_keep(w, o);
 *     for each edge e of g:  fr__rewriter_keep_edge(w, e);
 *     fr__rewriter_keep_samples(w);
 *     fr__rewriter_finish(w, g, &out, err);
 *
 * The rewriter knows which new op and which new tensor stand for a given one (their counterparts),
 * and from which given op each new one comes. New ops and tensors have the numbers in which they
 * are added. Where ops are added in an order in which they can run, they keep them.
 *
 * What fails (no memory, more ops than a graph may have) is remembered: further calls do nothing,
 * fr__rewriter_has_failed() says so, and fr__rewriter_finish() returns it.
 */
#ifndef FR_WORKLOADS_GRAPH_REWRITER_H
#define FR_WORKLOADS_GRAPH_REWRITER_H

#include "base/arena.h"
#include "workloads/graph/builder.h"

/* New numbers of given ops and tensors; FR_NONE: nothing stands for it (yet). */
struct fr__counterparts {
    uint32_t *op;     /* [n_ops] */
    uint32_t *tensor; /* [n_tensors] */
};

struct fr__rewriter {
    const struct fr_graph *g; /* the given graph; it must stay */
    struct fr_graph_builder *b;
    struct fr__arena *scratch; /* for the pass too; goes with the rewriter */
    struct fr__counterparts now;
    uint32_t *from; /* [new ops] given op */
    size_t cap_from;
    const struct fr_graph *made; /* once it is finished */
};

/* FR_ENOMEM. fr__rewriter_fini() is right after a failure too, and on one that is all zero. */
enum fr_status fr__rewriter_init(struct fr__rewriter *w, const struct fr_graph *g,
                                 struct fr_error *err);
void fr__rewriter_fini(struct fr__rewriter *w);
void fr__rewriter_fail(struct fr__rewriter *w); /* the pass itself ran out of memory */
bool fr__rewriter_has_failed(const struct fr__rewriter *w);

/* Numbers that the next op and the next tensor get. */
static inline uint32_t fr__rewriter_n_ops(const struct fr__rewriter *w)
{
    return (uint32_t)w->b->n_ops;
}
static inline uint32_t fr__rewriter_n_tensors(const struct fr__rewriter *w)
{
    return (uint32_t)w->b->n_tensors;
}
/* A tensor that has been added; after a failure one without bytes. Valid until the next op. */
const struct fr_tensor *fr__rewriter_tensor(const struct fr__rewriter *w, uint32_t t);

/* Whether an edge ties weights. */
static inline bool fr__edge_is_tie(const struct fr_edge *e)
{
    return e->tensor == FR_NONE && e->bytes > 0;
}

/* Counterparts of another kind, for a pass that makes ops twice: FR_NONE each, in scratch. false:
 * out of memory, which is remembered. */
bool fr__rewriter_add_counterparts(struct fr__rewriter *w, struct fr__counterparts *out);

/* ---- ops ---- */

/* "BASE.SUFFIX" in scratch, with the number behind it unless that is FR_NONE. */
const char *fr__rewriter_name(struct fr__rewriter *w, const char *base, const char *suffix,
                              uint32_t number);
/* Given op o as it is, but for `forward`: that is the counterpart. Of a forward op it is filled in
 * when the op is added. */
struct fr_op fr__rewriter_op(const struct fr__rewriter *w, uint32_t o);
/* Given tensor t as it is, but its alias is the counterpart. */
struct fr_tensor fr__rewriter_output(const struct fr__rewriter *w, uint32_t t);
/* The same of all outputs of given op o, in scratch. NULL: out of memory, which is remembered. */
struct fr_tensor *fr__rewriter_outputs(struct fr__rewriter *w, uint32_t o);
/* Room for n tensors in scratch, zeroed; NULL: out of memory, which is remembered. */
struct fr_tensor *fr__rewriter_take(struct fr__rewriter *w, size_t n);

/* Adds an op that comes from given op `from`. op->layer: a layer of the given graph. Returns its
 * number; after a failure 0. */
uint32_t fr__rewriter_add(struct fr__rewriter *w, uint32_t from, const struct fr_op *op,
                          const struct fr_tensor outputs[], size_t n_outputs);
/* Adds `op` with an output for each of given op o's, and notes in `as` that they stand for o and
 * its tensors. */
uint32_t fr__rewriter_put(struct fr__rewriter *w, const struct fr__counterparts *as, uint32_t o,
                          const struct fr_op *op, const struct fr_tensor outputs[]);
/* Adds given op o as it is; its shape, its outputs and their storage stay. */
uint32_t fr__rewriter_keep(struct fr__rewriter *w, uint32_t o);

/* ---- edges and samples ---- */

/* Between new ops. tensor: a new one, or FR_NONE with bytes 0: order only. Nothing where an end is
 * FR_NONE: an op that was dropped. */
void fr__rewriter_edge(struct fr__rewriter *w, uint32_t src, uint32_t dst, uint32_t tensor,
                       uint64_t bytes);
/* dst waits for src. */
static inline void fr__rewriter_order(struct fr__rewriter *w, uint32_t src, uint32_t dst)
{
    fr__rewriter_edge(w, src, dst, FR_NONE, 0);
}
/* `user` uses the weights that `owner` owns. */
void fr__rewriter_tie(struct fr__rewriter *w, uint32_t owner, uint32_t user);
/* New op dst reads all of a new tensor. */
void fr__rewriter_read(struct fr__rewriter *w, uint32_t dst, uint32_t tensor);
/* New op dst has from the counterparts `of` what a given edge brings: part of a tensor, weights
 * that are tied, or only the order. */
void fr__rewriter_lead(struct fr__rewriter *w, const struct fr__counterparts *of,
                       const struct fr_edge *e, uint32_t dst);
/* A given edge between the counterparts of its ends. */
void fr__rewriter_keep_edge(struct fr__rewriter *w, const struct fr_edge *e);
/* A given sample is one of its op's counterpart, if there is one. */
void fr__rewriter_keep_sample(struct fr__rewriter *w, const struct fr__counterparts *of,
                              const struct fr_sample *s);
void fr__rewriter_keep_samples(struct fr__rewriter *w); /* all */

/* ---- the end ---- */

/* Makes the graph. info: as fr_graph_builder_finish() takes it. The caller frees it. */
enum fr_status fr__rewriter_finish(struct fr__rewriter *w, const struct fr_graph *info,
                                   struct fr_graph **out, struct fr_error *err);
/* [new ops] the given op that each op of the finished graph comes from, in an arena. They must have
 * been added in an order in which they can run. NULL: out of memory. */
uint32_t *fr__rewriter_from(const struct fr__rewriter *w, struct fr__arena *arena);
#endif
