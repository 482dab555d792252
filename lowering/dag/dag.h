/* lowering/dag/dag.h - a training step as planners see it: operations, what each takes on each
 * type of device, what moves between them, and the memory that they hold.
 *
 * It differs from the workload's graph in this: parameters are operations of their own (variables),
 * and the edge from a variable carries them to its readers. So an op may be split, or run on
 * another device than its parameters. A planner may add operations: slices, joins and sums. Such an
 * operation runs on a device, takes the time that its bytes take in that device's memory, and its
 * edges carry the results.
 *
 * Time: an operation takes max(mean_s, launch_s) of its cost, so that a planner need not simulate
 * the host that launches it.
 *
 * Sources: X. Yi et al., "Fast Training of Deep Learning Models over Multiple GPUs" (FastT),
 *          Middleware 2020, sections 3 and 4. OS-DPOS there starts from the model's graph or the
 *          data-parallel graph.
 */
#ifndef FR_LOWERING_DAG_DAG_H
#define FR_LOWERING_DAG_DAG_H

#include "lowering/placer.h"

enum fr__dag_role {
    FR__DAG_OP,       /* of the graph, or a replica or part of one */
    FR__DAG_VARIABLE, /* holds parameters; takes no time */
    FR__DAG_SUM,      /* adds what several replicas or parts made (gradients) */
    FR__DAG_SPLIT,    /* slices a tensor for the parts of an operation */
    FR__DAG_CONCAT,   /* joins the outputs of parts */
    FR__N_DAG_ROLES
};

enum fr__dag_dim { FR__DAG_WHOLE, FR__DAG_BATCH, FR__DAG_CHANNEL };

/* What an edge carries. It decides what happens to the edge when its reader is split along the
 * batch or along the channels. */
enum fr__dag_cargo {
    /* Batch: sliced. Channels: whole, or sliced if the op handles each channel by itself. */
    FR__DAG_ACTIVATION,
    /* An activation that is the same for all samples, or its gradient. Batch: whole, and gradients
     * of the parts are added. Channels: as FR__DAG_ACTIVATION. */
    FR__DAG_SHARED,
    FR__DAG_WEIGHT,   /* batch: whole. Channels: sliced */
    FR__DAG_GRADIENT, /* of parameters. Batch: those of the parts are added. Channels: joined */
    FR__DAG_ORDER     /* nothing moves: the reader only waits */
};

struct fr__dag_op {
    uint64_t resident_bytes; /* held during the whole step: parameters, optimizer state */
    uint64_t output_bytes;   /* of its outputs: what the backward pass reads again, and gradients of
                                parameters; storage that is shared counts once */
    uint32_t op;             /* the op of the graph that it is, is part of or works for; FR_NONE */
    uint32_t cost;           /* seconds on a device of type t: cost_s[cost * n_types + t] */
    uint32_t group;          /* operations of a group are on one device; FR_NONE: alone */
    uint32_t replica;        /* of the data-parallel graph; FR_NONE: not one */
    uint16_t part, n_parts;  /* n_parts 1: not split */
    uint8_t dim;             /* enum fr__dag_dim it was split along */
    uint8_t role, kind, phase;
    uint8_t split_mask;      /* bit FR__DAG_BATCH, FR__DAG_CHANNEL: how it may be split */
    bool has_channels_apart; /* lowering/dag/dims.h */
};

/* Edges of one source with equal tensor and bytes are one message to each device that reads it. */
struct fr__dag_edge {
    uint64_t bytes;
    uint32_t src, dst, tensor;
    uint8_t cargo;
    bool stays;     /* a reader on another device holds its copy as long as output_bytes are held */
    uint16_t piece; /* of a partitioned variable; pieces are messages of their own */
};

/* Whether edges of one source are one message to a device that reads both. */
static inline bool fr__dag_is_same_message(const struct fr__dag_edge *a,
                                           const struct fr__dag_edge *b)
{
    return a->tensor == b->tensor && a->bytes == b->bytes && a->cargo == b->cargo &&
           a->piece == b->piece;
}

/* How a dag is made. All 0 but n_replicas: as the paper describes it. */
struct fr__dag_how {
    size_t n_replicas; /* 1: the model */
    /* A variable that replicas share is cut into up to so many equal pieces, each with a sum, an
     * update and a device of its own (TensorFlow calls them partitioned variables). 0, 1: whole. */
    size_t n_pieces;
    uint64_t least_piece_bytes; /* smaller pieces are not made */
    /* [n_replicas] the machine that each replica is meant for, from 0: gradients of replicas on one
     * machine are added there first, so that the network carries one sum a machine. NULL: all are
     * added at once */
    const uint32_t *machine_of;
    size_t n_machines;
    bool keeps_together; /* the operations of a replica are a group: on one device */
    /* The host launches operations ahead of the device, as it does for every other strategy. An
     * operation costs what it adds to the step on one device. Otherwise it takes at least its
     * launch, and no time of the host. */
    bool launches_ahead;
    /* Messages from one device to another are sent in the order of the plan, two at a time.
     * Otherwise each is sent as soon as it is made, and all share the links. */
    bool lines_up;
};

/* Operations are in a topological order. */
struct fr__dag {
    const struct fr__placer *pl; /* of the problem; NULL in dags made by hand */
    size_t n_ops, n_edges, n_costs, n_types, n_groups;
    struct fr__dag_op *ops;
    struct fr__dag_edge *edges;    /* sorted by (src, dst, tensor) */
    uint32_t *out_first;           /* [n_ops + 1] edges of src */
    uint32_t *in_first, *in_edges; /* [n_ops + 1], [n_edges] */
    double *cost_s;                /* [n_costs][n_types] of the topology's device types */
    double replica_batch;          /* samples that each replica works on */
    size_t n_replicas;             /* 1: the model graph */
    uint64_t
        transient_bytes;     /* largest need of one operation while it runs, besides what is held */
    struct fr__arena *arena; /* owns the arrays of this dag */
    bool launches_ahead, lines_up; /* struct fr__dag_how */
    /* [n_devices][n_devices] of the problem: the device by which messages go; NULL: all straight */
    const uint32_t *via;
    /* [n_least][n_types] no more than the first rows of cost_s: what operations take even where
     * nothing waits for launches; NULL: n_least 0 */
    size_t n_least;
    double *least_s;
    void *user; /* for the functions that price splits; copied when the dag is split */
};

