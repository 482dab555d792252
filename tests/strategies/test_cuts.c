/* tests/strategies/test_cuts.c - where `pp` cuts, against all cuts given by hand, in the engine. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define GIB (UINT64_C(1) << 30)

enum { LAYERS = 6, STAGES = 3, MICROS = 6 };

struct chain {
    struct fr_topo *topo;
    struct fr_graph *graph;
};

static uint64_t below(uint64_t *r, uint64_t n)
{
    *r = *r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*r >> 33) % n;
}

/* Layers of 1 to 5 s forwards and 2 to 10 s backwards; a transfer takes a second. */
static struct chain draw(uint64_t *r)
{
    uint64_t params[LAYERS];
    double forward_s[LAYERS], backward_s[LAYERS];
    struct chain x = {.topo = case_topo(STAGES, 100, GIB)};

    for (int i = 0; i < LAYERS; i++) {
        params[i] = 40;
        forward_s[i] = (double)(1 + below(r, 5));
        backward_s[i] = (double)(2 + 2 * below(r, 5));
    }
    x.graph = case_chain(&(struct chain_case){.n = LAYERS,
                                              .batch = 2,
                                              .params = params,
                                              .forward_s = forward_s,
                                              .backward_s = backward_s,
                                              .act_bytes = 100});
    return x;
}

static double simulate(const struct chain *x, const char *text)
{
    const struct case_problem c = {.topo = x->topo,
                                   .graph = x->graph,
                                   .n_devices = STAGES,
                                   .global_batch = 2 * MICROS,
                                   .optimizer = FR_SGD};
    struct fr_plan *plan = case_plan(&c, text);
    struct fr_run_options o;
    struct fr_error err;
    struct fr_run *run;
    double s;

    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(plan, &o, &run, &err) == FR_OK, "%s", err.text);
    s = run->makespan_s;
    fr_run_free(run);
    fr_plan_free(plan);
    return s;
}

/* The least makespan of all cuts into three stages. */
static double least(const struct chain *x, const char *schedule)
{
    double best_s = INFINITY;
    char text[128];

    for (int a = 1; a < LAYERS - 1; a++)
        for (int b = a + 1; b < LAYERS; b++) {
            snprintf(text, sizeof(text), "pp:micro=2,schedule=%s,cuts=l%d;l%d", schedule, a, b);
            best_s = fmin(best_s, simulate(x, text));
        }
    return best_s;
}

static void release(struct chain *x)
{
    fr_graph_free(x->graph);
    fr_topo_free(x->topo);
}

/* GPipe has a closed form; the replay of the others counts what the engine counts. */
LOOP_TEST(no_cut_by_hand_is_faster_in_the_engine, 0, 4)
{
    static const char *const names[] = {"gpipe", "1f1b", "zb-h1", "eager-1f1b"};
    uint64_t r = 3;

    for (int round = 0; round < 12; round++) {
        struct chain x = draw(&r);
        char text[64];
        double chosen_s, best_s = least(&x, names[_i]);

        snprintf(text, sizeof(text), "pp:micro=2,schedule=%s", names[_i]);
        chosen_s = simulate(&x, text);
        ck_assert_msg(chosen_s <= best_s * (1 + 2e-6), "%s, round %d: %g s, but a cut takes %g s",
                      names[_i], round, chosen_s, best_s);
        release(&x);
    }
}

static void refuse(const char *spec, const char *message)
{
    uint64_t r = 1;
    struct chain x = draw(&r);
    const struct case_problem c = {.topo = x.topo,
                                   .graph = x.graph,
                                   .n_devices = STAGES,
                                   .global_batch = 2 * MICROS,
                                   .optimizer = FR_SGD};
    struct fr_error err;

    ck_assert_int_eq(case_fails(&c, spec, &err), FR_EUSAGE);
    ck_assert_str_eq(err.text, message);
    release(&x);
}

TEST(cuts_that_cannot_be_are_refused_by_name)
{
    refuse("pp:cuts=l1;l9",
           "option 'cuts': 'chain' has no layer or forward op 'l9'; nearest is 'l0'");
    refuse("pp:cuts=l3;l2", "option 'cuts': 'l2' does not come after 'l3.forward', with which the "
                            "stage before begins");
    refuse("pp:cuts=l0;l2", "option 'cuts': the first stage begins with 'l0' anyway");
    refuse("pp:stages=3,cuts=l2", "option 'cuts' names 1 place, but 3 stages need 2");
    refuse("pp:cuts=l1;", "option 'cuts' has a name that is empty or of over 255 letters");
}

/* '?' is any letter, '*' any text; the first in the order of the graph counts. */
TEST(patterns_name_the_first_that_they_match)
{
    uint64_t r = 9;
    struct chain x = draw(&r);

    ck_assert_double_eq(simulate(&x, "pp:micro=2,cuts=l2;l4"),
                        simulate(&x, "pp:micro=2,cuts=*2;?4*"));
    release(&x);
}

/* Who runs further cuts says which were run, and no plan is made of those. */
TEST(a_cut_that_was_run_is_not_planned_again)
{
    uint64_t r = 9, seen[2] = {1, 0};
    struct chain x = draw(&r);
    struct fr_cut_choice cut = {.kind = 0};
    const struct case_problem c = {.topo = x.topo,
                                   .graph = x.graph,
                                   .n_devices = STAGES,
                                   .global_batch = 2 * MICROS,
                                   .optimizer = FR_SGD};

    ck_assert_int_eq(case_cut(&c, "pp:micro=2", &cut), FR_OK);
    ck_assert(cut.is_chosen && cut.fits && !cut.is_useless);
    seen[1] = cut.signature;
    cut = (struct fr_cut_choice){.kind = 0, .seen = seen, .n_seen = 1};
    ck_assert_int_eq(case_cut(&c, "pp:micro=2", &cut), FR_OK);
    ck_assert(!cut.is_useless);
    cut.n_seen = 2;
    ck_assert_int_eq(case_cut(&c, "pp:micro=2", &cut), FR_ENOROOM);
    ck_assert(cut.is_useless && cut.signature == seen[1]);
    release(&x);
}

int main(void)
{
    TCase *c = tcase_create("cuts");

    add_tests(c);
    return run_case(c, "strategies/cuts");
}
