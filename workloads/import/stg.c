/* workloads/import/stg.c - graphs of the Standard Task Graph Set.
 *
 *   50                        tasks, without the two dummies at the start and the end
 *   0  0  0                   number, time, predecessors: how many, and which
 *   1  4  1  0
 *   ...
 *   # what generated it
 *
 * Times have no unit there; a unit is a second here. The tasks are called n0, n1, ... Nothing moves
 * between them: communication costs are not part of this format.
 *
 * Source:  T. Tobita and H. Kasahara, "A standard task graph set for fair evaluation of
 *          multiprocessor scheduling algorithms", Journal of Scheduling 5(5), 2002.
 */
#include "config.h"

#include "workloads/import/import.h"

#include "base/error.h"
#include "base/units.h"
#include "workloads/import/task_list.h"

#include <ctype.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 28)

enum { MAX_WORD = 32, MAX_TASKS = 1 << 20 };

struct reading {
    const char *at;
    struct fr_loc loc; /* of *at */
    struct fr__task_list list;
    uint64_t n; /* tasks that the first line says */
};

static void skip_blanks(struct reading *r)
{
    for (; *r->at == ' ' || *r->at == '\t' || *r->at == '\r'; r->at++)
        r->loc.col++;
}

/* At a line with numbers, or the end. */
static void skip_to_row(struct reading *r)
{
    for (;;) {
        skip_blanks(r);
        if (*r->at == '#')
            r->at += strcspn(r->at, "\n");
        if (*r->at != '\n')
            return;
        r->at++;
        r->loc.line++;
        r->loc.col = 1;
    }
}

/* A whole number of the same line. */
static enum fr_status read_number(struct reading *r, const char *what, uint64_t max, uint64_t *out,
                                  struct fr_error *err)
{
    char word[MAX_WORD];
    size_t n;

    skip_blanks(r);
    n = strcspn(r->at, " \t\r\n");
    if (n == 0 || n >= sizeof(word))
        return fr__fail(err, FR_EPARSE, r->loc, "%s expected here", what);
    memcpy(word, r->at, n);
    word[n] = '\0';
    FR_TRY(fr__parse_count(word, what, r->loc, 0, max, out, err));
    r->at += n;
    r->loc.col += (unsigned)n;
    return FR_OK;
}

static enum fr_status read_task(struct reading *r, struct fr_error *err)
{
    struct fr_loc loc = r->loc;
    uint64_t id = 0, time = 0, n = 0, before = 0;
    char name[MAX_WORD];

    FR_TRY(read_number(r, "the task's number", MAX_TASKS, &id, err));
    if (id != r->list.n_tasks)
        return fr__fail(err, FR_EPARSE, loc, "task %llu, expected %zu: tasks are in order",
                        (unsigned long long)id, r->list.n_tasks);
    FR_TRY(read_number(r, "its time", 1000000000, &time, err));
    FR_TRY(read_number(r, "how many tasks it follows", MAX_TASKS, &n, err));
    snprintf(name, sizeof(name), "n%llu", (unsigned long long)id);
    FR_TRY(fr__task_list_add(&r->list, name, (double)time, loc, err));
    for (uint64_t i = 0; i < n; i++) {
        skip_blanks(r);
        loc = r->loc;
        FR_TRY(read_number(r, "a task that it follows", MAX_TASKS, &before, err));
        if (before >= id)
            return fr__fail(err, FR_EPARSE, loc, "task %llu follows %llu, which is not before it",
                            (unsigned long long)id, (unsigned long long)before);
        FR_TRY(fr__task_list_need(&r->list, (uint32_t)before, (uint32_t)id, 0, loc, err));
    }
    skip_blanks(r);
    if (*r->at && *r->at != '\n' && *r->at != '#')
        return fr__fail(err, FR_EPARSE, r->loc, "more than the %llu tasks that it follows",
                        (unsigned long long)n);
    return FR_OK;
}

static enum fr_status read_all(struct reading *r, struct fr_error *err)
{
    skip_to_row(r);
    FR_TRY(read_number(r, "the number of tasks", MAX_TASKS, &r->n, err));
    for (skip_to_row(r); *r->at; skip_to_row(r))
        FR_TRY(read_task(r, err));
    if (r->list.n_tasks == r->n || r->list.n_tasks == r->n + 2)
        return FR_OK;
    return fr__fail(err, FR_EPARSE, (struct fr_loc){r->loc.file, 1, 1},
                    "%llu tasks and two dummies announced, %zu are there", (unsigned long long)r->n,
                    r->list.n_tasks);
}

static enum fr_status load(struct fr_graph **out, const struct fr__import *in, struct fr_error *err)
{
    struct reading r = {.at = in->text, .loc = {in->name, 1, 1}, .list = {.arena = in->arena}};
    enum fr_status st;

    if (strlen(in->text) != in->len)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){in->name, 0, 0}, "holds a NUL byte");
    st = read_all(&r, err);
    if (st == FR_OK)
        st = fr__task_list_finish(&r.list, in->name, "a standard task graph (STG)", out, err);
    fr__task_list_fini(&r.list);
    return st;
}

/* How many numbers a line has; 0: it has something else. */
static size_t numbers_of(const char *line)
{
    size_t n = 0;

    for (line += strspn(line, " \t"); isdigit((unsigned char)*line); line += strspn(line, " \t")) {
        n++;
        line += strspn(line, "0123456789");
    }
    return *line == '\n' || *line == '\r' || *line == '#' || !*line ? n : 0;
}

/* One number, then three or more in the next line. */
static bool recognises(const char *head, size_t len)
{
    const char *next;

    (void)len;
    head += strspn(head, " \t\r\n");
    if (numbers_of(head) != 1)
        return false;
    next = strchr(head, '\n');
    return next && numbers_of(next + strspn(next, " \t\r\n")) >= 3;
}

const struct fr__importer fr__importer_stg = {
    .name = "stg",
    .summary = "standard task graph (.stg)",
    .recognises = recognises,
    .max_bytes = MAX_FILE_BYTES,
    .load = load,
};
