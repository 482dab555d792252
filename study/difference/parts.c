/* study/difference/parts.c - gives each moment of each GPU to compute, communication, launches or
 * bubble, and to the task that it belongs to.
 *
 * It is separate because the engine's accounts add up whole devices only. Here the starts and ends
 * of tasks are walked through once more, device by device, and every moment between two of them
 * goes to the tasks that run then, or to the task that starts next.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/difference/difference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PIECE_NAME = 200 };

/* A start or an end of a task on the device at hand. */
struct moment {
    double t_s;
    bool is_start;
    uint32_t task;
};

struct walk {
    const struct fr_plan_view *view;
    const struct fr_run *run;
    double from_s, to_s; /* the iteration */
    double weight;       /* of a second on the device at hand */
    struct moment *moments;
    uint32_t *compute, *moving; /* tasks that run now */
    size_t n_compute, n_moving;
    double *busy_s, *wait_s, *launch_s; /* [n_tasks] weighted */
    double after_s;                     /* behind the last task of a device, weighted */
};

/* What a parts object lives in. */
struct box {
    struct fr_parts parts;
    struct fr__arena *arena;
};

const char *fr_part_name(enum fr_time_part p)
{
    static const char *const names[FR_N_PARTS] = {
        [FR_PART_COMPUTE] = "compute",
        [FR_PART_EXPOSED] = "exposed communication",
        [FR_PART_BUBBLE] = "bubble",
        [FR_PART_LAUNCH] = "launches",
    };

    return names[p];
}

/* ---- walking through a device's time ---- */

/* Ends go before starts at the same time. */
static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    if (x->t_s < y->t_s || y->t_s < x->t_s)
        return x->t_s < y->t_s ? -1 : 1;
    if (x->is_start != y->is_start)
        return x->is_start ? 1 : -1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static bool takes_time(const struct walk *w, uint32_t task)
{
    return w->view->tasks[task].kind != FR_TASK_MARKER &&
           w->run->end_s[task] > w->run->start_s[task];
}

static void enter(struct walk *w, uint32_t task)
{
    if (w->view->tasks[task].kind == FR_TASK_COMPUTE)
        w->compute[w->n_compute++] = task;
    else
        w->moving[w->n_moving++] = task;
}

static void leave(struct walk *w, uint32_t task)
{
    bool computes = w->view->tasks[task].kind == FR_TASK_COMPUTE;
    uint32_t *running = computes ? w->compute : w->moving;
    size_t *n = computes ? &w->n_compute : &w->n_moving, i = 0;

    while (running[i] != task)
        i++;
    running[i] = running[--*n];
}

/* Nothing ran in [from_s, to_s), then next started (FR_NONE: nothing did). What it waited for came
 * before the end of its cause; the rest was its launch. */
static void give_idle(struct walk *w, double from_s, double to_s, uint32_t next)
{
    double ready_s = from_s;

    if (next == FR_NONE) {
        w->after_s += w->weight * (to_s - from_s);
        return;
    }
    if (w->run->cause[next] != FR_NONE)
        ready_s = fmin(fmax(w->run->end_s[w->run->cause[next]], from_s), to_s);
    w->wait_s[next] += w->weight * (ready_s - from_s);
    w->launch_s[next] += w->weight * (to_s - ready_s);
}

/* The time from from_s to to_s, in which nothing starts or ends. */
static void give(struct walk *w, double from_s, double to_s, uint32_t next)
{
    const uint32_t *running = w->n_compute > 0 ? w->compute : w->moving;
    size_t n = w->n_compute > 0 ? w->n_compute : w->n_moving;

    from_s = fmax(from_s, w->from_s);
    to_s = fmin(to_s, w->to_s);
    if (!(to_s > from_s))
        return;
    if (n == 0)
        give_idle(w, from_s, to_s, next);
    for (size_t i = 0; i < n; i++)
        w->busy_s[running[i]] += w->weight * (to_s - from_s) / (double)n;
}

