/* sim/analysis/sensitivity.c - how much of a run's time each resource accounts for.
 *
 * Let s_i be the slowness of resource i: 1 as it is, 1.01 if it is 1 % slower. Every time t in a
 * run is a homogeneous function of degree 1 of all s_i, so that t = sum over i of s_i dt/ds_i
 * (Euler). The terms of this sum are called the parts of t. They are computed along with the times
 * themselves (forward differentiation: A. Griewank, A. Walther, Evaluating Derivatives, 2nd ed.
 * 2008, chapter 3):
 * - A task starts with the parts of the end that caused it. If it waited for its launch, it starts
 *   with the parts of the launch, which is the sum of all launches on its device so far.
 * - A compute task adds its time to the resource that bounds it.
 * - A message adds its latencies to the kinds of its links, then the time of its bytes, as below.
 * - A step of a ring starts with the parts of whatever released it.
 *
 * Bytes under shared rates. A flow has rate r_k between the times t_k and t_k+1, k = 0 .. m, and
 * moves its bytes: sum of r_k (t_k+1 - t_k) = bytes. Let p(t) be the parts of a time and q_k those
 * of the rate, - s_i dr_k/ds_i, which sum to r_k. Then:
 *
 *   sum over k of r_k (p(t_k+1) - p(t_k)) = sum over k of (t_k+1 - t_k) q_k
 *   p(t_m+1) = p(t_m) + (t_m+1 - t_m) q_m / r_m + h / r_m
 *   h        = sum over k < m of (t_k+1 - t_k) q_k + r_k (p(t_k) - p(t_k+1))
 *
 * So the end of a flow also depends on when other flows that slowed it began and ended. h sums to 0
 * over the resources, and all parts of a time sum to that time. The rates and their parts q come
 * from the network model. Under a model without rates the time of a message is divided as if it
 * were alone.
 *
 * Steep slopes. Where a rate falls, the end of the flow moves by more than the time at which the
 * rate fell. After many such changes the slopes grow without bound and hold for smaller and smaller
 * steps only: the run is chaotic, and 1 % less of anything may make it longer. So when the parts of
 * a flow cancel each other too much (MOST_STEEP), its parts are computed as if it had been bounded
 * from its beginning as it was at its end. The run counts these flows.
 *
 * Ignores: that several causes may end at the same time (the one that is handled last counts), and
 *          interference, whose periods are taken as fixed.
 */
#include "config.h"

#include "sim/engine.h"
#include "sim/analysis/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The limit for the sum of the parts' absolute values over the time itself; above it the exact
 * slope is dropped (see above). One in fourteen random plans (tests/sim/test_sensitivity.c) has a
 * message that is so steep. A limit of 2 would drop exact slopes in more than a third of the plans.
 * Without a limit, estimates for +25 % are a quarter worse than with 1.5. */
static const double MOST_STEEP = 4;

struct fr__message_parts {
    double since_s;                    /* when it started, later when its rate last changed */
    double rate_Bps;                   /* 0: it does not move yet */
    double bound_Bps[FR_N_LINK_KINDS]; /* the rate's parts, by kind of link */
};

/* ---- life ---- */

enum fr_status fr__parts_init(struct fr__engine *e)
{
    struct fr__parts *p;

    if (!fr__wants(e, FR_WANT_PARTS))
        return FR_OK;
    p = e->parts = calloc(1, sizeof(*p));
    if (!p)
        return fr__engine_fail_nomem(e);
    p->n = fr_n_resources(e->v->topo);
    p->now_s = calloc(p->n, sizeof(*p->now_s));
    p->rate_s = calloc(p->n, sizeof(*p->rate_s));
    if (e->v->n_tasks < SIZE_MAX / sizeof(*p->task_s) / (p->n + 1))
        p->task_s = calloc((e->v->n_tasks + 1) * p->n, sizeof(*p->task_s));
    return p->now_s && p->rate_s && p->task_s ? FR_OK : fr__engine_fail_nomem(e);
}

