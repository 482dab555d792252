/* plan/plan.h - the plan: what runs where, in which order, and what it holds meanwhile.
 *
 * A plan is tasks with dependencies on devices' streams, transfers, collectives, buffers and a cost
 * table. Every strategy ends in one; the engine (sim/sim.h) runs any plan and knows no strategy.
 */
#ifndef FORERUN_PLAN_H
#define FORERUN_PLAN_H

#include "base/base.h"
#include "calibrate/calibrate.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_task_kind {
    FR_TASK_COMPUTE,
    FR_TASK_SEND,
    FR_TASK_RECV,
    FR_TASK_COLLECTIVE, /* one rank's member of a collective */
    FR_TASK_MARKER,     /* takes no time and no stream */
    FR_N_TASK_KINDS
};

enum fr_stream {
    FR_STREAM_COMPUTE = 0,
    FR_STREAM_SEND = 1,
    FR_STREAM_RECV = 2,
    FR_STREAM_COMM = 3, /* collectives */
    FR_N_STREAMS = 8,   /* plans may number their own up to here */
    FR_STREAM_FREE = 255
};

struct fr_task {
    uint32_t device;
    uint32_t cost_id; /* row of the cost table; FR_NONE for all but compute */
    uint32_t op;      /* op of the plan's graph, or FR_NONE */
    /* One of three, by kind, or FR_NONE. Read it with fr_task_label(), fr_task_transfer() or
     * fr_task_collective(): they answer only for a task of the right kind. */
    union {
        uint32_t label;      /* compute: string of the plan that names it instead of its op */
        uint32_t transfer;   /* send, receive: set by fr_plan_add_transfer */
        uint32_t collective; /* member of a collective */
    };
    uint32_t rank;       /* in the collective's group */
    uint32_t microbatch; /* FR_NONE: not one */
    int32_t priority;    /* smaller goes first */
    uint8_t kind, phase, stream;
    uint8_t unused; /* 0: equal tasks are equal bytes */
};

/* A task without work, on no stream: it ends when all that it waits for has ended. */
struct fr_task fr_task_marker(uint32_t device, enum fr_phase phase);

/* The string that names a compute task instead of its op; FR_NONE: none, or another kind of
 * task. */
static inline uint32_t fr_task_label(const struct fr_task *t)
{
    return t->kind == FR_TASK_COMPUTE ? t->label : FR_NONE;
}
/* The transfer of a send or a receive; FR_NONE: not joined yet, or a task of another kind. */
static inline uint32_t fr_task_transfer(const struct fr_task *t)
{
    return t->kind == FR_TASK_SEND || t->kind == FR_TASK_RECV ? t->transfer : FR_NONE;
}
/* The collective that a member belongs to; FR_NONE for a task of another kind. */
static inline uint32_t fr_task_collective(const struct fr_task *t)
{
    return t->kind == FR_TASK_COLLECTIVE ? t->collective : FR_NONE;
}

struct fr_transfer {
    double bytes;
    uint32_t send, recv; /* tasks */
    uint32_t label;      /* string of the plan, or FR_NONE */
    uint32_t share; /* >= 1: in a folded plan so many transfers like it use its links at once */
};

enum fr_collective_kind {
    FR_ALL_REDUCE,
    FR_ALL_GATHER,     /* bytes: of the whole result */
    FR_REDUCE_SCATTER, /* bytes: of the whole input */
    FR_ALL_TO_ALL, /* bytes: that each rank has, an equal part for each rank (itself among them) */
    FR_BROADCAST,  /* bytes: from rank `root` to all */
    FR_REDUCE,     /* bytes: from all to rank `root` */
    FR_RING_STEP,  /* bytes: that each rank sends to the next one of a ring; strategies' own, no
                      collective that a person asks for */
    FR_N_COLLECTIVE_KINDS
};
const char *fr_collective_kind_name(enum fr_collective_kind kind);
/* FR_N_COLLECTIVE_KINDS: unknown. */
enum fr_collective_kind fr_collective_kind_parse(const char *name);

struct fr_collective {
    double bytes;
    uint32_t group;
    uint32_t label;
    enum fr_collective_kind kind;
    bool has_cost;    /* how long it takes is known as a whole, whatever the links: */
    uint32_t cost_id; /* row of the cost table; else its messages go over the links */
    uint32_t root;    /* rank, of a broadcast and a reduce */
    bool is_folded;   /* one member stands for all ranks: they do the same at the same time */
    bool is_formula;  /* alone it takes what its algorithm takes, by formula, its bytes times
                         `crowding` where that is above 1: other groups use the same links at the
                         same time. Where the network shares links, that comes about by itself, and
                         crowding counts for all-to-all alone (sim/collectives/known_time.c) */
    double crowding;
};

