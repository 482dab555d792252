/* strategies/fastt/planned.c - what a planner believed, kept for those who ask. */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "strategies/fastt/fastt.h"

struct box {
    struct fr_planned planned;
    struct fr__arena *arena;
};

void fr_planned_free(struct fr_planned *p)
{
    struct box *box = p ? p->priv : NULL;

    if (box)
        fr__arena_free(box->arena);
}

static const char *name_in(struct box *box, const struct fr__dag *dag, uint32_t op)
{
    char name[160];

    return fr__arena_strdup(box->arena, fr__dag_name(dag, op, name, sizeof(name)));
}

static bool fill_ops(struct box *box, const struct fr__fastt *f, const struct fr_problem *in,
                     const uint32_t tasks[])
{
    const struct fr__dpos_result *r = &f->result.plan;
    size_t n = f->result.dag->n_ops;
    struct fr_planned_op *ops = fr__arena_alloc(box->arena, n, sizeof(*ops));

    for (size_t i = 0; ops && i < n; i++) {
        uint32_t op = r->order[i];

        ops[i] = (struct fr_planned_op){.name = name_in(box, f->result.dag, op),
                                        .device = in->devices[r->device[op]],
                                        .task = tasks[op],
                                        .start_s = r->start_s[op],
                                        .end_s = r->end_s[op]};
        if (!ops[i].name)
            return false;
    }
    box->planned.ops = ops;
    box->planned.n_ops = n;
    return ops;
}

static bool fill_splits(struct box *box, const struct fr__fastt *f)
{
    static const char *const dims[] = {"whole", "batch", "channel"};
    const struct fr__os_dpos_result *r = &f->result;
    struct fr_planned_split *splits = fr__arena_alloc(box->arena, r->n_splits, sizeof(*splits));
    size_t n = 0;

    for (size_t i = 0; splits && i < r->n_tries; i++) {
        const struct fr__os_dpos_try *t = &r->tries[i];

        if (!t->is_kept || f->keeps_replicas)
            continue;
        splits[n] = (struct fr_planned_split){.op = name_in(box, f->start, t->op),
                                              .dim = dims[t->dim],
                                              .n = t->n,
                                              .before_s = t->before_s,
                                              .after_s = t->after_s};
        if (!splits[n++].op)
            return false;
    }
    box->planned.splits = splits;
    box->planned.n_splits = n;
    return splits;
}

enum fr_status fr__fastt_report(struct fr_planned **out, const struct fr__fastt *f,
                                const struct fr_problem *in, const uint32_t tasks[],
                                struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct box *box = arena ? fr__arena_alloc(arena, 1, sizeof(*box)) : NULL;

    if (!box) {
        if (arena)
            fr__arena_free(arena);
        return fr__fail_nomem(err);
    }
    box->arena = arena;
    box->planned = (struct fr_planned){.planned_s = f->result.plan.makespan_s,
                                       .start_s = f->result.start_s,
                                       .bound_s = f->bounds.best_s,
                                       .path_bound_s = f->bounds.path_s,
                                       .work_bound_s = f->bounds.work_s,
                                       .cross_bound_s = f->bounds.cross_s,
                                       .keeps_replicas = f->keeps_replicas,
                                       .start = f->is_data_parallel ? "dp" : "model",
                                       .n_tried = f->result.n_tries,
                                       .n_whole = f->result.n_whole,
                                       .n_stopped = f->result.n_stopped,
                                       .priv = box};
    if (!fill_ops(box, f, in, tasks) || !fill_splits(box, f)) {
        fr__arena_free(arena);
        return fr__fail_nomem(err);
    }
    *out = &box->planned;
    return FR_OK;
}
