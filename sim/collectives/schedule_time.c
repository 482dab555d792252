/* sim/collectives/schedule_time.c - what a collective by a chosen algorithm takes alone, by its
 * closed form.
 *
 * The form is the algorithm's own or the sum over its steps of the slowest message (schedule.c), on
 * the routes of the topology. Where links are shared, it is at least what the busiest one needs.
 */
#include "config.h"

#include "sim/collectives/symmetry.h"
#include "sim/collectives/schedule_choice.h"

#include <math.h>

struct closed {
    struct fr__engine *e;
    uint32_t collective;
    const struct fr__collective_schedule *w;
    const struct fr__symmetry *symmetry; /* NULL: each rank is looked at */
    bool is_next;     /* how much later a chunk is than the one before, not what a message takes */
    bool is_no_bytes; /* bytes take no time */
};

static double hop_alone(void *user, uint32_t from, uint32_t to, double bytes)
{
    const struct closed *c = user;
    const struct fr__route *r;
    enum fr_link_kind kind;
    uint32_t ahead = c->w->schedule.n_ahead, route;
    double s, extra_s, bytes_s;

    if (!fr__engine_goes_on(c->e))
        return 0;
    route = c->symmetry ? c->symmetry->routes[fr__symmetry_at(c->symmetry, from, to)]
                        : fr__scheduled_route(c->e, c->collective, c->w, from, to);
    if (route == FR_NONE)
        return 0;
    r = fr__route_at(c->e, route);
    bytes_s = c->is_no_bytes ? 0 : bytes * c->w->wire_factor / r->bw_Bps;
    extra_s = fr__scheduled_extra_s(c->e, c->w, r, &kind);
    if (!c->is_next)
        s = r->latency_s + bytes_s + extra_s;
    else if (ahead > 0)
        s = fmax(bytes_s, (r->latency_s + bytes_s + extra_s) / ahead);
    else
        s = r->latency_s + bytes_s; /* chunks follow each other as fast as they come */
    if (!c->symmetry)
        fr__route_release(c->e, route);
    return s;
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

/* Of the first n chunks alone. */
static double chunks_alone(const struct closed *c, uint32_t n)
{
    struct fr__collective_schedule some = *c->w;
    struct fr__schedule *s = &some.schedule;
    struct closed of = {c->e, c->collective, &some, NULL, c->is_next, c->is_no_bytes};

    s->bytes *= (double)n / s->n_chunks;
    s->n_chunks = n;
    s->algorithm->shape(s);
    return fr__schedule_alone(s, hop_alone, &of);
}

/* Of an algorithm that is no pipeline. */
static double steps_alone(const struct closed *c)
{
    struct closed of = *c;
    struct fr__schedule s = c->w->schedule;
    struct fr__symmetry symmetry;
    double sum_s;

    if (!fr__scheduled_is_symmetric(c->e, c->collective, c->w, &symmetry))
        return fr__schedule_alone(&s, hop_alone, &of);
    of.symmetry = &symmetry;
    s.n_standing = symmetry.m;
    sum_s = fr__schedule_alone(&s, hop_alone, &of);
    fr__symmetry_end(c->e, &symmetry);
    return sum_s;
}

double fr__scheduled_s(struct fr__engine *e, uint32_t collective,
                       const struct fr__collective_schedule *w)
{
    struct closed c = {.e = e, .collective = collective, .w = w};
    double n = w->schedule.n_chunks, fill_s, next_s;

    if (n < 2) {
        fill_s = steps_alone(&c);
        if (isnan(fill_s)) {
            fr__engine_fail_nomem(e);
            return 0;
        }
        return w->start_s + fmax(fill_s, busiest_link_s(e, collective, w));
    }
    fill_s = chunks_alone(&c, 1);
    c.is_next = true;
    next_s = chunks_alone(&c, 2) - chunks_alone(&c, 1);
    return w->start_s + fill_s +
           fmax((n - 1) * next_s, busiest_link_s(e, collective, w) * (1 - 1 / n));
}

double fr__scheduled_latency_s(struct fr__engine *e, uint32_t collective,
                               const struct fr__collective_schedule *w)
{
    struct closed c = {.e = e, .collective = collective, .w = w, .is_no_bytes = true};
    double n = w->schedule.n_chunks, busiest_s = busiest_link_s(e, collective, w);
    double alone_s = fr__scheduled_s(e, collective, w), latency_s;

    if (n < 2) {
        latency_s = steps_alone(&c);
    } else {
        latency_s = chunks_alone(&c, 1);
        c.is_next = true;
        latency_s += (n - 1) * (chunks_alone(&c, 2) - chunks_alone(&c, 1));
    }
    if (isnan(latency_s)) {
        fr__engine_fail_nomem(e);
        return 0;
    }
    return fmax(fmin(latency_s, alone_s - w->start_s - busiest_s), 0);
}
