/* strategies/lists/run.c - from a problem to a timetable, and from there to a plan or to the record
 * of how it came about. */
#include "config.h"

#include "base/error.h"
#include "lowering/dag/plan.h"
#include "strategies/fastt/tell.h"
#include "strategies/lists/lists.h"
#include "lowering/log.h"
#include "lowering/check_problem.h"

#include <stdlib.h>

const struct fr_option fr__lists_options[] = {FR__LISTS_START_OPTION, {.name = NULL}};

#define REASONS_BUT_CHOICE                                                                         \
    [FR__DPOS_WITH_READER] = {.kind = FR_REASON_FOLLOWS,                                           \
                              .token = "with-reader",                                              \
                              .words = "a variable, stands with the first of its readers"},        \
    [FR__DPOS_OF_PATH] = {.kind = FR_REASON_BOUND,                                                 \
                          .token = "path",                                                         \
                          .words = "on the device of the critical path"},                          \
    [FR__DPOS_OF_GROUP] = {                                                                        \
        .kind = FR_REASON_BOUND, .token = "group", .words = "bound to where its group stands"}

const struct fr_reason fr__lists_ends_first[] = {
    REASONS_BUT_CHOICE,
    [FR__DPOS_ENDS_FIRST] = {.kind = FR_REASON_CHOSEN,
                             .token = "ends-first",
                             .words = "ends first",
                             .picked = "ends first",
                             .picked_of_equals = "first of equal ends"},
};
const struct fr_reason fr__lists_starts_first[] = {
    REASONS_BUT_CHOICE,
    [FR__DPOS_ENDS_FIRST] = {.kind = FR_REASON_CHOSEN,
                             .token = "starts-first",
                             .words = "starts first",
                             .picked = "starts first",
                             .picked_of_equals = "starts first"},
};
const struct fr_reason fr__lists_free_first[] = {
    REASONS_BUT_CHOICE,
    [FR__DPOS_ENDS_FIRST] = {.kind = FR_REASON_CHOSEN,
                             .token = "free-first",
                             .words = "free, and starts first there",
                             .picked = "free, starts first",
                             .picked_of_equals = "free, starts first"},
};

/* ---- the timetable ---- */

struct job {
    const struct fr__list_method *method;
    struct fr__placer pl;
    struct fr__fastt fastt; /* its start, machine, and the answer in its words */
    bool is_told;           /* the record is handed out */
    struct fr__timetable table;
    struct fr__dpos_result result; /* views of the timetable and of order, position, used_bytes */
    uint32_t *order, *position;
    uint64_t *used_bytes;
};

static void fini(struct job *j)
{
    fr__timetable_fini(&j->table);
    fr__fastt_fini(&j->fastt);
    if (j->pl.arena)
        fr__placer_fini(&j->pl);
}

struct started {
    double start_s, end_s;
    uint32_t op;
};

