/* tests/workloads/test_task_imports.c - task graphs of other programs: STG, DAX, WfCommons; random
 * ones. */
#include "config.h"

#include "base/xml.h"
#include "tests/support/base_check.h"
#include "workloads/import/import.h"
#include "workloads/random/random_tasks.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load(const struct fr__importer *importer, const char *text)
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr__import_text(&g, importer, text, strlen(text), "x/graph.any", NULL, &err) ==
                      FR_OK,
                  "%u: %s", err.line, err.text);
    ck_assert(g->is_tasks);
    return g;
}

static uint32_t op(const struct fr_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return i;
    ck_abort_msg("no op '%s'", name);
    return FR_NONE;
}

/* Bytes of the edge; -1: there is none. */
static double bytes(const struct fr_graph *g, const char *from, const char *to)
{
    for (size_t e = 0; e < g->n_edges; e++)
        if (g->edges[e].src == op(g, from) && g->edges[e].dst == op(g, to))
            return (double)g->edges[e].bytes;
    return -1;
}

static double time_of(const struct fr_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_samples; i++)
        if (g->samples[i].op == op(g, name))
            return g->samples[i].time_s;
    return -1;
}

TEST(a_standard_task_graph_has_its_times_and_no_messages)
{
    struct fr_graph *g = load(&fr__importer_stg, "2\n0 0 0\n1 4 1 0\n2 7 2 0 1\n3 0 1 2\n# x\n");

    ck_assert_uint_eq(g->n_ops, 4);
    ck_assert_uint_eq(g->n_edges, 4);
    ck_assert_double_eq(time_of(g, "n2"), 7);
    ck_assert_double_eq(bytes(g, "n1", "n2"), 0);
    ck_assert_double_eq(bytes(g, "n0", "n3"), -1);
    fr_graph_free(g);
}

static const char workflow_15[] =
    "{\"schemaVersion\": \"1.5\", \"workflow\": {\"specification\": {\"tasks\": ["
    "{\"id\": \"a\", \"name\": \"A\", \"parents\": [], \"outputFiles\": [\"f\", \"g\"]},"
    "{\"id\": \"b\", \"name\": \"B\", \"parents\": [\"a\"], \"inputFiles\": [\"f\", \"h\"]}],"
    "\"files\": [{\"id\": \"f\", \"sizeInBytes\": 100}, {\"id\": \"g\", \"sizeInBytes\": 7},"
    "{\"id\": \"h\", \"sizeInBytes\": 9}]}, \"execution\": {\"tasks\": ["
    "{\"id\": \"a\", \"runtimeInSeconds\": 1.5}, {\"id\": \"b\", \"runtimeInSeconds\": 2}]}}}";

static const char workflow_13[] =
    "{\"schemaVersion\": \"1.3\", \"workflow\": {\"tasks\": [{\"name\": \"a\", \"runtime\": 1.5,"
    "\"parents\": [], \"files\": [{\"link\": \"output\", \"name\": \"f\", \"size\": 100}]},"
    "{\"name\": \"b\", \"runtimeInSeconds\": 2, \"parents\": [\"a\"], \"files\": [{\"link\": "
    "\"input\", \"name\": \"f\", \"sizeInBytes\": 100}]}]}}";

static const char dax[] =
    "<adag><job id='a' name='A' runtime='1.5'><uses file='f' link='output' size='100'/>"
    "<uses file='g' link='output' size='7'/></job><job id='b' name='B' runtime='2'>"
    "<uses name='f' link='input' size='100'/><uses name='h' link='input' size='9'/></job>"
    "<child ref='b'><parent ref='a'/></child></adag>";

TEST(workflows_move_the_files_that_one_writes_and_the_other_reads)
{
    static const struct {
        const struct fr__importer *importer;
        const char *text;
    } cases[] = {{&fr__importer_wfcommons, workflow_15},
                 {&fr__importer_wfcommons, workflow_13},
                 {&fr__importer_dax, dax}};

    for (size_t i = 0; i < 3; i++) {
        struct fr_graph *g;

        if (cases[i].importer == &fr__importer_dax && !fr__xml_is_built())
            continue;
        g = load(cases[i].importer, cases[i].text);
        ck_assert_uint_eq(g->n_ops, 2);
        ck_assert_double_eq(bytes(g, "a", "b"), 100);
        ck_assert_double_eq(time_of(g, "a"), 1.5);
        ck_assert_double_eq(time_of(g, "b"), 2);
        fr_graph_free(g);
    }
}