void fr__parts_fini(struct fr__engine *e)
{
    if (!e->parts)
        return;
    free(e->parts->now_s);
    free(e->parts->rate_s);
    free(e->parts->task_s);
    free(e->parts->messages);
    free(e->parts->message_s);
    free(e->parts);
    e->parts = NULL;
}

static void copy(const struct fr__parts *p, double to_s[], const double from_s[])
{
    memcpy(to_s, from_s, p->n * sizeof(*to_s));
}

static double *of_task(const struct fr__parts *p, uint32_t task)
{
    return p->task_s + task * p->n;
}

static double *of_message(const struct fr__parts *p, uint32_t message)
{
    return p->message_s + message * 3 * p->n;
}

static double *held_over(const struct fr__parts *p, uint32_t message)
{
    return of_message(p, message) + p->n;
}

static double *of_begin(const struct fr__parts *p, uint32_t message)
{
    return of_message(p, message) + 2 * p->n;
}

/* ---- tasks ---- */

void fr__parts_at_end(struct fr__engine *e, uint32_t task)
{
    struct fr__parts *p = e->parts;

    if (task == FR_NONE)
        memset(p->now_s, 0, p->n * sizeof(*p->now_s));
    else
        copy(p, p->now_s, of_task(p, task));
}

void fr__parts_at_launch(struct fr__engine *e, uint32_t device)
{
    struct fr__parts *p = e->parts;
    size_t launch = fr_device_resource(e->v->topo->devices[device].type, FR_DEVICE_LAUNCH);

    if (fr__host_parts(e, device, p->now_s, launch))
        return;
    memset(p->now_s, 0, p->n * sizeof(*p->now_s));
    p->now_s[launch] = e->now_s;
}

void fr__parts_keep(struct fr__engine *e, uint32_t task)
{
    copy(e->parts, of_task(e->parts, task), e->parts->now_s);
}

/* Which peak of the roofline bounds a task, with the speeds that the options ask for. */
static enum fr_device_resource bound_of(const struct fr__engine *e, uint32_t task)
{
    const struct fr_task *k = &e->v->tasks[task];
    const struct fr_cost *c = &e->v->costs[k->cost_id];
    double flops_s = c->flops_s * fr__device_slowness(e, k->device, FR_DEVICE_ARITHMETIC);
    double bytes_s = c->bytes_s * fr__device_slowness(e, k->device, FR_DEVICE_MEMORY);

    if (!fr__has_roofline(c))
        return FR_DEVICE_MEASURED;
    return flops_s > bytes_s ? FR_DEVICE_ARITHMETIC : FR_DEVICE_MEMORY;
}

void fr__parts_at_compute_done(struct fr__engine *e, uint32_t task)
{
    struct fr__parts *p = e->parts;

    uint32_t type = e->v->topo->devices[e->v->tasks[task].device].type;

    copy(p, p->now_s, of_task(p, task));
    if (e->v->tasks[task].cost_id != FR_NONE)
        p->now_s[fr_device_resource(type, bound_of(e, task))] += e->now_s - e->tasks[task].start_s;
}

/* ---- messages ---- */

void fr__parts_add_alone(struct fr__engine *e, double parts_s[], const struct fr__route *r,
                         double bytes, double total_s)
{
    const struct fr_link *links = e->v->topo->links;
    const uint32_t *hops = fr__route_links(&e->network.routes, r);
    double alone_s = r->latency_s + bytes / r->bw_Bps, scale;

    if (r->n_links == 0 || !(alone_s > 0))
        return;
    scale = total_s / alone_s;
    for (uint32_t i = 0; i < r->n_links; i++)
        parts_s[fr_link_resource(links[hops[i]].kind, FR_LINK_LATENCY)] +=
            fr__link_latency_s(&e->network.routes, hops[i]) * scale;
    parts_s[fr_link_resource((enum fr_link_kind)r->narrowest, FR_LINK_BANDWIDTH)] +=
        bytes / r->bw_Bps * scale;
}

