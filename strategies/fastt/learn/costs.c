/* strategies/fastt/learn/costs.c - samples of work and transfers, their means and lines, and what
 * each round changed. */
#include "config.h"

#include "strategies/fastt/learn/costs.h"

#include "base/bytes.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/units.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kind of work; op FR_NONE: it moves that many bytes. */
struct work {
    uint64_t bytes;
    uint32_t op, n_parts, dim;
};

struct mean {
    double mean_s, fresh_s; /* mean of n samples; sum of the n_fresh new ones */
    uint64_t n, n_fresh;
};

/* Transfers of one size. */
struct point {
    double bytes;
    struct mean t;
};

struct pair {
    struct point *points; /* by rising bytes */
    size_t n, cap;
    double latency_s, s_per_byte;
    bool is_known;
    uint32_t last_strategy; /* of the last round with samples */
    double last_mean_s;     /* mean time of a transfer in that round */
};

struct fr__learned {
    size_t n_devices, n_works, cap_works, cap_means, cap_names;
    struct work *works;
    struct mean *means; /* [n_works][n_devices] */
    char (*names)[96];  /* [n_works] */
    struct fr__hash_table by_work;
    struct pair *pairs; /* [n_devices][n_devices] */
    double *x, *w, *y;  /* room to fit one pair */
    size_t cap_x, cap_w, cap_y;
};

struct fr__learned *fr__learned_new(size_t n_devices)
{
    struct fr__learned *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->n_devices = n_devices;
    l->pairs = calloc(n_devices * n_devices + 1, sizeof(*l->pairs));
    if (!l->pairs) {
        free(l);
        return NULL;
    }
    for (size_t k = 0; k < n_devices * n_devices; k++)
        l->pairs[k].last_strategy = FR_NONE;
    return l;
}

void fr__learned_free(struct fr__learned *l)
{
    if (!l)
        return;
    for (size_t k = 0; k < l->n_devices * l->n_devices; k++)
        free(l->pairs[k].points);
    free(l->pairs);
    free(l->works);
    free(l->means);
    free(l->names);
    fr__hash_fini(&l->by_work);
    free(l->x);
    free(l->w);
    free(l->y);
    free(l);
}

/* ---- works ---- */

static struct work moved(double bytes)
{
    return (struct work){.bytes = fr__to_bytes(bytes), .op = FR_NONE};
}

static struct work work_of(const struct fr__dag *dag, uint32_t op)
{
    const struct fr__dag_op *o = &dag->ops[op];

    if (o->role != FR__DAG_OP)
        return moved(fr__dag_helper_bytes(dag, op));
    return (struct work){.op = o->op, .n_parts = o->n_parts, .dim = o->dim};
}

static bool is_same(const struct work *a, const struct work *b)
{
    return a->op == b->op && a->n_parts == b->n_parts && a->dim == b->dim && a->bytes == b->bytes;
}

static uint64_t hash_of(const struct work *w)
{
    return fr__hash_id(w->bytes ^ (uint64_t)w->op << 32 ^ w->n_parts << 8 ^ w->dim);
}

/* NULL: never seen. */
static struct mean *find(const struct fr__learned *l, const struct work *w)
{
    uint64_t hash = hash_of(w);
    size_t at;
    uint32_t i = fr__hash_first(&l->by_work, hash, &at);

    while (i != FR_NONE && !is_same(&l->works[i], w))
        i = fr__hash_next(&l->by_work, hash, &at);
    return i == FR_NONE ? NULL : &l->means[i * l->n_devices];
}

/* Adds a new kind of work. */
static enum fr_status make_room(struct fr__learned *l, const struct work *w, struct fr_error *err)
{
    if (!fr__grow(&l->works, &l->cap_works, l->n_works + 1, sizeof(*l->works)) ||
        !fr__grow(&l->names, &l->cap_names, l->n_works + 1, sizeof(*l->names)) ||
        !fr__grow(&l->means, &l->cap_means, (l->n_works + 1) * l->n_devices, sizeof(*l->means)) ||
        !fr__hash_add(&l->by_work, hash_of(w), (uint32_t)l->n_works))
        return fr__fail_nomem(err);
    return FR_OK;
}

