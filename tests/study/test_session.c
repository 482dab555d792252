/* What a session shares, and that it shares nothing that it should not. */
#include "config.h"

#include "results/results.h"
#include "study/session/session.h"
#include "tests/support/base_check.h"
#include "tests/support/quick_spec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct fr_question lenet(void)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "lenet";
    q.topology = "dgx1-v100";
    q.strategy = "dp";
    q.n_gpus = 2;
    q.global_batch = 32;
    q.no_timing = true;
    return q;
}

static struct fr_record *ask(struct fr_session *s, const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_session_ask(s, q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

/* The record as JSON; the caller frees. */
static char *text_of(const struct fr_record *r)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    ck_assert_ptr_nonnull(f);
    fr_record_print_json(f, r);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

TEST(an_equal_question_gets_the_same_record)
{
    struct fr_session *s = fr_session_new(NULL);
    struct fr_question q = lenet();
    struct fr_record *a = ask(s, &q), *b = ask(s, &q);

    ck_assert_ptr_eq(a, b);
    ck_assert_uint_eq(fr_session_stats(s).n_asked, 2);
    ck_assert_uint_eq(fr_session_stats(s).n_found, 1);
    fr_record_free(a);
    ck_assert_double_gt(b->iteration_s, 0);
    fr_record_free(b);
    fr_session_free(s);
}

/* Each change is one that the answer depends on. */
TEST(another_question_gets_another_record)
{
    struct fr_session *s = fr_session_new(NULL);
    struct fr_question q = lenet();
    struct fr_record *first = ask(s, &q), *other[6];
    struct fr_question changed[6];

    for (size_t i = 0; i < 6; i++)
        changed[i] = q;
    changed[0].global_batch = 64;
    changed[1].strategy = "mp";
    changed[2].sensitivity = FR_SENSITIVITY_RUN;
    changed[3].run.rings = 1;
    changed[4].optimizer = FR_ADAM;
    changed[5].costs = "datasheet";
    for (size_t i = 0; i < 6; i++)
        other[i] = ask(s, &changed[i]);
    for (size_t i = 0; i < 6; i++)
        ck_assert_ptr_ne(other[i], first);
    ck_assert_uint_eq(fr_session_stats(s).n_found, 0);
    for (size_t i = 0; i < 6; i++)
        fr_record_free(other[i]);
    fr_record_free(first);
    fr_session_free(s);
}

TEST(a_session_answers_as_a_single_question_does)
{
    struct fr_session *s = fr_session_new(NULL);
    struct fr_question q = lenet();
    struct fr_error err;

    for (size_t i = 0; fr_strategy_at(i); i++) {
        struct fr_record *alone = NULL, *shared;
        char *a, *b;

        if (fr_strategy_at(i)->required_option)
            continue;
        q.strategy = quick_spec(i);
        ck_assert_msg(fr_answer(&q, NULL, &alone, &err) == FR_OK, "%s", err.text);
        shared = ask(s, &q);
        a = text_of(alone);
        b = text_of(shared);
        ck_assert_str_eq(a, b);
        free(a);
        free(b);
        fr_record_free(alone);
        fr_record_free(shared);
    }
    fr_session_free(s);
}

TEST(inputs_are_loaded_once)
{
    struct fr_session *s = fr_session_new(NULL);
    struct fr_question q = lenet();
    struct fr_setting a, b, c;
    struct fr_error err;

    ck_assert_int_eq(fr_session_setting(s, &q, &a, &err), FR_OK);
    ck_assert_int_eq(fr_session_setting(s, &q, &b, &err), FR_OK);
    ck_assert_ptr_eq(a.topo, b.topo);
    ck_assert_ptr_eq(a.costs, b.costs);
    ck_assert_ptr_eq(a.graph, b.graph);
    q.dtype = FR_FP16;
    ck_assert_int_eq(fr_session_setting(s, &q, &c, &err), FR_OK);
    ck_assert_ptr_eq(a.topo, c.topo);
    ck_assert_ptr_ne(a.graph, c.graph);
    fr_setting_fini(&a);
    fr_setting_fini(&b);
    fr_setting_fini(&c);
    fr_session_free(s);
}

TEST(a_second_plan_on_a_cluster_searches_nothing_again)
{
    struct fr_session *s = fr_session_new(NULL);
    struct fr_question q = lenet();
    struct fr_record *first, *second;

    q.collectives = FR_COLLECTIVES_EXPANDED;
    first = ask(s, &q);
    q.workload = "alexnet";
    q.global_batch = 64;
    second = ask(s, &q);
    ck_assert_uint_eq(first->run->stats.router_builds, 1);
    ck_assert_uint_gt(first->run->stats.route_searches, 0);
    ck_assert_uint_gt(first->run->stats.ring_searches, 0);
    ck_assert_uint_eq(second->run->stats.router_builds, 0);
    ck_assert_uint_eq(second->run->stats.route_searches, 0);
    ck_assert_uint_eq(second->run->stats.ring_searches, 0);
    fr_record_free(first);
    fr_record_free(second);
    fr_session_free(s);
}

/* What a sweep asks for is what a person gets, less what rows do not hold. */
TEST(a_brief_answer_has_the_same_figures)
{
    struct fr_session *s = fr_session_new(NULL);
    struct fr_question q = lenet();

    for (size_t i = 0; fr_strategy_at(i); i++) {
        struct fr_record *whole, *brief;

        if (fr_strategy_at(i)->required_option)
            continue;
        q.strategy = quick_spec(i);
        q.is_brief = false;
        whole = ask(s, &q);
        q.is_brief = true;
        brief = ask(s, &q);
        ck_assert_ptr_ne(whole, brief);
        ck_assert(!(whole->iteration_s < brief->iteration_s) &&
                  !(whole->iteration_s > brief->iteration_s));
        ck_assert(!(whole->lower_bound_s < brief->lower_bound_s) &&
                  !(whole->lower_bound_s > brief->lower_bound_s));
        ck_assert(!(whole->bubble_s < brief->bubble_s) && !(whole->bubble_s > brief->bubble_s));
        ck_assert_uint_eq(whole->peak_bytes, brief->peak_bytes);
        ck_assert_uint_eq(whole->n_tasks, brief->n_tasks);
        ck_assert_uint_gt(whole->n_critical, 0);
        ck_assert_uint_eq(brief->n_critical, 0);
        ck_assert_uint_eq(brief->n_links, 0);
        fr_record_free(whole);
        fr_record_free(brief);
    }
    fr_session_free(s);
}

TEST(what_cannot_be_loaded_leaves_nothing)
{
    struct fr_session *s = fr_session_new(NULL);
    struct fr_question q = lenet();
    struct fr_setting setting;
    struct fr_error err;

    q.workload = "no-such-model";
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fr_session_setting(s, &q, &setting, &err), FR_ENOENT);
        ck_assert_ptr_null(setting.topo);
        ck_assert_ptr_nonnull(strstr(err.text, "no-such-model"));
        fr_setting_fini(&setting);
    }
    q.workload = NULL;
    ck_assert_int_eq(fr_session_setting(s, &q, &setting, &err), FR_EUSAGE);
    fr_session_free(s);
}