/* Adds the parts of `bytes` of a message and of its latency, which may be a measured one. */
static void add_message(struct fr__engine *e, double parts_s[], uint32_t message, double bytes,
                        double total_s)
{
    const struct fr__message *m = &e->network.messages[message];
    const struct fr__route *r = fr__route_at(e, m->route);
    struct fr__alone a = {.is_fitted = false};
    double alone_s, bytes_s = bytes / r->bw_Bps;

    if (m->owner->is_fitted)
        a = fr__transfer_alone(e, r, m->bytes);
    alone_s = a.latency_s + a.extra_s + bytes_s;
    if (m->owner->is_latency_behind) { /* bytes alone */
        if (r->n_links > 0)
            parts_s[fr_link_resource((enum fr_link_kind)r->narrowest, FR_LINK_BANDWIDTH)] +=
                total_s;
    } else if (!a.is_fitted) {
        fr__parts_add_alone(e, parts_s, r, bytes, total_s);
    } else if (alone_s > 0) {
        enum fr_link_kind kind = (enum fr_link_kind)r->narrowest;

        parts_s[fr_link_resource(kind, FR_LINK_LATENCY)] += total_s * a.latency_s / alone_s;
        parts_s[fr_link_resource(kind, FR_LINK_BANDWIDTH)] +=
            total_s * (a.extra_s + bytes_s) / alone_s;
    }
}

static bool make_room(struct fr__engine *e, uint32_t message)
{
    struct fr__parts *p = e->parts;
    size_t cap = e->network.cap_messages;
    struct fr__message_parts *messages;
    double *message_s;

    if (message < p->cap_messages)
        return true;
    messages = cap < SIZE_MAX / sizeof(*message_s) / (3 * p->n)
                   ? realloc(p->messages, cap * sizeof(*messages))
                   : NULL;
    if (!messages)
        return false;
    p->messages = messages;
    message_s = realloc(p->message_s, cap * 3 * p->n * sizeof(*message_s));
    if (!message_s)
        return false;
    p->message_s = message_s;
    p->cap_messages = cap;
    return true;
}

void fr__parts_message_go(struct fr__engine *e, uint32_t message)
{
    struct fr__parts *p = e->parts;

    if (!make_room(e, message)) {
        fr__engine_fail_nomem(e);
        return;
    }
    p->messages[message] = (struct fr__message_parts){.since_s = e->now_s};
    copy(p, of_message(p, message), p->now_s);
    memset(held_over(p, message), 0, p->n * sizeof(*p->message_s));
}

void fr__parts_at_message_shared(struct fr__engine *e, uint32_t message)
{
    struct fr__parts *p = e->parts;
    double *own_s = of_message(p, message);

    if (message >= p->cap_messages)
        return; /* out of memory: the loop ends */
    add_message(e, own_s, message, 0, e->now_s - p->messages[message].since_s);
    p->messages[message].since_s = e->now_s;
    copy(p, of_begin(p, message), own_s);
    copy(p, p->now_s, own_s);
    copy(p, p->rate_s, own_s);
}

/* Adds parts by kind of link, each multiplied by factor. */
static void add_kinds(double parts[], const double by_kind[FR_N_LINK_KINDS], double factor)
{
    for (unsigned k = 0; k < FR_N_LINK_KINDS; k++)
        parts[fr_link_resource((enum fr_link_kind)k, FR_LINK_BANDWIDTH)] += by_kind[k] * factor;
}

