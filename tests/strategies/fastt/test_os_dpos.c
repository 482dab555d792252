/* OS-DPOS: what a split makes of a dag, and which splits are kept. */
#include "config.h"

#include "strategies/fastt/os_dpos.h"
#include "tests/support/base_check.h"
#include "tests/support/dpos_case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

/* A part takes its share and half a second to begin; bytes go at 64 a second. */
static void part_cost(const struct fr__dag *dag, uint32_t op, enum fr__dag_dim dim, unsigned n,
                      double out_s[])
{
    (void)dim;
    for (size_t t = 0; t < dag->n_types; t++)
        out_s[t] = dag->cost_s[dag->ops[op].cost * dag->n_types + t] / n + 0.5;
}

static void bytes_cost(const struct fr__dag *dag, double bytes, double out_s[])
{
    for (size_t t = 0; t < dag->n_types; t++)
        out_s[t] = bytes / 64;
}

static const struct fr__split_costs costs = {part_cost, bytes_cost};

/* Edges sorted, both indices theirs, sources before destinations. */
static void check_dag(const struct fr__dag *g)
{
    uint32_t n_in = 0;

    ck_assert_uint_eq(g->out_first[0], 0);
    ck_assert_uint_eq(g->out_first[g->n_ops], g->n_edges);
    ck_assert_uint_eq(g->in_first[0], 0);
    ck_assert_uint_eq(g->in_first[g->n_ops], g->n_edges);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        ck_assert_uint_lt(g->ops[i].cost, g->n_costs);
        for (uint32_t e = g->out_first[i]; e < g->out_first[i + 1]; e++) {
            const struct fr__dag_edge *x = &g->edges[e];

            ck_assert_uint_eq(x->src, i);
            ck_assert_uint_lt(i, x->dst);
            ck_assert_uint_lt(x->dst, g->n_ops);
            if (e > g->out_first[i])
                ck_assert(x[-1].dst < x->dst || (x[-1].dst == x->dst && x[-1].tensor <= x->tensor));
        }
        for (uint32_t k = g->in_first[i]; k < g->in_first[i + 1]; k++, n_in++) {
            ck_assert_uint_eq(g->edges[g->in_edges[k]].dst, i);
            if (k > g->in_first[i])
                ck_assert_uint_lt(g->in_edges[k - 1], g->in_edges[k]);
        }
    }
    ck_assert_uint_eq(n_in, g->n_edges);
}

/* 0 data and 1 variable feed 2, which hands an activation to 3 and 4, a gradient of parameters
 * to 4, and must precede 5. */
static void five_edges(struct dpos_case *c)
{
    dpos_case_init(c, 6, 2, 6);
    for (uint32_t i = 0; i < 6; i++)
        dpos_case_cost(c, i)[0] = dpos_case_cost(c, i)[1] = 6;
    dpos_case_edge(c, 0, 2, 7);
    dpos_case_edge(c, 1, 2, 5);
    c->dag.edges[1].cargo = FR__DAG_WEIGHT;
    dpos_case_edge(c, 2, 3, 9);
    dpos_case_edge(c, 2, 4, 9);
    dpos_case_edge(c, 2, 4, 5);
    c->dag.edges[4].cargo = FR__DAG_GRADIENT;
    c->dag.edges[4].tensor = 77;
    dpos_case_edge(c, 2, 5, 0);
    c->dag.edges[5].cargo = FR__DAG_ORDER;
    c->dag.edges[5].tensor = 78;
    c->dag.ops[2].output_bytes = 14;
    c->dag.ops[2].split_mask = 1u << FR__DAG_BATCH | 1u << FR__DAG_CHANNEL;
    dpos_case_index(c);
}

static uint64_t edge_bytes(const struct fr__dag *g, uint32_t src, uint32_t dst)
{
    for (uint32_t e = g->out_first[src]; e < g->out_first[src + 1]; e++)
        if (g->edges[e].dst == dst)
            return g->edges[e].bytes;
    ck_abort_msg("no edge from %u to %u", src, dst);
    return 0;
}