static void name_work(char name[96], const struct work *w, const struct fr__dag *dag)
{
    static const char *const dims[] = {"", "batch", "channels"};
    char bytes[32];

    if (w->op == FR_NONE)
        snprintf(name, 96, "copying %s", fr__format_bytes((double)w->bytes, bytes, sizeof(bytes)));
    else if (w->n_parts > 1)
        snprintf(name, 96, "%.56s, 1/%u of the %s",
                 dag->pl ? dag->pl->graph->ops[w->op].name : "operation", w->n_parts, dims[w->dim]);
    else
        snprintf(name, 96, "%.90s", dag->pl ? dag->pl->graph->ops[w->op].name : "operation");
}

enum fr_status fr__learned_add_op(struct fr__learned *l, const struct fr__dag *dag, uint32_t op,
                                  uint32_t device, double s, struct fr_error *err)
{
    struct work w = work_of(dag, op);
    struct mean *m;

    if (dag->ops[op].role == FR__DAG_VARIABLE)
        return FR_OK;
    m = find(l, &w);
    if (!m) {
        FR_TRY(make_room(l, &w, err));
        l->works[l->n_works] = w;
        name_work(l->names[l->n_works], &w, dag);
        m = &l->means[l->n_works++ * l->n_devices];
        memset(m, 0, l->n_devices * sizeof(*m));
    }
    m[device].fresh_s += s;
    m[device].n_fresh++;
    return FR_OK;
}

/* ---- pairs ---- */

