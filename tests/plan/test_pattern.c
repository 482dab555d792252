/* tests/plan/test_pattern.c - parts of a plan that are repeated: the plan is the one that would
 * have been made step by step. */
#include "config.h"

#include "plan/pattern.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { N_BLOCKS = 2, N_ROWS = 5 };

struct builder {
    struct fr_plan *p;
    uint32_t cost;
    int32_t priority;
    uint32_t after[N_BLOCKS]; /* the last task of the block before, on each device */
    struct fr__begin begin[N_ROWS][N_BLOCKS];
};

static struct fr__plan_mark mark(const struct builder *b)
{
    return fr__plan_mark(b->p, b->priority);
}

static uint32_t add_task(struct builder *b, uint32_t device, uint32_t row)
{
    return fr_plan_add_task(b->p, &(struct fr_task){.device = device,
                                                    .cost_id = b->cost,
                                                    .op = FR_NONE,
                                                    .label = FR_NONE,
                                                    .microbatch = row,
                                                    .priority = b->priority++,
                                                    .kind = FR_TASK_COMPUTE});
}

static uint32_t add_buffer(struct builder *b, uint32_t device, uint32_t alloc, uint32_t alias)
{
    return fr_plan_add_buffer(b->p, &(struct fr_buffer){.bytes = 1000,
                                                        .device = device,
                                                        .alloc = alloc,
                                                        .alias = alias,
                                                        .op = FR_NONE,
                                                        .kind = FR_BUFFER_ACTIVATION});
}

/* Device 0: two tasks in a row, the second after the block before; a buffer each. */
static void make_first(struct builder *b, uint32_t row)
{
    uint32_t x = add_task(b, 0, row), y = add_task(b, 0, row), first;

    fr_plan_add_dep(b->p, x, y);
    if (b->after[0] != FR_NONE)
        fr_plan_add_dep(b->p, b->after[0], x);
    first = add_buffer(b, 0, x, FR_NONE);
    add_buffer(b, 0, y, FR_NONE);
    fr_plan_add_free(b->p, first, y);
    b->after[0] = y;
}

/* Device 1: gets what the first block's last task made, at that one's priority, and works on it in
 * place; frees both. */
static void make_second(struct builder *b, uint32_t row)
{
    const struct fr__begin *first = &b->begin[row][0];
    struct fr_task move = {.op = FR_NONE,
                           .cost_id = FR_NONE,
                           .microbatch = row,
                           .priority = first->priority + 1,
                           .kind = FR_TASK_SEND,
                           .stream = FR_STREAM_SEND};
    uint32_t send = fr_plan_add_task(b->p, &move), recv, z, got;

    move.device = 1;
    move.kind = FR_TASK_RECV;
    move.stream = FR_STREAM_FREE;
    recv = fr_plan_add_task(b->p, &move);
    fr_plan_add_transfer(b->p, send, recv, 1e6, FR_NONE);
    fr_plan_add_dep(b->p, first->task + 1, send);
    fr_plan_add_dep(b->p, first->task + 1, recv);
    fr_plan_add_free(b->p, first->buffer + 1, send);
    got = add_buffer(b, 1, recv, FR_NONE);
    z = add_task(b, 1, row);
    fr_plan_add_dep(b->p, recv, z);
    if (b->after[1] != FR_NONE)
        fr_plan_add_dep(b->p, b->after[1], z);
    fr_plan_add_free(b->p, add_buffer(b, 1, z, got), z);
    b->after[1] = z;
}

static void make(struct builder *b, uint32_t row, uint32_t block)
{
    struct fr__plan_mark here = mark(b);

    b->begin[row][block] = (struct fr__begin){here.n_tasks, here.n_buffers, here.priority};
    if (block == 0)
        make_first(b, row);
    else
        make_second(b, row);
}

static struct fr__pattern *learn(struct builder *b, uint32_t row, uint32_t block,
                                 struct fr__begin size[N_BLOCKS])
{
    struct fr__pattern_source s = {.from = mark(b), .after = b->after[block]};
    struct fr__pattern *k;