/* New: 2 slices the data, 3 and 4 are parts, 5 joins the activation, 6 adds the gradient. */
TEST(along_the_batch_data_is_sliced_parameters_are_whole_and_gradients_added)
{
    struct fr__arena *a = fr__arena_new();
    struct dpos_case c;
    struct fr__dag g;

    five_edges(&c);
    ck_assert_int_eq(fr__dag_split(&g, &c.dag, 2, FR__DAG_BATCH, 2, &costs, a, NULL), FR_OK);
    check_dag(&g);
    ck_assert_uint_eq(g.n_ops, 10);
    ck_assert_int_eq(g.ops[2].role, FR__DAG_SPLIT);
    ck_assert_int_eq(g.ops[5].role, FR__DAG_CONCAT);
    ck_assert_int_eq(g.ops[6].role, FR__DAG_SUM);
    ck_assert_uint_eq(edge_bytes(&g, 0, 2), 7);
    ck_assert_uint_eq(edge_bytes(&g, 2, 3), 4);
    ck_assert_uint_eq(edge_bytes(&g, 2, 4), 3);
    ck_assert_uint_eq(edge_bytes(&g, 1, 3), 5);
    ck_assert_uint_eq(edge_bytes(&g, 1, 4), 5);
    ck_assert_uint_eq(edge_bytes(&g, 3, 5), 5);
    ck_assert_uint_eq(edge_bytes(&g, 4, 5), 4);
    ck_assert_uint_eq(edge_bytes(&g, 3, 6), 5);
    ck_assert_uint_eq(edge_bytes(&g, 4, 6), 5);
    ck_assert_uint_eq(edge_bytes(&g, 5, 7), 9); /* old 3 and 4 read the join */
    ck_assert_uint_eq(edge_bytes(&g, 5, 8), 9);
    ck_assert_uint_eq(edge_bytes(&g, 6, 8), 5);
    ck_assert_uint_eq(edge_bytes(&g, 3, 9), 0); /* order holds for both parts */
    ck_assert_uint_eq(edge_bytes(&g, 4, 9), 0);
    ck_assert_uint_eq(g.n_edges, 14);
    ck_assert_double_eq(g.cost_s[g.ops[3].cost * 2], 3.5);
    ck_assert_double_eq(g.cost_s[g.ops[2].cost * 2], 14.0 / 64);
    ck_assert_double_eq(g.cost_s[g.ops[5].cost * 2], 18.0 / 64);
    ck_assert_double_eq(g.cost_s[g.ops[6].cost * 2], 15.0 / 64);
    ck_assert_uint_eq(g.ops[3].output_bytes, 5); /* the gradient, which is added */
    ck_assert_uint_eq(g.ops[4].output_bytes, 5);
    ck_assert_uint_eq(g.ops[5].output_bytes, 9); /* 14 were held: 9 of one tensor, 5 of the other */
    ck_assert_uint_eq(g.ops[6].output_bytes, 5);
    ck_assert_uint_eq(g.ops[4].part, 1);
    ck_assert_uint_eq(g.ops[4].n_parts, 2);
    ck_assert_int_eq(g.ops[4].split_mask, 0);
    fr__arena_free(a);
    dpos_case_fini(&c);
}

/* New: 2 slices the parameters, 3, 4 and 5 are parts, 6 and 7 join. */
TEST(along_the_channels_parameters_are_sliced_data_is_whole_and_all_is_joined)
{
    struct fr__arena *a = fr__arena_new();
    struct dpos_case c;
    struct fr__dag g;

    five_edges(&c);
    ck_assert_int_eq(fr__dag_split(&g, &c.dag, 2, FR__DAG_CHANNEL, 3, &costs, a, NULL), FR_OK);
    check_dag(&g);
    ck_assert_uint_eq(g.n_ops, 11);
    ck_assert_int_eq(g.ops[6].role, FR__DAG_CONCAT);
    ck_assert_int_eq(g.ops[7].role, FR__DAG_CONCAT);
    for (uint32_t k = 3; k < 6; k++) {
        ck_assert_uint_eq(edge_bytes(&g, 0, k), 7);
        ck_assert_uint_eq(edge_bytes(&g, k, 6), 3);
        ck_assert_uint_eq(edge_bytes(&g, 2, k), k < 5 ? 2 : 1);
        ck_assert_uint_eq(edge_bytes(&g, k, 7), k < 5 ? 2 : 1);
    }
    ck_assert_uint_eq(edge_bytes(&g, 1, 2), 5);
    ck_assert_uint_eq(g.ops[3].output_bytes, 0);
    fr__arena_free(a);
    dpos_case_fini(&c);
}

static struct fr__os_dpos *run(const struct dpos_case *c, struct fr__os_dpos_options how,
                               struct fr__os_dpos_result *r)
{
    struct fr__os_dpos *o = NULL;

    how.costs = costs;
    ck_assert_int_eq(fr__os_dpos_run(&o, &c->dag, &c->m, &how, NULL, r, NULL), FR_OK);
    return o;
}