void fr__parts_rates_changed(struct fr__engine *e)
{
    struct fr__parts *p = e->parts;
    const struct fr__network_model *model = e->network.model;
    const uint32_t *changed;
    uint32_t n;

    if (!model->rate_changes)
        return;
    changed = model->rate_changes(e->network.state, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct fr__message_parts *m;
        double *own_s, *held, lasted_s;
        struct fr__rate rate;

        if (e->network.messages[changed[i]].route == FR_NONE)
            continue; /* has its parts when it ends (collectives/resource_parts.c) */
        m = &p->messages[changed[i]];
        own_s = of_message(p, changed[i]);
        held = held_over(p, changed[i]);
        lasted_s = e->now_s - m->since_s;

        if (m->rate_Bps * lasted_s > 0) {
            for (size_t k = 0; k < p->n; k++)
                held[k] += m->rate_Bps * (own_s[k] - p->rate_s[k]);
            add_kinds(held, m->bound_Bps, lasted_s);
            copy(p, own_s, p->rate_s);
            m->since_s = e->now_s;
        }
        rate = model->rate(e->network.state, changed[i]);
        m->rate_Bps = rate.rate_Bps;
        memcpy(m->bound_Bps, rate.bound_Bps, sizeof(m->bound_Bps));
    }
}

/* Adds the parts of a message's end. false: the slope is too steep to be used. */
static bool add_shared(struct fr__engine *e, uint32_t message)
{
    struct fr__parts *p = e->parts;
    const struct fr__message_parts *m = &p->messages[message];
    const double *held = held_over(p, message);
    double steepness_s = 0;

    copy(p, p->now_s, of_message(p, message));
    add_kinds(p->now_s, m->bound_Bps, (e->now_s - m->since_s) / m->rate_Bps);
    for (size_t k = 0; k < p->n; k++) {
        p->now_s[k] += held[k] / m->rate_Bps;
        steepness_s += fabs(p->now_s[k]);
    }
    return steepness_s <= MOST_STEEP * e->now_s;
}

/* Adds the parts as if the message had always had the rate and the limits of its end. */
static void add_roughly(struct fr__engine *e, uint32_t message)
{
    struct fr__parts *p = e->parts;
    const struct fr__message_parts *m = &p->messages[message];
    double took_s = e->now_s;

    copy(p, p->now_s, of_begin(p, message));
    for (size_t k = 0; k < p->n; k++)
        took_s -= p->now_s[k];
    add_kinds(p->now_s, m->bound_Bps, took_s / m->rate_Bps);
    p->n_rough++;
}

void fr__parts_at_message_done(struct fr__engine *e, uint32_t message)
{
    struct fr__parts *p = e->parts;
    const struct fr__message_parts *m = &p->messages[message];
    bool has_rates = e->network.model->rate_changes != NULL;

    if (message >= p->cap_messages)
        return;
    if (has_rates && m->rate_Bps > 0) {
        if (!add_shared(e, message))
            add_roughly(e, message);
    } else {
        copy(p, p->now_s, of_message(p, message));
        if (!has_rates)
            add_message(e, p->now_s, message, e->network.messages[message].bytes,
                        e->now_s - m->since_s);
    }
    copy(p, p->rate_s, p->now_s);
}

/* ---- the result ---- */

enum fr_status fr__parts_result(struct fr__engine *e, struct fr_run *run)
{
    const struct fr_plan_view *v = e->v;
    const struct fr__parts *p = e->parts;
    double *parts_s = fr__arena_alloc(e->arena, p->n, sizeof(*parts_s));
    uint32_t last = v->n_iterations ? v->iteration_ends[v->n_iterations - 1] : fr__last_task(e);

    if (!parts_s)
        return fr__fail_nomem(e->err);
    for (size_t k = 0; k < p->n && last != FR_NONE; k++) {
        parts_s[k] = of_task(p, last)[k];
        if (v->n_iterations > 1)
            parts_s[k] -= of_task(p, v->iteration_ends[v->n_iterations - 2])[k];
    }
    run->parts_s = parts_s;
    run->n_rough = p->n_rough;
    return FR_OK;
}
