/* study/explain/layout_watch.c - what the ranks of a mesh send in a run, and how much of that time
 * they do not compute.
 *
 * It is separate from layout_run.c, which says which layers are equal and knows no run.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/explain/layout_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- when a rank computes ---- */

struct span {
    double from_s, to_s;
    double before_s; /* the sum of all earlier ones */
};

struct rank {
    uint32_t device;
    struct span *spans; /* [n] apart, in order */
    size_t n;
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return x->from_s < y->from_s ? -1 : x->from_s > y->from_s;
}

static void merge(struct rank *k)
{
    size_t n = 0;

    qsort(k->spans, k->n, sizeof(*k->spans), compare_spans);
    for (size_t i = 0; i < k->n; i++) {
        if (n > 0 && k->spans[i].from_s <= k->spans[n - 1].to_s) {
            if (k->spans[i].to_s > k->spans[n - 1].to_s)
                k->spans[n - 1].to_s = k->spans[i].to_s;
            continue;
        }
        k->spans[n++] = k->spans[i];
    }
    k->n = n;
    for (size_t i = 1; i < n; i++)
        k->spans[i].before_s =
            k->spans[i - 1].before_s + k->spans[i - 1].to_s - k->spans[i - 1].from_s;
}

static bool watch_compute(struct rank *k, const struct fr_plan_view *v, const struct fr_run *run,
                          struct fr__arena *arena)
{
    size_t n = 0;

    for (size_t t = 0; t < v->n_tasks; t++)
        n += v->tasks[t].device == k->device && v->tasks[t].kind == FR_TASK_COMPUTE;
    k->spans = fr__arena_alloc(arena, n + 1, sizeof(*k->spans));
    for (size_t t = 0; k->spans && t < v->n_tasks; t++)
        if (v->tasks[t].device == k->device && v->tasks[t].kind == FR_TASK_COMPUTE)
            k->spans[k->n++] = (struct span){run->start_s[t], run->end_s[t], 0};
    if (k->spans)
        merge(k);
    return k->spans;
}

/* How long the rank has computed up to a time. */
static double computed_s(const struct rank *k, double at_s)
{
    size_t low = 0, high = k->n;
    const struct span *s;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (k->spans[mid].from_s <= at_s)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return 0;
    s = &k->spans[low - 1];
    return s->before_s + (at_s < s->to_s ? at_s : s->to_s) - s->from_s;
}

static double exposed_s(const struct rank *k, double from_s, double to_s)
{
    double s = to_s - from_s - (computed_s(k, to_s) - computed_s(k, from_s));

    return s > 1e-9 * (to_s - from_s) ? s : 0; /* not what rounding leaves */
}

/* ---- messages ---- */

struct watch {
    struct fr__layout_run *r;
    const struct fr_plan *plan;
    const struct fr_plan_view *v;
    const struct fr_run *run;
    const uint32_t *twin;
    struct fr__layout_message *of_op;
    struct rank *ranks;                     /* [n_stage_ranks] */
    uint32_t *stage_rank_of;                /* [n_devices]; FR_NONE: not looked at */
    uint32_t *rank_of_device;               /* [n_devices] */
    char (*axis_of_group)[FR__LAYOUT_AXIS]; /* [2 n_groups]: of experts' messages behind others' */
    struct fr__layout_sum *sums;
    size_t n_sums, cap_sums;
    enum fr_status st;
};

static double wire_factor(enum fr_collective_kind kind, uint32_t n)
{
    double part = n ? (double)(n - 1) / n : 0;

    if (kind == FR_BROADCAST || kind == FR_REDUCE || kind == FR_RING_STEP)
        return 1;
    return kind == FR_ALL_REDUCE ? 2 * part : part;
}