static void check_plan(const struct dpos_case *c, const struct fr__os_dpos_result *r)
{
    struct dpos_case with_splits = *c;

    check_dag(r->dag);
    with_splits.dag = *r->dag;
    dpos_case_check(&with_splits, &r->plan);
}

/* One op of 20 s that reads and makes one byte. Of two slices of one byte the second is empty,
 * and a message of no bytes takes no time here: a split of 2/64 s, two parts at once of 20/2 +
 * 1/2 s, a join of 2/64 s. */
TEST(an_op_in_two_parts_on_two_devices_takes_half)
{
    struct fr__os_dpos_result r;
    struct fr__os_dpos *o;
    struct dpos_case c;

    dpos_case_init(&c, 3, 2, 2);
    dpos_case_cost(&c, 1)[0] = dpos_case_cost(&c, 1)[1] = 20;
    c.dag.ops[1].split_mask = 1u << FR__DAG_BATCH;
    dpos_case_edge(&c, 0, 1, 1);
    dpos_case_edge(&c, 1, 2, 1);
    dpos_case_index(&c);
    o = run(&c, (struct fr__os_dpos_options){0}, &r);
    check_plan(&c, &r);
    ck_assert_int_eq(r.end, FR__OS_DPOS_ALL_TRIED);
    ck_assert_double_eq(r.start_s, 20);
    ck_assert_double_eq(r.plan.makespan_s, 10.5 + 2.0 / 32);
    ck_assert_uint_eq(r.n_splits, 1);
    ck_assert_uint_eq(r.n_tries, 1);
    ck_assert(r.tries[0].is_kept);
    ck_assert_uint_eq(r.tries[0].op, 1);
    fr__os_dpos_free(o);
    dpos_case_fini(&c);
}

static void count_calls(void *user, const char *what, uint64_t done, uint64_t total)
{
    size_t *n = user;

    ck_assert_str_eq(what, "splits tried");
    ck_assert_uint_eq(done, *n);
    ck_assert_uint_eq(total, 0);
    ++*n;
}

TEST(a_search_tells_how_far_it_is_and_stops_when_asked)
{
    const int stop = 1;
    size_t n = 0;
    struct fr_context ctx = {.progress = count_calls, .progress_user = &n};
    struct fr__os_dpos_options how = {.costs = costs};
    struct fr__os_dpos_result r;
    struct fr__os_dpos *o;
    struct dpos_case c;
    struct fr_error err;

    dpos_case_init(&c, 3, 4, 2);
    dpos_case_cost(&c, 1)[0] = dpos_case_cost(&c, 1)[1] = 20;
    c.dag.ops[1].split_mask = 1u << FR__DAG_BATCH;
    dpos_case_edge(&c, 0, 1, 1);
    dpos_case_edge(&c, 1, 2, 1);
    dpos_case_index(&c);
    ck_assert_int_eq(fr__os_dpos_run(&o, &c.dag, &c.m, &how, &ctx, &r, &err), FR_OK);
    ck_assert_uint_eq(n, 3); /* two, three and four parts */
    fr__os_dpos_free(o);
    ctx.cancel = &stop;
    n = 0;
    ck_assert_int_eq(fr__os_dpos_run(&o, &c.dag, &c.m, &how, &ctx, &r, &err), FR_ECANCELLED);
    dpos_case_fini(&c);
}

/* Path by falling cost: 9 (cannot be split: passed over), 8 (a part costs more than the whole
 * saves, because its bytes are many: ends the search), 7 (never tried, though it would gain). */
TEST(the_first_op_that_does_not_improve_ends_the_search)
{
    struct fr__os_dpos_result r;
    struct fr__os_dpos *o;
    struct dpos_case c;

    dpos_case_init(&c, 5, 2, 4);
    for (size_t d = 0; d < 2; d++) {
        dpos_case_cost(&c, 1)[d] = 9;
        dpos_case_cost(&c, 2)[d] = 8;
        dpos_case_cost(&c, 3)[d] = 7;
    }
    dpos_case_edge(&c, 0, 1, 1);
    dpos_case_edge(&c, 1, 2, 1000);
    dpos_case_edge(&c, 2, 3, 1);
    dpos_case_edge(&c, 3, 4, 1);
    c.dag.ops[2].split_mask = c.dag.ops[3].split_mask = 1u << FR__DAG_BATCH;
    dpos_case_index(&c);
    o = run(&c, (struct fr__os_dpos_options){0}, &r);
    check_plan(&c, &r);
    ck_assert_uint_eq(r.n_splits, 0);
    ck_assert_uint_eq(r.n_ops_tried, 1);
    ck_assert_int_eq(r.end, FR__OS_DPOS_NO_GAIN);
    ck_assert_uint_eq(r.tries[0].op, 2);
    ck_assert_uint_eq(r.path[0], 1);
    ck_assert_double_eq(r.plan.makespan_s, 24);
    fr__os_dpos_free(o);
    o = run(&c, (struct fr__os_dpos_options){.patience = 2}, &r);
    check_plan(&c, &r);
    ck_assert_uint_eq(r.n_ops_tried, 2);
    ck_assert_uint_eq(r.n_splits, 1);
    ck_assert_int_eq(r.end, FR__OS_DPOS_ALL_TRIED);
    ck_assert_double_lt(r.plan.makespan_s, 24);
    fr__os_dpos_free(o);
    o = run(&c, (struct fr__os_dpos_options){.patience = 2, .max_tried = 1}, &r);
    ck_assert_int_eq(r.end, FR__OS_DPOS_SPENT);
    fr__os_dpos_free(o);
    dpos_case_fini(&c);
}

