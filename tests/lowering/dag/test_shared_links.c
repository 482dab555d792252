/* Links as resources with slots: messages wait for each other, DPOS counts on it, and the engine
 * agrees. */
#include "config.h"

#include "strategies/fastt/fastt.h"
#include "lowering/dag/shared_links.h"

#include "tests/support/base_check.h"
#include "tests/support/dpos_case.h"
#include "tests/support/model_case.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* Three devices. 0 and 1 reach 2 over links of their own, then over one that both share, which is
 * half as fast; 0 reaches 1 over a link that nobody else uses. A message has a latency of 1. */
enum { N = 3, N_LINKS = 4, OWN_0 = 0, OWN_1 = 1, SHARED = 2, OTHER = 3 };

struct map {
    struct fr__link_map m;
    double link_s_per_byte[N_LINKS], latency_s[N * N], extra_s_per_byte[N * N];
    uint32_t first[N * N + 1], links[8], via[N * N];
};

static void fill(struct map *g)
{
    static const uint32_t of_pair[N * N][3] = {{0},        {1, OTHER}, {2, OWN_0, SHARED},
                                               {1, OTHER}, {0},        {2, OWN_1, SHARED},
                                               {1, OWN_0}, {1, OWN_1}, {0}};
    uint32_t n = 0;

    memset(g, 0, sizeof(*g));
    for (size_t l = 0; l < N_LINKS; l++)
        g->link_s_per_byte[l] = l == SHARED ? 2 : 1;
    for (size_t k = 0; k < N * N; k++) {
        g->first[k] = n;
        for (uint32_t i = 0; i < of_pair[k][0]; i++)
            g->links[n++] = of_pair[k][1 + i];
        g->latency_s[k] = k / N != k % N;
        g->via[k] = FR_NONE;
    }
    g->first[N * N] = n;
    g->m = (struct fr__link_map){.n_devices = N,
                                 .n_links = N_LINKS,
                                 .link_s_per_byte = g->link_s_per_byte,
                                 .first = g->first,
                                 .links = g->links,
                                 .latency_s = g->latency_s,
                                 .extra_s_per_byte = g->extra_s_per_byte,
                                 .via = g->via};
}

static double send(struct fr__link_times *t, uint32_t src, uint32_t dst, uint64_t bytes,
                   double made_s)
{
    double there_s = fr__link_times_try(t, src, dst, bytes, made_s);

    fr__link_times_keep(t);
    return there_s;
}

TEST(a_message_waits_for_the_slowest_link_of_its_way)
{
    struct fr__link_times *t;
    struct map g;

    fill(&g);
    t = fr__link_times_new(&g.m);
    ck_assert_double_eq(send(t, 0, 2, 10, 0), 1 + 20);  /* alone */
    ck_assert_double_eq(send(t, 1, 2, 10, 0), 21 + 20); /* behind it on the shared link */
    ck_assert_double_eq(send(t, 0, 1, 10, 0), 1 + 10);  /* shares nothing */
    /* its own link is free from 11 on, the shared one from 41 on: both together from 41 on */
    ck_assert_double_eq(send(t, 0, 2, 1, 0), 41 + 2);
    fr__link_times_reset(t);
    ck_assert_double_eq(send(t, 1, 2, 10, 0), 1 + 20);
    ck_assert(!fr__link_times_failed(t));
    fr__link_times_free(t);
}

TEST(a_message_goes_into_a_gap_that_is_long_enough)
{
    struct fr__link_times *t;
    struct map g;

    fill(&g);
    t = fr__link_times_new(&g.m);
    ck_assert_double_eq(send(t, 0, 2, 10, 0), 21);
    ck_assert_double_eq(send(t, 0, 2, 10, 29), 50); /* from 30 on: 21 to 30 are free */
    ck_assert_double_eq(send(t, 1, 2, 5, 0), 60);   /* takes 10, too long for the gap */
    ck_assert_double_eq(send(t, 1, 2, 4, 0), 29);   /* takes 8 */
    ck_assert_double_eq(send(t, 1, 2, 1, 0), 62);   /* 1 is left of the gap, and 2 wanted */
    fr__link_times_free(t);
}