/* tasks: [n] of one device that take time. */
static void walk_device(struct walk *w, const uint32_t tasks[], size_t n)
{
    double now_s = w->from_s;

    for (size_t i = 0; i < n; i++) {
        w->moments[2 * i] = (struct moment){w->run->start_s[tasks[i]], true, tasks[i]};
        w->moments[2 * i + 1] = (struct moment){w->run->end_s[tasks[i]], false, tasks[i]};
    }
    if (n > 0)
        qsort(w->moments, 2 * n, sizeof(*w->moments), compare_moments);
    w->n_compute = w->n_moving = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        const struct moment *m = &w->moments[i];

        give(w, now_s, m->t_s, m->task);
        now_s = fmax(now_s, m->t_s);
        if (m->is_start)
            enter(w, m->task);
        else
            leave(w, m->task);
    }
    give(w, now_s, w->to_s, FR_NONE);
}

/* ---- which devices ---- */

/* Tasks that take time by device: ids [n_tasks], of device d from first[d] to first[d + 1]. */
struct by_device {
    size_t *first;
    uint32_t *ids;
};

static bool sort_by_device(const struct walk *w, struct fr__arena *scratch, struct by_device *out)
{
    size_t n_devices = w->view->topo->n_devices, n_tasks = w->view->n_tasks;
    size_t *at = fr__arena_alloc(scratch, n_devices + 1, sizeof(*at));

    out->first = fr__arena_alloc(scratch, n_devices + 2, sizeof(*out->first));
    out->ids = fr__arena_alloc(scratch, n_tasks + 1, sizeof(*out->ids));
    if (!at || !out->first || !out->ids)
        return false;
    for (uint32_t t = 0; t < n_tasks; t++)
        out->first[w->view->tasks[t].device + 1] += takes_time(w, t);
    for (size_t d = 0; d < n_devices; d++)
        out->first[d + 1] += out->first[d];
    memcpy(at, out->first, n_devices * sizeof(*at));
    for (uint32_t t = 0; t < n_tasks; t++)
        if (takes_time(w, t))
            out->ids[at[w->view->tasks[t].device]++] = t;
    return true;
}

/* GPUs that have a task, as record.c counts the GPUs in use: is_used [n_devices of the topology].
 * Returns how many the plan stands for. */
static double mark_used(const struct fr_record *r, const struct fr_plan_view *v, bool is_used[])
{
    double n = 0;

    for (size_t t = 0; t < v->n_tasks; t++)
        if (v->tasks[t].kind != FR_TASK_MARKER)
            is_used[v->tasks[t].device] = true;
    for (size_t i = 0; i < r->n_devices; i++)
        if (r->devices[i].is_gpu && is_used[r->devices[i].device])
            n += r->devices[i].count;
    return n;
}

static enum fr_status walk_all(struct walk *w, const struct fr_record *r, struct fr__arena *scratch,
                               struct fr_error *err)
{
    size_t n_tasks = w->view->n_tasks + 1, n_devices = w->view->topo->n_devices;
    bool *is_used = fr__arena_alloc(scratch, n_devices, sizeof(*is_used));
    struct by_device tasks;
    double n_used;

    w->moments = fr__arena_alloc(scratch, 2 * n_tasks, sizeof(*w->moments));
    w->compute = fr__arena_alloc(scratch, n_tasks, sizeof(*w->compute));
    w->moving = fr__arena_alloc(scratch, n_tasks, sizeof(*w->moving));
    w->busy_s = fr__arena_alloc(scratch, n_tasks, sizeof(*w->busy_s));
    w->wait_s = fr__arena_alloc(scratch, n_tasks, sizeof(*w->wait_s));
    w->launch_s = fr__arena_alloc(scratch, n_tasks, sizeof(*w->launch_s));
    if (!is_used || !w->moments || !w->compute || !w->moving || !w->busy_s || !w->wait_s ||
        !w->launch_s || !sort_by_device(w, scratch, &tasks))
        return fr__fail_nomem(err);
    n_used = mark_used(r, w->view, is_used);
    for (size_t i = 0; i < r->n_devices; i++) {
        const struct fr_record_device *d = &r->devices[i];

        if (!d->is_gpu || !is_used[d->device])
            continue;
        w->weight = d->count / n_used;
        walk_device(w, tasks.ids + tasks.first[d->device],
                    tasks.first[d->device + 1] - tasks.first[d->device]);
    }
    if (n_used < 1) /* all of it is spent waiting */
        w->after_s = w->to_s - w->from_s;
    return FR_OK;
}

