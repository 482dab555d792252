/* strategies/fastt/tell.c - turns the planner's arrays into a record of decisions.
 *
 * It is separate from the planners so that these have no names and no sentences, and separate from
 * the explanation so that an answer that needs only the schedule does not pay for the rest.
 */
#include "config.h"

#include "strategies/fastt/tell.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *name_in(struct fr__arena *arena, const struct fr__dag *dag, uint32_t op)
{
    const char *own = fr__dag_own_name(dag, op);
    char name[160];

    return fr__arena_strdup(arena, own ? own : fr__dag_name(dag, op, name, sizeof(name)));
}

/* NULL: out of memory. */
static void *copy_of(struct fr__arena *arena, const void *array, size_t n, size_t size)
{
    void *copy = fr__arena_take(arena, n, size);

    if (copy && n > 0)
        memcpy(copy, array, n * size);
    return copy;
}

/* ---- operations ---- */

static enum fr_decided_kind kind_of(const struct fr__dag_op *o)
{
    if (o->role == FR__DAG_VARIABLE)
        return FR_DECIDED_VARIABLE;
    return o->role == FR__DAG_OP ? FR_DECIDED_OP : FR_DECIDED_HELPER;
}

/* NULL: out of memory. */
static struct fr_decided_op *fill_ops(struct fr_decided_plan *out, struct fr__arena *arena,
                                      const struct fr__tell_run *run)
{
    const struct fr__dpos_result *r = run->result;
    size_t n = run->dag->n_ops;
    struct fr_decided_op *ops = fr__arena_alloc(arena, n, sizeof(*ops));

    for (uint32_t i = 0; ops && i < n; i++) {
        const struct fr__dag_op *o = &run->dag->ops[i];

        ops[i] = (struct fr_decided_op){.name = name_in(arena, run->dag, i),
                                        .kind = kind_of(o),
                                        .phase = o->phase,
                                        .op = o->op,
                                        .task = run->tasks ? run->tasks[i] : FR_NONE,
                                        .device = r->device[i],
                                        .n_parts = o->n_parts,
                                        .start_s = r->start_s[i],
                                        .end_s = r->end_s[i],
                                        .is_on_path = r->is_on_path[i] != 0,
                                        .rank_s = r->rank_s[i],
                                        .via = FR_NONE,
                                        .follows = FR_NONE};
        if (!ops[i].name)
            return NULL;
    }
    out->ops = ops;
    out->n_ops = n;
    out->order = copy_of(arena, r->order, n, sizeof(*r->order));
    return out->order ? ops : NULL;
}

/* ---- edges and costs ---- */

static bool fill_edges(struct fr_decided_plan *out, struct fr__arena *arena,
                       const struct fr__tell_run *run)
{
    const struct fr__dag *d = run->dag;
    const uint32_t *device = run->result->device;
    struct fr_decided_edge *edges = fr__arena_take(arena, d->n_edges, sizeof(*edges));

    for (size_t i = 0; edges && i < d->n_edges; i++) {
        const struct fr__dag_edge *e = &d->edges[i];

        edges[i] = (struct fr_decided_edge){
            .src = e->src,
            .dst = e->dst,
            .bytes = e->bytes,
            .move_s = fr__dpos_move_s(run->machine, e, device[e->src], device[e->dst]),
            .is_order = e->cargo == FR__DAG_ORDER};
        if (run->result->there_s && !isnan(run->result->there_s[i]))
            edges[i].move_s = run->result->there_s[i] - run->result->end_s[e->src];
    }
    out->edges = edges;
    out->n_edges = d->n_edges;
    out->out_first = copy_of(arena, d->out_first, d->n_ops + 1, sizeof(*d->out_first));
    out->in_first = copy_of(arena, d->in_first, d->n_ops + 1, sizeof(*d->in_first));
    out->in_edges = copy_of(arena, d->in_edges, d->n_edges, sizeof(*d->in_edges));
    return edges && out->out_first && out->in_first && out->in_edges;
}

/* Device types in use, in the order of the devices; returns how many. columns: [n_devices], or
 * NULL. */
static size_t list_types(const struct fr__dpos_machine *m, uint32_t types[], uint32_t columns[])
{
    size_t n = 0;

    for (size_t d = 0; d < m->n_devices; d++) {
        uint32_t k = 0;

        while (k < n && types[k] != m->type[d])
            k++;
        if (k == n)
            types[n++] = m->type[d];
        if (columns)
            columns[d] = k;
    }
    return n;
}