TEST(what_was_only_tried_takes_no_slot)
{
    struct fr__link_times *t;
    struct map g;

    fill(&g);
    t = fr__link_times_new(&g.m);
    ck_assert_double_eq(fr__link_times_try(t, 0, 2, 10, 0), 21);
    ck_assert_double_eq(fr__link_times_try(t, 1, 2, 10, 0), 41); /* those tried wait as well */
    fr__link_times_drop(t);
    ck_assert_double_eq(fr__link_times_try(t, 1, 2, 10, 0), 21);
    fr__link_times_free(t);
}

/* Messages that are sent, given back and sent again arrive as if nothing had happened between: at
 * gaps, joined to the slots before, behind, and on both sides. */
TEST(what_is_given_back_is_as_free_as_before)
{
    static const struct {
        uint32_t src;
        uint64_t bytes;
        double made_s, there_s;
    } sent[] = {
        {0, 10, 0, 21},  /* the shared link is busy from 1 to 21 */
        {0, 10, 29, 50}, /* from 30 to 50 */
        {1, 1, 40, 52},  /* behind it */
        {1, 1, 27, 30},  /* before it: from 28 to 30 */
        {1, 1, 0, 23},   /* behind the first */
        {1, 1, 23, 26},  /* from 24 to 26, by itself */
        {1, 1, 0, 28},   /* from 26 to 28, between two: 23 to 24 is too short */
    };
    enum { N_SENT = sizeof(sent) / sizeof(sent[0]) };
    size_t n_kept[N_SENT];
    struct fr__link_times *t;
    struct map g;

    fill(&g);
    t = fr__link_times_new(&g.m);
    for (size_t back = 0; back < N_SENT; back++) {
        for (size_t k = 0; k < N_SENT; k++) {
            n_kept[k] = fr__link_times_n_kept(t);
            ck_assert_double_eq(send(t, sent[k].src, 2, sent[k].bytes, sent[k].made_s),
                                sent[k].there_s);
        }
        fr__link_times_undo(t, n_kept[back]);
        for (size_t k = back; k < N_SENT; k++)
            ck_assert_double_eq(send(t, sent[k].src, 2, sent[k].bytes, sent[k].made_s),
                                sent[k].there_s);
        fr__link_times_undo(t, 0);
    }
    fr__link_times_free(t);
}

TEST(what_a_measured_message_takes_beyond_its_links_keeps_nobody_waiting)
{
    struct fr__link_times *t;
    struct map g;

    fill(&g);
    g.extra_s_per_byte[0 * N + 2] = 0.5;
    t = fr__link_times_new(&g.m);
    ck_assert_double_eq(send(t, 0, 2, 10, 0), 1 + 5 + 20);
    ck_assert_double_eq(send(t, 1, 2, 2, 0), 5); /* before it: the link is free until 6 */
    fr__link_times_free(t);
}

/* ---- DPOS ---- */

/* Ops 0 and 1 are bound to devices 0 and 1 and end at 1; op 2 on device 2 reads 10 bytes of each.
 * Alone both arrive at 1 + 1 + 20; on the shared link the second arrives 20 later. */
static void join_of_two(struct dpos_case *c)
{
    dpos_case_init(c, 3, N, 2);
    for (uint32_t i = 0; i < 3; i++)
        for (size_t d = 0; d < N; d++)
            dpos_case_cost(c, i)[d] = 1;
    for (size_t k = 0; k < N * N; k++)
        c->latency_s[k] = k / N != k % N;
    c->s_per_byte[0 * N + 2] = c->s_per_byte[1 * N + 2] = 2;
    dpos_case_edge(c, 0, 2, 10);
    dpos_case_edge(c, 1, 2, 10);
    dpos_case_index(c);
}

static double planned_s(const struct dpos_case *c, struct fr__dpos_options o,
                        struct fr__dpos_result *r)
{
    struct fr__dpos *p = fr__dpos_new(&c->m);
    struct fr_error err;
    double made_s;

