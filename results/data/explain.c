/* results/data/explain.c - the explanation for programs. */
#include "config.h"

#include "results/text/explain.h"

#include "base/json.h"

static const char *const why_names[] = {
    [FR__DPOS_WITH_READER] = "with-reader", [FR__DPOS_OF_PATH] = "path",
    [FR__DPOS_OF_GROUP] = "group",          [FR__DPOS_MOST_ROOM] = "most-room",
    [FR__DPOS_ENDS_FIRST] = "ends-first",   [FR__DPOS_PLACED] = "placed",
};

static void write_name(struct fr__json *j, const char *key, const struct fr__explained_plan *p,
                       uint32_t op)
{
    char name[FR__EXPLAIN_NAME];

    fr__json_string(j, key, fr__dag_name(p->dag, op, name, sizeof(name)));
}

static void write_choices(struct fr__json *j, const struct fr_explained *x,
                          const struct fr__explained_plan *p, uint32_t op)
{
    size_t n = x->fastt->machine.n_devices;

    fr__json_open(j, "devices", '[', false);
    for (size_t d = 0; d < n; d++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "device", fr__explain_device(x, d));
        fr__json_number(j, "ready_s", p->record.ready_s[op * n + d]);
        fr__json_number(j, "est_s", p->record.est_s[op * n + d]);
        fr__json_number(j, "eft_s", p->record.eft_s[op * n + d]);
        fr__json_count(j, "left_bytes", p->record.left_bytes[op * n + d]);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_op(struct fr__json *j, const struct fr_explained *x,
                     const struct fr__explained_plan *p, uint32_t op)
{
    const struct fr__dpos_record *r = &p->record;

    fr__json_open(j, NULL, '{', false);
    write_name(j, "name", p, op);
    fr__json_number(j, "longest_s", r->longest_s[op]);
    fr__json_number(j, "rank_s", p->result.rank_s[op]);
    if (r->via[op] != FR_NONE) {
        write_name(j, "rank_through", p, p->dag->edges[r->via[op]].dst);
        fr__json_number(j, "rank_move_s", r->via_s[op]);
    }
    fr__json_bool(j, "on_path", p->result.is_on_path[op]);
    fr__json_string(j, "why", why_names[r->why[op]]);
    fr__json_string(j, "device", fr__explain_device(x, p->result.device[op]));
    fr__json_number(j, "start_s", p->result.start_s[op]);
    fr__json_number(j, "end_s", p->result.end_s[op]);
    fr__json_count(j, "position", p->result.position[op]);
    if (r->why[op] == FR__DPOS_WITH_READER) {
        write_name(j, "reader", p, fr__explained_reader(p, op));
    } else {
        fr__json_number(j, "gap_begin_s", p->gap_begin_s[op]);
        fr__json_number(j, "gap_end_s", p->gap_end_s[op]);
        fr__json_count(j, "needs_bytes", r->needs_bytes[op]);
        write_choices(j, x, p, op);
    }
    fr__json_close(j, '}');
}

static void write_rounds(struct fr__json *j, const struct fr_explained *x,
                         const struct fr__explained_plan *p)
{
    size_t n = x->fastt->machine.n_devices;

    fr__json_open(j, "path_devices", '[', false);
    for (size_t k = 0; k < p->record.n_rounds; k++) {
        fr__json_open(j, NULL, '{', false);
        fr__json_string(j, "device", fr__explain_device(x, p->record.round_device[k]));
        fr__json_open(j, "candidates", '[', false);
        for (size_t d = 0; d < n; d++) {
            const struct fr__dpos_prefix *f = &p->record.prefixes[k * n + d];

            if (f->end == f->from)
                continue;
            fr__json_open(j, NULL, '{', true);
            fr__json_string(j, "device", fr__explain_device(x, d));
            fr__json_count(j, "from", f->from);
            fr__json_count(j, "end", f->end);
            fr__json_number(j, "mean_s", f->mean_s);
            fr__json_close(j, '}');
        }
        fr__json_close(j, ']');
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static const char *const kind_names[] = {
    [FR__EXPLAINED_START] = "start",
    [FR__EXPLAINED_SPLITS] = "splits",
    [FR__EXPLAINED_REPLICAS] = "replicas",
};

static void write_plan(struct fr__json *j, const struct fr_explained *x,
                       const struct fr__explained_plan *p)
{
    fr__json_open(j, NULL, '{', false);
    fr__json_string(j, "of", kind_names[p->kind]);
    fr__json_count(j, "n_ops", p->dag->n_ops);
    fr__json_count(j, "n_edges", p->dag->n_edges);
    fr__json_number(j, "makespan_s", p->result.makespan_s);
    fr__json_number(j, "bound_s", p->bounds.best_s);
    fr__json_number(j, "path_bound_s", p->bounds.path_s);
    fr__json_number(j, "work_bound_s", p->bounds.work_s);
    fr__json_number(j, "cross_bound_s", p->bounds.cross_s);
    fr__json_open(j, "path", '[', false);
    for (size_t i = 0; i < p->result.n_path; i++)
        write_name(j, NULL, p, p->result.path[i]);
    fr__json_close(j, ']');
    write_rounds(j, x, p);
    fr__json_open(j, "ops", '[', false); /* by falling rank, as they were placed */
    for (size_t i = 0; i < p->dag->n_ops; i++)
        write_op(j, x, p, p->result.priority[i]);
    fr__json_close(j, ']');
    fr__json_close(j, '}');
}

static void write_tries(struct fr__json *j, const struct fr_explained *x)
{
    static const char *const dims[] = {"whole", "batch", "channel"};
    const struct fr__os_dpos_result *r = &x->fastt->result;

    fr__json_open(j, "tries", '[', false);
    for (size_t i = 0; i < r->n_tries; i++) {
        const struct fr__os_dpos_try *t = &r->tries[i];

        fr__json_open(j, NULL, '{', true);
        write_name(j, "op", &x->plans[0], t->op);
        fr__json_string(j, "dim", dims[t->dim]);
        fr__json_count(j, "n", t->n);
        fr__json_number(j, "before_s", t->before_s);
        fr__json_number(j, "after_s", t->after_s);
        fr__json_string(j, "verdict", fr__explain_try(t));
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

void fr_explanation_print_json(FILE *f, const struct fr_explanation *e)
{
    const struct fr_explained *x = e->explained;
    const struct fr_problem *in = x->problem;
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "workload", in->graph->name);
    fr__json_string(&j, "topology", in->topo->name);
    fr__json_string(&j, "strategy", e->question.strategy);
    fr__json_count(&j, "global_batch", in->global_batch);
    fr__json_string(&j, "planned_from", x->fastt->is_data_parallel ? "dp" : "model");
    fr__json_open(&j, "devices", '[', false);
    for (size_t d = 0; d < in->n_devices; d++) {
        fr__json_open(&j, NULL, '{', true);
        fr__json_string(&j, "name", fr__explain_device(x, d));
        fr__json_count(&j, "room_bytes", x->fastt->machine.room_bytes[d]);
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
    fr__json_open(&j, "plans", '[', false);
    for (size_t k = 0; k < x->n_plans; k++)
        write_plan(&j, x, &x->plans[k]);
    fr__json_close(&j, ']');
    if (x->splits) {
        write_tries(&j, x);
        fr__json_string(&j, "ended", fr__explain_end(x));
    }
    fr__json_close(&j, '}');
}
