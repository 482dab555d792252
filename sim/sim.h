/* sim/sim.h - the engine that runs a plan (plan/plan.h). Time is a double in seconds.
 *
 * Engine, in one paragraph. A task becomes ready when all its predecessors are done. A ready task
 * waits for its stream, which runs one task at a time (FR_STREAM_FREE: no waiting), chosen by the
 * order asked for. Dispatching costs its host launch_s on the device's host thread, which runs
 * ahead of the device as CUDA's does: a task starts no earlier than the sum of the launch times of
 * all tasks dispatched on that device up to it. A send and its receive start together when both
 * have been dispatched; a collective starts when every member has been. At one instant, in this
 * order: completions and frees; allocations and starts; one network solve before time moves on.
 * Ties are broken by (time, priority, task number).
 */
#ifndef FORERUN_SIM_H
#define FORERUN_SIM_H

#include "base/base.h"
#include "collectives/collectives.h"
#include "plan/plan.h"
#include "topo/topo.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_network { FR_NETWORK_ANALYTIC, FR_NETWORK_FLOW, FR_N_NETWORKS };
const char *fr_network_name(enum fr_network n);
/* What the model assumes, for people: "messages share the links ...". */
const char *fr_network_assumption(enum fr_network n);
enum fr_network fr_network_parse(const char *name); /* FR_N_NETWORKS: unknown */

/* How memory is counted. LIVENESS: the buffers alone, as if they could be anywhere. DEVICE: as
 * PyTorch's caching allocator divides a GPU's memory (sim/memory/allocator.h), and the CUDA
 * context. TF1: as TensorFlow 1's allocator does, with what it leaves to the system. */
enum fr_memory_model { FR_MEMORY_LIVENESS, FR_MEMORY_DEVICE, FR_MEMORY_TF1, FR_N_MEMORY_MODELS };
const char *fr_memory_model_name(enum fr_memory_model m);

/* How classes of work slow each other on one device: factor[a][b] >= 1 is how many times as long
 * work of class a takes while any work of class b runs on its device. Factors of several classes
 * multiply. */
enum fr_work_class { FR_WORK_COMPUTE, FR_WORK_COPY, FR_WORK_COLLECTIVE, FR_N_WORK_CLASSES };
struct fr_interference {
    double factor[FR_N_WORK_CLASSES][FR_N_WORK_CLASSES];
    const char *source;
};

/* Distributions of random factors on times. All have mean 1 and the coefficient of variation (cv,
 * standard deviation over mean) asked for. BY_SIZE: normal up to a cv of 0.3, lognormal above, as
 * times below 0 do not exist. See sim/spread.c. */
enum fr_spread_shape {
    FR_SPREAD_BY_SIZE,
    FR_SPREAD_NORMAL,
    FR_SPREAD_UNIFORM,
    FR_SPREAD_LOGNORMAL,
    FR_SPREAD_GAMMA,
    FR_N_SPREAD_SHAPES
};
const char *fr_spread_shape_name(enum fr_spread_shape s);
/* FR_ERANGE: no such distribution of factors above 0 has that cv; what: named in the message. */
enum fr_status fr_spread_check(enum fr_spread_shape shape, double cv, const char *what,
                               struct fr_error *err);

/* Parts of a run's result. Each takes time to make and is left out (zeros, NULL) unless asked for;
 * none needs another. The simulated times of a run do not depend on what is wanted. */
enum fr_want {
    FR_WANT_TASKS = 1 << 0,    /* start_s, end_s, cause */
    FR_WANT_ACCOUNT = 1 << 1,  /* of devices: compute_s, comm_s, exposed_comm_s, idle_s */
    FR_WANT_MEMORY = 1 << 2,   /* of devices: peaks, out of memory, bytes at the end */
    FR_WANT_LINKS = 1 << 3,    /* link_bytes */
    FR_WANT_CRITICAL = 1 << 4, /* critical */
    FR_WANT_BOUND = 1 << 5,    /* lower_bound_s */
    FR_WANT_CHECK = 1 << 6,    /* the result is checked against the plan; a fault is FR_ECHECK */
    FR_WANT_TOTALS = 1 << 7,   /* serial_s, busiest_s */
    FR_WANT_PARTS = 1 << 8,    /* parts_s, n_rough: the iteration by resource */
    FR_WANT_HOLDERS = 1 << 9,  /* held_from, held_until: who held memory when; with the peaks */
    FR_WANT_USUAL = FR_WANT_TASKS | FR_WANT_ACCOUNT | FR_WANT_MEMORY | FR_WANT_LINKS |
                    FR_WANT_CRITICAL | FR_WANT_BOUND | FR_WANT_CHECK
};