static struct fr__layout_sum *sum_of(struct watch *w, uint32_t stage_rank, const char *what,
                                     const char *axis, uint32_t n_ranks)
{
    for (size_t i = w->n_sums; i-- > 0;) {
        struct fr__layout_sum *s = &w->sums[i];

        if (s->stage_rank == stage_rank && s->n_ranks == n_ranks && strcmp(s->what, what) == 0 &&
            strcmp(s->axis, axis) == 0)
            return s;
    }
    if (w->n_sums == w->cap_sums) {
        size_t cap = 2 * w->cap_sums + 8;
        struct fr__layout_sum *more = fr__arena_alloc(w->r->arena, cap, sizeof(*more));

        if (!more)
            return NULL;
        if (w->n_sums)
            memcpy(more, w->sums, w->n_sums * sizeof(*more));
        w->sums = more;
        w->cap_sums = cap;
    }
    w->sums[w->n_sums] =
        (struct fr__layout_sum){.stage_rank = stage_rank, .what = what, .n_ranks = n_ranks};
    snprintf(w->sums[w->n_sums].axis, FR__LAYOUT_AXIS, "%s", axis);
    return &w->sums[w->n_sums++];
}

/* Whether a message is one of experts: tokens that go to them and come back, and their gradients.
 * Ulysses' exchanges are of attention. */
static bool is_of_experts(const struct watch *w, const struct fr_task *t,
                          const struct fr_collective *c)
{
    const struct fr_graph *g = w->v->graph;

    if (c->label != FR_NONE && strncmp(fr_plan_string(w->plan, c->label), "experts'", 8) == 0)
        return true;
    return c->kind == FR_ALL_TO_ALL && t->op != FR_NONE && !strstr(g->ops[t->op].name, ".attn");
}

static void add_message(struct watch *w, uint32_t task, uint32_t stage_rank)
{
    const struct fr_task *t = &w->v->tasks[task];
    const struct fr_collective *c = &w->v->collectives[t->collective];
    uint32_t n_ranks = fr_plan_group_size(w->plan, c->group);
    double from_s = w->run->start_s[task], to_s = w->run->end_s[task];
    double exposed = exposed_s(&w->ranks[stage_rank], from_s, to_s);
    double wire = wire_factor(c->kind, n_ranks) * c->bytes;
    const char *axis = w->axis_of_group[c->group + (is_of_experts(w, t, c) ? w->v->n_groups : 0)];
    struct fr__layout_sum *s =
        sum_of(w, stage_rank, fr_collective_kind_name(c->kind), axis, n_ranks);

    if (!s) {
        w->st = FR_ENOMEM;
        return;
    }
    s->a_step++;
    s->bytes += c->bytes;
    s->wire_bytes += wire;
    s->time_s += to_s - from_s;
    s->exposed_s += exposed;
    if (t->op != FR_NONE && fr_op_kind_is_message(w->v->graph->ops[t->op].kind)) {
        struct fr__layout_message *m = &w->of_op[w->twin[t->op]];

        m->op = w->twin[t->op];
        m->kind = c->kind;
        m->n_ranks = n_ranks;
        snprintf(m->axis, sizeof(m->axis), "%s", axis);
        m->bytes += c->bytes;
        m->wire_bytes += wire;
        m->time_s += to_s - from_s;
        m->exposed_s += exposed;
        m->n++;
    }
}

static const char *name_of_stages(const struct fr_layout *l)
{
    for (size_t a = 0; a < l->n_axes; a++)
        if (l->axes[a].is_stages)
            return l->axes[a].name;
    return "";
}

static void add_send(struct watch *w, uint32_t task, uint32_t stage_rank)
{
    const struct fr_transfer *x = &w->v->transfers[w->v->tasks[task].transfer];
    struct fr__layout_sum *s = sum_of(w, stage_rank, "send", name_of_stages(w->r->layout), 2);
    double from_s = w->run->start_s[task], to_s = w->run->end_s[task];

    if (!s) {
        w->st = FR_ENOMEM;
        return;
    }
    s->a_step++;
    s->bytes += x->bytes;
    s->wire_bytes += x->bytes;
    s->time_s += to_s - from_s;
    s->exposed_s += exposed_s(&w->ranks[stage_rank], from_s, to_s);
}

