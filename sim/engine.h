/* sim/engine.h - the engine's state, shared by the files that work on it.
 *
 *   simulation.c    a run from its start to its results; the object that is used again
 *   engine.c        the loop: events in order of time; which task starts next
 *   look.c          progress, and the flag that ends a run
 *   streams.c       tasks become ready, wait for their stream, start and end
 *   transfers.c     sends meet their receives, and a message goes
 *   network/        network.c: messages; how fast one goes is up to the network model
 *                   (network/model.h), what it is for to its owner (network/message.h)
 *   collectives/    collective.c: members arrive; then messages (ring_run.c, schedule_run.c) or a
 *                   known time (known_time.c)
 *   memory/         memory.c: buffers; requests.c and allocator.c give them addresses
 *   interference.c  rates of work that shares a device
 *   random.c        jitter and slow devices
 *   analysis/       sensitivity.c: what each moment of the run is made of, by resource; the other
 *                   files work on the finished run
 *
 * The state is arrays of plain values, indexed by task, device or link. Nothing is allocated per
 * event. A simulation (struct fr_simulation) holds one engine and runs plan after plan with it.
 *
 * The loop calls all of them; streams.c and what it needs call none. The network calls the owners
 * of its messages by the functions that they give it: the end of a collective's message starts the
 * next step, and a message that shares links with folded rings unfolds them first (ring_fold.c).
 */
#ifndef FR_SIM_ENGINE_H
#define FR_SIM_ENGINE_H

#include "plan/internal.h"
#include "sim/network/channels.h"
#include "sim/network/message.h"
#include "sim/network/rings.h"
#include "sim/network/routes.h"
#include "sim/sim.h"
#include "sim/spread.h"
#include "sim/event_queue.h"

#include "base/error.h"

enum fr__event_what {
    EVENT_TASK_DONE,
    EVENT_TASK_START,       /* the host has launched it */
    EVENT_TRANSFER_START,   /* both hosts have */
    EVENT_COLLECTIVE_START, /* all hosts have */
    EVENT_COLLECTIVE_DONE,  /* closed form, or at its own cost */
    EVENT_MESSAGE,          /* the network model asked to be woken for it */
    EVENT_STEPS_BEGIN,      /* of a collective by a schedule (collectives/schedule_run.c) */
    EVENT_STEP_TAKEN,       /* the receiver of one of its messages has it */
};
/* The event's word: what it is, and for things whose rate may change the version that counts. */
enum { EVENT_WHAT_BITS = 8 };

struct fr__host_state; /* host.c */

enum fr__progress { TASK_WAITING, TASK_DISPATCHED, TASK_STARTED, TASK_DONE };

/* All that the loop needs of a task, in half a cache line. A run of many devices waits for memory,
 * and each step of a task's life reads this and little else. What is no longer needed makes room
 * for what becomes known. A list of MANY or more items ends where the plan's index says. */
struct fr__state {
    union {
        struct {            /* until it is dispatched */
            uint32_t waits; /* predecessors not done */
            uint32_t alloc; /* first of the buffers that it allocates, in the plan's list */
        };
        double start_s; /* dispatched messages: the end of their launch, until they start */
    };
    union {
        struct {                 /* until it is done */
            uint32_t succ, free; /* likewise */
        };
        double end_s;
    };
    union {
        int32_t priority; /* until it is ready */
        uint32_t cause;   /* the task whose end let it start */
    };
    uint32_t stream;         /* of struct fr__engine's streams */
    union {                  /* by kind, set by reference_of() in simulation.c */
        uint32_t cost_id;    /* compute: row of the cost table, or FR_NONE */
        uint32_t transfer;   /* send, receive */
        uint32_t collective; /* member of a collective */
    };
    unsigned kind : 3;               /* enum fr_task_kind */
    unsigned progress : 2;           /* enum fr__progress */
    unsigned has_own_cost : 1;       /* a task other than compute that takes its host's time */
    unsigned ends_iteration : 1;     /* the last one, or the one before it */
    uint8_t n_alloc, n_succ, n_free; /* MANY: as many or more */
};
enum { MANY = UINT8_MAX };