/* The step on one replica (n_replicas 1), or on several of batch / n_replicas samples each with one
 * set of variables, sums of gradients and updates. FR_ENOMEM; FR_EUSAGE: fewer samples than
 * replicas. Cost: O((ops + edges) n_replicas). */
enum fr_status fr__dag_make(struct fr__dag **out, struct fr__placer *pl, size_t n_replicas,
                            struct fr_error *err);
enum fr_status fr__dag_make_as(struct fr__dag **out, struct fr__placer *pl,
                               const struct fr__dag_how *how, struct fr_error *err);
void fr__dag_free(struct fr__dag *dag);

/* A name that no other operation of the dag has: "conv1_1", "conv1_1.dgrad of replica 2", "conv1_1,
 * part 1 of 2", "split for conv1_1", "split for conv1_1 (2)". Returns buf. */
const char *fr__dag_name(const struct fr__dag *dag, uint32_t op, char *buf, size_t n);
/* The same without a copy for an op of the graph that is whole and no replica; else NULL. */
const char *fr__dag_own_name(const struct fr__dag *dag, uint32_t op);

/* ---- dag_price.c ---- */

/* Whether an op of the graph is a sum of parameter gradients or an update: it runs once, after the
 * bodies of all replicas. */
bool fr__dag_is_tail(const struct fr__dag *dag, uint32_t op);

/* Fills the rows of the graph's ops in cost_s, row 1 + op; row 0 costs nothing. Sums that are added
 * later get rows behind them. */
void fr__dag_price_ops(struct fr__dag *dag);

/* Sorts the edges, equal ones as they are, and fills out_first, in_first and in_edges.
 * O(edges log of those of one op). FR_ECANCELLED, FR_ENOMEM. */
enum fr_status fr__dag_index(struct fr__dag *dag, const struct fr_context *ctx,
                             struct fr_error *err);
/* Seconds on each type [n_types] of the update or sum op of the graph for one of n pieces. */
void fr__dag_piece_cost(const struct fr__dag *dag, uint32_t op, unsigned n, double out_s[]);

/* What an operation costs on a device type, launch included: mean_s is the dag's cost_s, launch_s
 * 0. A slicing, joining or adding reads and writes what its edges carry. */
void fr__dag_cost(const struct fr__dag *dag, uint32_t op, uint32_t type, struct fr_cost *out);

/* What a slicing, joining or adding reads and writes. */
double fr__dag_helper_bytes(const struct fr__dag *dag, uint32_t op);

/* Seconds on each type [n_types] of one of n parts of an operation cut along dim: the cost model's
 * at the part's shape, not the whole divided by n. */
void fr__dag_part_cost(const struct fr__dag *dag, uint32_t op, enum fr__dag_dim dim, unsigned n,
                       double out_s[]);
/* The same for the slicing, joining or adding of so many bytes (read and written). */
void fr__dag_bytes_cost(const struct fr__dag *dag, double bytes, double out_s[]);

/* What moves between the problem's devices cost, with nothing else on the way, as the analytic
 * network has it (that of messages that were measured too, fr__alone_line of
 * sim/network/alone.h): latency_s + bytes * s_per_byte, [n_devices][n_devices], by source and
 * destination; zero on the diagonal. Arrays of the placer's arena. Errors as fr_router_path. */
struct fr__dag_links {
    double *latency_s, *s_per_byte;
};
enum fr_status fr__dag_links_make(struct fr__dag_links *out, struct fr__placer *pl,
                                  struct fr_error *err);
/* Lets messages of a pair go by a third device where that is less shared. If all pairs send at the
 * same time, a link that k of them use gives each a k-th; the pair takes the two ways whose sum is
 * below its straight one, as NCCL goes by NVLink where the straight way is a PCIe switch. *via:
 * [n_devices][n_devices] of the placer's arena, FR_NONE: straight. *l becomes what messages then
 * take, which are received before they are sent on: alone, or where shares is true if all pairs
 * send at the same time. Errors as fr_router_path. */
enum fr_status fr__dag_links_relay(const uint32_t **via, struct fr__dag_links *l,
                                   struct fr__placer *pl, bool shares, struct fr_error *err);

/* The machine of each of the problem's devices, [n_devices] numbered from 0 in the order in which
 * they come. Memory of the placer's arena. FR_ENOMEM. */
enum fr_status fr__dag_machines(const uint32_t **machine_of, size_t *n_machines,
                                struct fr__placer *pl, struct fr_error *err);
/* Lets messages to another machine go by the device there that has the number of their source in
 * its own machine, so that what all devices there read crosses the network once. *via and *l as
 * above, each message alone. */
enum fr_status fr__dag_links_by_machine(const uint32_t **via, struct fr__dag_links *l,
                                        struct fr__placer *pl, struct fr_error *err);

/* The links of all pairs, for planners that let messages wait for each other. via: as above, or
 * NULL. *out and its arrays are the placer's arena's. Errors as fr_router_path. */
struct fr__link_map;
enum fr_status fr__dag_links_map(const struct fr__link_map **out, const uint32_t *via,
                                 struct fr__placer *pl, struct fr_error *err);

#endif