static void watch_messages(struct watch *w)
{
    for (uint32_t t = 0; t < w->v->n_tasks && w->st == FR_OK; t++) {
        uint32_t stage_rank = w->stage_rank_of[w->v->tasks[t].device];

        if (stage_rank == FR_NONE)
            continue;
        if (w->v->tasks[t].kind == FR_TASK_COLLECTIVE)
            add_message(w, t, stage_rank);
        else if (w->v->tasks[t].kind == FR_TASK_SEND)
            add_send(w, t, stage_rank);
    }
}

/* ---- all of it ---- */

static bool prepare(struct watch *w)
{
    const struct fr_layout *l = w->r->layout;
    struct fr__arena *arena = w->r->arena;
    size_t n_devices = w->v->topo->n_devices;

    w->ranks = fr__arena_alloc(arena, w->r->n_stage_ranks, sizeof(*w->ranks));
    w->stage_rank_of = fr__arena_alloc(arena, n_devices, sizeof(*w->stage_rank_of));
    w->rank_of_device = fr__arena_alloc(arena, n_devices, sizeof(*w->rank_of_device));
    w->axis_of_group = fr__arena_alloc(arena, 2 * (size_t)w->v->n_groups + 1, FR__LAYOUT_AXIS);
    if (!w->ranks || !w->stage_rank_of || !w->rank_of_device || !w->axis_of_group)
        return false;
    memset(w->stage_rank_of, 0xff, n_devices * sizeof(*w->stage_rank_of));
    memset(w->rank_of_device, 0xff, n_devices * sizeof(*w->rank_of_device));
    for (uint32_t rank = 0; rank < l->n_ranks; rank++)
        w->rank_of_device[l->devices[rank]] = rank;
    for (uint32_t g = 0; g < w->v->n_groups; g++) {
        fr__layout_name_group(l, w->rank_of_device, w->plan, g, false, w->axis_of_group[g]);
        fr__layout_name_group(l, w->rank_of_device, w->plan, g, true,
                              w->axis_of_group[w->v->n_groups + g]);
    }
    for (uint32_t s = 0; s < w->r->n_stage_ranks; s++) {
        w->ranks[s].device = l->devices[fr__layout_rank(l, s)];
        w->stage_rank_of[w->ranks[s].device] = s;
        if (!watch_compute(&w->ranks[s], w->v, w->run, arena))
            return false;
    }
    return true;
}

static int compare_sums(const void *a, const void *b)
{
    const struct fr__layout_sum *x = a, *y = b;
    int by_axis = strcmp(x->axis, y->axis);

    if (x->stage_rank != y->stage_rank)
        return x->stage_rank < y->stage_rank ? -1 : 1;
    if (by_axis)
        return -by_axis; /* tp, pp, ep, dp, cp */
    if (strcmp(x->what, y->what) != 0)
        return strcmp(x->what, y->what);
    return x->n_ranks < y->n_ranks ? -1 : x->n_ranks > y->n_ranks;
}

enum fr_status fr__layout_watch(struct fr__layout_run *r, const struct fr_record *record,
                                const uint32_t twin[], struct fr__layout_message of_op[],
                                struct fr_error *err)
{
    struct watch w = {.r = r,
                      .plan = record->plan,
                      .v = fr_plan_view(record->plan),
                      .run = record->run,
                      .twin = twin,
                      .of_op = of_op,
                      .st = FR_OK};

    if (!prepare(&w))
        return fr__fail_nomem(err);
    watch_messages(&w);
    if (w.st != FR_OK)
        return fr__fail_nomem(err);
    if (w.n_sums)
        qsort(w.sums, w.n_sums, sizeof(*w.sums), compare_sums);
    r->sums = w.sums;
    r->n_sums = w.n_sums;
    return FR_OK;
}