/* A task waiting for its stream. */
struct fr__waiting {
    double ready_s;
    uint64_t key; /* ordered like (priority, task); its lower half is the task */
};

/* 64 bytes. Few tasks wait on most streams, and they wait inside it. */
struct fr__stream {
    struct fr__waiting *queue; /* binary heap in the order asked for; `few` or the heap */
    uint32_t n, cap;
    uint32_t running; /* task, or FR_NONE */
    uint32_t last;    /* the task that ran before */
    uint32_t next;    /* strict: position in `order` */
    bool is_dirty;    /* may start something this instant */
    struct fr__waiting few[2];
};

/* One more than a plan may name, the last: tasks that wait for no stream. */
enum { STREAM_OF_FREE = FR_N_STREAMS, STREAMS_A_DEVICE };

struct fr__device {
    double since_s;               /* `times` is up to date until here */
    double host_s;                /* the host thread has dispatched everything up to here */
    struct fr_device_times times; /* from the start until since_s */
    uint32_t n_computing, n_copying, n_collective;
};

/* What buffers take on a device. */
struct fr__held {
    uint64_t bytes, peak_bytes;
    uint64_t limit_bytes; /* what buffers but the context may take */
    uint64_t by_kind[FR_N_BUFFER_KINDS];
};

/* What the loop needs of a buffer that a task allocates, in a quarter of a cache line. They are
 * stored in the order of the plan's list of what tasks allocate, so each task's own are found at
 * once. */
struct fr__live {
    uint64_t bytes;
    uint32_t frees_left;
    uint32_t of; /* device * FR_N_BUFFER_KINDS + kind */
};

/* The members of a collective that have been dispatched. It starts when all have. */
struct fr__arrivals {
    double start_s;
    uint32_t n_arrived;
    uint32_t last;   /* the member that was dispatched last */
    uint32_t latest; /* the member whose launch was over last */
};

/* How the messages of a collective go; see collectives/closed_form.c. */
enum fr__ring_pattern { PATTERN_RING, PATTERN_CHAIN, PATTERN_SHIFT };

/* One ring or chain of a collective, or all of a shift. Its ranks have positions from 0. In each
 * round each position sends a chunk; in a chain the last position sends nothing. */
struct fr__ring {
    enum fr__ring_pattern pattern;
    uint32_t collective, n, n_rounds;
    uint32_t first; /* position at which a chain begins */
    double chunk_bytes;
    const uint32_t *ranks;  /* [n] by position; NULL: a shift, where the position is the rank */
    const uint32_t *routes; /* [n] from a position to the next; NULL: a shift */
    /* Folded (collectives/ring_fold.c), each position stands for `times` ones n apart, and ranks
     * has [n * times]; else 1. */
    uint32_t times;
    const uint32_t *all_routes; /* [n * times] as they are without folding */
};

/* A message of a folded ring. */
struct fr__fold_message {
    uint32_t message;
    double left_s;
};

/* A ring in progress. */
struct fr__ring_state {
    struct fr__ring ring;
    uint32_t n_done;                      /* ranks that have sent and received everything */
    uint32_t *launched, *sent, *received; /* [n] rounds; one allocation, owned by `launched` */
    uint32_t cap;                         /* of each */
    uint32_t next_free;
    struct fr__fold_message
        *under_way; /* [n] the last message of each position, owned; NULL: the ring
                                       is not folded */
};

/* What each moment is made of, by resource; only when asked for. See analysis/sensitivity.c. */
struct fr__parts {
    size_t n;       /* resources */
    double *now_s;  /* [n] of the simulated time now */
    double *rate_s; /* [n] of the last moment at which a message began or ended */
    double *task_s; /* [n_tasks][n] of its start while it runs, then of its end */
    struct fr__message_parts *messages;
    double *message_s; /* [cap_messages][3][n] of the message's last change of rate; work held over;
                          of the moment at which it began to share */
    size_t cap_messages;
    uint64_t n_rough; /* messages whose slope was given up */
};

