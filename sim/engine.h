/* sim/engine.h - the engine's state, shared by the files that are its parts.
 *
 *   engine.c      the loop: instants, ready tasks, streams, completions
 *   network.c     transfers and flows: latency, channels, analytic or max-min rates
 *   message.c     what transfers take alone where that was measured
 *   collective.c  collectives: their members meet, then steps (collective_steps.c) or a known time
 *                 (collective_form.c, or their own)
 *   memory.c      buffers; requests.c and allocator.c give them addresses
 *   interference.c rates of work side by side on a device
 *   random.c      jitter and slow devices
 *   sensitivity.c what each moment of the run is made of
 *   deadlock.c, selfcheck.c, bound.c, critical.c, totals.c   what is said afterwards
 *
 * Arrays of plain values, indexed by task, device or link; nothing is allocated per event.
 */
#ifndef FR_SIM_ENGINE_H
#define FR_SIM_ENGINE_H

#include "sim/heap.h"
#include "sim/network/maxmin.h"
#include "plan/internal.h"
#include "sim/sim.h"

#include "base/error.h"

enum event_what {
    EVENT_TASK_DONE,
    EVENT_TASK_START,       /* the host has launched it */
    EVENT_TRANSFER_START,   /* both hosts have */
    EVENT_COLLECTIVE_START, /* all hosts have */
    EVENT_COLLECTIVE_DONE,  /* closed form, or at its own cost */
    EVENT_FLOW_ACTIVE,      /* its latency is over: it begins to share */
    EVENT_FLOW_DONE,        /* analytic */
};
/* The event's word: what it is, and for things whose rate may change the version that counts. */
enum { EVENT_WHAT_BITS = 8 };

enum progress { TASK_WAITING, TASK_DISPATCHED, TASK_STARTED, TASK_DONE };

/* All that the loop needs of a task, in half a cache line: a run of many devices waits for memory, and
 * each step of a task's life reads this and little else. What is no longer needed makes room for what
 * becomes known. Lists longer than their count can say end where the plan's index says. */
struct state {
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
    uint32_t stream;         /* of struct engine's streams */
    union {                  /* by kind, set by reference_of() in engine.c */
        uint32_t cost_id;    /* compute: row of the cost table, or FR_NONE */
        uint32_t transfer;   /* send, receive */
        uint32_t collective; /* member of a collective */
    };
    unsigned kind : 3;         /* enum fr_task_kind */
    unsigned progress : 2;     /* enum progress */
    unsigned has_own_cost : 1; /* a task other than compute that takes its host's time */
    unsigned n_alloc : 8, n_succ : 9, n_free : 9;
};
enum { MANY_ALLOC = 255, MANY_SUCC = 511, MANY_FREE = 511 };

/* A task waiting for its stream. */
struct waiting {
    double ready_s;
    uint64_t key; /* ordered like (priority, task); its lower half is the task */
};

struct stream {
    struct waiting *queue; /* binary heap in the order asked for */
    uint32_t n, cap;
    uint32_t running; /* task, or FR_NONE */
    uint32_t last;    /* the task that ran before */
    uint32_t next;    /* strict: position in `order` */
    bool is_dirty;    /* may start something this instant */
};

/* One more than a plan may name: tasks that wait for no stream. */
enum { STREAMS_A_DEVICE = FR_N_STREAMS + 1, STREAM_OF_FREE = FR_N_STREAMS };

struct device {
    double since_s; /* the account is up to date until here */
    double host_s;  /* the host thread has dispatched everything up to here */
    uint32_t n_computing, n_copying, n_collective;
    uint32_t n_in, n_out;                   /* channels in use */
    uint32_t waiting_out, waiting_out_last; /* flows that wait for a channel, oldest first */
    uint32_t waiting_in, waiting_in_last;
    uint64_t bytes, peak_bytes;
    uint64_t limit_bytes; /* what buffers but the context may take */
    uint64_t by_kind[FR_N_BUFFER_KINDS];
};

/* What the loop needs of a buffer that a task allocates, in a quarter of a cache line. They lie as the
 * plan lists what tasks allocate, so that a task leads to its own at once. */
struct live {
    uint64_t bytes;
    uint32_t frees_left;
    uint32_t of; /* device * FR_N_BUFFER_KINDS + kind */
};

