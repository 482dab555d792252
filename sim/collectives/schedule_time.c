/* sim/collectives/schedule_time.c - what a collective by a chosen algorithm takes alone, by its
 * closed form.
 *
 * The form is the algorithm's own or the sum over its steps of the slowest message (schedule.c), on
 * the routes of the topology. Where links are shared, it is at least what the busiest one needs.
 */
#include "config.h"

#include "base/arena.h"
#include "sim/collectives/symmetry.h"
#include "sim/collectives/schedule_choice.h"

#include <math.h>
#include <stdlib.h>

/* What a message takes of its route, whatever it carries. */
struct hop {
    uint32_t from, to;
    double latency_s, extra_s, bw_Bps;
};

/* The hops that a closed form asks for, in its order. It asks for the same ones each time that it
 * is worked out, so that a route is looked up once. */
struct tape {
    struct hop *at; /* [n] */
    size_t n, cap, next;
};
enum { MOST_HOPS_KEPT = 1 << 18 };

struct closed {
    struct fr__engine *e;
    uint32_t collective;
    const struct fr__collective_schedule *w;
    const struct fr__symmetry *symmetry; /* NULL: each rank is looked at */
    struct tape *tape;                   /* then */
    bool is_next;     /* how much later a chunk is than the one before, not what a message takes */
    bool is_no_bytes; /* bytes take no time */
};

static bool look_at_route(const struct closed *c, uint32_t route, struct hop *out)
{
    const struct fr__route *r;
    enum fr_link_kind kind;

    if (route == FR_NONE)
        return false;
    r = fr__route_at(c->e, route);
    out->latency_s = r->latency_s;
    out->bw_Bps = r->bw_Bps;
    out->extra_s = fr__scheduled_extra_s(c->e, c->w, r, &kind);
    return true;
}

static bool look_up(const struct closed *c, struct hop *out)
{
    uint32_t route;
    bool is_any;

    if (c->symmetry)
        return look_at_route(
            c, c->symmetry->routes[fr__symmetry_at(c->symmetry, out->from, out->to)], out);
    route = fr__scheduled_route(c->e, c->collective, c->w, out->from, out->to);
    is_any = look_at_route(c, route, out);
    if (is_any)
        fr__route_release(c->e, route);
    return is_any;
}

/* false: the failure is kept. */
static bool hop_of(const struct closed *c, struct hop *out)
{
    struct tape *t = c->tape;
    size_t i;

    if (!t)
        return look_up(c, out);
    i = t->next++;
    if (i < t->n && t->at[i].from == out->from && t->at[i].to == out->to) {
        *out = t->at[i];
        return true;
    }
    if (!look_up(c, out))
        return false;
    if (i == t->n && i < MOST_HOPS_KEPT && fr__grow(&t->at, &t->cap, i + 1, sizeof(*t->at)))
        t->at[t->n++] = *out;
    return true;
}

static double hop_alone(void *user, uint32_t from, uint32_t to, double bytes)
{
    const struct closed *c = user;
    struct hop hop = {.from = from, .to = to};
    uint32_t ahead = c->w->schedule.n_ahead;
    double bytes_s;

    if (!fr__engine_goes_on(c->e) || !hop_of(c, &hop))
        return 0;
    bytes_s = c->is_no_bytes ? 0 : bytes * c->w->wire_factor / hop.bw_Bps;
    if (!c->is_next)
        return hop.latency_s + bytes_s + hop.extra_s;
    if (ahead > 0)
        return fmax(bytes_s, (hop.latency_s + bytes_s + hop.extra_s) / ahead);
    return hop.latency_s + bytes_s; /* chunks follow each other as fast as they come */
}

/* What the busiest link needs for all bytes of the collective, under a model where links are
 * shared. */
static double busiest_link_s(struct fr__engine *e, uint32_t collective,
                             const struct fr__collective_schedule *w)
{
    struct fr__mark mark = fr__arena_mark(e->scratch);
    size_t n = e->v->topo->n_links;
    double *bytes, most_s = 0;

    if (e->network.model->is_end_known)
        return 0;
    bytes = fr__arena_alloc(e->scratch, n + 1, sizeof(*bytes));
    if (!bytes) {
        fr__engine_fail_nomem(e);
        return 0;
    }
    fr__scheduled_bytes(e, collective, w, bytes);
    for (size_t l = 0; l < n; l++)
        if (bytes[l] > 0)
            most_s = fmax(most_s, bytes[l] / fr__link_bw_Bps(&e->network.routes, (uint32_t)l));
    fr__arena_rewind(e->scratch, mark);
    return most_s * w->slow_factor;
}

static double alone(const struct closed *c, const struct fr__schedule *s)
{
    struct closed of = *c;

    if (of.tape)
        of.tape->next = 0;
    return fr__schedule_alone(s, hop_alone, &of);
}

/* Of the first n chunks alone. */
static double chunks_alone(const struct closed *c, uint32_t n)
{
    struct fr__schedule s = c->w->schedule;

    s.bytes *= (double)n / s.n_chunks;
    s.n_chunks = n;
    s.algorithm->shape(&s);
    return alone(c, &s);
}

/* Where each link is one message's: a pipeline fills, and then chunks follow each other. */
struct fill {
    double first_s, others_s;
};

static struct fill fill_of(const struct closed *c)
{
    struct fr__schedule s = c->w->schedule;
    struct closed next = *c;

    next.is_next = true;
    if (s.n_chunks >= 2)
        return (struct fill){chunks_alone(c, 1), (s.n_chunks - 1.0) * (chunks_alone(&next, 2) -
                                                                       chunks_alone(&next, 1))};
    if (c->symmetry)
        s.n_standing = c->symmetry->m;
    return (struct fill){alone(c, &s), 0};
}

static double alone_s(const struct closed *c, struct fill fill, double busiest_s)
{
    double n = c->w->schedule.n_chunks;

    if (n < 2)
        return c->w->start_s + fmax(fill.first_s, busiest_s);
    return c->w->start_s + fill.first_s + fmax(fill.others_s, busiest_s * (1 - 1 / n));
}

static struct fr__scheduled_time time_of(struct closed *c)
{
    double busiest_s = busiest_link_s(c->e, c->collective, c->w), latency_s;
    struct fill fill = fill_of(c);
    struct fr__scheduled_time t = {.alone_s = alone_s(c, fill, busiest_s)};

    c->is_no_bytes = true;
    fill = fill_of(c);
    latency_s = fill.first_s + fill.others_s;
    if (isnan(t.alone_s) || isnan(latency_s)) {
        fr__engine_fail_nomem(c->e);
        return (struct fr__scheduled_time){.alone_s = 0};
    }
    t.latency_s = fmax(fmin(latency_s, t.alone_s - c->w->start_s - busiest_s), 0);
    return t;
}

struct fr__scheduled_time fr__scheduled_time(struct fr__engine *e, uint32_t collective,
                                             const struct fr__collective_schedule *w)
{
    struct closed c = {.e = e, .collective = collective, .w = w};
    struct fr__scheduled_time t;
    struct fr__symmetry symmetry;
    struct tape tape = {.n = 0};

    if (w->schedule.n_chunks < 2 && fr__scheduled_is_symmetric(e, collective, w, &symmetry)) {
        c.symmetry = &symmetry;
        t = time_of(&c);
        fr__symmetry_end(e, &symmetry);
        return t;
    }
    c.tape = &tape;
    t = time_of(&c);
    free(tape.at);
    return t;
}