/* What buffers take; see memory/memory.c. */
struct fr__memory {
    struct fr__held *held;            /* [n_devices]; NULL: memory is not counted */
    struct fr__live *live;            /* in the order of the plan's list of what is allocated */
    uint32_t *freed;                  /* the plan's list of what is freed, as indices of `live` */
    struct fr__requests *requests;    /* [n_devices]; NULL: counted only */
    uint64_t *asked;                  /* theirs, device by device */
    uint32_t *takes;                  /* of the device's requests, by place in `live`; or NULL */
    uint32_t *held_from, *held_until; /* [n_buffers] the run's, see struct fr_run; or NULL */
    uint32_t n_allocations;           /* tasks that have allocated */
};

/* Compute tasks whose rates change; see interference.c. All NULL without interference. */
struct fr__interference {
    double *left_s, *rate, *since_s; /* [n_tasks] */
    uint32_t *version;               /* [n_tasks] */
    uint32_t *next, *prev, *first;   /* running compute tasks by device; first: [n_devices] */
};

/* Messages and what they need; see network/network.c. Kept from run to run, but for link_bytes. */
struct fr__network {
    const struct fr__network_model *model;
    void *state;                 /* the model's, of this run */
    void *states[FR_N_NETWORKS]; /* NULL: not asked for so far */
    struct fr__routes routes;
    struct fr__channels channels;
    struct fr__message *messages;
    size_t n_messages, cap_messages;
    uint32_t first_free;
    double *link_bytes;   /* [n_links] result; NULL: not wanted */
    uint32_t n_under_way; /* messages that have started and not arrived */
    double next_s;        /* the model's own next event */
    bool is_next_known;   /* nothing has changed since next_s was asked for */
    /* Called before a message of another owner uses links; NULL: none stands for several. */
    void (*before_sharing)(struct fr__engine *e);
};

/* Collectives in progress; see collectives/. Kept from run to run: found, rings, cap_rings,
 * n_rings. */
struct fr__collectives {
    struct fr__repeats *repeats;   /* collectives that repeat each other (collectives/repeats.c) */
    struct fr__arrivals *arrivals; /* [n_collectives] */
    uint32_t *rings_left; /* [members of all collectives] rings still to end at that rank */
    const struct fr__ring_set **ring_set; /* [n_groups] looked up when first asked for */
    struct fr__rings found;
    struct fr__ring_state *rings;
    size_t n_rings, cap_rings;
    uint32_t free_ring, n_folded;   /* n_folded: of the rings in progress */
    struct fr__step_work *steps;    /* schedules in progress; NULL: none so far */
    struct fr__kept_models *models; /* of NCCL, kept from run to run (collectives/nccl_choice.c) */
    struct fr__link_loads *link_loads; /* what collectives put on links (collectives/link_load.h) */
    struct fr__collective_flow *flows; /* collectives that share their links as one flow */
    size_t n_flows, cap_flows;
    uint32_t free_flow;
};

/* A collective in progress that is one flow; see collectives/flows.c. */
struct fr__collective_flow {
    const struct fr__link_load *load;
    uint32_t collective; /* of a free one: the next free one */
    uint32_t parts_left;
    double before_s;                            /* passes before the next part */
    double latency_s, bytes, most_Bps, stretch; /* of each part */
    enum fr_link_kind kind;
    bool is_behind;
};

struct fr__engine {
    const struct fr_plan *plan;
    const struct fr_plan_view *v;
    const struct fr_run_options *o;
    struct fr_error *err;
    enum fr_status status;     /* the first failure inside the loop */
    struct fr__arena *arena;   /* the run's results, which outlive the engine's work on it */
    struct fr__arena *scratch; /* all else that one run needs */
    unsigned want;             /* enum fr_want */
    double now_s;
    uint32_t n_done;
    uint32_t n_steps; /* of long work outside of the loop; see fr__engine_goes_on */
    bool is_stopped;  /* time has passed the options' stop_s */
    bool is_usual;    /* no rare wish: strict order, allocation at start, interference, parts, times
                        other than the costs' means */
    bool is_large;    /* the run does not fit into a cache, so memory is fetched ahead */
    bool is_varied;   /* tasks may take another time than their cost's mean */
    bool is_accounted; /* the devices' times are wanted */
    struct fr__event_queue events;

