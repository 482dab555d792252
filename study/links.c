/* study/links.c - the links of a record: what moves over each, and of how much that it could. Where
 * a plan is folded, bytes of ranks that others stand for are counted here, as no run has them. */
#include "config.h"

#include "study/record.h"

#include "base/error.h"
#include "sim/network/routes.h"

#include <math.h>
#include <stdlib.h>

struct counting {
    const struct fr_plan *plan;
    const struct fr_plan_view *v;
    struct fr__routes routes;
    double *out;        /* [n_links] */
    double *ring_bytes; /* [n_groups] from each rank to the next */
    double *pair_bytes; /* [n_groups] from each rank to each other one */
};

static enum fr_status add(struct counting *c, uint32_t src, uint32_t dst, double bytes,
                          struct fr_error *err)
{
    uint32_t number;
    const struct fr__route *r;
    const uint32_t *links;

    if (src == dst)
        return FR_OK;
    FR_TRY(fr__routes_take(&c->routes, src, dst, &number, err));
    r = &c->routes.at[number];
    links = fr__route_links(&c->routes, r);
    for (uint32_t l = 0; l < r->n_links; l++)
        c->out[links[l]] += bytes;
    fr__routes_release(&c->routes, number);
    return FR_OK;
}

/* ---- collectives ---- */

/* Sums first: a group has thousands of collectives. */
static void add_up(struct counting *c)
{
    for (size_t i = 0; i < c->v->n_collectives; i++) {
        const struct fr_collective *k = &c->v->collectives[i];
        uint32_t n = fr_plan_group_size(c->plan, k->group);
        double chunk = floor(k->bytes / n);

        if (k->kind == FR_ALL_TO_ALL)
            c->pair_bytes[k->group] += chunk;
        else if (k->kind == FR_RING_STEP)
            c->ring_bytes[k->group] += k->bytes;
        else
            c->ring_bytes[k->group] += (k->kind == FR_ALL_REDUCE ? 2 : 1) * (n - 1) * chunk;
    }
}

/* All groups that a group stands for. */
static enum fr_status add_groups(struct counting *c, uint32_t group, struct fr_error *err)
{
    const struct fr_plan_fold *fold = fr_plan_group_fold(c->plan, group);
    uint32_t n = fr_plan_group_size(c->plan, group), n_groups = fold ? fold->n : 1;

    for (uint32_t i = 0; i < n_groups * n; i++) {
        uint32_t first = i / n * n, src, dst;

        for (uint32_t by = 1; by < n; by++) {
            double bytes = c->pair_bytes[group] + (by == 1 ? c->ring_bytes[group] : 0);

            if (!(bytes > 0))
                break;
            src = fold ? fold->devices[i] : fr_plan_group_device(c->plan, group, i);
            dst = fold ? fold->devices[first + (i + by) % n]
                       : fr_plan_group_device(c->plan, group, (i + by) % n);
            FR_TRY(add(c, src, dst, bytes, err));
        }
    }
    return FR_OK;
}

/* ---- messages ---- */

struct pair {
    uint32_t src, dst;
    double bytes;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static enum fr_status add_pair(struct counting *c, const struct pair *k, struct fr_error *err)
{
    const struct fr_plan_fold *src = fr_plan_device_fold(c->plan, k->src);
    const struct fr_plan_fold *dst = fr_plan_device_fold(c->plan, k->dst);

    if (!src || !dst || src->n != dst->n)
        return add(c, k->src, k->dst, k->bytes, err);
    for (uint32_t i = 0; i < src->n; i++)
        FR_TRY(add(c, src->devices[i], dst->devices[i], k->bytes, err));
    return FR_OK;
}

static enum fr_status add_messages(struct counting *c, struct fr_error *err)
{
    size_t n = c->v->n_transfers, n_pairs = 0;
    struct pair *pairs = calloc(n + 1, sizeof(*pairs));
    enum fr_status st = FR_OK;

    if (!pairs)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const struct fr_transfer *t = &c->v->transfers[i];

        pairs[i] =
            (struct pair){c->v->tasks[t->send].device, c->v->tasks[t->recv].device, t->bytes};
    }
    qsort(pairs, n, sizeof(*pairs), compare_pairs);
    for (size_t i = 0; i < n; i++) {
        if (n_pairs > 0 && compare_pairs(&pairs[n_pairs - 1], &pairs[i]) == 0)
            pairs[n_pairs - 1].bytes += pairs[i].bytes;
        else
            pairs[n_pairs++] = pairs[i];
    }
    for (size_t i = 0; i < n_pairs && st == FR_OK; i++)
        st = add_pair(c, &pairs[i], err);
    free(pairs);
    return st;
}

/* ---- all of it ---- */