static bool fill_costs(struct fr_decided_plan *out, struct fr__arena *arena,
                       const struct fr__tell_run *run)
{
    const struct fr__dag *d = run->dag;
    uint32_t *types = fr__arena_alloc(arena, run->machine->n_devices, sizeof(*types));
    size_t n = types ? list_types(run->machine, types, NULL) : 0;
    double *cost_s = fr__arena_take(arena, d->n_ops * n, sizeof(*cost_s));

    for (size_t i = 0; types && cost_s && i < d->n_ops; i++)
        for (size_t k = 0; k < n; k++)
            cost_s[i * n + k] = d->cost_s[d->ops[i].cost * d->n_types + types[k]];
    out->cost_s = cost_s;
    return types && cost_s;
}

/* ---- decisions ---- */

static const struct fr_reason reasons[] = {
    [FR__DPOS_WITH_READER] = {.kind = FR_REASON_FOLLOWS,
                              .token = "with-reader",
                              .words = "a variable, stands with the first of its readers"},
    [FR__DPOS_OF_PATH] = {.kind = FR_REASON_BOUND,
                          .token = "path",
                          .words = "bound with the critical path"},
    [FR__DPOS_OF_GROUP] = {.kind = FR_REASON_BOUND,
                           .token = "group",
                           .words = "bound to where its group stands"},
    [FR__DPOS_MOST_ROOM] = {.kind = FR_REASON_CHOSEN,
                            .token = "most-room",
                            .words = "takes no time: where most room is left",
                            .picked = "most room",
                            .is_by_room = true},
    [FR__DPOS_ENDS_FIRST] = {.kind = FR_REASON_CHOSEN,
                             .token = "ends-first",
                             .words = "ends first",
                             .picked = "ends first",
                             .picked_of_equals = "first of equal ends"},
    [FR__DPOS_PLACED] = {.kind = FR_REASON_BOUND,
                         .token = "placed",
                         .words = "left where its replica stands"},
};

const struct fr_reason *fr__tell_reason(enum fr__dpos_why why)
{
    return &reasons[why];
}

static const struct fr__tell_words own_words = {
    .reasons = reasons,
    .rank_rule =
        "Ranks: w, the longest cost, and the most of c + rank over the readers, c the slowest\n"
        "move to them. By falling rank, which is the order in which operations are placed:",
    .list_rule =
        "Operation by operation: when its inputs could be there (ready), its earliest start\n"
        "(EST) and end (EFT). It goes where it ends first, into the first gap that is long "
        "enough:",
    .path_rule =
        "The critical path: from the source of the highest rank on to the reader of the highest\n"
        "rank, and so on:",
};

static const struct fr__tell_words *words_of(const struct fr__tell_run *run)
{
    return run->words ? run->words : &own_words;
}

/* The reader that a variable waited for, the first of them all. */
static uint32_t first_reader(const struct fr__dag *dag, const uint32_t place[], uint32_t variable)
{
    uint32_t first = FR_NONE;

    for (uint32_t e = dag->out_first[variable]; e < dag->out_first[variable + 1]; e++) {
        uint32_t reader = dag->edges[e].dst;

        if (first == FR_NONE || place[reader] < place[first])
            first = reader;
    }
    return first;
}

static void fill_reasons(struct fr_decided_op ops[], const struct fr__tell_run *run,
                         const uint32_t place[])
{
    const struct fr__dpos_record *r = run->record;

    for (uint32_t i = 0; i < run->dag->n_ops; i++) {
        struct fr_decided_op *o = &ops[i];

        o->longest_s = r->longest_s[i];
        o->down_s = words_of(run)->down_s ? words_of(run)->down_s[i] : 0;
        if (r->via[i] != FR_NONE) {
            o->via = run->dag->edges[r->via[i]].dst;
            o->via_s = r->via_s[i];
        }
        o->reason = &words_of(run)->reasons[r->why[i]];
        o->needs_bytes = r->needs_bytes[i];
        if (r->why[i] == FR__DPOS_WITH_READER)
            o->follows = first_reader(run->dag, place, i);
        if (!run->words && r->why[i] == FR__DPOS_ENDS_FIRST && o->is_on_path)
            o->remark = ", on the critical path, but its device has no room for what it receives";
    }
}

/* The operations of a device in the order of their starts, as a linked list. Operations are taken
 * out of it in the reverse of the order in which they came, so that the neighbours of one bound the
 * gap that it was put into. */
struct neighbours {
    uint32_t *before, *behind; /* [n_ops] FR_NONE: nobody */
};