/* ---- names ---- */

/* The op of the user's graph, or what the task is called, without its micro-batch. */
static void name_task(const struct fr_plan *p, uint32_t task, char name[MAX_PIECE_NAME])
{
    const struct fr_task *t = &fr_plan_view(p)->tasks[task];
    const char *op = NULL;
    char *mark;

    if (t->kind == FR_TASK_COMPUTE && fr_task_label(t) == FR_NONE && t->op != FR_NONE)
        op = fr_plan_user_op_name(p, t->op);
    if (op) {
        snprintf(name, MAX_PIECE_NAME, "%s", op);
        return;
    }
    fr_plan_task_label(p, task, name, MAX_PIECE_NAME);
    mark = strstr(name, " [mb ");
    if (mark)
        *mark = '\0';
}

static void name_place(const struct fr_plan *p, uint32_t task, char name[MAX_PIECE_NAME])
{
    const struct fr_plan_view *v = fr_plan_view(p);
    const struct fr_task *t = &v->tasks[task];

    if (t->kind == FR_TASK_COLLECTIVE) {
        const struct fr_collective *c = &v->collectives[t->collective];
        uint32_t machines = fr_plan_group_machines(p, c->group);

        snprintf(name, MAX_PIECE_NAME, "%s over %u GPUs", fr_collective_kind_name(c->kind),
                 fr_plan_group_size(p, c->group));
        if (machines > 1)
            snprintf(name + strlen(name), MAX_PIECE_NAME - strlen(name), " of %u machines",
                     machines);
    } else {
        const struct fr_transfer *x = &v->transfers[t->transfer];

        snprintf(name, MAX_PIECE_NAME, "%s>%s", v->topo->devices[v->tasks[x->send].device].name,
                 v->topo->devices[v->tasks[x->recv].device].name);
    }
}

/* ---- lists of pieces ---- */

static int compare_pieces(const void *a, const void *b)
{
    const struct fr_piece *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : x->s < y->s ? -1 : x->s > y->s;
}

/* Pieces of equal names become one. Sums have a fixed order: the smallest first. */
static void join_pieces(struct fr_piece pieces[], size_t *n)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        if (kept > 0 && strcmp(pieces[kept - 1].name, pieces[i].name) == 0)
            pieces[kept - 1].s += pieces[i].s;
        else
            pieces[kept++] = pieces[i];
    }
    *n = kept;
}

struct listing {
    struct fr__arena *arena;
    struct fr_piece *list;
    size_t n;
    bool is_out_of_memory;
};

static void add_piece(struct listing *l, const char *name, double s)
{
    const char *copy = fr__arena_strdup(l->arena, name);

    if (!copy)
        l->is_out_of_memory = true;
    else
        l->list[l->n++] = (struct fr_piece){copy, s};
}

/* The piece of one task in a list; nothing where it has none. */
static void add_of_task(struct listing *l, const struct walk *w, const struct fr_plan *p,
                        enum fr_pieces kind, uint32_t task)
{
    bool computes = w->view->tasks[task].kind == FR_TASK_COMPUTE;
    char name[MAX_PIECE_NAME], before[MAX_PIECE_NAME + 8];
    double s = kind == FR_PIECES_WAITS      ? w->wait_s[task]
               : kind == FR_PIECES_LAUNCHES ? w->launch_s[task]
                                            : w->busy_s[task];