/* More kinds of messages a topology does not have. */
enum { NO_MESSAGE = UINT8_MAX };

enum { INLINE_HOPS = 8 };

/* 64 bytes. */
struct route {
    double latency_s;
    double bw_Bps; /* of its narrowest link */
    uint32_t src, dst;
    uint16_t n_links;
    uint8_t message;             /* of the options' messages, or NO_MESSAGE; see message.c */
    bool is_passing;             /* of one message, dropped with it */
    uint32_t links[INLINE_HOPS]; /* of more: links[0] is where they begin in long_links; of a free
                                    route: the next one */
};

struct route_entry {
    uint64_t key;   /* src, dst */
    uint32_t route; /* FR_NONE: free */
};

enum flow_owner { FLOW_OF_TRANSFER, FLOW_OF_RING };

/* One message under way. */
struct flow {
    double bytes;
    uint32_t route;
    uint32_t owner;                                /* transfer, or ring in progress */
    uint32_t hop;                                  /* position in the ring */
    uint32_t slot;                                 /* in the solver */
    uint32_t next_out, prev_out, next_in, prev_in; /* waiting for a channel; next_out: free list */
    uint8_t owner_kind;                            /* enum flow_owner */
};

/* A collective in progress: meeting first, then its rings. */
struct meeting {
    double start_s;
    uint32_t n_arrived;
    uint32_t last;   /* the member that came last */
    uint32_t latest; /* the one whose launch was over last */
};

/* How messages of collectives go; see collective_form.c. */
enum pattern { PATTERN_RING, PATTERN_CHAIN, PATTERN_SHIFT };

/* One ring or chain of a collective, or all of a shift: in each round each place (in a chain all but the last)
 * sends a chunk. */
struct course {
    enum pattern pattern;
    uint32_t collective, n, n_rounds;
    uint32_t first; /* place that a chain begins at */
    double chunk_bytes;
    const uint32_t *ranks;  /* [n] by place; NULL: a shift, place by rank */
    const uint32_t *routes; /* [n] from a place to the next; NULL: a shift */
};

/* A course in progress. */
struct ring {
    struct course course;
    uint32_t n_done;                      /* ranks that have sent and received everything */
    uint32_t *launched, *sent, *received; /* [n] rounds; one allocation, owned by `launched` */
    uint32_t cap;                         /* of each */
    uint32_t next_free;
};

/* The rings of a group, found when its first collective starts. */
struct tours {
    uint32_t n_rings;       /* 0: not looked for yet */
    uint32_t *ranks;        /* [n_rings][n] */
    uint32_t *routes;       /* [n_rings][n] */
    double *share_frac;     /* [n_rings] */
    enum fr_link_kind kind; /* the outermost that the first ring crosses */
};

/* What each moment is made of, by resource; only when asked for. See sensitivity.c. */
struct parts {
    size_t n;       /* resources */
    double *now_s;  /* [n] of the moment being handled */
    double *rate_s; /* [n] of the last moment at which a flow began or ended */
    double *task_s; /* [n_tasks][n] of its start while it runs, then of its end */
    struct flow_parts *flows;
    double *flow_s; /* [cap_flows][3][n] of the flow's last change of rate; work held over; of the
                       moment at which it began to share */
    size_t cap_flows;
    struct level *levels; /* [n_links] */
    uint64_t epoch;       /* of the levels that hold now */
    uint64_t n_rough;     /* flows whose slope was given up */
};

struct engine {
    const struct fr_plan *plan;
    const struct fr_plan_view *v;
    const struct fr_run_options *o;
    struct fr_error *err;
    enum fr_status status;   /* the first failure inside the loop */
    struct fr__arena *arena; /* the run's: results and what lives as long */
    double now_s;
    uint32_t n_done;
    struct fr__heap events;

    struct state *tasks;    /* [n_tasks] */
    uint32_t *order;        /* strict: tasks of each stream in the plan's order */
    struct stream *streams; /* [n_devices][STREAMS_A_DEVICE] */
    uint32_t *dirty;        /* streams to look at this instant */
    size_t n_dirty;
    uint32_t *markers; /* ready markers still to complete; [n_tasks] only when the plan has any */
    size_t n_markers;
    struct device *devices;
    struct fr_device_result *results; /* [n_devices] */
    uint32_t last_ends[2]; /* tasks that end the last iteration but one and the last; FR_NONE */