    make(b, row, block);
    s.to = mark(b);
    size[block] =
        (struct fr__begin){s.to.n_tasks - s.from.n_tasks, s.to.n_buffers - s.from.n_buffers,
                           s.to.priority - s.from.priority};
    s.row = b->begin[row];
    s.size = size;
    s.n_blocks = N_BLOCKS;
    k = fr__pattern_new(b->p, &s);
    ck_assert_ptr_nonnull(k);
    ck_assert_uint_eq(fr__pattern_size(k).task, size[block].task);
    return k;
}

static void repeat(struct builder *b, const struct fr__pattern *k, uint32_t row, uint32_t block)
{
    struct fr__plan_mark here = mark(b);

    b->begin[row][block] = (struct fr__begin){here.n_tasks, here.n_buffers, here.priority};
    fr__pattern_repeat(b->p, k,
                       &(struct fr__pattern_place){.row = b->begin[row],
                                                   .after = b->after[block],
                                                   .microbatch = row,
                                                   .device = FR_NONE,
                                                   .rank = FR_NONE,
                                                   .next_priority = b->priority});
    b->priority += fr__pattern_size(k).priority;
    b->after[block] = here.n_tasks + fr__pattern_size(k).task - 1;
}

static struct builder new_builder(const struct fr_topo *topo)
{
    struct builder b = {.p = fr_plan_new(topo, NULL), .after = {FR_NONE, FR_NONE}};

    b.cost = fixture_cost(b.p, 1);
    return b;
}

static void check_rows(const uint32_t *first, const uint32_t *items, const uint32_t *first_of,
                       const uint32_t *items_of, size_t n)
{
    for (size_t i = 0; i <= n; i++)
        ck_assert_uint_eq(first[i], first_of[i]);
    for (uint32_t i = 0; i < first[n]; i++)
        ck_assert_uint_eq(items[i], items_of[i]);
}

static void check_same(struct fr_plan *a, struct fr_plan *b)
{
    const struct fr_plan_view *x, *y;

    fixture_finish(a);
    fixture_finish(b);
    x = fr_plan_view(a);
    y = fr_plan_view(b);
    ck_assert_uint_eq(x->n_tasks, y->n_tasks);
    ck_assert_uint_eq(x->n_buffers, y->n_buffers);
    ck_assert_uint_eq(x->n_transfers, y->n_transfers);
    ck_assert_mem_eq(x->tasks, y->tasks, x->n_tasks * sizeof(*x->tasks));
    check_rows(x->succ_first, x->succ, y->succ_first, y->succ, x->n_tasks);
    check_rows(x->alloc_first, x->alloc, y->alloc_first, y->alloc, x->n_tasks);
    check_rows(x->free_first, x->free, y->free_first, y->free, x->n_tasks);
    for (size_t i = 0; i < x->n_transfers; i++) {
        ck_assert_uint_eq(x->transfers[i].send, y->transfers[i].send);
        ck_assert_uint_eq(x->transfers[i].recv, y->transfers[i].recv);
        ck_assert_double_eq(x->transfers[i].bytes, y->transfers[i].bytes);
    }
    for (size_t i = 0; i < x->n_buffers; i++) {
        ck_assert_uint_eq(x->buffers[i].device, y->buffers[i].device);
        ck_assert_uint_eq(x->buffers[i].alias, y->buffers[i].alias);
        ck_assert_uint_eq(x->buffers[i].alloc, y->buffers[i].alloc);
    }
}

/* Rows 0 and 1 are made, 1 is learnt, 2 to 4 are repeated; the blocks of two rows cross, as in
 * 1F1B. */
START_TEST(repeated_blocks_are_what_building_them_gives)
{
    struct fr_topo *topo = fixture_star(2, 1e9, 0);
    struct builder made = new_builder(topo), short_cut = new_builder(topo);
    struct fr__begin size[N_BLOCKS] = {{0}};
    struct fr__pattern *k[N_BLOCKS];

    for (uint32_t row = 0; row < N_ROWS; row++) {
        make(&made, row, 0);
        if (row > 0)
            make(&made, row - 1, 1);
    }
    make(&made, N_ROWS - 1, 1);

    make(&short_cut, 0, 0);
    k[0] = learn(&short_cut, 1, 0, size);
    make(&short_cut, 0, 1);
    repeat(&short_cut, k[0], 2, 0);
    k[1] = learn(&short_cut, 1, 1, size);
    repeat(&short_cut, k[0], 3, 0);
    repeat(&short_cut, k[1], 2, 1);
    repeat(&short_cut, k[0], 4, 0);
    repeat(&short_cut, k[1], 3, 1);
    repeat(&short_cut, k[1], 4, 1);

    check_same(made.p, short_cut.p);
    for (int i = 0; i < N_BLOCKS; i++)
        fr__pattern_free(k[i]);
    fr_plan_free(made.p);
    fr_plan_free(short_cut.p);
    fr_topo_free(topo);
}
END_TEST