    struct fr__state *tasks;    /* [n_tasks] */
    uint32_t *order;            /* strict: tasks of each stream in the plan's order */
    struct fr__stream *streams; /* [STREAMS_A_DEVICE][device_mask + 1]; those that no plan has used
                               take address space, but no memory */
    uint32_t device_mask;       /* the bits of a stream's number that are its device */
    unsigned used_streams;      /* bit s: a plan has used stream s of a device, ever */
    uint32_t *dirty;            /* streams to look at this instant */
    size_t n_dirty;
    uint32_t *markers; /* ready markers still to complete; room for all of the plan */
    size_t n_markers;
    struct fr__device *devices;
    struct fr_device_result *results; /* [n_devices] */
    double *slowdown;                 /* [n_devices] or NULL */
    struct fr__spread jitter;         /* of tasks, see random.c */

    struct fr__host_state *hosts; /* [n_devices]; NULL: the options name no host */
    double *host_parts_s; /* [n_devices][parts->n] of the moment at which a host last waited */

    struct fr__memory memory;
    struct fr__interference work;
    struct fr__network network;
    struct fr__collectives collectives;
    struct fr__parts *parts; /* NULL: not asked for */
    struct fr_run_stats stats;

    /* Seconds of a collective that is alone on its links, message by message over all ranks of its
     * group, by a run of its own; NAN: it fails, and the failure is kept. Set by simulation.c. */
    double (*rehearse)(struct fr__engine *e, uint32_t collective);
};

static inline bool fr__wants(const struct fr__engine *e, enum fr_want what)
{
    return (e->want & (unsigned)what) != 0;
}

/* ---- devices, as fast as the options make them ---- */

/* 1, or what the options say of a device. */
static inline double fr__device_slowness(const struct fr__engine *e, uint32_t device,
                                         enum fr_device_resource what)
{
    if (!e->o->slowness)
        return 1;
    return e->o->slowness[fr_device_resource(e->v->topo->devices[device].type, what)];
}

/* Else the op was measured as a whole. */
static inline bool fr__has_roofline(const struct fr_cost *c)
{
    return c->mean_s > 0 && (c->flops_s > 0 || c->bytes_s > 0);
}

/* Host time to launch a task of a cost, or of none. */
static inline double fr__launch_s(const struct fr__engine *e, uint32_t cost_id, uint32_t device)
{
    if (cost_id == FR_NONE)
        return 0;
    return e->v->costs[cost_id].launch_s * fr__device_slowness(e, device, FR_DEVICE_LAUNCH);
}

/* Keeps a failure; the loop ends. */
static inline enum fr_status fr__engine_fail(struct fr__engine *e, enum fr_status st)
{
    if (e->status == FR_OK)
        e->status = st;
    return e->status;
}

static inline enum fr_status fr__engine_fail_nomem(struct fr__engine *e)
{
    return e->status == FR_OK ? fr__engine_fail(e, fr__fail_nomem(e->err)) : e->status;
}

/* ---- look.c ---- */
/* Tells of progress, and fails the run if it is to end. */
void fr__engine_look_up(struct fr__engine *e);
/* For one step of work that has millions of them within one event: whether the run still goes on.
 * Looks up after a number of steps. */
bool fr__engine_goes_on(struct fr__engine *e);

/* ---- engine.c ---- */
/* Runs until all tasks are done, nothing can go on, the options' stop_s has passed or something
 * failed (e->status). */
void fr__engine_loop(struct fr__engine *e);

/* ---- streams.c ---- */
/* Adds an event: `what` happens to the task, message, transfer or collective `id` at t_s. */
void fr__push_event(struct fr__engine *e, double t_s, uint32_t id, uint32_t what);
/* strict: sets the order of each stream's tasks. */
enum fr_status fr__order_streams(struct fr__engine *e);
/* Sets the devices' accounts of the last iteration: up to its end, less up to the end before it.
 * Call it at both ends, the second time with is_last. */