    struct live *live;             /* by place in the plan's list of what is allocated */
    uint32_t *freed;               /* the plan's list of what is freed, as places in `live` */
    struct fr__requests *requests; /* [n_devices]; NULL: counted only */
    uint64_t *asked;               /* theirs, device by device */
    uint32_t *takes;               /* [n_buffers] of the device's requests, or FR_NONE; or NULL */
    uint32_t *held_from, *held_until; /* [n_buffers] the run's, see struct fr_run; or NULL */
    uint32_t n_allocations;           /* tasks that have allocated */
    bool is_varied;                   /* tasks may take another time than their cost's mean */
    double *slowdown;                 /* [n_devices] or NULL */
    struct {                          /* interference, or NULL: by task */
        double *left_s, *rate, *since_s;
        uint32_t *version;
        uint32_t *next, *prev, *first; /* running compute tasks by device; first: [n_devices] */
    } work;

    struct fr_router *router;
    struct fr__maxmin *solver; /* NULL: analytic */
    struct route *routes;
    uint32_t *long_links;
    size_t n_routes, cap_routes, n_long_links, cap_long_links, n_kept_routes;
    uint32_t free_route;
    uint32_t *route_of;              /* [n_devices][n_devices]; NULL: there are too many */
    struct route_entry *route_table; /* open addressing on (src, dst) */
    size_t route_table_size;
    struct flow *flows;
    size_t n_flows, cap_flows;
    uint32_t free_flow;
    double *link_bytes; /* [n_links] result */

    struct meeting *meetings; /* [n_collectives] */
    uint32_t *rings_left;     /* [members of all collectives] rings still to end at that rank */
    struct tours *tours;      /* [n_groups] */
    struct ring *rings;
    size_t n_rings, cap_rings;
    uint32_t free_ring;
    struct parts *parts; /* NULL: not asked for */
    struct fr_run_stats stats;
};

/* ---- resources, as fast as the options make them ---- */

static inline double fr__link_bw_Bps(const struct engine *e, uint32_t link)
{
    const struct fr_link *l = &e->v->topo->links[link];

    if (!e->o->slowness)
        return l->bw_Bps;
    return l->bw_Bps / e->o->slowness[fr_link_resource(l->kind, FR_LINK_BANDWIDTH)];
}

static inline double fr__link_latency_s(const struct engine *e, uint32_t link)
{
    const struct fr_link *l = &e->v->topo->links[link];

    if (!e->o->slowness)
        return l->latency_s;
    return l->latency_s * e->o->slowness[fr_link_resource(l->kind, FR_LINK_LATENCY)];
}

