/* results/data/explain.c - an explanation as JSON, for programs.
 *
 * It is separate from the text for people, which cuts tables and leaves plans out.
 */
#include "config.h"

#include "base/json.h"
#include "results/parts/explanation.h"

static void write_choices(struct fr__json *j, const struct fr_decisions *x,
                          const struct fr_alternative a[])
{
    fr__json_open(j, "devices", '[', false);
    for (size_t d = 0; d < x->n_devices; d++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "device", x->devices[d].name);
        fr__json_number(j, "ready_s", a[d].ready_s);
        fr__json_number(j, "est_s", a[d].start_s);
        fr__json_number(j, "eft_s", a[d].end_s);
        fr__json_count(j, "left_bytes", a[d].left_bytes);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_rank(struct fr__json *j, const struct fr_decided_plan *p,
                       const struct fr_decided_op *o)
{
    fr__json_number(j, "longest_s", o->longest_s);
    fr__json_number(j, "rank_s", o->rank_s);
    if (o->via == FR_NONE)
        return;
    fr__json_string(j, "rank_through", p->ops[o->via].name);
    fr__json_number(j, "rank_move_s", o->via_s);
}

static void write_op(struct fr__json *j, const struct fr_decisions *x,
                     const struct fr_decided_plan *p, uint32_t op)
{
    const struct fr_decided_op *o = &p->ops[op];

    fr__json_open(j, NULL, '{', false);
    fr__json_string(j, "name", o->name);
    if (p->rank_rule)
        write_rank(j, p, o);
    fr__json_bool(j, "on_path", o->is_on_path);
    fr__json_string(j, "why", o->reason->token);
    fr__json_string(j, "device", x->devices[o->device].name);
    fr__json_number(j, "start_s", o->start_s);
    fr__json_number(j, "end_s", o->end_s);
    if (p->position)
        fr__json_count(j, "position", p->position[op]);
    if (o->reason->kind == FR_REASON_FOLLOWS) {
        fr__json_string(j, "reader", p->ops[o->follows].name);
    } else {
        fr__json_number(j, "gap_begin_s", o->gap_begin_s);
        fr__json_number(j, "gap_end_s", o->gap_end_s);
        fr__json_count(j, "needs_bytes", o->needs_bytes);
        write_choices(j, x, p->alternatives + op * x->n_devices);
    }
    fr__json_close(j, '}');
}

static void write_rounds(struct fr__json *j, const struct fr_decisions *x,
                         const struct fr_decided_plan *p)
{
    fr__json_open(j, "path_devices", '[', false);
    for (size_t k = 0; k < p->n_rounds; k++) {
        fr__json_open(j, NULL, '{', false);
        fr__json_string(j, "device", x->devices[p->round_device[k]].name);
        fr__json_open(j, "candidates", '[', false);
        for (size_t d = 0; d < x->n_devices; d++) {
            const struct fr_path_candidate *f = &p->candidates[k * x->n_devices + d];

            if (f->end == f->from)
                continue;
            fr__json_open(j, NULL, '{', true);
            fr__json_string(j, "device", x->devices[d].name);
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

static void write_plan(struct fr__json *j, const struct fr_decisions *x,
                       const struct fr_decided_plan *p)
{
    fr__json_open(j, NULL, '{', false);
    fr__json_string(j, "of", p->token);
    fr__json_count(j, "n_ops", p->n_ops);
    fr__json_count(j, "n_edges", p->n_edges);
    fr__json_number(j, "makespan_s", p->makespan_s);
    fr__json_number(j, "bound_s", p->bounds.best_s);
    fr__json_number(j, "path_bound_s", p->bounds.path_s);
    fr__json_number(j, "work_bound_s", p->bounds.work_s);
    fr__json_number(j, "cross_bound_s", p->bounds.cross_s);
    if (p->bounds.search_s > 0)
        fr__json_number(j, "search_bound_s", p->bounds.search_s);
    fr__json_open(j, "path", '[', false);
    for (size_t i = 0; i < p->n_path; i++)
        fr__json_string(j, NULL, p->ops[p->path[i]].name);
    fr__json_close(j, ']');
    write_rounds(j, x, p);
    fr__json_open(j, "ops", '[', false); /* in the order in which they were decided */
    for (size_t i = 0; i < p->n_ops && p->list; i++)
        write_op(j, x, p, p->list[i]);
    fr__json_close(j, ']');
    fr__json_close(j, '}');
}

static void write_tries(struct fr__json *j, const struct fr_decisions *x)
{
    fr__json_open(j, "tries", '[', false);
    for (size_t i = 0; i < x->n_tries; i++) {
        const struct fr_decided_split *t = &x->tries[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "op", t->op);
        fr__json_string(j, "dim", t->dim);
        fr__json_count(j, "n", t->n);
        fr__json_number(j, "before_s", t->before_s);
        fr__json_number(j, "after_s", t->after_s);
        fr__json_string(j, "verdict", t->verdict);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

enum fr_status fr_explanation_print_json(FILE *f, const struct fr_explanation *e,
                                         struct fr_error *err)
{
    const struct fr_decisions *x = e->decisions;
    const struct fr_problem *in = &e->problem;
    struct fr__json j;

    if (x->layout)
        return fr__layout_print_json(f, e, err);
    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "workload", in->graph->name);
    fr__json_string(&j, "topology", in->topo->name);
    fr__json_string(&j, "strategy", e->question.strategy);
    fr__json_count(&j, "global_batch", in->global_batch);
    fr__json_string(&j, "planned_from", x->start);
    fr__json_open(&j, "devices", '[', false);
    for (size_t d = 0; d < x->n_devices; d++) {
        fr__json_open(&j, NULL, '{', true);
        fr__json_string(&j, "name", x->devices[d].name);
        fr__json_count(&j, "room_bytes", x->devices[d].room_bytes);
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
    fr__json_open(&j, "plans", '[', false);
    for (size_t k = 0; k < x->n_plans; k++)
        write_plan(&j, x, &x->plans[k]);
    fr__json_close(&j, ']');
    if (x->split_end) {
        write_tries(&j, x);
        fr__json_string(&j, "ended", x->split_end);
    }
    fr__json_close(&j, '}');
    return FR_OK;
}
