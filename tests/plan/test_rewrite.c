/* tests/plan/test_rewrite.c - a plan with a graph of its own, and the way back to the user's ops.
 *
 * The user's graph is a, b, c, d. The rewritten one is a1 and a2 (parts of a: 1:n), bc (b and c
 * fused: n:1), d, and sync, a collective that is no op of the user's.
 */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"
#include "workloads/graph/plain.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { A1, A2, BC, D, SYNC, N_OPS };

static const uint32_t first[N_OPS + 1] = {0, 1, 2, 4, 5, 5};
static const uint32_t user[] = {0, 0, 1, 2, 3};
static const struct fr_op_map map = {first, user};

static struct fr_topo *topo;
static struct fr_graph *users;
static struct fr_plan *plan;

/* Ops without edges, named by the words of a list. */
static struct fr_graph *make_graph(const char *const names[], size_t n)
{
    const struct fr_graph like = {.name = "four", .source = "test", .batch = 1, .dtype = FR_FP32};
    struct fr__arena *arena = fr__arena_new();
    struct fr_op *ops = fr__arena_alloc(arena, n, sizeof(*ops));
    uint32_t *no_edges = fr__arena_alloc(arena, n + 1, sizeof(*no_edges));
    struct fr_graph *g = NULL;

    for (size_t o = 0; o < n; o++)
        ops[o].name = names[o];
    ck_assert_int_eq(
        fr__graph_of_plain(
            &g,
            &(struct fr__plain_graph){
                .like = &like, .n_ops = n, .ops = ops, .out_first = no_edges, .in_first = no_edges},
            arena, NULL),
        FR_OK);
    return g;
}

static struct fr_graph *make_rewritten(void)
{
    static const char *const names[N_OPS] = {"a1", "a2", "bc", "d", "sync"};

    return make_graph(names, N_OPS);
}

static void set_up(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    topo = fixture_pair(1e9, 0);
    users = make_graph(names, 4);
    plan = fr_plan_new(topo, users);
}

static void tear_down(void)
{
    fr_plan_free(plan);
    fr_graph_free(users);
    fr_topo_free(topo);
}

static void own(void)
{
    ck_assert_int_eq(fr_plan_own_graph(plan, make_rewritten(), &map, NULL), FR_OK);
}

static void add_op(uint32_t op)
{
    const struct fr_cost cost = {.mean_s = 1, .kind = FR_OP_OTHER};

    fr_plan_add_task(plan, &(struct fr_task){.cost_id = fr_plan_add_cost(plan, &cost),
                                             .op = op,
                                             .label = FR_NONE,
                                             .microbatch = FR_NONE,
                                             .kind = FR_TASK_COMPUTE});
}

TEST(without_a_graph_of_its_own_an_op_is_the_users)
{
    ck_assert_uint_eq(fr_plan_user_op(plan, 2), 2);
    ck_assert_str_eq(fr_plan_user_op_name(plan, 2), "c");
    ck_assert_uint_eq(fr_plan_user_op(plan, 4), FR_NONE);
    ck_assert_uint_eq(fr_plan_user_op(plan, FR_NONE), FR_NONE);
    ck_assert_ptr_null(fr_plan_user_op_name(plan, FR_NONE));
}

TEST(parts_fused_ops_and_added_ones_lead_back)
{
    const uint32_t *ops = NULL;

    own();
    ck_assert_ptr_eq(fr_plan_user_graph(plan), users);
    ck_assert_uint_eq(fr_plan_user_op(plan, A1), 0);
    ck_assert_uint_eq(fr_plan_user_op(plan, A2), 0);
    ck_assert_uint_eq(fr_plan_user_op(plan, BC), 1);
    ck_assert_uint_eq(fr_plan_user_ops(plan, BC, &ops), 2);
    ck_assert_uint_eq(ops[1], 2);
    ck_assert_str_eq(fr_plan_user_op_name(plan, D), "d");
    ck_assert_uint_eq(fr_plan_user_op(plan, SYNC), FR_NONE);
    ck_assert_uint_eq(fr_plan_user_ops(plan, SYNC, &ops), 0);
    ck_assert_uint_eq(fr_plan_user_op(plan, N_OPS), FR_NONE);
}