TEST(answers_are_kept_while_there_is_room)
{
    const struct fr_session_options none = {.answer_bytes = 0}, some = {.answer_bytes = 1 << 20};
    struct fr_session *s = fr_session_new(&none);
    struct fr_question q = lenet();

    fr_record_free(ask(s, &q));
    fr_record_free(ask(s, &q));
    ck_assert_uint_eq(fr_session_stats(s).n_found, 0);
    fr_session_free(s);

    s = fr_session_new(&some);
    for (uint32_t b = 1; b <= 40; b++) {
        q.global_batch = 2 * b;
        fr_record_free(ask(s, &q));
    }
    ck_assert_uint_lt(fr_session_stats(s).n_kept, 40);
    ck_assert_uint_gt(fr_session_stats(s).n_kept, 2);
    fr_record_free(ask(s, &q)); /* the last is there still */
    ck_assert_uint_eq(fr_session_stats(s).n_found, 1);
    fr_session_free(s);
}

struct asker {
    struct fr_session *session;
    char *text[8];
};

static void *ask_some(void *arg)
{
    struct asker *a = arg;

    for (uint32_t i = 0; i < 8; i++) {
        struct fr_question q = lenet();
        struct fr_record *r = NULL;
        struct fr_error err;

        q.global_batch = 8 * (i + 1);
        q.topology = i % 2 ? "dgx-a100-80g" : "dgx1-v100";
        if (fr_session_ask(a->session, &q, NULL, &r, &err) == FR_OK)
            a->text[i] = text_of(r);
        fr_record_free(r);
    }
    return NULL;
}

TEST(threads_that_ask_at_once_get_the_same_answers)
{
    struct asker askers[4] = {{.session = fr_session_new(NULL)}};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        askers[i].session = askers[0].session;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_some, &askers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 8; k++) {
            ck_assert_ptr_nonnull(askers[i].text[k]);
            ck_assert_str_eq(askers[i].text[k], askers[0].text[k]);
        }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 8; k++)
            free(askers[i].text[k]);
    fr_session_free(askers[0].session);
}

int main(void)
{
    TCase *tc = tcase_create("session");

    add_tests(tc);
    return run_case(tc, "session");
}