    if (!(s > 0) || (kind == FR_PIECES_OPS && !computes) ||
        ((kind == FR_PIECES_TRANSFERS || kind == FR_PIECES_PLACES) && computes))
        return;
    if (kind == FR_PIECES_PLACES)
        name_place(p, task, name);
    else
        name_task(p, task, name);
    snprintf(before, sizeof(before), "before %s", name);
    add_piece(l, kind == FR_PIECES_WAITS || kind == FR_PIECES_LAUNCHES ? before : name, s);
}

static enum fr_status list_pieces(struct box *b, const struct walk *w, const struct fr_plan *p,
                                  enum fr_pieces kind, struct fr_error *err)
{
    struct listing l = {.arena = b->arena};

    l.list = fr__arena_alloc(b->arena, w->view->n_tasks + 1, sizeof(*l.list));
    if (!l.list)
        return fr__fail_nomem(err);
    for (uint32_t t = 0; t < w->view->n_tasks; t++)
        add_of_task(&l, w, p, kind, t);
    if (kind == FR_PIECES_WAITS && w->after_s > 0)
        add_piece(&l, "after the last task", w->after_s);
    if (l.is_out_of_memory)
        return fr__fail_nomem(err);
    if (l.n > 0)
        qsort(l.list, l.n, sizeof(*l.list), compare_pieces);
    join_pieces(l.list, &l.n);
    b->parts.n[kind] = l.n;
    b->parts.pieces[kind] = l.list;
    if (kind < (enum fr_pieces)FR_N_PARTS)
        for (size_t i = 0; i < l.n; i++)
            b->parts.part_s[kind] += l.list[i].s;
    return FR_OK;
}

_Static_assert((int)FR_PIECES_OPS == (int)FR_PART_COMPUTE &&
                   (int)FR_PIECES_TRANSFERS == (int)FR_PART_EXPOSED &&
                   (int)FR_PIECES_WAITS == (int)FR_PART_BUBBLE &&
                   (int)FR_PIECES_LAUNCHES == (int)FR_PART_LAUNCH,
               "the first lists are those of the parts");

/* Plans that say where iterations end may go on behind the last end. */
static double end_of_iteration(const struct fr_plan_view *v, const struct fr_run *run)
{
    return v->n_iterations > 0 ? run->end_s[v->iteration_ends[v->n_iterations - 1]]
                               : run->makespan_s;
}

static enum fr_status fill(struct box *b, const struct fr_record *r, struct fr_error *err)
{
    struct walk w = {.view = fr_plan_view(r->plan), .run = r->run};
    struct fr__arena *scratch = fr__arena_new();
    enum fr_status st;

    if (!scratch)
        return fr__fail_nomem(err);
    w.to_s = end_of_iteration(w.view, r->run);
    w.from_s = w.to_s - r->run->iteration_s;
    b->parts.from_s = w.from_s;
    b->parts.iteration_s = r->run->iteration_s;
    st = walk_all(&w, r, scratch, err);
    for (unsigned kind = 0; kind < FR_N_PIECES && st == FR_OK; kind++)
        st = list_pieces(b, &w, r->plan, (enum fr_pieces)kind, err);
    fr__arena_free(scratch);
    return st;
}

enum fr_status fr_parts_new(struct fr_parts **out, const struct fr_record *r, struct fr_error *err)
{
    struct box *b;
    enum fr_status st;

    if (!r->plan || !r->run || !(r->run->want & FR_WANT_TASKS))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the parts of an answer need its plan and its run");
    b = calloc(1, sizeof(*b));
    if (!b)
        return fr__fail_nomem(err);
    b->parts.priv = b;
    b->arena = fr__arena_new();
    st = b->arena ? fill(b, r, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        *out = &b->parts;
    else
        fr_parts_free(&b->parts);
    return st;
}

void fr_parts_free(struct fr_parts *p)
{
    struct box *b = p ? p->priv : NULL;

    if (!b)
        return;
    fr__arena_free(b->arena);
    free(b);
}
