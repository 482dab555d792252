/* tests/collectives/test_rounds.c - who sends what to whom, round by round. */
#include "config.h"

#include "collectives/rounds.h"
#include "tests/support/base_check.h"

#include <string.h>

static struct fr_collective_rounds *explanation_of(const char *topology, uint32_t n,
                                                   enum fr_collective_kind kind, double bytes,
                                                   const char *algorithm)
{
    struct fr_collective_rounds *s = NULL;
    struct fr_topo *t = NULL;
    struct fr_error err = {.text = ""};
    uint32_t devices[64];

    for (uint32_t i = 0; i < 64; i++)
        devices[i] = i;
    ck_assert_msg(fr_topo_load(&t, topology, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_collective_rounds_new(&s, t, devices, n, kind, bytes,
                                           &(struct fr_collective_options){.algorithm = algorithm},
                                           &err) == FR_OK,
                  "%s", err.text);
    fr_topo_free(t);
    return s;
}

/* n - 1 rounds of sums, then n - 1 of copies; each rank sends 2 (n - 1) chunks of S / n. */
TEST(a_ring_sums_for_half_of_its_rounds_and_copies_for_the_other)
{
    struct fr_collective_rounds *s = explanation_of("hgx-h100", 4, FR_ALL_REDUCE, 4000, "ring");

    ck_assert_uint_eq(s->n_rounds, 6);
    ck_assert_uint_eq(s->n_messages, 24);
    ck_assert_double_eq_tol(s->most_sent_bytes, 6000, 1e-9);
    ck_assert_double_eq_tol(s->sent_bytes, 24000, 1e-9);
    for (size_t i = 0; i < s->n_messages; i++) {
        ck_assert(s->messages[i].is_sum == (s->messages[i].round < 3));
        ck_assert_uint_eq(s->messages[i].n_pieces, 1);
        ck_assert_double_eq_tol(s->messages[i].bytes, 1000, 1e-9);
    }
    fr_collective_rounds_free(s);
}

/* Of 8 ranks the sums meet after log2 8 = 3 rounds and are back after 6, and rounds count only what
 * crosses a link: what a tree's root passes on to itself takes none. */
TEST(rounds_are_those_of_the_formula_whatever_a_rank_passes_on_to_itself)
{
    static const struct {
        const char *topology, *algorithm;
        uint32_t n, n_rounds;
    } cases[] = {
        {"8x gh200-quad", "halving-doubling", 8, 6},
        {"hgx-h100", "direct", 8, 2},
        /* a chain of 4 up and down; of one machine there is no tree */
        {"hgx-h100", "tree", 4, 6},
        /* up to the switch, to the head, up again, and down to all */
        {"hgx-h100", "NVLS", 8, 4},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_collective_rounds *s =
            explanation_of(cases[i].topology, cases[i].n, FR_ALL_REDUCE, 4096, cases[i].algorithm);

        ck_assert_msg(s->n_rounds == cases[i].n_rounds, "%s: %u rounds", cases[i].algorithm,
                      s->n_rounds);
        fr_collective_rounds_free(s);
    }
}

TEST(every_algorithm_that_takes_four_ranks_can_be_told)
{
    struct fr_topo *t = NULL;
    struct fr_error err;
    static const uint32_t devices[] = {0, 1, 2, 3};
    unsigned n_told = 0;

    ck_assert_int_eq(fr_topo_load(&t, "hgx-h100", &err), FR_OK);
    for (size_t i = 0; fr_collective_algorithm_name(i); i++)
        for (unsigned kind = 0; kind < FR_N_COLLECTIVE_KINDS; kind++) {
            struct fr_collective_rounds *s = NULL;
            enum fr_status st = fr_collective_rounds_new(
                &s, t, devices, 4, (enum fr_collective_kind)kind, 4096,
                &(struct fr_collective_options){.algorithm = fr_collective_algorithm_name(i)},
                &err);

            ck_assert_msg(st == FR_OK || st == FR_EUSAGE, "%s", err.text);
            if (st != FR_OK)
                continue;
            n_told++;
            ck_assert_uint_gt(s->n_rounds, 0);
            for (size_t k = 0; k < s->n_messages; k++) {
                ck_assert_uint_lt(s->messages[k].round, s->n_rounds);
                ck_assert_uint_ne(s->messages[k].from, s->messages[k].to);
            }
            fr_collective_rounds_free(s);
        }
    ck_assert_uint_gt(n_told, 20);
    fr_topo_free(t);
}

/* NCCL's search finds chains over NVLink, and a run takes them: on a DGX-1 0 1 2 3 7 6 5 4, not by
 * number, where GPUs 3 and 4 have no NVLink. So each message inside a machine crosses one link, and
 * one that the run of that tree has used. */
TEST(the_chain_of_a_tree_is_that_of_the_run)
{
    static const char *const topologies[] = {"dgx1-v100", "2x dgx1-v100 via ib:100Gbps",
                                             "4x dgx1-p100 via ib:100Gbps"};

    for (size_t i = 0; i < sizeof(topologies) / sizeof(topologies[0]); i++) {
        struct fr_topo *t = NULL;
        struct fr_router *router = NULL;
        struct fr_collective_rounds *s;
        struct fr_error err = {.text = ""};
        unsigned n_inside = 0;

        ck_assert_msg(fr_topo_load(&t, topologies[i], &err) == FR_OK, "%s", err.text);
        ck_assert_int_eq(fr_router_new(&router, t, &err), FR_OK);
        s = explanation_of(topologies[i], (uint32_t)t->n_gpus, FR_ALL_REDUCE, 1 << 20, "tree");
        for (size_t k = 0; k < s->n_messages; k++) {
            const struct fr_collective_message *m = &s->messages[k];
            const uint32_t *links;
            size_t n_links = 0;

            if (t->devices[m->from].machine != t->devices[m->to].machine)
                continue;
            n_inside++;
            ck_assert_int_eq(fr_router_path(router, m->from, m->to, &links, &n_links, &err), FR_OK);
            ck_assert_msg(n_links == 1 && t->links[links[0]].kind == FR_LINK_NVLINK,
                          "%s: %u > %u crosses %zu links", topologies[i], m->from, m->to, n_links);
        }
        ck_assert_uint_eq(n_inside, 2 * 7 * t->n_machines);
        fr_collective_rounds_free(s);
        fr_router_free(router);
        fr_topo_free(t);
    }
}

/* Thakur et al. 2005, section 4.5: with q the largest power of two <= n, 2 log2 q rounds, and three
 * more where n > q; the busiest rank sends 2 (q - 1)/q S, and of a pair half of S and the result.
 * All of them send (q 2 (q - 1)/q + r 2.5) S: of each of r pairs two halves, half of the sums, and
 * the result. */
TEST(rabenseifners_rounds_and_bytes_are_the_papers)
{
    for (uint32_t n = 2; n <= 33; n++) {
        struct fr_collective_rounds *s =
            explanation_of("33x gh200-quad", n, FR_ALL_REDUCE, 1024, "rabenseifner");
        uint32_t l = 0;
        double q, r;

        while (2u << l <= n)
            l++;
        q = (double)(1u << l);
        r = n - q;
        ck_assert_uint_eq(s->n_rounds, 2 * l + (r > 0 ? 3 : 0));
        ck_assert_double_eq_tol(s->most_sent_bytes, 1024 * (2 * (q - 1) / q + (r > 0 ? 1.5 : 0)),
                                1e-9);
        ck_assert_double_eq_tol(s->sent_bytes, 1024 * (2 * (q - 1) + 2.5 * r), 1e-9);
        fr_collective_rounds_free(s);
    }
}

/* Section 4.5 again: the data are halved and the distance doubled, so that half of the data goes to
 * the next rank and the least to the farthest. Over 4 machines of 4 ranks what crosses machines is
 * 2 (1/8 + 1/16) S a rank; halving-doubling, which begins at the farthest, sends 2 (1/2 + 1/4)
 * S. */
TEST(rabenseifner_sends_most_to_the_nearest)
{
    const struct {
        const char *algorithm;
        double across;
    } cases[] = {{"rabenseifner", 2 * (1 / 8.0 + 1 / 16.0)},
                 {"halving-doubling", 2 * (1 / 2.0 + 1 / 4.0)}};

    for (size_t i = 0; i < 2; i++) {
        struct fr_collective_rounds *s =
            explanation_of("4x gh200-quad", 16, FR_ALL_REDUCE, 4096, cases[i].algorithm);
        double across = 0;

        for (size_t k = 0; k < s->n_messages; k++)
            if (s->messages[k].from / 4 != s->messages[k].to / 4)
                across += s->messages[k].bytes;
        ck_assert_double_eq_tol(across, 16 * 4096 * cases[i].across, 1e-9);
        fr_collective_rounds_free(s);
    }
}

TEST(too_many_ranks_and_unknown_algorithms_are_refused)
{
    struct fr_collective_rounds *s = NULL;
    struct fr_topo *t = NULL;
    struct fr_error err;
    uint32_t devices[72];

    for (uint32_t i = 0; i < 72; i++)
        devices[i] = i;
    ck_assert_int_eq(fr_topo_load(&t, "9x hgx-h100", &err), FR_OK);
    ck_assert_int_eq(fr_collective_rounds_new(&s, t, devices, 72, FR_ALL_REDUCE, 64,
                                              &(struct fr_collective_options){.algorithm = "ring"},
                                              &err),
                     FR_ERANGE);
    ck_assert_str_eq(err.text, "more than 64 ranks");
    ck_assert_int_eq(
        fr_collective_rounds_new(&s, t, devices, 8, FR_ALL_REDUCE, 64,
                                 &(struct fr_collective_options){.algorithm = "spiral"}, &err),
        FR_EUSAGE);
    ck_assert_int_eq(fr_collective_rounds_new(&s, t, devices, 8, FR_ALL_TO_ALL, 64,
                                              &(struct fr_collective_options){.algorithm = "tree"},
                                              &err),
                     FR_EUSAGE);
    ck_assert(s == NULL);
    fr_topo_free(t);
}

int main(void)
{
    TCase *tc = tcase_create("rounds");

    add_tests(tc);
    return run_case(tc, "collectives/rounds");
}