/* What the hosts of GPUs do beside what costs say of launches; see sim/host.c. */
enum fr_host_work { FR_HOST_FORWARD, FR_HOST_BACKWARD, FR_HOST_UPDATE, FR_N_HOST_WORK };
/* Where a host waits until its GPU has done all that was launched. */
enum fr_host_sync {
    FR_HOST_SYNC_LOSS = 1 << 0,  /* between the forward pass and the backward pass */
    FR_HOST_SYNC_MICRO = 1 << 1, /* after each micro-batch but the last */
    FR_HOST_SYNC_NORM = 1 << 2,  /* before the first update */
    FR_HOST_SYNC_STEP = 1 << 3   /* after an iteration */
};
struct fr_host {
    /* Host time of an op, instead of its cost's launch time where that is above 0. 0: the cost's.
     * Tasks that are no ops take that of FR_HOST_FORWARD. */
    double op_s[FR_N_HOST_WORK];
    double slowness; /* > 0: factor on all of them */
    /* [n_ops of the plan's graph]: ops that are made inside a call of a library, as the steps of a
     * recurrent layer are. They are launched at their costs' times. NULL: none. */
    const bool *is_inside;
    unsigned syncs;        /* enum fr_host_sync, or-ed */
    double step_s;         /* >= 0: host time between iterations, before the first launch */
    const double *ahead_s; /* [n_devices] by which the host of each was ahead of its GPU when the
                              run begins; NULL: 0 */
};

struct fr_run_options {
    enum fr_network network;
    enum fr_order order;
    unsigned want; /* enum fr_want, or-ed; 0: only the times of the run itself */
    double stop_s; /* > 0: the run stops when simulated time passes it; see is_stopped of the run */
    bool closed_form_collectives; /* false: expanded into their steps */
    bool rings_only;              /* collectives with a cost of their own run as rings too */
    bool alloc_at_start;          /* false: at dispatch */
    enum fr_memory_model memory;
    unsigned channels; /* transfers that a device sends, and receives, at once; 0: no limit */
    unsigned rings;    /* most rings a collective uses; 0: as many as the links give;
                                       1: one ring in rank order */
    const struct fr_collective_way *way; /* how collectives go; NULL: as rings */
    uint64_t seed;
    double jitter_cv; /* per task, standard deviation over mean */
    double device_cv; /* one slow-down per device, standard deviation over mean */
    enum fr_spread_shape jitter_shape, device_shape; /* their distributions */
    const double *cost_s;          /* [n_costs] instead of the plan's means; NULL: the means */
    const double *device_slowdown; /* [n_devices] factors >= 0 on compute; NULL: 1 */
    const double *slowness;        /* [fr_n_resources] factors > 0; NULL: 1; see below */
    const struct fr_message_fit
        *messages; /* [the topology's n_messages]: what transfers between GPUs
                                              take alone; NULL: as their links say; see
                                              sim/network/alone.h */
    const struct fr_interference *interference; /* NULL: none */
    const struct fr_host *host;                 /* NULL: launches as costs say, no waits */
    const struct fr_context *context;           /* may be NULL */
};
/* flow network, fifo, expanded collectives, no jitter, memory by liveness, the usual results, to
 * the end. */
void fr_run_options_init(struct fr_run_options *o);

/* fr_plan_order for a run with these options: its order, a pass, and its seed. FR_ORDER_TAC takes
 * what messages take alone under the run's network, messages and slowness. */
enum fr_status fr_run_order(const struct fr_plan *p, const struct fr_run_options *o,
                            struct fr_plan **out, size_t *n_ordered, struct fr_error *err);

/* What a device does over a period of time: compute + exposed + idle is its length. */
struct fr_device_times {
    double compute_s;      /* some compute task running */
    double comm_s;         /* some transfer or collective moving */
    double exposed_comm_s; /* moving while nothing computes */
    double idle_s;         /* neither computing nor moving */
};

struct fr_device_result {
    double compute_s; /* as in struct fr_device_times, from the start to the makespan */
    double comm_s;
    double exposed_comm_s;
    double idle_s;
    struct fr_device_times iteration; /* in the iteration_s of the run, up to the last one's end */
    double work_s;                    /* sum of the compute tasks' times */
    double host_s;                    /* when its host had launched everything */
    uint64_t peak_bytes;              /* most bytes of buffers at once, persistent ones included */
    uint64_t peak_by_kind[FR_N_BUFFER_KINDS]; /* at that moment */
    double peak_at_s;
    uint32_t peak_task;       /* whose allocation reached it; FR_NONE: the persistent ones */
    uint32_t peak_allocation; /* its number, for held_from of the run */
    /* under FR_MEMORY_DEVICE, on GPUs, else 0: of blocks in use, of segments; without the
     * context */
    uint64_t peak_allocated_bytes, peak_reserved_bytes;
    uint64_t left_bytes; /* under FR_MEMORY_TF1, on GPUs, else 0: not in the pool, nor context */
    bool is_over;        /* the device's memory was not enough at some time */
    uint32_t
        first_over_task; /* whose allocation it was that did not fit first; FR_NONE: a persistent
                                  buffer's */
    uint64_t first_over_bytes; /* that it asked for */
    uint64_t end_bytes;        /* what is left at the end: the persistent ones */
};

struct fr_run_stats {
    uint64_t events, solves, flows, flows_visited, flows_live_max, steps;
    uint64_t fitted_messages; /* transfers at a fitted time */
    uint64_t
        by_schedule; /* collectives done as the options' way says, not as rings for want of it */
    /* searches that a simulation object made for this run; 0: it had the results already */
    uint64_t router_builds, route_searches, ring_searches;
};