enum fr_buffer_kind {
    FR_BUFFER_PARAMETER,
    FR_BUFFER_GRADIENT,
    FR_BUFFER_OPTIMIZER,
    FR_BUFFER_WEIGHT_VERSION,
    FR_BUFFER_ACTIVATION,
    FR_BUFFER_WORKSPACE,
    FR_BUFFER_COMMUNICATION,
    FR_BUFFER_CONTEXT,
    FR_N_BUFFER_KINDS
};
const char *fr_buffer_kind_name(enum fr_buffer_kind kind);

/* Lives from the dispatch (or start) of alloc until all its freeing tasks are done. */
struct fr_buffer {
    uint64_t bytes;
    uint32_t device;
    uint32_t alloc; /* task; FR_NONE: persistent, there from the start to the end */
    uint32_t alias; /* buffer whose storage it shares and whose life it prolongs; FR_NONE */
    uint32_t op;    /* for messages: the op whose tensor it is, or FR_NONE */
    enum fr_buffer_kind kind;
};

struct fr_plan;

/* Makes an empty plan on a topology; graph (may be NULL) is the user's and names the ops. Both are
 * borrowed and must outlive the plan. NULL when out of memory. */
struct fr_plan *fr_plan_new(const struct fr_topo *topo, const struct fr_graph *graph);
void fr_plan_free(struct fr_plan *p);

/* ---- a graph of the plan's own ----
 *
 * A strategy that rewrites the user's graph (splits an op into parts, makes replicas, adds
 * collectives, fuses) gives the plan the graph that it made. Ops of tasks and buffers are then ops
 * of that graph; the map leads back to the user's.
 */

/* Op o of the rewritten graph stands for the user's ops user[first[o]] .. user[first[o + 1] - 1],
 * the one that it is named after first. Several o may stand for one user's op (parts, replicas),
 * one o for several (fused), or for none. */
struct fr_op_map {
    const uint32_t *first; /* [n_ops of the rewritten graph + 1] */
    const uint32_t *user;
};
/* Makes `graph` the plan's, before any task is added. The plan frees it, with the last of its
 * copies; the map is copied. On failure graph stays the caller's: FR_ENOMEM; FR_ERANGE: tasks are
 * there, the plan has no user's graph or a graph of its own, or the map leads nowhere. */
enum fr_status fr_plan_own_graph(struct fr_plan *p, struct fr_graph *graph,
                                 const struct fr_op_map *map, struct fr_error *err);
/* The graph of fr_plan_new. */
const struct fr_graph *fr_plan_user_graph(const struct fr_plan *p);
/* The user's op that an op of the plan's graph stands for, the first of several; itself where the
 * plan has no graph of its own. FR_NONE: none. */
uint32_t fr_plan_user_op(const struct fr_plan *p, uint32_t op);
/* Its name; NULL: none. */
const char *fr_plan_user_op_name(const struct fr_plan *p, uint32_t op);
/* All of them in a graph of the plan's own: *ops has as many as is returned; 0 leaves it
 * untouched. */
size_t fr_plan_user_ops(const struct fr_plan *p, uint32_t op, const uint32_t **ops);

/* The adding functions return the new index. Running out of memory or of numbers is kept and
 * reported by fr_plan_finish, so a builder need not check each call. */
uint32_t fr_plan_add_cost(struct fr_plan *p, const struct fr_cost *cost);
/* For a builder that goes on without something it could not make: FR_ENOMEM is kept as well, since
 * the plan would be another one. Other statuses are not. */
void fr_plan_keep_failure(struct fr_plan *p, enum fr_status st);
uint32_t fr_plan_add_string(struct fr_plan *p, const char *text); /* copied */
uint32_t fr_plan_add_task(struct fr_plan *p, const struct fr_task *task);
void fr_plan_add_dep(struct fr_plan *p, uint32_t before, uint32_t after);
/* Joins a send and a receive task already added; sets their transfer. */
uint32_t fr_plan_add_transfer(struct fr_plan *p, uint32_t send, uint32_t recv, double bytes,
                              uint32_t label);
/* Of a folded plan: so many transfers that do the same at the same time, this one among them, use
 * each of its links. */