/* 1, or what the options say of a device. */
static inline double fr__device_slowness(const struct engine *e, uint32_t device,
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
static inline double fr__launch_s(const struct engine *e, uint32_t cost_id, uint32_t device)
{
    if (cost_id == FR_NONE)
        return 0;
    return e->v->costs[cost_id].launch_s * fr__device_slowness(e, device, FR_DEVICE_LAUNCH);
}

/* ---- engine.c ---- */
enum fr_status fr__engine_fail_nomem(struct engine *e); /* keeps the failure; the loop ends */
void fr__push_event(struct engine *e, double t_s, uint32_t id, uint32_t what);
/* Now a task starts, which is dispatched; now it ends. */
void fr__task_started(struct engine *e, uint32_t task);
void fr__task_done(struct engine *e, uint32_t task);
/* The host time at which a dispatched task's launch is over. */
double fr__host_launch(struct engine *e, uint32_t task);

/* Where a list of a task ends that begins at `at`: after n, or where the plan's index says it does if
 * n is as many as could be noted. */
static inline uint32_t fr__list_end(const uint32_t first[], uint32_t task, uint32_t at, uint32_t n,
                                    uint32_t many)
{
    return n < many ? at + n : first[task + 1];
}

static inline uint32_t fr__device_of(const struct engine *e, uint32_t task)
{
    return e->tasks[task].stream / STREAMS_A_DEVICE;
}

/* Brings a device's account up to now; call before changing what runs on it. */
static inline void fr__device_account(struct engine *e, uint32_t d)
{
    struct device *k = &e->devices[d];
    struct fr_device_result *r = &e->results[d];
    double dt_s = e->now_s - k->since_s;
    bool is_moving = k->n_copying + k->n_collective > 0;

    k->since_s = e->now_s;
    if (k->n_computing > 0)
        r->compute_s += dt_s;
    else if (is_moving)
        r->exposed_comm_s += dt_s;
    else
        r->idle_s += dt_s;
    if (is_moving)
        r->comm_s += dt_s;
}

static inline const uint32_t *fr__route_links(const struct engine *e, const struct route *r)
{
    return r->n_links <= INLINE_HOPS ? r->links : e->long_links + r->links[0];
}

static inline bool fr__has_interference(const struct engine *e)
{
    return e->o->interference != NULL;
}

/* ---- message.c ---- */
/* Before a transfer shares its links: its latency, and what else it takes beyond the bytes at their bandwidth. */
struct message_time {
    double latency_s, extra_s;
    enum fr_link_kind kind; /* whose latency and bandwidth these are, when */
    bool is_fitted;
};
struct message_time fr__message_time(const struct engine *e, const struct route *r, double bytes);
/* Which fit a route is of; its links are set. */
uint8_t fr__route_message(const struct engine *e, const struct route *r);

/* ---- network.c ---- */
enum fr_status fr__network_init(struct engine *e);
void fr__network_fini(struct engine *e);
/* Route number from device src to dst, kept to the end, or FR_NONE with the failure kept. */
uint32_t fr__route_find(struct engine *e, uint32_t src, uint32_t dst);
/* The same for one message, to be given back by fr__route_release: of a great many pairs only the
 * first few thousand are kept, since looking one up costs as much as walking it anew. */
uint32_t fr__route_take(struct engine *e, uint32_t src, uint32_t dst);
void fr__route_release(struct engine *e, uint32_t route);
void fr__flow_start(struct engine *e, enum flow_owner kind, uint32_t owner, uint32_t hop,
                    uint32_t route, double bytes);
void fr__flow_event(struct engine *e, uint32_t flow, enum event_what what);
void fr__transfer_start(struct engine *e, uint32_t transfer);
void fr__transfer_launched(struct engine *e, uint32_t transfer); /* the same, after its hosts */
/* Called when a send or receive has been dispatched. */
void fr__transfer_meet(struct engine *e, uint32_t task);
/* The next completion in the flow network; INFINITY: none. */
double fr__network_next(struct engine *e);
/* Ends all flows whose time has come. */
void fr__network_complete(struct engine *e);

/* ---- collective.c ---- */
enum fr_status fr__collectives_init(struct engine *e);
void fr__collectives_fini(struct engine *e);
void fr__collective_meet(struct engine *e, uint32_t task);
void fr__collective_start(struct engine *e, uint32_t collective);
/* One rank's member has nothing more to move. */
void fr__member_done(struct engine *e, uint32_t task);
void fr__collective_done(struct engine *e, uint32_t collective); /* closed form or at its cost */
/* ---- collective_form.c ---- */
/* The rings of a group; NULL with the failure kept. */
const struct tours *fr__group_tours(struct engine *e, uint32_t group);
/* How a collective goes, side by side; none for fewer than two ranks, or with the failure kept. */
uint32_t fr__n_courses(struct engine *e, uint32_t collective);
struct course fr__course(struct engine *e, uint32_t collective, uint32_t r);
/* Where the message of a place goes in a round (from 0), and its route, to be given back by
 * fr__route_release or with its flow; FR_NONE with the failure kept. */
uint32_t fr__course_next(const struct course *k, uint32_t place, uint32_t round);
uint32_t fr__course_route(struct engine *e, const struct course *k, uint32_t place, uint32_t round);
/* Seconds of one message over a route, alone. */
double fr__hop_s(const struct engine *e, uint32_t route, double bytes);
/* Seconds by the closed form; all courses side by side. */
double fr__collective_alone(struct engine *e, uint32_t collective);
/* The same; hands fn the messages that these seconds are made of: n of so many bytes over a route. */
typedef void fr__hop_fn(struct engine *e, void *user, uint32_t route, double bytes, double n);
double fr__collective_hops(struct engine *e, uint32_t collective, fr__hop_fn *fn, void *user);
/* Adds what its steps put on each link. link_bytes: [n_links]. */
void fr__collective_bytes(struct engine *e, uint32_t collective, double link_bytes[]);

/* ---- collective_steps.c ---- */
/* All members have started. */
void fr__collective_steps(struct engine *e, uint32_t collective);
void fr__ring_hop_done(struct engine *e, uint32_t ring, uint32_t hop);

/* ---- collective.c, its own cost ---- */
/* At its own cost, whose time is made of the bandwidth of one kind of link and its latency. */
struct own_cost {
    double bandwidth_s, latency_s;
    enum fr_link_kind kind;
};
/* Whether the collective takes its own cost. */
bool fr__collective_has_cost(const struct engine *e, uint32_t collective);
struct own_cost fr__collective_cost(struct engine *e, uint32_t collective);

/* ---- memory.c ---- */
enum fr_status fr__memory_init(struct engine *e);
void fr__memory_alloc(struct engine *e, uint32_t task);
void fr__memory_free(struct engine *e, uint32_t task);
enum fr_status fr__memory_result(struct engine *e, struct fr_run *run);
void fr__memory_fini(struct engine *e);

/* ---- interference.c ---- */
enum fr_status fr__interference_init(struct engine *e);
void fr__compute_begin(struct engine *e, uint32_t task, double work_s);
void fr__compute_end(struct engine *e, uint32_t task);
bool fr__compute_is_current(const struct engine *e, uint32_t task, uint32_t version);
/* What runs on the device has changed: compute tasks there get new rates. */
void fr__rerate(struct engine *e, uint32_t device);
/* How much slower communication of a class goes between two devices now. */
double fr__comm_stretch(const struct engine *e, enum fr_work_class c, uint32_t src, uint32_t dst);

/* ---- random.c ---- */
enum fr_status fr__random_init(struct engine *e);
double fr__varied_duration(const struct engine *e, uint32_t task);
/* A compute task's time with slow-down and jitter. */
static inline double fr__task_duration(const struct engine *e, uint32_t task)
{
    uint32_t cost = e->tasks[task].cost_id;

    if (cost == FR_NONE)
        return 0;
    return e->is_varied ? fr__varied_duration(e, task) : e->v->costs[cost].mean_s;
}

/* ---- sensitivity.c: all but the first two only when e->parts is there ---- */
enum fr_status fr__parts_init(struct engine *e);
void fr__parts_fini(struct engine *e);
/* The moment being handled is ... */
void fr__parts_at_end(struct engine *e, uint32_t task); /* the end of a task; FR_NONE: time 0 */
void fr__parts_at_launch(struct engine *e, uint32_t device); /* the end of a launch there */
void fr__parts_at_compute_done(struct engine *e, uint32_t task);
/* closed form or at its own cost */
void fr__parts_at_collective_done(struct engine *e, uint32_t collective);
void fr__parts_at_flow_active(struct engine *e, uint32_t flow);
void fr__parts_at_flow_done(struct engine *e, uint32_t flow);
/* That moment is when a task starts or ends, when a flow leaves. */
void fr__parts_keep(struct engine *e, uint32_t task);
void fr__parts_flow_go(struct engine *e, uint32_t flow);
/* Some flows have new rates since the last moment at which one began or ended. */
void fr__parts_rates_changed(struct engine *e);
/* Copies the parts of the iteration into the run. */
enum fr_status fr__parts_result(struct engine *e, struct fr_run *run);

/* ---- afterwards ---- */
/* Says which tasks wait for each other; returns FR_EDEADLOCK. */
enum fr_status fr__deadlock_report(struct engine *e);
/* See bound.c. */
enum fr_status fr__lower_bounds(struct engine *e, struct fr_run *run);
/* What each link must have carried, from the plan's messages alone. bytes: [n_links]. */
enum fr_status fr__expected_link_bytes(struct engine *e, double bytes[]);
/* Seconds of a message alone on its route. */
double fr__message_alone(struct engine *e, const struct fr_transfer *x);
enum fr_status fr__critical_path(struct engine *e, struct fr_run *run);
/* Sets the run's serial_s and busiest_s; n_iterations is set. */
enum fr_status fr__totals(struct engine *e, struct fr_run *run);

#endif