    ck_assert_int_eq(fr__dpos_run(p, &c->dag, &o, r, &err), FR_OK);
    ck_assert_int_eq(r->outcome, FR__DPOS_DONE);
    dpos_case_check(c, r);
    made_s = r->makespan_s;
    fr__dpos_free(p);
    return made_s;
}

TEST(dpos_waits_for_messages_that_share_a_link)
{
    static const uint32_t placed[3] = {0, 1, 2};
    struct fr__dpos_result r;
    struct dpos_case c;
    struct map g;

    join_of_two(&c);
    ck_assert_double_eq(planned_s(&c, (struct fr__dpos_options){.placed = placed}, &r), 23);
    fill(&g);
    c.m.links = &g.m;
    ck_assert_double_eq(planned_s(&c, (struct fr__dpos_options){.placed = placed}, &r), 43);
    /* free to choose, it moves one message, or none */
    ck_assert_double_le(planned_s(&c, (struct fr__dpos_options){.ignores_path = true}, &r), 13);
    dpos_case_fini(&c);
}

/* Op 0 has two readers on device 2, which it reaches by device 1: the message is sent once. */
TEST(a_message_by_a_third_device_is_sent_once)
{
    static const uint32_t placed[3] = {0, 2, 2};
    struct fr__dpos_result r;
    struct dpos_case c;
    struct map g;

    dpos_case_init(&c, 3, N, 2);
    for (uint32_t i = 0; i < 3; i++)
        for (size_t d = 0; d < N; d++)
            dpos_case_cost(&c, i)[d] = 1;
    dpos_case_edge(&c, 0, 1, 10);
    dpos_case_edge(&c, 0, 2, 10);
    dpos_case_index(&c);
    fill(&g);
    g.via[0 * N + 2] = 1;
    c.m.links = &g.m;
    /* ends at 1; is on device 1 at 1 + 1 + 10, on device 2 at 12 + 1 + 20; two ops there */
    ck_assert_double_eq(planned_s(&c, (struct fr__dpos_options){.placed = placed}, &r), 35);
    dpos_case_fini(&c);
}

/* Slots only delay: the same operations on the same devices never end sooner, and two runs are the
 * same. Pairs of like devices at one link. */
TEST(random_plans_are_no_shorter_with_slots_than_without)
{
    static const double link_s_per_byte = 1;
    double zero[16] = {0};
    uint32_t first[17], links[12], n = 0;
    size_t n_longer = 0;

    for (size_t k = 0; k < 16; k++) {
        first[k] = n;
        if (k / 4 != k % 4)
            links[n++] = 0;
    }
    first[16] = n;
    for (uint64_t seed = 0; seed < 200; seed++) {
        const struct fr__link_map m = {.n_devices = 4,
                                       .n_links = 1,
                                       .link_s_per_byte = &link_s_per_byte,
                                       .first = first,
                                       .links = links,
                                       .latency_s = zero,
                                       .extra_s_per_byte = zero};
        const struct dpos_random how = {
            .n_ops = 30, .n_devices = 4, .edges_an_op = 2, .max_cost = 20, .max_bytes = 10};
        uint32_t placed[30];
        double alone_s, with_s, again_s;
        struct fr__dpos_result r;
        struct dpos_case c;

        dpos_case_random(&c, &how, seed);
        for (uint32_t i = 0; i < 30; i++)
            placed[i] = (uint32_t)((i * 7 + seed) % 4);
        alone_s = planned_s(&c, (struct fr__dpos_options){.placed = placed}, &r);
        c.m.links = &m;
        with_s = planned_s(&c, (struct fr__dpos_options){.placed = placed}, &r);
        again_s = planned_s(&c, (struct fr__dpos_options){.placed = placed}, &r);
        ck_assert_double_ge(with_s, alone_s * (1 - 1e-12));
        ck_assert_double_eq(with_s, again_s);
        n_longer += with_s > alone_s;
        planned_s(&c, (struct fr__dpos_options){.looks_ahead = true}, &r);
        dpos_case_fini(&c);
    }
    ck_assert_uint_gt(n_longer, 150);
}

int main(void)
{
    TCase *c = tcase_create("shared_links");

    add_tests(c);
    return run_case(c, "strategies/shared_links");
}
