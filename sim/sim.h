/* sim/sim.h - the plan (what runs where, in which order) and the engine that runs it.
 *
 * A plan is tasks with dependencies on devices' streams, transfers, collectives, buffers and a cost
 * table. The engine knows no strategy. Time is a double in seconds.
 *
 * Engine, in one paragraph. A task becomes ready when all its predecessors are done. A ready task
 * waits for its stream, which runs one task at a time (FR_STREAM_FREE: no waiting), chosen by the
 * order asked for. Dispatching costs its host launch_s on the device's host thread, which runs
 * ahead of the device as CUDA's does: a task starts no earlier than the sum of the launch times of
 * all tasks dispatched on that device up to it. A send and its receive start together when both have
 * been dispatched; a collective starts when every member has been. At one instant, in this order:
 * completions and frees; allocations and starts; one network solve before time moves on. Ties are
 * broken by (time, priority, task number).
 */
#ifndef FORERUN_SIM_H
#define FORERUN_SIM_H

#include "base/base.h"
#include "calibrate/calibrate.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ plan */

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
    uint32_t ref;     /* transfer, collective; of compute tasks a string instead of the op's name;
                            else FR_NONE */
    uint32_t rank;    /* in the collective's group */
    uint32_t microbatch; /* FR_NONE: not one */
    int32_t priority;    /* smaller goes first */
    uint8_t kind, phase, stream, flags;
};

struct fr_transfer {
    double bytes;
    uint32_t send, recv; /* tasks */
    uint32_t label;      /* string of the plan, or FR_NONE */
};

enum fr_collective_kind {
    FR_ALL_REDUCE,
    FR_ALL_GATHER,     /* bytes: of the whole result */
    FR_REDUCE_SCATTER, /* bytes: of the whole input */
    FR_ALL_TO_ALL, /* bytes: that each rank has, an equal part for each rank (itself among them) */
    FR_BROADCAST,  /* bytes: from rank `root` to all */
    FR_REDUCE,     /* bytes: from all to rank `root` */
    FR_N_COLLECTIVE_KINDS
};
const char *fr_collective_kind_name(enum fr_collective_kind kind);
/* FR_N_COLLECTIVE_KINDS: unknown. */
enum fr_collective_kind fr_collective_kind_parse(const char *name);
/* How many messages it takes among n ranks, were it one ring; see sim/collective_form.c. */
double fr_collective_steps(enum fr_collective_kind kind, uint32_t n, double bytes);