static enum fr_status count(struct counting *c, struct fr_error *err)
{
    for (size_t l = 0; l < c->v->topo->n_links; l++)
        c->out[l] = 0;
    add_up(c);
    for (uint32_t g = 0; g < c->v->n_groups; g++)
        FR_TRY(add_groups(c, g, err));
    return add_messages(c, err);
}

/* Bytes that all ranks of a folded plan send over each link, those that others stand for too.
 * out: [n_links]. A collective counts as a ring in the order of its ranks, all-to-all as one
 * message for each pair; a message as many times as there are ranks that send it. FR_ENOENT: no
 * route; FR_ENOMEM. O(ranks) routes for each group and pair of stages, of all-to-all times its
 * size. */
static enum fr_status count_folded(double out[], const struct fr_plan *p, struct fr_error *err)
{
    struct counting c = {.plan = p, .v = fr_plan_view(p), .out = out};
    enum fr_status st;

    c.ring_bytes = calloc(c.v->n_groups + 1, sizeof(*c.ring_bytes));
    c.pair_bytes = calloc(c.v->n_groups + 1, sizeof(*c.pair_bytes));
    st = c.ring_bytes && c.pair_bytes ? FR_OK : fr__fail_nomem(err);
    if (st == FR_OK) {
        st = fr__routes_init(&c.routes, c.v->topo, err);
        if (st == FR_OK)
            st = count(&c, err);
        fr__routes_fini(&c.routes);
    }
    free(c.ring_bytes);
    free(c.pair_bytes);
    return st;
}

/* ---- of a record ---- */

struct link_use {
    double utilisation_frac;
    uint32_t link;
};

static int compare_use(const void *a, const void *b)
{
    const struct link_use *x = a, *y = b;

    if (x->utilisation_frac != y->utilisation_frac)
        return x->utilisation_frac > y->utilisation_frac ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

/* Links of the same kind between the same kinds of ends that are as busy. */
static bool are_alike(const struct fr_topo *t, const struct link_use *a, const struct link_use *b)
{
    const struct fr_link *x = &t->links[a->link], *y = &t->links[b->link];

    return x->kind == y->kind && t->vertices[x->src].kind == t->vertices[y->src].kind &&
           t->vertices[x->dst].kind == t->vertices[y->dst].kind &&
           a->utilisation_frac - b->utilisation_frac <= 1e-9 * a->utilisation_frac;
}

/* A row a link; of a folded plan, a row for those that are alike. */
static enum fr_status list_links(struct fr_record *r, struct fr__arena *arena,
                                 struct fr_record_link list[], const struct fr_topo *t,
                                 const struct link_use use[], size_t n, const double bytes[],
                                 bool is_folded, struct fr_error *err)
{
    const struct link_use *first[FR_RECORD_MAX_LINKS] = {NULL};
    char buf[FR_LINK_NAME];

    for (size_t i = 0; i < n; i++) {
        size_t k = is_folded ? 0 : r->n_links;

        while (k < r->n_links && !are_alike(t, first[k], &use[i]))
            k++;
        if (k < r->n_links) {
            list[k].count++;
            continue;
        }
        r->links_total++;
        if (k == FR_RECORD_MAX_LINKS)
            continue;
        first[k] = &use[i];
        list[r->n_links] = (struct fr_record_link){
            .name = fr__arena_strdup(arena, fr_topo_link_name(t, use[i].link, buf)),
            .count = 1,
            .bytes = bytes[use[i].link],
            .utilisation_frac = use[i].utilisation_frac};
        if (!list[r->n_links++].name)
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

enum fr_status fr__fill_links(struct fr_record *r, struct fr__arena *arena,
                              const struct fr__making *m, struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    bool is_folded = fr_plan_view(m->plan)->device_counts != NULL;
    struct link_use *use = fr__arena_alloc(arena, t->n_links, sizeof(*use));
    double *bytes = fr__arena_alloc(arena, t->n_links, sizeof(*bytes));
    struct fr_record_link *list = fr__arena_alloc(arena, FR_RECORD_MAX_LINKS, sizeof(*list));
    size_t n = 0;

    if (!use || !bytes || !list)
        return fr__fail_nomem(err);
    if (is_folded)
        FR_TRY(count_folded(bytes, m->plan, err));
    for (uint32_t i = 0; i < t->n_links; i++) {
        double could_bytes = t->links[i].bw_Bps * m->run->makespan_s;

        if (!is_folded)
            bytes[i] = m->run->link_bytes[i];
        if (bytes[i] > 0 && could_bytes > 0)
            use[n++] = (struct link_use){bytes[i] / could_bytes, i};
        bytes[i] /= m->run->n_iterations;
    }
    qsort(use, n, sizeof(*use), compare_use);
    FR_TRY(list_links(r, arena, list, t, use, n, bytes, is_folded, err));
    r->links = list;
    return FR_OK;
}
