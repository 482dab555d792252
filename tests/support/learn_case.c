/* tests/support/learn_case.c - a machine with known times that a learner measures. */
#include "config.h"

#include "tests/support/learn_case.h"

#include "base/rng.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

void learn_case_init(struct learn_case *t)
{
    t->overhead_s = t->s_per_copied_byte = t->noise = 0;
    t->slow_from = UINT64_MAX;
    t->slow_device = 0;
    t->slow_factor = t->cursed_factor = 1;
    t->cursed = UINT32_MAX;
    t->n_measured = 0;
}

double learn_case_op_s(const struct learn_case *t, const struct fr__dag *dag, uint32_t op,
                       uint32_t device, uint64_t iteration)
{
    const struct fr__dag_op *o = &dag->ops[op];
    double slow = device == t->slow_device && iteration >= t->slow_from ? t->slow_factor : 1;

    if (o->role != FR__DAG_OP)
        return slow * t->s_per_copied_byte * fr__dag_helper_bytes(dag, op);
    return slow * (t->c.dag.cost_s[o->op * t->c.dag.n_types + device] / o->n_parts +
                   (o->n_parts > 1 ? t->overhead_s : 0));
}

static double varied(const struct learn_case *t, struct fr__rng *rng, double s)
{
    return s * (1 + t->noise * (2 * fr__rng_uniform(rng) - 1));
}

/* One iteration; returns the step's time. */
static double run_once(const struct learn_case *t, const struct fr__learn_strategy *s,
                       uint64_t iteration, struct fr__learned *into, struct fr_error *err)
{
    const struct fr__dag *g = s->dag;
    double *end_s = calloc(g->n_ops + 1, sizeof(*end_s));
    double free_s[DPOS_CASE_DEVICES] = {0}, step_s = 0;
    struct fr__rng rng;

    ck_assert_ptr_nonnull(end_s);
    fr__rng_init(&rng, 7, iteration);
    for (size_t k = 0; k < g->n_ops; k++) {
        uint32_t op = s->order[k], d = s->device[op];
        double ready_s = free_s[d], took_s;

        for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
            const struct fr__dag_edge *e = &g->edges[g->in_edges[i]];
            uint32_t from = s->device[e->src];
            double move_s = varied(t, &rng, fr__dpos_move_s(&t->c.m, e, from, d));

            ready_s = fmax(ready_s, end_s[e->src] + move_s);
            if (from != d)
                ck_assert_int_eq(fr__learned_add_move(into, from, d, (double)e->bytes, move_s, err),
                                 FR_OK);
        }
        took_s = varied(t, &rng, learn_case_op_s(t, g, op, d, iteration));
        ck_assert_int_eq(fr__learned_add_op(into, g, op, d, took_s, err), FR_OK);
        end_s[op] = free_s[d] = ready_s + took_s;
        step_s = fmax(step_s, end_s[op]);
    }
    free(end_s);
    return step_s;
}

static enum fr_status measure(void *user, const struct fr__learn_strategy *s, uint64_t first,
                              unsigned n, struct fr__learned *into, double *step_s,
                              struct fr_error *err)
{
    struct learn_case *t = user;
    double sum_s = 0;

    t->n_measured++;
    *step_s = INFINITY;
    if (s->number == t->cursed && isinf(t->cursed_factor))
        return FR_OK;
    for (unsigned i = 0; i < n; i++)
        sum_s += run_once(t, s, first + i, into, err);
    *step_s = sum_s / n * (s->number == t->cursed ? t->cursed_factor : 1);
    return FR_OK;
}

struct fr__learn_truth learn_case_truth(struct learn_case *t)
{
    return (struct fr__learn_truth){.user = t, .measure = measure};
}

struct fr__learning *learn_case_run(struct learn_case *t, const struct fr__learn_options *o)
{
    const struct fr__learn_truth truth = learn_case_truth(t);
    struct fr__learning *g = NULL;
    struct fr_error err = {0};

    ck_assert_msg(fr__learn_run(&g, &t->c.dag, &t->c.m, o, &truth, NULL, &err) == FR_OK, "%s",
                  err.text);
    return g;
}