static void line_up(const struct fr__tell_run *run, struct neighbours *n, uint32_t last[])
{
    for (size_t d = 0; d < run->machine->n_devices; d++)
        last[d] = FR_NONE;
    for (size_t i = 0; i < run->dag->n_ops; i++) {
        uint32_t op = run->result->order[i], *end = &last[run->result->device[op]];

        n->before[op] = n->behind[op] = FR_NONE;
        if (run->record->why[op] == FR__DPOS_WITH_READER)
            continue;
        n->before[op] = *end;
        if (*end != FR_NONE)
            n->behind[*end] = op;
        *end = op;
    }
}

/* Fills the free interval at the time of each decision. It means nothing for a variable that
 * waited. */
static bool fill_gaps(struct fr_decided_op ops[], struct fr__arena *arena,
                      const struct fr__tell_run *run)
{
    const struct fr__dpos_result *r = run->result;
    size_t n_ops = run->dag->n_ops;
    uint32_t *last = fr__arena_alloc(arena, run->machine->n_devices, sizeof(*last));
    struct neighbours n = {fr__arena_alloc(arena, n_ops, sizeof(*n.before)),
                           fr__arena_alloc(arena, n_ops, sizeof(*n.behind))};

    if (!last || !n.before || !n.behind)
        return false;
    line_up(run, &n, last);
    for (size_t i = n_ops; i-- > 0;) {
        uint32_t op = r->priority[i], before = n.before[op], behind = n.behind[op];

        ops[op].gap_begin_s = before == FR_NONE ? 0 : r->end_s[before];
        ops[op].gap_end_s = behind == FR_NONE ? (double)INFINITY : r->start_s[behind];
        if (before != FR_NONE)
            n.behind[before] = behind;
        if (behind != FR_NONE)
            n.before[behind] = before;
    }
    return true;
}

static bool fill_alternatives(struct fr_decided_plan *out, struct fr__arena *arena,
                              const struct fr__tell_run *run)
{
    const struct fr__dpos_record *r = run->record;
    size_t n = run->dag->n_ops * run->machine->n_devices;
    struct fr_alternative *a = fr__arena_take(arena, n, sizeof(*a));

    for (size_t i = 0; a && i < n; i++)
        a[i] = (struct fr_alternative){.ready_s = r->ready_s[i],
                                       .start_s = r->est_s[i],
                                       .end_s = r->eft_s[i],
                                       .ahead_s = r->ahead_s ? r->ahead_s[i] : 0,
                                       .left_bytes = r->left_bytes[i]};
    out->alternatives = a;
    out->looks_ahead = r->ahead_s;
    return a;
}

static bool fill_decisions(struct fr_decided_plan *out, struct fr_decided_op ops[],
                           struct fr__arena *arena, const struct fr__tell_run *run)
{
    size_t n = run->dag->n_ops;
    uint32_t *place = fr__arena_alloc(arena, n, sizeof(*place));

    out->list = copy_of(arena, run->result->priority, n, sizeof(*run->result->priority));
    out->position = copy_of(arena, run->result->position, n, sizeof(*run->result->position));
    if (!place || !out->list || !out->position)
        return false;
    for (uint32_t i = 0; i < n; i++)
        place[run->result->priority[i]] = i;
    out->place = place;
    fill_reasons(ops, run, place);
    out->rank_rule = words_of(run)->rank_rule;
    out->list_rule = words_of(run)->list_rule;
    out->has_down_ranks = words_of(run)->down_s;
    return fill_gaps(ops, arena, run) && fill_alternatives(out, arena, run);
}

/* ---- the critical path ---- */

static bool fill_rounds(struct fr_decided_plan *out, struct fr__arena *arena,
                        const struct fr__tell_run *run)
{
    const struct fr__dpos_record *r = run->record;
    size_t n = r->n_rounds * run->machine->n_devices;
    struct fr_path_candidate *c = fr__arena_take(arena, n, sizeof(*c));
    char text[160];

    for (size_t i = 0; c && i < n; i++)
        c[i] = (struct fr_path_candidate){r->prefixes[i].from, r->prefixes[i].end,
                                          r->prefixes[i].mean_s};
    out->candidates = c;
    out->n_rounds = r->n_rounds;
    out->round_device = copy_of(arena, r->round_device, r->n_rounds, sizeof(*r->round_device));
    out->round_rules[0] = "Its device: where what fits of it, from its beginning, has the smallest "
                          "mean cost:";
    out->round_rules[1] = "What is left of it goes to another device, likewise:";
    out->tie_rule = "(of equal means the longer part, then the lower device)";
    if (r->spare_eighths) {
        snprintf(text, sizeof(text),
                 "Filled to the brim, devices had no room for copies of what stands elsewhere: "
                 "%u/8 of\neach room was kept for them.",
                 r->spare_eighths);
        out->path_note = fr__arena_strdup(arena, text);
        if (!out->path_note)
            return false;
    }
    return c && out->round_device;
}