enum fr_status fr__learned_add_move(struct fr__learned *l, uint32_t src, uint32_t dst, double bytes,
                                    double s, struct fr_error *err)
{
    struct pair *p = &l->pairs[src * l->n_devices + dst];
    size_t low = 0, high = p->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (p->points[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->n || p->points[low].bytes > bytes) {
        if (!fr__grow(&p->points, &p->cap, p->n + 1, sizeof(*p->points)))
            return fr__fail_nomem(err);
        memmove(p->points + low + 1, p->points + low, (p->n - low) * sizeof(*p->points));
        p->points[low] = (struct point){.bytes = bytes};
        p->n++;
    }
    p->points[low].t.fresh_s += s;
    p->points[low].t.n_fresh++;
    return FR_OK;
}

/* Fits a line by least squares through the means of the points, each weighted by its number of
 * samples. */
static void fit_line(struct pair *p, const double x[], const double w[], const double y[], size_t n)
{
    double variance, other, chi_square, covariance;

    p->is_known = n > 0;
    p->latency_s = p->s_per_byte = 0;
    if (n > 1)
        gsl_fit_wlinear(x, 1, w, 1, y, 1, n, &p->latency_s, &p->s_per_byte, &variance, &covariance,
                        &other, &chi_square);
    if (n == 1 || (n > 1 && p->latency_s < 0)) {
        p->latency_s = 0;
        gsl_fit_wmul(x, 1, w, 1, y, 1, n, &p->s_per_byte, &variance, &chi_square);
    }
    if (n > 1 && p->s_per_byte < 0) {
        double sum = 0, weight = 0;

        for (size_t i = 0; i < n; i++) {
            sum += w[i] * y[i];
            weight += w[i];
        }
        p->latency_s = sum / weight;
        p->s_per_byte = 0;
    }
}

static enum fr_status refit(struct fr__learned *l, struct pair *p, struct fr_error *err)
{
    size_t n = 0;

    if (!fr__grow(&l->x, &l->cap_x, p->n, sizeof(*l->x)) ||
        !fr__grow(&l->w, &l->cap_w, p->n, sizeof(*l->w)) ||
        !fr__grow(&l->y, &l->cap_y, p->n, sizeof(*l->y)))
        return fr__fail_nomem(err);
    for (size_t i = 0; i < p->n; i++)
        if (p->points[i].t.n > 0) {
            l->x[n] = p->points[i].bytes;
            l->w[n] = (double)p->points[i].t.n;
            l->y[n++] = p->points[i].t.mean_s;
        }
    fit_line(p, l->x, l->w, l->y, n);
    return FR_OK;
}

/* ---- the end of a round ---- */

static void take_up(struct mean *m, bool forgets)
{
    if (forgets)
        m->n = 0;
    if (m->n_fresh > 0) {
        m->n += m->n_fresh;
        m->mean_s += (m->fresh_s - (double)m->n_fresh * m->mean_s) / (double)m->n;
    }
    m->fresh_s = 0;
    m->n_fresh = 0;
}

/* Counts a change from `before` to `after`; true: it is the largest so far. */
static bool note(struct fr__learned_change *c, double eps, double before_s, double after_s)
{
    double change = before_s > 0    ? fabs(after_s - before_s) / before_s
                    : after_s > 0.0 ? (double)INFINITY
                                    : 0;

    c->n_changed += change > eps;
    if (change <= c->most)
        return false;
    c->most = change;
    c->before_s = before_s;
    c->after_s = after_s;
    return true;
}

static void update_work(struct fr__learned *l, size_t work, const struct fr__learned_terms *terms,
                        struct fr__learned_change *c)
{
    for (uint32_t d = 0; d < l->n_devices; d++) {
        struct mean *m = &l->means[work * l->n_devices + d];
        double before_s = m->mean_s, fresh_s;
        bool was_known = m->n > 0;

        if (m->n_fresh == 0)
            continue;
        c->n_measured++;
        fresh_s = m->fresh_s / (double)m->n_fresh;
        take_up(m, terms->forgets && fabs(fresh_s - before_s) > terms->eps * before_s);
        if (!was_known) {
            c->n_new++;
        } else if (note(c, terms->eps, before_s, m->mean_s)) {
            c->is_move = false;
            c->device = d;
            memcpy(c->what, l->names[work], sizeof(c->what));
        }
    }
}

/* For the round's samples: the line's times, the times themselves, and the mean of a transfer. */
struct fresh {
    double measured_s, line_s;
    uint64_t n;
};

static struct fresh fresh_of(const struct pair *p)
{
    struct fresh f = {0};

    for (size_t i = 0; i < p->n; i++) {
        const struct mean *t = &p->points[i].t;

        f.n += t->n_fresh;
        f.measured_s += t->fresh_s;
        f.line_s += (double)t->n_fresh * (p->latency_s + p->points[i].bytes * p->s_per_byte);
    }
    if (f.n > 0) {
        f.measured_s /= (double)f.n;
        f.line_s /= (double)f.n;
    }
    return f;
}

/* The new line's time at the sizes of samples that were added before. */
static double line_at(const struct pair *p, double mean_bytes)
{
    return p->latency_s + mean_bytes * p->s_per_byte;
}

static double mean_bytes_of(const struct pair *p, uint64_t n_fresh)
{
    double sum = 0;

    for (size_t i = 0; i < p->n; i++)
        sum += (double)p->points[i].t.n_fresh * p->points[i].bytes;
    return sum / (double)n_fresh;
}

static enum fr_status update_pair(struct fr__learned *l, uint32_t src, uint32_t dst,
                                  const struct fr__learned_terms *terms,
                                  struct fr__learned_change *c, struct fr_error *err)
{
    struct pair *p = &l->pairs[src * l->n_devices + dst];
    const struct fresh f = fresh_of(p);
    bool was_known = p->is_known, is_same_strategy = p->last_strategy == terms->strategy;
    bool forgets = terms->forgets && is_same_strategy &&
                   fabs(f.measured_s - p->last_mean_s) > terms->eps * p->last_mean_s;
    double before_s, after_s, mean_bytes;

    if (f.n == 0)
        return FR_OK;
    mean_bytes = mean_bytes_of(p, f.n);
    for (size_t i = 0; i < p->n; i++)
        take_up(&p->points[i].t, forgets);
    FR_TRY(refit(l, p, err));
    before_s = terms->forgets ? p->last_mean_s : f.line_s;
    after_s = terms->forgets ? f.measured_s : line_at(p, mean_bytes);
    p->last_strategy = terms->strategy;
    p->last_mean_s = f.measured_s;
    c->n_measured++;
    if (!was_known) {
        c->n_new++;
    } else if ((is_same_strategy || !terms->forgets) && note(c, terms->eps, before_s, after_s)) {
        c->is_move = true;
        c->device = src;
        c->other = dst;
        c->what[0] = '\0';
    }
    return FR_OK;
}

enum fr_status fr__learned_update(struct fr__learned *l, const struct fr__learned_terms *terms,
                                  struct fr__learned_change *out, struct fr_error *err)
{
    *out = (struct fr__learned_change){0};
    for (size_t i = 0; i < l->n_works; i++)
        update_work(l, i, terms, out);
    for (uint32_t a = 0; a < l->n_devices; a++)
        for (uint32_t b = 0; b < l->n_devices; b++)
            FR_TRY(update_pair(l, a, b, terms, out, err));
    return FR_OK;
}

/* ---- what is known ---- */

static double known_s(const struct fr__learned *l, const struct work *w, uint32_t device)
{
    const struct mean *m = find(l, w);

    return m && m[device].n > 0 ? m[device].mean_s : 0;
}

double fr__learned_op_s(const struct fr__learned *l, const struct fr__dag *dag, uint32_t op,
                        uint32_t device)
{
    struct work w;

    if (dag->ops[op].role == FR__DAG_VARIABLE)
        return 0;
    w = work_of(dag, op);
    return known_s(l, &w, device);
}

bool fr__learned_knows_op(const struct fr__learned *l, const struct fr__dag *dag, uint32_t op,
                          uint32_t device)
{
    struct work w = work_of(dag, op);
    const struct mean *m = find(l, &w);

    return dag->ops[op].role == FR__DAG_VARIABLE || (m && m[device].n > 0);
}

bool fr__learned_line(const struct fr__learned *l, uint32_t src, uint32_t dst, double *latency_s,
                      double *s_per_byte)
{
    const struct pair *p = &l->pairs[src * l->n_devices + dst];

    *latency_s = p->latency_s;
    *s_per_byte = p->s_per_byte;
    return p->is_known;
}

size_t fr__learned_n_works(const struct fr__learned *l)
{
    return l->n_works;
}

void fr__learned_fill_costs(const struct fr__learned *l, struct fr__dag *dag)
{
    for (uint32_t op = 0; op < dag->n_ops; op++)
        for (uint32_t d = 0; d < l->n_devices; d++)
            dag->cost_s[dag->ops[op].cost * dag->n_types + d] = fr__learned_op_s(l, dag, op, d);
}

void fr__learned_fill_links(const struct fr__learned *l, double latency_s[], double s_per_byte[])
{
    for (uint32_t a = 0; a < l->n_devices; a++)
        for (uint32_t b = 0; b < l->n_devices; b++)
            fr__learned_line(l, a, b, &latency_s[a * l->n_devices + b],
                             &s_per_byte[a * l->n_devices + b]);
}

static void fill_row(const struct fr__dag *dag, const struct work *w, double out_s[])
{
    for (uint32_t d = 0; d < dag->n_types; d++)
        out_s[d] = known_s(dag->user, w, d);
}

static void part_cost(const struct fr__dag *dag, uint32_t op, enum fr__dag_dim dim, unsigned n,
                      double out_s[])
{
    const struct work w = {.op = dag->ops[op].op, .n_parts = n, .dim = dim};

    fill_row(dag, &w, out_s);
    if (dim == FR__DAG_BATCH && dag->pl && dag->replica_batch / n < 1)
        for (uint32_t d = 0; d < dag->n_types; d++)
            out_s[d] = INFINITY; /* no share of a sample */
}

static void bytes_cost(const struct fr__dag *dag, double bytes, double out_s[])
{
    const struct work w = moved(bytes);

    fill_row(dag, &w, out_s);
}

struct fr__split_costs fr__learned_split_costs(void)
{
    return (struct fr__split_costs){part_cost, bytes_cost};
}