static void make_random(struct dpos_case *c, uint64_t seed)
{
    struct dpos_random how = {.n_ops = 3 + seed % 40,
                              .n_devices = 1 + seed % 6,
                              .edges_an_op = 0.8 + (double)(seed % 5) / 4,
                              .max_cost = 40,
                              .max_bytes = seed % 9,
                              .is_heterogeneous = seed % 3 == 0};
    struct fr__rng rng;

    dpos_case_random(c, &how, seed);
    fr__rng_init(&rng, seed, 2);
    for (uint32_t i = 0; i < how.n_ops; i++) {
        c->dag.ops[i].split_mask = (uint8_t)(2 * fr__rng_below(&rng, 4));
        c->dag.ops[i].output_bytes = fr__rng_below(&rng, 20);
        c->dag.ops[i].has_channels_apart = fr__rng_below(&rng, 2);
    }
    for (size_t e = 0; e < c->dag.n_edges; e++) /* equal cargo of one tensor */
        c->dag.edges[e].cargo = (uint8_t)((c->dag.edges[e].src * 7 + seed) % FR__DAG_ORDER);
    for (size_t d = 0; seed % 4 == 1 && d < how.n_devices; d++)
        c->room_bytes[d] = 13 * how.n_ops / how.n_devices + 30;
}

static bool same_time(double a, double b)
{
    return !(a < b) && !(a > b);
}

static void check_same(const struct fr__os_dpos_result *a, const struct fr__os_dpos_result *b)
{
    size_t n = a->dag->n_ops;
    double limit_s = 0; /* the best way before this one */

    ck_assert_uint_eq(n, b->dag->n_ops);
    ck_assert_uint_eq(a->n_tries, b->n_tries);
    ck_assert(same_time(a->plan.makespan_s, b->plan.makespan_s));
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(a->plan.device[i], b->plan.device[i]);
        ck_assert_uint_eq(a->plan.order[i], b->plan.order[i]);
        ck_assert(same_time(a->plan.start_s[i], b->plan.start_s[i]));
    }
    for (size_t k = 0; k < a->n_tries; k++) {
        const struct fr__os_dpos_try *x = &a->tries[k], *y = &b->tries[k];

        if (k == 0 || x->op != x[-1].op)
            limit_s = y->before_s;
        ck_assert(x->op == y->op && x->dim == y->dim && x->n == y->n && x->is_kept == y->is_kept);
        ck_assert(same_time(x->before_s, y->before_s));
        ck_assert(isnan(x->after_s) ? y->after_s >= limit_s : same_time(x->after_s, y->after_s));
        limit_s = fmin(limit_s, y->after_s);
    }
}

/* Rooms that matter: variables that wait or are shared, groups, copies that stay, devices all
 * but full. */
static void make_crowded(struct dpos_case *c, uint64_t seed)
{
    struct fr__rng rng;
    uint64_t sum = 0;

    make_random(c, seed);
    fr__rng_init(&rng, seed, 3);
    c->dag.n_replicas = 1 + seed % 2;
    c->dag.n_groups = 1 + c->dag.n_ops / 6;
    for (uint32_t i = 0; i < c->dag.n_ops; i++) {
        struct fr__dag_op *o = &c->dag.ops[i];

        if (c->dag.in_first[i] == c->dag.in_first[i + 1] && fr__rng_below(&rng, 2)) {
            o->role = FR__DAG_VARIABLE;
            o->split_mask = 0;
            o->resident_bytes = fr__rng_below(&rng, 30);
            for (size_t d = 0; d < c->m.n_devices; d++)
                dpos_case_cost(c, i)[d] = 0;
        }
        if (fr__rng_below(&rng, 4) == 0)
            o->group = (uint32_t)fr__rng_below(&rng, c->dag.n_groups);
        sum += o->resident_bytes + o->output_bytes;
    }
    for (size_t e = 0; e < c->dag.n_edges; e++)
        c->dag.edges[e].stays = fr__rng_below(&rng, 3) == 0;
    for (size_t d = 0; d < c->m.n_devices; d++)
        c->room_bytes[d] = (1 + seed % 5) * sum / (2 * c->m.n_devices) + fr__rng_below(&rng, 40);
}