/* By start; of equal ones what takes no time first, since it would have to wait otherwise. */
static int compare_started(const void *a, const void *b)
{
    const struct started *x = a, *y = b;
    bool x_takes = x->end_s > x->start_s, y_takes = y->end_s > y->start_s;

    if (x->start_s < y->start_s || x->start_s > y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    if (x_takes != y_takes)
        return x_takes ? 1 : -1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static enum fr_status sort_by_start(struct job *j, struct fr_error *err)
{
    size_t n = j->table.dag->n_ops;
    struct started *s = fr__arena_alloc(j->table.arena, n, sizeof(*s));

    j->order = fr__arena_alloc(j->table.arena, n, sizeof(*j->order));
    j->position = fr__arena_alloc(j->table.arena, n, sizeof(*j->position));
    if (!s || !j->order || !j->position)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        s[i] = (struct started){j->table.start_s[i], j->table.end_s[i], i};
    qsort(s, n, sizeof(*s), compare_started);
    for (uint32_t i = 0; i < n; i++) {
        j->order[i] = s[i].op;
        j->position[s[i].op] = i;
    }
    return FR_OK;
}

static enum fr_status count_bytes(struct job *j, struct fr_error *err)
{
    const struct fr__dag *dag = j->table.dag;

    j->used_bytes =
        fr__arena_alloc(j->table.arena, j->table.machine->n_devices, sizeof(*j->used_bytes));
    if (!j->used_bytes)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < dag->n_ops; i++)
        j->used_bytes[j->table.device[i]] += dag->ops[i].resident_bytes + dag->ops[i].output_bytes;
    return FR_OK;
}

static enum fr_status schedule(struct job *j, const struct fr_problem *in,
                               const struct fr_context *ctx, struct fr_plan *out,
                               struct fr_error *err)
{
    struct fr__timetable *t = &j->table;
    double makespan_s;

    FR_TRY(fr__placer_init(&j->pl, in, ctx, out, err));
    FR_TRY(fr__fastt_prepare(&j->fastt, &j->pl,
                             (enum fr__fastt_start)in->options->value[FR__LISTS_START], err));
    FR_TRY(fr__timetable_init(t, j->fastt.start, &j->fastt.machine, err));
    t->is_told = j->is_told;
    FR_TRY(j->method->run(t, in, ctx, err));
    makespan_s = fr__timetable_finish(t);
    FR_TRY(sort_by_start(j, err));
    FR_TRY(count_bytes(j, err));
    j->result = (struct fr__dpos_result){.outcome = FR__DPOS_DONE,
                                         .makespan_s = makespan_s,
                                         .rank_s = t->rank_s,
                                         .start_s = t->start_s,
                                         .end_s = t->end_s,
                                         .device = t->device,
                                         .order = j->order,
                                         .position = j->position,
                                         .priority = t->list,
                                         .path = t->path,
                                         .is_on_path = t->is_on_path,
                                         .used_bytes = j->used_bytes,
                                         .n_path = t->n_path};
    j->fastt.result.plan = j->result;
    j->fastt.result.dag = j->fastt.start;
    j->fastt.result.start_s = makespan_s;
    FR_TRY(fr__dpos_bounds(&j->fastt.bounds, j->fastt.start, &j->fastt.machine, err));
    /* no rule of memory holds here, so neither does its bound */
    j->fastt.bounds.cross_s = 0;
    j->fastt.bounds.best_s = j->fastt.bounds.path_s > j->fastt.bounds.work_s
                                 ? j->fastt.bounds.path_s
                                 : j->fastt.bounds.work_s;
    j->fastt.bounds.search_s = t->bound_s;
    if (t->bound_s > j->fastt.bounds.best_s)
        j->fastt.bounds.best_s = t->bound_s;
    return FR_OK;
}

/* ---- the plan ---- */

static enum fr_status make_plan(struct job *j, const struct fr_problem *in,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__dag *dag = j->fastt.start;
    const struct fr__placed_dag placed = {
        .dag = dag, .device = j->result.device, .order = j->result.order};
    uint32_t *tasks = fr__arena_alloc(j->pl.arena, dag->n_ops, sizeof(*tasks));

    if (!tasks)
        return fr__fail_nomem(err);
    FR_TRY(fr__dag_plan(&j->pl, &placed, tasks, err));
    fr__log(ctx, "%s, from %s of %zu operations: %.6f s, at least %.6f s", j->method->caption,
            j->fastt.is_data_parallel ? "replicas that share their variables: a dag"
                                      : "the model: a dag",
            dag->n_ops, j->result.makespan_s, j->fastt.bounds.best_s);
    return in->decisions ? fr__tell_answer(in->decisions, &j->fastt, in, tasks, err) : FR_OK;
}

enum fr_status fr__lists_plan(const struct fr__list_method *method, const struct fr_problem *in,
                              const struct fr_context *ctx, struct fr_plan *out,
                              struct fr_error *err)
{
    struct job j = {.method = method};
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    st = schedule(&j, in, ctx, out, err);
    if (st == FR_OK)
        st = make_plan(&j, in, ctx, err);
    fini(&j);
    return st;
}

/* ---- the explanation ---- */

static enum fr_status tell(struct job *j, const struct fr_problem *in, struct fr_decisions **out,
                           struct fr_error *err)
{
    const struct fr__tell_words words = {.reasons = j->method->reasons,
                                         .rank_rule = j->method->rank_rule,
                                         .list_rule = j->method->list_rule,
                                         .path_rule = j->method->path_rule,
                                         .down_s = j->table.down_s};
    const struct fr__tell_run run = {.dag = j->fastt.start,
                                     .machine = &j->fastt.machine,
                                     .result = &j->result,
                                     .bounds = &j->fastt.bounds,
                                     .record = &j->table.record,
                                     .words = &words};
    struct fr__arena *arena;
    struct fr_decisions *d = fr__tell_fastt(&j->fastt, in, &arena);
    struct fr_decided_plan *plan = d ? fr__arena_alloc(arena, 1, sizeof(*plan)) : NULL;

    if (!plan || !fr__tell_run(plan, arena, &run)) {
        fr_decisions_free(d);
        return fr__fail_nomem(err);
    }
    plan->token = "start";
    plan->title = "";
    plan->caption = j->method->caption;
    plan->heading = j->fastt.is_data_parallel
                        ? "The dag: a replica on each device, one set of variables,"
                        : "The dag: one model,";
    plan->note = j->table.note ? fr__arena_strdup(arena, j->table.note) : NULL;
    d->plans = plan;
    d->n_plans = 1;
    *out = d;
    return FR_OK;
}

enum fr_status fr__lists_explain(const struct fr__list_method *method, const struct fr_problem *in,
                                 const struct fr_context *ctx, struct fr_decisions **out,
                                 struct fr_error *err)
{
    struct job j = {.method = method, .is_told = true};
    struct fr_plan *plan; /* stays empty; the placer needs one */
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    plan = fr_plan_new(in->topo, in->graph);
    if (!plan)
        return fr__fail_nomem(err);
    st = schedule(&j, in, ctx, plan, err);
    if (st == FR_OK)
        st = tell(&j, in, out, err);
    fini(&j);
    fr_plan_free(plan);
    return st;
}