void fr_plan_share_transfer(struct fr_plan *p, uint32_t transfer, uint32_t share);
/* Of a folded plan: the device stands for so many that do the same, itself the first among them.
 * devices: [count], copied, in an order that is the same for all such devices; NULL: which they are
 * is not told. */
void fr_plan_fold_device(struct fr_plan *p, uint32_t device, uint32_t count,
                         const uint32_t devices[]);
/* Likewise: the group stands for n_groups of its size, itself among them, whose collectives are its
 * own. devices: [n_groups][size], copied. */
void fr_plan_fold_group(struct fr_plan *p, uint32_t group, uint32_t n_groups,
                        const uint32_t devices[]);
/* How many ranks stand for how many, or why each is by itself: "folded: 16 ranks as 2". */
void fr_plan_say_folding(struct fr_plan *p, const char *text);
/* Bytes of one parameter's gradient, as it is kept over an iteration and as it travels between
 * ranks. 0: the plan trains nothing. */
void fr_plan_say_gradients(struct fr_plan *p, double kept_bytes, double sent_bytes);
/* So many ranks share out the parameters, and gather them each time that they are used. */
void fr_plan_say_shards(struct fr_plan *p, uint32_t param_shards);
/* Ranks first, first+stride, ...: device indices. */
uint32_t fr_plan_add_group(struct fr_plan *p, uint32_t first, uint32_t stride, uint32_t count);
/* Any devices, rank by rank. devices: [n], copied. */
uint32_t fr_plan_add_group_of(struct fr_plan *p, const uint32_t devices[], uint32_t n);
/* Its members are tasks with kind FR_TASK_COLLECTIVE, this index as collective and their rank. */
uint32_t fr_plan_add_collective(struct fr_plan *p, const struct fr_collective *c);
/* The same with its group, of these ranks, and one member a rank on FR_STREAM_COMM; c's own group
 * is not read. */
void fr_plan_add_collective_of(struct fr_plan *p, const uint32_t devices[], uint32_t n,
                               const struct fr_collective *c);
uint32_t fr_plan_add_buffer(struct fr_plan *p, const struct fr_buffer *b);
void fr_plan_add_free(struct fr_plan *p, uint32_t buffer, uint32_t task);
/* `task` done = one more iteration done (asynchronous strategies add one an iteration; a plan
 * without any is one iteration). Call in iteration order. */
void fr_plan_end_iteration(struct fr_plan *p, uint32_t task);

/* Completes the plan: indexes dependencies and checks it (all of fr_plan_check; the first fault is
 * the error). Afterwards the plan is read-only and may be run by several threads. */
enum fr_status fr_plan_finish(struct fr_plan *p, struct fr_error *err);

/* Reports every violation, one line each: indices out of range, a device or stream that does not
 * exist, a send without receive, a collective with missing or doubled ranks, costs that are not
 * finite, a cycle, buffers never freed or freed before they are allocated, aliases across devices.
 * Returns how many. */
size_t fr_plan_check(const struct fr_plan *p, void (*say)(void *user, const char *line),
                     void *user);

/* n iterations of a finished one-iteration plan in a row, joined device by device: on each device
 * every task of iteration i+1 follows every one of iteration i. Priorities of iteration i+1 come
 * after all those of iteration i. FR_ERANGE: they leave no room for that. The result is a new
 * finished plan on the same topology and graph. */
enum fr_status fr_plan_unroll(const struct fr_plan *p, unsigned n, struct fr_plan **out,
                              struct fr_error *err);

/* How ready tasks take their stream: by the time they became ready; by priority; exactly by
 * priority, waiting for the next one if it is not ready. The others are passes (fr_plan_order): the
 * plan that they make runs like FR_ORDER_PRIORITY. */
enum fr_order {
    FR_ORDER_FIFO,
    FR_ORDER_PRIORITY,
    FR_ORDER_STRICT,
    FR_ORDER_CONTROL, /* a device's compute tasks wait for each other's ends, by priority */
    FR_ORDER_RANDOM,  /* what a device receives is sent in a random order, */
    FR_ORDER_TIC,     /* in that of TicTac without times, */
    FR_ORDER_TAC,     /* or with the plan's times */
    FR_N_ORDERS
};
const char *fr_order_name(enum fr_order o);
bool fr_order_is_pass(enum fr_order o);
/* The same plan with dependencies and priorities by which it keeps an order that is a pass;
 * finished, on the same topology and graph. seed: of FR_ORDER_RANDOM. transfer_s: [n_transfers]
 * what each takes alone, for FR_ORDER_TAC; other orders take NULL. compute_s: [n_tasks] what each
 * compute task takes, likewise; NULL: the mean of its cost. fr_run_order (sim/sim.h) knows these
 * times. *n_ordered: transfers that were given an order. What the orders are and how they are
 * kept: plan/orders/order.h. A dead lock that `control` makes of a plan is FR_ERANGE with the
 * circle of tasks. */