struct tally {
    size_t n_fit, n_splits, n_stopped, n_whole, n_decisions, n_kept;
};

/* The search as it is against one that stops nothing early and plans every try from the start. */
static void compare_with_plain(const struct dpos_case *c, struct tally *t)
{
    struct fr__os_dpos_result fast, plain;
    struct fr__os_dpos *a = run(c, (struct fr__os_dpos_options){.patience = 2}, &fast);
    struct fr__os_dpos *b = run(
        c, (struct fr__os_dpos_options){.patience = 2, .evaluates_whole = true, .plans_anew = true},
        &plain);
    double before_s = plain.start_s;

    ck_assert_int_eq(fast.plan.outcome, plain.plan.outcome);
    ck_assert_uint_eq(plain.n_kept, 0);
    if (plain.plan.outcome == FR__DPOS_DONE) {
        check_same(&fast, &plain);
        ck_assert(plain.plan.makespan_s <= plain.start_s);
        for (size_t k = 0; k < plain.n_tries; k++)
            if (plain.tries[k].is_kept) {
                ck_assert(plain.tries[k].after_s < before_s);
                before_s = plain.tries[k].after_s;
            }
        ck_assert(same_time(plain.plan.makespan_s, before_s));
        t->n_fit++;
    }
    t->n_splits += fast.n_splits;
    t->n_stopped += fast.n_stopped;
    t->n_whole += fast.n_whole;
    t->n_decisions += fast.n_decisions;
    t->n_kept += fast.n_kept;
    fr__os_dpos_free(a);
    fr__os_dpos_free(b);
}

static void print_tally(const char *what, const struct tally *t)
{
    printf("# %s: %zu fit, %zu splits kept, %zu evaluations whole, %zu stopped, %zu of %zu "
           "decisions taken over\n",
           what, t->n_fit, t->n_splits, t->n_whole, t->n_stopped, t->n_kept, t->n_decisions);
}

TEST(stopping_early_and_taking_over_decisions_change_no_answer)
{
    struct tally t = {0};

    for (uint64_t seed = 0; seed < 400; seed++) {
        struct dpos_case c;

        make_random(&c, seed);
        compare_with_plain(&c, &t);
        dpos_case_fini(&c);
    }
    print_tally("400 random graphs", &t);
    ck_assert_uint_ge(t.n_splits, 100);
    ck_assert_uint_ge(t.n_stopped, 400);
    ck_assert_uint_ge(t.n_kept, t.n_decisions / 10);
}

TEST(nor_do_they_where_memory_is_short)
{
    struct tally t = {0};

    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct dpos_case c;

        make_crowded(&c, seed);
        compare_with_plain(&c, &t);
        dpos_case_fini(&c);
    }
    print_tally("1500 crowded graphs", &t);
    ck_assert_uint_ge(t.n_fit, 300);
    ck_assert_uint_ge(t.n_splits, 100);
    ck_assert_uint_ge(t.n_kept, t.n_decisions / 20);
}

TEST(options_limit_what_is_tried)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct fr__os_dpos_result r;
        struct fr__os_dpos *o;
        struct dpos_case c;

        make_random(&c, seed);
        o = run(&c,
                (struct fr__os_dpos_options){.max_parts = 5,
                                             .powers_of_two = true,
                                             .dims = 1u << FR__DAG_CHANNEL,
                                             .max_tried = 2},
                &r);
        ck_assert_uint_le(r.n_ops_tried, 2);
        for (size_t k = 0; k < r.n_tries; k++) {
            ck_assert(r.tries[k].n == 2 || r.tries[k].n == 4);
            ck_assert_int_eq(r.tries[k].dim, FR__DAG_CHANNEL);
        }
        fr__os_dpos_free(o);
        dpos_case_fini(&c);
    }
}

int main(void)
{
    TCase *tc = tcase_create("os_dpos");

    add_tests(tc);
    return run_case(tc, "strategies/os_dpos");
}