void fr__account_iteration(struct fr__engine *e, bool is_last);
/* A dispatched task starts now; a started task ends now. */
void fr__task_started(struct fr__engine *e, uint32_t task);
void fr__task_done(struct fr__engine *e, uint32_t task);
/* The host time at which a dispatched task's launch is over. */
double fr__host_launch(struct fr__engine *e, uint32_t task);

/* ---- host.c ---- */

/* Sets e->hosts as the options say; nothing without options. After fr__parts_init. false: out of
 * memory. */
bool fr__host_init(struct fr__engine *e);
/* What the host takes to launch a task that is dispatched now. Where it first waits for the GPU,
 * the device's host_s is set to now. */
double fr__host_work_s(struct fr__engine *e, uint32_t task, uint32_t cost_id, uint32_t device);
/* The parts of the end of a launch by a host that has waited: those of the wait, and launches from
 * then on. launch: the resource. false: it has not waited. */
bool fr__host_parts(const struct fr__engine *e, uint32_t device, double now_s[], size_t launch);

/* Where a task's list of n items ends, which begins at `at` of the plan's index `first`. */
static inline uint32_t fr__list_end(const uint32_t first[], uint32_t task, uint32_t at, uint32_t n)
{
    return n < MANY ? at + n : first[task + 1];
}

static inline uint32_t fr__device_of(const struct fr__engine *e, uint32_t task)
{
    return e->tasks[task].stream & e->device_mask;
}

/* The number of a device's stream, FR_STREAM_FREE among them. */
static inline uint32_t fr__stream_number(const struct fr__engine *e, uint32_t device,
                                         uint32_t stream)
{
    uint32_t which = stream == FR_STREAM_FREE ? STREAM_OF_FREE : stream;

    return which * (e->device_mask + 1) + device;
}

/* Brings a device's account up to now; call before changing what runs on it. */
static inline void fr__device_account(const struct fr__engine *e, struct fr__device *k)
{
    struct fr_device_times *times = &k->times;
    double dt_s = e->now_s - k->since_s;
    bool is_moving;

    if (!(dt_s > 0) || !e->is_accounted)
        return;
    is_moving = k->n_copying + k->n_collective > 0;
    k->since_s = e->now_s;
    if (k->n_computing > 0)
        times->compute_s += dt_s;
    else if (is_moving)
        times->exposed_comm_s += dt_s;
    else
        times->idle_s += dt_s;
    if (is_moving)
        times->comm_s += dt_s;
}

static inline const struct fr__route *fr__route_at(const struct fr__engine *e, uint32_t route)
{
    return &e->network.routes.at[route];
}

static inline bool fr__has_interference(const struct fr__engine *e)
{
    return e->o->interference != NULL;
}

/* ---- network/network.c ---- */
enum fr_status fr__network_reset(struct fr__engine *e);
void fr__network_fini(struct fr__engine *e);
/* The route of a message between two devices, to be given back by fr__route_release; FR_NONE with
 * the failure kept. */
static inline uint32_t fr__route_take(struct fr__engine *e, uint32_t src, uint32_t dst)
{
    uint32_t route = fr__routes_kept(&e->network.routes, src, dst);
    enum fr_status st = FR_OK;

    if (route == FR_NONE)
        st = fr__routes_take(&e->network.routes, src, dst, &route, e->err);
    if (st == FR_OK)
        return route;
    fr__engine_fail(e, st);
    return FR_NONE;
}
static inline void fr__route_release(struct fr__engine *e, uint32_t route)
{
    fr__routes_release(&e->network.routes, route);
}
/* What a transfer of so many bytes takes alone on a route. */
static inline struct fr__alone fr__transfer_alone(const struct fr__engine *e,
                                                  const struct fr__route *route, double bytes)
{
    return e->network.model->alone(&e->network.routes, route, e->o->messages, bytes);
}
/* Ends all messages whose time has come; the model's next event was not later than now. */
void fr__network_advance(struct fr__engine *e);

