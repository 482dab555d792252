/* tests/workloads/test_tasks.c - task graphs in CSV, and what is refused. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/import/import.h"

#include <check.h>
#include <string.h>

static struct fr_graph *load_text(const char *text)
{
    struct fr_graph *g = NULL;
    struct fr_error err = {0};
    char line[800];

    ck_assert_msg(fr__import_text(&g, &fr__importer_tasks, text, strlen(text), "in/jobs.csv", NULL,
                                  &err) == FR_OK,
                  "%s", fr_error_string(&err, line, sizeof(line)));
    return g;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return i;
    ck_abort_msg("no task '%s'", name);
    return FR_NONE;
}

static double time_of(const struct fr_graph *g, const char *name, const char *device)
{
    for (size_t i = 0; i < g->n_samples; i++)
        if (g->samples[i].op == find(g, name) && strcmp(g->samples[i].device, device) == 0)
            return g->samples[i].time_s;
    return -1;
}

static const struct fr_edge *edge(const struct fr_graph *g, const char *src, const char *dst)
{
    uint32_t s = find(g, src), d = find(g, dst);

    for (uint32_t e = g->out_first[s]; e < g->out_first[s + 1]; e++)
        if (g->edges[e].dst == d)
            return &g->edges[e];
    ck_abort_msg("no edge from '%s' to '%s'", src, dst);
    return NULL;
}

/* Out of order, with units, names with a colon, and bytes that differ by reader. */
TEST(tasks_come_with_times_and_what_moves)
{
    struct fr_graph *g = load_text("after,task,time,time:fast\n"
                                   "\"a:1MB b:7\",c,3,\n"
                                   ",a,2,1\n"
                                   "a:2000,b:7,1.5ms,250us\n"
                                   "c b:7,d,0,\n");

    ck_assert_str_eq(g->name, "jobs");
    ck_assert(g->is_tasks);
    ck_assert_uint_eq(g->n_ops, 4);
    ck_assert_double_eq(time_of(g, "a", "*"), 2);
    ck_assert_double_eq(time_of(g, "a", "fast"), 1);
    ck_assert_double_eq(time_of(g, "b:7", "*"), 1.5e-3);
    ck_assert_double_eq(time_of(g, "b:7", "fast"), 250e-6);
    ck_assert_double_eq(time_of(g, "c", "fast"), -1);
    ck_assert_double_eq(time_of(g, "d", "*"), 0);
    ck_assert_uint_eq(edge(g, "a", "c")->bytes, 1000000);
    ck_assert_uint_eq(edge(g, "a", "b:7")->bytes, 2000);
    ck_assert_uint_eq(edge(g, "b:7", "c")->bytes, 0);
    ck_assert_uint_eq(edge(g, "b:7", "c")->tensor, FR_NONE);
    ck_assert_uint_eq(edge(g, "c", "d")->tensor, FR_NONE);
    ck_assert_uint_eq(g->tensors[edge(g, "a", "c")->tensor].bytes, 1000000);
    ck_assert_uint_eq(g->n_tensors, 1);
    fr_graph_free(g);
}

TEST(what_is_wrong_is_named_with_its_place)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"task,time\na,1\na,2\n", "in/jobs.csv:3:1: task 'a' appears twice, first at line 2"},
        {"task,time,after\nalpha,1,\nb,1,alpa\n",
         "in/jobs.csv:3:5: 'after' names 'alpa', which is no task, did you mean 'alpha'?"},
        {"task,time,after\na,1,\nb,1,a a:1GB x:4\n",
         "in/jobs.csv:3:13: 'after' names 'x', which is no task"},
        {"task,time,after\na,1,b\nb,1,a\n", "in/jobs.csv:2:1: the ops form a cycle: a -> b -> a"},
        {"task,time,after\na,1,a\n", "in/jobs.csv:2:5: task 'a' comes after itself"},
        {"task,time\n", "in/jobs.csv: has no tasks"},
        {"task\na\n", "in/jobs.csv:2:1: task 'a' has no time"},
        {"task,time:P1,time:P2\na,1,\n", "in/jobs.csv:2:5: task 'a' has no time on 'P2'"},
        {"task,time:\na,1\n",
         "in/jobs.csv:1:6: no machine after 'time:', a column such as time:P1 expected"},
        {"task,time\na,-1\n", "in/jobs.csv:2:3: 'time' is \"-1\", expected a number from 0 to "
                              "1000000000"},
        {"task,time\na,400000days\n", "in/jobs.csv:2:3: 'time' is \"400000days\", at most 1e+09 s"},
        {"task,time\na b,1\n",
         "in/jobs.csv:2:1: 'task' is \"a b\", a name without blanks expected"},
        {"task,tme\na,1\n", "in/jobs.csv:1:6: column 'tme' is not known, did you mean 'time'?"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_graph *g = NULL;
        struct fr_error err = {0};
        char line[800];

        ck_assert_int_ne(fr__import_text(&g, &fr__importer_tasks, cases[i].text,
                                         strlen(cases[i].text), "in/jobs.csv", NULL, &err),
                         FR_OK);
        ck_assert_str_eq(fr_error_string(&err, line, sizeof(line)), cases[i].message);
    }
}

TEST(the_importer_knows_its_files)
{
    static const char *const yes[] = {"task,time\n", "\xef\xbb\xbftask\r\n", "after,\"task\",time",
                                      "\n\ntime,task,after\n"};
    static const char *const no[] = {"", "tasks,time\n", "op,device\ntask,time\n", "a\ntask"};

    for (size_t i = 0; i < 4; i++) {
        ck_assert(fr__importer_tasks.recognises(yes[i], strlen(yes[i])));
        ck_assert(!fr__importer_tasks.recognises(no[i], strlen(no[i])));
    }
}

int main(void)
{
    TCase *tc = tcase_create("tasks");

    add_tests(tc);
    return run_case(tc, "workloads/tasks");
}
