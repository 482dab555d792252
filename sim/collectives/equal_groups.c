/* sim/collectives/equal_groups.c - times and slow-downs of groups that do the same at the same
 * time, by counting their messages on each link; see equal_groups.h. */
#include "config.h"

#include "sim/collectives/equal_groups.h"

#include "base/arena.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* A hop as the messages of all groups leave it to one of them. */
struct hop {
    double latency_s, Bps;
};

/* The hops of a round that may be the slowest: each is slower than the others for some size. */
struct round {
    struct hop *hops;
    size_t n, cap;
};

struct fr__equal_groups {
    struct fr__routes *routes;
    struct fr__group_list groups;
    uint32_t *messages; /* [n_links] of the round that is being counted; zero between rounds */
    struct round ring;  /* to the next rank */
    struct fr__equal_groups *alone; /* the first group; NULL: not asked for yet */
    struct round *shifts;           /* [n - 1] to the rank r + 1 further; NULL: not asked for yet */
    enum { UNKNOWN, MATCHED, UNMATCHED } matching;
    /* [n_groups] of groups that are not alike, by ring and by shifts; NULL: not asked for yet */
    double *factors[2];
};

/* ---- routes ---- */

/* The links of messages, one message after the other. */
struct paths {
    uint32_t *links;
    size_t n_links, cap_links;
    struct path {
        double latency_s, Bps;
        size_t first, n;
    } * at; /* [n] */
    size_t n;
};

static void paths_fini(struct paths *p)
{
    free(p->links);
    free(p->at);
}

static enum fr_status add_path(struct paths *p, struct fr__routes *routes, uint32_t src,
                               uint32_t dst, struct fr_error *err)
{
    uint32_t number;
    const struct fr__route *r;
    const uint32_t *links;

    FR_TRY(fr__routes_take(routes, src, dst, &number, err));
    r = &routes->at[number];
    links = fr__route_links(routes, r);
    if (!fr__grow(&p->links, &p->cap_links, p->n_links + r->n_links, sizeof(*p->links)))
        return fr__fail_nomem(err);
    p->at[p->n++] = (struct path){r->latency_s, r->bw_Bps, p->n_links, r->n_links};
    for (uint32_t l = 0; l < r->n_links; l++)
        p->links[p->n_links++] = links[l];
    fr__routes_release(routes, number);
    return FR_OK;
}

/* How many of messages i .. past - 1 cross each link; or, afterwards, 0 again. */
static void count_some(const struct paths *p, size_t i, size_t past, uint32_t messages[],
                       bool is_over)
{
    size_t end = past < p->n ? p->at[past].first : p->n_links;

    for (size_t l = i < p->n ? p->at[i].first : end; l < end; l++)
        messages[p->links[l]] = is_over ? 0 : messages[p->links[l]] + 1;
}

static void count(const struct paths *p, uint32_t messages[], bool is_over)
{
    count_some(p, 0, p->n, messages, is_over);
}

static struct hop hop_of(const struct paths *p, size_t i, const struct fr__routes *routes,
                         const uint32_t messages[], uint32_t *most)
{
    struct hop h = {p->at[i].latency_s, INFINITY};

    *most = 1;
    for (size_t l = p->at[i].first; l < p->at[i].first + p->at[i].n; l++) {
        uint32_t n = messages[p->links[l]];
        double Bps = fr__link_bw_Bps(routes, p->links[l]) / n;

        h.Bps = Bps < h.Bps ? Bps : h.Bps;
        *most = n > *most ? n : *most;
    }
    return h;
}

/* ---- a round ---- */

/* Keeps the hop unless another one is never faster. false: out of memory. */
static bool keep(struct round *k, struct hop h)
{
    size_t n = 0;

    for (size_t i = 0; i < k->n; i++)
        if (k->hops[i].latency_s >= h.latency_s && k->hops[i].Bps <= h.Bps)
            return true;
    for (size_t i = 0; i < k->n; i++)
        if (k->hops[i].latency_s > h.latency_s || k->hops[i].Bps < h.Bps)
            k->hops[n++] = k->hops[i];
    k->n = n;
    if (!fr__grow(&k->hops, &k->cap, k->n + 1, sizeof(*k->hops)))
        return false;
    k->hops[k->n++] = h;
    return true;
}