/* ---- transfers.c ---- */
extern const struct fr__message_owner fr__transfer_messages;
void fr__transfer_start(struct fr__engine *e, uint32_t transfer);
void fr__transfer_launched(struct fr__engine *e, uint32_t transfer); /* the same, after its hosts */
/* Called when a send or receive has been dispatched. */
void fr__transfer_arrive(struct fr__engine *e, uint32_t task);

/* ---- memory/memory.c ---- */
/* Whether buffers are looked at, by what is wanted of the run. */
static inline bool fr__counts_memory(unsigned want)
{
    return (want & (FR_WANT_MEMORY | FR_WANT_HOLDERS)) != 0;
}
enum fr_status fr__memory_init(struct fr__engine *e);
void fr__memory_alloc_some(struct fr__engine *e, uint32_t task); /* there are some */
void fr__memory_free_some(struct fr__engine *e, uint32_t task);
static inline void fr__memory_alloc(struct fr__engine *e, uint32_t task)
{
    if (e->tasks[task].n_alloc > 0)
        fr__memory_alloc_some(e, task);
}
/* Of a task that is not done. */
static inline void fr__memory_free(struct fr__engine *e, uint32_t task)
{
    if (e->tasks[task].n_free > 0)
        fr__memory_free_some(e, task);
}
enum fr_status fr__memory_result(struct fr__engine *e, struct fr_run *run);

/* ---- interference.c ---- */
enum fr_status fr__interference_init(struct fr__engine *e);
void fr__compute_begin(struct fr__engine *e, uint32_t task, double work_s);
void fr__compute_end(struct fr__engine *e, uint32_t task);
bool fr__compute_is_current(const struct fr__engine *e, uint32_t task, uint32_t version);
/* What runs on the device has changed: compute tasks there get new rates. */
void fr__rerate_device(struct fr__engine *e, uint32_t device); /* with interference */
static inline void fr__rerate(struct fr__engine *e, uint32_t device)
{
    if (fr__has_interference(e))
        fr__rerate_device(e, device);
}
/* How much slower communication of a class goes between two devices now. */
double fr__stretch_between(const struct fr__engine *e, enum fr_work_class c, uint32_t src,
                           uint32_t dst);
static inline double fr__comm_stretch(const struct fr__engine *e, enum fr_work_class c,
                                      uint32_t src, uint32_t dst)
{
    return fr__has_interference(e) ? fr__stretch_between(e, c, src, dst) : 1;
}

/* ---- random.c ---- */
enum fr_status fr__random_init(struct fr__engine *e);
/* The mean time of a compute task, as fast as the options make its device; of *e only v and o are
 * looked at. */
double fr__mean_duration(const struct fr__engine *e, const struct fr_task *k);
double fr__varied_duration(const struct fr__engine *e, uint32_t task);
/* A compute task's time with slow-down and jitter. */
static inline double fr__task_duration(const struct fr__engine *e, uint32_t task)
{
    uint32_t cost = e->tasks[task].cost_id;

    if (cost == FR_NONE)
        return 0;
    return e->is_varied ? fr__varied_duration(e, task) : e->v->costs[cost].mean_s;
}

/* ---- afterwards ---- */
/* Says which tasks wait for each other; returns FR_EDEADLOCK. */
enum fr_status fr__deadlock_report(struct fr__engine *e);
/* See bound.c. */
enum fr_status fr__lower_bounds(struct fr__engine *e, struct fr_run *run);
/* What each link must have carried, from the plan's messages alone. bytes: [n_links]. */
enum fr_status fr__expected_link_bytes(struct fr__engine *e, double bytes[]);
/* Seconds of a transfer alone on its route. */
double fr__message_alone(struct fr__engine *e, const struct fr_transfer *x);
/* The task that ends last, the first of equals; FR_NONE: there is no task. */
uint32_t fr__last_task(const struct fr__engine *e);
enum fr_status fr__critical_path(struct fr__engine *e, struct fr_run *run);
/* Sets the run's serial_s and busiest_s; n_iterations is set. */
enum fr_status fr__totals(struct fr__engine *e, struct fr_run *run);

#include "sim/collectives/internal.h"

#endif
