/* tests/study/test_iterations.c - several iterations in a row, for every strategy and order: they
 * finish.
 */
#include "config.h"

#include "study/record.h"
#include "tests/support/base_check.h"

#include <check.h>

static const char *const more_specs[] = {"dp:sync=ps-cpu", "dp:sync=ps-sharded", "dp:accumulate=2",
                                         "pp:schedule=gpipe"};
enum { N_MORE = sizeof(more_specs) / sizeof(more_specs[0]) };

/* Every strategy by its name, then some with options; NULL past the end. */
static const char *spec_at(size_t i)
{
    size_t n = 0;

    while (fr_strategy_at(n))
        n++;
    if (i < n)
        return fr_strategy_at(i)->name;
    return i - n < N_MORE ? more_specs[i - n] : NULL;
}

static void ask(const struct fr_setting *s, const struct fr_question *q)
{
    struct fr_error err = {.text = ""};
    struct fr_record *r;

    ck_assert_msg(fr_answer_on(s, q, NULL, &r, &err) == FR_OK, "%s, %s, %u iterations: %s",
                  q->strategy, fr_order_name(q->run.order), q->iterations, err.text);
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

START_TEST(every_strategy_runs_several_iterations_in_every_order)
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
END_TEST

int main(void)
{
    TCase *tc = tcase_create("iterations");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, every_strategy_runs_several_iterations_in_every_order);
    return run_case(tc, "study/iterations");
}
