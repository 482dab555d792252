/* strategies/fastt/dag.h - a training step as planners see it: operations, what each takes on each type of
 * device, what moves between them, what they hold.
 *
 * Apart from the workload's graph, parameters are operations of their own here (variables), so that an
 * op may be split, or run far from the parameters it reads: the edge from a variable carries them.
 * An operation added by a planner (a slice, a concatenation, a sum) stands on a device, takes the time
 * that its bytes take in that device's memory, and its edges carry what it hands on.
 *
 * Time: an operation takes at least what it costs to launch it, so that a planner need not follow the
 * host's thread; cost_s holds max(mean_s, launch_s).
 *
 * Sources: X. Yi et al., "Fast Training of Deep Learning Models over Multiple GPUs" (FastT), Middleware
 *          2020, sections 3 and 4; the model graph and the data-parallel graph are its OS-DPOS starts.
 */
#ifndef FR_STRATEGIES_DAG_H
#define FR_STRATEGIES_DAG_H

#include "strategies/lower/placer.h"

enum fr__dag_role {
    FR__DAG_OP,       /* of the graph, or a replica or part of one */
    FR__DAG_VARIABLE, /* holds parameters; takes no time */
    FR__DAG_SUM,      /* adds what several replicas or parts made (gradients) */
    FR__DAG_SPLIT,    /* slices a tensor for the parts of an operation */
    FR__DAG_CONCAT,   /* joins the outputs of parts */
    FR__N_DAG_ROLES
};

enum fr__dag_dim { FR__DAG_WHOLE, FR__DAG_BATCH, FR__DAG_CHANNEL };

/* What an edge carries, which says what becomes of it when its reader is split. */
enum fr__dag_cargo {
    FR__DAG_ACTIVATION, /* sliced along the batch; whole along the channels, or sliced where these
                           are worked on apart */
    FR__DAG_SHARED,   /* an activation that is the same for all samples, or its gradient: along the
                           batch whole, and parts are added; along the channels as another */
    FR__DAG_WEIGHT,   /* whole along the batch; sliced along the channels */
    FR__DAG_GRADIENT, /* of parameters: parts along the batch are added, along channels joined */
    FR__DAG_ORDER     /* nothing moves */
};

struct fr__dag_op {
    uint64_t resident_bytes; /* held during the whole step: parameters, what the optimizer keeps */
    uint64_t output_bytes;  /* held by its outputs for long: what the backward pass reads again, and
                                gradients of parameters; what shares its input's storage counts once */
    uint32_t op;            /* of the graph: itself, what it is a part of, or works for; FR_NONE */
    uint32_t cost;          /* seconds on a device of type t: cost_s[cost * n_types + t] */
    uint32_t group;         /* operations of a group stand on one device; FR_NONE: alone */
    uint32_t replica;       /* of the data-parallel graph; FR_NONE: not one */
    uint16_t part, n_parts; /* n_parts 1: not split */
    uint8_t dim;            /* enum fr__dag_dim it was split along */
    uint8_t role, kind, phase;
    uint8_t split_mask;      /* bit FR__DAG_BATCH, FR__DAG_CHANNEL: how it may be split */
    bool has_channels_apart; /* strategies/fastt/dag_dims.h */
};

/* Edges of one src with the same tensor number and bytes move once to a device. */
struct fr__dag_edge {
    uint64_t bytes;
    uint32_t src, dst, tensor;
    uint8_t cargo;
    bool stays; /* what a reader elsewhere received it holds for long, as output_bytes are held */
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
    uint64_t transient_bytes; /* most that one operation needs while it runs and nobody holds */
    struct fr__arena *arena;  /* owns the arrays of this dag */
    void *user; /* of whoever makes the split costs; goes along when the dag is split */
};

/* The step on one replica (n_replicas 1), or on several of batch / n_replicas samples each with one set
 * of variables, sums of gradients and updates. FR_ENOMEM; FR_EUSAGE: fewer samples than replicas.
 * Cost: O((ops + edges) n_replicas). */
enum fr_status fr__dag_make(struct fr__dag **out, struct fr__placer *pl, size_t n_replicas,
                            struct fr_error *err);
void fr__dag_free(struct fr__dag *dag);

/* "conv1_1", "conv1_1.dgrad of replica 2", "conv1_1, part 1 of 2", "split for conv1_1", "split for
 * conv1_1 (2)", no two alike; returns buf. */
const char *fr__dag_name(const struct fr__dag *dag, uint32_t op, char *buf, size_t n);

/* What an operation costs on a device type, launch included: mean_s is the dag's cost_s, launch_s 0. A
 * slicing, joining or adding reads and writes what its edges carry. */
void fr__dag_cost(const struct fr__dag *dag, uint32_t op, uint32_t type, struct fr_cost *out);

/* What a slicing, joining or adding reads and writes. */
double fr__dag_helper_bytes(const struct fr__dag *dag, uint32_t op);

/* Seconds on each type [n_types] of one of n parts of an operation cut along dim: the cost model's at
 * the part's shape, not the whole divided by n. */
void fr__dag_part_cost(const struct fr__dag *dag, uint32_t op, enum fr__dag_dim dim, unsigned n,
                       double out_s[]);
/* The same for the slicing, joining or adding of so many bytes (read and written). */
void fr__dag_bytes_cost(const struct fr__dag *dag, double bytes, double out_s[]);

/* What moves between the problem's devices cost, with nothing else on the way, as the analytic network has it
 * (that of messages that were measured too, fr__alone_line of sim/network/alone.h): latency_s + bytes *
 * s_per_byte, [n_devices][n_devices], by source and destination; zero on the diagonal. Arrays of the
 * placer's arena. Errors as fr_router_path. */
struct fr__dag_links {
    double *latency_s, *s_per_byte;
};
enum fr_status fr__dag_links_make(struct fr__dag_links *out, struct fr__placer *pl,
                                  struct fr_error *err);

#endif