static bool fill_path(struct fr_decided_plan *out, struct fr__arena *arena,
                      const struct fr__tell_run *run)
{
    const struct fr__dpos_result *r = run->result;

    out->n_path = r->n_path;
    out->path = copy_of(arena, r->path, r->n_path, sizeof(*r->path));
    out->path_rule = words_of(run)->path_rule;
    return out->path && fill_rounds(out, arena, run);
}

bool fr__tell_run(struct fr_decided_plan *out, struct fr__arena *arena,
                  const struct fr__tell_run *run)
{
    struct fr_decided_op *ops;

    *out = (struct fr_decided_plan){.makespan_s = run->result->makespan_s,
                                    .bounds = {.best_s = run->bounds->best_s,
                                               .path_s = run->bounds->path_s,
                                               .work_s = run->bounds->work_s,
                                               .cross_s = run->bounds->cross_s,
                                               .search_s = run->bounds->search_s}};
    ops = fill_ops(out, arena, run);
    if (!ops)
        return false;
    if (!run->record)
        return true;
    out->used_bytes = copy_of(arena, run->result->used_bytes, run->machine->n_devices,
                              sizeof(*run->result->used_bytes));
    return out->used_bytes && fill_edges(out, arena, run) && fill_costs(out, arena, run) &&
           fill_decisions(out, ops, arena, run) && fill_path(out, arena, run);
}

/* ---- what is not a plan ---- */

/* Reports a split of the dag that was split. */
static bool tell_split(struct fr_decided_split *out, const struct fr__fastt *f,
                       const struct fr__os_dpos_try *t, struct fr__arena *arena)
{
    static const char *const dims[] = {"whole", "batch", "channel"};

    *out = (struct fr_decided_split){
        .op = name_in(arena, f->start, t->op),
        .number = t->op,
        .user_op = f->start->ops[t->op].op,
        .dim = dims[t->dim],
        .n = t->n,
        .before_s = t->before_s,
        .after_s = t->after_s,
        .is_kept = t->is_kept,
        .verdict = t->is_kept                 ? "kept"
                   : isnan(t->after_s)        ? "stopped: no shorter than the best so far"
                   : isinf(t->after_s)        ? "does not fit"
                   : t->after_s < t->before_s ? "shorter, but not the shortest"
                                              : "no shorter"};
    return out->op;
}

/* Fills the splits that are in the plan. */
static bool fill_splits(struct fr_decisions *d, const struct fr__fastt *f, struct fr__arena *arena)
{
    const struct fr__os_dpos_result *r = &f->result;
    struct fr_decided_split *splits = fr__arena_alloc(arena, r->n_splits, sizeof(*splits));

    for (size_t i = 0; splits && i < r->n_tries && !f->keeps_replicas; i++)
        if (r->tries[i].is_kept && !tell_split(&splits[d->n_splits++], f, &r->tries[i], arena))
            return false;
    d->splits = splits;
    return splits;
}

static bool fill_devices(struct fr_decisions *d, struct fr_decided_device devices[],
                         const struct fr__fastt *f, const struct fr_problem *in,
                         struct fr__arena *arena)
{
    const struct fr__dpos_machine *m = &f->machine;
    uint32_t *types = fr__arena_alloc(arena, m->n_devices, sizeof(*types));
    uint32_t *columns = fr__arena_alloc(arena, m->n_devices, sizeof(*columns));
    const char **names;

    if (!types || !columns)
        return false;
    d->n_columns = list_types(m, types, columns);
    names = fr__arena_alloc(arena, d->n_columns, sizeof(*names));
    if (!names)
        return false;
    for (size_t k = 0; k < d->n_columns; k++) {
        names[k] = fr__arena_strdup(arena, in->topo->types[types[k]].name);
        if (!names[k])
            return false;
    }
    for (size_t i = 0; i < m->n_devices; i++) {
        devices[i].column = columns[i];
        devices[i].room_bytes = m->room_bytes[i];
    }
    d->columns = names;
    return true;
}

static bool fill_plain(struct fr_decisions *d, const struct fr__fastt *f, struct fr__arena *arena)
{
    struct fr_decided_plain *plain = fr__arena_alloc(arena, f->n_plain + 1, sizeof(*plain));

    for (size_t k = 0; plain && k < f->n_plain; k++)
        plain[k] = (struct fr_decided_plain){f->plain[k].strategy->name, f->plain[k].made_s};
    d->plain = plain;
    d->n_plain = f->n_plain;
    return plain;
}