struct fr_collective {
    double bytes;
    uint32_t group;
    uint32_t label;
    enum fr_collective_kind kind;
    bool has_cost;    /* how long it takes is known as a whole, whatever the links: */
    uint32_t cost_id; /* row of the cost table; else its messages go over the links */
    uint32_t root;    /* rank, of a broadcast and a reduce */
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

/* Makes an empty plan on a topology; graph (may be NULL) names the ops. Both are borrowed and must
 * outlive the plan. NULL when out of memory. */
struct fr_plan *fr_plan_new(const struct fr_topo *topo, const struct fr_graph *graph);
void fr_plan_free(struct fr_plan *p);

/* The adding functions return the new index. Running out of memory or of numbers is kept and
 * reported by fr_plan_finish, so a builder need not check each call. */
uint32_t fr_plan_add_cost(struct fr_plan *p, const struct fr_cost *cost);
uint32_t fr_plan_add_string(struct fr_plan *p, const char *text); /* copied */
uint32_t fr_plan_add_task(struct fr_plan *p, const struct fr_task *task);
void fr_plan_add_dep(struct fr_plan *p, uint32_t before, uint32_t after);
/* Joins a send and a receive task already added; sets their ref. */
uint32_t fr_plan_add_transfer(struct fr_plan *p, uint32_t send, uint32_t recv, double bytes,
                              uint32_t label);
/* Ranks first, first+stride, ...: device indices. */
uint32_t fr_plan_add_group(struct fr_plan *p, uint32_t first, uint32_t stride, uint32_t count);
/* Any devices, rank by rank. devices: [n], copied. */
uint32_t fr_plan_add_group_of(struct fr_plan *p, const uint32_t devices[], uint32_t n);
/* Its members are tasks with kind FR_TASK_COLLECTIVE, this index as ref and their rank. */
uint32_t fr_plan_add_collective(struct fr_plan *p, const struct fr_collective *c);
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
 * every task without predecessors of iteration i+1 follows all sinks of iteration i on that device.
 * The result is a new finished plan on the same topology and graph. */
enum fr_status fr_plan_unroll(const struct fr_plan *p, unsigned n, struct fr_plan **out,
                              struct fr_error *err);

/* How ready tasks take their stream: by the time they became ready; by priority; exactly by priority,
 * waiting for the next one if it is not ready. The others are passes (fr_plan_order): the plan that
 * they make runs like FR_ORDER_PRIORITY. */
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
/* The same plan with dependencies and priorities by which it keeps an order that is a pass; finished,
 * on the same topology and graph. seed: of FR_ORDER_RANDOM. *n_ordered: transfers that were given an
 * order. What the orders are and how they are kept: sim/order.h. A dead lock that `control` makes of a plan
 * is FR_ERANGE with the circle of tasks. */
bool fr_order_is_pass(enum fr_order o);
enum fr_status fr_plan_order(const struct fr_plan *p, enum fr_order order, uint64_t seed,
                             struct fr_plan **out, size_t *n_ordered, struct fr_error *err);

/* Read access; valid after fr_plan_finish, owned by the plan. */
struct fr_plan_view {
    const struct fr_topo *topo;
    const struct fr_graph *graph;
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
};
const struct fr_plan_view *fr_plan_view(const struct fr_plan *p);
uint32_t fr_plan_group_size(const struct fr_plan *p, uint32_t group);
uint32_t fr_plan_group_device(const struct fr_plan *p, uint32_t group, uint32_t rank);
/* How many machines the group is spread over evenly: all GPUs of one type, rank by rank those of one machine,
 * then those of a later one. 0: it is not so. Good before fr_plan_finish too. Cost: O(size). */
uint32_t fr_plan_group_machines(const struct fr_plan *p, uint32_t group);
/* What a collective on a group of the plan costs by the system of its machines (fr_cost_collective).
 * is_summed_in_switch: as in struct fr_system_call. false: not known, *out untouched. */
bool fr_plan_collective_cost(const struct fr_plan *p, const struct fr_cost_model *costs,
                             const struct fr_collective *c, bool is_summed_in_switch,
                             struct fr_cost *out);
/* The topology's system that collectives on the group take their time from, if it covers them
 * (fr_cost_collective); FR_NONE: none. */
uint32_t fr_plan_group_system(const struct fr_plan *p, uint32_t group);
const char *fr_plan_string(const struct fr_plan *p, uint32_t id); /* "" for FR_NONE */
/* What a person calls the task: "conv1_1 [mb 3]", "all-reduce bucket 2", "send fc6". */
const char *fr_plan_task_label(const struct fr_plan *p, uint32_t task, char *buf, size_t n);

/* ------------------------------------------------------------------ engine */

enum fr_network { FR_NETWORK_ANALYTIC, FR_NETWORK_FLOW, FR_N_NETWORKS };
const char *fr_network_name(enum fr_network n);
enum fr_network fr_network_parse(const char *name); /* FR_N_NETWORKS: unknown */
const char *fr_order_name(enum fr_order o);
enum fr_order fr_order_parse(const char *name);

/* What memory is: the buffers alone, as if any byte would do; or what a GPU's memory is cut into by
 * PyTorch's caching allocator (sim/allocator.h), beside the CUDA context. */
enum fr_memory_model { FR_MEMORY_LIVENESS, FR_MEMORY_DEVICE, FR_N_MEMORY_MODELS };
const char *fr_memory_model_name(enum fr_memory_model m);

/* How classes of work side by side on one device slow each other: factor[a][b] >= 1 stretches work
 * of class a while any work of class b runs on its device; factors of several classes multiply. */
enum fr_work_class { FR_WORK_COMPUTE, FR_WORK_COPY, FR_WORK_COLLECTIVE, FR_N_WORK_CLASSES };
struct fr_interference {
    double factor[FR_N_WORK_CLASSES][FR_N_WORK_CLASSES];
    const char *source;
};

struct fr_run_options {
    enum fr_network network;
    enum fr_order order;
    bool closed_form_collectives; /* false: expanded into their steps */
    bool rings_only;              /* collectives with a cost of their own run as rings too */
    bool alloc_at_start;          /* false: at dispatch */
    bool with_holders;            /* keep who held memory when: held_from of the run */
    enum fr_memory_model memory;
    bool no_self_check; /* benchmarks only */
    unsigned channels;  /* transfers a device direction carries at once; 0: no limit */
    unsigned rings;     /* most rings a collective uses; 0: as many as the links give;
                                       1: one ring in rank order */
    uint64_t seed;
    double jitter_cv;              /* per task, standard deviation over mean */
    double device_cv;              /* one slow-down a device, likewise */
    const double *cost_s;          /* [n_costs] instead of the plan's means; NULL: the means */
    const double *device_slowdown; /* [n_devices] factors >= 0 on compute; NULL: 1 */
    const double *slowness;        /* [fr_n_resources] factors > 0; NULL: 1; see below */
    const struct fr_message_fit
        *messages;    /* [the topology's n_messages]: what transfers between GPUs
                                              take alone; NULL: as their links say; sim/message.c */
    bool with_totals; /* serial_s and busiest_s of the run */
    bool with_parts;  /* account for the iteration by resource: parts_s of the run */
    const struct fr_interference *interference; /* NULL: none */
    const struct fr_context *context;           /* may be NULL */
};
/* flow network, fifo, expanded collectives, no jitter, memory by liveness. */
void fr_run_options_init(struct fr_run_options *o);

struct fr_device_result {
    double compute_s;      /* some compute task running */
    double comm_s;         /* some transfer or collective moving */
    double exposed_comm_s; /* moving while nothing computes */
    double idle_s;         /* neither; compute + exposed + idle = makespan */
    double work_s;         /* sum of the compute tasks' times */
    uint64_t peak_bytes;   /* most bytes of buffers at once, persistent ones included */
    uint64_t peak_by_kind[FR_N_BUFFER_KINDS]; /* at that moment */
    double peak_at_s;
    uint32_t peak_task;       /* whose allocation reached it; FR_NONE: the persistent ones */
    uint32_t peak_allocation; /* its number, for held_from of the run */
    /* under FR_MEMORY_DEVICE, on GPUs, else 0: of blocks in use, of segments; without the context */
    uint64_t peak_allocated_bytes, peak_reserved_bytes;
    bool is_over; /* the device's memory was not enough at some time */
    uint32_t
        first_over_task; /* whose allocation it was that did not fit first; FR_NONE: a persistent
                                  buffer's */
    uint64_t first_over_bytes; /* that it asked for */
    uint64_t end_bytes;        /* what is left at the end: the persistent ones */
};

struct fr_run_stats {
    uint64_t events, solves, flows, flows_visited, flows_live_max, steps;
    uint64_t fitted_messages; /* transfers at a fitted time */
};

/* All arrays belong to the run. */
struct fr_run {
    double makespan_s;
    double iteration_s;    /* steady state: end to end of the last two iterations, or makespan */
    unsigned n_iterations; /* that the plan held */
    bool is_settled;       /* the last intervals agree to 1e-6 (always true for one) */
    double lower_bound_s;  /* no schedule of this plan can be shorter; see sim/bound.c */
    double serial_s;       /* an iteration's tasks one after the other; 0 unless asked for */
    double busiest_s;      /* what one resource has to do of it at most; likewise */
    size_t n_tasks, n_devices, n_links;
    const double *start_s, *end_s;          /* [n_tasks] */
    const uint32_t *cause;                  /* [n_tasks] the task whose end let it start, FR_NONE */
    const struct fr_device_result *devices; /* [n_devices] */
    const double *link_bytes;               /* [n_links] */
    size_t n_critical;
    const uint32_t *critical; /* tasks of the critical path, first to last */
    const double *parts_s;    /* [fr_n_resources] see below; NULL unless asked for */
    uint64_t n_rough;         /* messages whose parts are an estimate */
    /* [n_buffers] NULL unless asked for: buffer b was held at the allocation of number x if
     * held_from[b] <= x <= held_until[b] (aliases never); 0 is before the first task's */
    const uint32_t *held_from, *held_until;
    struct fr_run_stats stats;
};

/* Runs a finished plan. FR_EDEADLOCK: err names the cycle of waiting tasks; FR_ECHECK: a self-check
 * failed; FR_ENOENT: no route; FR_ECANCELLED; FR_ENOMEM. The caller frees the run. */
enum fr_status fr_simulate(const struct fr_plan *p, const struct fr_run_options *o,
                           struct fr_run **out, struct fr_error *err);
void fr_run_free(struct fr_run *r);
/* TicTac's two measures of an order, of a run with totals; see sim/totals.c. The first is about 1 where
 * no order could be faster, 0 where nothing overlaps; the second says how much there is to gain. */
double fr_run_efficiency(const struct fr_run *r);
double fr_run_speedup_potential(const struct fr_run *r);

/* ---- what the time is made of ----
 *
 * Resources are what a faster machine would have more of: bandwidth and (low) latency of each kind
 * of link, in the order of enum fr_link_kind, then for each device type what its ops are bound by.
 * The slowness of a resource is time per unit: 2 halves a bandwidth and doubles a latency.
 *
 * A run is homogeneous: with every slowness doubled it takes twice as long. So (Euler) the iteration
 * is the sum over resources of slowness x d iteration_s / d slowness, and these are the parts_s of a
 * run: the seconds that a resource accounts for. parts_s[i] / iteration_s is the relative change of
 * the time for a small relative change of slowness i, its elasticity.
 *
 * They are worked out during the run along what caused each moment (the critical path, through the
 * steps of collectives and the changes of shared rates), see sim/sensitivity.c. Where two causes
 * tie, one counts; choices (routes, rings, the order of ready tasks) are taken as fixed. They are
 * slopes to rounding unless the run is chaotic: then some messages (n_rough) are only estimated. */
enum fr_link_resource { FR_LINK_BANDWIDTH, FR_LINK_LATENCY, FR_N_LINK_RESOURCES };
enum fr_device_resource {
    FR_DEVICE_ARITHMETIC, /* ops bound by FLOPs */
    FR_DEVICE_MEMORY,     /* ops bound by memory bandwidth */
    FR_DEVICE_LAUNCH,     /* host time to launch ops */
    FR_DEVICE_MEASURED,   /* ops whose time was measured as a whole */
    FR_N_DEVICE_RESOURCES
};
struct fr_resource {
    bool is_link;
    enum fr_link_kind link;
    enum fr_link_resource link_what;
    uint32_t type; /* of device */
    enum fr_device_resource device_what;
};
size_t fr_n_resources(const struct fr_topo *t);
struct fr_resource fr_resource_at(const struct fr_topo *t, size_t i);
size_t fr_link_resource(enum fr_link_kind kind, enum fr_link_resource what);
size_t fr_device_resource(uint32_t type, enum fr_device_resource what);
/* "PCIe bandwidth", "v100-sxm2-16gb memory bandwidth"; returns buf. */
const char *fr_resource_name(const struct fr_topo *t, size_t i, char *buf, size_t n);
/* Slowness 1 / factor is written "+25 %" of a rate and "-20 %" of a time: is i a time? */
bool fr_resource_is_time(const struct fr_topo *t, size_t i);

#ifdef __cplusplus
}
#endif
#endif