static uint32_t device(const struct fr__equal_groups *c, uint32_t group, uint32_t rank)
{
    return c->groups.devices[(size_t)group * c->groups.n + rank % c->groups.n];
}

/* From each rank to the one `by` further, group after group. */
static enum fr_status add_paths(struct fr__equal_groups *c, uint32_t by, struct paths *paths,
                                struct fr_error *err)
{
    const struct fr__group_list *g = &c->groups;
    size_t n = (size_t)g->n_groups * g->n;

    paths->at = malloc((n + 1) * sizeof(*paths->at));
    if (!paths->at)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        uint32_t group = (uint32_t)(i / g->n), rank = (uint32_t)(i % g->n);

        FR_TRY(
            add_path(paths, c->routes, device(c, group, rank), device(c, group, rank + by), err));
    }
    return FR_OK;
}

static enum fr_status make_round_of(struct fr__equal_groups *c, uint32_t by, struct paths *paths,
                                    struct round *out, struct fr_error *err)
{
    uint32_t most;

    FR_TRY(add_paths(c, by, paths, err));
    count(paths, c->messages, false);
    for (size_t i = 0; i < paths->n; i++)
        if (!keep(out, hop_of(paths, i, c->routes, c->messages, &most)))
            return fr__fail_nomem(err);
    count(paths, c->messages, true);
    return FR_OK;
}

/* All ranks send to the rank `by` further. */
static enum fr_status make_round(struct fr__equal_groups *c, uint32_t by, struct round *out,
                                 struct fr_error *err)
{
    struct paths paths = {0};
    enum fr_status st = make_round_of(c, by, &paths, out, err);

    paths_fini(&paths);
    return st;
}

static struct hop slowest(const struct round *k, double bytes)
{
    struct hop worst = {0, INFINITY};
    double worst_s = -1;

    for (size_t i = 0; i < k->n; i++) {
        double s = k->hops[i].latency_s + bytes / k->hops[i].Bps;

        if (s > worst_s) {
            worst_s = s;
            worst = k->hops[i];
        }
    }
    return worst;
}

/* ---- life ---- */

enum fr_status fr__equal_groups_new(struct fr__equal_groups **out, struct fr__routes *routes,
                                    const struct fr__group_list *groups, struct fr_error *err)
{
    struct fr__equal_groups *c = calloc(1, sizeof(*c));

    if (!c)
        return fr__fail_nomem(err);
    c->routes = routes;
    c->groups = *groups;
    c->messages = calloc(routes->topo->n_links + 1, sizeof(*c->messages));
    if (!c->messages) {
        fr__equal_groups_free(c);
        return fr__fail_nomem(err);
    }
    *out = c;
    return FR_OK;
}

void fr__equal_groups_free(struct fr__equal_groups *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; c->shifts && i + 1 < c->groups.n; i++)
        free(c->shifts[i].hops);
    free(c->shifts);
    fr__equal_groups_free(c->alone);
    free(c->factors[0]);
    free(c->factors[1]);
    free(c->ring.hops);
    free(c->messages);
    free(c);
}

/* ---- times ---- */

static enum fr_status make_ring(struct fr__equal_groups *c, struct fr_error *err)
{
    return c->ring.n > 0 ? FR_OK : make_round(c, 1, &c->ring, err);
}

static enum fr_status make_shifts(struct fr__equal_groups *c, struct fr_error *err)
{
    if (c->shifts)
        return FR_OK;
    c->shifts = calloc(c->groups.n, sizeof(*c->shifts));
    if (!c->shifts)
        return fr__fail_nomem(err);
    for (uint32_t by = 1; by < c->groups.n; by++)
        FR_TRY(make_round(c, by, &c->shifts[by - 1], err));
    return FR_OK;
}

/* The time of the slowest group; *bytes_s: the part of it that grows with the bytes. bytes as in
 * struct fr_collective. kind: all-reduce, all-gather, reduce-scatter, all-to-all, ring step. Cost:
 * O(1), but the first time a route for each rank, and for all-to-all n of them. FR_ENOENT: no
 * route; FR_ENOMEM. */
static enum fr_status equal_groups_time(struct fr__equal_groups *c, enum fr_collective_kind kind,
                                        double bytes, double *time_s, double *bytes_s,
                                        struct fr_error *err)
{
    uint32_t n = c->groups.n, n_rounds = kind == FR_ALL_REDUCE ? 2 * (n - 1) : n - 1;
    double chunk = floor(bytes / n), latency_s = 0, moving_s = 0;

