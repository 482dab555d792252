/* tests/study/test_iterations.c - several iterations in a row, for every strategy and order: they
 * finish, compute + exposed communication + bubble is the iteration, and the bound is not above it.
 */
#include "config.h"

#include "base/rng.h"
#include "study/answer/record.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const more_specs[] = {"dp:sync=ps-cpu", "dp:sync=ps-sharded", "dp:accumulate=2",
                                         "pp:schedule=gpipe"};
enum { N_MORE = sizeof(more_specs) / sizeof(more_specs[0]) };

/* Every strategy by its name, then some with options; NULL past the end. */
static const char *spec_at(size_t i)
{
    const struct fr_strategy *s;
    size_t n = 0;

    for (size_t k = 0; (s = fr_strategy_at(k)) != NULL; k++) {
        if (s->is_by_name_only)
            continue;
        if (n++ == i) /* an asynchronous plan holds its iterations already */
            return strcmp(s->name, "pipedream") == 0 ? "pipedream:flush=1" : s->name;
    }
    return i - n < N_MORE ? more_specs[i - n] : NULL;
}

static void check_iteration(const struct fr_record *r, const struct fr_question *q)
{
    double sum_s = r->compute_s + r->exposed_comm_s + r->bubble_s;
    char what[256];

    snprintf(what, sizeof(what), "%s, %s, %u iterations, %zu GPUs, jitter %g", q->strategy,
             fr_order_name(q->run.order), q->iterations, q->n_gpus, q->run.jitter_cv);
    ck_assert_msg(fabs(sum_s - r->iteration_s) <= 1e-9 * r->iteration_s,
                  "%s: %.17g s of %.17g s are accounted for", what, sum_s, r->iteration_s);
    ck_assert_msg(r->lower_bound_s <= r->iteration_s * (1 + 1e-9),
                  "%s: the bound %.17g s is above the time %.17g s", what, r->lower_bound_s,
                  r->iteration_s);
    ck_assert_msg(r->lower_bound_s > 0, "%s: no bound", what);
    for (size_t d = 0; d < r->n_devices; d++) {
        const struct fr_record_device *k = &r->devices[d];

        sum_s = k->compute_s + k->exposed_comm_s + k->idle_s;
        ck_assert_msg(fabs(sum_s - r->iteration_s) <= 1e-9 * r->iteration_s, "%s: %s", what,
                      k->name);
    }
}

static void ask(const struct fr_setting *s, const struct fr_question *q)
{
    struct fr_error err = {.text = ""};
    struct fr_record *r;

    ck_assert_msg(fr_answer_on(s, q, NULL, &r, &err) == FR_OK, "%s, %s, %u iterations: %s",
                  q->strategy, fr_order_name(q->run.order), q->iterations, err.text);
    check_iteration(r, q);
    fr_record_free(r);
}

static void load(struct fr_setting *s, struct fr_question *q, const char *workload)
{
    struct fr_error err = {.text = ""};

    fr_question_init(q);
    q->workload = workload;
    q->topology = "dgx1-v100";
    ck_assert_msg(fr_setting_load(s, q, &err) == FR_OK, "%s", err.text);
}

TEST(every_strategy_runs_several_iterations_in_every_order)
{
    struct fr_setting setting;
    struct fr_question q;

    load(&setting, &q, "lenet");
    q.n_gpus = 3;
    q.global_batch = 12;
    for (size_t i = 0; (q.strategy = spec_at(i)) != NULL; i++)
        for (unsigned order = 0; order < FR_N_ORDERS; order++)
            for (q.iterations = 1; q.iterations <= 3; q.iterations++) {
                q.run.order = (enum fr_order)order;
                ask(&setting, &q);
            }
    fr_setting_fini(&setting);
}

/* Small problems drawn at random; with jitter no iteration is like the one before. */
TEST(random_problems_account_for_every_iteration)
{
    static const char *const workloads[] = {"lenet", "alexnet"};
    struct fr_setting setting;
    struct fr_question q;

    for (size_t w = 0; w < 2; w++) {
        struct fr__rng rng;

        load(&setting, &q, workloads[w]);
        fr__rng_init(&rng, 12, w);
        for (unsigned n = 0; n < 100; n++) {
            q.strategy = spec_at(n % 8) ? spec_at(n % 8) : "dp";
            q.n_gpus = 1 + fr__rng_below(&rng, 4);
            q.n_gpus = strcmp(q.strategy, "single") == 0 ? 1 : q.n_gpus;
            q.global_batch = (uint32_t)(q.n_gpus * (2 + 2 * fr__rng_below(&rng, 6)));
            q.iterations = 1 + (uint32_t)fr__rng_below(&rng, 5);
            q.run.order = (enum fr_order)fr__rng_below(&rng, FR_N_ORDERS);
            q.run.network = (enum fr_network)fr__rng_below(&rng, FR_N_NETWORKS);
            q.run.channels = (unsigned)fr__rng_below(&rng, 2);
            q.run.seed = n;
            q.run.jitter_cv = fr__rng_below(&rng, 2) ? 0.1 : 0;
            ask(&setting, &q);
        }
        fr_setting_fini(&setting);
    }
}

int main(void)
{
    TCase *tc = tcase_create("iterations");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "study/iterations");
}
