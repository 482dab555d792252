/* Moving single operations of a plan gives what planning all of it again gives, however the planner
 * got there. */
#include "config.h"

#include "strategies/fastt/dpos_moves.h"

#include "lowering/dag/shared_links.h"
#include "tests/support/base_check.h"
#include "tests/support/dpos_case.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { N_OPS = 40, N = 3, N_MOVES = 200, N_GROUPS = 4 };

/* Devices 0 and 1 share their way to 2; what 1 sends to 0 goes by 2. */
static const uint32_t first[N * N + 1] = {0, 0, 1, 2, 3, 3, 4, 5, 6, 6},
                                    links[] = {0, 1, 2, 1, 2, 3}, by_two[N * N] = {[1 * N + 0] = 2};
static const double link_s_per_byte[] = {1, 2, 1, 1},
                    latency_s[N * N] = {0, 1, 1, 1, 0, 1, 1, 1, 0}, extra_s_per_byte[N * N];

struct tally {
    size_t n_moves, n_better, n_full; /* n_full: a device had no room */
};

static void make_case(struct dpos_case *c, uint64_t seed, struct fr__rng *rng)
{
    dpos_case_random(c,
                     &(struct dpos_random){.n_ops = N_OPS,
                                           .n_devices = N,
                                           .edges_an_op = 1.6,
                                           .max_cost = 9,
                                           .max_bytes = 4,
                                           .is_heterogeneous = seed % 2},
                     seed);
    c->dag.n_groups = N_GROUPS;
    for (size_t i = 0; i < N_OPS; i++) {
        c->dag.ops[i].output_bytes = fr__rng_below(rng, 5);
        if (fr__rng_below(rng, 3) == 0)
            c->dag.ops[i].group = (uint32_t)fr__rng_below(rng, N_GROUPS);
    }
    for (size_t e = 0; e < c->dag.n_edges; e++)
        c->dag.edges[e].stays = fr__rng_below(rng, 2);
    for (size_t d = 0; d < N && seed % 3; d++)
        c->room_bytes[d] = 55;
}

static void put(const struct dpos_case *c, uint32_t placed[], uint32_t op, uint32_t device)
{
    uint32_t g = c->dag.ops[op].group;

    placed[op] = device;
    for (size_t i = 0; g != FR_NONE && i < N_OPS; i++)
        if (c->dag.ops[i].group == g)
            placed[i] = device;
}

/* INFINITY: it does not fit. */
static double planned_s(struct fr__dpos *p, const struct dpos_case *c, const uint32_t placed[])
{
    const struct fr__dpos_options o = {.placed = placed};
    struct fr__dpos_result r;
    struct fr_error err;

    ck_assert_int_eq(fr__dpos_run(p, &c->dag, &o, &r, &err), FR_OK);
    return r.outcome == FR__DPOS_DONE ? r.makespan_s : (double)INFINITY;
}

/* Moves at random, each also planned from nothing by another planner. */
static void move_about(const struct dpos_case *c, struct fr__rng *rng, struct tally *t)
{
    struct fr__dpos *p = fr__dpos_new(&c->m), *other = fr__dpos_new(&c->m);
    uint32_t placed[N_OPS] = {0}, with[N_OPS];
    const struct fr__dpos_options o = {.placed = placed};
    struct fr__dpos_moves *moves;
    struct fr_error err;
    double best_s;

    for (uint32_t i = 0; i < N_OPS; i++)
        put(c, placed, i, (uint32_t)fr__rng_below(rng, N));
    best_s = planned_s(other, c, placed);
    if (isfinite(best_s)) {
        ck_assert_int_eq(fr__dpos_moves_new(&moves, p, &c->dag, &o, &err), FR_OK);
        for (size_t k = 0; k < N_MOVES; k++) {
            uint32_t op = (uint32_t)fr__rng_below(rng, N_OPS);
            uint32_t device = (uint32_t)((placed[op] + 1 + fr__rng_below(rng, N - 1)) % N);
            double made_s, was_s = best_s;
            bool is_better;

            memcpy(with, placed, sizeof(with));
            put(c, with, op, device);
            made_s = planned_s(other, c, with);
            ck_assert_int_eq(fr__dpos_moves_try(moves, op, device, &best_s, &is_better, &err),
                             FR_OK);
            ck_assert_int_eq(is_better, made_s < was_s);
            ck_assert_double_eq(best_s, is_better ? made_s : was_s);
            if (is_better)
                memcpy(placed, with, sizeof(placed));
            ck_assert_mem_eq(fr__dpos_moves_device(moves), placed, sizeof(placed));
            t->n_moves++;
            t->n_better += is_better;
            t->n_full += made_s >= (double)INFINITY;
        }
        fr__dpos_moves_free(moves);
    }
    fr__dpos_free(p);
    fr__dpos_free(other);
}

/* _i: without shared links, with, and with messages that go by a third device. */
LOOP_TEST(a_move_gives_what_planning_all_again_gives, 0, 3)
{
    uint32_t via[N * N];
    const struct fr__link_map map = {.n_devices = N,
                                     .n_links = 4,
                                     .link_s_per_byte = link_s_per_byte,
                                     .first = first,
                                     .links = links,
                                     .latency_s = latency_s,
                                     .extra_s_per_byte = extra_s_per_byte,
                                     .via = _i == 2 ? via : NULL};
    struct tally t = {0};

    for (size_t k = 0; k < N * N; k++)
        via[k] = by_two[k] ? by_two[k] : FR_NONE;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct fr__rng rng;
        struct dpos_case c;

        fr__rng_init(&rng, seed, 2);
        make_case(&c, seed, &rng);
        c.m.links = _i ? &map : NULL;
        move_about(&c, &rng, &t);
        dpos_case_fini(&c);
    }
    ck_assert_uint_gt(t.n_moves, 2000);
    ck_assert_uint_gt(t.n_better, 100);
    ck_assert_uint_gt(t.n_full, 50);
}

int main(void)
{
    TCase *tc = tcase_create("dpos_moves");

    add_tests(tc);
    return run_case(tc, "strategies/dpos_moves");
}