    if (kind == FR_RING_STEP) {
        n_rounds = 1;
        chunk = bytes;
    }

    if (kind == FR_ALL_TO_ALL) {
        FR_TRY(make_shifts(c, err));
        for (uint32_t r = 0; r + 1 < n; r++) {
            struct hop h = slowest(&c->shifts[r], chunk);

            latency_s += h.latency_s;
            moving_s += chunk / h.Bps;
        }
    } else if (n > 1) {
        struct hop h;

        FR_TRY(make_ring(c, err));
        h = slowest(&c->ring, chunk);
        latency_s = n_rounds * h.latency_s;
        moving_s = n_rounds * (chunk / h.Bps);
    }
    *time_s = latency_s + moving_s;
    *bytes_s = moving_s;
    return FR_OK;
}

/* The slowest group with all at work against the first alone. */
static enum fr_status matched_factor(struct fr__equal_groups *c, enum fr_collective_kind kind,
                                     double *factor, struct fr_error *err)
{
    const double bytes = 1e9 * c->groups.n; /* any will do: the latency is left out */
    struct fr__group_list one = c->groups;
    double time_s, all_s, alone_s;
    enum fr_status st;

    if (!c->alone) {
        one.n_groups = 1;
        FR_TRY(fr__equal_groups_new(&c->alone, c->routes, &one, err));
    }
    FR_TRY(equal_groups_time(c, kind, bytes, &time_s, &all_s, err));
    st = equal_groups_time(c->alone, kind, bytes, &time_s, &alone_s, err);
    if (st == FR_OK && alone_s > 0 && all_s > alone_s)
        *factor = all_s / alone_s;
    return st;
}

/* ---- groups that are not alike ---- */

/* Seconds a byte of the slowest message of a group, with the messages that are counted. */
static double slowness(const struct fr__equal_groups *c, const struct paths *p, uint32_t group)
{
    double worst = 0;

    for (size_t i = (size_t)group * c->groups.n; i < (size_t)(group + 1) * c->groups.n; i++) {
        uint32_t most;
        struct hop h = hop_of(p, i, c->routes, c->messages, &most);

        worst = fmax(worst, 1 / h.Bps);
    }
    return worst;
}

/* Adds what a byte takes in a round, with all groups at work and with each alone: [n_groups]. */
static enum fr_status add_slowness(struct fr__equal_groups *c, uint32_t by, double all[],
                                   double alone[], struct fr_error *err)
{
    struct paths p = {0};
    enum fr_status st = add_paths(c, by, &p, err);
    size_t n = c->groups.n;

    if (st == FR_OK) {
        count(&p, c->messages, false);
        for (uint32_t g = 0; g < c->groups.n_groups; g++)
            all[g] += slowness(c, &p, g);
        count(&p, c->messages, true);
        for (uint32_t g = 0; g < c->groups.n_groups; g++) {
            count_some(&p, g * n, (g + 1) * n, c->messages, false);
            alone[g] += slowness(c, &p, g);
            count_some(&p, g * n, (g + 1) * n, c->messages, true);
        }
    }
    paths_fini(&p);
    return st;
}

/* [n_groups], the caller's. */
static enum fr_status unmatched_factors(struct fr__equal_groups *c, bool has_shifts, double **out,
                                        struct fr_error *err)
{
    uint32_t n_groups = c->groups.n_groups, n_rounds = has_shifts ? c->groups.n - 1 : 1;
    double *all = calloc(n_groups, sizeof(*all)), *alone = calloc(n_groups, sizeof(*alone));
    enum fr_status st = all && alone ? FR_OK : fr__fail_nomem(err);

    for (uint32_t by = 1; by <= n_rounds && st == FR_OK; by++)
        st = add_slowness(c, by, all, alone, err);
    for (uint32_t g = 0; st == FR_OK && g < n_groups; g++)
        all[g] = alone[g] > 0 && all[g] > alone[g] ? all[g] / alone[g] : 1;
    free(alone);
    if (st != FR_OK)
        free(all);
    else
        *out = all;
    return st;
}