TEST(wrong_files_are_refused_with_their_line)
{
    static const struct {
        const struct fr__importer *importer;
        const char *text, *says;
        unsigned line;
    } cases[] = {
        {&fr__importer_stg, "3\n0 0 0\n", "3 tasks and two dummies announced, 1 are there", 1},
        {&fr__importer_stg, "1\n0 0 0\n2 4 1 0\n", "task 2, expected 1", 3},
        {&fr__importer_stg, "1\n0 0 0\n1 4 1 1\n", "follows 1, which is not before it", 3},
        {&fr__importer_stg, "1\n0 0 0\n1 4 2 0\n", "a task that it follows expected", 3},
        {&fr__importer_stg, "1\n0 0 0\n1 4 1 0 0\n", "more than the 1 tasks", 3},
        {&fr__importer_stg, "1\n0 0 0\n1 x 1 0\n", "its time", 3},
        {&fr__importer_wfcommons, "{}", "no \"workflow\"", 1},
        {&fr__importer_wfcommons, "{\"workflow\":\n{}}", "has no \"tasks\"", 2},
        {&fr__importer_wfcommons, "{\"workflow\": {\"tasks\":\n[{\"name\": \"a\"}]}}",
         "'a' has no runtimeInSeconds", 2},
        {&fr__importer_wfcommons,
         "{\"workflow\": {\"tasks\": [{\"name\": \"a\", \"runtime\": 1,\n\"parents\": [\"z\"]}]}}",
         "parent 'z' is no task", 2},
        {&fr__importer_wfcommons,
         "{\"workflow\": {\"tasks\": [{\"name\": \"a\", \"runtime\": 1},\n{\"name\": \"a\", "
         "\"runtime\": 1}]}}",
         "'a' appears twice", 2},
        {&fr__importer_dax, "<adag>\n<job id='a'/></adag>", "'a' has no 'runtime'", 2},
        {&fr__importer_dax, "<adag>\n<child ref='a'/></adag>", "which is no job", 2},
        {&fr__importer_dax, "<dag/>", "expected <adag>", 1},
        {&fr__importer_dax, "<adag/>", "has no tasks", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_graph *g = NULL;
        struct fr_error err = {.code = FR_OK};

        if (cases[i].importer == &fr__importer_dax && !fr__xml_is_built())
            continue;
        ck_assert(fr__import_text(&g, cases[i].importer, cases[i].text, strlen(cases[i].text), "f",
                                  NULL, &err) != FR_OK);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%zu: %s", i, err.text);
        ck_assert_msg(err.line == cases[i].line, "%zu: line %u", i, err.line);
    }
}

/* ---- random graphs ---- */

static char *draw(const char *spec)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    struct fr_error err;

    ck_assert_msg(fr_random_tasks(f, spec, &err) == FR_OK, "%s: %s", spec, err.text);
    fclose(f);
    return text;
}

static struct fr_graph *drawn(const char *spec)
{
    char *text = draw(spec);
    struct fr_graph *g = load(&fr__importer_tasks, text);

    free(text);
    return g;
}

TEST(random_graphs_read_back_and_depend_on_nothing_but_their_spec)
{
    static const char *const specs[] = {
        "layered",         "fork-join:tasks=50,width=4", "erdos-renyi:tasks=60,density=0.1",
        "layered:tasks=1", "fork-join:tasks=2",          "layered:width=1,ccr=0"};

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct fr_graph *g = drawn(specs[i]);
        char *a = draw(specs[i]), *b = draw(specs[i]), other[80], *c;

        snprintf(other, sizeof(other), "%s%sseed=1", specs[i], strchr(specs[i], ':') ? "," : ":");
        c = draw(other);
        ck_assert_str_eq(a, b);
        ck_assert_str_ne(a, c);
        fr_graph_free(g);
        free(a);
        free(b);
        free(c);
    }
}

TEST(random_graphs_have_the_shape_that_is_asked_for)
{
    struct fr_graph *g = drawn("fork-join:tasks=11,width=4"); /* 1, 4, 1, 4, 1 */
    double messages_s = 0, times_s = 0;

    ck_assert_uint_eq(g->n_ops, 11);
    ck_assert_uint_eq(g->n_edges, 16);
    fr_graph_free(g);
    g = drawn("erdos-renyi:tasks=200,density=0.25,ccr=2");
    /* 19900 pairs, a standard deviation of 61 edges */
    ck_assert(fabs((double)g->n_edges - 4975) < 5 * 61);
    for (size_t e = 0; e < g->n_edges; e++)
        messages_s += (double)g->edges[e].bytes / 1e9 / (double)g->n_edges;
    for (size_t i = 0; i < g->n_samples; i++)
        times_s += g->samples[i].time_s / (double)g->n_samples;
    ck_assert(fabs(times_s - 1) < 5 * 0.577 / sqrt(200));
    ck_assert(fabs(messages_s - 2) < 5 * 2 * 0.577 / sqrt(4975));
    fr_graph_free(g);
}

TEST(what_is_misspelt_in_a_spec_is_refused_with_a_suggestion)
{
    static const char *const cases[][2] = {{"layerd", "layered"},
                                           {"layered:taks=3", "did you mean 'tasks'"},
                                           {"layered:tasks", "has no value"},
                                           {"layered:tasks=0", "'tasks'"},
                                           {"layered:density=2", "'density'"},
                                           {"erdos-renyi:tasks=99999", "at most"},
                                           {"", "expected KIND"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err = {.code = FR_OK};

        ck_assert(fr_random_tasks(stderr, cases[i][0], &err) != FR_OK);
        ck_assert_msg(strstr(err.text, cases[i][1]) != NULL, "%s: %s", cases[i][0], err.text);
    }
}

int main(void)
{
    TCase *tc = tcase_create("task_imports");

    add_tests(tc);
    return run_case(tc, "workloads/task_imports");
}