enum fr_status fr_plan_order(const struct fr_plan *p, enum fr_order order, uint64_t seed,
                             const double transfer_s[], const double compute_s[],
                             struct fr_plan **out, size_t *n_ordered, struct fr_error *err);

/* What a device or a group of a folded plan stands for. */
struct fr_plan_fold {
    uint32_t n;              /* devices, or groups */
    const uint32_t *devices; /* [n], or [n][size of the group] */
};

/* Read access; valid after fr_plan_finish, owned by the plan. */
struct fr_plan_view {
    const struct fr_topo *topo;
    const struct fr_graph *graph;      /* the plan's own, else the user's; ops are of this one */
    const struct fr_graph *user_graph; /* of fr_plan_new */
    size_t n_tasks, n_costs, n_transfers, n_collectives, n_groups, n_buffers, n_strings;
    size_t n_iterations;
    const struct fr_task *tasks;
    const struct fr_cost *costs;
    const struct fr_transfer *transfers;
    const struct fr_collective *collectives;
    const struct fr_buffer *buffers;
    const uint32_t *succ_first, *succ;   /* [n_tasks + 1]: successors of t */
    const uint32_t *n_preds;             /* [n_tasks] */
    const uint32_t *alloc_first, *alloc; /* [n_tasks + 1]: buffers that t allocates */
    const uint32_t *free_first, *free;   /* [n_tasks + 1]: buffers that t helps to free */
    const uint32_t *n_frees;             /* [n_buffers]: freeing tasks (aliases' ones included) */
    const uint32_t *member_first, *members; /* [n_collectives + 1]: member tasks by rank */
    const uint32_t *iteration_ends;
    const uint32_t *device_counts; /* [topo->n_devices] devices that each stands for; 0: used by no
                                      one itself. NULL: the plan is not folded */
    const char *folding;           /* "folded: 16 ranks as 2", or why not; NULL: nothing was said */
    /* of one parameter's gradient, as it is kept and as it travels; 0: nothing is trained */
    double gradient_bytes, sent_gradient_bytes;
    uint32_t param_shards; /* ranks that share out the parameters; 0: each has its own whole */
};
const struct fr_plan_view *fr_plan_view(const struct fr_plan *p);
/* NULL: it stands for itself, or what it stands for was not told. */
const struct fr_plan_fold *fr_plan_device_fold(const struct fr_plan *p, uint32_t device);
const struct fr_plan_fold *fr_plan_group_fold(const struct fr_plan *p, uint32_t group);
uint32_t fr_plan_group_size(const struct fr_plan *p, uint32_t group);
uint32_t fr_plan_group_device(const struct fr_plan *p, uint32_t group, uint32_t rank);
/* How many machines the group is spread over evenly: all GPUs of one type, rank by rank those of
 * one machine, then those of another one. 0: it is not so. Good before fr_plan_finish too. Cost:
 * O(size), where machines stand in no order O(size + machines^2). */
uint32_t fr_plan_group_machines(const struct fr_plan *p, uint32_t group);
/* What a collective on a group of the plan costs by the system of its machines
 * (fr_cost_collective). is_summed_in_switch: as in struct fr_system_call. false: not known, *out
 * untouched. */
bool fr_plan_collective_cost(const struct fr_plan *p, const struct fr_cost_model *costs,
                             const struct fr_collective *c, bool is_summed_in_switch,
                             struct fr_cost *out);
/* The topology's system that collectives on the group take their time from, if it covers them
 * (fr_cost_collective); FR_NONE: none. */
uint32_t fr_plan_group_system(const struct fr_plan *p, uint32_t group);
const char *fr_plan_string(const struct fr_plan *p, uint32_t id); /* "" for FR_NONE */
/* What a person calls the task: "conv1_1 [mb 3]", "all-reduce bucket 2", "send fc6". */
const char *fr_plan_task_label(const struct fr_plan *p, uint32_t task, char *buf, size_t n);

#ifdef __cplusplus
}
#endif
#endif