/* FR_NONE: in none. */
static uint32_t group_of(const struct fr__equal_groups *c, uint32_t d)
{
    for (size_t i = 0; i < (size_t)c->groups.n_groups * c->groups.n; i++)
        if (c->groups.devices[i] == d)
            return (uint32_t)(i / c->groups.n);
    return FR_NONE;
}

enum fr_status fr__equal_groups_factor(struct fr__equal_groups *c, enum fr_collective_kind kind,
                                       uint32_t member, double *factor, struct fr_error *err)
{
    bool has_shifts = kind == FR_ALL_TO_ALL, is_match;
    uint32_t group;

    *factor = 1;
    if (c->groups.n_groups < 2 || c->groups.n < 2)
        return FR_OK;
    if (c->matching == UNKNOWN) {
        FR_TRY(fr__equal_groups_match(c, &is_match, err));
        c->matching = is_match ? MATCHED : UNMATCHED;
    }
    group = c->matching == MATCHED ? FR_NONE : group_of(c, member);
    if (group == FR_NONE)
        return matched_factor(c, kind, factor, err);
    if (!c->factors[has_shifts])
        FR_TRY(unmatched_factors(c, has_shifts, &c->factors[has_shifts], err));
    *factor = c->factors[has_shifts][group];
    return FR_OK;
}

/* A message from a rank to the next of its ring, with no other at work. */
static enum fr_status look_at_hop(struct fr__equal_groups *c, uint32_t group, uint32_t rank,
                                  struct hop *out, struct fr_error *err)
{
    uint32_t number;

    FR_TRY(fr__routes_take(c->routes, device(c, group, rank), device(c, group, rank + 1), &number,
                           err));
    *out = (struct hop){c->routes->at[number].latency_s, c->routes->at[number].bw_Bps};
    fr__routes_release(c->routes, number);
    return FR_OK;
}

enum fr_status fr__equal_groups_match(struct fr__equal_groups *c, bool *is_match,
                                      struct fr_error *err)
{
    *is_match = true;
    for (uint32_t r = 0; r < c->groups.n; r++) {
        struct hop first, k;

        FR_TRY(look_at_hop(c, 0, r, &first, err));
        for (uint32_t g = 1; g < c->groups.n_groups && *is_match; g++) {
            FR_TRY(look_at_hop(c, g, r, &k, err));
            *is_match = fabs(k.latency_s - first.latency_s) <= 1e-12 * first.latency_s &&
                        fabs(k.Bps - first.Bps) <= 1e-12 * first.Bps;
        }
    }
    return FR_OK;
}

/* ---- messages one by one ---- */

static void find_share(const struct paths *p, const struct fr__routes *routes, uint32_t messages[],
                       uint32_t *share, bool *is_match)
{
    count(p, messages, false);
    for (size_t i = 0; i < p->n; i++) {
        uint32_t most;
        struct hop h = hop_of(p, i, routes, messages, &most);
        double Bps = p->at[i].Bps;

        if (i == 0)
            *share = most;
        /* the narrowest link as it is, shared by that many, must be what holds the message back;
         * messages of another latency end at another time */
        *is_match &= most == *share && p->at[i].n > 0 &&
                     fabs(Bps - p->at[0].Bps) <= 1e-12 * p->at[0].Bps &&
                     fabs(h.latency_s - p->at[0].latency_s) <= 1e-12 * h.latency_s &&
                     h.Bps * most >= Bps * (1 - 1e-12) && h.Bps * most <= Bps * (1 + 1e-12);
    }
}

enum fr_status fr__equal_messages_share(struct fr__routes *routes, const uint32_t src[],
                                        const uint32_t dst[], size_t n, uint32_t *share,
                                        bool *is_match, struct fr_error *err)
{
    struct paths p = {.at = malloc((n + 1) * sizeof(*p.at))};
    uint32_t *messages = calloc(routes->topo->n_links + 1, sizeof(*messages));
    enum fr_status st = p.at && messages ? FR_OK : fr__fail_nomem(err);

    *share = 1;
    *is_match = true;
    for (size_t i = 0; i < n && st == FR_OK; i++)
        st = add_path(&p, routes, src[i], dst[i], err);
    if (st == FR_OK)
        find_share(&p, routes, messages, share, is_match);
    free(messages);
    paths_fini(&p);
    return st;
}