struct fr_decisions *fr__tell_fastt(const struct fr__fastt *f, const struct fr_problem *in,
                                    struct fr__arena **arena)
{
    struct fr_decided_device *devices;
    struct fr_decisions *d = fr__decisions_new(in, arena, &devices);

    if (!d)
        return NULL;
    d->believed_s = f->result.plan.makespan_s;
    d->own_s = isnan(f->own_s) ? 0 : f->own_s;
    d->own_alone_s = f->alone_s;
    d->foreseen_s = f->foreseen_s;
    d->plan_of = isnan(f->own_s) ? NULL : f->plan_of ? f->plan_of->name : f->name;
    d->is_handed_over = f->plan_of;
    d->n_asked = f->n_runs;
    d->n_given_up = f->n_stopped;
    d->start_s = f->result.start_s;
    d->keeps_replicas = f->keeps_replicas;
    d->start = f->is_data_parallel ? "dp" : "model";
    if (f->rule) {
        d->rule = f->rule->name;
        d->rule_words = f->rule->words;
    }
    d->start_words = f->keeps_replicas     ? "replicas left alone"
                     : f->is_data_parallel ? "replicas"
                                           : "the model";
    d->n_tried = f->result.n_tries;
    d->n_whole = f->result.n_whole;
    d->n_stopped = f->result.n_stopped;
    if (fill_devices(d, devices, f, in, *arena) && fill_splits(d, f, *arena) &&
        fill_plain(d, f, *arena))
        return d;
    fr_decisions_free(d);
    return NULL;
}

static bool fill_tries(struct fr_decisions *d, const struct fr__fastt *f, struct fr__arena *arena)
{
    const struct fr__os_dpos_result *r = &f->result;
    struct fr_decided_split *tries = fr__arena_alloc(arena, r->n_tries, sizeof(*tries));

    for (size_t i = 0; tries && i < r->n_tries; i++)
        if (!tell_split(&tries[i], f, &r->tries[i], arena))
            return false;
    d->tries = tries;
    d->n_tries = r->n_tries;
    return tries;
}

bool fr__tell_search(struct fr_decisions *d, const struct fr__fastt *f, struct fr__arena *arena)
{
    static const char *const ends[] = {
        [FR__OS_DPOS_NOTHING_TO_SPLIT] = "nothing on the longest path can be split",
        [FR__OS_DPOS_NO_GAIN] =
            "no split of this operation makes the step shorter, which ends the search",
        [FR__OS_DPOS_ALL_TRIED] = "all of the longest path that may be split has been tried",
        [FR__OS_DPOS_SPENT] = "as many operations as were asked for have been tried",
    };
    struct fr_decided_rival *rival = fr__arena_alloc(arena, 1, sizeof(*rival));
    char text[200];

    snprintf(text, sizeof(text),
             "Splitting: of the %zu operations on the longest path of this plan, costliest first,\n"
             "those that may be split, tried in all ways:",
             f->result.n_path);
    d->split_rule = fr__arena_strdup(arena, text);
    d->split_end = ends[f->result.end];
    if (!rival || !d->split_rule)
        return false;
    *rival = (struct fr_decided_rival){.what = "Replicas left alone, one whole on each device",
                                       .s = f->replicas_s,
                                       .is_kept = f->keeps_replicas};
    d->rivals = rival;
    d->n_rivals = isfinite(f->replicas_s) ? 1 : 0;
    return fill_tries(d, f, arena);
}

/* ---- the answer ---- */

enum fr_status fr__tell_answer(struct fr_decisions **out, const struct fr__fastt *f,
                               const struct fr_problem *in, const uint32_t tasks[],
                               struct fr_error *err)
{
    const struct fr__tell_run run = {.dag = f->result.dag,
                                     .machine = &f->machine,
                                     .result = &f->result.plan,
                                     .bounds = &f->bounds,
                                     .tasks = tasks};
    struct fr__arena *arena;
    struct fr_decisions *d = fr__tell_fastt(f, in, &arena);
    struct fr_decided_plan *plan = d ? fr__arena_alloc(arena, 1, sizeof(*plan)) : NULL;

    if (!plan || !fr__tell_run(plan, arena, &run)) {
        fr_decisions_free(d);
        return fr__fail_nomem(err);
    }
    plan->token = f->keeps_replicas ? "replicas" : f->result.n_splits > 0 ? "splits" : "start";
    d->plans = plan;
    d->n_plans = 1;
    *out = d;
    return FR_OK;
}