TEST(tasks_are_named_by_the_rewritten_graph)
{
    char label[40];

    own();
    add_op(A2);
    add_op(SYNC);
    ck_assert_int_eq(fr_plan_finish(plan, NULL), FR_OK);
    ck_assert_str_eq(fr_plan_task_label(plan, 0, label, sizeof(label)), "a2");
    ck_assert_str_eq(fr_plan_task_label(plan, 1, label, sizeof(label)), "sync");
    ck_assert_uint_eq(fr_plan_view(plan)->graph->n_ops, N_OPS);
    ck_assert_ptr_eq(fr_plan_view(plan)->user_graph, users);
}

/* The sanitizers see to it that the graph is freed once, and not before its last plan. */
TEST(copies_outlive_the_plan_that_they_were_made_of)
{
    struct fr_plan *unrolled = NULL, *ordered = NULL;
    struct fr_error err;
    char label[40];
    size_t n;

    own();
    add_op(BC);
    ck_assert_int_eq(fr_plan_finish(plan, NULL), FR_OK);
    ck_assert_int_eq(fr_plan_unroll(plan, 3, &unrolled, &err), FR_OK);
    ck_assert_int_eq(fr_plan_order(unrolled, FR_ORDER_CONTROL, 0, NULL, NULL, &ordered, &n, &err),
                     FR_OK);
    fr_plan_free(plan);
    plan = NULL;
    fr_plan_free(unrolled);
    ck_assert_str_eq(fr_plan_task_label(ordered, 0, label, sizeof(label)), "bc");
    ck_assert_uint_eq(fr_plan_user_op(ordered, BC), 1);
    fr_plan_free(ordered);
}

static void *copy_and_free(void *arg)
{
    const struct fr_plan *p = arg;

    for (int i = 0; i < 200; i++) {
        struct fr_plan *copy = NULL;

        if (fr_plan_unroll(p, 2, &copy, NULL) != FR_OK || fr_plan_user_op(copy, D) != 3)
            return arg;
        fr_plan_free(copy);
    }
    return NULL;
}

TEST(threads_share_the_graph)
{
    enum { N = 4 };
    pthread_t threads[N];

    own();
    add_op(D);
    ck_assert_int_eq(fr_plan_finish(plan, NULL), FR_OK);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, copy_and_free, plan), 0);
    for (int i = 0; i < N; i++) {
        void *failed;

        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    ck_assert_str_eq(fr_plan_user_op_name(plan, D), "d");
}

static void refuses(const struct fr_op_map *m, const char *text)
{
    struct fr_graph *g = make_rewritten();
    struct fr_error err = {.text = ""};

    ck_assert_int_eq(fr_plan_own_graph(plan, g, m, &err), FR_ERANGE);
    ck_assert_msg(strstr(err.text, text) != NULL, "'%s' does not hold '%s'", err.text, text);
    fr_graph_free(g); /* still ours */
}

TEST(refuses_what_leads_nowhere_or_comes_late)
{
    static const uint32_t beyond[] = {0, 0, 1, 4, 3};
    static const uint32_t back[N_OPS + 1] = {0, 1, 0, 4, 5, 5},
                                       late[N_OPS + 1] = {1, 1, 2, 4, 5, 5};

    refuses(&(struct fr_op_map){first, beyond}, "names op 4 of the user's graph, which has 4");
    refuses(&(struct fr_op_map){back, user}, "op 1 ends before it begins");
    refuses(&(struct fr_op_map){late, user}, "begins at 1");
    own();
    refuses(&map, "comes once");
    fr_plan_free(plan);
    plan = fr_plan_new(topo, users);
    add_op(0);
    refuses(&map, "before any task");
    fr_plan_free(plan);
    plan = fr_plan_new(topo, NULL);
    refuses(&map, "that has a graph");
}

int main(void)
{
    TCase *c = tcase_create("rewrite");

    tcase_add_checked_fixture(c, set_up, tear_down);
    add_tests(c);
    return run_case(c, "plan/rewrite");
}