/* All arrays belong to the run.
 *
 * A run that was stopped (is_stopped) is a bound from below. makespan_s is the time of the first
 * event after the options' stop_s, so no run of this plan to the end is shorter. iteration_s is a
 * bound likewise; for a plan of several iterations it is 0 unless only the last one was open, and
 * lower_bound_s is 0. Tasks that had not started or ended have INFINITY there. Accounts, memory and
 * link bytes are those so far. There is no critical path, no totals, no parts and no check. */
struct fr_run {
    unsigned want; /* what of the result is there, as asked for */
    bool is_stopped;
    double makespan_s;
    double iteration_s;    /* from the end of the last iteration but one to the end of the last, or
                              the makespan */
    unsigned n_iterations; /* that the plan held */
    bool is_settled;       /* the last intervals agree to 1e-6 (always true for one) */
    double lower_bound_s;  /* of iteration_s, whatever the schedule; see sim/analysis/bound.c */
    double makespan_bound_s; /* of makespan_s, likewise */
    double serial_s;         /* an iteration's tasks one after the other */
    double busiest_s;        /* what one resource has to do of it at most */
    size_t n_tasks, n_devices, n_links;
    const double *start_s, *end_s;          /* [n_tasks] */
    const uint32_t *cause;                  /* [n_tasks] the task whose end let it start, FR_NONE */
    const struct fr_device_result *devices; /* [n_devices] */
    const double *link_bytes;               /* [n_links] */
    size_t n_critical;
    const uint32_t *critical; /* tasks of the critical path, first to last */
    const double *parts_s;    /* [fr_n_resources] see below */
    uint64_t n_rough;         /* messages whose parts are an estimate */
    /* [n_buffers] buffer b was held at the allocation of number x if
     * held_from[b] <= x <= held_until[b] (aliases never); 0 is before the first task's */
    const uint32_t *held_from, *held_until;
    struct fr_run_stats stats;
};

/* Runs a finished plan. FR_EDEADLOCK: err names the cycle of waiting tasks; FR_ECHECK: a self-check
 * failed; FR_ENOENT: no route; FR_ECANCELLED; FR_ENOMEM. The caller frees the run. */
enum fr_status fr_simulate(const struct fr_plan *p, const struct fr_run_options *o,
                           struct fr_run **out, struct fr_error *err);
void fr_run_free(struct fr_run *r);

/* Runs plan after plan on one topology. The object keeps the router, the routes and rings that it
 * has found, and its memory, so that the next plan on the same devices searches for nothing again
 * (router_builds, route_searches and ring_searches of the run's stats count it). The results are
 * those of fr_simulate, byte for byte, whatever ran before, also after a failure or a stop. One
 * thread at a time may use an object; threads that run plans at the same time keep one each. */
struct fr_simulation;
/* topo: borrowed, must outlive the object. The caller frees it. FR_ENOMEM. */
enum fr_status fr_simulation_new(struct fr_simulation **out, const struct fr_topo *topo,
                                 struct fr_error *err);
void fr_simulation_free(struct fr_simulation *s);
/* As fr_simulate; FR_EUSAGE: the plan is on another topology. Plan and options are borrowed for the
 * call. The run is the caller's and may outlive the object. */
enum fr_status fr_simulation_run(struct fr_simulation *s, const struct fr_plan *p,
                                 const struct fr_run_options *o, struct fr_run **out,
                                 struct fr_error *err);
/* TicTac's two measures of an order, for a run with totals (sim/analysis/totals.c). The first is
 * about 1 if no order could be faster, and 0 if nothing overlaps. The second says how much orders
 * can differ. */
double fr_run_efficiency(const struct fr_run *r);
double fr_run_speedup_potential(const struct fr_run *r);

/* How many messages it takes among n ranks, were it one ring; see sim/collectives/closed_form.c. */
double fr_collective_steps(enum fr_collective_kind kind, uint32_t n, double bytes);

/* ---- what the time is made of ----
 *
 * Resources are what a faster machine would have more of: bandwidth and (low) latency of each kind
 * of link, in the order of enum fr_link_kind, then for each device type what its ops are bound by.
 * The slowness of a resource is time per unit: 2 halves a bandwidth and doubles a latency.
 *
 * A run is homogeneous: with every slowness doubled it takes twice as long. So (Euler) the
 * iteration is the sum over resources of slowness x d iteration_s / d slowness, and these are the
 * parts_s of a run: the seconds that a resource accounts for. parts_s[i] / iteration_s is the
 * relative change of the time for a small relative change of slowness i, its elasticity.
 *
 * They are worked out during the run along what caused each moment (the critical path, through the
 * steps of collectives and the changes of shared rates), see sim/analysis/sensitivity.c. Where two
 * causes tie, one counts; choices (routes, rings, the order of ready tasks) are taken as fixed.
 * They are slopes to rounding unless the run is chaotic: then some messages (n_rough) are only
 * estimated. */
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
