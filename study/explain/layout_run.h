/* study/explain/layout_run.h - a plan whose ops are split over a mesh, joined with its run: the
 * kinds of layers, each message of a layer, sums over a micro-batch and a step.
 *
 * One rank of each stage is looked at: the one whose other coordinates are 0. All ranks of a stage
 * do the same.
 *
 *     time     from the start of a message to its end on that rank, waits for others included
 *     exposed  the part of it in which the rank computes nothing; two messages at once count both
 *     wire     bytes that a rank sends: (n-1)/n of the collective's, of an all-reduce twice that
 */
#ifndef FR_STUDY_EXPLAIN_LAYOUT_RUN_H
#define FR_STUDY_EXPLAIN_LAYOUT_RUN_H

#include "study/explain/kept.h"
#include "study/explain/step_products.h"

enum { FR__LAYOUT_AXIS = 24 };

/* Units that are equal, or (the last kind) all ops of no unit. */
struct fr__layout_kind {
    uint32_t first, n_units; /* unit; n_units 0: no units */
    size_t first_op, n_ops;  /* into ops of struct fr__layout_run */
    size_t first_message, n_messages;
};

/* A message that a layer sends in a micro-batch; means over all of its kind. */
struct fr__layout_message {
    uint32_t op; /* of the plan's graph, in the kind's first unit */
    enum fr_collective_kind kind;
    uint32_t n_ranks;
    char axis[FR__LAYOUT_AXIS]; /* "tp", "dp-cp" */
    double bytes, wire_bytes, time_s, exposed_s;
    size_t n; /* that were seen */
};

/* All messages of a rank along an axis that do the same. */
struct fr__layout_sum {
    uint32_t stage_rank; /* coordinate along the axis of stages */
    const char *what;    /* "all-reduce"; "send" */
    char axis[FR__LAYOUT_AXIS];
    uint32_t n_ranks;
    size_t a_layer, a_micro_batch, a_step;       /* a_layer: of the most frequent kind */
    double bytes, wire_bytes, time_s, exposed_s; /* a step */
};

/* What joins neighbours along an axis. */
struct fr__layout_link {
    size_t n_hops, n_inside;                /* between neighbours; of these inside a machine */
    const struct fr_link *inside, *outside; /* the narrowest of such a way; NULL: there is none */
    bool is_network;                        /* ways outside a machine cross the network */
};

struct fr__layout_run {
    const struct fr_layout *layout;
    const struct fr_graph *graph; /* one rank's */
    uint32_t n_stage_ranks;
    size_t n_kinds, n_messages, n_sums;
    struct fr__layout_kind *kinds;
    const uint32_t *ops; /* indices of the layout's ops, by kind */
    struct fr__layout_message *messages;
    struct fr__layout_sum *sums;   /* by stage rank */
    struct fr__layout_link *links; /* [layout->n_axes] */
    const struct fr_topo *topo;    /* of the links */
    size_t n_step_rows;
    struct fr__step_row *step_rows; /* products of the optimizer's step */
    struct fr__arena *arena;
};

/* FR_ENOMEM, FR_ENOENT: no route. O(tasks log tasks + ranks). */
enum fr_status fr__layout_run_make(struct fr__layout_run *out, const struct fr_explanation *e,
                                   struct fr_error *err);
void fr__layout_run_fini(struct fr__layout_run *r);

/* The rank whose coordinates are 0 but for the stage's. */
uint32_t fr__layout_rank(const struct fr_layout *l, uint32_t stage_rank);
/* Where a rank stands along an axis. */
uint32_t fr__layout_coord(const struct fr_layout_axis *a, uint32_t rank);

/* "tp: columns", "whole", "-" without weights; "dp: S(0), tp: P"; "[2, 1024, 768]" at the
 * micro-batch. All return buf. */
const char *fr__layout_weights(const struct fr__layout_run *r, const struct fr_layout_op *op,
                               char *buf, size_t n);
const char *fr__layout_output(const struct fr__layout_run *r, const struct fr_layout_op *op,
                              char *buf, size_t n);
const char *fr__layout_shape(const struct fr__layout_run *r, const struct fr_layout_op *op,
                             char *buf, size_t n);
/* "layer0 and 11 more alike"; "outside the layers". */
const char *fr__layout_kind_name(const struct fr__layout_run *r, const struct fr__layout_kind *k,
                                 char *buf, size_t n);
/* An op's name without that of its unit. */
const char *fr__layout_op_name(const struct fr__layout_run *r, const struct fr__layout_kind *k,
                               uint32_t op);
/* "NVLink, 450 GB/s"; is_network: of a way over the network, "network, 48 GB/s (PCIe)". */
const char *fr__layout_link_name(const struct fr_link *link, bool is_network, char *buf, size_t n);
#endif