/* One task and its part in an all-reduce, with a buffer that stays and one that goes. */
static void make_rank(struct builder *b, uint32_t rank, uint32_t collective)
{
    uint32_t task = add_task(b, rank, FR_NONE), member;

    member = fr_plan_add_task(b->p, &(struct fr_task){.device = rank,
                                                      .cost_id = FR_NONE,
                                                      .op = FR_NONE,
                                                      .collective = collective,
                                                      .rank = rank,
                                                      .microbatch = FR_NONE,
                                                      .priority = b->priority++,
                                                      .kind = FR_TASK_COLLECTIVE,
                                                      .stream = FR_STREAM_COMM});
    fr_plan_add_dep(b->p, task, member);
    add_buffer(b, rank, FR_NONE, FR_NONE);
    fr_plan_add_free(b->p, add_buffer(b, rank, task, FR_NONE), member);
}

static uint32_t add_all_reduce(struct fr_plan *p, uint32_t n)
{
    return fr_plan_add_collective(p, &(struct fr_collective){.bytes = 1e6,
                                                             .group = fr_plan_add_group(p, 0, 1, n),
                                                             .label = FR_NONE,
                                                             .kind = FR_ALL_REDUCE});
}

START_TEST(a_replica_is_repeated_on_other_devices_with_their_ranks)
{
    struct fr_topo *topo = fixture_star(4, 1e9, 0);
    struct builder made = new_builder(topo), short_cut = new_builder(topo);
    uint32_t all_reduce = add_all_reduce(made.p, 4);
    struct fr__pattern_source s = {.after = FR_NONE};
    struct fr__pattern *k;

    ck_assert_uint_eq(add_all_reduce(short_cut.p, 4), all_reduce);
    for (uint32_t rank = 0; rank < 4; rank++) {
        made.priority = 0;
        make_rank(&made, rank, all_reduce);
    }
    s.from = mark(&short_cut);
    make_rank(&short_cut, 0, all_reduce);
    s.to = mark(&short_cut);
    k = fr__pattern_new(short_cut.p, &s);
    ck_assert_ptr_nonnull(k);
    for (uint32_t rank = 1; rank < 4; rank++)
        fr__pattern_repeat(short_cut.p, k,
                           &(struct fr__pattern_place){.after = FR_NONE,
                                                       .microbatch = FR_NONE,
                                                       .device = rank,
                                                       .rank = rank,
                                                       .next_priority = 0});
    check_same(made.p, short_cut.p);
    fr__pattern_free(k);
    fr_plan_free(made.p);
    fr_plan_free(short_cut.p);
    fr_topo_free(topo);
}
END_TEST

START_TEST(an_empty_block_adds_nothing)
{
    struct fr_topo *topo = fixture_star(1, 1e9, 0);
    struct builder b = new_builder(topo);
    struct fr__pattern_source s = {.from = mark(&b), .to = mark(&b), .after = FR_NONE};
    struct fr__pattern *k = fr__pattern_new(b.p, &s);

    ck_assert_ptr_nonnull(k);
    fr__pattern_repeat(b.p, k, &(struct fr__pattern_place){.after = FR_NONE, .device = FR_NONE});
    ck_assert_uint_eq(mark(&b).n_tasks, 0);
    fr__pattern_free(k);
    fr_plan_free(b.p);
    fr_topo_free(topo);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("sim/pattern");
    TCase *t = tcase_create("pattern");

    tcase_add_test(t, repeated_blocks_are_what_building_them_gives);
    tcase_add_test(t, a_replica_is_repeated_on_other_devices_with_their_ranks);
    tcase_add_test(t, an_empty_block_adds_nothing);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
